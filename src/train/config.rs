//! How a machine is trained. Checked once, in [`TrainingConfig::validate`]; trusted afterwards.

use crate::model::config::{ConfigError, brief};

/// Everything about a training run but the task and the machine.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `optimizer` | RMSProp | | the update rule and its rates |
/// | `final_rate` | 1.0 | 0 ..= 1 | rate at the end of the run, as a share of the first; falls along half a cosine |
/// | `settled_below` | 0: never | 0 or more | bits per sequence: a validation below it settles the run |
/// | `settled_rate` | 0.1 | 0 ..= 1 | rate of a settled run, as a share of what it would be otherwise |
/// | `clip` | elementwise 10 | > 0 in f32 | what keeps gradients from exploding |
/// | `batch` | 1 | 1 ..= 4096 | episodes per update; the gradient is their mean |
/// | `sequences` | 100,000 | 1 ..= 10^12 | episodes in the whole run |
/// | `seed` | 1 | | of the initial weights and of every episode |
/// | `validation_every` | 1000 | 1 ..= 10^12 | sequences between validations; the best weights are kept |
/// | `validation_episodes` | 100 | 1 ..= 1,000,000 | episodes per validation, always the same ones |
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

    /// Checks every range in the table above, and those of the optimizer, in the f32 that training runs in.
    ///
    /// # Errors
    /// The first field out of range, with what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let within = |field, value: u64, most: u64| {
            ConfigError::unless((1..=most).contains(&value), field, value, || {
                format!("1 to {most}")
            })
        };
        self.optimizer.validate()?;
        share("final_rate", self.final_rate)?;
        let is_bits = self.settled_below >= 0.0 && self.settled_below.is_finite();
        ConfigError::unless(is_bits, "settled_below", brief(self.settled_below), || {
            "bits per sequence, 0 or more".into()
        })?;
        share("settled_rate", self.settled_rate)?;
        if let Clip::Elementwise(limit) | Clip::GlobalNorm(limit) = self.clip {
            positive("clip.limit", limit)?;
        }
        within("batch", self.batch as u64, 4096)?;
        within("sequences", self.sequences, Self::MAX_SEQUENCES)?;
        within(
            "validation_every",
            self.validation_every,
            Self::MAX_SEQUENCES,
        )?;
        let episodes = self.validation_episodes as u64;
        within("validation_episodes", episodes, 1_000_000)
    }
}

impl OptimizerConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        match *self {
            Self::RmsProp {
                rate,
                decay,
                momentum,
                epsilon,
            } => {
                positive("optimizer.rate", rate)?;
                fading("optimizer.decay", decay)?;
                fading("optimizer.momentum", momentum)?;
                positive("optimizer.epsilon", epsilon)
            }
            Self::Adam {
                rate,
                beta1,
                beta2,
                epsilon,
            } => {
                positive("optimizer.rate", rate)?;
                fading("optimizer.beta1", beta1)?;
                fading("optimizer.beta2", beta2)?;
                positive("optimizer.epsilon", epsilon)
            }
        }
    }
}

/// From 0 to 1.
fn share(field: &'static str, value: f64) -> Result<(), ConfigError> {
    let is_share = (0.0..=1.0).contains(&value);
    ConfigError::unless(is_share, field, brief(value), || "0 to 1".into())
}

/// Above 0 and finite, also as an f32.
fn positive(field: &'static str, value: f64) -> Result<(), ConfigError> {
    let single = value as f32;
    let is_right = single > 0.0 && single.is_finite();
    ConfigError::unless(is_right, field, brief(value), || {
        "a number above 0 that 32 bits can hold".into()
    })
}

/// What a running mean keeps of itself: with a share of 1, also after rounding to f32, it would never move.
fn fading(field: &'static str, value: f64) -> Result<(), ConfigError> {
    let is_right = (0.0..1.0).contains(&(value as f32));
    ConfigError::unless(is_right, field, brief(value), || {
        "from 0 to less than 1, in 32 bits".into()
    })
}

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
