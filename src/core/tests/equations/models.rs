//! Machine files as machines: episodes that are recorded, verified, changed, learned from, and of other sizes.

use tapescope_core::keys::{Choice as _, Field, Keys, Table};
use tapescope_core::math::Series;
use tapescope_core::model::equations::Offer;
use tapescope_core::model::{
    Array, Conventions, Draw, EquationsConfig, Intervention, Kind, Model, ModelConfig, NoiseMode,
    Place, Trace, array,
};
use tapescope_core::model::{Change, Params, Told, Workspace};
use tapescope_core::task::{AskedFor, Aspects, Caption, Copy, Span, Task, Transduce};
use tapescope_core::train::{self, Quantity, Recording, Trainer, TrainingConfig};

const MACHINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/machines");

fn copy() -> Task {
    Task::Copy(Copy {
        bits: 3,
        length: 2..=4,
    })
}

/// The text of a machine file with all components.
fn text(name: &str) -> String {
    let of = |name: &str| std::fs::read_to_string(format!("{MACHINES}/{name}")).unwrap();
    let parts =
        ["attention", "coverage", "encoder", "head"].map(|part| of(&format!("{part}.component")));
    format!("{}\n{}", of(&format!("{name}.machine")), parts.join("\n"))
}

/// Sets sizes and numbers of heads, as far as the file has them, and returns their paths.
fn set(config: &mut EquationsConfig, sizes: &[(&str, usize)]) {
    for _ in 0..2 {
        config.keys(&mut Table::new(&mut |key| {
            let name = key.path.rsplit('.').next().unwrap();
            let size = sizes.iter().find(|own| own.0 == name);
            if let (Field::Integer(value, _), Some((_, size))) = (key.field, size) {
                *value = *size;
            }
        }));
    }
}

fn config(text: &str, task: &Task) -> EquationsConfig {
    let mut config = EquationsConfig::of_file("m.machine", text).unwrap_or_else(|e| panic!("{e}"));
    let sizes = [
        ("units", 5),
        ("rows", 6),
        ("columns", 4),
        ("embedding", 4),
        ("depth", 3),
        ("hidden", 5),
        ("keys", 4),
        ("values", 3),
        ("pool", 2),
        ("rounds", 2),
        ("decoder", 4),
    ];
    set(&mut config, &sizes);
    config.set_channels(task.inputs(), task.outputs());
    if let Task::Span(span) = task {
        config.question = span.question;
    }
    config
}

/// A question about a document whose answer is one symbol.
fn symbol() -> Task {
    let asked_for = AskedFor::Symbol;
    Task::Span(Span {
        asked_for,
        ..Span::DEFAULT
    })
}

/// Every file that fits a task, with this task.
fn all() -> impl Iterator<Item = (&'static str, Task)> {
    let task = |(name, _)| {
        let task = match name {
            "attention_over_attention" => symbol(),
            "bahdanau" | "luong" | "fixed_context" => Task::Transduce(Transduce::DEFAULT),
            "caption" => Task::Caption(Caption::DEFAULT),
            "coattention" => Task::Span(Span::DEFAULT),
            "structured_self_attention" => Task::Aspects(Aspects::DEFAULT),
            // Its sentences are those of no task.
            "memory_network" => return None,
            _ => copy(),
        };
        Some((name, task))
    };
    super::machines().into_iter().filter_map(task)
}

/// A machine with weights that are large enough for everything to matter.
fn machine(name: &str, task: &Task) -> Model<f32> {
    let mut machine = Model::new(config(&text(name), task), 3);
    let weights = machine.params.slices_mut().flatten();
    weights.for_each(|weight| *weight *= 1.5);
    machine
}

#[test]
fn every_file_holds_and_fits_its_task() {
    for (name, task) in all() {
        let config = config(&text(name), &task);
        assert_eq!(config.check(), Ok(Vec::new()), "{name}");
        assert_eq!(config.fits(train::offer(&task)), Ok(()), "{name}");
    }
}

/// What each array that follows from recorded ones is when it is computed once more, from them alone.
fn again(machine: &Model<f32>, trace: &Trace<f32>) -> Vec<(&'static str, usize)> {
    let rules = machine.config.dependencies(Conventions::OWN);
    let mut wrong = Vec::new();
    for rule in &rules {
        let mut work = trace.clone();
        for t in 0..trace.steps() {
            rule.compute(&mut work, t);
            let row = rule.row(t);
            let rows = [&work, trace]
                .map(|of| of.series(rule.place, rule.array).unwrap().row(row).to_vec());
            if rows[0]
                .iter()
                .map(|x| x.to_bits())
                .ne(rows[1].iter().map(|x| x.to_bits()))
            {
                wrong.push((rule.array.name, t));
            }
        }
    }
    wrong
}

