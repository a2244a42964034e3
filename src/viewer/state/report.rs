//! What many episodes of a machine have in common: a quantity in every step, wrong bits, and what its parts contribute.

use super::{EpisodeRequest, RecordingInputs};
use crate::analysis::lesion::Effect;
use crate::analysis::population::Summary;
use crate::figure::chart::data::Chart;
use crate::figure::chart::summary::{quantity, wrong};
use crate::io::intervention;
use crate::model::ModelConfig;

/// The number of episodes in which a quantity is measured.
pub const EPISODES: usize = 100;
/// The number of episodes in which parts are removed.
pub const REMOVALS: usize = 10;
/// The number of episodes that are listed.
const WORST: usize = 8;

/// The result, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The request of the first episode.
    of: EpisodeRequest,
    /// The machine, the length and the seeds.
    pub title: String,
    /// The unit of the strips.
    pub unit: String,
    /// The quantity; empty where parts were removed.
    pub quantity: String,
    /// The charts.
    pub charts: Vec<Chart>,
    /// Episodes, or removed parts; the worst one first.
    pub rows: Vec<ReportRow>,
}

/// An episode or a removed part.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportRow {
    /// What it is, and what came out.
    pub words: [String; 2],
    /// The share of the worst one, 0 to 1.
    pub heat: f64,
    /// The seed of the episode.
    pub seed: Option<u64>,
    /// The interventions that remove the part.
    pub changes: Vec<String>,
}

impl Report {
    /// True where it is about episodes like the requested one.
    pub fn is_of(&self, request: &EpisodeRequest) -> bool {
        let what = |of: &EpisodeRequest| (of.machine, of.size, of.repeats, of.rows);
        what(&self.of) == what(request)
    }

    fn new(inputs: &RecordingInputs, count: usize, rows: Vec<(ReportRow, f64)>) -> Self {
        let (title, request) = (&inputs.machine.title, &inputs.request);
        let worst = rows.iter().map(|(_, value)| *value).fold(1e-9, f64::max);
        let (name, first) = (inputs.task().size_name(), request.seed);
        let last = first.wrapping_add(count as u64 - 1);
        let repeats = inputs.task().repeats().map(|_| request.repeats);
        let repeats = repeats.map_or_else(String::new, |of| format!(", {of} repeats"));
        let size = format!("{name} {}{repeats}", request.size);
        let rows = rows.into_iter().map(|(row, value)| ReportRow {
            heat: value / worst,
            ..row
        });
        Self {
            of: request.clone(),
            title: format!("{title}, {size}, seeds {first} to {last}"),
            unit: "bits per sequence".to_owned(),
            quantity: String::new(),
            charts: Vec::new(),
            rows: rows.collect(),
        }
    }

    /// The report on a quantity in every step.
    pub fn of_episodes(
        inputs: &RecordingInputs,
        text: &str,
        summary: &Summary,
        unit: &str,
    ) -> Self {
        let mut worst = summary.episodes.clone();
        worst.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let worst = worst.into_iter().filter(|(wrong, _)| *wrong > 0);
        let rows = worst.take(WORST).map(|(wrong, seed)| {
            let row = ReportRow {
                words: [format!("seed {seed}"), format!("{wrong} wrong {unit}")],
                heat: 0.0,
                seed: Some(seed),
                changes: Vec::new(),
            };
            (row, wrong as f64)
        });
        let is_wrong = summary.episodes.iter().any(|(wrong, _)| *wrong > 0);
        let wrong = wrong(&format!("Wrong {unit}"), summary);
        let wrong = wrong.into_iter().filter(|_| is_wrong);
        Self {
            unit: format!("wrong {unit}"),
            quantity: text.to_owned(),
            charts: std::iter::once(quantity(text, summary))
                .chain(wrong)
                .collect(),
            ..Self::new(inputs, summary.episodes.len(), rows.collect())
        }
    }

    /// The report on what is left of a machine without its parts.
    pub fn of_lesions(inputs: &RecordingInputs, effects: &[Effect], config: &ModelConfig) -> Self {
        let rows = effects.iter().map(|effect| {
            let (lesion, mean) = (&effect.lesion, &effect.mean);
            let changes = lesion
                .changes
                .iter()
                .map(|one| intervention::text(one, config));
            let row = ReportRow {
                words: [
                    format!("{} {}", lesion.part, lesion.what),
                    format!(
                        "{:.2} bits, {:.1} wrong",
                        mean.bits_per_sequence, mean.wrong_bits
                    ),
                ],
                heat: 0.0,
                seed: None,
                changes: changes.collect(),
            };
            (row, mean.bits_per_sequence)
        });
        Self::new(inputs, REMOVALS, rows.collect())
    }
}
