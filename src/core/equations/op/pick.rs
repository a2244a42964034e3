//! y = x at the index that the second argument names; 0 outside. The index has no gradient.

use super::exec::Exec;
use super::memory::{Memory, Real, add_slope, each, set};

/// Calls `visit` with the places in x and in y of all pieces that exist, and those of y that do not, and their length: along
/// the last loop, if one index is for all of it.
fn entries<R: Real>(
    exec: &Exec,
    memory: &mut Memory<R>,
    visit: impl Fn(&mut [R], Option<usize>, usize, usize),
) {
    let (outer, length) = (exec.dims.len() - 1, exec.dims[exec.dims.len() - 1]);
    let [x, index] = [&exec.arguments[0], &exec.arguments[1]];
    let places = [&exec.out, x, index];
    let last = outer.checked_sub(1);
    let whole = last.filter(|last| places.map(|place| place.strides[*last]) == [1, 1, 0]);
    let (loops, piece) = whole.map_or((outer, 1), |last| (last, exec.dims[last]));
    each(
        &exec.dims[..loops],
        places.map(|place| &place.strides[..loops]),
        places.map(|place| place.at),
        &mut |[y, from, index]| {
            let index = memory.arena[index as usize].to_f64();
            let is_inside = index >= 0.0 && index < length as f64;
            visit(
                &mut memory.arena,
                is_inside.then(|| (from + index as isize * x.strides[outer]) as usize),
                y as usize,
                piece,
            );
        },
    );
}

/// Computes the result.
pub fn forward<R: Real>(exec: &Exec, memory: &mut Memory<R>) {
    entries(exec, memory, set);
}

/// Adds what follows from the gradient of the result to those of the arguments.
pub fn reverse<R: Real>(exec: &Exec, memory: &mut Memory<R>) {
    let add = add_slope(exec, memory);
    entries(exec, memory, add);
}

#[cfg(test)]
mod tests {
    use crate::equations::op::{Act, tests::check};

    #[test]
    fn gradient() {
        // Entries below 0 and behind the last are outside; between whole numbers, so that differences keep them.
        check(
            Act::Pick(0),
            &[2, 5, 3],
            1,
            &[&[0, 1], &[0, 2], &[1]],
            |argument, x| {
                if argument == 1 {
                    (x * 2.5).round() + 0.5
                } else {
                    x
                }
            },
        );
        let whole: &[&[usize]] = &[&[0, 1], &[2, 1], &[0]];
        check(Act::Pick(0), &[3, 20, 4], 1, whole, |argument, x| {
            if argument == 1 {
                (x * 3.0).round() + 0.5
            } else {
                x
            }
        });
    }
}
