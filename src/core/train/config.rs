//! How a machine is trained. Checked once, in [`TrainingConfig::validate`]; trusted afterwards.

use super::beside::{BayesianConfig, HardConfig, WEIGHT};
use crate::keys::Field::{Long, Number, Whole, Word};
use crate::keys::{ConfigError, Keys, Rule, Table, Words, check};

/// Everything about a training run but the task and the machine. Ranges and purposes stand in the table of its
/// [`Keys`]; `tapescope tasks --keys` prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingConfig {
    /// The update rule.
    pub optimizer: OptimizerConfig,
    /// Rate at the end of the run, as a share of the rate at its start.
    pub final_rate: f64,
    /// Bits per sequence. From the first validation below it the run is settled: what the machine has
    /// learned is kept by smaller steps, which do not throw it out of its minimum again.
    pub settled_below: f64,
    /// Rate of a settled run, as a share of the rate it would have otherwise.
    pub settled_rate: f64,
    /// Gradient clipping.
    pub clip: Clip,
    /// What joins the loss for heads that attend to the same rows.
    pub redundancy: Redundancy,
    /// How heads that draw a row learn.
    pub hard: HardConfig,
    /// How heads with random weights learn.
    pub bayesian: BayesianConfig,
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
}

impl TrainingConfig {
    /// The most episodes in a run.
    pub const MAX_SEQUENCES: u64 = 1_000_000_000_000;

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
            final_rate: 1.0,
            settled_below: 0.0,
            settled_rate: 0.1,
            clip: Clip::WORDS[0].1,
            redundancy: Redundancy::Off,
            hard: HardConfig::default(),
            bayesian: BayesianConfig::default(),
            batch: 1,
            sequences: 100_000,
            seed: 1,
            validation_every: 1000,
            validation_episodes: 100,
        }
    }
}

impl Keys for TrainingConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        self.optimizer.keys(&mut to.section("optimizer"));
        to.key("final_rate", Number(&mut self.final_rate, &Rule::SHARE), "rate at the end of the run, as a share of the first; it falls along half a cosine");
        to.key("settled_below", Number(&mut self.settled_below, &BITS), "a validation below so many bits per sequence settles the run");
        to.key("settled_rate", Number(&mut self.settled_rate, &Rule::SHARE), "rate of a settled run, as a share of what it would be otherwise");
        self.clip.keys(&mut to.section("clip"));
        self.redundancy.keys(&mut to.section("redundancy"));
        to.key("batch", Whole(&mut self.batch, 1..=4096), "episodes per update; the gradient is their mean");
        to.key("sequences", Long(&mut self.sequences, 1..=Self::MAX_SEQUENCES), "episodes in the whole run");
        to.key("seed", Long(&mut self.seed, 0..=u64::MAX), "of the initial weights and of every episode");
        to.key("validation_every", Long(&mut self.validation_every, 1..=Self::MAX_SEQUENCES), "sequences between validations; the best weights are kept");
        to.key("validation_episodes", Whole(&mut self.validation_episodes, 1..=1_000_000), "episodes per validation, always the same ones");
    }
}

const BITS: Rule = Rule {
    allowed: "bits per sequence, 0 or more",
    holds: |value| value >= 0.0 && value.is_finite(),
};

/// The update rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptimizerConfig {
    /// Graves' centred RMSProp with momentum (Graves 2013, equations 38 to 41).
    RmsProp {
        /// Learning rate, above 0; the paper: 1e-4 or 3e-5.
        rate: f64,
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
        rate: f64,
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
                rate: 1e-4,
                decay: 0.95,
                momentum: 0.9,
                epsilon: 1e-4,
            },
        ),
        (
            "adam",
            Self::Adam {
                rate: 1e-3,
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
        to.key("kind", Word(self), "the update rule");
        let (Self::RmsProp { rate, .. } | Self::Adam { rate, .. }) = self;
        to.key("rate", Number(rate, &Rule::POSITIVE), "learning rate");
        match self {
            Self::RmsProp {
                decay, momentum, ..
            } => {
                to.key("decay", Number(decay, &Rule::FADING), "of the running moments");
                to.key("momentum", Number(momentum, &Rule::FADING), "what is kept of the last step");
            }
            Self::Adam { beta1, beta2, .. } => {
                to.key("beta1", Number(beta1, &Rule::FADING), "decay of the first moment");
                to.key("beta2", Number(beta2, &Rule::FADING), "decay of the second moment");
            }
        }
        let (Self::RmsProp { epsilon, .. } | Self::Adam { epsilon, .. }) = self;
        to.key("epsilon", Number(epsilon, &Rule::POSITIVE), "added to the root, or under it");
    }
}

/// Gradient clipping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clip {
    /// Not at all.
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
        to.key("kind", Word(self), "what keeps gradients from exploding");
        if let Self::Elementwise(limit) | Self::GlobalNorm(limit) = self {
            to.key("limit", Number(limit, &Rule::POSITIVE), "of every element, or of the norm of the whole");
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
        to.key("kind", Word(self), "the heads whose attending to the same rows, or to many, costs (Lin et al. 2017, equation 8)");
        if let Self::Read(weight) | Self::Write(weight) | Self::Both(weight) = self {
            to.key("weight", Number(weight, &WEIGHT), "of the mean of the penalty over the steps, beside the loss in nats; 0 only measures it. Of a hard head in expected episodes alone: nothing goes back through a draw");
        }
    }
}
