//! Text of a machine file: tokens, logical lines, and mistakes with their places.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::spelling::nearest;

/// A name of the file, or a word of the language.
pub type Name = Arc<str>;

/// The largest file, in bytes and in lines, and the longest word. A machine is a page.
const MOST_BYTES: usize = 1 << 18;
const MOST_LINES: usize = 5000;
const LONGEST_WORD: usize = 80;
/// The most names that a suggestion lists.
const MOST_NAMES: usize = 50;
/// What stands in a file.
const MARKS: &str = "allowed: names of ASCII letters, digits and _, numbers, sentences in quotes, operators, # comments";
/// Letters of other alphabets, each before the ASCII letter that it looks like.
const SIMILAR_LETTERS: &str =
    "аaеeоoрpсcхxуyіiјjѕsһhԁdԛqԝwАAВBЕEКKМMНHОOРPСCТTХXοoνvαaιiρpΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX";

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name of the file; of a component with the name of its use.
    pub file: Name,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// Returns the place of a column in a line.
    pub fn new(file: &Name, line: usize, column: usize) -> Self {
        let (file, line, column) = (file.clone(), line as u32, column as u32);
        Self { file, line, column }
    }

    /// Returns the place some characters further right.
    fn right(&self, count: usize) -> Self {
        Self::new(&self.file, self.line as usize, self.column as usize + count)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A mistake in a machine file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where it is.
    pub place: Place,
    /// The text found.
    pub found: String,
    /// What would be allowed, or what to do.
    pub allowed: String,
    /// Whether only lengths do not fit: such a choice of a switch is refused when it is chosen.
    pub is_length: bool,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.found, self.allowed)
    }
}

impl std::error::Error for Mistake {}

/// A result that may be a mistake in the file.
pub type Checked<T> = Result<T, Mistake>;

/// A mistake at a place: `mistake!(place, "found {x}"; "allowed: {y}")`.
macro_rules! mistake {
    ($place:expr, $found:literal $(, $a:expr)*; $allowed:literal $(, $b:expr)*) => {
        $crate::equations::text::Mistake {
            place: $place.clone(),
            found: format!($found $(, $a)*),
            allowed: format!($allowed $(, $b)*),
            is_length: false,
        }
    };
}

/// Returns a [`mistake!`] from the function around it.
macro_rules! wrong {
    ($($mistake:tt)*) => {
        return Err($crate::equations::text::mistake!($($mistake)*))
    };
}

/// Returns a [`mistake!`] from the function around it if a condition does not hold.
macro_rules! ensure {
    ($condition:expr, $($mistake:tt)*) => {
        if !$condition {
            return Err($crate::equations::text::mistake!($($mistake)*));
        }
    };
}

/// Returns a [`mistake!`] of lengths alone from the function around it if a condition does not hold.
macro_rules! ensure_length {
    ($condition:expr, $($mistake:tt)*) => {
        if !$condition {
            let mistake = $crate::equations::text::mistake!($($mistake)*);
            return Err($crate::equations::text::Mistake { is_length: true, ..mistake });
        }
    };
}
pub(crate) use mistake;
pub(super) use {ensure, ensure_length, wrong};

/// Returns what would be allowed instead of a name: the nearest one first, then all (or the first of many).
pub fn suggestion(name: &str, known: impl IntoIterator<Item: AsRef<str>>, what: &str) -> String {
    let known = known.into_iter().map(|name| name.as_ref().to_owned());
    let known: BTreeSet<String> = known.collect();
    let near = nearest(name, known.iter().map(String::as_str));
    let near = near.map_or(String::new(), |other| format!("did you mean {other}? "));
    let all: Vec<&str> = known.iter().take(MOST_NAMES).map(String::as_str).collect();
    let end = match known.len() {
        0 => "none",
        1..=MOST_NAMES => "",
        _ => ", …",
    };
    format!("{near}{what}: {}{end}", all.join(", "))
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A name or a word.
    Name,
    /// A number.
    Number,
    /// A sentence in quotes; its text is without them.
    Sentence,
    /// An operator or a bracket.
    Sign,
    /// The end of the line.
    End,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// Kind.
    pub sort: Sort,
    /// Text.
    pub text: Name,
    /// Where it begins.
    pub place: Place,
}

impl Token {
    /// Whether it is this word or sign.
    pub fn is(&self, text: &str) -> bool {
        !matches!(self.sort, Sort::Sentence | Sort::End) && &*self.text == text
    }

    /// Returns 1 for an opening bracket, -1 for a closing one, and 0 for everything else.
    pub fn depth(&self) -> i32 {
        i32::from(self.is("(") || self.is("[")) - i32::from(self.is(")") || self.is("]"))
    }
}

/// A logical line: it goes on while a bracket is open.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its tokens, at least one.
    pub tokens: Vec<Token>,
    /// Its comments.
    pub comment: String,
}

impl Line {
    /// Column of its first token.
    pub fn indent(&self) -> u32 {
        self.tokens[0].place.column
    }
}