#[test]
fn every_array_follows_from_recorded_ones_to_the_bit() {
    for (name, task) in all() {
        let machine = machine(name, &task);
        let Recording { trace, .. } = Recording::new(&machine, &task, 7, 1);
        assert_eq!(again(&machine, &trace), [], "{name}");
    }
}

#[test]
fn a_wrong_value_shows_where_it_stands_and_where_it_leads_directly() {
    let machine = machine("ntm_one_page", &copy());
    let Recording { mut trace, .. } = Recording::new(&machine, &copy(), 7, 1);
    let (place, array) = named(&trace, "read0.weighting");
    trace.series_mut(place, array).unwrap().row_mut(2)[1] += 0.25;
    let wrong = again(&machine, &trace);
    let expected = [("gated", 3), ("weighting", 2), ("read", 2)];
    let found: std::collections::BTreeSet<_> = wrong.into_iter().collect();
    assert_eq!(found, expected.into_iter().collect());
}

#[test]
fn an_episode_that_runs_again_has_the_same_bits() {
    for (name, task) in all() {
        let machine = machine(name, &task);
        let whole = Recording::new(&machine, &task, 7, 1);
        for from in [0, 3] {
            let mut trace = whole.trace.clone();
            machine.run_again(&mut trace, from, |_, _, _, _| ());
            for ((_, array, one), (.., other)) in trace.everything().zip(whole.trace.everything()) {
                assert!(one == other, "{name} from {from}: {}", array.name);
            }
        }
    }
}

fn named(trace: &Trace<f32>, name: &str) -> (Place, Array) {
    let mut all = trace.everything();
    let found = all.find(|own| trace.array_name(own.0, own.1) == name && own.2.width() > 0);
    found.map_or_else(|| panic!("{name}"), |own| (own.0, own.1))
}

#[test]
fn what_is_set_is_read_by_all_that_follows() {
    for (name, task) in all() {
        let machine = machine(name, &task);
        let whole = Recording::new(&machine, &task, 7, 1);
        for (place, array) in machine.changeable() {
            let intervention = Intervention {
                steps: (0, None),
                place,
                array,
                part: Vec::new(),
                change: Change::Set(vec![0.5]),
            };
            let changed = whole.with(&machine, &[intervention]).unwrap();
            // Of layers that a machine does not have there is nothing.
            let Some(series) = changed.trace.series(place, array) else {
                continue;
            };
            // In the part of the episode that it belongs to.
            let values = series.as_slice();
            assert!(
                values.iter().all(|value| [0.0, 0.5].contains(value)) && values.contains(&0.5),
                "{name} {}",
                array.name
            );
        }
    }
}

#[test]
fn a_value_in_an_inner_block_is_changed_once() {
    let machine = machine("multi_head_layers", &copy());
    let whole = Recording::new(&machine, &copy(), 7, 1);
    let (place, array) = named(&whole.trace, "read1.key");
    let negate = |steps| Intervention {
        steps,
        place,
        array,
        part: Vec::new(),
        change: Change::Negate,
    };
    let once = whole.with(&machine, &[negate((0, None))]).unwrap();
    let first = |of: &Recording| of.trace.series(place, array).unwrap().row(1)[..3].to_vec();
    // The first layer reads the input alone.
    let expected: Vec<f32> = first(&whole).iter().map(|value| -value).collect();
    assert_eq!(first(&once), expected);
}

#[test]
fn the_gradient_of_every_tensor_is_that_of_the_loss() {
    for (name, task) in [
        ("ntm", copy()),
        ("tape_reader", copy()),
        ("bahdanau", Task::Transduce(Transduce::DEFAULT)),
    ] {
        let small = machine(name, &task);
        let mut machine = Model::<f64>::new(small.config.clone(), 3);
        let mut values = small.params.named().into_iter();
        machine.params.change(|_, mut to| {
            let (_, from) = values.next().unwrap();
            to.zip_mut_with(&from, |to, from| *to = f64::from(*from));
        });
        let episode = task.episode(5, 2);
        let loss = |machine: &Model<f64>| -> f64 {
            let mut trace = Trace::new(&machine.config);
            machine.run(&episode, Draw::default(), &mut trace);
            let rows = trace.logit.as_slice().iter().enumerate();
            rows.map(|(at, z)| z * (at as f64).sin())
                .filter(|x| x.is_finite())
                .sum()
        };
        let mut trace = [Trace::new(&machine.config)];
        machine.run_together(
            [(&episode, Draw::default())].into_iter(),
            usize::MAX,
            &mut trace,
        );
        let mut workspace = [Workspace::new(&machine.config)];
        let by = &mut workspace[0].upstream.logit;
        by.resize(trace[0].steps());
        let width = trace[0].logit.width();
        for t in 0..trace[0].steps() {
            let row = by.row_mut(t)[..width].iter_mut().enumerate();
            row.for_each(|(channel, slope)| *slope = ((t * width + channel) as f64).sin());
        }
        let mut gradient = Params::zeros(&machine.config);
        machine.backward(&trace, &mut workspace, &mut gradient);
        check_slopes(name, &machine, &gradient, (1e-5, 7), loss);
    }
}

