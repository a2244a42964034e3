//! Disassembly: each step of a head as an instruction, and the episode run again from the instructions.
//!
//! | instruction | ideal weighting |
//! |---|---|
//! | STAY | w_{t−1}, the weighting before |
//! | SHIFT k | w_{t−1}, moved by k rows, modulo N |
//! | JUMP | 1 on the row of the largest content weighting |
//! | ALLOCATE | 1 on the least used row, that of the largest allocation; only with allocation |
//! | FORWARD, BACKWARD | 1 on the row of the largest weight along the links, or against them; only with links |
//! | IDLE | 0: the write gate is closed |
//! | SPREAD | none: not explained |
//!
//! An instruction explains a step where the total variation between the weighting and the ideal is at most
//! [`TOLERANCE`]. Of several the first one counts, small |k| first; but a head without a gate does not see w_{t−1}: it
//! jumps wherever a jump explains the step. A head that mixes several weightings tries the largest share first.

use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;

use crate::model::config::Order;
use crate::model::{HeadTrace, Model, ModelConfig, Place, Trace, apply_all, array, dnc, peak};
use crate::train::Recording;

/// Largest total variation between a weighting and the ideal that explains it.
pub const TOLERANCE: f32 = 0.1;
/// Mean magnitude, over the columns, up to which an erase or add vector is negligible.
pub const NEGLIGIBLE: f32 = 0.1;
/// Weight from which a write head is on a row.
const ON_ROW: f32 = 0.5;
/// Most steps of a block that is folded into a loop.
const LONGEST_BLOCK: usize = 64;

/// The movement of a head in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The weighting before, moved by this many rows; STAY with 0.
    Shift(isize),
    /// All weight is on the row of the largest content weighting.
    Jump {
        /// The row.
        row: usize,
        /// The step that last wrote the row; `None` for the initial memory.
        written: Option<usize>,
    },
    /// All weight is on the least used row.
    Allocate(usize),
    /// All weight is on the row written after those that were read.
    Forward(usize),
    /// All weight is on the row written before those that were read.
    Backward(usize),
    /// No weight.
    Idle,
    /// Not explained.
    Spread,
}

/// The effect of a write head on the rows it is on, by the means of its erase and add vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteEffect {
    /// It erases and adds.
    Replace,
    /// It only adds.
    Add,
    /// It only erases.
    Erase,
    /// Both vectors are [`NEGLIGIBLE`].
    Nothing,
}

/// One step of a head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// The movement.
    pub movement: Move,
    /// The effect; `None` for a read head, and with IDLE.
    pub effect: Option<WriteEffect>,
}

/// The instructions of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Disassembly {
    /// The instructions of every head, [heads][T]; `None` in steps in which a head does not attend.
    pub heads: Vec<Vec<Option<Instruction>>>,
}

/// The words of the instructions.
const WORDS: [&str; 8] = [
    "STAY", "SHIFT", "JUMP", "ALLOCATE", "FORWARD", "BACKWARD", "IDLE", "SPREAD",
];

/// The number of instructions of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count([usize; WORDS.len()]);

/// The counts of episodes of a machine, and their wrong bits, or symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The instructions of every head.
    pub heads: Vec<Count>,
    /// Those of all heads.
    pub all: Count,
    /// Bits scored.
    pub scored: usize,
    /// Wrong bits of the machine.
    pub wrong: usize,
    /// Wrong bits of the replay: see [`Disassembly::replay`].
    pub replayed: usize,
}

/// A part of a folded list of instructions.
#[derive(Clone, Debug, PartialEq)]
pub enum Fold {
    /// An instruction, with all steps in which it occurs: several inside a loop.
    Step(Vec<(usize, Instruction)>),
    /// A block that is repeated.
    Loop {
        /// The number of repetitions.
        count: usize,
        /// The block.
        body: Vec<Fold>,
    },
}

impl Disassembly {
    /// Disassembles a recorded episode, with this tolerance instead of [`TOLERANCE`].
    pub fn of(recording: &Recording, order: Order, tolerance: f32) -> Self {
        let trace = &recording.trace;
        let heads = (0..trace.heads.len()).map(|head| {
            let steps = 0..trace.steps();
            let steps = steps.map(|t| Instruction::of(trace, order, tolerance, [head, t]));
            steps.collect()
        });
        Self {
            heads: heads.collect(),
        }
    }

