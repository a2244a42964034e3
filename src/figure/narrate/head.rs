//! The action of one head, in a stage or in a whole step.

use crate::figure::facts::action::{Action, WRITES_NOTHING};
use crate::figure::facts::family::score::score_text;
use crate::figure::facts::family::{self, columns_of};
use crate::figure::facts::focus::Focus;
use crate::figure::facts::in_step::{InStep, stage_input};
use crate::figure::facts::numbers::{self, percent};
use crate::figure::facts::stage::Stage;
use crate::figure::facts::stages::{moved, moves};
use crate::figure::facts::thresholds::{DECIDES, EXPLAINS, NEGLIGIBLE, ON_ROW, PEAK};
use crate::figure::offset;
use crate::model::sam::row_number;
use crate::model::{HeadTrace, NoiseMode, array, peak};
use crate::train::is_absent;

/// Returns the action of a head in a stage or, with `None`, in the whole step: without its name, and the detail.
pub(super) fn action(at: &InStep<'_>, stage: Option<Stage>) -> [String; 2] {
    let (head, step) = (at.head, at.step);
    let columns = stage.map(|stage| columns_of(head).filter(move |column| column.stage == stage));
    let column = columns.and_then(Iterator::last);
    let made = column.map_or(head.weighting.row(step), |column| column.values(head, step));
    if made.is_empty() {
        let verb = ["reads", "writes to"][usize::from(head.is_write())];
        return [format!("{verb} the memory"), String::new()];
    }
    if made.iter().copied().all(is_absent) {
        return ["was not recorded here".to_owned(), String::new()];
    }
    if made.iter().any(|weight| !weight.is_finite()) {
        return ["has weights that are not finite".to_owned(), String::new()];
    }
    let (row, weight) = peak(made).unwrap_or_default();
    let focus = Focus::of(made);
    if !head.is_write() && head.weighting.row(step).iter().all(|weight| *weight == 0.0) {
        let what = "waits until the source is complete";
        return [what.to_owned(), String::new()];
    }
    let number = |row| row_number(at.trace, row);
    let most = focus.each(|row, weight| format!("{} on row {}", percent(weight), number(row)));
    let action = Action {
        at,
        stage,
        peak: (row, weight),
        focus: &focus,
        most: &most,
    };
    if let Some(sentence) = family::sentence(&action) {
        return sentence;
    }
    match stage {
        Some(Stage::Content) => content(at, &focus, &most),
        Some(Stage::Gate) => gate(head.gate[step], &most),
        Some(Stage::Shift) => match moved(head, step) {
            None => [format!("moves: {most}"), String::new()],
            Some(_) if weight < PEAK => [
                format!("moves, but still covers many rows: {most}"),
                String::new(),
            ],
            Some((by, from)) => [
                format!("{}: {most}", moves(by)),
                format!(", before on row {from}"),
            ],
        },
        Some(Stage::Sharpen) => {
            let still = [", but still covers many rows", ""][usize::from(focus.is_clear())];
            let (_, before) = stage_input(head, array::WEIGHTING);
            let before = peak(before.row(step)).map_or(0.0, |(_, weight)| weight);
            let gamma = numbers::short(head.sharpening[step], 2);
            [
                format!("sharpens its focus{still}: {most}"),
                format!(", before {} (γ {gamma})", percent(before)),
            ]
        }
        Some(Stage::Weigh) => {
            let many = ["many rows, mostly ", ""][usize::from(focus.is_clear())];
            [
                format!("focuses on {many}{}", rows(at, &focus)),
                format!(" ({} of its weight)", focus.shares()),
            ]
        }
        Some(Stage::Read | Stage::Erase | Stage::Add) => access(at, stage, &focus),
        _ => {
            let [what, detail] = access(at, None, &focus);
            // Where no row stands out, the second knows none either.
            let why = family::reason(&action)
                .or_else(|| reason(head, step).filter(|_| focus.rows.len() == 1));
            let why = why.map(|why| format!(": {why}"));
            [what, why.unwrap_or(detail)]
        }
    }
}

/// Describes a comparison of the key with the rows.
fn content(at: &InStep<'_>, focus: &Focus, most: &str) -> [String; 2] {
    let mechanism = &at.head.mechanism;
    let found = match focus.rows.len() {
        _ if !focus.is_clear() => "no row stands".to_owned(),
        1 => rows(at, focus) + " stands",
        _ => rows(at, focus) + " stand",
    };
    let beta = at.strength().map(|beta| numbers::short(beta, 2));
    let beta = beta.map(|beta| format!("β {beta}"));
    let window = at.window().map(|window| {
        let rows = window.rows(at.head.similarity.width());
        format!("window of rows {} to {}", rows.start, rows.end - 1)
    });
    let random = mechanism.weighting.is_bayesian() && at.sampling != NoiseMode::Mean;
    let noise = random.then(|| "weights sampled at random".to_owned());
    let with = [Some(most.to_owned()), beta, window, noise];
    let with: Vec<_> = with.into_iter().flatten().collect();
    let step = score_text(mechanism.score).step;
    [
        format!("{step}: {found} out"),
        format!(" ({})", with.join(", ")),
    ]
}

