//! A page: what a machine file declares. Its keys, axes, data, tensors, starts, and blocks of statements.

use std::collections::{HashMap, HashSet};

use super::text::{Checked, Line, Name, Place, ensure};
use super::tree::{Axis, Node};

/// Constants that the trainer sets for each episode, whichever component declares them: the log-likelihood of the
/// episode, its moving average, whether means take the place of draws, and a factor that rises from 0 to 1.
pub const TRAINER_CONSTANTS: [&str; 4] = ["reward", "baseline", "expected", "warm_up"];

/// The most words of a page with all its components, and the most axes.
const MOST_WORDS: usize = 50_000;
const MOST_AXES: usize = 1000;

/// The kind of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Word {
    /// The length of an axis.
    #[default]
    Size,
    /// The number of heads of a kind.
    Heads,
    /// A number without gradient.
    Constant,
    /// An axis whose entries have names.
    Entries,
    /// A choice.
    Switch,
}

/// A key of the preset, or an axis whose entries have names.
#[derive(Clone, Debug, Default)]
pub struct Key {
    /// Its kind.
    pub word: Word,
    /// Name.
    pub name: Name,
    /// Value of a size, a number of heads or a constant; the number of entries.
    pub value: f64,
    /// Smallest and largest value.
    pub range: [f64; 2],
    /// The choices of the preset, the default first; the entries.
    pub choices: Vec<Name>,
    /// All choices that conditions may name.
    pub known: Vec<Name>,
    /// The choice that is made; of a list, the choice of each head.
    pub chosen: Vec<Name>,
    /// Kinds of heads that a list has choices for, each with its place in the list.
    pub kinds: Vec<(Axis, usize)>,
    /// Sentence.
    pub sentence: String,
    /// Where it stands.
    pub place: Place,
    /// Whether a use or the file has set it: then the preset has no such key.
    pub is_fixed: bool,
}

impl Key {
    /// Whether it is a choice.
    pub fn is_switch(&self) -> bool {
        self.word == Word::Switch
    }

    /// Whether `for` takes it.
    pub fn is_kind(&self) -> bool {
        matches!(self.word, Word::Heads | Word::Entries)
    }

    /// The fixed name by which the trainer sets it.
    pub fn trainer_name(&self) -> Option<&'static str> {
        let own = self.name.rsplit('.').next()?;
        let is_open = self.word == Word::Constant && !self.is_fixed;
        let mut names = TRAINER_CONSTANTS.into_iter();
        names.find(|name| is_open && *name == own)
    }

    /// Whether a preset can set it.
    pub fn is_settable(&self) -> bool {
        !self.is_fixed && self.trainer_name().is_none()
    }
}

/// What is known of an axis beside its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    /// A function makes it, or data has it.
    Known,
    /// Noise has it.
    Noise,
    /// Its length belongs to the episode.
    Sequence,
    /// A `for` takes it.
    Kind,
    /// A block along it has tensors of its own for each entry.
    Own,
}

/// An axis of a page.
#[derive(Clone, Debug)]
pub struct AxisName {
    /// Name.
    pub name: Name,
    /// Where the file names it first.
    pub place: Place,
    /// The axis that it is another name of.
    pub(super) old: Option<Axis>,
}

/// A condition: a switch and the choices under which something is kept.
pub type Condition = (Name, Vec<Name>);

/// Data of an episode, a parameter, a start or a statement.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// What it makes: one quantity, or two of an LSTM.
    pub names: Vec<Name>,
    /// Axes of each, where they are given.
    pub axes: Vec<Option<Vec<Axis>>>,
    /// Value of a start or a statement.
    pub value: Option<Node>,
    /// Whether noise is normal; else it is uniform.
    pub is_normal: bool,
    /// The kind of heads that it exists for.
    pub kind: Option<Axis>,
    /// The head that it exists for, where heads of a kind have different choices.
    pub head: Option<usize>,
    /// The axis of the block that it is the start of, if it is given.
    pub along: Option<Axis>,
    /// When it is kept.
    pub conditions: Vec<Condition>,
    /// Index of the block of a statement.
    pub block: usize,
    /// Its label.
    pub sentence: String,
    /// The comment of its line, such as the equation of the paper.
    pub comment: String,
    /// Where it stands.
    pub place: Place,
}

impl Record {
    /// The axes that are given for its first quantity.
    pub fn given(&self) -> &[Axis] {
        self.axes[0].as_deref().unwrap_or_default()
    }

    /// Calls `visit` with each expression in it.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        self.value.iter().for_each(|value| value.each(visit));
    }
}

/// A block: its statements run once, or once for each entry of an axis.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The axis; none of a block that runs once.
    pub axis: Option<Axis>,
    /// Whether it begins at the last entry.
    pub backwards: bool,
    /// Whether each entry has tensors of its own.
    pub own: bool,
    /// Index of the block around it.
    pub parent: Option<usize>,
    /// Statements and blocks, in their order.
    pub items: Vec<Part>,
    /// Where it begins.
    pub place: Place,
}

