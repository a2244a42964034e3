//! What is happening in a run, in words: what is noticed from its numbers, what that means, and what people do about it.

use std::collections::{BTreeMap, BTreeSet};

use super::run::Account;
use crate::train::{Diverged, Update, Vitals};

/// Something that was noticed, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Sequences trained on before it.
    pub sequences: u64,
    /// What.
    pub kind: Kind,
    /// What it means and what people do about it, in a sentence or two.
    pub words: String,
}

/// What can be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A value is no longer finite.
    Diverged,
    /// Training broke off.
    Broken,
    /// A head attends to all rows alike.
    Uniform,
    /// A head stays on one row.
    OneRow,
    /// The gradient of a tensor is nearly nothing beside the others.
    Vanishing,
    /// The gradient is many times as large as it was.
    Exploding,
    /// The loss is much worse again.
    Relapse,
    /// The loss does not change.
    Plateau,
    /// The loss falls from where it stood.
    Moving,
    /// A validation was all right.
    Learned,
}

impl Kind {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diverged => "diverged",
            Self::Broken => "broken off",
            Self::Uniform => "uniform addressing",
            Self::OneRow => "one row",
            Self::Vanishing => "vanishing gradient",
            Self::Exploding => "exploding gradient",
            Self::Relapse => "relapse",
            Self::Plateau => "plateau",
            Self::Moving => "off the plateau",
            Self::Learned => "learned",
        }
    }

    /// True of what one hopes for.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Moving | Self::Learned)
    }
}

impl Finding {
    /// A value is no longer finite: where it began.
    pub fn diverged(diverged: &Diverged) -> Self {
        Self {
            sequences: diverged.sequences,
            kind: Kind::Diverged,
            words: format!(
                "{diverged}. {} People lower the learning rate, or clip the gradient at a smaller norm.",
                on_screen(!diverged.weights)
            ),
        }
    }
}

/// Which machine is looked at once training ends like this.
fn on_screen(keeps_weights: bool) -> &'static str {
    if keeps_weights {
        "The weights are as they were before that update."
    } else {
        "On screen is the last good moment that was kept before it."
    }
}

impl Finding {
    /// Training broke off by an error that said this.
    pub fn broken(sequences: u64, words: &str, is_whole: bool) -> Self {
        let kept = if is_whole {
            "Save the run, and it goes on from there, or begin again."
        } else {
            "Begin again: the same seed comes to the same numbers."
        };
        let on_screen = on_screen(is_whole);
        let words = words.trim_end_matches('.');
        Self {
            sequences,
            kind: Kind::Broken,
            words: format!("Training broke off by an error: {words}. {on_screen} {kept}"),
        }
    }
}

/// Before so many sequences nothing is said of heads and of the loss: every machine begins badly.
const EARLY: u64 = 1000;
/// From this share of ln N on an entropy is that of a head that attends to all rows alike.
const ALIKE: f64 = 0.98;
/// A head that was on fewer rows than this in an episode stays on one.
const ONE_ROW: f64 = 1.2;
/// Steps of the shortest episode in which that means anything.
const STEPS: usize = 6;
/// Beside the norm of the whole gradient, the norm of a tensor below this share is nothing.
const NOTHING: f64 = 1e-7;
/// So many times its usual norm a gradient explodes.
const EXPLODES: f64 = 1000.0;
/// From so many times on they are no longer written out.
const MANY: f64 = 1e6;
/// By how much of itself the usual norm follows a new one.
const FOLLOWS: f64 = 0.02;
/// So many times the best mean of the loss, and this share of what it began with, are a relapse.
const RELAPSE: [f64; 2] = [3.0, 0.1];
/// A mean over this share of the sequences before it.
const LATELY: f64 = 0.1;
/// The loss is flat where it has come down by less than this share,
const FLAT: f64 = 0.02;
/// since there were so many times fewer sequences,
const SINCE: f64 = 1.6;
/// and is not yet below this share of what it began with.
pub(super) const OPEN: f64 = 0.05;