/// Describes the choice of a gate between content and the previous weighting.
fn gate(gate: f32, most: &str) -> [String; 2] {
    let [content, kept] = [gate, 1.0 - gate].map(percent);
    let what = if !gate.is_finite() {
        "mixes content and previous weighting".to_owned()
    } else if gate >= DECIDES {
        format!("uses the content weighting ({content})")
    } else if 1.0 - gate >= DECIDES {
        format!("ignores content, keeps its previous weighting ({kept})")
    } else {
        format!("mixes: {content} content, {kept} previous weighting")
    };
    [what, format!(": g {}, {most}", numbers::short(gate, 2))]
}

/// Names the rows with the peaks of a weighting.
fn rows(at: &InStep<'_>, focus: &Focus) -> String {
    focus.each(|row, _| format!("row {}", row_number(at.trace, row)))
}

/// Describes a read or a write at the peaks of a weighting: in a stage of it, or, with `None`, all of it.
fn access(at: &InStep<'_>, stage: Option<Stage>, focus: &Focus) -> [String; 2] {
    let (head, step) = (at.head, at.step);
    let (rows, shares, is_clear) = (rows(at, focus), focus.shares(), focus.is_clear());
    let many = format!("many rows, mostly {rows} ({shares})");
    // A value that was not recorded may be large.
    let changes = |weight: f32, change: f32| {
        change.is_nan() && weight > 0.0 || weight * change.abs() >= NEGLIGIBLE
    };
    let anywhere = |is_changed: &dyn Fn(usize, f32) -> bool| {
        let mut peaks = focus.rows.iter();
        let all = |weight: f32| if is_clear { weight } else { focus.total };
        peaks.any(|&(row, weight)| is_changed(row, all(weight)))
    };
    let erases = anywhere(&|row, weight| {
        let mut erased = at.memory(row).zip(head.erase.row(step));
        erased.any(|(m, e)| changes(weight, m * e))
    });
    let adds = anywhere(&|_, weight| head.add.row(step).iter().any(|a| changes(weight, *a)));
    let what = match stage {
        _ if stage == Some(Stage::Read) || !head.is_write() => {
            if !is_clear {
                return [format!("reads a mixture of {many}"), String::new()];
            }
            format!("reads {rows}")
        }
        Some(Stage::Erase) if !erases => {
            return ["erases almost nothing".to_owned(), format!(" of {rows}")];
        }
        Some(Stage::Erase) if !is_clear => {
            return [format!("erases a little from {many}"), String::new()];
        }
        Some(Stage::Erase) => format!("erases the content of {rows}"),
        _ if focus.is_idle() => {
            let all = format!(" ({} of a full write)", percent(focus.total));
            return [WRITES_NOTHING.to_owned(), all];
        }
        _ if adds || (stage.is_none() && erases) => {
            if !is_clear {
                return [format!("writes a little to {many}"), String::new()];
            }
            format!("writes to {rows}")
        }
        _ if !is_clear => return [WRITES_NOTHING.to_owned(), format!(" to {many}")],
        _ => format!("stays on {rows}; the write is negligible"),
    };
    [what, format!(" ({shares} of its weight)")]
}

/// Returns the weight that the shift brings from a weighting to a row, and the row that most of it comes from.
fn brought(head: &HeadTrace<f32>, step: usize, from: &[f32], row: usize) -> (f32, usize) {
    let shift = match head.shift.row(step) {
        [] => &[1.0],
        shift => shift,
    };
    let terms = shift.iter().enumerate().map(|(index, share)| {
        let start = row.cast_signed() - offset(index, shift.len() / 2);
        let start = start.rem_euclid(from.len().cast_signed()).cast_unsigned();
        (share * from[start], start)
    });
    let most = terms.clone().max_by(|a, b| a.0.total_cmp(&b.0));
    let sum = terms.map(|term| term.0).sum();
    (sum, most.map_or(row, |most| most.1))
}

