//! What the window shows is what the figure prints.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use egui::{Color32, Shape};
use tapescope::figure::{self, Area, Drawing, Figure, Ink, Mark};
use tapescope::viewer::command::Rows;

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
    act(harness, File::Save("figure.svg".into(), true));
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
        let is_legend = image.width() == 256 || image.height() == 1;
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

/// The page on screen as marks, its corner at the origin, and its size.
fn shown(harness: &mut Screen) -> (Vec<Mark>, (f32, f32)) {
    harness.state_mut().record_page();
    harness.step();
    let mut parts = harness.state_mut().recorded_page();
    parts.sort_by(|(a, _), (b, _)| a.top.total_cmp(&b.top));
    if harness.state().layout() != WindowLayout::Debug {
        // The timeline below them is of the main layout.
        parts.truncate(1);
    }
    let (left, width) = (parts[0].0.left, parts[0].0.width());
    // One below the other, without the line between them.
    let (mut all, mut height) = (Vec::new(), 0.0);
    for (area, marks) in parts {
        let marks = marks.into_iter();
        all.extend(marks.map(|mark| moved(mark, [left, area.top - height])));
        height += area.height();
    }
    (all, (width, height))
}

/// A mark by this much further to the left and up.
fn moved(mut mark: Mark, [dx, dy]: [f32; 2]) -> Mark {
    match &mut mark {
        Mark::Rect { area, .. } | Mark::Edge { area, .. } | Mark::Image { area, .. } => {
            let Area { left, top, .. } = *area;
            *area = Area::new(left - dx, top - dy, area.width(), area.height());
        }
        Mark::Line { points, .. } | Mark::Shape { points, .. } => {
            for [x, y] in points {
                (*x, *y) = (*x - dx, *y - dy);
            }
        }
        Mark::Text(text) => text.at = [text.at[0] - dx, text.at[1] - dy],
    }
    mark
}

/// Returns the marks of the exported figure on a page of this size.
fn figure_of(harness: &Screen, size: (f32, f32)) -> Vec<Mark> {
    let state = harness.state();
    let options = figure::Options {
        size: Some(size),
        density: 1.0,
        step: Some(state.player.step()),
        ..state.figure()
    };
    if let Some(two) = state.comparison_figure(&options) {
        let (mut drawing, all) = (blank(size), Area::new(0.0, 0.0, size.0, size.1));
        two.figure().paint(&mut drawing, all);
        return drawing.marks;
    }
    let open = state.session.open.as_ref().unwrap();
    let figure = Figure::new(&open.shown.recording, options)
        .with_initial(open.shown.initial_cells())
        .with_spread(open.spread.as_deref())
        .with_layer(open.layer());
    let (mut drawing, all) = (blank(size), Area::new(0.0, 0.0, size.0, size.1));
    figure.paint(&mut drawing, all);
    drawing.marks
}

fn blank((width, height): (f32, f32)) -> Drawing {
    Drawing::new(width, height, [0; 3], String::new())
}

/// The numbers of a mark that may differ a little, and the mark without them.
fn taken_apart(mark: &Mark) -> (Vec<f32>, Mark) {
    let mut mark = mark.clone();
    let mut numbers = Vec::new();
    let area = |area: &mut Area| {
        let all = [area.left, area.top, area.right, area.bottom];
        *area = Area::default();
        all
    };
    // Opacity and size are compared more exactly.
    let ink = |ink: &mut Ink| 200.0 * std::mem::take(&mut ink.opacity);
    match &mut mark {
        Mark::Rect { area: at, fill } => {
            numbers.extend(area(at));
            numbers.push(ink(fill));
        }
        Mark::Edge {
            area: at, ink: of, ..
        } => {
            numbers.extend(area(at));
            numbers.push(ink(of));
        }
        Mark::Image { area: at, .. } => numbers.extend(area(at)),
        Mark::Line {
            points, ink: of, ..
        }
        | Mark::Shape { points, fill: of } => {
            numbers.extend(points.iter_mut().flatten().map(std::mem::take));
            numbers.push(ink(of));
        }
        Mark::Text(text) => {
            numbers.extend(text.at);
            text.at = [0.0; 2];
            numbers.push(ink(&mut text.style.ink));
            numbers.push(20.0 * std::mem::take(&mut text.style.size));
        }
    }
    (numbers, mark)
}

/// The first mark that both lists do not share, if there is one.
fn first_difference(shown: &[Mark], drawn: &[Mark]) -> Option<String> {
    let is_same = |(a, b): (&Mark, &Mark)| {
        let (a, b) = (taken_apart(a), taken_apart(b));
        let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 0.02;
        a.1 == b.1 && a.0.len() == b.0.len() && a.0.iter().zip(&b.0).all(is_near)
    };
    let same = shown
        .iter()
        .zip(drawn)
        .take_while(|pair| is_same(*pair))
        .count();
    let brief = |mark: Option<&Mark>| match mark {
        Some(Mark::Image { area, image }) => {
            format!("an image of {} x {} at {area:?}", image.columns, image.rows)
        }
        mark => format!("{mark:?}"),
    };
    (same < shown.len().max(drawn.len())).then(|| {
        format!(
            "mark {same} of {} and {}: {} on screen, {} in the figure",
            shown.len(),
            drawn.len(),
            brief(shown.get(same)),
            brief(drawn.get(same))
        )
    })
}

