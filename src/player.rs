//! Playback: where in an episode the play-head stands, and how it moves.
//!
//! A plain state machine. It has no window, no clock of its own and no idea what is being played: the
//! owner says how long an episode is, how many stages a step of it has, and how much time has passed. An
//! episode of T steps has steps 0 to T − 1; a step of S stages has stages 0 to S − 1.

/// What happens at the end of the episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// Playback stops there.
    Off,
    /// Playback starts again.
    All,
    /// Playback goes round between [`Player::range`]'s first and last step.
    Range,
}

/// The slowest speed, in steps per second.
pub const SLOWEST: f64 = 0.25;
/// The fastest speed, in steps per second.
pub const FASTEST: f64 = 64.0;
/// The speed at the start, in steps per second.
pub const NORMAL: f64 = 4.0;
/// Below this speed, in steps per second, playback walks through the stages of every step.
const STAGE_BY_STAGE: f64 = 1.0;
/// How far a long jump goes, in steps.
pub const JUMP: usize = 10;

/// The state of playback.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    steps: usize,
    stages: usize,
    step: usize,
    stage: usize,
    /// True while the stages are walked through, false while whole steps are looked at.
    inside: bool,
    playing: bool,
    speed: f64,
    looping: Loop,
    /// First and last step of the part that is looped.
    range: Option<(usize, usize)>,
    /// The part of the next move that has already passed, 0 to 1.
    elapsed: f64,
}

impl Player {
    /// A player for an episode of `steps` steps of so many stages, at its first step, paused, whole steps in view.
    pub fn new(steps: usize, stages: usize) -> Self {
        Self {
            steps,
            stages: stages.max(1),
            step: 0,
            stage: stages.saturating_sub(1),
            inside: false,
            playing: false,
            speed: NORMAL,
            looping: Loop::Off,
            range: None,
            elapsed: 0.0,
        }
    }

    /// Puts another episode in, whose steps have so many stages: first step, same speed, same loop, playing if it
    /// was playing. [`Player::go_on_from`] brings it where the one before was.
    pub fn load(&mut self, steps: usize, stages: usize) {
        (self.steps, self.stages) = (steps, stages.max(1));
        // The steps of another episode mean something else.
        self.set_range(None);
        self.seek(0);
        self.whole();
    }

    /// Goes on at the moment at which an episode was that was loaded before, with its loop, as far as this
    /// episode has them.
    pub fn go_on_from(&mut self, before: &Self) {
        if let Some((first, _)) = before.range
            && first < self.steps
        {
            self.set_range(before.range);
            self.looping = before.looping;
        }
        self.seek(before.step);
        if before.inside {
            self.seek_stage(before.stage);
        }
    }

    /// Whole steps are looked at from now on.
    pub fn whole(&mut self) {
        self.stage = self.stages - 1;
        self.inside = false;
    }

    /// Steps of the episode.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The current step, 0 to T − 1.
    pub fn step(&self) -> usize {
        self.step
    }

    /// The current stage of the step: everything up to and including it has happened.
    pub fn stage(&self) -> usize {
        self.stage
    }

    /// How many stages every step has.
    pub fn stages(&self) -> usize {
        self.stages
    }

    fn at_last_stage(&self) -> bool {
        self.stage + 1 == self.stages
    }

    /// True while whole steps are looked at, false from the moment a stage is asked for until steps
    /// are played or walked through as a whole again.
    pub fn whole_steps(&self) -> bool {
        !self.inside
    }

    /// True while time moves the play-head.
    pub fn playing(&self) -> bool {
        self.playing
    }

    /// Steps per second.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// What happens at the end.
    pub fn looping(&self) -> Loop {
        self.looping
    }

    /// First and last step of the part that is looped, if one was marked.
    pub fn range(&self) -> Option<(usize, usize)> {
        self.range
    }

    /// Marks the part to loop, first and last step in either order, and loops it; `None` unmarks it.
    pub fn set_range(&mut self, range: Option<(usize, usize)>) {
        let last = self.steps.saturating_sub(1);
        self.range = range.map(|(a, b)| (a.min(b).min(last), a.max(b).min(last)));
        self.looping = match (self.range, self.looping) {
            (Some(_), _) => Loop::Range,
            (None, Loop::Range) => Loop::Off,
            (None, looping) => looping,
        };
    }

