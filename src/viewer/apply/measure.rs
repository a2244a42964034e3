//! Reports: wrong bits in many episodes, what the parts of a machine contribute, and what repairs an episode.

use super::record::{CANCELLED, check_loaded, record};
use crate::analysis::expression::Expression;
use crate::analysis::lesion::{effects, lesions};
use crate::analysis::population::Summary;
use crate::analysis::repair::{Repair, attempts};
use crate::figure::Progress;
use crate::viewer::command::Subject;
use crate::viewer::state::{
    Context, Dialog, EPISODES, Job, Kind, REMOVALS, RecordingInputs, Report, State,
};

impl State {
    /// Starts a report, and closes the dialog until it is there.
    pub(super) fn measure(&mut self, quantity: Option<String>) -> Option<Dialog> {
        let inputs = self.session.recording_inputs()?;
        let work = async move |inputs: RecordingInputs, context: Context<'_>| {
            reported(&inputs, quantity.as_deref(), context.progress()).await
        };
        let words = "Measuring many episodes";
        self.start(Job::of_episode(words, inputs, work, Self::show_report));
        None
    }

    /// Starts the report on what repairs the episode, and closes the dialog until it is there.
    pub(super) fn explain(&mut self) -> Option<Dialog> {
        let (words, inputs) = ("Removing each part", self.session.recording_inputs()?);
        self.start(Job::of_episode(words, inputs, explained, Self::show_report));
        None
    }

    /// Shows a report, unless something else is on screen.
    fn show_report(&mut self, report: Report) {
        let text = report.quantity.clone();
        self.report = Some(report);
        if self.dialog.is_none() && !self.welcome.shown {
            self.dialog = Some(Dialog::about(Subject::Report, text));
        } else {
            let text = "The report is ready; Q shows it.";
            self.toasts.add(Kind::Notice, text);
        }
    }
}

/// Measures wrong bits in the episodes of the following seeds, and a quantity unless it is empty; without one, the machine
/// without each of its parts.
async fn reported(
    inputs: &RecordingInputs,
    quantity: Option<&str>,
    mut progress: impl Progress,
) -> Result<Report, String> {
    check_loaded(inputs)?;
    let (mut plain, first) = (inputs.without_edits(), inputs.request.seed);
    let machine = inputs.machine.ntm.with_rows(inputs.request.rows);
    let machine = machine.map_err(|error| error.to_string())?;
    let (lesions, mut scores) = (lesions(&machine), Vec::new());
    let (mut summary, mut last) = (Summary::default(), None);
    let count = quantity.map_or(REMOVALS, |_| EPISODES);
    for place in 0..count {
        let within = async |done, all| progress(place * all + done, count * all).await;
        let recording = record(&plain, within).await?.recording;
        if let Some(text) = quantity {
            let checked = || Expression::parse(text)?.quantity(&recording.trace);
            let checked = (!text.is_empty()).then(checked).transpose();
            let checked = checked.map_err(|error| format!("Quantity: {}.", error.message))?;
            let one = Summary::of(&recording, checked.as_ref());
            summary.add(plain.request.seed, one);
        } else {
            let mut of_it = Vec::new();
            for lesion in &lesions {
                // The noise of these episodes is known.
                let other = lesion.record(&machine, &recording);
                of_it.push(other.map_or(recording.score, |other| other.score));
                if progress(place, count).await.is_break() {
                    return Err(CANCELLED.to_owned());
                }
            }
            scores.push(of_it);
        }
        plain.request.seed = plain.request.seed.wrapping_add(1);
        last = Some(recording);
    }
    let last = last.ok_or("No episode was measured.")?;
    let answer = last.episode.answer;
    if let Some(text) = quantity {
        return Ok(Report::of_episodes(inputs, text, &summary, answer.unit()));
    }
    let (effects, of) = (
        effects(lesions, first, &scores),
        (&machine.config, &last.trace),
    );
    Ok(Report::of_lesions(inputs, &effects, of, answer))
}

/// Runs an episode with each lesion of the machine, and with each gate at its mean, and reports which repair it.
async fn explained(inputs: RecordingInputs, context: Context<'_>) -> Result<Report, String> {
    let (mut plain, mut progress) = (inputs.clone(), context.progress());
    plain.request.changes.clear();
    let machine = inputs.machine.ntm.with_rows(inputs.request.rows);
    let machine = machine.map_err(|error| error.to_string())?;
    let whole = record(&plain, &mut progress).await?.recording;
    let all = attempts(&machine, &whole);
    let (count, mut repairs) = (all.len(), Vec::new());
    for (place, lesion) in all.into_iter().enumerate() {
        if progress(place, count).await.is_break() {
            return Err(CANCELLED.to_owned());
        }
        repairs.push(Repair::of(lesion, &machine, &whole));
    }
    Ok(Report::of_repairs(&plain, repairs, &whole, &machine.config))
}