/// Compares slopes of the parameters, one of `every`, with central differences of a loss.
fn check_slopes(
    name: &str,
    machine: &Model<f64>,
    gradient: &Params<f64>,
    (by, every): (f64, usize),
    loss: impl Fn(&Model<f64>) -> f64,
) {
    let slopes = gradient.slices().flatten().enumerate();
    for (at, slope) in slopes.step_by(every) {
        let moved = |by: f64| {
            let mut moved = machine.clone();
            *moved.params.slices_mut().flatten().nth(at).unwrap() += by;
            loss(&moved)
        };
        let expected = (moved(by) - moved(-by)) / (2.0 * by);
        assert!(
            (slope - expected).abs() < 1e-6 * (1.0 + expected.abs()),
            "{name} {at}: {slope} and {expected}"
        );
    }
}

#[test]
fn derivatives_of_recorded_values_are_those_of_the_number() {
    // The order of rows that are used alike is no smooth function.
    for (name, task) in all().filter(|own| !["dnc", "sam"].contains(&own.0)) {
        let machine = machine(name, &task);
        let whole = Recording::new(&machine, &task, 7, 1);
        let derivatives = whole.derivatives(&machine, Quantity::Loss).unwrap();
        let (mut all, mut near) = (0, 0);
        for (place, array) in machine.changeable() {
            let Some(slopes) = derivatives.series(place, array) else {
                continue;
            };
            let values = whole.trace.series(place, array).unwrap();
            // A value in the middle of the array, moved by a little and by as little the other way.
            let (t, width) = (array.row(whole.trace.steps() / 2), values.width());
            let at = width / 2;
            let (value, slope) = (values.row(t)[at], slopes.row(t)[at]);
            let moved = |by: f32| {
                let mut row = values.row(t)[..width].to_vec();
                row[at] += by;
                let one = Intervention {
                    steps: (t, Some(t)),
                    place,
                    array,
                    part: Vec::new(),
                    change: Change::Set(row),
                };
                whole.with(&machine, &[one]).unwrap().score.bits
            };
            let by = 4e-3_f32;
            let expected = (moved(by) - moved(-by)) / f64::from(2.0 * by);
            let is_near = (f64::from(slope) - expected).abs() < 0.02 + 0.1 * expected.abs();
            let is_smooth = value.abs() < 1e3 && !is_step(array.name);
            all += usize::from(is_smooth);
            near += usize::from(is_smooth && is_near);
        }
        // A relu or a maximum may have its corner between both values.
        assert!(all > 1 && 4 * near >= 3 * all, "{name}: {near} of {all}");
    }
}

/// Arrays that are no smooth function of others, or that lead to steps; and the cell of an LSTM, whose hidden state is made
/// together with it.
fn is_step(name: &str) -> bool {
    let own = name.rsplit('.').next().unwrap();
    [
        "cell",
        "position",
        "rank",
        "usage",
        "allocation",
        "free_rows",
    ]
    .contains(&own)
}

fn training() -> TrainingConfig {
    TrainingConfig {
        batch: 8,
        sequences: 24,
        validation_every: 24,
        validation_episodes: 4,
        ..TrainingConfig::default()
    }
}

#[test]
fn weights_have_the_same_bits_on_any_number_of_threads_and_after_a_resume() {
    for (name, task) in all() {
        let config = config(&text(name), &task);
        let run = |threads: usize, stop: bool| {
            let mut trainer = Trainer::new(task.clone(), config.clone(), training(), threads);
            while !trainer.finished() {
                trainer.update().unwrap();
                if stop {
                    trainer =
                        Trainer::resume(task.clone(), training(), trainer.state.clone(), threads);
                }
            }
            trainer.state.machines.remove(0).params
        };
        let whole = run(1, false);
        assert!(whole == run(3, false) && whole == run(2, true), "{name}");
        assert!(
            whole.slices().flatten().all(|weight| weight.is_finite()),
            "{name}"
        );
    }
}