/// A part of a block, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A statement.
    Statement(usize),
    /// A block inside the block.
    Block(usize),
}

/// The meanings of the names of a component in one use.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Name of the use.
    pub name: Name,
    /// Names that stand for names of the page.
    pub names: HashMap<Name, Name>,
    /// Inputs.
    pub values: HashMap<Name, Node>,
}

/// Values that a preset gives to the keys of a page.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Sizes, numbers of heads and constants by name.
    pub numbers: HashMap<Name, f64>,
    /// Choices of switches by name: one, or one for each head in the order of the kinds.
    pub choices: HashMap<Name, Vec<Name>>,
}

/// Finds a component by its name: name of the file, and its bytes.
pub type Library<'l> = &'l dyn Fn(&str) -> Option<(String, Vec<u8>)>;

/// The declarations of a machine file.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Name of the file.
    pub file: Name,
    /// Title.
    pub title: String,
    /// Keys, in the order of the file.
    pub keys: Vec<Key>,
    /// Axes, in the order in which the file names them.
    pub axes: Vec<AxisName>,
    /// Inputs.
    pub inputs: Vec<Record>,
    /// Target.
    pub target: Option<Record>,
    /// Noise.
    pub noises: Vec<Record>,
    /// Parameters.
    pub parameters: Vec<Record>,
    /// Starts.
    pub starts: Vec<Record>,
    /// Statements.
    pub statements: Vec<Record>,
    /// Blocks; those without a parent run in their order.
    pub blocks: Vec<Block>,
    /// Names in traces by statement, without heads.
    pub traces: Vec<Vec<String>>,
    /// Uses whose tensors are those of another use.
    pub shared: Vec<(Name, Name)>,
    /// The component of each use.
    pub(super) uses: HashMap<Name, Name>,
    /// The label of each use that has one: the head that its quantities belong to in traces.
    pub(super) labels: HashMap<Name, String>,
    /// Keys that uses have set, with the place.
    pub(super) set: HashMap<Name, (Vec<Name>, Place)>,
    pub(super) scopes: Vec<Scope>,
    pub(super) components: HashMap<Name, Vec<Line>>,
    /// Names that expressions read.
    pub(super) read: HashSet<Name>,
    /// Number of words so far, with all components.
    pub(super) words: usize,
    pub(super) given: Given,
    pub(super) key_ids: HashMap<Name, usize>,
    pub(super) axis_ids: HashMap<Name, Axis>,
    pub(super) marks: HashSet<(Mark, Axis)>,
}

impl Page {
    /// The place of the file as a whole.
    pub fn whole(&self) -> Place {
        Place::new(&self.file, 1, 1)
    }

    /// Counts words, and checks that a page with its components is no larger than a page.
    pub(super) fn count_words(&mut self, count: usize, place: &Place) -> Checked<()> {
        self.words += count;
        ensure!(self.words <= MOST_WORDS && self.axes.len() <= MOST_AXES, place,
            "more than {MOST_WORDS} words or {MOST_AXES} axes, with all components";
            "a machine is a page: use fewer components inside components");
        Ok(())
    }

    /// A name of the innermost component as the page has it.
    pub(super) fn scoped(&self, name: &Name) -> Name {
        let Some(scope) = self.scopes.last() else {
            return name.clone();
        };
        let named = scope.names.get(name).cloned();
        named.unwrap_or_else(|| format!("{}.{name}", scope.name).into())
    }

    /// The value of an input of the innermost component.
    pub(super) fn argument(&mut self, name: &str, place: &Place) -> Checked<Option<Node>> {
        let value = self.scopes.last().and_then(|scope| scope.values.get(name));
        let Some(mut value) = value.cloned() else {
            return Ok(None);
        };
        value.named.clone_from(place);
        let mut count = 0;
        value.each(&mut |_| count += 1);
        self.count_words(count, place)?;
        Ok(Some(value))
    }

    // Keys and axes.