/// Below this share of where it stood the loss has left a plateau.
const LEFT: f64 = 0.6;

/// What is remembered to notice something.
#[derive(Debug)]
pub(super) struct Watcher {
    /// What holds now, each with the head or the tensor it is about: it is said when it begins.
    holds: BTreeSet<(Kind, usize)>,
    /// When it was said last: not again before there were twice as many sequences.
    said: BTreeMap<(Kind, usize), u64>,
    /// ln of the usual norm of the gradient, and of the largest that was usual.
    usual: Option<f64>,
    most: f64,
    /// Bits at first, and the best mean so far.
    first: Option<f64>,
    best: f64,
    /// Where the loss stood, as long as it has not left that.
    stood: Option<f64>,
    /// Sequences before it began to look.
    since: u64,
}

impl Watcher {
    /// Of a run, or of another task in it, from here on.
    pub(super) fn since(sequences: u64) -> Self {
        Self {
            holds: BTreeSet::new(),
            said: BTreeMap::new(),
            usual: None,
            most: f64::NEG_INFINITY,
            first: None,
            best: 0.0,
            stood: None,
            since: sequences,
        }
    }

    /// What is noticed after one more update; heads, tensors and the loss are asked about at closer looks alone.
    pub(super) fn look(
        &mut self,
        account: &Account,
        update: &Update,
        vitals: Option<&Vitals>,
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
            let is_new = begins && last.is_none_or(|last| account.sequences >= 2 * last);
            if is_new {
                self.said.insert(key, account.sequences);
                found.push(Finding {
                    sequences: account.sequences,
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
        // Of a machine that answers well it is next to nothing, but for the one episode that it does not.
        let most = self.most.max(usual);
        self.most = most;
        say(Kind::Exploding, 0, norm > most + EXPLODES.ln(), &|| {
            let times = match (norm - most).exp() {
                times if times < MANY => format!("{times:.0}"),
                times => format!("{times:.0e}"),
            };
            format!(
                "The gradient is {times} times as large as it usually was at its largest: one step along it can undo what was learned. People clip it at a smaller norm, or lower the learning rate."
            )
        });
        self.usual = Some(usual + FOLLOWS * (norm - usual));
        if let Some(point) = &update.validated {
            let all = point.validation.perfect >= 1.0;
            say(Kind::Learned, 0, all, &|| {
                let episodes = point.validation.episodes;
                format!(
                    "Learned: all {episodes} episodes of a validation were answered without a wrong bit."
                )
            });
        }
        if let Some(vitals) = vitals.filter(|_| account.sequences - self.since >= EARLY) {
            heads(account, vitals, &mut say);
            let lately = Lately::of(account, self.since);
            let first = *self.first.get_or_insert_with(|| {
                let mut points = account.curve.points().iter();
                let first = points.find(|point| point.sequences > self.since);
                self.best = lately.now;
                first.map_or(lately.now, |point| point.bits)
            });
            let (now, best) = (lately.now, self.best);
            // What has learned has little to learn from, here and there nothing.
            tensors(account, vitals, now > OPEN * first, &mut say);
            let [times, share] = RELAPSE;
            say(
                Kind::Relapse,
                0,
                now > times * best + share * first,
                &|| {
                    format!(
                        "A setback: an answer costs {now:.1} bits again, after {best:.1} at its best. The best weights are kept. People take smaller steps once a machine has learned (a lower learning rate)."
                    )
                },
            );
            self.best = best.min(now);
            let stands = lately.is_flat && now > OPEN * first;
            say(Kind::Plateau, 0, stands, &|| {
                format!(
                    "The loss has stood at {now:.1} bits for a while. Such machines often stand still before they find the algorithm: people wait, try another seed, or begin with shorter sequences."
                )
            });
            let stood = self.stood.unwrap_or(now);
            let has_left = now < LEFT * stood;
            say(Kind::Moving, 0, has_left, &|| {
                format!(
                    "The loss stood at {stood:.1} bits and is at {now:.1} now: it has found something that it was missing."
                )
            });
            if stands || has_left {
                self.stood = Some(now).filter(|_| stands);
            }
        }
        found
    }
}

/// Says what there is to say, with what it is about, whether it holds, and in which words.
type Say<'a> = dyn FnMut(Kind, usize, bool, &dyn Fn() -> String) + 'a;

fn heads(account: &Account, vitals: &Vitals, say: &mut Say<'_>) {
    for (index, head) in vitals.heads.iter().enumerate() {
        let name = account.heads.get(index).map_or("", String::as_str);
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
                "{} attends to all {rows} rows alike: it sees their mean, and cannot tell them apart. Most machines begin so; where it stays, people raise the learning rate or begin with shorter sequences.",
                name()
            )
        });
        let one = head.rows < ONE_ROW && head.steps >= STEPS;
        say(Kind::OneRow, index, one, &|| {
            let so = if writes {
                "so the memory holds one vector at a time"
            } else {
                "so it brings back what that row holds and nothing else"
            };
            format!(
                "{} stays on a single row through the whole episode, {so}. People try another seed, or a smaller learning rate.",
                name()
            )
        });
    }
}

