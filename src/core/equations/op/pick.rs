//! y = x at the index that the second argument names; 0 outside. The index has no gradient.

use super::exec::Exec;
use super::memory::{Memory, Real, add_slope, each, set};

/// Calls `see` with the places in x and in y of all entries that exist, and those of y that do not.
fn entries<R: Real>(
    exec: &Exec,
    memory: &mut Memory<R>,
    mut see: impl FnMut(&mut [R], Option<usize>, usize),
) {
    let (outer, length) = (exec.dims.len() - 1, exec.dims[exec.dims.len() - 1]);
    let [x, index] = [&exec.arguments[0], &exec.arguments[1]];
    let strides = [
        &exec.out.strides[..outer],
        &x.strides[..outer],
        &index.strides[..outer],
    ];
    each(
        &exec.dims[..outer],
        strides,
        [exec.out.at, x.at, index.at],
        &mut |[y, from, index]| {
            let index = memory.arena[index as usize].to_f64();
            let is_inside = index >= 0.0 && index < length as f64;
            see(
                &mut memory.arena,
                is_inside.then(|| (from + index as isize * x.strides[outer]) as usize),
                y as usize,
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
    }
}
