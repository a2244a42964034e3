//! Findings in a run, as text: events noticed in its numbers, their meaning, and common remedies.

use std::collections::{BTreeMap, BTreeSet};

use super::curve;
use super::finding::{Finding, Kind};
use super::progress::RunProgress;
use crate::math::Answer;
use crate::train::{Diagnostics, Diverged, Update};

impl Finding {
    /// A value is no longer finite: where it began.
    pub fn diverged(diverged: &Diverged) -> Self {
        Self {
            sequences: diverged.sequences,
            kind: Kind::Diverged,
            words: format!(
                "{diverged}. {} Try a lower learning rate, or clip the gradient at a smaller norm.",
                on_screen(!diverged.weights)
            ),
        }
    }

    /// Training broke off by an error that said this.
    pub fn broken(sequences: u64, words: &str, is_whole: bool) -> Self {
        let kept = if is_whole {
            "Save the run to resume from there, or restart."
        } else {
            "Restart: the same seed gives the same numbers."
        };
        let on_screen = on_screen(is_whole);
        let words = words.trim_end_matches('.');
        Self {
            sequences,
            kind: Kind::Broken,
            words: format!("Training stopped with an error: {words}. {on_screen} {kept}"),
        }
    }
}

/// Names the machine on screen after training ends this way.
fn on_screen(keeps_weights: bool) -> &'static str {
    if keeps_weights {
        "The weights are those before that update."
    } else {
        "The last good training snapshot is on screen."
    }
}

/// The number of sequences before findings on heads and loss: every machine starts badly.
const EARLY: u64 = 1000;
/// The share of ln N from which an entropy counts as uniform attention to all rows.
const ALIKE: f64 = 0.98;
/// A head that was on fewer rows than this in an episode stays on one.
const ONE_ROW: f64 = 1.2;
/// Steps of the shortest episode in which that means anything.
const STEPS: usize = 6;
/// Beside the norm of the whole gradient, the norm of a tensor below this share is nothing.
const NOTHING: f64 = 1e-7;
/// The factor over its usual norm from which a gradient explodes.
const EXPLODES: f64 = 1000.0;
/// The factor from which factors are no longer written out.
const MANY: f64 = 1e6;
/// Rate at which the moving average of the norm follows a new one.
const FOLLOWS: f64 = 0.02;
/// Limits of a relapse: this factor over the best mean of the loss, and this share of the initial loss.
const RELAPSE: [f64; 2] = [3.0, 0.1];
/// A mean over this share of the sequences before it.
const LATELY: f64 = 0.1;
/// The loss is flat where it has come down by less than this share,
const FLAT: f64 = 0.02;
/// while the number of sequences grew by this factor,
const SINCE: f64 = 1.6;
/// and is not yet below this share of its initial value.
const OPEN: f64 = 0.05;

/// Below this share of where it stood the loss has left a plateau.
const LEFT: f64 = 0.6;

/// The memory for noticing findings.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    /// The findings that hold now, each with its head or tensor: reported when they begin.
    holds: BTreeSet<(Kind, usize)>,
    /// The time of the last report: not repeated before twice as many sequences.
    said: BTreeMap<(Kind, usize), u64>,
    /// ln of the usual norm of the gradient, and of the largest that was usual.
    usual: Option<f64>,
    most: f64,
    /// The best mean of the loss so far.
    best: f64,
    /// The plateau of the loss, as long as it lasts.
    stood: Option<f64>,
    /// Sequences before it began to look.
    since: u64,
    /// The form of the answers.
    answer: Answer,
}

impl Watcher {
    /// Returns an empty one for a run with answers of this form, or for another task in it, from here on.
    pub(super) fn since(sequences: u64, answer: Answer) -> Self {
        Self {
            answer,
            most: f64::NEG_INFINITY,
            best: f64::INFINITY,
            since: sequences,
            ..Self::default()
        }
    }

