//! What the window shows is what the figure prints.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use egui::{Color32, Shape};
use tapescope::figure::facts::stages::COLUMNS;
use tapescope::figure::{self, HeadName};

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
    clipping::shapes(harness)
        .filter(|(shape, _)| is_one(shape))
        .count()
}

/// What the window exports here.
fn exported(shelf: &Shelf, harness: &mut Screen) -> String {
    act(harness, Command::File(File::Replace("figure.svg".into())));
    String::from_utf8(shelf.figures.lock().unwrap().pop().unwrap()).unwrap()
}

/// The window at a moment, and the figure that it exports there.
fn both(shelf: &Shelf, harness: &mut Screen) -> (Vec<String>, String) {
    let figure = exported(shelf, harness);
    let shown = clipping::texts(harness).map(|(text, _)| text.galley.text().to_owned());
    (shown.collect(), figure)
}

/// Colours in columns and rows: how many columns, and all of them.
type Colours = (usize, Vec<[u8; 3]>);

/// The pictures in a figure, by the titles below which they stand; without legends.
fn printed(svg: &str) -> Vec<(String, Colours)> {
    let title = |behind: &str| {
        let bold = behind
            .split("<text ")
            .find(|text| text.contains("\"600\">"))?;
        Some(bold.split_once('>')?.1.split_once("</text>")?.0.to_owned())
    };
    let images = svg.match_indices("<image ").filter_map(|(at, _)| {
        let (_, behind) = svg[at..].split_once("base64,")?;
        let (png, behind) = behind.split_once('"')?;
        let image = image::load_from_memory(&STANDARD.decode(png).unwrap()).unwrap();
        let image = image.into_rgb8();
        let pixels = image.pixels().map(|pixel| pixel.0).collect();
        let is_legend = image.height() == 1;
        (!is_legend).then(|| {
            (
                title(behind).unwrap_or_default(),
                (image.width() as usize, pixels),
            )
        })
    });
    images.collect()
}

/// The pictures in a window, as far as they are not dimmed; run of rows by run of rows.
fn painted(harness: &Screen, raster: &Shared) -> Vec<Colours> {
    let images = clipping::shapes(harness).filter_map(|(shape, _)| {
        let Shape::Mesh(mesh) = shape else {
            return None;
        };
        let corners = (mesh.vertices.first()?, mesh.vertices.last()?);
        if mesh.vertices.len() != 4 || corners.0.color != Color32::WHITE {
            return None;
        }
        let image = raster.texture(mesh.texture_id);
        let [width, height] = image.size;
        let row = |share: f32| (share * height as f32).round() as usize;
        let pixels = &image.pixels[row(corners.0.uv.y) * width..row(corners.1.uv.y) * width];
        let pixels = pixels.iter().map(|pixel| [pixel.r(), pixel.g(), pixel.b()]);
        Some((width, pixels.collect()))
    });
    images.collect()
}

/// The lengths of the bars that are no hairlines, as shares of the width of their columns, in order.
fn shares(lengths: impl Iterator<Item = f32>, column: f32) -> Vec<f32> {
    let lengths = lengths.filter(|length| *length >= 0.03 * column);
    let mut shares: Vec<f32> = lengths.map(|length| length / column).collect();
    shares.sort_by(f32::total_cmp);
    shares
}

/// The widths of the rectangles of a figure in this colour.
fn widths(svg: &str, [r, g, b]: [u8; 3]) -> Vec<f32> {
    let end = format!("fill=\"#{r:02x}{g:02x}{b:02x}\"/>");
    let rects = svg
        .lines()
        .filter(|line| line.starts_with("<rect x") && line.ends_with(&end));
    let width = |rect: &str| {
        rect.split_once(" width=\"")?
            .1
            .split('"')
            .next()?
            .parse()
            .ok()
    };
    rects.filter_map(width).collect()
}

/// Fails where the figure prints colours or bars that the window does not show. How far the answer is off is printed
/// only.
pub fn is_exported_as_shown(
    harness: &mut Screen,
    shelf: &Shelf,
    raster: &Shared,
    what: &str,
) -> usize {
    let (figure, painted) = (exported(shelf, harness), painted(harness, raster));
    let printed = printed(&figure);
    for (title, picture) in printed.iter().filter(|(title, _)| title != "Error") {
        assert!(
            painted.contains(picture),
            "{what}: {title} of the figure is not in the window"
        );
    }
    let open = harness.state().session.open.as_ref().unwrap();
    if harness.state().layout() != WindowLayout::Debug || open.heads.is_empty() {
        return printed.len();
    }
    let head = HeadName::of(&open.shown.recording.trace, harness.state().view.focus);
    let colours = figure::Colours::for_theme(true);
    let column = widths(&figure, colours.well)
        .into_iter()
        .fold(f32::MAX, f32::min);
    let bars = shares(widths(&figure, colours.head(head)).into_iter(), column);
    let [r, g, b] = colours.head(head);
    let words: std::collections::BTreeSet<_> = COLUMNS.iter().map(|column| column.word).collect();
    let places = words.iter().filter_map(|word| {
        let label = format!("{head} {word}: ");
        let place = harness.query_by_label_contains(&label)?;
        Some(place.rect())
    });
    let places: Vec<_> = places.collect();
    // A head may have no weighting.
    let Some(first) = places.first() else {
        assert!(bars.is_empty(), "{what}: {bars:?}");
        return printed.len();
    };
    let rects = clipping::shapes(harness).filter_map(|(shape, _)| match shape {
        Shape::Rect(rect) if rect.fill == Color32::from_rgb(r, g, b) => Some(rect.rect),
        _ => None,
    });
    let inside = rects.filter(|rect| {
        places
            .iter()
            .any(|place| place.expand(1.0).contains_rect(*rect))
    });
    let shown = shares(inside.map(|rect| rect.width()), first.width());
    let alike = |(a, b): (&f32, &f32)| (a - b).abs() < 0.03;
    let is_alike = bars.len() == shown.len() && bars.iter().zip(&shown).all(alike);
    assert!(
        is_alike,
        "{what}: {bars:?} in the figure, {shown:?} in the window"
    );
    printed.len() + bars.len()
}

#[test]
fn every_layout_exports_what_it_shows() {
    let shelf = Arc::<Shelf>::default();
    let raster = Shared::default();
    let options = options(shelf.clone());
    let mut harness = window_drawn((LARGE, Theme::Dark), options, raster.clone());
    act(&mut harness, Play::Toggle);
    for (trace, least) in [
        ("", 9),
        ("1 reads 1 writes, write first", 9),
        ("3 reads 2 writes", 9),
        ("0 reads 0 writes", 5),
    ] {
        if !trace.is_empty() {
            open(&mut harness, trace);
        }
        for layout in 0..5 {
            for (step, moment) in [(0, 2), (4, 1), (4, 5), (9, usize::MAX)] {
                act(&mut harness, Play::Seek(step));
                let stages = harness.state().session.open.as_ref().unwrap().stages.len();
                act(&mut harness, Play::SeekStage(moment.min(stages - 1)));
                let what = format!("`{trace}`, layout {layout}, step {step}, stage {moment}");
                let seen = is_exported_as_shown(&mut harness, &shelf, &raster, &what);
                let least = [least, 2, 2, 2, 0][layout];
                assert!(seen >= least, "{what}: {seen}");
            }
            if layout == 2 {
                act(&mut harness, Compare::With("theirs.ntmtrace.json".into()));
            } else {
                act(&mut harness, Look::NextLayout);
            }
        }
        act(&mut harness, Compare::End);
    }
}

#[test]
fn exported_columns_memory_and_wrong_bits_match_window() {
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
