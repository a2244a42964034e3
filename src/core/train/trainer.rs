//! The training loop: episodes in, better weights out, one update at a time.

use std::cmp::Reverse;
use std::iter::zip;
use std::sync::{Mutex, PoisonError};

use web_time::Instant;

use super::agreement::agree;
use super::aux_losses::AuxLosses;
use super::config::{Redundancy, TrainingConfig};
use super::diagnostics::{Diagnostics, HeadDiagnostics};
use super::episode_input::forced;
use super::evaluate::{Evaluation, Evaluator};
use super::loss::{Score, logit_gradient, score};
use super::optimizer::{all_finite, clip};
use super::state::{HistoryPoint, State};
use crate::math::Answer;
use crate::model::weighting::hard;
use crate::model::{
    Draw, Model, ModelConfig, Params, TAPE_LIMIT, TOGETHER, Trace, Upstream, Workspace,
};
use crate::pool::Pool;
use crate::task::{Episode, Task};

/// Validation episodes come from this seed plus the run's: never the episodes trained on.
const VALIDATION_SEED: u64 = 0x7A11_DA7E_0000_0000;

/// Gradients grow from step to step and now and then exceed f32 although the loss is finite: such an
/// update is left out. The last of this many without a good one between them ends the run.
const OVERFLOWS_IN_A_ROW: u32 = 20;

/// A training run in progress. Create it, call [`Trainer::update`] until [`Trainer::finished`]; a run resumed
/// from its [`State`] between two updates ends with the same bits.
#[derive(Debug)]
pub struct Trainer {
    /// The task.
    pub task: Task,
    /// The training configuration.
    pub config: TrainingConfig,
    /// The state so far.
    pub state: State,
    buffers: BatchBuffers,
    /// The requested number of threads: a small batch has no work for all of them.
    most_threads: usize,
    /// Groups of the last batch.
    learned: usize,
}

/// The result of one update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Mean loss of the batch before the update, bits per sequence.
    pub bits: f64,
    /// Mean wrong bits of the batch before the update, per sequence.
    pub wrong: f64,
    /// Means of the auxiliary losses of the batch before the update.
    pub aux: AuxLosses,
    /// Euclidean norm of the gradient over all tensors, before clipping; not finite where the update was left out.
    pub norm: f64,
    /// Set when this update ended with a validation.
    pub validated: Option<HistoryPoint>,
}

/// A value that is not a number, or infinite, turned up: in an episode, in its gradient, or in the weights
/// after the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// The tensor, by its name in weight files or traces.
    pub tensor: String,
    /// The step of the episode, where the tensor belongs to one.
    pub step: Option<usize>,
    /// Sequences trained on before.
    pub sequences: u64,
    /// True when the weights of the trainer are no longer finite themselves.
    pub weights: bool,
}

impl Diverged {
    /// True if it turned up in an episode before the first update: training is not the cause.
    pub fn is_before_training(&self) -> bool {
        self.step.is_some() && self.sequences == 0
    }
}

impl std::fmt::Display for Diverged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let (Some(step), true) = (self.step, self.is_before_training()) {
            let tensor = &self.tensor;
            return write!(
                f,
                "`{tensor}` is not finite at step {step} of an episode, before the first update"
            );
        }
        write!(f, "`{}` is no longer finite", self.tensor)?;
        if let Some(step) = self.step {
            write!(f, " at step {step} of an episode")?;
        }
        write!(f, ", after {} sequences", self.sequences)
    }
}

impl std::error::Error for Diverged {}

/// The scratch space of a thread and a machine for one group after the other, allocated once.
#[derive(Debug)]
struct Tape {
    traces: Vec<Trace<f32>>,
    workspaces: Vec<Workspace<f32>>,
    loss: Vec<f32>,
}

#[derive(Clone, Copy)]
/// The context of a batch.
struct BatchContext<'a> {
    config: &'a TrainingConfig,
    /// The machines that learn, on the memory rows of this batch.
    machines: &'a [&'a Model<f32>],
    /// One over the size of the batch.
    scale: f64,
    /// Learned from before.
    sequences: u64,
    /// The mean of ln p(y|s) before this batch.
    baseline: f64,
    /// The form of the answers.
    answer: Answer,
    /// True if any head samples.
    is_random: bool,
    /// True if a head samples its row.
    is_hard: bool,
}

impl BatchContext<'_> {
    /// ln p(y|s), and what it is measured against: the mean of the other samples of its input, or else the moving baseline;
    /// `None` if no head samples a row.
    fn reward(&self, at: usize, answered: &[(u64, usize, Score)]) -> Option<[f64; 2]> {
        let input = |index: u64| index / self.config.hard.samples;
        let (own, _, score) = &answered[at];
        let others = answered.iter().filter(|(index, ..)| index != own);
        let others = others.filter(|(index, ..)| input(*index) == input(*own));
        let others = others.map(|(.., score)| score.log_probability(self.answer));
        let log_p = score.log_probability(self.answer);
        self.is_hard
            .then(|| [log_p, hard::baseline_of(others, self.baseline)])
    }
}

/// The scratch space for batches of a fixed number of episodes, without state between batches.
#[derive(Debug)]
struct BatchBuffers {
    /// After a batch the first group has the gradients of all.
    groups: Vec<Group>,
    /// Of every thread: a tape for each machine.
    tapes: Vec<Vec<Tape>>,
    threads: Pool,
    /// Memory rows of the tapes, if there are any yet.
    rows: Option<usize>,
}

