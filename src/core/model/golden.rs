//! Machines with a source against golden values of whole sequences, with the gradients of all weights. See
//! `tests/golden/README.md` for where they come from.
#![cfg(test)]

use std::ops::Range;
use std::slice::from_mut;

use ndarray::Array2;

use super::agreement::agree;
use super::attention::{Biases, PriorForm, Score, Switch, Weighting};
use super::fertility;
use super::source::{Source, SourceBack, Weights};
use super::spec::Place;
use super::weighting::bayesian::{DIVERGENCE, NOISE};
use super::weighting::hard::DRAW;
use super::{
    AnnotationsConfig, AttentionOverAttentionConfig, BahdanauConfig, CaptionConfig,
    CoattentionConfig, Direction, Draw, EncoderCell, EncoderConfig, FixedContextConfig, Fusion,
    Given, HeadTrace, LstmnDecoderConfig, LuongConfig, Model, ModelConfig, MultiHeadConfig, Noise,
    NoiseMode, Params, Terms, Trace, Upstream, Workspace,
};
use crate::math::golden::Case;
use crate::math::matrix::padded;
use crate::math::{Answer, Linear, Series};
use crate::train::Redundancy;

const CASES: [&str; 28] = [
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
    "biases_a",
    "biases_b",
    "xu_caption_a",
    "xu_caption_b",
    "xu_caption_gated_a",
    "xu_caption_gated_b",
    "xu_caption_hard_a",
    "xu_caption_hard_b",
    "lstmn_shallow_fusion_a",
    "lstmn_shallow_fusion_b",
    "lstmn_deep_fusion_a",
    "lstmn_deep_fusion_b",
];

