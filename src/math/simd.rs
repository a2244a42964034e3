//! One binary, the widest vectors of whatever machine it runs on.
//!
//! The processor is asked once. A kernel runs inside [`vectorize`] (plain loops, compiled once for each
//! instruction set) or [`dispatch`] (a [`Kernel`] that names its vectors). Whatever a kernel calls must
//! be `#[inline(always)]`: a function of its own would be compiled for the oldest processor.

use std::sync::LazyLock;

pub use pulp::{Simd, WithSimd as Kernel};

static ARCH: LazyLock<pulp::Arch> = LazyLock::new(pulp::Arch::new);

/// Runs plain loops with the instruction set of this machine.
#[inline]
pub fn vectorize<T>(body: impl FnOnce() -> T) -> T {
    ARCH.dispatch(body)
}

/// Runs a kernel that is written in terms of vectors.
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
