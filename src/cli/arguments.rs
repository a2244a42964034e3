//! The values of options, and their limits.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::ensure;
use clap::Args;

use crate::io::trace::{AttentionOptions, Words};
use crate::model::sam::SamConfig;

/// The most threads of a command.
pub(super) const MOST_THREADS: usize = 1024;
/// The most episodes of a measurement.
pub(super) const MOST_EPISODES: usize = 10_000_000;

/// The most samples of an episode.
pub(super) const MOST_SAMPLES: u64 = 10_000;

/// A seed, or the index of an episode, as it is typed.
pub(super) fn from_zero(text: &str) -> Result<u64, String> {
    let expected = format!("a whole number, 0 to {}", u64::MAX);
    within(text, 0..=u64::MAX, &expected)
}

/// A number of memory rows, as it is typed.
pub(super) fn rows(text: &str) -> Result<usize, String> {
    up_to(SamConfig::MAX_ROWS)(text).map_err(|problem| match text {
        "all" | "touched" => {
            format!("{problem}; to choose the rows in a figure, use `render --show-rows {text}`")
        }
        _ => problem,
    })
}

/// Sizes on which no weight depends, in place of those of the training.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(super) struct Resize {
    /// Number of memory rows [default: as in training].
    #[arg(long, value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    pub(super) rows: Option<usize>,
    /// Set a size of a machine file on which no tensor depends (rows=1024); repeatable. With `render` also width and
    /// height of the page (1200x800) [default: as in training].
    #[arg(long = "size", value_name = "NAME=N", value_parser = size)]
    pub(super) sizes: Vec<Size>,
}

/// The heading of the options of attention.
const ATTENTION: &str = "Attention of another program";

/// What belongs to attention of another program: weights in a .npy or a text file, or links in the Pharaoh format (0-0 1p2).
#[derive(Args, Clone, Debug, Default)]
pub(super) struct AttentionArgs {
    /// Text file with the token of each step, separated by blanks.
    #[arg(long, help_heading = ATTENTION, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Text file with the tokens of another sequence, to which the steps attend.
    #[arg(long, help_heading = ATTENTION, value_name = "FILE")]
    source_tokens: Option<PathBuf>,
    /// Pharaoh file with the known links, for the alignment error rate: 0-0 for sure links, 1p2 for possible ones.
    #[arg(long, help_heading = ATTENTION, value_name = "FILE")]
    links: Option<PathBuf>,
    /// Line of these files, from 1: each has a pair of sentences in a line [default: 1 with links, otherwise a file is one
    /// text].
    #[arg(long, help_heading = ATTENTION, value_name = "N", value_parser = up_to(usize::MAX), allow_negative_numbers = true)]
    line: Option<usize>,
    /// Number of the first token in links, 0 or 1.
    #[arg(long, help_heading = ATTENTION, value_name = "0|1", default_value = "0", value_parser = first, allow_negative_numbers = true)]
    first: usize,
    /// Number of the first token in the known links, where they count otherwise.
    #[arg(long, help_heading = ATTENTION, value_name = "0|1", value_parser = first, allow_negative_numbers = true)]
    links_first: Option<usize>,
}

fn first(text: &str) -> Result<usize, String> {
    within(text, 0..=1, "0 or 1")
}

impl AttentionArgs {
    /// Checks that none is given for a machine of this name.
    ///
    /// # Errors
    /// Names what they belong to.
    pub(super) fn check_machine(&self, name: &str) -> anyhow::Result<()> {
        ensure!(
            self.options() == AttentionOptions::default(),
            "{name} is a machine; files of tokens and links belong to attention of another program: .npy, a matrix, or links"
        );
        Ok(())
    }

    /// What belongs to the weights.
    pub(super) fn options(&self) -> AttentionOptions {
        let [tokens, source, links] = [&self.tokens, &self.source_tokens, &self.links]
            .map(|file| file.clone().map(Words::File));
        AttentionOptions {
            tokens,
            source,
            links,
            line: self.line,
            first: self.first,
            links_first: self.links_first,
        }
    }
}

/// A size, as it is typed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Size {
    /// Of a machine, by its name.
    Machine(String, usize),
    /// Width and height of a page.
    Page(f32, f32),
}

impl Resize {
    /// Takes the size of a page out.
    pub(super) fn take_page(&mut self) -> Option<(f32, f32)> {
        let page = self.sizes.iter().rev().find_map(|size| match size {
            Size::Page(width, height) => Some((*width, *height)),
            Size::Machine(..) => None,
        });
        self.sizes.retain(|size| matches!(size, Size::Machine(..)));
        page
    }
}

/// The largest width and height of a page.
pub(super) const MOST_OF_PAGE: f32 = 16_384.0;

fn size(text: &str) -> Result<Size, String> {
    let side = |text: &str| text.parse::<u16>().ok().map(f32::from);
    let is_right = |side: &f32| (1.0..=MOST_OF_PAGE).contains(side);
    if let Some((width, height)) = text.split_once(['x', '×'])
        && let Some(width) = side(width).filter(is_right)
        && let Some(height) = side(height).filter(is_right)
    {
        return Ok(Size::Page(width, height));
    }
    let named = text.split_once('=');
    let named =
        named.and_then(|(name, size)| Some(Size::Machine(name.to_owned(), size.parse().ok()?)));
    named.ok_or_else(|| {
        format!(
            "expected NAME=N, such as rows=1024; of a page width and height, such as 1200x800, each at most {MOST_OF_PAGE}"
        )
    })
}

/// A step of an episode, as it is typed.
pub(super) fn step(text: &str) -> Result<usize, String> {
    within(text, 0..=usize::MAX, "a step number, 0 or more")
}

/// Reads whole numbers from 1 to `most`: one, or a range with both ends.
pub(super) fn range_up_to(
    most: usize,
) -> impl Fn(&str) -> Result<RangeInclusive<usize>, String> + Clone {
    move |text| {
        let expected = format!("expected a whole number, 1 to {most}, or a range such as 10..20");
        let [first, last] = ends(text, &expected)?.map(usize::try_from);
        match (first, last) {
            (Ok(first @ 1..), Ok(last)) if last <= most => Ok(first..=last),
            _ => Err(expected),
        }
    }
}

/// Reads a whole number from 1 to `most`.
pub(super) fn up_to<T>(most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + From<u8> + Copy,
{
    move |text| {
        within(
            text,
            T::from(1)..=most,
            &format!("a whole number, 1 to {most}"),
        )
    }
}

/// Reads a number in a range; the error says what was `expected`.
pub(super) fn within<T: FromStr + PartialOrd>(
    text: &str,
    range: RangeInclusive<T>,
    expected: &str,
) -> Result<T, String> {
    let value = text.parse().ok().filter(|value| range.contains(value));
    value.ok_or_else(|| format!("expected {expected}"))
}

/// Returns the number of threads: the requested number, or one per processor.
pub(super) fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The ends of a range as it is typed: `3`, or `1..10`, both included.
///
/// # Errors
/// The ends are the wrong way round, or else what was `expected`.
pub(super) fn ends(part: &str, expected: &str) -> Result<[u64; 2], String> {
    let (first, last) = part.split_once("..").unwrap_or((part, part));
    match [first, last].map(|end| end.trim().parse::<u64>()) {
        [Ok(first), Ok(last)] if first > last => {
            Err(format!("`{part}`: {last} comes before {first}"))
        }
        [Ok(first), Ok(last)] => Ok([first, last]),
        _ => Err(expected.to_owned()),
    }
}

/// True for two names of one existing file or folder.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| path.canonicalize().ok();
    found(one).is_some_and(|one| Some(one) == found(other))
}
