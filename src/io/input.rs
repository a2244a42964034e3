//! Reading files with limits on size and memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::label;
use super::{Error, memory_files, memory_limit};

/// The number of bytes of a file that are checked before the rest is read.
const START: u64 = 4096;
/// The number of bytes that show whether a file is a trace.
const ENOUGH: usize = 1 << 20;
/// The first buffer size for a pipe, in bytes.
const PIPE: u64 = 16 << 20;

/// Reads the whole file, of at most `limit` bytes. `begins` checks the first of them; a refused file is read no
/// further.
pub(in crate::io) fn read(
    path: &Path,
    limit: u64,
    begins: impl FnOnce(&[u8]) -> Result<(), String>,
) -> Result<Vec<u8>, Error> {
    #[cfg(test)]
    super::faults::note_read(path);
    let label = label(path);
    let unreadable = Error::unreadable(path);
    let refused = |problem: String| Error::content(&label, "", problem);
    let most = match limit >> 20 {
        0 => format!("{} kB", limit >> 10),
        most => format!("{most} MB"),
    };
    let too_large = || Err(refused(format!("is larger than the limit of {most}")));
    if let Some(bytes) = memory_files::get(path) {
        check_start(&bytes, begins).map_err(refused)?;
        return if bytes.len() as u64 > limit {
            too_large()
        } else {
            Ok(bytes)
        };
    }
    let there = std::fs::metadata(path).map_err(&unreadable)?;
    // To open a named pipe can wait for ever. A pipe of the shell has no name, or one in /dev.
    let has_name = || {
        path.canonicalize()
            .is_ok_and(|name| !name.starts_with("/dev"))
    };
    if !there.is_file() && !there.is_dir() && has_name() {
        let problem =
            "is a named pipe or a socket; expected a file, or a pipe of the shell, <(command)";
        return Err(refused(problem.to_owned()));
    }
    let mut file = File::open(path).map_err(&unreadable)?;
    if there.len() > limit {
        return too_large();
    }
    let mut bytes = Vec::new();
    let start = file.by_ref().take(START.min(limit + 1));
    read_up_to(start, START, START, &mut bytes).map_err(&unreadable)?;
    check_start(&bytes, begins).map_err(refused)?;
    let expected = if there.is_file() { there.len() } else { PIPE };
    read_up_to(file, expected, limit, &mut bytes).map_err(&unreadable)?;
    if bytes.len() as u64 > limit {
        return too_large();
    }
    Ok(bytes)
}

/// Returns the first [`ENOUGH`] bytes of a file; none of one that cannot be read, or of a device or a pipe.
pub(in crate::io) fn start(path: &Path) -> Vec<u8> {
    if let Some(mut bytes) = memory_files::get(path) {
        bytes.truncate(ENOUGH);
        return bytes;
    }
    let mut bytes = Vec::new();
    let file = Some(path).filter(|path| path.is_file()).map(File::open);
    if let Some(Ok(file)) = file {
        let _ = file.take(ENOUGH as u64).read_to_end(&mut bytes);
    }
    bytes
}

/// Refuses a file whose first bytes show an unsupported format.
fn check_start(
    bytes: &[u8],
    begins: impl FnOnce(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    if bytes.is_empty() {
        return Err("is empty".to_owned());
    }
    if is_pickle(bytes) {
        let problem = "is a pickle of Python or PyTorch; expected safetensors or a trace: load it with torch.load and \
                       write its tensors with tapescope.write_weights (see python/examples/from_torch.py)";
        return Err(problem.to_owned());
    }
    begins(bytes)
}

/// True for a file written by `pickle` or `torch.save`, whatever its name.
///
/// A pickle begins with 0x80 and the number of its protocol. So may the length of the header of a safetensors
/// file, whose upper half is 0 and behind which a brace stands. The first member of a zip by PyTorch is
/// `NAME/data.pkl`.
pub(in crate::io) fn is_pickle(bytes: &[u8]) -> bool {
    match bytes {
        [0x80, 2..=5, ..] => bytes.get(4..9) != Some(b"\0\0\0\0{"),
        [b'P', b'K', 3, 4, ..] => {
            let length = bytes.get(26..28).map_or(0, |length| {
                usize::from(u16::from_le_bytes([length[0], length[1]]))
            });
            let name = bytes.get(30..30 + length);
            name.is_some_and(|name| name.ends_with(b"data.pkl"))
        }
        _ => false,
    }
}

/// The whole file as text.
pub(in crate::io) fn read_text(path: &Path, limit: u64) -> Result<String, Error> {
    text(read(path, limit, |_| Ok(()))?)
        .map_err(|problem| Error::content(&label(path), "", problem))
}

/// These bytes as text, without its byte order mark.
pub(in crate::io) fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("is UTF-16 text; save the file as UTF-8".to_owned());
    }
    let mut text = String::from_utf8(bytes).map_err(|error| format!("is not text: {error}"))?;
    text.drain(..text.len() - without_mark(&text).len());
    Ok(text)
}

