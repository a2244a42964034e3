//! Provenance: the writes that made a value, and the reads that a write reached.
//!
//! A memory row is the sum of what is left of its initial values and of every write (Graves et al. 2014, equations 3 and 4,
//! one step after the other):
//!
//! ```text
//! M_t(i) = M_0(i) ∘ Π_k (1 − w_k(i)·e_k) + Σ_j w_j(i)·a_j ∘ Π_{k after j} (1 − w_k(i)·e_k)
//! ```
//!
//! So a read Σ_i w(i)·M(i) is a sum over writes, and so is a logit, with the weights of the output layer. Everything is
//! computed from the recorded arrays, in 64 bits.

use crate::math::Series;
use crate::model::config::Order;
use crate::model::sam::{RECORDED_ROWS, ROW, RowNumber, row_number};
use crate::model::{HeadTrace, Model, ModelConfig, Place, Trace, Turns, array};
use crate::spelling::did_you_mean;
use crate::train::Recording;

/// The source of a part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The write of a head, by its index among all heads, in a step.
    Write(usize, usize),
    /// A row of a memory with a row for each step.
    Row(usize),
    /// The memory before the first step.
    Initial,
    /// The hidden state of the controller in the step of an output bit.
    Hidden,
    /// The bias of the output layer.
    Bias,
}

impl Origin {
    /// Returns the write, row or initial memory of this name.
    ///
    /// # Errors
    /// What is expected.
    pub fn named(name: &str, trace: &Trace) -> Result<Self, String> {
        let row = name.strip_prefix("row:").and_then(|row| row.parse().ok());
        let write = head_and_step(name, trace).map(|(head, step)| Self::Write(head, step));
        let initial = (name == "initial").then_some(Self::Initial);
        let found = row.map(Self::Row).or(write).or(initial);
        found.ok_or_else(|| format!("{}, row:STEP, or initial", expected(name, trace)))
    }

    /// The name: `write0:5`, `row:5`, `initial`, `hidden`, `bias`.
    pub fn name(self, trace: &Trace) -> String {
        match self {
            Self::Write(head, step) => format!("{}:{step}", trace.head_name(head)),
            Self::Row(row) => format!("row:{row}"),
            Self::Initial => "initial".to_owned(),
            Self::Hidden => "hidden".to_owned(),
            Self::Bias => "bias".to_owned(),
        }
    }
}

/// A value that is a sum over writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The read vector of a head, by its index among all heads, in a step.
    Read(usize, usize),
    /// The logit of a step and an output channel.
    Bit(usize, usize),
}

impl Target {
    /// Returns the value of this name.
    ///
    /// # Errors
    /// What is expected.
    pub fn named(name: &str, trace: &Trace) -> Result<Self, String> {
        let bit = || {
            let (step, channel) = name.strip_prefix("bit:")?.split_once(',')?;
            Some(Self::Bit(step.parse().ok()?, channel.parse().ok()?))
        };
        let read = head_and_step(name, trace).map(|(head, step)| Self::Read(head, step));
        let expected = || format!("{}, or bit:STEP,CHANNEL", expected(name, trace));
        read.or_else(bit).ok_or_else(expected)
    }

    /// The name: `read0:30`, `bit:30,2`.
    pub fn name(self, trace: &Trace) -> String {
        match self {
            Self::Read(head, step) => format!("{}:{step}", trace.head_name(head)),
            Self::Bit(step, channel) => format!("bit:{step},{channel}"),
        }
    }
}

/// A part of a value: the contribution of one origin.
#[derive(Clone, Debug)]
pub struct Part {
    /// The source.
    pub origin: Origin,
    /// The contribution to a read vector, [M]; empty for an output bit.
    pub values: Vec<f64>,
    /// The contribution to [`Provenance::total`], negative where it is against it.
    pub amount: f64,
    /// The contribution by the memory row that it was read from, [N]; empty where it was not read.
    pub rows: Vec<f64>,
    /// The number of [`Part::row`] among all rows of the memory.
    pub number: Option<RowNumber>,
}

impl Part {
    fn of(origin: Origin, columns: usize, rows: usize) -> Self {
        Self {
            origin,
            values: vec![0.0; columns],
            amount: 0.0,
            rows: vec![0.0; rows],
            number: None,
        }
    }

