//! Every gradient of every kind of machine, held to central differences.
#![cfg(test)]

use super::attention::{PriorForm, Score, Strength, Switch, Weighting};
use super::weighting::bayesian::DIVERGENCE;
use super::{
    Draw, HeadTrace, Kind, Model, ModelConfig, NoiseMode, NtmConfig, Params, Terms, Trace,
    Workspace,
};
use crate::math::Real;
use crate::math::check::{assert_gradient, random_vector};
use crate::model::config::{
    ControllerConfig, ControllerKind, InitialMemory, InitialWeighting, Order, ShiftForm,
    VectorActivation,
};
use ndarray::Array2;

/// Odd sizes, a controller wider than its inputs, two heads of each kind, everything learned.
fn config(kind: ControllerKind, layers: usize, form: ShiftForm) -> NtmConfig {
    let mut config = NtmConfig::new(3, 2);
    (config.rows, config.columns, config.shift_range) = (7, 3, 2);
    (config.read_heads, config.write_heads) = (2, 2);
    config.controller = ControllerConfig {
        kind,
        size: 11,
        layers,
    };
    config.shift_form = form.into();
    config.initial_memory = InitialMemory::Learned;
    config.initial_weighting = InitialWeighting::Learned;
    config.similarity_epsilon = 1e-3;
    config
}

/// Sets values of the gradient w.r.t. the logits, [T, Y].
fn set_upstream<R: Real>(workspace: &mut Workspace<R>, steps: usize, values: &[f64]) {
    workspace.upstream.logit.resize(steps);
    for (t, values) in values.chunks(values.len() / steps).enumerate() {
        for (to, &from) in workspace.upstream.logit.row_mut(t).iter_mut().zip(values) {
            *to = R::from_f64(from);
        }
    }
}

/// Sets values of the gradient w.r.t. the weightings of every head except the second, which has no penalty.
fn set_weightings(workspace: &mut Workspace<f64>, trace: &Trace<f64>) {
    let pairs = trace.heads.iter().zip(&mut workspace.upstream.weightings);
    for (index, (head, by)) in pairs.enumerate().filter(|(index, _)| *index != 1) {
        by.reshape(trace.steps(), head.weighting.width());
        let values = random_vector(7 + index as u64, by.as_slice().len());
        by.as_mut_slice().copy_from_slice(&values);
    }
}

#[test]
fn episodes_side_by_side_have_the_sum_of_their_gradients() {
    for kind in [ControllerKind::Feedforward, ControllerKind::Lstm] {
        let machine = Model::<f64>::new(config(kind, 2, ShiftForm::Softmax), 3);
        for lengths in [&[9, 9, 6, 6, 2, 1, 1][..], &[5, 4, 3], &[7, 2]] {
            let input = |index: usize| {
                Array2::from_shape_fn((lengths[index], 3), |(t, x)| {
                    ((index * 31 + t * 3 + x) as f32).sin()
                })
            };
            let inputs: Vec<_> = (0..lengths.len()).map(input).collect();
            let gradient_of = |episodes: std::ops::Range<usize>| {
                let count = episodes.len();
                let mut traces = vec![Trace::new(&machine.config); count];
                let inputs = inputs[episodes.clone()].iter();
                let inputs = inputs.map(|input| (input, Draw::default()));
                machine.run_together(inputs, usize::MAX, &mut traces);
                let workspace = |_| Workspace::new(&machine.config);
                let mut workspaces: Vec<_> = (0..count).map(workspace).collect();
                for (workspace, index) in workspaces.iter_mut().zip(episodes) {
                    let values = random_vector(index as u64, 2 * lengths[index]);
                    set_upstream(workspace, lengths[index], &values);
                }
                let mut gradient = Params::zeros(&machine.config);
                machine.backward(&traces, &mut workspaces, &mut gradient);
                (traces, gradient)
            };
            let (traces, together) = gradient_of(0..lengths.len());
            let mut sum = Params::zeros(&machine.config);
            for (index, trace) in traces.iter().enumerate() {
                let (alone, gradient) = gradient_of(index..index + 1);
                let outputs = alone[0].output.as_slice().iter();
                assert!(
                    outputs
                        .zip(trace.output.as_slice())
                        .all(|(x, y)| (x - y).abs() < 1e-12)
                );
                sum.add(&gradient);
            }
            let slices = together.slices().zip(sum.slices());
            for (found, wanted) in slices {
                let close = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-10;
                assert!(found.iter().zip(wanted).all(close), "{kind:?} {lengths:?}");
            }
        }
    }
}

