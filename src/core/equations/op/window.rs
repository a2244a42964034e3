//! Entry j of the new axis is the value j − middle further on, 0 outside. The last loops are those of both axes.

use super::exec::Exec;
use super::memory::{Memory, Real, add_slope, each, set};

/// Calls `visit` with the places in x and in y of all entries that exist, and those of y that do not.
fn entries<R: Real>(
    exec: &Exec,
    memory: &mut Memory<R>,
    visit: impl Fn(&mut [R], Option<usize>, usize, usize),
) {
    let outer = exec.dims.len() - 2;
    let [length, width] = [exec.dims[outer], exec.dims[outer + 1]];
    let (x, out) = (&exec.arguments[0], &exec.out);
    each(
        &exec.dims[..outer],
        [&out.strides[..outer], &x.strides[..outer]],
        [out.at, x.at],
        &mut |[y, from]| {
            for entry in 0..length {
                for near in 0..width {
                    let index = (entry + near)
                        .checked_sub(width / 2)
                        .filter(|index| *index < length);
                    let to = y
                        + entry as isize * out.strides[outer]
                        + near as isize * out.strides[outer + 1];
                    visit(
                        &mut memory.arena,
                        index.map(|index| (from + index as isize * x.strides[outer]) as usize),
                        to as usize,
                        1,
                    );
                }
            }
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
        check(
            Act::Window(0, 1),
            &[2, 5, 3],
            2,
            &[&[0, 1, 2], &[1, 0]],
            |_, x| x,
        );
        check(Act::Window(0, 1), &[2, 4], 2, &[&[0, 1], &[0]], |_, x| x);
    }
}
