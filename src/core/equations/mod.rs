//! The language of equations: a machine is a page of named-axis equations.
//!
//! A file is read line by line (`text`, `parse`, `read`) into a `page`, components are put in the place of their uses
//! (`component`), and the page is lowered to a `program` under the choices made (`lower`). Its statements become
//! operations over views of arrays (`flatten`, `op`), which get their places and loops (`bind`) and an order
//! (`plan`), and run (`run`).

#![allow(
    clippy::cast_possible_wrap,
    reason = "strides are signed; no array has as many entries"
)]

pub mod bind;
mod component;
pub mod flatten;
pub mod included;
pub mod lower;
pub mod op;
pub mod page;
pub mod parse;
pub mod plan;
pub mod program;
mod read;
pub mod run;
pub mod text;
mod traces;
pub mod tree;
