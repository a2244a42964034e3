//! What a machine file means under the choices of a preset: its tensors, the arrays that it records, and the parts of an
//! episode that its data are.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::by_hand::{ByHand, by_hand};
use super::familiar::{Familiar, Rows, place_controller};
use super::interned;
use super::parts::{Data, Offer, Outline, Part, Unfit};
use super::pool::{Pool, Purpose};
use super::quantities::{self, Quantity};
use super::reads;
use super::settings::Settings;
use crate::equations::bind::{Bound, GATES, IN, Layout, count, joined, lengths};
use crate::equations::flatten::{Cut, Feedback, Flat, Operation, View, flatten};
use crate::equations::lower::{checked, lower};
use crate::equations::op::exec::{Act, Node};
use crate::equations::page::{Block, Page, Record, Word};
use crate::equations::program::{Axis, Length, Op, Program, Source, Tensor, Value};
use crate::equations::text::{Mistake, mistake};
use crate::math::Answer;
use crate::model::array;
use crate::model::shape::{Shape, Start, TensorPlace, TensorSpec};
use crate::model::spec::{Array, Place, Retention, position};
use crate::model::tape::FileWords;
use crate::model::weighting::bayesian::DIVERGENCE;

/// A program for one form of feedback.
#[derive(Debug)]
pub(super) struct Variant {
    pub program: Arc<Program>,
    pub flat: Flat,
}

/// A machine file under the choices of a preset.
pub struct Compiled {
    /// Page and program.
    pub outline: Outline,
    variants: [OnceLock<Variant>; 4],
    /// Keys of the sizes on which no tensor depends.
    free: Vec<usize>,
    /// All arrays.
    pub(super) quantities: Vec<Quantity>,
    /// Their descriptions, but for that of the answer.
    pub(super) arrays: &'static [Array],
    /// Whether it reads its own answer.
    pub(super) has_feedback: bool,
    /// Its heads, if pictures, losses and measures know such heads.
    pub(super) familiar: Option<Familiar>,
    /// Which array of its heads is another one than its label promises: then they are no heads for pictures.
    pub(super) other_head: Option<String>,
    /// Layers of its controller that pictures know.
    pub(super) layers: usize,
    /// Whether what follows the end of an episode changes nothing before it: then it may run beside longer ones.
    pub(super) is_causal: bool,
    /// The constants that the trainer sets.
    pub(super) told: Vec<&'static str>,
    /// The quantity that says which source steps an answer attends to.
    pub(super) reader: Option<usize>,
    /// Its title, and the line of its answer.
    pub(super) words: FileWords,
    /// The machine by hand that does the same.
    pub(super) by_hand: Option<ByHand>,
    /// Engines that have run.
    pub(super) pool: Pool,
    /// The file with other sizes, as requested so far.
    resized: Mutex<BTreeMap<(String, usize), Arc<Self>>>,
}

impl Deref for Compiled {
    type Target = Outline;

    fn deref(&self) -> &Outline {
        &self.outline
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Compiled").field(&self.page.file).finish()
    }
}

