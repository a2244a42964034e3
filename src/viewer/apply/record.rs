//! Recording: the episode on screen, its spread and its gradients, and thumbnails.

use std::sync::{Arc, OnceLock};

use crate::figure::facts::spread::{Samples, Spread};
use crate::figure::{Gradients, Progress};
use crate::io::{intervention, memory_limit};
use crate::model::{Draw, Model, ModelConfig, NoiseMode};
use crate::train::{Demand, LARGEST_RECORDING, Quantity, Recorder, Recording};
use crate::viewer::narration;
use crate::viewer::state::{
    Context, EpisodeRequest, Job, Open, Priority, RecordedEpisode, RecordingInputs, State,
    WindowLayout,
};

/// The reason of a job that was cancelled: the worker reports that itself.
pub(super) const CANCELLED: &str = "The job was cancelled.";

/// Describes the recording of an episode.
fn words(inputs: &RecordingInputs) -> String {
    let (steps, rows) = (inputs.steps(), inputs.request.rows);
    let on_rows = (rows > 0).then(|| format!(" × {rows} rows"));
    format!("Recording {steps} steps{}", on_rows.unwrap_or_default())
}

/// Checks that the task of a machine has its episodes.
pub(super) fn check_loaded(inputs: &RecordingInputs) -> Result<(), String> {
    if inputs.machine.task.is_loaded() {
        return Ok(());
    }
    Err(format!("{}: {}.", inputs.machine.title, narration::NO_FILE))
}

/// Records an episode for a thumbnail, and hands it on if it could be recorded.
pub fn thumbnail(
    inputs: RecordingInputs,
    show: impl Fn(&mut State, Option<Open>) + Clone + Send + 'static,
) -> Job {
    let (words, lost) = (words(&inputs), show.clone());
    let work = async move |inputs, context: Context<'_>| {
        let shown = record(&inputs, context.progress()).await?;
        Ok(Open::new(shown, None))
    };
    let job = Job::of_episode(words, inputs, work, move |state: &mut State, open| {
        let open = state.session.numbered(open);
        show(state, Some(open));
    });
    let job = job.or_else(move |state, _| lost(state, None));
    job.with(|pending| (pending.priority, pending.can_be_given_up) = (Priority::Idle, false))
}

impl State {
    /// Records the episode asked for, to come on screen.
    pub(super) fn record(&mut self) {
        if let Some(inputs) = self.session.recording_inputs() {
            let request = Some(inputs.request.clone());
            self.pending.waits = true;
            let job = Job::of_episode(words(&inputs), inputs, recorded, Self::show_recorded);
            self.start(job.awaited().with(|pending| pending.requested = request));
        }
    }

    /// An episode; it may have come too late: something else was asked for, or shown, since.
    fn show_recorded(&mut self, open: Open) {
        let was_asked = open.request.as_ref().is_some_and(|own| self.ends_wait(own));
        if self.welcome.shown && self.shows_learner() {
            // It learns on behind the start page.
            self.show_learner();
        } else if was_asked {
            self.show(open);
        }
    }

    /// The gradients of this episode.
    fn show_derived(&mut self, (gradients, shown): (Gradients, Arc<RecordedEpisode>)) {
        if let Some(open) = &mut self.session.open
            && open.shown.is_of_the_same(&shown)
        {
            let (of, is_newest) = (gradients.of, Arc::ptr_eq(&open.shown, &shown));
            open.gradients = Some(Arc::new(gradients));
            if !is_newest {
                self.compute_gradients(of);
            }
        }
    }

    /// The episode that was asked for does not come.
    pub(super) fn refuse(&mut self, request: &EpisodeRequest) {
        if self.ends_wait(request) {
            self.pending.coming = None;
        }
        self.session.refuse(request);
    }

    /// Ends the wait for the episode of this request, if it is waited for.
    fn ends_wait(&mut self, request: &EpisodeRequest) -> bool {
        self.session.request == *request && std::mem::take(&mut self.pending.waits)
    }

