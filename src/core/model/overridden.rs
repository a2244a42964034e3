//! Checks every derivative with respect to a trace value against central differences.
//!
//! The value is overridden in its step, and the rest of the episode is computed from there.

#![cfg(test)]

use ndarray::Array2;

use super::array;
use super::attention::{Score, Switch, Weighting};
use super::config::{
    ControllerConfig, ControllerKind, InitialMemory, InitialWeighting, Order, ShiftForm,
};
use super::weighting::bayesian::DIVERGENCE;
use super::{
    Array, Dependency, Draw, EpisodeInput, Model, ModelConfig, Noise, NoiseMode, NtmConfig, Number,
    Params, Place, SamConfig, Search, Terms, Trace, Upstream, Workspace,
};
use crate::math::check::{assert_gradient, random_vector};
use crate::math::{Answer, Series};
use crate::train::{Quantity, score};

const STEPS: usize = 4;

/// One array of a trace, with all its values from the step of the override on.
struct Override<'a> {
    place: Place,
    /// `None` for no override.
    array: Option<Array>,
    /// The row of its series.
    row: usize,
    values: &'a [f64],
}

impl Override<'_> {
    /// Writes the override, if it applies to this array and this row.
    fn put(&self, trace: &mut Trace<f64>, place: Place, array: Array, row: usize) {
        if (self.place, self.row) == (place, row) && self.array == Some(array) {
            let series = trace.series_mut(place, array).unwrap();
            series.row_mut(row).copy_from_slice(self.values);
        }
    }
}

/// The episode of a trace again, with an override: every step from one value to the next.
fn again(model: &Model<f64>, recorded: &Trace<f64>, by: &Override) -> Trace<f64> {
    let mut trace = recorded.clone();
    // Arrays that no step computes: inputs, initial states, learned arrays.
    let computed = f64::machine(&model.config).step(&model.params);
    let is_computed = |place, array| {
        let mut all = computed.iter();
        all.any(|dependency: &Dependency<'_, f64>| {
            (dependency.place, dependency.array) == (place, array)
        })
    };
    if let Some(array) = by.array
        && (!is_computed(by.place, array) || (array, by.row) == (array::MEMORY, 0))
    {
        by.put(&mut trace, by.place, array, by.row);
    }
    model.run_again(&mut trace, 0, |trace, place, array, t| {
        by.put(trace, place, array, t + usize::from(array == array::MEMORY));
    });
    trace
}

/// A machine with random weights of the size of 1, and an episode of it.
fn recorded(config: ModelConfig, sampling: NoiseMode) -> (Model<f64>, Trace<f64>) {
    let mut model = Model::<f64> {
        params: Params::zeros(&config),
        config,
    };
    let values = random_vector(1, model.params.shape().count() as usize);
    let mut next = values.iter();
    model.params.change(|_, mut tensor| {
        let pairs = tensor.iter_mut().zip(&mut next);
        pairs.for_each(|(to, &from)| *to = from);
    });
    let input = Array2::from_shape_fn((STEPS, 3), |(t, x)| ((t * 3 + x) as f32).sin());
    let draw = Draw {
        sampling,
        ..Draw::of(3, 4)
    };
    let mut trace = Trace::new(&model.config);
    let input = EpisodeInput {
        source: 2,
        ..(&input).into()
    };
    model.run(input, draw, &mut trace);
    (model, trace)
}

/// Random, by every logit and by the weightings of all heads but the second.
fn upstream(trace: &Trace<f64>, config: &ModelConfig) -> Upstream<f64> {
    let mut upstream = Upstream::new(config);
    let steps = trace.steps();
    upstream.logit.resize(steps);
    let values = random_vector(2, 2 * steps);
    for (t, values) in values.chunks(2).enumerate().filter(|(t, _)| *t != 1) {
        upstream.logit.row_mut(t)[..2].copy_from_slice(values);
    }
    let pairs = trace.heads.iter().zip(&mut upstream.weightings).enumerate();
    for (index, (head, to)) in pairs.filter(|(index, _)| *index != 1) {
        to.reshape(steps, head.weighting.width());
        let values = random_vector(7 + index as u64, to.as_slice().len());
        to.as_mut_slice().copy_from_slice(&values);
    }
    upstream.terms = Terms {
        divergence: 0.3,
        ..Terms::default()
    };
    upstream
}

