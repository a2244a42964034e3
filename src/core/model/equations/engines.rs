//! The engines that run the episodes of a machine file. An engine belongs to episodes of certain lengths: those that have run
//! wait in a pool for the next episodes of these lengths.

use std::sync::Arc;

use super::compiled::Compiled;
use super::config::EquationsConfig;
use super::pool::{Job, Purpose};
use super::quantities::Quantity;
use crate::equations::bind::{Bound, GATES, IN, Layout};
use crate::equations::page::Word;
use crate::equations::program::Axis;
use crate::equations::run::Engine;
use crate::math::Real;
use crate::model::params::Params;

/// An engine with the places of what goes in and comes out.
pub(super) struct Running<R> {
    pub compiled: Arc<Compiled>,
    pub job: Job,
    pub engine: Engine<R>,
    /// Of each row of each tensor, as the weights have it: its first number, and the distance of the next one.
    pub tensors: Vec<Vec<[usize; 2]>>,
    /// Of each input and the target, of each episode.
    pub data: Vec<Vec<Vec<usize>>>,
    /// Of the answer, of each episode.
    pub answer: Vec<Vec<usize>>,
    /// Of penalties, of each episode.
    pub penalties: Vec<Vec<usize>>,
    /// Of all arrays of one episode that is recorded; of others of the noise of each episode.
    pub arrays: Vec<Vec<Vec<usize>>>,
}

impl<R: Real> Running<R> {
    /// An engine for these episodes; none where its arrays are too large for any memory.
    pub(super) fn of(config: &EquationsConfig, job: Job) -> Option<Self> {
        let compiled = config.compiled();
        compiled.pool.take(job).or_else(|| Self::new(config, job))
    }

    fn new(config: &EquationsConfig, job: Job) -> Option<Self> {
        let compiled = Arc::clone(config.compiled());
        let variant = compiled.variant(job.own);
        let (page, program, flat) = (&compiled.page, &variant.program, &variant.flat);
        let given = compiled.given(job.sizes, config.offer(), job.question);
        let mut wanted = vec![compiled.answer.0];
        let kept = || compiled.quantities.iter().filter(|own| own.is_kept);
        wanted.extend(kept().flat_map(Quantity::series));
        let penalties = kept().filter(|own| own.array.is_penalty());
        let mut penalties: Vec<usize> = penalties.filter_map(|own| own.held.series()).collect();
        penalties.dedup();
        let (learns, episodes) = match job.purpose {
            Purpose::Training(episodes) => (true, episodes),
            Purpose::Recording => (true, 1),
            Purpose::Evaluation => (false, 1),
        };
        let bound = match job.purpose {
            Purpose::Recording => Bound::new(page, program, flat, &given),
            Purpose::Training(_) => {
                Bound::for_training(page, program, flat, &given, episodes, &wanted)
            }
            Purpose::Evaluation => Bound::for_evaluation(page, program, flat, &given, &wanted),
        };
        let mut bound = bound.ok()?;
        if job.purpose != Purpose::Recording {
            bound.ignore_inputs(flat);
        }
        let engine = Engine::<R>::new(bound, flat, learns);
        let shape = compiled.shape(&engine.bound.lengths);
        let tensors = program.tensors.iter().zip(&engine.bound.tensors);
        let tensors = tensors.zip(&shape.tensors);
        let tensors = tensors.map(|((tensor, layout), spec)| {
            let mut axes: Vec<Axis> = tensor.axes.clone();
            if tensor.gates > 0 {
                axes.insert(tensor.before_gates, GATES);
            }
            if !tensor.inputs.is_empty() {
                axes.push(IN);
            }
            let places = layout.places(&axes);
            let rows = places.chunks(spec.columns.max(1));
            let row = |row: &[usize]| [row[0], row.get(1).map_or(1, |next| next - row[0])];
            rows.map(row).collect()
        });
        let tensors = tensors.collect();
        let each = |of: &dyn Fn(usize) -> Vec<usize>| (0..episodes).map(of).collect::<Vec<_>>();
        let data = compiled.data.iter().map(|data| {
            let axes: Vec<Axis> = data.steps.into_iter().chain([data.width]).collect();
            each(&|at| {
                let layout = data.series.map(|series| engine.layout_in(series, at));
                layout.map_or(Vec::new(), |layout| layout.places(&axes))
            })
        });
        let data = data.collect();
        let target = compiled.target();
        let mut axes = compiled.further_axes();
        axes.extend(target.steps.into_iter().chain([target.width]));
        let (_, rows) = target.part.steps(job.sizes, job.question);
        let answer = each(&|at| {
            let places = engine.layout_in(compiled.answer.0, at).places(&axes);
            // Of more rounds than are asked for, the last ones.
            let width = engine.bound.lengths[target.width].max(1);
            let left_out = (places.len() / width).saturating_sub(rows) * width;
            places[left_out..].to_vec()
        });
        let whole = |layout: &Layout| {
            layout.places(&layout.dims.iter().map(|dim| dim.0).collect::<Vec<_>>())
        };
        let penalties = each(&|at| {
            let layouts = penalties.iter().map(|series| engine.layout_in(*series, at));
            layouts.flat_map(|layout| whole(&layout)).collect()
        });
        let arrays = compiled.quantities.iter().map(|own| {
            let is_kept = job.purpose == Purpose::Recording || own.is_noise() || own.is_kept;
            let count = if is_kept { episodes } else { 0 };
            (0..count)
                .map(|at| compiled.places_of(own, &engine, job, at))
                .collect()
        });
        Some(Self {
            arrays: arrays.collect(),
            job,
            tensors,
            data,
            answer,
            penalties,
            engine,
            compiled: Arc::clone(&compiled),
        })
    }