    /// The current step becomes the first of the part to loop.
    pub fn loop_in(&mut self) {
        let last = self.range.map_or(self.steps, |(_, last)| last);
        // Beyond the end of the part a new one begins, up to the end of the episode.
        let last = if last < self.step { self.steps } else { last };
        self.set_range(Some((self.step, last)));
    }

    /// The current step becomes the last of the part to loop.
    pub fn loop_out(&mut self) {
        let first = self.range.map_or(0, |(first, _)| first);
        let first = if first > self.step { 0 } else { first };
        self.set_range(Some((first, self.step)));
    }

    /// The last step before playback ends or goes round.
    fn end(&self) -> usize {
        let last = self.steps.saturating_sub(1);
        match (self.looping, self.range) {
            // Whoever has gone beyond the part plays on to the end of the episode.
            (Loop::Range, Some((_, end))) if self.step <= end => end,
            _ => last,
        }
    }

    /// True when slow playback walks through the stages of every step.
    pub fn stage_by_stage(&self) -> bool {
        self.speed < STAGE_BY_STAGE
    }

    /// Seconds until the play-head moves next; `None` while paused.
    pub fn next_move_in(&self) -> Option<f64> {
        self.playing
            .then(|| (1.0 - self.elapsed).max(0.0) / self.moves_per_second())
    }

    /// Lets time pass. The play-head moves when enough of it has passed; it stops at the end unless
    /// playback loops.
    pub fn advance(&mut self, seconds: f64) {
        if !self.playing || self.steps == 0 || !seconds.is_finite() {
            return;
        }
        self.elapsed += seconds.max(0.0) * self.moves_per_second();
        // A long pause between two calls (a window behind others) is worth one episode at most.
        let mut moves = (self.elapsed.floor() as usize).min(self.steps * self.stages);
        self.elapsed = self.elapsed.fract();
        while moves > 0 && self.playing {
            self.move_on();
            moves -= 1;
        }
    }

    fn moves_per_second(&self) -> f64 {
        if self.stage_by_stage() {
            self.speed * self.stages as f64
        } else {
            self.speed
        }
    }

    fn move_on(&mut self) {
        if self.stage_by_stage() {
            if self.at_end() {
                self.end_reached();
                if self.playing {
                    self.seek_stage(0);
                }
            } else {
                self.next_stage();
            }
            return;
        }
        self.whole();
        if self.step < self.end() {
            self.step += 1;
        } else {
            self.end_reached();
        }
    }

    fn end_reached(&mut self) {
        match self.looping {
            Loop::All => self.step = 0,
            Loop::Range => self.step = self.range.map_or(0, |(first, _)| first),
            Loop::Off => self.playing = false,
        }
    }

    /// True when nothing of the episode is left to play.
    pub fn at_end(&self) -> bool {
        self.step >= self.end() && (self.at_last_stage() || !self.stage_by_stage())
    }

    /// Plays, or pauses. Play at the end starts from the beginning.
    pub fn toggle_play(&mut self) {
        if self.playing {
            self.pause();
        } else {
            self.play();
        }
    }

    /// Plays; from the beginning when the end has been reached.
    pub fn play(&mut self) {
        if self.steps == 0 {
            return;
        }
        if self.at_end() && self.steps > 1 {
            self.seek(match (self.looping, self.range) {
                (Loop::Range, Some((first, _))) => first,
                _ => 0,
            });
            if self.stage_by_stage() {
                self.seek_stage(0);
            } else {
                self.whole();
            }
        }
        self.playing = true;
        self.elapsed = 0.0;
    }

    /// Stops the clock; the play-head stays.
    pub fn pause(&mut self) {
        self.playing = false;
        self.elapsed = 0.0;
    }

    /// Goes to a step, at most the last one. The stage stays.
    pub fn seek(&mut self, step: usize) {
        self.step = step.min(self.steps.saturating_sub(1));
        self.elapsed = 0.0;
    }

    /// Goes to a stage of the current step, if there is such a one.
    pub fn seek_stage(&mut self, stage: usize) {
        if stage < self.stages {
            self.stage = stage;
            self.inside = true;
            self.elapsed = 0.0;
        }
    }

    /// `count` steps forward, at most to the last. The stage stays.
    pub fn forward(&mut self, count: usize) {
        self.inside &= !self.at_last_stage();
        self.seek(self.step.saturating_add(count));
    }

    /// `count` steps back, at most to the first. The stage stays.
    pub fn back(&mut self, count: usize) {
        self.inside &= !self.at_last_stage();
        self.seek(self.step.saturating_sub(count));
    }

