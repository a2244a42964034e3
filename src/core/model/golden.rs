//! Machines with a source against golden values of whole sequences, with the gradients of all weights. See
//! `tests/golden/README.md` for where they come from.
#![cfg(test)]

use ndarray::Array2;

use super::attention::{PriorForm, Score, Switch, Weighting};
use super::source::{Source, Weights};
use super::spec::Place;
use super::weighting::bayesian::{DIVERGENCE, NOISE};
use super::{
    BahdanauConfig, Direction, EncoderCell, EncoderConfig, FixedContextConfig, Given, LuongConfig,
    Model, ModelConfig, Noise, NoiseMode, Params, Terms, Trace, Upstream, Workspace,
};
use crate::math::golden::Case;
use crate::math::{Answer, Series};

const CASES: [&str; 16] = [
    "fixed_context_a",
    "fixed_context_b",
    "bahdanau_a",
    "bahdanau_b",
    "bahdanau_general_a",
    "bahdanau_general_b",
    "bahdanau_weibull_a",
    "bahdanau_weibull_b",
    "luong_global_a",
    "luong_global_b",
    "luong_input_feeding_a",
    "luong_input_feeding_b",
    "luong_local_m_a",
    "luong_local_m_b",
    "luong_local_p_a",
    "luong_local_p_b",
];

/// The machine of a case.
fn machine(case: &Case, name: &str) -> ModelConfig {
    let size = |key: &str| case.size(key);
    let forward = || EncoderConfig::new(Direction::Forward, size("C"));
    let (x, y) = (size("V_x"), size("V_y"));
    if name.starts_with("fixed_context") {
        let mut config = FixedContextConfig::new(x, y);
        config.source = forward();
        config.into()
    } else if name.starts_with("luong") {
        let mut config = LuongConfig::new(x, y);
        config.source = forward();
        config.decoder.attentional = size("att");
        if name.contains("feeding") {
            config.decoder.input_feeding = Switch::On;
            let is_additive = case.word("score") == "additive";
            let score = if is_additive {
                Score::Additive
            } else {
                Score::Dot
            };
            config.attention.score = score.into();
            config.attention.units = size("A");
        } else if name.contains("local") {
            let is_monotonic = name.contains("local_m");
            config.attention.parameters.window = case.constant("D") as usize;
            config.attention.weighting = if is_monotonic {
                Weighting::LocalMonotonic
            } else {
                config.attention.parameters.position_units = size("pos");
                Weighting::LocalPredictive
            }
            .into();
        }
        config.into()
    } else {
        let mut config = BahdanauConfig::new(x, y);
        (config.source.size, config.decoder.size) = (size("u"), size("C"));
        if name.contains("general") {
            config.attention.score = Score::General.into();
        } else {
            config.attention.units = size("A");
        }
        if name.contains("weibull") {
            config.attention.weighting = Weighting::Weibull.into();
            let of = &mut config.attention.parameters;
            (of.weibull_shape, of.gamma_rate) = (case.constant("k"), case.constant("beta"));
            of.prior_units = size("d_h");
            of.prior = if name.ends_with('a') {
                PriorForm::Text
            } else {
                PriorForm::Code
            };
        }
        config.into()
    }
}

/// Source and target of a case, [S + T, channels].
fn given(case: &Case, config: &ModelConfig) -> (usize, [Array2<f32>; 2]) {
    let target = case.indices("inputs", "target");
    let source = case.indices("inputs", "source");
    let steps = source.len() + target.len();
    let one_hot = |symbols: &[usize], first: usize, channels: usize| {
        let mut all = Array2::zeros((steps, channels));
        for (t, &symbol) in symbols.iter().enumerate() {
            all[[first + t, symbol]] = 1.0;
        }
        all
    };
    let input = one_hot(&source, 0, config.inputs());
    let target = one_hot(&target, source.len(), config.outputs());
    (source.len(), [input, target])
}

