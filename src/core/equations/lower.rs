//! Lowering: from a page to a program, with all checks of names, axes and lengths.
//!
//! A page is lowered once for all episodes. Sequences get trial lengths of their own here, so that axes of different
//! lengths never fit by accident.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::page::{Key, Page, Part, Record, Word};
pub use super::program::{
    Axis, AxisInfo, Equation, First, Learned, Length, Op, Program, Series, Source, Tensor, Value,
    When,
};
use super::text::{Checked, Name, Place, mistake, suggestion, wrong, wrong_length};
use super::traces;
use super::tree::{Call, Function, Item, Kind, Node, Operator, Rule};

/// The most numbers of a tensor or of a value in one step.
const MOST_NUMBERS: usize = 1 << 31;
/// The most axes of a value.
const MOST_AXES: usize = 8;
/// The most statements that are lowered to check choices of switches.
const MOST_LOWERED: usize = 100_000;

/// Lowers a page.
///
/// # Errors
/// A mistake in the page, under the choices made.
pub fn lower(page: &Page) -> Checked<Program> {
    let mut lowering = Lowering::new(page)?;
    for (index, block) in page.blocks.iter().enumerate() {
        if block.parent.is_none() {
            lowering.block(index)?;
        }
    }
    lowering.answer()?;
    let mut program = lowering.program;
    program.keys = traces::listed_keys(page, &program);
    Ok(program)
}

/// Lowers a page, and checks it under every choice of its switches; where these are many, under every choice of one
/// switch, and of two of the same component.
///
/// # Errors
/// A mistake in the page.
pub fn checked(page: &Page) -> Checked<Program> {
    let program = lower(page)?;
    let is_open = |key: &Key| key.word == Word::Switch && key.choices.len() > 1;
    let switches = (0..page.keys.len()).filter(|key| is_open(&page.keys[*key]));
    let switches: Vec<usize> = switches.collect();
    let scope = |key: usize| page.keys[key].name.rsplit_once('.').map(|(scope, _)| scope);
    let count = |group: &Vec<usize>| {
        let counts = group.iter().map(|key| page.keys[*key].choices.len());
        counts.fold(1, usize::saturating_mul)
    };
    let mut groups = vec![switches.clone()];
    if count(&switches) > 64 {
        groups.clear();
        for (position, one) in switches.iter().enumerate() {
            groups.push(vec![*one]);
            for other in &switches[position + 1..] {
                if scope(*one) == scope(*other) {
                    groups.push(vec![*one, *other]);
                }
            }
        }
    }
    let all = groups.iter().map(count).fold(0, usize::saturating_add);
    if all.saturating_mul(page.statements.len()) > MOST_LOWERED {
        wrong!(page.whole(), "{} switches for {} statements", switches.len(), page.statements.len();
            "too many choices to check: use fewer switches");
    }
    let mut seen = HashSet::new();
    for group in groups {
        let mut trial = page.clone();
        for mut number in 0..count(&group) {
            for key in &group {
                let key = &mut trial.keys[*key];
                key.chosen = vec![key.choices[number % key.choices.len()].clone()];
                number /= key.choices.len();
            }
            let records = trial.statements.iter().chain(&trial.starts);
            let kept: Vec<bool> = records.map(|record| trial.keeps(record)).collect();
            if seen.insert(kept)
                && let Err(mistake) = lower(&trial)
                && !mistake.is_length
            {
                return Err(mistake);
            }
        }
    }
    Ok(program)
}

/// A block around the statement at hand.
struct Frame {
    block: usize,
    axis: Option<Axis>,
    /// Quantities that are made so far in this step.
    now: HashSet<usize>,
    /// Quantities with a first value along this block, with their axes.
    before: HashMap<usize, Vec<Axis>>,
}

/// The statement or start at hand.
#[derive(Default)]
struct Here {
    kind: Option<Axis>,
    head: Option<usize>,
    place: Place,
    /// Its name in the names of tensors.
    label: String,
    /// Axes of a start.
    start: Option<Vec<Axis>>,
    has_axes: bool,
    learned: usize,
}

/// Where the step before, or the last entry, of a quantity is read: the axis, if it is given, and the block.
type Reader = (Option<Axis>, Option<usize>);

struct Lowering<'a> {
    page: &'a Page,
    program: Program,
    /// Axes whose lengths do not belong to the episode.
    fixed: HashSet<Axis>,
    /// All quantities, data and parameters by name and kind.
    keys: HashMap<(Name, Option<Axis>), usize>,
    /// Series that each block makes.
    made: Vec<Vec<usize>>,
    /// Series of blocks that have ended.
    full: HashSet<usize>,
    starts: HashMap<&'a Name, Vec<usize>>,
    readers: HashMap<&'a Name, Vec<Reader>>,
    frames: Vec<Frame>,
    here: Here,
}

impl<'a> Lowering<'a> {
    fn new(page: &'a Page) -> Checked<Self> {
        let mut out = Self {
            page,
            program: Program::default(),
            fixed: HashSet::new(),
            keys: HashMap::new(),
            made: vec![vec![]; page.blocks.len()],
            full: HashSet::new(),
            starts: HashMap::new(),
            readers: HashMap::new(),
            frames: vec![],
            here: Here::default(),
        };
        for axis in 0..page.axes.len() {
            out.program.axes.push(axis_info(page, axis));
            out.fixed.extend(page.length(axis).map(|_| axis));
        }
        let mut read = HashSet::new();
        for (index, start) in page.starts.iter().enumerate() {
            if page.keeps(start) {
                out.starts.entry(&start.names[0]).or_default().push(index);
                start.each(&mut |node| out.see(node, None, &mut read));
            }
        }
        for statement in page.statements.iter().filter(|own| page.keeps(own)) {
            statement.each(&mut |node| out.see(node, Some(statement.block), &mut read));
        }
        for (index, input) in page.inputs.iter().enumerate() {
            out.data(input, Source::Input(index));
        }
        for (index, noise) in page.noises.iter().enumerate() {
            if read.contains(&noise.names[0]) {
                out.data(noise, Source::Noise(index));
            }
        }
        for (index, statement) in page.statements.iter().enumerate() {
            if page.keeps(statement) {
                out.quantities(index, statement)?;
            }
        }
        for parameter in page.parameters.iter().filter(|own| page.keeps(own)) {
            if read.contains(&parameter.names[0]) {
                let axes = parameter.kind.iter().chain(parameter.given());
                let axes = axes.copied().collect();
                out.begin(parameter, "");
                let tensor = out.tensor(Tensor::new(out.here.label.clone(), axes))?;
                out.data(parameter, Source::Parameter(tensor));
            }
        }
        Ok(out)
    }

