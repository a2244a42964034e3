//! A kind of machine: a configuration that knows its sizes, tensors and arrays, and what follows from what.

use std::fmt::Debug;

use super::attention::{Mechanism, Sees, Weighting};
use super::axis::{Axis, Sizes};
use super::config::{MAX_HEADS, Order};
use super::shape::{Shape, TensorSpec};
use super::spec::{Array, Place, array_name, head_name};
use super::tape::FileWords;
use crate::keys::{ConfigError, Keys, check};

/// The description of a machine without weights.
pub trait Kind: Keys + Debug + Send + Sync {
    /// The sizes; those of a memory with a row for each step of an episode are of one step.
    fn sizes(&self) -> Sizes;

    /// The tensors.
    fn shape(&self) -> Shape;

    /// Values per step of a series of the trace; 0 for one that such a machine does not have.
    fn width(&self, place: Place, array: Array) -> usize;

    /// The arrays that only this kind of machine has, in the order of the computation.
    fn arrays(&self) -> &'static [Array] {
        &[]
    }

    /// The arrays of a head's score and of its weighting.
    fn head_arrays(&self, head: usize) -> [&'static [Array]; 2] {
        let Mechanism {
            score, weighting, ..
        } = self.mechanism(head);
        [score.arrays().arrays(), weighting.stages().arrays()]
    }

    /// The same machine with this many memory rows; `None` where the number of rows is that of the configuration and not
    /// [`Kind::episode_rows`].
    fn of_rows(&self, _rows: usize) -> Option<Box<dyn Kind>> {
        None
    }

    /// The steps that a machine reads before it answers, of an episode with this many steps, `source` of them before the
    /// answer. Where [`Kind::of_rows`] has them, they are the memory rows.
    fn episode_rows(&self, _steps: usize, source: usize) -> usize {
        source
    }

    /// [`Kind::of_rows`] for an episode with this many steps, `source` of them before the answer.
    fn of_episode(&self, steps: usize, source: usize) -> Option<Box<dyn Kind>> {
        self.of_rows(self.episode_rows(steps, source))
    }

    /// The most memory rows that the machine knows where it has a row per step, and the key that sets them.
    fn most_rows(&self) -> (usize, &'static str) {
        (usize::MAX, "")
    }

    /// The order of reads and writes in a step.
    fn order(&self) -> Order {
        Order::ReadFirst
    }

    /// The first step in which heads attend.
    fn first_step(&self) -> usize {
        0
    }

    /// True for a machine that is fed what it answered in the step before.
    fn has_feedback(&self) -> bool {
        false
    }

    /// True for an array of which a step needs no row but its own and the one before it: an evaluation keeps the last
    /// rows only. By default it is true for the arrays of a head with a value per row.
    fn needs_only_last_step(&self, place: Place, array: Array) -> bool {
        matches!(place, Place::Head(_)) && array.dims.contains(&"n")
    }

    /// True for a machine whose arrays are copied into a trace that keeps everything, and into no other.
    fn is_recorded_apart(&self) -> bool {
        false
    }

    /// The sizes of the axes of an array behind that of the steps, where the machine says so.
    fn array_sizes(&self, _array: Array) -> Option<Vec<usize>> {
        None
    }

    /// The array of a machine file that says which source steps an answer attends to.
    fn reader(&self) -> Option<Array> {
        None
    }

    /// The title of a machine file, and the line of its answer.
    fn file_words(&self) -> FileWords {
        FileWords::default()
    }

    /// True for a machine without heads that has noise or draws.
    fn draws(&self) -> bool {
        false
    }

    /// True for a machine file that asks the trainer for the reward of an episode.
    fn is_rewarded(&self) -> bool {
        false
    }

    /// True for a machine file that asks the trainer for a factor that rises from 0 to 1.
    fn warms_up(&self) -> bool {
        false
    }

    /// Bytes that an episode takes outside its arrays, forwards and backwards, with values of `of_value` bytes.
    fn bytes_outside_trace(&self, _steps: usize, _of_value: usize) -> [u64; 2] {
        [0; 2]
    }

    /// The same machine, but a recording of `steps` steps shows only `rows` memory rows. Without `rows` it shows the largest
    /// number that an episode of this length can touch. `None` for a machine of which a recording shows all rows.
    fn showing(&self, _steps: usize, _rows: Option<usize>) -> Option<Box<dyn Kind>> {
        None
    }

    /// True for a step in which an array in files is 0, of an episode with this number of source steps.
    fn is_undefined_step(&self, _place: Place, _array: Array, _t: usize, _source: usize) -> bool {
        false
    }

    /// Returns the mechanism of a head.
    fn mechanism(&self, _head: usize) -> Mechanism {
        Mechanism::default()
    }

    /// Returns the form in which scores become a weighting in a head.
    fn weighting(&self, head: usize) -> Weighting {
        self.mechanism(head).weighting
    }

    /// Sets the number of memory rows.
    ///
    /// # Errors
    /// There is no memory, its rows are fixed, or these are out of range.
    fn set_rows(&mut self, rows: usize) -> Result<(), ConfigError> {
        Err(ConfigError {
            field: "memory.rows".to_owned(),
            found: rows.to_string(),
            allowed: match self.sizes().rows {
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

    /// Checks sizes that go together, each within its range.
    ///
    /// # Errors
    /// The field, its value and what is allowed.
    fn check_together(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Checks every range; numbers in the f32 that the machine runs in.
    ///
    /// # Errors
    /// The field, its value and what is allowed.
    fn validate(&self) -> Result<(), ConfigError>
    where
        Self: Clone + Sized,
    {
        let sizes = self.sizes();
        for (name, channels) in [("inputs", sizes.inputs), ("outputs", sizes.outputs)] {
            let is_right = (1..=4096).contains(&channels);
            ConfigError::unless(is_right, name, channels, || "1 to 4096".into())?;
        }
        check(&mut self.clone())?;
        self.check_together()
    }
}

impl dyn Kind + '_ {
    /// [`Sizes::inputs`].
    pub fn inputs(&self) -> usize {
        self.sizes().inputs
    }

    /// [`Sizes::outputs`].
    pub fn outputs(&self) -> usize {
        self.sizes().outputs
    }

    /// [`Sizes::read_heads`].
    pub fn read_heads(&self) -> usize {
        self.sizes().read_heads
    }

    /// [`Sizes::write_heads`].
    pub fn write_heads(&self) -> usize {
        self.sizes().write_heads
    }

    /// [`Sizes::rows`].
    pub fn rows(&self) -> usize {
        self.sizes().rows
    }

    /// Memory rows in an episode with this many steps, `source` of them before the answer.
    pub fn rows_of(&self, [steps, source]: [usize; 2]) -> usize {
        let kind = self.of_episode(steps, source);
        kind.map_or(self.rows(), |kind| kind.rows())
    }

    /// [`Sizes::columns`].
    pub fn columns(&self) -> usize {
        self.sizes().columns
    }

    /// Read and write heads together.
    pub fn heads(&self) -> usize {
        self.read_heads().saturating_add(self.write_heads())
    }

    /// True for a machine file whose quantities are those of no head and of no layer.
    pub fn lacks_parts(&self) -> bool {
        self.is_recorded_apart() && self.heads() == 0 && self.sizes().layers == 0
    }

    /// The size of an axis, 1 for that of time.
    pub(super) fn size(&self, axis: &str) -> usize {
        Axis::named(axis).map_or(1, |axis| (axis.length)(&self.sizes()))
    }

    /// True where the memory has a row for each step, or for each source step, of an episode.
    pub fn has_row_per_step(&self) -> bool {
        self.of_rows(1).is_some()
    }

    /// True for a machine that answers after its source.
    pub fn has_source(&self) -> bool {
        self.first_step() > 0
    }

    /// True where the memory has a row for each source step, and no other.
    pub fn has_source_rows(&self) -> bool {
        self.has_source() && self.rows_of([2, 1]) < 2
    }

    /// True for a machine that reads the whole input before it answers.
    pub fn reads_ahead(&self) -> bool {
        let sees_all = self.heads() > 0 && self.mechanism(0).sees == Some(Sees::Sequence);
        self.has_source() || sees_all
    }

    /// Holds episodes with at most this many steps, and source steps, to the rows that the machine knows.
    ///
    /// # Errors
    /// They are longer.
    pub fn fits_episode(&self, [steps, source]: [usize; 2]) -> Result<(), ConfigError> {
        let (most, key) = self.most_rows();
        let rows = self.episode_rows(steps, source);
        ConfigError::unless(rows <= most, key, most, || {
            let of = if self.has_source() {
                "a source"
            } else {
                "an episode"
            };
            format!("{rows} or more, because {of} may have as many steps")
        })
    }

    /// Returns true if any possible head has such a weighting; called before the number of heads is checked.
    fn any_head(&self, is_so: impl Fn(Weighting) -> bool) -> bool {
        let mut heads = 0..self.heads().min(2 * MAX_HEADS);
        heads.any(|head| is_so(self.weighting(head)))
    }

    /// Returns true if any head samples: its row, or its weights.
    pub fn is_random(&self) -> bool {
        self.draws() || self.any_head(Weighting::is_random)
    }

    /// Returns true if any head samples its row.
    pub fn is_hard(&self) -> bool {
        self.is_rewarded() || self.any_head(|weighting| weighting == Weighting::Hard)
    }

    /// Returns true if any head has random weights with a prior.
    pub fn is_bayesian(&self) -> bool {
        self.any_head(Weighting::is_bayesian)
    }

    /// The learned tensors of the mechanism of a head, in the order of its arrays.
    pub(super) fn learned(&self, head: usize) -> impl Iterator<Item = TensorSpec> {
        let name = self.head_name(head);
        let arrays = self.head_arrays(head).into_iter().flatten();
        arrays.filter_map(move |array| {
            let start = array.start()?;
            let (rows, columns) = match array.dims {
                [rows, columns] => (self.size(rows), self.size(columns)),
                _ => (1, self.values(array)),
            };
            // A bias that is off has none.
            (rows > 0 && columns > 0).then(|| TensorSpec {
                name: format!("{name}.{}", array.name).into(),
                rows,
                columns,
                start,
            })
        })
    }

    /// Values per step of an array in files, by its axes; the most that there can be for more than that.
    pub(super) fn values(&self, array: Array) -> usize {
        let sizes = array.dims.iter().map(|axis| self.size(axis));
        sizes.fold(1, usize::saturating_mul)
    }

    /// The name of an array in files.
    pub fn array_name(&self, place: Place, array: Array) -> String {
        array_name(self.read_heads(), place, array)
    }

    /// The name of a head: [`head_name`].
    pub fn head_name(&self, head: usize) -> String {
        head_name(self.read_heads(), head)
    }
}

impl AsKind for Box<dyn Kind> {
    fn kind(&self) -> &(dyn Kind + 'static) {
        &**self
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
