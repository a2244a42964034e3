//! What the window shows is what the figure prints.

use egui::{Color32, Shape};

use super::*;

/// The texts of a figure.
fn texts(svg: &str) -> Vec<String> {
    let texts = svg.split("<text ").skip(1);
    let texts = texts.filter_map(|text| text.split_once('>')?.1.split_once("</text>"));
    texts.map(|(text, _)| text.to_owned()).collect()
}

/// The wrong bits that are outlined in a window: small frames in the colour of warnings.
fn outlines(harness: &Screen, warning: Color32) -> usize {
    let is_one = |shape: &Shape| match shape {
        Shape::Rect(rect) => rect.stroke.color == warning && rect.rect.height() < 12.0,
        _ => false,
    };
    whole::shapes(harness)
        .filter(|(shape, _)| is_one(shape))
        .count()
}

/// The window at a moment, and the figure that it exports there.
fn both(shelf: &Shelf, harness: &mut Screen) -> (Vec<String>, String) {
    act(harness, Command::File(File::Replace("figure.svg".into())));
    let figure = shelf.figures.lock().unwrap().pop().unwrap();
    let shown = whole::texts(harness).map(|(text, _)| text.galley.text().to_owned());
    (shown.collect(), String::from_utf8(figure).unwrap())
}

#[test]
fn columns_parameters_memory_and_wrong_bits_are_alike() {
    let shelf = Arc::<Shelf>::default();
    let mut harness = paused_with(shelf.clone());
    for trace in ["", "1 reads 1 writes, write first", "2 reads 2 writes"] {
        if !trace.is_empty() {
            open(&mut harness, trace);
        }
        for moment in ["output", "controller", "content", "shift", "erase", "add"] {
            act(&mut harness, Command::Play(Play::Seek(4)));
            to_stage(&mut harness, moment);
            let (shown, figure) = both(&shelf, &mut harness);
            let printed = texts(&figure);
            let what = format!("{trace} at {moment}");
            let is_memory = |text: &&String| text.contains("M of ") || *text == "initial M";
            let memory = printed.iter().find(is_memory);
            let memory = memory.unwrap_or_else(|| panic!("{what}: {printed:?}"));
            assert!(shown.contains(memory), "{what}: {memory}");
            let begins = [
                "wₜ₋₁",
                "cos",
                "wᶜ",
                "wᵍ",
                "w\u{303}",
                "β ",
                "g .",
                "γ ",
                "+",
                "−1 ",
            ];
            let of_columns = printed.iter().filter(|text| {
                let is_short = text.chars().count() < 9;
                is_short && begins.iter().any(|begin| text.starts_with(begin))
            });
            let of_columns: Vec<_> = of_columns.collect();
            assert!(of_columns.len() >= 7, "{what}: {of_columns:?}");
            for text in of_columns {
                // In a narrow column of the window its number stands alone.
                let parts = text.split(' ').chain([text.as_str()]);
                let is_shown = parts.filter(|part| shown.iter().any(|other| other == part));
                assert!(is_shown.count() > 0, "{what}: `{text}` is not in {shown:?}");
            }
            let wrong = figure.matches("stroke=\"#f0a35e\"").count();
            let outlined = outlines(&harness, Color32::from_rgb(0xf0, 0xa3, 0x5e));
            assert_eq!((wrong, wrong > 0), (outlined, true), "{what}");
        }
    }
}
