//! Plain sentences about the attention mechanism of a head.

use crate::figure::facts::family::score::score_text;
use crate::model::attention::{Score, Weighting};
use crate::model::{HeadTrace, NoiseMode, Trace};
use crate::train::Recording;

/// The explanation of total, aleatoric and epistemic uncertainty.
pub const UNCERTAIN: &str = "Bits per bit of the answer. Total: entropy of the mean of the samples. Aleatoric: mean \
    entropy of the single samples (noise). Epistemic: the rest, the mutual information (disagreement between \
    samples).";

/// Returns the name of the kind of weighting of a head.
pub fn mechanism(head: &HeadTrace) -> &'static str {
    match head.mechanism.weighting {
        Weighting::Soft => "Soft",
        Weighting::LocalMonotonic | Weighting::LocalPredictive => "Window",
        Weighting::Hard => "Hard",
        Weighting::Weibull | Weighting::Lognormal => "Prior",
    }
}

/// Describes the kind of weighting of a head.
pub fn about(head: &HeadTrace) -> &'static str {
    match head.mechanism.weighting {
        Weighting::Soft => "Soft: every row has a weight.",
        Weighting::LocalMonotonic => {
            "Window: the head sees only the rows around p, and p is the step number."
        }
        Weighting::LocalPredictive => {
            "Window: the head sees only the rows around p, which it predicts from its key; rows far from p get less weight."
        }
        Weighting::Hard => {
            "Hard: the head attends to a single row. α is the probability of each row; one is sampled."
        }
        Weighting::Weibull | Weighting::Lognormal => {
            "The weights are random around their means. The prior m is computed from the rows before the key is known; \
             the divergence measures how far the head is from it."
        }
    }
}

/// Describes the differences of a head from those of the paper, if any.
pub fn otherwise(head: &HeadTrace) -> Option<String> {
    let of = &head.mechanism;
    let score = (of.score != Score::Cosine).then(|| score_text(of.score).about);
    let weighting = (of.weighting != Weighting::Soft).then(|| about(head));
    let description: Vec<_> = score.into_iter().chain(weighting).collect();
    (!description.is_empty()).then(|| description.join(" "))
}

/// True of a machine with a head that does something otherwise.
pub fn attends_otherwise(trace: &Trace) -> bool {
    trace.heads.iter().any(|head| otherwise(head).is_some())
}

/// Describes the sampling of an episode; `None` for a machine that does not sample.
pub fn sampling(trace: &Trace) -> Option<&'static str> {
    let random = |head: &HeadTrace| head.mechanism.weighting.is_random();
    if !trace.heads.iter().any(random) {
        return None;
    }
    let hard = trace.heads.iter().any(|head| head.distribution.width() > 0);
    Some(match (trace.sampling, hard) {
        (NoiseMode::Mean, true) => "nothing sampled: most likely rows",
        (NoiseMode::Mean, false) => "nothing sampled: mean weights",
        (NoiseMode::Sampled, true) => "rows sampled at random",
        (NoiseMode::Sampled | NoiseMode::Expected, false) => "weights sampled at random",
        (NoiseMode::Expected, true) => "expected: all rows by probability",
    })
}

/// Describes the sampling of an episode, for a head that samples.
pub(super) fn of_episode(recording: &Recording, head: usize) -> Option<String> {
    let head = recording.trace.heads.get(head)?;
    let said = sampling(&recording.trace).filter(|_| head.mechanism.weighting.is_random())?;
    let is_sampled = recording.trace.sampling == NoiseMode::Sampled;
    let draw = recording.origin.filter(|_| is_sampled);
    let draw = draw.map_or_else(String::new, |draw| format!(", sample {}", draw.sample));
    Some(format!("Episode: {said}{draw}."))
}
