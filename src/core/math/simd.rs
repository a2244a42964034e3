//! One binary, the widest vectors of whatever machine it runs on, and the same bits on all of them.
//!
//! The processor is asked once. Inside [`dispatch`] a kernel is compiled once for each instruction set,
//! and with it everything it calls that is `#[inline(always)]`; a function of its own would be compiled
//! for the oldest processor. Most kernels are plain loops: the `kernel!` macro makes
//! one of a function. The matrix kernels name their vectors.
//!
//! A vector is a cache line of numbers on every processor: one register of AVX-512, two of AVX2, four of
//! NEON. So a sum over a slice has the same order everywhere, sixteen sums of f32 side by side, and as every
//! operation is done alike (a·b + c is rounded once), so are the results, to the last bit. Only a processor
//! without fused multiply-add, where that would take a function call, rounds a·b + c twice; and f64 does everywhere.

use std::fmt::Debug;
use std::sync::LazyLock;

use pulp::{NullaryFnOnce, Scalar256b};

/// Bytes of a vector, and of a cache line.
pub const LINE: usize = 64;

/// The instruction set; `TAPESCOPE_SIMD=avx2` keeps from AVX-512, to compare the two on one machine.
static ARCH: LazyLock<pulp::Arch> = LazyLock::new(|| {
    let best = pulp::Arch::new();
    #[cfg(target_arch = "x86_64")]
    if std::env::var_os("TAPESCOPE_SIMD").is_some_and(|name| name == "avx2")
        && let Some(simd) = pulp::x86::V3::try_new()
    {
        return pulp::Arch::V3(simd);
    }
    best
});

/// Runs a kernel of numbers of type `R`: of f32 with the instruction set of this machine, of f64, which only checks use, with
/// the one that all have, so that it is compiled once.
#[inline]
pub fn dispatch<R, K: Kernel>(kernel: K) -> K::Output {
    if const { size_of::<R>() > size_of::<f32>() } {
        return PLAIN.run(kernel);
    }
    #[cfg(test)]
    match CHOICE.get() {
        Choice::Best => {}
        Choice::Avx2 =>
        {
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                return Lines::<_, 2>(simd).run(kernel);
            }
        }
        Choice::Short => return Lines::<_, 4>(pulp::Scalar128b).run(kernel),
    }
    // The relaxed operations, which the best would be, round as the browser's processor likes.
    #[cfg(target_arch = "wasm32")]
    return match pulp::wasm::Simd128::try_new() {
        Some(simd) => Lines::<_, 4>(simd).run(kernel),
        None => unreachable!("the page is compiled for these vectors: web/build"),
    };
    #[cfg(not(target_arch = "wasm32"))]
    match *ARCH {
        #[cfg(target_arch = "x86_64")]
        pulp::Arch::V4(simd) => Lines::<_, 1>(simd).run(kernel),
        #[cfg(target_arch = "x86_64")]
        pulp::Arch::V3(simd) => Lines::<_, 2>(simd).run(kernel),
        #[cfg(target_arch = "aarch64")]
        pulp::Arch::Neon(simd) => Lines::<_, 4>(simd).run(kernel),
        // In tests one copy less of all kernels is compiled: this one rounds as the others, and is compared with them.
        #[cfg(all(test, target_arch = "x86_64"))]
        _ => Lines::<_, 4>(pulp::Scalar128b).run(kernel),
        #[cfg(not(all(test, target_arch = "x86_64")))]
        _ => PLAIN.run(kernel),
    }
}

/// The instruction set in use, for reports.
pub fn instruction_set() -> String {
    format!("{:?}", *ARCH)
        .split(['(', ' '])
        .next()
        .unwrap_or_default()
        .to_string()
}

/// Code that is compiled for every instruction set.
pub trait Kernel {
    /// The result.
    type Output;
    /// Runs with the vectors of an instruction set; to be `#[inline(always)]`.
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output;
}

/// `K` registers of a processor that hold a cache line.
#[derive(Clone, Copy, Debug)]
pub struct Lines<P, const K: usize>(P);

