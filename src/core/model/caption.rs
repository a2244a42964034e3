//! Show, attend and tell: the caption of a picture, in the order of its equations (Xu 2015, §3.1 and §4.2):
//!
//! ```text
//! ā = the mean of the annotations    h_{S−1} = tanh(W_h·ā + b_h)    c_{S−1} = tanh(W_c·ā + b_c)
//! k_t = h_{t−1}    w_t = weighting of score(k_t, M)    r_t = Σ_i w_t(i)·M(i)
//! ẑ_t = r_t, or with a gate g_t·r_t, g_t = σ(w_g·h_{t−1} + b_g)
//! h_t = lstm([E·y_{t−1}; ẑ_t], h_{t−1})
//! z_t = L_o·(E·y_{t−1} + L_h·h_t + L_z·ẑ_t)                                           t ≥ S
//! ```

use super::annotations::{self, AnnotationsConfig};
use super::array;
use super::attention::{Score, Switch};
use super::controller::feedforward;
use super::dependency::Dependency;
use super::encoder_decoder::{Back, Decoder, EncoderDecoder, Parts, attend};
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::slots::Slots;
use super::source::Source;
use super::spec::{Array, ArraySpec, Kept, Place, Range};
use super::trace::{HeadTrace, LayerTrace, Trace};
use super::{feedback, reader};
use crate::keys::Field::{Choice, Integer};
use crate::keys::Table;
use crate::math::kernel::kernel;
use crate::math::matrix::{Rows, add_vector_product, product_with_vector};
use crate::math::pack::each_pack;
use crate::math::vectors::{add, add_multiple, gather};
use crate::math::{Real, Series, sigmoid};

/// The size of a machine that names what is in a picture.
pub type CaptionConfig = EncoderDecoder<Caption>;

/// The decoder of Xu et al. 2015.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Caption {
    /// Units of the decoder.
    pub size: usize,
    /// Values of the embedding of an answer.
    pub embedding: usize,
    /// Whether a gate scales what is read.
    pub gate: Switch,
}

impl CaptionConfig {
    /// A decoder with 64 units on the patches themselves, and the additive score.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            source: AnnotationsConfig { filters: 0 },
            decoder: Caption {
                size: 64,
                embedding: 32,
                gate: Switch::Off,
            },
            attention: reader::attention(Score::Additive, 32),
            rows: 1,
        }
    }
}

/// g_t, [T, 1].
#[rustfmt::skip] // A row for every array.
const GATE: Array = &ArraySpec::new("context.gate", &["t"], "g", Range::Within(0.0, 1.0), "σ(w_g·h_{t−1} + b_g), the gate of what is read (Xu 2015, section 4.2.1); 0 before the answer");
/// ẑ_t of a gate, [T, M].
#[rustfmt::skip]
const CONTEXT: Array = &ArraySpec::new("context", &["t", "m"], "ẑ", Range::Any, "g·r, which the decoder and the output layer see (Xu 2015, section 4.2.1); 0 before the answer");
/// ā, [M].
const MEAN: Array = &ArraySpec::scratch("annotations.mean").kept(Kept::Once);
/// E·y_{t−1}, [T, e].
const EMBEDDED: Array = &ArraySpec::scratch("feedback.embedded");

const OWN: [Array; 5] = [array::FEEDBACK, GATE, CONTEXT, MEAN, EMBEDDED];
/// Place of the first of them.
const FIRST: usize = annotations::ARRAYS.len();
const ALL: usize = FIRST + OWN.len();
const AT_GATE: usize = FIRST + 1;
const AT_CONTEXT: usize = FIRST + 2;
const AT_MEAN: usize = FIRST + 3;
const AT_EMBEDDED: usize = FIRST + 4;

/// Linear maps: those of the LSTM, of h_{S−1} and c_{S−1}, and of the gate.
const LSTM: usize = 0;
const START_HIDDEN: usize = 1;
const START_CELL: usize = 2;
const GATE_MAP: usize = 3;
/// The other tensors.
const E: usize = 0;
const L_O: usize = 1;
const L_H: usize = 2;
const L_Z: usize = 3;