/// The number whose derivative with respect to logits, weightings and divergences is `upstream`.
fn number(trace: &Trace<f64>, upstream: &Upstream<f64>) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let of_step = |t: usize| {
        let heads = trace.heads.iter().zip(&upstream.weightings);
        let weightings = heads.filter(|(_, by)| by.width() > 0);
        let weightings = weightings.map(|(head, by)| dot(head.weighting.row(t), by.row(t)));
        dot(trace.logit.row(t), upstream.logit.row(t)) + weightings.sum::<f64>()
    };
    let divergences = trace.heads.iter();
    let divergences = divergences.filter_map(|head| head.series(DIVERGENCE));
    let divergences = divergences.flat_map(Series::as_slice);
    let divergence = upstream.terms.divergence * divergences.sum::<f64>();
    (0..trace.steps()).map(of_step).sum::<f64>() + divergence
}

/// Holds every array of the derivatives to central differences of `number`; returns the names of those that are
/// absent, though the trace has them.
fn hold(
    model: &Model<f64>,
    trace: &Trace<f64>,
    derivatives: &Trace<f64>,
    number: impl Fn(&Trace<f64>) -> f64,
) -> Vec<String> {
    let mut absent = Vec::new();
    for (place, spec, series) in trace.everything() {
        if series.width() == 0 || !spec.is_in_files() {
            continue;
        }
        let name = trace.array_name(place, spec);
        let Some(by) = derivatives.series(place, spec) else {
            absent.push(name);
            continue;
        };
        assert_eq!(
            (by.width(), by.steps()),
            (series.width(), series.steps()),
            "{name}"
        );
        for row in 0..series.steps() {
            let of = format!("{name} {row} of {:?}", model.config);
            assert_gradient(&of, series.row(row), by.row(row), |values| {
                let by = Override {
                    place,
                    array: Some(spec),
                    row,
                    values,
                };
                number(&again(model, trace, &by))
            });
        }
    }
    absent
}

fn check(config: impl Into<ModelConfig>, sampling: NoiseMode) -> Vec<String> {
    let (model, trace) = recorded(config.into(), sampling);
    check_of(&model, &trace)
}

/// Holds every value of a recorded episode; returns the names of the arrays without derivatives.
fn check_of(model: &Model<f64>, trace: &Trace<f64>) -> Vec<String> {
    let nothing = Override {
        place: Place::Machine,
        array: None,
        row: 0,
        values: &[],
    };
    let same = again(model, trace, &nothing);
    for ((place, array, recorded), (.., again)) in trace.everything().zip(same.everything()) {
        let name = trace.array_name(place, array);
        assert!(
            recorded == again,
            "{name} has the same bits again: {recorded:?}, {again:?}"
        );
    }
    let sums = upstream(trace, &model.config);
    let derivatives = model.derivatives(trace, upstream(trace, &model.config));
    hold(model, trace, &derivatives, |trace| number(trace, &sums))
}

/// Odd sizes, everything learned.
fn config(kind: ControllerKind, layers: usize, heads: (usize, usize), order: Order) -> NtmConfig {
    let mut config = NtmConfig::new(3, 2);
    (config.rows, config.columns, config.shift_range) = (7, 3, 2);
    (config.read_heads, config.write_heads, config.order) = (heads.0, heads.1, order);
    config.controller = ControllerConfig {
        kind,
        size: 5,
        layers,
    };
    config.initial_memory = InitialMemory::Learned;
    config.initial_weighting = InitialWeighting::Learned;
    config.similarity_epsilon = 1e-3;
    config
}

#[test]
fn every_value_of_every_order_and_number_of_heads() {
    for order in [Order::ReadFirst, Order::WriteFirst] {
        for (kind, layers, heads) in [
            (ControllerKind::Lstm, 2, (1, 1)),
            (ControllerKind::Feedforward, 1, (2, 2)),
            (ControllerKind::Lstm, 1, (0, 2)),
            (ControllerKind::Feedforward, 2, (3, 0)),
        ] {
            if (heads.1, order) == (0, Order::WriteFirst) {
                continue;
            }
            let absent = check(config(kind, layers, heads, order), NoiseMode::Mean);
            assert_eq!(absent, ["output"]);
        }
    }
}

#[test]
fn every_score_and_form_of_shift() {
    for &score in Score::ALL {
        let mut config = config(ControllerKind::Lstm, 1, (1, 1), Order::WriteFirst);
        (config.attention.score, config.attention.units) = (score.into(), 5);
        config.shift_form = ShiftForm::Scalar.into();
        assert_eq!(check(config, NoiseMode::Mean), ["output"]);
    }
}

