//! An encoder and a decoder with attention, in the order of its equations (Bahdanau 2015, appendix A). An episode has S
//! source steps, which the [`Encoder`] writes to the memory M, and then the steps of the answer:
//!
//! ```text
//! s_{S−1} = tanh(W_s·h←_0)
//! k_t = s_{t−1}    w_t = weighting of score(k_t, M)    r_t = Σ_i w_t(i)·M(i)
//! s_t = lstm([y_{t−1}; r_t], s_{t−1})    z_t = W·[s_t; r_t] + b                      t ≥ S
//! ```
//!
//! y_{t−1} is what the decoder answered, or the target in training; the zero vector in step S.

use std::any::Any;
use std::ops::Range;

use super::array;
use super::attention::{AttentionConfig, Mechanism, Score, ShiftForm};
use super::config::check_channels;
use super::controller::cell::{self, CellGradient, one_lstm};
use super::controller::feedforward;
use super::dependency::{Conventions, Dependency, Size};
use super::encoder::{self, Encoder};
use super::head::{self, HeadGradient};
use super::kind::{Kind, Sizes};
use super::machine::{GradientRecorder, Machine, Upstream, Workspace, both, record};
use super::params::Params;
use super::reader::{self, ReaderGradient};
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::spec::{Array, Place};
use super::trace::Trace;
use super::{feedback, readout};
use crate::keys::Field::Integer;
use crate::keys::{ConfigError, Keys, Table, check};
use crate::math::matrix::{self, padded};
use crate::math::vectors::add;
use crate::math::{Linear, Matrix, Real, Series};

/// The size of an encoder and a decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct AttendConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Units of each direction of the encoder.
    pub encoder: usize,
    /// Units of the decoder.
    pub decoder: usize,
    /// Score and weighting of the head.
    pub attention: AttentionConfig,
    /// Source steps of an episode.
    rows: usize,
}

impl AttendConfig {
    /// Encoder and decoder with 64 numbers in a state, and the additive score.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            encoder: 32,
            decoder: 64,
            attention: reader::attention(Score::Additive, 32),
            rows: 1,
        }
    }

    /// Values of the input of the decoder, without its own state.
    fn decoder_inputs(&self) -> usize {
        self.outputs + 2 * self.encoder
    }
}

impl Keys for AttendConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("encoder.size", Integer(&mut self.encoder, 1..=4096), "units of the encoder in each of its two directions");
        to.key("decoder.size", Integer(&mut self.decoder, 1..=4096), "units of the decoder");
        self.attention.reader_keys(&mut to.section("attention"));
    }
}

/// The arrays of the machine itself: those of the encoder, and the feedback.
const OWN: [Array; 11] = {
    let mut all = [array::FEEDBACK; 11];
    let (own, _) = all.split_at_mut(10);
    own.copy_from_slice(&encoder::ARRAYS);
    all
};

impl Kind for AttendConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: 1,
            units: self.decoder,
            read_heads: 1,
            write_heads: 0,
            rows: self.rows,
            columns: 2 * self.encoder,
        }
    }

    fn shape(&self) -> Shape {
        let (c, m) = (self.decoder, 2 * self.encoder);
        let decoder = LinearSpec::new("decoder", self.decoder_inputs() + c, 4 * c);
        let output = LinearSpec::new("output", c + m, self.outputs);
        let start = TensorSpec::weights("start.weight", self.encoder, c);
        let mut shape = Shape {
            linears: encoder::linears(self.inputs, self.encoder).collect(),
            tensors: vec![start],
        };
        shape.linears.extend([decoder, output]);
        shape.tensors.extend((self as &dyn Kind).learned(0));
        shape
    }

    fn arrays(&self) -> &'static [Array] {
        &OWN
    }

    fn width(&self, place: Place, array: Array) -> usize {
        match (place, array) {
            (Place::Layer(_), _) => one_lstm(self.decoder).width(0, array, self.decoder_inputs()),
            (Place::Head(_), _) => head::width(self, (&self.attention, ShiftForm::None), 0, array),
            (_, array::RAW) => 0,
            (_, array::FEATURES) => self.decoder + 2 * self.encoder,
            (_, array::NORMS) => self.rows,
            _ => {
                let of_encoder = encoder::width(array, self.inputs, self.encoder);
                of_encoder.unwrap_or_else(|| (self as &dyn Kind).values(array))
            }
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        match axis {
            "k" => Some(self.decoder),
            "u" => Some(self.encoder),
            _ => self.attention.axis(axis),
        }
    }

    fn of_source(&self, steps: usize) -> Option<Box<dyn Kind>> {
        let rows = steps.max(1);
        Some(Box::new(Self {
            rows,
            ..self.clone()
        }))
    }

    fn first_step(&self) -> usize {
        self.rows
    }

    fn mechanism(&self, _: usize) -> Mechanism {
        self.attention.of_reader()
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
    }

    fn validate(&self) -> Result<(), ConfigError> {
        check_channels(self.inputs, self.outputs)?;
        check(&mut self.clone())?;
        self.attention.fits_reader(self.decoder, 2 * self.encoder)
    }
}