    /// Adds what was read of it from a row, along a direction.
    fn add(&mut self, row: usize, weight: f64, left: &[f64], direction: &[f64]) {
        add(&mut self.values, weight, left);
        self.rows[row] = weight * dot(left, direction);
        self.amount += self.rows[row];
    }

    /// The row through which most of it was read.
    pub fn row(&self) -> Option<usize> {
        let size = |row: &usize| self.rows[*row].abs();
        (0..self.rows.len()).max_by(|a, b| size(a).total_cmp(&size(b)))
    }

    /// Sets the number of its row.
    fn numbered(mut self, trace: &Trace) -> Self {
        self.number = self.row().map(|row| row_number(trace, row));
        self
    }
}

/// A value as a sum over writes.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The value.
    pub of: Target,
    /// The length of a read vector, or a logit: the sum of the amounts of all parts.
    pub total: f64,
    /// The parts, those of writes from the last to the first.
    pub parts: Vec<Part>,
}

impl Provenance {
    /// The signed share of a part; the shares of all parts add up to 1. 0 where there is nothing to share.
    ///
    /// Of a read vector r, the share of a contribution c is c·r / |r|².
    pub fn share(&self, part: &Part) -> f64 {
        ratio(part.amount, self.total)
    }

    /// The parts, those with the largest shares first.
    pub fn largest(&self) -> Vec<&Part> {
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by(|a, b| b.amount.abs().total_cmp(&a.amount.abs()));
        parts
    }

    /// The value and its largest shares in words: `read0:30 from write0:11 98 %, initial 2 %`.
    pub fn describe(&self, trace: &Trace) -> String {
        let largest = self.largest().into_iter().take(3);
        let shares = largest.map(|part| (part.origin.name(trace), 100.0 * self.share(part)));
        let shares = shares.filter(|(_, share)| share.abs() >= 0.5);
        let parts: Vec<_> = shares
            .map(|(origin, share)| format!("{origin} {share:.0} %"))
            .collect();
        format!("{} from {}", self.of.name(trace), parts.join(", "))
    }
}

/// The writes of an episode, in the order in which they take effect.
#[derive(Clone, Debug)]
pub struct Writes<'a> {
    trace: &'a Trace,
    /// The numbers of the rows that are shown, of a sparse memory.
    shown: Option<&'a [f32]>,
    /// The turns of a step, in order.
    turns: Vec<Turn>,
}

/// A turn of a step.
#[derive(Clone, Debug, PartialEq)]
enum Turn {
    /// A head reads.
    Read(usize),
    /// Heads write at once: all erases, then all adds.
    Write(Vec<usize>),
}

impl<'a> Writes<'a> {
    /// The writes of a recorded episode of a machine.
    ///
    /// # Errors
    /// The order of its heads is unknown, or arrays were not recorded.
    pub fn of(recording: &'a Recording, config: &ModelConfig) -> Result<Self, String> {
        let (trace, turns) = (&recording.trace, &recording.conventions.turns);
        if let Turns::Unknown(words) = turns {
            return Err(format!("the order of its heads is unknown: `{words}`"));
        }
        let mut changes = recording.conventions.interventions.iter();
        if let Some(one) = changes.find(|one| [array::MEMORY, array::READ].contains(&one.array)) {
            let name = trace.array_name(one.place, one.array);
            return Err(format!(
                "{name} was set, so it is no sum of what was written"
            ));
        }
        let of_heads = [array::WEIGHTING, array::READ, array::ERASE, array::ADD];
        let is_needed = |array| array == array::MEMORY || of_heads.contains(&array);
        let all = trace.of_steps().into_iter();
        let needed = all.filter(|(_, array, _)| is_needed(*array));
        let mut names = needed.map(|(place, array, _)| trace.array_name(place, array));
        match names.find(|name| !recording.knows(name)) {
            Some(lost) => Err(format!("{lost} was not recorded")),
            None => Ok(Self::ordered(trace, config.order(), turns)),
        }
    }

