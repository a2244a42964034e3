//! The passes of a machine file: episodes go through its engine as wholes.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::compiled::Compiled;
use super::config::EquationsConfig;
use super::engines::Running;
use super::fused::Fused;
use super::pool::{Job, Purpose};
use super::quantities::{Held, NO_PLACE, Quantity, gates_of};
use crate::equations::run::{Engine, Made};
use crate::math::{Answer, Real, Series};
use crate::model::array;
use crate::model::attention::Sees;
use crate::model::dependency::{Conventions, Dependency, Size};
use crate::model::machine::{Batch, Change, Machine, TOGETHER, Told, Upstream};
use crate::model::memory;
use crate::model::params::Params;
use crate::model::spec::{Array, Place};
use crate::model::trace::{NoiseMode, Trace};

impl Compiled {
    /// The places of an array of one of the episodes of an engine.
    pub(super) fn places_of<R: Real>(
        &self,
        own: &Quantity,
        engine: &Engine<R>,
        job: Job,
        at: usize,
    ) -> Vec<usize> {
        if !own.pieces.is_empty() {
            let lengths = &engine.bound.lengths;
            let width = own.width(lengths, job.sizes);
            let mut all = vec![NO_PLACE; job.sizes[0] * width];
            for piece in &own.pieces {
                let layout = engine.layout_in(piece.series, at);
                let episode = (job.sizes, job.question);
                piece.put(layout, lengths, episode, (&mut all, width));
            }
            return all;
        }
        let of_scratch = |scratch: usize| {
            let layout = engine.bound.in_episode(&engine.bound.scratch[scratch], at);
            own.places(&layout, None)
        };
        let flat = &self.variant(job.own).flat;
        let places = match own.held {
            Held::Values(series) => own.places(&engine.layout_in(series, at), None),
            Held::First(series, block) | Held::WithFirst(series, block) => {
                let block = self
                    .block(block)
                    .map(|(axis, backwards)| (axis, backwards, engine.bound.lengths[axis]));
                own.places(&engine.layout_in(series, at), block)
            }
            Held::Draw(draw) => of_scratch(flat.draws[draw].0),
            Held::Gates(equation) => {
                let gates = gates_of(flat, equation);
                gates.map_or(Vec::new(), |(scratch, _)| of_scratch(scratch))
            }
        };
        own.in_columns(places, job.sizes, job.question)
    }
}

impl<R: Real> Trace<R> {
    /// The rows of an array of a machine file, in which the part of the episode is that it belongs to.
    fn rows_of(&self, own: &Quantity, question: usize) -> (usize, usize) {
        own.rows(self.tape.sizes, question)
    }

    /// The series of a quantity.
    fn series_of(&self, own: &Quantity) -> Option<&Series<R>> {
        match own.place {
            Place::Machine if own.array == array::LOGIT => Some(&self.logit),
            Place::Machine if own.array == array::MEMORY => Some(&self.memory_columns),
            Place::Machine => Some(self.kind_arrays.at(self.kind_arrays.place(own.array)?)),
            place => self.series(place, own.array),
        }
    }

    /// [`Trace::series_of`], to write.
    pub(super) fn series_of_mut(&mut self, own: &Quantity) -> Option<&mut Series<R>> {
        match own.place {
            Place::Machine if own.array == array::LOGIT => Some(&mut self.logit),
            Place::Machine if own.array == array::MEMORY => Some(&mut self.memory_columns),
            Place::Machine => {
                let at = self.kind_arrays.place(own.array)?;
                Some(self.kind_arrays.at_mut(at))
            }
            place => self.entry_mut(place, own.array),
        }
    }
}

impl EquationsConfig {
    fn job<R: Real>(&self, trace: &Trace<R>, purpose: Purpose) -> Job {
        let is_free = trace.tape.forced.is_empty() && self.compiled().has_feedback;
        let is_ragged = self.compiled().is_ragged(purpose);
        Job {
            purpose,
            sizes: if is_ragged {
                [ragged_steps(trace.steps()), 0]
            } else {
                trace.tape.sizes
            },
            own: is_free.then_some(trace.setting.answer),
            channels: [self.inputs, self.outputs],
            question: self.question,
        }
    }