/// A machine with weights.
#[derive(Clone, Copy)]
struct Attend<'a, R> {
    config: &'a AttendConfig,
    encoder: Encoder<'a, R>,
    /// W_s, [u, C].
    start: &'a Matrix<R>,
    decoder: &'a Linear<R>,
    output: &'a Linear<R>,
}

/// The gradients of an episode.
struct Scratch<R> {
    /// w.r.t. [s_t; r_t] through the output.
    seen: readout::Seen<R>,
    /// w.r.t. the logits of the answer, [T, Y].
    logit: Series<R>,
    /// w.r.t. z of both directions of the encoder and of the decoder, [T, 4C].
    z: [Series<R>; 3],
    /// w.r.t. W_s, [u, C].
    start: Vec<R>,
}

impl<R: Real> Machine<R> for AttendConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let attend = self.with(params);
        for trace in traces {
            if steps.start == 0 {
                trace.memory_columns.row_mut(0).fill(R::ZERO);
                trace.heads[0].learn(&params.tensors[1..]);
                attend.encoder.run(trace);
            }
            for t in steps.start..steps.end.min(trace.steps()) {
                attend.step(trace, t);
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        let z = [self.encoder, self.encoder, self.decoder];
        Box::new(Scratch::<R> {
            seen: readout::Seen::new(self.decoder + 2 * self.encoder, self.outputs),
            logit: Series::new(padded(self.outputs)),
            z: z.map(|size| Series::new(padded(4 * size))),
            start: vec![R::ZERO; self.encoder * self.decoder],
        })
    }

    fn backward(
        &self,
        params: &Params<R>,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>],
        gradient: &mut Params<R>,
    ) {
        for (trace, workspace) in traces.iter().zip(&mut *workspaces) {
            let (by, scratch, recorder) = workspace.parts_mut::<Scratch<R>>();
            let reader = self.with(params).backward(trace, by, scratch, recorder);
            let learned = reader.head.iter().flat_map(HeadGradient::learned);
            let all = [&scratch.start[..]].into_iter().chain(learned);
            for (to, from) in gradient.tensors.iter_mut().zip(all) {
                add(to.view_mut(), from);
            }
        }
        let all = both::<R, Scratch<R>>(traces, workspaces);
        for (index, linear) in gradient.linears.iter_mut().enumerate() {
            linear.set_gradient(all.clone().map(|(trace, _, by)| match index {
                0 | 1 => (encoder::direction(trace, index)[0], &by.z[index]),
                2 => (&trace.layers[0].input, &by.z[index]),
                _ => (&trace.features, &by.logit),
            }));
        }
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let state = vec![(Place::Layer(0), array::HIDDEN)];
        let key = Dependency::new(Place::Head(0), array::KEY, state, Size::One, ask);
        let reader = reader::dependencies(self, conventions);
        let answer = [feedback::dependency(), key].into_iter().chain(reader);
        let answer = answer.map(|dependency| dependency.only(is_in_answer));
        [encoder::memory()].into_iter().chain(answer).collect()
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let attend = self.with(params);
        let cell = move |trace: &mut Trace<R>, t: usize| attend.decode(trace, t);
        let hidden = move |trace: &mut Trace<R>, t: usize| {
            if is_in_answer(t, trace.setting.source) {
                cell::hide(trace.layers[0].cell_mut(), t);
            } else {
                trace.layers[0].hidden.row_mut(t).fill(R::ZERO);
                attend.start(trace, t);
            }
        };
        let logit = move |trace: &mut Trace<R>, t: usize| attend.emit(trace, t);
        let (layer, machine) = (Place::Layer(0), Place::Machine);
        let decoder = [
            Dependency::with_weights(layer, array::CELL, cell).only(is_in_answer),
            Dependency::with_weights(layer, array::HIDDEN, hidden),
            Dependency::with_weights(machine, array::LOGIT, logit).only(is_in_answer),
            readout::output(),
        ];
        let mut all: Vec<_> = attend.encoder.step().collect();
        all.extend(self.dependencies(Conventions::OWN));
        all.extend(decoder);
        all
    }
}

