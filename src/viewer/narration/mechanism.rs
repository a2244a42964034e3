//! Plain sentences about the attention mechanism of a head.

use crate::figure::facts::equations::InStep;
use crate::figure::facts::numbers;
use crate::figure::facts::scores::score_text;
use crate::model::attention::{Score, Weighting};
use crate::model::{HeadTrace, NoiseMode, Trace, peak};

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

fn n(value: f32) -> String {
    numbers::short(value, 2)
}

/// Describes how the scores of a step became wᶜ.
pub(super) fn content(at: &InStep<'_>, most: &str) -> String {
    let head = at.head;
    let score = score_text(head.mechanism.score).step;
    let beta = at.strength().map(|beta| format!("β {}", n(beta)));
    let window = at.window().map(|window| {
        let rows = window.rows(head.similarity.width());
        format!("in the window of rows {} to {}", rows.start, rows.end - 1)
    });
    let random = head.mechanism.weighting.is_bayesian() && at.sampling != NoiseMode::Mean;
    let noise = random.then(|| "weights sampled at random".to_owned());
    let with: Vec<_> = beta.into_iter().chain(window).chain(noise).collect();
    if with.is_empty() {
        return format!("{score} The largest weight is {most}.");
    }
    format!(
        "{score} With {} the largest weight is {most}.",
        with.join(", ")
    )
}

/// Describes how a hard head selected its row.
pub(super) fn draw(at: &InStep<'_>) -> Option<String> {
    let (alpha, drawn) = (at.head.distribution.row(at.step), at.draw()?);
    let bits = n(crate::figure::entropy(alpha));
    let (row, chance) = (drawn.row, n(drawn.chance));
    Some(match at.sampling {
        NoiseMode::Mean => {
            format!("It takes the most likely row, {row}: α {chance}. Entropy of α: {bits} bits.")
        }
        NoiseMode::Sampled => {
            let (u, from, to) = (n(drawn.u), n(drawn.from), n(drawn.to));
            let (likely, _) = peak(alpha)?;
            let not = if likely == row {
                String::new()
            } else {
                format!(" Row {likely} was more likely.")
            };
            format!(
                "u {u} lies between {from} and {to}: row {row} is sampled, with probability {chance}.{not} Entropy of \
                 α: {bits} bits."
            )
        }
        NoiseMode::Expected => format!(
            "Nothing is sampled: the head attends to all rows by their probability (entropy of α: {bits} bits)."
        ),
    })
}
