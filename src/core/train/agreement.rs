//! Agreement of two machines that translate in opposite directions (Cohn 2016, §3.4).
//!
//! ```text
//! B = −Σ_ij α→_ji·α←_ij     −min(I, J) to 0
//! ```
//!
//! α→ [J, I] has the weights of the answer steps of one machine over its source, α← [I, J] those of the other one, whose source
//! is that answer. The delimiter after a source corresponds to the end symbol of an answer.

use crate::math::Real;
use crate::model::{Trace, Upstream};

/// Returns B; adds its gradients, times `scale`, to those w.r.t. the weightings of both machines.
pub fn agree<R: Real>(sides: [(&Trace<R>, &mut Upstream<R>); 2], scale: R) -> f64 {
    let [(first, d_first), (second, d_second)] = sides;
    let [there, back] = [first, second].map(|trace| trace.setting.source);
    let of = [first, second].map(|trace| &trace.heads[0].weighting);
    let [d_first, d_second] = [d_first, d_second].map(|d| &mut d.weightings[0]);
    let mut sum = 0.0;
    for (t, j) in (there..).zip(0..back) {
        for (u, i) in (back..).zip(0..there) {
            let (a, b) = (of[0].row(t)[i], of[1].row(u)[j]);
            sum -= (a * b).to_f64();
            d_first.row_mut(t)[i] -= scale * b;
            d_second.row_mut(u)[j] -= scale * a;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::math::Answer;
    use crate::math::golden::Case;
    use crate::model::{
        Draw, EpisodeInput, EquationsConfig, Model, ModelConfig, Params, Workspace,
    };
    use crate::train::{Redundancy, State};

    /// The name of a tensor of the machine file in the golden values.
    fn golden(tensor: &str) -> &'static str {
        match tensor {
            "encoder.h.weight" => "encoder.forward.W",
            "encoder.h.bias" => "encoder.forward.b",
            "encoder.h_b.weight" => "encoder.backward.W",
            "encoder.h_b.bias" => "encoder.backward.b",
            "s.start.weight" => "start.W",
            "s.weight" => "decoder.W",
            "s.bias" => "decoder.b",
            "z.weight" => "out.W",
            "z.bias" => "out.b",
            "attention.e.weight" => "score.W",
            "attention.v" => "score.v",
            _ => panic!("{tensor}"),
        }
    }

    /// The machine of one side.
    fn machine(case: &Case, [from, to]: [&str; 2]) -> ModelConfig {
        let channels = [from, to].map(|side| case.size(&format!("V_{}", side.to_lowercase())));
        let sizes = [
            ("encoder.units", "u"),
            ("units", "C"),
            ("attention.units", "A"),
        ];
        let sizes = sizes.map(|(path, size)| (path, case.size(size).to_string()));
        let set = sizes.each_ref().map(|(path, size)| (*path, &**size));
        EquationsConfig::included("bahdanau", channels, &set)
            .unwrap()
            .into()
    }

    /// One side of a case: a machine with its weights, after an episode, with the gradient of its cross-entropy.
    fn side(
        case: &Case,
        [from, to]: [&str; 2],
        config: ModelConfig,
    ) -> (Model<f64>, Trace<f64>, Workspace<f64>) {
        let channels = [config.inputs(), config.outputs()];
        let mut model = Model::<f64>::new(config, 1);
        model.params.change(|tensor, mut to| {
            let from = case.numbers("parameters", golden(tensor));
            assert_eq!(to.len(), from.len(), "{tensor}");
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        });
        let [source, answer] = [from, to].map(|side| case.indices("inputs", side));
        let one_hot = |symbols: &[usize], first: usize, channels: usize| {
            let mut all = Array2::zeros((source.len() + answer.len(), channels));
            let steps = symbols.iter().zip(first..);
            steps.for_each(|(&symbol, t)| all[[t, symbol]] = 1.0);
            all
        };
        let input = one_hot(&source, 0, channels[0]);
        let target = one_hot(&answer, source.len(), channels[1]);
        let input = EpisodeInput {
            input: &input,
            source: source.len(),
            forced: Some(&target),
            answer: Answer::Symbols,
        };
        let mut trace = Trace::new(&model.config);
        model.run(input, Draw::default(), &mut trace);
        let weights = &trace.heads[0].weighting;
        let first = source.len() * weights.width();
        case.assert_close("outputs", "weightings", &weights.as_slice()[first..]);
        let mut workspace = Workspace::new(&model.config);
        let upstream = &mut workspace.upstream;
        upstream.logit.resize(trace.steps());
        Redundancy::Both(0.0).clear(&trace, upstream);
        for t in source.len()..trace.steps() {
            let pairs = trace.output.row(t).iter().zip(target.row(t));
            let to = upstream.logit.row_mut(t).iter_mut();
            to.zip(pairs)
                .for_each(|(to, (y, target))| *to = y - f64::from(*target));
        }
        (model, trace, workspace)
    }

    #[test]
    fn golden_values_of_two_directions() {
        for name in ["agreement_a", "agreement_b"] {
            let whole = Case::load(name);
            // The second machine is made of the first one, as in training.
            let there = machine(&whole.within("xy."), ["X", "Y"]);
            let back = State::reverse_of(&there);
            let sides = [("xy.", ["X", "Y"], there), ("yx.", ["Y", "X"], back)];
            let mut sides = sides.map(|(prefix, languages, config)| {
                let case = whole.within(prefix);
                let (model, trace, workspace) = side(&case, languages, config);
                (case, model, trace, workspace)
            });
            let [first, second] = &mut sides;
            let both = [first, second].map(|side| (&side.2, &mut side.3.upstream));
            let found = agree(both, whole.constant("gamma"));
            whole.assert_close("outputs", "B", &[found]);
            for (case, model, trace, workspace) in &mut sides {
                let mut gradient = Params::zeros(&model.config);
                let episode = (
                    std::slice::from_ref(&*trace),
                    std::slice::from_mut(workspace),
                );
                model.backward(episode.0, episode.1, &mut gradient);
                for (tensor, found) in gradient.named() {
                    let wanted = case.numbers("gradients", golden(&tensor));
                    for (found, wanted) in found.iter().zip(wanted) {
                        let is_near = (found - wanted).abs() <= 1e-10 * wanted.abs().max(1.0);
                        assert!(is_near, "{name} {tensor}: {found} and {wanted}");
                    }
                }
            }
        }
    }
}