/// Portable instructions, which every processor has.
pub const PLAIN: Lines<Scalar256b, 2> = Lines(Scalar256b);

/// An instruction set.
pub trait Processor: pulp::Simd {
    /// True if it rounds a·b + c once, at no cost.
    const FUSED: bool = true;
    /// True if numbers are processed one by one.
    const ONE_BY_ONE: bool = false;
    /// True if max(a, b) and min(a, b) are b when one of them is NaN.
    const KEEPS_NAN: bool = true;
    /// The sums of four registers, each in halves.
    #[inline(always)]
    fn sums_of_four(self, a: [Self::f32s; 4]) -> [f32; 4] {
        a.map(|a| self.reduce_sum_f32s(a))
    }
}

#[cfg(target_arch = "x86_64")]
impl Processor for pulp::x86::V4 {
    /// Adds the halves of two registers at once.
    #[inline(always)]
    fn sums_of_four(self, a: [Self::f32s; 4]) -> [f32; 4] {
        let (x, [a, b, c, d]) = (self.avx512f, a.map(pulp::cast));
        let halves = |a, b| {
            let (low, high) = (
                x._mm512_shuffle_f32x4::<0x44>(a, b),
                x._mm512_shuffle_f32x4::<0xEE>(a, b),
            );
            x._mm512_add_ps(low, high)
        };
        let (ab, cd) = (halves(a, b), halves(c, d));
        let (even, odd) = (
            x._mm512_shuffle_f32x4::<0x88>(ab, cd),
            x._mm512_shuffle_f32x4::<0xDD>(ab, cd),
        );
        let four = x._mm512_add_ps(even, odd);
        let four = x._mm512_add_ps(four, x._mm512_permute_ps::<0x4E>(four));
        let four = x._mm512_add_ps(four, x._mm512_permute_ps::<0xB1>(four));
        let sums: [f32; 16] = pulp::cast(four);
        [sums[0], sums[4], sums[8], sums[12]]
    }
}
#[cfg(target_arch = "x86_64")]
impl Processor for pulp::x86::V3 {}
#[cfg(target_arch = "aarch64")]
impl Processor for pulp::aarch64::Neon {}
#[cfg(target_arch = "wasm32")]
impl Processor for pulp::wasm::Simd128 {
    const FUSED: bool = false;
    const KEEPS_NAN: bool = false;
}
impl Processor for Scalar256b {
    const ONE_BY_ONE: bool = true;
    const FUSED: bool = false;
    const KEEPS_NAN: bool = false;
}
/// Stands for a processor with registers of 16 bytes, in tests.
#[cfg(test)]
impl Processor for pulp::Scalar128b {
    const ONE_BY_ONE: bool = true;
    const KEEPS_NAN: bool = false;
}

impl<P: Processor, const K: usize> Lines<P, K> {
    #[inline(always)]
    fn run<F: Kernel>(self, kernel: F) -> F::Output
    where
        Self: Simd,
    {
        pulp::Simd::vectorize(self.0, Call(self, kernel))
    }
}

struct Call<S, F>(S, F);

impl<S: Simd, F: Kernel> NullaryFnOnce for Call<S, F> {
    type Output = F::Output;
    #[inline(always)]
    fn call(self) -> F::Output {
        self.1.with_simd(self.0)
    }
}

/// The instruction set with which a test runs on its thread.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    /// The best of this machine.
    Best,
    /// AVX2, where there is AVX-512 too.
    Avx2,
    /// Registers of 16 bytes, as of NEON, one number at a time, rounded as everywhere.
    Short,
}

#[cfg(test)]
thread_local! {
    static CHOICE: std::cell::Cell<Choice> = const { std::cell::Cell::new(Choice::Best) };
}

#[cfg(test)]
impl Choice {
    pub(crate) fn all() -> [Self; 3] {
        [Self::Best, Self::Avx2, Self::Short]
    }
}

