//! A Differentiable Neural Computer on screen: usage, order of allocation, links, read modes; and sparse access memory:
//! ages, the rows that a recording has. Their stops of the tour, and all that works for any machine.

use super::gradients::lay_out;
use super::tour::rect_of;
use super::*;
use egui::Rect;
use tapescope::figure::page::compare::Common;
use tapescope::figure::{Figure, Layout, Pages, PanelId, Picture, TOUCHED};
use tapescope::model::Trace;
use tapescope::model::dnc::{ALLOCATION, PRECEDENCE, READ_MODES, USAGE, link_matrix};
use tapescope::model::sam::{AGE, row_number};
use tapescope::viewer::command::List;

/// An untrained machine for copying, its weights so large that the heads do something.
fn machine_of(model: &str) -> Machine {
    let mut machine = machine_kinds::of_kind(model);
    for weights in machine.ntm.params.slices_mut() {
        weights.iter_mut().for_each(|weight| *weight *= 6.0);
    }
    machine
}

fn managing() -> Machine {
    machine_of(
        r#"{"kind": "dnc", "memory": {"rows": 9, "columns": 6}, "heads": {"read": 2}, "controller": {"size": 8}}"#,
    )
}

/// The included machine.
fn copying() -> Machine {
    let mut all = tapescope::viewer::included_machines().into_iter();
    all.find(|machine| machine.name == "copy_dnc").unwrap()
}

fn sparse() -> Machine {
    machine_of(
        r#"{"kind": "sam", "memory": {"rows": 200, "columns": 6, "seed": 3}, "controller": {"size": 8}}"#,
    )
}

const STEP: usize = 6;

fn screen_of(size: Vec2, layout: WindowLayout) -> Screen {
    screen_with(managing(), size, layout)
}

fn screen_with(machine: Machine, size: Vec2, layout: WindowLayout) -> Screen {
    let mut screen = window_of_machines(size, vec![machine]);
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
        act(&mut screen, ViewCommand::Focus(0));
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
                act(&mut screen, ViewCommand::Focus(head));
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
    for (machine, count, own) in [
        (
            managing(),
            14,
            &["Usage", "Allocation", "Links", "Read modes"][..],
        ),
        (sparse(), 13, &["Age", "Write", "Read"]),
    ] {
        let mut screen = window_of_machines(LARGE, vec![machine]);
        act(&mut screen, Tour::Start);
        let mut titles = Vec::new();
        for number in 1..=count - 4 {
            screen.get_by_label(&format!("{number} of {count}"));
            let tour = screen.state().tour().unwrap().clone();
            titles.push(tour.at().title);
            let stages = &screen.state().session.open.as_ref().unwrap().facts.stages;
            assert!(!tour.lacks(stages), "{}", tour.at().title);
            if tour.at().about().is_some() {
                assert!(!tour.met, "{} waits", tour.at().title);
                for _ in 0..20 {
                    if !screen.state().tour().unwrap().met {
                        press(&mut screen, Key::Period);
                    }
                }
                assert!(screen.state().tour().unwrap().met, "{}", tour.at().title);
            }
            if number < count - 4 {
                let met = screen.state().tour().unwrap().met;
                click(&mut screen, if met { "Next" } else { "Skip step" });
            }
        }
        for title in own {
            let is_told = titles.iter().any(|told| told.starts_with(title));
            assert!(is_told, "{title}: {titles:?}");
        }
        assert!(!titles.iter().any(|title| title.starts_with("Shift")));
    }
}

