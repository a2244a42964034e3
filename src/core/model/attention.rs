//! Attention mechanism of a head: its score, the stages after it, and how the weighting is formed.
//!
//! Each is one word for all heads, or a word for each. The weights of a mechanism are in the table of arrays of a head
//! ([`super::HeadTrace`]): constants of an episode, so that a trace can be followed without the weights.

use std::ops::Range;

use crate::keys::Field::{Choice, ChoicePerHead, Integer, Number};
pub use crate::keys::Switch;
use crate::keys::{ConfigError, Keys, PerHead, Rule, Table, Words};

/// The mechanisms of the heads of a machine. Its [`Keys`] list ranges and purposes.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionConfig {
    /// Score function that compares a key with a memory row.
    pub score: PerHead<Score>,
    /// Units of the additive score, A.
    pub units: usize,
    /// Emission of β.
    pub strength: PerHead<Strength>,
    /// Presence of a gate.
    pub gate: PerHead<Switch>,
    /// Presence of sharpening.
    pub sharpening: PerHead<Switch>,
    /// Erasing by a write head before it adds; read heads do neither.
    pub erase: PerHead<Switch>,
    /// Form in which scores become a weighting.
    pub weighting: PerHead<Weighting>,
    /// Parameters of the weightings other than the soft one.
    pub parameters: Parameters,
}

/// The numbers of local and Bayesian weightings, the same for all heads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Half the width of the window of local attention, D rows.
    pub window: usize,
    /// Units of the layer that predicts the centre of the window.
    pub position_units: usize,
    /// Shape k of the Weibull posterior.
    pub weibull_shape: f64,
    /// Rate β of the gamma prior.
    pub gamma_rate: f64,
    /// σ of the lognormal posterior.
    pub lognormal_sigma: f64,
    /// σ of the lognormal prior.
    pub prior_sigma: f64,
    /// Form of the prior mean as a function of the memory rows.
    pub prior: PriorForm,
    /// Units of the layer that the prior comes from.
    pub prior_units: usize,
}

/// The list of scores: word, name, and the file in `score`.
macro_rules! scores {
    ($do:ident $($before:tt)*) => {
        $do! {
            $($before)*
            /// cos(k, M(i)) (Graves 2014, equation 6).
            "cosine": Cosine in cosine,
            /// v·tanh(W·[k; M(i)]) (Bahdanau 2015).
            "additive": Additive in additive,
            /// (W·k)(i): of the position alone (Luong 2015).
            "location": Location in location,
            /// k·W·M(i) (Luong 2015).
            "general": General in general,
            /// k·M(i) (Luong 2015).
            "dot": Dot in dot,
            /// k·M(i) / √M (Vaswani 2017).
            "scaled-dot": ScaledDot in scaled_dot,
        }
    };
}
pub(super) use scores;

/// The list of weightings: word, name, and the file in `weighting`.
macro_rules! weightings {
    ($do:ident $($before:tt)*) => {
        $do! {
            $($before)*
            /// A softmax over all rows.
            "soft": Soft in soft,
            /// A softmax over the rows within D of row min(t, N − 1) (Luong 2015, §3.2).
            "local-monotonic": LocalMonotonic in local,
            /// A softmax over the rows within D of p = N·σ(vᵀ·tanh(W·k)), times a Gaussian about p (Luong 2015, §3.2).
            "local-predictive": LocalPredictive in local,
            /// One row, sampled from the weighting (Xu 2015, §4.1).
            "hard": Hard in hard,
            /// Shares of Weibull variables (Fan, Zhang, Chen and Zhou 2020).
            "weibull": Weibull in bayesian,
            /// Shares of lognormal variables (Fan, Zhang, Chen and Zhou 2020).
            "lognormal": Lognormal in bayesian,
        }
    };
}
pub(super) use weightings;

/// Makes an enumeration of one of these lists.
macro_rules! words {
    ($(#[$attribute:meta])* $enum:ident: $($(#[$doc:meta])* $word:literal: $name:ident in $file:ident,)*) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $enum {
            $($(#[$doc])* $name,)*
        }

        impl Words for $enum {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$name)),*];
        }

        impl $enum {
            /// All of them, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

scores! {
    words
    /// Score function that compares a key with every memory row.
    Score:
}

weightings! {
    words
    /// Form in which scores become a weighting.
    Weighting:
}

/// The form in which prior and posterior are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorForm {
    /// Form of the paper: m = exp(softmax(z)), between 1 and e; ψ = β·K.
    Text,
    /// Form of the authors' code: m = softmax(z); ψ = ln softmax(β·K).
    Code,
}

/// The key strength β.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// The head emits it.
    Emitted,
    /// β is 1.
    One,
}