    /// The writes of a trace whose heads act in this order.
    pub fn ordered(trace: &'a Trace, order: Order, turns: &Turns) -> Self {
        let heads = 0..trace.heads.len();
        let is_write = |head: &usize| trace.heads[*head].is_write();
        let (writers, readers): (Vec<_>, Vec<_>) = heads.partition(is_write);
        let turn = |head: &usize| {
            let write = is_write(head).then(|| Turn::Write(vec![*head]));
            write.unwrap_or(Turn::Read(*head))
        };
        let mut all: Vec<_> = readers.iter().map(turn).collect();
        match (turns, order) {
            (Turns::InTurn(heads), _) => all = heads.iter().map(turn).collect(),
            // They erase and add one after the other.
            _ if trace.heads.iter().any(|head| head.series(ROW).is_some()) => {
                all.splice(
                    0..0,
                    writers.into_iter().map(|head| Turn::Write(vec![head])),
                );
            }
            (_, Order::ReadFirst) => all.push(Turn::Write(writers)),
            (_, Order::WriteFirst) => all.insert(0, Turn::Write(writers)),
        }
        let shown = trace.series(Place::Machine, RECORDED_ROWS);
        Self {
            trace,
            shown: shown.map(Series::as_slice),
            turns: all,
        }
    }

    /// Turn `index` of the episode, with its step.
    fn turn(&self, index: usize) -> (usize, &Turn) {
        let turns = self.turns.len();
        (index / turns, &self.turns[index % turns])
    }

    /// Calls `each` with what every write before a step left in a memory row, the last one first, then with what is left
    /// of the initial values.
    pub fn before(&self, step: usize, row: usize, each: impl FnMut(Origin, &[f64])) {
        self.remains(step * self.turns.len(), row, each);
    }

    /// [`Self::before`] after a number of turns.
    fn remains(&self, turns: usize, row: usize, mut each: impl FnMut(Origin, &[f64])) {
        let mut kept = vec![1.0; self.trace.memory_size()[1]];
        let mut left = kept.clone();
        for (step, turn) in (0..turns).rev().map(|index| self.turn(index)) {
            let Turn::Write(writers) = turn else { continue };
            for &head in writers {
                let weight = self.weight(head, step, row);
                let added = kept.iter().zip(self.trace.heads[head].add.row(step));
                let parts = left.iter_mut().zip(added);
                parts.for_each(|(left, (kept, &add))| *left = kept * (weight * f64::from(add)));
                each(Origin::Write(head, step), &left);
            }
            self.erase(writers, step, row, &mut kept);
        }
        let start = self.memory_row(0, row);
        kept.iter_mut()
            .zip(start)
            .for_each(|(kept, start)| *kept *= start);
        each(Origin::Initial, &kept);
    }

    /// A value as a sum over writes; an output bit needs the weights of the machine.
    ///
    /// # Errors
    /// There is no such value, or it is not such a sum.
    pub fn made(&self, of: Target, model: Option<&Model>) -> Result<Provenance, String> {
        let (total, parts) = match of {
            Target::Read(head, step) => {
                let (total, direction) = self.read(head, step)?;
                let parts = self.parts(head, step, &direction);
                if !adds_up(&parts, total, 1e-3) {
                    let name = of.name(self.trace);
                    return Err(format!("{name} is no sum of what heads wrote"));
                }
                (total, parts)
            }
            Target::Bit(step, channel) => self.bit(model, step, channel)?,
        };
        let parts = parts.into_iter().map(|part| part.numbered(self.trace));
        let parts = parts.collect();
        Ok(Provenance { of, total, parts })
    }

