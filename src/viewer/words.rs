//! What is said about the state of the window.

use super::inspect::Card;
use super::state::State;
use super::state::compare::Pair;
use super::state::episode::Open;
use super::state::target::Target;
use super::state::tour::Tour;
use super::story;

/// What is said about a target at a step: on both sides, while two episodes are on screen.
pub fn card(
    target: Target,
    pair: Option<&Pair<'_>>,
    open: &Open,
    focus: usize,
    step: usize,
) -> Option<Card> {
    let both = pair.and_then(|pair| pair.card(target, focus, step));
    both.or_else(|| target.card(open, focus, step))
}

impl State {
    /// The line at the bottom: the current step in words.
    pub fn status(&self) -> String {
        let open = self.session.open.as_ref();
        open.map_or_else(String::new, |open| {
            story::status(open, &self.player, self.sight.focus)
        })
    }

    /// What is said about the thing kept in view, if there is one.
    pub fn card(&self) -> Option<Card> {
        let (open, pair) = (self.session.open.as_ref()?, self.pair_on_screen());
        let (focus, step) = (self.sight.focus, self.player.step());
        card(self.sight.selected?, pair.as_ref(), open, focus, step)
    }

    /// What there is to see once a stop is done.
    pub fn told(&self, tour: Tour) -> String {
        let Some(open) = &self.session.open else {
            return String::new();
        };
        let recording = &open.shown.recording;
        let (step, focus) = (self.player.step(), self.sight.focus);
        match tour.stop {
            0 => "The blue line through all pictures is now. Space stops it.".to_owned(),
            1 => "Nothing is computed anew: back is as exact as forward.".to_owned(),
            2 => {
                let weighting = recording.trace.heads.get(focus);
                let weighting = weighting.map(|head| head.weighting.row(step));
                let peak = weighting.and_then(story::peak).map_or(String::new(), |(row, weight)| {
                    let head = story::head_label(recording, focus);
                    format!(" In step {step} that of {head} on row {row} is {weight:.2}.")
                });
                format!("A weighting is one weight per row, none below 0, all together 1.{peak}")
            }
            8 => "The initial memory: every episode starts from it, and nothing written before is left. \
                  Only training changes what lasts, the weights."
                .to_owned(),
            9 => {
                let head = recording.trace.heads.get(focus);
                let own = head.and_then(story::otherwise);
                own.unwrap_or_else(|| {
                    "Choose one of those, and its stages show what it does otherwise: each score has its own equation, \
                     what is left out is not there."
                        .to_owned()
                })
            }
            stop if (3..7).contains(&stop) && tour.lacks(&open.stages) => {
                "The heads of this machine leave this stage out.".to_owned()
            }
            _ => story::caption(open, step, open.stages.at(self.player.stage()), focus),
        }
    }
}