/// Returns the result of `run` with this instruction set.
#[cfg(test)]
pub(crate) fn with<T>(choice: Choice, run: impl FnOnce() -> T) -> T {
    CHOICE.set(choice);
    let output = run();
    CHOICE.set(Choice::Best);
    output
}

/// Returns the results of a kernel with each instruction set that rounds a·b + c once.
#[cfg(test)]
pub(crate) fn on_every_instruction_set<F: Kernel + Copy>(kernel: F) -> [F::Output; 3] {
    Choice::all().map(|choice| with(choice, || dispatch::<f32, _>(kernel)))
}

/// Declares operations on vectors of one type.
macro_rules! declare {
    ($vector:ident: $($name:ident($($argument:ident)*))*) => {
        $(
            #[doc = "See [`pulp::Simd`], number by number."]
            fn $name(self, $($argument: Self::$vector),*) -> Self::$vector;
        )*
    };
}

/// Defines the items of `declare!`, register by register.
macro_rules! define {
    (bits [$($k:tt)*] $n:literal) => {
        #[inline(always)]
        fn splat_u32s(self, value: u32) -> Self::U32s {
            [self.0.splat_u32s(value); $n]
        }
        #[inline(always)]
        fn transmute_u32s_f32s(self, a: Self::F32s) -> Self::U32s {
            [$(self.0.transmute_u32s_f32s(a[$k])),*]
        }
        #[inline(always)]
        fn transmute_f32s_u32s(self, a: Self::U32s) -> Self::F32s {
            [$(self.0.transmute_f32s_u32s(a[$k])),*]
        }
    };
    ($k:tt $vector:ident:) => {};
    ([$($k:tt)*] $vector:ident: $name:ident(a) $($rest:tt)*) => {
        #[inline(always)]
        fn $name(self, a: Self::$vector) -> Self::$vector {
            [$(self.0.$name(a[$k])),*]
        }
        define!([$($k)*] $vector: $($rest)*);
    };
    ([$($k:tt)*] $vector:ident: $name:ident(a b) $($rest:tt)*) => {
        #[inline(always)]
        fn $name(self, a: Self::$vector, b: Self::$vector) -> Self::$vector {
            [$(self.0.$name(a[$k], b[$k])),*]
        }
        define!([$($k)*] $vector: $($rest)*);
    };
}

/// Sums two or four registers, always in halves: x_i and x_(i+8), then x_i and x_(i+4) and so on.
macro_rules! in_halves {
    ($a:ident, $self:ident.$operation:ident, [0]) => {
        $a[0]
    };
    ($a:ident, $self:ident.$operation:ident, [0 1]) => {
        $self.0.$operation($a[0], $a[1])
    };
    ($a:ident, $self:ident.$operation:ident, [0 1 2 3]) => {
        $self.0.$operation(
            $self.0.$operation($a[0], $a[2]),
            $self.0.$operation($a[1], $a[3]),
        )
    };
}

/// Declares the items specific to one type of numbers; the names are pulp's.
macro_rules! declare_numbers {
    ($type:ident $vector:ident $lines:ident $lines_mut:ident $load:ident $store:ident $splat:ident
     $first:ident $mul_add:ident $max:ident $min:ident $sum:ident $largest:ident) => {
        /// Numbers that fill a cache line.
        type $vector: Copy;
        /// The whole vectors of a slice.
        fn $lines(slice: &[$type]) -> &[Self::$vector];
        /// The whole vectors of a slice, to write.
        fn $lines_mut(slice: &mut [$type]) -> &mut [Self::$vector];
        /// The numbers of a shorter slice, zeros behind them.
        fn $load(self, slice: &[$type]) -> Self::$vector;
        /// Writes the first numbers to a shorter slice.
        fn $store(self, slice: &mut [$type], a: Self::$vector);
        /// A vector of equal numbers.
        fn $splat(self, value: $type) -> Self::$vector;
        /// The first `count` numbers of `a`, then those of `b`.
        fn $first(self, count: usize, a: Self::$vector, b: Self::$vector) -> Self::$vector;
        /// a·b + c, rounded once.
        fn $mul_add(self, a: Self::$vector, b: Self::$vector, c: Self::$vector) -> Self::$vector;
        /// The larger of two; `b` where one is not a number.
        fn $max(self, a: Self::$vector, b: Self::$vector) -> Self::$vector;
        /// The smaller of two; `b` where one is not a number.
        fn $min(self, a: Self::$vector, b: Self::$vector) -> Self::$vector;
        /// The sum of all numbers, in halves.
        fn $sum(self, a: Self::$vector) -> $type;
        /// The largest number.
        fn $largest(self, a: Self::$vector) -> $type;
    };
}