    /// A logit, with its parts.
    fn bit(
        &self,
        model: Option<&Model>,
        t: usize,
        channel: usize,
    ) -> Result<(f64, Vec<Part>), String> {
        const NO_WEIGHTS: &str = "needs the weights of the output layer: name the machine, or use `tapescope provenance TRACE --weights FILE`";
        const OTHER: &str =
            "the output layer is not a linear map of the hidden state and the reads";
        const MISMATCH: &str = "these weights do not give the recorded logit";
        let (trace, steps, channels) = (self.trace, self.trace.steps(), self.trace.logit.width());
        if t >= steps || channel >= channels {
            return Err(format!(
                "the episode has {steps} steps and {channels} output channels"
            ));
        }
        let model = model.ok_or(NO_WEIGHTS)?;
        let tensors = model.params.named();
        let tensor = |name| {
            let mut tensors = tensors.iter();
            let found = tensors.find(|(known, _)| known == name);
            found.map(|(_, values)| values.view()).ok_or(OTHER)
        };
        let (weight, bias) = match &model.config {
            ModelConfig::Equations(_) => (tensor("z.weight")?.reversed_axes(), tensor("z.bias")?),
            _ => (tensor("output.weight")?, tensor("output.bias")?),
        };
        let top = trace.layers.last();
        let hidden = top.map_or_else(Vec::new, |top| wide(top.hidden.row(t)));
        let widths = self.readers().map(|head| trace.heads[head].read.width());
        let mismatch = match model.config {
            ModelConfig::Equations(_) => OTHER,
            _ => MISMATCH,
        };
        if weight.dim() != (hidden.len() + widths.sum::<usize>(), channels) {
            return Err(mismatch.to_owned());
        }
        let weights = wide(weight.column(channel));
        let (of_hidden, mut of_reads) = weights.split_at(hidden.len());
        let mut parts = [Origin::Hidden, Origin::Bias]
            .map(|of| Part::of(of, 0, 0))
            .to_vec();
        parts[0].amount = dot(&hidden, of_hidden);
        parts[1].amount = bias[[0, channel]].into();
        for head in self.readers() {
            self.read(head, t)?;
            let (own, others) = of_reads.split_at(trace.heads[head].read.width());
            of_reads = others;
            for part in self.parts(head, t, own) {
                match parts.iter_mut().find(|known| known.origin == part.origin) {
                    Some(known) => {
                        known.amount += part.amount;
                        add(&mut known.rows, 1.0, &part.rows);
                    }
                    None => parts.push(part),
                }
            }
        }
        parts.iter_mut().for_each(|part| part.values.clear());
        let total = f64::from(trace.logit.row(t)[channel]);
        let made = adds_up(&parts, total, 1e-4).then_some((total, parts));
        made.ok_or_else(|| mismatch.to_owned())
    }

    /// The reads that contain something of a write, of a row or of the initial memory, in order, each with this part only.
    ///
    /// # Errors
    /// There is no such write, or a read is not a sum of memory rows.
    pub fn uses(&self, origin: Origin) -> Result<Vec<Provenance>, String> {
        let (trace, [rows, columns]) = (self.trace, self.trace.memory_size());
        let (is_row, steps) = (trace.has_row_per_step(), trace.steps());
        let is_write = |head| trace.heads.get(head).is_some_and(HeadTrace::is_write);
        let first = match origin {
            Origin::Write(head, step) if step < steps && is_write(head) => step,
            Origin::Row(row) if is_row && row < rows => 0,
            Origin::Initial if !is_row && columns > 0 => 0,
            _ => return Err("there is no such write".to_owned()),
        };
        let (mut left, mut uses) = (vec![vec![0.0; columns]; rows], Vec::new());
        if origin == Origin::Initial {
            left = (0..rows).map(|row| self.memory_row(0, row)).collect();
        }
        let turns = self.turns.len();
        for (t, turn) in (first * turns..steps * turns).map(|index| self.turn(index)) {
            match turn {
                Turn::Write(writers) => {
                    for (row, left) in left.iter_mut().enumerate() {
                        self.erase(writers, t, row, left);
                        if let Origin::Write(head, step) = origin
                            && step == t
                            && writers.contains(&head)
                        {
                            let added = wide(trace.heads[head].add.row(t));
                            add(left, self.weight(head, t, row), &added);
                        }
                    }
                }
                &Turn::Read(head) => {
                    let (total, direction) = self.read(head, t)?;
                    let mut part = Part::of(origin, direction.len(), rows);
                    if let Origin::Row(row) = origin {
                        left[row] = self.row(head, row);
                    }
                    for (row, left) in left.iter().enumerate() {
                        part.add(row, self.weight(head, t, row), left, &direction);
                    }
                    if total != 0.0 && part.values.iter().any(|value| *value != 0.0) {
                        let (of, parts) = (Target::Read(head, t), vec![part.numbered(trace)]);
                        uses.push(Provenance { of, total, parts });
                    }
                }
            }
        }
        Ok(uses)
    }