#[test]
fn episodes_side_by_side_have_the_gradient_of_each_alone() {
    // Of different lengths, where no equation looks ahead; four of one length, and two, elsewhere.
    let ragged = ["plain", "plain", "ntm", "sam", "tape_reader", "mlstm"]
        .map(|name| (name, [4, 4, 3, 2, 3, 2]));
    let equal = [("self_attention", [3; 6])];
    for (index, (name, lengths)) in ragged.into_iter().chain(equal).enumerate() {
        let mut machine = machine(name, &copy());
        if let (0, ModelConfig::Equations(config)) = (index, &mut machine.config) {
            set(config, &[("upper", 2)]);
            machine = Model::new(config.clone(), 3);
        }
        let episodes = lengths.map(|length| copy().with_size(length).episode(4, length as u64));
        let run = |part: &[_]| {
            let mut traces: Vec<_> = part.iter().map(|_| Trace::new(&machine.config)).collect();
            let given = part.iter().map(|episode| (episode, Draw::default()));
            machine.run_together(given, usize::MAX, &mut traces);
            let workspace = |trace: &Trace<f32>| {
                let mut workspace = Workspace::new(&machine.config);
                let by = &mut workspace.upstream.logit;
                by.resize(trace.steps());
                by.as_mut_slice().fill(0.25);
                workspace
            };
            let mut workspaces: Vec<_> = traces.iter().map(workspace).collect();
            let mut gradient = Params::zeros(&machine.config);
            machine.backward(&traces, &mut workspaces, &mut gradient);
            let logits = traces
                .iter()
                .flat_map(|trace| trace.logit.as_slice().to_vec());
            (gradient, logits.collect::<Vec<_>>())
        };
        let (whole, logits) = run(&episodes);
        let mut sum = (Params::zeros(&machine.config), Vec::new());
        for one in &episodes {
            let (gradient, logits) = run(std::slice::from_ref(one));
            sum.0.add(&gradient);
            sum.1.extend(logits);
        }
        let alone = sum.0.slices().flatten().chain(&sum.1);
        let pairs = whole.slices().flatten().chain(&logits).zip(alone);
        pairs.for_each(|(a, b)| {
            assert!(
                (a - b).abs() < 1e-4 * (1.0 + a.abs()),
                "{name}: {a} and {b}"
            );
        });
    }
}

#[test]
fn sizes_on_which_no_tensor_depends_can_be_changed() {
    let machine = machine("ntm", &copy());
    let larger = machine.with_size("rows", 40).unwrap();
    assert_eq!(larger.params, machine.params);
    assert!(larger.config.runs_on_any_rows());
    let trace = Recording::new(&larger, &copy(), 7, 1).trace;
    let (place, array) = named(&trace, "memory");
    assert_eq!(trace.series(place, array).unwrap().width(), 40 * 4);
    for (name, size, expected) in [
        ("columns", 9, "rows"),
        ("rows", 0, "1 to 1048576"),
        ("lines", 3, "rows"),
    ] {
        let error = machine.with_size(name, size).unwrap_err();
        assert!(error.allowed.contains(expected), "{name} {error}");
    }
    let plain = self::machine("plain", &copy())
        .with_size("units", 3)
        .unwrap_err();
    assert!(
        plain.allowed.contains("every size is one of a tensor"),
        "{plain}"
    );
}

#[test]
fn noise_is_recorded_and_runs_again() {
    let text = "machine \"Noisy\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize rows = 3 in 1..9\nnoise n[steps, rows] = normal\nalong steps\n  p = softmax[rows](linear[rows](x) + 0.1 * n)\n  i = draw[rows](p) \"row\"\n  z = linear[outputs](p, onehot[rows](i))\n";
    let config = config(text, &copy());
    assert!(ModelConfig::from(config.clone()).is_random());
    let machine = Model::<f32>::new(config, 3);
    let episode = copy().episode(7, 1);
    let record = |sampling, sample| {
        let draw = Draw {
            sampling,
            sample,
            ..Draw::of(7, 1)
        };
        Recording::of(&machine, &copy(), episode.clone(), Some(draw))
    };
    let [one, same, other] = [0, 0, 1].map(|sample| record(NoiseMode::Sampled, sample));
    assert!(one.trace == same.trace && one.trace.logit != other.trace.logit);
    assert!(other.again(&machine).unwrap().trace == other.trace);
    assert_eq!(again(&machine, &other.trace), []);
    // Without sampling, noise is its mean, and a draw is the most probable row.
    let mean = record(NoiseMode::Mean, 0);
    let [p, row, noise] = ["p", "row", "n"].map(|name| {
        let (place, array) = named(&mean.trace, name);
        mean.trace.series(place, array).unwrap().clone()
    });
    assert!(noise.as_slice().iter().all(|value| *value == 0.0));
    assert_eq!(again(&machine, &mean.trace), []);
    let evaluated = record(NoiseMode::Mean, 5);
    assert!(evaluated.trace == mean.trace);
    for t in 0..mean.trace.steps() {
        let most = p.row(t)[..6].iter().copied().fold(0.0, f32::max);
        assert_eq!(p.row(t)[row.row(t)[0] as usize], most);
    }
}

