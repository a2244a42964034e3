//! `tapescope eval`: how well a machine does, size by size.

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{bail, ensure};
use clap::Args;

use super::arguments::{
    MOST_EPISODES, MOST_SAMPLES, MOST_THREADS, Resize, from_zero, range_up_to, threads, up_to,
};
use super::collect;
use super::find::{check_memory, checked};
use super::machine;
use super::measured::{CaseResult, alignment, errors, measured_aux_losses, number, samples, size};
use super::message::note;
use super::table::{Cell, Column, Format, Table};
use crate::analysis::expression::{Checked, Expression};
use crate::io::measurement::MeasurementLine;
use crate::io::{Experiment, Trained, harmless, paper, preset};
use crate::math::Answer;
use crate::task::{MAX_ITEMS, MAX_LENGTH, MAX_REPEATS, Task};
use crate::train::{Demand, Measurement, UNSEEN_SEED, chance, optimum};

/// The sizes of a task, which an evaluation chooses line by line, with the options for them.
const SIZES: [(&str, &str); 3] = [
    ("task.length", "--lengths"),
    ("task.items", "--items"),
    ("task.repeats", "--repeats"),
];

/// Bytes that a value of `--measure` takes until its quantiles are known.
const BYTES_OF_VALUE: u64 = 64;

const EXAMPLES: &str = "\
Examples:
  tapescope eval copy
  tapescope eval runs/copy-1/weights.safetensors --lengths 20,87,120 --episodes 500
  tapescope eval repeat_copy --lengths 10 --repeats 8..12,20
  tapescope eval copy copy_feedforward --lengths 120 --rows 256 --json
  tapescope eval runs/associative_recall-1 --items 6,12
  tapescope eval associative_recall --items 100 --rows 512 --set task.distinct=on
  tapescope eval runs/copy_hard-1 --samples 20
  tapescope eval runs/transduce-1 --alignment
  tapescope eval repeat_copy --repeats 13 --by position
  tapescope eval copy --lengths 20 --episodes 200 --measure 'entropy(read0.weighting)' --figure entropy.svg
  tapescope eval --suite                     all included machines, with the paper's results
  tapescope eval --suite copy runs/copy-7 --format markdown

`bits` is the loss in bits per sequence, the measure of the paper: the summed cross-entropy of the answer, as mean \
± half the 95 % interval (1.96 standard errors), and as `median`, which a few bad episodes do not change. `wrong` is the \
number of wrong bits per sequence, answer bits on the wrong side of one half, or of wrong symbols. `perfect` is the share of \
episodes without any. `redundancy` (machines trained with this penalty) measures how much heads attend to the same rows, or to many; \
0: each head on one row of its own. `divergence` (Bayesian heads) is the divergence of the weights from their prior, in nats \
per sequence. `optimum` (N-grams) is the loss of the best predictor on the same episodes. The episodes are held out: their \
seed, 1000000 by default, is not used in training. A note reports if memory wrapped around, and how many rows avoid it; the \
suite then measures again on enough rows, a power of two.

By default no head samples: hard heads take their most likely row, Bayesian heads the means of their weights. --samples K \
runs each episode K more times, each time with its own noise. `of mean` is the cross-entropy of the mean prediction, `of one` \
the mean cross-entropy of single samples, `spread` its standard deviation over the samples of an episode; `wrong` counts wrong \
bits of the mean prediction. `total` uncertainty is the entropy of the mean prediction, `aleatoric` the mean entropy of the \
samples, `epistemic` their difference (disagreement between samples): all summed over the answer, in bits per sequence. The \
three columns `AUC …` tell whether wrong bits are more uncertain than right ones: the area under the ROC curve, 0.5 at chance \
level, 1 at best; with one sample there is no epistemic uncertainty. `ECE` is the expected calibration error of the mean \
prediction in ten intervals of its confidence: 0 where the machine is right as often as it is confident.

