//! The tour, and the card that offers it.

use egui::Context;

use super::App;
use crate::figure::{Stage, Stages};
use crate::player::Player;
use crate::viewer::command::Command;
use crate::viewer::panel::guide::{self, invitation_ui};
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::tour::{STOPS, Tour};
use crate::viewer::story;
use crate::viewer::theme::Palette;

impl App {
    /// Commands of the tour.
    pub(super) fn guide(&mut self, command: &Command) {
        self.settings.greeted = true;
        match command {
            Command::StartTour => self.start_tour(),
            Command::NextStop => {
                let next = self.tour.map_or(0, |tour| tour.stop + 1);
                self.settings.stop = next % STOPS.len();
                self.tour = None;
                if next < STOPS.len() {
                    self.go_to_stop();
                }
            }
            Command::LeaveTour => self.tour = None,
            _ => {}
        }
    }

    fn start_tour(&mut self) {
        (self.dialog, self.welcome.shown, self.selected) = (None, false, None);
        // Its stops point at what this arrangement shows.
        self.settings.arrangement = Arrangement::Debug;
        self.settings.panels.left = true;
        self.settings.panels.timeline = true;
        let with_heads = self.trace().is_some_and(|trace| !trace.heads.is_empty());
        if !with_heads && let Some(index) = self.session.first_with_heads() {
            self.session.choose(index);
            self.record();
        }
        self.go_to_stop();
    }

    /// The stop that is remembered.
    fn go_to_stop(&mut self) {
        let tour = Tour {
            stop: self.settings.stop.min(STOPS.len() - 1),
            met: false,
        };
        self.tour = Some(tour);
        self.play_when_ready = false;
        if let Some(open) = &self.session.open {
            tour.prepare(&mut self.player, &open.stages);
        }
    }

    /// A command was applied: it may be what the tour waits for.
    pub(super) fn tell_tour(&mut self, command: &Command) {
        let (Some(tour), Some(open)) = (&mut self.tour, &self.session.open) else {
            return;
        };
        if tour.met || !is_met(*tour, command, &self.player, &open.stages) {
            return;
        }
        tour.met = true;
        if tour.stop + 1 == STOPS.len() {
            // The memory as the first step finds it.
            self.player.seek(0);
            self.player.seek_stage(0);
        }
    }

    /// What there is to see once a stop is done.
    fn told(&self, tour: Tour) -> String {
        let Some(open) = &self.session.open else {
            return String::new();
        };
        let recording = &open.shown.recording;
        let (step, focus) = (self.player.step(), self.focus);
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
            _ => story::caption(open, step, open.stages.at(self.player.stage()), focus),
        }
    }

    /// The tour over the window, or the card that offers it.
    pub(super) fn guide_ui(&mut self, ctx: &Context, dark: bool, commands: &mut Vec<Command>) {
        if self.dialog.is_some() || self.welcome.shown || self.session.open.is_none() {
            return;
        }
        if let Some(tour) = self.tour {
            let label = self.session.open.as_ref().map_or(String::new(), |open| {
                story::head_label(&open.shown.recording, self.focus)
            });
            let told = if tour.met {
                self.told(tour)
            } else {
                String::new()
            };
            guide::tour_ui(ctx, tour, &label, &told, commands);
        } else if !self.settings.greeted && self.toasts.is_empty() {
            let corner = self.message_corner(ctx.content_rect());
            invitation_ui(ctx, corner, Palette::for_theme(dark), commands);
        }
    }
}

/// True when this command, now applied, was what the stop asks for.
fn is_met(tour: Tour, command: &Command, player: &Player, stages: &Stages) -> bool {
    let reached = |wanted| stages.reached(player.stage(), wanted, None);
    let stage = |wanted: Stage| !player.whole_steps() && reached(wanted);
    match tour.stop {
        0 => player.playing(),
        1 => matches!(
            command,
            Command::NextStep | Command::PreviousStep | Command::JumpForward | Command::JumpBack
        ),
        2 => matches!(command, Command::Seek(_) | Command::Select(_)),
        3 => stage(Stage::Content),
        4 => stage(Stage::Gate),
        5 => stage(Stage::Shift),
        6 => stage(Stage::Sharpen),
        7 => stage(Stage::Add),
        _ => player.step() == 0,
    }
}