#[test]
fn stages_that_are_off() {
    use super::attention::Strength;
    let mut config = config(ControllerKind::Lstm, 1, (1, 1), Order::ReadFirst);
    config.attention.gate = Switch::Off.into();
    config.attention.sharpening = Switch::Off.into();
    config.shift_form = ShiftForm::None.into();
    config.attention.strength = Strength::One.into();
    config.attention.erase = Switch::Off.into();
    assert_eq!(check(config, NoiseMode::Mean), ["output"]);
}

#[test]
fn heads_that_erase_nothing_beside_others() {
    use Switch::{Off, On};
    for order in [Order::ReadFirst, Order::WriteFirst] {
        let mut config = config(ControllerKind::Lstm, 1, (1, 2), order);
        config.attention.erase = vec![On, Off, On].into();
        assert_eq!(check(config, NoiseMode::Mean), ["output"]);
    }
}

#[test]
fn what_cannot_be_had_is_absent() {
    let absent_of = |weighting: Weighting, sampling| {
        let mut config = config(ControllerKind::Lstm, 1, (1, 1), Order::ReadFirst);
        config.attention.weighting = weighting.into();
        let of = &mut config.attention.parameters;
        (of.window, of.position_units, of.prior_units) = (2, 5, 3);
        let mut absent = check(config, sampling);
        absent.retain(|name| name != "output" && !name.starts_with("write0"));
        absent
    };
    for sampling in [NoiseMode::Mean, NoiseMode::Sampled] {
        let bayesian = absent_of(Weighting::Weibull, sampling);
        assert_eq!(bayesian, ["read0.noise", "read0.prior"]);
        let bayesian = absent_of(Weighting::Lognormal, sampling);
        assert_eq!(bayesian, ["read0.normal", "read0.prior"]);
        let drawn = [
            "initial",
            "key",
            "strength",
            "gate",
            "shift",
            "sharpening",
            "similarity",
            "content",
            "gated",
            "shifted",
            "distribution",
            "draw",
        ];
        let drawn = drawn.map(|array| format!("read0.{array}"));
        assert_eq!(absent_of(Weighting::Hard, sampling), drawn);
    }
    let expected = absent_of(Weighting::Hard, NoiseMode::Expected);
    assert_eq!(expected, ["read0.draw"]);
    let local = absent_of(Weighting::LocalMonotonic, NoiseMode::Mean);
    assert_eq!(local, ["read0.centre"]);
    let local = absent_of(Weighting::LocalPredictive, NoiseMode::Mean);
    assert_eq!(local, [""; 0]);
}

/// Holds the gradient w.r.t. every weight to central differences of [`number`].
fn check_weights(config: impl Into<ModelConfig>, sampling: NoiseMode) {
    let (model, trace) = recorded(config.into(), sampling);
    let sums = upstream(&trace, &model.config);
    let mut workspace = [Workspace::new(&model.config)];
    workspace[0].upstream = upstream(&trace, &model.config);
    let mut gradient = Params::zeros(&model.config);
    model.backward(std::slice::from_ref(&trace), &mut workspace, &mut gradient);
    let input = trace.input.view().mapv(|x| x as f32);
    for (index, (name, d_tensor)) in gradient.named().into_iter().enumerate() {
        let (_, tensor) = model.params.named().swap_remove(index);
        let [values, found] = [tensor, d_tensor].map(|all| all.iter().copied().collect::<Vec<_>>());
        assert_gradient(
            &format!("{name} of {:?}", model.config),
            &values,
            &found,
            |values| {
                let mut changed = model.clone();
                changed.params.change(|own, mut to| {
                    if own == name {
                        to.iter_mut().zip(values).for_each(|(to, &from)| *to = from);
                    }
                });
                let mut again = Trace::new(&model.config);
                let input = EpisodeInput {
                    source: trace.setting.source,
                    ..(&input).into()
                };
                changed.run(input, Noise::Recorded(&trace), &mut again);
                number(&again, &sums)
            },
        );
    }
}