    /// Returns the findings after one more update; heads, tensors and loss are checked only with diagnostics.
    pub(super) fn observe(
        &mut self,
        progress: &RunProgress,
        update: &Update,
        diagnostics: Option<&Diagnostics>,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut say = |kind, about, holds: bool, words: &dyn Fn() -> String| {
            let key = (kind, about);
            let begins = if holds {
                self.holds.insert(key)
            } else {
                self.holds.remove(&key);
                false
            };
            let last = self.said.get(&key);
            let is_new = begins && last.is_none_or(|last| progress.sequences >= 2 * last);
            if is_new {
                self.said.insert(key, progress.sequences);
                found.push(Finding {
                    sequences: progress.sequences,
                    kind,
                    words: words(),
                });
            }
        };
        // An update whose gradient is not finite is left out.
        let norm = if update.norm.is_finite() {
            update.norm.max(1e-30).ln()
        } else {
            self.usual.unwrap_or(0.0)
        };
        let usual = *self.usual.get_or_insert(norm);
        // For a machine that answers well it is almost 0, except in an episode that it answers wrongly.
        let most = self.most.max(usual);
        self.most = most;
        say(Kind::Exploding, 0, norm > most + EXPLODES.ln(), &|| {
            let times = match (norm - most).exp() {
                times if times < MANY => format!("{times:.0}"),
                times => format!("{times:.0e}"),
            };
            format!(
                "The gradient norm is {times} times its largest usual value: one update can undo what was learned. Try clipping at a smaller norm, or a lower learning rate."
            )
        });
        self.usual = Some(usual + FOLLOWS * (norm - usual));
        if let Some(point) = &update.validated {
            let all = point.validation.perfect >= 1.0;
            say(Kind::Learned, 0, all, &|| {
                let episodes = point.validation.episodes;
                format!("Learned: all {episodes} episodes of a validation are perfect.")
            });
        }
        if let Some(diagnostics) = diagnostics.filter(|_| progress.sequences - self.since >= EARLY)
        {
            heads(progress, diagnostics, &mut say);
            let recent_mean = RecentLoss::of(progress, self.since);
            let RecentLoss { first, now, .. } = recent_mean;
            let (best, answer) = (self.best, self.answer);
            let words = |loss: f64| answer.in_words(loss, 1);
            // A trained machine has small gradients, some of them 0.
            tensors(progress, diagnostics, now > OPEN * first, &mut say);
            let [times, share] = RELAPSE;
            say(
                Kind::Relapse,
                0,
                now > times * best + share * first,
                &|| {
                    format!(
                        "Relapse: the loss is {} per sequence again, after {} at its best. The best weights are kept. Try a lower learning rate once a machine has learned.",
                        words(now),
                        answer.number(best, 1)
                    )
                },
            );
            self.best = best.min(now);
            let stands = recent_mean.is_plateau();
            say(Kind::Plateau, 0, stands, &|| {
                format!(
                    "The loss has stayed at {} per sequence. Plateaus are common before a machine finds the algorithm: wait, try another seed, or start with shorter sequences.",
                    words(now)
                )
            });
            let stood = self.stood.unwrap_or(now);
            let has_left = now < LEFT * stood;
            say(Kind::Moving, 0, has_left, &|| {
                format!(
                    "The loss has left its plateau of {} per sequence and is at {} now.",
                    words(stood),
                    answer.number(now, 1)
                )
            });
            if stands || has_left {
                self.stood = Some(now).filter(|_| stands);
            }
        }
        found
    }
}

/// Reports a finding: its subject, whether it holds, and its text.
type Report<'a> = dyn FnMut(Kind, usize, bool, &dyn Fn() -> String) + 'a;

fn heads(progress: &RunProgress, diagnostics: &Diagnostics, say: &mut Report<'_>) {
    for (index, head) in diagnostics.heads.iter().enumerate() {
        let name = progress.heads.get(index).map_or("", String::as_str);
        let writes = name.starts_with("write");
        // As on screen: R0, W0.
        let name = || name.replace("read", "R").replace("write", "W");
        let rows = head.of;
        let alike = head
            .entropy
            .iter()
            .flatten()
            .all(|&entropy| entropy > ALIKE * (rows as f64).ln());
        let is_known = head.entropy.iter().flatten().next().is_some();
        say(Kind::Uniform, index, is_known && alike && rows > 1, &|| {
            format!(
                "{} attends evenly to all {rows} rows: it sees only their mean. Most machines start this way; if it persists, try a higher learning rate or shorter sequences.",
                name()
            )
        });
        let one = head.rows < ONE_ROW && head.steps >= STEPS;
        say(Kind::OneRow, index, one, &|| {
            let so = if writes {
                "so the memory holds one vector at a time"
            } else {
                "so it reads only what that row holds"
            };
            format!(
                "{} stays on a single row for the whole episode, {so}. Try another seed, or a lower learning rate.",
                name()
            )
        });
    }
}