/// Returns the logical lines of a file in UTF-8, with or without a byte order mark and carriage returns.
///
/// # Errors
/// A file that is too large, is no UTF-8, or has a character that has no place in it.
pub fn lines(bytes: &[u8], file: &str) -> Checked<Vec<Line>> {
    let file: Name = file.into();
    let count = bytes.split(|byte| *byte == b'\n').count();
    ensure!(bytes.len() <= MOST_BYTES && count <= MOST_LINES, Place::new(&file, 1, 1),
        "the file has {} bytes in {count} lines", bytes.len(); "allowed: {MOST_BYTES} bytes in {MOST_LINES} lines");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (mut out, mut depth) = (Vec::<Line>::new(), 0);
    for (number, bytes) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let start = Place::new(&file, number, 1);
        let line = std::str::from_utf8(bytes).map_err(|error| {
            let (valid, wrong) = bytes.split_at(error.valid_up_to());
            let (place, byte) = (String::from_utf8_lossy(valid).chars().count(), wrong[0]);
            mistake!(start.right(place), "found the byte 0x{byte:02X}"; "save the file as UTF-8")
        })?;
        let (tokens, comment) = tokens(line.strip_suffix('\r').unwrap_or(line), &start)?;
        if tokens.is_empty() {
            continue;
        }
        let change: i32 = tokens.iter().map(Token::depth).sum();
        if depth == 0 {
            out.push(Line::default());
        }
        if let Some(line) = out.last_mut() {
            line.tokens.extend(tokens);
            let comment = format!("{} {comment}", line.comment);
            comment.trim().clone_into(&mut line.comment);
        }
        depth = (depth + change).max(0);
    }
    Ok(out)
}

/// Returns the tokens of a line, and its comment.
fn tokens(line: &str, start: &Place) -> Checked<(Vec<Token>, String)> {
    let (mut tokens, mut rest, mut place) = (Vec::new(), line, start.clone());
    while let Some(first) = rest.chars().next() {
        let (sort, size) = scan(rest).ok_or_else(|| unexpected(first, &place))?;
        let (text, after) = rest.split_at(size);
        if let Some((index, c)) = text.chars().enumerate().find(|(_, c)| !is_visible(*c)) {
            return Err(unexpected(c, &place.right(index)));
        }
        match sort {
            Sort::End if first == '#' => return Ok((tokens, text[1..].trim().to_owned())),
            Sort::End => {}
            _ => {
                ensure!(sort == Sort::Sentence || size <= LONGEST_WORD, place,
                    "a word of {size} letters"; "allowed: {LONGEST_WORD}");
                ensure!(sort != Sort::Name || is_name(text), place,
                    "found '{text}'"; "allowed: names of letters, digits and _, joined by dots");
                let quote = usize::from(sort == Sort::Sentence);
                let (text, place) = (text[quote..size - quote].into(), place.clone());
                tokens.push(Token { sort, text, place });
            }
        }
        place = place.right(text.chars().count());
        rest = after;
    }
    Ok((tokens, String::new()))
}

/// A mistake about a character that has no place in a line.
fn unexpected(c: char, place: &Place) -> Mistake {
    let (letters, code): (Vec<char>, _) = (SIMILAR_LETTERS.chars().collect(), u32::from(c));
    if let Some([_, letter]) = letters.chunks(2).find(|pair| pair[0] == c) {
        return mistake!(place, "found {c} (U+{code:04X})"; "it looks like the letter {letter}: write that");
    }
    let is_shown = c.is_alphanumeric() || c.is_ascii_graphic();
    let shown = if is_shown { &format!("{c} ") } else { "" };
    match c {
        '"' => {
            mistake!(place, "a sentence without an end"; "write a second quotation mark in the same line")
        }
        '\t' => mistake!(place, "found a tab"; "indent with spaces"),
        _ => mistake!(place, "found {shown}(U+{code:04X})"; "{MARKS}"),
    }
}

/// Whether a character is seen where it stands, as control characters and marks of direction are not.
fn is_visible(c: char) -> bool {
    let is_mark = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c == '\t' || !c.is_control() && !is_mark
}

/// Whether a word is names of letters, digits and _, joined by dots.
fn is_name(text: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.split('.').all(|part| part.starts_with(is_start))
}

/// Returns kind and length of the token at the start of a text; blanks and comments are ends.
fn scan(text: &str) -> Option<(Sort, usize)> {
    let run = |from: usize, is: fn(char) -> bool| {
        let rest = &text[from..];
        from + rest.find(|c| !is(c)).unwrap_or(rest.len())
    };
    let one =
        |from: usize, of: &str| from + usize::from(text[from..].starts_with(|c| of.contains(c)));
    Some(match text.chars().next()? {
        ' ' => (Sort::End, 1),
        '#' => (Sort::End, text.len()),
        '"' => (Sort::Sentence, text[1..].find('"')? + 2),
        'a'..='z' | 'A'..='Z' | '_' => {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            (Sort::Name, run(0, is_part))
        }
        '0'..='9' => {
            // Digits, a fraction, and an exponent, where digits follow.
            let digits = |from| run(from, |c| c.is_ascii_digit());
            let mut size = digits(0);
            for (mark, sign) in [(".", ""), ("eE", "+-")] {
                let first = one(one(size, mark), sign);
                if one(size, mark) > size && digits(first) > first {
                    size = digits(first);
                }
            }
            (Sort::Number, size)
        }
        first => {
            let doubles = ["..", "<=", ">=", "=="];
            let is_double = doubles.iter().any(|sign| text.starts_with(sign));
            let is_sign = "-+*/^()[],;:|<>=".contains(first) || is_double;
            return is_sign.then_some((Sort::Sign, 1 + usize::from(is_double)));
        }
    })
}
