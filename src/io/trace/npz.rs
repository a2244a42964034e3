//! The container of `*.npz`: a zip archive of `meta.json` and one `.npy` file for each array.
//!
//! Written by hand where ndarray-npy would do, because that crate makes room for whatever shape a header
//! claims; here a file cannot make the program take more memory than the file has values.

use std::io::{self, Cursor, Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipArchive, ZipWriter};

use super::source::{ArraySource, Fault, Inline, ProgressReader, ReadProgress, check_shape};
use super::table::Described;
use crate::io::npy::{self, MAGIC, header};

/// The header of an array ends where the file has this many bytes, or a multiple.
const ALIGNMENT: usize = 64;
/// The kinds of values that traces have.
const ALLOWED: &str = "<f2, <f4 and <f8";
/// The largest description of a trace that is read, in bytes: no array is in it.
const META_LIMIT: u64 = 64 << 20;
/// Everything but the arrays.
pub(super) const META: &str = "meta.json";

/// Options of every member: no date and the same system everywhere, so that the same trace gives the same bytes.
pub(super) fn options(bytes: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .system(System::Unix)
        .large_file(bytes >= u64::from(u32::MAX))
}

/// Begins a member for an array of f32; its values follow, little-endian.
pub(super) fn start_array<W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    array: &Described,
) -> io::Result<()> {
    let Described { name, shape, .. } = array;
    let bytes = (array.values() as u64).saturating_mul(4);
    archive.start_file(format!("{name}.npy"), options(bytes))?;
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let shape = sizes.join(", ") + comma;
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}");
    let length = (MAGIC.len() + 2 + header.len() + 1).next_multiple_of(ALIGNMENT);
    let length = length - MAGIC.len() - 2;
    let header = format!("{header:<0$}\n", length - 1);
    archive.write_all(MAGIC)?;
    archive.write_all(&(length as u16).to_le_bytes())?;
    archive.write_all(header.as_bytes())
}

/// The members of a file that was read.
pub(super) struct Members<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// The number of bytes that may still be unpacked.
    left: u64,
    /// The unpacked bytes, their total, and the receiver of progress.
    read: usize,
    all: usize,
    watch: ReadProgress<'a>,
    /// Dims, dtype and shape of the arrays, where `meta.json` has them.
    pub(super) said: Inline<'a>,
}

impl<'a> Members<'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        limit: u64,
        watch: ReadProgress<'a>,
    ) -> Result<Self, String> {
        let archive = ZipArchive::new(Cursor::new(bytes));
        let mut archive = archive.map_err(|error| {
            format!("is not a complete npz file: the list of arrays at its end is missing or damaged ({error}); copy or record it again")
        })?;
        // The archive shows only the last of two members with one name.
        if archive.has_duplicate_names() {
            return Err("has members of the same name; expected every name once".to_owned());
        }
        let members = 0..archive.len();
        let sizes = members.filter_map(|index| Some(archive.by_index_raw(index).ok()?.size()));
        let all = sizes.fold(0, u64::saturating_add);
        Ok(Self {
            archive,
            left: limit,
            read: 0,
            all: usize::try_from(all).unwrap_or(usize::MAX),
            watch,
            said: Inline::default(),
        })
    }

    /// The member `meta.json`.
    pub(super) fn meta(&mut self) -> Result<String, String> {
        let file = self.archive.by_name(META);
        let file = file.map_err(|error| {
            format!("{error}; expected a member with the description of a trace; attention alone is read from numpy.save, .npy")
        })?;
        let mut text = String::new();
        let read = file.take(META_LIMIT + 1).read_to_string(&mut text);
        read.map_err(|error| format!("{error}; expected a complete member, as JSON"))?;
        if text.len() as u64 > META_LIMIT {
            let most = META_LIMIT >> 20;
            return Err(format!("unpacks to more than the limit of {most} MB"));
        }
        self.left = self.left.saturating_sub(text.len() as u64);
        Ok(text)
    }
}

impl ArraySource for Members<'_> {
    fn has(&self, array: &str) -> bool {
        let name = format!("{array}.npy");
        self.archive.index_for_name(&name).is_some()
    }

    fn names(&self) -> Vec<String> {
        let members = self.archive.file_names().filter_map(Result::ok);
        let arrays = members.filter_map(|name| Some(name.strip_suffix(".npy")?.to_owned()));
        arrays.collect()
    }

    fn shape(&mut self, array: &str) -> Option<Vec<usize>> {
        let mut file = self.archive.by_name(&format!("{array}.npy")).ok()?;
        Some(header(&mut file, ALLOWED).ok()?.shape)
    }

    /// f64 is rounded to f32.
    fn values(&mut self, expected: &Described) -> Result<Vec<f32>, Fault> {
        let array = &expected.name;
        self.said.said(expected)?;
        let mut file = self.archive.by_name(&format!("{array}.npy"));
        let file = file.as_mut().map_err(|error| error.to_string())?;
        let header = header(file, ALLOWED)?;
        let kind = &header.kind;
        let number = npy::number(kind).filter(|_| kind.starts_with("<f"));
        let (width, number) = number.ok_or_else(|| npy::other_kind(kind, ALLOWED))?;
        check_shape(&header.shape, &expected.shape)?;
        let mut reader = ProgressReader {
            from: file,
            read: self.read,
            all: self.all,
            watch: self.watch,
        };
        let data = npy::values(&mut reader, &header, width, self.left)?;
        self.read = reader.read;
        self.left -= data.len() as u64;
        let values = data.chunks_exact(width).map(|value| number(value) as f32);
        // A missing value is one certain NaN; every other NaN becomes another one.
        let values = values.map(|value| if value.is_nan() { f32::NAN } else { value });
        Ok(values.collect())
    }
}
