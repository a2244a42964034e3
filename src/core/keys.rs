//! The keys of a configuration, each written down once: its path in a preset, the field behind it, what the field may
//! be, and a sentence about it.
//!
//! A configuration enters its keys into a [`Table`], one after the other. Whoever hands it a table takes from every
//! entry what he needs: the reader of a preset sets the field, its writer gets it, [`check`] holds it to its
//! range, `tapescope tasks --keys` and docs/formats.md print it. A field that is a choice
//! ([`Words`]) is entered before what depends on it: a configuration of another kind has other keys.

use std::fmt::Display;
use std::mem::discriminant;
use std::ops::RangeInclusive;

/// What has keys.
pub trait Keys {
    /// Enters every key that this configuration has, in the order in which a preset is written.
    fn keys(&mut self, to: &mut Table<'_>);
}

/// Where the keys of a configuration are entered.
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

    /// A key whose default depends on something else, and is said in words.
    pub fn depends(
        &mut self,
        path: &str,
        field: Field<'_>,
        default: &'static str,
        purpose: &'static str,
    ) {
        self.enter(path, field, purpose, Absent::Depends(default));
    }

    fn enter(&mut self, path: &str, field: Field<'_>, purpose: &'static str, absent: Absent) {
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
    /// Where it stands, with dots.
    pub path: &'a str,
    /// What it is, in a sentence.
    pub purpose: &'static str,
    /// What holds where it is left out.
    pub absent: Absent,
    /// Its value, and what that may be.
    pub field: Field<'a>,
}

/// What holds where a key is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// The value that the field has.
    Default,
    /// What these words say.
    Depends(&'static str),
    /// It must not be left out.
    Required,
}

/// The field behind a key, with what is allowed.
pub enum Field<'a> {
    /// A whole number.
    Whole(&'a mut usize, RangeInclusive<usize>),
    /// A whole number of 64 bits.
    Long(&'a mut u64, RangeInclusive<u64>),
    /// A number.
    Number(&'a mut f64, &'static Rule),
    /// A constant; or `None`: learned.
    Constant(&'a mut Option<f64>, &'static Rule),
    /// One of a few words; with another one come the defaults of what depends on it.
    Word(&'a mut (dyn Choice + 'static)),
    /// One of a few words for all, or a list with one for each.
    Each(&'a mut (dyn Choices + 'static)),
    /// Any text.
    Text(&'a mut String),
    /// The lowest and the highest of a range.
    Ends(&'a mut RangeInclusive<usize>, RangeInclusive<usize>),
    /// Whole numbers, each of them in the range.
    List(&'a mut Vec<usize>, RangeInclusive<usize>),
}

/// A rule for numbers.
#[derive(Debug)]
pub struct Rule {
    /// In words.
    pub allowed: &'static str,
    /// Whether a number obeys it.
    pub holds: fn(f64) -> bool,
}

impl Rule {
    /// From 0 to 1.
    pub const SHARE: Self = Self {
        allowed: "0 to 1",
        holds: |value| (0.0..=1.0).contains(&value),
    };

    /// Above 0 and finite, also as an f32.
    pub const POSITIVE: Self = Self {
        allowed: "a number above 0 that 32 bits can hold",
        holds: |value| value as f32 > 0.0 && (value as f32).is_finite(),
    };

    /// What a running mean keeps of itself: with a share of 1, also after rounding to f32, it would never move.
    pub const FADING: Self = Self {
        allowed: "from 0 to less than 1, in 32 bits",
        holds: |value| (0.0..1.0).contains(&(value as f32)),
    };
}

/// What is one of a few words: a choice alone, or with what depends on it.
pub trait Words: Clone + 'static {
    /// The words of presets and traces, each with its defaults.
    const WORDS: &'static [(&'static str, Self)];
}