#[test]
fn tour_of_sparse_access_memory_tells_its_rows() {
    let mut screen = window_of_machines(LARGE, vec![sparse()]);
    act(&mut screen, Tour::Start);
    let mut told = Vec::new();
    for number in 1..=9 {
        screen.get_by_label(&format!("{number} of 13"));
        let tour = screen.state().tour().unwrap().clone();
        if tour.at().about().is_some() {
            for _ in 0..20 {
                if !screen.state().tour().unwrap().met {
                    press(&mut screen, Key::Period);
                }
            }
            told.push(screen.state().describe(screen.state().tour().unwrap()));
        }
        let met = screen.state().tour().unwrap().met;
        click(&mut screen, if met { "Next" } else { "Skip step" });
    }
    let rows = recording(&screen).trace.memory_size()[0];
    let of_ages = format!("This episode reads or writes {rows} of 200 rows.");
    for words in [
        "W0 finds the row that was accessed longest ago",
        &of_ages,
        "W0 writes",
        "R0 weighs the 4 rows most like its key",
    ] {
        let is_told = told.iter().any(|told| told.contains(words));
        assert!(is_told, "{words}: {told:#?}");
    }
}

/// The texts of a close-up of a head, as a window of 960 × 600 has room for it.
fn small_close_up(recording: &Recording, head: usize) -> String {
    let options = tapescope::figure::Options {
        size: Some((772.0, 466.0)),
        step: Some(STEP),
        heads: vec![head],
        ..tapescope::figure::Options::new(Layout::CloseUp)
    };
    Figure::new(recording, options).draw().to_svg()
}

#[test]
fn every_colour_is_explained_in_a_small_close_up() {
    for (machine, heads, words) in [
        (
            copying(),
            2,
            &[
                "memory, read",
                "key, add",
                "bit, erase",
                "arrow: written next, link 0.1 or more",
                "grey: usage; number: order of allocation",
            ][..],
        ),
        (sparse(), 2, &["memory, read", "key, add", "bit"]),
    ] {
        let screen = screen_with(machine, LARGE, WindowLayout::CloseUp);
        for head in 0..heads {
            let drawn = small_close_up(recording(&screen), head);
            for words in words {
                assert!(
                    drawn.contains(&format!(">{words}<")),
                    "{words}, head {head}"
                );
            }
        }
    }
}

#[test]
fn a_value_of_a_row_has_one_form_of_card_with_its_equation() {
    let mut screen = screen_of(LARGE, WindowLayout::Debug);
    let trace = recording(&screen).trace.clone();
    let select = |screen: &mut Screen, picture, head, column| {
        let id = PanelId::of(picture, head);
        act(screen, ViewCommand::Select(Target::Value { id, column }));
        let card = screen.state().card().unwrap();
        assert_eq!(card.lines.len(), 1);
        let value: f32 = card.lines[0].value.replace('−', "-").parse().unwrap();
        (card.title, card.lines[0].sum.replace('−', "-"), value)
    };
    let (title, sum, value) = select(&mut screen, Picture::Usage, 2, 4);
    assert_eq!(title, "W0 usage of row 4");
    assert!((value - own(&trace, 2, USAGE)[4]).abs() < 1e-3);
    assert!(sum.contains("in the order of allocation"), "{sum}");
    let (title, sum, value) = select(&mut screen, Picture::Precedence, 2, 4);
    assert_eq!(title, "W0 precedence of row 4");
    assert!((value - own(&trace, 2, PRECEDENCE)[4]).abs() < 1e-3);
    // kept · before + written
    let numbers = sum.split_whitespace().filter_map(|part| part.parse().ok());
    let [kept, before, written]: [f32; 3] = numbers.collect::<Vec<_>>().try_into().unwrap();
    assert!((kept * before + written - value).abs() < 1e-3, "{sum}");
    let mut screen = screen_with(sparse(), LARGE, WindowLayout::Debug);
    let trace = recording(&screen).trace.clone();
    let (title, sum, value) = select(&mut screen, Picture::Age, 1, 4);
    assert_eq!(title, format!("W0 age of row {}", row_number(&trace, 4)));
    assert_eq!(value, own(&trace, 1, AGE)[4]);
    assert!(sum.starts_with(&format!("last accessed {value} steps ago")));
}