/// The golden values of a tensor, [inputs, outputs].
fn golden(case: &Case, part: &str, name: &str, config: &ModelConfig) -> Vec<f64> {
    let split = || config.axis("k").unwrap() * config.axis("a").unwrap();
    let score = || case.transposed(part, "score.W");
    match name {
        "read0.additive_key" => score()[..split()].to_vec(),
        "read0.additive_row" => score()[split()..].to_vec(),
        "read0.additive_vector" => case.numbers(part, "score.v"),
        "read0.bilinear" => case.numbers(part, "score.W"),
        "read0.position_weight" => case.transposed(part, "position.W"),
        "read0.position_vector" => case.numbers(part, "position.v"),
        "read0.prior_weight" => case.transposed(part, "prior.W"),
        "read0.prior_bias" => case.numbers(part, "prior.b"),
        "read0.prior_vector" => case.numbers(part, "prior.h"),
        _ => {
            let mut name = name.replace("output", "out");
            if !case.has(part, "encoder.backward.W") {
                name = name.replace("encoder.forward", "encoder");
            }
            match name.strip_suffix(".weight") {
                Some(name) => case.transposed(part, &format!("{name}.W")),
                None => case.numbers(part, &name.replace("bias", "b")),
            }
        }
    }
}

fn with_golden_weights(case: &Case, config: ModelConfig) -> Model<f64> {
    let mut model = Model::<f64>::new(config, 1);
    let config = model.config.clone();
    for (tensor, mut to) in model.params.named_mut() {
        let from = golden(case, "parameters", &tensor, &config);
        assert_eq!(to.len(), from.len(), "{tensor}");
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
    }
    model
}

#[track_caller]
fn assert_gradients(case: &Case, name: &str, model: &Model<f64>, gradient: &Params<f64>) {
    for (tensor, found) in gradient.named() {
        let wanted = golden(case, "gradients", &tensor, &model.config);
        for (found, wanted) in found.iter().zip(wanted) {
            let off = (found - wanted).abs();
            let is_near = off <= 1e-10 * wanted.abs().max(1.0);
            assert!(is_near, "{name} {tensor}: {found} and {wanted}");
        }
    }
}

#[test]
fn values_and_gradients_of_whole_sequences() {
    for name in CASES {
        let case = Case::load(name);
        let model = with_golden_weights(&case, machine(&case, name));
        let (source, [input, target]) = given(&case, &model.config);
        let steps = input.nrows();
        let given = Given {
            input: &input,
            source,
            forced: Some(&target),
            answer: Answer::Symbols,
        };
        let answer = |series: &Series<f64>| series.as_slice()[source * series.width()..].to_vec();
        let mut noise = Trace::of_source(&model.config, source);
        noise.resize(steps);
        noise.sampling = NoiseMode::Sampled;
        if let Some(u) = noise.series_mut(Place::Head(0), NOISE) {
            let drawn = case.numbers("noise", "u");
            u.as_mut_slice()[source * source..].copy_from_slice(&drawn);
        }
        let mut trace = Trace::new(&model.config);
        model.run(given, Noise::Recorded(&noise), &mut trace);
        let close = |what: &str, found: &[f64]| {
            if case.has("outputs", what) {
                case.assert_close("outputs", what, found);
            }
        };
        if let [head] = &trace.heads[..] {
            let memory: Vec<f64> = trace.memory(steps).iter().copied().collect();
            close("H", &memory);
            close("energies", &answer(&head.similarity));
            let weightings = ["omega", "weightings", "local_weightings"];
            let mut found = weightings
                .into_iter()
                .filter(|name| case.has("outputs", name));
            close(found.next().unwrap(), &answer(&head.weighting));
            close("contexts", &answer(&head.read));
        }
        close("states", &answer(&trace.layers[0].hidden));
        close("logits", &answer(&trace.logit));
        let mut by = Upstream::new(&model.config);
        by.logit.resize(steps);
        for t in source..steps {
            let row = trace.output.row(t).iter().zip(target.row(t));
            let to = by.logit.row_mut(t).iter_mut();
            to.zip(row)
                .for_each(|(to, (y, target))| *to = y - f64::from(*target));
        }
        if case.has("outputs", "divergence") {
            let divergence = trace.heads[0].series(DIVERGENCE).unwrap();
            close("divergence", &answer(divergence));
            by.terms = Terms {
                divergence: case.constant("rho"),
                ..Terms::default()
            };
        }
        let mut workspace = [Workspace::new(&model.config)];
        workspace[0].upstream = by;
        let mut gradient = Params::zeros(&model.config);
        model.backward(std::slice::from_ref(&trace), &mut workspace, &mut gradient);
        assert_gradients(&case, name, &model, &gradient);
    }
}

