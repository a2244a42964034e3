//! Traces written and read back: gzipped, as npz, of other programs, and checked against the schema.

use std::io::{Cursor, Read, Write};

use tapescope::io::{trace, weights};
use tapescope::task::Task;
use tapescope::train::Recording;

use super::sampled::EVERY;
use super::{TINY, again, error, json, npz, opened, record, source, tiny, value, without, written};

const LAYERS: &str = r#"{"task": {"kind": "associative_recall", "bits": 2, "item_length": 2, "items": [2, 4]},
    "model": {"memory": {"rows": 7, "columns": 3, "initial": "learned"},
              "controller": {"size": 4, "layers": 2},
              "heads": {"read": 2, "write": 2, "shift": {"form": "scalar", "range": 2}}}}"#;
const READ_ONLY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 5, "columns": 3, "initial": "learned"}, "controller": {"size": 4},
              "heads": {"read": 2, "write": 0}}}"#;
const WRITE_ONLY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}, "heads": {"read": 0}}}"#;
const NO_MEMORY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"controller": {"size": 4}, "heads": {"read": 0, "write": 0}}}"#;
const WRITE_FIRST: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}, "heads": {"order": "write-first"}}}"#;
const ALL: [&str; 8] = [
    TINY,
    LAYERS,
    LONG,
    READ_ONLY,
    WRITE_ONLY,
    NO_MEMORY,
    WRITE_FIRST,
    EVERY,
];
const LONG: &str = r#"{"task": {"kind": "ngrams", "context": 2, "length": [300, 300]},
    "model": {"memory": {"rows": 1000, "columns": 4}, "controller": {"kind": "feedforward", "size": 4}}}"#;

#[test]
fn every_form_reads_back_as_the_same_trace() {
    let folder = tempfile::tempdir().unwrap();
    for text in ALL {
        let (machine, recording) = record(text);
        let sha256 = weights::sha256(&machine);
        let written = json(&machine, &recording);
        for name in ["t.ntmtrace.json", "t.ntmtrace.json.gz", "t.npz"] {
            let path = folder.path().join(name);
            trace::write(&path, &recording, &source(&machine, &sha256)).unwrap();
            let first = std::fs::read(&path).unwrap();
            let read = trace::read(&path).unwrap();
            assert_eq!(again(&read), written, "{name}");
            trace::write(&path, &recording, &source(&machine, &sha256)).unwrap();
            assert_eq!(
                std::fs::read(&path).unwrap(),
                first,
                "{name}: the same bytes"
            );
            // The first bytes say what a file is, whatever its name is.
            let renamed = folder.path().join("other.name");
            std::fs::write(&renamed, first).unwrap();
            assert_eq!(again(&trace::read(&renamed).unwrap()), written);
        }
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 4, "no temporary file is left");
}

/// Bit patterns of every kind: all exponents, with the ends and the middle of what follows them.
fn patterns() -> impl Iterator<Item = u32> {
    let fractions = [
        0, 1, 2, 0x2a_aaaa, 0x40_0000, 0x55_5555, 0x7f_fffe, 0x7f_ffff,
    ];
    (0..512_u32).flat_map(move |top| fractions.map(|fraction| top << 23 | fraction))
}

fn assert_exact(values: &[f32]) {
    let (machine, mut recording) = record(TINY);
    for values in values.chunks(7 * 5) {
        let w = recording.trace.heads[0].content.as_mut_slice();
        w[..values.len()].copy_from_slice(values);
        let exact = |bytes: Vec<u8>| {
            let read = trace::from_bytes(bytes, "t").unwrap();
            for (read, value) in read.recording.trace.heads[0]
                .content
                .as_slice()
                .iter()
                .zip(values)
            {
                assert!(
                    read.to_bits() == value.to_bits() || read.is_nan() && value.is_nan(),
                    "{:x} became {:x}",
                    value.to_bits(),
                    read.to_bits()
                );
            }
        };
        exact(json(&machine, &recording).into_bytes());
        exact(npz(&machine, &recording));
    }
}

