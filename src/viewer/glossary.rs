//! The glossary: each term with its symbol, one sentence, its source and a link that shows it.

use std::sync::LazyLock;

/// The page whose table this is.
const PAGE: &str = include_str!("../../docs/glossary.md");

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The term.
    pub name: &'static str,
    /// The symbol in the equations; `-` for none.
    pub symbol: &'static str,
    /// One sentence.
    pub meaning: &'static str,
    /// The paper and its section, or the page of the documentation.
    pub source: &'static str,
    /// The link to an episode that shows it.
    pub link: Option<&'static str>,
}

impl Term {
    fn of(row: &'static str) -> Option<Self> {
        let mut cells = row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        let mut cell = || cells.next();
        Some(Self {
            name: cell()?,
            symbol: cell()?,
            meaning: cell()?,
            source: cell()?,
            link: Some(cell()?.trim_matches('`')).filter(|link| *link != "-"),
        })
    }

    /// Returns the name with its symbol.
    pub fn title(&self) -> String {
        match self.symbol {
            "-" => self.name.to_owned(),
            symbol => format!("{} ({symbol})", self.name),
        }
    }
}

/// The terms of the page, read once: headings look theirs up in every frame.
static TERMS: LazyLock<Vec<Term>> =
    LazyLock::new(|| PAGE.lines().filter_map(Term::of).skip(1).collect());

/// Returns all terms, in alphabetical order.
pub fn terms() -> impl Iterator<Item = Term> {
    TERMS.iter().copied()
}

/// Returns the term of this name, in any case.
pub fn find(name: &str) -> Option<Term> {
    terms().find(|term| term.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::Options;

    #[test]
    fn every_term_has_one_sentence_and_a_valid_link() {
        let terms: Vec<_> = terms().collect();
        assert!(terms.len() >= 50, "{}", terms.len());
        for term in terms {
            assert!(term.meaning.ends_with('.'), "{}", term.name);
            assert!(term.meaning.split(' ').count() <= 30, "{}", term.name);
            if let Some(link) = term.link {
                assert!(Options::linked(link).is_ok(), "{}: {link}", term.name);
            }
        }
    }

    #[test]
    fn terms_are_found_in_any_case() {
        assert_eq!(find("Gate").unwrap().symbol, "g");
        assert!(find("no such term").is_none());
    }
}