    /// Folds the instructions of a head in some steps into loops.
    pub fn fold(&self, head: usize, steps: Range<usize>) -> Vec<Fold> {
        let all = steps.filter_map(|t| Some(vec![(t, self.heads[head][t]?)]));
        fold(&all.collect::<Vec<_>>())
    }

    /// Runs the episode again, with the ideal weighting in every step that is explained; `None` where its noise is not
    /// known. STAY and SHIFT start from the weighting before in this run, and JUMP looks up its row again. A free run keeps
    /// its number of steps. Interventions are kept.
    pub fn replay(&self, recording: &Recording, machine: &Model<f32>) -> Option<Recording> {
        let interventions = &recording.conventions.interventions;
        let mut replayed = recording.with_changes(machine, |trace, place, array, t| {
            if let Place::Head(index) = place
                && array == array::WEIGHTING
                && let Some(instruction) = self.heads[index][t]
                && let Some(weighting) = ideal(&trace.heads[index], t, instruction.movement)
            {
                let to = &mut trace.heads[index].weighting;
                to.row_mut(t).copy_from_slice(&weighting);
            }
            apply_all(interventions, trace, (place, array), t);
        })?;
        replayed.conventions.interventions.clone_from(interventions);
        Some(replayed)
    }
}

/// The instruction of a step; `None` where the head does not attend, or its weighting was not recorded.
fn explain(head: &HeadTrace<f32>, t: usize, tolerance: f32) -> Option<Instruction> {
    let weighting = head.weighting.row(t);
    let attends = weighting.iter().sum::<f32>() > 0.0;
    attends.then_some(())?;
    let reach = (head.shift.width() / 2).cast_signed();
    let shifts = std::iter::once(0).chain((1..=reach).flat_map(|k| [k, -k]));
    let mut moves: Vec<Move> = shifts.map(Move::Shift).collect();
    let jump = content_row(head, t).map(|row| Move::Jump { row, written: None });
    let place = if head.gate.width() > 0 {
        moves.len()
    } else {
        0
    };
    moves.splice(place..place, jump);
    moves.splice(0..0, mixed(head, t, jump));
    let is_near = |movement: &Move| {
        let ideal = ideal(head, t, *movement);
        ideal.is_some_and(|ideal| total_variation(weighting, &ideal) <= tolerance)
    };
    let movement = moves.into_iter().find(is_near).unwrap_or(Move::Spread);
    let effect = WriteEffect::of(head, t).filter(|_| movement != Move::Idle);
    Some(Instruction { movement, effect })
}

/// The movements of a head of a Differentiable Neural Computer, that with the largest share first.
fn mixed(head: &HeadTrace<f32>, t: usize, jump: Option<Move>) -> Vec<Move> {
    let row = |array| Some(peak(head.series(array)?.row(t))?.0);
    let value = |array, at: usize| head.series(array).map_or(0.0, |series| series.row(t)[at]);
    let mut moves = Vec::new();
    if head.series(dnc::WRITE_GATE).is_some() {
        let gate = value(dnc::ALLOCATION_GATE, 0);
        moves.push((2.0, Some(Move::Idle)));
        moves.push((gate, row(dnc::ALLOCATION).map(Move::Allocate)));
        moves.push((1.0 - gate, jump));
    } else if head.series(dnc::READ_MODES).is_some() {
        let ways = [
            row(dnc::BACKWARD).map(Move::Backward),
            jump,
            row(dnc::FORWARD).map(Move::Forward),
        ];
        let shares = (0..3).map(|way| value(dnc::READ_MODES, way));
        moves.extend(shares.zip(ways));
    }
    moves.sort_by(|one, other| other.0.total_cmp(&one.0));
    moves
        .into_iter()
        .filter_map(|(_, movement)| movement)
        .collect()
}