fn check(config: impl Into<ModelConfig>) {
    check_sampled(config, NoiseMode::Mean, Terms::default());
}

/// Returns the terms that sampling heads add to the loss of a recorded episode.
fn added(trace: &Trace<f64>, terms: &Terms<f64>) -> f64 {
    let of_head = |head: &HeadTrace<f64>| {
        let divergence = head
            .series(DIVERGENCE)
            .map_or(&[][..], |series| series.as_slice());
        let divergence: f64 = divergence.iter().sum();
        let drawn = head
            .distribution
            .as_slice()
            .iter()
            .zip(head.weighting.as_slice());
        let drawn = drawn.map(|(&alpha, &w)| {
            let is_drawn = w == 1.0 && trace.sampling == NoiseMode::Sampled;
            let log = if is_drawn { alpha.ln() } else { 0.0 };
            terms.entropy * alpha * alpha.ln() - terms.reward * log
        });
        terms.divergence * divergence + drawn.sum::<f64>()
    };
    trace.heads.iter().map(of_head).sum()
}

fn check_sampled(config: impl Into<ModelConfig>, sampling: NoiseMode, terms: Terms<f64>) {
    const STEPS: usize = 5;
    let config = config.into();
    let mut machine = Model::<f64> {
        params: Params::zeros(&config),
        config,
    };
    let values = random_vector(1, machine.params.shape().count() as usize);
    let mut next = values.iter();
    machine.params.change(|_, mut tensor| {
        tensor
            .iter_mut()
            .zip(&mut next)
            .for_each(|(to, &from)| *to = from);
    });
    let input = Array2::from_shape_fn((STEPS, 3), |(t, x)| ((t * 3 + x) as f32).sin());
    let upstream = random_vector(2, STEPS * 2);
    let draw = Draw {
        sampling,
        ..Draw::of(3, 4)
    };
    let mut trace = Trace::new(&machine.config);
    machine.run(&input, draw, &mut trace);
    let mut gradient = Params::zeros(&machine.config);
    let mut workspace = Workspace::new(&machine.config);
    workspace.upstream.terms = terms;
    set_upstream(&mut workspace, STEPS, &upstream);
    // One step outside the answer.
    workspace.upstream.logit.row_mut(1).fill(0.0);
    set_weightings(&mut workspace, &trace);
    machine.backward(
        std::slice::from_ref(&trace),
        std::slice::from_mut(&mut workspace),
        &mut gradient,
    );

    let names: Vec<(String, usize)> = machine
        .params
        .named()
        .iter()
        .map(|(name, tensor)| (name.clone(), tensor.len()))
        .collect();
    assert_eq!(
        names.iter().map(|(_, len)| len).sum::<usize>(),
        values.len()
    );
    for (name, _) in &names {
        let tensor = |params: &Params<f64>| -> Vec<f64> {
            let named = params.named().into_iter();
            let own = named.filter(|(own, _)| own == name);
            own.flat_map(|(_, tensor)| tensor.iter().copied().collect::<Vec<_>>())
                .collect()
        };
        assert_gradient(
            name,
            &tensor(&machine.params),
            &tensor(&gradient),
            |values| {
                let mut moved = machine.clone();
                moved.params.change(|n, mut tensor| {
                    if n == *name {
                        tensor
                            .iter_mut()
                            .zip(values)
                            .for_each(|(to, &from)| *to = from);
                    }
                });
                let mut trace = Trace::new(&moved.config);
                moved.run(&input, draw, &mut trace);
                let logits = (0..STEPS).flat_map(|t| {
                    trace
                        .logit
                        .row(t)
                        .iter()
                        .zip(workspace.upstream.logit.row(t))
                });
                let heads = trace.heads.iter().zip(&workspace.upstream.weightings);
                let weightings = heads.flat_map(|(head, by)| {
                    let weighting = head.weighting.as_slice().iter();
                    weighting.zip(by.as_slice())
                });
                let answered: f64 = logits.chain(weightings).map(|(value, u)| value * u).sum();
                answered + added(&trace, &terms)
            },
        );
    }
}