impl Compiled {
    /// Reads a machine file and lowers it, with the heads of other machines where its labels are theirs and `has_heads`. A
    /// number outside of its range counts as the nearest one inside.
    ///
    /// # Errors
    /// A mistake in the file, or choices that it does not have.
    pub(super) fn new(
        file: &str,
        text: &str,
        settings: &Settings,
        has_heads: bool,
    ) -> Result<Self, Mistake> {
        let none = |_: &str| None;
        let page = Page::read(text.as_bytes(), file, &settings.given(None), &none)?;
        let given = settings.given(Some(&page));
        let page = Arc::new(Page::read(text.as_bytes(), file, &given, &none)?);
        let mut program = lower(&page)?;
        let flat = flatten(&mut program, Feedback::Target);
        let program = Arc::new(program);
        let whole = mistake!(page.whole(), "no answer"; "make z[…], or p[…] of probabilities");
        let answer = program.answer().ok_or(whole)?;
        let (mut has_feedback, mut told) = (false, Vec::new());
        each(&program, &mut |value| match value.op {
            Op::Read(series, _) | Op::Past(series, ..) => {
                has_feedback |= program.series[series].source == Source::Target;
            }
            Op::Constant(key) => told.extend(page.keys[key].trainer_name()),
            _ => {}
        });
        let outline = Outline::new(page, program, answer);
        let mut quantities = quantities::find(&outline, text, &flat);
        let familiar = has_heads.then(|| Familiar::find(&outline, &mut quantities));
        let mut familiar = familiar.flatten();
        let layers = match &familiar {
            Some(familiar) => familiar.layers,
            None => place_controller(&outline, &mut quantities),
        };
        quantities::add_gates(&outline, &flat, &mut quantities);
        quantities::connect(&outline, &flat, &mut quantities);
        reads::add(&outline, text, &mut quantities);
        if let Some(familiar) = &mut familiar {
            familiar.describe_rows(&quantities);
        }
        let answer = quantities::equation_of(&outline.program, outline.answer.0, &[]);
        let answer = answer.map_or("", |own| quantities::line_of(&outline, text, own));
        let mut compiled = Self {
            quantities,
            familiar,
            other_head: None,
            layers,
            arrays: &[],
            reader: None,
            words: FileWords {
                title: interned::text(&outline.page.title),
                answer: interned::text(answer),
            },
            free: Vec::new(),
            has_feedback,
            is_causal: false,
            told,
            variants: Default::default(),
            by_hand: by_hand(text, &outline),
            pool: Pool::default(),
            resized: Mutex::default(),
            outline,
        };
        compiled.reader = compiled.find_reader();
        let kept = |own: &(usize, &mut Quantity)| {
            let is_head = own.1.place != Place::Machine
                && [array::WEIGHTING, DIVERGENCE].contains(&own.1.array);
            Some(own.0) == compiled.reader || is_head || own.1.array.is_penalty()
        };
        for (_, own) in compiled.quantities.iter_mut().enumerate().filter(kept) {
            // An evaluation looks at it.
            let retention = if own.array.is_of_steps() {
                Retention::Steps
            } else {
                Retention::Once
            };
            own.array = interned::array(own.array.retention(retention));
            own.is_kept = true;
        }
        let mut arrays: Vec<Array> = Vec::new();
        for own in &compiled.quantities {
            let is_field = [array::LOGIT, array::MEMORY].contains(&own.array);
            let is_there = is_field || own.is_shared() && arrays.contains(&own.array);
            if own.place == Place::Machine && !is_there {
                arrays.push(own.array);
            }
        }
        compiled.arrays = interned::list(&arrays);
        compiled.free = compiled.find_free();
        compiled.is_causal = compiled.find_causal(&flat);
        let _ = compiled.variants[0].set(Variant {
            program: Arc::clone(&compiled.program),
            flat,
        });
        Ok(compiled)
    }

    /// Checks the file under every choice of its switches, and that it runs. Returns what fits but is often a mistake.
    ///
    /// # Errors
    /// A mistake in the file.
    pub fn check(&self) -> Result<Vec<Mistake>, Mistake> {
        let program = checked(&self.page)?;
        let variant = self.variant(None);
        let given = |_: &str| Some(3);
        let bound = Bound::new(&self.page, &variant.program, &variant.flat, &given);
        let mut warnings = program.warnings;
        warnings.extend(self.other_head.as_ref().map(|what| {
            mistake!(self.page.whole(), "{what}, so the heads are shown as quantities"; "see docs/equations.md, Heads")
        }));
        bound.map(|_| warnings).map_err(|fault| {
            mistake!(self.page.whole(), "the machine cannot run: {fault:?}"; "use fewer axes in one expression, and one past(…)")
        })
    }

    /// Whether the trainer sets a constant of this name.
    pub(super) fn is_told(&self, name: &str) -> bool {
        self.told.contains(&name)
    }

    /// Whether it asks for the reward of an episode.
    pub(super) fn is_rewarded(&self) -> bool {
        self.is_told("reward") || self.is_told("baseline")
    }

