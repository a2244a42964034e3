//! Shared values, compared by their identity.

use std::sync::Arc;

/// A value that equals only itself (by pointer).
#[derive(Clone, Debug)]
pub struct SameArc<T>(pub Arc<T>);

impl<T> SameArc<T> {
    /// Shares a value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> PartialEq for SameArc<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Eq for SameArc<T> {}
