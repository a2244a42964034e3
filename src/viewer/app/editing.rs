//! The input, edited by hand: every change of a bit is another episode of the same machine.

use super::App;
use crate::viewer::command::Command;
use crate::viewer::state::messages::Kind;

impl App {
    /// Commands about the input.
    pub(super) fn edit(&mut self, command: &Command) {
        match *command {
            Command::ToggleEdit => self.toggle_edit(),
            Command::MoveMark(steps, channels) => self.move_mark(steps, channels),
            Command::FlipMarked => {
                if let Some((step, channel)) = self.mark {
                    self.flip(step, channel);
                }
            }
            Command::Flip(step, channel) => {
                self.mark = self.mark.map(|_| (step, channel));
                self.flip(step, channel);
            }
            Command::Paint { ref cells, on } => self.paint(cells, on),
            _ => {}
        }
    }

    /// Where the task shows no bits there is nothing to paint.
    fn paint(&mut self, cells: &[(usize, usize)], on: bool) {
        let mut changed = false;
        for &(step, channel) in cells {
            if self.session.bit(step, channel) == Some(!on) {
                changed |= self.session.flip(step, channel);
            }
            self.mark = self.mark.map(|_| (step, channel));
        }
        if changed {
            self.record();
        }
    }

    fn toggle_edit(&mut self) {
        if self.mark.take().is_some() {
            return;
        }
        let Some(open) = &self.session.open else {
            return;
        };
        if open.is_of_a_file() {
            let text =
                "A recorded trace stays as it is. Choose a machine to record another episode.";
            self.toasts.add(Kind::Notice, text.to_owned());
            return;
        }
        self.player.pause();
        self.mark = Some((self.player.step(), 0));
    }

    fn move_mark(&mut self, steps: isize, channels: isize) {
        let (Some(mark), Some(open)) = (&mut self.mark, &self.session.open) else {
            return;
        };
        let (all, task) = (
            open.shown.recording.trace.steps(),
            &open.shown.recording.task,
        );
        let moved = |at: usize, by: isize, count: usize| {
            at.saturating_add_signed(by).min(count.saturating_sub(1))
        };
        *mark = (
            moved(mark.0, steps, all),
            moved(mark.1, channels, task.bits()),
        );
        // The play-head goes with it: what the machine does with this bit is beside it.
        self.player.seek(mark.0);
    }

    fn flip(&mut self, step: usize, channel: usize) {
        if self.session.flip(step, channel) {
            self.record();
        } else {
            let text = "Only the bits that the task shows can be changed.";
            self.toasts.add(Kind::Notice, text.to_owned());
        }
    }
}
