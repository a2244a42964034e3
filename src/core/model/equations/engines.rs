//! The engines that run the episodes of a machine file. An engine belongs to episodes of certain lengths: those that have run
//! wait in a pool for the next episodes of these lengths.

use std::sync::Arc;

use super::compiled::{Compiled, places};
use super::config::EquationsConfig;
use super::pool::{Job, Purpose};
use super::quantities::Quantity;
use crate::equations::bind::{Bound, Layout};
use crate::equations::page::Word;
use crate::equations::program::Axis;
use crate::equations::run::Engine;
use crate::math::Real;
use crate::model::params::Params;
use crate::model::shape::TensorPlace;

/// An engine with the places of what goes in and comes out.
pub(super) struct Running<R> {
    pub compiled: Arc<Compiled>,
    pub job: Job,
    pub engine: Engine<R>,
    /// Where the tensors stand.
    places: Vec<TensorPlace>,
    /// Of each input and the target, of each episode.
    pub data: Vec<Vec<Vec<usize>>>,
    /// Of the answer, of each episode.
    pub answer: Vec<Vec<usize>>,
    /// Whether it has more rounds of the answer than the episode, which has the last ones.
    pub has_more_rounds: bool,
    /// Of penalties, of each episode.
    pub penalties: Vec<Vec<usize>>,
    /// Of all arrays of one episode that is recorded; of others of the noise of each episode.
    pub arrays: Vec<Vec<Vec<usize>>>,
}

impl<R: Real> Running<R> {
    /// An engine for these episodes; none where its arrays are too large for any memory.
    pub(super) fn of(config: &EquationsConfig, job: Job) -> Option<Self> {
        let compiled = config.compiled();
        let waiting = compiled.pool.take(job);
        let mut running: Self = waiting.or_else(|| Self::new(config, job))?;
        running.engine.set_arena(compiled.pool.take_arena());
        Some(running)
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
                let episodes = (episodes, compiled.is_ragged(job.purpose));
                Bound::for_training(page, program, flat, &given, episodes, &wanted)
            }
            Purpose::Evaluation => Bound::for_evaluation(page, program, flat, &given, &wanted),
        };
        let mut bound = bound.ok()?;
        if job.purpose != Purpose::Recording {
            bound.ignore_inputs(flat);
        }
        let engine = Engine::<R>::without_arena(bound, flat, learns);
        let places = places(&engine.bound, program);
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
        let answer = |at: usize| engine.layout_in(compiled.answer.0, at).places(&axes);
        let width = engine.bound.lengths[target.width].max(1);
        let left_out = (answer(0).len() / width).saturating_sub(rows) * width;
        let answer = each(&|at| answer(at)[left_out..].to_vec());
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
            places,
            data,
            answer,
            has_more_rounds: left_out > 0,
            penalties,
            engine,
            compiled: Arc::clone(&compiled),
        })
    }

    /// Whether its episodes have different lengths.
    pub(super) fn is_ragged(&self) -> bool {
        self.compiled.is_ragged(self.job.purpose)
    }

    /// Lets it wait for the next episodes.
    pub(super) fn wait(mut self) {
        let compiled = Arc::clone(&self.compiled);
        let (job, demand) = (self.job, self.engine.memory.arena.len());
        compiled.pool.put_arena(self.engine.take_arena());
        compiled.pool.put(job, demand, Box::new(self));
    }

    /// Copies the weights into the engine.
    pub(super) fn set_weights(&mut self, params: &Params<R>) {
        params.copy_list(&self.places, &mut self.engine.memory.arena);
    }

    /// Sets the gradients of the weights, or adds to them.
    pub(super) fn give_gradients(&self, to: &mut Params<R>, sets: bool) {
        let memory = &self.engine.memory;
        to.add_list(&self.places, &memory.arena[memory.gradients..], sets);
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
