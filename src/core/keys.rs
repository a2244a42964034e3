//! The keys of a configuration, each defined once: its path in a preset, its field, the allowed values, and a
//! description.
//!
//! A configuration enters its keys into a [`Table`], one after the other. Each use of a table takes from every
//! entry what it needs: the reader of a preset sets the field, its writer gets it, [`check`] holds it to its
//! range, `tapescope tasks --keys` and docs/formats/presets.md print it. A field that is a choice
//! ([`Words`]) is entered before what depends on it: a configuration of another kind has other keys.

use std::fmt::Display;
use std::mem::discriminant;
use std::ops::RangeInclusive;

/// A configuration with keys.
pub trait Keys {
    /// Enters every key that this configuration has, in the order in which a preset is written.
    fn keys(&mut self, to: &mut Table<'_>);
}

/// The table in which the keys of a configuration are entered.
pub struct Table<'v> {
    visit: &'v mut dyn FnMut(Key<'_>),
    section: String,
}

impl<'v> Table<'v> {
    /// A table that hands every key to `visit`.
    pub fn new(visit: &'v mut dyn FnMut(Key<'_>)) -> Self {
        let section = String::new();
        Self { visit, section }
    }

    /// The part of the table under the key `name`.
    pub fn section(&mut self, name: &str) -> Table<'_> {
        Table {
            section: format!("{}{name}.", self.section),
            visit: self.visit,
        }
    }

    /// A key by its dotted path below this section, with its field and a sentence about it. Where it is left out, the
    /// field keeps its value.
    pub fn key(&mut self, path: &str, field: Field<'_>, purpose: &'static str) {
        self.enter(path, field, purpose, Absent::Default);
    }

    /// A key that must be given; the value of the field is an example.
    pub fn required(&mut self, path: &str, field: Field<'_>, purpose: &'static str) {
        self.enter(path, field, purpose, Absent::Required);
    }

    /// Adds a key whose default depends on another key, and is given as text.
    pub fn depends(&mut self, path: &str, field: Field<'_>, default: &str, purpose: &'static str) {
        self.enter(path, field, purpose, Absent::Depends(default));
    }

    /// A key that is written only if its value is not the first one that is allowed: files without it keep their bytes.
    pub fn added(&mut self, path: &str, field: Field<'_>, purpose: &'static str) {
        self.enter(path, field, purpose, Absent::First);
    }

    fn enter(&mut self, path: &str, field: Field<'_>, purpose: &'static str, absent: Absent<'_>) {
        let path = &format!("{}{path}", self.section);
        (self.visit)(Key {
            path,
            purpose,
            absent,
            field,
        });
    }
}

/// One key of a configuration.
pub struct Key<'a> {
    /// The path, with dots.
    pub path: &'a str,
    /// The meaning, as a phrase.
    pub purpose: &'static str,
    /// The default.
    pub absent: Absent<'a>,
    /// The value, with its allowed range.
    pub field: Field<'a>,
}

/// The value of a key that is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent<'a> {
    /// The value that the field has.
    Default,
    /// A default that these words describe.
    Depends(&'a str),
    /// The first word, or the least number, which is not written.
    First,
    /// Required: there is no default.
    Required,
}

/// The field of a key, with the allowed values.
pub enum Field<'a> {
    /// A whole number.
    Integer(&'a mut usize, RangeInclusive<usize>),
    /// A whole number of 64 bits.
    Integer64(&'a mut u64, RangeInclusive<u64>),
    /// A number.
    Number(&'a mut f64, &'static Rule),
    /// A number between two others.
    Within(&'a mut f64, RangeInclusive<f64>),
    /// A constant; or `None`: learned.
    Constant(&'a mut Option<f64>, &'static Rule),
    /// One of a few words; another word brings the defaults of the keys that depend on it.
    Choice(&'a mut (dyn Choice + 'static)),
    /// One of a few words for all, or a list with one for each.
    ChoicePerHead(&'a mut (dyn Choices + 'static)),
    /// Any text.
    Text(&'a mut String),
    /// The lowest and the highest of a range.
    Range(&'a mut RangeInclusive<usize>, RangeInclusive<usize>),
    /// Whole numbers, each of them in the range.
    IntegerList(&'a mut Vec<usize>, RangeInclusive<usize>),
}

/// A rule for numbers.
#[derive(Debug)]
pub struct Rule {
    /// The allowed values as text.
    pub allowed: &'static str,
    /// True for an allowed number.
    pub holds: fn(f64) -> bool,
    /// The ends of the smallest closed interval with every allowed number.
    pub ends: [f64; 2],
}

impl Rule {
    /// The numbers 0 to 1.
    pub const FRACTION: Self = Self {
        allowed: "0 to 1",
        holds: |value| (0.0..=1.0).contains(&value),
        ends: [0.0, 1.0],
    };

    /// Above 0 and finite, also as an f32.
    pub const POSITIVE: Self = Self {
        allowed: "a number above 0 that 32 bits can hold",
        holds: |value| value as f32 > 0.0 && (value as f32).is_finite(),
        ends: [0.0, f32::MAX as f64],
    };

    /// Decay of a running mean: with 1, also after rounding to f32, it would never move.
    pub const BELOW_ONE: Self = Self {
        allowed: "from 0 to less than 1, in 32 bits",
        holds: |value| (0.0..1.0).contains(&(value as f32)),
        ends: [0.0, 1.0],
    };
}

/// A choice of one word from a few: alone, or with the keys that depend on it.
pub trait Words: Clone + 'static {
    /// The words of presets and traces, each with its defaults.
    const WORDS: &'static [(&'static str, Self)];
}