/// Fails where page and figure are not the same marks; returns their number.
pub fn agree(harness: &mut Screen, what: &str) -> usize {
    let (shown, size) = shown(harness);
    let drawn = figure_of(harness, size);
    let difference = first_difference(&shown, &drawn);
    assert!(
        difference.is_none(),
        "{what}: {}",
        difference.unwrap_or_default()
    );
    shown.len()
}

/// Fails where page and figure are not the same marks, or where a figure has colours that are not on screen. Returns the
/// number of marks.
pub fn is_exported_as_shown(
    harness: &mut Screen,
    shelf: &Shelf,
    raster: &Shared,
    what: &str,
) -> usize {
    let count = agree(harness, what);
    let (figure, painted) = (exported(shelf, harness), painted(harness, raster));
    for (title, picture) in printed(&figure)
        .iter()
        .filter(|(title, _)| title != "Error")
    {
        assert!(
            painted.contains(picture),
            "{what}: {title} of the figure, {} columns and {} pixels, is not in the window",
            picture.0,
            picture.1.len()
        );
    }
    count
}

#[test]
fn any_change_of_a_mark_is_a_difference() {
    let mut harness = paused_with(Arc::<Shelf>::default());
    let (marks, _) = shown(&mut harness);
    assert!(marks.len() > 200 && first_difference(&marks, &marks).is_none());
    for index in 0..marks.len() {
        let mut without = marks.clone();
        without.remove(index);
        let mut twice = marks.clone();
        twice.insert(index, marks[index].clone());
        let mut other = marks.clone();
        match &mut other[index] {
            Mark::Rect { fill: ink, .. }
            | Mark::Edge { ink, .. }
            | Mark::Line { ink, .. }
            | Mark::Shape { fill: ink, .. } => ink.opacity *= 0.9,
            Mark::Text(text) => text.text.push('.'),
            Mark::Image { image, .. } => image.pixels[0][0] ^= 1,
        }
        let mut aside = marks.clone();
        aside[index] = moved(aside[index].clone(), [0.5, 0.0]);
        for changed in [without, twice, other, aside] {
            assert!(first_difference(&marks, &changed).is_some(), "{index}");
            assert!(first_difference(&changed, &marks).is_some(), "{index}");
        }
    }
}

#[test]
fn every_layout_exports_what_it_shows() {
    let shelf = Arc::<Shelf>::default();
    let raster = Shared::default();
    let options = options(shelf.clone());
    let mut harness = window_drawn((LARGE, Theme::Dark), options, raster.clone());
    act(&mut harness, Play::Toggle);
    for trace in [
        "",
        "1 reads 1 writes, write first",
        "3 reads 2 writes",
        "0 reads 0 writes",
    ] {
        if !trace.is_empty() {
            open(&mut harness, trace);
        }
        for layout in 0..5 {
            for (step, moment) in [(0, 2), (4, 1), (4, 5), (9, usize::MAX)] {
                act(&mut harness, Play::Seek(step));
                let stages = harness
                    .state()
                    .session
                    .open
                    .as_ref()
                    .unwrap()
                    .facts
                    .stages
                    .len();
                act(&mut harness, Play::SeekStage(moment.min(stages - 1)));
                let what = format!("`{trace}`, layout {layout}, step {step}, stage {moment}");
                let seen = is_exported_as_shown(&mut harness, &shelf, &raster, &what);
                assert!(seen >= 30, "{what}: {seen}");
            }
            if layout == 2 {
                act(&mut harness, Compare::With("theirs.ntmtrace.json".into()));
            } else {
                act(&mut harness, ViewCommand::NextLayout);
            }
        }
        act(&mut harness, Compare::End);
    }
}

#[test]
fn page_and_figure_agree_in_every_theme_size_and_view() {
    for (size, theme) in [
        (SMALL, Theme::Light),
        (SMALL, Theme::Dark),
        (Vec2::new(1920.0, 1080.0), Theme::Light),
    ] {
        let options = options(Arc::<Shelf>::default());
        let mut harness = window_drawn((size, theme), options, Shared::default());
        act(&mut harness, Play::Toggle);
        open(&mut harness, "3 reads 2 writes");
        act(&mut harness, Play::Seek(6));
        for look in [
            Command::View(ViewCommand::Focus(1)),
            Command::View(ViewCommand::Pin(4)),
            Command::View(ViewCommand::AllHeads),
            Command::View(ViewCommand::NextScale),
            Command::Rows(Rows::ToggleTouched),
        ] {
            act(&mut harness, look.clone());
            for layout in 0..4 {
                let what = format!("{size:?} {theme:?} {look:?}, layout {layout}");
                assert!(agree(&mut harness, &what) >= 30, "{what}");
                act(&mut harness, ViewCommand::NextLayout);
            }
        }
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
            act(&mut harness, Play::Seek(4));
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