    /// The heads that read.
    fn readers(&self) -> impl Iterator<Item = usize> + 'a {
        let heads = &self.trace.heads;
        (0..heads.len()).filter(|head| !heads[*head].is_write())
    }

    /// The length and the direction of a read vector, where that is a sum of memory rows.
    fn read(&self, head: usize, step: usize) -> Result<(f64, Vec<f64>), String> {
        let (trace, [rows, columns]) = (self.trace, self.trace.memory_size());
        let (reader, steps) = (&trace.heads[head], trace.steps());
        let is_row = reader.series(array::ROW_VALUE).is_some() || reader.read.width() == columns;
        let problem = match reader.weighting.width() == rows && is_row {
            _ if reader.is_write() => "does not read".to_owned(),
            _ if step >= steps => return Err(format!("the episode has {steps} steps, from 0")),
            false => "reads something other than a sum of memory rows".to_owned(),
            true => {
                let read = wide(reader.read.row(step));
                let total = dot(&read, &read).sqrt();
                return Ok((
                    total,
                    read.iter().map(|value| ratio(*value, total)).collect(),
                ));
            }
        };
        Err(format!("{} {problem}", trace.head_name(head)))
    }

    /// Row `row` of M_t.
    fn memory_row(&self, t: usize, row: usize) -> Vec<f64> {
        let rows = self.trace.memory_size()[0];
        wide(
            self.trace
                .memory_columns
                .row(t)
                .iter()
                .skip(row)
                .step_by(rows),
        )
    }

    /// What a head reads of a row that is written once.
    fn row(&self, head: usize, row: usize) -> Vec<f64> {
        let values = self.trace.heads[head].series(array::ROW_VALUE);
        let own = || self.memory_row(self.trace.steps(), row);
        values.map_or_else(own, |values| wide(values.row(row)))
    }

    fn weight(&self, head: usize, step: usize, row: usize) -> f64 {
        self.trace.heads[head].weighting.row(step)[row].into()
    }

    /// What these heads leave of the values of a row.
    fn erase(&self, writers: &[usize], step: usize, row: usize, values: &mut [f64]) {
        for &head in writers {
            let (weight, head) = (self.weight(head, step, row), &self.trace.heads[head]);
            let erased = values.iter_mut().zip(head.erase.row(step));
            erased.for_each(|(value, &erase)| *value *= 1.0 - weight * f64::from(erase));
            // Sparse access memory erases a row, whatever its weight.
            if let Some(shown) = self.shown
                && let Some(erased) = head.series(ROW)
                && erased.row(step)[0] == shown[row]
            {
                values.fill(0.0);
            }
        }
    }

    /// The parts of a read, with their amounts along a direction.
    fn parts(&self, head: usize, step: usize, direction: &[f64]) -> Vec<Part> {
        let (rows, mut parts) = (self.trace.memory_size()[0], Vec::<Part>::new());
        let turn = self.turns.iter().position(|turn| *turn == Turn::Read(head));
        let turns = step * self.turns.len() + turn.unwrap_or(0);
        // Some machines do not read in every step.
        let read = self.trace.heads[head].read.row(step);
        let is_empty = read.iter().all(|value| *value == 0.0);
        for row in 0..rows {
            let weight = self.weight(head, step, row);
            let mut index = 0;
            let mut each = |origin, left: &[f64]| {
                // Every row has the same origins in the same order, or one of its own.
                if parts.get(index).is_none_or(|part| part.origin != origin) {
                    index = parts.len();
                    parts.push(Part::of(origin, left.len(), rows));
                }
                parts[index].add(row, weight, left, direction);
                index += 1;
            };
            match self.trace.has_row_per_step() {
                _ if weight == 0.0 || is_empty => {}
                true => each(Origin::Row(row), &self.row(head, row)),
                false => self.remains(turns, row, each),
            }
        }
        parts
    }
}

/// A head and a step by their name, such as `read0:30`.
fn head_and_step(name: &str, trace: &Trace) -> Option<(usize, usize)> {
    let (head, step) = name.split_once(':')?;
    let head = (0..trace.heads.len()).find(|index| trace.head_name(*index) == head)?;
    Some((head, step.parse().ok()?))
}

