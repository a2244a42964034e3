//! What must hold for every machine, whatever its weights: weightings are distributions, reads are
//! averages, nothing persists between episodes, more rows are the same machine.

use ndarray::Array2;
use proptest::prelude::*;
use proptest::sample::select;
use tapescope::keys::Words;
use tapescope::model::attention::{AttentionConfig, PriorForm, Score, Strength, Switch, Weighting};
use tapescope::model::config::{ControllerConfig, ControllerKind, InitialWeighting, ShiftForm};
use tapescope::model::{Draw, Kind, Model, NoiseMode, NtmConfig, Trace};

/// Any of the words there are.
fn word<T: Words + std::fmt::Debug>() -> impl Strategy<Value = T> {
    let all: Vec<T> = T::WORDS.iter().map(|(_, choice)| choice.clone()).collect();
    select(all)
}

/// One mechanism for all heads.
fn attention() -> impl Strategy<Value = AttentionConfig> {
    let words = (
        word::<Score>(),
        word::<Weighting>(),
        word::<Strength>(),
        word::<Switch>(),
        word::<Switch>(),
        word::<Switch>(),
        word::<PriorForm>(),
    );
    (words, 1_usize..5, 1_usize..9).prop_map(|(words, units, window)| {
        let (score, weighting, strength, gate, sharpening, erase, prior) = words;
        let mut attention = AttentionConfig {
            score: score.into(),
            units,
            strength: strength.into(),
            gate: gate.into(),
            sharpening: sharpening.into(),
            erase: erase.into(),
            weighting: weighting.into(),
            ..AttentionConfig::DEFAULT
        };
        let of = &mut attention.parameters;
        (of.window, of.position_units, of.prior_units, of.prior) = (window, units, units, prior);
        attention
    })
}

fn configs() -> impl Strategy<Value = NtmConfig> {
    let sizes = (1_usize..40, 1_usize..9, 1_usize..4, 1_usize..4, 0_usize..3);
    let variants = (any::<bool>(), word::<ShiftForm>(), 1_usize..3, 1_usize..14);
    // Half of them as in the paper.
    let attention = prop_oneof![Just(AttentionConfig::DEFAULT), attention()];
    (sizes, variants, attention).prop_map(
        |((rows, columns, reads, writes, range), (lstm, form, layers, size), attention)| {
            let range = range.min((rows - 1) / 2);
            NtmConfig {
                rows,
                columns,
                read_heads: reads,
                write_heads: writes,
                shift_range: range,
                shift_form: if form == ShiftForm::Scalar && range == 0 {
                    ShiftForm::Softmax.into()
                } else {
                    form.into()
                },
                controller: ControllerConfig {
                    kind: if lstm {
                        ControllerKind::Lstm
                    } else {
                        ControllerKind::Feedforward
                    },
                    size,
                    layers,
                },
                attention,
                ..NtmConfig::new(3, 2)
            }
        },
    )
}

/// A machine whose weights are large enough to saturate now and then.
fn machine(config: NtmConfig, seed: u64, scale: f32) -> Model<f32> {
    let mut machine = Model::new(config, seed);
    machine
        .params
        .slices_mut()
        .flatten()
        .for_each(|w| *w *= scale);
    machine
}

fn run(machine: &Model<f32>, steps: usize) -> Trace<f32> {
    sampled(machine, steps, NoiseMode::Mean)
}

