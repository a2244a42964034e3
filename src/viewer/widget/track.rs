//! A slider under its number, over stops that are denser where numbers are small.

use egui::accesskit::Action;
use egui::{Response, Slider, Ui, WidgetInfo};

use super::super::keys::{ARROWS, leave_to_widget};
use super::super::theme;
use super::button::focus_ring;
use super::property::or_pointer;

/// Height of the slider under a pointer, in points.
const HEIGHT: f32 = 12.0;

/// Shows the slider and sets `value` where it is moved to. `stops` are in order and not empty.
pub fn track_ui(ui: &mut Ui, name: &str, value: &mut usize, stops: &[usize]) -> Response {
    let last = stops.len().saturating_sub(1);
    let here = stops.partition_point(|&stop| stop < *value).min(last);
    let mut place = here;
    let slide = |ui: &mut Ui| {
        ui.spacing_mut().slider_width = ui.available_width();
        ui.spacing_mut().interact_size.y = or_pointer(ui.ctx(), theme::FINGER, HEIGHT);
        let slider = Slider::new(&mut place, 0..=last).show_value(false);
        let circle = egui::style::HandleShape::Circle;
        ui.add(slider.trailing_fill(true).handle_shape(circle))
    };
    let response = ui.scope(slide).inner;
    // It is said and shown as its number, not as the place among the stops.
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::slider(enabled, *value as f64, name));
    if let [least, .., most] = stops {
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_min_numeric_value(*least as f64);
            node.set_max_numeric_value(*most as f64);
            node.clear_numeric_value_step();
            node.remove_action(Action::SetValue);
        });
    }
    focus_ring(ui, &response);
    if response.has_focus() {
        leave_to_widget(ui.ctx(), &ARROWS[..2]);
    }
    if place != here {
        *value = stops[place];
    }
    response
}