--alignment compares the weights of the read head with the true alignment, over the answer steps that have one. `AER` is the \
alignment error rate 1 − 2|A ∩ S| / (|A| + |S|), where A has the largest weight of each step and S the true source step. \
`mass d` is the mean weight d steps after the true source steps, `max d` the share of the steps whose largest weight is \
there. `off by one` is the offset of the largest mean weight if it is -1 or +1: the machine reads the neighbouring step, and may \
still answer well.

--by counts wrong bits, or symbols, by their position in the answer or by their channel (of symbols, the right one), over \
all episodes. --measure prints a quantity in every step: its median, quantiles and mean over the episodes, and the episode \
in which it is highest. Steps are counted from the first of their phase. A condition counts as 1 or 0, so that its mean is \
the share of episodes in which it holds. Quantities are numbers and conditions of the language that `tapescope find --help` \
describes, with all its functions.";

/// Evaluate machines on held-out episodes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Eval {
    /// Included machines, weights files or run folders.
    #[arg(value_name = "PRESET|FILE", required_unless_present = "suite")]
    machines: Vec<String>,
    /// Evaluate these machines, or all included machines, in one table with the paper's results.
    #[arg(long, value_name = "PRESET|FILE", num_args = 0..,
          conflicts_with_all = ["machines", "lengths", "items", "repeats", "rows", "sizes", "set", "samples", "alignment", "json", "by", "measure"])]
    pub(super) suite: Option<Vec<String>>,
    /// Format of the table.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(super) format: Format,
    /// Lengths of the sequences, in vectors, such as 10,50 or 10..20 [default: as in the preset].
    #[arg(long, value_delimiter = ',', value_name = "L,L,…", value_parser = range_up_to(MAX_LENGTH), allow_negative_numbers = true)]
    lengths: Vec<RangeInclusive<usize>>,
    /// Numbers of items, for tasks that have them [default: as in the preset].
    #[arg(long, value_delimiter = ',', value_name = "N,N,…", value_parser = range_up_to(MAX_ITEMS), allow_negative_numbers = true)]
    items: Vec<RangeInclusive<usize>>,
    /// Numbers of repeats [default: as in the preset].
    #[arg(long, value_delimiter = ',', value_name = "R,R,…", value_parser = range_up_to(MAX_REPEATS), allow_negative_numbers = true)]
    repeats: Vec<RangeInclusive<usize>>,
    /// Episodes per line of the table [default: as in the preset].
    #[arg(long, value_name = "E", value_parser = up_to(MOST_EPISODES), allow_negative_numbers = true)]
    pub(super) episodes: Option<usize>,
    /// Seed of the episodes.
    #[arg(long, value_name = "S", default_value_t = UNSEEN_SEED, value_parser = from_zero, allow_negative_numbers = true)]
    pub(super) seed: u64,
    #[command(flatten)]
    sizes: Resize,
    /// Set a value of the task by its path in the preset, such as task.distinct=on; repeatable.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<preset::Override>,
    /// Run each episode this many more times, with sampling heads, and report the uncertainty.
    #[arg(long, value_name = "K", value_parser = up_to(MOST_SAMPLES), allow_negative_numbers = true)]
    samples: Option<u64>,
    /// Report the agreement of the read head with the true alignment.
    #[arg(long, conflicts_with = "samples")]
    alignment: bool,
    /// Count the wrong bits by their position in the answer, or by channel.
    #[arg(long, value_enum, value_name = "PART", conflicts_with_all = ["samples", "alignment", "measure"])]
    pub(super) by: Option<By>,
    /// Report a quantity in every step: its median and quantiles over the episodes, aligned by phase.
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["samples", "alignment"], allow_hyphen_values = true)]
    pub(super) measure: Option<String>,
    /// Draw the result of --by or --measure as well, as .svg or .png.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["samples", "alignment", "suite"])]
    pub(super) figure: Option<PathBuf>,
    /// Threads to use [default: one per processor]; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = up_to(MOST_THREADS), allow_negative_numbers = true)]
    pub(super) threads: Option<usize>,
    /// Print one JSON object per line instead of a table, as --format json.
    #[arg(long)]
    json: bool,
}