#[test]
fn every_weight_of_every_kind_of_machine() {
    for kind in [ControllerKind::Feedforward, ControllerKind::Lstm] {
        for (layers, form) in [
            (1, ShiftForm::Softmax),
            (2, ShiftForm::Softmax),
            (1, ShiftForm::Scalar),
        ] {
            check(config(kind, layers, form));
        }
    }
}

#[test]
fn reads_that_see_what_was_written() {
    for (kind, heads) in [
        (ControllerKind::Lstm, (1, 1)),
        (ControllerKind::Feedforward, (2, 2)),
        (ControllerKind::Lstm, (3, 1)),
        (ControllerKind::Lstm, (0, 1)),
    ] {
        let mut config = config(kind, 1, ShiftForm::Softmax);
        (config.read_heads, config.write_heads) = heads;
        config.order = Order::WriteFirst;
        check(config);
    }
}

#[test]
fn heads_of_one_kind_alone() {
    for heads in [(0, 1), (0, 2), (1, 0), (3, 0)] {
        let mut config = config(ControllerKind::Lstm, 1, ShiftForm::Softmax);
        (config.read_heads, config.write_heads) = heads;
        assert_eq!(config.validate(), Ok(()));
        check(config);
    }
}

#[test]
fn a_memory_kept_in_part_gives_the_same_bits() {
    for (write_heads, steps, order) in [
        (1, 23, Order::ReadFirst),
        (2, 16, Order::ReadFirst),
        (2, 1, Order::ReadFirst),
        (2, 23, Order::WriteFirst),
    ] {
        let mut config = NtmConfig {
            write_heads,
            order,
            ..config(ControllerKind::Lstm, 1, ShiftForm::Softmax)
        };
        config.rows = 40;
        // The last head erases nothing.
        let mut erase = vec![Switch::On; config.heads()];
        erase[config.heads() - 1] = Switch::Off;
        config.attention.erase = erase.into();
        let machine = Model::<f32>::new(config, 5);
        let input = Array2::from_shape_fn((steps, 3), |(t, x)| ((t * 3 + x) as f32).sin());
        let gradient = |limit: usize| {
            let mut trace = [Trace::new(&machine.config)];
            // A longer episode before must leave nothing behind.
            machine.run_together(
                [(&Array2::zeros((30, 3)), Draw::default())].into_iter(),
                limit,
                &mut trace,
            );
            machine.run_together([(&input, Draw::default())].into_iter(), limit, &mut trace);
            let (mut workspace, mut gradient) = (
                [Workspace::new(&machine.config)],
                Params::zeros(&machine.config),
            );
            set_upstream(&mut workspace[0], steps, &random_vector(2, steps * 2));
            machine.backward(&trace, &mut workspace, &mut gradient);
            (trace[0].memory_every, gradient)
        };
        let (all, part) = (gradient(usize::MAX), gradient(0));
        assert_eq!(all.0, 1);
        assert!(part.0 > 1);
        assert!(all.1 == part.1);
    }
}

#[test]
fn a_workspace_keeps_nothing_of_the_episode_before() {
    let machine = Model::<f32>::new(config(ControllerKind::Lstm, 1, ShiftForm::Softmax), 5);
    let mut trace = [Trace::new(&machine.config)];
    let mut gradient = |steps: usize, workspace: &mut [Workspace<f32>]| {
        let input =
            Array2::from_shape_fn((steps, 3), |(t, x)| ((steps * 7 + t * 3 + x) as f32).sin());
        machine.run_together([(&input, Draw::default())].into_iter(), 0, &mut trace);
        let mut gradient = Params::zeros(&machine.config);
        set_upstream(&mut workspace[0], steps, &random_vector(2, steps * 2));
        machine.backward(&trace, workspace, &mut gradient);
        (trace[0].memory_every, gradient)
    };
    // The first steps of an episode stand where the last one's stood, and more of them than it had.
    for lengths in [&[2, 3][..], &[30, 3, 2, 3, 1, 1, 2, 4, 5, 3]] {
        let mut reused = [Workspace::new(&machine.config)];
        for &steps in lengths {
            let (every, found) = gradient(steps, &mut reused);
            let (_, alone) = gradient(steps, &mut [Workspace::new(&machine.config)]);
            assert!(every > 1);
            assert!(found == alone, "{steps} steps of {lengths:?}");
        }
    }
}

