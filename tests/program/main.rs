//! Tests that run the program: one binary, and a module for each file. `cargo test --release --test program sweep` runs
//! those of `sweep.rs`.

mod cli;
mod commands;
mod episodes;
mod killed;
mod limits;
mod machine_files;
#[path = "../npz/mod.rs"]
mod npz;
#[path = "../numpy/mod.rs"]
mod numpy;
mod python;
mod recompute;
mod repeat;
mod run_folder;
mod sweep;
