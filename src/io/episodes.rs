//! Episodes of your own task: an npz with `inputs`, `targets`, `mask` and `lengths`.
//!
//! In the *ragged* form all episodes stand one behind the other, in the *padded* one each has a row of its own:
//!
//! | array | ragged | padded | |
//! |---|---|---|---|
//! | `inputs` | [S, X] | [E, T, X] | finite numbers |
//! | `targets` | [S, Y] | [E, T, Y] | 0 or 1 where the mask is 1; elsewhere not looked at |
//! | `mask` | [S] | [E, T] | 1 in the steps whose answer is scored, else 0 |
//! | `lengths` | [E], their sum is S | [E], each at most T; may be left out: all T | steps of every episode |
//! | `input_names`, `target_names` | [X], [Y] | [X], [Y] | what the channels are called; may be left out |
//!
//! Values are numbers of any usual kind (f4, f8, whole ones, booleans), names are Unicode text. What stands behind an
//! episode's length in the padded form is not looked at. Other arrays are left alone.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::{ArrayD, Axis, ShapeError, Slice, concatenate};
use sha2::{Digest, Sha256};
use zip::ZipArchive;
use zip::read::ZipFile;

use super::preset::form::{complete_model, valid};
use super::{Error, Experiment, file, npy, pairs, text, weights};
use crate::task::{Fault, Pair, Recorded, Task};

/// The largest file, and the most bytes that are unpacked of an array.
const LIMIT: u64 = 2 << 30;
/// The kinds of values that are read.
const NUMBERS: &str = "<f2, <f4, <f8, |b1, |u1, |i1, <u2, <i2, <u4, <i4, <u8 and <i8; convert it with numpy's astype('float32')";

/// Reads a file of episodes.
///
/// # Errors
/// The file, the array, the episode, the step, and what was expected there.
pub fn read(path: &Path) -> Result<Recorded, Error> {
    from_bytes(&file::read(path, LIMIT, |_| Ok(()))?, &file::label(path))
}

/// [`read`] from memory; `label` stands for the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_bytes(bytes: &[u8], label: &str) -> Result<Recorded, Error> {
    let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
        let problem = format!("is not a complete npz file ({error}); write it with numpy.savez or tapescope.write_episodes");
        Error::content(label, "", problem)
    })?;
    let recorded = Arrays { archive }.recorded();
    recorded.map_err(|fault| Error::content(label, fault.array, fault.problem))
}

/// SHA-256, in hexadecimal, over lengths (as u64) and the values of inputs, targets and mask (f32), all
/// little-endian: equal episodes have equal hashes, in whatever form their files are.
pub fn sha256(recorded: &Recorded) -> String {
    let (inputs, targets, mask) = recorded.arrays();
    let mut hasher = Sha256::new();
    for length in recorded.lengths() {
        hasher.update((length as u64).to_le_bytes());
    }
    for value in inputs.iter().chain(targets).chain(mask) {
        hasher.update(value.to_le_bytes());
    }
    weights::hexadecimal(hasher)
}

/// The contents of the file of a task.
enum Contents {
    Episodes(Arc<Recorded>),
    Pairs(Arc<Vec<Pair>>),
    Text(Arc<Vec<String>>),
}

impl Contents {
    /// Reads a file of a task, with its SHA-256.
    fn of(task: &Task, path: &Path) -> Result<(Self, String), Error> {
        Ok(match task {
            Task::Pairs(task) => {
                let (pairs, sha256) = pairs::read(path, task.form())?;
                (Self::Pairs(Arc::new(pairs)), sha256)
            }
            Task::Text(task) => {
                let (lines, sha256) = text::read(path, task.tokens)?;
                (Self::Text(Arc::new(lines)), sha256)
            }
            _ => {
                let recorded = read(path)?;
                let sha256 = sha256(&recorded);
                (Self::Episodes(Arc::new(recorded)), sha256)
            }
        })
    }

    /// The number of episodes.
    fn count(&self) -> usize {
        match self {
            Self::Episodes(recorded) => recorded.count(),
            Self::Pairs(pairs) => pairs.len(),
            Self::Text(lines) => lines.len(),
        }
    }

