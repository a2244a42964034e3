//! What must hold for every machine, whatever its weights: weightings are distributions, reads are
//! averages, nothing persists between episodes, more rows are the same machine.

use ndarray::Array2;
use proptest::prelude::*;
use tapescope::model::config::{ControllerConfig, ControllerKind, InitialWeighting, ShiftForm};
use tapescope::model::{Draw, Kind, Model, NtmConfig, Trace};

fn configs() -> impl Strategy<Value = NtmConfig> {
    let sizes = (1_usize..40, 1_usize..9, 1_usize..4, 1_usize..4, 0_usize..3);
    let variants = (any::<bool>(), any::<bool>(), 1_usize..3, 1_usize..14);
    (sizes, variants).prop_map(
        |((rows, columns, reads, writes, range), (lstm, scalar, layers, size))| {
            let range = range.min((rows - 1) / 2);
            NtmConfig {
                rows,
                columns,
                read_heads: reads,
                write_heads: writes,
                shift_range: range,
                shift_form: if scalar && range > 0 {
                    ShiftForm::Scalar.into()
                } else {
                    ShiftForm::Softmax.into()
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
    let input = Array2::from_shape_fn((steps, 3), |(t, x)| ((7 * t + 3 * x) as f32).sin());
    let mut trace = Trace::new(&machine.config);
    machine.run(&input, Draw::default(), &mut trace);
    trace
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_weighting_is_a_distribution_and_every_parameter_in_its_range(
        config in configs(), seed in 0_u64..1000, scale in 0.1_f32..30.0
    ) {
        prop_assert_eq!(config.validate(), Ok(()));
        let machine = machine(config, seed, scale);
        let trace = run(&machine, 6);
        for head in &trace.heads {
            for t in 0..trace.steps() {
                for weighting in [&head.content, &head.gated, &head.shifted, &head.weighting, &head.shift] {
                    let row = weighting.row(t);
                    prop_assert!(row.iter().all(|&w| (0.0..=1.00001).contains(&w)), "{row:?}");
                    prop_assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{row:?}");
                }
                prop_assert!(head.strength[t] >= 0.0 && head.sharpening[t] >= 1.0);
                prop_assert!((0.0..=1.0).contains(&head.gate[t]));
                prop_assert!(head.similarity.row(t).iter().all(|k| k.abs() <= 1.0001));
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