#[test]
fn a_machine_with_nothing_learned_but_its_weights() {
    let mut config = config(ControllerKind::Lstm, 1, ShiftForm::Softmax);
    config.initial_memory = InitialMemory::Constant(0.1);
    config.initial_weighting = InitialWeighting::OneHot;
    (config.read_heads, config.write_heads) = (1, 1);
    config.key_activation = VectorActivation::Identity;
    check(config);
}

/// One read and one write head that reads first, then several that write first.
fn each_machine(mut each: impl FnMut(NtmConfig)) {
    let mut one = config(ControllerKind::Lstm, 1, ShiftForm::Softmax);
    (one.read_heads, one.write_heads) = (1, 1);
    each(one);
    let mut several = config(ControllerKind::Feedforward, 1, ShiftForm::Softmax);
    (several.read_heads, several.write_heads) = (2, 1);
    several.order = Order::WriteFirst;
    each(several);
}

#[test]
fn every_score() {
    for score in Score::ALL {
        each_machine(|mut config| {
            config.attention.score = (*score).into();
            config.attention.units = 5;
            check(config);
        });
    }
}

/// Heads that erase beside heads that do not, in both orders; and none that does.
#[test]
fn write_heads_that_erase_nothing() {
    for order in [Order::ReadFirst, Order::WriteFirst] {
        for (reads, erases) in [
            (1, &[false][..]),
            (2, &[false, true]),
            (1, &[true, false, true]),
            (2, &[false, false]),
            (0, &[false]),
        ] {
            let mut config = NtmConfig {
                order,
                ..config(ControllerKind::Lstm, 1, ShiftForm::Softmax)
            };
            (config.read_heads, config.write_heads) = (reads, erases.len());
            let whole = config.shape().count();
            // The setting is ignored for read heads.
            let words = (0..reads).map(|_| Switch::Off);
            let words = words.chain(erases.iter().map(|&on| switch(on)));
            config.attention.erase = words.collect::<Vec<_>>().into();
            assert_eq!(config.validate(), Ok(()));
            let off = erases.iter().filter(|on| !**on).count() as u64;
            // Weights and bias of each of the three columns.
            assert_eq!(config.shape().count() + off * 3 * 12, whole);
            check(config);
        }
    }
}

fn switch(is_on: bool) -> Switch {
    if is_on { Switch::On } else { Switch::Off }
}

#[test]
fn stages_that_are_off() {
    for off in 0..32 {
        each_machine(|mut config| {
            let is_off = |bit: usize| off >> bit & 1 == 1;
            config.attention.gate = switch(!is_off(0)).into();
            config.attention.sharpening = switch(!is_off(1)).into();
            config.attention.erase = switch(!is_off(4)).into();
            if is_off(2) {
                config.shift_form = ShiftForm::None.into();
            }
            if is_off(3) {
                config.attention.strength = Strength::One.into();
            }
            check(config);
        });
    }
}

#[test]
fn every_weighting() {
    let terms = Terms {
        divergence: 0.3,
        reward: -0.7,
        entropy: 0.2,
        ..Terms::default()
    };
    for &weighting in Weighting::ALL {
        for prior in [PriorForm::Text, PriorForm::Code] {
            for sampling in [NoiseMode::Mean, NoiseMode::Sampled, NoiseMode::Expected] {
                each_machine(|mut config| {
                    config.attention.weighting = weighting.into();
                    let of = &mut config.attention.parameters;
                    (of.prior, of.window, of.position_units, of.prior_units) = (prior, 2, 5, 3);
                    check_sampled(config, sampling, terms);
                });
            }
        }
    }
}

#[test]
fn every_head_of_its_own_kind() {
    let mut config = NtmConfig::with_every_mechanism();
    config.set_channels(3, 2);
    (config.rows, config.columns, config.controller.size) = (7, 3, 11);
    config.attention.units = 4;
    config.attention.erase = [Switch::On, Switch::Off].repeat(4).into();
    config.similarity_epsilon = 1e-3;
    let of = &mut config.attention.parameters;
    (of.window, of.position_units, of.prior_units) = (2, 5, 3);
    let terms = Terms {
        divergence: 0.3,
        reward: -0.7,
        entropy: 0.2,
        ..Terms::default()
    };
    check_sampled(config, NoiseMode::Sampled, terms);
}