    /// The contents with others of the same kind behind them.
    fn followed_by(self, others: Self) -> Result<Self, Fault> {
        fn joined<T: Clone>(own: &[T], others: &[T]) -> Arc<Vec<T>> {
            Arc::new([own, others].concat())
        }
        Ok(match (self, others) {
            (Self::Episodes(own), Self::Episodes(others)) => {
                Self::Episodes(Arc::new(own.followed_by(&others)?))
            }
            (Self::Pairs(own), Self::Pairs(others)) => {
                let is_aligned = |all: &[Pair]| all.iter().all(Pair::is_aligned);
                if is_aligned(&own) != is_aligned(&others) {
                    let problem = "has alignments, or `file` has; expected both with them, or none";
                    return Err(Fault::new("test_file", problem));
                }
                Self::Pairs(joined(&own, &others))
            }
            (Self::Text(own), Self::Text(others)) => Self::Text(joined(&own, &others)),
            (own, _) => own,
        })
    }
}

impl Experiment {
    /// The experiment with the episodes of its task, where that keeps them in a file: as it is named, from the folder
    /// of `by`, or else under the same name in that folder. `by` is the file that names it. No other task changes.
    ///
    /// # Errors
    /// The file is nowhere, cannot be read, or holds other episodes than those the experiment is about; or the
    /// experiment does not fit them.
    pub fn with_episodes(mut self, by: &Path) -> Result<Self, Error> {
        let label = file::label(by);
        let Some([named, _]) = self.task.file() else {
            return Ok(self);
        };
        let path = found(named, by, "task.file")?;
        let (mut contents, mut there) = Contents::of(&self.task, &path)?;
        let test_path = match self.task.test_file() {
            "" => None,
            named => Some(found(named, by, "task.test_file")?),
        };
        if let Some(path) = &test_path {
            let (held_out, sha256) = Contents::of(&self.task, path)?;
            self.task.hold_out_last(held_out.count());
            contents = contents
                .followed_by(held_out)
                .map_err(|fault| of_task(&label, &fault))?;
            there = weights::hexadecimal(Sha256::new().chain_update(there + &sha256));
        }
        if let Some([named, sha256]) = self.task.file_mut() {
            if !sha256.is_empty() && *sha256 != there {
                let files = [&path].into_iter().chain(&test_path);
                let files: Vec<_> = files.map(|path| file::label(path)).collect();
                let problem = format!(
                    "is {sha256}, but the episodes in {} have {there}; restore the original file, or remove this key to use the other episodes",
                    files.join(" and ")
                );
                return Err(Error::content(&label, "task.sha256", problem));
            }
            *sha256 = there;
            make_absolute(named, path);
        }
        if let (Some(named), Some(path)) = (self.task.test_file_mut(), test_path) {
            make_absolute(named, path);
        }
        self.filled(contents, &label)
    }

    /// [`Experiment::with_episodes`] for your own input: a text needs only the vocabulary, so its file may be missing.
    ///
    /// # Errors
    /// As for [`Experiment::with_episodes`].
    pub fn with_episodes_if_there(self, by: &Path) -> Result<Self, Error> {
        let is_text = matches!(self.task, Task::Pairs(_) | Task::Text(_));
        let can_lack_them = is_text && self.task.has_channels();
        let named = self.task.file().map_or("", |[named, _]| named);
        let lacks = |named: &str| !named.is_empty() && found(named, by, "").is_err();
        if can_lack_them && (lacks(named) || lacks(self.task.test_file())) {
            return Ok(self);
        }
        self.with_episodes(by)
    }

    /// The experiment with the episodes that another one has, where both are about the same.
    pub(super) fn with_those_of(self, other: &Self, label: &str) -> Result<Self, Error> {
        let contents = match (&self.task, &other.task) {
            (Task::Episodes(task), Task::Episodes(other)) if task.sha256 == other.sha256 => {
                other.recorded().cloned().map(Contents::Episodes)
            }
            (Task::Pairs(task), Task::Pairs(other))
                if (&task.sha256, task.form()) == (&other.sha256, other.form()) =>
            {
                other.pairs().cloned().map(Contents::Pairs)
            }
            (Task::Text(task), Task::Text(other))
                if (&task.sha256, task.tokens) == (&other.sha256, other.tokens) =>
            {
                other.lines().cloned().map(Contents::Text)
            }
            _ => None,
        };
        match contents {
            Some(contents) => self.filled(contents, label),
            None => Ok(self),
        }
    }

