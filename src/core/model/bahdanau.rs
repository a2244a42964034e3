//! Neural machine translation with a learned alignment, in the order of its equations (Bahdanau 2015, appendix A):
//!
//! ```text
//! s_{S−1} = tanh(W_s·h)      h = h←_0, the state of the encoder after its last step; h→_{S−1} of one direction
//! k_t = s_{t−1}    w_t = weighting of score(k_t, M)    r_t = Σ_i w_t(i)·M(i)
//! s_t = lstm([y_{t−1}; r_t], s_{t−1})    z_t = W·[s_t; r_t] + b                      t ≥ S
//! ```
//!
//! y_{t−1} is what the decoder answered, or the target in training; the zero vector in step S.

use super::array;
use super::attention::Score;
use super::controller::feedforward;
use super::dependency::Dependency;
use super::encoder::{COUNT, Direction, EncoderConfig, Last, with_own};
use super::encoder_decoder::{Back, Decoder, EncoderDecoder, Parts, attend};
use super::reader;
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::source::Source;
use super::spec::{Array, ArraySpec, Kept};
use super::trace::Trace;
use crate::keys::Field::Integer;
use crate::keys::Table;
use crate::math::Real;
use crate::math::matrix::{self, Rows};
use crate::math::vectors::{add, gather};

/// The size of an encoder and a decoder with attention.
pub type BahdanauConfig = EncoderDecoder<Bahdanau>;

/// The decoder of Bahdanau et al. 2015.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bahdanau {
    /// Units of the decoder.
    pub size: usize,
}

impl BahdanauConfig {
    /// Encoder and decoder with 64 numbers in a state, and the additive score.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            source: EncoderConfig::new(Direction::Both, 32),
            decoder: Bahdanau { size: 64 },
            attention: reader::attention(Score::Additive, 32),
            rows: 1,
        }
    }
}

/// h, which W_s multiplies, [u].
const START: Array = &ArraySpec::scratch("start.input").kept(Kept::Once);

/// W_s among the weights.
const W_S: usize = 2;

impl Decoder for Bahdanau {
    type Source = EncoderConfig;
    const ARRAYS: &'static [Array] = &with_own::<2, { COUNT + 2 }>([array::FEEDBACK, START]);

    fn keys(of: &mut BahdanauConfig, to: &mut Table<'_>) {
        of.source.keys(&mut to.section("encoder"));
        let size = Integer(&mut of.decoder.size, 1..=4096);
        to.key("decoder.size", size, "units of the decoder");
        of.attention.reader_keys(&mut to.section("attention"));
    }

    fn units(of: &BahdanauConfig) -> usize {
        of.decoder.size
    }

    fn seen(of: &BahdanauConfig) -> usize {
        of.outputs + of.columns()
    }

    fn features(of: &BahdanauConfig) -> usize {
        of.decoder.size + of.columns()
    }

    fn shape(of: &BahdanauConfig) -> Shape {
        let start = TensorSpec::weights("start.weight", of.source.size, of.decoder.size);
        Shape {
            linears: vec![LinearSpec::new("output", Self::features(of), of.outputs)],
            tensors: vec![start],
        }
    }

    fn width(of: &BahdanauConfig, _: Array) -> usize {
        of.source.size
    }

