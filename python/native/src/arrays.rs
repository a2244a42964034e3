//! NumPy arrays that share the memory of Rust objects.

use ndarray::{CowArray, IxDyn};
use numpy::{PyArray, PyArrayDyn, PyArrayMethods};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;

/// Arrays by name.
pub type Named<'a> = Vec<(String, CowArray<'a, f32, IxDyn>)>;

/// Returns read-only NumPy arrays of the values that `of` borrows from `owner`, by name. Borrowed values are not copied; values
/// that `of` copied are moved. Each array keeps the owner alive.
pub fn shared<'py, T>(
    owner: &Bound<'py, T>,
    of: impl for<'a> FnOnce(&'a T) -> Named<'a>,
) -> Vec<(String, Bound<'py, PyAny>)>
where
    T: PyClass<Frozen = True> + Sync,
{
    let array = |values: CowArray<'_, f32, IxDyn>| {
        let array = if values.is_view() {
            borrowed(&values, owner.as_any())
        } else {
            PyArray::from_owned_array(owner.py(), values.into_owned())
        };
        array.readwrite().make_nonwriteable();
        array.into_any()
    };
    let named = of(owner.get()).into_iter();
    named.map(|(name, values)| (name, array(values))).collect()
}

#[expect(
    unsafe_code,
    reason = "NumPy gets a pointer to the values. They stay valid as long as the array lives: it holds their owner, from \
              which they are borrowed, and which cannot change, because its class is frozen"
)]
fn borrowed<'py>(
    values: &CowArray<'_, f32, IxDyn>,
    owner: &Bound<'py, PyAny>,
) -> Bound<'py, PyArrayDyn<f32>> {
    // SAFETY: see above; only `shared` calls this, with values that it borrowed from the owner.
    unsafe { PyArray::borrow_from_array(values, owner.clone()) }
}