#[test]
fn every_exponent_survives_to_the_bit() {
    assert_exact(&patterns().map(f32::from_bits).collect::<Vec<_>>());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    #[test]
    fn any_bits_survive(bits in proptest::collection::vec(proptest::prelude::any::<u32>(), 35)) {
        assert_exact(&bits.into_iter().map(f32::from_bits).collect::<Vec<_>>());
    }
}

/// What a file is written to, and the largest piece it was given.
#[derive(Default)]
struct Pieces {
    all: u64,
    largest: usize,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.all += bytes.len() as u64;
        self.largest = self.largest.max(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_is_written_in_small_pieces() {
    let trained = &weights::all_included().unwrap()[0];
    let task = trained.experiment.task.clone().with_size(200);
    let recording = Recording::new(&trained.machine, &task, 1, 0);
    let source = source(&trained.machine, "");
    for is_npz in [false, true] {
        let mut to = Pieces::default();
        let written = if is_npz {
            trace::write_npz(&mut to, &recording, &source)
        } else {
            trace::write_to(&mut to, &recording, &source)
        };
        written.unwrap();
        assert!(to.all > 1 << 20 && to.largest < 1 << 17, "{}", to.largest);
    }
}

#[test]
fn estimates_are_nearly_right() {
    let trained = &weights::all_included().unwrap()[0];
    let recording = Recording::new(
        &trained.machine,
        &trained.experiment.task.clone().with_size(20),
        1,
        0,
    );
    let sha256 = trained.sha256();
    let folder = tempfile::tempdir().unwrap();
    // Gzipped, values take 1 to 5 bytes, where the estimate is 2.
    for (name, factor) in [("t.json", 2.0), ("t.json.gz", 2.5)] {
        let path = folder.path().join(name);
        trace::write(&path, &recording, &source(&trained.machine, &sha256)).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        let steps = recording.episode.steps();
        let estimate = trace::estimated_bytes(
            &trained.machine.config,
            steps,
            false,
            trace::Encoding::of(&path).unwrap(),
        );
        let ratio = size as f64 / estimate as f64;
        assert!(
            (1.0 / factor..factor).contains(&ratio),
            "{name}: {size}, estimated {estimate}"
        );
    }
}

#[test]
fn a_name_that_ends_as_another_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (machine, recording) = record(TINY);
    for (name, end) in [
        ("foo.pkl", ".pkl"),
        ("foo.csv.gz", ".csv.gz"),
        ("t.h5", ".h5"),
    ] {
        let path = folder.path().join(name);
        let error = trace::write(&path, &recording, &source(&machine, "")).unwrap_err();
        let expected = format!(
            "{}: a trace is not written as `{end}`; allowed: .json, .json.gz and .npz",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
        assert!(!path.exists());
    }
    for name in [
        "t.JSON",
        "t.ntmtrace.json",
        "t.json.gz",
        "t.gz",
        "t.npz",
        "t",
        "-",
    ] {
        assert!(trace::Encoding::of(name.as_ref()).is_ok(), "{name}");
    }
}

/// The same archive with one member changed.
pub(super) fn with_member(
    bytes: &[u8],
    name: &str,
    change: impl Fn(Vec<u8>) -> Option<Vec<u8>>,
) -> Vec<u8> {
    let mut from = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut to = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..from.len() {
        let mut member = from.by_index(index).unwrap();
        let here = member.name().unwrap().into_owned();
        let mut data: Vec<u8> = Vec::new();
        member.read_to_end(&mut data).unwrap();
        let data: Option<Vec<u8>> = if here == name {
            change(data)
        } else {
            Some(data)
        };
        if let Some(data) = data {
            to.start_file(here, zip::write::SimpleFileOptions::default())
                .unwrap();
            to.write_all(&data).unwrap();
        }
    }
    to.finish().unwrap().into_inner()
}

#[test]
fn half_precision_and_column_major_arrays_are_read() {
    let (machine, recording) = record(TINY);
    let good = npz(&machine, &recording);
    let input = &recording.trace.input;
    let (rows, columns) = (input.steps(), input.width());
    let by_columns = (0..rows * columns).map(|at| input.row(at % rows)[at / rows]);
    let by_columns: Vec<u8> = by_columns.flat_map(f32::to_le_bytes).collect();
    // 0 and 1 in half precision.
    let half = |bit: &f32| if *bit == 1.0 { 0x3c00_u16 } else { 0 };
    let halves: Vec<u8> = (0..rows)
        .flat_map(|t| input.row(t).iter().flat_map(|bit| half(bit).to_le_bytes()))
        .collect();
    for (from, to, values) in [("False", "True ", by_columns), ("<f4", "<f2", halves)] {
        let file = with_member(&good, "input.npy", |data| {
            let header = String::from_utf8_lossy(&data[10..128]).into_owned();
            let header = header.replace(from, to);
            Some([&data[..10], header.as_bytes(), &values].concat())
        });
        let read = trace::from_bytes(file, "t").unwrap();
        assert_eq!(&read.recording.trace.input, input, "{to}");
    }
}

#[test]
fn an_npz_is_checked_like_any_other_trace() {
    let (machine, recording) = record(TINY);
    let good = npz(&machine, &recording);
    let input = |from: &'static str, to: &'static str| {
        error(with_member(&good, "input.npy", |data| {
            let header = String::from_utf8_lossy(&data[10..128]).into_owned();
            assert!(header.contains(from), "{header}");
            let header = header.replace(from, to);
            Some([&data[..10], header.as_bytes(), &data[128..]].concat())
        }))
    };
    assert_eq!(
        input("(7, 3)", "(3, 7)"),
        "t: `arrays.input`: has the shape [3, 7]; expected [7, 3]"
    );
    // The channels of an unknown task are those of its arrays.
    let theirs = with_member(&good, "meta.json", |meta| {
        let meta = String::from_utf8(meta).unwrap();
        Some(meta.replacen("\"copy\"", "\"theirs\"", 1).into_bytes())
    });
    let huge = with_member(&theirs, "input.npy", |data| {
        let header = String::from_utf8_lossy(&data[10..128]).into_owned();
        let header = header.replace("(7, 3)", "(4000000000000, 4000000)");
        Some([&data[..10], &header.as_bytes()[..118], &data[128..]].concat())
    });
    assert_eq!(
        error(huge),
        "t: `arrays.input.shape[1]`: is 4000000; allowed: 1 to 4096"
    );
    assert_eq!(
        input("'<f4'", "'<i4'"),
        "t: `arrays.input`: has values of type `<i4`; allowed: <f2, <f4 and <f8"
    );
    for size in ["-7", "99999999999999999999999", "x"] {
        let header = Box::leak(format!("({size}, 3)").into_boxed_str());
        let said = input("(7, 3)", header);
        let expected = format!(
            "t: `arrays.input`: has the size {size} in its shape; expected whole numbers, 0 to "
        );
        assert!(said.starts_with(&expected), "{said}");
    }
    for (key, from) in [
        ("fortran_order", "'fortran_order'"),
        ("fortran_order", "False"),
        ("shape", "'shape'"),
    ] {
        let expected = format!(
            "t: `arrays.input`: has a header without a readable `{key}`; write the array again, with numpy.savez"
        );
        assert_eq!(input(from, "''"), expected);
    }
    assert_eq!(
        error(with_member(&good, "input.npy", |mut data| {
            data.truncate(data.len() - 4);
            Some(data)
        })),
        "t: `arrays.input`: has 80 bytes of values; expected 84 for the shape [7, 3]"
    );
    assert_eq!(
        error(with_member(&good, "input.npy", |_| None)),
        "t: `arrays.input`: is in meta.json, but the file has no input.npy"
    );
    assert_eq!(
        error(with_member(&good, "meta.json", |_| None)),
        "t: `meta.json`: specified file not found in archive; expected a member with the description of a trace; attention alone is read from numpy.save, .npy"
    );
    assert_eq!(
        error(with_member(&good, "input.npy", |_| Some(vec![7]))),
        "t: `arrays.input`: is not an npy file; expected one of <f2, <f4 or <f8"
    );
    let wide = with_member(&good, "input.npy", |data| {
        let header = String::from_utf8_lossy(&data[..128]).replace("<f4", "<f8");
        let values = data[128..]
            .chunks_exact(4)
            .map(|v| f32::from_le_bytes(v.try_into().unwrap()));
        let values: Vec<u8> = values.flat_map(|v| f64::from(v).to_le_bytes()).collect();
        let mut whole = data[..10].to_vec();
        whole.extend(&header.as_bytes()[header.len() - 118..]);
        whole.extend(values);
        Some(whole)
    });
    assert_eq!(
        again(&trace::from_bytes(wide, "t").unwrap()),
        json(&machine, &recording)
    );
}

/// The same archive with a member twice, which no writer of archives writes: renamed where its name stands.
#[test]
fn an_npz_with_oversized_metadata_is_refused() {
    let (mut bytes, piece) = (Vec::new(), vec![b' '; 1 << 20]);
    let mut archive = zip::ZipWriter::new(Cursor::new(&mut bytes));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("meta.json", options).unwrap();
    for _ in 0..65 {
        archive.write_all(&piece).unwrap();
    }
    archive.finish().unwrap();
    assert!(bytes.len() < 1 << 20, "a small file");
    assert_eq!(
        error(bytes),
        "t: `meta.json`: unpacks to more than the limit of 64 MB"
    );
}

#[test]
fn an_npz_has_no_name_twice() {
    let (machine, recording) = record(TINY);
    let bytes = npz(&machine, &recording).into_iter();
    let text: String = bytes.map(char::from).collect();
    let twice = text.replace("write0.gated.npy", "write0.shift.npy");
    let bytes: Vec<u8> = twice.chars().map(|c| c as u8).collect();
    assert_eq!(
        error(bytes),
        "t: has members of the same name; expected every name once"
    );
}

#[test]
fn step_order_is_written_and_compared() {
    let (machine, recording) = record(WRITE_FIRST);
    let written = json(&machine, &recording);
    let order = "\"order\":\"write-first\"";
    assert!(written.contains(order));
    let read = opened(&written);
    assert_eq!(read.config, machine.config);
    let other = opened(&tiny());
    let lines = trace::diff(&read, &other, 0.0).unwrap_err();
    assert_eq!(lines, ["first in a step: write-first and read-first"]);
    // The order matters, and is checked: under the other one the reads do not follow.
    let wrong = written.replace(order, "\"order\":\"read-first\"");
    let found = trace::verify(&opened(&wrong), 1e-4).comparison;
    assert_eq!(found.first.unwrap().array, "read0.similarity");
}

/// The memory of a machine that only reads never changes; that of one that only writes is rebuilt.
#[test]
fn other_machines_are_verified_and_rebuilt() {
    for source in [READ_ONLY, WRITE_ONLY, NO_MEMORY, WRITE_FIRST] {
        let (machine, recording) = record(source);
        let mut value = value(&json(&machine, &recording));
        value["arrays"].as_object_mut().unwrap().remove("memory");
        let read = opened(&value.to_string());
        assert_eq!(read.config, machine.config);
        assert_eq!(
            read.recording.trace.memory_columns,
            recording.trace.memory_columns
        );
        assert_eq!(trace::verify(&read, 0.0).outcome(), trace::Outcome::Holds);
    }
}

#[test]
fn damaged_archives_are_errors_and_no_panic() {
    let (machine, recording) = record(TINY);
    let good = npz(&machine, &recording);
    for end in (2..good.len() - 1).step_by(97) {
        error(&good[..end]);
    }
    for (index, byte) in (0..good.len()).step_by(11).zip((1..=255_u8).cycle()) {
        let mut damaged = good.clone();
        damaged[index] ^= byte;
        let _ = trace::from_bytes(damaged, "t");
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(tiny().as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    assert!(error(&gzip[..gzip.len() - 9]).starts_with("t: is not a complete gzip file: "));
}

fn tiny_without(names: &[&str]) -> String {
    without(value(&tiny()), names).to_string()
}

#[test]
fn wrong_bits_are_counted_where_known() {
    let whole = opened(&tiny()).recording;
    assert!(whole.score.scored > 0 && whole.score.wrong > 0);
    let wrong = |recording: &Recording| -> usize {
        let steps = 0..recording.episode.steps();
        steps.map(|step| recording.wrong_bits(step)).sum()
    };
    assert_eq!(wrong(&whole), whole.score.wrong);
    for names in [&["output", "logit"][..], &["target"]] {
        let read = opened(&tiny_without(names)).recording;
        assert_eq!((read.score.scored, read.score.wrong), (0, 0), "{names:?}");
        assert_eq!(wrong(&read), 0, "{names:?}");
    }
    // What another program let grow a little above 1 is a 1, in every count.
    let mut value: serde_json::Value = serde_json::from_str(&tiny_without(&["logit"])).unwrap();
    let target = value["arrays"]["target"].clone();
    let outputs = value["arrays"]["output"]["data"].as_array_mut().unwrap();
    let targets = target["data"].as_array().unwrap();
    for (output, target) in outputs.iter_mut().zip(targets) {
        *output = (target.as_f64().unwrap() * 1.000_000_2).into();
    }
    let read = opened(&value.to_string()).recording;
    assert_eq!((read.score.wrong, wrong(&read)), (0, 0));
}

#[test]
fn absent_arrays_are_reported() {
    let names = [
        "target",
        "mask",
        "loss",
        "logit",
        "output",
        "controller.hidden",
        "controller.cell",
        "read0.similarity",
        "read0.key",
        "read0.gated",
        "read0.gate",
        "write0.key",
        "write0.strength",
        "write0.initial",
    ];
    let read = opened(&tiny_without(&names));
    let recording = &read.recording;
    let mut absent = recording.absent.clone();
    absent.sort_unstable();
    let mut expected = names;
    expected.sort_unstable();
    assert_eq!(absent, expected);
    let heads = &recording.trace.heads;
    assert!(heads[0].similarity.as_slice().iter().all(|v| v.is_nan()));
    assert!(heads[0].content.as_slice().iter().all(|v| v.is_finite()));
    assert_eq!(recording.score.scored, 0);
    let mut written: Vec<String> = serde_json::from_str::<serde_json::Value>(&again(&read))
        .unwrap()["arrays"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    written.retain(|name| names.contains(&name.as_str()));
    assert!(written.is_empty(), "{written:?}");
    // What can be checked is.
    let found = trace::verify(&read, 1e-5);
    assert_eq!(found.outcome(), trace::Outcome::InPart);
    for needed in ["input", "read0.weighting"] {
        let message = trace::from_json(&tiny_without(&[needed]), "t")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains(&format!("`arrays.{needed}`: is missing")),
            "{message}"
        );
    }
}

#[test]
fn memory_is_rebuilt_only_where_exact() {
    let whole = opened(&tiny());
    let rebuilt = trace::from_json(&tiny_without(&["memory"]), "t").unwrap();
    assert_eq!(
        rebuilt.recording.trace.memory_columns,
        whole.recording.trace.memory_columns
    );
    assert_eq!(
        rebuilt.memories,
        [true, false, false, false, false, false, false, false]
    );
    assert!(rebuilt.recording.absent.is_empty());
    let unknown = trace::from_json(&tiny_without(&["memory", "write0.erase"]), "t").unwrap();
    assert_eq!(unknown.recording.absent, ["write0.erase", "memory"]);
    assert!(unknown.recording.trace.memory(0)[[0, 0]].is_finite());
    assert!(unknown.recording.trace.memory(1)[[0, 0]].is_nan());
    assert!(!again(&unknown).contains("\"memory\": {\"dims\""));
    assert_eq!(trace::verify(&unknown, 1e-5).comparison.first, None);
}

#[test]
fn a_task_of_another_program_opens_with_numbered_channels() {
    for task in [
        r#"{"name": "omniglot", "params": {"shots": 5}}"#,
        r#"{"name": "copy"}"#,
        r#"{"name": "copy", "params": {"bits": 2, "length": [1, 9]}}"#,
    ] {
        let mut value = value(&tiny());
        value["task"] = serde_json::from_str(task).unwrap();
        let read = trace::from_json(&value.to_string(), "a/t.json").unwrap();
        let Task::External(other) = &read.recording.task else {
            panic!("{:?}", read.recording.task)
        };
        assert_eq!((other.inputs, other.outputs), (3, 2));
        assert_eq!(read.recording.task.input_name(2), "channel 2");
        assert_eq!(read.recording.task.output_name(0), "channel 0");
        let name = &other.name;
        assert_eq!(read.title, format!("t.json: {name}, 7 steps"));
        assert!(!again(&read).contains(r#""length":"#));
        let written = again(&read);
        assert!(written.contains(&format!(r#""name":"{name}""#)));
        assert_eq!(again(&opened(&written)), written);
    }
}

#[test]
fn every_export_validates_against_the_published_schema() {
    let schema =
        serde_json::from_str(include_str!("../../docs/ntm-trace-2.0.schema.json")).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let check = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let errors: Vec<_> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        errors
    };
    let mut texts: Vec<String> = ALL.map(written).into();
    for trained in weights::all_included().unwrap() {
        let mut recording = Recording::new(&trained.machine, &trained.experiment.task, 1, 0);
        let mut heads = recording.trace.heads.iter_mut();
        if let Some(head) = heads.find(|head| head.gate.width() > 0) {
            head.gate[0] = f32::NAN;
        }
        recording.loss[0] = f32::INFINITY;
        recording.origin = None;
        texts.push(json(&trained.machine, &recording));
    }
    let (machine, recording) = record(TINY);
    let bytes = npz(&machine, &recording);
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut meta = String::new();
    archive
        .by_name("meta.json")
        .unwrap()
        .read_to_string(&mut meta)
        .unwrap();
    texts.push(meta);
    texts.push(tiny_without(&["target", "mask", "loss", "memory"]));
    let listed = trace::arrays();
    for text in &texts {
        assert_eq!(check(text), [""; 0]);
        // A machine file says its arrays itself.
        if value(text)["model"]["kind"] == "equations" {
            continue;
        }
        for name in value(text)["arrays"].as_object().unwrap().keys() {
            let of_head = name.split_once('.').map_or("", |(_, part)| part);
            let is_it = |known: &&str| *known == name || *known == format!("HEAD.{of_head}");
            assert!(
                listed.iter().any(|array| is_it(&array.name.as_str())),
                "{name}"
            );
        }
    }
    for (from, to) in [
        ("\"2.0\"", "\"1.1\""),
        ("ntm-trace", "npy"),
        ("\"rows\":5", "\"rows\":0"),
        ("\"seed\":\"7\"", "\"seed\":7"),
        ("[\"delimiter\",3,4]", "[\"delimiter\",3]"),
        ("\"read\":1", "\"readers\":1"),
        ("\"read-first\"", "\"backwards\""),
        (
            "\"weights\"",
            "\"conventions\":{\"shifts\":[-1,0,-1]},\"weights\"",
        ),
        (
            "\"weights\"",
            "\"conventions\":{\"order\":[\"reader\"]},\"weights\"",
        ),
        ("\"shape\": [7,3]", "\"shape\": [21]"),
        ("\"data\": [\n", "\"data\": [\nnull,"),
        ("\"arrays\"", "\"array\""),
    ] {
        assert!(texts[0].contains(from), "{from}");
        assert!(!check(&texts[0].replacen(from, to, 1)).is_empty(), "{from}");
    }
}

#[test]
fn external_traces_need_only_the_documented_arrays() {
    let page = include_str!("../../docs/formats/traces.md");
    let needs = page
        .split("A trace of another program is shown")
        .nth(1)
        .unwrap();
    let needs = needs.split("Any other array").next().unwrap();
    let shortest = page.split("```json\n").nth(1).unwrap();
    let least = value(shortest.split("```").next().unwrap());
    opened(&least.to_string());
    let mut with_key = least.clone();
    with_key["arrays"]["read0.key"] =
        serde_json::json!({"shape": [2, 3], "data": [0, 0, 0, 0, 0, 0]});
    for (of, path, name) in [
        (&least, "/format", "`format`"),
        (&least, "/version", "`version`"),
        (&least, "/task/name", "`task.name`"),
        (&least, "/axes/t/size", "`axes.t.size`"),
        (&least, "/axes/t/phases", "`axes.t.phases`"),
        (&least, "/arrays/input", "`input`"),
        (&with_key, "/arrays/read0.weighting", "`weighting`"),
    ] {
        assert!(needs.contains(name), "{name}");
        let (owner, key) = path.rsplit_once('/').unwrap();
        let mut value = of.clone();
        let owner = value.pointer_mut(owner).unwrap().as_object_mut().unwrap();
        assert!(owner.remove(key).is_some(), "{path}");
        error(value.to_string());
    }
}

/// Every size of a model that has all mechanisms, from the arrays alone; and what is not known is not checked.
#[test]
fn sizes_that_are_not_given_are_those_of_the_arrays() {
    for preset in ALL {
        let (machine, recording) = record(preset);
        let whole = value(&json(&machine, &recording));
        let mut bare = whole.clone();
        for path in [
            "/model/kind",
            "/model/memory/rows",
            "/model/memory/columns",
            "/model/controller/kind",
            "/model/controller/size",
            "/model/controller/layers",
            "/model/heads/read",
            "/model/heads/write",
            "/model/heads/shift/range",
            "/model/heads/attention/units",
            "/model/heads/attention/position_units",
            "/model/heads/attention/prior_units",
        ] {
            let (section, key) = path.rsplit_once('/').unwrap();
            let section = bare.pointer_mut(section);
            // A machine file says that it is one.
            let section = section.and_then(serde_json::Value::as_object_mut);
            if let Some(section) = section.filter(|section| !section.contains_key("file")) {
                section.remove(key);
            }
        }
        let read = opened(&bare.to_string());
        assert_eq!(read.config, machine.config);
        assert_eq!(trace::verify(&read, 0.0).outcome(), trace::Outcome::Holds);
        let found = trace::diff(&opened(&whole.to_string()), &read, 0.0).unwrap();
        assert_eq!((found.declared, found.only), (vec![], [vec![], vec![]]));
    }
    let mut unknown = value(&tiny());
    unknown.as_object_mut().unwrap().remove("model");
    let read = opened(&unknown.to_string());
    let ntm = read.config.ntm().unwrap();
    let memory = tapescope::model::config::InitialMemory::Learned;
    let activation = tapescope::model::config::VectorActivation::Identity;
    assert_eq!(ntm.initial_memory, memory);
    assert_eq!(
        (ntm.key_activation, ntm.add_activation),
        (activation, activation)
    );
    let found = trace::verify(&read, 0.0);
    assert_eq!(found.outcome(), trace::Outcome::Holds);
    assert!(!found.checked.contains(&"read0.initial".to_owned()));
    // Neither an axis nor an array shows them.
    unknown["axes"] = serde_json::json!({"t": unknown["axes"]["t"]});
    let without = without(
        unknown,
        &[
            "controller.hidden",
            "controller.cell",
            "memory",
            "memory.initial",
        ],
    );
    let read = opened(&without.to_string());
    assert_eq!(read.config.sizes().units, 1);
    assert_eq!((read.config.rows(), read.config.columns()), (5, 3));
}