impl BatchBuffers {
    fn new(machines: &[Model<f32>], config: &TrainingConfig, threads: usize) -> Self {
        let threads = threads.min(config.batch);
        let zeros = |machine: &Model<f32>| Params::zeros(&machine.config);
        let group = |_| Group {
            gradients: machines.iter().map(zeros).collect(),
            ..Group::default()
        };
        let groups = (0..config.batch).step_by(config.group_size());
        Self {
            groups: groups.map(group).collect(),
            tapes: (0..threads).map(|_| Vec::new()).collect(),
            threads: Pool::new(threads),
            rows: None,
        }
    }

    /// Makes the tapes anew if the number of memory rows is another one.
    fn fit_rows(&mut self, machines: &[&Model<f32>], config: &TrainingConfig) {
        let rows = Some(machines[0].config.rows());
        if self.rows != rows {
            let tape = |machine: &&Model<f32>| Tape::new(&machine.config, config.group_size());
            let tapes = || machines.iter().map(tape).collect();
            self.tapes.fill_with(tapes);
            self.rows = rows;
        }
    }
}

/// Episodes of a batch that are processed side by side, with their results.
#[derive(Debug, Default)]
struct Group {
    /// A gradient for each machine.
    gradients: Vec<Params<f32>>,
    /// The index and the size of every episode, and how well the first machine answered it.
    answered: Vec<(u64, usize, Score)>,
    /// The diagnostics of the heads in the longest episode, if they are wanted.
    heads: Option<Vec<HeadDiagnostics>>,
    /// The first tensor, with its step, that was not finite.
    not_finite: Option<(String, usize)>,
}

impl Group {
    /// Forward, loss and backward of at most as many episodes as there are traces; with a second machine, which learns the
    /// opposite direction, of both, and their agreement.
    fn learn(
        &mut self,
        tapes: &mut [Tape],
        mut episodes: Vec<(Episode, Draw)>,
        context: &BatchContext<'_>,
    ) {
        episodes.sort_by_key(|(episode, _)| Reverse(episode.steps()));
        self.answered = tapes[0].answer(context.machines[0], &episodes, context);
        let traces = &tapes[0].traces[..episodes.len()];
        if let Some(heads) = &mut self.heads {
            *heads = HeadDiagnostics::of(&traces[0], &episodes[0].0);
        }
        let mut scores = self.answered.iter().map(|(.., score)| score);
        self.not_finite = if scores.all(|score| score.bits.is_finite()) {
            None
        } else {
            traces.iter().find_map(Trace::first_not_finite)
        };
        if let [first, second] = tapes {
            for (episode, _) in &mut episodes {
                *episode = episode.reversed();
            }
            second.answer(context.machines[1], &episodes, context);
            let scale = (context.scale * context.config.agreement) as f32;
            let both = zip(first.episodes(), second.episodes());
            for ((.., score), (first, second)) in zip(&mut self.answered, both) {
                score.aux.agreement = Some(agree([first, second], scale));
            }
        }
        let machines = zip(context.machines, &mut self.gradients);
        for (tape, (machine, gradient)) in zip(tapes, machines) {
            let workspaces = &mut tape.workspaces[..episodes.len()];
            machine.backward(&tape.traces[..episodes.len()], workspaces, gradient);
        }
    }
}

impl Tape {
    fn new(model: &ModelConfig, group_size: usize) -> Self {
        Self {
            traces: (0..group_size).map(|_| Trace::new(model)).collect(),
            workspaces: (0..group_size).map(|_| Workspace::new(model)).collect(),
            loss: Vec::new(),
        }
    }

    /// The episodes, each with the gradient of its loss.
    fn episodes(&mut self) -> impl Iterator<Item = (&Trace<f32>, &mut Upstream<f32>)> {
        let upstream = self.workspaces.iter_mut().map(|of| &mut of.upstream);
        zip(&self.traces, upstream)
    }

    /// Runs episodes, longest first, and computes their losses; returns the index, the size and the score of each.
    fn answer(
        &mut self,
        machine: &Model<f32>,
        episodes: &[(Episode, Draw)],
        context: &BatchContext<'_>,
    ) -> Vec<(u64, usize, Score)> {
        let traces = &mut self.traces[..episodes.len()];
        let workspaces = &mut self.workspaces[..episodes.len()];
        let inputs = episodes
            .iter()
            .map(|(episode, draw)| (forced(episode), *draw));
        machine.run_together(inputs, TAPE_LIMIT, traces);
        let recorded = traces.iter().zip(&mut *workspaces);
        let mut answered = Vec::with_capacity(episodes.len());
        for ((episode, draw), (trace, workspace)) in episodes.iter().zip(recorded) {
            self.loss.resize(episode.steps(), 0.0);
            let mut result = score(episode, trace, &mut self.loss);
            let (scale, upstream) = (context.scale, &mut workspace.upstream);
            logit_gradient(episode, trace, scale as f32, &mut upstream.logit);
            let (redundancy, apart) = (context.config.redundancy, context.config.head_divergence);
            redundancy.clear(trace, upstream);
            apart.clear(trace, upstream);
            if context.config.agreement > 0.0 {
                Redundancy::Both(0.0).clear(trace, upstream);
            }
            result.aux.redundancy = redundancy.gradient(trace, scale, upstream);
            result.aux.head_divergence = apart.divergence_gradient(trace, scale, upstream);
            answered.push((draw.episode, episode.size, result));
        }
        for (at, (trace, workspace)) in traces.iter().zip(&mut *workspaces).enumerate() {
            let reward = context.reward(at, &answered);
            let (config, sequences) = (context.config, context.sequences);
            workspace.upstream.terms =
                config.terms(trace.sampling, reward, context.scale, sequences);
            answered[at].2.aux.reward = reward.map(|[log_p, baseline]| log_p - baseline);
        }
        answered
    }
}