/// The machine of a case.
fn machine(case: &Case, name: &str) -> ModelConfig {
    let size = |key: &str| case.size(key);
    if name.starts_with("xu_caption") {
        let mut config = CaptionConfig::new(size("ann"), size("V_y"));
        config.decoder.size = size("C");
        config.decoder.embedding = size("emb");
        config.attention.units = size("A");
        if name.contains("gated") {
            config.decoder.gate = Switch::On;
        } else if name.contains("hard") {
            config.attention.weighting = Weighting::Hard.into();
        }
        return config.into();
    }
    let forward = || EncoderConfig::new(Direction::Forward, size("C"));
    let (x, y) = (size("V_x"), size("V_y"));
    if name.contains("fusion") {
        let mut config = LstmnDecoderConfig::new(x, y);
        (config.size, config.units) = (size("C"), size("A"));
        if name.contains("deep") {
            config.fusion = Fusion::Deep;
        }
        return config.into();
    }
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
        if name.contains("biases") {
            let window = 2 * size("k") + 1;
            config.attention.biases = Biases {
                position: Switch::On,
                markov: window,
                fertility: window,
            };
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
    let has_labels = case.has("inputs", "label");
    let target = case.indices("inputs", if has_labels { "label" } else { "target" });
    let source = if case.has("inputs", "source") {
        case.indices("inputs", "source")
    } else {
        // Annotations are no symbols: see [`annotate`].
        vec![0; case.size("n")]
    };
    let answers_after = config.has_source();
    let steps = if answers_after {
        source.len() + target.len()
    } else {
        source.len()
    };
    let first = if answers_after { source.len() } else { 0 };
    let one_hot = |symbols: &[usize], first: usize, channels: usize| {
        let mut all = Array2::zeros((steps, channels));
        for (t, &symbol) in symbols.iter().enumerate() {
            all[[first + t, symbol]] = 1.0;
        }
        all
    };
    let input = one_hot(&source, 0, config.inputs());
    let target = one_hot(&target, first, config.outputs());
    (first, [input, target])
}

/// The golden values of a tensor, [inputs, outputs].
fn golden(case: &Case, part: &str, name: &str, config: &ModelConfig) -> Vec<f64> {
    let split = || config.axis("k").unwrap() * config.axis("a").unwrap();
    let score = || case.transposed(part, "score.W");
    let c_a = || config.axis("c").unwrap() * config.axis("a").unwrap();
    match name {
        "start.hidden.weight" => case.transposed(part, "start.h.W"),
        "start.hidden.bias" => case.numbers(part, "start.h.b"),
        "start.cell.weight" => case.transposed(part, "start.c.W"),
        "start.cell.bias" => case.numbers(part, "start.c.b"),
        "context.gate.weight" => case.numbers(part, "gate.w"),
        "context.gate.bias" => case.numbers(part, "gate.b"),
        "embedding.weight" => case.transposed(part, "E"),
        "output.weight" if case.has(part, "L_o") => case.transposed(part, "L_o"),
        "output.hidden" => case.transposed(part, "L_h"),
        "output.context" => case.transposed(part, "L_z"),
        "fusion.weight" => case.transposed(part, "fusion.W"),
        "read1.additive_vector" => case.numbers(part, "decoder.intra.v"),
        "read1.encoder_vector" => case.numbers(part, "encoder.intra.v"),
        "read0.additive_vector" if case.has(part, "decoder.inter.v") => {
            case.numbers(part, "decoder.inter.v")
        }
        "read0.additive_vector" if case.has(part, "decoder.intra.v") => {
            case.numbers(part, "score.v")
        }
        // [x; ĥ], or h of shallow fusion.
        "decoder.source.key_weight" if case.has(part, "score.W") => score()[..c_a()].to_vec(),
        "decoder.source.row_weight" if case.has(part, "score.W") => score()[c_a()..].to_vec(),
        _ if name.contains(".own.") || name.contains(".source.") => {
            let (of, which) = name.rsplit_once('.').unwrap();
            let of = of.replace("own", "intra").replace("source", "inter");
            let parts: &[_] = if which == "key_weight" {
                &["W_x", "W_hat"]
            } else {
                &["W_h"]
            };
            let parts = parts.iter().map(|part| format!("{of}.{part}"));
            parts
                .flat_map(|tensor| case.transposed(part, &tensor))
                .collect()
        }
        // [x; ĥ].
        "read0.additive_key" if case.has(part, "encoder.intra.W_x") => {
            let [x, state] = ["W_x", "W_hat"].map(|name| format!("encoder.intra.{name}"));
            [case.transposed(part, &x), case.transposed(part, &state)].concat()
        }
        "read0.additive_row" if case.has(part, "encoder.intra.W_h") => {
            case.transposed(part, "encoder.intra.W_h")
        }
        "read0.additive_vector" if case.has(part, "encoder.intra.v") => {
            case.numbers(part, "encoder.intra.v")
        }
        "controller0.weight" => case.transposed(part, "encoder.W"),
        "controller0.bias" => case.numbers(part, "encoder.b"),
        "read0.additive_key" => score()[..split()].to_vec(),
        "read0.additive_row" => score()[split()..].to_vec(),
        "read0.additive_vector" => case.numbers(part, "score.v"),
        "read0.additive_position" => case.transposed(part, "bias.position"),
        "read0.additive_markov" => case.transposed(part, "bias.markov"),
        "read0.additive_fertility" => case.transposed(part, "bias.fertility"),
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

/// Runs an episode, with the annotations and the rows of the case where it has some.
fn run(
    case: &Case,
    model: &Model<f64>,
    given: Given<'_>,
    noise: &mut Trace<f64>,
    trace: &mut Trace<f64>,
) {
    let steps = given.input.nrows();
    let mut again = |noise: &Trace<f64>| {
        model.begin(given, Noise::Recorded(noise), trace);
        if case.has("inputs", "annotations") {
            let annotations = case.numbers("inputs", "annotations");
            trace.input.as_mut_slice()[..annotations.len()].copy_from_slice(&annotations);
        }
        model.run_steps(trace, 0..steps);
        trace.heads.first().map(|head| head.distribution.clone())
    };
    if case.has("noise", "s") {
        for (t, &row) in (given.source..).zip(&case.indices("noise", "s")) {
            // The middle of the share of this row.
            let alpha = again(noise).unwrap();
            let before: f64 = alpha.row(t)[..row].iter().sum();
            let draw = noise.series_mut(Place::Head(0), DRAW).unwrap();
            draw[t] = before + alpha.row(t)[row] / 2.0;
        }
    }
    again(noise);
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

/// The gradient of the cross-entropy of the answer.
fn cross_entropy(model: &Model<f64>, trace: &Trace<f64>, target: &Array2<f32>) -> Upstream<f64> {
    let mut by = Upstream::new(&model.config);
    by.logit.resize(trace.steps());
    let first = if model.config.has_source() {
        trace.setting.source
    } else {
        0
    };
    for t in first..trace.steps() {
        let row = trace.output.row(t).iter().zip(target.row(t));
        let to = by.logit.row_mut(t).iter_mut();
        to.zip(row)
            .for_each(|(to, (y, target))| *to = y - f64::from(*target));
    }
    by
}

/// Two machines in opposite directions, with their agreement.
#[test]
fn values_and_gradients_of_two_directions() {
    for name in ["agreement_a", "agreement_b"] {
        let whole = Case::load(name);
        let mut sides = [("xy.", ["X", "Y"]), ("yx.", ["Y", "X"])].map(|(prefix, sides)| {
            let case = whole.within(prefix);
            let [x, y] = sides.map(|side| case.size(&format!("V_{}", side.to_lowercase())));
            let mut config = BahdanauConfig::new(x, y);
            (config.source.size, config.decoder.size) = (case.size("u"), case.size("C"));
            config.attention.units = case.size("A");
            let model = with_golden_weights(&case, config.into());
            let [source, answer] = sides.map(|side| case.indices("inputs", side));
            let one_hot = |symbols: &[usize], first: usize, channels: usize| {
                let mut all = Array2::zeros((source.len() + answer.len(), channels));
                let steps = symbols.iter().zip(first..);
                steps.for_each(|(&symbol, t)| all[[t, symbol]] = 1.0);
                all
            };
            let (input, target) = (one_hot(&source, 0, x), one_hot(&answer, source.len(), y));
            let given = Given {
                input: &input,
                source: source.len(),
                forced: Some(&target),
                answer: Answer::Symbols,
            };
            let mut trace = Trace::new(&model.config);
            model.run(given, Draw::default(), &mut trace);
            let weights = &trace.heads[0].weighting;
            let weights = &weights.as_slice()[source.len() * source.len()..];
            case.assert_close("outputs", "weightings", weights);
            let mut workspace = Workspace::new(&model.config);
            workspace.upstream = cross_entropy(&model, &trace, &target);
            (case, model, trace, workspace)
        });
        let [first, second] = &mut sides;
        let by = [&mut first.3.upstream, &mut second.3.upstream];
        let found = agree([&first.2, &second.2], whole.constant("gamma"), by);
        whole.assert_close("outputs", "B", &[found]);
        for (case, model, trace, workspace) in &mut sides {
            let mut gradient = Params::zeros(&model.config);
            let (traces, by) = (
                std::slice::from_ref(&*trace),
                std::slice::from_mut(workspace),
            );
            model.backward(traces, by, &mut gradient);
            assert_gradients(case, name, model, &gradient);
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
        let mut noise = Trace::of_episode(&model.config, steps, source);
        noise.resize(steps);
        noise.sampling = NoiseMode::Sampled;
        if let Some(u) = noise.series_mut(Place::Head(0), NOISE) {
            let drawn = case.numbers("noise", "u");
            u.as_mut_slice()[source * source..].copy_from_slice(&drawn);
        }
        let mut trace = Trace::new(&model.config);
        run(&case, &model, given, &mut noise, &mut trace);
        let close = |what: &str, found: &[f64]| {
            if case.has("outputs", what) {
                case.assert_close("outputs", what, found);
            }
        };
        if let [of_source, own] = &trace.heads[..] {
            let rows = |head: &HeadTrace<f64>, steps: Range<usize>, rows: Range<usize>| {
                let rows = steps.flat_map(|t| head.weighting.row(t)[rows.clone()].to_vec());
                rows.collect::<Vec<_>>()
            };
            close("source_intra", &rows(own, 0..source, 0..source));
            close("intra", &rows(own, source..steps, source..steps));
            for name in ["inter", "weightings"] {
                close(name, &rows(of_source, source..steps, 0..source));
            }
            close("contexts", &answer(&of_source.read));
            let fusion = trace.own.arrays().find(|(array, _)| array.name == "fusion");
            close("fusion", &answer(fusion.unwrap().1));
        }
        if let [head] = &trace.heads[..] {
            let memory: Vec<f64> = trace.memory(steps).iter().copied().collect();
            close("H", &memory);
            close("energies", &answer(&head.similarity));
            let weightings = ["omega", "weightings", "local_weightings", "intra", "A"];
            for name in weightings {
                close(name, &answer(&head.weighting));
            }
            let context = trace
                .own
                .arrays()
                .find(|(array, _)| array.name == "context");
            let context = context.filter(|(_, series)| series.width() > 0);
            close(
                "contexts",
                &answer(context.map_or(&head.read, |(_, series)| series)),
            );
        }
        if let [layer] = &trace.layers[..] {
            close("states", &answer(&layer.hidden));
            close("cells", &answer(&layer.cell));
        }
        close("logits", &answer(&trace.logit));
        let mut by = cross_entropy(&model, &trace, &target);
        if case.has("outputs", "divergence") {
            let divergence = trace.heads[0].series(DIVERGENCE).unwrap();
            close("divergence", &answer(divergence));
            by.terms.divergence = case.constant("rho");
        }
        if case.has("outputs", "penalty") {
            let found = fertility::doubly_stochastic(&trace).unwrap();
            close("penalty", &[found]);
            by.terms.coverage = case.constant("coefficient");
        }
        if case.has("outputs", "log_p_s") {
            let [reward, entropy] = ["lambda_r", "lambda_e"].map(|name| case.constant(name));
            by.terms.reward = reward * (case.constant("reward") - case.constant("baseline"));
            by.terms.entropy = entropy;
        }
        let mut workspace = [Workspace::new(&model.config)];
        workspace[0].upstream = by;
        let mut gradient = Params::zeros(&model.config);
        model.backward(std::slice::from_ref(&trace), &mut workspace, &mut gradient);
        if case.has("inputs", "annotations") {
            let mut upstream = Upstream::new(&model.config);
            std::mem::swap(&mut upstream, &mut workspace[0].upstream);
            let derivatives = model.derivatives(&trace, upstream);
            let annotations = case.numbers("gradients", "annotations");
            let found = &derivatives.input.as_slice()[..annotations.len()];
            case.assert_close("gradients", "annotations", found);
        }
        assert_gradients(&case, name, &model, &gradient);
    }
}

/// A machine whose tensors have these values.
fn with_weights(config: ModelConfig, values: impl Fn(&str) -> Vec<f64>) -> Model<f64> {
    let mut model = Model::<f64>::new(config, 1);
    for (tensor, mut to) in model.params.named_mut() {
        let from = values(&tensor);
        assert_eq!(to.len(), from.len(), "{tensor}");
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
    }
    model
}

/// Holds the redundancy and the gradients of cross-entropy and redundancy to the golden values.
#[track_caller]
fn assert_gradients_with_redundancy(
    case: &Case,
    model: &Model<f64>,
    trace: &Trace<f64>,
    target: &Array2<f32>,
    golden: impl Fn(&str, &str) -> Vec<f64>,
) {
    let mut workspace = [Workspace::new(&model.config)];
    let by = &mut workspace[0].upstream;
    *by = cross_entropy(model, trace, target);
    let penalty = Redundancy::Read(case.constant("coefficient"));
    penalty.clear(trace, by);
    let mean = penalty.gradient(trace, 1.0, by).unwrap();
    case.assert_close("outputs", "penalty", &[mean]);
    let mut gradient = Params::zeros(&model.config);
    model.backward(std::slice::from_ref(trace), &mut workspace, &mut gradient);
    assert_all_near(&gradient, |tensor| golden("gradients", tensor));
}

/// A label for every step, with the redundancy of the heads in the loss.
#[test]
fn values_and_gradients_of_multi_head_attention() {
    for name in ["multi_head_a", "multi_head_b"] {
        let case = Case::load(name);
        let (r, d, c) = (case.size("r"), case.size("d"), case.size("emb"));
        let mut config = MultiHeadConfig::new(case.size("V_x"), case.size("labels"));
        (config.size, config.layers, config.heads, config.head_size) = (c, 1, r, d);
        config.most = case.size("n_max");
        if case.constant("causal") == 0.0 {
            config.causal = Switch::Off;
        }
        let golden = |part: &str, tensor: &str| match tensor {
            "output.weight" => case.transposed(part, "out.W"),
            "output.bias" => case.numbers(part, "out.b"),
            "embedding.weight" => case.transposed(part, "E"),
            "positions" => case.numbers(part, "P"),
            "combine0.weight" => case.transposed(part, "W_O"),
            _ => {
                let (head, which) = tensor.split_once('.').unwrap();
                let head: usize = head.strip_prefix("read").unwrap().parse().unwrap();
                let which = match which {
                    "query_weight" => "W_Q",
                    "key_weight" => "W_K",
                    _ => "W_V",
                };
                let all = case.transposed(part, which);
                let rows = all.chunks(r * d);
                rows.flat_map(|row| row[head * d..][..d].to_vec()).collect()
            }
        };
        let model = with_weights(config.into(), |tensor| golden("parameters", tensor));
        let [input, target] = [("source", "V_x"), ("label", "labels")].map(|(list, size)| {
            let symbols = case.indices("inputs", list);
            let mut all = Array2::zeros((symbols.len(), case.size(size)));
            let steps = symbols.iter().enumerate();
            steps.for_each(|(t, &symbol)| all[[t, symbol]] = 1.0);
            all
        });
        let mut trace = Trace::new(&model.config);
        let given = Given {
            answer: Answer::Symbols,
            ..(&input).into()
        };
        model.run(given, Draw::default(), &mut trace);
        case.assert_close("outputs", "logits", trace.logit.as_slice());
        case.assert_close("outputs", "H", trace.layers[0].hidden.as_slice());
        let weightings = (0..input.nrows())
            .flat_map(|t| trace.heads.iter().map(move |head| head.weighting.row(t)));
        case.assert_close(
            "outputs",
            "heads",
            &weightings.flatten().copied().collect::<Vec<_>>(),
        );
        assert_gradients_with_redundancy(&case, &model, &trace, &target, golden);
    }
}

/// A document, the step that ends it, a question and the step that ends it, then as many steps of an answer.
fn document_and_question(case: &Case, question: &str, answers: usize) -> Array2<f32> {
    let (document, x) = (case.indices("inputs", "document"), case.size("V_x"));
    let question = case.indices("inputs", question);
    let symbols = [&document[..], &[x], &question, &[x + 1]].concat();
    let mut input = Array2::zeros((symbols.len() + answers, x + 2));
    let steps = symbols.into_iter().enumerate();
    steps.for_each(|(t, symbol)| input[[t, symbol]] = 1.0);
    input
}

/// A weight on symbols and on a state, with zeros for the two channels that end document and question.
fn with_two_more(case: &Case, values: &[f64], outputs: usize) -> Vec<f64> {
    let (symbols, state) = values.split_at(case.size("V_x") * outputs);
    [symbols, &vec![0.0; 2 * outputs], state].concat()
}

#[test]
fn values_and_gradients_of_coattention() {
    for name in ["coattention_a", "coattention_b"] {
        let case = Case::load(name);
        let (m, n, l) = (case.size("m"), case.size("n"), case.size("l"));
        let rounds = case.constant("rounds") as usize;
        let mut config = CoattentionConfig::new(case.size("V_x") + 2, m + 2);
        (config.source.size, config.fusion, config.size) = (l, case.size("fu"), case.size("dec"));
        (config.hidden, config.pool, config.stop) =
            (case.size("hm"), case.size("pool"), Switch::Off);
        let golden = |part: &str, tensor: &str| {
            let (network, kind) = tensor.rsplit_once('.').unwrap();
            let (side, layer) = network.split_once('.').unwrap_or_default();
            let layer = ["first", "second", "third"]
                .iter()
                .position(|of| *of == layer);
            match (layer, kind) {
                (Some(layer), "weight") => case.transposed(part, &format!("{side}.W{}", layer + 1)),
                (Some(layer), _) => case.numbers(part, &format!("{side}.b{}", layer + 1)),
                (None, "seen") => case.transposed(part, &format!("{network}.W_D")),
                _ if network == "encoder.forward" && kind == "weight" => {
                    with_two_more(&case, &case.transposed(part, "encoder.W"), 4 * l)
                }
                _ if network == "sentinel" => case.numbers(part, tensor),
                _ => {
                    let network = network.replace("encoder.forward", "encoder");
                    match kind {
                        "weight" => case.transposed(part, &format!("{network}.W")),
                        _ => case.numbers(part, &format!("{network}.b")),
                    }
                }
            }
        };
        let model = with_weights(config.into(), |tensor| golden("parameters", tensor));
        let input = document_and_question(&case, "question", 2 * rounds);
        let mut target = Array2::zeros((input.nrows(), m + 2));
        let (source, span) = (m + n + 2, case.indices("inputs", "span"));
        for t in source..input.nrows() {
            target[[t, span[(t - source) % 2]]] = 1.0;
        }
        let given = Given {
            source,
            answer: Answer::Symbols,
            ..(&input).into()
        };
        let mut trace = Trace::new(&model.config);
        model.run(given, Draw::default(), &mut trace);
        let head = &trace.heads[0];
        let memory = trace.memory(1);
        let rows = |rows: std::ops::Range<usize>| {
            memory
                .slice(ndarray::s![rows, ..])
                .iter()
                .copied()
                .collect::<Vec<_>>()
        };
        case.assert_close("outputs", "D", &rows(0..m + 1));
        case.assert_close("outputs", "Q", &rows(m + 1..source));
        // Columns of the paper are steps.
        let map = |steps: std::ops::Range<usize>, to: std::ops::Range<usize>, of: &Series<f64>| {
            let columns = to.flat_map(|i| steps.clone().map(move |t| of.row(t)[i]));
            columns.collect::<Vec<_>>()
        };
        case.assert_close(
            "outputs",
            "A_Q",
            &map(m + 1..source, 0..m + 1, &head.weighting),
        );
        case.assert_close(
            "outputs",
            "A_D",
            &map(0..m + 1, m + 1..source, &head.weighting),
        );
        case.assert_close("outputs", "C_Q", &map(m + 1..source, 0..l, &head.read));
        let points = |side: usize| {
            let steps = (0..rounds).map(|round| source + 2 * round + side);
            let points = steps.flat_map(|t| trace.logit.row(t)[..m].to_vec());
            points.collect::<Vec<_>>()
        };
        case.assert_close("outputs", "alpha", &points(0));
        case.assert_close("outputs", "beta", &points(1));
        let mut workspace = [Workspace::new(&model.config)];
        workspace[0].upstream = cross_entropy(&model, &trace, &target);
        let mut gradient = Params::zeros(&model.config);
        model.backward(std::slice::from_ref(&trace), &mut workspace, &mut gradient);
        assert_all_near(&gradient, |tensor| golden("gradients", tensor));
    }
}

#[test]
fn values_and_gradients_of_attention_over_attention() {
    for name in ["", "_gru"]
        .map(|cell| ["_a", "_b"].map(|case| format!("attention_over_attention{cell}{case}")))
        .concat()
    {
        let case = Case::load(&name);
        let (m, n, x, u) = (
            case.size("m"),
            case.size("n"),
            case.size("V_x"),
            case.size("u"),
        );
        let mut config = AttentionOverAttentionConfig::new(x + 2, x);
        config.source.size = u;
        if name.contains("gru") {
            config.source.cell = EncoderCell::Gru;
            config.source.embedding = case.size("emb");
        }
        let embedding = config.source.embedding;
        let golden = |part: &str, tensor: &str| match tensor
            .replace("question", "query")
            .strip_suffix(".weight")
        {
            Some("encoder.embedding") | None if tensor.starts_with("encoder.embedding") => {
                with_two_more(&case, &case.transposed(part, "E"), embedding)
            }
            Some(name) if embedding > 0 => case.transposed(part, &format!("{name}.W")),
            Some(name) => with_two_more(&case, &case.transposed(part, &format!("{name}.W")), 4 * u),
            None => case.numbers(
                part,
                &tensor.replace("question", "query").replace("bias", "b"),
            ),
        };
        let model = with_weights(config.into(), |tensor| golden("parameters", tensor));
        let input = document_and_question(&case, "query", 1);
        let source = m + n + 2;
        let mut target = Array2::zeros((source + 1, x));
        target[[source, case.indices("inputs", "answer")[0]]] = 1.0;
        let given = Given {
            source,
            answer: Answer::Symbols,
            ..(&input).into()
        };
        let mut trace = Trace::new(&model.config);
        model.run(given, Draw::default(), &mut trace);
        let head = &trace.heads[0];
        let question = m + 1..source - 1;
        let rows =
            |steps: std::ops::Range<usize>, columns: std::ops::Range<usize>, of: &Series<f64>| {
                let rows = steps.flat_map(|t| of.row(t)[columns.clone()].to_vec());
                rows.collect::<Vec<_>>()
            };
        case.assert_close(
            "outputs",
            "M",
            &rows(0..m, question.clone(), &head.similarity),
        );
        case.assert_close(
            "outputs",
            "beta",
            &rows(0..m, question.clone(), &head.weighting),
        );
        case.assert_transposed_close(
            "outputs",
            "alpha",
            &rows(question.clone(), 0..m, &head.weighting),
        );
        let importance = trace.own.arrays().last().unwrap().1;
        case.assert_close("outputs", "mean_beta", &importance.row(source)[question]);
        case.assert_close("outputs", "s", &head.weighting.row(source)[..m]);
        case.assert_close("outputs", "P", trace.output.row(source));
        let mut workspace = [Workspace::new(&model.config)];
        workspace[0].upstream = cross_entropy(&model, &trace, &target);
        let mut gradient = Params::zeros(&model.config);
        model.backward(std::slice::from_ref(&trace), &mut workspace, &mut gradient);
        assert_all_near(&gradient, |tensor| golden("gradients", tensor));
    }
}

/// Holds every gradient to golden values.
#[track_caller]
fn assert_all_near(gradient: &Params<f64>, golden: impl Fn(&str) -> Vec<f64>) {
    for (tensor, found) in gradient.named() {
        for (found, wanted) in found.iter().zip(golden(&tensor)) {
            let is_near = (found - wanted).abs() <= 1e-10 * wanted.abs().max(1.0);
            assert!(is_near, "{tensor}: {found} and {wanted}");
        }
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
        let mut trace = Trace::<f64>::of_episode(&config, n, n);
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
        config.source.run(weights, from_mut(&mut trace));
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
        let mut recorder = Trace::without_values(&config, &trace);
        let d_cells = vec![0.0; d_rows.width()];
        let episode = SourceBack {
            trace: &trace,
            rows: &mut d_rows,
            cell: &d_cells,
            terms: &Terms::default(),
            products: &mut products,
            recorder: Some(&mut recorder),
        };
        config.source.backward(weights, &mut [episode]);
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

/// The annotations of a convolution, as the rows of a machine.
#[test]
fn values_and_gradients_of_a_convolution() {
    let case = Case::load("conv_annotations");
    let (side, filters) = (case.size("G"), case.size("filters"));
    let source = AnnotationsConfig { filters };
    let mut config = CaptionConfig::new(1, 1);
    config.source = source.clone();
    let mut linear = Linear::<f64>::zeros(9, filters);
    let weight = case.numbers("parameters", "conv.W");
    for (f, filter) in weight.chunks(9).enumerate() {
        (0..9).for_each(|place| linear.weight[[place, f]] = filter[place]);
    }
    let bias = case.numbers("parameters", "conv.b");
    let all = linear.bias.view_mut().into_iter().zip(bias);
    all.for_each(|(to, from)| *to = from);
    let n = side * side;
    let mut trace = Trace::<f64>::of_episode(&config, n, n);
    trace.resize(n);
    let picture = case.numbers("inputs", "picture");
    trace.input.as_mut_slice().copy_from_slice(&picture);
    let weights = Weights {
        linears: std::slice::from_ref(&linear),
        tensors: &[],
    };
    source.run(weights, from_mut(&mut trace));
    case.assert_close("outputs", "annotations", trace.own.at(0).as_slice());
    let mut d_rows = Series::new(filters);
    d_rows.resize(n);
    let upstream = case.numbers("upstream", "annotations");
    d_rows.as_mut_slice().copy_from_slice(&upstream);
    let mut products = [Series::new(padded(filters))];
    products[0].resize(n);
    let mut recorder = Trace::without_values(&config, &trace);
    let episode = SourceBack {
        trace: &trace,
        rows: &mut d_rows,
        cell: &[],
        terms: &Terms::default(),
        products: &mut products,
        recorder: Some(&mut recorder),
    };
    source.backward(weights, &mut [episode]);
    case.assert_close("gradients", "picture", recorder.input.as_slice());
    let mut gradient = linear.clone();
    gradient.set_gradient([(source.multiplied(&trace, 0), &products[0])].into_iter());
    let found = (0..9 * filters).map(|at| gradient.weight[[at % 9, at / 9]]);
    case.assert_close("gradients", "conv.W", &found.collect::<Vec<_>>());
    let found: Vec<f64> = gradient.bias.view().iter().copied().collect();
    case.assert_close("gradients", "conv.b", &found);
}
