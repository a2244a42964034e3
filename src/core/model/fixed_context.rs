//! An encoder and a decoder without attention: the whole source is in one state (Sutskever 2014; Cho 2014).
//!
//! ```text
//! s_{S−1} = the last state of the encoder, c_{S−1} its last cell
//! s_t = lstm(y_{t−1}, s_{t−1})    z_t = W·s_t + b                                    t ≥ S
//! ```
//!
//! The last state is [h→_{S−1}; h←_0] of an encoder in both directions, and the decoder has as many units. Without a cell,
//! as in a GRU, that of the decoder starts at 0.

use super::array;
use super::attention::Score;
use super::dependency::Dependency;
use super::encoder::{COUNT, Direction, EncoderConfig, Last, with_own};
use super::encoder_decoder::{Back, Decoder, EncoderDecoder, Parts};
use super::reader;
use super::shape::{LinearSpec, Shape};
use super::source::Source;
use super::spec::Array;
use super::trace::Trace;
use crate::keys::Table;
use crate::math::Real;
use crate::math::vectors::{add, gather};

/// The size of an encoder and a decoder with a fixed context.
pub type FixedContextConfig = EncoderDecoder<FixedContext>;

/// The decoder that sees nothing but its own state and its last answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedContext;

impl FixedContextConfig {
    /// Encoder and decoder with 64 numbers in a state.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            source: EncoderConfig::new(Direction::Forward, 64),
            decoder: FixedContext,
            attention: reader::attention(Score::Dot, 1),
            rows: 1,
        }
    }
}

impl Decoder for FixedContext {
    type Source = EncoderConfig;
    const ARRAYS: &'static [Array] = &with_own::<1, { COUNT + 1 }>([array::FEEDBACK]);
    const HAS_HEAD: bool = false;

    fn keys(of: &mut FixedContextConfig, to: &mut Table<'_>) {
        of.source.keys(&mut to.section("encoder"));
    }

    fn units(of: &FixedContextConfig) -> usize {
        of.columns()
    }

    fn seen(of: &FixedContextConfig) -> usize {
        of.outputs
    }

    fn features(of: &FixedContextConfig) -> usize {
        of.columns()
    }

    fn shape(of: &FixedContextConfig) -> Shape {
        Shape {
            linears: vec![LinearSpec::new("output", of.columns(), of.outputs)],
            tensors: Vec::new(),
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

    /// s_t = lstm(y_{t−1}, s_{t−1}).
    fn see<R: Real>(_: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        gather(
            trace.layers[0].input.row_mut(t),
            [Self::fed(&trace.own).row(t)],
        );
    }

    fn dependencies<R: Real>(of: Parts<'_, Self, R>) -> Vec<Dependency<'_, R>> {
        let mut all = Vec::from(of.decoding());
        all.push(of.emitting());
        all
    }

    fn after_backward<R: Real>(_: Parts<'_, Self, R>, back: &mut Back<'_, R>, t: usize) {
        let d_state = back.by.features.gradient.row(t - back.trace.setting.source);
        add(&mut back.by.state.hidden[..], d_state);
    }
}