fn tensors(account: &Account, vitals: &Vitals, learns: bool, say: &mut Say<'_>) {
    let whole = vitals.norm();
    for (index, &norm) in vitals.norms.iter().enumerate() {
        // A tensor that nothing depends on has no gradient at all.
        let vanishes = learns && norm > 0.0 && norm < NOTHING * whole;
        say(Kind::Vanishing, index, vanishes, &|| {
            let name = account.lane.tensors.get(index).map_or("", String::as_str);
            let share = norm / whole;
            format!(
                "The gradient of `{name}` is {share:.0e} of the whole: hardly anything of the loss comes back to it, so it learns last. People look for a saturated gate or strength before it."
            )
        });
    }
}

/// The loss now, as a mean, and whether it was the same for a while.
pub(super) struct Lately {
    pub(super) now: f64,
    pub(super) is_flat: bool,
}

impl Lately {
    /// Of what came after so many sequences.
    pub(super) fn of(account: &Account, since: u64) -> Self {
        let points = account.curve.points();
        let points = &points[points.partition_point(|point| point.sequences <= since)..];
        let mean = |until: f64| {
            let from = until * (1.0 - LATELY);
            let at = |point: &super::Point| (point.sequences - since) as f64;
            let inside = |point: &&super::Point| (from..=until).contains(&at(point));
            let inside = points
                .iter()
                .rev()
                .skip_while(|point| at(point) > until)
                .take_while(inside);
            let (sum, count) = inside.fold((0.0, 0.0), |(sum, count), point| {
                let updates = point.updates as f64;
                (sum + point.bits * updates, count + updates)
            });
            (count > 0.0).then(|| sum / count)
        };
        let at = (account.sequences - since) as f64;
        let now = mean(at).unwrap_or(f64::NAN);
        let is_same = |before: f64| (before - now).abs() < FLAT * now;
        let earlier = [SINCE, SINCE.sqrt()].map(|times| mean(at / times));
        Self {
            now,
            is_flat: at / SINCE >= EARLY as f64
                && earlier.iter().all(|before| before.is_some_and(is_same)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Curve;
    use crate::train::{Beside, HeadVitals};

    fn update(bits: f64, norm: f64) -> Update {
        Update {
            bits,
            wrong: 0.0,
            beside: Beside::default(),
            norm,
            validated: None,
        }
    }

    /// What is found in a run with these losses, each for one update of one sequence, and vitals at every one.
    fn kinds(losses: impl Iterator<Item = f64>, vitals: &Vitals) -> Vec<Kind> {
        kinds_with(losses, vitals, u64::MAX)
    }

    /// The same where another task begins after so many sequences.
    fn kinds_with(losses: impl Iterator<Item = f64>, vitals: &Vitals, since: u64) -> Vec<Kind> {
        let mut account = Account::empty();
        account.heads = vec!["read0".to_owned()];
        let mut watcher = Watcher::since(0);
        let mut curve = Curve::default();
        let mut kinds = Vec::new();
        for (index, bits) in losses.enumerate() {
            if index as u64 == since {
                watcher = Watcher::since(since);
            }
            account.sequences = index as u64 + 1;
            let update = update(bits, 1.0);
            curve.push(account.sequences, &update);
            let looks = index % 16 == 0;
            if looks {
                account.curve = curve.clone();
            }
            let found = watcher.look(&account, &update, looks.then_some(vitals));
            assert!(found.iter().all(|finding| finding.words.ends_with('.')));
            kinds.extend(found.into_iter().map(|finding| finding.kind));
        }
        kinds
    }

    fn healthy() -> Vitals {
        Vitals {
            heads: vec![HeadVitals {
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
    fn a_run_that_learns_is_left_alone() {
        assert_eq!(kinds((0..8000).map(falling), &healthy()), []);
    }

    #[test]
    fn what_holds_is_said_once() {
        let mut vitals = healthy();
        vitals.heads[0].entropy = [None, Some(64f64.ln())];
        assert_eq!(kinds((0..4000).map(falling), &vitals), [Kind::Uniform]);
        let mut vitals = healthy();
        vitals.heads[0].rows = 1.0;
        assert_eq!(kinds((0..4000).map(falling), &vitals), [Kind::OneRow]);
        let mut vitals = healthy();
        vitals.norms = vec![1.0, 1e-9];
        assert_eq!(kinds((0..4000).map(falling), &vitals), [Kind::Vanishing]);
        // Nothing depends on the second one.
        vitals.norms = vec![1.0, 0.0];
        assert_eq!(kinds((0..4000).map(falling), &vitals), []);
    }

    #[test]
    fn a_loss_that_stands_and_one_that_comes_back_are_told_apart() {
        let stands = (0..6000).map(|_| 60.0);
        assert_eq!(kinds(stands, &healthy()), [Kind::Plateau]);
        let leaves = (0..9000).map(|index| if index < 6000 { 60.0 } else { 10.0 });
        assert_eq!(kinds(leaves, &healthy()), [Kind::Plateau, Kind::Moving]);
        let relapses = (0..9000).map(|index| if index < 6000 { falling(index) } else { 70.0 });
        assert_eq!(kinds(relapses, &healthy())[0], Kind::Relapse);
    }

    #[test]
    fn another_task_is_no_setback_and_is_noticed_by_itself() {
        let losses = || (0..9000).map(|index| if index < 6000 { falling(index) } else { 70.0 });
        assert_eq!(kinds_with(losses().take(7500), &healthy(), 6000), []);
        assert_eq!(kinds_with(losses(), &healthy(), 6000), [Kind::Plateau]);
    }

    #[test]
    fn a_gradient_beyond_what_its_norm_can_say_is_said_shortly_and_does_not_become_usual() {
        let account = Account::empty();
        let mut watcher = Watcher::since(0);
        let mut curve = Curve::default();
        let beyond = f64::from(f32::MAX).sqrt();
        for sequences in 1..=50 {
            let update = update(1.0, if sequences > 48 { beyond } else { 2.0 });
            curve.push(sequences, &update);
            for finding in watcher.look(&account, &update, None) {
                assert!(finding.words.contains(" 9e18 times"), "{}", finding.words);
            }
        }
        assert!(curve.points().iter().all(|point| point.norm <= beyond));
        assert!(watcher.said.contains_key(&(Kind::Exploding, 0)));
        assert!(watcher.usual.unwrap() < 4.0);
    }

    #[test]
    fn a_gradient_that_explodes_is_noticed_at_once() {
        let account = Account::empty();
        let mut watcher = Watcher::since(0);
        for _ in 0..50 {
            assert_eq!(watcher.look(&account, &update(1.0, 2.0), None), []);
        }
        let found = watcher.look(&account, &update(1.0, 20_000.0), None);
        assert_eq!(found[0].kind, Kind::Exploding);
        assert!(found[0].words.contains("10000 times"), "{}", found[0].words);
    }
}