/// Returns the number of episodes in a group. The result of an update depends on it, so it depends on the batch alone:
/// large enough for vectors side by side, with four groups left for four threads. All `samples` of an input are in one.
pub(super) fn group_size(batch: usize, samples: usize) -> usize {
    let size = (batch / 4).clamp(1, TOGETHER);
    (size - size % samples).max(samples)
}

impl TrainingConfig {
    /// [`group_size`]
    fn group_size(&self) -> usize {
        group_size(self.batch, self.hard.samples as usize)
    }
}

impl Trainer {
    /// A fresh run: weights from the seed of `config`, nothing learned.
    pub fn new(
        task: Task,
        model: impl Into<ModelConfig>,
        config: TrainingConfig,
        threads: usize,
    ) -> Self {
        let state = State::new(model.into(), &config);
        Self::resume(task, config, state, threads)
    }

    /// Goes on from a state of a run of this task and configuration, to the same end in the same bits.
    pub fn resume(task: Task, config: TrainingConfig, mut state: State, threads: usize) -> Self {
        state.fit(&config);
        Self {
            most_threads: threads,
            learned: 0,
            buffers: BatchBuffers::new(&state.machines, &config, threads),
            state,
            task,
            config,
        }
    }

    /// Another task, whose channels are the same, or configuration, from the next update on.
    pub fn change(&mut self, task: Task, config: TrainingConfig) {
        self.state.fit(&config);
        let sizes = |of: &TrainingConfig| (of.batch, of.group_size(), of.machines());
        if sizes(&config) != sizes(&self.config) {
            self.buffers = BatchBuffers::new(&self.state.machines, &config, self.most_threads);
        }
        (self.task, self.config, self.learned) = (task, config, 0);
    }

    /// The size of every episode of the last batch, and how well it was answered.
    pub fn answered(&self) -> impl Iterator<Item = (usize, &Score)> {
        let groups = self.buffers.groups[..self.learned].iter();
        let answered = groups.flat_map(|group| &group.answered);
        answered.map(|(_, size, score)| (*size, score))
    }

    /// True when the run has seen all its sequences, or its patience has run out.
    pub fn finished(&self) -> bool {
        self.config
            .is_over(self.state.sequences, &self.state.history)
    }

    /// Seconds spent in updates so far, without validations.
    pub fn seconds(&self) -> f64 {
        self.state.time.as_secs_f64()
    }

    /// Trains on the next batch, and validates when it is time.
    ///
    /// The gradient is the mean over the batch of that of the summed cross-entropy in nats, or of the mean squared error, and of all that joins it:
    /// penalty, divergence, reward and entropy. It is summed in the order of the episodes: the result does not depend on
    /// the number of threads.
    ///
    /// # Errors
    /// [`Diverged`] names the tensor and the step. The weights stay as they were before this update, unless
    /// it was its step that broke them: then [`Diverged::weights`] is true.
    pub fn update(&mut self) -> Result<Update, Diverged> {
        self.update_watched(None)
    }

    /// [`Trainer::update`], with a report on one episode of the batch and on the gradient. The weights have the same
    /// bits, watched or not.
    ///
    /// # Errors
    /// As for [`Trainer::update`]; then the report, too, is of the batch that broke.
    pub fn update_watched(
        &mut self,
        diagnostics: Option<&mut Diagnostics>,
    ) -> Result<Update, Diverged> {
        let start = Instant::now();
        // The last batch is as large as what is left.
        let batch =
            (self.config.sequences - self.state.sequences).clamp(1, self.config.batch as u64);
        self.learned = self.learn_batch(batch as usize, diagnostics.is_some());
        let scores = || self.answered().map(|(_, score)| score);
        let bits: f64 = scores().map(|score| score.bits).sum();
        let wrong: usize = scores().map(|score| score.wrong).sum();
        let aux = AuxLosses::sum(scores().map(|score| score.aux));
        if let Some(diagnostics) = diagnostics {
            let Group {
                heads, gradients, ..
            } = &self.buffers.groups[0];
            *diagnostics = Diagnostics::of(heads.as_deref().unwrap_or_default(), &gradients[0]);
        }
        let norm = self.clip();
        if !bits.is_finite() || self.state.overflows >= OVERFLOWS_IN_A_ROW {
            return Err(self.divergence());
        }
        if self.state.overflows == 0 {
            let rate_factor = self.rate_factor();
            let gradients = &self.buffers.groups[0].gradients;
            let optimizers = zip(&mut self.state.optimizers, gradients);
            for (machine, (optimizer, gradient)) in zip(&mut self.state.machines, optimizers) {
                optimizer.update(&mut machine.params, gradient, rate_factor);
            }
            if !self.has_finite_weights() {
                return Err(self.divergence());
            }
        }
        self.state.time += start.elapsed();

        let before = self.state.sequences / self.config.validation_every;
        self.state.sequences += batch;
        let since = &mut self.state.since_validation;
        since.sequences += batch;
        since.bits += bits;
        since.aux = if since.sequences == batch {
            aux
        } else {
            AuxLosses::sum([since.aux, aux].into_iter())
        };
        let due = self.state.sequences / self.config.validation_every > before || self.finished();
        let validated = due.then(|| self.validate());
        Ok(Update {
            bits: bits / batch as f64,
            wrong: wrong as f64 / batch as f64,
            aux: aux.over(batch as f64),
            norm,
            validated,
        })
    }

