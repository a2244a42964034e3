//! docs/how.md: its picture, its numbers and the lines of its machine file follow from included machines.
//!
//! `UPDATE_TABLES=1 cargo test --test library how` writes picture and numbers again.

use std::fs;

use tapescope::figure::facts::episode::Scales;
use tapescope::figure::page::machine_loop::{HEIGHT, machine_loop};
use tapescope::figure::scene::paint::Page;
use tapescope::figure::{Area, Colours, Drawing, Surface, peak};
use tapescope::io::preset::{FIRST, FIRST_STEP};
use tapescope::io::weights;
use tapescope::model::{HeadTrace, Trace};
use tapescope::train::Recording;

const PAGE: &str = "docs/how.md";

/// A step of an episode.
struct Moment {
    recording: Recording,
    step: usize,
}

/// The two steps of the page: the read head finds a row, and moves on.
fn moments() -> [Moment; 2] {
    let episodes = [("repeat_copy", 6, 1, FIRST_STEP), ("copy", 5, 4, 5)];
    episodes.map(|(name, length, seed, step)| {
        let of = weights::included(name).unwrap().unwrap();
        let task = of.experiment.task.clone().with_size(length).with_repeats(3);
        let recording = Recording::new(&of.machine, &task, seed, 0);
        Moment { recording, step }
    })
}

fn number(value: f32) -> String {
    format!("{value:.3}").replace('-', "−")
}

fn numbers(values: &[f32]) -> String {
    let first: Vec<_> = values.iter().take(3).map(|&value| number(value)).collect();
    format!("{}, …", first.join(", "))
}

/// The rows of the largest values.
fn largest(values: &[f32], count: usize) -> String {
    let mut rows: Vec<usize> = (0..values.len()).collect();
    rows.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let rows = rows.into_iter().take(count);
    let rows: Vec<_> = rows
        .map(|row| format!("row {row}: {}", number(values[row])))
        .collect();
    rows.join(", ")
}

/// The numbers of each line of the table, in the order of the page.
fn lines(moment: &Moment) -> Vec<(&'static str, String)> {
    let (trace, t): (&Trace, _) = (&moment.recording.trace, moment.step);
    let is_write = |head: &&HeadTrace| head.is_write();
    let read = &trace.heads[0];
    let write = trace.heads.iter().find(is_write).unwrap();
    let before = match t {
        0 => read.initial.row(0),
        _ => read.weighting.row(t - 1),
    };
    let [content, gated, shifted] = [&read.content, &read.gated, &read.shifted].map(|of| of.row(t));
    let (gate, gamma) = (read.gate.row(t)[0], read.sharpening.row(t)[0]);
    let shift = read.shift.row(t);
    let row = |values: &[f32]| peak(values).unwrap().0;
    let (from, to, last) = (row(gated), row(shifted), gated.len());
    let sources = [to + 1, to, to + last - 1].map(|row| gated[row % last]);
    let moved = shift.iter().zip(sources);
    let moved: Vec<_> = moved
        .map(|(&s, w)| format!("{} · {}", number(s), number(w)))
        .collect();
    let power = |weight: &f32| weight.powf(gamma);
    let sum: f32 = shifted.iter().map(power).sum();
    let weighting = read.weighting.row(t);
    let sharp = row(weighting);
    let (written, a, e) = (
        row(write.weighting.row(t)),
        write.add.row(t)[0],
        write.erase.row(t)[0],
    );
    let w = write.weighting.row(t)[written];
    let [old, new] = [t, t + 1].map(|t| trace.memory(t)[[written, 0]]);
    vec![
        (
            "controller",
            format!("h = {}", numbers(trace.layers[0].hidden.row(t))),
        ),
        ("before", largest(before, 1)),
        (
            "match",
            format!(
                "k = {}<br>{}",
                numbers(read.key.row(t)),
                largest(read.similarity.row(t), 3)
            ),
        ),
        (
            "content",
            format!(
                "β = {}<br>{}",
                number(read.strength.row(t)[0]),
                largest(content, 3)
            ),
        ),
        (
            "gate",
            format!(
                "g = {}<br>row {from}: {} · {} + {} · {} = {}",
                number(gate),
                number(gate),
                number(content[from]),
                number(1.0 - gate),
                number(before[from]),
                number(gated[from]),
            ),
        ),
        (
            "shift",
            format!(
                "s = {}<br>row {to}: {} = {}",
                shift
                    .iter()
                    .map(|&s| number(s))
                    .collect::<Vec<_>>()
                    .join(", "),
                moved.join(" + "),
                number(shifted[to])
            ),
        ),
        (
            "sharpen",
            format!(
                "γ = {}<br>row {sharp}: {:.4} / {sum:.4} = {}",
                number(gamma),
                power(&shifted[sharp]),
                number(weighting[sharp])
            ),
        ),
        ("read", format!("r = {}", numbers(read.read.row(t)))),
        (
            "write",
            format!(
                "row {written}, column 0:<br>{} · (1 − {} · {}) + {} · {} = {}",
                number(old),
                number(w),
                number(e),
                number(w),
                number(a),
                number(new),
            ),
        ),
        ("output", format!("y = {}", numbers(trace.output.row(t)))),
    ]
}

