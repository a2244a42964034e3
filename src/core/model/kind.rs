//! A kind of machine: a configuration that knows its sizes, tensors and arrays, and what follows from what.

use std::fmt::Debug;

use super::attention::{Mechanism, Weighting};
use super::shape::Shape;
use super::spec::{Array, Place, head_name};
use crate::keys::{ConfigError, Keys};

/// The most heads of one sort, read or write.
pub const MAX_HEADS: usize = 64;

/// The description of a machine without weights.
pub trait Kind: Keys + Debug + Send + Sync {
    /// Channels of the input.
    fn inputs(&self) -> usize;

    /// Channels of the output.
    fn outputs(&self) -> usize;

    /// Layers of the controller.
    fn layers(&self) -> usize {
        0
    }

    /// Units in a layer of the controller.
    fn units(&self) -> usize {
        0
    }

    /// Heads that read.
    fn read_heads(&self) -> usize {
        0
    }

    /// Heads that write.
    fn write_heads(&self) -> usize {
        0
    }

    /// Memory rows; 0 where there is no memory.
    fn rows(&self) -> usize {
        0
    }

    /// Memory columns; 0 where there is no memory.
    fn columns(&self) -> usize {
        0
    }

    /// The tensors.
    fn shape(&self) -> Shape;

    /// Values per step of a series of the trace; 0 for one that such a machine does not have.
    fn width(&self, place: Place, array: Array) -> usize;

    /// The arrays that only this kind of machine has, in the order of the computation.
    fn arrays(&self) -> &'static [Array] {
        &[]
    }

    /// The arrays of a head's score and of its weighting.
    fn head_arrays(&self, _head: usize) -> [&'static [Array]; 2] {
        [&[], &[]]
    }

    /// The size of an axis that the machine alone knows.
    fn axis(&self, _axis: &str) -> Option<usize> {
        None
    }

    /// Returns the mechanism of a head.
    fn mechanism(&self, _head: usize) -> Mechanism {
        Mechanism::default()
    }

    /// Returns the form in which scores become a weighting in a head.
    fn weighting(&self, _head: usize) -> Weighting {
        Weighting::Soft
    }

    /// Sets the number of memory rows.
    ///
    /// # Errors
    /// There is no memory, its rows are fixed, or these are out of range.
    fn set_rows(&mut self, rows: usize) -> Result<(), ConfigError> {
        Err(ConfigError {
            field: "memory.rows".to_owned(),
            found: rows.to_string(),
            allowed: match self.rows() {
                0 => "none, because the machine has no memory".to_owned(),
                own => format!("only {own}"),
            },
        })
    }

    /// True when there is a memory, and no tensor depends on the number of its rows, so that the same weights run
    /// on any number.
    fn runs_on_any_rows(&self) -> bool {
        false
    }

    /// Sets the numbers of input and output channels to those of a task.
    fn set_channels(&mut self, inputs: usize, outputs: usize);

    /// Checks every range.
    ///
    /// # Errors
    /// The field, its value and what is allowed.
    fn validate(&self) -> Result<(), ConfigError>;
}

impl dyn Kind + '_ {
    /// Read and write heads together.
    pub fn heads(&self) -> usize {
        self.read_heads().saturating_add(self.write_heads())
    }

    /// The size of an axis, 1 for that of time.
    pub(super) fn size(&self, axis: &str) -> usize {
        self.axis(axis).unwrap_or(1)
    }

    /// Returns true if any possible head has such a weighting; called before the number of heads is checked.
    fn any_head(&self, is_so: impl Fn(Weighting) -> bool) -> bool {
        let mut heads = 0..self.heads().min(2 * MAX_HEADS);
        heads.any(|head| is_so(self.weighting(head)))
    }

    /// Returns true if any head samples: its row, or its weights.
    pub fn is_random(&self) -> bool {
        self.any_head(Weighting::is_random)
    }

    /// Returns true if any head samples its row.
    pub fn is_hard(&self) -> bool {
        self.any_head(|weighting| weighting == Weighting::Hard)
    }

    /// Returns true if any head has random weights with a prior.
    pub fn is_bayesian(&self) -> bool {
        self.any_head(Weighting::is_bayesian)
    }

    /// The name of an array in files.
    pub fn array_name(&self, place: Place, array: Array) -> String {
        match place {
            Place::Head(head) => format!("{}.{}", self.head_name(head), array.name),
            Place::Machine | Place::Layer(_) => array.name.to_owned(),
        }
    }

    /// The name of a head: [`head_name`].
    pub fn head_name(&self, head: usize) -> String {
        head_name(self.read_heads(), head)
    }
}

/// A value with a kind: a configuration of one kind, or of any.
pub trait AsKind {
    /// The kind.
    fn kind(&self) -> &(dyn Kind + 'static);
}

impl<K: Kind + 'static> AsKind for K {
    fn kind(&self) -> &(dyn Kind + 'static) {
        self
    }
}
