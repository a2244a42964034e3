//! Unpacking gzipped JSON. A file of 2 MB can unpack to 2 GB, and a trace whose weightings are almost all
//! alike is packed nearly as well: so what a trace says of its sizes, before its arrays, is the limit.

use std::borrow::Cow;
use std::{fmt, io};

use flate2::read::MultiGzDecoder;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::form::MachineForm;
use super::read::AxesForm;
use super::source::{Told, Watch};
use super::table::{self, Described};
use crate::io::Error;
use crate::io::input::read_up_to;
use crate::model::{Place, Trace};
use crate::task::{Other, Task};

/// The most inputs or outputs of a machine.
const CHANNELS: usize = 4096;
/// What is unpacked of any file, in bytes: a trace says before it what it holds.
const PREFIX: u64 = 32 << 20;
/// What is unpacked of a trace that says it behind its arrays, in bytes.
const UNDECLARED: u64 = 256 << 20;
/// Text of a value, in bytes: seventeen digits, sign, point, exponent, comma, and some spaces.
const PER_VALUE: u64 = 40;

/// Why more than the limit is refused.
const MOST: &str = "the most that is read";

/// What was gzipped, which has at most `limit` bytes, and no more than the sizes it declares can need.
pub(super) fn unpacked(
    bytes: &[u8],
    limit: u64,
    label: &str,
    watch: Watch<'_>,
) -> Result<Vec<u8>, Error> {
    let fail = |problem: String| Error::content(label, "", problem);
    let mut from = MultiGzDecoder::new(Told {
        from: bytes,
        read: 0,
        all: bytes.len(),
        watch,
    });
    let mut whole = Vec::new();
    let mut read = |most: u64, whole: &mut Vec<u8>| {
        let expected = 8 * bytes.len() as u64;
        let read = read_up_to(&mut from, expected, most, whole);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => fail(format!("unpacking it {error}")),
            _ => fail(format!("is not a whole gzip file: {error}")),
        })
    };
    let prefix = PREFIX.min(limit);
    read(prefix, &mut whole)?;
    if (whole.len() as u64) <= prefix {
        return Ok(whole);
    }
    let (most, why) = match declared(&whole, label)? {
        None if UNDECLARED < limit => (
            UNDECLARED,
            "the most that is read of a trace that does not begin with its task, model and axes",
        ),
        Some([least, _]) if least > limit => {
            let most = limit >> 20;
            return Err(fail(format!(
                "is too large by the sizes that it declares: its weightings alone need more than {most} MB, {MOST}"
            )));
        }
        Some([_, most]) if most < limit => (most, "more than a trace of its sizes can need"),
        _ => (limit, MOST),
    };
    if most > whole.len() as u64 {
        read(most, &mut whole)?;
    }
    if whole.len() as u64 > most {
        let most = most >> 20;
        return Err(fail(format!("unpacks to more than {most} MB, {why}")));
    }
    Ok(whole)
}

/// How much text a trace has at least, and at most, by what it says before its arrays, in bytes.
fn declared(start: &[u8], label: &str) -> Result<Option<[u64; 2]>, Error> {
    // What was cut off in a character ends before it.
    let valid = start.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let mut said = Said::default();
    // The text ends too early; what stood before is there.
    let _ = serde_json::Deserializer::from_str(valid).deserialize_map(&mut said);
    let (Some(model), Some(axes)) = (said.model, said.axes) else {
        return Ok(None);
    };
    let steps = axes.t.size;
    let widest = Task::Other(Other {
        name: String::new(),
        inputs: CHANNELS,
        outputs: CHANNELS,
        steps: steps..=steps,
    });
    let model = model.config.model(&widest, label)?;
    let all = table::written(&Trace::new(&model), steps, true);
    let sum = |sum: u64, array: &Described| sum.saturating_add(array.values() as u64);
    let is_sure =
        |array: &&Described| matches!(array.place, Place::Head(_)) && table::is_needed(array.spec);
    let least = all.iter().filter(is_sure).fold(0, sum);
    // What later versions record may be as much again.
    let most = all.iter().fold(0, sum).saturating_mul(2 * PER_VALUE);
    // A digit and a comma each.
    Ok(Some([least.saturating_mul(2), most.saturating_add(PREFIX)]))
}

/// What a trace says of itself before its arrays.
#[derive(Default)]
struct Said<'a> {
    model: Option<MachineForm>,
    axes: Option<AxesForm<'a>>,
}

impl<'de> Visitor<'de> for &mut Said<'de> {
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
            "heads": ["read0", "write0"], "shifts": [-1, 0, 1], "epsilon": 0}}}},
            "axes": {{"t": {{"size": {steps}, "phases": []}}}},
            "arrays": {{"input": {{"shape": [{steps}, 4], "data": ["#
        )
    }

    const GO_ON: Watch<'_> = &|_, _| std::ops::ControlFlow::Continue(());

    #[test]
    fn a_bomb_is_unpacked_up_to_the_limit() {
        let bomb = bomb("", 3 << 20);
        assert!(bomb.len() < 10_000);
        assert_eq!(unpacked(&bomb, 3 << 20, "t", GO_ON).unwrap().len(), 3 << 20);
        let refused = unpacked(&bomb, (3 << 20) - 1, "t", GO_ON).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "t: unpacks to more than 2 MB, the most that is read"
        );
    }

    #[test]
    fn a_bomb_is_unpacked_as_far_as_a_trace_of_its_sizes_goes() {
        const LARGE: usize = 300 << 20;
        const LIMIT: u64 = 2 << 30;
        let unpacked = |start: &str| unpacked(&bomb(start, LARGE), LIMIT, "t", GO_ON);
        let refused = |start: &str| unpacked(start).unwrap_err().to_string();
        assert_eq!(
            refused(&head(8, 7)),
            "t: unpacks to more than 40 MB, more than a trace of its sizes can need"
        );
        let said = "t: unpacks to more than 256 MB, the most that is read of a trace that does not begin with its task, model and axes";
        assert_eq!(refused("[["), said);
        assert_eq!(refused("{\"arrays\": {\"a\": ["), said);
        let large = head(100_000, 700);
        assert_eq!(unpacked(&large).unwrap().len(), large.len() + LARGE);
        let sizes = declared(head(1 << 20, usize::MAX).as_bytes(), "t").unwrap();
        assert_eq!(sizes, Some([u64::MAX; 2]));
        let said = "t: `model.config.memory.rows`: is 1048577; allowed: 1 to 1048576";
        assert_eq!(refused(&head((1 << 20) + 1, 7)), said);
        assert_eq!(
            refused(&head(100_000, 700_000)),
            "t: is too large by the sizes that it declares: its weightings alone need more than 2048 MB, the most that is read"
        );
    }
}
