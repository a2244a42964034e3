//! Results that are kept while they are needed again: a frame computes only what has changed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last `N` results, each with the key of everything that it depends on.
#[derive(Debug)]
pub struct Memo<K, V, const N: usize> {
    entries: Mutex<VecDeque<(K, V)>>,
    computed: AtomicUsize,
}

impl<K, V, const N: usize> Default for Memo<K, V, N> {
    fn default() -> Self {
        let (entries, computed) = Default::default();
        Self { entries, computed }
    }
}

/// A copy begins without results.
impl<K, V, const N: usize> Clone for Memo<K, V, N> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<K: PartialEq, V: Clone, const N: usize> Memo<K, V, N> {
    /// Returns the result for a key; computes it where it is not among the last ones.
    pub fn get(&self, key: K, compute: impl FnOnce() -> V) -> V {
        let is_it = |entries: &&(K, V)| entries.0 == key;
        if let Some((_, value)) = self.lock().iter().find(is_it) {
            return value.clone();
        }
        let value = compute();
        let mut entries = self.lock();
        entries.truncate(N - 1);
        entries.push_front((key, value.clone()));
        self.computed.fetch_add(1, Ordering::Relaxed);
        value
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(K, V)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of results computed so far.
    pub fn computed(&self) -> usize {
        self.computed.load(Ordering::Relaxed)
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
