//! The machine against golden values of whole sequences, with the gradients of everything: see `tests/golden/README.md`.
#![cfg(test)]

use std::ops::Range;
use std::slice::{from_mut, from_ref};

use super::DncConfig;
use super::kind::{ALLOCATION, INITIAL_USAGE, PRECEDENCE, USAGE};
use super::links::LinkHistory;
use crate::math::golden::Case;
use crate::model::memory_machine::{MemoryMachine, run_on};
use crate::model::{Array, Model, ModelConfig, Params, Place, Trace, Upstream, Workspace};

/// The rows of the golden interface vector that each column of this machine's interface is: there the heads' keys come
/// first, then their strengths, and so on.
fn interface(config: &DncConfig) -> Vec<usize> {
    let (w, r) = (config.columns, config.read_heads);
    let mut next = 0;
    let mut take = |width: usize| {
        next += width;
        next - width..next
    };
    let [read_keys, read_strengths, key, strength] = [r * w, r, w, 1].map(&mut take);
    let [erase, add, free, allocation, write, modes] = [w, w, r, 1, 1, 3 * r].map(take);
    let part = |of: &Range<usize>, i: usize, width: usize| {
        of.start + i * width..of.start + (i + 1) * width
    };
    let mut all = Vec::new();
    for i in 0..r {
        let parts = [
            (&read_keys, w),
            (&read_strengths, 1),
            (&free, 1),
            (&modes, 3),
        ];
        all.extend(parts.iter().flat_map(|(of, width)| part(of, i, *width)));
    }
    all.extend(
        [key, strength, erase, add, allocation, write]
            .into_iter()
            .flatten(),
    );
    all
}

/// The golden values of all tensors, in the order of [`Params::named`], and the learned states, which are 0 there.
fn tensors(case: &Case, part: &str, config: &DncConfig) -> Vec<f64> {
    let (columns, inputs) = (interface(config), config.controller.size);
    let weight = case.transposed(part, "interface.W");
    let bias = case.numbers(part, "interface.b");
    let width = bias.len();
    let mut all = case.transposed(part, "controller.W");
    all.extend(case.numbers(part, "controller.b"));
    let mut start = 0;
    for head in 0..=config.read_heads {
        let (of_head, [_, last]) = config.columns(head);
        let own = &columns[of_head.key.start..last.end];
        for c in 0..inputs {
            all.extend(own.iter().map(|&column| weight[c * width + column]));
        }
        all.extend(own.iter().map(|&column| bias[column]));
        start += own.len();
    }
    assert_eq!(start, width);
    all.extend(case.transposed(part, "out.W"));
    all.extend(case.numbers(part, "out.b"));
    all
}

fn flat(trace: &Trace<f64>, head: usize, array: Array) -> Vec<f64> {
    let series = trace.series(Place::Head(head), array).unwrap();
    series.as_slice().to_vec()
}

#[test]
fn whole_sequences_and_all_gradients_equal_the_golden_values() {
    for name in ["dnc_a", "dnc_b"] {
        let case = Case::of_folder("dnc", name);
        let [t, n, w, r, c, x, y] = ["T", "N", "W", "R", "C", "X", "Y"].map(|size| case.size(size));
        let mut config = DncConfig::new(x, y);
        (config.rows, config.columns, config.read_heads) = (n, w, r);
        (config.controller.size, config.similarity_epsilon) = (c, 0.0);
        let mut params = Params::<f64>::zeros(&ModelConfig::from(config.clone()));
        let mut values = tensors(&case, "parameters", &config).into_iter();
        params.change(|name, mut tensor| {
            if !name.starts_with("initial") {
                tensor
                    .iter_mut()
                    .zip(&mut values)
                    .for_each(|(to, from)| *to = from);
            }
        });
        assert_eq!(values.len(), 0);
        let model = Model {
            params,
            config: config.clone().into(),
        };

        let mut trace = Trace::<f64>::new(&model.config);
        trace.resize(t);
        trace
            .input
            .as_mut_slice()
            .copy_from_slice(&case.numbers("inputs", "x"));
        config.begin(&model.params.tensors, from_mut(&mut trace));
        trace
            .memory_columns
            .row_mut(0)
            .copy_from_slice(&case.transposed("inputs", "memory"));
        let usage = trace.series_mut(Place::Head(r), INITIAL_USAGE).unwrap();
        usage
            .row_mut(0)
            .copy_from_slice(&case.numbers("inputs", "usage"));
        run_on(&config, &model.params, from_mut(&mut trace), 0..t);

        let close = |array: &str, found: &[f64]| case.assert_close("outputs", array, found);
        close("usage", &flat(&trace, r, USAGE));
        close("allocation", &flat(&trace, r, ALLOCATION));
        close("write_content", trace.heads[r].content.as_slice());
        close("write", trace.heads[r].weighting.as_slice());
        close("precedence", &flat(&trace, r, PRECEDENCE));
        let links = LinkHistory::default();
        let all: Vec<f64> = (0..t).flat_map(|t| links.at(&trace.heads[r], t)).collect();
        close("link", &all);
        let memory = (1..=t).flat_map(|t| trace.memory(t).iter().copied().collect::<Vec<_>>());
        close("memory", &memory.collect::<Vec<_>>());
        let by_step = |of: fn(&crate::model::HeadTrace<f64>) -> &crate::math::Series<f64>| {
            let heads = &trace.heads[..r];
            let rows =
                (0..t).flat_map(|t| heads.iter().flat_map(move |head| of(head).row(t).to_vec()));
            rows.collect::<Vec<_>>()
        };
        close("reads_w", &by_step(|head| &head.weighting));
        close("read", &by_step(|head| &head.read));
        close("hidden", trace.layers[0].hidden.as_slice());
        let logits = (0..t).flat_map(|t| trace.logit.row(t)[..y].to_vec());
        close("logits", &logits.collect::<Vec<_>>());

        let target = case.numbers("inputs", "target");
        let upstream = || {
            let mut by = Upstream::<f64>::new(&model.config);
            by.logit.resize(t);
            for t in 0..t {
                for (j, to) in by.logit.row_mut(t)[..y].iter_mut().enumerate() {
                    *to = trace.output.row(t)[j] - target[t * y + j];
                }
            }
            by
        };
        let mut workspace = Workspace::new(&model.config);
        workspace.upstream = upstream();
        let mut gradient = Params::zeros(&model.config);
        model.backward(from_ref(&trace), from_mut(&mut workspace), &mut gradient);
        let mut wanted = tensors(&case, "gradients", &config).into_iter();
        for (tensor, found) in gradient.named() {
            if !tensor.starts_with("initial") {
                for (found, wanted) in found.iter().zip(&mut wanted) {
                    let is_near = (found - wanted).abs() <= 1e-10 * wanted.abs().max(1.0);
                    assert!(is_near, "{name} {tensor}: {found} and {wanted}");
                }
            }
        }
        let derivatives = model.derivatives(&trace, upstream());
        let by = |array: &str, found: &[f64]| case.assert_close("gradients", array, found);
        by("x", derivatives.input.as_slice());
        by("usage", &flat(&derivatives, r, INITIAL_USAGE));
        case.assert_transposed_close("gradients", "memory", derivatives.memory_columns.row(0));
    }
}