/// Explains the row of a head by the source that brings most of its weight: content or the previous weighting.
fn reason(head: &HeadTrace<f32>, step: usize) -> Option<String> {
    let (row, weight) = peak(head.weighting.row(step))?;
    let has_gate = head.gate.width() > 0;
    let gate_now = if has_gate { head.gate[step] } else { 1.0 };
    if weight < ON_ROW || head.content.width() == 0 {
        return None;
    }
    let before = head.previous_weighting(step);
    let sources = [
        (head.content.row(step), gate_now, "content"),
        (before, 1.0 - gate_now, "previous weighting"),
    ];
    let sources = sources.into_iter().take(1 + usize::from(has_gate));
    let parts = sources.map(|(from, gate, name)| {
        let (sum, start) = brought(head, step, from, row);
        (gate * sum, start, from[start], name)
    });
    let total: f32 = parts.clone().map(|part| part.0).sum();
    let most = parts.clone().max_by(|a, b| a.0.total_cmp(&b.0));
    let (part, start, held, name) = most.filter(|most| (most.0 / total).is_finite())?;
    if head.distribution.width() > 0 && held < ON_ROW {
        let chance = percent(head.distribution.row(step)[row]);
        return Some(format!("probability {chance}"));
    }
    if !has_gate && held < ON_ROW {
        return Some("most content weight is there".to_owned());
    }
    if part / total < EXPLAINS {
        let shares: Vec<_> = parts.map(|part| percent(part.0 / total)).collect();
        return Some(format!(
            "content ({}) and previous weighting, shifted and sharpened, peak there",
            shares[0]
        ));
    }
    let share = if has_gate {
        let mostly = ["mostly ", ""][usize::from(part / total >= 0.995)];
        format!("{mostly}from {name} (g {})", numbers::short(gate_now, 2))
    } else {
        format!("{} {name}", percent(held))
    };
    let way = (start != row).then(|| format!(", row {start} → {row}"));
    Some(share + &way.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::facts::stages::Stages;
    use crate::figure::fixture::recording;
    use crate::figure::narrate::Moment;
    use crate::io::{Experiment, weights};
    use crate::model::attention::Score;
    use crate::model::dnc::WRITE_GATE;
    use crate::model::sam::INTERPOLATION_GATE;
    use crate::model::{Model, Place};
    use crate::train::Recording;

    /// Returns the caption of a write head at a stage of step 4.
    fn describe(recording: &Recording, stage: Stage) -> String {
        let stages = Stages::of(&recording.trace, false);
        let moment = Moment {
            recording,
            stages: &stages,
            step: 4,
            place: stages.place(stage, None).unwrap(),
            through: 1.0,
        };
        let head = recording.trace.heads.iter().position(HeadTrace::is_write);
        moment.caption(head).text
    }

    #[test]
    fn a_sparse_write_says_which_rows_it_writes_to() {
        let preset = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
            "model": {"kind": "sam", "memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;
        let experiment = Experiment::from_json(preset, "sparse.json", &[]).unwrap();
        let machine = Model::new(experiment.model, 3);
        let mut recording = Recording::new(&machine, &experiment.task, 7, 2);
        let mut heads = recording.trace.heads.iter();
        let head = Place::Head(heads.position(HeadTrace::is_write).unwrap());
        let mut said = |write: f32, kept: f32| {
            for (gate, value) in [(WRITE_GATE, write), (INTERPOLATION_GATE, kept)] {
                let series = recording.trace.series_mut(head, gate);
                series.unwrap().row_mut(4)[0] = value;
            }
            describe(&recording, Stage::Weigh)
        };
        let sentence = |what: &str| format!("The write head {what}.");
        let read = "writes to the rows that it read before";
        assert_eq!(said(1.0, 1.0), sentence(read));
        let both = format!("{read} and to the row accessed longest ago");
        assert_eq!(said(1.0, 0.5), sentence(&both));
        assert_eq!(said(0.0, 0.5), sentence(WRITES_NOTHING));
        let oldest = said(1.0, 0.0);
        let expected = "The write head writes to the row accessed longest ago, row ";
        assert!(oldest.starts_with(expected), "{oldest}");
    }

    /// Gives all heads of a kind this weighting, and returns their sentence about step 4.
    fn whole_step(recording: &mut Recording, is_write: bool, weights: &[(usize, f32)]) -> String {
        let heads = &mut recording.trace.heads;
        let head = heads.iter().position(|head| head.is_write() == is_write);
        let weighting = heads[head.unwrap()].weighting.row_mut(4);
        weighting.fill(0.0);
        for (row, weight) in weights {
            weighting[*row] = *weight;
        }
        let stages = Stages::of(&recording.trace, false);
        let moment = Moment {
            recording,
            stages: &stages,
            step: 4,
            place: usize::MAX,
            through: 1.0,
        };
        assert!(
            moment
                .long(head.unwrap())
                .contains(&moment.short(head.unwrap())[..8])
        );
        moment.caption(head).text
    }

    #[test]
    fn idle_write_heads_write_almost_nothing() {
        let mut recording = recording();
        let said = whole_step(&mut recording, true, &[(7, 0.004), (8, 0.003)]);
        assert!(said.ends_with("writes almost nothing."), "{said}");
        assert!(describe(&recording, Stage::Add).ends_with("writes almost nothing."));
        let write = recording.trace.heads.iter().position(HeadTrace::is_write);
        let stages = Stages::of(&recording.trace, false);
        let moment = Moment {
            recording: &recording,
            stages: &stages,
            step: 4,
            place: usize::MAX,
            through: 1.0,
        };
        assert_eq!(moment.head_mark(write.unwrap()), None);
        // Nor does a head with nothing to write.
        for head in &mut recording.trace.heads {
            head.erase.as_mut_slice().fill(0.0);
            head.add.as_mut_slice().fill(0.0);
        }
        let spread: Vec<_> = (0..12).map(|row| (row, 1.0 / 12.0)).collect();
        let said = whole_step(&mut recording, true, &spread);
        assert!(said.ends_with("writes almost nothing."), "{said}");
    }

    #[test]
    fn heads_of_several_layers_are_said_to_be_of_theirs() {
        let mut recording = recording();
        let said = whole_step(&mut recording, false, &[(7, 1.0)]);
        assert!(said.starts_with("Read head R0 reads"), "{said}");
        recording.trace.heads[1].mechanism.layer = 1;
        let said = whole_step(&mut recording, false, &[(7, 1.0)]);
        assert!(said.starts_with("Read head R0 of layer 0 reads"), "{said}");
    }

    #[test]
    fn every_peak_is_named() {
        let mut recording = recording();
        let said = whole_step(&mut recording, false, &[(2, 0.31), (7, 0.69)]);
        assert!(said.ends_with("reads row 2 and row 7."), "{said}");
        let said = whole_step(&mut recording, false, &[(2, 0.1), (7, 0.9)]);
        assert!(said.ends_with("reads row 7."), "{said}");
        let said = whole_step(&mut recording, false, &[(2, 0.45), (7, 0.45)]);
        assert!(said.ends_with("reads row 2 and row 7."), "{said}");
    }

    #[test]
    fn the_source_of_a_weighting_stands_beside_its_gate() {
        let mut recording = recording();
        let head = &mut recording.trace.heads[0];
        for row in [3, 4] {
            head.weighting.row_mut(row).fill(0.0);
            head.content.row_mut(row).fill(0.0);
            head.shift.row_mut(row).copy_from_slice(&[0.0, 1.0, 0.0]);
        }
        head.weighting.row_mut(3)[9] = 1.0;
        head.content.row_mut(4)[5] = 1.0;
        head.weighting.row_mut(4)[5] = 1.0;
        head.gate[4] = 0.7;
        assert_eq!(reason(head, 4).unwrap(), "from content (g 0.70)");
    }

    #[test]
    fn erase_caption_requires_content() {
        let mut recording = recording();
        let write = recording.trace.heads.iter().position(HeadTrace::is_write);
        let head = &mut recording.trace.heads[write.unwrap()];
        head.weighting.row_mut(4).fill(0.0);
        head.weighting.row_mut(4)[7] = 1.0;
        head.erase.row_mut(4).fill(1.0);
        recording.trace.memory_columns.row_mut(4).fill(1e-6);
        assert!(describe(&recording, Stage::Erase).ends_with("erases almost nothing."));
        recording.trace.memory_columns.row_mut(4).fill(0.5);
        assert!(describe(&recording, Stage::Erase).ends_with("erases the content of row 7."));
    }

    #[test]
    fn location_scores_have_no_comparison_caption() {
        let mut recording = recording();
        assert!(describe(&recording, Stage::Content).contains("compares its key"));
        for head in &mut recording.trace.heads {
            head.mechanism.score = Score::Location;
        }
        let description = describe(&recording, Stage::Content);
        assert!(
            description.contains("by position, ignoring contents"),
            "{description}"
        );
    }

    #[test]
    fn the_larger_contribution_explains_the_row() {
        let trained = weights::included("recall_four_heads").unwrap().unwrap();
        let task = trained.now().task.with_size(5);
        let recording = Recording::new(&trained.machine, &task, 1_000_000, 0);
        let because = reason(&recording.trace.heads[0], 28).unwrap();
        assert!(because.contains("from previous weighting (g "), "{because}");
    }
}
