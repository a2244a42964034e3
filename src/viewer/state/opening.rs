//! The opening: how the first episode of a session is played to whoever has not arranged the window yet.
//!
//! A script over the clock, nothing else: for every step it says from how near that is looked at, and how fast it is
//! played. A few steps are walked through stage by stage, then it goes faster and faster; the beginning of the answer is
//! walked through again, then the view draws back, and the rest of the answer comes out. Whatever a person does ends it.

use super::layout::WindowLayout;
use crate::player::FRAME;
use crate::train::Recording;

/// Duration of every stage of the first steps, in seconds.
const WALKED: [f64; 3] = [0.5, 0.4, 0.3];
/// Initial and final speed of the following steps, in steps per second.
const FASTER: [f64; 2] = [3.0, 10.0];
/// The same of the first steps of the answer: there one sees a row being read.
const ANSWERED: [f64; 2] = [0.5, 0.3];
/// Speed of the rest of the answer, in steps per second.
const ANSWER: f64 = 4.0;
/// Duration of zooming out, in seconds.
const DRAW_BACK: f32 = 0.8;

/// The opening of an episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// The first step in which an answer is asked for.
    answer: usize,
    /// Seconds since the view began to draw back.
    drawing_back: f32,
}

/// The view of one of its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpeningView {
    /// The layout: close-up or all stages.
    pub layout: WindowLayout,
    /// In steps per second.
    pub speed: f64,
}

impl Opening {
    /// Returns the opening of an episode.
    pub fn of(recording: &Recording) -> Self {
        let asked = recording.episode.first_scored();
        Self {
            answer: asked.unwrap_or(recording.trace.steps()),
            drawing_back: 0.0,
        }
    }

    /// Returns the view of a step with this number of stages.
    pub fn scene(&self, step: usize, stages: usize) -> OpeningView {
        let answered = step.checked_sub(self.answer);
        let walked = answered.and_then(|step| ANSWERED.get(step));
        if let Some(seconds) = walked.or(WALKED.get(step)) {
            return OpeningView {
                layout: WindowLayout::CloseUp,
                speed: 1.0 / (seconds * stages.max(1) as f64),
            };
        }
        if answered.is_some() {
            return OpeningView {
                layout: WindowLayout::Debug,
                speed: ANSWER,
            };
        }
        let between = self.answer.saturating_sub(WALKED.len()).max(1);
        let come = (step - WALKED.len()) as f64 / between as f64;
        let [first, last] = FASTER;
        OpeningView {
            layout: WindowLayout::CloseUp,
            speed: first * (last / first).powf(come),
        }
    }

    /// Lets time pass while it is seen as a whole.
    pub fn draw_back(&mut self, seconds: f32) {
        self.drawing_back = (self.drawing_back + seconds.max(0.0)).min(DRAW_BACK);
    }

    /// Seconds until the next frame, while it draws back.
    pub fn next_change_in(&self) -> Option<f64> {
        let moves = self.drawing_back > 0.0 && self.drawn_back() < 1.0;
        moves.then_some(FRAME)
    }

    /// Returns how far the view has zoomed out, 0 to 1.
    pub fn drawn_back(&self) -> f32 {
        self.drawing_back / DRAW_BACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::Player;
    use crate::viewer::fixture::{config, recording};

    fn opening(answer: usize) -> Opening {
        Opening {
            answer,
            drawing_back: 0.0,
        }
    }

    #[test]
    fn opening_slows_then_speeds_up_then_zooms_out() {
        let opening = opening(21);
        let scenes: Vec<_> = (0..41).map(|step| opening.scene(step, 9)).collect();
        let mut player = Player::new(41, 9);
        for (step, scene) in scenes.iter().enumerate() {
            player.set_speed(scene.speed);
            assert!((player.speed() - scene.speed).abs() < 1e-9);
            let walked = step < 3 || (21..23).contains(&step);
            assert_eq!(player.stage_by_stage(), walked, "step {step}");
        }
        let near = |scene: &OpeningView| scene.layout == WindowLayout::CloseUp;
        // Once it has drawn back it stays there: when a row was seen to be read.
        let back = scenes.iter().position(|scene| !near(scene)).unwrap();
        assert_eq!(back, 23);
        assert!(!scenes[back..].iter().any(near));
        let slower = |pair: &[OpeningView]| pair[1].speed < pair[0].speed;
        assert!(!scenes[..21].windows(2).any(slower));
        let seconds: f64 = scenes.iter().map(|scene| 1.0 / scene.speed).sum();
        assert!((20.0..34.0).contains(&seconds), "{seconds} seconds");
    }

    #[test]
    fn opening_works_for_every_episode() {
        for answer in 0..9 {
            for step in 0..12 {
                for stages in 0..14 {
                    let scene = opening(answer).scene(step, stages);
                    assert!(scene.speed.is_finite() && scene.speed > 0.0);
                }
            }
        }
        let recording = recording(config(), 3, 1);
        let mask = &recording.episode.mask;
        assert!(mask[Opening::of(&recording).answer] > 0.0);
    }

    #[test]
    fn opening_zooms_out_once() {
        let mut opening = opening(5);
        for _ in 0..20 {
            let before = opening.drawn_back();
            opening.draw_back(0.1);
            assert!(opening.drawn_back() >= before);
        }
        assert!((opening.drawn_back() - 1.0).abs() < 1e-6);
    }
}
