//! Names and descriptions of arrays that stand in files: each is kept once, for as long as the program runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::model::spec::{Array, ArraySpec, ReadSpec, TakenEntry};

/// Interns a text.
pub(super) fn text(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let own = known.get(text).copied();
    own.unwrap_or_else(|| {
        let own = Box::leak(text.to_owned().into_boxed_str());
        known.insert(own);
        own
    })
}

/// Lists of one kind.
type Lists<T> = Mutex<BTreeSet<&'static [T]>>;

/// Interns a list of texts.
pub(super) fn texts(texts: &[&'static str]) -> &'static [&'static str] {
    static KNOWN: Lists<&str> = Mutex::new(BTreeSet::new());
    interned(&KNOWN, texts)
}

/// Interns names.
pub(super) fn names(names: &[String]) -> &'static [String] {
    static KNOWN: Lists<String> = Mutex::new(BTreeSet::new());
    interned(&KNOWN, names)
}

/// Interns what a line reads.
pub(super) fn reads(reads: &[ReadSpec]) -> &'static [ReadSpec] {
    static KNOWN: Lists<ReadSpec> = Mutex::new(BTreeSet::new());
    interned(&KNOWN, reads)
}

/// Interns the entries that are taken.
pub(super) fn entries(entries: &[TakenEntry]) -> &'static [TakenEntry] {
    static KNOWN: Lists<TakenEntry> = Mutex::new(BTreeSet::new());
    interned(&KNOWN, entries)
}

fn interned<T: Clone + Ord>(known: &Lists<T>, list: &[T]) -> &'static [T] {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let own = known.get(list).copied();
    own.unwrap_or_else(|| {
        let own = Box::leak(list.to_vec().into_boxed_slice());
        known.insert(own);
        own
    })
}

/// Interns a description.
pub(super) fn array(spec: ArraySpec) -> Array {
    static KNOWN: Mutex<BTreeMap<&'static str, Vec<Array>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let own = known.entry(spec.name).or_default();
    let there = own.iter().copied().find(|own| **own == spec);
    there.unwrap_or_else(|| {
        let new: Array = Box::leak(Box::new(spec));
        own.push(new);
        new
    })
}

/// Interns a list of arrays.
pub(super) fn list(arrays: &[Array]) -> &'static [Array] {
    static KNOWN: Mutex<Vec<&'static [Array]>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let there = known.iter().copied().find(|own| *own == arrays);
    there.unwrap_or_else(|| {
        let new = Box::leak(arrays.to_vec().into_boxed_slice());
        known.push(new);
        new
    })
}
