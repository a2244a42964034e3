//! Attention after the state of the decoder, in the order of its equations (Luong 2015, §3):
//!
//! ```text
//! s_{S−1} = the last state of the encoder, c_{S−1} its last cell
//! s_t = lstm(y_{t−1}, s_{t−1})       with input feeding: lstm([y_{t−1}; s̃_{t−1}], s_{t−1}), s̃_{S−1} = 0
//! k_t = s_t    w_t = weighting of score(k_t, M)    r_t = Σ_i w_t(i)·M(i)
//! s̃_t = tanh(W_c·[r_t; s_t])    z_t = W·s̃_t + b                                      t ≥ S
//! ```
//!
//! The last state is [h→_{S−1}; h←_0] of an encoder in both directions, and the decoder has as many units. Without a cell,
//! as in a GRU, that of the decoder starts at 0.

use super::array;
use super::attention::{Score, Switch};
use super::controller::feedforward;
use super::dependency::Dependency;
use super::encoder::{COUNT, Direction, EncoderConfig, Last, with_own};
use super::encoder_decoder::{Back, Decoder, EncoderDecoder, Parts, attend};
use super::reader;
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::source::Source;
use super::spec::{Array, ArraySpec, Place, Range};
use super::trace::Trace;
use crate::keys::Field::{Choice, Integer};
use crate::keys::Table;
use crate::math::Real;
use crate::math::matrix::{self, Rows};
use crate::math::vectors::{add, gather};

/// The size of an encoder and a decoder with attention after its state.
pub type LuongConfig = EncoderDecoder<Luong>;

/// The decoder of Luong et al. 2015.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Luong {
    /// Values of s̃, D.
    pub attentional: usize,
    /// Whether s̃ of a step is an input of the next.
    pub input_feeding: Switch,
}

impl LuongConfig {
    /// Encoder and decoder with 64 numbers in a state, and the general score.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            source: EncoderConfig::new(Direction::Forward, 64),
            decoder: Luong {
                attentional: 64,
                input_feeding: Switch::Off,
            },
            attention: reader::attention(Score::General, 32),
            rows: 1,
        }
    }
}

/// s̃_t, [T, D].
#[rustfmt::skip] // A row for every array.
const ATTENTIONAL: Array = &ArraySpec::new("attentional", &["t", "d"], "s̃", Range::Within(-1.0, 1.0), "tanh(W_c·[r; h]), the input of the output layer (Luong 2015, equation 5); 0 before the answer");
/// [r_t; s_t], [T, M + C].
const COMBINED: Array = &ArraySpec::scratch("combined");

/// Places of these arrays.
const AT_ATTENTIONAL: usize = COUNT + 1;
const AT_COMBINED: usize = COUNT + 2;
/// W_c among the weights.
const W_C: usize = 2;

impl Decoder for Luong {
    type Source = EncoderConfig;
    const ARRAYS: &'static [Array] =
        &with_own::<3, { COUNT + 3 }>([array::FEEDBACK, ATTENTIONAL, COMBINED]);

    #[rustfmt::skip] // A row for every key.
    fn keys(of: &mut LuongConfig, to: &mut Table<'_>) {
        of.source.keys(&mut to.section("encoder"));
        let Luong { attentional, input_feeding } = &mut of.decoder;
        to.key("decoder.attentional", Integer(attentional, 1..=4096), "values D of the attentional state s̃, which the output layer sees");
        to.key("decoder.input_feeding", Choice(input_feeding), "whether s̃ of the step before is an input of the decoder (Luong 2015, section 3.3)");
        of.attention.reader_keys(&mut to.section("attention"));
    }

    fn units(of: &LuongConfig) -> usize {
        of.columns()
    }

    fn seen(of: &LuongConfig) -> usize {
        let is_fed = of.decoder.input_feeding == Switch::On;
        of.outputs + if is_fed { of.decoder.attentional } else { 0 }
    }

    fn features(of: &LuongConfig) -> usize {
        of.decoder.attentional
    }

    fn axis(of: &LuongConfig, axis: &str) -> Option<usize> {
        (axis == "d").then_some(of.decoder.attentional)
    }

