//! `tapescope-bindgen IN.wasm FOLDER`: the JavaScript around a WebAssembly file, and that file as it needs it, packed with
//! gzip.

use std::fs::File;
use std::num::NonZeroU64;
use std::path::Path;

use anyhow::Context;
use wasm_bindgen_cli_support::Bindgen;
use zopfli::{Format, Options};

fn main() -> anyhow::Result<()> {
    let mut given = std::env::args().skip(1);
    let input = given.next().context("the WebAssembly file is missing")?;
    let folder = given.next().context("the folder to write to is missing")?;
    Bindgen::new()
        .input_path(input)
        .out_name("tapescope")
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(&folder)?;
    let plain = Path::new(&folder).join("tapescope_bg.wasm");
    let packed = File::create(Path::new(&folder).join("tapescope.packed"))?;
    // More rounds take longer and find next to nothing.
    let once = Options {
        iteration_count: NonZeroU64::MIN,
        ..Options::default()
    };
    zopfli::compress(once, Format::Gzip, File::open(&plain)?, packed)?;
    std::fs::remove_file(plain)?;
    Ok(())
}