    /// Puts the data of an episode in.
    fn put<R: Real>(&self, trace: &Trace<R>, running: &mut Running<R>, at: usize) {
        let compiled = self.compiled();
        running.set_constants(&|name| {
            let is_expected = trace.sampling == NoiseMode::Expected;
            match name {
                "expected" => Some(f64::from(u8::from(is_expected))),
                name => Told::default().value(name),
            }
        });
        let arena = &mut running.engine.memory.arena;
        let last = compiled.data.len() - 1;
        let widths = compiled
            .data
            .iter()
            .map(|data| running.engine.bound.lengths[data.width]);
        let all = compiled
            .data
            .iter()
            .zip(widths)
            .zip(&running.data)
            .enumerate();
        for (index, ((data, width), places)) in all {
            let (first, count) = data.part.steps(trace.tape.sizes, self.question);
            let places = &places[at];
            if index < last {
                let rows = (first..first + count).flat_map(|t| &trace.input.row(t)[..width]);
                places
                    .iter()
                    .zip(rows)
                    .for_each(|(place, value)| arena[*place] = *value);
            } else if !trace.tape.forced.is_empty() {
                let values = trace.tape.forced.iter().skip(first * self.outputs);
                places
                    .iter()
                    .zip(values)
                    .for_each(|(place, value)| arena[*place] = *value);
            }
        }
        let is_drawn = trace.sampling != NoiseMode::Mean;
        let noise = compiled.quantities.iter().enumerate();
        for (index, own) in noise.filter(|(_, own)| own.is_noise()) {
            let Some(series) = trace.series_of(own) else {
                continue;
            };
            let (first, count) = trace.rows_of(own, self.question);
            let width = series.width();
            let nothing = [R::from_f64(f64::NAN)];
            let is_left_out = !is_drawn && matches!(own.held, Held::Draw(_));
            let values = series
                .as_slice()
                .get(first * width..(first + count) * width)
                .unwrap_or_default();
            let values = if is_left_out { &nothing[..] } else { values };
            let places = running.arrays[index][at].iter();
            places
                .zip(values.iter().cycle())
                .for_each(|(place, value)| arena[*place] = *value);
        }
    }

    /// Takes the answer out.
    fn answer<R: Real>(&self, trace: &mut Trace<R>, running: &Running<R>, at: usize) {
        let arena = &running.engine.memory.arena;
        let (first, width) = (running.answer_start(), running.answer_width());
        if running.answer[at].len() < trace.logit.steps() * self.outputs {
            trace.logit.as_mut_slice().fill(R::ZERO);
            for t in first..trace.logit.steps() {
                trace.logit.row_mut(t)[width.min(self.outputs)..]
                    .fill(R::from_f64(f64::NEG_INFINITY));
            }
        }
        let is_probability = self.compiled().answer.1;
        let steps = trace.logit.steps().saturating_sub(first);
        for (index, place) in running.answer[at].iter().enumerate() {
            let value = arena[*place];
            let value = match trace.setting.answer {
                _ if !is_probability => value,
                Answer::Values(_) => value,
                Answer::Symbols => R::from_f64(value.max(R::TINY).to_f64().ln()),
                Answer::Bits => {
                    let odds = value.max(R::TINY) / (R::ONE - value).max(R::TINY);
                    R::from_f64(odds.to_f64().ln())
                }
            };
            if index / width < steps && index % width < self.outputs {
                trace.logit.row_mut(first + index / width)[index % width] = value;
            }
        }
        let (z, y) = (trace.logit.as_slice(), trace.output.as_mut_slice());
        trace.setting.answer.outputs(z, self.outputs, y);
    }