impl AttendConfig {
    fn with<'a, R: Real>(&'a self, params: &'a Params<R>) -> Attend<'a, R> {
        let [linears @ .., decoder, output] = &params.linears[..] else {
            unreachable!("a machine of this kind has four linear maps")
        };
        Attend {
            config: self,
            encoder: Encoder {
                inputs: self.inputs,
                size: self.encoder,
                linears,
            },
            start: &params.tensors[0],
            decoder,
            output,
        }
    }
}

fn is_in_answer(t: usize, source: usize) -> bool {
    t >= source
}

/// k_t = s_{t−1}.
fn ask<R: Real>(trace: &mut Trace<R>, t: usize) {
    let state = trace.layers[0].hidden.row(t - 1);
    trace.heads[0].key.row_mut(t).copy_from_slice(state);
}

impl<R: Real> Attend<'_, R> {
    /// One step of an episode whose source is encoded.
    fn step(&self, trace: &mut Trace<R>, t: usize) {
        encoder::append(trace, t);
        if is_in_answer(t, trace.setting.source) {
            if !trace.setting.is_forced {
                feedback::set(trace, t);
            }
            ask(trace, t);
            reader::forward(trace, t);
            self.decode(trace, t);
            self.emit(trace, t);
        } else {
            trace.logit.row_mut(t).fill(R::ZERO);
            self.start(trace, t);
        }
        let (answer, z) = (trace.setting.answer, trace.logit.row(t));
        answer.outputs(z, z.len(), trace.output.row_mut(t));
    }

    /// s_{S−1} = tanh(W_s·h←_0), at the end of the source; its cell is 0.
    fn start(&self, trace: &mut Trace<R>, t: usize) {
        if t + 1 == trace.setting.source {
            let last = encoder::last(trace).to_vec();
            let state = trace.layers[0].hidden.row_mut(t);
            state.fill(R::ZERO);
            matrix::add_vector_product(&last, self.start.rows_from(0), state);
            feedforward::forward(state);
        }
    }

    /// s_t = lstm([y_{t−1}; r_t], s_{t−1}).
    fn decode(&self, trace: &mut Trace<R>, t: usize) {
        let ([.., feedback], layer) = (trace.own.all::<11>(), &mut trace.layers[0]);
        let seen = feedback.row(t).iter().chain(trace.heads[0].read.row(t));
        let input = layer.input.row_mut(t).iter_mut();
        input.zip(seen).for_each(|(to, &from)| *to = from);
        cell::forward(self.decoder, layer.cell_mut(), t, Some(t - 1));
    }

    /// z_t = W·[s_t; r_t] + b.
    fn emit(&self, trace: &mut Trace<R>, t: usize) {
        readout::gather(trace, t);
        let z = trace.logit.row_mut(t);
        self.output.start(z);
        self.output.forward_from(0, [(trace.features.row(t), z)]);
    }

    /// Backpropagates through an episode.
    fn backward(
        &self,
        trace: &Trace<R>,
        by: &Upstream<R>,
        scratch: &mut Scratch<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) -> ReaderGradient<R> {
        scratch.reset(trace, by);
        let (source, decoder) = (trace.setting.source, &trace.layers[0]);
        let Scratch {
            seen,
            logit,
            z: [forward, backward, dz],
            start,
        } = scratch;
        seen.backward(self.output, logit);
        let mut reader = ReaderGradient::new(self.config, trace);
        let (y, c) = (self.config.outputs, self.config.decoder);
        let mut state = CellGradient::new(c, self.config.decoder_inputs());
        for t in (source..trace.steps()).rev() {
            let (d_state, d_read) = seen.gradient.row(t).split_at(c);
            add(&mut state.hidden[..], d_state);
            let to = recorder.as_deref_mut().map(|to| to.layers[0].cell_mut());
            state.backward(self.decoder, decoder.cell(), (t, Some(t - 1)), dz, to);
            if let Some(to) = recorder.as_deref_mut() {
                to.record_array(trace, Place::Machine, array::FEEDBACK, t, &state.input[..y]);
            }
            let mut d_read = d_read.to_vec();
            let columns = d_read.len();
            add(&mut d_read[..], &state.input[y..][..columns]);
            let d_key = reader.backward(trace, t, &d_read, by, recorder.as_deref_mut());
            add(&mut state.hidden[..], d_key);
        }
        reader.finish(trace, by, recorder.as_deref_mut());
        let last = encoder::last(trace);
        let (mut dz, mut d_last) = (vec![R::ZERO; padded(c)], vec![R::ZERO; last.len()]);
        feedforward::backward(decoder.hidden.row(source - 1), &state.hidden, &mut dz);
        matrix::product_with_vector(self.start.rows_from(0), &dz, &mut d_last);
        for (to, &x) in start.chunks_exact_mut(c).zip(last) {
            to.iter_mut().zip(&dz).for_each(|(to, &dz)| *to = x * dz);
        }
        if let Some(to) = recorder.as_deref_mut() {
            to.record_logits(trace, by);
            let layers = &mut to.layers;
            record(
                &mut layers[0].hidden,
                &decoder.hidden,
                source - 1,
                &state.hidden,
            );
            record(&mut layers[0].cell, &decoder.cell, source - 1, &state.cell);
        }
        let z = [forward, backward];
        self.encoder
            .backward(trace, &mut reader.memory, &d_last, z, recorder);
        reader
    }
}