/// A machine that draws a row, with the penalty of REINFORCE.
const REWARDED: &str = "machine \"Hard\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize rows = 3 in 1..9\nconstant reward = 0 in -1e9..1e9\nconstant baseline = 0 in -1e9..1e9\nconstant warm_up = 1 in 0..1\nalong steps\n  p = softmax[rows](linear[rows](x))\n  i = draw[rows](p)\n  z = linear[outputs](onehot[rows](i))\n  penalty = -warm_up * (reward - baseline) * log(p[rows: i]) + 0.5 * sum[rows](p * p)\n";

#[test]
fn a_penalty_is_reported_and_the_reward_of_a_drawn_row_reaches_its_distribution() {
    let config = config(REWARDED, &copy());
    assert!(config.is_rewarded() && config.warms_up());
    let machine = Model::<f64>::new(config.clone(), 3);
    let episodes: Vec<_> = (0..4)
        .map(|index| copy().with_size(3).episode(4, index))
        .collect();
    let draw = |index| Draw {
        sampling: NoiseMode::Sampled,
        ..Draw::of(7, index)
    };
    let told = |index: usize| Told {
        reward: -3.0 + index as f64,
        baseline: -1.0,
        warm_up: 0.5,
    };
    let run = |machine: &Model<f64>| {
        let mut traces: Vec<_> = (0..4).map(|_| Trace::new(&machine.config)).collect();
        let given = episodes.iter().zip((0..).map(draw));
        machine.run_together(given, usize::MAX, &mut traces);
        traces
    };
    let traces = run(&machine);
    let mut workspaces: Vec<_> = (0..4).map(|_| Workspace::new(&machine.config)).collect();
    for (index, (workspace, trace)) in workspaces.iter_mut().zip(&traces).enumerate() {
        workspace.upstream.logit.resize(trace.steps());
        workspace.upstream.logit.as_mut_slice().fill(0.0);
        workspace.upstream.terms.penalty = 1.0;
        workspace.upstream.terms.told = told(index);
    }
    let mut gradient = Params::zeros(&machine.config);
    machine.backward(&traces, &mut workspaces, &mut gradient);
    // The rows as they were drawn; each penalty with what the trainer says of its episode.
    let all = |machine: &Model<f64>| {
        (0..4)
            .map(|index| {
                let mut trace = Trace::new(&machine.config);
                machine.run(&episodes[index], draw(index as u64), &mut trace);
                let of = |name: &str| {
                    let found = trace.everything().find(|(_, array, _)| array.name == name);
                    found.unwrap().2.clone()
                };
                let (p, row, own) = (of("p"), of("i"), of("penalty"));
                assert_eq!(trace.penalty(), Some(own.as_slice().iter().sum()));
                let Told {
                    reward,
                    baseline,
                    warm_up,
                } = told(index);
                let log_p = |t: usize| p.row(t)[row.row(t)[0] as usize].ln();
                let penalty = |t: usize| own.row(t)[0] - warm_up * (reward - baseline) * log_p(t);
                (0..trace.steps()).map(penalty).sum::<f64>()
            })
            .sum::<f64>()
    };
    check_slopes("penalty", &machine, &gradient, (1e-6, 1), all);
    // Training and evaluation report it.
    let mut trainer = Trainer::new(copy(), config.clone(), training(), 2);
    let update = trainer.update().unwrap();
    assert!(update.aux.penalty.is_some_and(|penalty| penalty > 0.0) && update.aux.reward.is_some());
    let recording = Recording::new(&Model::new(config, 3), &copy(), 7, 1);
    let penalty = named(&recording.trace, "penalty");
    let penalty = recording.trace.series(penalty.0, penalty.1).unwrap();
    let sum: f64 = penalty.as_slice().iter().map(|one| f64::from(*one)).sum();
    assert_eq!(recording.score.aux.penalty, Some(sum));
}

