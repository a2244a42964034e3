//! How a machine is trained. Checked once by the preset reader; trusted afterwards.

/// Everything about a training run but the task and the machine.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `optimizer` | RMSProp | | the update rule and its rates |
/// | `final_rate` | 1.0 | 0 ..= 1 | rate at the end of the run, as a share of the first; falls along half a cosine |
/// | `clip` | elementwise 10 | > 0 | what keeps gradients from exploding |
/// | `batch` | 1 | 1 ..= 4096 | episodes per update; the gradient is their mean |
/// | `sequences` | 100,000 | ≥ 1 | episodes in the whole run |
/// | `seed` | 1 | | of the initial weights and of every episode |
/// | `validation_every` | 1000 | ≥ 1 | sequences between validations; the best weights are kept |
/// | `validation_episodes` | 100 | ≥ 1 | episodes per validation, always the same ones |
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingConfig {
    /// The update rule.
    pub optimizer: OptimizerConfig,
    /// Rate at the end of the run, as a share of the rate at its start.
    pub final_rate: f64,
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

/// The update rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptimizerConfig {
    /// Graves' centred RMSProp with momentum (Graves 2013, equations 38 to 41).
    RmsProp {
        /// Learning rate; the paper: 1e-4 or 3e-5.
        rate: f64,
        /// Decay of the running moments; the paper: 0.95.
        decay: f64,
        /// Momentum; the paper: 0.9.
        momentum: f64,
        /// Added under the root; the paper: 1e-4.
        epsilon: f64,
    },
    /// Adam (Kingma and Ba 2015), bias-corrected.
    Adam {
        /// Learning rate.
        rate: f64,
        /// Decay of the first moment.
        beta1: f64,
        /// Decay of the second moment.
        beta2: f64,
        /// Added to the root.
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