#[test]
fn the_loss_and_one_bit_of_an_episode() {
    let config = config(ControllerKind::Lstm, 1, (1, 1), Order::ReadFirst);
    let (model, trace) = recorded(config.into(), NoiseMode::Mean);
    let episode = crate::task::Episode {
        input: Array2::zeros((STEPS, 3)),
        target: Array2::from_shape_fn((STEPS, 2), |(t, y)| ((t + y) % 2) as f32),
        answer: Answer::Bits,
        mask: vec![0.0, 1.0, 0.0, 1.0],
        phases: Vec::new(),
        size: 1,
        repeats: 1,
        alignment: Vec::new(),
        links: crate::task::Links::default(),
    };
    let loss = Quantity::Loss
        .derivatives(&model, &episode, &trace)
        .unwrap();
    hold(&model, &trace, &loss, |trace| {
        score(&episode, trace, &mut [0.0; STEPS]).bits
    });
    let (step, channel) = (2, 1);
    let bit = Quantity::Bit { step, channel }.derivatives(&model, &episode, &trace);
    hold(&model, &trace, &bit.unwrap(), |trace| {
        trace.logit.row(step)[channel]
    });
}

#[test]
fn a_wrong_derivative_is_found() {
    let config = config(ControllerKind::Lstm, 1, (1, 1), Order::ReadFirst);
    let (model, trace) = recorded(config.into(), NoiseMode::Mean);
    let sums = upstream(&trace, &model.config);
    let mut wrong = model.derivatives(&trace, upstream(&trace, &model.config));
    wrong.heads[1].gated.row_mut(2)[3] += 1e-4;
    let hold = || hold(&model, &trace, &wrong, |trace| number(trace, &sums));
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(hold));
    assert!(found.is_err());
}

/// Which rows are read and which are erased has no derivative.
#[test]
fn every_value_of_a_sparse_memory() {
    use super::config::InitialMemory::{Constant, Learned};
    for (kind, heads, initial_memory, search) in [
        (ControllerKind::Lstm, 2, Learned, Search::Exact),
        (
            ControllerKind::Feedforward,
            1,
            Constant(0.5),
            Search::Hashed,
        ),
        (ControllerKind::Lstm, 1, Learned, Search::Hashed),
        (ControllerKind::Feedforward, 2, Learned, Search::Exact),
    ] {
        let mut config = SamConfig::new(3, 2);
        (config.rows, config.columns, config.read_rows, config.seed) = (9, 4, 3, 1);
        (config.heads, config.initial_memory, config.search) = (heads, initial_memory, search);
        (config.threshold, config.similarity_epsilon) = (0.05, 1e-3);
        config.controller = ControllerConfig {
            kind,
            size: 5,
            layers: 1,
        };
        let rows = (0..heads).map(|head| format!("read{head}.rows"));
        let row = (0..heads).map(|head| format!("write{head}.row"));
        let absent: Vec<_> = std::iter::once("output".to_owned())
            .chain(rows)
            .chain(row)
            .collect();
        assert_eq!(check(config.clone(), NoiseMode::Mean), absent);
        check_weights(config, NoiseMode::Mean);
    }
}

#[test]
fn every_value_of_a_differentiable_neural_computer() {
    use super::attention::Switch::{Off, On};
    for (links, allocation, free_gates, heads) in [
        (On, On, On, 2),
        (On, On, Off, 1),
        (On, Off, Off, 1),
        (Off, On, On, 2),
        (Off, Off, Off, 1),
    ] {
        for kind in [ControllerKind::Feedforward, ControllerKind::Lstm] {
            let mut config = super::DncConfig::new(3, 2);
            (config.rows, config.columns, config.read_heads) = (7, 3, heads);
            (config.links, config.allocation, config.free_gates) = (links, allocation, free_gates);
            config.controller = ControllerConfig {
                kind,
                size: 5,
                layers: 1,
            };
            config.similarity_epsilon = 1e-3;
            let (model, mut trace) = recorded(config.into(), NoiseMode::Mean);
            // Rows of equal usage would change places.
            let memory = trace.memory_columns.row_mut(0);
            memory.copy_from_slice(&random_vector(5, memory.len()));
            if let Some(usage) = trace.series_mut(Place::Head(heads), super::dnc::INITIAL_USAGE) {
                let values = random_vector(6, 7).into_iter().map(|x| 0.5 + 0.3 * x.sin());
                usage
                    .row_mut(0)
                    .copy_from_slice(&values.collect::<Vec<_>>());
            }
            model.run_again(&mut trace, 0, |_, _, _, _| ());
            assert_eq!(check_of(&model, &trace), ["output"]);
        }
    }
}