#[test]
fn what_does_not_fit_a_task_is_said() {
    let aspects = config(
        &text("structured_self_attention"),
        &Task::Aspects(Aspects::DEFAULT),
    );
    let offer = Offer {
        inputs: 4,
        outputs: 3,
        answers_last: true,
        document: None,
        has_one_answer: false,
    };
    let unfit = aspects.fits(offer).unwrap_err();
    assert!(
        unfit.needs.contains("answers in one step") && unfit.offers.contains("[T, 4]"),
        "{unfit:?}"
    );
    assert!(unfit.has.starts_with("input x["), "{unfit:?}");
    let span = config(&text("coattention"), &Task::Span(Span::DEFAULT));
    assert!(span.fits(offer).unwrap_err().needs.contains("span"));
    // An answer that points needs a task whose answer are steps, as many as it has.
    let unfit = span.fits(train::offer(&symbol())).unwrap_err();
    assert!(unfit.needs.contains("ends"), "{unfit:?}");
    let rounds = Task::Span(Span {
        rounds: 3,
        ..Span::DEFAULT
    });
    let unfit = span.fits(train::offer(&rounds)).unwrap_err();
    assert!(unfit.needs.contains("4 answer steps or fewer"), "{unfit:?}");
    let words = config(&text("memory_network"), &symbol());
    let unfit = words.fits(train::offer(&symbol())).unwrap_err();
    assert!(unfit.needs.contains("3 axes"), "{unfit:?}");
    let one = config(&text("attention_over_attention"), &symbol());
    let unfit = one
        .fits(train::offer(&Task::Span(Span::DEFAULT)))
        .unwrap_err();
    assert!(unfit.needs.contains("symbol"), "{unfit:?}");
}

#[test]
fn an_input_longer_than_any_memory_is_counted_before_room_is_made() {
    let machine = machine("dnc", &copy());
    let bytes = Trace::<f32>::bytes(
        &machine.config,
        [1 << 40, 1 << 39],
        tapescope_core::model::Keep::All,
    );
    assert!(bytes > 1 << 44);
}

