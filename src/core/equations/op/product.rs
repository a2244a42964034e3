//! y = Π x.

use super::memory::Room;
use crate::math::{Pack, Real, pack::each_pack, simd::Simd};

/// Computes the results of W rows.
#[inline(always)]
pub fn forward<R: Real, S: Simd, const W: usize>(simd: S, room: &mut Room<R>) {
    let (x, y) = (room.x.as_chunks::<W>().0, &mut room.y[..]);
    each_pack!(simd, at in y => {
        let mut product = Pack::splat(simd, R::ONE);
        for x in x {
            product = product * at.load(x);
        }
        at.store(y, product);
    });
}

/// dx = dy times the product of all others, which exists where a factor is 0.
#[inline(always)]
pub fn reverse<R: Real, S: Simd, const W: usize>(simd: S, room: &mut Room<R>) {
    let (x, dy) = (room.x.as_chunks::<W>().0, &room.dy[..]);
    let dx = room.dx.as_chunks_mut::<W>().0;
    each_pack!(simd, at in dy => {
        let mut product = at.load(dy);
        for (dx, x) in dx.iter_mut().zip(x) {
            at.store(dx, product);
            product = product * at.load(x);
        }
        product = Pack::splat(simd, R::ONE);
        for (dx, x) in dx.iter_mut().zip(x).rev() {
            let others = at.load(dx) * product;
            at.store(dx, others);
            product = product * at.load(x);
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::equations::op::{Act, tests::check};

    #[test]
    fn gradient() {
        for has in [[1, 0], [0, 1]] {
            let has: &[&[usize]] = &[&[0], &has];
            check(Act::Product(vec![0]), &[2, 4], 1, has, |_, x| x);
            check(Act::Product(vec![0]), &[19, 4], 1, has, |_, x| x);
            // One and more factors that are 0.
            check(Act::Product(vec![0]), &[19, 4], 1, has, |_, x| x.max(0.0));
        }
    }
}
