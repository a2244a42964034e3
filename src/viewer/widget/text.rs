//! Text on screen. egui forgets the layout of a text that a frame does not show; here it is kept, because numbers come
//! back while an episode plays.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use egui::accesskit::Live;
use egui::util::IdTypeMap;
use egui::{Align2, Color32, FontId, Galley, Id, Painter, Pos2, Rect, Response};

use crate::viewer::theme;

/// The layouts of texts.
#[derive(Default)]
struct Galleys {
    /// By text and font.
    laid_out: HashMap<u64, Arc<Galley>>,
    hasher: RandomState,
    /// The pass in which `known` was asked for.
    pass: u64,
    /// A layout that egui forgets only together with the letters on the graphics card.
    known: Option<Arc<Galley>>,
}

/// When there are more layouts, all are made again.
const MOST: usize = 4096;

impl Galleys {
    fn get(&mut self, painter: &Painter, text: &str, font: FontId) -> Arc<Galley> {
        let lay_out = |text: &str, font: FontId| {
            painter.layout_no_wrap(text.to_owned(), font, theme::UNCOLOURED)
        };
        let pass = painter.ctx().cumulative_pass_nr();
        if self.known.is_none() || self.pass != pass {
            let known = lay_out("0", FontId::default());
            let before = self.known.replace(known.clone());
            let are_there = before.is_some_and(|before| Arc::ptr_eq(&before, &known));
            if !are_there || self.laid_out.len() > MOST {
                self.laid_out.clear();
            }
            self.pass = pass;
        }
        let key = self.hasher.hash_one((text, &font));
        let entry = self.laid_out.entry(key);
        entry.or_insert_with(|| lay_out(text, font)).clone()
    }
}

/// Returns the layout of a text, each of its lines whole.
pub fn lay_out(painter: &Painter, text: &str, font: FontId) -> Arc<Galley> {
    let of_all = |data: &mut IdTypeMap| {
        let galleys = data.get_temp_mut_or_default::<Arc<Mutex<Galleys>>>(Id::NULL);
        galleys.clone()
    };
    let galleys = painter.ctx().data_mut(of_all);
    let mut galleys = galleys.lock().unwrap_or_else(PoisonError::into_inner);
    galleys.get(painter, text, font)
}

/// Lets a screen reader say a text whenever it changes.
pub fn announce(text: &Response) {
    let polite = |node: &mut egui::accesskit::Node| node.set_live(Live::Polite);
    text.ctx.accesskit_node_builder(text.id, polite);
}

/// Paints a text; returns its place.
pub fn paint_text(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    text: &str,
    font: FontId,
    ink: Color32,
) -> Rect {
    let galley = lay_out(painter, text, font);
    let rect = align.anchor_size(at, galley.size());
    painter.galley(rect.min, galley, ink);
    rect
}