/// A text without the byte order mark that editors of Windows put in front of it.
pub(in crate::io) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The first bytes of a text, without a byte order mark and white space.
pub(in crate::io) fn text_start(bytes: &[u8]) -> &[u8] {
    let mark = "\u{feff}".as_bytes();
    bytes.strip_prefix(mark).unwrap_or(bytes).trim_ascii_start()
}

/// Reads on to the end, or to one byte more than `limit` in all. Room is made for as many bytes as are
/// `expected`, and then for twice as many, again and again, as long as there is memory.
pub(in crate::io) fn read_up_to(
    mut from: impl Read,
    expected: u64,
    limit: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<()> {
    let mut most = expected.clamp(bytes.len() as u64 + 1, limit.max(1));
    loop {
        // One more shows that there is more.
        let more = (most + 1).saturating_sub(bytes.len() as u64);
        let short = |short| io::Error::new(io::ErrorKind::OutOfMemory, short);
        memory_limit::claim(more, 0).map_err(short)?;
        bytes.try_reserve_exact(usize::try_from(more).unwrap_or(usize::MAX))?;
        from.by_ref().take(more).read_to_end(bytes)?;
        if bytes.len() as u64 <= most || most >= limit {
            return Ok(());
        }
        most = most.saturating_mul(2).min(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_ends_one_byte_after_the_limit() {
        let read = |there: usize, expected, limit| {
            let mut bytes = vec![7; 10];
            let from = io::repeat(1).take(there as u64);
            read_up_to(from, expected, limit, &mut bytes).unwrap();
            bytes.len()
        };
        for (there, expected, limit, all) in [
            (90, 100, 1000, 100),
            (90, 5, 1000, 100),
            (90, 1000, 100, 100),
            (91, 40, 100, 101),
            (5000, 40, 100, 101),
            (0, 10, 100, 10),
        ] {
            assert_eq!(read(there, expected, limit), all, "{there}, {expected}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn wrong_kinds_of_files_are_not_read_to_the_end() {
        let endless = Path::new("/dev/zero");
        let error = read(endless, 1 << 20, |_| Ok(())).unwrap_err().to_string();
        assert_eq!(error, "/dev/zero: is larger than the limit of 1 MB");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("large");
        File::create(&file).unwrap().set_len(1 << 40).unwrap();
        let error = read(&file, 1 << 30, |_| Ok(())).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("large: is larger than the limit of 1024 MB")
        );
        let seen = |start: &[u8]| Err(format!("begins with {} zeros", start.len()));
        let error = read(&file, 1 << 41, seen).unwrap_err();
        assert!(error.to_string().ends_with("large: begins with 4096 zeros"));
    }

    #[test]
    fn pickle_is_recognised_by_its_first_bytes() {
        let zip = |name: &str| {
            let mut bytes = [b"PK\x03\x04".as_slice(), &[0; 26], name.as_bytes()].concat();
            bytes[26] = name.len() as u8;
            bytes
        };
        let safetensors = [&640_u64.to_le_bytes(), b"{\"a\"".as_slice()].concat();
        for (bytes, expected) in [
            (b"\x80\x02\x8a\x0a\x6c\xfc\x9cF\xf9 j".to_vec(), true),
            (b"\x80\x04\x95".to_vec(), true),
            (zip("archive/data.pkl"), true),
            (zip("meta.json"), false),
            (b"PK\x03\x04".to_vec(), false),
            (safetensors, false),
            (b"{}".to_vec(), false),
        ] {
            assert_eq!(is_pickle(&bytes), expected, "{bytes:?}");
        }
    }
}
