//! Lowering: from a page to a program, with all checks of names, axes and lengths.
//!
//! A page is lowered once for all episodes. Sequences get trial lengths of their own here, so that axes of different
//! lengths never fit by accident.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::page::{Block, Page, Part, Record, Word};
pub use super::program::{
    Axis, AxisInfo, Equation, First, Learned, Length, Op, Program, Series, Source, Tensor, Value,
    When,
};
use super::text::{
    Checked, Mistake, Name, Place, ensure, ensure_length, mistake, suggestion, wrong,
};
use super::traces;
use super::tree::{Call, Function, Item, Kind, Node, Operator, Rule, second_name};

/// The most numbers of a tensor or of a value in one step.
const MOST_NUMBERS: usize = 1 << 31;
/// The most axes of a value.
const MOST_AXES: usize = 8;
/// The most choices of all switches together that are all checked.
const MOST_CHOICES: usize = 64;
/// The most statements that are lowered to check choices of switches.
const MOST_LOWERED: usize = 100_000;

/// The most statements that are lowered to find a wrong start.
const MOST_TRIED: usize = 40_000;

/// The most statements that share the tensors of each other.
const LONGEST_CHAIN: usize = 64;
/// What is wrong where `past(a)` meets `past(b, now)`, and what to do.
const TWO_PASTS: &str = "two different pasts in one expression";
const ONE_PAST: &str = "write past(a) or past(a, now) for all, of one block";

/// Lowers a page.
///
/// # Errors
/// A mistake in the page, under the choices made.
pub fn lower(page: &Page) -> Checked<Program> {
    let mut lowering = Lowering::new(page)?;
    let lowered = lowering.lower_blocks();
    lowered.map_err(|mistake| lowering.wrong_start(&mistake).unwrap_or(mistake))?;
    let mut program = lowering.program;
    program.keys = traces::listed_keys(page, &program);
    Ok(program)
}

/// Lowers a page, and checks it under every choice of its switches; where these are many, under every choice of one
/// switch, and of two of the same component. The warnings of all choices are those of the program that it returns.
///
/// # Errors
/// A mistake in the page.
pub fn checked(page: &Page) -> Checked<Program> {
    let mut program = lower(page)?;
    let mut used = Used::default();
    used.add(&mut program);
    let is_open = |key: &usize| page.keys[*key].is_switch() && page.keys[*key].choices.len() > 1;
    let switches: BTreeSet<usize> = (0..page.keys.len()).filter(is_open).collect();
    let scope = |key: usize| page.keys[key].name.rsplit_once('.').map(|(scope, _)| scope);
    let count = |group: &BTreeSet<usize>| {
        let counts = group.iter().map(|key| page.keys[*key].choices.len());
        counts.fold(1, usize::saturating_mul)
    };
    let mut groups = vec![switches.clone()];
    if count(&switches) > MOST_CHOICES {
        let with_one = |one: usize| switches.range(one..).map(move |other| [one, *other]);
        let pairs = switches.iter().flat_map(|one| with_one(*one));
        let pairs = pairs.filter(|[one, other]| scope(*one) == scope(*other));
        groups = pairs.map(BTreeSet::from).collect();
    }
    let all = groups.iter().map(count).fold(0, usize::saturating_add);
    ensure!(all.saturating_mul(page.statements.len()) <= MOST_LOWERED, page.whole(),
        "{} switches for {} statements", switches.len(), page.statements.len();
        "too many choices to check: use fewer switches");
    let mut seen = HashSet::new();
    for group in groups {
        let mut trial = page.clone();
        for mut number in 0..count(&group) {
            for key in &group {
                let key = &mut trial.keys[*key];
                key.chosen = vec![key.choices[number % key.choices.len()].clone()];
                number /= key.choices.len();
            }
            let kept: Vec<bool> = trial.records().map(|record| trial.keeps(record)).collect();
            if !seen.insert(kept) {
                continue;
            }
            match lower(&trial) {
                Ok(mut trial) => used.add(&mut trial),
                Err(mistake) if !mistake.is_length => return Err(mistake),
                Err(_) => {}
            }
        }
    }
    program.warnings = used.warnings(page);
    Ok(program)
}

/// What the programs of a page use, under all choices.
#[derive(Default)]
struct Used {
    keys: HashSet<usize>,
    starts: HashSet<Name>,
    series: HashSet<Name>,
    warnings: Vec<Mistake>,
}

impl Used {
    /// Adds what a program uses, and takes its warnings.
    fn add(&mut self, program: &mut Program) {
        let name = |series: usize| program.series[series].name.clone();
        self.keys.extend(&program.keys);
        self.starts
            .extend(program.firsts.iter().map(|first| name(first.series)));
        self.series
            .extend(program.series.iter().map(|own| own.name.clone()));
        for warning in program.warnings.drain(..) {
            if !self.warnings.iter().any(|own| own.place == warning.place) {
                self.warnings.push(warning);
            }
        }
    }

    /// All warnings, with one for each declaration of the file itself that nothing uses under any choice.
    fn warnings(mut self, page: &Page) -> Vec<Mistake> {
        let is_own = |name: &str| !name.contains('.');
        let keys = page.keys.iter().enumerate().filter(|(index, key)| {
            is_own(&key.name) && key.is_settable() && !key.is_switch() && !self.keys.contains(index)
        });
        let mut unused: Vec<(Name, Place)> = keys
            .map(|(_, key)| (key.name.clone(), key.place.clone()))
            .collect();
        let mut add = |records: &[Record], used: &HashSet<Name>| {
            let own = records.iter().filter(|own| is_own(&own.names[0]));
            let own = own.filter(|own| own.names.iter().all(|name| !used.contains(name)));
            unused.extend(own.map(|own| (own.names[0].clone(), own.place.clone())));
        };
        add(&page.starts, &self.starts);
        add(&page.noises, &self.series);
        let all = unused.into_iter().map(|(name, place)| mistake!(&place, "nothing uses {name}"; "use it in an equation, or remove the line"));
        self.warnings.extend(all);
        self.warnings
    }
}

/// Where the step before, or the last entry, of a quantity is read: the axis, if it is given, and the blocks around.
type Reader = (Option<Axis>, Vec<usize>);

struct Lowering<'a> {
    page: &'a Page,
    program: Program,
    /// All quantities, data and parameters by name and kind.
    keys: HashMap<(Name, Option<Axis>), usize>,
    /// The starts of each block that are read, with their series.
    starts: Vec<Vec<(usize, &'a Record)>>,
    /// The axes of each start so far, by its series and its block.
    firsts: HashMap<(usize, usize), Vec<Axis>>,
    /// The blocks around the statement at hand, the outermost first.
    frames: Vec<usize>,
    /// The series that have values so far.
    known: HashSet<usize>,
    /// The statement whose first name it is, by name, kind and head.
    made_by: HashMap<(Name, Option<Axis>, Option<usize>), usize>,
    /// The past that a series with this axis has: its block, and whether it includes the step at hand.
    pasts: HashMap<usize, (usize, bool)>,
    /// The statement, start or parameter at hand.
    here: &'a Record,
    /// Axes of the start at hand.
    start: Option<Vec<Axis>>,
    /// The number of learned functions so far in the value at hand.
    learned: usize,
    /// Axes that the starts in one line have instead of their own.
    other: Option<(Place, Vec<Axis>)>,
    /// The axes that the equation of one of these makes, if they are others.
    made: Option<Vec<Axis>>,
}

