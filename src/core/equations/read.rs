//! Reading a page: lines become keys, axes, records and blocks.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::page::{
    AxisName, Block, Condition, Given, Key, Library, Mark, Page, Part, Record, Scope, Word,
};
use super::parse::{Cursor, DECLARATIONS};
use super::text::{Checked, Line, Name, Sort, ensure, lines, suggestion, wrong};
use super::traces;
use super::tree::{Axis, Function, Kind};

/// The largest size.
const LONGEST_AXIS: f64 = 16_777_216.0;
/// The most blocks, conditions and `for` inside each other.
const DEEPEST: usize = 12;
/// What stands outside of blocks.
const OUTSIDE: &str = "a declaration without indentation, or a block: 'along AXIS', 'once'";

/// What stands around a line: its block, conditions, the heads of a `for`, and the number of lines indented less.
#[derive(Clone, Default)]
struct Around {
    pub block: Option<usize>,
    pub conditions: Vec<Condition>,
    pub kinds: Vec<Axis>,
    pub depth: usize,
}

impl Page {
    /// Reads a machine file.
    ///
    /// # Errors
    /// A mistake in the file or in a component that it uses; a key that has another value than its range allows.
    pub fn read(text: &[u8], file: &str, given: &Given, library: Library) -> Checked<Self> {
        let mut page = Self::default();
        (page.file, page.given) = (file.into(), given.clone());
        let own = page.split(&lines(text, file)?)?;
        page.read_lines(&own, &Around::default(), library)?;
        page.read_unused(library)?;
        page.finish()?;
        Ok(page)
    }

    /// Reads the components that nothing uses, to find the mistakes in their lines.
    fn read_unused(&self, library: Library) -> Checked<()> {
        let used: HashSet<&Name> = self.uses.values().collect();
        let components: BTreeMap<&Name, &Vec<Line>> = self.components.iter().collect();
        let mut all = self.components.clone();
        for (name, lines) in components.into_iter().filter(|own| !used.contains(own.0)) {
            let mut page = Self {
                components: all,
                ..Self::default()
            };
            page.scopes.push(Scope::unused(name, lines));
            page.read_lines(lines, &Around::default(), library)?;
            all = page.components;
        }
        Ok(())
    }

    /// Reads lines of a machine or of a component, which stand in `around`.
    fn read_lines(&mut self, lines: &[Line], around: &Around, library: Library) -> Checked<()> {
        let mut rest = lines;
        while let [line, after @ ..] = rest {
            let place = &line.tokens[0].place;
            self.count_words(line.tokens.len(), place)?;
            ensure!(around.depth == 0 || line.indent() == lines[0].indent(), place,
                "a line that begins in column {}", line.indent();
                "the lines of this group begin in column {}", lines[0].indent());
            ensure!(around.depth < DEEPEST, place, "more than {DEEPEST} groups inside each other"; "indent less");
            let inner = Cursor::new(&line.tokens, self, library).line(around.clone(), line)?;
            let is_outside = |other: &Line| other.indent() <= line.indent();
            let count = after.iter().position(is_outside).unwrap_or(after.len());
            rest = after;
            if let Some(mut inner) = inner {
                ensure!(count > 0, place, "nothing is indented below this line"; "indent what belongs to it");
                inner.depth += 1;
                self.read_lines(&after[..count], &inner, library)?;
                rest = &after[count..];
            }
        }
        Ok(())
    }

    /// A record for each kind of heads; for each head, where a switch that it depends on has a list of choices. A kind
    /// without heads has one record, for what reads it.
    fn copies(&self, record: &Record, kinds: &[Axis]) -> Checked<Vec<Record>> {
        let (mut out, list) = (Vec::new(), self.list_of(record));
        let none = kinds.is_empty().then_some(None);
        for kind in kinds.iter().copied().map(Some).chain(none) {
            let mut copy = record.clone();
            copy.kind = kind;
            let Some(key) = list else {
                out.push(copy);
                continue;
            };
            let Some(heads) = kind.and_then(|kind| self.length(kind)) else {
                wrong!(record.place, "{} has a list of choices, one for each head", key.name;
                    "give one choice: this stands in no 'for'");
            };
            let heads = heads.min(key.chosen.len());
            let all = (0..heads).map(Some);
            let none = (heads == 0).then_some(None);
            out.extend(all.chain(none).map(|head| Record {
                head,
                ..copy.clone()
            }));
        }
        Ok(out)
    }

