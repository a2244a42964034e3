//! The header of an array in an npz, as NumPy writes it.

use std::io::Read;

use super::error::short;
use super::input::read_up_to;

/// The start of an array file in version 1.0 of the format.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
/// The largest header that is read, in bytes.
const HEADER_LIMIT: u64 = 1 << 16;

/// The header in front of the values of an array.
pub(super) struct Header {
    pub(super) shape: Vec<usize>,
    /// The type of its values, as in NumPy: `<f4`.
    pub(super) kind: String,
    /// True where the first index changes fastest from value to value.
    is_column_major: bool,
}

/// Reads the header of an array: `{'descr': '<f4', 'fortran_order': False, 'shape': (7, 3), }`. `allowed` are the kinds
/// that are expected, in words.
pub(super) fn header(file: &mut impl Read, allowed: &str) -> Result<Header, String> {
    let broken = || {
        format!(
            "is not an npy file; expected one of {}",
            allowed.replace(" and ", " or ")
        )
    };
    let mut start = [0; 8];
    file.read_exact(&mut start).map_err(|_| broken())?;
    if !start.starts_with(&MAGIC[..6]) {
        return Err(broken());
    }
    let mut length = [0; 4];
    let bytes = if start[6] == 1 { 2 } else { 4 };
    file.read_exact(&mut length[..bytes])
        .map_err(|_| broken())?;
    let length = u64::from(u32::from_le_bytes(length)).min(HEADER_LIMIT);
    let mut text = Vec::new();
    let read = file.take(length).read_to_end(&mut text);
    read.map_err(|_| broken())?;
    let text = String::from_utf8_lossy(&text);
    let value = |key: &str| {
        let behind = text.split_once(&format!("'{key}':"));
        behind.map(|(_, value)| value.trim_start())
    };
    let kind = value("descr").and_then(|value| value.split('\'').nth(1));
    let kind = kind.unwrap_or("unknown").to_owned();
    let unreadable = |key| {
        format!("has a header without a readable `{key}`; write the array again, with numpy.savez")
    };
    let order = value("fortran_order").unwrap_or_default();
    let is_column_major = order.starts_with("True");
    if !is_column_major && !order.starts_with("False") {
        return Err(unreadable("fortran_order"));
    }
    let sizes = value("shape").and_then(|value| value.strip_prefix('(')?.split_once(')'));
    let (all, _) = sizes.ok_or_else(|| unreadable("shape"))?;
    let sizes = all.split(',').map(str::trim);
    let sizes = sizes.filter(|size| !size.is_empty());
    let wrong = |size: &str| {
        let (size, most) = (short(size), usize::MAX);
        format!("has the size {size} in its shape; expected whole numbers, 0 to {most}")
    };
    let shape = sizes.map(|size| size.parse().map_err(|_| wrong(size)));
    let shape = shape.collect::<Result<_, _>>()?;
    Ok(Header {
        shape,
        kind,
        is_column_major,
    })
}

/// Reads the values that follow a header, row-major. Its shape gives their number, `width` is the size of one, and `limit`
/// bounds their sum, in bytes.
pub(super) fn values(
    file: impl Read,
    header: &Header,
    width: usize,
    limit: u64,
) -> Result<Vec<u8>, String> {
    let shape = &header.shape;
    let sizes = shape.iter().map(|&size| size as u64);
    let length = sizes.fold(width as u64, u64::saturating_mul);
    if length > limit {
        let most = limit >> 20;
        return Err(format!(
            "has the shape {shape:?}: more than the limit of {most} MB"
        ));
    }
    // Grows with what is there, whatever the header says.
    let mut bytes = Vec::new();
    let read = read_up_to(file, 1 << 16, length, &mut bytes);
    read.map_err(|error| format!("{error}; expected a complete array"))?;
    let found = bytes.len() as u64;
    if found != length {
        return Err(format!(
            "has {found} bytes of values; expected {length} for the shape {shape:?}"
        ));
    }
    if header.is_column_major {
        bytes = row_major(&bytes, shape, width);
    }
    Ok(bytes)
}

/// Column-major values of this size in the order of rows.
fn row_major(bytes: &[u8], shape: &[usize], width: usize) -> Vec<u8> {
    let mut ordered = Vec::with_capacity(bytes.len());
    for index in 0..bytes.len() / width.max(1) {
        let (mut rest, mut place, mut stride) = (index, 0, bytes.len() / width);
        for size in shape.iter().rev() {
            stride /= size;
            place += rest % size * stride;
            rest /= size;
        }
        ordered.extend_from_slice(&bytes[place * width..(place + 1) * width]);
    }
    ordered
}

/// The value of a number in half precision.
fn half(bits: u16) -> f64 {
    let [sign, exponent, fraction] = [bits >> 15, (bits >> 10) & 31, bits & 1023];
    let fraction = f64::from(fraction);
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(i32::from(exponent) - 25),
    };
    if sign == 1 { -size } else { size }
}

/// Returns the error for an array with unsupported values.
pub(super) fn other_kind(kind: &str, allowed: &str) -> String {
    let found: String = kind.chars().take(20).collect();
    format!("has values of type `{found}`; allowed: {allowed}")
}

/// The bytes of a number, and how they are read.
type Number = (usize, fn(&[u8]) -> f64);

/// Returns how numbers of some kind are read; `None` for other kinds.
pub(super) fn number(kind: &str) -> Option<Number> {
    Some(match kind {
        "<f2" => (2, |value| half(u16::from_le_bytes(le(value)))),
        "<f4" => (4, |value| f32::from_le_bytes(le(value)).into()),
        "<f8" => (8, |value| f64::from_le_bytes(le(value))),
        "|i1" => (1, |value| i8::from_le_bytes(le(value)).into()),
        "<u2" => (2, |value| u16::from_le_bytes(le(value)).into()),
        "<i2" => (2, |value| i16::from_le_bytes(le(value)).into()),
        "<u4" => (4, |value| u32::from_le_bytes(le(value)).into()),
        "<i4" => (4, |value| i32::from_le_bytes(le(value)).into()),
        "<u8" => (8, |value| u64::from_le_bytes(le(value)) as f64),
        "<i8" => (8, |value| i64::from_le_bytes(le(value)) as f64),
        "|b1" | "|u1" => (1, |value| u8::from_le_bytes(le(value)).into()),
        _ => return None,
    })
}

/// Returns `N` bytes, padded with zeros.
pub(super) fn le<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_has_the_values_of_the_standard() {
        let all = [
            0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x8000, 0x7c00, 0x3555,
        ]
        .map(half);
        let tenth = 1365.0 / 4096.0;
        let smallest = 2_f64.powi(-24);
        let expected = [
            1.0,
            -2.0,
            65504.0,
            2_f64.powi(-14),
            smallest,
            0.0,
            f64::INFINITY,
            tenth,
        ];
        assert_eq!(all, expected);
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn columns_become_rows() {
        // [[[0, 1, 2], [3, 4, 5]], [[6, …, 11]]] with the first index first.
        let columns = [0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11];
        assert_eq!(
            row_major(&columns, &[2, 2, 3], 1),
            (0..12).collect::<Vec<u8>>()
        );
        assert_eq!(row_major(&[], &[0, 3], 4), Vec::<u8>::new());
    }
}
