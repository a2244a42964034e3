//! The steps on screen: all, or a part that all pictures over time share.

/// The fewest steps on screen.
const LEAST: f32 = 4.0;

/// The steps on screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepZoom {
    /// The first step and how many there are, in steps; none while all are on screen.
    shown: Option<(f32, f32)>,
}

impl StepZoom {
    /// The first step on screen, the number on screen, and the total.
    pub fn of(self, steps: usize) -> (f32, f32) {
        self.shown.unwrap_or((0.0, steps as f32))
    }

    /// True while not all steps are on screen.
    pub fn is_part(self) -> bool {
        self.shown.is_some()
    }

    /// Widens steps by a factor; the position `at`, in steps, stays fixed.
    pub fn zoom(&mut self, at: f32, factor: f32, steps: usize) {
        let (first, count) = self.of(steps);
        let wanted = (count / factor).max(LEAST);
        self.show(at - (at - first) * wanted / count.max(1.0), wanted, steps);
    }

    /// Moves by a number of steps, back if negative.
    pub fn pan(&mut self, by: f32, steps: usize) {
        let (first, count) = self.of(steps);
        self.show(first + by, count, steps);
    }

    /// Moves so far that a step is on screen.
    pub fn keep(&mut self, step: usize, steps: usize) {
        let ((first, count), step) = (self.of(steps), step as f32);
        if step < first {
            self.show(step - 0.1 * count, count, steps);
        } else if step + 1.0 > first + count {
            self.show(step + 1.0 - 0.9 * count, count, steps);
        }
    }

    fn show(&mut self, first: f32, count: f32, steps: usize) {
        let all = steps as f32;
        let is_part = count < all * 0.999;
        self.shown = is_part.then(|| (first.clamp(0.0, all - count), count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_keeps_step_under_pointer() {
        let mut part = StepZoom::default();
        for (at, factor) in [(30.0, 2.0), (35.0, 1.5), (33.0, 0.9)] {
            let (first, count) = part.of(100);
            let share = (at - first) / count;
            part.zoom(at, factor, 100);
            let (first, count) = part.of(100);
            assert!(((at - first) / count - share).abs() < 1e-5);
        }
        part.zoom(33.0, 0.01, 100);
        assert_eq!((part.of(100), part.is_part()), ((0.0, 100.0), false));
        part.zoom(99.0, 1e9, 100);
        assert_eq!(part.of(100).1, LEAST);
    }

    #[test]
    fn the_ends_hold_and_a_step_stays_on_screen() {
        let mut part = StepZoom::default();
        part.keep(99, 100);
        assert!(!part.is_part());
        part.zoom(0.0, 5.0, 100);
        part.pan(-7.0, 100);
        assert_eq!(part.of(100), (0.0, 20.0));
        part.pan(1e9, 100);
        assert_eq!(part.of(100), (80.0, 20.0));
        for step in [0, 50, 99, 98, 20] {
            part.keep(step, 100);
            let (first, count) = part.of(100);
            assert!(first <= step as f32 && step as f32 + 1.0 <= first + count);
        }
        // An episode of fewer steps has all of them on screen.
        part.pan(0.0, 15);
        assert!(!part.is_part());
    }
}