    /// The switch with a list of choices that a record depends on.
    fn list_of(&self, record: &Record) -> Option<&Key> {
        let conditions = record.conditions.iter().rev();
        let mut keys = conditions.filter_map(|(switch, _)| self.key(switch));
        keys.find(|key| key.chosen.len() > 1)
    }

    /// Adds data. The last axis that the task gives is a width, those before it are sequences.
    fn add_data(&mut self, word: &str, mut record: Record, kinds: &[Axis]) -> Checked<()> {
        let is_noise = word == "noise";
        let mark = if is_noise { Mark::Noise } else { Mark::Known };
        let is_open = |axis: &&Axis| self.length(**axis).is_none() && !self.is_sequence(**axis);
        let given = record.given().iter();
        let open = given.clone().rev().filter(|_| !is_noise).filter(is_open);
        let sequences = open.skip(1).map(|axis| (Mark::Sequence, *axis));
        let marks: Vec<_> = sequences.chain(given.map(|axis| (mark, *axis))).collect();
        self.marks.extend(marks);
        record.conditions.clear();
        match word {
            "input" => self.inputs.push(record),
            "noise" => self.noises.extend(self.copies(&record, kinds)?),
            _ => {
                ensure!(self.target.is_none(), record.place, "a second target"; "a machine has one target");
                self.target = Some(record);
            }
        }
        Ok(())
    }

    fn add_statement(&mut self, record: &Record, kinds: &[Axis]) -> Checked<()> {
        let value = record.value.as_ref().map(|value| &value.kind);
        let is_lstm = matches!(value, Some(Kind::Call(call)) if call.function == Function::Lstm);
        let names = record.names.len();
        ensure!(names <= if is_lstm { 2 } else { 1 }, record.place, "{names} names for one value";
            "only lstm makes two: h, c = lstm[units](x; h[-1], c[-1])");
        for copy in self.copies(record, kinds)? {
            let part = Part::Statement(self.statements.len());
            self.blocks[copy.block].items.push(part);
            self.statements.push(copy);
        }
        Ok(())
    }

    fn finish(&mut self) -> Checked<()> {
        let made = self.statements.iter().flat_map(|own| &own.names);
        let made: HashSet<&str> = made.map(|name| &**name).collect();
        ensure!(made.contains("z") || made.contains("p"), self.whole(),
            "no z and no p"; "a machine makes z (logits) or p (probabilities) with the axes of its target");
        ensure!(self.target.is_some(), self.whole(), "no target"; "declare it: target y[steps, outputs]");
        for Record { names, place, .. } in &self.starts {
            ensure!(made.contains(&*names[0]), place,
                "start of {}, which no statement makes", names[0]; "remove it or make the quantity");
        }
        for Record { names, place, .. } in &self.parameters {
            ensure!(self.read.contains(&names[0]), place, "parameter {} is never used", names[0]; "remove it");
        }
        let given = self.given.numbers.keys().chain(self.given.choices.keys());
        for name in given.collect::<BTreeSet<&Name>>() {
            ensure!(self.key(name).is_some_and(Key::is_settable), self.whole(), "the preset sets {name}, which is no key";
                "{}", suggestion(name, self.key_names(Key::is_settable), "keys"));
        }
        let past = self.axis(&"past".into(), &self.whole());
        self.marks.insert((Mark::Known, past));
        for axis in 0..self.axes.len() {
            if self.is(Mark::Known, axis) || self.length(axis).is_some() {
                self.axes[axis].old = None;
            }
        }
        let is_known = |axis: Axis| {
            let is_given = self.is(Mark::Known, axis) || self.is(Mark::Noise, axis);
            is_given || self.axes[axis].old.is_some() || self.length(axis).is_some()
        };
        if let Some(axis) = (0..self.axes.len()).find(|axis| !is_known(*axis)) {
            let AxisName { name, place, .. } = &self.axes[axis];
            let known = self.axis_names(is_known);
            wrong!(place, "unknown axis {name}"; "{}", suggestion(name, known, "known"));
        }
        for index in 0..self.keys.len() {
            self.keys[index].kinds = self.kinds_of(&self.keys[index])?;
        }
        self.traces = traces::names(self)?;
        Ok(())
    }

