//! Unpacking gzipped JSON. A file of 2 MB can unpack to 2 GB, and a trace whose weightings are almost all
//! alike is packed nearly as well: so what a trace says of its sizes, before its arrays, is the limit.

use std::borrow::Cow;
use std::{fmt, io};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::io::input::read_up_to;

/// The most inputs or outputs of a machine.
const CHANNELS: f64 = 4096.0;
/// What is unpacked of any file, in bytes: a trace says before it what it holds.
const PREFIX: u64 = 32 << 20;
/// What is unpacked of a trace that says it behind its arrays, in bytes.
const UNDECLARED: u64 = 256 << 20;
/// Text of a value, in bytes: seventeen digits, sign, point, exponent, comma, and some spaces.
const PER_VALUE: f64 = 40.0;

/// Why more than the limit is refused.
const MOST: &str = "the most that is read";

/// What was gzipped, which has at most `limit` bytes, and no more than the sizes it declares can need.
pub(super) fn unpacked(bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    let mut from = MultiGzDecoder::new(bytes);
    let mut whole = Vec::new();
    let mut read = |most: u64, whole: &mut Vec<u8>| {
        let expected = 8 * bytes.len() as u64;
        let read = read_up_to(&mut from, expected, most, whole);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => format!("unpacking it {error}"),
            _ => format!("is not a whole gzip file: {error}"),
        })
    };
    let too_large = |most: u64, why| {
        let most = most >> 20;
        Err(format!("unpacks to more than {most} MB, {why}"))
    };
    let prefix = PREFIX.min(limit);
    read(prefix, &mut whole)?;
    if (whole.len() as u64) <= prefix {
        return Ok(whole);
    }
    let (most, why) = match declared(&whole) {
        None if UNDECLARED < limit => (
            UNDECLARED,
            "the most that is read of a trace that does not begin with its task, model and axes",
        ),
        Some([least, _]) if least > limit => {
            return Err(format!(
                "is too large by the sizes that it declares: its weightings alone need more than {} MB, {MOST}",
                limit >> 20
            ));
        }
        Some([_, most]) if most < limit => (most, "more than a trace of its sizes can need"),
        _ => (limit, MOST),
    };
    if most > whole.len() as u64 {
        read(most, &mut whole)?;
    }
    if whole.len() as u64 > most {
        return too_large(most, why);
    }
    Ok(whole)
}

/// How much text a trace has at least, and at most, by what it says before its arrays, in bytes.
fn declared(start: &[u8]) -> Option<[u64; 2]> {
    // What was cut off in a character ends before it.
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).ok()?,
    };
    let mut sizes = Sizes::default();
    // The text ends too early; what stood before is there.
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(&mut sizes);
    let (steps, model) = (sizes.axes?.t.size, sizes.model?.config);
    let (n, m) = (model.memory.rows, model.memory.columns);
    let units = model.controller.size * model.controller.layers;
    // Of a head: five weightings, key, erase and add or what was read, the shift, and four numbers.
    let head = 5.0 * n + 3.0 * m + model.shifts.len() as f64 + 4.0;
    let step = 3.0 * CHANNELS + 2.0 * units + model.heads.len() as f64 * head + n * m;
    // What later versions record may be as much again.
    let most = 2.0 * (steps + 2.0) * step * PER_VALUE;
    // Only weightings must be there; a digit and a comma each.
    let least = 2.0 * steps * model.heads.len() as f64 * n;
    Some([least as u64, (most as u64).saturating_add(PREFIX)])
}

/// What a trace says of itself before its arrays.
#[derive(Default)]
struct Sizes {
    model: Option<ModelSizes>,
    axes: Option<AxesSizes>,
}

#[derive(Deserialize)]
struct ModelSizes {
    config: ConfigSizes,
}

#[derive(Deserialize)]
struct ConfigSizes {
    #[serde(default)]
    memory: MemorySizes,
    #[serde(default)]
    controller: ControllerSizes,
    #[serde(default)]
    heads: Vec<IgnoredAny>,
    #[serde(default)]
    shifts: Vec<IgnoredAny>,
}

/// Zeros where a machine of that kind has no memory, as far as the file says.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MemorySizes {
    rows: f64,
    columns: f64,
}

#[derive(Deserialize)]
#[serde(default)]
struct ControllerSizes {
    size: f64,
    layers: f64,
}

impl Default for ControllerSizes {
    fn default() -> Self {
        Self {
            size: 0.0,
            layers: 1.0,
        }
    }
}

#[derive(Deserialize)]
struct AxesSizes {
    t: TimeSize,
}

#[derive(Deserialize)]
struct TimeSize {
    size: f64,
}

impl<'de> Visitor<'de> for &mut Sizes {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a trace")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "model" => self.model = Some(map.next_value()?),
                "axes" => self.axes = Some(map.next_value()?),
                "arrays" => return Ok(()),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// `start`, then so many bytes of zeros in a list, packed.
    fn bomb(start: &str, bytes: usize) -> Vec<u8> {
        let mut to = GzEncoder::new(Vec::new(), Compression::default());
        to.write_all(start.as_bytes()).unwrap();
        std::io::copy(
            &mut "0,"
                .repeat(4096)
                .as_bytes()
                .chain(io::repeat(b' '))
                .take(bytes as u64),
            &mut to,
        )
        .unwrap();
        to.finish().unwrap()
    }

    fn head(rows: usize, steps: usize) -> String {
        format!(
            r#"{{"format": "ntm-trace", "version": "1.0", "task": {{"name": "copy"}},
            "model": {{"config": {{"memory": {{"rows": {rows}, "columns": 4}}, "controller": {{"size": 10}},
            "heads": ["read0", "write0"], "shifts": [-1, 0, 1]}}}},
            "axes": {{"t": {{"size": {steps}, "phases": []}}}},
            "arrays": {{"input": {{"shape": [{steps}, 4], "data": ["#
        )
    }

    #[test]
    fn a_bomb_is_unpacked_up_to_the_limit() {
        let bomb = bomb("", 3 << 20);
        assert!(bomb.len() < 10_000);
        assert_eq!(unpacked(&bomb, 3 << 20).unwrap().len(), 3 << 20);
        let refused = unpacked(&bomb, (3 << 20) - 1).unwrap_err();
        assert_eq!(refused, "unpacks to more than 2 MB, the most that is read");
    }

    #[test]
    fn a_bomb_is_unpacked_as_far_as_a_trace_of_its_sizes_goes() {
        const LARGE: usize = 300 << 20;
        const LIMIT: u64 = 2 << 30;
        let refused = |start: &str| unpacked(&bomb(start, LARGE), LIMIT).unwrap_err();
        assert_eq!(
            refused(&head(8, 7)),
            "unpacks to more than 40 MB, more than a trace of its sizes can need"
        );
        let said = "unpacks to more than 256 MB, the most that is read of a trace that does not begin with its task, model and axes";
        assert_eq!(refused("[["), said);
        assert_eq!(refused("{\"arrays\": {\"a\": ["), said);
        let large = bomb(&head(100_000, 700), LARGE);
        assert_eq!(
            unpacked(&large, LIMIT).unwrap().len(),
            head(100_000, 700).len() + LARGE
        );
        assert_eq!(
            declared(head(usize::MAX, usize::MAX).as_bytes()),
            Some([u64::MAX; 2])
        );
        assert_eq!(
            refused(&head(100_000, 700_000)),
            "is too large by the sizes that it declares: its weightings alone need more than 2048 MB, the most that is read"
        );
    }
}
