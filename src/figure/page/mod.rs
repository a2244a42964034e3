//! The layouts: each places pictures on a page.

pub mod closeup;
pub mod compare;
pub mod debug;
pub mod figure;
pub mod learning;
pub mod machine_loop;
pub mod sentence;
