//! A Differentiable Neural Computer on screen: usage, order of allocation, links, read modes, its stops of the tour.

use super::gradients::lay_out;
use super::tour::rect_of;
use super::*;
use egui::Rect;
use tapescope::figure::TOUCHED;
use tapescope::model::Trace;
use tapescope::model::dnc::{ALLOCATION, READ_MODES, USAGE, link_matrix};

/// An untrained machine for copying, its weights so large that the heads do something.
fn managing() -> Machine {
    let mut machine = machine_kinds::of_kind(
        r#"{"kind": "dnc", "memory": {"rows": 9, "columns": 6}, "heads": {"read": 2}, "controller": {"size": 8}}"#,
    );
    for weights in machine.ntm.params.slices_mut() {
        weights.iter_mut().for_each(|weight| *weight *= 6.0);
    }
    machine
}

const STEP: usize = 6;

fn screen_of(size: Vec2, layout: WindowLayout) -> Screen {
    let mut screen = window_of_machines(size, vec![managing()]);
    act(&mut screen, Play::Toggle);
    act(&mut screen, Play::Seek(STEP));
    if screen.state().view.touched_only {
        act(&mut screen, Rows::ToggleTouched);
    }
    lay_out(&mut screen, layout);
    screen
}

/// What is told of a place on screen: where it is, its number, and its meaning.
struct Told {
    place: String,
    number: f32,
    meaning: String,
}

fn point(screen: &mut Screen, at: egui::Pos2) -> Option<Told> {
    screen.hover_at(at);
    screen.run_steps(3);
    screen.state().readout().map(|told| Told {
        place: told.place.clone(),
        number: told.value.replace('−', "-").parse().unwrap(),
        meaning: told.meaning.clone(),
    })
}

fn at(rect: Rect, x: f32, y: f32) -> egui::Pos2 {
    rect.lerp_inside(egui::vec2(x, y))
}

/// The array of a head of the trace at the step.
fn own(trace: &Trace<f32>, head: usize, of: tapescope::model::Array) -> &[f32] {
    trace.heads[head].series(of).unwrap().row(STEP)
}

#[test]
fn usage_beside_the_memory_tells_number_and_place_of_every_row() {
    for layout in [WindowLayout::Debug, WindowLayout::CloseUp] {
        let mut screen = screen_of(LARGE, layout);
        let trace = recording(&screen).trace.clone();
        let (usage, allocation) = (own(&trace, 2, USAGE), own(&trace, 2, ALLOCATION));
        let strip = rect_of(&screen, "usage of W0: ");
        let mut places = Vec::new();
        for (row, &wanted) in usage.iter().enumerate() {
            let y = (row as f32 + 0.5) / 9.0;
            let told = point(&mut screen, at(strip, 0.5, y)).unwrap();
            assert_eq!(told.place, format!("u of W0 after step {STEP}  row {row}"));
            assert_eq!(told.number, wanted);
            let place = told.meaning.lines().find_map(|line| {
                let place = line.strip_prefix("place ")?;
                place
                    .strip_suffix(" of 9 in the order of allocation")?
                    .parse::<usize>()
                    .ok()
            });
            places.push((place.unwrap(), row));
        }
        // The trace has the same order: in it, the allocation of a row is what the rows before it leave.
        places.sort_unstable();
        let mut left = 1.0;
        for (index, &(place, row)) in places.iter().enumerate() {
            assert_eq!(place, index + 1);
            assert!((allocation[row] - (1.0 - usage[row]) * left).abs() < 1e-6);
            left *= usage[row];
        }
    }
}

#[test]
fn usage_is_that_of_the_step_before_until_its_stage() {
    let mut screen = screen_of(LARGE, WindowLayout::Debug);
    let trace = recording(&screen).trace.clone();
    let usage = trace.heads[2].series(USAGE).unwrap();
    act(&mut screen, Play::SeekStage(0));
    let strip = rect_of(&screen, "usage of W0: ");
    let told = point(&mut screen, at(strip, 0.5, 0.5)).unwrap();
    assert_eq!(told.number, usage.row(STEP - 1)[4]);
    assert!(told.place.contains(&format!("after step {}", STEP - 1)));
    act(&mut screen, Play::SeekStage(1));
    let told = point(&mut screen, at(strip, 0.5, 0.52)).unwrap();
    assert_eq!(told.number, usage.row(STEP)[4]);
}

