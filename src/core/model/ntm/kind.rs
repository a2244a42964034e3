//! Sizes, tensors and arrays of the Neural Turing Machine.

use crate::keys::ConfigError;
use crate::model::array;
use crate::model::attention::{Mechanism, Score, Weighting};
use crate::model::axis::Sizes;
use crate::model::config::{InitialMemory, InitialWeighting, NtmConfig, Order, ShiftForm};
use crate::model::head;
use crate::model::kind::Kind;
use crate::model::shape::{Shape, TensorSpec};
use crate::model::spec::{Array, Place};

impl Kind for NtmConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: self.controller.layers,
            units: self.controller.size,
            read_heads: self.read_heads,
            write_heads: self.write_heads,
            rows: self.rows,
            columns: self.columns,
            shift_range: self.shift_range,
            additive_units: self.attention.units,
            position_units: self.attention.parameters.position_units,
            prior_units: self.attention.parameters.prior_units,
            ..Sizes::default()
        }
    }

    fn shape(&self) -> Shape {
        let linears = self
            .controller
            .with_heads(self, |head| self.head_columns(head).all().len());
        let learned = |is_learned: bool, rows: usize| if is_learned { rows } else { 0 };
        let memory = learned(self.initial_memory == InitialMemory::Learned, self.rows);
        let weightings = learned(
            self.initial_weighting == InitialWeighting::Learned,
            self.heads(),
        );
        let [hidden, cell] = self.controller.states();
        // In the order of [`tensor`].
        let mut tensors = vec![
            TensorSpec::state("initial.memory", memory, self.columns),
            TensorSpec::state("initial.weighting", weightings, self.rows),
            TensorSpec::state("initial.read", self.read_heads, self.columns),
            hidden,
            cell,
        ];
        tensors.extend((0..self.heads()).flat_map(|head| (self as &dyn Kind).learned(head)));
        Shape {
            linears,
            tensors,
            ..Shape::default()
        }
    }

    fn width(&self, place: Place, array: Array) -> usize {
        if let Place::Head(head) = place {
            let mechanism = (&self.attention, self.shift_form.of(head));
            return head::width(self, mechanism, head, array);
        }
        let raw = || self.head_outputs();
        self.controller.width_with_heads(self, raw, (place, array))
    }

    fn order(&self) -> Order {
        self.order
    }

    fn needs_only_last_step(&self, place: Place, array: Array) -> bool {
        match place {
            Place::Machine => matches!(array, array::RAW | array::FEATURES),
            Place::Layer(_) | Place::Head(_) => true,
        }
    }

    fn mechanism(&self, head: usize) -> Mechanism {
        Mechanism {
            shift_form: self.shift_form.of(head),
            columns: self.head_columns(head),
            ..self.attention.of(head)
        }
    }

    fn weighting(&self, head: usize) -> Weighting {
        self.attention.weighting.of(head)
    }

    fn set_rows(&mut self, rows: usize) -> Result<(), ConfigError> {
        let (field, own) = ("memory.rows", self.rows);
        ConfigError::unless(self.runs_on_any_rows(), field, rows, || {
            let what = if self.scores_positions() {
                "a score of positions"
            } else {
                "the initial memory or weighting"
            };
            format!("only {own}, because {what} is learned")
        })?;
        let (least, most) = (self.offsets(), NtmConfig::MAX_ROWS);
        ConfigError::unless((least..=most).contains(&rows), field, rows, || {
            let range = self.largest_shift();
            format!("{least} to {most} with a shift range of {range}")
        })?;
        self.rows = rows;
        Ok(())
    }

    fn runs_on_any_rows(&self) -> bool {
        matches!(self.initial_memory, InitialMemory::Constant(_))
            && self.initial_weighting == InitialWeighting::OneHot
            && !self.scores_positions()
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
    }

    fn check_together(&self) -> Result<(), ConfigError> {
        ConfigError::unless(self.heads() > 0, "heads.write", 0, || {
            "1 to 64 without a read head".into()
        })?;
        self.attention.fits(self.heads(), &self.shift_form)?;
        let (field, range) = ("heads.shift.range", self.largest_shift());
        ConfigError::unless(2 * range < self.rows, field, range, || {
            format!("0 to {}", (self.rows - 1) / 2)
        })?;
        let moves = range > 0 || !self.shift_form.any(|form| form == ShiftForm::Scalar);
        ConfigError::unless(moves, field, range, || {
            "at least 1 with the scalar form".into()
        })
    }
}