/// The vectors of an instruction set, 64 bytes each, and their operations.
pub trait Simd: Copy + Debug + Send + Sync + 'static {
    /// Number of vectors that the registers hold.
    const VECTORS: usize;
    /// True if numbers are processed one by one.
    const ONE_BY_ONE: bool;
    declare_numbers!(f32 F32s as_simd_f32s as_mut_simd_f32s partial_load_f32s partial_store_f32s splat_f32s
        select_first_f32s mul_add_f32s max_f32s min_f32s reduce_sum_f32s reduce_max_f32s);
    declare_numbers!(f64 F64s as_simd_f64s as_mut_simd_f64s partial_load_f64s partial_store_f64s splat_f64s
        select_first_f64s mul_add_f64s max_f64s min_f64s reduce_sum_f64s reduce_max_f64s);
    declare!(F32s: neg_f32s(a) abs_f32s(a) add_f32s(a b) sub_f32s(a b) mul_f32s(a b) div_f32s(a b));
    declare!(F64s: neg_f64s(a) abs_f64s(a) add_f64s(a b) sub_f64s(a b) mul_f64s(a b) div_f64s(a b));
    /// [`Simd::reduce_sum_f32s`] of four vectors.
    fn reduce_sums_f32s(self, a: [Self::F32s; 4]) -> [f32; 4];
    /// As many whole numbers as values of f32.
    type U32s: Copy;
    declare!(U32s: add_u32s(a b) sub_u32s(a b) and_u32s(a b) or_u32s(a b)
        wrapping_dyn_shl_u32s(a b) wrapping_dyn_shr_u32s(a b));
    /// A vector of equal numbers.
    fn splat_u32s(self, value: u32) -> Self::U32s;
    /// The bits of each number.
    fn transmute_u32s_f32s(self, a: Self::F32s) -> Self::U32s;
    /// The numbers of these bits.
    fn transmute_f32s_u32s(self, a: Self::U32s) -> Self::F32s;
}

/// The part of a slice that register `k` of a vector holds, `lanes` numbers to a register.
#[inline(always)]
fn part(len: usize, k: usize, lanes: usize) -> std::ops::Range<usize> {
    len.min(k * lanes)..len.min((k + 1) * lanes)
}