    /// Takes all arrays out, but for copies where something was set behind them.
    fn record<R: Real>(
        &self,
        trace: &mut Trace<R>,
        running: &Running<R>,
        from: usize,
        has_copies: bool,
    ) {
        for (index, own) in self.compiled().quantities.iter().enumerate() {
            // The gradients of gates are those before they are activated.
            let is_left_out =
                own.is_copy() && !has_copies || from > 0 && matches!(own.held, Held::Gates(_));
            if own.array != array::LOGIT && !own.is_noise() && !is_left_out {
                self.record_one(trace, running, (index, 0), from);
            }
        }
        (0..=trace.tape.sizes[0]).for_each(|t| self.remember(trace, t));
    }

    /// M_t of heads that see the rows of an encoder, or the earlier states of their controller.
    fn remember<R: Real>(&self, trace: &mut Trace<R>, t: usize) {
        let compiled = self.compiled();
        let Some(memory_rows) = compiled.row_per_step() else {
            return;
        };
        let [rows, _] = trace.memory_size();
        let visible_rows = match memory_rows.sees(0) {
            Sees::Sequence if t > 0 => rows,
            Sees::Sequence => 0,
            _ => t.min(rows),
        };
        let mut memory = std::mem::take(&mut trace.memory_columns);
        let (place, array) = memory_rows.array;
        if let Some(series) = trace.series(place, array)
            && t < memory.steps()
        {
            let row = |i: usize| series.row(i).iter().copied();
            memory::set_rows(memory.row_mut(t), rows, visible_rows, row);
        }
        trace.memory_columns = memory;
    }