    /// Remembers the names that an expression reads.
    fn see(&mut self, node: &'a Node, block: Option<usize>, read: &mut HashSet<&'a Name>) {
        read.extend(node.name());
        if let (Kind::Select(items), Some(part)) = (&node.kind, node.parts.first())
            && let Some(name) = part.name()
        {
            let readers = self.readers.entry(name).or_default();
            for item in items {
                match item {
                    Item::Before(axis) => readers.push((*axis, block)),
                    Item::Last(axis) => readers.push((Some(*axis), block)),
                    _ => {}
                }
            }
        }
    }

    fn data(&mut self, record: &Record, source: Source) {
        let axes = self.sorted(record.given().iter().chain(&record.kind));
        let series = self.series(record, 0, source);
        self.program.series[series].axes = axes;
        self.full.insert(series);
    }

    /// Adds a series without axes.
    fn series(&mut self, record: &Record, position: usize, source: Source) -> usize {
        let name = record.names[position].clone();
        let index = self.program.series.len();
        self.keys.insert((name.clone(), record.kind), index);
        let series = Series::new(name, record.kind, source);
        self.program.series.push(series);
        index
    }

    /// Adds the quantities that a statement makes.
    fn quantities(&mut self, index: usize, statement: &Record) -> Checked<()> {
        for (position, name) in statement.names.iter().enumerate() {
            let of = |kind| self.keys.get(&(name.clone(), kind));
            let before = of(statement.kind).or_else(|| of(None));
            let other = before.and_then(|series| match self.program.series[*series].source {
                Source::Statement(other, _) => self.page.statements[other].head,
                _ => None,
            });
            // Heads with different choices make entries of one series.
            if statement.head.is_some() && other.is_some() && other != statement.head {
                continue;
            }
            let is_key = |key: &Key| key.word != Word::Switch;
            if before.is_some() || self.page.key(name).is_some_and(is_key) {
                wrong!(statement.place, "{name} is made twice"; "give the second a name of its own");
            }
            let series = self.series(statement, position, Source::Statement(index, position));
            let own = &mut self.program.series[series];
            own.trace.clone_from(&self.page.traces[index][position]);
            own.blocks = self.page.blocks_around(statement.block);
            for block in &own.blocks {
                self.made[*block].push(series);
            }
        }
        Ok(())
    }

    // Axes.

    /// The length of an axis in the trial.
    fn trial(&self, axis: Axis) -> usize {
        self.program.axes[self.program.axes[axis].origin].trial
    }

    /// Whether the length of an axis does not belong to the episode.
    fn is_fixed(&self, axis: Axis) -> bool {
        self.fixed.contains(&self.program.axes[axis].origin)
    }

    /// Whether an axis is `past`, or another name of it.
    fn is_past(&self, axis: Axis) -> bool {
        self.program.axes[self.program.axes[axis].origin].length == Length::Past
    }