#[test]
fn the_scale_of_ages_says_that_older_rows_look_alike() {
    let screen = screen_with(sparse(), LARGE, WindowLayout::Debug);
    let recording = recording(&screen);
    let steps = recording.trace.steps();
    let ages = recording.trace.heads[1].series(AGE).unwrap().as_slice();
    assert!(ages.iter().any(|age| *age > steps as f32));
    let age = Layout::Pictures(vec![Picture::Age]);
    for layout in [age, Layout::Debug, Layout::CloseUp] {
        let options = tapescope::figure::Options {
            step: Some(STEP),
            heads: vec![1],
            ..tapescope::figure::Options::new(layout.clone())
        };
        let svg = Figure::new(recording, options).draw().to_svg();
        assert!(svg.contains(&format!("{steps}+<")), "{layout:?}");
    }
}

#[test]
fn a_sparse_memory_has_the_numbers_of_rows_of_its_kind() {
    let machine =
        machine_of(r#"{"kind": "sam", "memory": {"rows": 200}, "controller": {"size": 4}}"#);
    let mut screen = screen_with(machine, LARGE, WindowLayout::Debug);
    for (typed, rows) in [(1 << 21, 1 << 21), (1 << 23, 1 << 21), (1, 1 << 21)] {
        act(&mut screen, Episode::Rows(typed));
        assert_eq!(screen.state().session.request.rows, rows);
    }
}

#[test]
fn two_sparse_episodes_with_other_rows_have_an_axis_each() {
    let mut screen = screen_with(sparse(), LARGE, WindowLayout::Debug);
    let a = recording(&screen).clone();
    press(&mut screen, Key::K);
    press_with(&mut screen, Modifiers::SHIFT, Key::R);
    assert_eq!(screen.state().layout(), WindowLayout::Compare);
    let b = recording(&screen).clone();
    let numbers = |recording: &Recording| {
        let rows = 0..recording.trace.memory_size()[0];
        let numbers = rows.map(|row| row_number(&recording.trace, row));
        numbers.collect::<Vec<_>>()
    };
    assert!(numbers(&a).iter().zip(numbers(&b)).any(|(a, b)| *a != b));
    assert!(says(&screen, "The two show other memory rows"));
    assert!(!says(&screen, "source steps"));
    // The same rows are compared row by row.
    assert!(!Common::of(&a, &a).is_unlike());
}

#[test]
fn all_that_works_for_any_machine_works_for_these() {
    for (machine, set) in [
        (managing(), "3:write0.write_gate=0"),
        (sparse(), "3:write0.write_gate=0"),
    ] {
        let mut screen = screen_with(machine, LARGE, WindowLayout::Debug);
        // The lists beside the timeline.
        for list in [List::Events, List::Instructions, List::Provenance] {
            act(&mut screen, ViewCommand::List(list));
            for head in 0..recording(&screen).trace.heads.len() {
                act(&mut screen, ViewCommand::Focus(head));
                // What an untrained head has written need not be read.
                let is_write = recording(&screen).trace.heads[head].is_write();
                let is_empty = screen.state().list().is_empty();
                let may_be = is_write && list == List::Provenance;
                assert!(may_be || !is_empty, "{list:?} of head {head}");
            }
        }
        // What if.
        let before = recording(&screen).trace.output.clone();
        act(&mut screen, Edit::Intervene(set.to_owned()));
        assert!(says(&screen, "BRANCH B"));
        assert_ne!(recording(&screen).trace.output.row(7), before.row(7));
        act(&mut screen, Edit::EndBranch);
        // Many episodes.
        press(&mut screen, Key::Q);
        type_into(&mut screen, "Quantity", "entropy(read0.weighting)");
        click(&mut screen, "Measure 100 episodes");
        assert!(!screen.state().report.as_ref().unwrap().charts.is_empty());
        click(&mut screen, "Remove each part");
        let rows = screen.state().report.clone().unwrap().rows;
        assert!(rows.iter().any(|row| row.name == "R0 reads nothing"));
        press(&mut screen, Key::Escape);
    }
}

#[test]
fn such_machines_learn_in_the_window() {
    for name in ["copy_dnc", "copy_sam"] {
        let set = [
            "task.bits=4",
            "task.length=[1,5]",
            "model.memory.rows=16",
            "model.memory.columns=6",
            "model.controller.size=12",
        ];
        let set: Vec<_> = set.map(|text| text.parse().unwrap()).into();
        let experiment = tapescope::io::Experiment::find(name, &set).unwrap();
        let mut screen = window_of(LARGE, Arc::default());
        begin_training(&mut screen, experiment);
        screen.run_steps(12);
        let progress = screen
            .state()
            .learning
            .as_ref()
            .unwrap()
            .run()
            .progress
            .clone();
        assert!(
            progress.is_some_and(|progress| progress.sequences > 0),
            "{name}"
        );
        assert!(says(&screen, "Loss per sequence (bits)"), "{name}");
        // The machine of now is on screen, in every layout.
        for layout in [WindowLayout::Debug, WindowLayout::CloseUp] {
            lay_out(&mut screen, layout);
            screen.run_steps(3);
            clipping::is_whole(&screen, &format!("{name} while it learns, {layout:?}"));
        }
    }
}

#[test]
fn a_machine_from_a_file_is_trained_by_the_preset_of_its_kind() {
    for name in ["copy_dnc", "copy_sam", "recall_sam"] {
        let experiment = tapescope::io::Experiment::find(name, &[]).unwrap();
        let machine = Machine {
            other_way: None,
            away: false,
            name: "runs/1/weights.safetensors".to_owned(),
            title: experiment.title.clone(),
            ntm: Model::new(experiment.model, 3),
            task: experiment.task,
        };
        let mut screen = window_of_machines(LARGE, vec![machine]);
        press(&mut screen, Key::T);
        let learning = screen.state().learning.as_ref().unwrap();
        assert_eq!(learning.run().experiment.name, name);
    }
}

#[test]
fn rows_of_a_machine_that_does_not_shift_are_no_circle() {
    let mut screen = screen_with(sparse(), LARGE, WindowLayout::Debug);
    act(&mut screen, Rows::ToggleTouched);
    let touched = tapescope::figure::facts::rows::touched(recording(&screen));
    assert!(touched.is_sorted_by(|a, b| a.end <= b.start), "{touched:?}");
}

#[test]
fn a_read_along_the_links_is_told_as_one() {
    let mut screen = window_of_machines(LARGE, vec![copying()]);
    act(&mut screen, Play::Toggle);
    let state = screen.state();
    let open = state.session.open.as_ref().unwrap();
    let answers = open.shown.recording.episode.first_scored().unwrap() + 3;
    act(&mut screen, Play::Seek(answers));
    act(&mut screen, ViewCommand::Focus(0));
    lay_out(&mut screen, WindowLayout::Debug);
    assert!(says(&screen, ": forward along the links ("));
    assert!(!says(&screen, "content weight"));
}

#[test]
fn numbers_panel_explains_the_stages_and_gates_of_a_dnc() {
    let mut screen = screen_of(LARGE, WindowLayout::Debug);
    if !screen.state().settings.panels.numbers {
        act(&mut screen, Window::ToggleNumbers);
    }
    let (read, write) = (0, screen.state().heads() - 1);
    for (head, words) in [
        (
            write,
            [
                "Π (1 − f",
                "a = (1 − u)",
                "gʷ · (gᵃ",
                "allocation gate",
                "write gate",
            ],
        ),
        (
            read,
            [
                "Σ L(j, i)",
                "Σ L(i, j)",
                "π₁ · b",
                "free gate",
                "share of forward",
            ],
        ),
    ] {
        act(&mut screen, ViewCommand::Focus(head));
        for words in words {
            assert!(says(&screen, words), "{words} of head {head}");
        }
    }
}
