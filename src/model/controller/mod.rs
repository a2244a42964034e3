//! The two controllers of the paper (§3.4): elementwise equations, each with its derivative. The linear
//! maps in front of them belong to [`crate::model::Ntm`], which hoists what does not depend on time.

pub mod feedforward;
pub mod lstm;