impl NtmConfig {
    /// A machine whose heads have, together, every array that any head may have: a read and a write head for every
    /// mechanism that adds one.
    pub fn with_every_mechanism() -> Self {
        fn adding<T: Copy>(all: &[T], arrays: impl Fn(T) -> &'static [Array]) -> Vec<T> {
            let mut known: Vec<Array> = Vec::new();
            let mut adding = Vec::new();
            for one in all.iter().rev() {
                let own = arrays(*one);
                if own.iter().any(|array| !known.contains(array)) {
                    adding.insert(0, *one);
                }
                known.extend(own);
            }
            adding
        }
        let mut scores = adding(Score::ALL, |score: Score| score.arrays().arrays());
        let mut weightings = adding(Weighting::ALL, |weighting: Weighting| {
            weighting.stages().arrays()
        });
        let heads = scores.len().max(weightings.len());
        scores.resize(heads, Score::Cosine);
        weightings.resize(heads, Weighting::Soft);
        let mut config = Self::new(1, 1);
        (config.read_heads, config.write_heads) = (heads, heads);
        config.attention.score = scores.repeat(2).into();
        config.attention.weighting = weightings.repeat(2).into();
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelConfig;
    use crate::model::attention::Switch;
    use crate::model::config::ControllerKind;

    #[test]
    fn head_columns_tile_the_row_of_pre_activations() {
        let mut config = NtmConfig::new(9, 8);
        (config.read_heads, config.write_heads, config.columns) = (2, 3, 5);
        let (on, off) = (Switch::On, Switch::Off);
        config.attention.erase = vec![on, off, on, off, on].into();
        for form in [ShiftForm::Softmax, ShiftForm::Scalar] {
            config.shift_form = form.into();
            let mut next = 0;
            for head in 0..config.heads() {
                let columns = config.head_columns(head);
                assert_eq!(columns.all().start, next);
                assert_eq!(columns.shift.end, columns.sharpening.start);
                let written = [columns.erase.len(), columns.add.len()];
                assert_eq!(written, [[0, 0], [0, 0], [5, 5], [0, 5], [5, 5]][head]);
                next = columns.all().end;
            }
            assert_eq!(config.head_outputs(), next);
        }
    }

    #[test]
    fn parameters_are_counted_without_making_them() {
        let mut config = NtmConfig::new(9, 8);
        (config.write_heads, config.controller.layers) = (2, 2);
        for learned in [false, true] {
            if learned {
                config.initial_memory = InitialMemory::Learned;
                config.initial_weighting = InitialWeighting::Learned;
                config.controller.kind = ControllerKind::Feedforward;
            }
            let params = crate::model::Params::<f32>::zeros(&config);
            let named = params.named();
            let count: usize = named.iter().map(|(_, tensor)| tensor.len()).sum();
            assert_eq!(config.shape().count(), count as u64);
        }
    }

    #[test]
    fn out_of_range_names_the_field() {
        let mut config = NtmConfig::new(9, 8);
        config.shift_range = 64;
        assert_eq!(config.validate().unwrap_err().field, "heads.shift.range");
        (config.shift_range, config.shift_form) = (0, ShiftForm::Scalar.into());
        assert_eq!(config.validate().unwrap_err().field, "heads.shift.range");
        // Where nothing is shifted, no row is too few.
        (config.shift_range, config.shift_form, config.rows) = (64, ShiftForm::None.into(), 1);
        assert_eq!(config.validate(), Ok(()));
        assert_eq!(ModelConfig::from(config).with_rows(2).unwrap().rows(), 2);
    }

    #[test]
    fn a_list_has_a_word_for_each_head() {
        let mut config = NtmConfig::new(9, 8);
        for count in [1, 3] {
            config.attention.gate = vec![Switch::Off; count].into();
            let error = config.validate().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "heads.attention.gate is a list of {count}; allowed: one word for all heads, or a list of 2, read heads first"
                )
            );
        }
        config.read_heads = 0;
        config.attention.gate = vec![Switch::Off].into();
        assert_eq!(config.validate(), Ok(()));
    }

    #[test]
    fn far_too_many_heads_are_refused_at_once() {
        let mut config = NtmConfig::new(9, 8);
        (config.read_heads, config.write_heads) = (usize::MAX, usize::MAX);
        assert!(!ModelConfig::from(config.clone()).is_random());
        assert_eq!(config.validate().unwrap_err().field, "heads.read");
    }

    #[test]
    fn what_no_f32_holds_is_out_of_range() {
        for value in [f64::NAN, f64::INFINITY, 1e300, -1e7] {
            let mut config = NtmConfig::new(9, 8);
            config.initial_memory = InitialMemory::Constant(value);
            assert_eq!(config.validate().unwrap_err().field, "memory.initial");
        }
        for value in [f64::NAN, -1e-9, 1e300] {
            let mut config = NtmConfig::new(9, 8);
            config.similarity_epsilon = value;
            let field = config.validate().unwrap_err().field;
            assert_eq!(field, "heads.similarity_epsilon");
        }
    }

    #[test]
    fn rows_change_where_nothing_learned_depends_on_them() {
        let mut config = NtmConfig::new(9, 8);
        assert_eq!(
            ModelConfig::from(config.clone())
                .with_rows(3)
                .unwrap()
                .rows(),
            3
        );
        let message = |config: &NtmConfig, rows| {
            let config = ModelConfig::from(config.clone());
            config.with_rows(rows).unwrap_err().to_string()
        };
        for rows in [0, 2, usize::MAX] {
            let allowed = "allowed: 3 to 1048576 with a shift range of 1";
            let expected = format!("memory.rows is {rows}; {allowed}");
            assert_eq!(message(&config, rows), expected);
        }
        config.initial_weighting = InitialWeighting::Learned;
        let any = ModelConfig::from(config.clone());
        assert_eq!(any.with_rows(128), Ok(any.clone()));
        let allowed = "only 128, because the initial memory or weighting is learned";
        let expected = format!("memory.rows is 64; allowed: {allowed}");
        assert_eq!(message(&config, 64), expected);
        (config.read_heads, config.write_heads) = (0, 0);
        assert_eq!(config.validate().unwrap_err().field, "heads.write");
    }
}