    /// The program for episodes in which the target is fed back, or the own answer in this form.
    pub(super) fn variant(&self, own: Option<Answer>) -> &Variant {
        let (index, feedback) = match own.filter(|_| self.has_feedback) {
            None => (0, Feedback::Target),
            Some(Answer::Symbols) => (1, Feedback::Class),
            Some(Answer::Bits) => (2, Feedback::Bits),
            Some(Answer::Values(_)) => (3, Feedback::Values),
        };
        self.variants[index].get_or_init(|| {
            // It was lowered before.
            let mut program = lower(&self.page).unwrap_or_default();
            let flat = flatten(&mut program, feedback);
            let program = Arc::new(program);
            Variant { program, flat }
        })
    }

    // Data.

    /// Whether the data are those of a task.
    ///
    /// # Errors
    /// What does not fit.
    pub(super) fn fits(&self, offer: Offer) -> Result<(), Unfit> {
        let Offer {
            inputs, outputs, ..
        } = offer;
        let needs = self.needs(offer);
        if needs.is_empty() {
            return Ok(());
        }
        let mut offers = vec![format!("steps: input [T, {inputs}], target [T, {outputs}]")];
        if offer.answers_last {
            offers.push(format!("source [S, {inputs}] and answer [A, {outputs}]"));
        }
        if offer.has_one_answer {
            offers.push(format!("source [S, {inputs}] and one answer [{outputs}]"));
        }
        offers.extend(offer.document.map(|document| match document.pointers {
            0 => format!("document [D, {outputs}], question [Q, {outputs}] and one answer [{outputs}]"),
            ends => format!("document [D, {inputs}], question [Q, {inputs}] and {ends} answers that point at steps of the document [{ends}, D]"),
        }));
        Err(Unfit {
            has: self.signature(),
            offers: offers.join("; "),
            needs,
        })
    }

    /// What the data need that a task does not offer; empty if it offers everything.
    fn needs(&self, offer: Offer) -> String {
        let parts: Vec<Part> = self.data.iter().map(|data| data.part).collect();
        let pointers = offer.document.map(|document| document.pointers);
        let needs = match (&parts[..], pointers) {
            ([Part::Steps, Part::Steps], _)
            | ([Part::Document, Part::Question, Part::Last], Some(0)) => "",
            ([Part::Source, Part::Answer], _) if offer.answers_last => "",
            ([Part::Source, Part::Last], _) if offer.has_one_answer => "",
            ([Part::Document, Part::Question, Part::Answer], Some(1..)) if self.points() => "",
            ([Part::Source, Part::Answer], _) => "a task whose whole input comes before its answer",
            ([Part::Source, Part::Last], _) => "a task that answers in one step, such as `aspects`",
            ([Part::Document, Part::Question, _], _) if self.points() => {
                "the task `span` with `task.asked_for` ends"
            }
            ([Part::Document, Part::Question, Part::Last], _) => {
                "the task `span` with `task.asked_for` symbol"
            }
            ([Part::Document, Part::Question, _], _) => {
                "a target without steps, as in y[symbols], or one that points at steps of the document, as in y[ends, document]: it is a target"
            }
            _ => {
                "one input along the axis of the target (steps), one along an axis of its own (source and answer), or two (document and question)"
            }
        };
        if !needs.is_empty() {
            return needs.to_owned();
        }
        let records = self.page.inputs.iter().chain(&self.page.target);
        let mut further = records
            .zip(&self.data)
            .filter(|(record, data)| record.given().len() > 1 + usize::from(data.steps.is_some()));
        if let Some((record, _)) = further.next() {
            let name = &record.names[0];
            return format!(
                "a task whose data have {} axes: those of all tasks have steps and channels, as in {name}[steps, inputs]",
                record.given().len()
            );
        }
        let given = self.given([2, 1], offer, 1);
        let lengths = lengths(&self.page, &self.program, &given);
        if self.points() {
            // The answer has all rounds, and the last ones are asked for.
            let rounds = self.target().steps.into_iter().chain(self.further_axes());
            let all = rounds
                .map(|axis| lengths[axis])
                .fold(1, usize::saturating_mul);
            if all < pointers.unwrap_or(0) {
                return format!(
                    "a task that asks for {all} answer steps or fewer (`task.rounds`), more rounds of its own, or `entries ends = start, end`"
                );
            }
        }
        let fits = |(index, data): (usize, &Data)| {
            let length = lengths[data.width];
            match data.part {
                _ if index + 1 == self.data.len() => self.points() || length == offer.outputs,
                // The channels behind the symbols are 0 in document and question.
                Part::Document | Part::Question if length == offer.outputs => {
                    pointers == Some(0) || length == offer.inputs
                }
                _ => length == offer.inputs,
            }
        };
        if self.data.iter().enumerate().all(fits) {
            String::new()
        } else {
            "the widths of the task: leave out their `size`, and give input and target axes of their own".to_owned()
        }
    }