/// Files whose heads have the places of those of other machines.
fn with_heads() -> [(&'static str, Task); 8] {
    let transduce = || Task::Transduce(Transduce::DEFAULT);
    [
        ("bahdanau", transduce()),
        ("luong", transduce()),
        ("caption", Task::Caption(Caption::DEFAULT)),
        ("lstmn_fusion", transduce()),
        ("lstmn", copy()),
        ("multi_head_layers", copy()),
        ("self_attention", copy()),
        ("structured_self_attention", Task::Aspects(Aspects::DEFAULT)),
    ]
}

#[test]
fn heads_that_read_the_steps_of_the_input_have_their_arrays_in_their_place() {
    for (name, task) in with_heads() {
        let machine = machine(name, &task);
        let config = &machine.config;
        assert!(config.heads() > 0 && config.has_row_per_step(), "{name}");
        let trace = Recording::new(&machine, &task, 7, 1).trace;
        let first = trace.heads[0].first_step;
        let memory = trace.memory(trace.steps());
        let rows = config.rows_of([trace.steps(), trace.setting.source]);
        assert_eq!(memory.nrows(), rows, "{name}");
        assert!(trace.memory(0).iter().all(|value| *value == 0.0), "{name}");
        for (index, head) in trace.heads.iter().enumerate() {
            let is_tape = name == "lstmn" || name == "lstmn_fusion" && index == 1;
            let first = if is_tape { 0 } else { first };
            for t in first..trace.steps() {
                let weights = &head.weighting.row(t)[..rows];
                assert_eq!(head.content.row(t), head.weighting.row(t), "{name}");
                let sum: f32 = weights.iter().sum();
                let has_rows = !is_tape || t > 0 && t != head.first_step;
                assert!(
                    (sum - f32::from(u8::from(has_rows))).abs() < 1e-5,
                    "{name}: {sum}"
                );
                let values = head.series(array::ROW_VALUE);
                let width = values.map_or(memory.ncols(), Series::width);
                for (column, read) in head.read.row(t)[..width].iter().enumerate() {
                    let row = |i: usize| {
                        values.map_or_else(|| memory[[i, column]], |own| own.row(i)[column])
                    };
                    let rows = weights.iter().enumerate();
                    let expected: f32 = rows.map(|(i, weight)| weight * row(i)).sum();
                    assert!((read - expected).abs() < 1e-5, "{name}");
                }
            }
        }
    }
}

/// Files that read a document and a question.
fn with_document() -> [(&'static str, Task); 2] {
    let ends = Task::Span(Span::DEFAULT);
    [
        ("coattention", ends),
        ("attention_over_attention", symbol()),
    ]
}

#[test]
fn document_question_and_answer_share_a_head() {
    for (name, task) in with_document() {
        let machine = machine(name, &task);
        let Recording { trace, episode, .. } = Recording::new(&machine, &task, 7, 1);
        let (source, [rows, _]) = (trace.setting.source, trace.memory_size());
        assert_eq!(rows, source, "{name}");
        assert!(trace.memory(0).iter().all(|value| *value == 0.0), "{name}");
        let (head, memory) = (&trace.heads[0], trace.memory(1));
        // The steps behind document and question are those of the sentinels.
        let is_pointer = name == "coattention";
        let end = usize::from(is_pointer);
        let document = 0..episode.size + end;
        let question = episode.size + 1..source - 1 + end;
        for t in 0..trace.steps() {
            let seen = match t {
                _ if document.contains(&t) => question.clone(),
                _ if question.contains(&t) => document.clone(),
                _ if t >= source => 0..episode.size,
                _ => 0..0,
            };
            let (weights, scores) = (head.weighting.row(t), head.similarity.row(t));
            let sum: f32 = weights.iter().sum();
            assert!(
                (sum - f32::from(u8::from(!seen.is_empty()))).abs() < 1e-5,
                "{name} {t}"
            );
            for (row, (weight, score)) in weights.iter().zip(scores).enumerate() {
                assert!(*weight == 0.0 || seen.contains(&row), "{name} {t} {row}");
                let product = memory.row(t.min(source - 1)).dot(&memory.row(row));
                let is_product = (product - score).abs() < 1e-5;
                assert!(
                    t >= source || is_product || !seen.contains(&row),
                    "{name} {t} {row}"
                );
            }
            for (column, read) in head.read.row(t).iter().enumerate() {
                let pairs = weights.iter().zip(memory.column(column));
                let expected: f32 = pairs.map(|(weight, value)| weight * value).sum();
                let expected = if t < source { expected } else { 0.0 };
                assert!((read - expected).abs() < 1e-5, "{name} {t}");
            }
            if t >= source && is_pointer {
                let scores = &scores[..episode.size];
                assert_eq!(scores, &trace.logit.row(t)[..episode.size], "{name} {t}");
            }
        }
    }
}

#[test]
fn rounds_after_one_that_changes_neither_end_repeat_it() {
    let task = Task::Span(Span {
        rounds: 4,
        ..Span::DEFAULT
    });
    let with = |stop: &str| {
        let channels = [task.inputs(), task.outputs()];
        let set = [("units", "5"), ("fusion.units", "3"), ("stop", stop)];
        let mut config = EquationsConfig::included("coattention", channels, &set).unwrap();
        config.question = Span::DEFAULT.question;
        let mut machine = Model::<f32>::new(config, 3);
        let weights = machine.params.slices_mut().flatten();
        weights.for_each(|weight| *weight *= 3.0);
        machine
    };
    let [all, stops] = ["no", "repeats"].map(with);
    let mut repeated = 0;
    for index in 0..10 {
        let [all, stops] = [&all, &stops].map(|of| Recording::new(of, &task, 7, index));
        let first = all.trace.setting.source;
        let round = |of: &Recording, round: usize| {
            let steps = first + 2 * round..first + 2 * round + 2;
            let rows = steps.map(|t| of.trace.logit.row(t)[..of.episode.size].to_vec());
            rows.collect::<Vec<_>>()
        };
        let ends = |of: &Vec<Vec<f32>>| {
            let most = |row: &Vec<f32>| {
                let better = |best: usize, i: usize| if row[i] > row[best] { i } else { best };
                (0..row.len()).fold(0, better)
            };
            of.iter().map(most).collect::<Vec<_>>()
        };
        let mut before = [vec![], vec![0, all.episode.size - 1]];
        for at in 0..4 {
            let is_over = before[0] == before[1];
            let expected = if is_over {
                round(&stops, at - 1)
            } else {
                round(&all, at)
            };
            assert_eq!(round(&stops, at), expected, "{index} {at}");
            repeated += usize::from(is_over && expected != round(&all, at));
            before = [before[1].clone(), ends(&expected)];
        }
    }
    assert!(repeated > 0);
}

#[test]
fn heads_that_draw_have_the_arrays_of_their_weighting() {
    let task = Task::Transduce(Transduce::DEFAULT);
    let common = "read similarity content weighting";
    for (weighting, own) in [
        ("hard", "distribution draw row entropy"),
        ("weibull", "noise prior divergence location"),
        ("lognormal", "normal prior divergence location"),
    ] {
        let set = [
            ("encoder.units", "4"),
            ("units", "5"),
            ("attention.weighting", weighting),
        ];
        let channels = [task.inputs(), task.outputs()];
        let config = EquationsConfig::included("bahdanau", channels, &set).unwrap();
        assert_eq!(config.mechanism(0).weighting.word(), weighting);
        let machine = Model::<f32>::new(config, 3);
        let draw = Draw {
            sampling: NoiseMode::Sampled,
            ..Draw::of(7, 1)
        };
        let recording = Recording::of(&machine, &task, task.episode(7, 1), Some(draw));
        let trace = &recording.trace;
        let names: Vec<&str> = trace.heads[0]
            .arrays()
            .filter(|(_, series)| series.width() > 0)
            .map(|(array, _)| array.name)
            .collect();
        for name in common.split(' ').chain(own.split(' ')) {
            assert!(names.contains(&name), "{weighting}: {name} in {names:?}");
        }
        assert_eq!(again(&machine, trace), [], "{weighting}");
        assert!(
            recording.again(&machine).unwrap().trace == *trace,
            "{weighting}"
        );
    }
}

#[test]
fn penalties_on_weightings_reach_the_tensors() {
    for (name, task) in with_heads().into_iter().chain(with_document()) {
        let small = machine(name, &task);
        let mut machine = Model::<f64>::new(small.config.clone(), 3);
        let weights = small.params.slices();
        let pairs = machine.params.slices_mut().flatten().zip(weights.flatten());
        pairs.for_each(|(to, from)| *to = f64::from(*from));
        let episode = task.episode(5, 2);
        let factor = |at: usize| (at as f64).sin();
        let run = |machine: &Model<f64>| {
            let mut trace = [Trace::new(&machine.config)];
            machine.run_together(
                [(&episode, Draw::default())].into_iter(),
                usize::MAX,
                &mut trace,
            );
            trace
        };
        let trace = run(&machine);
        let mut workspace = [Workspace::new(&machine.config)];
        let by = &mut workspace[0].upstream;
        by.logit.resize(trace[0].steps());
        by.logit.as_mut_slice().fill(0.0);
        for (to, head) in by.weightings.iter_mut().zip(&trace[0].heads) {
            to.reshape(head.weighting.steps(), head.weighting.width());
            let all = to.as_mut_slice().iter_mut().enumerate();
            all.for_each(|(at, slope)| *slope = factor(at));
        }
        let mut gradient = Params::zeros(&machine.config);
        machine.backward(&trace, &mut workspace, &mut gradient);
        let loss = |machine: &Model<f64>| -> f64 {
            let heads = &run(machine)[0].heads;
            let all = heads
                .iter()
                .flat_map(|head| head.weighting.as_slice().iter().enumerate());
            all.map(|(at, weight)| weight * factor(at)).sum()
        };
        check_slopes(name, &machine, &gradient, (1e-5, 11), loss);
    }
}

#[test]
fn an_included_file_is_made_with_its_values() {
    let set = [
        ("encoder.units", "3"),
        ("attention.score", "dot"),
        ("units", "6"),
        ("encoder.direction", "both"),
    ];
    let made = EquationsConfig::included("bahdanau", [5, 4], &set).unwrap();
    let model = Model::<f32>::new(made, 1);
    assert_eq!((model.config.inputs(), model.config.outputs()), (5, 4));
    assert_eq!(model.config.columns(), 6);
    for (set, wanted) in [
        (("unit", "6"), "bahdanau.machine has no key unit"),
        (("units", "0"), "units = 0; allowed: 1..4096"),
        (
            ("attention.score", "dots"),
            "attention.score is dots; did you mean dot?",
        ),
    ] {
        let found = EquationsConfig::included("bahdanau", [5, 4], &[set]).err();
        let found = found.unwrap_or_default();
        assert!(found.contains(wanted), "{set:?}: {found}");
    }
    let none = EquationsConfig::included("none", [5, 4], &[]).unwrap_err();
    assert_eq!(none, "no included file none.machine");
}

#[test]
fn sequences_longer_than_learned_positions_are_refused() {
    let positions = ("positions", "6");
    let location = ("attention.score", "location");
    for (name, set, key) in [
        ("multi_head_layers", vec![positions], "sizes.positions"),
        (
            "bahdanau",
            vec![location, ("attention.places", "6")],
            "sizes.attention.places",
        ),
    ] {
        let config = ModelConfig::from(EquationsConfig::included(name, [3, 2], &set).unwrap());
        assert_eq!(config.fits_episode([6, 6]), Ok(()), "{name}");
        let error = config.fits_episode([7, 7]).unwrap_err();
        assert_eq!((&*error.field, &*error.found), (key, "6"), "{name}");
    }
    let places = [positions, ("places", "sinusoidal")];
    let config = EquationsConfig::included("multi_head_layers", [3, 2], &places).unwrap();
    assert_eq!(ModelConfig::from(config).fits_episode([7, 7]), Ok(()));
}
