//! Unpacking gzipped JSON, of which 2 MB can unpack to 2 GB: up to a limit, and as long as there is memory.

use std::io;

use flate2::read::MultiGzDecoder;

use super::source::{ProgressReader, ReadProgress};
use crate::io::Error;
use crate::io::input::read_up_to;

/// Unpacks gzip data of at most `limit` bytes.
pub(super) fn unpacked(
    bytes: &[u8],
    limit: u64,
    label: &str,
    watch: ReadProgress<'_>,
) -> Result<Vec<u8>, Error> {
    let fail = |problem: String| Error::content(label, "", problem);
    let from = MultiGzDecoder::new(ProgressReader {
        from: bytes,
        read: 0,
        all: bytes.len(),
        watch,
    });
    let mut whole = Vec::new();
    let expected = 8 * bytes.len() as u64;
    read_up_to(from, expected, limit, &mut whole).map_err(|error| match error.kind() {
        io::ErrorKind::OutOfMemory => fail(format!("unpacking it {error}")),
        _ => fail(format!("is not a complete gzip file: {error}")),
    })?;
    if whole.len() as u64 > limit {
        let most = limit >> 20;
        return Err(fail(format!("unpacks to more than the limit of {most} MB")));
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Spaces, packed.
    fn bomb(bytes: u64) -> Vec<u8> {
        let mut to = GzEncoder::new(Vec::new(), Compression::default());
        io::copy(&mut io::repeat(b' ').take(bytes), &mut to).unwrap();
        to.finish().unwrap()
    }

    const GO_ON: ReadProgress<'_> = &|_, _| std::ops::ControlFlow::Continue(());

    #[test]
    fn a_bomb_is_unpacked_up_to_the_limit() {
        let bomb = bomb(3 << 20);
        assert!(bomb.len() < 10_000);
        assert_eq!(unpacked(&bomb, 3 << 20, "t", GO_ON).unwrap().len(), 3 << 20);
        let refused = unpacked(&bomb, (3 << 20) - 1, "t", GO_ON).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "t: unpacks to more than the limit of 2 MB"
        );
    }
}
