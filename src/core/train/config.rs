//! Configuration of training. Checked once, in [`TrainingConfig::validate`]; trusted afterwards.

use rand::RngExt;

use crate::keys::Field::{Choice, Integer, Integer64, Number};
use crate::keys::{ConfigError, Keys, Rule, Table, Words, check};
use crate::math::random;
use crate::model::attention::Weighting;
use crate::model::{ModelConfig, NtmConfig, TOGETHER};
use crate::task::Task;

/// The numbers of memory rows come from this seed plus the run's.
const ROWS_SEED: u64 = 0x7005_0000_0000_0000;
/// Sequences after which the next batch draws another number of memory rows.
const SAME_ROWS: u64 = 32;

/// Everything about a training run but the task and the machine. Ranges and purposes stand in the table of its
/// [`Keys`]; `tapescope tasks --keys` prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingConfig {
    /// The update rule.
    pub optimizer: OptimizerConfig,
    /// Learning rate at the end of the run, as a fraction of the initial one.
    pub final_lr_factor: f64,
    /// Loss in bits per sequence at which the learning rate drops, from the first validation below it. Smaller steps
    /// keep the machine in its minimum.
    pub lr_drop_below: f64,
    /// Factor on the learning rate after this drop.
    pub lr_drop_factor: f64,
    /// Gradient clipping.
    pub clip: Clip,
    /// The penalty on heads that attend to the same rows.
    pub redundancy: Redundancy,
    /// The divergence of heads, an alternative: its heads, and the weight with which the loss subtracts it.
    pub head_divergence: Redundancy,
    /// γ, of the agreement with a machine in the opposite direction (Cohn et al. 2016); 0 for none.
    pub agreement: f64,
    /// Training of heads that sample a row.
    pub hard: HardConfig,
    /// Training of heads with random weights.
    pub bayesian: BayesianConfig,
    /// Fewest memory rows in training; 0 if their number does not vary.
    pub fewest_rows: usize,
    /// Episodes per update.
    pub batch: usize,
    /// Episodes in the whole run.
    pub sequences: u64,
    /// Seed of the initial weights and of every episode.
    pub seed: u64,
    /// Sequences between validations.
    pub validation_every: u64,
    /// Episodes per validation.
    pub validation_episodes: usize,
    /// Validations in a row, none of them better than the best before, after which a run ends; 0 if it does not end so.
    pub patience: usize,
}

impl TrainingConfig {
    /// The most episodes in a run.
    pub const MAX_SEQUENCES: u64 = 1_000_000_000_000;

    /// Holds the number of memory rows in training to a machine.
    ///
    /// # Errors
    /// The key, if weights of the machine depend on its rows, it has fewer, or it needs more.
    pub fn fits_rows(&self, model: &ModelConfig) -> Result<(), ConfigError> {
        let (fewest, rows) = (self.fewest_rows, model.rows());
        let most = if model.runs_on_any_rows() { rows } else { 0 };
        ConfigError::unless(fewest <= most, "fewest_rows", fewest, || match most {
            0 => "0, because the machine does not run on any number of rows".to_owned(),
            _ => format!("0 to {rows}, the rows of the machine"),
        })?;
        if fewest == 0 {
            return Ok(());
        }
        let field = "fewest_rows".to_owned();
        let fits = model.with_rows(fewest).map(|_| ());
        fits.map_err(|error| ConfigError { field, ..error })
    }

    /// Returns the number of memory rows for the next batch; `None` if it is that of the machine.
    pub(super) fn rows(&self, sequences: u64, most: usize) -> Option<usize> {
        let mut random = random(self.seed.wrapping_add(ROWS_SEED), sequences / SAME_ROWS);
        let fewest = self.fewest_rows;
        (1..=most).contains(&fewest).then(|| {
            let most = random.random_range(fewest..=most);
            random.random_range(fewest..=most)
        })
    }

    /// Holds the agreement to a task and a machine.
    ///
    /// # Errors
    /// The key in a preset: there is no opposite direction, no weights that could agree, or too long a source.
    pub fn fits_agreement(&self, task: &Task, model: &ModelConfig) -> Result<(), ConfigError> {
        if self.agreement == 0.0 {
            return Ok(());
        }
        let (field, found) = ("training.agreement", self.agreement);
        ConfigError::unless(task.is_reversible(), field, found, || {
            let name = task.name();
            format!("0, because source and answer of the task `{name}` cannot change places")
        })?;
        let is_attentive = model.has_feedback() && model.has_source_rows() && model.heads() == 1;
        let has_weights = is_attentive && model.weighting(0) == Weighting::Soft;
        ConfigError::unless(has_weights, field, found, || {
            "0 but for one head that attends to the source, with a soft weighting, as in `bahdanau.machine`".to_owned()
        })?;
        // The answer is the source of the second machine.
        let source = if task.is_loaded() { task.longest() } else { 0 };
        model.fits_episode([source; 2]).map_err(|mut error| {
            error.field.insert_str(0, "model.");
            error
        })
    }