#[test]
fn arrows_are_the_strongest_links_of_the_trace_and_computed_once_a_step() {
    for layout in [WindowLayout::Debug, WindowLayout::CloseUp] {
        let mut screen = screen_of(LARGE, layout);
        let links = link_matrix(&recording(&screen).trace, STEP).unwrap();
        let strip = rect_of(&screen, "order of writing: ");
        let strongest = |row: usize| {
            let pairs = (0..9).flat_map(|other| [(row, other), (other, row)]);
            let pairs = pairs.map(|(to, from)| links[to * 9 + from]);
            pairs.fold(0.0, f32::max)
        };
        let mut found = 0;
        for row in 0..9 {
            let told = point(&mut screen, at(strip, 0.5, (row as f32 + 0.5) / 9.0));
            let Some(told) = told else {
                assert!(strongest(row) < 0.1, "row {row}");
                continue;
            };
            assert_eq!(told.number, strongest(row), "row {row}");
            let (_, rows) = told.place.split_once("row ").unwrap();
            let (from, to) = rows.split_once(" → row ").unwrap();
            let [from, to] = [from, to].map(|row| row.parse::<usize>().unwrap());
            assert_eq!(told.number, links[to * 9 + from]);
            found += 1;
        }
        assert!(found >= 2, "{layout:?}");
        // Pointing at what follows the links does not compute them again.
        act(&mut screen, Look::Focus(0));
        let computed = |screen: &Screen| {
            let open = screen.state().session.open.as_ref().unwrap();
            open.facts.links.computed()
        };
        let before = computed(&screen);
        let column = rect_of(&screen, "R0 forward: ");
        for row in 0..9 {
            let told = point(&mut screen, at(column, 0.5, (row as f32 + 0.5) / 9.0)).unwrap();
            assert!(told.meaning.contains("L("), "{}", told.meaning);
        }
        assert_eq!(computed(&screen), before);
    }
}

#[test]
fn read_modes_are_a_band_for_every_head_with_the_numbers_of_the_trace() {
    let mut screen = screen_of(LARGE, WindowLayout::Debug);
    let trace = recording(&screen).trace.clone();
    for head in [0, 1] {
        let band = rect_of(&screen, &format!("modes of R{head}: "));
        let modes = own(&trace, head, READ_MODES);
        let x = (STEP as f32 + 0.5) / trace.steps() as f32;
        let mut below = 0.0;
        for (mode, name) in ["backward", "content", "forward"].iter().enumerate() {
            // Too thin to be pointed at.
            if modes[mode] < TOUCHED {
                below += modes[mode];
                continue;
            }
            let y = 1.0 - (below + 0.5 * modes[mode]);
            let told = point(&mut screen, at(band, x, y)).unwrap();
            assert_eq!(told.place, format!("R{head}  step {STEP}  {name}"));
            assert_eq!(told.number, modes[mode]);
            below += modes[mode];
        }
    }
}

#[test]
fn parts_beside_the_memory_are_explained_and_stay_on_screen() {
    for size in [LARGE, SMALL] {
        let mut screen = screen_of(size, WindowLayout::Debug);
        assert!(says(&screen, "arrows: links of 0.1 or more"), "{size}");
        for layout in [WindowLayout::Debug, WindowLayout::CloseUp] {
            lay_out(&mut screen, layout);
            for head in 0..3 {
                act(&mut screen, Look::Focus(head));
                clipping::is_whole(&screen, &format!("head {head} at {size}, {layout:?}"));
            }
            let [links, usage, memory] = ["order of writing: ", "usage of W0: ", "memory: "]
                .map(|name| rect_of(&screen, name));
            assert!(links.right() <= usage.left() && usage.right() <= memory.left());
        }
    }
}

#[test]
fn tour_of_such_a_machine_has_its_own_stops() {
    let mut screen = window_of_machines(LARGE, vec![managing()]);
    act(&mut screen, Tour::Start);
    let mut titles = Vec::new();
    for number in 1..=10 {
        screen.get_by_label(&format!("{number} of 14"));
        let tour = screen.state().tour().unwrap().clone();
        titles.push(tour.at().title);
        let stages = &screen.state().session.open.as_ref().unwrap().facts.stages;
        assert!(!tour.lacks(stages), "{}", tour.at().title);
        if tour.at().about().is_some() {
            for _ in 0..20 {
                if !screen.state().tour().unwrap().met {
                    press(&mut screen, Key::Period);
                }
            }
            assert!(screen.state().tour().unwrap().met, "{}", tour.at().title);
        }
        if number < 10 {
            let met = screen.state().tour().unwrap().met;
            click(&mut screen, if met { "Next" } else { "Skip step" });
        }
    }
    for title in ["Usage", "Allocation", "Links", "Read modes"] {
        assert!(
            titles.iter().any(|told| told.starts_with(title)),
            "{title}: {titles:?}"
        );
    }
    assert!(!titles.iter().any(|title| title.starts_with("Shift")));
}