    /// Asks for the spread of many samples of the episode on screen.
    pub(super) fn ask_samples(&mut self) {
        let shown = self.request_on_screen();
        if shown.is_some_and(|request| request.is_same_episode(&self.session.request))
            && let Some(inputs) = self.session.recording_inputs()
        {
            let (count, request) = (self.session.samples, inputs.request.clone());
            let words = format!("Recording {count} samples");
            let work =
                async move |inputs, context: Context<'_>| sampled(inputs, count, context).await;
            let then = move |state: &mut Self, spread| {
                if let Some(open) = &mut state.session.open
                    && let Some(own) = &open.request
                    && own.is_same_episode(&request)
                {
                    open.spread = Some(Arc::new(spread));
                }
            };
            self.start(Job::of_episode(words, inputs, work, then));
        }
    }

    /// Shows gradients, or the values again where gradients are on screen already; the key of the loss ends those of any
    /// quantity.
    pub(super) fn show_gradients(&mut self, of: Quantity) {
        let on_screen = self.layer().map(|by| by.of);
        if on_screen.is_some_and(|now| of == now || of == Quantity::Loss) {
            self.hide_gradients();
        } else {
            if !self.layout().has_layers() {
                self.settings.layout = Some(WindowLayout::Debug);
            }
            self.compute_gradients(of);
        }
    }

    pub(super) fn compute_gradients(&mut self, of: Quantity) {
        if let Some(open) = &self.session.open {
            let shown = open.shown.clone();
            let work = async move |_: Context<'_>| Ok((derived(&shown, of)?, shown));
            let job = Job::new("Computing gradients", work, Self::show_derived);
            self.start(job.awaited());
        }
    }

    /// The values again; false where they are on screen.
    pub(super) fn hide_gradients(&mut self) -> bool {
        let is_shown = self.layer().is_some();
        let open = self.session.open.as_mut().filter(|_| is_shown);
        open.is_some_and(|open| open.gradients.take().is_some())
    }
}

/// Records an episode to come on screen, with its gradients where they are shown.
async fn recorded(inputs: RecordingInputs, context: Context<'_>) -> Result<Open, String> {
    let shown = record(&inputs, context.progress()).await?;
    let gradients = inputs.gradients.and_then(|of| derived(&shown, of).ok());
    let (gradients, open) = (
        gradients.map(Arc::new),
        Open::new(shown, Some(inputs.request)),
    );
    Ok(Open { gradients, ..open })
}

/// The episode, or why it is not recorded.
pub(super) async fn record(
    inputs: &RecordingInputs,
    mut progress: impl Progress,
) -> Result<RecordedEpisode, String> {
    let (request, task) = (&inputs.request, &inputs.task());
    let (own, rows) = (&inputs.machine.ntm, request.rows);
    let config = own.config.with_rows(rows).map_err(|error| {
        let (title, allowed) = (&inputs.machine.title, error.allowed);
        format!("{title} does not run on {rows} rows; allowed: {allowed}.")
    })?;
    check_recording(&config, request.longest(&config, task))?;
    let episode = request.episode(task);
    let fits = config.fits_episode([episode.steps(), episode.source()]);
    fits.map_err(|error| format!("model.{error}. Choose a shorter episode."))?;
    let machine = own.with_rows(rows).map_err(|error| error.to_string())?;
    // By hand or not, the noise is that of the seed.
    let given = request.given.as_ref().map(|given| given.0.origin);
    let origin = given.flatten();
    let mut drawn = origin.map_or(Draw::of(request.seed, 0), |own| {
        Draw::of(own.seed, own.episode)
    });
    (drawn.sample, drawn.sampling) = (request.sample, request.sampling);
    let mut recorder = Recorder::new(&machine, task, episode, Some(drawn));
    while recorder.step() {
        let (done, all) = recorder.done();
        if progress(done, all).await.is_break() {
            return Err(CANCELLED.to_owned());
        }
    }
    let mut recording = Box::new(recorder.into_recording());
    let texts = request.interventions();
    if !texts.is_empty() {
        *recording = branch(&recording, &machine, &texts)?;
    }
    let is_changed = !request.flipped.is_empty() || given == Some(None);
    let manual = is_changed || !task.is_loaded();
    recording.origin.take_if(|_| manual);
    Ok(RecordedEpisode {
        recording: *recording,
        config: Some(config),
        machine: Some(inputs.machine.clone()),
        file: None,
        address: None,
        sha256: None,
        verdict: OnceLock::new(),
    })
}