impl<'a> Lowering<'a> {
    fn new(page: &'a Page) -> Checked<Self> {
        let mut out = Self {
            page,
            program: Program::default(),
            keys: HashMap::new(),
            starts: vec![vec![]; page.blocks.len()],
            firsts: HashMap::new(),
            frames: vec![],
            known: HashSet::new(),
            made_by: HashMap::new(),
            pasts: HashMap::new(),
            here: &page.statements[0],
            start: None,
            learned: 0,
            other: None,
            made: None,
        };
        for axis in 0..page.axes.len() {
            let (origin, name) = (page.origin(axis), page.axes[axis].name.clone());
            let length = match page.length(origin) {
                _ if origin != axis => Length::Origin,
                Some(length) => Length::Fixed(length),
                None if &*name == "past" => Length::Past,
                None => Length::Episode,
            };
            out.program.axes.push(AxisInfo {
                name,
                origin,
                // Trial lengths of sequences: odd ones that no key has.
                trial: page.length(origin).unwrap_or(1_000_003 + 2 * origin),
                length,
                rank: page.rank(axis),
            });
        }
        let (mut read, mut readers) = (HashSet::new(), HashMap::<_, Vec<Reader>>::new());
        let starts = page
            .starts
            .iter()
            .map(|own| (own, page.blocks_around_start(own)));
        let statements = page.statements.iter();
        let statements = statements.map(|own| (own, page.blocks_around(own.block)));
        for (record, around) in starts.chain(statements).filter(|own| page.keeps(own.0)) {
            record.each(&mut |node| {
                read.extend(node.name());
                let part = node.parts.first().and_then(Node::name);
                if let (Kind::Select(items), Some(name)) = (&node.kind, part) {
                    let axes = items.iter().filter_map(|item| match item {
                        Item::Before(axis) => Some(*axis),
                        Item::Entry(axis, None) => Some(Some(*axis)),
                        _ => None,
                    });
                    let own = axes.map(|axis| (axis, around.clone()));
                    readers.entry(name).or_default().extend(own);
                }
            });
        }
        let inputs = (0..).map(Source::Input).zip(&page.inputs);
        let target = page.target.iter().map(|own| (Source::Target, own));
        let noises = (0..).map(Source::Noise).zip(&page.noises);
        for (source, data) in inputs.chain(target).chain(noises) {
            if matches!(source, Source::Input(_)) || read.contains(&data.names[0]) {
                out.series(data, source);
            }
        }
        for (index, statement) in page.statements.iter().enumerate() {
            if page.keeps(statement) {
                out.quantities(index, statement)?;
            }
        }
        for parameter in page.parameters.iter().filter(|own| page.keeps(own)) {
            if read.contains(&parameter.names[0]) {
                let axes = [parameter.kind.as_slice(), parameter.given()].concat();
                out.begin(parameter);
                let tensor = out.tensor(Tensor::new(out.own_label(), axes))?;
                out.series(parameter, Source::Parameter(tensor));
            }
        }
        for start in page.starts.iter().filter(|own| page.keeps(own)) {
            let name = &start.names[0];
            let readers = readers.get(name).map_or(&[][..], Vec::as_slice);
            if let Some(&series) = out.keys.get(&(name.clone(), start.kind))
                && let Some(block) = out.block_of(start, series, readers)
            {
                out.starts[block].push((series, start));
            }
        }
        Ok(out)
    }

    /// The block along which a start is the first value of a series, if some reader needs that value.
    fn block_of(&self, start: &Record, series: usize, readers: &[Reader]) -> Option<usize> {
        let (blocks, page) = (&self.program.series[series].blocks, self.page);
        let is_own = |block: &&usize| page.blocks[**block].axis == start.along;
        let innermost = blocks.last().filter(|_| start.along.is_none());
        let block = innermost.or_else(|| blocks.iter().find(is_own))?;
        let is_read = |(axis, around): &Reader| {
            let shared = blocks.iter().rfind(|own| around.contains(own));
            match axis {
                Some(_) => page.blocks[*block].axis == *axis,
                None => shared.or(blocks.last()) == Some(block),
            }
        };
        readers.iter().any(is_read).then_some(*block)
    }

    /// Adds the quantities that a statement makes.
    fn quantities(&mut self, index: usize, statement: &Record) -> Checked<()> {
        let Record {
            names, kind, head, ..
        } = statement;
        self.made_by.insert((names[0].clone(), *kind, *head), index);
        for (position, name) in statement.names.iter().enumerate() {
            let of = |kind| self.keys.get(&(name.clone(), kind));
            let before = of(statement.kind).or_else(|| of(None));
            let other = before.and_then(|series| self.head_of(*series));
            // Heads with different choices make entries of one series.
            let mut heads = other.iter().zip(&statement.head);
            let is_shared = heads.any(|(one, other)| one != other);
            let is_key = self.page.key(name).is_some_and(|key| !key.is_switch());
            ensure!(before.is_none() && !is_key || is_shared, statement.place,
                "{name} is made twice"; "give the second a name of its own");
            if !is_shared {
                self.series(statement, Source::Statement(index, position));
            }
        }
        Ok(())
    }

    /// The head whose statement makes a series, if it has choices of its own.
    fn head_of(&self, series: usize) -> Option<usize> {
        match self.program.series[series].source {
            Source::Statement(index, _) => self.page.statements[index].head,
            _ => None,
        }
    }

    /// Adds a series: data with its axes, or a quantity, whose axes follow from its value.
    fn series(&mut self, record: &Record, source: Source) {
        let index = self.program.series.len();
        let mut name = record.names[0].clone();
        let (mut trace, mut blocks, mut axes) = (name.to_string(), vec![], vec![]);
        if let Source::Statement(statement, position) = source {
            name = record.names[position].clone();
            trace.clone_from(&self.page.traces[statement][position]);
            blocks = self.page.blocks_around(record.block);
        } else {
            axes = self.sorted(record.given().iter().chain(&record.kind));
            self.known.insert(index);
        }
        if matches!(source, Source::Noise(_)) {
            trace = traces::name_of_noise(self.page, record);
        }
        self.keys.insert((name.clone(), record.kind), index);
        self.program.series.push(Series {
            name,
            kind: record.kind,
            blocks,
            axes,
            source,
            trace,
        });
    }

    // Axes.