impl Caption {
    fn is_gated(&self) -> bool {
        self.gate == Switch::On
    }

    /// Index of a tensor among the weights.
    fn weight(&self, tensor: usize) -> usize {
        GATE_MAP + usize::from(self.is_gated()) + tensor
    }
}

kernel! {
    pub(super) fn activate_gate<'a, R>(simd; gate: &'a mut [R]) {
        each_pack!(simd, at in gate => { at.store(gate, sigmoid(at.load(gate))) });
    }
}

impl Decoder for Caption {
    type Source = AnnotationsConfig;
    const LEARNS_FEEDBACK: bool = true;
    const ARRAYS: &'static [Array] = &{
        let mut all = [array::FEEDBACK; ALL];
        let (source, own) = all.split_at_mut(FIRST);
        source.copy_from_slice(&annotations::ARRAYS);
        own.copy_from_slice(&OWN);
        all
    };

    #[rustfmt::skip] // A row for every key.
    fn keys(of: &mut CaptionConfig, to: &mut Table<'_>) {
        of.source.keys(&mut to.section("annotations"));
        let Caption { size, embedding, gate } = &mut of.decoder;
        to.key("decoder.size", Integer(size, 1..=4096), "units of the decoder");
        to.key("decoder.embedding", Integer(embedding, 1..=4096), "values of the learned embedding of the answer that is fed back");
        to.key("decoder.gate", Choice(gate), "whether a gate, which the decoder sets, scales what is read (Xu 2015, section 4.2.1)");
        of.attention.reader_keys(&mut to.section("attention"));
    }

    fn units(of: &CaptionConfig) -> usize {
        of.decoder.size
    }

    fn seen(of: &CaptionConfig) -> usize {
        of.decoder.embedding + of.columns()
    }

    fn features(of: &CaptionConfig) -> usize {
        of.decoder.embedding
    }

    fn output(of: &CaptionConfig) -> usize {
        of.decoder.weight(L_O)
    }

    fn shape(of: &CaptionConfig) -> Shape {
        let (
            Caption {
                size, embedding, ..
            },
            m,
        ) = (of.decoder, of.columns());
        let start = ["start.hidden", "start.cell"].map(|name| LinearSpec::new(name, m, size));
        let gate = of
            .decoder
            .is_gated()
            .then(|| LinearSpec::new("context.gate", size, 1));
        let tensor = |name, rows, columns| TensorSpec::weights(name, rows, columns);
        Shape {
            linears: start.into_iter().chain(gate).collect(),
            tensors: vec![
                tensor("embedding.weight", of.outputs, embedding),
                tensor("output.weight", embedding, of.outputs),
                tensor("output.hidden", size, embedding),
                tensor("output.context", m, embedding),
            ],
        }
    }

    fn width(of: &CaptionConfig, array: Array) -> usize {
        match array {
            GATE | CONTEXT if !of.decoder.is_gated() => 0,
            GATE => 1,
            EMBEDDED => of.decoder.embedding,
            _ => of.columns(),
        }
    }

    /// h_{S−1} = tanh(W_h·ā + b_h).
    fn start_hidden<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>) {
        start(of, trace, START_HIDDEN, |decoder| &mut decoder.hidden);
    }

    /// c_{S−1} = tanh(W_c·ā + b_c).
    fn start_cell<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>) {
        start(of, trace, START_CELL, |decoder| &mut decoder.cell);
    }

    fn start_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>) {
        let (trace, by) = (back.trace, &mut *back.by);
        let (step, decoder) = (trace.setting.source - 1, &trace.layers[0]);
        let mut d_mean = vec![R::ZERO; of.config.columns()];
        let states = [
            (START_HIDDEN, &decoder.hidden, &by.state.hidden),
            (START_CELL, &decoder.cell, &by.state.cell),
        ];
        for (map, state, d_state) in states {
            let dz = by.products[map].row_mut(0);
            feedforward::backward(state.row(step), d_state, dz);
            let mut d = vec![R::ZERO; d_mean.len()];
            of.own.linears[map].backward_from(0, [(&*dz, &mut d[..])]);
            add(&mut d_mean[..], &d);
        }
        let share = R::ONE / R::from_f64(trace.setting.source as f64);
        if let Some(reader) = &mut by.reader {
            let columns = reader.memory.chunks_exact_mut(trace.setting.source);
            for (column, d) in columns.zip(d_mean) {
                column.iter_mut().for_each(|to| *to += d * share);
            }
        }
    }

    fn before<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        attend::<Self, R>(trace, t);
        if of.config.decoder.is_gated() {
            gate(of, trace, t);
            scale(trace, t);
        }
    }

    fn asks(t: usize) -> usize {
        t - 1
    }

    /// E·y_{t−1}.
    fn feed<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        let [_, _, feedback, _, _, _, embedded] = trace.own.all_mut::<ALL>();
        let embedded = embedded.row_mut(t);
        embedded.fill(R::ZERO);
        add_vector_product(feedback.row(t), of.own.tensors[E].rows_from(0), embedded);
    }

    fn fed<R: Real>(own: &Slots<R>) -> &Series<R> {
        own.at(AT_EMBEDDED)
    }

    /// h_t = lstm([E·y_{t−1}; ẑ_t], h_{t−1}).
    fn see<R: Real>(_: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        let seen = [
            trace.own.at(AT_EMBEDDED).row(t),
            context(&trace.own, &trace.heads).row(t),
        ];
        gather(trace.layers[0].input.row_mut(t), seen);
    }

    /// u_t = E·y_{t−1} + L_h·h_t + L_z·ẑ_t.
    fn emit<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        let u = trace.features.row_mut(t);
        u.copy_from_slice(trace.own.at(AT_EMBEDDED).row(t));
        let [l_h, l_z] = [L_H, L_Z].map(|tensor| of.own.tensors[tensor].rows_from(0));
        add_vector_product(trace.layers[0].hidden.row(t), l_h, u);
        add_vector_product(context(&trace.own, &trace.heads).row(t), l_z, u);
    }

    fn dependencies<R: Real>(of: Parts<'_, Self, R>) -> Vec<Dependency<'_, R>> {
        let mut all = of.attending();
        if of.config.decoder.is_gated() {
            let gate = move |trace: &mut Trace<R>, t: usize| gate(of, trace, t);
            let gate = Dependency::with_weights(Place::Machine, GATE, gate);
            let context = Dependency::with_weights(Place::Machine, CONTEXT, scale);
            all.extend([gate, context].map(|dependency| dependency.only(|t, source| t >= source)));
        }
        all.extend(of.decoding());
        all.push(of.emitting());
        all
    }

    fn after_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>, t: usize) {
        let Caption {
            size, embedding, ..
        } = of.config.decoder;
        let (by, k) = (&mut *back.by, t - back.trace.setting.source);
        // Through L_h and L_z.
        let (d_u, weight) = (by.features.gradient.row(k), |tensor| {
            of.config.decoder.weight(tensor)
        });
        by.products[weight(L_H)].row_mut(k)[..embedding].copy_from_slice(d_u);
        by.products[weight(L_Z)].row_mut(k)[..embedding].copy_from_slice(d_u);
        let d_u = by.products[weight(L_H)].row(k);
        let d_state = &mut by.scratch[..size];
        product_with_vector(of.own.tensors[L_H].rows_from(0), d_u, d_state);
        add(&mut by.state.hidden[..], &*d_state);
    }

    fn before_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>, t: usize) {
        let (embedding, m) = (of.config.decoder.embedding, of.config.columns());
        let (trace, by) = (back.trace, &mut *back.by);
        let (k, weight) = (t - trace.setting.source, |tensor| {
            of.config.decoder.weight(tensor)
        });
        // E·y.
        let d_u = by.products[weight(L_H)].row(k);
        let d_context = &mut by.scratch[..m];
        product_with_vector(of.own.tensors[L_Z].rows_from(0), d_u, d_context);
        add(&mut *d_context, by.state.beside(m));
        let d_embedded = by.products[weight(E)].row_mut(k);
        d_embedded[..embedding].copy_from_slice(by.features.gradient.row(k));
        add(&mut d_embedded[..embedding], &by.state.input);
        if back.recorder.is_some() {
            let mut d_feedback = vec![R::ZERO; of.config.outputs];
            product_with_vector(of.own.tensors[E].rows_from(0), d_embedded, &mut d_feedback);
            feedback::record(trace, t, &d_feedback, back.recorder.as_deref_mut());
        }
        if of.config.decoder.is_gated() {
            let (g, read) = (trace.own.at(AT_GATE)[t], trace.heads[0].read.row(t));
            let d_g: R = read.iter().zip(&*d_context).map(|(&r, &d)| r * d).sum();
            if let Some(to) = back.recorder.as_deref_mut() {
                to.record_array(trace, Place::Machine, CONTEXT, t, d_context);
                to.record_array(trace, Place::Machine, GATE, t, &[d_g]);
            }
            d_context.iter_mut().for_each(|d| *d *= g);
            let dz = by.products[GATE_MAP].row_mut(k);
            dz[0] = d_g * g * (R::ONE - g);
            let weights = of.own.linears[GATE_MAP].weight.view();
            add_multiple(&mut by.state.hidden, dz[0], weights);
        }
        back.attend(t);
    }

    fn multiplied<'a, R: Real>(
        of: &CaptionConfig,
        trace: &'a Trace<R>,
        weight: usize,
    ) -> Rows<'a, R> {
        let (decoder, source) = (&trace.layers[0], trace.setting.source);
        match weight {
            LSTM => decoder.input.rows_from(source),
            START_HIDDEN | START_CELL => trace.own.at(AT_MEAN).into(),
            // It saw the state of the step before.
            GATE_MAP if of.decoder.is_gated() => decoder.hidden.rows_from(source - 1),
            _ => {
                let series = match weight - of.decoder.weight(0) {
                    E => trace.own.at(FIRST),
                    L_O => &trace.features,
                    L_H => &decoder.hidden,
                    _ => context(&trace.own, &trace.heads),
                };
                series.rows_from(source)
            }
        }
    }
}

