//! Results that are kept while they are needed again: a frame computes only what has changed.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The last `N` results, each with the key of everything that it depends on.
#[derive(Clone, Debug)]
pub struct Memo<K, V, const N: usize> {
    kept: RefCell<VecDeque<(K, V)>>,
    computed: Cell<usize>,
}

impl<K, V, const N: usize> Default for Memo<K, V, N> {
    fn default() -> Self {
        let (kept, computed) = Default::default();
        Self { kept, computed }
    }
}

impl<K: PartialEq, V: Clone, const N: usize> Memo<K, V, N> {
    /// Returns the result for a key; computes it where it is not among the last ones.
    pub fn get(&self, key: K, compute: impl FnOnce() -> V) -> V {
        let is_it = |kept: &&(K, V)| kept.0 == key;
        if let Some((_, value)) = self.kept.borrow().iter().find(is_it) {
            return value.clone();
        }
        let value = compute();
        let mut kept = self.kept.borrow_mut();
        kept.truncate(N - 1);
        kept.push_front((key, value.clone()));
        self.computed.set(self.computed.get() + 1);
        value
    }

    /// Returns the number of results computed so far.
    pub fn computed(&self) -> usize {
        self.computed.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_computed_once_while_it_is_among_the_last() {
        let memo = Memo::<u8, u8, 2>::default();
        let double = |of: u8| memo.get(of, || 2 * of);
        assert_eq!([1, 1, 2, 1, 2].map(double), [2, 2, 4, 2, 4]);
        assert_eq!(memo.computed(), 2);
        assert_eq!([3, 2, 1].map(double), [6, 4, 2]);
        assert_eq!(memo.computed(), 4);
    }
}
