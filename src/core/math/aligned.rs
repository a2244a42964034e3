//! A buffer aligned to a cache line.
//!
//! A vector of 64 bytes that straddles two lines costs two reads; with this under every matrix and
//! every series, none does.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// A growable slice that begins at a multiple of 64 bytes.
#[derive(Debug, Default)]
pub struct Aligned<R> {
    storage: Vec<R>,
    start: usize,
    len: usize,
}

impl<R: Copy + Default> Aligned<R> {
    /// This many zeros.
    pub fn zeros(len: usize) -> Self {
        let mut aligned = Self::default();
        aligned.resize(len);
        aligned
    }

    /// Keeps the first values; new ones are zero. Allocates only when there was never room for as many.
    pub fn resize(&mut self, len: usize) {
        let spare = LINE / size_of::<R>().max(1);
        if self.start + len > self.storage.len() {
            let mut storage = vec![R::default(); len + spare];
            let start = storage.as_ptr().align_offset(LINE).min(spare);
            storage[start..start + self.len].copy_from_slice(self);
            (self.storage, self.start) = (storage, start);
        } else if len > self.len {
            self.storage[self.start + self.len..self.start + len].fill(R::default());
        }
        self.len = len;
    }
}

impl<R> Aligned<R> {
    /// The most values that it ever had: the memory for them is kept.
    pub fn most(&self) -> usize {
        self.storage.len()
    }

    /// One value: a single look at the storage, where the slice takes three.
    #[inline(always)]
    pub fn value(&self, index: usize) -> &R {
        debug_assert!(index < self.len, "value {index} of {}", self.len);
        &self.storage[self.start + index]
    }

    /// [`Aligned::value`], to write.
    #[inline(always)]
    pub fn value_mut(&mut self, index: usize) -> &mut R {
        debug_assert!(index < self.len, "value {index} of {}", self.len);
        &mut self.storage[self.start + index]
    }
}

impl<R> Deref for Aligned<R> {
    type Target = [R];
    #[inline(always)]
    fn deref(&self) -> &[R] {
        &self.storage[self.start..self.start + self.len]
    }
}

impl<R> DerefMut for Aligned<R> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [R] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

impl<R: Clone> Clone for Aligned<R> {
    fn clone(&self) -> Self {
        let Some(filler) = self.storage.first() else {
            return Self {
                storage: Vec::new(),
                start: 0,
                len: 0,
            };
        };
        let spare = LINE / size_of::<R>().max(1);
        let mut storage = Vec::<R>::with_capacity(self.len + spare);
        let start = storage.as_ptr().align_offset(LINE).min(spare);
        storage.resize(start, filler.clone());
        storage.extend_from_slice(self);
        storage.resize(self.len + spare, filler.clone());
        Self {
            storage,
            start,
            len: self.len,
        }
    }
}

impl<R: PartialEq> PartialEq for Aligned<R> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_at_a_cache_line_and_keeps_values_and_storage() {
        let mut buffer = Aligned::<f32>::zeros(3);
        buffer[1] = 2.0;
        for len in [5, 1000, 7] {
            buffer.resize(len);
            assert_eq!(buffer.as_ptr() as usize % LINE, 0);
            assert_eq!((buffer.len(), buffer[1], buffer[2]), (len, 2.0, 0.0));
        }
        let place = buffer.as_ptr();
        buffer[4] = 9.0;
        buffer.resize(4);
        buffer.resize(900);
        assert_eq!((buffer.as_ptr(), buffer[4]), (place, 0.0));
        let copy = buffer.clone();
        assert_eq!((copy.as_ptr() as usize % LINE, &copy), (0, &buffer));
    }
}