    /// Number of machines that learn together: 2 with the agreement.
    pub fn machines(&self) -> usize {
        1 + usize::from(self.agreement > 0.0)
    }

    /// Checks every range, in the f32 that training runs in.
    ///
    /// # Errors
    /// The first field out of range, with what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check(&mut self.clone())
    }
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            optimizer: OptimizerConfig::WORDS[0].1,
            final_lr_factor: 1.0,
            lr_drop_below: 0.0,
            lr_drop_factor: 0.1,
            clip: Clip::WORDS[0].1,
            redundancy: Redundancy::Off,
            head_divergence: Redundancy::Off,
            agreement: 0.0,
            hard: HardConfig::default(),
            bayesian: BayesianConfig::default(),
            fewest_rows: 0,
            batch: 1,
            sequences: 100_000,
            seed: 1,
            validation_every: 1000,
            validation_episodes: 100,
            patience: 0,
        }
    }
}

impl Keys for TrainingConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        self.optimizer.keys(&mut to.section("optimizer"));
        to.key("final_lr_factor", Number(&mut self.final_lr_factor, &Rule::FRACTION), "learning rate at the end of the run as a fraction of the initial one; it falls along half a cosine");
        to.key("lr_drop_below", Number(&mut self.lr_drop_below, &BITS), "loss per sequence in bits, or mean squared error of values; the learning rate drops after the first validation below it; 0 means never");
        to.key("lr_drop_factor", Number(&mut self.lr_drop_factor, &Rule::FRACTION), "factor on the learning rate after this drop");
        self.clip.keys(&mut to.section("clip"));
        self.redundancy.keys(&mut to.section("redundancy"));
        let mut apart = to.section("head_divergence");
        apart.key("kind", Choice(&mut self.head_divergence), "heads whose divergence is rewarded, an alternative to the redundancy penalty: the sum of KL(w_a ‖ w_b) over all ordered pairs of different heads of a layer");
        if let Redundancy::Read(weight) | Redundancy::Write(weight) | Redundancy::Both(weight) = &mut self.head_divergence {
            apart.key("weight", Number(weight, &WEIGHT), "weight of the divergence (mean over the steps, in nats) that the loss subtracts; it has no upper bound, so a large weight can outgrow the answers; 0 only measures it. Weights below 1e-12 count as 1e-12 in logarithms");
        }
        to.added("agreement", Number(&mut self.agreement, &WEIGHT), "γ: weight of the agreement −Σ_ij α→_ji·α←_ij with a second machine, which learns the opposite direction beside the first one (Cohn et al. 2016); above 0 only for `transduce` and `pairs`, with one soft head over the source");
        to.added("fewest_rows", Integer(&mut self.fewest_rows, 0..=NtmConfig::MAX_ROWS), "fewest memory rows in training: every 32 sequences, at the next batch, a bound is drawn from this number to `memory.rows`, and the number of rows from this number to the bound, so that few rows are more frequent; 0 for always `memory.rows`");
        to.key("batch", Integer(&mut self.batch, 1..=4096), "sequences per update; the gradient is their mean");
        to.key("sequences", Integer64(&mut self.sequences, 1..=Self::MAX_SEQUENCES), "training sequences in the whole run");
        to.key("seed", Integer64(&mut self.seed, 0..=u64::MAX), "seed of the initial weights and of every episode");
        to.key("validation_every", Integer64(&mut self.validation_every, 1..=Self::MAX_SEQUENCES), "sequences between validations; the best weights are saved");
        to.key("validation_episodes", Integer(&mut self.validation_episodes, 1..=1_000_000), "episodes per validation, the same ones every time");
        to.added("patience", Integer(&mut self.patience, 0..=1_000_000), "validations in a row without a better one after which training ends; 0 for never");
    }
}

const BITS: Rule = Rule {
    allowed: "a loss per sequence, 0 or more",
    holds: |value| value >= 0.0 && value.is_finite(),
    ends: [0.0, f64::MAX],
};