    /// s_{S−1} = tanh(W_s·h).
    fn start_hidden<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>) {
        let (mut last, size) = (vec![R::ZERO; of.config.columns()], of.config.source.size);
        of.config.source.last(trace, &mut last, Last::Hidden);
        let h = &last[last.len() - size..];
        trace
            .own
            .at_mut(Self::ARRAYS.len() - 1)
            .row_mut(0)
            .copy_from_slice(h);
        let state = trace.layers[0].hidden.row_mut(trace.setting.source - 1);
        state.fill(R::ZERO);
        matrix::add_vector_product(h, of.own.tensors[0].rows_from(0), state);
        feedforward::forward(state);
    }

    /// The cell starts at 0.
    fn start_cell<R: Real>(_: Parts<'_, Self, R>, trace: &mut Trace<R>) {
        let first = trace.setting.source - 1;
        trace.layers[0].cell.row_mut(first).fill(R::ZERO);
    }

    fn start_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>) {
        let state = back.trace.layers[0]
            .hidden
            .row(back.trace.setting.source - 1);
        let by = &mut *back.by;
        let dz = by.products[W_S].row_mut(0);
        feedforward::backward(state, &by.state.hidden, dz);
        let (mut d_last, size) = (vec![R::ZERO; of.config.columns()], of.config.source.size);
        let at = d_last.len() - size;
        matrix::product_with_vector(of.own.tensors[0].rows_from(0), dz, &mut d_last[at..]);
        of.config.source.last_backward(&d_last, &mut by.source.rows);
    }

    fn before<R: Real>(_: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        attend::<Self, R>(trace, t);
    }

    fn asks(t: usize) -> usize {
        t - 1
    }

    /// s_t = lstm([y_{t−1}; r_t], s_{t−1}).
    fn see<R: Real>(_: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        let seen = [Self::fed(&trace.own).row(t), trace.heads[0].read.row(t)];
        gather(trace.layers[0].input.row_mut(t), seen);
    }

    fn dependencies<R: Real>(of: Parts<'_, Self, R>) -> Vec<Dependency<'_, R>> {
        let mut all = of.attending();
        all.extend(of.decoding());
        all.push(of.emitting());
        all
    }

    fn after_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>, t: usize) {
        let d_features = back.by.features.gradient.row(t - back.trace.setting.source);
        let d_state = &d_features[..of.config.decoder.size];
        add(&mut back.by.state.hidden[..], d_state);
    }

    fn before_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>, t: usize) {
        back.record_feedback(t);
        let (by, columns) = (&mut *back.by, of.config.columns());
        let d_features = by.features.gradient.row(t - back.trace.setting.source);
        let d_read = &mut by.scratch[..columns];
        d_read.copy_from_slice(&d_features[of.config.decoder.size..]);
        add(d_read, by.state.beside(columns));
        back.attend(t);
    }

    fn multiplied<'a, R: Real>(
        _: &BahdanauConfig,
        trace: &'a Trace<R>,
        weight: usize,
    ) -> Rows<'a, R> {
        let source = trace.setting.source;
        match weight {
            0 => trace.layers[0].input.rows_from(source),
            W_S => trace.own.at(Self::ARRAYS.len() - 1).into(),
            _ => trace.features.rows_from(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::model::kind::Kind as _;
    use crate::model::spec::Place;
    use crate::task::{Copy, Task};
    use crate::train::Recording;

    #[test]
    fn answers_are_fed_back_as_decided() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 3..=3,
        });
        let model = Model::<f32>::new(BahdanauConfig::new(task.inputs(), task.outputs()), 2);
        let recording = Recording::new(&model, &task, 1, 0);
        let (trace, source) = (&recording.trace, recording.episode.source());
        assert_eq!((source, trace.memory_size()), (4, [4, 64]));
        let feedback = trace.series(Place::Machine, array::FEEDBACK).unwrap();
        for t in 0..trace.steps() {
            let wanted: Vec<f32> = match t {
                _ if t <= source => vec![0.0; 3],
                _ => trace
                    .logit
                    .row(t - 1)
                    .iter()
                    .map(|&z| f32::from(z > 0.0))
                    .collect(),
            };
            assert_eq!(feedback.row(t), wanted);
        }
    }

    #[test]
    fn combinations_without_a_definition_are_refused() {
        let mut config = BahdanauConfig::new(3, 2);
        config.attention.score = Score::Dot.into();
        assert_eq!(config.validate(), Ok(()), "64 units are twice 32");
        config.decoder.size = 63;
        let message = config.validate().unwrap_err().to_string();
        let allowed = "`additive`, `general` or `location`; `dot` needs a key and memory rows of equal size, and they have 63 and 64 values";
        assert_eq!(
            message,
            format!("attention.score is dot; allowed: {allowed}")
        );
    }
}