impl<R: Real> Scratch<R> {
    /// Empties it for an episode.
    fn reset(&mut self, trace: &Trace<R>, by: &Upstream<R>) {
        for series in self.z.iter_mut().chain([&mut self.logit]) {
            series.resize(trace.steps());
            series.as_mut_slice().fill(R::ZERO);
        }
        for t in trace.setting.source..trace.steps() {
            self.logit.row_mut(t).copy_from_slice(by.logit.row(t));
        }
        self.start.fill(R::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::math::Answer;
    use crate::math::golden::Case;
    use crate::model::attention::{PriorForm, Weighting};
    use crate::model::weighting::bayesian::{DIVERGENCE, NOISE};
    use crate::model::{Given, Model, Noise, NoiseMode};
    use crate::task::{Copy, Task};
    use crate::train::Recording;

    const CASES: [&str; 6] = [
        "bahdanau_a",
        "bahdanau_b",
        "bahdanau_general_a",
        "bahdanau_general_b",
        "bahdanau_weibull_a",
        "bahdanau_weibull_b",
    ];

    /// The machine of a case, and its source and target as one-hot vectors, [S + T, channels].
    fn machine(case: &Case, name: &str) -> (AttendConfig, [Array2<f32>; 2]) {
        let size = |key: &str| case.size(key);
        let (source, target) = (
            case.indices("inputs", "source"),
            case.indices("inputs", "target"),
        );
        let mut config = AttendConfig::new(size("V_x"), size("V_y"));
        (config.encoder, config.decoder) = (size("u"), size("C"));
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
        let steps = source.len() + target.len();
        let one_hot = |symbols: &[usize], first: usize, channels: usize| {
            let mut all = Array2::zeros((steps, channels));
            for (t, &symbol) in symbols.iter().enumerate() {
                all[[first + t, symbol]] = 1.0;
            }
            all
        };
        let input = one_hot(&source, 0, config.inputs);
        let target = one_hot(&target, source.len(), config.outputs);
        (config, [input, target])
    }

    /// The golden values of a tensor, [inputs, outputs].
    fn golden(case: &Case, part: &str, name: &str, config: &AttendConfig) -> Vec<f64> {
        let split = config.decoder * config.attention.units;
        let score = || case.transposed(part, "score.W");
        match name {
            "read0.additive_key" => score()[..split].to_vec(),
            "read0.additive_row" => score()[split..].to_vec(),
            "read0.additive_vector" => case.numbers(part, "score.v"),
            "read0.bilinear" => case.numbers(part, "score.W"),
            "read0.prior_weight" => case.transposed(part, "prior.W"),
            "read0.prior_bias" => case.numbers(part, "prior.b"),
            "read0.prior_vector" => case.numbers(part, "prior.h"),
            _ => {
                let name = name.replace("output", "out");
                match name.strip_suffix(".weight") {
                    Some(name) => case.transposed(part, &format!("{name}.W")),
                    None => case.numbers(part, &name.replace("bias", "b")),
                }
            }
        }
    }

    #[test]
    fn golden_values_and_gradients_of_whole_sequences() {
        for name in CASES {
            let case = Case::load(name);
            let (config, [input, target]) = machine(&case, name);
            let (source, steps) = (case.size("n"), input.nrows());
            let mut model = Model::<f64>::new(config.clone(), 1);
            for (tensor, mut to) in model.params.named_mut() {
                let from = golden(&case, "parameters", &tensor, &config);
                assert_eq!(to.len(), from.len(), "{tensor}");
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
            }
            let given = Given {
                input: &input,
                source,
                forced: Some(&target),
                answer: Answer::Symbols,
            };
            let mut noise = Trace::of_source(&model.config, source);
            noise.resize(steps);
            noise.sampling = NoiseMode::Sampled;
            if let Some(u) = noise.series_mut(Place::Head(0), NOISE) {
                let drawn = case.numbers("noise", "u");
                u.as_mut_slice()[source * source..].copy_from_slice(&drawn);
            }
            let mut trace = Trace::new(&model.config);
            model.run(given, Noise::Recorded(&noise), &mut trace);
            let answer =
                |series: &Series<f64>| series.as_slice()[source * series.width()..].to_vec();
            let head = &trace.heads[0];
            let close = |what: &str, found: &[f64]| {
                case.assert_close("outputs", what, found);
            };
            let memory: Vec<f64> = trace.memory(steps).iter().copied().collect();
            close("H", &memory);
            close("energies", &answer(&head.similarity));
            let is_weibull = name.contains("weibull");
            close(
                if is_weibull { "omega" } else { "weightings" },
                &answer(&head.weighting),
            );
            close("contexts", &answer(&head.read));
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
            if is_weibull {
                close("divergence", &answer(head.series(DIVERGENCE).unwrap()));
                by.terms.divergence = case.constant("rho");
            }
            let mut workspace = [Workspace::new(&model.config)];
            workspace[0].upstream = by;
            let mut gradient = Params::zeros(&model.config);
            model.backward(std::slice::from_ref(&trace), &mut workspace, &mut gradient);
            for (tensor, found) in gradient.named() {
                let wanted = golden(&case, "gradients", &tensor, &config);
                for (found, wanted) in found.iter().zip(wanted) {
                    let off = (found - wanted).abs();
                    assert!(
                        off <= 1e-10 * wanted.abs().max(1.0),
                        "{name} {tensor}: {found} and {wanted}"
                    );
                }
            }
        }
    }

    #[test]
    fn answers_are_fed_back_as_decided() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 3..=3,
        });
        let model = Model::<f32>::new(AttendConfig::new(task.inputs(), task.outputs()), 2);
        let recording = Recording::new(&model, &task, 1, 0);
        let (trace, source) = (&recording.trace, recording.episode.source());
        assert_eq!((source, trace.memory_size()), (4, [4, 64]));
        let [.., feedback] = trace.own.all::<11>();
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
        let mut config = AttendConfig::new(3, 2);
        config.attention.score = Score::Dot.into();
        assert_eq!(config.validate(), Ok(()), "64 units are twice 32");
        config.decoder = 63;
        let message = config.validate().unwrap_err().to_string();
        let allowed = "`additive` or `general`; `dot` needs a key and memory rows of equal size, and they have 63 and 64 values";
        assert_eq!(
            message,
            format!("attention.score is dot; allowed: {allowed}")
        );
        config.attention.score = Score::Location.into();
        assert_eq!(config.validate().unwrap_err().field, "attention.score");
    }
}