    fn filled(mut self, contents: Contents, label: &str) -> Result<Self, Error> {
        let task = match (self.task, contents) {
            (Task::Episodes(task), Contents::Episodes(all)) => task.with(all).map(Task::Episodes),
            (Task::Pairs(task), Contents::Pairs(all)) => task.with(all).map(Task::Pairs),
            (Task::Text(task), Contents::Text(all)) => task.with(all).map(Task::Text),
            (task, _) => Ok(task),
        };
        self.task = task.map_err(|fault| of_task(label, &fault))?;
        self.model = complete_model(&self.model, &self.task, label)?;
        let agreement = self.training.fits_agreement(&self.task, &self.model);
        valid(agreement, "", label)?;
        for (index, &length) in self.evaluation.sizes.iter().enumerate() {
            if let Some(problem) = none_of(&self.task, length) {
                let place = format!("evaluation.lengths[{index}]");
                let problem = format!("is {length}: {problem}");
                return Err(Error::content(label, place, problem));
            }
        }
        Ok(self)
    }
}

/// Makes the name of a file of a task that of the file that was found.
fn make_absolute(named: &mut String, path: PathBuf) {
    if Path::new(named).is_relative() {
        let path = std::path::absolute(&path).unwrap_or(path);
        *named = path.to_string_lossy().into_owned();
    }
}

/// The error of a key of the task.
fn of_task(label: &str, fault: &Fault) -> Error {
    Error::content(label, format!("task.{}", fault.array), &*fault.problem)
}

/// Returns the error for a length that no held-out episode of the file has.
pub fn none_of(task: &Task, length: usize) -> Option<String> {
    let one = task.clone().with_size(length).held_out()?;
    let all = task.held_out()?;
    (one == 0).then(|| {
        let (least, most) = (*task.size().start(), *task.size().end());
        let unit = match task {
            Task::Pairs(_) => "source tokens",
            Task::Text(_) => "tokens",
            _ => "steps",
        };
        format!("none of the {all} held-out episodes with {least} to {most} {unit} has {length}")
    })
}

/// Returns the path of the episode file of a task.
fn found(named: &str, by: &Path, key: &str) -> Result<PathBuf, Error> {
    let folder = by.parent().unwrap_or(Path::new(""));
    let named = folder.join(named);
    let name = named.file_name().unwrap_or_default();
    let beside = folder.join(name);
    let mut places = [&named, &beside].into_iter();
    if let Some(there) = places.find(|path| file::exists(path)) {
        return Ok(there.clone());
    }
    let refused = [&named, &beside].map(|path| {
        let why = ["does not exist", "is no ordinary file"][usize::from(path.exists())];
        format!("{} {why}", file::label(path))
    });
    let refused = refused[usize::from(named == beside)..].join(", and ");
    let problem = format!("{refused}; put the episode file there, or change this key");
    Err(Error::content(&file::label(by), key, problem))
}

/// The kind of names.
const TEXT: &str = "<U with a number (text)";

/// A packed array.
type Member<'m, 'a> = ZipFile<'m, Cursor<&'a [u8]>>;

/// The arrays of a file.
struct Arrays<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
}

/// The shape of an array; the width of a value in bytes, and how it is read; the bytes of all values.
type Values<T> = (Vec<usize>, (usize, T), Vec<u8>);

impl<'a> Arrays<'a> {
    fn recorded(mut self) -> Result<Recorded, Fault> {
        // Before any of them is unpacked.
        let mut needed = ["inputs", "targets", "mask"].into_iter();
        needed.try_for_each(|array| self.needs(array))?;
        self.check_shapes()?;
        let mut inputs = self.numbers("inputs", |value| value as f32)?;
        let mut targets = self.numbers("targets", |value| value as f32)?;
        let mut mask = self.numbers("mask", |value| value as f32)?;
        let lengths = self.lengths(inputs.shape())?;
        let names = [self.names("input_names")?, self.names("target_names")?];
        if let [episodes, steps, _] = *inputs.shape() {
            shaped("lengths", &[lengths.len()], &[Some(episodes)])?;
            let mut all = lengths.iter().enumerate();
            if let Some((episode, length)) = all.find(|(_, length)| **length > steps) {
                let problem = format!(
                    "episode {episode} is {length}; expected at most {steps}, the steps of `inputs`"
                );
                return Err(Fault::new("lengths", problem));
            }
            inputs = cut("inputs", &inputs, &lengths)?;
            targets = cut("targets", &targets, &lengths)?;
            mask = cut("mask", &mask, &lengths)?;
        }
        let inputs = inputs.into_dimensionality().map_err(broken("inputs"))?;
        let targets = targets.into_dimensionality().map_err(broken("targets"))?;
        let recorded = Recorded::new(inputs, targets, mask.into_iter().collect(), &lengths)?;
        let [inputs, targets] = names;
        recorded.named(inputs, targets)
    }

