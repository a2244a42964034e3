//! What a head does that another does not, in plain sentences.

use crate::figure::numbers;
use crate::figure::sums::InStep;
use crate::model::attention::{Score, Weighting};
use crate::model::{HeadTrace, Sampling, Trace, peak};

/// What is said about the three parts of what samples are unsure of.
pub const UNCERTAIN: &str = "Bits for each bit of the answer. Uncertain: the entropy of the mean of the samples. Noise: \
    what every sample is unsure of by itself. Not known: what is left, the mutual information, by which the samples disagree.";

/// How a key is compared with the rows of the memory.
pub fn about_score(score: Score) -> &'static str {
    match score {
        Score::Cosine => "Cosine: how far key and row point the same way, however long they are.",
        Score::Additive => {
            "Additive: a small learned layer looks at key and row together, and its units vote."
        }
        Score::Location => {
            "Location: the key names rows by their place alone; what is written in them does not count."
        }
        Score::General => {
            "General: a learned matrix says which parts of the key belong to which parts of a row."
        }
        Score::Dot => "Dot: number by number, key times row; long rows match more.",
        Score::ScaledDot => {
            "Scaled dot: the dot product, made smaller the wider the rows are, so that it does not grow with them."
        }
    }
}

/// What the weighting of a head is called.
pub fn mechanism(head: &HeadTrace) -> &'static str {
    match head.mechanism.weighting {
        Weighting::Soft => "Soft",
        Weighting::LocalMonotonic | Weighting::LocalPredictive => "Window",
        Weighting::Hard => "Draw",
        Weighting::Weibull | Weighting::Lognormal => "Prior",
    }
}

/// What it means.
pub fn about(head: &HeadTrace) -> &'static str {
    match head.mechanism.weighting {
        Weighting::Soft => "Soft: a share for every row.",
        Weighting::LocalMonotonic => {
            "Window: the head sees only the rows around p, and p is the number of the step."
        }
        Weighting::LocalPredictive => {
            "Window: the head sees only the rows around p, which it predicts from its key; rows far from p count less."
        }
        Weighting::Hard => {
            "Hard: the head takes one row alone. α says how likely each is; a draw picks one of them."
        }
        Weighting::Weibull | Weighting::Lognormal => {
            "The shares are random around their means. The prior m is what the rows lead to expect before the key is \
             known; the divergence says how far the head goes from it."
        }
    }
}

/// What a head does otherwise than those of the paper, if anything.
pub fn otherwise(head: &HeadTrace) -> Option<String> {
    let of = &head.mechanism;
    let score = (of.score != Score::Cosine).then(|| about_score(of.score));
    let weighting = (of.weighting != Weighting::Soft).then(|| about(head));
    let told: Vec<_> = score.into_iter().chain(weighting).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// True of a machine with a head that does something otherwise.
pub fn attends_otherwise(trace: &Trace) -> bool {
    trace.heads.iter().any(|head| otherwise(head).is_some())
}

/// How the episode of a machine that can draw came about; nothing of one that draws nothing.
pub fn sampling(trace: &Trace) -> Option<&'static str> {
    let random = |head: &HeadTrace| head.mechanism.weighting.is_random();
    if !trace.heads.iter().any(random) {
        return None;
    }
    let hard = trace.heads.iter().any(|head| head.distribution.width() > 0);
    Some(match (trace.sampling, hard) {
        (Sampling::Mean, true) => "nothing is drawn: most likely rows",
        (Sampling::Mean, false) => "nothing is drawn: mean weights",
        (Sampling::Drawn, true) => "rows drawn by chance",
        (Sampling::Drawn | Sampling::Expected, false) => "weights drawn by chance",
        (Sampling::Expected, true) => "expected: all rows, as likely as they are",
    })
}

fn n(value: f32) -> String {
    numbers::short(value, 2)
}

/// How the scores of a step became wᶜ.
pub(super) fn content(at: &InStep<'_>, most: &str) -> String {
    let head = at.head;
    let score = match head.mechanism.score {
        Score::Cosine => "The key is compared with every row.",
        Score::Additive => "A learned layer scores the key with every row.",
        Score::Location => "The key is turned into a score for every place, whatever is there.",
        Score::General => "The key, turned by a learned matrix, is multiplied with every row.",
        Score::Dot | Score::ScaledDot => "The key is multiplied with every row.",
    };
    let beta = at.strength().map(|beta| format!("β {}", n(beta)));
    let window = at.window().map(|window| {
        let rows = window.rows(head.similarity.width());
        format!("in the window of rows {} to {}", rows.start, rows.end - 1)
    });
    let random = head.mechanism.weighting.is_bayesian() && at.sampling != Sampling::Mean;
    let noise = random.then(|| "weights drawn by chance".to_owned());
    let with: Vec<_> = beta.into_iter().chain(window).chain(noise).collect();
    if with.is_empty() {
        return format!("{score} The most weight is {most}.");
    }
    format!(
        "{score} With {} the most weight is {most}.",
        with.join(", ")
    )
}

/// How a hard head came to its row.
pub(super) fn draw(at: &InStep<'_>) -> Option<String> {
    let (alpha, drawn) = (at.head.distribution.row(at.step), at.draw()?);
    let bits = n(crate::figure::entropy(alpha));
    let (row, chance) = (drawn.row, n(drawn.chance));
    Some(match at.sampling {
        Sampling::Mean => {
            format!(
                "It takes the most likely row, {row}: α {chance}. The chances have {bits} bits of entropy."
            )
        }
        Sampling::Drawn => {
            let (u, from, to) = (n(drawn.u), n(drawn.from), n(drawn.to));
            let (likely, _) = peak(alpha)?;
            let not = if likely == row {
                String::new()
            } else {
                format!(" Row {likely} was more likely.")
            };
            format!(
                "u {u} lies between {from} and {to}: row {row} is drawn, which had a chance of {chance}.{not} The chances \
                 have {bits} bits of entropy."
            )
        }
        Sampling::Expected => format!(
            "Nothing is drawn: the head attends to all rows, as likely as they are ({bits} bits of entropy)."
        ),
    })
}