fn tensors(progress: &RunProgress, diagnostics: &Diagnostics, learns: bool, say: &mut Report<'_>) {
    let whole = diagnostics.norm();
    for (index, &norm) in diagnostics.norms.iter().enumerate() {
        // A tensor that nothing depends on has no gradient at all.
        let vanishes = learns && norm > 0.0 && norm < NOTHING * whole;
        say(Kind::Vanishing, index, vanishes, &|| {
            let name = progress
                .diagnostics
                .tensors
                .get(index)
                .map_or("", String::as_str);
            let share = norm / whole;
            format!(
                "The gradient norm of `{name}` is {share:.0e} of the whole: it learns last. Look for a saturated gate or strength before it."
            )
        });
    }
}

/// The loss at first and now, as a mean, and whether it was the same for a while.
pub(super) struct RecentLoss {
    first: f64,
    pub(super) now: f64,
    is_flat: bool,
}

impl RecentLoss {
    /// Returns the summary of everything after `since` sequences.
    pub(super) fn of(progress: &RunProgress, since: u64) -> Self {
        let points = progress.curve.points();
        let points = &points[points.partition_point(|point| point.sequences <= since)..];
        let mean_until = |until: f64| {
            let from = until * (1.0 - LATELY);
            let at = |point: &super::Point| (point.sequences - since) as f64;
            let inside = |point: &&super::Point| (from..=until).contains(&at(point));
            let inside = points
                .iter()
                .rev()
                .skip_while(|point| at(point) > until)
                .take_while(inside);
            curve::mean(inside, |point| point.bits)
        };
        let at = (progress.sequences - since) as f64;
        let now = mean_until(at).unwrap_or(f64::NAN);
        let first = points.first().map_or(now, |point| point.bits);
        let is_same = |before: f64| (before - now).abs() < FLAT * now;
        let earlier = [SINCE, SINCE.sqrt()].map(|times| mean_until(at / times));
        Self {
            first,
            now,
            is_flat: at / SINCE >= EARLY as f64
                && earlier.iter().all(|before| before.is_some_and(is_same)),
        }
    }