    /// Compares the shapes in the headers of all arrays, before any of them is unpacked.
    fn check_shapes(&mut self) -> Result<(), Fault> {
        let inputs = self.header("inputs", NUMBERS, npy::number)?.0.shape;
        if ![2, 3].contains(&inputs.len()) {
            let problem = format!(
                "has the shape {inputs:?}; expected [steps, channels] with all episodes concatenated, or [episodes, steps, channels]"
            );
            return Err(Fault::new("inputs", problem));
        }
        // Without steps or channels a header of a few bytes could claim any number of episodes.
        if inputs.len() == 3 && inputs.contains(&0) {
            let problem = format!(
                "has the shape {inputs:?}; expected at least one episode, step and channel"
            );
            return Err(Fault::new("inputs", problem));
        }
        let axes = inputs[..inputs.len() - 1].iter();
        let axes: Vec<_> = axes.map(|&size| Some(size)).collect();
        let mut shape = |array| Ok(self.header(array, NUMBERS, npy::number)?.0.shape);
        let (targets, mask) = (shape("targets")?, shape("mask")?);
        shaped("targets", &targets, &[&axes[..], &[None]].concat())?;
        shaped("mask", &mask, &axes)?;
        for (array, channels) in [("inputs", inputs.last()), ("targets", targets.last())] {
            channels.map_or(Ok(()), |channels| {
                Recorded::check_channels(array, *channels)
            })?;
        }
        if self.has("lengths") {
            let lengths = self.header("lengths", NUMBERS, npy::number)?.0.shape;
            let episodes = (inputs.len() == 3).then(|| inputs[0]);
            // An episode has one step or more.
            let is_too_long = |length: &usize| episodes.is_none() && *length > inputs[0];
            if lengths.len() != 1 || lengths.iter().any(is_too_long) {
                let problem = format!("has the shape {lengths:?}; expected [episodes]");
                return Err(Fault::new("lengths", problem));
            }
            shaped("lengths", &lengths, &[episodes])?;
        }
        for array in ["input_names", "target_names"] {
            if self.has(array) {
                let shape = self.header(array, TEXT, text_width)?.0.shape;
                if shape.len() != 1 {
                    let problem = format!("has the shape {shape:?}; expected [channels]");
                    return Err(Fault::new(array, problem));
                }
            }
        }
        Ok(())
    }

    /// The steps of every episode; in the padded form all of them, where the array is missing.
    fn lengths(&mut self, inputs: &[usize]) -> Result<Vec<usize>, Fault> {
        if let [episodes, steps, _] = *inputs
            && !self.has("lengths")
        {
            return Ok(vec![steps; episodes]);
        }
        let values = self.numbers("lengths", |value| value)?;
        let whole = |(episode, value): (usize, &f64)| {
            if value.fract() == 0.0 && *value >= 0.0 {
                return Ok(*value as usize);
            }
            let problem = format!("episode {episode} is {value}; expected a whole number of steps");
            Err(Fault::new("lengths", problem))
        };
        values.iter().enumerate().map(whole).collect()
    }

    fn has(&self, array: &str) -> bool {
        let name = format!("{array}.npy");
        self.archive.index_for_name(&name).is_some()
    }

    /// Refuses a file without this array.
    fn needs(&self, array: &'static str) -> Result<(), Fault> {
        if self.has(array) {
            return Ok(());
        }
        let there = self.archive.file_names().filter_map(Result::ok);
        let there = there.map(|name| name.trim_end_matches(".npy").to_owned());
        let mut there: Vec<_> = there.collect();
        there.sort_unstable();
        let problem = format!("is missing; found: {}", there.join(", "));
        Err(Fault::new(array, problem))
    }