    /// The next stage; after the last, the first stage of the next step.
    pub fn next_stage(&mut self) {
        if !self.at_last_stage() {
            self.seek_stage(self.stage + 1);
        } else if self.step + 1 < self.steps {
            self.seek(self.step + 1);
            self.seek_stage(0);
        }
    }

    /// The stage before; before the first, the last stage of the step before.
    pub fn previous_stage(&mut self) {
        if self.stage > 0 {
            self.seek_stage(self.stage - 1);
        } else if self.step > 0 {
            self.seek(self.step - 1);
            self.seek_stage(self.stages - 1);
        }
    }

    /// The first step.
    pub fn first(&mut self) {
        self.seek(0);
    }

    /// The last step.
    pub fn last(&mut self) {
        self.seek(usize::MAX);
    }

    /// Twice as fast, at most [`FASTEST`].
    pub fn faster(&mut self) {
        self.set_speed(self.speed * 2.0);
    }

    /// Half as fast, at least [`SLOWEST`].
    pub fn slower(&mut self) {
        self.set_speed(self.speed / 2.0);
    }

    /// A speed in steps per second, brought into [`SLOWEST`] to [`FASTEST`].
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() {
            self.speed = speed.clamp(SLOWEST, FASTEST);
            self.elapsed = 0.0;
        }
    }

    /// No loop, all, the part that is marked.
    pub fn toggle_loop(&mut self) {
        self.looping = match self.looping {
            Loop::Off => Loop::All,
            Loop::All if self.range.is_some() => Loop::Range,
            Loop::All | Loop::Range => Loop::Off,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_back_step_is_the_identity_in_every_stage() {
        for stage in 0..9 {
            for step in 0..4 {
                let mut player = Player::new(5, 9);
                player.seek(step);
                player.seek_stage(stage);
                let before = (player.step(), player.stage());
                player.forward(1);
                player.back(1);
                assert_eq!((player.step(), player.stage()), before);
                player.next_stage();
                player.previous_stage();
                assert_eq!((player.step(), player.stage()), before);
            }
        }
    }

    #[test]
    fn the_ends_hold() {
        let mut player = Player::new(5, 9);
        player.back(JUMP);
        player.seek_stage(0);
        player.previous_stage();
        assert_eq!((player.step(), player.stage()), (0, 0));
        player.forward(JUMP);
        player.seek_stage(8);
        player.next_stage();
        assert_eq!((player.step(), player.stage()), (4, 8));
        player.first();
        assert_eq!(player.step(), 0);
        player.last();
        assert_eq!(player.step(), 4);
    }

    #[test]
    fn the_stages_of_all_steps_are_walked_in_order() {
        let mut player = Player::new(2, 9);
        player.seek_stage(0);
        for _ in 0..9 {
            player.next_stage();
        }
        assert_eq!((player.step(), player.stage()), (1, 0));
        player.previous_stage();
        assert_eq!((player.step(), player.stage()), (0, 8));
    }

    #[test]
    fn a_machine_may_have_two_stages() {
        let mut player = Player::new(0, 9);
        player.load(2, 2);
        let mut seen = vec![player.stage()];
        for _ in 0..3 {
            player.next_stage();
            seen.push(player.stage());
        }
        assert_eq!(seen, [1, 0, 1, 1]);
        player.seek_stage(2);
        assert_eq!((player.step(), player.stage()), (1, 1));
        player.previous_stage();
        assert_eq!((player.step(), player.stage()), (1, 0));
    }

    #[test]
    fn a_stage_asked_for_is_looked_at_until_whole_steps_go_on() {
        let mut player = Player::new(5, 9);
        assert!(player.whole_steps());
        player.next_stage();
        player.previous_stage();
        assert!(!player.whole_steps());
        player.forward(1);
        assert!(player.whole_steps());
        player.seek_stage(2);
        player.forward(1);
        assert!(!player.whole_steps());
        player.play();
        player.advance(0.25);
        assert!(player.whole_steps());
    }

    #[test]
    fn time_moves_the_play_head_at_the_speed_set() {
        let mut player = Player::new(41, 9);
        player.play();
        player.advance(0.2);
        assert_eq!(player.step(), 0);
        player.advance(0.05);
        assert_eq!(player.step(), 1);
        player.advance(1.0);
        assert_eq!(player.step(), 5);
        player.faster();
        player.advance(1.0);
        assert_eq!(player.step(), 13);
        player.pause();
        player.advance(1.0);
        assert_eq!(player.step(), 13);
    }

    #[test]
    fn many_small_ticks_equal_one_large_one() {
        let (mut small, mut large) = (Player::new(1000, 9), Player::new(1000, 9));
        small.play();
        large.play();
        for _ in 0..256 {
            small.advance(1.0 / 64.0);
        }
        large.advance(4.0);
        assert_eq!(small.step(), large.step());
    }

    #[test]
    fn playback_stops_at_the_end_and_play_starts_over() {
        let mut player = Player::new(3, 9);
        player.play();
        player.advance(10.0);
        assert_eq!((player.step(), player.playing()), (2, false));
        player.toggle_play();
        assert_eq!((player.step(), player.playing()), (0, true));
    }

    #[test]
    fn a_loop_goes_round() {
        let mut player = Player::new(3, 9);
        player.toggle_loop();
        player.play();
        player.advance(1.0);
        assert_eq!((player.step(), player.playing()), (1, true));
    }

    #[test]
    fn a_part_is_looped() {
        let mut player = Player::new(10, 9);
        player.seek(3);
        player.loop_in();
        assert_eq!(player.range(), Some((3, 9)));
        player.seek(5);
        player.loop_out();
        assert_eq!(
            (player.range(), player.looping()),
            (Some((3, 5)), Loop::Range)
        );
        player.play();
        let mut seen = vec![player.step()];
        for _ in 0..4 {
            player.advance(0.25);
            seen.push(player.step());
        }
        assert_eq!(seen, [3, 4, 5, 3, 4]);
        // In before, out after: a part grows; beyond its ends a new one begins.
        player.seek(8);
        player.loop_in();
        assert_eq!(player.range(), Some((8, 9)));
        player.seek(2);
        player.loop_out();
        assert_eq!(player.range(), Some((0, 2)));
        player.toggle_loop();
        player.toggle_loop();
        player.toggle_loop();
        assert_eq!(player.looping(), Loop::Range);
        // Started beyond the part, playback goes to the end of the episode and round to the part.
        player.pause();
        player.seek(7);
        player.play();
        player.advance(0.75);
        assert_eq!((player.step(), player.playing()), (0, true));
        player.load(4, 9);
        assert_eq!((player.range(), player.looping()), (None, Loop::Off));
    }

    #[test]
    fn a_part_is_looped_stage_by_stage() {
        let mut player = Player::new(4, 9);
        player.set_speed(0.5);
        player.set_range(Some((1, 1)));
        player.seek(1);
        player.seek_stage(0);
        player.play();
        player.advance(2.0 + 1e-6);
        assert_eq!((player.step(), player.stage()), (1, 0));
    }

    #[test]
    fn slow_playback_walks_through_the_stages() {
        let mut player = Player::new(2, 9);
        player.set_speed(0.5);
        player.seek_stage(0);
        player.play();
        player.advance(2.0 / 9.0 + 1e-9);
        assert_eq!((player.step(), player.stage()), (0, 1));
        player.advance(10.0);
        assert_eq!((player.step(), player.stage()), (1, 8));
        assert!(!player.playing());
        player.play();
        assert_eq!((player.step(), player.stage()), (0, 0));
    }

    #[test]
    fn speed_stays_in_its_range() {
        let mut player = Player::new(3, 9);
        for _ in 0..20 {
            player.faster();
        }
        assert!((player.speed() - FASTEST).abs() < f64::EPSILON);
        for _ in 0..20 {
            player.slower();
        }
        assert!((player.speed() - SLOWEST).abs() < f64::EPSILON);
        player.set_speed(f64::NAN);
        assert!((player.speed() - SLOWEST).abs() < f64::EPSILON);
    }

    #[test]
    fn another_episode_starts_at_its_first_step_and_keeps_playing() {
        let mut player = Player::new(9, 9);
        player.play();
        player.seek(8);
        player.load(4, 9);
        assert_eq!((player.step(), player.playing()), (0, true));
    }

    #[test]
    fn an_empty_episode_cannot_be_played() {
        let mut player = Player::new(0, 9);
        player.play();
        player.advance(5.0);
        player.forward(1);
        assert_eq!((player.step(), player.playing()), (0, false));
    }

    #[test]
    fn strange_times_do_no_harm() {
        let mut player = Player::new(3, 9);
        player.play();
        player.advance(f64::NAN);
        player.advance(-4.0);
        player.advance(f64::INFINITY);
        assert_eq!(player.step(), 0);
        player.advance(1e300);
        assert_eq!((player.step(), player.playing()), (2, false));
    }
}
