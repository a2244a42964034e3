//! `tapescope eval`: how well a machine does, size by size.

use std::io::Write;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;

use clap::Args;

use super::suite::Suite;
use super::table::Format;
use super::{
    MOST_EPISODES, MOST_SAMPLES, MOST_THREADS, decimals, from_zero, machine, note, range_up_to,
    rows, samples, threads, up_to,
};
use crate::io::measurement::measurement_json;
use crate::io::{EvaluationConfig, Trained, harmless};
use crate::task::{MAX_ITEMS, MAX_LENGTH, MAX_REPEATS, Measure, Task};
use crate::train::{
    Evaluation, Measurement, Part, Redundancy, Sampled, UNSEEN_SEED, Work, optimum,
};

const EXAMPLES: &str = "\
Examples:
  tapescope eval copy
  tapescope eval runs/copy-1/weights.safetensors --lengths 20,87,120 --episodes 500
  tapescope eval repeat_copy --lengths 10 --repeats 8..12,20
  tapescope eval copy copy_feedforward --lengths 120 --rows 256 --json
  tapescope eval runs/associative_recall-1 --items 6,12
  tapescope eval runs/copy_hard-1 --samples 20
  tapescope eval --suite                     all included machines, beside the paper
  tapescope eval --suite copy runs/copy-7 --format markdown

`bits` is the summed cross-entropy of the answer in bits per sequence, the measure of the paper, as its mean \
and half the width of the 95 % interval about it (1.96 standard errors), and `median`, which a few bad \
episodes do not move; `wrong` is the number of answer bits on the wrong side of one half, per sequence; `perfect` is the share of \
episodes without a wrong bit; `redundancy`, of a machine trained with a penalty on it, is how much its heads attend \
to the same rows, or to many (0: each to one of its own); `divergence`, of Bayesian heads, is how far their weights \
are from their prior, in nats per sequence; `optimum`, for N-grams, is what the best predictor needs on the same \
episodes. The episodes come from a seed of their own (1000000 unless given), so the \
machine has not been trained on them. Where writes reach rows that are already written, a line says so, and on \
how many rows they would not; the suite then measures on a power of two of rows where they do not, too.

Nothing is drawn, unless --samples asks for it: hard heads take their most likely row, Bayesian ones the means of \
their weights. With --samples K every episode is run K times more, with noise of its own each time. `of mean` is the \
cross-entropy where the mean of the samples is what is predicted, `of one` its mean over single samples, and \
`spread` its standard deviation over the samples of an episode; `wrong` counts in the mean. `entropy` is that of the \
mean, `noise` the mean of the entropies of the samples, and `mutual` the difference, by which the samples disagree: all \
summed over the answer, in bits per sequence. The last three columns say whether that is larger where an answer bit is \
wrong: the area under the curve, 0.5 for no better than chance and 1 for always; of one sample there is none.";

