//! What a recorded episode says about its machine: causes, instructions, and what would happen otherwise.

pub mod disassembly;
pub mod lesion;
