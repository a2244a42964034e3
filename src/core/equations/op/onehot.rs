//! y = 1 at an index, else 0. No gradient.

use super::exec::Exec;
use super::memory::{Memory, Real, each};

/// Computes the result.
pub fn forward<R: Real>(exec: &Exec, memory: &mut Memory<R>) {
    let (outer, length) = (exec.dims.len() - 1, exec.dims[exec.dims.len() - 1]);
    let (out, index) = (&exec.out, &exec.arguments[0]);
    each(
        &exec.dims[..outer],
        [&out.strides[..outer], &index.strides[..outer]],
        [out.at, index.at],
        &mut |[y, index]| {
            let index = memory.arena[index as usize].to_f64();
            (0..length).for_each(|i| {
                memory.arena[(y + i as isize * out.strides[outer]) as usize] =
                    R::from_f64(f64::from(i as f64 == index));
            });
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::op::{Act, tests::memory};

    #[test]
    fn one_at_the_index() {
        let mut memory = memory(&[9.0, 9.0, 9.0, 1.0]);
        forward(
            &Exec::alone(Act::Onehot(0), &[3], 1, &[(1, &[1]), (4, &[0])]),
            &mut memory,
        );
        assert_eq!(memory.arena[1..4], [0.0, 1.0, 0.0]);
    }
}
