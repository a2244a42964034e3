//! `tapescope-bindgen IN.wasm FOLDER`: the JavaScript around a WebAssembly file, and that file as it needs it.

use anyhow::Context;
use wasm_bindgen_cli_support::Bindgen;

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
        .generate(folder)
}