    /// Clips the gradients and counts overflows in a row; returns the norm, which is not finite if one of them overflowed.
    fn clip(&mut self) -> f64 {
        let gradients = self.buffers.groups[0].gradients.iter_mut();
        let norms = gradients.map(|gradient| clip(gradient, self.config.clip));
        let wanted = |norm, other: f64| if other.is_finite() { norm } else { other };
        let norm = norms.reduce(wanted).unwrap_or_default();
        self.state.overflows += 1;
        if norm.is_finite() {
            self.state.overflows = 0;
        }
        norm
    }

    /// Fills the gradients of the first group from the next episodes, `count` of them; returns how many groups took part.
    /// What its first episodes do is looked at closely if `is_watched`.
    fn learn_batch(&mut self, count: usize, is_watched: bool) -> usize {
        let (task, config) = (&self.task, &self.config);
        let mut machines: Vec<_> = self.state.machines.iter().collect();
        let rows = config.rows(self.state.sequences, machines[0].config.rows());
        let resized = rows.and_then(|rows| machines[0].with_rows(rows).ok());
        machines[0] = resized.as_ref().unwrap_or(machines[0]);
        let buffers = &mut self.buffers;
        buffers.fit_rows(&machines, config);
        let context = BatchContext {
            config,
            machines: &machines,
            scale: f64::from(1.0 / count as f32),
            sequences: self.state.sequences,
            baseline: self.state.baseline,
            answer: self.task.answer(),
            is_random: machines[0].config.is_random(),
            is_hard: machines[0].config.is_hard(),
        };
        let size = config.group_size();
        let groups = &mut buffers.groups[..count.div_ceil(size)];
        groups[0].heads = is_watched.then(Vec::new);
        let queue = Mutex::new(groups.iter_mut().enumerate());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |tapes: &mut Vec<Tape>| {
            while let Some((index, group)) = next() {
                let episodes = index * size..((index + 1) * size).min(count);
                let episode = |index| {
                    let index = context.sequences + index as u64;
                    let draw = config.draw(context.is_random, context.is_hard, index);
                    let input = index - index % config.hard.samples;
                    (task.training_episode(config.seed, input), draw)
                };
                let episodes = episodes.map(episode).collect();
                group.learn(tapes, episodes, &context);
            }
        };
        buffers.threads.share(&mut buffers.tapes, work);
        if context.is_hard {
            let mut drawn: Vec<_> = groups.iter().flat_map(|group| &group.answered).collect();
            drawn.sort_by_key(|(index, ..)| index);
            for (.., score) in drawn {
                let baseline = &mut self.state.baseline;
                *baseline = hard::baseline(*baseline, score.log_probability(context.answer));
            }
        }
        if let Some((first, rest)) = groups.split_first_mut() {
            for group in rest {
                let pairs = zip(&mut first.gradients, &group.gradients);
                pairs.for_each(|(sum, gradient)| sum.add(gradient));
            }
        }
        groups.len()
    }

    /// Half a cosine from 1 to `final_lr_factor` over the run, and less once a validation was good enough.
    fn rate_factor(&self) -> f64 {
        let progress = (self.state.sequences as f64 / self.config.sequences as f64).min(1.0);
        let last = self.config.final_lr_factor;
        let factor = last + (1.0 - last) * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos());
        let below = self.config.lr_drop_below;
        let settled = |(_, best): &(_, Evaluation)| best.bits_per_sequence < below;
        if self.state.best.as_ref().is_some_and(settled) {
            factor * self.config.lr_drop_factor
        } else {
            factor
        }
    }

    fn validate(&mut self) -> HistoryPoint {
        let seed = self.config.seed.wrapping_add(VALIDATION_SEED);
        let evaluator = Evaluator {
            machine: &self.state.machines[0],
            task: &self.task,
            redundancy: self.config.redundancy,
            head_divergence: self.config.head_divergence,
            seed,
            episodes: self.task.at_most(self.config.validation_episodes),
        };
        let validation = evaluator.means(&self.buffers.threads);
        let best = self.state.best.as_ref().map(|(_, best)| best);
        if validation.is_better_than(best) {
            self.state.best = Some((self.state.machines[0].clone(), validation));
        }
        let since = std::mem::take(&mut self.state.since_validation);
        let count = since.sequences as f64;
        let point = HistoryPoint {
            sequences: self.state.sequences,
            seconds: self.seconds(),
            training_bits: since.bits / count,
            training_aux: since.aux.over(count),
            validation,
        };
        self.state.history.push(point);
        point
    }

    fn has_finite_weights(&self) -> bool {
        let mut machines = self.state.machines.iter();
        machines.all(|machine| all_finite(&machine.params))
    }

    /// Names the first thing that is not finite.
    fn divergence(&self) -> Diverged {
        let groups = &self.buffers.groups;
        let in_trace = groups.iter().find_map(|group| group.not_finite.clone());
        let weights = self.state.machines.iter().map(|machine| &machine.params);
        let gradients = zip(State::PREFIXES, &groups[0].gradients);
        let gradients = gradients.map(|(prefix, of)| ("gradient of ", prefix, of));
        let weights = zip(State::PREFIXES, weights).map(|(prefix, of)| ("", prefix, of));
        let mut all = gradients.chain(weights);
        let mut named = || {
            all.find_map(|(what, prefix, of)| Some(format!("{what}{prefix}{}", first_broken(of)?)))
        };
        let (tensor, step) = match in_trace {
            Some((tensor, step)) => (tensor, Some(step)),
            None => (named().unwrap_or("gradient".into()), None),
        };
        Diverged {
            tensor,
            step,
            sequences: self.state.sequences,
            weights: !self.has_finite_weights(),
        }
    }
}