/// [`Words`] of any type.
pub trait Choice {
    /// The words there are.
    fn words(&self) -> Vec<&'static str>;
    /// The word that is chosen; empty for what has no word.
    fn word(&self) -> &'static str;
    /// Chooses a word. With another one come its defaults; the one that is chosen already keeps what is there. False when
    /// there is no such word.
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

/// A choice that is made once for all heads, or for each of them.
#[derive(Clone, Debug)]
pub struct Each<T: 'static> {
    all: T,
    /// Of every head; empty where all are alike.
    own: Vec<T>,
}

impl<T: Copy> Each<T> {
    /// The same for all.
    pub const fn all(choice: T) -> Self {
        let own = Vec::new();
        Self { all: choice, own }
    }

    /// Of this head.
    pub fn of(&self, head: usize) -> T {
        self.own.get(head).copied().unwrap_or(self.all)
    }

    /// Whether it is so of any.
    pub fn any(&self, is_so: impl Fn(T) -> bool) -> bool {
        (0..self.own.len().max(1)).any(|head| is_so(self.of(head)))
    }

    /// Of how many heads it says so; `None` where all are alike.
    pub fn heads(&self) -> Option<usize> {
        (!self.own.is_empty()).then_some(self.own.len())
    }
}

impl<T: Copy + PartialEq> PartialEq for Each<T> {
    /// The same for every head, however it is written.
    fn eq(&self, other: &Self) -> bool {
        let mut heads = 0..self.own.len().max(other.own.len());
        self.all == other.all && heads.all(|head| self.of(head) == other.of(head))
    }
}

impl<T: Copy + Eq> Eq for Each<T> {}

impl<T: Copy> From<T> for Each<T> {
    fn from(choice: T) -> Self {
        Self::all(choice)
    }
}

impl<T: Copy> From<Vec<T>> for Each<T> {
    /// One for each head.
    ///
    /// # Panics
    /// Where there is none.
    fn from(own: Vec<T>) -> Self {
        let all = own[0];
        Self { all, own }
    }
}

/// [`Each`] of any type with [`Words`].
pub trait Choices {
    /// The words there are.
    fn words(&self) -> Vec<&'static str>;
    /// What is chosen: one word for all, or one for each.
    fn chosen(&self) -> Vec<&'static str>;
    /// Chooses one word for all; false when there is no such word.
    fn choose(&mut self, word: &str) -> bool;
    /// Chooses one word for each, at least one. `Err`: the first that is no such word; empty for no word at all.
    ///
    /// # Errors
    /// A word is not one of [`Choices::words`].
    fn choose_each(&mut self, words: &[String]) -> Result<(), String>;
}

impl<T: Words + Copy> Choices for Each<T> {
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
            Field::Word(choice) => choice.word(),
            _ => "",
        }
    }

    /// What is allowed, in words; empty for a text or a choice.
    pub fn allowed(&self) -> String {
        match &self.field {
            Field::Whole(_, allowed) | Field::List(_, allowed) => span(allowed),
            Field::Long(_, allowed) => span(allowed),
            Field::Number(_, rule) | Field::Constant(_, rule) => rule.allowed.to_owned(),
            Field::Word(_) | Field::Each(_) | Field::Text(_) => String::new(),
            Field::Ends(_, allowed) => {
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
            Field::Whole(value, allowed) => unless(allowed.contains(value), value),
            Field::Long(value, allowed) => unless(allowed.contains(value), value),
            Field::Number(value, rule) => unless((rule.holds)(**value), &brief(**value)),
            Field::Constant(value, rule) => {
                value.map_or(Ok(()), |value| unless((rule.holds)(value), &brief(value)))
            }
            Field::Ends(value, allowed) => {
                let (low, high) = (value.start(), value.end());
                let is_right = allowed.contains(low) && low <= high && high <= allowed.end();
                unless(is_right, &format!("[{low}, {high}]"))
            }
            Field::List(values, allowed) => (0..).zip(&**values).try_for_each(|(index, value)| {
                let place = format!("{}[{index}]", self.path);
                ConfigError::unless(allowed.contains(value), &place, value, || self.allowed())
            }),
            Field::Word(_) | Field::Each(_) | Field::Text(_) => Ok(()),
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
    /// What was given.
    pub found: String,
    /// What is allowed.
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