/// The weighting of an instruction, from the weighting before and the content weighting of the step.
fn ideal(head: &HeadTrace<f32>, t: usize, movement: Move) -> Option<Vec<f32>> {
    let rows = head.weighting.width();
    match movement {
        Move::Shift(by) => {
            let mut weighting = head.previous_weighting(t).to_vec();
            let is_known = weighting.len() == rows;
            is_known.then(|| weighting.rotate_right(by.rem_euclid(rows.cast_signed()) as usize))?;
            Some(weighting)
        }
        Move::Jump { .. } => one_hot(rows, content_row(head, t)?),
        // The row in this run, which may be another.
        Move::Allocate(_) => one_hot(rows, peak(head.series(dnc::ALLOCATION)?.row(t))?.0),
        Move::Forward(_) => one_hot(rows, peak(head.series(dnc::FORWARD)?.row(t))?.0),
        Move::Backward(_) => one_hot(rows, peak(head.series(dnc::BACKWARD)?.row(t))?.0),
        Move::Idle => Some(vec![0.0; rows]),
        Move::Spread => None,
    }
}

/// All weight on a row.
fn one_hot(rows: usize, row: usize) -> Option<Vec<f32>> {
    let mut weighting = vec![0.0; rows];
    *weighting.get_mut(row)? = 1.0;
    Some(weighting)
}

/// The row of the largest content weighting; `None` for a head without one.
fn content_row(head: &HeadTrace<f32>, t: usize) -> Option<usize> {
    let (row, _) = peak(head.content.row(t))?;
    Some(row)
}

fn total_variation(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f32>() / 2.0
}

/// The last of the first `steps` steps that wrote a row. A row of a machine with a row per step is of its own step.
fn last_write(trace: &Trace<f32>, row: usize, steps: usize) -> Option<usize> {
    if trace.has_row_per_step() {
        return Some(row);
    }
    let wrote = |head: &HeadTrace<f32>, t: usize| {
        let has_effect =
            WriteEffect::of(head, t).is_some_and(|effect| effect != WriteEffect::Nothing);
        let weight = head.weighting.row(t).get(row);
        has_effect && weight.is_some_and(|weight| *weight >= ON_ROW)
    };
    (0..steps)
        .rev()
        .find(|&t| trace.heads.iter().any(|head| wrote(head, t)))
}

impl WriteEffect {
    fn of(head: &HeadTrace<f32>, t: usize) -> Option<Self> {
        let has = |vector: &[f32]| {
            let sum: f32 = vector.iter().map(|value| value.abs()).sum();
            sum > NEGLIGIBLE * vector.len() as f32
        };
        let effect = match (has(head.erase.row(t)), has(head.add.row(t))) {
            (true, true) => Self::Replace,
            (false, true) => Self::Add,
            (true, false) => Self::Erase,
            (false, false) => Self::Nothing,
        };
        head.is_write().then_some(effect)
    }
}

impl Instruction {
    /// The instruction of a head in a step; `None` where it does not attend, or its weighting was not recorded.
    pub fn of(
        trace: &Trace<f32>,
        order: Order,
        tolerance: f32,
        [head, t]: [usize; 2],
    ) -> Option<Self> {
        let head = trace.heads.get(head)?;
        let mut found = explain(head, t, tolerance)?;
        if let Move::Jump { row, written } = &mut found.movement {
            let is_after = order == Order::WriteFirst && !head.is_write();
            *written = last_write(trace, *row, t + usize::from(is_after));
        }
        Some(found)
    }

    /// True for one that a loop repeats: jumps to different rows are the same instruction.
    fn repeats(&self, other: &Self) -> bool {
        let movement = match (self.movement, other.movement) {
            (Move::Jump { .. }, Move::Jump { .. })
            | (Move::Allocate(_), Move::Allocate(_))
            | (Move::Forward(_), Move::Forward(_))
            | (Move::Backward(_), Move::Backward(_)) => true,
            (one, other) => one == other,
        };
        movement && self.effect == other.effect
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Fold::Step(vec![(0, *self)]))
    }
}

impl Count {
    fn add(&mut self, movement: Move) {
        self.0[movement.kind()] += 1;
    }

    /// The number of instructions with a word, such as `STAY`; 0 for another text.
    pub fn number(self, word: &str) -> usize {
        let place = WORDS.iter().position(|other| *other == word);
        place.map_or(0, |place| self.0[place])
    }