/// Measure machines on episodes they were not trained on.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Eval {
    /// Presets whose weights are included, weights files, or folders of runs.
    #[arg(value_name = "PRESET|FILE", required_unless_present = "suite")]
    machines: Vec<String>,
    /// Measure these machines, or all that are included, in one table beside the paper.
    #[arg(long, value_name = "PRESET|FILE", num_args = 0..,
          conflicts_with_all = ["machines", "lengths", "items", "repeats", "rows", "samples", "json"])]
    suite: Option<Vec<String>>,
    /// With --suite: how to write the table.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, conflicts_with = "machines")]
    format: Format,
    /// Lengths of the sequences, in vectors, such as 10,50 or 10..20 [default: those of the preset].
    #[arg(long, value_delimiter = ',', value_name = "L,L,…", value_parser = range_up_to(MAX_LENGTH), allow_negative_numbers = true)]
    lengths: Vec<RangeInclusive<usize>>,
    /// Numbers of items, for tasks that have them [default: those of the preset].
    #[arg(long, value_delimiter = ',', value_name = "N,N,…", value_parser = range_up_to(MAX_ITEMS), allow_negative_numbers = true)]
    items: Vec<RangeInclusive<usize>>,
    /// Numbers of repeats [default: those of the preset].
    #[arg(long, value_delimiter = ',', value_name = "R,R,…", value_parser = range_up_to(MAX_REPEATS), allow_negative_numbers = true)]
    repeats: Vec<RangeInclusive<usize>>,
    /// Episodes per line of the table [default: that of the preset].
    #[arg(long, value_name = "E", value_parser = up_to(MOST_EPISODES), allow_negative_numbers = true)]
    episodes: Option<usize>,
    /// Seed of the episodes.
    #[arg(long, value_name = "S", default_value_t = UNSEEN_SEED, value_parser = from_zero, allow_negative_numbers = true)]
    seed: u64,
    /// Run on this many memory rows instead of those of the training.
    #[arg(long, value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    rows: Option<usize>,
    /// Draw every episode this many times, where heads draw, and say what is uncertain.
    #[arg(long, value_name = "K", value_parser = up_to(MOST_SAMPLES), allow_negative_numbers = true)]
    samples: Option<u64>,
    /// Threads to use [default: one per processor]; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = up_to(MOST_THREADS), allow_negative_numbers = true)]
    threads: Option<usize>,
    /// Print one JSON object per line instead of a table.
    #[arg(long)]
    json: bool,
}

/// A machine, what it was called, and a task for every line of its table.
struct Asked<'a> {
    name: &'a str,
    trained: Trained,
    cases: Vec<Task>,
    episodes: usize,
}

/// What was found of one case.
struct Found {
    measured: Measurement,
    sampled: Option<Sampled>,
    optimum: Option<f64>,
}