    /// Its inputs and its target, as the file declares them.
    fn signature(&self) -> String {
        let named = |record: &Record| {
            let axes = record
                .given()
                .iter()
                .map(|axis| &*self.page.axes[*axis].name);
            format!(
                "{}[{}]",
                record.names[0],
                axes.collect::<Vec<_>>().join(", ")
            )
        };
        let inputs = self
            .page
            .inputs
            .iter()
            .map(|own| format!("input {}", named(own)));
        let target = self
            .page
            .target
            .iter()
            .map(|own| format!("target {}", named(own)));
        inputs.chain(target).collect::<Vec<_>>().join(", ")
    }

    /// The lengths of sequences and widths in an episode with these steps and source steps.
    pub(super) fn given(
        &self,
        sizes: [usize; 2],
        offer: Offer,
        question: usize,
    ) -> impl Fn(&str) -> Option<usize> {
        let mut all = BTreeMap::new();
        let points = self.points();
        // The target first: a document and its answer may share an axis of symbols.
        for (index, data) in self.data.iter().enumerate().rev() {
            let name = |axis: Axis| self.program.axes[axis].name.to_string();
            let is_target = index + 1 == self.data.len();
            let width = if is_target {
                offer.outputs
            } else {
                offer.inputs
            };
            if !(is_target && points) {
                all.entry(name(data.width)).or_insert(width);
            }
            if let Some(steps) = data.steps {
                all.entry(name(steps))
                    .or_insert(data.part.steps(sizes, question).1);
            }
        }
        move |axis| all.get(axis).copied()
    }

    // Sizes.

    /// The sizes on which no tensor depends, which may be changed afterwards, with their values and ranges.
    pub fn free_sizes(&self) -> impl Iterator<Item = (&str, usize, [usize; 2])> {
        let free = self.free.iter().map(|key| &self.page.keys[*key]);
        free.map(|key| {
            (
                &*key.name,
                key.value as usize,
                key.range.map(|end| end as usize),
            )
        })
    }

    fn find_free(&self) -> Vec<usize> {
        let axes = &self.program.axes;
        let tensors = self.program.tensors.iter();
        let held = tensors.flat_map(|own| own.axes.iter().chain(own.inputs.iter().flatten()));
        let origins: HashSet<Axis> = held.map(|axis| axes[*axis].origin).collect();
        // An axis that functions make has the lengths of others.
        let parts = origins.iter().flat_map(|axis| match &axes[*axis].length {
            Length::Join(parts) | Length::Packed(parts) => parts.concat(),
            Length::Append(old) => vec![*old],
            _ => vec![],
        });
        let parts: HashSet<Axis> = parts.map(|axis| axes[axis].origin).collect();
        let held = origins.union(&parts).map(|axis| &*axes[*axis].name);
        let held: HashSet<&str> = held.collect();
        let is_free = |index: &usize| {
            let key = &self.page.keys[*index];
            key.word == Word::Size && !held.contains(&*key.name)
        };
        self.program.keys.iter().copied().filter(is_free).collect()
    }

