//! The runs of a sweep: seeds, settings, and the part of one shard.

use std::collections::HashSet;
use std::str::FromStr;

use anyhow::ensure;
use clap::Args;

use super::arguments::{MOST_THREADS, ends, up_to};
use crate::io::preset::Override;
use crate::train::TrainingConfig;

/// The most runs of a sweep.
const MOST_RUNS: usize = 100_000;

/// Seeds as they are typed: `1..10`, both included, or `1,3,7..9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seeds(pub(super) Vec<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut seeds, mut known) = (Vec::new(), HashSet::new());
        for part in text.split(',') {
            let expected = "expected seeds such as 1..10 (inclusive) or 1,3,7..9";
            let [first, last] = ends(part, &format!("`{part}`: {expected}"))?;
            if last - first >= MOST_RUNS as u64 {
                return Err(format!("`{part}`: more than {MOST_RUNS} seeds"));
            }
            for seed in first..=last {
                if !known.insert(seed) {
                    return Err(format!("`{part}`: seed {seed} is given twice"));
                }
                seeds.push(seed);
            }
        }
        Ok(Self(seeds))
    }
}

/// `2/5`: every fifth run, beginning with the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// All of the runs.
    pub(super) const WHOLE: Self = Self { index: 1, count: 1 };

    /// True when the run at this place, counted from 0, belongs to the shard.
    pub(super) fn takes(self, run: usize) -> bool {
        run % self.count == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (index, count) = text.split_once('/')?;
            Some((index.parse().ok()?, count.parse().ok()?))
        };
        match parse() {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err("expected I/N with 1 ≤ I ≤ N, for example 2/5".to_owned()),
        }
    }
}

/// Options for training the runs of a sweep.
#[derive(Clone, Debug, Args)]
pub(super) struct Runs {
    /// Set a value of the preset by its path in the JSON; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<Override>,
    /// Training sequences per run [default: as in the preset]; short for --set training.sequences=K.
    #[arg(long, value_name = "K", value_parser = up_to(TrainingConfig::MAX_SEQUENCES), allow_negative_numbers = true)]
    sequences: Option<u64>,
    /// Runs at the same time [default: one per processor].
    #[arg(long, value_name = "N", value_parser = up_to(MOST_THREADS), allow_negative_numbers = true)]
    pub(super) jobs: Option<usize>,
    /// Print the commands of the remaining runs, without running them.
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl Runs {
    /// Returns the overrides of the preset that apply to all runs.
    pub(super) fn overrides(&self) -> Vec<Override> {
        let sequences = self.sequences.map(|k| format!("training.sequences={k}"));
        let sequences = sequences.into_iter().filter_map(|text| text.parse().ok());
        self.overrides.iter().cloned().chain(sequences).collect()
    }
}

/// `PATH=V1,V2`: a value of the preset with all the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) path: String,
    values: Vec<Override>,
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected path=value,value, for example model.memory.rows=64,128";
        let (path, values) = text.split_once('=').ok_or(expected)?;
        let mut grid = Self {
            path: path.to_owned(),
            values: Vec::new(),
        };
        for value in split_values(values) {
            if value.is_empty() {
                return Err(format!("empty value; {expected}"));
            }
            let value: Override = format!("{path}={value}").parse().map_err(|_| expected)?;
            if grid.values.contains(&value) {
                return Err(format!("{value} is given twice"));
            }
            grid.values.push(value);
        }
        Ok(grid)
    }
}