/// The update rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptimizerConfig {
    /// Graves' centred RMSProp with momentum (Graves 2013, equations 38 to 41).
    RmsProp {
        /// Learning rate, above 0; the paper: 1e-4 or 3e-5.
        learning_rate: f64,
        /// Decay of the running moments, 0 to less than 1; the paper: 0.95.
        decay: f64,
        /// Momentum, 0 to less than 1; the paper: 0.9.
        momentum: f64,
        /// Added under the root, above 0; the paper: 1e-4.
        epsilon: f64,
    },
    /// Adam (Kingma and Ba 2015), bias-corrected.
    Adam {
        /// Learning rate, above 0.
        learning_rate: f64,
        /// Decay of the first moment, 0 to less than 1.
        beta1: f64,
        /// Decay of the second moment, 0 to less than 1.
        beta2: f64,
        /// Added to the root, above 0.
        epsilon: f64,
    },
}

impl Words for OptimizerConfig {
    const WORDS: &'static [(&'static str, Self)] = &[
        (
            "rmsprop",
            Self::RmsProp {
                learning_rate: 1e-4,
                decay: 0.95,
                momentum: 0.9,
                epsilon: 1e-4,
            },
        ),
        (
            "adam",
            Self::Adam {
                learning_rate: 1e-3,
                beta1: 0.9,
                beta2: 0.999,
                epsilon: 1e-8,
            },
        ),
    ];
}

impl Keys for OptimizerConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("kind", Choice(self), "optimizer");
        let (Self::RmsProp { learning_rate, .. } | Self::Adam { learning_rate, .. }) = self;
        to.key("learning_rate", Number(learning_rate, &Rule::POSITIVE), "learning rate");
        match self {
            Self::RmsProp {
                decay, momentum, ..
            } => {
                to.key("decay", Number(decay, &Rule::BELOW_ONE), "decay of the running moments");
                to.key("momentum", Number(momentum, &Rule::BELOW_ONE), "momentum: fraction of the previous update that is kept");
            }
            Self::Adam { beta1, beta2, .. } => {
                to.key("beta1", Number(beta1, &Rule::BELOW_ONE), "decay of the first moment");
                to.key("beta2", Number(beta2, &Rule::BELOW_ONE), "decay of the second moment");
            }
        }
        let (Self::RmsProp { epsilon, .. } | Self::Adam { epsilon, .. }) = self;
        to.key("epsilon", Number(epsilon, &Rule::POSITIVE), "added under the root (`rmsprop`) or to the root (`adam`)");
    }
}

/// Gradient clipping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clip {
    /// No clipping.
    None,
    /// Every element to ± this; the paper: 10.
    Elementwise(f64),
    /// The whole gradient scaled so that its Euclidean norm is at most this (Collier and Beel: 50).
    GlobalNorm(f64),
}

impl Words for Clip {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("elementwise", Self::Elementwise(10.0)),
        ("global_norm", Self::GlobalNorm(50.0)),
        ("none", Self::None),
    ];
}

impl Keys for Clip {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("kind", Choice(self), "gradient clipping");
        if let Self::Elementwise(limit) | Self::GlobalNorm(limit) = self {
            to.key("limit", Number(limit, &Rule::POSITIVE), "largest absolute value of an element, or largest norm of the whole gradient");
        }
    }
}

/// The redundancy penalty: which heads share in it, and its weight in the loss, in nats per unit of its mean over the
/// steps. A weight of 0 measures it and changes nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Redundancy {
    /// None.
    Off,
    /// The read heads.
    Read(f64),
    /// The write heads.
    Write(f64),
    /// All heads together.
    Both(f64),
}

impl Words for Redundancy {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Self::Off),
        ("read", Self::Read(0.01)),
        ("write", Self::Write(0.01)),
        ("both", Self::Both(0.01)),
    ];
}

impl Keys for Redundancy {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("kind", Choice(self), "heads whose redundancy is penalised: attention to the same rows, or to many rows (Lin et al. 2017, equation 8)");
        if let Self::Read(weight) | Self::Write(weight) | Self::Both(weight) = self {
            to.key("weight", Number(weight, &WEIGHT), "weight of the penalty (mean over the steps) in the loss, which is in nats; 0 only measures it. A hard head contributes in expected episodes only: no gradient passes through a sampled row");
        }
    }
}

