//! What a recorded episode says about its machine: causes, instructions, and what would happen otherwise.

pub mod disassembly;
pub mod expression;
pub mod lesion;
pub mod population;
pub mod provenance;
pub mod repair;