/// Defines the items of `declare_numbers!`.
macro_rules! define_numbers {
    ($n:literal [$($k:tt)*] $type:ident $vector:ident $base:ident $lanes:ident $lines:ident $lines_mut:ident $load:ident
     $store:ident $splat:ident $first:ident $select:ident $between:ident $fused:ident $mul:ident $add:ident
     $max:ident $min:ident $less:ident $sum:ident $largest:ident $mul_add:ident) => {
        type $vector = [P::$base; $n];
        #[inline(always)]
        fn $lines(slice: &[$type]) -> &[Self::$vector] {
            P::$lines(slice).0.as_chunks().0
        }
        #[inline(always)]
        fn $lines_mut(slice: &mut [$type]) -> &mut [Self::$vector] {
            P::$lines_mut(slice).0.as_chunks_mut().0
        }
        #[inline(always)]
        fn $load(self, slice: &[$type]) -> Self::$vector {
            [$(self.0.$load(&slice[part(slice.len(), $k, P::$lanes)])),*]
        }
        #[inline(always)]
        fn $store(self, slice: &mut [$type], a: Self::$vector) {
            $(
                let of_register = part(slice.len(), $k, P::$lanes);
                self.0.$store(&mut slice[of_register], a[$k]);
            )*
        }
        #[inline(always)]
        fn $splat(self, value: $type) -> Self::$vector {
            [self.0.$splat(value); $n]
        }
        #[inline(always)]
        fn $first(self, count: usize, a: Self::$vector, b: Self::$vector) -> Self::$vector {
            [$({
                let count = part(count, $k, P::$lanes).len();
                self.0.$select(self.0.$between(0, count as _).mask(), a[$k], b[$k])
            }),*]
        }
        #[inline(always)]
        fn $mul_add(self, a: Self::$vector, b: Self::$vector, c: Self::$vector) -> Self::$vector {
            if P::FUSED {
                [$(self.0.$fused(a[$k], b[$k], c[$k])),*]
            } else {
                [$(self.0.$add(self.0.$mul(a[$k], b[$k]), c[$k])),*]
            }
        }
        #[inline(always)]
        fn $max(self, a: Self::$vector, b: Self::$vector) -> Self::$vector {
            if P::KEEPS_NAN {
                [$(self.0.$max(a[$k], b[$k])),*]
            } else {
                [$(self.0.$select(self.0.$less(b[$k], a[$k]), a[$k], b[$k])),*]
            }
        }
        #[inline(always)]
        fn $min(self, a: Self::$vector, b: Self::$vector) -> Self::$vector {
            if P::KEEPS_NAN {
                [$(self.0.$min(a[$k], b[$k])),*]
            } else {
                [$(self.0.$select(self.0.$less(a[$k], b[$k]), a[$k], b[$k])),*]
            }
        }
        #[inline(always)]
        fn $sum(self, a: Self::$vector) -> $type {
            self.0.$sum(in_halves!(a, self.$add, [$($k)*]))
        }
        #[inline(always)]
        fn $largest(self, a: Self::$vector) -> $type {
            self.0.$largest(in_halves!(a, self.$max, [$($k)*]))
        }
    };
}

/// The vectors of the processors that need some registers for one.
macro_rules! vectors {
    ($($n:literal $k:tt;)*) => {$(
        impl<P: Processor> Simd for Lines<P, $n> {
            const VECTORS: usize = P::REGISTER_COUNT / $n;
            const ONE_BY_ONE: bool = P::ONE_BY_ONE;
            define_numbers!($n $k f32 F32s f32s F32_LANES as_simd_f32s as_mut_simd_f32s partial_load_f32s
                partial_store_f32s splat_f32s select_first_f32s select_f32s mask_between_m32s mul_add_e_f32s mul_f32s
                add_f32s max_f32s min_f32s less_than_f32s reduce_sum_f32s reduce_max_f32s mul_add_f32s);
            define_numbers!($n $k f64 F64s f64s F64_LANES as_simd_f64s as_mut_simd_f64s partial_load_f64s
                partial_store_f64s splat_f64s select_first_f64s select_f64s mask_between_m64s mul_add_e_f64s mul_f64s
                add_f64s max_f64s min_f64s less_than_f64s reduce_sum_f64s reduce_max_f64s mul_add_f64s);
            define!($k F32s: neg_f32s(a) abs_f32s(a) add_f32s(a b) sub_f32s(a b) mul_f32s(a b) div_f32s(a b));
            define!($k F64s: neg_f64s(a) abs_f64s(a) add_f64s(a b) sub_f64s(a b) mul_f64s(a b) div_f64s(a b));
            #[inline(always)]
            fn reduce_sums_f32s(self, a: [Self::F32s; 4]) -> [f32; 4] {
                self.0.sums_of_four(a.map(|a| in_halves!(a, self.add_f32s, $k)))
            }
            type U32s = [P::u32s; $n];
            define!($k U32s: add_u32s(a b) sub_u32s(a b) and_u32s(a b) or_u32s(a b)
                wrapping_dyn_shl_u32s(a b) wrapping_dyn_shr_u32s(a b));
            define!(bits $k $n);
        }
    )*};
}

vectors!(1 [0]; 2 [0 1]; 4 [0 1 2 3];);