    /// The kinds of heads that a list of choices is for, each with its place in the list.
    fn kinds_of(&self, key: &Key) -> Checked<Vec<(Axis, usize)>> {
        let (mut kinds, mut heads, mut count) = (Vec::new(), Vec::new(), 0);
        let depends = |own: &&Record| own.conditions.iter().any(|(name, _)| *name == key.name);
        let records = self.records().chain(&self.parameters).filter(depends);
        let asked: HashSet<Axis> = records.filter_map(|own| own.kind).collect();
        for kind in self.keys.iter().filter(|key| key.is_kind()) {
            let axis = self.axis_ids[&kind.name];
            if asked.contains(&axis) {
                kinds.push((axis, count));
                heads.push(&*kind.name);
                count += kind.value as usize;
            }
        }
        let (chosen, heads) = (key.chosen.len(), heads.join(", then "));
        ensure!(chosen <= 1 || chosen == count, self.whole(), "{} has {chosen} choices", key.name;
            "give one, or {count}: one for each head of {heads}");
        Ok(if chosen > 1 { kinds } else { vec![] })
    }
}

impl Cursor<'_> {
    /// Reads a line; returns what stands around the lines indented below it, if it has such.
    fn line(&mut self, mut here: Around, line: &Line) -> Checked<Option<Around>> {
        let (is_indented, conditions) = (line.indent() > 1, here.conditions.len());
        if is_indented && here.depth == 0 {
            return self.fail(OUTSIDE);
        }
        here.conditions.extend(self.condition()?);
        let (place, is_in_for) = (self.place(), !here.kinds.is_empty());
        let is = |word| self.token().is(word);
        if is("use") {
            let mut outside = Around::default();
            (outside.conditions, here.depth) = (here.conditions.clone(), 0);
            let around = if is_indented { &here } else { &outside };
            let lines = self.enter_use(around.block)?;
            self.page.read_lines(&lines, around, self.library)?;
            self.page.scopes.pop();
        } else if is("along") || is("once") && !is_indented {
            ensure!(!is_in_for || !is_indented, place,
                "found 'along' inside a 'for'"; "allowed: 'for' inside 'along'");
            here.block = Some(self.block(here.block, is_indented)?);
            return Ok(Some(here));
        } else if is("for") && is_indented {
            ensure!(!is_in_for, place, "found 'for' inside a 'for'"; "a statement stands in one 'for' at most");
            here.kinds = self.kinds()?;
            self.sentence()?;
            return Ok(Some(here));
        } else if !is_indented {
            self.declaration(&here, here.conditions.len() > conditions)?;
        } else if self.token().sort == Sort::End {
            return Ok(Some(here));
        } else {
            self.record("", &here, &line.comment)?;
        }
        Ok(None)
    }

    /// `along AXIS [backwards] [own]` or `once`.
    fn block(&mut self, outer: Option<usize>, is_indented: bool) -> Checked<usize> {
        let (place, mut block) = (self.place(), Block::default());
        if !self.take("once") {
            self.need("along")?;
            let axis = self.axis()?;
            self.no_past(Some(&axis), &place)?;
            (block.axis, block.place) = (Some(axis), place.clone());
            block.backwards = self.take("backwards");
            block.own = self.take("own");
            ensure!(!block.own || self.page.length(axis).is_some(), place,
                "tensors of their own along {}", self.page.axes[axis].name;
                "allowed: a size, heads or entries; the length of a sequence belongs to the episode");
            let mark = block.own.then_some((Mark::Own, axis));
            self.page.marks.extend(mark);
        }
        self.sentence()?;
        let (new, page) = (self.page.blocks.len(), &mut *self.page);
        block.parent = outer;
        match outer {
            // In a component, the block is that of the use.
            Some(outer) if !is_indented => return Ok(outer),
            Some(outer) => page.blocks[outer].items.push(Part::Block(new)),
            None => {}
        }
        page.blocks.push(block);
        Ok(new)
    }

    /// `for NAME, NAME`
    fn kinds(&mut self) -> Checked<Vec<Axis>> {
        self.need("for")?;
        self.list(",", |cursor| {
            let (name, place) = cursor.name(false)?;
            let page = &mut *cursor.page;
            ensure!(page.key(&name).is_some_and(Key::is_kind), place, "{name} is no kind of heads";
                "{}; declare: heads {name} = 2 in 0..64", suggestion(&name, page.key_names(Key::is_kind), "heads and entries"));
            let axis = page.axis(&name, &place);
            page.marks.insert((Mark::Kind, axis));
            Ok(axis)
        })
    }

    /// `if SWITCH is CHOICE or CHOICE`, or nothing.
    fn condition(&mut self) -> Checked<Option<Condition>> {
        if !self.take("if") {
            return Ok(None);
        }
        let (name, place) = self.name(true)?;
        self.need("is")?;
        let (choices, page) = (self.choices("or")?, &*self.page);
        let Some(switch) = page.key(&name).filter(|key| key.is_switch()) else {
            wrong!(place, "unknown switch {name}"; "{}", suggestion(&name, page.key_names(Key::is_switch), "switches"));
        };
        for choice in &choices {
            ensure!(switch.known.contains(choice), place, "{name} is never {choice}";
                "{}", suggestion(choice, &switch.known, "choices"));
        }
        Ok(Some((name, choices)))
    }

    fn declaration(&mut self, around: &Around, is_conditional: bool) -> Checked<()> {
        let first = self.token().clone();
        let Some(word) = DECLARATIONS.split(' ').find(|word| first.is(word)) else {
            let words = DECLARATIONS.split(' ').chain(["along", "once", "use"]);
            return self.fail(&suggestion(&first.text, words, "one of"));
        };
        self.need(word)?;
        if word == "machine" {
            ensure!(self.page.title.is_empty(), first.place, "a second machine"; "a file holds one machine");
            ensure!(self.token().sort == Sort::Sentence, first.place, "a machine without a title"; "write machine \"Title\"");
            self.page.title = self.sentence()?;
            return Ok(());
        }
        let (own, place) = (self.token().text.clone(), self.place());
        let name = self.page.scoped(&own);
        let is_given =
            |scope: &Scope| scope.names.contains_key(&own) || scope.values.contains_key(&own);
        if self.page.scopes.last().is_some_and(is_given) {
            if word == "switch" {
                self.name(true)?;
                self.need("=")?;
                let (known, index) = (self.choices("|")?, self.page.key_ids[&name]);
                self.page.keys[index].known.extend(known);
            }
            return Ok(());
        }
        let is_learned = matches!(word, "start" | "parameter");
        ensure!(is_learned || !is_conditional, place,
            "'if' before {word}"; "allowed before start, parameter and statements");
        let is_declared =
            self.page.data().any(|own| own.names[0] == name) || self.page.key(&name).is_some();
        if is_declared && !is_learned && (word != "noise" || around.kinds.is_empty()) {
            // A component is used again under the same name, for other heads or another choice.
            ensure!(!self.page.scopes.is_empty(), place, "{name} is declared twice"; "choose another name");
            return Ok(());
        }
        match word {
            "size" => self.key(Word::Size),
            "heads" => self.key(Word::Heads),
            "constant" => self.key(Word::Constant),
            "entries" => self.key(Word::Entries),
            "switch" => self.key(Word::Switch),
            _ => self.record(word, around, ""),
        }
    }

    /// `NAME = NUMBER in LOW..HIGH`, `NAME = CHOICE | CHOICE` of a switch, `NAME = ENTRY, ENTRY` of entries.
    fn key(&mut self, word: Word) -> Checked<()> {
        let (name, place) = self.name(word == Word::Switch)?;
        let (set, set_place) = self.page.set.get(&name).cloned().unwrap_or_default();
        let place = if set.is_empty() { place } else { set_place };
        let mut key = Key::default();
        (key.word, key.name) = (word, name.clone());
        key.is_fixed = word == Word::Entries || set.len() == 1;
        self.need("=")?;
        if matches!(word, Word::Switch | Word::Entries) {
            key.known = self.choices(if word == Word::Switch { "|" } else { "," })?;
            key.value = key.known.len() as f64;
            ensure!(set.iter().all(|choice| key.known.contains(choice)), place, "{name} = {}", set.join(" | ");
                "allowed: a switch of this machine, or some of {}", key.known.join(", "));
            key.choices
                .clone_from(if set.is_empty() { &key.known } else { &set });
            let given = self.page.given.choices.get(&name);
            let given = given.filter(|given| !key.is_fixed && !given.is_empty());
            key.chosen = given.map_or_else(|| vec![key.choices[0].clone()], Clone::clone);
            for own in &key.chosen {
                ensure!(key.choices.contains(own), place,
                    "{name} is {own}"; "{}", suggestion(own, &key.choices, "allowed"));
            }
        } else {
            let default = self.number()?;
            self.need("in")?;
            let low = self.number()?;
            self.need("..")?;
            let high = self.number()?;
            let given = self.page.given.numbers.get(&name).filter(|_| !key.is_fixed);
            let set = set.first().and_then(|set| set.parse().ok());
            let value = set.or(given.copied()).unwrap_or(default);
            ensure!((low..=high).contains(&value), place, "{name} = {value}"; "allowed: {low}..{high}");
            let is_count = value.fract() == 0.0 && low >= 0.0 && high <= LONGEST_AXIS;
            ensure!(is_count || word == Word::Constant, place,
                "{name} = {value} in {low}..{high}"; "allowed: whole numbers in 0..{LONGEST_AXIS}");
            (key.value, key.range) = (value, [low, high]);
        }
        (key.sentence, key.place) = (self.sentence()?, place.clone());
        if !matches!(word, Word::Constant | Word::Switch) {
            self.page.axis(&name, &place);
        }
        self.page.key_ids.insert(name, self.page.keys.len());
        self.page.keys.push(key);
        Ok(())
    }

    /// `NAME[axes], … = value for KINDS along AXIS`: data, a parameter, a start or a statement (whose word is empty).
    fn record(&mut self, word: &str, around: &Around, comment: &str) -> Checked<()> {
        let (mut record, mut kinds) = (Record::default(), around.kinds.clone());
        record.place = self.place();
        record.conditions.clone_from(&around.conditions);
        comment.clone_into(&mut record.comment);
        let is_data = matches!(word, "input" | "target" | "noise");
        while record.names.is_empty() || !is_data && self.take(",") {
            record.names.push(self.name(false)?.0);
            record.axes.push(self.axes()?);
            for axis in record.axes.iter().flatten().flatten() {
                self.no_past(Some(axis).filter(|_| !word.is_empty()), &record.place)?;
            }
        }
        if word == "noise" {
            self.need("=")?;
            record.is_normal = self.take("normal");
            if !record.is_normal && !self.take("uniform") {
                return self.fail("'uniform' or 'normal'");
            }
        } else if matches!(word, "" | "start") {
            self.need("=")?;
            record.value = Some(self.expression()?);
        }
        ensure!(word != "parameter" || !self.token().is("="), self.place(),
            "a parameter has no first value"; "remove it: the trainer draws the first value");
        if matches!(word, "start" | "parameter") && self.token().is("for") {
            kinds = self.kinds()?;
        }
        if word == "start" && self.take("along") {
            record.along = Some(self.axis()?);
        }
        record.sentence = self.sentence()?;
        if is_data {
            return self.page.add_data(word, record, &kinds);
        }
        if word.is_empty() {
            record.block = around.block.unwrap_or_default();
            return self.page.add_statement(&record, &kinds);
        }
        if word == "parameter" && self.page.list_of(&record).is_some() {
            // Heads share it; it is there if one of them reads it.
            record.conditions.clear();
        }
        let (last, all) = (record.axes[record.axes.len() - 1].clone(), record.clone());
        for (name, own) in all.names.into_iter().zip(all.axes) {
            (record.names, record.axes) = (vec![name], vec![own.or(last.clone())]);
            let copies = self.page.copies(&record, &kinds)?;
            match word {
                "start" => self.page.starts.extend(copies),
                _ => self.page.parameters.extend(copies),
            }
        }
        Ok(())
    }
}