    /// The number of entries of axes together.
    fn count<'n>(&self, axes: impl IntoIterator<Item = &'n Axis>) -> usize {
        let lengths = axes.into_iter().map(|axis| self.trial(*axis));
        lengths.fold(1, usize::saturating_mul)
    }

    /// The number of entries of the axes together whose lengths do not belong to the episode.
    fn fixed_count(&self, axes: &[Axis]) -> usize {
        self.count(axes.iter().filter(|axis| self.is_fixed(**axis)))
    }

    /// Axes in the order of the program, each once.
    fn sorted<'n>(&self, axes: impl IntoIterator<Item = &'n Axis>) -> Vec<Axis> {
        let mut axes: Vec<Axis> = axes.into_iter().copied().collect();
        axes.sort_by_key(|axis| (self.program.axes[*axis].rank, *axis));
        axes.dedup();
        axes
    }

    fn names(&self, axes: &[Axis]) -> String {
        let name = |axis: &Axis| &*self.page.axes[*axis].name;
        axes.iter().map(name).collect::<Vec<&str>>().join(", ")
    }

    /// The number of values that several arguments have together.
    fn joined(&self, taken: &[Vec<Axis>]) -> usize {
        let counts = taken.iter().map(|axes| self.count(axes));
        counts.fold(0, usize::saturating_add)
    }

    fn trial_of(&self, length: &Length) -> usize {
        match length {
            Length::Join(parts) => self.joined(parts),
            Length::Append(axis) => self.trial(*axis).saturating_add(1),
            _ => 0,
        }
    }

    /// Gives an axis that a function makes its length.
    fn make_axis(&mut self, axis: Axis, length: Length, place: &Place) -> Checked<()> {
        let (before, trial) = (self.trial(axis), self.trial_of(&length));
        if let Length::Join(parts) = &length
            && parts.iter().flatten().all(|part| self.is_fixed(*part))
        {
            self.fixed.insert(axis);
        }
        let info = &mut self.program.axes[axis];
        if info.length == Length::Episode && info.origin == axis {
            info.length = length;
            info.trial = trial;
        } else if before != trial {
            let name = info.name.clone();
            let common = match &length {
                Length::Join(parts) => parts[0]
                    .iter()
                    .find(|own| parts.iter().all(|part| part.contains(own))),
                _ => None,
            };
            let each = common.map_or(String::new(), |own| {
                format!(
                    "; an axis that stays is said: join[{name}; each {}](…)",
                    self.names(&[*own])
                )
            });
            wrong_length!(place, "{name} has {trial} entries here and {before} elsewhere";
                "one axis has one length{each}");
        }
        Ok(())
    }

    // Blocks.

    fn block(&mut self, block: usize) -> Checked<()> {
        let (page, made) = (self.page, self.made[block].clone());
        if made.is_empty() {
            return Ok(());
        }
        let before = self.firsts(block, &made)?;
        let (axis, now) = (page.blocks[block].axis, HashSet::new());
        let frame = Frame {
            block,
            axis,
            now,
            before,
        };
        self.frames.push(frame);
        for item in &page.blocks[block].items {
            match item {
                Part::Block(inner) => self.block(*inner)?,
                Part::Statement(index) => self.statement(*index)?,
            }
        }
        self.frames.pop();
        match self.frames.last_mut() {
            Some(frame) => frame.now.extend(made),
            None => self.full.extend(made),
        }
        Ok(())
    }

    /// The starts of a block: of its own quantities, and those `along` it of the blocks inside it.
    fn firsts(&mut self, block: usize, made: &[usize]) -> Checked<HashMap<usize, Vec<Axis>>> {
        let page = self.page;
        let names = made.iter().map(|own| &self.program.series[*own].name);
        let starts = names.filter_map(|name| self.starts.get(name));
        let starts: BTreeSet<usize> = starts.flatten().copied().collect();
        let mut out = HashMap::new();
        for start in starts.into_iter().map(|start| &page.starts[start]) {
            let name = &start.names[0];
            let Some(&series) = self.keys.get(&(name.clone(), start.kind)) else {
                continue;
            };
            let blocks = &self.program.series[series].blocks;
            let Some(place) = blocks.iter().position(|own| *own == block) else {
                continue;
            };
            let inside = blocks[place + 1..].iter().map(|own| &page.blocks[*own]);
            let inside: Vec<Axis> = inside.filter_map(|block| block.axis).collect();
            let is_here = match start.along {
                Some(_) => page.blocks[block].axis == start.along,
                None => place + 1 == blocks.len(),
            };
            if !is_here || !self.is_read_before(series, block) {
                continue;
            }
            if out.contains_key(&series) && start.head.is_none() {
                wrong!(start.place, "{name} has two starts";
                    "allowed: one under each choice of the switches");
            }
            self.begin(start, ".start");
            let head = self.head();
            let named = inside.iter().chain(&start.kind).chain(start.given());
            let is_own = |axis: &&Axis| head.is_none_or(|(kind, _)| kind != **axis);
            self.here.start = Some(named.clone().filter(is_own).copied().collect());
            let value = self.whole_value(start)?;
            let free = value.axes.iter().filter(|_| start.axes[0].is_none());
            let axes = self.sorted(named.chain(free));
            self.few(&axes, &start.place)?;
            if !value.axes.iter().all(|axis| axes.contains(axis)) {
                wrong!(start.place, "start of {name} has [{}]", self.names(&value.axes);
                    "declared: [{}]", self.names(&axes));
            }
            out.insert(series, axes.clone());
            let first = First {
                series,
                block,
                value,
                axes,
                head,
            };
            self.program.firsts.push(first);
        }
        Ok(out)
    }

    /// Whether the step before of a series along a block is read (or its last entry, which is its start if the block has
    /// no entries).
    fn is_read_before(&self, series: usize, block: usize) -> bool {
        let Series { name, blocks, .. } = &self.program.series[series];
        let mut readers = self.readers.get(name).into_iter().flatten();
        readers.any(|(axis, reader)| {
            let around = reader.map_or(vec![], |reader| self.page.blocks_around(reader));
            let shared = blocks.iter().rev().find(|own| around.contains(own));
            match axis {
                Some(_) => *axis == self.page.blocks[block].axis,
                None => shared.or(blocks.last()) == Some(&block),
            }
        })
    }

    /// Makes a record the one at hand.
    fn begin(&mut self, record: &Record, suffix: &str) {
        let Record { kind, head, .. } = *record;
        let label = self.label(&record.names[0], kind, head) + suffix;
        let has_axes = record.axes.iter().any(Option::is_some);
        let place = record.place.clone();
        self.here = Here {
            kind,
            head,
            place,
            label,
            has_axes,
            ..Here::default()
        };
    }

    /// `kind.name`, `kind0.name` of one head, or `name`.
    fn label(&self, name: &str, kind: Option<Axis>, head: Option<usize>) -> String {
        let head = head.map_or(String::new(), |head| head.to_string());
        match kind {
            Some(kind) => format!("{}{head}.{name}", self.page.axes[kind].name),
            None => name.to_owned(),
        }
    }

    /// The head of the statement at hand, if it has choices of its own.
    fn head(&self) -> Option<(Axis, usize)> {
        self.here.kind.zip(self.here.head)
    }

    /// The kind of the statement at hand, if its heads share the statement.
    fn kind(&self) -> Option<Axis> {
        self.here.kind.filter(|_| self.here.head.is_none())
    }

    /// The value of a start or a statement.
    fn whole_value(&mut self, record: &'a Record) -> Checked<Value> {
        let scope: Vec<Axis> = record.kind.into_iter().collect();
        let mut value = match &record.value {
            Some(value) => self.value(value, &scope)?,
            None => Value::new(Op::Number(0.0), vec![], vec![], &record.place),
        };
        // Of heads with different choices, a function over all of them gives each its entry.
        if let Some((kind, head)) = self.head().filter(|(kind, _)| value.axes.contains(kind)) {
            let axes = without(&value.axes, &[kind]);
            value = Value::new(
                Op::Entry(kind, Some(head)),
                vec![value],
                axes,
                &record.place,
            );
        }
        let (mut large, mut deep) = (None, None);
        value.each(&mut |part| {
            if self.fixed_count(&part.axes) > MOST_NUMBERS {
                large = Some(part);
            }
            if part.axes.len() > MOST_AXES {
                deep = Some(part);
            }
        });
        if let Some(Value { axes, place, .. }) = deep {
            self.few(axes, place)?;
        }
        if let Some(Value { axes, place, .. }) = large {
            let axes = self.names(axes);
            wrong_length!(place, "a value with [{axes}] has more than {MOST_NUMBERS} numbers";
                "choose smaller sizes");
        }
        Ok(value)
    }

    /// Checks that a value has no more axes than operations take.
    fn few(&self, axes: &[Axis], place: &Place) -> Checked<()> {
        if axes.len() > MOST_AXES {
            wrong!(place, "a value with {} axes: {}", axes.len(), self.names(axes);
                "allowed: {MOST_AXES} axes");
        }
        Ok(())
    }

    fn statement(&mut self, index: usize) -> Checked<()> {
        let statement = &self.page.statements[index];
        let Record { place, kind, .. } = statement;
        if !self.page.keeps(statement) {
            return Ok(());
        }
        self.begin(statement, "");
        let value = self.whole_value(statement)?;
        let axes = self.sorted(value.axes.iter().chain(kind));
        self.few(&axes, place)?;
        let (frame, mut makes) = (self.frames.len() - 1, Vec::new());
        for (name, said) in statement.names.iter().zip(&statement.axes) {
            let found = format!("{name} has [{}]", self.names(&axes));
            if let Some(said) = said {
                let said = self.sorted(said.iter().chain(kind));
                if said != axes {
                    wrong!(place, "{found}"; "declared: [{}]", self.names(&said));
                }
            }
            let along = self.along(self.frames.len());
            if let Some(axis) = along.iter().find(|axis| axes.contains(axis)) {
                let along = self.names(&[*axis]);
                wrong!(place, "{name} has the axis {along} inside a block along it";
                    "rename the axis with 'as'");
            }
            let series = self.keys[&(name.clone(), *kind)];
            let before = self.frames[frame].before.get(&series);
            if let Some(before) = before.filter(|before| **before != axes) {
                wrong!(place, "{found}"; "in the step before (or its start): [{}]", self.names(before));
            }
            let is_new = self.frames[frame].now.insert(series);
            let others = &self.program.series[series].axes;
            if !is_new && *others != axes {
                wrong!(place, "{found}"; "other heads have [{}]", self.names(others));
            }
            self.program.series[series].axes.clone_from(&axes);
            makes.push(series);
        }
        let head = self.head();
        let statement = index;
        let equation = Equation {
            statement,
            value,
            makes,
            head,
        };
        self.program.equations.push(equation);
        Ok(())
    }

    /// Checks that the answer has the axes of the target.
    fn answer(&self) -> Checked<()> {
        let series = &self.program.series;
        let Some(answer) = self.program.answer() else {
            wrong!(self.page.whole(), "no z and no p under the choices made";
                "a machine makes z (logits) or p (probabilities) under every choice");
        };
        let (axes, Series { name, source, .. }) = (self.all_axes(answer), &series[answer]);
        let target = self.page.target.as_ref().map_or(&[][..], Record::given);
        match source {
            Source::Statement(index, _) if !target.iter().all(|axis| axes.contains(axis)) => {
                let place = &self.page.statements[*index].place;
                wrong!(place, "{name} has [{}]", self.names(&axes);
                    "its target has [{}]", self.names(target))
            }
            _ => Ok(()),
        }
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
        let inner = scope.iter().find_map(|kind| of(Some(*kind)));
        if let Some(series) = inner.or_else(|| of(None)) {
            return Ok(series);
        }
        let kinds = (0..self.page.axes.len()).filter(|axis| self.page.is_kind(*axis));
        let kinds: Vec<Axis> = kinds.filter(|kind| of(Some(*kind)).is_some()).collect();
        match kinds[..] {
            [kind] => Ok(of(Some(kind)).unwrap_or_default()),
            [] if self.page.axis_named(name).is_some() => {
                wrong!(place, "{name} is an axis"; "its numbers are index[{name}]")
            }
            [] => {
                let constants = self.page.key_names(|key| key.word == Word::Constant);
                let known = self.keys.keys().map(|(name, _)| name).chain(constants);
                wrong!(place, "unknown name {name}"; "{}", suggestion(name, known, "known"))
            }
            [first, ..] => {
                let all = self.names(&kinds).replace(", ", " and ");
                let first = self.names(&[first]);
                wrong!(place, "{name} exists for {all}"; "use it under sum[{first}](…) or in a 'for'")
            }
        }
    }

    /// The target, if it has this name.
    fn target(&self, name: &Name) -> Option<&'a Record> {
        let target = self.page.target.as_ref();
        target.filter(|target| target.names[0] == *name)
    }

    /// The innermost block around the statement that makes a series.
    fn frame_of(&self, series: usize) -> Option<usize> {
        let blocks = &self.program.series[series].blocks;
        let makes = |frame: &Frame| blocks.contains(&frame.block);
        self.frames.iter().rposition(makes)
    }

    /// The axes of the outermost blocks around the statement.
    fn along(&self, count: usize) -> Vec<Axis> {
        let frames = self.frames[..count].iter();
        frames.filter_map(|frame| frame.axis).collect()
    }

    /// Splits axes into those of blocks around the statement, with the step that is read, and all others.
    fn steps(&self, mut axes: Vec<Axis>, before: Option<usize>) -> (Vec<(Axis, When)>, Vec<Axis>) {
        let mut steps = Vec::new();
        for (index, frame) in self.frames.iter().enumerate() {
            if let Some(axis) = frame.axis.filter(|axis| axes.contains(axis)) {
                axes.retain(|own| *own != axis);
                let is_before = before == Some(index);
                let when = if is_before { When::Before } else { When::Step };
                steps.push((axis, when(index)));
            }
        }
        (steps, axes)
    }

    /// A value of a series; in a statement of one head, the entry of this head.
    fn entry(&self, op: Op, axes: Vec<Axis>, place: &Place, scope: &[Axis]) -> Value {
        self.entry_of(Value::new(op, vec![], axes, place), scope)
    }

    /// In a statement of one head, the entry of this head.
    fn entry_of(&self, value: Value, scope: &[Axis]) -> Value {
        let is_own = |kind| scope.iter().filter(|own| *own == kind).count() == 1;
        match self.head() {
            Some((kind, head)) if value.axes.contains(&kind) && is_own(&kind) => {
                let (axes, place) = (without(&value.axes, &[kind]), value.place.clone());
                Value::new(Op::Entry(kind, Some(head)), vec![value], axes, &place)
            }
            _ => value,
        }
    }

    fn look(&self, name: &Name, place: &Place, scope: &[Axis]) -> Checked<Value> {
        if let Some(constant) = self.page.constant(name) {
            return Ok(Value::new(Op::Constant(constant), vec![], vec![], place));
        }
        if self.target(name).is_some() {
            wrong!(place, "{name} is the target"; "allowed: {name}[-1], the answer of the step before");
        }
        let series = self.resolve(name, place, scope)?;
        let is_made = self.frames.iter().any(|frame| frame.now.contains(&series));
        if !is_made && !self.full.contains(&series) {
            if self.frame_of(series).is_some() {
                wrong!(place, "{name} is used before it is made";
                    "write {name}[-1] for the step before, or move the statement up");
            }
            wrong!(place, "{name} is used before it is made"; "it is made in a later block");
        }
        let (steps, axes) = self.steps(self.all_axes(series), None);
        Ok(self.entry(Op::Read(series, steps), axes, place, scope))
    }

    /// The value before, along an axis, or along the innermost block that the statement and the quantity stand in.
    fn look_before(&mut self, part: &Node, scope: &[Axis], axis: Option<Axis>) -> Checked<Value> {
        let (Some(name), place) = (part.name(), &part.place) else {
            return self.value(part, scope);
        };
        let here = self.names(&self.along(self.frames.len()));
        let here = if here.is_empty() { "none" } else { &here };
        let fits = |frame: &Frame| axis.is_none() || frame.axis == axis;
        if let Some(axis) = axis.filter(|_| !self.frames.iter().any(fits)) {
            let axis = self.names(&[axis]);
            wrong!(place, "{name}[{axis}: -1] outside a block along {axis}"; "here: {here}");
        }
        if let Some(target) = self.target(name) {
            let own = target.given();
            let has = |frame: &Frame| frame.axis.is_some_and(|axis| own.contains(&axis));
            let both = |frame: &Frame| fits(frame) && has(frame);
            let frame = self.frames.iter().rposition(both);
            if frame.is_none() {
                wrong!(place, "{name}[-1] in a block along {here}"; "{name} has [{}]", self.names(own));
            }
            let key = (name.clone(), None);
            if !self.keys.contains_key(&key) {
                self.data(target, Source::Target);
            }
            let (steps, axes) = self.steps(self.sorted(own), frame);
            let op = Op::Read(self.keys[&key], steps);
            return Ok(Value::new(op, vec![], axes, place));
        }
        let series = self.resolve(name, place, scope)?;
        let blocks = &self.program.series[series].blocks;
        let both = |frame: &Frame| fits(frame) && blocks.contains(&frame.block);
        let frame = self.frames.iter().rposition(both);
        let Some(frame) = frame.filter(|frame| self.frames[*frame].axis.is_some()) else {
            wrong!(place, "{name}[-1] outside the block that makes {name}";
                "allowed: quantities of this block, the target");
        };
        let Some(first) = self.frames[frame].before.get(&series) else {
            let starts = self.starts.get(name).and_then(|starts| starts.first());
            let start = starts.map(|start| &self.page.starts[*start]);
            if let (Some(start), Some(kind)) = (start, self.program.series[series].kind)
                && start.kind != Some(kind)
            {
                let (kind, mut axes) = (self.names(&[kind]), self.names(start.given()));
                if !axes.is_empty() {
                    axes = format!("[{axes}]");
                }
                wrong!(start.place, "start {name} is not for {kind}"; "write: start {name}{axes} = … for {kind}");
            }
            wrong!(place, "{name}[-1] has no first value"; "add: start {name}[…] = 0");
        };
        // The axes are those of the start: the statement may stand further down.
        let all = self.sorted(self.along(frame + 1).iter().chain(first));
        let (steps, axes) = self.steps(all, Some(frame));
        Ok(self.entry(Op::Read(series, steps), axes, place, scope))
    }

    fn past(&self, call: &Call, part: &Node, place: &Place, scope: &[Axis]) -> Checked<Value> {
        let Some(name) = part.name() else {
            wrong!(place, "past of an expression"; "allowed: past(NAME), past(NAME, now)");
        };
        let series = self.resolve(name, place, scope)?;
        let source = self.program.series[series].source;
        let frame = self.frame_of(series);
        let along = frame.and_then(|frame| Some((self.frames[frame].axis?, frame)));
        let (Some((axis, frame)), Source::Statement(index, position)) = (along, source) else {
            wrong!(place, "past({name}) outside the block along an axis that makes it";
                "allowed: quantities of this block");
        };
        let statement = &self.page.statements[index];
        let Some(said) = &statement.axes[position] else {
            wrong!(place, "the axes of {name} are not known in the first step";
                "say them where it is made: {name}[…] = …");
        };
        if call.now && !self.frames[frame].now.contains(&series) {
            wrong!(place, "{name} is used before it is made"; "write past({name}), without this step");
        }
        let past = self.page.axis_named("past");
        let all = [&self.along(frame), &said[..]].concat();
        let all = self.sorted(all.iter().chain(&statement.kind).chain(&past));
        let (steps, axes) = self.steps(all, None);
        let op = Op::Past(series, steps, (axis, frame), call.now);
        Ok(self.entry(op, axes, place, scope))
    }

    // Values.

    fn value(&mut self, tree: &Node, scope: &[Axis]) -> Checked<Value> {
        let place = &tree.place;
        let (op, parts, axes) = match &tree.kind {
            Kind::Number(number) => (Op::Number(*number), vec![], vec![]),
            Kind::Name(name) => return self.look(name, place, scope),
            Kind::Negative => {
                let value = self.value(&tree.parts[0], scope)?;
                let axes = value.axes.clone();
                (Op::Negative, vec![value], axes)
            }
            Kind::Binary(operator) => {
                let left = self.value(&tree.parts[0], scope)?;
                let right = self.value(&tree.parts[1], scope)?;
                let axes = self.sorted(left.axes.iter().chain(&right.axes));
                let is_table = axes.len() > left.axes.len() && axes.len() > right.axes.len();
                let is_sum = matches!(operator, Operator::Add | Operator::Subtract);
                if is_sum && is_table && !self.here.has_axes {
                    let name = self.here.label.rsplit('.').next().unwrap_or_default();
                    let [left, right, all] =
                        [&left.axes, &right.axes, &axes].map(|axes| self.names(axes));
                    let warning = mistake!(place, "a sum or difference of [{left}] and [{right}]";
                        "if it is meant, say the axes on the left: {name}[{all}] = …");
                    self.program.warnings.push(warning);
                }
                (Op::Binary(*operator), vec![left, right], axes)
            }
            Kind::Learned => {
                let Some(axes) = self.here.start.clone() else {
                    wrong!(place, "found 'learned'";
                        "allowed in 'start' only; elsewhere declare a parameter");
                };
                let sorted = self.sorted(&axes);
                let tensor = Tensor::new(self.here.label.clone(), axes.clone());
                (Op::Tensor(self.tensor(tensor)?, axes), vec![], sorted)
            }
            Kind::Select(items) => return self.select(tree, items, scope),
            Kind::Call(call) if call.function == Function::Past => {
                return self.past(call, &tree.parts[0], place, scope);
            }
            Kind::Call(call) => return self.call(tree, call, scope),
        };
        Ok(Value::new(op, parts, axes, place))
    }

    /// Checks that a value has axes.
    fn has(&self, value: &Value, axes: &[Axis], place: &Place) -> Checked<()> {
        let Some(axis) = without(axes, &value.axes).first().copied() else {
            return Ok(());
        };
        let (axis, names) = (self.names(&[axis]), self.names(&value.axes));
        match &*names {
            "" => wrong!(place, "no axis {axis} in []"; "it is one number"),
            _ => wrong!(place, "no axis {axis} in [{names}]"; "allowed: {names}"),
        }
    }

    fn select(&mut self, tree: &Node, items: &[Item], scope: &[Axis]) -> Checked<Value> {
        let (inner, place) = (&tree.parts[0], &tree.place);
        let (mut inner_scope, mut before) = (Vec::new(), None);
        for item in items {
            match item {
                Item::At(axis) if self.page.is_kind(*axis) => inner_scope.push(*axis),
                Item::Before(axis) => before = Some(*axis),
                _ => {}
            }
        }
        inner_scope.extend(scope);
        let mut value = match before {
            Some(axis) => self.look_before(inner, &inner_scope, axis)?,
            None => self.value(inner, &inner_scope)?,
        };
        let mut indices = tree.parts[1..].iter().peekable();
        for item in items {
            let (axis, op) = match *item {
                Item::Before(_) => continue,
                Item::As(old, new) if old == new => continue,
                Item::As(old, new) => (old, Op::Rename(old, new)),
                Item::Last(axis) => (axis, Op::Entry(axis, None)),
                Item::At(axis) => match indices.peek().map(|index| &index.kind) {
                    Some(Kind::Number(number)) => (axis, Op::Entry(axis, Some(*number as usize))),
                    _ => (axis, Op::Pick(axis)),
                },
            };
            self.has(&value, &[axis], place)?;
            self.fits(&value, &op, place)?;
            if let Op::Rename(old, new) = op
                && self.is_past(old) != self.is_past(new)
            {
                let rows = self.names(&[if self.is_past(old) { new } else { old }]);
                let name = inner.name().filter(|_| self.is_past(new));
                wrong!(place, "past has its own length at each step";
                    "write {}[{rows}: index[past]]", name.map_or("w", |name| name));
            }
            let index = indices.next_if(|_| matches!(item, Item::At(_)));
            let index = index.filter(|_| matches!(op, Op::Pick(_)));
            let index = index.map(|index| self.value(index, scope)).transpose()?;
            let has_axis = index
                .as_ref()
                .is_some_and(|index| index.axes.contains(&axis));
            let (mut axis, mut op) = (axis, op);
            let second = format!("{}'", self.page.axes[axis].name);
            if let Some(second) = self.page.axis_named(&second).filter(|_| has_axis) {
                let axes = without(&value.axes, &[axis]);
                let axes = self.sorted(axes.iter().chain(&[second]));
                value = Value::new(Op::Rename(axis, second), vec![value], axes, place);
                (axis, op) = (second, Op::Pick(second));
            }
            let mut axes = without(&value.axes, &[axis]);
            let mut parts = vec![value];
            if let Op::Rename(_, new) = op {
                axes.push(new);
            }
            if let Some(index) = index {
                axes.extend(&index.axes);
                parts.push(index);
            }
            value = Value::new(op, parts, self.sorted(&axes), place);
        }
        Ok(value)
    }

    /// Checks an entry or another name of an axis.
    fn fits(&self, value: &Value, op: &Op, place: &Place) -> Checked<()> {
        match op {
            Op::Rename(_, new) if value.axes.contains(new) => {
                let new = self.names(&[*new]);
                wrong!(place, "{new} is already an axis of this value"; "choose another name")
            }
            Op::Rename(old, new) if self.is_past(*old) != self.is_past(*new) => {}
            Op::Rename(old, new) if self.trial(*old) != self.trial(*new) => {
                let words = |axis: &Axis| {
                    let (name, length) = (self.names(&[*axis]), self.trial(*axis));
                    let fixed = self
                        .is_fixed(*axis)
                        .then(|| format!("{name} has {length} entries"));
                    fixed.unwrap_or_else(|| format!("{name} those of the episode"))
                };
                wrong_length!(place, "{}, {}", words(old), words(new); "one axis has one length");
            }
            Op::Entry(axis, Some(entry)) => {
                let (name, length) = (self.names(&[*axis]), self.trial(*axis));
                if self.is_fixed(*axis) && *entry >= length {
                    wrong_length!(place, "entry {entry} of {name}"; "it has {length}, from 0 on");
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn call(&mut self, tree: &Node, call: &Call, scope: &[Axis]) -> Checked<Value> {
        let Call { function, axes, .. } = call;
        let (place, rule) = (&tree.place, function.form().rule);
        let is_over = matches!(rule, Rule::Over | Rule::Pair | Rule::Along);
        let is_kind = |axis: &&Axis| is_over && self.page.is_kind(**axis);
        let inner: Vec<Axis> = axes.iter().filter(is_kind).chain(scope).copied().collect();
        let mut parts = Vec::new();
        for part in &tree.parts {
            parts.push(self.value(part, &inner)?);
        }
        if *function == Function::Sum {
            self.each_factor((&tree.parts[0], &parts[0]), true, axes)?;
        }
        // Axes that the first arguments must have.
        let (needing, needed) = match (rule, function) {
            (Rule::Pair, _) => (2, &axes[..]),
            (_, Function::Window | Function::Append) => (1, &axes[..1]),
            (Rule::Over | Rule::Along, _) | (_, Function::Shift) => (1, &axes[..]),
            _ => (0, &axes[..]),
        };
        for part in &parts[..needing] {
            self.has(part, needed, place)?;
        }
        let all = self.sorted(parts.iter().flat_map(|part| &part.axes));
        // An axis that the result gets beside those of the arguments.
        let (new, kept) = match function {
            Function::Join => {
                let taken = self.inputs(&parts, call).concat();
                (axes.first(), without(&all, &taken))
            }
            Function::Onehot => (axes.first(), all.clone()),
            Function::Window | Function::Append => (axes.get(1), all.clone()),
            _ => (None, vec![]),
        };
        if let Some(new) = new.filter(|new| kept.contains(new)) {
            let new = self.names(&[*new]);
            wrong!(place, "{new} is already an axis of this value"; "choose another name");
        }
        let more = self.sorted(all.iter().chain(axes));
        let (op, axes) = match (rule, function) {
            (Rule::Element, _) => (Op::Element(*function), all),
            (Rule::Over | Rule::Pair, _) => {
                let rest = without(&all, axes);
                (Op::Over(*function, axes.clone()), rest)
            }
            (Rule::Along, _) => (Op::Over(*function, axes.clone()), all),
            (Rule::Learned, _) => {
                let parts = parts.into_iter().map(|part| self.entry_of(part, scope));
                return self.learned(call, parts.collect(), place);
            }
            (_, Function::Shift) => {
                let own = without(&parts[1].axes, &parts[0].axes);
                let [offsets] = own[..] else {
                    let has = [1, 0].map(|index: usize| self.names(&parts[index].axes));
                    wrong!(place, "shifts have [{}], what they shift [{}]", has[0], has[1];
                        "shifts have one axis more");
                };
                (
                    Op::Over(*function, vec![axes[0], offsets]),
                    without(&all, &own),
                )
            }
            (_, Function::Length) => (Op::Length(axes[0]), vec![]),
            (_, Function::Index) => {
                let is_along = |frame: &Frame| frame.axis == Some(axes[0]);
                match self.frames.iter().position(is_along) {
                    Some(frame) => (Op::Step(frame), vec![]),
                    None => (Op::Index(axes[0]), more),
                }
            }
            (_, Function::Onehot) => (Op::Onehot(axes[0]), more),
            (_, Function::Window) => (Op::Window(axes[0], axes[1]), more),
            (_, Function::Append) => {
                let rest = without(&parts[0].axes, &axes[..1]);
                if parts[1].axes != rest {
                    let has = [&parts[1].axes, &rest].map(|axes| self.names(axes));
                    wrong!(place, "the entry has [{}]", has[0]; "it must have [{}]", has[1]);
                }
                self.make_axis(axes[1], Length::Append(axes[0]), place)?;
                (Op::Append(axes[0], axes[1]), without(&more, &axes[..1]))
            }
            _ => {
                let taken = self.inputs(&parts, call);
                self.make_axis(axes[0], Length::Join(taken.clone()), place)?;
                let rest = without(&all, &taken.concat());
                let rest = self.sorted(rest.iter().chain(axes));
                (Op::Join(axes[0], taken), rest)
            }
        };
        Ok(Value::new(op, parts, axes, place))
    }

    /// A factor that does not vary along a sum stands outside it; found inside, it is a forgotten rename.
    fn each_factor(&self, own: (&Node, &Value), is_whole: bool, axes: &[Axis]) -> Checked<()> {
        let (tree, value) = own;
        if matches!(tree.kind, Kind::Binary(Operator::Multiply)) {
            for part in tree.parts.iter().zip(&value.parts) {
                self.each_factor(part, false, axes)?;
            }
        } else if !is_whole && !value.axes.iter().any(|axis| axes.contains(axis)) {
            let (has, over) = (self.names(&value.axes), self.names(axes));
            wrong!(tree.place, "a factor with [{has}] under sum[{over}]";
                "it does not vary along the sum: write it outside, or rename its axis with 'as'");
        }
        Ok(())
    }

    // Learned functions.

    /// The axes that a learned function or `join` takes in, by argument: all but sequences, the heads of this `for`, and
    /// those after `each`.
    fn inputs(&self, parts: &[Value], call: &Call) -> Vec<Vec<Axis>> {
        let stays = |axis: Axis| {
            self.page.is_sequence(axis) || self.here.kind == Some(axis) || call.each.contains(&axis)
        };
        let axes = parts.iter().map(|part| part.axes.iter().copied());
        axes.map(|axes| axes.filter(|axis| !stays(*axis)).collect())
            .collect()
    }

    /// Adds a tensor, with the axes of the blocks around it whose entries have tensors of their own, or finds it.
    fn tensor(&mut self, mut tensor: Tensor) -> Checked<usize> {
        for (one, other) in &self.page.shared {
            let name = format!(".{}", tensor.name);
            let renamed = name.replace(&format!(".{one}."), &format!(".{other}."));
            renamed.trim_start_matches('.').clone_into(&mut tensor.name);
        }
        let own = self
            .frames
            .iter()
            .filter(|frame| self.page.blocks[frame.block].own);
        let own: Vec<Axis> = own.filter_map(|frame| frame.axis).collect();
        let count = own.len();
        tensor.axes.splice(0..0, own);
        tensor.before_gates += count;
        let (name, place) = (&tensor.name, &self.here.place);
        let mut tensors = self.program.tensors.iter();
        if let Some(index) = tensors.position(|other| other.name == *name) {
            let shape = |own: &Tensor| {
                let lengths: Vec<usize> = own.axes.iter().map(|axis| self.trial(*axis)).collect();
                let blocks = own.axes[..count.min(own.axes.len())].to_vec();
                (blocks, lengths, own.gates, self.joined(&own.inputs))
            };
            if shape(&self.program.tensors[index]) != shape(&tensor) {
                wrong!(place, "{name} has another shape here"; "shared weights have one shape");
            }
            return Ok(index);
        }
        let widths = tensor.inputs.iter().map(|axes| self.fixed_count(axes));
        let widest = widths.max().unwrap_or(1);
        if self.fixed_count(&tensor.axes).saturating_mul(widest) > MOST_NUMBERS {
            wrong_length!(place, "{name} has more than {MOST_NUMBERS} numbers"; "choose smaller sizes");
        }
        self.program.tensors.push(tensor);
        Ok(self.program.tensors.len() - 1)
    }

    /// Weight and bias of a learned function over arguments.
    fn weights(
        &mut self,
        name: &str,
        gates: usize,
        parts: &[Value],
        call: &Call,
    ) -> Checked<Learned> {
        let (kind, inputs) = (self.kind(), self.inputs(parts, call));
        let axes: Vec<Axis> = kind.iter().chain(&call.axes).copied().collect();
        let mut bias = Tensor::new(format!("{name}.bias"), axes.clone());
        bias.gates = gates;
        bias.before_gates = kind.iter().len();
        let mut weight = bias.clone();
        weight.name = format!("{name}.weight");
        weight.inputs.clone_from(&inputs);
        let weight = self.tensor(weight)?;
        let bias = if call.bias {
            Some(self.tensor(bias)?)
        } else {
            None
        };
        Ok(Learned {
            weight,
            bias,
            inputs,
            axes,
        })
    }

    fn learned(&mut self, call: &Call, parts: Vec<Value>, place: &Place) -> Checked<Value> {
        self.here.learned += 1;
        if self.here.learned > 1 {
            wrong!(place, "a second learned function in one statement";
                "give it a statement, and so a name, of its own");
        }
        let name = match &call.weights {
            Some(other) => self.shared_name(other, place)?,
            None => self.here.label.clone(),
        };
        // A cell reads its inputs and its hidden state; its result has the axes of its states.
        let states = call.function.form().states[0];
        let seen = &parts[..parts.len() - states.saturating_sub(1)];
        let taken = self.inputs(seen, call);
        let mut axes: Vec<Axis> = self.kind().iter().chain(&call.axes).copied().collect();
        for (part, taken) in seen.iter().zip(&taken) {
            let left = without(&part.axes, taken);
            if let Some(axis) = left.iter().find(|axis| call.axes.contains(axis)) {
                let axis = self.names(&[*axis]);
                wrong!(place, "{axis} is an axis of the argument and of the result";
                    "rename one with 'as'");
            }
            axes.extend(left);
        }
        if taken.iter().all(Vec::is_empty) && seen.iter().all(|part| !part.axes.is_empty()) {
            wrong!(place, "nothing to take in: all axes are sequences or heads of this 'for'";
                "allowed: a value with an axis of fixed length");
        }
        let states = parts[parts.len() - states..].iter();
        let axes = self.sorted(axes.iter().chain(states.flat_map(|part| &part.axes)));
        let op = match call.function {
            Function::Linear => Op::Linear(self.weights(&name, 0, seen, call)?),
            Function::Lstm => Op::Cell(call.function, vec![self.weights(&name, 4, seen, call)?]),
            _ => {
                let gates = self.weights(&format!("{name}.gates"), 2, seen, call)?;
                let candidate = self.weights(&format!("{name}.candidate"), 0, seen, call)?;
                Op::Cell(call.function, vec![gates, candidate])
            }
        };
        Ok(Value::new(op, parts, axes, place))
    }

    /// The name of the tensors of another statement.
    fn shared_name(&self, other: &Name, place: &Place) -> Checked<String> {
        let Here { kind, head, .. } = self.here;
        let Some(series) = self.keys.get(&(other.clone(), kind)) else {
            let known = self.keys.keys().map(|(name, _)| name);
            let known = suggestion(
                other,
                known,
                "a statement with a learned function of its own; known",
            );
            wrong!(place, "no statement makes {other} here"; "{known}");
        };
        let statement = match self.program.series[*series].source {
            Source::Statement(index, _) => self.page.statements.get(index),
            _ => None,
        };
        if statement.and_then(|own| own.head).is_some() != head.is_some() {
            wrong!(place, "weights of {other} under other choices of heads";
                "allowed: a statement under the same list of choices");
        }
        Ok(self.label(other, kind, head))
    }
}

/// An axis of the program, with its length if it is known before the statements.
fn axis_info(page: &Page, axis: Axis) -> AxisInfo {
    let (origin, name) = (page.origin(axis), page.axes[axis].name.clone());
    let declared = page.length(origin);
    let length = match declared {
        _ if origin != axis => Length::Origin,
        Some(length) => Length::Fixed(length),
        None if &*name == "past" => Length::Past,
        None => Length::Episode,
    };
    // Trial lengths of sequences: odd ones that no key has.
    let trial = declared.unwrap_or(1_000_003 + 2 * origin);
    AxisInfo {
        name,
        origin,
        trial,
        length,
        rank: page.rank(axis),
    }
}

/// Axes without some of them.
fn without(axes: &[Axis], gone: &[Axis]) -> Vec<Axis> {
    let axes = axes.iter().copied();
    axes.filter(|axis| !gone.contains(axis)).collect()
}