    /// The words of the instructions that the heads of a machine may have, with their numbers.
    pub fn of(self, config: &ModelConfig) -> impl Iterator<Item = (&'static str, usize)> {
        let is_managed = matches!(config, ModelConfig::Dnc(_));
        let others = ["ALLOCATE", "FORWARD", "BACKWARD", "IDLE"];
        let all = WORDS.into_iter().zip(self.0);
        all.filter(move |(word, _)| is_managed || !others.contains(word))
    }

    /// Steps in which the heads attend.
    pub fn steps(self) -> usize {
        self.0.iter().sum()
    }

    /// Share of the steps that are explained, 0 to 1; NaN without steps.
    pub fn explained(self) -> f64 {
        let [.., spread] = self.0;
        1.0 - spread as f64 / self.steps() as f64
    }
}

impl Totals {
    /// Adds an episode of this machine, disassembled with [`TOLERANCE`]; returns its instructions. `None` as for
    /// [`Disassembly::replay`].
    pub fn add(&mut self, recording: &Recording, machine: &Model<f32>) -> Option<Disassembly> {
        let found = Disassembly::of(recording, machine.config.order(), TOLERANCE);
        let replayed = found.replay(recording, machine)?;
        self.heads.resize(found.heads.len(), Count::default());
        for (count, head) in self.heads.iter_mut().zip(&found.heads) {
            for instruction in head.iter().flatten() {
                count.add(instruction.movement);
                self.all.add(instruction.movement);
            }
        }
        self.scored += recording.score.scored;
        self.wrong += recording.score.wrong;
        self.replayed += replayed.score.wrong;
        Some(found)
    }
}

/// Folds from the front: each time the block whose repetitions cover the most steps, of several the shortest.
fn fold(mut rest: &[Vec<(usize, Instruction)>]) -> Vec<Fold> {
    let mut folds = Vec::new();
    while let Some(first) = rest.first() {
        let repetitions = |size: usize| {
            let is_same = |block: &&[Vec<(usize, Instruction)>]| {
                let mut pairs = block.iter().zip(rest);
                pairs.all(|(one, other)| one[0].1.repeats(&other[0].1))
            };
            rest.chunks_exact(size).take_while(is_same).count()
        };
        let sizes = 1..=LONGEST_BLOCK.min(rest.len() / 2);
        let loops = sizes.map(|size| (size, repetitions(size)));
        let loops = loops.filter(|(_, count)| *count > 1);
        let Some((size, count)) = loops.max_by_key(|(size, count)| (size * count, Reverse(*size)))
        else {
            folds.push(Fold::Step(first.clone()));
            rest = &rest[1..];
            continue;
        };
        let (blocks, later) = rest.split_at(size * count);
        let steps = |at: usize| blocks[at..].iter().step_by(size).flatten().copied();
        let body: Vec<_> = (0..size).map(|at| steps(at).collect()).collect();
        folds.push(Fold::Loop {
            count,
            body: fold(&body),
        });
        rest = later;
    }
    folds
}

impl Fold {
    /// The first and the last step.
    pub fn ends(&self) -> [usize; 2] {
        match self {
            Self::Step(steps) => [steps[0].0, steps[steps.len() - 1].0],
            Self::Loop { body, .. } => [body[0].ends()[0], body[body.len() - 1].ends()[1]],
        }
    }
}

/// Most rows that a jump in a loop names.
const NAMED_ROWS: usize = 4;

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loop { count, body } => {
                let body: Vec<String> = body.iter().map(Self::to_string).collect();
                match body.len() {
                    1 => write!(f, "×{count}: {}", body[0]),
                    _ => write!(f, "×{count}: ({})", body.join("; ")),
                }
            }
            Self::Step(steps) => {
                let effect = steps[0].1.effect;
                let moves = steps.iter().map(|(_, instruction)| instruction.movement);
                let mut moves: Vec<Move> = moves.collect();
                moves.dedup();
                let words = moves.iter().take(NAMED_ROWS).map(Move::to_string);
                let words = words.collect::<Vec<_>>().join(", ");
                // One word for all jumps, and for all of another kind.
                let kinds = ["JUMP", "ALLOCATE", "FORWARD to", "BACKWARD to"].into_iter();
                let words = kinds.fold(words, |words, kind| {
                    words.replace(&format!(", {kind}"), ",")
                });
                write!(f, "{words}")?;
                if moves.len() > NAMED_ROWS {
                    write!(f, ", …")?;
                }
                effect.map_or(Ok(()), |effect| write!(f, ", {effect}"))
            }
        }
    }
}