    /// The rule of M_{t+1}.
    fn memory_dependency<R: Real>(&self) -> Option<Dependency<'_, R>> {
        let rows = self.compiled().row_per_step()?;
        Some(Dependency::of_memory([rows.array], |trace, t| {
            self.remember(trace, t + 1);
        }))
    }

    /// Takes an array of one of the episodes out.
    fn record_one<R: Real>(
        &self,
        trace: &mut Trace<R>,
        running: &Running<R>,
        (index, at): (usize, usize),
        from: usize,
    ) {
        let own = &self.compiled().quantities[index];
        let arena = &running.engine.memory.arena;
        let (first, _) = trace.rows_of(own, self.question);
        let width = own.width(&running.engine.bound.lengths, trace.tape.sizes);
        let steps = if own.time.is_some() {
            trace.tape.sizes[0] + usize::from(own.has_first())
        } else {
            1
        };
        let Some(series) = trace.series_of_mut(own) else {
            return;
        };
        series.reshape(steps, width);
        let values = series.as_mut_slice();
        if !own.is_shared() {
            values.fill(R::ZERO);
        }
        let to = values.get_mut(first * width..).unwrap_or_default();
        let places = running.arrays[index][at].iter();
        to.iter_mut()
            .zip(places)
            .for_each(|(to, place)| *to = value(arena, *place + from));
    }

    /// Puts recorded arrays in, but for noise; what is not recorded is not a number.
    fn put_recorded<R: Real>(&self, trace: &Trace<R>, running: &mut Running<R>) {
        let compiled = self.compiled();
        let equations = compiled.program.equations.iter();
        for series in equations.flat_map(|own| &own.makes) {
            let layout = running.engine.layout_in(*series, 0);
            let arena = &mut running.engine.memory.arena;
            layout.each_entry(|at| arena[at] = R::from_f64(f64::NAN));
        }
        let all = compiled.quantities.iter().enumerate();
        for (index, own) in all.filter(|(_, own)| !own.is_noise() && !own.is_copy()) {
            let Some(series) = trace.series_of(own) else {
                continue;
            };
            let (first, count) = trace.rows_of(own, self.question);
            let places = &running.arrays[index][0];
            let width = places.len().checked_div(count).unwrap_or(0).max(1);
            let arena = &mut running.engine.memory.arena;
            let rows = (first..series.steps()).zip(places.chunks(width));
            for (row, places) in rows {
                let pairs = places.iter().zip(series.row(row));
                for (place, value) in pairs.filter(|(place, _)| **place != NO_PLACE) {
                    arena[*place] = *value;
                }
            }
        }
    }

    /// Runs the engine of a recorded episode once more; after each statement recorded values take the place of what it made.
    fn replay<R: Real>(&self, params: &Params<R>, trace: &Trace<R>) -> Option<Running<R>> {
        let mut running = Running::of(self, self.job(trace, Purpose::Recording))?;
        running.set_weights(params);
        self.put(trace, &mut running, 0);
        self.put_recorded(trace, &mut running);
        let recorded = running.engine.memory.arena.clone();
        running.engine.forward_with(&mut |mut made: Made<'_, R>| {
            made.each(|arena, at| {
                if !recorded[at].to_f64().is_nan() {
                    arena[at] = recorded[at];
                }
            });
        });
        Some(running)
    }

    /// Sets the constants that the trainer knows after an episode has run, and runs it again if an equation reads them.
    fn set_trainer_constants<R: Real>(&self, told: &Told, running: &mut Running<R>) {
        let compiled = self.compiled();
        if *told == Told::default() || !(compiled.is_rewarded() || compiled.is_told("warm_up")) {
            return;
        }
        running.set_constants(&|name| told.value(name));
        running.engine.forward();
    }

    /// The gradients of the answer and of penalties go in.
    fn put_gradients<R: Real>(
        &self,
        trace: &Trace<R>,
        upstream: &Upstream<R>,
        running: &mut Running<R>,
        at: usize,
    ) {
        let (from, first, width) = (
            running.engine.memory.gradients,
            running.answer_start(),
            running.answer_width(),
        );
        let is_probability = self.compiled().answer.1;
        for (index, place) in running.answer[at].iter().enumerate() {
            let (t, channel) = (first + index / width, index % width);
            if t >= upstream.logit.steps() || channel >= self.outputs {
                continue;
            }
            let mut slope = upstream.logit.row(t)[channel];
            let arena = &mut running.engine.memory.arena;
            if is_probability && !trace.setting.answer.is_real() {
                let p = arena[*place].max(R::TINY);
                let rest = if trace.setting.answer == Answer::Symbols {
                    R::ONE
                } else {
                    (R::ONE - arena[*place]).max(R::TINY)
                };
                slope = slope / (p * rest);
            }
            arena[*place + from] = slope;
        }
        let heads = self.compiled().quantities.iter().enumerate();
        for (index, own) in heads.filter(|(_, own)| own.array == array::WEIGHTING && own.is_kept) {
            let Place::Head(head) = own.place else {
                continue;
            };
            let series = &upstream.weightings[head];
            let (first, _) = trace.rows_of(own, self.question);
            let slopes = (first..series.steps()).flat_map(|t| series.row(t));
            if series.width() > 0 {
                let pairs = running.arrays[index][at].iter().zip(slopes);
                let pairs = pairs.filter(|(place, _)| **place != NO_PLACE);
                pairs.for_each(|(place, slope)| {
                    running.engine.memory.arena[*place + from] += *slope;
                });
            }
        }
        for place in &running.penalties[at] {
            running.engine.memory.arena[*place + from] = upstream.terms.penalty;
        }
    }
}

/// The number at a place; 0 where there is none.
fn value<R: Real>(arena: &[R], place: usize) -> R {
    arena.get(place).copied().unwrap_or(R::ZERO)
}

/// The steps of an engine for ragged episodes: few lengths, so that few engines are at work.
fn ragged_steps(longest: usize) -> usize {
    longest.next_multiple_of((longest.next_power_of_two() / 4).max(16))
}