/// Runs an episode again with interventions.
fn branch(plain: &Recording, machine: &Model, texts: &[&str]) -> Result<Recording, String> {
    let changes = intervention::parse(texts, "intervention", machine, &plain.trace);
    let changes = changes.map_err(|error| format!("{}.", error.without_file()))?;
    let branch = plain.with(machine, &changes);
    branch.ok_or_else(|| "The noise of this episode is not known.".to_owned())
}

/// Records a number of samples and returns their spread, or an error.
async fn sampled(
    mut inputs: RecordingInputs,
    count: usize,
    context: Context<'_>,
) -> Result<Spread, String> {
    let mut progress = context.progress();
    let (heads, rows) = (inputs.machine.ntm.config.heads(), inputs.request.rows);
    let (mut samples, steps) = (Samples::default(), inputs.steps());
    let bytes = Samples::bytes(count, steps, heads, rows);
    if bytes > LARGEST_RECORDING {
        let (size, advice) = (bytes >> 30, "Choose fewer samples or a shorter episode.");
        let what = format!("{count} samples of {steps} steps on {rows} rows");
        return Err(format!("{what} take {size} GB. {advice}"));
    }
    inputs.request.sampling = NoiseMode::Sampled;
    for sample in 0..count {
        inputs.request.sample = sample as u64;
        let progress = async |done, all| progress(sample * all + done, count * all).await;
        samples.add(record(&inputs, progress).await?.recording);
    }
    let none = || "The number of samples is 0. Choose 1 or more.".to_owned();
    samples.spread().ok_or_else(none)
}

/// Computes the gradients of an episode, or returns an error.
fn derived(shown: &RecordedEpisode, of: Quantity) -> Result<Gradients, String> {
    if !shown.recording.conventions.interventions.is_empty() {
        return Err(
            "Values that are set have no gradients. Remove the interventions first.".to_owned(),
        );
    }
    let none = "A recorded trace has no weights, so gradients cannot be computed.";
    let ntm = &shown.machine.as_ref().ok_or(none)?.ntm;
    let rows = shown.config.as_ref().map_or(0, |config| config.rows());
    let machine = ntm.with_rows(rows).map_err(|error| error.to_string())?;
    let found = Gradients::new(&machine, &shown.recording, of);
    found.ok_or_else(|| "This episode has no such output bit.".to_owned())
}

/// Checks that recording this number of steps, with those of the source, does not take too much memory.
pub fn check_recording(config: &ModelConfig, [steps, source]: [usize; 2]) -> Result<(), String> {
    let bytes = Demand::Recording.with_source(config, [steps, source]);
    let rows = config.rows_of([steps, source]);
    let what = format!("{steps} steps of a memory of {rows} rows");
    let advice = "Choose a shorter episode or fewer rows.";
    if bytes > LARGEST_RECORDING {
        return Err(format!(
            "{what} take {} GB to record. {advice}",
            bytes >> 30
        ));
    }
    memory_limit::claim(bytes, 0).map_err(|short| format!("Recording {what} {short}. {advice}"))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::platform::at_once;
    use crate::viewer::fixture::inputs;

    #[test]
    fn cancelled_recording_stops_at_current_step() {
        let inputs = inputs(1);
        let last = AtomicUsize::new(0);
        let progress = async |done, all| {
            assert_eq!(all, 5);
            last.store(done, Ordering::Relaxed);
            if done < 3 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let recorded = at_once(record(&inputs, progress));
        assert_eq!((recorded.is_err(), last.into_inner()), (true, 3));
    }
}
