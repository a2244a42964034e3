//! The order of the loops of a sum of products.

/// The axis of the inner loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// The result and the second factor.
    Rows,
    /// Both factors, or the first alone.
    Dots,
    /// The result and both factors.
    Each,
    /// No memory that is one piece.
    #[default]
    Apart,
}

/// The loops of a sum of products in the order in which they run.
#[derive(Clone, Debug, Default)]
pub struct Order {
    pub(super) form: Form,
    /// Whether the factors change places.
    pub(super) swaps: bool,
    /// The loop along memory; one of the sum; one of the result that one factor lacks; one that the other lacks.
    pub(super) inner: [Option<usize>; 4],
    pub(super) outer: Vec<usize>,
}

/// Chooses the loops for a sum of products over these.
pub fn order(dims: &[usize], strides: [&[isize]; 3], is_fixed: impl Fn(usize) -> bool) -> Order {
    let at = |dim: usize| strides.map(|strides| strides[dim]);
    let rank = |dim: usize| {
        let smooth = dims[dim] > 1 && at(dim).iter().all(|stride| matches!(stride, 0 | 1));
        let units = at(dim).iter().filter(|stride| **stride == 1).count();
        (smooth && units > 1, smooth, units == 2, dims[dim])
    };
    let along = (0..dims.len()).max_by_key(|dim| rank(*dim));
    let (form, swaps) = match along.map_or([9; 3], at) {
        [1, 0, 1] => (Form::Rows, false),
        [1, 1, 0] => (Form::Rows, true),
        [0, 1, 1 | 0] => (Form::Dots, false),
        [0, 0, 1] => (Form::Dots, true),
        [1, 1, 1] => (Form::Each, false),
        _ => (Form::Apart, false),
    };
    let [a, b] = if swaps { [2, 1] } else { [1, 2] };
    let longest = |fits: &dyn Fn([isize; 3]) -> bool| {
        let rest = (0..dims.len()).filter(|dim| Some(*dim) != along && fits(at(*dim)));
        rest.max_by_key(|dim| dims[*dim])
    };
    let (sum, row, side) = match form {
        Form::Rows => (
            longest(&|at| at[0] == 0),
            longest(&|at| at[0] != 0 && at[b] == 0),
            None,
        ),
        Form::Dots => {
            let row = longest(&|at| at[0] != 0 && (at[a] == 0) != (at[b] == 0));
            let own = if row.is_some_and(|row| at(row)[a] == 0) {
                b
            } else {
                a
            };
            let side = longest(&|at| at[0] != 0 && at[own] == 0 && at[1] != at[2]);
            let is_product = row.is_some() && along.map_or([0; 3], at)[1..] == [1, 1];
            (None, row, side.filter(|_| is_product))
        }
        Form::Each => (longest(&|at| at[0] == 0), longest(&|at| at[0] != 0), None),
        Form::Apart => (None, None, None),
    };
    let inner = [along, sum, row, side];
    let is_outer =
        |dim: &usize| !(inner.contains(&Some(*dim)) || dims[*dim] == 1 && is_fixed(*dim));
    let mut outer: Vec<usize> = (0..dims.len()).filter(is_outer).collect();
    // The loops of the result stand outside.
    outer.sort_by_key(|dim| at(*dim)[0] == 0);
    Order {
        form,
        swaps,
        inner,
        outer,
    }
}
