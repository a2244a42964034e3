//! Messages at the lower right: what was done fades after a while, what went wrong stays until it is
//! dismissed.

use egui::{Align2, Area, Context, Id, Order, Pos2, RichText, vec2};

use super::super::command::Command;
use super::super::theme::{self, Palette};
use super::button::{named_icon_button, text_button};
use super::icon::Icon;

/// How long good news stays, in seconds.
const SECONDS: f32 = 4.0;
/// How long a notice stays, in seconds.
const NOTICE_SECONDS: f32 = 12.0;
/// Older messages give way beyond this number.
const MOST: usize = 2;
/// Messages remembered.
const MOST_SAID: usize = 100;
/// Width of a message: it fits into the right panel.
const WIDTH: f32 = 244.0;

/// How a message is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something was done.
    Done,
    /// Something was done, and there is something to know about it.
    Notice,
    /// Something could not be done.
    Problem,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Toast {
    id: u64,
    kind: Kind,
    text: String,
    left: f32,
}

/// All messages on screen.
#[derive(Clone, Debug, Default)]
pub struct Toasts {
    shown: Vec<Toast>,
    /// All that was said, oldest first.
    said: Vec<(Kind, String)>,
    /// Problems that nobody has looked up.
    problems: usize,
    next: u64,
}

impl Toasts {
    /// Adds a message.
    pub fn add(&mut self, kind: Kind, text: impl Into<String>) {
        let text = text.into();
        self.next += 1;
        self.said.push((kind, text.clone()));
        self.problems += usize::from(kind == Kind::Problem);
        if self.said.len() > MOST_SAID {
            self.said.remove(0);
        }
        self.shown.push(Toast {
            id: self.next,
            kind,
            text,
            left: match kind {
                Kind::Done => SECONDS,
                Kind::Notice => NOTICE_SECONDS,
                Kind::Problem => f32::INFINITY,
            },
        });
        while self.shown.len() > MOST {
            // What went wrong outlives what was done, but the newest is always seen.
            let older = &self.shown[..self.shown.len() - 1];
            let done = older.iter().position(|toast| toast.kind == Kind::Done);
            self.shown.remove(done.unwrap_or(0));
        }
    }

    /// Lets time pass.
    pub fn advance(&mut self, seconds: f32) {
        for toast in &mut self.shown {
            toast.left -= seconds;
        }
        self.shown.retain(|toast| toast.left > 0.0);
    }

    /// Removes a message.
    pub fn dismiss(&mut self, id: u64) {
        self.shown.retain(|toast| toast.id != id);
    }

    /// Removes all messages.
    pub fn clear(&mut self) {
        self.shown.clear();
    }

    /// All that was said, the newest first.
    pub fn said(&self) -> impl Iterator<Item = &(Kind, String)> {
        self.said.iter().rev()
    }

    /// How many things went wrong since the messages were last looked up.
    pub fn problems(&self) -> usize {
        self.problems
    }

    /// The messages are looked up.
    pub fn look_up(&mut self) {
        self.problems = 0;
    }

    /// True when there is no message.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// True while a message will leave by itself.
    pub fn waiting(&self) -> bool {
        self.shown.iter().any(|toast| toast.left.is_finite())
    }

    /// Shows the messages, the newest at the bottom, their lower right corner at `corner`.
    pub fn ui(&self, ctx: &Context, corner: Pos2, dark: bool, commands: &mut Vec<Command>) {
        if self.shown.is_empty() {
            return;
        }
        Area::new(Id::unique("messages"))
            .order(Order::Foreground)
            .pivot(Align2::RIGHT_BOTTOM)
            .fixed_pos(corner)
            .constrain_to(ctx.content_rect())
            .show(ctx, |ui| {
                ui.set_max_width(WIDTH);
                for toast in &self.shown {
                    toast.ui(ui, dark, commands);
                    ui.add_space(4.0);
                }
            });
    }
}

impl Kind {
    /// In a word or two.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Done => "Done",
            Self::Notice => "Note",
            Self::Problem => "Not done",
        }
    }
}

impl Toast {
    fn ui(&self, ui: &mut egui::Ui, dark: bool, commands: &mut Vec<Command>) {
        let palette = Palette::for_theme(dark);
        let ink = match self.kind {
            Kind::Done => palette.accent,
            Kind::Notice | Kind::Problem => palette.warning,
        };
        let frame = egui::Frame::popup(ui.style()).inner_margin(10.0);
        let shown = frame.show(ui, |ui| {
            ui.set_width(WIDTH - 22.0);
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| {
                    ui.set_width(WIDTH - 64.0);
                    ui.label(
                        RichText::new(self.kind.mark())
                            .font(theme::heading(12.0))
                            .color(ink),
                    );
                    ui.label(RichText::new(&self.text).color(palette.text));
                    if self.kind == Kind::Problem {
                        let copy = Command::CopyText(self.text.clone());
                        text_button(ui, "Copy", &copy, commands);
                    }
                });
                if named_icon_button(ui, Icon::Close, "Dismiss", false, false).clicked() {
                    commands.push(Command::Dismiss(self.id));
                }
            });
        });
        let rect = shown.response.rect;
        let edge = egui::Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
        ui.painter().rect_filled(edge, 2.0, ink);
    }
}