    fn shape(of: &LuongConfig) -> Shape {
        let (c, d) = (of.columns(), of.decoder.attentional);
        Shape {
            linears: vec![LinearSpec::new("output", d, of.outputs)],
            tensors: vec![TensorSpec::weights("combine.weight", 2 * c, d)],
        }
    }

    fn width(of: &LuongConfig, array: Array) -> usize {
        if array == COMBINED {
            2 * of.columns()
        } else {
            of.decoder.attentional
        }
    }

    fn start_hidden<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>) {
        of.config.source.start(trace, Last::Hidden);
    }

    fn start_cell<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>) {
        of.config.source.start(trace, Last::Cell);
    }

    fn start_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>) {
        of.config.source.start_backward(back.by);
    }

    /// s_t = lstm([y_{t−1}; s̃_{t−1}], s_{t−1}).
    fn see<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        let is_fed = of.config.decoder.input_feeding == Switch::On;
        let before =
            (is_fed && t > trace.setting.source).then(|| trace.own.at(AT_ATTENTIONAL).row(t - 1));
        let seen = [Self::fed(&trace.own).row(t)].into_iter().chain(before);
        gather(trace.layers[0].input.row_mut(t), seen);
    }

    fn after<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        attend::<Self, R>(trace, t);
        combine(of, trace, t);
    }

    fn emit<R: Real>(_: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        let attentional = trace.own.at(AT_ATTENTIONAL).row(t);
        trace.features.row_mut(t).copy_from_slice(attentional);
    }

    fn dependencies<R: Real>(of: Parts<'_, Self, R>) -> Vec<Dependency<'_, R>> {
        let mut all = Vec::from(of.decoding());
        all.extend(of.attending());
        let attentional = move |trace: &mut Trace<R>, t: usize| combine(of, trace, t);
        let attentional = Dependency::with_weights(Place::Machine, ATTENTIONAL, attentional);
        all.push(attentional.only(|t, source| t >= source));
        all.push(of.emitting());
        all
    }

    fn after_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>, t: usize) {
        let (d, c) = (of.config.decoder.attentional, of.config.columns());
        let (by, k) = (&mut *back.by, t - back.trace.setting.source);
        let d_attentional = &mut by.scratch[..d];
        d_attentional.copy_from_slice(by.features.gradient.row(k));
        if of.config.decoder.input_feeding == Switch::On {
            // Of the step after this one, which was fed with it.
            add(&mut *d_attentional, by.state.beside(d));
        }
        if let Some(to) = back.recorder.as_deref_mut() {
            to.record_array(back.trace, Place::Machine, ATTENTIONAL, t, d_attentional);
        }
        let dz = by.products[W_C].row_mut(k);
        feedforward::backward(back.trace.own.at(AT_ATTENTIONAL).row(t), d_attentional, dz);
        let combined = &mut by.scratch[..2 * c];
        matrix::product_with_vector(of.own.tensors[0].rows_from(0), dz, combined);
        add(&mut by.state.hidden[..], &combined[c..]);
        back.attend(t);
    }

    fn multiplied<'a, R: Real>(_: &LuongConfig, trace: &'a Trace<R>, weight: usize) -> Rows<'a, R> {
        let source = trace.setting.source;
        match weight {
            0 => trace.layers[0].input.rows_from(source),
            W_C => trace.own.at(AT_COMBINED).rows_from(source),
            _ => trace.features.rows_from(source),
        }
    }
}

/// s̃_t = tanh(W_c·[r_t; s_t]).
fn combine<R: Real>(of: Parts<'_, Luong, R>, trace: &mut Trace<R>, t: usize) {
    let parts = [trace.heads[0].read.row(t), trace.layers[0].hidden.row(t)];
    let [.., attentional, combined] = trace.own.all_mut::<{ COUNT + 3 }>();
    gather(combined.row_mut(t), parts);
    let attentional = attentional.row_mut(t);
    attentional.fill(R::ZERO);
    matrix::add_vector_product(combined.row(t), of.own.tensors[0].rows_from(0), attentional);
    feedforward::forward(attentional);
}