/// ā, and tanh of its product with a linear map as a state.
fn start<R: Real>(
    of: Parts<'_, Caption, R>,
    trace: &mut Trace<R>,
    map: usize,
    state: impl FnOnce(&mut LayerTrace<R>) -> &mut Series<R>,
) {
    let source = trace.setting.source;
    let memory = trace.memory_columns.row(trace.memory_row(source));
    let share = R::ONE / R::from_f64(source as f64);
    let mean = trace.own.at_mut(AT_MEAN).row_mut(0);
    for (mean, column) in mean.iter_mut().zip(memory.chunks_exact(source)) {
        *mean = share * column.iter().copied().sum();
    }
    let (map, state) = (&of.own.linears[map], state(&mut trace.layers[0]));
    let state = state.row_mut(source - 1);
    map.start(state);
    map.forward_from(0, [(&*mean, &mut *state)]);
    feedforward::forward(state);
}

/// ẑ of every step: what is read, or its product with the gate.
fn context<'a, R: Real>(own: &'a Slots<R>, heads: &'a [HeadTrace<R>]) -> &'a Series<R> {
    match own.at(AT_CONTEXT) {
        context if context.width() > 0 => context,
        _ => &heads[0].read,
    }
}

/// g_t = σ(w_g·h_{t−1} + b_g).
fn gate<R: Real>(of: Parts<'_, Caption, R>, trace: &mut Trace<R>, t: usize) {
    let (map, gate) = (
        &of.own.linears[GATE_MAP],
        trace.own.at_mut(AT_GATE).row_mut(t),
    );
    map.start(gate);
    map.forward_from(0, [(trace.layers[0].hidden.row(t - 1), &mut *gate)]);
    activate_gate(gate);
}

/// ẑ_t = g_t·r_t.
fn scale<R: Real>(trace: &mut Trace<R>, t: usize) {
    let [_, _, _, gate, context, ..] = trace.own.all_mut::<ALL>();
    let (g, read) = (gate[t], trace.heads[0].read.row(t));
    let pairs = context.row_mut(t).iter_mut().zip(read);
    pairs.for_each(|(to, &r)| *to = g * r);
}
