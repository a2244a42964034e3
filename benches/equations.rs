//! Machine files beside the machines written by hand: the same work on both sides, in turns, on one thread.
//!
//! `cargo bench -p tapescope-benches --bench equations -- [NAME…] [--rounds 7] [--seconds 0.12] [--statements]`: forward, a
//! gradient of the answer, backward, summed over the batch; with `--statements` also the time of each statement, forward and
//! backward, in µs of a step of all episodes that run side by side.

use std::sync::Arc;
use std::time::Instant;

use ndarray::Array2;
use tapescope::equations::bind::Bound;
use tapescope::equations::flatten::{Feedback, flatten};
use tapescope::equations::lower::{Source, lower};
use tapescope::equations::page::{Given, Page};
use tapescope::equations::run::Engine;
use tapescope::model as hand;
use tapescope::model::{Draw, Model, ModelConfig, Params, Trace, Workspace};

/// The same work on both sides.
struct Case {
    name: &'static str,
    file: &'static str,
    numbers: &'static [(&'static str, f64)],
    choices: &'static [(&'static str, &'static str)],
    lengths: &'static [(&'static str, usize)],
    model: ModelConfig,
    /// Steps, and those before the answer, of the machine by hand.
    steps: usize,
    source: usize,
    /// Steps of its answer.
    answers: std::ops::Range<usize>,
    batch: usize,
}

fn cases() -> Vec<Case> {
    let ntm = || hand::NtmConfig::new(9, 8).into();
    let dnc = |heads| {
        let mut model = hand::DncConfig::new(9, 8);
        model.read_heads = heads;
        model.into()
    };
    let one = |name, file, numbers, choices, lengths, model, steps, source, answers, batch| Case {
        name,
        file,
        numbers,
        choices,
        lengths,
        model,
        steps,
        source,
        answers,
        batch,
    };
    let copy: &[_] = &[("steps", 41), ("inputs", 9), ("outputs", 8)];
    let tanh: &[_] = &[("head.keys", "tanh"), ("adds", "tanh")];
    let dnc_1: &[_] = &[("rows", 128.0), ("columns", 20.0)];
    let dnc_4: &[_] = &[("rows", 128.0), ("columns", 20.0), ("read", 4.0)];
    vec![
        one("ntm", "ntm", &[], tanh, copy, ntm(), 41, 41, 0..41, 1),
        one("ntm 16", "ntm", &[], tanh, copy, ntm(), 41, 41, 0..41, 16),
        one("dnc", "dnc", dnc_1, &[], copy, dnc(1), 41, 41, 0..41, 1),
        one(
            "dnc 4 heads",
            "dnc",
            dnc_4,
            &[],
            copy,
            dnc(4),
            41,
            41,
            0..41,
            1,
        ),
        one("dnc 16", "dnc", dnc_1, &[], copy, dnc(1), 41, 41, 0..41, 16),
        one(
            "dnc 4 heads 16",
            "dnc",
            dnc_4,
            &[],
            copy,
            dnc(4),
            41,
            41,
            0..41,
            16,
        ),
    ]
}

struct ByHand {
    model: Model<f32>,
    input: Array2<f32>,
    forced: Array2<f32>,
    source: usize,
    answers: std::ops::Range<usize>,
    batch: usize,
    traces: Vec<Trace<f32>>,
    workspaces: Vec<Workspace<f32>>,
    gradients: [Params<f32>; 2],
}

impl ByHand {
    fn new(case: &Case) -> Self {
        let model = Model::<f32>::new(case.model.clone(), 1);
        let mut input = Array2::zeros((case.steps, case.model.inputs()));
        let marks = input.ncols();
        for (t, mut row) in input.rows_mut().into_iter().enumerate() {
            row[(t * 7) % marks.saturating_sub(2).max(1)] = 1.0;
        }
        let group = (case.batch / 4).clamp(1, 4);
        let forced = Array2::zeros((case.steps, case.model.outputs()));
        let traces = (0..group).map(|_| Trace::new(&case.model)).collect();
        let workspaces = (0..group).map(|_| Workspace::new(&case.model)).collect();
        let gradients = [Params::zeros(&case.model), Params::zeros(&case.model)];
        Self {
            model,
            input,
            forced,
            source: case.source,
            answers: case.answers.clone(),
            batch: case.batch,
            traces,
            workspaces,
            gradients,
        }
    }

    fn run(&mut self) {
        let [sum, own] = &mut self.gradients;
        for tensor in sum.slices_mut() {
            tensor.fill(0.0);
        }
        for _ in 0..self.batch / self.traces.len() {
            let given = |_| {
                (
                    hand::EpisodeInput {
                        input: &self.input,
                        source: self.source,
                        forced: Some(&self.forced),
                        answer: tapescope::math::Answer::Bits,
                    },
                    Draw::default(),
                )
            };
            self.model
                .run_together((0..self.traces.len()).map(given), 1 << 24, &mut self.traces);
            for workspace in &mut self.workspaces {
                let logit = &mut workspace.upstream.logit;
                logit.reshape(self.input.nrows(), logit.width());
                logit.as_mut_slice().fill(0.0);
                for t in self.answers.clone() {
                    logit.row_mut(t)[..self.model.config.outputs()].fill(0.01);
                }
            }
            self.model.backward(&self.traces, &mut self.workspaces, own);
            sum.add(own);
        }
    }
}

const MACHINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/core/machines");

#[expect(clippy::too_many_lines, reason = "one step after another")]
fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|own| own != "--bench")
        .collect();
    let option = |name: &str, default: f64| {
        let at = arguments.iter().position(|own| own == name);
        at.map_or(default, |at| arguments[at + 1].parse().unwrap())
    };
    let (rounds, seconds) = (option("--rounds", 7.0) as usize, option("--seconds", 0.12));
    for case in cases() {
        let is_named = |own: &String| !own.starts_with("--") && own.parse::<f64>().is_err();
        if arguments.iter().any(is_named)
            && !arguments
                .iter()
                .any(|own| own == case.name || own == case.file)
        {
            continue;
        }
        let mut given = Given::default();
        given.numbers.extend(
            case.numbers
                .iter()
                .map(|(name, number)| ((*name).into(), *number)),
        );
        given.choices.extend(
            case.choices
                .iter()
                .map(|(name, choice)| ((*name).into(), vec![(*choice).into()])),
        );
        let text = std::fs::read(format!("{MACHINES}/{}.machine", case.file)).unwrap();
        let library = |name: &str| {
            Some((
                name.to_owned(),
                std::fs::read(format!("{MACHINES}/{name}.component")).ok()?,
            ))
        };
        let page = Page::read(&text, case.file, &given, &library);
        let page = Arc::new(page.unwrap_or_else(|mistake| panic!("{mistake}")));
        let mut program = lower(&page).unwrap_or_else(|mistake| panic!("{mistake}"));
        let flat = flatten(&mut program, Feedback::Target);
        let program = Arc::new(program);
        let of = |axis: &str| {
            let mut lengths = case.lengths.iter();
            lengths.find(|own| own.0 == axis).map(|own| own.1)
        };
        let plain = Bound::new(&page, &program, &flat, &of).unwrap();
        let range = plain.tensor_range();
        let places_of_tensors = range.clone();
        let mut state = 1u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 0.2
        };
        let tensors: Vec<f32> = range.map(|_| number()).collect();
        let answer = program.answer().unwrap();
        let data: Vec<usize> = (0..program.series.len())
            .filter(|series| {
                matches!(
                    program.series[*series].source,
                    Source::Input(_) | Source::Target
                )
            })
            .collect();
        let places = |series: usize, at: usize, engine: &Engine<f32>| {
            let layout = engine.layout_in(series, at);
            layout.places(&layout.dims.iter().map(|dim| dim.0).collect::<Vec<_>>())
        };
        // The places of the data and of the answer, of one episode alone or of four side by side.
        let group = if case.batch >= 4 { 4 } else { 1 };
        let mut first =
            Bound::for_training(&page, &program, &flat, &of, (group, false), &[answer]).unwrap();
        first.ignore_inputs(&flat);
        let mut engine = Engine::<f32>::new(first, &flat, true);
        engine.memory.arena[places_of_tensors.clone()].copy_from_slice(&tensors);
        let all_of = |series| (0..group).map(|at| places(series, at, &engine)).collect();
        let data: Vec<Vec<Vec<usize>>> = data.into_iter().map(all_of).collect();
        let answers: Vec<Vec<usize>> = all_of(answer);
        let mut gradient = vec![0.0; tensors.len()];
        let put = |at: usize, engine: &mut Engine<f32>| {
            for places in &data {
                places[at].iter().enumerate().for_each(|(index, place)| {
                    engine.memory.arena[*place] = f32::from(u8::from(index % 7 == 0));
                });
            }
        };
        let score = |at: usize, engine: &mut Engine<f32>| {
            let gradients = engine.memory.gradients;
            for place in &answers[at] {
                engine.memory.arena[place + gradients] = 0.01;
            }
        };
        let mut by_hand = ByHand::new(&case);
        let (mut ratios, mut times) = (vec![], [vec![], vec![]]);
        for round in 0..=rounds {
            let mut time = [0.0; 2];
            for (side, time) in time.iter_mut().enumerate() {
                let (begin, mut count) = (Instant::now(), 0);
                while count == 0 || begin.elapsed().as_secs_f64() < seconds {
                    if side == 0 {
                        by_hand.run();
                    } else {
                        gradient.fill(0.0);
                        for _ in 0..case.batch / group {
                            engine.clear_gradients();
                            (0..group).for_each(|at| put(at, &mut engine));
                            engine.forward();
                            (0..group).for_each(|at| score(at, &mut engine));
                            engine.backward();
                            let begin = engine.memory.gradients + places_of_tensors.start;
                            let slopes = &engine.memory.arena[begin..];
                            let sums = gradient.iter_mut().zip(slopes);
                            sums.for_each(|(sum, slope)| *sum += *slope);
                        }
                    }
                    count += 1;
                }
                *time = begin.elapsed().as_secs_f64() * 1e6 / (count * case.batch) as f64;
            }
            if round > 0 {
                ratios.push(time[0] / time[1]);
                (0..2).for_each(|side| times[side].push(time[side]));
            }
        }
        let median = |mut all: Vec<f64>| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let [hand, file] = times.map(median);
        println!(
            "{:16} by hand {hand:8.1} us, file {file:8.1} us an episode: ratio {:.2}",
            case.name,
            median(ratios)
        );
        if arguments.iter().any(|own| own == "--statements") {
            print!("{}", engine.report(case.steps));
        }
    }
}