/// Compares a file with what it should be, or writes it.
fn held(file: &str, wanted: &str) {
    if fs::read_to_string(file).is_ok_and(|found| found == wanted) {
        return;
    }
    let updates = std::env::var_os("UPDATE_TABLES").is_some();
    assert!(
        updates,
        "{file} differs; `UPDATE_TABLES=1 cargo test --test library how` writes it"
    );
    fs::write(file, wanted).unwrap();
}

#[test]
fn how_page_has_the_numbers_of_its_steps() {
    let page = fs::read_to_string(PAGE).unwrap();
    let [first, second] = moments().map(|moment| lines(&moment));
    let mut wanted: Vec<String> = page.lines().map(str::to_owned).collect();
    for ((stage, first), (_, second)) in first.into_iter().zip(second) {
        let begin = format!("| **{stage}**");
        let line = wanted.iter_mut().find(|line| line.starts_with(&begin));
        let line = line.unwrap_or_else(|| panic!("{PAGE} has no line {begin}"));
        let cells: Vec<&str> = line.split(" | ").take(2).collect();
        *line = format!("{} | {first} | {second} |", cells.join(" | "));
    }
    held(PAGE, &(wanted.join("\n") + "\n"));
}

#[test]
fn how_page_shows_the_step_of_the_start_page() {
    let [Moment { recording, step }, _] = moments();
    assert!(
        FIRST
            .link
            .contains("machine=repeat_copy&length=6&repeats=3&seed=1&step=13&")
    );
    let (trace, colours) = (&recording.trace, Colours::for_theme(false));
    let title = "The loop of a machine in step 13 of repeat copy".to_owned();
    let mut drawing = Drawing::new(1080.0, HEIGHT + 24.0, colours.panel, title);
    let page = Page::on_screen(colours, 2.0);
    let on = &mut Surface::new(&mut drawing, &page);
    let area = Area::new(12.0, 12.0, 1056.0, HEIGHT);
    machine_loop(on, trace, &Scales::of(&recording), step, area);
    held("docs/how/loop.svg", &drawing.to_svg());
}

#[test]
fn how_page_has_every_line_of_the_machine_file() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (_, part) = page.split_once("## The file").unwrap();
    let shown = part.split("```").skip(1).step_by(2).flat_map(str::lines);
    let shown: Vec<&str> = shown.filter(|line| !line.is_empty()).collect();
    let file = include_str!("../../src/core/machines/ntm_one_page.machine");
    let file: Vec<&str> = file.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(shown, file);
}