/// A part that is there or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The part is present.
    On,
    /// The part is omitted.
    Off,
}

impl Words for Switch {
    const WORDS: &'static [(&'static str, Self)] = &[("on", Self::On), ("off", Self::Off)];
}

/// [`Words`] of any type.
pub trait Choice {
    /// The words there are.
    fn words(&self) -> Vec<&'static str>;
    /// Returns the chosen word; empty for a value without a word.
    fn word(&self) -> &'static str;
    /// Chooses a word. Another word brings its defaults; the current one keeps the present values. Returns false for an
    /// unknown word.
    fn choose(&mut self, word: &str) -> bool;
}

impl<T: Words> Choice for T {
    fn words(&self) -> Vec<&'static str> {
        T::WORDS.iter().map(|(word, _)| *word).collect()
    }

    fn word(&self) -> &'static str {
        let mut words = T::WORDS.iter();
        let own = words.find(|(_, known)| discriminant(known) == discriminant(self));
        own.map_or("", |(word, _)| word)
    }

    fn choose(&mut self, word: &str) -> bool {
        let chosen = T::WORDS.iter().find(|(known, _)| *known == word);
        if let Some((word, default)) = chosen
            && self.word() != *word
        {
            self.clone_from(default);
        }
        chosen.is_some()
    }
}

/// A value per head: one for all heads, or one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerHead<T: 'static> {
    all: T,
    /// One value for each head; empty if all heads are alike.
    own: Vec<T>,
}

impl<T: Copy> PerHead<T> {
    /// One value for all heads.
    pub const fn all(choice: T) -> Self {
        let own = Vec::new();
        Self { all: choice, own }
    }

    /// Returns the value of this head.
    pub fn of(&self, head: usize) -> T {
        self.own.get(head).copied().unwrap_or(self.all)
    }

    /// The value of all heads, to change.
    pub fn all_mut(&mut self) -> &mut T {
        &mut self.all
    }

    /// True if it holds for any head.
    pub fn any(&self, is_so: impl Fn(T) -> bool) -> bool {
        (0..self.own.len().max(1)).any(|head| is_so(self.of(head)))
    }

    /// Returns the number of heads with their own values; `None` if all heads are alike.
    pub fn heads(&self) -> Option<usize> {
        (!self.own.is_empty()).then_some(self.own.len())
    }
}

impl<T: Copy> From<T> for PerHead<T> {
    fn from(choice: T) -> Self {
        Self::all(choice)
    }
}

impl<T: Copy> From<Vec<T>> for PerHead<T> {
    /// One for each head.
    ///
    /// # Panics
    /// Where there is none.
    fn from(own: Vec<T>) -> Self {
        let all = own[0];
        Self { all, own }
    }
}

/// [`PerHead`] of any type with [`Words`].
pub trait Choices {
    /// The words there are.
    fn words(&self) -> Vec<&'static str>;
    /// Returns the chosen words: one for all heads, or one for each.
    fn chosen(&self) -> Vec<&'static str>;
    /// Chooses one word for all; false when there is no such word.
    fn choose(&mut self, word: &str) -> bool;
    /// Chooses one word for each, at least one. `Err`: the first that is no such word; empty for no word at all.
    ///
    /// # Errors
    /// A word is not one of [`Choices::words`].
    fn choose_each(&mut self, words: &[String]) -> Result<(), String>;
}