/// The form of a name with a head, in words, behind the head that this name may stand for.
fn expected(name: &str, trace: &Trace) -> String {
    let heads = (0..trace.heads.len()).map(|head| trace.head_name(head));
    let heads: Vec<String> = heads.collect();
    let (head, _) = name.split_once(':').unwrap_or((name, ""));
    let known = heads.iter().map(String::as_str);
    let meant = did_you_mean(head, known.filter(|known| *known != head));
    format!(
        "{meant}expected HEAD:STEP with HEAD one of {}",
        heads.join(", ")
    )
}

/// Whether parts add up to a total, but for this share of their sizes. NaN is no agreement.
fn adds_up(parts: &[Part], total: f64, share: f64) -> bool {
    let sum: f64 = parts.iter().map(|part| part.amount).sum();
    let size: f64 = parts.iter().map(|part| part.amount.abs()).sum();
    (sum - total).abs() <= share * size.max(1.0)
}

fn wide<'a>(values: impl IntoIterator<Item = &'a f32>) -> Vec<f64> {
    values.into_iter().copied().map(f64::from).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn ratio(of: f64, total: f64) -> f64 {
    if total == 0.0 { 0.0 } else { of / total }
}

/// to += factor·values.
fn add(to: &mut [f64], factor: f64, values: &[f64]) {
    let terms = to.iter_mut().zip(values);
    terms.for_each(|(to, value)| *to += factor * value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::Switch;
    use crate::model::{Conventions, NtmConfig};
    use crate::task::{Copy, Task};

    /// Records a machine with two read and three write heads; with `turns`, in this order.
    fn recorded(order: Order, turns: Option<&[usize]>, erases: bool) -> (Model, Recording) {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 6..=6,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.order) = (7, 5, order);
        (config.read_heads, config.write_heads) = (2, 3);
        let off = |head| !erases && head == 3;
        let words = (0..5).map(|head| if off(head) { Switch::Off } else { Switch::On });
        config.attention.erase = words.collect::<Vec<_>>().into();
        let mut model = Model::new(config, 5);
        let weights = model.params.slices_mut().flatten();
        weights.for_each(|weight| *weight *= 3.0);
        let mut recording = Recording::new(&model, &task, 1, 0);
        if let Some(turns) = turns {
            let turns = Turns::InTurn(turns.to_vec());
            recording.conventions = Conventions {
                turns,
                ..Conventions::default()
            };
            let trace = &mut recording.trace;
            for t in 0..trace.steps() {
                for dependency in model.config.dependencies(&recording.conventions) {
                    dependency.compute(trace, t);
                }
                let output = model.params.linears.last().unwrap();
                let hidden = trace.layers[0].hidden.row(t);
                let reads = trace.heads[..2].iter().map(|head| head.read.row(t));
                let features: Vec<f32> = [hidden]
                    .into_iter()
                    .chain(reads)
                    .flatten()
                    .copied()
                    .collect();
                let mut logit = output.bias.as_slice()[..trace.logit.width()].to_vec();
                for (input, feature) in features.iter().enumerate() {
                    let weights = logit.iter_mut().zip(output.weight.row(input));
                    weights.for_each(|(logit, weight)| *logit += feature * weight);
                }
                trace.logit.row_mut(t).copy_from_slice(&logit);
            }
        }
        (model, recording)
    }

    /// Episodes in all three orders, with and without a head that erases nothing.
    fn episodes() -> impl Iterator<Item = (Model, Recording)> {
        let orders = [
            (Order::ReadFirst, None),
            (Order::WriteFirst, None),
            (Order::ReadFirst, Some(&[2, 0, 4, 3, 1][..])),
            (Order::WriteFirst, Some(&[1, 3, 2, 0, 4][..])),
        ];
        let all = orders
            .into_iter()
            .flat_map(|order| [(order, true), (order, false)]);
        all.map(|((order, turns), erases)| recorded(order, turns, erases))
    }

    #[test]
    fn contributions_sum_to_the_recorded_read() {
        for (model, recording) in episodes() {
            let (writes, trace) = (
                Writes::of(&recording, &model.config).unwrap(),
                &recording.trace,
            );
            for (head, t) in (0..2).flat_map(|head| (0..trace.steps()).map(move |t| (head, t))) {
                let found = writes.made(Target::Read(head, t), None).unwrap();
                for (m, &read) in trace.heads[head].read.row(t).iter().enumerate() {
                    let sum: f64 = found.parts.iter().map(|part| part.values[m]).sum();
                    assert!((sum - f64::from(read)).abs() < 1e-5, "{sum} is not {read}");
                }
                let shares: f64 = found.parts.iter().map(|part| found.share(part)).sum();
                assert!((shares - 1.0).abs() < 1e-5);
                for part in &found.parts {
                    assert!((part.rows.iter().sum::<f64>() - part.amount).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn contributions_sum_to_the_recorded_logit() {
        for (model, recording) in episodes() {
            let (writes, trace) = (
                Writes::of(&recording, &model.config).unwrap(),
                &recording.trace,
            );
            for (t, channel) in
                (0..trace.steps()).flat_map(|t| (0..3).map(move |channel| (t, channel)))
            {
                let found = writes.made(Target::Bit(t, channel), Some(&model)).unwrap();
                let amounts = found.parts.iter().map(|part| part.amount);
                let size: f64 = amounts.clone().map(f64::abs).sum();
                let logit = f64::from(trace.logit.row(t)[channel]);
                assert!((amounts.sum::<f64>() - logit).abs() < 1e-5 * size);
            }
        }
    }

    #[test]
    fn uses_are_the_parts_of_all_reads() {
        for (model, recording) in episodes() {
            let (writes, steps) = (
                Writes::of(&recording, &model.config).unwrap(),
                recording.trace.steps(),
            );
            let mut used = 0;
            for (head, t) in (0..2).flat_map(|head| (0..steps).map(move |t| (head, t))) {
                let found = writes.made(Target::Read(head, t), None).unwrap();
                for part in &found.parts {
                    let uses = writes.uses(part.origin).unwrap();
                    let this = uses.iter().find(|read| read.of == found.of).unwrap();
                    let [this_part] = &this.parts[..] else {
                        panic!("several parts");
                    };
                    let values = this_part.values.iter().zip(&part.values);
                    let rows = this_part.rows.iter().zip(&part.rows);
                    assert!(values.chain(rows).all(|(a, b)| (a - b).abs() < 1e-12));
                    assert!((this.share(this_part) - found.share(part)).abs() < 1e-12);
                    used += 1;
                }
            }
            let all = (0..steps).flat_map(|step| (2..5).map(move |head| Origin::Write(head, step)));
            let all = all
                .chain([Origin::Initial])
                .map(|origin| writes.uses(origin).unwrap().len());
            assert_eq!(all.sum::<usize>(), used);
        }
    }

    #[test]
    fn what_cannot_be_traced_is_an_error() {
        let (model, mut recording) = recorded(Order::ReadFirst, None, true);
        let writes = Writes::of(&recording, &model.config).unwrap();
        let steps = recording.trace.steps();
        assert!(
            writes.made(Target::Read(0, steps), None).is_err()
                && writes.made(Target::Read(2, 0), None).is_err()
        );
        assert!(
            writes.made(Target::Bit(0, 3), Some(&model)).is_err()
                && writes.made(Target::Bit(steps, 0), Some(&model)).is_err()
        );
        for origin in [Origin::Row(0), Origin::Hidden, Origin::Write(1, 0)] {
            assert!(writes.uses(origin).is_err());
        }
        let other = Model::new(model.config.clone(), 6);
        let found = writes.made(Target::Bit(3, 0), Some(&other)).unwrap_err();
        assert_eq!(found, "these weights do not give the recorded logit");
        // A memory that something else has changed.
        let mut changed = recording.clone();
        changed.trace.heads[0].read.as_mut_slice().fill(3.0);
        let writes = Writes::of(&changed, &model.config).unwrap();
        let found = writes.made(Target::Read(0, 3), None).unwrap_err();
        assert_eq!(found, "read0:3 is no sum of what heads wrote");
        recording.absent.push("write1.add".to_owned());
        let lost = Writes::of(&recording, &model.config).unwrap_err();
        assert_eq!(lost, "write1.add was not recorded");
        recording.conventions.turns = Turns::Unknown("any".to_owned());
        assert!(
            Writes::of(&recording, &model.config)
                .unwrap_err()
                .contains("`any`")
        );
    }
}