/// The parts between commas, but not those inside brackets, braces or quotes.
fn split_values(text: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut is_escaped, mut start) = (0_i32, false, false, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth -= 1,
            ',' if !is_quoted && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Every combination of the values of the grids, each after the common settings; the last grid
/// changes fastest.
///
/// # Errors
/// A path is given twice, is that of the seed, or there are too many runs.
pub(super) fn settings(
    set: &[Override],
    grids: &[Grid],
    seeds: usize,
) -> anyhow::Result<Vec<Vec<Override>>> {
    let mut paths: Vec<&str> = Vec::new();
    let set_paths = set.iter().map(|set| set.path.as_str());
    for path in set_paths.chain(grids.iter().map(|grid| grid.path.as_str())) {
        ensure!(
            path != "training.seed",
            "training.seed: give the seeds of a sweep with --seeds"
        );
        ensure!(
            !paths.contains(&path),
            "{path}: is given twice; use --set for one value, --grid for several"
        );
        paths.push(path);
    }
    let counts = grids.iter().map(|grid| grid.values.len());
    let runs = counts.fold(seeds, usize::saturating_mul);
    ensure!(
        runs <= MOST_RUNS,
        "--grid and --seeds give {runs} runs; allowed: at most {MOST_RUNS}"
    );
    let mut settings = vec![set.to_vec()];
    for grid in grids {
        let with_each = |setting: Vec<Override>| {
            let values = grid.values.iter();
            values.map(move |value| [&setting[..], std::slice::from_ref(value)].concat())
        };
        settings = settings.into_iter().flat_map(with_each).collect();
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_lists_and_inclusive_ranges() {
        let seeds = |text: &str| text.parse::<Seeds>().map(|seeds| seeds.0);
        assert_eq!(seeds("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(seeds("7"), Ok(vec![7]));
        assert_eq!(seeds("1,5..6,0"), Ok(vec![1, 5, 6, 0]));
        assert_eq!(seeds("18446744073709551615"), Ok(vec![u64::MAX]));
        for (text, words) in [
            ("", "expected seeds"),
            ("1..", "expected seeds"),
            ("-1", "expected seeds"),
            ("4..1", "1 comes before 4"),
            ("1..3,2", "seed 2 is given twice"),
            ("0..18446744073709551615", "more than 100000"),
        ] {
            let error = seeds(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn shards_share_the_runs_without_gap_or_overlap() {
        let shard = |index, count| format!("{index}/{count}").parse::<Shard>().unwrap();
        for count in 1..8 {
            for run in 0..20 {
                let takers = (1..=count).filter(|&index| shard(index, count).takes(run));
                assert_eq!(takers.count(), 1);
            }
        }
        let taken: Vec<usize> = (0..12).filter(|&run| shard(2, 5).takes(run)).collect();
        assert_eq!(taken, [1, 6, 11]);
        assert!((0..9).all(|run| Shard::WHOLE.takes(run)));
        for text in ["", "1", "0/5", "6/5", "1/0", "-1/5", "a/b", "1/5/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_split_between_commas_but_not_inside() {
        assert_eq!(split_values("1,2"), ["1", "2"]);
        assert_eq!(split_values("[1,10],[1,20]"), ["[1,10]", "[1,20]"]);
        assert_eq!(
            split_values(r#"{"a":[1,2]},"x,\"]y""#),
            [r#"{"a":[1,2]}"#, r#""x,\"]y""#]
        );
        assert_eq!(split_values("1,,2"), ["1", "", "2"]);
    }

    #[test]
    fn grids_multiply_and_the_last_changes_fastest() {
        let set = ["a=1".parse().unwrap()];
        let grids = ["b=1,2", "c=x,[3,4]"].map(|text| text.parse().unwrap());
        let settings = settings(&set, &grids, 3).unwrap();
        let words = |setting: &Vec<Override>| {
            assert_eq!(setting[..1], set);
            format!("{} {}", setting[1], setting[2])
        };
        let words: Vec<String> = settings.iter().map(words).collect();
        assert_eq!(words, ["b=1 c=x", "b=1 c=[3,4]", "b=2 c=x", "b=2 c=[3,4]"]);
        assert_eq!(super::settings(&[], &[], 3).unwrap(), [[]]);
    }

    #[test]
    fn invalid_grids_are_refused() {
        for text in ["a", "a=", "a=1,", "=1", "a=1,1", "a=1,1.0e0,1"] {
            assert!(text.parse::<Grid>().is_err(), "{text}");
        }
        let grid = |text: &str| text.parse::<Grid>().unwrap();
        let error = |set: &[Override], grids: &[Grid], seeds| {
            settings(set, grids, seeds).unwrap_err().to_string()
        };
        let twice = "a: is given twice; use --set for one value, --grid for several";
        assert_eq!(error(&["a=1".parse().unwrap()], &[grid("a=2")], 1), twice);
        assert_eq!(error(&[], &[grid("a=2"), grid("a=3")], 1), twice);
        assert!(error(&[], &[grid("training.seed=1,2")], 1).contains("--seeds"));
        assert!(error(&[], &[grid("a=1,2")], 60_000).contains("120000 runs"));
    }
}