impl Words for Strength {
    const WORDS: &'static [(&'static str, Self)] =
        &[("emitted", Self::Emitted), ("one", Self::One)];
}

impl Words for PriorForm {
    const WORDS: &'static [(&'static str, Self)] = &[("text", Self::Text), ("code", Self::Code)];
}

impl Weighting {
    /// Returns true if the head sees only a window of rows.
    pub fn is_local(self) -> bool {
        matches!(self, Self::LocalMonotonic | Self::LocalPredictive)
    }

    /// Returns true if the attention weights are random variables with a prior.
    pub fn is_bayesian(self) -> bool {
        matches!(self, Self::Weibull | Self::Lognormal)
    }

    /// Returns true if the head samples.
    pub fn is_random(self) -> bool {
        self == Self::Hard || self.is_bayesian()
    }
}

impl AttentionConfig {
    /// The heads of the paper.
    pub const DEFAULT: Self = Self {
        score: PerHead::all(Score::Cosine),
        units: 4,
        strength: PerHead::all(Strength::Emitted),
        gate: PerHead::all(Switch::On),
        sharpening: PerHead::all(Switch::On),
        erase: PerHead::all(Switch::On),
        weighting: PerHead::all(Weighting::Soft),
        parameters: Parameters::DEFAULT,
    };
}

impl Parameters {
    /// The attention of a preset without these keys.
    pub const DEFAULT: Self = Self {
        window: 4,
        position_units: 16,
        weibull_shape: 10.0,
        gamma_rate: 1.0,
        lognormal_sigma: 0.1,
        prior_sigma: 1.0,
        prior: PriorForm::Text,
        prior_units: 8,
    };
}

/// Range of the amount of noise, or of the width of a prior.
const POSITIVE: Rule = Rule {
    allowed: "0.001 to 100000",
    holds: |value| (1e-3..=1e5).contains(&value),
    ends: [1e-3, 1e5],
};

impl Keys for AttentionConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("score", ChoicePerHead(&mut self.score), SCORE);
        self.score_keys(to);
        let Self { strength, gate, sharpening, erase, .. } = self;
        to.key("strength", ChoicePerHead(strength), "key strength β, which multiplies the score: emitted by the head, or fixed at 1");
        to.key("gate", ChoicePerHead(gate), "interpolation with the previous weighting (equation 7)");
        to.key("sharpening", ChoicePerHead(sharpening), "sharpening of the weighting (equation 9)");
        to.key("erase", ChoicePerHead(erase), "whether a write head erases before it adds (equation 3); with `off` it only adds to the values already in memory; ignored for read heads");
        to.key("weighting", ChoicePerHead(&mut self.weighting), WEIGHTING);
        self.weighting_keys(to);
    }
}

/// Description of the key `score`.
const SCORE: &str = "score function that compares the key with a memory row: the paper's cosine or another (Bahdanau 2015, Luong 2015, Vaswani 2017)";
/// Description of the key `weighting`.
const WEIGHTING: &str = "how scores become a weighting: softmax over all rows, softmax within a window, one sampled row, or random weights with a prior";

impl AttentionConfig {
    /// The parameters of the score.
    fn score_keys(&mut self, to: &mut Table<'_>) {
        if self.score.any(|score| score == Score::Additive) {
            to.key(
                "units",
                Integer(&mut self.units, 1..=1024),
                "units A of the additive score",
            );
        }
    }

    /// The parameters of the weighting.
    #[rustfmt::skip] // A row for every key.
    fn weighting_keys(&mut self, to: &mut Table<'_>) {
        let Self { weighting, parameters: of, .. } = self;
        if weighting.any(Weighting::is_local) {
            to.key("window", Integer(&mut of.window, 1..=1 << 20), "half-width D of the window in rows; the window is cut off at the first and the last row");
        }
        if weighting.any(|weighting| weighting == Weighting::LocalPredictive) {
            to.key("position_units", Integer(&mut of.position_units, 1..=1024), "units of the layer that predicts the window centre");
        }
        if weighting.any(|weighting| weighting == Weighting::Weibull) {
            to.key("weibull_shape", Number(&mut of.weibull_shape, &POSITIVE), "shape k of the Weibull posterior; a larger k means less noise");
            to.key("gamma_rate", Number(&mut of.gamma_rate, &POSITIVE), "rate β of the gamma prior, whose mean is computed from the memory rows");
        }
        if weighting.any(|weighting| weighting == Weighting::Lognormal) {
            to.key("lognormal_sigma", Number(&mut of.lognormal_sigma, &POSITIVE), "σ of the lognormal posterior; a smaller σ means less noise");
            to.key("prior_sigma", Number(&mut of.prior_sigma, &POSITIVE), "σ of the lognormal prior, whose mean is computed from the memory rows");
        }
        if weighting.any(Weighting::is_bayesian) {
            to.key("prior", Choice(&mut of.prior), "form of the contextual prior: `text` as printed in the paper, `code` as in the authors' code");
            to.key("prior_units", Integer(&mut of.prior_units, 1..=1024), "units of the layer that computes the prior");
        }
    }
}

