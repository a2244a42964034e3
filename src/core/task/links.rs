//! Links of an alignment: which source steps the tokens of an answer come from.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// The sides of a pair.
pub(super) const SIDES: [&str; 2] = ["source", "target"];

/// A link of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The source token and the target token, from 0.
    pub ends: [usize; 2],
    /// False for a possible one.
    pub is_sure: bool,
}

/// As [`Link::parse`] reads it.
impl Display for Link {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [from, to] = self.ends;
        write!(f, "{from}{}{to}", if self.is_sure { '-' } else { 'p' })
    }
}

impl Link {
    /// Reads a link in the Pharaoh format, such as `0-2`, or `0p2` of a possible one; `lengths` are the numbers of tokens of
    /// source and target, which are counted from `first`.
    ///
    /// # Errors
    /// The link, and what is expected.
    pub fn parse(link: &str, lengths: [usize; 2], first: usize) -> Result<Self, String> {
        let fail = |problem: String| {
            let link: String = link.chars().take(40).collect();
            Err(format!("has the link `{link}`; {problem}"))
        };
        // `+0` would be a number too.
        let place = |end: &str| end.parse::<usize>().ok().filter(|_| !end.starts_with('+'));
        let ends = link.split_once(['-', 'p']);
        let Some([Some(from), Some(to)]) = ends.map(|(from, to)| [from, to].map(place)) else {
            let expected = "expected a source token, - or p, and a target token, such as 0-2";
            return fail(expected.to_owned());
        };
        for ((end, length), side) in [from, to].into_iter().zip(lengths).zip(SIDES) {
            if end.checked_sub(first).is_none_or(|end| end >= length) {
                let last = (first + length).saturating_sub(1);
                return fail(format!(
                    "{end} is outside the {side}, which has the tokens {first} to {last}"
                ));
            }
        }
        Ok(Self {
            ends: [from, to].map(|end| end - first),
            is_sure: !link.contains('p'),
        })
    }

    /// Reads some: see [`Link::parse`].
    ///
    /// # Errors
    /// The first link that is wrong, and what is expected.
    pub fn parse_all<'a>(
        links: impl IntoIterator<Item = &'a str>,
        lengths: [usize; 2],
        first: usize,
    ) -> Result<Vec<Self>, String> {
        let links: Vec<&str> = links.into_iter().collect();
        let from = |first: usize| -> Result<Vec<Self>, String> {
            let links = links.iter();
            links
                .map(|link| Self::parse(link, lengths, first))
                .collect()
        };
        from(first).map_err(|problem| match from(1) {
            Ok(_) if first == 0 => {
                format!("{problem}; all links fit if the first token is 1 (--first 1 or --links-first 1; of a task, `first_token`)")
            }
            _ => problem,
        })
    }

    /// The source tokens of each of `count` target tokens, from the first link to the last: of all links, and of the sure
    /// ones, where not all are sure.
    pub fn by_target(links: &[Self], count: usize) -> [Vec<Option<Range<usize>>>; 2] {
        let of = |are_sure: bool| {
            let mut targets = vec![None::<Range<usize>>; count];
            for link in links.iter().filter(|link| link.is_sure || !are_sure) {
                let [from, to] = link.ends;
                let of = targets[to].get_or_insert(from..from + 1);
                *of = of.start.min(from)..of.end.max(from + 1);
            }
            targets
        };
        let (all, sure) = (of(false), of(true));
        let sure = if sure == all { Vec::new() } else { sure };
        [all, sure]
    }
}

/// Known links, and the steps of the tokens that may have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// All of them; their ends are a source step and a step of the answer.
    pub all: Vec<Link>,
    /// The steps of the answer that are tokens, with a link or without; empty where no links are known.
    pub tokens: Range<usize>,
}

impl Links {
    /// Links between the tokens of a source and of an answer, of which these steps are the tokens.
    pub fn between_tokens(links: &[Link], tokens: Range<usize>) -> Self {
        let moved = |link: &Link| Link {
            ends: [link.ends[0], tokens.start + link.ends[1]],
            ..*link
        };
        let all = links.iter().map(moved).collect();
        Self { all, tokens }
    }

    /// True where links are known.
    pub fn are_known(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// [`Link::by_target`] of the steps of an episode.
    pub fn by_step(&self, steps: usize) -> [Vec<Option<Range<usize>>>; 2] {
        Link::by_target(&self.all, steps)
    }
}
