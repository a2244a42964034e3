//! One binary, the widest vectors of whatever machine it runs on.
//!
//! The processor is asked once. Inside [`dispatch`] a kernel is compiled once for each instruction set,
//! and with it everything it calls that is `#[inline(always)]`; a function of its own would be compiled
//! for the oldest processor. Most kernels are plain loops: the `kernel!` macro makes
//! one of a function. The matrix kernels name their vectors.

use std::sync::LazyLock;

pub use pulp::{Simd, WithSimd as Kernel};

static ARCH: LazyLock<pulp::Arch> = LazyLock::new(pulp::Arch::new);

/// Runs a kernel with the instruction set of this machine.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    ARCH.dispatch(kernel)
}

/// The instruction set in use, for reports.
pub fn instruction_set() -> String {
    format!("{:?}", *ARCH)
        .split(['(', ' '])
        .next()
        .unwrap_or_default()
        .to_string()
}

/// Makes a function whose body is compiled for every instruction set and run with the best one. The
/// name before the semicolon stands for the instruction set, to hand on to what is called.
///
/// (A closure would read better, but nothing makes the compiler inline it where the vectors are.)
macro_rules! kernel {
    ($(#[$attribute:meta])* $visible:vis fn $name:ident<$life:lifetime, R>(
        $simd:ident; $($argument:ident: $type:ty),* $(,)?) $(-> $output:ty)? $body:block) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, reason = "an equation has as many symbols as it has")]
        $visible fn $name<$life, R: $crate::math::Real>($($argument: $type),*) $(-> $output)? {
            struct Body<$life, R: $crate::math::Real> {
                $($argument: $type),*
            }
            impl<$life, R: $crate::math::Real> $crate::math::simd::Kernel for Body<$life, R> {
                #[allow(unused_parens, reason = "empty where there is no output")]
                type Output = ($($output)?);
                #[inline(always)]
                fn with_simd<S: $crate::math::simd::Simd>(self, $simd: S) -> Self::Output {
                    let Self { $($argument),* } = self;
                    $body
                }
            }
            $crate::math::simd::dispatch(Body { $($argument),* })
        }
    };
}
pub(crate) use kernel;