    fn name(&self, axis: Axis) -> &'a str {
        &self.page.axes[axis].name
    }

    fn names(&self, axes: &[Axis]) -> String {
        let names: Vec<&str> = axes.iter().map(|axis| self.name(*axis)).collect();
        names.join(", ")
    }

    /// The axis whose length an axis has.
    fn origin(&self, axis: Axis) -> &AxisInfo {
        &self.program.axes[self.program.axes[axis].origin]
    }

    /// The length of an axis in the trial.
    fn trial(&self, axis: Axis) -> usize {
        self.origin(axis).trial
    }

    /// Whether the length of an axis does not belong to the episode.
    fn is_fixed(&self, axis: Axis) -> bool {
        matches!(self.origin(axis).length, Length::Fixed(_))
    }

    /// Whether an axis is `past`, or another name of it.
    fn is_past(&self, axis: Axis) -> bool {
        self.origin(axis).length == Length::Past
    }

    /// The number of entries of axes together.
    fn count(&self, axes: &[Axis]) -> usize {
        let lengths = axes.iter().map(|axis| self.trial(*axis));
        lengths.fold(1, usize::saturating_mul)
    }

    /// The number of entries of the axes together whose lengths do not belong to the episode.
    fn fixed_count(&self, axes: &[Axis]) -> usize {
        let fixed = axes.iter().copied().filter(|axis| self.is_fixed(*axis));
        self.count(&fixed.collect::<Vec<Axis>>())
    }

    /// The number of values that several arguments have together.
    fn joined(&self, taken: &[Vec<Axis>]) -> usize {
        let counts = taken.iter().map(|axes| self.count(axes));
        counts.fold(0, usize::saturating_add)
    }

    /// Axes in the order of the program, each once.
    fn sorted<'n>(&self, axes: impl IntoIterator<Item = &'n Axis>) -> Vec<Axis> {
        let mut axes: Vec<Axis> = axes.into_iter().copied().collect();
        axes.sort_by_key(|axis| (self.program.axes[*axis].rank, *axis));
        axes.dedup();
        axes
    }

    /// Checks that a value is one that operations take.
    fn limit(&self, axes: &[Axis], place: &Place) -> Checked<()> {
        ensure!(axes.len() <= MOST_AXES, place,
            "a value with {} axes: {}", axes.len(), self.names(axes); "allowed: {MOST_AXES} axes");
        ensure_length!(self.fixed_count(axes) <= MOST_NUMBERS, place,
            "a value with [{}] has more than {MOST_NUMBERS} numbers", self.names(axes); "choose smaller sizes");
        Ok(())
    }

    /// Checks that a value has axes.
    fn has(&self, value: &Value, axes: &[Axis], place: &Place) -> Checked<()> {
        if let Some(axis) = without(axes, &value.axes).first() {
            let (axis, names) = (self.name(*axis), self.names(&value.axes));
            ensure!(!names.is_empty(), place, "no axis {axis} in []"; "it is one number");
            wrong!(place, "no axis {axis} in [{names}]"; "allowed: {names}");
        }
        Ok(())
    }

    /// Checks that a value may get an axis beside its own.
    fn lacks(&self, axes: &[Axis], new: Axis, place: &Place) -> Checked<()> {
        ensure!(!axes.contains(&new), place,
            "{} is already an axis of this value", self.name(new); "choose another name");
        Ok(())
    }

    /// Whether the length of an axis is computed from that of another one.
    fn needs(&self, axis: Axis, other: Axis) -> bool {
        let (mut rest, mut seen) = (vec![axis], HashSet::new());
        while let Some(axis) = rest.pop() {
            let origin = self.program.axes[axis].origin;
            match &self.program.axes[origin].length {
                Length::Join(parts) if seen.insert(origin) => rest.extend(parts.iter().flatten()),
                Length::Append(old) if seen.insert(origin) => rest.push(*old),
                _ if origin == other => return true,
                _ => {}
            }
        }
        seen.contains(&other)
    }

    /// Whether the length of an axis differs from episode to episode.
    fn is_of_episode(&self, axis: Axis) -> bool {
        let origin = self.program.axes[axis].origin;
        match &self.program.axes[origin].length {
            Length::Fixed(_) => false,
            Length::Append(old) => self.is_of_episode(*old),
            _ => self.page.is_sequence(origin),
        }
    }

    /// Gives an axis that a function makes its length.
    fn make_axis(&mut self, axis: Axis, length: Length, place: &Place) -> Checked<()> {
        let (before, mut each) = (self.trial(axis), String::new());
        let (length, trial) = match length {
            Length::Append(old) => (length, self.trial(old).saturating_add(1)),
            Length::Join(parts) => {
                let mut all = parts[0].iter();
                if let Some(own) = all.find(|own| parts.iter().all(|part| part.contains(own))) {
                    let [name, own] = [axis, *own].map(|axis| self.name(axis));
                    each = format!("; an axis that stays is said: join[{name}; each {own}](…)");
                }
                let trial = self.joined(&parts);
                let is_fixed = parts.iter().flatten().all(|part| self.is_fixed(*part));
                let fixed = is_fixed.then_some(Length::Fixed(trial));
                (fixed.unwrap_or(Length::Join(parts)), trial)
            }
            _ => (length, before),
        };
        let own = self.name(axis);
        ensure!(self.page.inputs.iter().all(|data| !data.given().contains(&axis)), place,
            "{own} is an axis of the data, which gives its length"; "choose a new name, or write linear[{own}](…)");
        let parts = match &length {
            Length::Join(parts) => parts.concat(),
            Length::Append(old) => vec![*old],
            _ => vec![],
        };
        if let Some(part) = parts.into_iter().find(|part| self.needs(*part, axis)) {
            let part = self.name(part);
            wrong!(place, "{own} has no length of its own: it is made of {part}, which is another name of {own}";
                "declare: size {part} = 32 in 1..4096");
        }
        let info = &mut self.program.axes[axis];
        ensure_length!(info.length == Length::Episode || before == trial, place,
            "{} has {trial} entries here and {before} elsewhere", info.name; "one axis has one length{each}");
        if info.length == Length::Episode {
            (info.length, info.trial) = (length, trial);
        }
        Ok(())
    }

    /// The mistake in a start whose axes alone are wrong: with others, which its equation makes as well, the page has none.
    fn wrong_start(&self, mistake: &Mistake) -> Option<Mistake> {
        let page = self.page;
        // A start whose equation stands before the mistake has its axes.
        let series = |own: &Record| self.keys.get(&(own.names[0].clone(), own.kind));
        let is_open =
            |own: &&Record| series(own).is_some_and(|series| !self.known.contains(series));
        let starts = page
            .starts
            .iter()
            .filter(|own| page.keeps(own) && is_open(own));
        let starts: Vec<(&Record, Vec<Axis>)> =
            starts.map(|own| (own, own.given().to_vec())).collect();
        let others = |own: &[Axis]| (1 + own.len()) * page.axes.len();
        let trials: usize = starts.iter().map(|(_, own)| others(own)).sum();
        if mistake.is_length || trials * page.statements.len() > MOST_TRIED {
            return None;
        }
        let with = |start: &'_ Record, axes: Vec<Axis>| {
            let mut lowering = Lowering::new(page).ok()?;
            lowering.other = Some((start.place.clone(), axes));
            let lowered = lowering.lower_blocks();
            Some((lowering, lowered))
        };
        // Without axes of its own, a start gives its equation none: what that makes is what is missing.
        let made = starts.iter().filter_map(|(start, _)| {
            let (lowering, _) = with(start, vec![])?;
            Some((*start, lowering.made?))
        });
        let near = starts.iter().flat_map(|(start, own)| {
            let every = 0..page.axes.len();
            let replaced = (0..own.len()).flat_map({
                let every = every.clone();
                move |at| {
                    every
                        .clone()
                        .map(move |axis| [&own[..at], &[axis], &own[at + 1..]].concat())
                }
            });
            let added = every.map(move |axis| [&own[..], &[axis]].concat());
            let near = replaced.chain(added);
            near.map(move |axes| (*start, [start.kind.as_slice(), &axes].concat()))
        });
        made.chain(near).find_map(|(start, axes)| {
            let (lowering, lowered) = with(start, axes.clone())?;
            lowered.ok()?;
            let name = &start.names[0];
            let makes = |own: &&Record| {
                page.keeps(own) && own.kind == start.kind && own.names.contains(name)
            };
            let place = &page.statements.iter().find(makes)?.place;
            let own = lowering.sorted(start.given().iter().chain(&start.kind));
            let [own, axes] = [own, lowering.sorted(&axes)].map(|axes| lowering.names(&axes));
            Some(mistake!(start.place, "start of {name} has [{own}]";
            "expected: [{axes}], as its equation in {place}"))
        })
    }

    // Blocks.

    fn lower_blocks(&mut self) -> Checked<()> {
        for (index, block) in self.page.blocks.iter().enumerate() {
            if block.parent.is_none() {
                self.block(index)?;
            }
        }
        self.answer()
    }

    fn block(&mut self, block: usize) -> Checked<()> {
        for (series, start) in std::mem::take(&mut self.starts[block]) {
            self.start(block, series, start)?;
        }
        let Block {
            axis, place, items, ..
        } = &self.page.blocks[block];
        if let Some(axis) = axis.filter(|axis| self.along(self.frames.len()).contains(axis)) {
            wrong!(place, "a block along {0} inside a block along {0}", self.name(axis);
                "allowed: another axis; give the values a second name of it before: b = a[rows as from]");
        }
        self.frames.push(block);
        for item in items {
            match item {
                Part::Block(inner) => self.block(*inner)?,
                Part::Statement(index) => self.statement(*index)?,
            }
        }
        self.frames.pop();
        Ok(())
    }

    /// The axis of a block around the statement at hand.
    fn frame(&self, frame: usize) -> Option<Axis> {
        self.page.blocks[self.frames[frame]].axis
    }

    /// The axes of the outermost blocks around the statement at hand.
    fn along(&self, count: usize) -> Vec<Axis> {
        let frames = (0..count).filter_map(|frame| self.frame(frame));
        frames.collect()
    }

    /// A start of a block: of one of its own quantities, or `along` it of a block inside it.
    fn start(&mut self, block: usize, series: usize, start: &'a Record) -> Checked<()> {
        let (name, place) = (&start.names[0], &start.place);
        let blocks = self.program.series[series].blocks.iter();
        let inside = blocks.skip_while(|own| **own != block).skip(1);
        let inside = inside.filter_map(|block| self.page.blocks[*block].axis);
        let mut own: Vec<Axis> = inside.collect();
        let other = self.other.as_ref().filter(|(of, _)| of == place);
        let other = other.map(|(_, axes)| self.sorted(own.iter().chain(axes)));
        self.begin(start);
        own.extend(self.kind().iter().chain(start.given()));
        self.start = Some(own.clone());
        let value = self.whole_value()?;
        let free = value.axes.iter().filter(|_| start.axes[0].is_none());
        let axes = self.sorted(own.iter().chain(&start.kind).chain(free));
        self.limit(&axes, place)?;
        self.fits(&value, false)?;
        self.past_of(&value)?;
        ensure!(without(&value.axes, &axes).is_empty(), place,
            "start of {name} has [{}]", self.names(&value.axes); "declared: [{}]", self.names(&axes));
        let axes = other.unwrap_or(axes);
        let before = self.firsts.insert((series, block), axes.clone());
        ensure!(before.is_none() || start.head.is_some(), place,
            "{name} has two starts"; "allowed: one under each choice of the switches");
        let head = self.head();
        self.program.firsts.push(First {
            series,
            block,
            value,
            axes,
            head,
        });
        Ok(())
    }

    fn statement(&mut self, index: usize) -> Checked<()> {
        let statement = &self.page.statements[index];
        if !self.page.keeps(statement) {
            return Ok(());
        }
        let Record { place, kind, .. } = statement;
        self.begin(statement);
        let value = self.whole_value()?;
        let axes = self.sorted(value.axes.iter().chain(kind));
        self.limit(&axes, place)?;
        let along = self.along(self.frames.len());
        let mut makes = Vec::new();
        for (name, said) in statement.names.iter().zip(&statement.axes) {
            let series = self.keys[&(name.clone(), *kind)];
            let said = said.as_ref();
            let said = said.map(|said| self.sorted(said.iter().chain(kind)));
            // A start along an outer block has the axes of the blocks inside as well.
            let firsts = (0..self.frames.len()).rev().filter_map(|frame| {
                let first = self.firsts.get(&(series, self.frames[frame]))?;
                let inside = (frame + 1..self.frames.len()).filter_map(|frame| self.frame(frame));
                Some(without(first, &inside.collect::<Vec<Axis>>()))
            });
            let firsts: Vec<Vec<Axis>> = firsts.collect();
            let others = Some(&self.program.series[series].axes);
            let others = others.filter(|_| self.known.contains(&series));
            let declared = said.iter().map(|said| ("declared", said));
            if self.is_other(name) && firsts.iter().any(|first| *first != axes) {
                self.made = Some(axes.clone());
            }
            let firsts = firsts
                .iter()
                .map(|first| ("in the step before (or its start)", first));
            let others = others.map(|others| ("other heads have", others));
            for (what, wanted) in declared.chain(firsts).chain(others) {
                ensure!(*wanted == axes, place,
                    "{name} has [{}]", self.names(&axes); "{what}: [{}]", self.names(wanted));
            }
            if let Some(axis) = along.iter().find(|axis| axes.contains(axis)) {
                wrong!(place, "{name} has the axis {0} inside a block along it", self.name(*axis);
                    "rename the axis with 'as'");
            }
            self.known.insert(series);
            self.program.series[series].axes.clone_from(&axes);
            makes.push(series);
        }
        self.fits(&value, false)?;
        let past = self.past_of(&value)?;
        let made = past
            .iter()
            .flat_map(|past| makes.iter().map(|series| (*series, *past)));
        self.pasts.extend(made);
        let head = self.head();
        self.program.equations.push(Equation {
            statement: index,
            value,
            makes,
            head,
        });
        Ok(())
    }

    /// True for a quantity whose start has other axes than its own.
    fn is_other(&self, name: &Name) -> bool {
        let mut starts = self.page.starts.iter();
        let other = self.other.as_ref();
        other.is_some_and(|(place, _)| {
            starts.any(|start| start.place == *place && start.names[0] == *name)
        })
    }

    /// Checks all parts of a value, where `is_factor` says that a sum takes it factor by factor: values with the axis of
    /// a block around are those of other blocks, and the states of cells have the axes of the cells.
    fn fits(&self, value: &Value, is_factor: bool) -> Checked<()> {
        let is_product = is_factor && value.op_is(Operator::Multiply);
        let along = self.along(self.frames.len());
        let axis = along.iter().find(|axis| value.axes.contains(axis));
        if let Some(axis) = axis.filter(|_| !is_product && !value.is_view()) {
            wrong!(value.place, "a new value with the axis {0} inside a block along {0}", self.name(*axis);
                "allowed: values made before under this name of the axis, and in sum and dot their products");
        }
        if let Op::Cell(function, learned) = &value.op {
            let left = value.parts.iter().zip(&learned[0].inputs);
            let left = left.flat_map(|(part, taken)| without(&part.axes, taken));
            let axes = self.sorted(
                &left
                    .chain(learned[0].axes.iter().copied())
                    .collect::<Vec<Axis>>(),
            );
            for state in &value.parts[value.parts.len() - function.form().states[0]..] {
                ensure!(state.axes == axes, state.place,
                    "a state with [{}]", self.names(&state.axes); "{} makes [{}]", function.form().name, self.names(&axes));
            }
        }
        let is_sum = matches!(value.op, Op::Over(Function::Sum | Function::Dot, _)) || is_product;
        value
            .parts
            .iter()
            .try_for_each(|part| self.fits(part, is_sum))
    }

    /// Which past a value has, by its block and whether it includes the step at hand: one, if it has the axis.
    fn past_of(&self, value: &Value) -> Checked<Option<(usize, bool)>> {
        let place = &value.place;
        let mut own = match value.op {
            Op::Past(_, _, (_, frame), now) => Some((self.frames[frame], now)),
            Op::Read(series, _) => self.pasts.get(&series).copied(),
            _ => None,
        };
        for part in &value.parts {
            let other = self.past_of(part)?;
            ensure!(own.is_none() || other.is_none() || own == other, place,
                "{TWO_PASTS}"; "{ONE_PAST}");
            own = own.or(other);
        }
        let has_past = |axes: &[Axis]| axes.iter().any(|axis| self.is_past(*axis));
        Ok(own.filter(|_| has_past(&value.axes)))
    }

    /// Makes a record the one at hand.
    fn begin(&mut self, record: &'a Record) {
        (self.here, self.start, self.learned) = (record, None, 0);
    }

    /// The name of tensors of a statement with the heads of the one at hand: `kind.name`, `kind0.name` of one head, or `name`.
    fn label(&self, name: &str) -> String {
        let Record { kind, head, .. } = self.here;
        let head = head.map_or(String::new(), |head| head.to_string());
        let kind = kind.map(|kind| format!("{}{head}.", self.name(kind)));
        kind.unwrap_or_default() + name
    }

    /// The name of tensors of the statement or start at hand.
    fn own_label(&self) -> String {
        let end = self.start.as_ref().map_or("", |_| ".start");
        self.label(&self.here.names[0]) + end
    }

    /// The head of the statement at hand, if it has choices of its own.
    fn head(&self) -> Option<(Axis, usize)> {
        self.here.kind.zip(self.here.head)
    }

    /// The kind of the statement at hand, if its heads share the statement.
    fn kind(&self) -> Option<Axis> {
        self.here.kind.filter(|_| self.here.head.is_none())
    }

    /// The value of the statement or start at hand.
    fn whole_value(&mut self) -> Checked<Value> {
        let scope: Vec<Axis> = self.here.kind.into_iter().collect();
        let value = match &self.here.value {
            Some(value) => self.value(value, &scope)?,
            None => Value::new(Op::Number(0.0), vec![], vec![], &self.here.place),
        };
        // For heads with different choices, a function over all of them gives each its entry.
        let value = self.entry(value, &scope);
        let mut parts = Vec::new();
        value.each(&mut |part| parts.push(part));
        for part in parts.into_iter().rev() {
            self.limit(&part.axes, &part.place)?;
        }
        Ok(value)
    }

    /// Checks that the answer has the axes of the target.
    fn answer(&self) -> Checked<()> {
        let Some(answer) = self.program.answer() else {
            wrong!(self.page.whole(), "no z and no p under the choices made";
                "a machine makes z (logits) or p (probabilities) under every choice");
        };
        let (axes, target) = (self.all_axes(answer), &self.page.target);
        let target = target.as_ref().map_or(&[][..], Record::given);
        let Series {
            name,
            source,
            blocks,
            ..
        } = &self.program.series[answer];
        let along: Vec<Axis> = blocks
            .iter()
            .filter_map(|block| self.page.blocks[*block].axis)
            .collect();
        if let Source::Statement(index, _) = source {
            let own = without(&without(&axes, &along), target);
            ensure!(without(target, &axes).is_empty() && (own.is_empty() || along.is_empty()), self.page.statements[*index].place,
                "{name} has [{}]", self.names(&axes); "its target has [{}]", self.names(target));
        }
        Ok(())
    }

    /// All axes of a series: of its blocks and its own.
    fn all_axes(&self, series: usize) -> Vec<Axis> {
        let Series { blocks, axes, .. } = &self.program.series[series];
        let blocks = blocks.iter().map(|block| &self.page.blocks[*block]);
        self.sorted(blocks.flat_map(|block| &block.axis).chain(axes))
    }

    // Names.

    /// The quantity that a name means: of the heads that a function runs over, of the heads of this `for`, the shared one.
    fn resolve(&self, name: &Name, place: &Place, scope: &[Axis]) -> Checked<usize> {
        let of = |kind: Option<Axis>| self.keys.get(&(name.clone(), kind)).copied();
        let mut inner = scope.iter().copied().map(Some).chain([None]);
        if let Some(series) = inner.find_map(of) {
            return Ok(series);
        }
        let kinds = (0..self.page.axes.len()).filter(|axis| self.page.is_kind(*axis));
        let kinds: Vec<Axis> = kinds.filter(|kind| of(Some(*kind)).is_some()).collect();
        match kinds[..] {
            [kind] => Ok(self.keys[&(name.clone(), Some(kind))]),
            [first, ..] => {
                let (all, first) = (self.names(&kinds).replace(", ", " and "), self.name(first));
                wrong!(place, "{name} exists for {all}"; "use it under sum[{first}](…) or in a 'for'")
            }
            [] if self.page.axis_named(name).is_some() => {
                wrong!(place, "{name} is an axis"; "its numbers are index[{name}]")
            }
            [] => {
                let constants = self.page.key_names(|key| key.word == Word::Constant);
                let known = self.keys.keys().map(|(name, _)| name).chain(constants);
                wrong!(place, "unknown name {name}"; "{}", suggestion(name, known, "known"))
            }
        }
    }

    /// The innermost block around the statement that makes a series, or is along an axis of the target; `axis`: along it.
    fn frame_of(&self, series: usize, axis: Option<Axis>) -> Option<usize> {
        let own = &self.program.series[series];
        (0..self.frames.len()).rfind(|frame| {
            let along = self.frame(*frame);
            let is_of_target =
                own.source == Source::Target && along.is_some_and(|axis| own.axes.contains(&axis));
            let is_in = is_of_target || own.blocks.contains(&self.frames[*frame]);
            is_in && (axis.is_none() || along == axis)
        })
    }

    /// Splits axes into those of blocks around the statement, with the step that is read, and all others.
    fn steps(&self, mut axes: Vec<Axis>, before: Option<usize>) -> (Vec<(Axis, When)>, Vec<Axis>) {
        let mut steps = Vec::new();
        for index in 0..self.frames.len() {
            if let Some(axis) = self.frame(index).filter(|axis| axes.contains(axis)) {
                axes.retain(|own| *own != axis);
                let is_before = before == Some(index);
                let when = if is_before { When::Before } else { When::Step };
                steps.push((axis, when(index)));
            }
        }
        (steps, axes)
    }

    /// In a statement of one head, the entry of this head.
    fn entry(&self, value: Value, scope: &[Axis]) -> Value {
        let is_own = |kind| scope.iter().filter(|own| *own == kind).count() == 1;
        match self.head() {
            Some((kind, head)) if value.axes.contains(&kind) && is_own(&kind) => {
                let (op, place) = (Op::Entry(kind, Some(head)), value.place.clone());
                self.made(op, vec![value], &[kind], &[], &place)
            }
            _ => value,
        }
    }

    fn look_up(&self, name: &Name, place: &Place, scope: &[Axis]) -> Checked<Value> {
        if let Some(constant) = self.page.constant(name) {
            return Ok(Value::new(Op::Constant(constant), vec![], vec![], place));
        }
        ensure!(!self.page.target.iter().any(|target| target.names[0] == *name), place,
            "{name} is the target"; "allowed: {name}[-1], the answer of the step before");
        let series = self.resolve(name, place, scope)?;
        let own = format!("write {name}[-1] for the step before, or move the statement up");
        let here = self.frame_of(series, None).map(|_| own);
        ensure!(self.known.contains(&series), place, "{name} is used before it is made";
            "{}", here.unwrap_or("it is made in a later block".into()));
        let (steps, axes) = self.steps(self.all_axes(series), None);
        let value = Value::new(Op::Read(series, steps), vec![], axes, place);
        Ok(self.entry(value, scope))
    }

    /// The value before, along an axis, or along the innermost block that the statement and the quantity stand in.
    fn look_before(
        &self,
        name: &Name,
        place: &Place,
        scope: &[Axis],
        axis: Option<Axis>,
    ) -> Checked<Value> {
        let along = self.along(self.frames.len());
        let here = Some(self.names(&along)).filter(|_| !along.is_empty());
        let here = here.unwrap_or("none".into());
        if let Some(axis) = axis.filter(|axis| !along.contains(axis)) {
            let axis = self.name(axis);
            wrong!(place, "{name}[{axis}: -1] outside a block along {axis}"; "here: {here}");
        }
        let series = self.resolve(name, place, scope)?;
        let own = &self.program.series[series];
        let is_target = own.source == Source::Target;
        let frame = self.frame_of(series, axis);
        let Some(frame) = frame.filter(|frame| self.frame(*frame).is_some()) else {
            ensure!(!is_target, place,
                "{name}[-1] in a block along {here}"; "{name} has [{}]", self.names(&own.axes));
            wrong!(place, "{name}[-1] outside the block that makes {name}";
                "allowed: quantities of this block, the target");
        };
        let block = &self.page.blocks[self.frames[frame]];
        let is_given = |axis| self.page.is_sequence(axis) && !block.backwards;
        ensure!(!is_target || block.axis.is_some_and(is_given), place,
            "{name}[-1] in a block along {here}";
            "allowed: in a forward block along a sequence of the data that {name} has");
        let all = match self.firsts.get(&(series, self.frames[frame])) {
            _ if is_target => own.axes.clone(),
            // The axes are those of the start: the statement may stand further down.
            Some(first) => self.sorted(self.along(frame + 1).iter().chain(first)),
            None => {
                let mut starts = self.page.starts.iter().filter(|own| self.page.keeps(own));
                let start = starts.find(|start| start.names[0] == *name);
                let other = start.filter(|start| start.kind != own.kind);
                if let (Some(start), Some(kind)) = (other, own.kind) {
                    let (kind, axes) = (self.name(kind), self.names(start.given()));
                    let axes = Some(format!("[{axes}]")).filter(|_| !axes.is_empty());
                    wrong!(start.place, "start {name} is not for {kind}";
                        "write: start {name}{} = … for {kind}", axes.unwrap_or_default());
                }
                wrong!(place, "{name}[-1] has no first value"; "add: start {name}[…] = 0");
            }
        };
        let (steps, axes) = self.steps(all, Some(frame));
        let value = Value::new(Op::Read(series, steps), vec![], axes, place);
        Ok(self.entry(value, scope))
    }

    fn past(&self, call: &Call, part: &Node, place: &Place, scope: &[Axis]) -> Checked<Value> {
        let Some(name) = part.name() else {
            wrong!(place, "past of an expression"; "allowed: past(NAME), past(NAME, now)");
        };
        let series = self.resolve(name, place, scope)?;
        let along = self.frame_of(series, None);
        let along = along.and_then(|frame| Some((self.frame(frame)?, frame)));
        let source = self.program.series[series].source;
        let (Some((axis, frame)), Source::Statement(index, position)) = (along, source) else {
            wrong!(place, "past({name}) outside the block along an axis that makes it";
                "allowed: quantities of this block");
        };
        let inner = self.program.series[series]
            .blocks
            .iter()
            .skip_while(|own| **own != self.frames[frame]);
        if let Some(inner) = inner.skip(1).find_map(|own| self.page.blocks[*own].axis) {
            let inner = self.name(inner);
            wrong!(place, "past({name}) outside the block along {inner} that makes it";
                "take an entry of it in a statement of this block: b[…] = {name}[{inner}: last], then past(b)");
        }
        let statement = &self.page.statements[index];
        let Some(said) = &statement.axes[position] else {
            wrong!(place, "the axes of {name} are not known in the first step";
                "say them where it is made: {name}[…] = …");
        };
        ensure!(!call.now || self.known.contains(&series), place,
            "{name} is used before it is made"; "write past({name}), without this step");
        let past = self.page.axis_named("past");
        let all = [&self.along(frame), &said[..]].concat();
        let all = self.sorted(all.iter().chain(&statement.kind).chain(&past));
        let (steps, axes) = self.steps(all, None);
        let op = Op::Past(series, steps, (axis, frame), call.now);
        Ok(self.entry(Value::new(op, vec![], axes, place), scope))
    }

    // Values.

    fn value(&mut self, tree: &Node, scope: &[Axis]) -> Checked<Value> {
        let mut value = self.value_of(tree, scope)?;
        if tree.named != tree.place {
            value.named.clone_from(&tree.named);
        }
        Ok(value)
    }

    fn value_of(&mut self, tree: &Node, scope: &[Axis]) -> Checked<Value> {
        let place = &tree.place;
        let op = match &tree.kind {
            Kind::Number(number) => Op::Number(*number),
            Kind::Negative => Op::Negative,
            Kind::Binary(operator) => Op::Binary(*operator),
            Kind::Name(name) => return self.look_up(name, place, scope),
            Kind::Learned => {
                let Some(axes) = self.start.clone() else {
                    wrong!(place, "found 'learned'";
                        "allowed in 'start' only; elsewhere declare a parameter");
                };
                let sorted = self.sorted(&axes);
                let tensor = self.tensor(Tensor::new(self.own_label(), axes.clone()))?;
                return Ok(Value::new(Op::Tensor(tensor, axes), vec![], sorted, place));
            }
            Kind::Select(items) => return self.select(tree, items, scope),
            Kind::Call(call) if call.function == Function::Past => {
                return self.past(call, &tree.parts[0], place, scope);
            }
            Kind::Call(call) => return self.call(tree, call, scope),
        };
        let parts = self.values(&tree.parts, scope)?;
        let axes = self.sorted(parts.iter().flat_map(|part| &part.axes));
        // Heads of a kind are not an axis that somebody wrote.
        let written = |axes: &[Axis]| {
            axes.iter()
                .filter(|axis| Some(**axis) != self.here.kind)
                .count()
        };
        let is_table = parts
            .iter()
            .all(|part| written(&part.axes) < written(&axes));
        let is_said = self.here.axes.iter().any(Option::is_some);
        if let (Op::Binary(Operator::Add | Operator::Subtract), [left, right]) = (&op, &parts[..])
            && is_table
            && !is_said
        {
            let name = self.here.names[0].rsplit('.').next().unwrap_or_default();
            let [left, right, all] = [&left.axes, &right.axes, &axes].map(|axes| self.names(axes));
            let warning = mistake!(place, "a sum or difference of [{left}] and [{right}]";
                "if it is meant, say the axes on the left: {name}[{all}] = …");
            self.program.warnings.push(warning);
        }
        Ok(Value::new(op, parts, axes, place))
    }

    /// A value with all axes of its parts but those that are gone, and with new ones.
    fn made(&self, op: Op, parts: Vec<Value>, gone: &[Axis], new: &[Axis], place: &Place) -> Value {
        let all: Vec<Axis> = parts.iter().flat_map(|part| part.axes.clone()).collect();
        let axes = self.sorted(without(&all, gone).iter().chain(new));
        Value::new(op, parts, axes, place)
    }

    fn values(&mut self, trees: &[Node], scope: &[Axis]) -> Checked<Vec<Value>> {
        trees.iter().map(|tree| self.value(tree, scope)).collect()
    }

    fn select(&mut self, tree: &Node, items: &[Item], scope: &[Axis]) -> Checked<Value> {
        let (inner, place) = (&tree.parts[0], &tree.place);
        let (mut inner_scope, mut before) = (Vec::new(), None);
        for item in items {
            match item {
                Item::Before(axis) => before = inner.name().map(|name| (name, *axis)),
                Item::Entry(axis, Some(_)) | Item::Pick(axis) if self.page.is_kind(*axis) => {
                    inner_scope.push(*axis);
                }
                _ => {}
            }
        }
        inner_scope.extend(scope);
        let mut value = match before {
            Some((name, axis)) => {
                let value = self.look_before(name, &inner.place, &inner_scope, axis)?;
                let named = inner.named.clone();
                Value { named, ..value }
            }
            None => self.value(inner, &inner_scope)?,
        };
        let indices = self.values(&tree.parts[1..], scope)?;
        let selected = |item: &Item| match item {
            Item::Entry(axis, _) | Item::Pick(axis) => Some(*axis),
            _ => None,
        };
        let selected: Vec<Axis> = items.iter().filter_map(selected).collect();
        let mut own = indices.iter();
        for item in items {
            let (axis, index) = match item {
                Item::Entry(axis, _) => (*axis, None),
                Item::Pick(axis) => (*axis, own.next()),
                _ => continue,
            };
            let index = index.map_or(&[][..], |index| &index.axes);
            ensure!(!self.is_past(axis) || index.iter().any(|own| self.is_past(*own)), place,
                "an entry of {}", self.name(axis);
                "past has as many entries as there are steps so far: weigh them and sum");
            if let Some(other) = selected
                .iter()
                .find(|own| **own != axis && index.contains(own))
            {
                let [axis, other] = [axis, *other].map(|axis| self.name(axis));
                wrong!(place, "the index of {axis} has the axis {other}, whose entries are selected too";
                    "select one after the other: w[{axis}: …][{other}: …]");
            }
        }
        let mut indices = indices.into_iter();
        for item in items {
            match *item {
                Item::As(old, new) if old != new => {
                    value = self.rename(value, [old, new], tree)?;
                }
                Item::Entry(axis, entry) => {
                    self.has(&value, &[axis], place)?;
                    let length = self.trial(axis);
                    let is_there = entry.is_none_or(|entry| entry < length);
                    ensure_length!(is_there || !self.is_fixed(axis), place,
                        "entry {} of {}", entry.unwrap_or_default(), self.name(axis); "it has {length}, from 0 on");
                    value = self.made(Op::Entry(axis, entry), vec![value], &[axis], &[], place);
                }
                Item::Pick(mut axis) => {
                    self.has(&value, &[axis], place)?;
                    let index: Vec<Value> = indices.next().into_iter().collect();
                    // An index that has the axis itself selects from a second name of it.
                    if index.iter().any(|index| index.axes.contains(&axis)) {
                        let second = self.page.axis_named(&second_name(self.name(axis)));
                        let second = second.unwrap_or(axis);
                        value = self.rename(value, [axis, second], tree)?;
                        axis = second;
                    }
                    let parts = [vec![value], index].concat();
                    value = self.made(Op::Pick(axis), parts, &[axis], &[], place);
                }
                Item::Before(_) | Item::As(..) => {}
            }
        }
        Ok(value)
    }

    /// A value under another name of an axis.
    fn rename(&self, value: Value, [old, new]: [Axis; 2], tree: &Node) -> Checked<Value> {
        let (inner, place) = (&tree.parts[0], &tree.place);
        self.has(&value, &[old], place)?;
        self.lacks(&value.axes, new, place)?;
        let name = inner.name().filter(|_| self.is_past(new));
        let rows = self.name(if self.is_past(old) { new } else { old });
        ensure!(self.is_past(old) == self.is_past(new), place, "past has its own length at each step";
            "write {}[{rows}: index[past]]", name.map_or("w", |name| name));
        let [one, other] = [old, new].map(|axis| {
            let fixed = format!("{} has {} entries", self.name(axis), self.trial(axis));
            let fixed = Some(fixed).filter(|_| self.is_fixed(axis));
            fixed.unwrap_or(format!("{} those of the episode", self.name(axis)))
        });
        ensure_length!(self.trial(old) == self.trial(new), place, "{one}, {other}"; "one axis has one length");
        Ok(self.made(Op::Rename(old, new), vec![value], &[old], &[new], place))
    }

    fn call(&mut self, tree: &Node, call: &Call, scope: &[Axis]) -> Checked<Value> {
        let Call { function, axes, .. } = call;
        let (place, rule) = (&tree.place, function.form().rule);
        let is_over = matches!(rule, Rule::Over | Rule::Pair | Rule::Along);
        let is_kind = |axis: &&Axis| is_over && self.page.is_kind(**axis);
        let inner: Vec<Axis> = axes.iter().filter(is_kind).chain(scope).copied().collect();
        let parts = self.values(&tree.parts, &inner)?;
        if rule == Rule::Learned {
            let parts = parts.into_iter().map(|part| self.entry(part, scope));
            return self.learned(call, parts.collect(), place);
        }
        if *function == Function::Sum {
            self.each_factor((&tree.parts[0], &parts[0]), true, axes)?;
        }
        let taken = self.inputs(&parts, call);
        let mut frames = (0..self.frames.len()).filter(|_| *function == Function::Index);
        let step = frames.find(|frame| self.frame(*frame) == Some(axes[0]));
        // Axes that the first arguments must have, those that the result lacks, and those that it gets.
        let (all, none) = (&axes[..], &[][..]);
        let (needed, gone, new) = match (rule, function) {
            (Rule::Over | Rule::Pair, _) => (all, axes.clone(), none),
            (Rule::Along, _) => (all, vec![], none),
            (_, Function::Shift) => (all, without(&parts[1].axes, &parts[0].axes), none),
            (_, Function::Append) => (&axes[..1], axes[..1].to_vec(), &axes[1..]),
            (_, Function::Window) => (&axes[..1], vec![], &axes[1..]),
            (_, Function::Join) => (none, taken.concat(), all),
            (_, Function::Onehot) => (none, vec![], all),
            (_, Function::Index) if step.is_none() => (none, vec![], all),
            _ => (none, vec![], none),
        };
        for part in parts.iter().take(1 + usize::from(rule == Rule::Pair)) {
            self.has(part, needed, place)?;
        }
        let all = self.sorted(parts.iter().flat_map(|part| &part.axes));
        let kept = without(&all, &gone);
        for new in new {
            let is_join = *function == Function::Join;
            self.lacks(if is_join { &kept } else { &all }, *new, place)?;
        }
        let op = match function {
            Function::Shift => {
                let [one, other] = [&parts[0], &parts[1]].map(|part| self.names(&part.axes));
                ensure!(gone.len() == 1 && !parts[1].axes.contains(&axes[0]), place,
                    "shifts have [{other}], what they shift [{one}]"; "shifts have one axis more, and not the shifted one");
                Op::Over(*function, vec![axes[0], gone[0]])
            }
            Function::Length => Op::Length(axes[0]),
            Function::Index => step.map_or(Op::Index(axes[0]), Op::Step),
            Function::Onehot => Op::Onehot(axes[0]),
            Function::Window => Op::Window(axes[0], axes[1]),
            Function::Append => {
                let rest = without(&parts[0].axes, &gone);
                ensure!(parts[1].axes == rest, place, "the entry has [{}]", self.names(&parts[1].axes);
                    "it must have [{}]", self.names(&rest));
                self.make_axis(axes[1], Length::Append(axes[0]), place)?;
                Op::Append(axes[0], axes[1])
            }
            Function::Join => {
                self.make_axis(axes[0], Length::Join(taken.clone()), place)?;
                Op::Join(axes[0], taken)
            }
            _ if rule == Rule::Element => Op::Element(*function),
            _ => Op::Over(*function, axes.clone()),
        };
        Ok(self.made(op, parts, &gone, new, place))
    }

    /// A factor that does not vary along a sum stands outside it; found inside, it is a forgotten rename.
    fn each_factor(&self, own: (&Node, &Value), is_whole: bool, axes: &[Axis]) -> Checked<()> {
        let (tree, value) = own;
        if matches!(tree.kind, Kind::Binary(Operator::Multiply)) {
            for part in tree.parts.iter().zip(&value.parts) {
                self.each_factor(part, false, axes)?;
            }
            return Ok(());
        }
        let varies = value.axes.iter().any(|axis| axes.contains(axis));
        ensure!(is_whole || varies, tree.place,
            "a factor with [{}] under sum[{}]", self.names(&value.axes), self.names(axes);
            "it does not vary along the sum: write it outside, or rename its axis with 'as'");
        Ok(())
    }

    // Learned functions.

    /// The axes that a learned function or `join` takes in, by argument: all but sequences, the heads of this `for`, and
    /// those after `each`.
    fn inputs(&self, parts: &[Value], call: &Call) -> Vec<Vec<Axis>> {
        let kept = [call.each.as_slice(), self.here.kind.as_slice()].concat();
        let is_taken = |axis: &Axis| !self.page.is_sequence(*axis) && !kept.contains(axis);
        let taken = |part: &Value| part.axes.iter().copied().filter(is_taken).collect();
        parts.iter().map(taken).collect()
    }

    /// Adds a tensor, with the axes of the blocks around it whose entries have tensors of their own, or finds it.
    fn tensor(&mut self, mut tensor: Tensor) -> Checked<usize> {
        for (one, other) in self.page.shared.iter().rev() {
            let name = format!(".{}", tensor.name);
            let renamed = name.replace(&format!(".{one}."), &format!(".{other}."));
            renamed.trim_start_matches('.').clone_into(&mut tensor.name);
        }
        let blocks = self.frames.iter().map(|block| &self.page.blocks[*block]);
        let own = blocks.filter(|block| block.own);
        let own: Vec<Axis> = own.filter_map(|block| block.axis).collect();
        let (count, place) = (own.len(), &self.here.place);
        tensor.axes.splice(0..0, own);
        if let Some(axis) = tensor.axes.iter().find(|axis| self.is_of_episode(**axis)) {
            wrong!(place, "{} has the axis {}, whose length differs from episode to episode", tensor.name, self.name(*axis);
                "a tensor has no size that depends on the length of an episode: use an axis of a size");
        }
        tensor.before_gates += count;
        let mut tensors = self.program.tensors.iter();
        if let Some(index) = tensors.position(|other| other.name == tensor.name) {
            let shape = |own: &Tensor| {
                let lengths: Vec<usize> = own.axes.iter().map(|axis| self.trial(*axis)).collect();
                let blocks: Vec<Axis> = own.axes.iter().copied().take(count).collect();
                (blocks, lengths, own.gates, self.joined(&own.inputs))
            };
            ensure!(shape(&self.program.tensors[index]) == shape(&tensor), place,
                "{} has another shape here", tensor.name; "shared weights have one shape");
            return Ok(index);
        }
        let widths = tensor.inputs.iter().map(|axes| self.fixed_count(axes));
        let widest = widths.max().unwrap_or(1);
        ensure_length!(self.fixed_count(&tensor.axes).saturating_mul(widest) <= MOST_NUMBERS, place,
            "{} has more than {MOST_NUMBERS} numbers", tensor.name; "choose smaller sizes");
        self.program.tensors.push(tensor);
        Ok(self.program.tensors.len() - 1)
    }

    fn learned(&mut self, call: &Call, parts: Vec<Value>, place: &Place) -> Checked<Value> {
        self.learned += 1;
        ensure!(self.learned == 1, place, "a second learned function in one statement";
            "give it a statement, and so a name, of its own");
        let shared = call.weights.as_ref();
        let shared = shared.map(|other| self.shared_name(call.function, other, place, 0));
        let name = shared.unwrap_or_else(|| Ok(self.own_label()))?;
        // A cell reads its inputs and its hidden state; its result has the axes of its states.
        let states = call.function.form().states[0];
        let seen = &parts[..parts.len() - states.saturating_sub(1)];
        let taken = self.inputs(seen, call);
        let left = seen.iter().zip(&taken);
        let left = left.flat_map(|(part, taken)| without(&part.axes, taken));
        let left: Vec<Axis> = left.collect();
        if let Some(axis) = left.iter().find(|axis| call.axes.contains(axis)) {
            wrong!(place, "{} is an axis of the argument and of the result", self.name(*axis);
                "rename one with 'as'");
        }
        let takes = taken.iter().any(|taken| !taken.is_empty());
        ensure!(takes || seen.iter().any(|part| part.axes.is_empty()), place,
            "nothing to take in: all axes are sequences or heads of this 'for'";
            "allowed: a value with an axis of fixed length");
        let states = &parts[parts.len() - states..];
        let states = states.iter().flat_map(|part| &part.axes);
        let kind = self.kind();
        let axes: Vec<Axis> = kind.iter().chain(&call.axes).copied().collect();
        let all_axes = self.sorted(axes.iter().chain(&left).chain(states));
        let tensors: &[(&str, usize)] = match call.function {
            Function::Linear => &[("", 0)],
            Function::Lstm => &[("", 4)],
            _ => &[(".gates", 2), (".candidate", 0)],
        };
        let mut all = Vec::new();
        for (end, gates) in tensors {
            let mut bias = Tensor::new(format!("{name}{end}.bias"), axes.clone());
            (bias.gates, bias.before_gates) = (*gates, kind.iter().len());
            let mut weight = bias.clone();
            (weight.name, weight.inputs) = (format!("{name}{end}.weight"), taken.clone());
            all.push(Learned {
                weight: self.tensor(weight)?,
                bias: call.bias.then(|| self.tensor(bias)).transpose()?,
                inputs: taken.clone(),
                axes: axes.clone(),
            });
        }
        let op = match call.function {
            Function::Linear => Op::Linear(all.remove(0)),
            cell => Op::Cell(cell, all),
        };
        Ok(Value::new(op, parts, all_axes, place))
    }

    /// The name of the tensors of another statement, or of the one that shares its own with it.
    fn shared_name(
        &self,
        function: Function,
        other: &Name,
        place: &Place,
        depth: usize,
    ) -> Checked<String> {
        let Some(series) = self.keys.get(&(other.clone(), self.here.kind)) else {
            let known = self.keys.keys().map(|(name, _)| name);
            let what = "a statement with a learned function of its own; known";
            wrong!(place, "no statement makes {other} here"; "{}", suggestion(other, known, what));
        };
        ensure!(self.head_of(*series).is_some() == self.here.head.is_some(), place,
            "weights of {other} under other choices of heads";
            "allowed: a statement under the same list of choices");
        let (
            Record {
                kind, head, names, ..
            },
            mut call,
        ) = (self.here, None);
        if let Some(index) = self.made_by.get(&(other.clone(), *kind, *head)) {
            self.page.statements[*index].each(&mut |node| match &node.kind {
                Kind::Call(own) if own.function.form().rule == Rule::Learned => call = Some(own),
                _ => {}
            });
        }
        let name = function.form().name;
        let Some(call) = call.filter(|call| call.function == function) else {
            wrong!(place, "{other} is not the first name of a statement with {name}"; "allowed: weights of one that is");
        };
        let is_own = self.start.is_none() && *other == names[0];
        ensure!(depth < LONGEST_CHAIN && !is_own, place,
            "weights of {other}, which has them from here"; "one of the statements has weights of its own");
        match &call.weights {
            Some(other) => self.shared_name(function, other, place, depth + 1),
            None => Ok(self.label(other)),
        }
    }
}

/// Axes without some of them.
fn without(axes: &[Axis], gone: &[Axis]) -> Vec<Axis> {
    let axes = axes.iter().copied();
    axes.filter(|axis| !gone.contains(axis)).collect()
}
