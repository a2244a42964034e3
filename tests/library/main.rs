//! Tests that call the library. One binary has them all, because each binary is linked with the whole program; a file is a
//! module: `cargo test --release --test library presets` runs those of `presets.rs`.

mod formats;
mod how;
mod layering;
mod machine_files;
mod numbers;
#[path = "../numpy/mod.rs"]
mod numpy;
mod presets;
mod properties;
mod results;
#[path = "../trace/mod.rs"]
mod trace;
mod weights_file;
mod wording;