/// How many episodes, from the first one on, run side by side: [`TOGETHER`] of one length, or the first alone.
/// `is_ragged`: shorter ones may run beside it, and fewer than [`TOGETHER`].
fn side_by_side<R: Real>(traces: &[Trace<R>], is_ragged: bool) -> usize {
    let is_alike = |trace: &Trace<R>| {
        let of = |trace: &Trace<R>| {
            (
                trace.tape.forced.is_empty(),
                trace.setting.answer,
                trace.sampling,
            )
        };
        let is_as_long = trace.tape.sizes == traces[0].tape.sizes;
        (is_as_long || is_ragged) && of(trace) == of(&traces[0])
    };
    let alike = traces.iter().take(TOGETHER);
    match alike.take_while(|trace| is_alike(trace)).count() {
        count if count == TOGETHER || is_ragged => count,
        _ => 1,
    }
}

impl<R: Real> Machine<R> for EquationsConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        // The whole episode runs at the first call.
        if steps.start > 0 {
            return;
        }
        let mut rest = traces;
        while !rest.is_empty() {
            let is_kept = rest[0].memory_every == 1;
            let learns = !is_kept && rest[0].tape.learns;
            // Constants belong to an engine.
            let is_rewarded = self.compiled().is_rewarded();
            let count = if learns && !is_rewarded {
                side_by_side(rest, self.compiled().is_causal)
            } else {
                1
            };
            let (group, after) = rest.split_at_mut(count);
            rest = after;
            if learns && let Some(mut fused) = Fused::of(self, count) {
                fused.run(params, group);
                *group[0].tape.running() = Some(Box::new(fused));
                continue;
            }
            let purpose = match (is_kept, learns) {
                (true, _) => Purpose::Recording,
                (_, true) => Purpose::Training(count),
                _ => Purpose::Evaluation,
            };
            let Some(mut running) = Running::of(self, self.job(&group[0], purpose)) else {
                group
                    .iter_mut()
                    .for_each(|trace| trace.logit.as_mut_slice().fill(R::from_f64(f64::NAN)));
                continue;
            };
            running.set_weights(params);
            if running.is_ragged() {
                let lengths: Vec<usize> = group.iter().map(Trace::steps).collect();
                running.engine.set_lengths(&lengths);
            }
            for (at, trace) in group.iter().enumerate() {
                self.put(trace, &mut running, at);
            }
            running.engine.forward();
            for (at, trace) in group.iter_mut().enumerate() {
                self.answer(trace, &running, at);
            }
            if is_kept {
                self.record(&mut group[0], &running, 0, true);
            } else {
                let all = self.compiled().quantities.iter().enumerate();
                for (index, _) in all.filter(|(_, own)| own.is_kept) {
                    for (at, trace) in group.iter_mut().enumerate() {
                        self.record_one(trace, &running, (index, at), 0);
                    }
                }
            }
            if learns {
                *group[0].tape.running() = Some(Box::new(running));
            } else {
                running.wait();
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(())
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let traces = batch.traces;
        let (mut first, mut is_first) = (0, true);
        while first < traces.len() {
            let mut there = traces[first].tape.running().take();
            if let Some(fused) = there.take_if(|own| own.is::<Fused<R>>())
                && let Ok(mut fused) = fused.downcast::<Fused<R>>()
            {
                if is_first {
                    gradient.list.fill(R::ZERO);
                }
                let end = first + fused.episodes();
                fused.backward(&batch.workspaces[first..end], gradient);
                fused.wait(self);
                (first, is_first) = (end, false);
                continue;
            }
            let there = there.and_then(|own| own.downcast::<Running<R>>().ok());
            let there = there.map(|own| *own);
            let running = there.or_else(|| self.replay(params, &traces[first]));
            let Some(mut running) = running else {
                first += 1;
                continue;
            };
            let count = running.answer.len();
            let (upstream, (), _) = batch.workspaces[first].parts_mut();
            self.set_trainer_constants(&upstream.terms.told, &mut running);
            running.engine.clear_gradients();
            for at in 0..count {
                let (upstream, (), _) = batch.workspaces[first + at].parts_mut();
                self.put_gradients(&traces[first + at], upstream, &mut running, at);
            }
            running.engine.backward();
            running.give_gradients(gradient, is_first);
            is_first = false;
            let (_, (), recorder) = batch.workspaces[first].parts_mut();
            if let Some(to) = recorder {
                let from = running.engine.memory.gradients;
                to.tape.sizes = traces[first].tape.sizes;
                self.record(to, &running, from, true);
                let (start, width) = (running.answer_start(), running.answer_width());
                to.logit.reshape(traces[first].steps(), self.outputs);
                for (index, place) in running.answer[0].iter().enumerate() {
                    to.logit.row_mut(start + index / width)[index % width] =
                        running.engine.memory.arena[*place + from];
                }
                self.record_input(to, &running, from);
            }
            running.wait();
            first += count;
        }
        if is_first {
            gradient.list.fill(R::ZERO);
        }
    }

    fn dependencies<'a>(&'a self, _: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let compiled = self.compiled();
        let again = Rc::new(RefCell::new(None));
        let first = compiled.quantities.iter().position(|own| own.follows);
        let of = |(index, own): (usize, &'a Quantity)| {
            let again = Rc::clone(&again);
            let needs = own.needs.iter().map(|need| {
                (
                    compiled.quantities[*need].place,
                    compiled.quantities[*need].array,
                )
            });
            let compute = move |trace: &mut Trace<R>, t: usize| {
                let mut again = again.borrow_mut();
                // One run for all arrays of an episode.
                if t == 0 && Some(index) == first || again.is_none() {
                    *again = self.made(trace);
                }
                if let Some((running, made)) = &*again {
                    // Arrays that need unrecorded rounds are not recomputed.
                    let is_there = |need: &usize| {
                        !running.has_more_rounds || !compiled.quantities[*need].is_of_answer()
                    };
                    if !own.needs.iter().all(is_there) {
                        return;
                    }
                    let places = &running.arrays[index][0];
                    self.copy_row(trace, own, t, (places, made));
                }
            };
            Dependency::new(
                own.place,
                own.array,
                needs.collect::<Vec<_>>(),
                Size::One,
                compute,
            )
            .at_once()
        };
        let all = compiled.quantities.iter().enumerate();
        let all = all.filter(|(_, own)| own.follows).map(of);
        all.chain(self.memory_dependency()).collect()
    }

    fn step<'a>(&'a self, _: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        Vec::new()
    }

    fn computed(&self, _: &Params<R>) -> Vec<(Place, Array)> {
        let all = self.compiled().quantities.iter();
        let all = all.filter(|own| {
            let is_value = matches!(own.held, Held::Values(_)) && !own.is_noise();
            is_value && !own.is_copy() && !own.shows_twice()
        });
        all.map(|own| (own.place, own.array)).collect()
    }

    fn run_again(
        &self,
        params: &Params<R>,
        trace: &mut Trace<R>,
        steps: Range<usize>,
        change: Change<'_, R>,
    ) -> bool {
        let Some(mut running) = Running::of(self, self.job(trace, Purpose::Recording)) else {
            return true;
        };
        running.set_weights(params);
        self.put(trace, &mut running, 0);
        self.put_recorded(trace, &mut running);
        let recorded = (steps.start > 0).then(|| running.engine.memory.arena.clone());
        let compiled = self.compiled();
        // Copies first: they show what was made, not what is set.
        let mut quantities: Vec<_> = compiled.quantities.iter().enumerate().collect();
        quantities.sort_by_key(|(_, own)| !own.is_copy());
        let Running { engine, arrays, .. } = &mut running;
        let program = &compiled.program;
        let mut entries: Vec<usize> = Vec::new();
        engine.forward_with(&mut |mut made: Made<'_, R>| {
            let Some(equation) = program.equations.get(made.equation) else {
                return;
            };
            entries.clear();
            made.each(|_, at| entries.push(at));
            entries.sort_unstable();
            for (index, own) in &quantities {
                if !own.series().any(|series| equation.makes.contains(&series)) {
                    continue;
                }
                let (first, count) = trace.rows_of(own, self.question);
                let all = &arrays[*index][0];
                let width = all.len().checked_div(count).unwrap_or(0);
                for row in 0..count {
                    let places = &all[row * width..(row + 1) * width];
                    let is_made = |place: &usize| entries.binary_search(place).is_ok();
                    if !places.iter().any(is_made) {
                        continue;
                    }
                    // The row before the first step is made by none.
                    let Some(t) = (first + row).checked_sub(usize::from(own.has_first())) else {
                        continue;
                    };
                    if t < steps.start
                        && let Some(recorded) = &recorded
                    {
                        let places = places.iter().filter(|place| is_made(place));
                        places.for_each(|place| made.arena[*place] = recorded[*place]);
                        continue;
                    }
                    self.copy_row(trace, own, t, (all, made.arena));
                    if own.is_copy() {
                        continue;
                    }
                    change(trace, own.place, own.array, t);
                    let Some(series) = trace.series_of(own) else {
                        continue;
                    };
                    let values = series.row(own.array.row(t));
                    for (place, value) in places
                        .iter()
                        .zip(values)
                        .filter(|(place, _)| is_made(place))
                    {
                        made.arena[*place] = *value;
                    }
                }
            }
        });
        self.answer(trace, &running, 0);
        self.record(trace, &running, 0, false);
        running.wait();
        true
    }
}

