//! Archives and headers that no honest program writes.

use std::io::{Cursor, Read, Write};

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

use super::mutate::Mutator;

/// A file in an archive.
#[derive(Clone)]
struct Member {
    name: Vec<u8>,
    data: Vec<u8>,
}

fn members(bytes: &[u8]) -> Vec<Member> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut all = Vec::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).unwrap();
        let name = member.name().unwrap().into_owned().into_bytes();
        let mut data = Vec::new();
        member.read_to_end(&mut data).unwrap();
        all.push(Member { name, data });
    }
    all
}

/// An archive of changed members: written anew, with the right check sums, so that what is in them is
/// looked at; the archive itself is changed now and then.
pub fn zip(mutator: &mut Mutator, archive: &[u8], other: &[u8]) -> Vec<u8> {
    if mutator.once_in(6) {
        let mut raw = archive.to_vec();
        mutator.bytes(&mut raw, other);
        return raw;
    }
    let (mut all, others) = (members(archive), members(other));
    for _ in 0..mutator.count() {
        change_members(mutator, &mut all, &others);
    }
    let mut bytes = write_zip(mutator, &all);
    if mutator.once_in(8) {
        mutator.bytes(&mut bytes, other);
    }
    bytes
}

fn change_members(mutator: &mut Mutator, all: &mut Vec<Member>, others: &[Member]) {
    let (at, other) = (mutator.below(all.len()), mutator.below(others.len()));
    if all.is_empty() || others.is_empty() {
        return;
    }
    match mutator.below(12) {
        0..=3 => {
            // The first member has the sizes of all.
            let from = others[0].data.clone();
            mutator.text(&mut all[0].data, &from);
        }
        4..=6 => header(mutator, &mut all[at].data, &others[other].data),
        7 => mutator.bytes(&mut all[at].data, &others[other].data),
        8 => drop(all.remove(at)),
        9 => {
            let mut copy = others[other].clone();
            if mutator.once_in(2) {
                copy.name.clone_from(&all[at].name);
            }
            all.insert(at, copy);
        }
        10 => {
            let to = mutator.below(all.len());
            all.swap(at, to);
        }
        _ => mutator.bytes(&mut all[at].name, &others[other].name),
    }
}

/// Changes the text at the head of an array, with or without what says how long it is.
fn header(mutator: &mut Mutator, data: &mut Vec<u8>, other: &[u8]) {
    const START: usize = 10;
    let end = data.len().min(128).max(START.min(data.len()));
    let mut text = data.get(START..end).unwrap_or_default().to_vec();
    mutator.text(&mut text, other.get(START..128).unwrap_or_default());
    let length = (text.len() as u16).to_le_bytes();
    data.splice(START.min(data.len())..end, text);
    if mutator.once_in(2) && data.len() > START {
        data[8..10].copy_from_slice(&length);
    }
}

fn write_zip(mutator: &mut Mutator, members: &[Member]) -> Vec<u8> {
    let (mut bytes, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
    for member in members {
        let (mut crc, start) = (Crc::new(), bytes.len() as u32);
        crc.update(&member.data);
        let is_deflated = mutator.once_in(8);
        let stored = if is_deflated {
            let mut to = DeflateEncoder::new(Vec::new(), Compression::fast());
            to.write_all(&member.data).unwrap();
            to.finish().unwrap()
        } else {
            member.data.clone()
        };
        let mut fields = Vec::new();
        fields.extend(20_u16.to_le_bytes());
        fields.extend(0_u16.to_le_bytes());
        fields.extend(if is_deflated { [8, 0] } else { [0, 0] });
        fields.extend([0, 0, 0x21, 0]);
        fields.extend(crc.sum().to_le_bytes());
        fields.extend((stored.len() as u32).to_le_bytes());
        fields.extend((member.data.len() as u32).to_le_bytes());
        fields.extend((member.name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&fields);
        bytes.extend(&member.name);
        bytes.extend(stored);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(&member.name);
        count += 1;
    }
    let start = bytes.len() as u32;
    let length = directory.len() as u32;
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// Text that was changed and then packed, or packed text that was changed.
pub fn gzip(mutator: &mut Mutator, text: &[u8], other: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    if mutator.once_in(200) {
        // A bomb: much of the same in few bytes.
        let same = [b' ', b'0', b'[', b'\0'][mutator.below(4)];
        text.splice(1..1, std::iter::repeat_n(same, 8 << 20));
    } else {
        mutator.text(&mut text, other);
    }
    let mut packed = packed(&text);
    match mutator.below(6) {
        0 => mutator.bytes(&mut packed, &text),
        1 => packed.truncate(mutator.below(packed.len())),
        2 => packed.extend(packed.clone()),
        _ => {}
    }
    packed
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    to.write_all(text).unwrap();
    to.finish().unwrap()
}

/// A safetensors file with another header, and mostly the right length of it.
pub fn safetensors(mutator: &mut Mutator, file: &[u8], other: &[u8]) -> Vec<u8> {
    let parts = |file: &[u8]| {
        let length = u64::from_le_bytes(*file.first_chunk().unwrap()) as usize;
        (file[8..8 + length].to_vec(), file[8 + length..].to_vec())
    };
    let ((mut head, mut data), (other_head, other_data)) = (parts(file), parts(other));
    match mutator.below(8) {
        0 => mutator.bytes(&mut data, &other_data),
        1 => data = other_data,
        _ => mutator.text(&mut head, &other_head),
    }
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend(head);
    bytes.extend(data);
    if mutator.once_in(6) {
        mutator.bytes(&mut bytes, other);
    }
    bytes
}