impl Move {
    /// The place of its word in [`WORDS`].
    fn kind(self) -> usize {
        match self {
            Self::Shift(0) => 0,
            Self::Shift(_) => 1,
            Self::Jump { .. } => 2,
            Self::Allocate(_) => 3,
            Self::Forward(_) => 4,
            Self::Backward(_) => 5,
            Self::Idle => 6,
            Self::Spread => 7,
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS[self.kind()])?;
        match self {
            Self::Shift(0) | Self::Idle | Self::Spread => Ok(()),
            Self::Shift(by) => write!(f, " {by:+}"),
            Self::Jump { row, written } => match written {
                Some(step) => write!(f, " row {row} (step {step})"),
                None => write!(f, " row {row} (initial memory)"),
            },
            Self::Allocate(row) => write!(f, " row {row}"),
            Self::Forward(row) | Self::Backward(row) => write!(f, " to row {row}"),
        }
    }
}

impl fmt::Display for WriteEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replace => "REPLACE",
            Self::Add => "ADD",
            Self::Erase => "ERASE",
            Self::Nothing => "NOTHING",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Words;
    use crate::math::check::random_vector;
    use crate::model::attention::Switch;
    use crate::model::{EquationsConfig, NtmConfig};
    use crate::task::{Copy, Task, Transduce};

    fn task() -> Task {
        Task::Copy(Copy {
            bits: 3,
            length: 6..=6,
        })
    }

    /// A random machine on 7 rows, and an episode of it.
    fn recorded(order: Order, gate: Switch) -> (Model<f32>, Recording) {
        let task = task();
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.shift_range) = (7, 4, 2);
        (config.read_heads, config.write_heads, config.order) = (2, 2, order);
        config.attention.gate = gate.into();
        let machine = Model::new(config, 3);
        let recording = Recording::new(&machine, &task, 1, 0);
        (machine, recording)
    }

    /// An instruction of a read head.
    fn step(movement: Move) -> Instruction {
        Instruction {
            movement,
            effect: None,
        }
    }

    fn jump(row: usize, written: Option<usize>) -> Move {
        Move::Jump { row, written }
    }

    fn movement(recording: &Recording, head: usize, t: usize) -> Move {
        let found = Disassembly::of(recording, Order::ReadFirst, TOLERANCE);
        found.heads[head][t].unwrap().movement
    }

    #[test]
    fn handmade_weightings_are_recognised() {
        let (_, mut recording) = recorded(Order::ReadFirst, Switch::On);
        let before = [0.4, 0.3, 0.2, 0.1, 0.0, 0.0, 0.0];
        for by in -2_isize..=2 {
            let head = &mut recording.trace.heads[0];
            head.weighting.row_mut(4).copy_from_slice(&before);
            let moved = head.weighting.row_mut(5);
            moved.copy_from_slice(&before);
            moved.rotate_right(by.rem_euclid(7) as usize);
            assert_eq!(movement(&recording, 0, 5), Move::Shift(by));
            // The first step starts from the initial weighting.
            let head = &mut recording.trace.heads[0];
            head.initial.row_mut(0).copy_from_slice(&before);
            let first = head.weighting.row(5).to_vec();
            head.weighting.row_mut(0).copy_from_slice(&first);
            assert_eq!(movement(&recording, 0, 0), Move::Shift(by));
        }
        let head = &mut recording.trace.heads[0];
        let content = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.4];
        head.content.row_mut(5).copy_from_slice(&content);
        let weighting = [0.09, 0.0, 0.0, 0.0, 0.0, 0.0, 0.91];
        head.weighting.row_mut(5).copy_from_slice(&weighting);
        assert!(matches!(
            movement(&recording, 0, 5),
            Move::Jump { row: 6, .. }
        ));
        let head = &mut recording.trace.heads[0];
        head.weighting.row_mut(5)[..].copy_from_slice(&content);
        let found = Disassembly::of(&recording, Order::ReadFirst, TOLERANCE);
        let found = found.heads[0][5].unwrap();
        assert_eq!((found.movement, found.effect), (Move::Spread, None));
        // Nothing is known of a head that does not attend.
        recording.trace.heads[0].weighting.row_mut(5).fill(0.0);
        let found = Disassembly::of(&recording, Order::ReadFirst, TOLERANCE);
        assert_eq!(found.heads[0][5], None);
    }

    #[test]
    fn head_without_gate_jumps_where_both_explain_a_step() {
        for (gate, expected) in [(Switch::On, Move::Shift(0)), (Switch::Off, jump(2, None))] {
            let (_, mut recording) = recorded(Order::ReadFirst, gate);
            let head = &mut recording.trace.heads[0];
            let one_hot = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
            for t in 0..2 {
                head.weighting.row_mut(t).copy_from_slice(&one_hot);
            }
            head.content.row_mut(1).copy_from_slice(&one_hot);
            for writer in &mut recording.trace.heads[2..] {
                writer.weighting.as_mut_slice().fill(1.0 / 7.0);
            }
            assert_eq!(movement(&recording, 0, 1), expected);
        }
    }

    #[test]
    fn jump_names_the_last_write_of_its_row() {
        for (order, last) in [(Order::ReadFirst, 3), (Order::WriteFirst, 5)] {
            let (_, mut recording) = recorded(order, Switch::On);
            let [reader, _, writer, other] = &mut recording.trace.heads[..] else {
                unreachable!()
            };
            let one_hot = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
            reader.content.row_mut(5).copy_from_slice(&one_hot);
            reader.weighting.row_mut(5).copy_from_slice(&one_hot);
            for head in [&mut *writer, &mut *other] {
                head.weighting.as_mut_slice().fill(1.0 / 7.0);
                head.add.as_mut_slice().fill(1.0);
            }
            let found = |recording: &Recording| {
                let found = Disassembly::of(recording, order, TOLERANCE);
                found.heads[0][5].unwrap().movement
            };
            for t in [1, 3, 4, 5] {
                writer.weighting.row_mut(t).copy_from_slice(&one_hot);
            }
            // Without an effect it is no write.
            writer.add.row_mut(4).fill(0.0);
            writer.erase.row_mut(4).fill(0.1);
            assert_eq!(found(&recording), jump(6, Some(last)));
            recording.trace.heads[2].weighting.as_mut_slice().fill(0.1);
            assert_eq!(found(&recording), jump(6, None));
        }
    }

    #[test]
    fn effect_follows_from_erase_and_add() {
        let (_, mut recording) = recorded(Order::ReadFirst, Switch::On);
        let writer = &mut recording.trace.heads[3];
        for (erase, add, expected) in [
            (0.2, -0.5, WriteEffect::Replace),
            (0.05, 0.5, WriteEffect::Add),
            (0.2, 0.05, WriteEffect::Erase),
            (0.05, -0.05, WriteEffect::Nothing),
        ] {
            writer.erase.row_mut(2).fill(erase);
            writer.add.row_mut(2).fill(add);
            assert_eq!(WriteEffect::of(writer, 2), Some(expected));
        }
        assert_eq!(WriteEffect::of(&recording.trace.heads[0], 2), None);
    }

    #[test]
    fn replay_without_explained_steps_gives_identical_bits() {
        let transduce = Task::Transduce(Transduce::DEFAULT);
        let channels = [transduce.inputs(), transduce.outputs()];
        let luong = EquationsConfig::included("luong", channels, &[]).unwrap();
        let luong = Model::new(luong, 2);
        let translated = Recording::new(&luong, &transduce, 4, 0);
        let ntm = recorded(Order::WriteFirst, Switch::On);
        for (machine, recording) in [ntm, (luong, translated)] {
            let order = machine.config.order();
            let nothing = Disassembly::of(&recording, order, -1.0);
            let mut instructions = nothing.heads.iter().flatten().flatten();
            assert!(instructions.all(|step| step.movement == Move::Spread));
            let again = nothing.replay(&recording, &machine).unwrap();
            let pairs = recording.trace.everything().zip(again.trace.everything());
            for ((place, array, recorded), (.., again)) in pairs {
                let name = recording.trace.array_name(place, array);
                assert!(recorded == again, "{name}");
            }
            assert_eq!((again.score, again.stop), (recording.score, recording.stop));
            assert_eq!(again.loss, recording.loss);
        }
    }

    #[test]
    fn replayed_instructions_explain_every_step() {
        for order in [Order::ReadFirst, Order::WriteFirst] {
            let (machine, recording) = recorded(order, Switch::On);
            let steps = recording.episode.steps();
            let mut random = random_vector(5, 4 * steps).into_iter();
            let mut any = || match (random.next().unwrap() * 1e6) as isize % 6 {
                5 | -5 => jump(0, None),
                by => Move::Shift(by % 3),
            };
            let heads = (0..4).map(|_| (0..steps).map(|_| Some(step(any()))).collect());
            let given = Disassembly {
                heads: heads.collect(),
            };
            let replayed = given.replay(&recording, &machine).unwrap();
            let found = Disassembly::of(&replayed, order, 1e-6);
            for head in 0..4 {
                let mut moves = found.heads[head].iter().flatten();
                assert_eq!(moves.clone().count(), steps);
                assert!(moves.all(|step| step.movement != Move::Spread));
                let expected = given.heads[head].iter().flatten().enumerate();
                for (t, given) in expected.filter(|(_, given)| given.movement == Move::Shift(1)) {
                    let weighting = &replayed.trace.heads[head];
                    let moved = weighting.weighting.row(t)[1..].iter();
                    let before = weighting.previous_weighting(t);
                    assert!(moved.eq(&before[..6]), "{given:?}");
                }
            }
        }
    }

    #[test]
    fn blocks_fold_into_loops() {
        let next = Move::Shift(1);
        let folded = |moves: &[Move]| {
            let steps = moves.iter().map(|&movement| Some(step(movement)));
            let of = Disassembly {
                heads: vec![steps.collect()],
            };
            let folds = of.fold(0, 0..moves.len());
            let ends: Vec<_> = folds.iter().map(Fold::ends).collect();
            for pair in ends.windows(2) {
                assert_eq!(pair[0][1] + 1, pair[1][0]);
            }
            let words: Vec<String> = folds.iter().map(Fold::to_string).collect();
            words.join(" | ")
        };
        assert_eq!(folded(&[]), "");
        assert_eq!(folded(&[Move::Spread]), "SPREAD");
        assert_eq!(folded(&[next; 20]), "×20: SHIFT +1");
        let mut round = vec![jump(3, Some(0))];
        round.extend([next; 4]);
        assert_eq!(
            folded(&round.repeat(3)),
            "×3: (JUMP row 3 (step 0); ×4: SHIFT +1)"
        );
        let pairs = [Move::Shift(0), Move::Shift(-2)].repeat(2);
        assert_eq!(folded(&pairs), "×2: (STAY; SHIFT -2)");
        let jumps: Vec<Move> = (0..6).map(|row| jump(row, row.checked_sub(1))).collect();
        assert_eq!(
            folded(&jumps),
            "×6: JUMP row 0 (initial memory), row 1 (step 0), row 2 (step 1), row 3 (step 2), …"
        );
        let mut write = step(next);
        write.effect = Some(WriteEffect::Replace);
        let written = Fold::Step(vec![(2, write)]);
        assert_eq!(written.to_string(), "SHIFT +1, REPLACE");
    }

    #[test]
    fn every_kind_of_machine_is_disassembled() {
        let task = task();
        for (name, config) in ModelConfig::WORDS {
            let mut config = config.clone();
            config.set_channels(task.inputs(), task.outputs());
            let machine = Model::new(config.clone(), 1);
            let recording = Recording::new(&machine, &task, 1, 0);
            let found = Disassembly::of(&recording, config.order(), TOLERANCE);
            let replayed = found.replay(&recording, &machine).unwrap();
            assert_eq!(found.heads.len(), config.heads(), "{name}");
            assert_eq!(replayed.score.scored, 18, "{name}");
        }
    }
}
