//! Widgets of the panels. They know nothing of machines; they draw their arguments and report what was asked
//! for.

pub mod button;
pub mod canvas;
pub mod dialog;
pub mod icon;
pub mod named_rects;
pub mod property;
pub mod queue;
pub mod readout;
pub mod text;
pub mod toast;

pub use button::{
    check_box, choice, field, focus_ring, hit_area, icon_button, key_button, label, named_button,
    named_icon_button, on_click, or_short, primary_button, text_button, wide_button,
};
pub use canvas::{Canvas, Textures, area, rect};
pub use dialog::{dialog_ui, field_id, field_ui, modal, scrolled_ui};
pub use icon::{Icon, head_sign, mark};
pub use property::{
    Line, capitalised, control, from_left, from_right, note, number, one_line, or_pointer, section,
    track_ui, warning, words,
};
pub use queue::{is_sent, send, take_commands};
pub use readout::{Readout, readout_ui};
pub use text::{announce, lay_out, paint_text};
pub use toast::toasts_ui;