/// The first tensor with a value that is not finite.
fn first_broken(params: &Params<f32>) -> Option<String> {
    let mut named = params.named().into_iter();
    let broken = named.find(|(_, tensor)| tensor.iter().any(|value| !value.is_finite()));
    broken.map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::{Score, Weighting};
    use crate::model::{EquationsConfig, NtmConfig};
    use crate::task::{Copy, Transduce};
    use crate::train::{Clip, Optimizer, OptimizerConfig, Redundancy};

    /// A machine that learns within a second or two.
    fn small(batch: usize, sequences: u64, threads: usize) -> Trainer {
        let task = Copy {
            bits: 2,
            length: 1..=3,
        };
        small_on(task, batch, sequences, threads)
    }

    fn small_on(task: Copy, batch: usize, sequences: u64, threads: usize) -> Trainer {
        let task = Task::Copy(task);
        let mut model = NtmConfig::new(task.inputs(), task.outputs());
        (model.rows, model.columns, model.controller.size) = (8, 6, 20);
        let config = TrainingConfig {
            optimizer: OptimizerConfig::Adam {
                learning_rate: 5e-3,
                beta1: 0.9,
                beta2: 0.999,
                epsilon: 1e-8,
            },
            final_lr_factor: 0.1,
            lr_drop_below: 0.0,
            lr_drop_factor: 0.1,
            clip: Clip::GlobalNorm(10.0),
            batch,
            sequences,
            seed: 3,
            validation_every: 1000,
            validation_episodes: 50,
            ..TrainingConfig::default()
        };
        Trainer::new(task, model, config, threads)
    }

    #[test]
    fn rows_are_drawn_anew_for_every_32_sequences() {
        let mut config = small(2, 1, 1).config;
        assert_eq!(config.rows(0, 8), None);
        config.fewest_rows = 3;
        let rows = |block: u64| config.rows(block * 32, 8).unwrap();
        let drawn: std::collections::BTreeSet<usize> = (0..200).map(rows).collect();
        assert_eq!(drawn, (3..=8).collect());
        assert_eq!(config.rows(64, 8), config.rows(95, 8));
    }

    #[test]
    fn a_run_on_drawn_rows_resumes_with_the_same_bits() {
        let train = |mut trainer: Trainer, until: u64| {
            trainer.config.fewest_rows = 3;
            while trainer.state.sequences < until {
                trainer.update().unwrap();
            }
            trainer
        };
        let part = train(small(2, 200, 1), 50);
        let rest = Trainer::resume(part.task, part.config, part.state, 2);
        let resumed = train(rest, 200).state.machines.remove(0);
        let whole = train(small(2, 200, 1), 200).state.machines.remove(0);
        assert_eq!(whole.config.rows(), 8);
        assert_eq!(whole, resumed);
    }

    #[test]
    fn samples_of_an_input_are_learned_on_drawn_rows_too() {
        let mut trainer = small(4, 200, 1);
        (trainer.config.hard.samples, trainer.config.fewest_rows) = (4, 3);
        let model = trainer.state.machines[0].config.clone();
        let mut trainer = Trainer::new(trainer.task, model, trainer.config, 1);
        while !trainer.finished() {
            trainer.update().unwrap();
        }
    }

    #[test]
    fn patience_ends_a_run_after_validations_without_a_better_one() {
        let run = |patience: usize| {
            let mut trainer = small(4, 16_000, 1);
            (trainer.config.validation_every, trainer.config.patience) = (100, patience);
            trainer.config.validation_episodes = 5;
            while !trainer.finished() {
                trainer.update().unwrap();
            }
            (trainer.state.sequences, trainer.state.history)
        };
        let (sequences, history) = run(3);
        let end = super::super::best(&history, 0).unwrap();
        assert!(
            sequences < 16_000 && history.len() == end + 4,
            "{sequences}"
        );
        let before = |last: usize| {
            let best = super::super::best(&history[..last], 0).unwrap();
            last - 1 - best
        };
        assert!((1..history.len()).all(|last| before(last) < 3));
        assert_eq!(run(0).0, 16_000);
    }

    #[test]
    fn a_small_machine_learns_to_copy() {
        let mut trainer = small(4, 16_000, 2);
        while !trainer.finished() {
            trainer.update().unwrap();
        }
        let (first, best) = (
            trainer.state.history[0].validation,
            trainer.state.best.unwrap().1,
        );
        assert!(first.bits_per_sequence > 1.0, "{first:?}");
        assert!(
            best.bits_per_sequence < 0.1 && best.perfect == 1.0,
            "{best:?}"
        );
    }

    #[test]
    fn penalty_separates_heads_and_weight_0_only_measures() {
        let trained = |redundancy, apart| {
            let mut trainer = small(4, 2000, 1);
            let mut model = trainer.state.machines[0].config.ntm().cloned().unwrap();
            (model.read_heads, model.write_heads) = (2, 2);
            trainer.config.redundancy = redundancy;
            trainer.config.head_divergence = apart;
            trainer = Trainer::new(trainer.task, model, trainer.config, 1);
            while !trainer.finished() {
                trainer.update().unwrap();
            }
            trainer.state
        };
        let [off, measured, both] = [
            Redundancy::Off,
            Redundancy::Both(0.0),
            Redundancy::Both(3.0),
        ]
        .map(|of| trained(of, Redundancy::Both(0.0)));
        assert_eq!(off.machines, measured.machines);
        let last = |state: &State| *state.history.last().unwrap();
        assert_eq!(last(&off).training_aux.redundancy, None);
        let of = |state: &State| {
            let point = last(state);
            let validated = point.validation.aux.redundancy.unwrap();
            assert!((point.training_aux.redundancy.unwrap() - validated).abs() < 0.3 * validated);
            validated
        };
        let (without, with) = (of(&measured), of(&both));
        assert!(with < 0.7 * without, "{without} without it, {with} with it");
        // The other term: what it measures changes nothing, and grows where the loss subtracts it.
        let off = trained(Redundancy::Off, Redundancy::Off);
        assert_eq!(off.machines, measured.machines);
        assert_eq!(last(&off).training_aux.head_divergence, None);
        let apart = trained(Redundancy::Off, Redundancy::Both(0.05));
        let of = |state: &State| last(state).validation.aux.head_divergence.unwrap();
        let (without, with) = (of(&measured), of(&apart));
        assert!(with > 2.0 * without, "{without} without it, {with} with it");
    }

    /// Holds two states to be alike in all but the time they took.
    #[track_caller]
    fn assert_alike(mut one: State, mut other: State) {
        for point in one.history.iter_mut().chain(&mut other.history) {
            point.seconds = 0.0;
        }
        assert_eq!(one.history, other.history);
        assert_eq!(one.baseline.to_bits(), other.baseline.to_bits());
        assert!(one.machines == other.machines && one.best == other.best);
        let (one, other) = (&one.optimizers[0], &other.optimizers[0]);
        assert!(one.square == other.square && one.mean == other.mean);
        assert!(one.momentum == other.momentum && one.updates == other.updates);
    }

    #[test]
    fn resume_from_any_state_gives_identical_weights() {
        let rms_prop = OptimizerConfig::RmsProp {
            learning_rate: 1e-3,
            decay: 0.95,
            momentum: 0.9,
            epsilon: 1e-4,
        };
        for changed in [false, true] {
            let mut trainer = small(5, 203, 2);
            trainer.config.validation_every = 50;
            trainer.config.validation_episodes = 2;
            if changed {
                trainer.config.optimizer = rms_prop;
                trainer.config.lr_drop_below = 1e9;
                trainer.config.redundancy = Redundancy::Both(0.1);
                let model = trainer.state.machines[0].config.clone();
                trainer.state = State::new(model, &trainer.config);
            }
            let mut states = Vec::new();
            while !trainer.finished() {
                states.push(trainer.state.clone());
                trainer.update().unwrap();
            }
            assert_eq!(states.len(), 41);
            for state in states.into_iter().step_by(8) {
                let (task, config) = (trainer.task.clone(), trainer.config.clone());
                let mut again = Trainer::resume(task, config, state, 1);
                while !again.finished() {
                    again.update().unwrap();
                }
                assert_alike(again.state, trainer.state.clone());
            }
        }
    }

    /// Heads of several kinds side by side, some of which draw.
    fn mixed(weightings: &[Weighting], threads: usize) -> Trainer {
        let mut trainer = small(5, 203, threads);
        let mut model = trainer.state.machines[0].config.ntm().cloned().unwrap();
        model.read_heads = weightings.len() - 1;
        model.attention.weighting = weightings.to_vec().into();
        let scores = [Score::Additive, Score::Cosine, Score::General, Score::Dot];
        model.attention.score = scores[..weightings.len()].to_vec().into();
        let config = TrainingConfig {
            validation_every: 50,
            validation_episodes: 2,
            redundancy: Redundancy::Both(0.1),
            ..trainer.config
        };
        trainer = Trainer::new(trainer.task, model, config, threads);
        trainer
    }

    #[test]
    fn random_heads_train_identically_on_any_threads_and_from_any_state() {
        for weightings in [
            &[Weighting::Hard, Weighting::Soft, Weighting::Soft][..],
            &[Weighting::Hard, Weighting::Hard],
            &[Weighting::Weibull, Weighting::Weibull],
            &[
                Weighting::Lognormal,
                Weighting::Hard,
                Weighting::LocalPredictive,
                Weighting::Weibull,
            ],
        ] {
            let (mut one, mut two) = (mixed(weightings, 1), mixed(weightings, 2));
            let mut states = Vec::new();
            while !one.finished() {
                states.push(one.state.clone());
                one.update().unwrap();
                two.update().unwrap();
            }
            assert_alike(two.state, one.state.clone());
            let is_hard = weightings.contains(&Weighting::Hard);
            assert_eq!(
                one.state.baseline < 0.0,
                is_hard,
                "a row that is drawn has a baseline"
            );
            let last = one.state.history.last().unwrap();
            assert_eq!(last.training_aux.reward.is_some(), is_hard);
            // Nothing is drawn in a validation.
            assert_eq!(last.validation.aux.reward, None);
            let is_bayesian = weightings.iter().any(|weighting| weighting.is_bayesian());
            assert_eq!(last.validation.aux.divergence.is_some(), is_bayesian);
            for state in states.into_iter().step_by(13) {
                let (task, config) = (one.task.clone(), one.config.clone());
                let mut again = Trainer::resume(task, config, state, 2);
                while !again.finished() {
                    again.update().unwrap();
                }
                assert_alike(again.state, one.state.clone());
            }
        }
    }

    #[test]
    fn samples_of_an_input_train_identically_on_any_threads_and_from_any_state() {
        let sampled = |threads| {
            let mut trainer = small(6, 120, threads);
            let mut model = trainer.state.machines[0].config.ntm().cloned().unwrap();
            model.attention.weighting = Weighting::Hard.into();
            trainer.config.hard.samples = 3;
            (trainer.config.hard.expected, trainer.config.hard.warmup) = (0.0, 60);
            (
                trainer.config.validation_every,
                trainer.config.validation_episodes,
            ) = (60, 2);
            Trainer::new(trainer.task, model, trainer.config, threads)
        };
        let (mut one, mut two) = (sampled(1), sampled(2));
        let mut middle = None;
        while !one.finished() {
            one.update().unwrap();
            two.update().unwrap();
            let sizes: Vec<usize> = one.answered().map(|(size, _)| size).collect();
            for samples in sizes.chunks(3) {
                assert_eq!(samples, [samples[0]; 3], "the samples of an input");
            }
            let rewards = one.answered().filter_map(|(_, score)| score.aux.reward);
            let sum: f64 = rewards.sum();
            assert!(sum.abs() < 1e-9, "{sum}: each is a baseline of the others");
            if one.state.sequences == 66 {
                middle = Some(one.state.clone());
            }
        }
        assert_alike(two.state, one.state.clone());
        let (task, config) = (one.task.clone(), one.config.clone());
        let mut again = Trainer::resume(task, config, middle.unwrap(), 2);
        while !again.finished() {
            again.update().unwrap();
        }
        assert_alike(again.state, one.state.clone());
    }

    #[test]
    fn learning_rate_drops_after_a_good_validation() {
        let mut trainer = small(4, 2000, 1);
        trainer.config.lr_drop_below = 1e9;
        let rates: Vec<f64> = std::iter::from_fn(|| {
            let rate = trainer.rate_factor();
            trainer.update().ok().filter(|_| !trainer.finished())?;
            Some(rate)
        })
        .collect();
        let cosine = |update: usize| {
            let progress = 4.0 * update as f64 / 2000.0;
            0.1 + 0.9 * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
        };
        // The first validation, after 1000 sequences, is below: from then on a tenth.
        for (update, rate) in rates.iter().enumerate() {
            let share = if update < 250 { 1.0 } else { 0.1 };
            assert!((rate - share * cosine(update)).abs() < 1e-12, "{update}");
        }
        assert!(rates.len() > 400);
    }

    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads() {
        for batch in [5, 11, 18] {
            let weights = |threads| {
                let mut trainer = small(batch, 100, threads);
                while !trainer.finished() {
                    trainer.update().unwrap();
                }
                assert_eq!(
                    trainer.state.sequences, 100,
                    "the last batch ends with the run"
                );
                trainer.state.machines.remove(0).params
            };
            let one = weights(1);
            assert_eq!(one, weights(2));
            assert_eq!(one, weights(3));
        }
    }

    #[test]
    fn diagnostics_change_nothing_and_do_not_depend_on_threads() {
        let mut alone = small(5, 100, 1);
        let mut watched = [small(5, 100, 1), small(5, 100, 3)];
        while !alone.finished() {
            let update = alone.update().unwrap();
            let said = watched.each_mut().map(|trainer| {
                let mut diagnostics = Diagnostics::default();
                let found = trainer.update_watched(Some(&mut diagnostics)).unwrap();
                assert_eq!((found.bits, found.norm), (update.bits, update.norm));
                diagnostics
            });
            assert_eq!(said[0], said[1]);
            assert_eq!(said[0].heads.len(), 2);
            assert!((said[0].norm() - update.norm).abs() < 1e-5 * update.norm);
            let mut sizes = alone.answered().map(|(size, _)| size).collect::<Vec<_>>();
            assert!(!sizes.is_empty());
            sizes.retain(|size| !(1..=3).contains(size));
            assert!(sizes.is_empty(), "{sizes:?}");
        }
        for trainer in watched {
            assert_eq!(trainer.state.machines[0], alone.state.machines[0]);
        }
    }

    #[test]
    fn a_change_applies_from_the_next_update() {
        let mut trainer = small(4, 100, 1);
        trainer.update().unwrap();
        let before = trainer.state.machines[0].clone();
        let mut config = trainer.config.clone();
        config.batch = 7;
        let OptimizerConfig::Adam { learning_rate, .. } = &mut config.optimizer else {
            unreachable!()
        };
        *learning_rate = 1e-30;
        let task = trainer.task.clone().with_size(2);
        trainer.change(task, config);
        assert_eq!(trainer.answered().count(), 0, "none of a changed run yet");
        trainer.update().unwrap();
        assert_eq!(trainer.state.sequences, 11);
        assert_eq!(trainer.state.machines[0], before);
        assert!(trainer.answered().all(|(size, _)| size == 2));
    }

    #[test]
    fn overflowing_updates_are_skipped_and_many_end_the_run() {
        let task = Copy {
            bits: 32,
            length: 8..=8,
        };
        let mut trainer = small_on(task, 2, 1000, 1);
        let params = &mut trainer.state.machines[0].params;
        params.slices_mut().flatten().for_each(|p| *p = 0.0);
        // Outputs that see nothing yet: the loss is finite, the sum of their gradients is not.
        params.linears[2].weight.view_mut().fill(3e38);
        let before = trainer.state.machines[0].params.clone();
        let good = (0..2 * OVERFLOWS_IN_A_ROW)
            .take_while(|_| trainer.update().is_ok())
            .count();
        assert_eq!(good as u32, OVERFLOWS_IN_A_ROW - 1);
        assert!(trainer.state.machines[0].params == before);
        assert_eq!(trainer.state.sequences, 2 * good as u64);
        let diverged = trainer.update().unwrap_err();
        assert!(diverged.tensor.starts_with("gradient of "), "{diverged}");
    }

    #[test]
    fn a_nonfinite_value_stops_the_run_and_keeps_the_weights() {
        let mut trainer = small(2, 100, 1);
        trainer.state.machines[0].params.linears[1]
            .bias
            .view_mut()
            .fill(f32::NAN);
        let before = format!("{:?}", trainer.state.machines[0].params);
        let diverged = trainer.update().unwrap_err();
        assert_eq!(
            (diverged.tensor.as_str(), diverged.step),
            ("read0.key", Some(0))
        );
        assert_eq!(before, format!("{:?}", trainer.state.machines[0].params));
    }

    #[test]
    fn nonfinite_weights_are_detected_at_once() {
        let mut trainer = small(2, 100, 1);
        let OptimizerConfig::Adam { learning_rate, .. } = &mut trainer.config.optimizer else {
            unreachable!()
        };
        *learning_rate = 1e39;
        let model = trainer.state.machines[0].config.clone();
        trainer.state.optimizers[0] = Optimizer::new(trainer.config.optimizer, &model);
        let diverged = trainer.update().unwrap_err();
        assert_eq!(
            (diverged.tensor.as_str(), diverged.weights),
            ("controller0.weight", true)
        );
        assert!(trainer.state.best.is_none());
    }

    fn both_ways(agreement: f64, threads: usize) -> Trainer {
        let task = Task::Transduce(Transduce {
            symbols: 3,
            length: 1..=4,
            fertility: 2,
            ..Transduce::DEFAULT
        });
        let sizes = [
            ("encoder.units", "4"),
            ("units", "6"),
            ("attention.units", "4"),
        ];
        let channels = [task.inputs(), task.outputs()];
        let model = EquationsConfig::included("bahdanau", channels, &sizes).unwrap();
        let mut config = small(6, 600, 1).config;
        config.agreement = agreement;
        assert_eq!(config.fits_agreement(&task, &model.clone().into()), Ok(()));
        Trainer::new(task, model, config, threads)
    }

    #[test]
    fn two_directions_learn_together_and_resume_with_identical_weights() {
        let whole = |mut trainer: Trainer| {
            while !trainer.finished() {
                trainer.update().unwrap();
            }
            trainer.state
        };
        let one = whole(both_ways(0.3, 1));
        for point in &one.history {
            let found = point.training_aux.agreement.unwrap();
            assert!((-5.0..0.0).contains(&found), "{found}");
            assert_eq!(point.validation.aux.agreement, None);
        }
        let several = whole(both_ways(0.3, 3));
        assert_eq!(several.machines, one.machines);
        let mut part = both_ways(0.3, 1);
        for _ in 0..30 {
            part.update().unwrap();
        }
        let Trainer {
            task,
            config,
            state,
            ..
        } = part;
        let resumed = whole(Trainer::resume(task, config, state, 2));
        assert_eq!(resumed.machines, one.machines);
        // Agreement changes what the first machine learns; without it there is no second one.
        let alone = whole(both_ways(0.0, 1));
        assert!(alone.machines.len() == 1 && alone.machines[0] != one.machines[0]);
        // The second machine translates back.
        let task = both_ways(0.3, 1).task;
        let episode = task.episode(1, 0);
        let back = episode.reversed();
        assert_eq!(back.reversed().input, episode.input);
        assert_eq!(back.reversed().target, episode.target);
        assert_eq!(back.source(), episode.scored_steps());
        let bits = |machine: &Model<f32>| {
            let mut trace = Trace::new(&machine.config);
            machine.run(forced(&back), Draw::default(), &mut trace);
            score(&back, &trace, &mut vec![0.0; back.steps()]).bits
        };
        let untrained = Model::new(State::reverse_of(&one.machines[0].config), 3);
        assert!(bits(&one.machines[1]) < bits(&untrained));
    }

    #[test]
    fn nonfinite_weights_of_the_second_machine_are_detected_at_once() {
        let mut trainer = both_ways(0.3, 1);
        let (machine, optimizer) = (&trainer.state.machines[1], &mut trainer.state.optimizers[1]);
        let mut config = optimizer.config;
        let OptimizerConfig::Adam { learning_rate, .. } = &mut config else {
            unreachable!()
        };
        *learning_rate = 1e39;
        *optimizer = Optimizer::new(config, &machine.config);
        let diverged = trainer.update().unwrap_err();
        assert_eq!(
            (diverged.tensor.as_str(), diverged.weights),
            ("reverse.attention.v", true)
        );
    }

    #[test]
    fn an_agreement_that_begins_or_ends_during_training() {
        let mut trainer = both_ways(0.0, 2);
        for agreement in [0.0, 0.2, 0.0, 0.1] {
            let mut config = trainer.config.clone();
            config.agreement = agreement;
            trainer.change(trainer.task.clone(), config);
            let update = trainer.update().unwrap();
            assert_eq!(update.aux.agreement.is_some(), agreement > 0.0);
            assert_eq!(trainer.state.machines.len() == 2, agreement > 0.0);
        }
        let copy = Task::Copy(Copy::EXAMPLE);
        let model = trainer.state.machines[0].config.clone();
        let message = trainer.config.fits_agreement(&copy, &model).unwrap_err();
        assert!(
            message.allowed.contains("cannot change places"),
            "{message}"
        );
        let ntm = NtmConfig::new(4, 4).into();
        let message = trainer
            .config
            .fits_agreement(&trainer.task, &ntm)
            .unwrap_err();
        assert!(
            message.allowed.contains("as in `bahdanau.machine`"),
            "{message}"
        );
    }
}
