//! Streams of random numbers that are the same everywhere and in every release.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The random number generator of everything: xoshiro256++.
pub type Random = Xoshiro256PlusPlus;

/// The stream of episode `index` of the run with this seed.
///
/// The index is spread over all 64 bits first (an odd multiplier, the golden ratio in fixed point), so
/// that neighbouring seeds and neighbouring indices share no stream.
pub fn random(seed: u64, index: u64) -> Random {
    let stream = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = Random::seed_from_u64(seed).random::<u64>();
    Random::seed_from_u64(mixed ^ stream)
}