/// The mechanism of one head, and the position of its emitted parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    /// Score function that compares a key with a memory row.
    pub score: Score,
    /// Form in which scores become a weighting.
    pub weighting: Weighting,
    /// Parameters of the weighting.
    pub parameters: Parameters,
    /// Form of the shift.
    pub shift_form: ShiftForm,
    /// The parameters that it emits.
    pub columns: HeadColumns,
    /// The memory rows that it sees where the memory has a row for each step.
    pub sees: Option<Sees>,
    /// The layer of heads that it belongs to.
    pub layer: usize,
}

/// The memory rows that a head sees in a step, where a row belongs to each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// All rows of the source, in the answer.
    All,
    /// Those of earlier steps.
    Earlier,
    /// Those of this step and of earlier ones.
    UpToNow,
    /// Those of all steps, later ones too.
    Sequence,
    /// In the answer, those of the source; the answer has rows, too.
    Source,
    /// Those of earlier steps of the same part: the source or the answer.
    OfPart,
}

impl Default for Mechanism {
    fn default() -> Self {
        AttentionConfig::DEFAULT.of(0)
    }
}

impl AttentionConfig {
    /// Returns the mechanism of a head without its shift and columns.
    pub(super) fn of(&self, head: usize) -> Mechanism {
        Mechanism {
            score: self.score.of(head),
            weighting: self.weighting.of(head),
            parameters: self.parameters,
            shift_form: ShiftForm::Softmax,
            columns: HeadColumns::default(),
            sees: None,
            layer: 0,
        }
    }

    /// Holds it to the heads that there are.
    pub(super) fn fits(
        &self,
        heads: usize,
        shift_form: &PerHead<ShiftForm>,
    ) -> Result<(), ConfigError> {
        let fits = |field: &str, given: Option<usize>| {
            let count = given.unwrap_or(heads);
            ConfigError::unless(count == heads, field, format!("a list of {count}"), || {
                format!("one word for all heads, or a list of {heads}, read heads first")
            })
        };
        fits("heads.attention.score", self.score.heads())?;
        fits("heads.attention.strength", self.strength.heads())?;
        fits("heads.attention.gate", self.gate.heads())?;
        fits("heads.attention.sharpening", self.sharpening.heads())?;
        fits("heads.attention.erase", self.erase.heads())?;
        fits("heads.attention.weighting", self.weighting.heads())?;
        fits("heads.shift.form", shift_form.heads())
    }
}

/// The two forms of the shift weighting (§3.3.2), or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShiftForm {
    /// A softmax over the offsets −k ..= k.
    Softmax,
    /// One scalar, read as the lower bound of a uniform distribution of width one.
    Scalar,
    /// The focus does not move.
    None,
}

impl Words for ShiftForm {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("softmax", Self::Softmax),
        ("scalar", Self::Scalar),
        ("none", Self::None),
    ];
}

/// Columns of one head's parameters in the row of pre-activations of all heads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadColumns {
    /// Key k, M values.
    pub key: Range<usize>,
    /// Key strength β; empty where it is 1.
    pub strength: Range<usize>,
    /// Interpolation gate g; empty where there is none.
    pub gate: Range<usize>,
    /// Shift s: 2k+1 logits, one scalar, or nothing.
    pub shift: Range<usize>,
    /// Sharpening γ; empty where there is none.
    pub sharpening: Range<usize>,
    /// Erase e, M values; empty for a read head, and for one that erases nothing.
    pub erase: Range<usize>,
    /// Add a, M values; empty for a read head.
    pub add: Range<usize>,
}

impl HeadColumns {
    /// All columns of this head.
    pub fn all(&self) -> Range<usize> {
        self.key.start..self.add.end
    }
}
