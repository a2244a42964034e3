//! Changes to files, drawn from a seed: of bytes, of words of JSON, of numbers.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// What stands where a number or a word was.
const WORDS: [&str; 52] = [
    "-1",
    "0",
    "1",
    "2",
    "7",
    "63",
    "64",
    "65",
    "127",
    "255",
    "256",
    "4097",
    "16384",
    "65536",
    "100000",
    "1048576",
    "1048577",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "1e99",
    "1e-99",
    "1e400",
    "-0",
    "-0.0",
    "0.5",
    "3.5e38",
    "NaN",
    "\"NaN\"",
    "\"Infinity\"",
    "-Infinity",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "[1,2]",
    "{\"a\":0}",
    "00",
    "+1",
    "0x10",
    "\"additive\"",
    "\"location\"",
    "\"hard\"",
    "\"weibull\"",
    "\"none\"",
    "\"drawn\"",
    "[\"hard\",\"soft\"]",
    "[\"off\"]",
];
/// What a text may not, or need not, expect.
const ODDITIES: [&[u8]; 10] = [
    b"\\u0000",
    b"\\ud800",
    b"\\u001b[2J",
    b"\xff\xfe",
    b"\xf0\x9f\x92\xbe",
    b"\0",
    b"\r\n",
    b"\\",
    b"\"",
    b"/**/",
];
const MARKS: &[u8] = b",:[]{}\"\n-.e0";
/// The head of a file is where its sizes are: half of all changes go there.
const HEAD: usize = 1500;
/// No change makes a file longer than this.
const LONGEST: usize = 1 << 20;

/// A source of changes; the same seed makes the same ones.
pub struct Mutator {
    random: Xoshiro256PlusPlus,
}

impl Mutator {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// A number below `end`; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        self.random.random_range(0..end.max(1))
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Mostly one, seldom many.
    pub fn count(&mut self) -> usize {
        let mut count = 1;
        while count < 9 && self.once_in(3) {
            count += 1;
        }
        count
    }

    fn place(&mut self, length: usize) -> usize {
        if self.once_in(2) {
            self.below(length.min(HEAD) + 1).min(length)
        } else {
            self.below(length + 1)
        }
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.place(length);
        let most = if self.once_in(4) { length } else { 16 };
        start..(start + 1 + self.below(most)).min(length)
    }

    /// Some changes that know nothing of what is in the file.
    pub fn bytes(&mut self, data: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..self.count() {
            self.change_bytes(data, other);
        }
        data.truncate(LONGEST);
    }

    fn change_bytes(&mut self, data: &mut Vec<u8>, other: &[u8]) {
        let range = self.range(data.len());
        match self.below(8) {
            0 | 1 if !range.is_empty() => data[range.start] ^= 1 << self.below(8),
            2 if !range.is_empty() => {
                data[range.start] = [0, 1, 0x7f, 0x80, 0xff, b'P', b'{'][self.below(7)];
            }
            3 => drop(data.drain(range)),
            4 => {
                let copy = data[range.clone()].to_vec();
                data.splice(range.end..range.end, copy);
            }
            5 => data.truncate(range.start),
            6 => {
                let from = self.range(other.len());
                data.splice(range, other[from].iter().copied());
            }
            _ => {
                // A length somewhere, little-endian.
                let value = [0, 1, 8, u64::from(u32::MAX), u64::MAX, 1 << 40][self.below(6)];
                let bytes = value.to_le_bytes();
                let size = [2, 4, 8][self.below(3)];
                let end = (range.start + size).min(data.len());
                data.splice(range.start..end, bytes[..size].iter().copied());
            }
        }
    }

    /// Some changes of a text like JSON; words come from `other` too.
    pub fn text(&mut self, data: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..self.count() {
            self.change_text(data, other);
        }
        data.truncate(LONGEST);
    }

    fn change_text(&mut self, data: &mut Vec<u8>, other: &[u8]) {
        let word = self.word(data);
        match self.below(16) {
            0..=4 => drop(data.splice(word, self.pick(&WORDS).bytes())),
            5 | 6 => {
                let from = self.word(other);
                data.splice(word, other[from].iter().copied());
            }
            7 => self.swap(data, word),
            8 => drop(data.drain(word)),
            9 => {
                let copy = data[word.clone()].to_vec();
                data.splice(word.end..word.end, [b",", &copy[..]].concat());
            }
            10 => {
                let at = self.place(data.len());
                let mark = MARKS[self.below(MARKS.len())];
                data.splice(at..(at + self.below(2)).min(data.len()), [mark]);
            }
            11 => self.nest(data, word.start),
            12 => drop(data.splice(word.start..word.start, self.pick(&ODDITIES).iter().copied())),
            13 => self.entry(data, other),
            _ => self.change_bytes(data, other),
        }
    }

    /// A word somewhere: what stands between marks.
    fn word(&mut self, data: &[u8]) -> std::ops::Range<usize> {
        let at = self.place(data.len());
        let is_mark = |byte: &u8| b",:[]{} \n".contains(byte);
        let start = data[..at].iter().rposition(is_mark).map_or(0, |at| at + 1);
        let end = data[at..].iter().position(is_mark);
        start..end.map_or(data.len(), |end| at + end)
    }

    fn swap(&mut self, data: &mut Vec<u8>, one: std::ops::Range<usize>) {
        let other = self.word(data);
        let (first, second) = if one.start < other.start {
            (one, other)
        } else {
            (other, one)
        };
        if first.end > second.start {
            return;
        }
        *data = [
            &data[..first.start],
            &data[second.clone()],
            &data[first.end..second.start],
            &data[first],
            &data[second.end..],
        ]
        .concat();
    }

    /// Brackets in brackets.
    fn nest(&mut self, data: &mut Vec<u8>, at: usize) {
        let depth = if self.once_in(50) {
            100_000
        } else {
            1 + self.below(200)
        };
        let open: &[u8] = if self.once_in(2) { b"[" } else { b"{\"a\":" };
        let close: &[u8] = if open == b"[" { b"]" } else { b"}" };
        let inside = open.repeat(depth);
        let inside = if self.once_in(2) {
            [inside, b"0".to_vec(), close.repeat(depth)].concat()
        } else {
            inside
        };
        data.splice(at..at, inside);
    }

    /// A line, or an entry of an object, of this file or of another, once more.
    fn entry(&mut self, data: &mut Vec<u8>, other: &[u8]) {
        let from = if self.once_in(2) { other } else { &data[..] };
        let at = self.place(from.len());
        let start = from[..at].iter().rposition(|&byte| byte == b'\n');
        let start = start.map_or(0, |start| start + 1);
        let end = from[at..].iter().position(|&byte| byte == b'\n');
        let copy = from[start..end.map_or(from.len(), |end| at + end + 1)].to_vec();
        let at = self.place(data.len());
        let at = data[..at].iter().rposition(|&byte| byte == b'\n');
        let at = at.map_or(0, |at| at + 1);
        data.splice(at..at, copy);
    }
}