/// Training of heads that sample their row (Xu et al. 2015, §4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HardConfig {
    /// How the gradient passes a sampled row.
    pub estimator: HardEstimator,
    /// λ_r, of the reward.
    pub reward: f64,
    /// λ_e, of the entropy of the sampled distribution.
    pub entropy: f64,
    /// The share of episodes in which heads attend to all rows, as likely as they are.
    pub expected: f64,
    /// Sequences over which this share falls from 1.
    pub warmup: u64,
    /// Consecutive episodes with the same input and other noise, each of them a baseline of the others.
    pub samples: u64,
}

impl HardConfig {
    /// Holds the samples to the batch.
    ///
    /// # Errors
    /// The batch is not a multiple of the samples.
    pub fn fits(&self, batch: usize) -> Result<(), ConfigError> {
        let is_multiple = (batch as u64).is_multiple_of(self.samples);
        ConfigError::unless(is_multiple, "training.batch", batch, || {
            format!("a multiple of `training.hard.samples`, {}", self.samples)
        })
    }
}

/// Estimators of the gradient w.r.t. the distribution that a row is sampled from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HardEstimator {
    /// The score function: ln α(row), weighted by the reward of the episode. Unbiased; large variance.
    Reinforce,
    /// The gradient w.r.t. the weighting, as if it were α (Bengio et al. 2013). Biased; small variance.
    StraightThrough,
}

impl Words for HardEstimator {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("reinforce", Self::Reinforce),
        ("straight-through", Self::StraightThrough),
    ];
}

/// Training of heads with random weights (Fan et al. 2020).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BayesianConfig {
    /// ρ, of the divergence from the prior, at the end of its rise.
    pub weight: f64,
    /// Sequences over which ρ rises from 0.
    pub warmup: u64,
}

impl Default for HardConfig {
    fn default() -> Self {
        Self {
            estimator: HardEstimator::WORDS[0].1,
            reward: 0.1,
            entropy: 0.01,
            expected: 0.5,
            warmup: 0,
            samples: 1,
        }
    }
}

impl Default for BayesianConfig {
    fn default() -> Self {
        Self {
            weight: 1e-5,
            warmup: 10_000,
        }
    }
}

/// Range of the weight of an auxiliary loss, relative to the loss in nats.
const WEIGHT: Rule = Rule {
    allowed: "0 to 1000000",
    holds: |value| (0.0..=1e6).contains(&value),
    ends: [0.0, 1e6],
};

impl Keys for HardConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.added("estimator", Choice(&mut self.estimator), "how the gradient passes a sampled row: `reinforce`: as the reward of the episode (unbiased, Xu et al. 2015); `straight-through`: unchanged, as if the row were the distribution (biased, Bengio et al. 2013)");
        to.key("reward", Number(&mut self.reward, &WEIGHT), "λ_r: weight of the reward of sampled rows with `reinforce`, which is measured against a moving baseline (Xu et al. 2015), or the other `samples`");
        to.key("entropy", Number(&mut self.entropy, &WEIGHT), "λ_e: weight of the entropy of the distribution that rows are sampled from");
        self.episode_keys(to);
    }
}

impl HardConfig {
    /// The keys of its episodes, which a machine file has as well; the weights of its loss are constants of the file.
    #[rustfmt::skip] // A row for every key.
    pub fn episode_keys(&mut self, to: &mut Table<'_>) {
        to.key("expected", Number(&mut self.expected, &Rule::FRACTION), "fraction of training episodes without sampling, in which hard heads attend to every row with its probability");
        to.added("warmup", Integer64(&mut self.warmup, 0..=TrainingConfig::MAX_SEQUENCES), "warm-up in sequences, in which the fraction without sampling falls linearly from 1 to `expected`");
        to.added("samples", Integer64(&mut self.samples, 1..=TOGETHER as u64), "consecutive sequences with the same input and other noise, of which `batch` is a multiple; from 2 on, the baseline of each is the mean of the others (leave-one-out) instead of the moving one");
    }
}

impl Keys for BayesianConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("weight", Number(&mut self.weight, &WEIGHT), "ρ: weight of the divergence of random weights from their prior, in nats, summed over heads, steps and rows (Fan et al. 2020)");
        self.episode_keys(to);
    }
}

impl BayesianConfig {
    /// [`HardConfig::episode_keys`]
    #[rustfmt::skip] // A row for every key.
    pub fn episode_keys(&mut self, to: &mut Table<'_>) {
        to.key("warmup", Integer64(&mut self.warmup, 0..=TrainingConfig::MAX_SEQUENCES), "warm-up in sequences: ρ rises linearly from 0 to its weight");
    }
}