/// A recorded episode whose statements ran once more, and what they made.
type Again<R> = (Running<R>, Vec<R>);

impl EquationsConfig {
    /// Runs the statements of a recorded episode once more, each on recorded values.
    fn made<R: Real>(&self, trace: &Trace<R>) -> Option<Again<R>> {
        let mut running = Running::of(self, self.job(trace, Purpose::Recording))?;
        self.put(trace, &mut running, 0);
        self.put_recorded(trace, &mut running);
        let recorded = running.engine.memory.arena.clone();
        let mut all = vec![R::ZERO; recorded.len()];
        running
            .engine
            .statements_with(&mut |mut made: Made<'_, R>| {
                made.each(|arena, at| {
                    all[at] = arena[at];
                    if !recorded[at].to_f64().is_nan() {
                        arena[at] = recorded[at];
                    }
                });
            });
        Some((running, all))
    }

    /// Sets a row of an array from these places of it: 0 outside of its part of the episode.
    fn copy_row<R: Real>(
        &self,
        trace: &mut Trace<R>,
        own: &Quantity,
        t: usize,
        (places, arena): (&[usize], &[R]),
    ) {
        let (first, count) = trace.rows_of(own, self.question);
        let width = places.len().checked_div(count).unwrap_or(0);
        let row = own.array.row(t);
        let Some(series) = trace.series_of_mut(own) else {
            return;
        };
        if row >= series.steps() {
            return;
        }
        let of_row = row.checked_sub(first).filter(|row| *row < count);
        if of_row.is_none() && own.is_shared() {
            return;
        }
        let places = of_row.map_or(&[][..], |row| &places[row * width..(row + 1) * width]);
        let mut to = series.row_mut(row).iter_mut();
        to.by_ref()
            .zip(places)
            .for_each(|(to, place)| *to = value(arena, *place));
        if places.is_empty() {
            to.for_each(|to| *to = R::ZERO);
        }
    }

    /// The gradients of the input.
    fn record_input<R: Real>(&self, to: &mut Trace<R>, running: &Running<R>, from: usize) {
        let arena = &running.engine.memory.arena;
        let compiled = self.compiled();
        to.input.reshape(running.job.sizes[0], self.inputs);
        let inputs = &compiled.data[..compiled.data.len() - 1];
        for (data, places) in inputs.iter().zip(&running.data) {
            let (first, _) = data.part.steps(running.job.sizes, self.question);
            let width = running.engine.bound.lengths[data.width].max(1);
            for (index, place) in places[0].iter().enumerate() {
                let row = to.input.row_mut(first + index / width);
                row[index % width] = arena[*place + from];
            }
        }
    }
}