    /// True for a loss that does not change, far from 0.
    pub(super) fn is_plateau(&self) -> bool {
        self.is_flat && self.now > OPEN * self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Curve;
    use crate::train::{AuxLosses, HeadDiagnostics};

    fn update(bits: f64, norm: f64) -> Update {
        Update {
            bits,
            wrong: 0.0,
            aux: AuxLosses::default(),
            norm,
            validated: None,
        }
    }

    /// Returns the findings in a run with these losses, one per update of one sequence, with diagnostics at each.
    fn kinds(losses: impl Iterator<Item = f64>, diagnostics: &Diagnostics) -> Vec<Kind> {
        kinds_with(losses, diagnostics, u64::MAX)
    }

    /// The kinds of findings where another task begins after some sequences.
    fn kinds_with(
        losses: impl Iterator<Item = f64>,
        diagnostics: &Diagnostics,
        since: u64,
    ) -> Vec<Kind> {
        let mut progress = RunProgress {
            heads: vec!["read0".to_owned()],
            ..RunProgress::default()
        };
        let mut watcher = Watcher::since(0, Answer::Bits);
        let mut curve = Curve::default();
        let mut kinds = Vec::new();
        for (index, bits) in losses.enumerate() {
            if index as u64 == since {
                watcher = Watcher::since(since, Answer::Bits);
            }
            progress.sequences = index as u64 + 1;
            let update = update(bits, 1.0);
            curve.push(progress.sequences, &update);
            let looks = index % 16 == 0;
            if looks {
                progress.curve = curve.clone();
            }
            let found = watcher.observe(&progress, &update, looks.then_some(diagnostics));
            assert!(found.iter().all(|finding| finding.words.ends_with('.')));
            kinds.extend(found.into_iter().map(|finding| finding.kind));
        }
        kinds
    }

    fn healthy() -> Diagnostics {
        Diagnostics {
            heads: vec![HeadDiagnostics {
                entropy: [Some(0.5); 2],
                gate: [None; 2],
                rows: 12.0,
                of: 64,
                steps: 20,
            }],
            norms: vec![1.0, 0.5],
        }
    }

    fn falling(index: u64) -> f64 {
        80.0 / (1.0 + index as f64 / 500.0)
    }

    #[test]
    fn healthy_run_has_no_findings() {
        assert_eq!(kinds((0..8000).map(falling), &healthy()), []);
    }

    #[test]
    fn finding_is_reported_once() {
        let mut diagnostics = healthy();
        diagnostics.heads[0].entropy = [None, Some(64f64.ln())];
        assert_eq!(kinds((0..4000).map(falling), &diagnostics), [Kind::Uniform]);
        let mut diagnostics = healthy();
        diagnostics.heads[0].rows = 1.0;
        assert_eq!(kinds((0..4000).map(falling), &diagnostics), [Kind::OneRow]);
        let mut diagnostics = healthy();
        diagnostics.norms = vec![1.0, 1e-9];
        assert_eq!(
            kinds((0..4000).map(falling), &diagnostics),
            [Kind::Vanishing]
        );
        // Nothing depends on the second one.
        diagnostics.norms = vec![1.0, 0.0];
        assert_eq!(kinds((0..4000).map(falling), &diagnostics), []);
    }

    #[test]
    fn plateau_and_setback_are_distinguished() {
        let stands = (0..6000).map(|_| 60.0);
        assert_eq!(kinds(stands, &healthy()), [Kind::Plateau]);
        let leaves = (0..9000).map(|index| if index < 6000 { 60.0 } else { 10.0 });
        assert_eq!(kinds(leaves, &healthy()), [Kind::Plateau, Kind::Moving]);
        let relapses = (0..9000).map(|index| if index < 6000 { falling(index) } else { 70.0 });
        assert_eq!(kinds(relapses, &healthy())[0], Kind::Relapse);
    }

    #[test]
    fn task_change_is_not_a_setback() {
        let losses = || (0..9000).map(|index| if index < 6000 { falling(index) } else { 70.0 });
        assert_eq!(kinds_with(losses().take(7500), &healthy(), 6000), []);
        assert_eq!(kinds_with(losses(), &healthy(), 6000), [Kind::Plateau]);
    }

    #[test]
    fn overflowing_gradient_norm_is_reported_and_ignored_in_average() {
        let progress = RunProgress::default();
        let mut watcher = Watcher::since(0, Answer::Bits);
        let mut curve = Curve::default();
        let beyond = f64::from(f32::MAX).sqrt();
        for sequences in 1..=50 {
            let update = update(1.0, if sequences > 48 { beyond } else { 2.0 });
            curve.push(sequences, &update);
            for finding in watcher.observe(&progress, &update, None) {
                assert!(finding.words.contains(" 9e18 times"), "{}", finding.words);
            }
        }
        assert!(curve.points().iter().all(|point| point.norm <= beyond));
        assert!(watcher.said.contains_key(&(Kind::Exploding, 0)));
        assert!(watcher.usual.unwrap() < 4.0);
    }

    #[test]
    fn exploding_gradient_is_reported_immediately() {
        let progress = RunProgress::default();
        let mut watcher = Watcher::since(0, Answer::Bits);
        for _ in 0..50 {
            assert_eq!(watcher.observe(&progress, &update(1.0, 2.0), None), []);
        }
        let found = watcher.observe(&progress, &update(1.0, 20_000.0), None);
        assert_eq!(found[0].kind, Kind::Exploding);
        assert!(found[0].words.contains("10000 times"), "{}", found[0].words);
    }
}