impl Eval {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if self.machines.is_empty() {
            return self.suite().run(out);
        }
        // Nothing is measured before all of it is known to be possible.
        let asked = self.machines.iter().map(|name| self.asked(name));
        let asked: Vec<Asked> = asked.collect::<anyhow::Result<_>>()?;
        for (index, machine) in asked.iter().enumerate() {
            if !self.json {
                if index > 0 {
                    writeln!(out)?;
                }
                if asked.len() > 1 {
                    write!(out, "{}: ", harmless(machine.name))?;
                }
                self.heading(out, &machine.trained, machine.episodes)?;
            }
            self.measure(out, machine)?;
        }
        Ok(())
    }

    fn asked<'a>(&self, name: &'a str) -> anyhow::Result<Asked<'a>> {
        let trained = machine::find(name, self.rows)?;
        self.asked_of(name, trained)
    }

    /// What is asked of this machine, which is called `name`.
    fn asked_of<'a>(&self, name: &'a str, trained: Trained) -> anyhow::Result<Asked<'a>> {
        if self.samples.is_some() {
            machine::check_random("--samples", name, &trained.machine.config)?;
        }
        let cases = self.cases(&trained)?;
        let preset = &trained.experiment.evaluation;
        let episodes = self.episodes.unwrap_or(preset.episodes);
        let episodes = trained.experiment.task.at_most(episodes);
        let at_a_time = threads(self.threads).min(episodes);
        for task in &cases {
            let steps = match (task.measure(), task.repeats()) {
                (Measure::Length, None) => "--lengths",
                (Measure::Length, Some(_)) => "--lengths or --repeats",
                (Measure::Items, _) => "--items",
            };
            let parts = [
                (Part::Rows, "--rows"),
                (Part::Steps, steps),
                (Part::Threads, "--threads"),
                (Part::Samples, "--samples"),
            ];
            let work = Work::Measuring {
                threads: at_a_time,
                samples: self.samples.unwrap_or(0) as usize,
            };
            machine::check_size(&trained.machine.config, task, work, name, &parts)?;
        }
        Ok(Asked {
            name,
            trained,
            cases,
            episodes,
        })
    }

    /// A line for every case.
    fn measure(&self, out: &mut impl Write, asked: &Asked) -> anyhow::Result<()> {
        let never = AtomicBool::new(false);
        for task in &asked.cases {
            let Some(found) = self.found(asked, task, &never) else {
                break;
            };
            let Found {
                measured,
                sampled,
                optimum,
            } = &found;
            match sampled {
                _ if self.json => writeln!(out, "{}", self.json(asked, task, &found))?,
                Some(sampled) => {
                    place(out, task)?;
                    samples::line(out, measured, sampled)?;
                }
                None => {
                    place(out, task)?;
                    line(out, measured, *optimum)?;
                }
            }
            out.flush()?;
            if let Some(words) = overrun(asked.name, task, measured).filter(|_| !self.json) {
                note(&words);
            }
        }
        Ok(())
    }

    /// A line of JSON for every case of a machine that is held in memory and called `name`; no more, not even of the
    /// case it is at, once `stop` is set.
    pub(super) fn lines(
        &self,
        name: &str,
        trained: &Trained,
        stop: &AtomicBool,
    ) -> anyhow::Result<Vec<String>> {
        let trained = machine::with_rows(trained.clone(), name, self.rows)?;
        let asked = self.asked_of(name, trained)?;
        let line = |task| {
            let found = self.found(&asked, task, stop)?;
            Some(self.json(&asked, task, &found))
        };
        Ok(asked.cases.iter().map_while(line).collect())
    }

    /// What a case comes to; `None` where `stop` is set before that is known.
    fn found(&self, asked: &Asked, task: &Task, stop: &AtomicBool) -> Option<Found> {
        let (threads, episodes) = (threads(self.threads), asked.episodes);
        let exam = asked.trained.exam(task, self.seed, episodes);
        Some(Found {
            measured: exam.measure_until(threads, stop)?,
            sampled: match self.samples {
                Some(samples) => Some(exam.sample_until(samples, threads, stop)?),
                None => None,
            },
            optimum: optimum(task, self.seed, episodes),
        })
    }

    fn json(&self, asked: &Asked, task: &Task, found: &Found) -> String {
        let measured = (&found.measured, found.sampled.as_ref());
        let (name, trained) = (asked.name, &asked.trained);
        measurement_json(name, trained, task, self.seed, measured, found.optimum)
    }

    fn suite(&self) -> Suite<'_> {
        Suite {
            names: self.suite.as_deref().unwrap_or_default(),
            episodes: self.episodes,
            seed: self.seed,
            threads: threads(self.threads),
            format: self.format,
        }
    }

    /// One task for every line of the table.
    fn cases(&self, trained: &Trained) -> anyhow::Result<Vec<Task>> {
        let given = |asked: &[usize], preset: &[usize]| {
            if asked.is_empty() {
                preset.to_vec()
            } else {
                asked.to_vec()
            }
        };
        let (task, preset) = (&trained.experiment.task, &trained.experiment.evaluation);
        if task.repeats().is_none() && !self.repeats.is_empty() {
            return machine::no_repeats(task);
        }
        let all = |ranges: &[RangeInclusive<usize>]| ranges.iter().cloned().flatten().collect();
        let [lengths, items, repeats]: [Vec<usize>; 3] =
            [&self.lengths, &self.items, &self.repeats].map(|ranges| all(ranges));
        let sizes = machine::sizes(task, ("--lengths", &*lengths), ("--items", &items))?;
        let asked = EvaluationConfig {
            sizes: given(sizes, &preset.sizes),
            repeats: given(&repeats, &preset.repeats),
            episodes: preset.episodes,
        };
        Ok(asked.cases(task))
    }

    fn heading(
        &self,
        out: &mut impl Write,
        trained: &Trained,
        episodes: usize,
    ) -> std::io::Result<()> {
        let config = &trained.machine.config;
        let on_memory = match (config.rows(), config.columns()) {
            (0, _) => ", without memory".to_owned(),
            (rows, columns) => format!(" on a memory of {rows} × {columns}"),
        };
        let task = &trained.experiment.task;
        // A file may have fewer of a length.
        let at_most = task.held_out().map_or("", |_| "at most ");
        writeln!(
            out,
            "{}{on_memory}; seed {}, episodes per line: {at_most}{episodes}",
            harmless(&trained.experiment.title),
            self.seed
        )?;
        for change in &trained.changes {
            let (sequences, set) = (change.sequences, harmless(&change.set.join(" ")));
            writeln!(out, "changed after {sequences} sequences: {set}")?;
        }
        let repeats = task.repeats().map_or("", |_| " repeats");
        write!(out, "{:>6}{repeats}", task.measure().name())?;
        if let Some(count) = self.samples {
            return samples::heading(out, count);
        }
        let optimum = task
            .optimum(&task.episode(self.seed, 0))
            .map_or("", |_| "   optimum");
        let redundancy = match trained.experiment.training.redundancy {
            Redundancy::Off => "",
            _ => " redundancy",
        };
        let divergence = if trained.machine.config.is_bayesian() {
            " divergence"
        } else {
            ""
        };
        writeln!(
            out,
            "      bits         ±    median     wrong   of bits  perfect{redundancy}{divergence}{optimum}"
        )
    }
}

