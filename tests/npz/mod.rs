//! An npz of episodes, as NumPy writes one.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An array: name, kind, shape and bytes.
pub type Array = (&'static str, &'static str, Vec<usize>, Vec<u8>);

pub fn f32s(values: &[f32]) -> Vec<u8> {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    bytes.collect()
}

pub fn npz(arrays: &[Array]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, kind, shape, bytes) in arrays {
        let options = SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
        let sizes = sizes.join(", ");
        let header =
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes},), }}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
        let length = (header.len() as u16).to_le_bytes();
        archive.write_all(&length).unwrap();
        archive.write_all(header.as_bytes()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Of `count` episodes, each to say once more the bit it saw first: number n has n mod 3 + 2 steps, and in its second
/// channel its number.
pub fn arrays(count: usize) -> Vec<Array> {
    let (mut inputs, mut targets, mut mask, mut lengths) = (vec![], vec![], vec![], vec![]);
    for number in 0..count {
        let (bit, steps) = ((number / 2 % 2) as f32, number % 3 + 2);
        for step in 0..steps {
            let (first, last) = (step == 0, step + 1 == steps);
            inputs.extend([if first { bit } else { 0.0 }, number as f32]);
            targets.push(if last { bit } else { 0.5 });
            mask.push(u8::from(last));
        }
        lengths.extend((steps as u64).to_le_bytes());
    }
    let steps = mask.len();
    vec![
        ("inputs", "<f4", vec![steps, 2], f32s(&inputs)),
        ("targets", "<f4", vec![steps, 1], f32s(&targets)),
        ("mask", "|u1", vec![steps], mask),
        ("lengths", "<u8", vec![count], lengths),
    ]
}