    /// The key or the axis with named entries of this name.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.key_ids.get(name).map(|index| &self.keys[*index])
    }

    /// The index of the constant of this name.
    pub fn constant(&self, name: &str) -> Option<usize> {
        let index = *self.key_ids.get(name)?;
        (self.keys[index].word == Word::Constant).then_some(index)
    }

    /// The names of the keys that are of these words, to suggest one of them.
    pub(super) fn key_names(&self, is: fn(&Key) -> bool) -> impl Iterator<Item = &Name> {
        let keys = self.keys.iter().filter(move |key| is(key));
        keys.map(|key| &key.name)
    }

    /// The index of an axis; a new one if the file has not named it before.
    pub(super) fn axis(&mut self, name: &Name, place: &Place) -> Axis {
        let new = self.axes.len();
        let axis = *self.axis_ids.entry(name.clone()).or_insert(new);
        if axis == new {
            let (name, place, old) = (name.clone(), place.clone(), None);
            self.axes.push(AxisName { name, place, old });
        }
        axis
    }

    /// The names of some axes, to suggest one of them; none of those that an index makes.
    pub(super) fn axis_names(&self, is: impl Fn(Axis) -> bool) -> impl Iterator<Item = &Name> {
        let axes = self.axes.iter().enumerate().filter(move |own| is(own.0));
        let names = axes.map(|(_, axis)| &axis.name);
        names.filter(|name| !name.ends_with('\''))
    }

    /// The axis of this name.
    pub fn axis_named(&self, name: &str) -> Option<Axis> {
        self.axis_ids.get(name).copied()
    }

    /// The length that an axis is declared with.
    pub fn length(&self, axis: Axis) -> Option<usize> {
        let key = self.key(&self.axes[axis].name)?;
        let is_axis = !matches!(key.word, Word::Constant | Word::Switch);
        is_axis.then_some(key.value as usize)
    }

    /// Remembers another name of an axis: `old as new`.
    pub(super) fn rename_axis(&mut self, old: Axis, new: Axis, place: &Place) -> Checked<()> {
        let is_past = &*self.axes[new].name == "past";
        let is_known = is_past || self.is(Mark::Known, new) || self.length(new).is_some();
        if is_known || self.origin(old) == new {
            return Ok(());
        }
        let before = *self.axes[new].old.get_or_insert(old);
        let names = [new, before].map(|axis| &self.axes[axis].name);
        ensure!(before == old, place,
            "{} is already another name of {}", names[0], names[1]; "choose a new name");
        Ok(())
    }

    /// The axis that this one is another name of, or itself.
    pub fn origin(&self, axis: Axis) -> Axis {
        self.axes[axis].old.map_or(axis, |old| self.origin(old))
    }

    pub(super) fn is(&self, mark: Mark, axis: Axis) -> bool {
        self.marks.contains(&(mark, axis))
    }

    /// Whether the length of an axis belongs to the episode.
    pub fn is_sequence(&self, axis: Axis) -> bool {
        let origin = self.origin(axis);
        &*self.axes[origin].name == "past" || self.is(Mark::Sequence, origin)
    }

    /// Whether `for` takes this axis.
    pub fn is_kind(&self, axis: Axis) -> bool {
        self.is(Mark::Kind, axis)
    }

    /// Rank of an axis in the order that memory, tensors and files have: heads and other axes whose entries have
    /// tensors of their own, sequences, all others; in each class as the file first names them.
    pub fn rank(&self, axis: Axis) -> (u8, usize) {
        let origin = self.origin(axis);
        let key = self.key(&self.axes[origin].name);
        let is_heads = key.is_some_and(|key| key.word == Word::Heads);
        let is_first = is_heads || self.is(Mark::Kind, origin) || self.is(Mark::Own, origin);
        let other = 2 - u8::from(self.is_sequence(axis));
        (if is_first { 0 } else { other }, axis)
    }

    /// Statements and starts.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        self.statements.iter().chain(&self.starts)
    }

    /// Inputs, target and noise.
    pub(super) fn data(&self) -> impl Iterator<Item = &Record> {
        self.inputs.iter().chain(&self.target).chain(&self.noises)
    }

    /// Whether a record is kept under the choices made.
    pub fn keeps(&self, record: &Record) -> bool {
        self.holds(record, record.conditions.len())
    }

    /// Whether the first conditions of a record hold under the choices made.
    pub(super) fn holds(&self, record: &Record, count: usize) -> bool {
        record.conditions[..count].iter().all(|(switch, choices)| {
            let key = &self.keys[self.key_ids[switch]];
            let mut kinds = key.kinds.iter();
            let first = kinds.find(|(kind, _)| Some(*kind) == record.kind);
            let place = first.map_or(0, |(_, first)| first + record.head.unwrap_or(0));
            choices.contains(key.chosen.get(place).unwrap_or(&key.chosen[0]))
        })
    }

    /// The blocks inside which a start is computed, the outermost first.
    pub(super) fn blocks_around_start(&self, start: &Record) -> Vec<usize> {
        let mut statements = self.statements.iter();
        let made = statements.find(|own| own.names.contains(&start.names[0]));
        let mut blocks = made.map_or(vec![], |own| self.blocks_around(own.block));
        let is_own = |block: &usize| self.blocks[*block].axis == start.along;
        let innermost = blocks.len().saturating_sub(1);
        let own = start
            .along
            .map(|_| blocks.iter().position(is_own).unwrap_or(0));
        blocks.truncate(own.unwrap_or(innermost));
        blocks
    }

    /// A block and the blocks around it, the outermost first.
    pub fn blocks_around(&self, block: usize) -> Vec<usize> {
        let mut out = vec![block];
        while let Some(parent) = self.blocks[out[0]].parent {
            out.insert(0, parent);
        }
        out
    }
}