/// The parts by which wrong bits are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    // Without words of their own, the help stays a line per option.
    Position,
    Channel,
}

/// A machine, its name, and a task for every line of its table.
#[derive(Clone)]
pub(super) struct EvalRequest {
    pub(super) name: String,
    pub(super) trained: Trained,
    pub(super) cases: Vec<Task>,
    pub(super) episodes: usize,
    /// The quantity of `--measure`.
    pub(super) quantity: Option<Checked>,
}

impl Eval {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if self.machines.is_empty() {
            return self.run_suite(out);
        }
        if let Some(path) = &self.figure {
            collect::picture_format("--figure", path)?;
            let is_drawn = self.by.is_some() || self.measure.is_some();
            ensure!(
                is_drawn,
                "--figure draws the result of --by or --measure; choose one of them"
            );
            ensure!(
                self.machines.len() == 1,
                "--figure draws the result of one machine"
            );
        }
        // Nothing is measured before all of it is known to be possible.
        let request = |name: &_| self.request_for(name, machine::find(name, &self.sizes)?);
        let request = self.machines.iter().map(|name| request(name));
        let request: Vec<EvalRequest> = request.collect::<anyhow::Result<_>>()?;
        for (index, machine) in request.iter().enumerate() {
            if self.format().is_for_people() {
                if index > 0 {
                    writeln!(out)?;
                }
                machine::note_data(&machine.trained.now().task);
                if request.len() > 1 {
                    write!(out, "{}: ", harmless(&machine.name))?;
                }
                self.heading(out, machine)?;
            }
            if self.by.is_some() || machine.quantity.is_some() {
                self.write_population(out, machine, &AtomicBool::new(false))?;
            } else {
                self.write_cases(out, machine)?;
            }
        }
        Ok(())
    }

    pub(super) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// Returns the request for this machine, which is named `name`.
    pub(super) fn request_for(&self, name: &str, trained: Trained) -> anyhow::Result<EvalRequest> {
        if self.samples.is_some() {
            machine::check_random("--samples", name, &trained.machine.config)?;
        }
        let now = self.changed(&trained.now())?;
        if self.alignment {
            machine::check_alignment(name, &trained.machine.config, &now.task)?;
        }
        let episodes = self.episodes.unwrap_or(now.evaluation.episodes);
        let at_most = now.task.at_most(episodes);
        let cases = self.cases(now)?;
        let longest = cases.iter().max_by_key(|task| task.longest_source());
        let quantity = self.measure.as_ref().zip(longest).map(|(text, task)| {
            let of = (&trained.machine, task);
            checked("--measure", text, of, Expression::quantity)
        });
        let request = EvalRequest {
            name: name.to_owned(),
            quantity: quantity.transpose()?,
            trained,
            episodes: at_most,
            cases,
        };
        let mut cases = request.cases.iter();
        cases.try_for_each(|task| self.check(&request, task))?;
        Ok(request)
    }

    /// Returns an experiment with the values of the task that are asked for.
    fn changed(&self, experiment: &Experiment) -> anyhow::Result<Experiment> {
        for set in &self.set {
            ensure!(
                set.path.starts_with("task."),
                "--set {set}: only values of the task can be set here, such as task.distinct=on"
            );
            let size = SIZES.iter().find(|(key, _)| *key == set.path);
            if let Some((_, option)) = size {
                bail!("--set {set}: has no effect here; choose sizes with {option}");
            }
            if let Some(why) = preset::fixed(&set.path) {
                bail!("--set {set}: stays as in training: {why}");
            }
        }
        Ok(experiment.changed(&self.set)?)
    }

    /// Refuses a case for which there is not enough memory.
    pub(super) fn check(&self, request: &EvalRequest, task: &Task) -> anyhow::Result<()> {
        let demand = Demand::Measuring {
            threads: threads(self.threads).min(request.episodes),
            samples: self.samples.unwrap_or(0) as usize,
        };
        let (config, name) = (&request.trained.machine.config, &request.name);
        let (at, option) = (size(task), task.measure().plural());
        let place = format!("{name} at {at} (--{option} chooses others)");
        machine::check_steps(config, [task.longest(), task.longest_source()], &place)?;
        if self.by.is_some() || request.quantity.is_some() {
            check_memory(name, &self.population(request, task))?;
            let values = (request.episodes as u64).saturating_mul(task.longest() as u64);
            let what = format!("{name}: keeping a value of every step (--episodes)");
            machine::claim(values.saturating_mul(BYTES_OF_VALUE), 0, &what)?;
        }
        let scores = (request.episodes as u64).saturating_mul(Measurement::BYTES_OF_EPISODE);
        let what = format!("{name}: keeping the score of every episode (--episodes)");
        machine::claim(scores, 0, &what)?;
        machine::check_size(config, task, demand, name)
    }

    /// A line for every case.
    fn write_cases(&self, out: &mut impl Write, request: &EvalRequest) -> anyhow::Result<()> {
        let table = self.table(&request.trained);
        table.head(out)?;
        for task in &request.cases {
            let Some(result) = self.case_result(request, task, &AtomicBool::new(false)) else {
                break;
            };
            self.write(out, &table, request, &result)?;
            let measured = &result.measured;
            if measured.wrapped > 0 && self.format() != Format::Json {
                note(&format!(
                    "note: {} at {}: memory wrapped around (use {} rows or more to avoid it) in {} of {} episodes",
                    request.name,
                    size(task),
                    measured.rows_needed,
                    measured.wrapped,
                    measured.mean.episodes
                ));
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
        let trained = machine::resized(trained.clone(), name, &self.sizes)?;
        let request = self.request_for(name, trained)?;
        if self.by.is_some() || request.quantity.is_some() {
            let mut lines = Vec::new();
            self.write_population(&mut lines, &request, stop)?;
            let lines = String::from_utf8_lossy(&lines);
            return Ok(lines.lines().map(str::to_owned).collect());
        }
        let line = |task| {
            let result = self.case_result(&request, task, stop)?;
            Some(self.json(&request, &result))
        };
        Ok(request.cases.iter().map_while(line).collect())
    }

    /// Evaluates a case; returns `None` if `stop` is set before the result is known.
    pub(super) fn case_result(
        &self,
        request: &EvalRequest,
        task: &Task,
        stop: &AtomicBool,
    ) -> Option<CaseResult> {
        let (threads, episodes) = (threads(self.threads), request.episodes);
        let config = &request.trained.machine.config;
        let evaluator = request.trained.evaluator(task, self.seed, episodes);
        Some(CaseResult {
            name: request.name.clone(),
            rows: usize::from(!config.has_row_per_step()) * config.rows(),
            task: task.clone(),
            measured: evaluator.measure_until(threads, stop)?,
            sampled: match self.samples {
                Some(samples) => Some(evaluator.sample_until(samples, threads, stop)?),
                None => None,
            },
            optimum: optimum(task, self.seed, episodes),
            episodes,
            // The scale of an error is that of its targets.
            chance: (task.answer().is_real()).then(|| chance(task, self.seed, episodes)),
            paper: paper::figure(config, task).map(|paper| paper.words),
        })
    }

    /// Writes the result of a case: a line of JSON, or a row of the table.
    pub(super) fn write(
        &self,
        out: &mut impl Write,
        table: &Table<CaseResult>,
        request: &EvalRequest,
        result: &CaseResult,
    ) -> std::io::Result<()> {
        if self.format() == Format::Json {
            writeln!(out, "{}", self.json(request, result))?;
        } else {
            table.row(out, result)?;
        }
        out.flush()
    }

    fn json(&self, request: &EvalRequest, result: &CaseResult) -> String {
        let (trained, measured) = (&request.trained, &result.measured);
        let (task, optimum) = (&result.task, result.optimum);
        let mut line =
            MeasurementLine::new(&request.name, trained, task, self.seed, measured, optimum);
        if let Some(chance) = result.chance {
            line.add_references(chance, result.paper);
        } else if let Some(sampled) = &result.sampled {
            line.add_samples(sampled);
        }
        line.to_json()
    }

    /// One task for every line of the table.
    fn cases(&self, experiment: Experiment) -> anyhow::Result<Vec<Task>> {
        let (task, mut asked) = (&experiment.task, experiment.evaluation);
        machine::check_repeats(!self.repeats.is_empty(), task)?;
        let [lengths, items, repeats] = [&self.lengths, &self.items, &self.repeats]
            .map(|ranges| ranges.iter().cloned().flatten().collect::<Vec<_>>());
        let sizes = machine::sizes(task, ("--lengths", &*lengths), ("--items", &items))?;
        if !sizes.is_empty() {
            asked.sizes = sizes.to_vec();
        }
        if !repeats.is_empty() {
            asked.repeats = repeats;
        }
        Ok(asked.cases(task))
    }

    fn heading(&self, out: &mut impl Write, request: &EvalRequest) -> std::io::Result<()> {
        let trained = &request.trained;
        let config = &trained.machine.config;
        let on_memory = match (config.rows(), config.columns()) {
            (0, _) => String::new(),
            _ if config.has_source_rows() => " with a memory row for each input step".to_owned(),
            _ if config.has_row_per_step() => " with a memory row for each step".to_owned(),
            (rows, 0) => format!(" on {rows} memory rows"),
            (rows, columns) => format!(" on a memory of {rows} × {columns}"),
        };
        // A file may have fewer of a length.
        let at_most = trained.now().task.held_out().map_or("", |_| "at most ");
        let samples = self.samples;
        let samples = samples.map_or(String::new(), |k| format!(", samples per episode: {k}"));
        writeln!(
            out,
            "{}{on_memory}; seed {}, episodes per line: {at_most}{}{samples}",
            harmless(&trained.experiment.title),
            self.seed,
            request.episodes
        )?;
        for change in &trained.changes {
            let (sequences, set) = (change.sequences, harmless(&change.set.join(" ")));
            writeln!(out, "changed after {sequences} sequences: {set}")?;
        }
        Ok(())
    }

    /// The table of a machine.
    fn table(&self, trained: &Trained) -> Table<CaseResult> {
        let task = trained.now().task;
        let mut columns: Vec<Column<CaseResult>> =
            vec![Column::numbers(task.measure().name(), 6, |case| {
                case.task.size().into()
            })];
        if task.repeats().is_some() {
            columns.push(Column::numbers("repeats", 7, |case| {
                let repeats = case.task.repeats();
                repeats.map_or(Cell::Decimals(None, 0), Cell::from)
            }));
        }
        if self.samples.is_some() {
            columns.extend(samples(task.answer()));
        } else {
            columns.extend(errors(task.answer()));
            columns.extend(measured_aux_losses(&[trained.now()]));
            if self.alignment {
                columns.extend(alignment());
            }
            if task.optimum(&task.episode(self.seed, 0)).is_some() {
                columns.push(Column::numbers("optimum", 8, |case| number(case.optimum)));
            }
        }
        let answer = match task.answer() {
            Answer::Bits => "answer bits",
            Answer::Symbols => "answer symbols",
            Answer::Values(_) => "answer values",
        };
        if task.answer().is_real() {
            columns.push(Column::numbers("chance", 8, |case| {
                Cell::Brief(case.chance)
            }));
        }
        columns.push(Column::numbers(answer, 0, |case| {
            Cell::Decimals(Some(case.measured.mean.scored_bits), 0)
        }));
        let format = self.format();
        Table { columns, format }
    }
}