/// The size that a line of the table is of.
fn place(out: &mut impl Write, task: &Task) -> std::io::Result<()> {
    write!(out, "{:>6}", span(&task.size()))?;
    if let Some(repeats) = task.repeats() {
        write!(out, " {:>7}", span(&repeats))?;
    }
    Ok(())
}

/// The rest of a line where nothing is drawn.
fn line(out: &mut impl Write, measured: &Measurement, optimum: Option<f64>) -> std::io::Result<()> {
    let Evaluation {
        bits_per_sequence,
        wrong_bits,
        scored_bits,
        perfect,
        beside,
        ..
    } = &measured.mean;
    write!(
        out,
        " {bits_per_sequence:>9.3} {:>9} {:>9.3} {wrong_bits:>9.2} {scored_bits:>9.0} {:>7.1}%",
        half_width(measured),
        measured.median,
        100.0 * perfect
    )?;
    for value in beside.each().into_iter().flatten() {
        write!(out, " {:>10}", decimals(value, 4))?;
    }
    if let Some(optimum) = optimum {
        write!(out, " {optimum:>9.3}")?;
    }
    writeln!(out)
}

/// What joins the loss in a table.
pub(super) fn beside(mean: Option<f64>) -> String {
    mean.map_or_else(|| "-".to_owned(), |mean| decimals(mean, 4))
}

/// Half the interval about the mean of the bits, in a table.
pub(super) fn half_width(measured: &Measurement) -> String {
    let width = measured.half_width;
    width.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.3}"))
}

/// That writes reach rows already written, where they do.
fn overrun(name: &str, task: &Task, measured: &Measurement) -> Option<String> {
    let Measurement {
        mean,
        overrun,
        enough,
        ..
    } = measured;
    let size = size(task);
    let episodes = mean.episodes;
    (*overrun > 0).then(|| {
        format!(
            "note: {name} at {size}: in {overrun} of {episodes} episodes writes reach rows that are already written; on {enough} rows they would not"
        )
    })
}

/// Where a machine is measured, in words.
pub(super) fn size(task: &Task) -> String {
    let size = span(&task.size());
    let size = match task.measure() {
        Measure::Length => format!("length {size}"),
        Measure::Items => format!("{size} items"),
    };
    match task.repeats() {
        Some(repeats) => format!("{size}, {} repeats", span(&repeats)),
        None => size,
    }
}

/// A range in few characters.
fn span(range: &RangeInclusive<usize>) -> String {
    if range.start() == range.end() {
        range.start().to_string()
    } else {
        format!("{}-{}", range.start(), range.end())
    }
}