/// Encoders alone, with the gradient w.r.t. their states.
#[test]
fn values_and_gradients_of_encoders() {
    let names = ["bidirectional_encoder", "gru_encoder"];
    for name in names
        .iter()
        .flat_map(|name| [format!("{name}_a"), format!("{name}_b")])
    {
        let case = Case::load(&name);
        let mut config = FixedContextConfig::new(case.size("d_x"), 1);
        let is_gru = name.starts_with("gru");
        if is_gru {
            config.source = EncoderConfig::new(Direction::Forward, case.size("C"));
            config.source.cell = EncoderCell::Gru;
        } else {
            config.source = EncoderConfig::new(Direction::Both, case.size("u"));
        }
        let n = case.size("n");
        let mut params = Params::<f64>::zeros(&config);
        let all: ModelConfig = config.clone().into();
        for (tensor, mut to) in params.named_mut() {
            if tensor.starts_with("encoder") {
                let from = golden(&case, "parameters", &tensor, &all);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
            }
        }
        let mut trace = Trace::<f64>::of_source(&config, n);
        trace.resize(n);
        trace
            .input
            .as_mut_slice()
            .copy_from_slice(&case.numbers("inputs", "x"));
        let shape = config.source.shape(config.inputs);
        let weights = Weights {
            linears: &params.linears[..shape.linears.len()],
            tensors: &[],
        };
        config.source.run(weights, &mut trace);
        let hidden = ["encoder.forward.hidden", "encoder.backward.hidden"];
        let state = |t: usize| {
            let own = trace.own.arrays();
            let hidden =
                own.filter(|(array, series)| hidden.contains(&array.name) && series.width() > 0);
            hidden
                .flat_map(|(_, series)| series.row(t).to_vec())
                .collect::<Vec<_>>()
        };
        let states: Vec<f64> = (0..n).flat_map(state).collect();
        case.assert_close("outputs", "H", &states);
        let mut d_rows = Series::new(states.len() / n);
        d_rows.resize(n);
        d_rows
            .as_mut_slice()
            .copy_from_slice(&case.numbers("upstream", "H"));
        let mut products: Vec<Series<f64>> = shape
            .linears
            .iter()
            .map(|linear| {
                let mut series = Series::new(crate::math::matrix::padded(linear.outputs()));
                series.resize(n);
                series
            })
            .collect();
        let mut recorder = Trace::without_values(&config, n);
        let by = (&d_rows, &vec![0.0; d_rows.width()][..]);
        config
            .source
            .backward(weights, &trace, by, &mut products, Some(&mut recorder));
        case.assert_close("gradients", "x", recorder.input.as_slice());
        let mut gradient = Params::<f64>::zeros(&config);
        for (weight, (linear, dz)) in gradient.linears.iter_mut().zip(&products).enumerate() {
            let x = config.source.multiplied(&trace, weight);
            linear.set_gradient([(x, dz)].into_iter());
        }
        for (tensor, found) in gradient.named() {
            if tensor.starts_with("encoder") {
                let wanted = golden(&case, "gradients", &tensor, &all);
                let mut pairs = found.iter().zip(wanted);
                assert!(
                    pairs.all(|(a, b)| (a - b).abs() <= 1e-10 * b.abs().max(1.0)),
                    "{name} {tensor}"
                );
            }
        }
    }
}