impl<T: Words + Copy> Choices for PerHead<T> {
    fn words(&self) -> Vec<&'static str> {
        T::WORDS.iter().map(|(word, _)| *word).collect()
    }

    fn chosen(&self) -> Vec<&'static str> {
        let heads = 0..self.own.len().max(1);
        heads.map(|head| Choice::word(&self.of(head))).collect()
    }

    fn choose(&mut self, word: &str) -> bool {
        let chosen = of_word(word);
        if let Some(choice) = chosen {
            *self = Self::all(choice);
        }
        chosen.is_some()
    }

    fn choose_each(&mut self, words: &[String]) -> Result<(), String> {
        let of = |word: &String| of_word(word).ok_or_else(|| word.clone());
        let own: Vec<T> = words.iter().map(of).collect::<Result<_, _>>()?;
        if own.is_empty() {
            return Err(String::new());
        }
        *self = own.into();
        Ok(())
    }
}

fn of_word<T: Words + Copy>(word: &str) -> Option<T> {
    let known = T::WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, choice)| *choice)
}

/// Holds every field to its range.
///
/// # Errors
/// The first key that is out of its range, with what is allowed.
pub fn check(config: &mut impl Keys) -> Result<(), ConfigError> {
    let mut checked = Ok(());
    config.keys(&mut Table::new(&mut |key| {
        if checked.is_ok() {
            checked = key.check();
        }
    }));
    checked
}

impl Key<'_> {
    /// The word that is chosen; empty where the field is no choice.
    pub fn word(&self) -> &'static str {
        match &self.field {
            Field::Choice(choice) => choice.word(),
            _ => "",
        }
    }

    /// True if files contain the key.
    pub fn is_written(&self) -> bool {
        let is_first = match &self.field {
            Field::Choice(choice) => choice.words().first() == Some(&choice.word()),
            Field::Integer(value, range) => **value == *range.start(),
            Field::Integer64(value, range) => **value == *range.start(),
            Field::Text(text) => text.is_empty(),
            _ => false,
        };
        self.absent != Absent::First || !is_first
    }

    /// Describes the allowed values; empty for a text or a choice.
    pub fn allowed(&self) -> String {
        match &self.field {
            Field::Integer(_, allowed) | Field::IntegerList(_, allowed) => span(allowed),
            Field::Integer64(_, allowed) => span(allowed),
            Field::Within(_, allowed) => {
                format!("{} to {}", brief(*allowed.start()), brief(*allowed.end()))
            }
            Field::Number(_, rule) | Field::Constant(_, rule) => rule.allowed.to_owned(),
            Field::Choice(_) | Field::ChoicePerHead(_) | Field::Text(_) => String::new(),
            Field::Range(_, allowed) => {
                let (least, most) = (allowed.start(), allowed.end());
                format!("[lowest, highest] with {least} ≤ lowest ≤ highest ≤ {most}")
            }
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let unless = |is_right: bool, found: &dyn Display| {
            ConfigError::unless(is_right, self.path, found, || self.allowed())
        };
        match &self.field {
            Field::Integer(value, allowed) => unless(allowed.contains(value), value),
            Field::Integer64(value, allowed) => unless(allowed.contains(value), value),
            Field::Number(value, rule) => unless((rule.holds)(**value), &brief(**value)),
            Field::Within(value, allowed) => unless(allowed.contains(value), &brief(**value)),
            Field::Constant(value, rule) => {
                value.map_or(Ok(()), |value| unless((rule.holds)(value), &brief(value)))
            }
            Field::Range(value, allowed) => {
                let (low, high) = (value.start(), value.end());
                let is_right = allowed.contains(low) && low <= high && high <= allowed.end();
                unless(is_right, &format!("[{low}, {high}]"))
            }
            Field::IntegerList(values, allowed) => {
                (0..).zip(&**values).try_for_each(|(index, value)| {
                    let place = format!("{}[{index}]", self.path);
                    ConfigError::unless(allowed.contains(value), &place, value, || self.allowed())
                })
            }
            Field::Choice(_) | Field::ChoicePerHead(_) | Field::Text(_) => Ok(()),
        }
    }
}

fn span(range: &RangeInclusive<impl Display>) -> String {
    format!("{} to {}", range.start(), range.end())
}

/// A number in few characters, also when it is very large or very small.
pub fn brief(value: f64) -> String {
    if value == 0.0 || (1e-5..1e15).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A field of a configuration that is out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The path of the field as a preset writes it.
    pub field: String,
    /// The value that was given.
    pub found: String,
    /// The allowed values.
    pub allowed: String,
}

impl ConfigError {
    /// The error for a field, unless it is right.
    pub(crate) fn unless(
        is_right: bool,
        field: &str,
        found: impl Display,
        allowed: impl FnOnce() -> String,
    ) -> Result<(), Self> {
        if is_right {
            return Ok(());
        }
        Err(Self {
            field: field.to_owned(),
            found: found.to_string(),
            allowed: allowed(),
        })
    }
}

impl Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (field, found, allowed) = (&self.field, &self.found, &self.allowed);
        write!(f, "{field} is {found}; allowed: {allowed}")
    }
}

impl std::error::Error for ConfigError {}