fn sampled(machine: &Model<f32>, steps: usize, sampling: NoiseMode) -> Trace<f32> {
    let input = Array2::from_shape_fn((steps, 3), |(t, x)| ((7 * t + 3 * x) as f32).sin());
    let mut trace = Trace::new(&machine.config);
    let draw = Draw {
        sampling,
        ..Draw::default()
    };
    machine.run(&input, draw, &mut trace);
    trace
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_weighting_is_a_distribution_and_every_parameter_in_its_range(
        config in configs(), seed in 0_u64..1000, scale in 0.1_f32..30.0, sampling in word::<NoiseMode>()
    ) {
        prop_assert_eq!(config.validate(), Ok(()));
        let machine = machine(config, seed, scale);
        let trace = sampled(&machine, 6, sampling);
        for head in &trace.heads {
            let mechanism = &head.mechanism;
            // What its Gaussian takes away is given to no other row.
            let is_whole = mechanism.weighting != Weighting::LocalPredictive;
            for t in 0..trace.steps() {
                let stages = [&head.content, &head.gated, &head.shifted, &head.distribution, &head.weighting];
                let stages = stages.map(|stage| (stage, is_whole));
                for (weighting, is_whole) in stages.into_iter().chain([(&head.shift, true)]) {
                    if weighting.width() == 0 {
                        continue;
                    }
                    let row = weighting.row(t);
                    prop_assert!(row.iter().all(|&w| (0.0..=1.00001).contains(&w)), "{row:?}");
                    let off = 1.0 - row.iter().sum::<f32>();
                    prop_assert!(off > -1e-4 && (off < 1e-4 || !is_whole), "{row:?}");
                }
                let is_at_least = |of: &tapescope::math::Series<f32>, least: f32| {
                    of.width() == 0 || of[t] >= least
                };
                prop_assert!(is_at_least(&head.strength, 0.0) && is_at_least(&head.sharpening, 1.0));
                prop_assert!(head.gate.width() == 0 || (0.0..=1.0).contains(&head.gate[t]));
                let most = if mechanism.score == Score::Cosine { 1.0001 } else { f32::MAX };
                prop_assert!(head.similarity.row(t).iter().all(|k| k.abs() <= most));
                let is_one_row = mechanism.weighting == Weighting::Hard && sampling != NoiseMode::Expected;
                let ones = head.weighting.row(t).iter().filter(|&&w| w == 1.0).count();
                prop_assert!(!is_one_row || ones == 1);
            }
        }
        prop_assert!(trace.output.as_slice().iter().all(|y| (0.0..=1.0).contains(y)));
    }

    #[test]
    fn a_read_lies_within_what_is_in_memory(config in configs(), seed in 0_u64..1000) {
        let machine = machine(config, seed, 3.0);
        let trace = run(&machine, 5);
        for head in &trace.heads {
            if head.is_write() {
                continue;
            }
            for t in 0..trace.steps() {
                // M_{t-1}: reads see the memory before this step's write.
                let memory = trace.memory(t);
                for (column, &r) in memory.columns().into_iter().zip(head.read.row(t)) {
                    let low = column.iter().fold(f32::INFINITY, |a, &b| a.min(b));
                    let high = column.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
                    // A weighting whose sum is less than 1 reads a part of it.
                    let (low, high) = if head.mechanism.weighting == Weighting::LocalPredictive {
                        (low.min(0.0), high.max(0.0))
                    } else {
                        (low, high)
                    };
                    prop_assert!(r >= low - 1e-4 && r <= high + 1e-4, "{low} <= {r} <= {high}");
                }
            }
        }
    }

    #[test]
    fn nothing_persists_between_episodes(config in configs(), seed in 0_u64..1000) {
        let machine = machine(config, seed, 2.0);
        let mut reused = run(&machine, 9);
        let fresh = run(&machine, 4);
        let input = Array2::from_shape_fn((4, 3), |(t, x)| ((7 * t + 3 * x) as f32).sin());
        machine.run(&input, Draw::default(), &mut reused);
        prop_assert!(reused == fresh);
    }
}

#[test]
fn the_first_weighting_is_on_row_zero_and_the_memory_is_constant() {
    let machine = machine(NtmConfig::new(3, 2), 1, 1.0);
    let trace = run(&machine, 2);
    for head in &trace.heads {
        assert_eq!(head.previous_weighting(0)[0], 1.0);
        assert_eq!(head.previous_weighting(0).iter().sum::<f32>(), 1.0);
    }
    assert!(trace.memory(0).iter().all(|&value| value == 1e-6));
}

#[test]
fn the_same_weights_run_on_any_number_of_rows_unless_a_tensor_is_learned_per_row() {
    let few = machine(NtmConfig::new(3, 2), 1, 1.0);
    let many = few.with_rows(4096).unwrap();
    assert!(
        few.params
            .slices()
            .zip(many.params.slices())
            .all(|(a, b)| a == b)
    );
    assert_eq!(run(&many, 3).memory(3).dim(), (4096, 20));
    let mut learned = NtmConfig::new(3, 2);
    learned.initial_weighting = InitialWeighting::Learned;
    assert!(Model::<f32>::new(learned, 1).with_rows(64).is_err());
}