    /// An array that must be there, its values as `of` makes them.
    fn numbers<T>(&mut self, array: &'static str, of: fn(f64) -> T) -> Result<ArrayD<T>, Fault> {
        self.needs(array)?;
        let (shape, (width, one), bytes) = self.bytes(array, NUMBERS, npy::number)?;
        let values = bytes.chunks_exact(width).map(|value| of(one(value)));
        ArrayD::from_shape_vec(shape, values.collect()).map_err(broken(array))
    }

    /// The names of channels: Unicode text of a fixed width.
    fn names(&mut self, array: &'static str) -> Result<Vec<String>, Fault> {
        if !self.has(array) {
            return Ok(Vec::new());
        }
        let (_, (width, ()), bytes) = self.bytes(array, TEXT, text_width)?;
        let name = |text: &[u8]| -> String {
            let letters = text.chunks_exact(4).map(npy::le::<4>);
            let letters = letters.map(|letter| char::from_u32(u32::from_le_bytes(letter)));
            let letters = letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
            letters.take_while(|letter| *letter != '\0').collect()
        };
        let names = bytes.chunks(width).map(name);
        Ok(names.collect())
    }

    /// Shape, kind and bytes of an array that is there; as many bytes as the shape says. `kinds` returns the width of a
    /// value and how it is read, for the `allowed` kinds.
    fn bytes<T>(
        &mut self,
        array: &'static str,
        allowed: &str,
        kinds: impl Fn(&str) -> Option<(usize, T)>,
    ) -> Result<Values<T>, Fault> {
        let (header, kind, file) = self.header(array, allowed, kinds)?;
        let bytes = npy::values(file, &header, kind.0, LIMIT);
        let bytes = bytes.map_err(|problem| Fault::new(array, problem))?;
        Ok((header.shape, kind, bytes))
    }

    /// Header and kind of an array, and its values, still packed.
    fn header<T>(
        &mut self,
        array: &'static str,
        allowed: &str,
        kinds: impl Fn(&str) -> Option<(usize, T)>,
    ) -> Result<(npy::Header, (usize, T), Member<'_, 'a>), Fault> {
        let fail = |problem: String| Fault::new(array, problem);
        let file = self.archive.by_name(&format!("{array}.npy"));
        let mut file: Member<'_, 'a> = file.map_err(|error| fail(error.to_string()))?;
        let header = npy::header(&mut file, allowed).map_err(fail)?;
        let kind = kinds(&header.kind);
        let kind = kind.ok_or_else(|| fail(npy::other_kind(&header.kind, allowed)))?;
        Ok((header, kind, file))
    }
}

/// Bytes of a text in an array of this kind.
fn text_width(kind: &str) -> Option<(usize, ())> {
    let letters: usize = kind.strip_prefix("<U")?.parse().ok()?;
    let bytes = letters.checked_mul(4).filter(|bytes| *bytes > 0)?;
    Some((bytes, ()))
}

/// The steps of every episode up to its length, one behind the other.
fn cut(array: &'static str, of: &ArrayD<f32>, lengths: &[usize]) -> Result<ArrayD<f32>, Fault> {
    let mut episodes: Vec<_> = of.outer_iter().collect();
    for (episode, &length) in episodes.iter_mut().zip(lengths) {
        episode.slice_axis_inplace(Axis(0), Slice::from(..length));
    }
    concatenate(Axis(0), &episodes).map_err(broken(array))
}

fn broken(array: &'static str) -> impl Fn(ShapeError) -> Fault {
    move |error| Fault::new(array, error.to_string())
}

/// An array has these axes; where a size is not known any is right.
fn shaped(array: &'static str, shape: &[usize], expected: &[Option<usize>]) -> Result<(), Fault> {
    let is_right = |(size, expected): (&usize, &Option<usize>)| expected.is_none_or(|e| e == *size);
    if shape.len() == expected.len() && shape.iter().zip(expected).all(is_right) {
        return Ok(());
    }
    let expected = expected.iter();
    let expected = expected.map(|size| size.map_or("channels".to_owned(), |size| size.to_string()));
    let expected: Vec<_> = expected.collect();
    let problem = format!(
        "has the shape {shape:?}; expected [{}], as `inputs`",
        expected.join(", ")
    );
    Err(Fault::new(array, problem))
}