    /// Lets it wait for the next episodes.
    pub(super) fn wait(self) {
        let (compiled, job, size) = (
            Arc::clone(&self.compiled),
            self.job,
            self.engine.memory.arena.len(),
        );
        compiled.pool.put(job, size, Box::new(self));
    }

    /// Copies the weights into the engine.
    pub(super) fn set_tensors(&mut self, params: &Params<R>) {
        let arena = &mut self.engine.memory.arena;
        for (tensor, rows) in params.tensors.iter().zip(&self.tensors) {
            let at = |row: usize| tensor.row(row);
            each_place(rows, tensor.columns(), |row, column, place| {
                arena[place] = at(row)[column];
            });
        }
    }

    /// Adds the gradients of the weights.
    pub(super) fn add_gradients(&self, to: &mut Params<R>) {
        let (arena, from) = (&self.engine.memory.arena, self.engine.memory.gradients);
        for (tensor, rows) in to.tensors.iter_mut().zip(&self.tensors) {
            let mut view = tensor.view_mut();
            each_place(rows, view.ncols(), |row, column, place| {
                view[[row, column]] += arena[place + from];
            });
        }
    }

    /// Sets the constants that belong to an episode.
    pub(super) fn set_constants(&mut self, of: &dyn Fn(&str) -> Option<f64>) {
        if self.compiled.told.is_empty() {
            return;
        }
        let keys = self.compiled.page.keys.iter().enumerate();
        for (index, key) in keys.filter(|(_, key)| key.word == Word::Constant) {
            if let Some(value) = key.trainer_name().and_then(of) {
                self.engine.memory.constants[index] = R::from_f64(value);
            }
        }
    }

    /// The channels of the answer: of a pointer the steps of the document.
    pub(super) fn answer_width(&self) -> usize {
        self.engine.bound.lengths[self.compiled.target().width].max(1)
    }

    /// The first step of the answer in an episode.
    pub(super) fn answer_start(&self) -> usize {
        self.compiled
            .target()
            .part
            .steps(self.job.sizes, self.job.question)
            .0
    }
}

/// Calls `see` with row and column of every number of a tensor and its place in the arena, along the memory of the arena.
#[inline(always)]
fn each_place(rows: &[[usize; 2]], columns: usize, mut see: impl FnMut(usize, usize, usize)) {
    /// Rows whose numbers stand side by side in the arena where those of a row do not.
    const BLOCK: usize = 16;
    for (block, rows) in rows.chunks(BLOCK).enumerate() {
        let first = block * BLOCK;
        if rows[0][1] == 1 {
            for (row, [start, _]) in rows.iter().enumerate() {
                (0..columns).for_each(|column| see(first + row, column, start + column));
            }
            continue;
        }
        for column in 0..columns {
            for (row, [start, stride]) in rows.iter().enumerate() {
                see(first + row, column, start + column * stride);
            }
        }
    }
}
