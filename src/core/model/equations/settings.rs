//! The values that a preset gives to the keys of a machine file.

use std::collections::BTreeMap;

use crate::equations::page::{Given, Page};

/// Values that a preset gives to the keys of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settings {
    /// Sizes, numbers of heads and constants, by name.
    pub numbers: BTreeMap<String, f64>,
    /// Choices of switches, by name: one, or one for each head.
    pub choices: BTreeMap<String, Vec<String>>,
}

impl Settings {
    /// With a page the choices, and the numbers, each within its range there; without one the choices of the first heads.
    pub(super) fn given(&self, page: Option<&Page>) -> Given {
        let mut given = Given::default();
        for (name, words) in &self.choices {
            let count = if page.is_some() { words.len() } else { 1 };
            let words = words.iter().take(count);
            let words = words.map(|word| word.as_str().into()).collect();
            given.choices.insert(name.as_str().into(), words);
        }
        for (name, number) in self.numbers.iter().filter(|_| page.is_some()) {
            let key = page
                .and_then(|page| page.key(name))
                .filter(|key| key.is_settable());
            if let Some(key) = key.filter(|key| key.range[0] <= key.range[1]) {
                let number = number.clamp(key.range[0], key.range[1]);
                given.numbers.insert(name.as_str().into(), number);
            }
        }
        given
    }
}