    /// Returns the file with another size.
    pub(super) fn with_size(
        &self,
        name: &str,
        size: usize,
        make: impl FnOnce() -> Result<Arc<Self>, Mistake>,
    ) -> Result<Arc<Self>, Mistake> {
        let mut resized = self.resized.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), size);
        if let Some(own) = resized.get(&key) {
            return Ok(Arc::clone(own));
        }
        let own = make()?;
        if resized.len() > 64 {
            resized.clear();
        }
        resized.insert(key, Arc::clone(&own));
        Ok(own)
    }

    /// Whether the episodes that an engine runs for this purpose may have different lengths.
    pub(super) fn is_ragged(&self, purpose: Purpose) -> bool {
        self.is_causal && matches!(purpose, Purpose::Training(_))
    }

    /// See [`Self::is_causal`]. Every operation sees single steps, or those so far; nothing but the answer is asked for.
    fn find_causal(&self, flat: &Flat) -> bool {
        let Some(steps) = self.target().steps else {
            return false;
        };
        let axes = &self.program.axes;
        let is_steps = |axis: Axis| {
            let origin = |axis: Axis| axes.get(axis).map(|own| own.origin);
            origin(axis) == origin(steps)
        };
        let is_single = |cut: &Cut| !matches!(cut, Cut::Entry(axis, _) if is_steps(*axis));
        let is_of_step = |view: &View| {
            !view.axes.iter().any(|axis| is_steps(*axis)) && view.cuts.iter().all(is_single)
        };
        let counts = |node: &Node| match node {
            Node::Length(axis) | Node::Index(axis) => is_steps(*axis),
            Node::Step(frame) => *frame == 0,
            _ => false,
        };
        let has_steps = |own: &Operation| {
            let counts = matches!(&own.act, Act::Map(nodes) if nodes.iter().any(counts));
            !counts && own.views().all(is_of_step)
        };
        let has_steps_of_its_own =
            |own: &Quantity| own.time.is_some_and(|(_, part)| part == Part::Steps);
        // Steps belong to the outermost blocks.
        let is_outer = |own: &Block| match own.axis {
            Some(axis) if own.parent.is_none() => is_steps(axis) && !own.backwards,
            axis => !axis.is_some_and(is_steps),
        };
        let mut operations = flat.equations.iter().chain(&flat.firsts).flatten();
        let mut quantities = self.quantities.iter();
        self.data.iter().all(|data| data.part == Part::Steps)
            && self.told.is_empty()
            && self.page.blocks.iter().all(is_outer)
            && !quantities.any(|own| own.is_noise() || own.is_kept && !has_steps_of_its_own(own))
            && operations.all(has_steps)
    }

    // Tensors.

    /// The tensors. A weight has a row for each output and a column for each input; heads and layers are rows one after
    /// another.
    pub(super) fn shape(&self, lengths: &[usize]) -> Shape {
        let spec = |tensor: &Tensor| {
            let gates = tensor.gates.max(1);
            let all = count(lengths, &tensor.axes).saturating_mul(gates);
            let inputs = joined(lengths, &tensor.inputs);
            let last = tensor.axes.last().map_or(1, |axis| lengths[*axis]);
            let end = tensor.name.rsplit('.').next().unwrap_or_default();
            let is_bias = end == "bias";
            let [rows, columns] = match tensor.inputs.is_empty() {
                false => [all, inputs],
                _ if is_bias => [usize::from(all > 0), all],
                _ => [all.checked_div(last).unwrap_or(0), last],
            };
            let start = match tensor.inputs.is_empty() {
                // Maps of several heads begin as each would alone.
                false => {
                    let own = tensor
                        .axes
                        .iter()
                        .filter(|axis| self.page.rank(**axis).0 > 0);
                    let own = count(lengths, &own.copied().collect::<Vec<_>>());
                    Start::GlorotOf(inputs.saturating_add(own.saturating_mul(gates)))
                }
                _ if is_bias => Start::Zero,
                _ if end == "start" => Start::NearZero,
                _ => Start::Glorot,
            };
            TensorSpec {
                name: tensor.name.clone().into(),
                rows,
                columns,
                start,
            }
        };
        let Variant { program, flat } = self.variant(None);
        let bound = Bound::of_tensors(&self.page, program, flat, lengths.to_vec());
        Shape {
            linears: Vec::new(),
            tensors: self.program.tensors.iter().map(spec).collect(),
            places: places(&bound, program),
        }
    }

    // Arrays.

    /// The memory with a row for each step, where heads see such a one.
    pub(super) fn row_per_step(&self) -> Option<&Rows> {
        self.familiar.as_ref()?.steps()
    }

    /// The quantity of an array.
    pub(super) fn quantity(&self, place: Place, of: Array) -> Option<(usize, &Quantity)> {
        let array = |own: &Quantity| (own.place == place).then_some(own.array);
        let at = position(&self.quantities, of, array)?;
        Some((at, &self.quantities[at]))
    }

    /// The last weighting over the source that each step of an answer has, or of a machine whose input and answer have
    /// the same steps, over these.
    fn find_reader(&self) -> Option<usize> {
        let source = self.data[0].steps?;
        let is_it = |own: &Quantity| {
            let origin = |axis: Axis| self.program.axes[axis].origin;
            let is_over_source = matches!(own.axes[..], [axis] if origin(axis) == origin(source));
            let is_weighting = own.array.name.rsplit('.').next() == Some("weighting");
            own.time.is_some_and(|time| time.1 != Part::Source) && is_over_source && is_weighting
        };
        self.quantities.iter().rposition(is_it)
    }

    /// The most steps of the first input whose numbers select learned entries of a size, and the key of that size.
    pub(super) fn most_steps(&self) -> Option<(usize, &'static str)> {
        let axes = &self.program.axes;
        let is_input = |axis: Axis| {
            let steps = self.data[0].steps;
            steps.is_some_and(|steps| axes[steps].origin == axes[axis].origin)
        };
        let mut least = None;
        each(&self.program, &mut |value| {
            let (Op::Pick(axis), [of, index]) = (&value.op, &value.parts[..]) else {
                return;
            };
            let is_step = match index.op {
                Op::Index(axis) => is_input(axis),
                Op::Step(block) => self.page.blocks[block].axis.is_some_and(is_input),
                _ => false,
            };
            let is_learned = match of.op {
                Op::Linear(_) => true,
                Op::Read(series, _) => {
                    matches!(self.program.series[series].source, Source::Parameter(_))
                }
                _ => false,
            };
            let own = &axes[axes[*axis].origin];
            if let (true, true, Length::Fixed(length)) = (is_step, is_learned, &own.length) {
                let name = interned::text(&format!("sizes.{}", own.name));
                least = least.min(Some((*length, name))).or(Some((*length, name)));
            }
        });
        least
    }

    /// The block of a first value: its axis, and whether it runs backwards.
    pub(super) fn block(&self, block: usize) -> Option<(Axis, bool)> {
        let block = &self.page.blocks[block];
        block.axis.map(|axis| (axis, block.backwards))
    }
}

/// Where the tensors of a program stand in the arena of its engines.
pub(super) fn places(bound: &Bound, program: &Program) -> Vec<TensorPlace> {
    let place = |(tensor, layout): (&Tensor, &Layout)| {
        let mut axes: Vec<Axis> = tensor.axes.clone();
        if tensor.gates > 0 {
            axes.insert(tensor.before_gates, GATES);
        }
        if !tensor.inputs.is_empty() {
            axes.push(IN);
        }
        let (lengths, strides) = layout.along(&axes);
        TensorPlace {
            first: layout.offset.unsigned_abs(),
            lengths,
            strides,
        }
    };
    program
        .tensors
        .iter()
        .zip(&bound.tensors)
        .map(place)
        .collect()
}

/// Calls `visit` with every value of a program.
fn each(program: &Program, visit: &mut impl FnMut(&Value)) {
    let values = program.equations.iter().map(|own| &own.value);
    for value in values.chain(program.firsts.iter().map(|own| &own.value)) {
        value.each(visit);
    }
}
