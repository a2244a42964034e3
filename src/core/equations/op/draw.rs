//! An index, drawn from a distribution. No gradient.
//!
//! The second argument says which: a number in 0..1 draws; −1 − i is the index i, as it was recorded; anything else is the
//! most probable one.

use super::memory::{Memory, Real, each};
use super::{exec::Exec, maximum};

/// Computes the result.
pub fn forward<R: Real>(exec: &Exec, memory: &mut Memory<R>) {
    let (outer, length) = (exec.dims.len() - 1, exec.dims[exec.dims.len() - 1]);
    let places = [&exec.out, &exec.arguments[0], &exec.arguments[1]];
    each(
        &exec.dims[..outer],
        places.map(|place| &place.strides[..outer]),
        places.map(|place| place.at),
        &mut |[y, p, chance]| {
            let Memory { arena, room, .. } = &mut *memory;
            room.x.clear();
            room.x.extend(
                (0..length).map(|i| arena[(p + i as isize * places[1].strides[outer]) as usize]),
            );
            let chance = arena[chance as usize].to_f64();
            let index = if chance <= -1.0 {
                -1.0 - chance
            } else if (0.0..1.0).contains(&chance) {
                let mut sum = 0.0;
                room.x
                    .iter()
                    .position(|p| {
                        sum += p.to_f64();
                        sum > chance
                    })
                    .unwrap_or(length.saturating_sub(1)) as f64
            } else {
                maximum::index(&room.x) as f64
            };
            arena[y as usize] = R::from_f64(index);
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::op::{Act, tests::memory};

    #[test]
    fn drawn_recorded_or_most_probable() {
        let mut memory = memory(&[0.0, 0.25, 0.5, 0.25, 0.0]);
        let exec = Exec::alone(Act::Draw(0), &[3], 1, &[(1, &[0]), (2, &[1]), (5, &[0])]);
        for (chance, index) in [
            (0.0, 0.0),
            (0.24, 0.0),
            (0.25, 1.0),
            (0.999, 2.0),
            (-1.0, 0.0),
            (-3.0, 2.0),
            (f64::NAN, 1.0),
        ] {
            memory.arena[5] = chance;
            forward(&exec, &mut memory);
            assert_eq!(memory.arena[1], index, "{chance}");
        }
    }
}
