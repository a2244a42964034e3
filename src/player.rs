//! Playback: where in an episode the play-head stands, and how it moves.
//!
//! A plain state machine. It has no window, no clock of its own and no idea what is being played: the
//! owner says how long an episode is, how many stages a step of it has, and how much time has passed. An
//! episode of T steps has steps 0 to T − 1; a step of S stages has stages 0 to S − 1.
//!
//! The play-head has a place within a stage, too: [`Player::through`] is how far that has come, 0 to 1. Slow playback
//! walks stage by stage; each of them moves for a moment and rests for what is left of its time. A stage that is asked
//! for by hand moves and stays. Where a stage would have no time to be seen, whole steps are played.

/// Behaviour at the end of the episode.
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
pub const SLOWEST: f64 = 0.0625;
/// The fastest speed, in steps per second.
pub const FASTEST: f64 = 64.0;
/// The speed at the start, in steps per second.
pub const NORMAL: f64 = 4.0;
/// The longest motion of a stage, in seconds; it rests for the remaining time.
pub const MOVE: f64 = 0.4;
/// Playback walks through the stages where each of them has at least so much time, in seconds.
const SEEN: f64 = 0.25;
/// The time in which a newcomer can see a stage and read its caption, in seconds.
const FOLLOWED: f64 = 0.8;
/// The time between two frames while something moves, in seconds.
pub const FRAME: f64 = 1.0 / 60.0;
/// Length of a long jump, in steps.
pub const JUMP: usize = 10;

/// Effect of elapsed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drive {
    /// Time has no effect.
    Rests,
    /// Time advances a stage that was requested by hand.
    Stage,
    /// Time moves the play-head.
    Plays,
}

/// The state of playback.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    steps: usize,
    stages: usize,
    step: usize,
    stage: usize,
    /// True while the stages are walked through, false while whole steps are looked at.
    inside: bool,
    drive: Drive,
    speed: f64,
    looping: Loop,
    /// First and last step of the part that is looped.
    range: Option<(usize, usize)>,
    /// Progress of the stage, 0 to 1.
    through: f64,
    /// True where nothing is to move: a stage has come as soon as its turn has.
    still: bool,
    /// The part of the rest until the next move that has already passed, 0 to 1.
    elapsed: f64,
}

impl Player {
    /// A player for `steps` steps of `stages` stages each, at the first step, paused, whole steps in view.
    pub fn new(steps: usize, stages: usize) -> Self {
        Self {
            steps,
            stages: stages.max(1),
            step: 0,
            stage: stages.saturating_sub(1),
            inside: false,
            drive: Drive::Rests,
            speed: NORMAL,
            looping: Loop::Off,
            range: None,
            through: 1.0,
            still: false,
            elapsed: 0.0,
        }
    }

    /// Loads another episode, with `stages` stages per step: first step, same speed, same loop, playing if it
    /// was playing. [`Player::resume_from`] restores the position of the previous episode.
    pub fn load(&mut self, steps: usize, stages: usize) {
        (self.steps, self.stages) = (steps, stages.max(1));
        // The steps of another episode mean something else.
        self.set_range(None);
        self.seek(0);
        self.show_whole_steps();
    }

    /// Goes on at the moment at which an episode was that was loaded before, with its loop, as far as this
    /// episode has them.
    pub fn resume_from(&mut self, before: &Self) {
        if let Some((first, _)) = before.range
            && first < self.steps
        {
            self.set_range(before.range);
            self.looping = before.looping;
        }
        self.seek(before.step);
        if before.inside {
            self.seek_stage(before.stage);
            self.through = before.through;
            if before.drive == Drive::Stage {
                self.drive = Drive::Stage;
            }
        }
    }

    /// Whole steps are looked at from now on.
    pub fn show_whole_steps(&mut self) {
        self.stage = self.stages - 1;
        self.inside = false;
        self.settle();
    }

    /// Sets reduced motion, in which every stage completes at once.
    pub fn set_reduced_motion(&mut self, still: bool) {
        self.still = still;
        if still {
            self.finish_stage();
        }
    }

    /// Steps of the episode.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The current step, 0 to T − 1.
    pub fn step(&self) -> usize {
        self.step
    }

    /// The current stage of the step: everything before it has happened, and of it as much as
    /// [`Player::through`] says.
    pub fn stage(&self) -> usize {
        self.stage
    }

    /// Progress of the current stage, 0 to 1: 1 when it is complete, as always while whole steps are shown.
    pub fn through(&self) -> f32 {
        self.through as f32
    }

    /// Number of stages in every step.
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
        self.drive == Drive::Plays
    }

    /// Steps per second.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Returns the behaviour at the end.
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
            // Beyond the part, it plays on to the end of the episode.
            (Loop::Range, Some((_, end))) if self.step <= end => end,
            _ => last,
        }
    }

    /// True when playback walks through the stages of every step: each of them has time to be seen.
    pub fn stage_by_stage(&self) -> bool {
        self.seconds_a_stage(self.speed) >= SEEN
    }

    /// The fastest speed at which a newcomer can follow the stages: [`NORMAL`] times a power of two, in steps/second.
    pub fn followed(&self) -> f64 {
        let mut speed = NORMAL;
        while speed > SLOWEST && self.seconds_a_stage(speed) < FOLLOWED {
            speed /= 2.0;
        }
        speed
    }

    /// Duration of a stage at a speed in steps per second.
    fn seconds_a_stage(&self, speed: f64) -> f64 {
        1.0 / (speed * self.stages as f64)
    }

    /// Duration of the current stage's motion, and of the rest after it, in seconds.
    fn pace(&self) -> [f64; 2] {
        let moves = if self.still { 0.0 } else { MOVE };
        if !self.playing() {
            return [moves, f64::INFINITY];
        }
        if !self.stage_by_stage() {
            return [0.0, 1.0 / self.speed];
        }
        let seconds = self.seconds_a_stage(self.speed);
        [moves.min(seconds), (seconds - moves).max(0.0)]
    }

    /// Seconds until something on screen changes next: in a stage that moves the next frame, or else the next move of
    /// the play-head. `None` while neither of them moves.
    pub fn next_move_in(&self) -> Option<f64> {
        if self.drive == Drive::Rests {
            return None;
        }
        let [moves, rest] = self.pace();
        let on_its_way = (1.0 - self.through) * moves;
        Some(if on_its_way > 0.0 {
            on_its_way.min(FRAME)
        } else {
            (1.0 - self.elapsed) * rest
        })
    }

    /// Lets time pass. Stages move, and the play-head moves on when enough of it has passed; it stops at the end unless
    /// playback loops.
    pub fn advance(&mut self, seconds: f64) {
        self.advance_until(seconds, &[]);
    }

    /// [`Player::advance`] that pauses where it reaches one of these steps, which ascend.
    pub fn advance_until(&mut self, seconds: f64, stops: &[usize]) {
        if self.drive == Drive::Rests || self.steps == 0 || !seconds.is_finite() {
            return;
        }
        let mut seconds = seconds.max(0.0);
        // A long pause between two calls (a window behind others) is worth one episode at most.
        for _ in 0..=self.steps * self.stages {
            let [moves, rest] = self.pace();
            if !advance(&mut self.through, &mut seconds, moves) {
                return;
            }
            self.finish_stage();
            if !self.playing() || !advance(&mut self.elapsed, &mut seconds, rest) {
                return;
            }
            self.elapsed = 0.0;
            let step = self.step;
            self.move_on();
            if self.step != step && stops.binary_search(&self.step).is_ok() {
                self.pause();
                return self.show_whole_steps();
            }
        }
    }

    fn move_on(&mut self) {
        if !self.stage_by_stage() {
            self.show_whole_steps();
            if self.step < self.end() {
                self.step += 1;
            } else {
                self.end_reached();
            }
        } else if self.at_end() {
            self.end_reached();
            if self.playing() {
                self.begin_stage(0);
            }
        } else {
            self.following_stage();
        }
    }

    fn end_reached(&mut self) {
        match self.looping {
            Loop::All => self.step = 0,
            Loop::Range => self.step = self.start(),
            Loop::Off => self.drive = Drive::Rests,
        }
    }

    /// True when nothing of the episode is left to play.
    pub fn at_end(&self) -> bool {
        let over = self.at_last_stage() && self.through >= 1.0;
        self.step >= self.end() && (over || !self.stage_by_stage())
    }

    /// Plays, or pauses. Play at the end starts from the beginning.
    pub fn toggle_play(&mut self) {
        if self.playing() {
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
            self.seek(self.start());
            self.show_whole_steps();
        }
        if self.stage_by_stage() && self.step == self.start() && !self.inside {
            // Nothing of what is played has been seen yet.
            self.begin_stage(0);
        }
        self.drive = Drive::Plays;
        self.elapsed = 0.0;
    }

    /// The first step that is played.
    fn start(&self) -> usize {
        match (self.looping, self.range) {
            (Loop::Range, Some((first, _))) => first,
            _ => 0,
        }
    }

    /// Stops the clock; the play-head stays, in the middle of a stage if it is there.
    pub fn pause(&mut self) {
        self.drive = Drive::Rests;
        self.elapsed = 0.0;
    }

    /// Goes to a step, at most the last one. The stage stays, and has come.
    pub fn seek(&mut self, step: usize) {
        self.step = step.min(self.steps.saturating_sub(1));
        self.settle();
    }

    /// Goes to a stage of the current step that has come, if there is such a one.
    pub fn seek_stage(&mut self, stage: usize) {
        if stage < self.stages {
            self.stage = stage;
            self.inside = true;
            self.settle();
        }
    }

    /// Goes to where so much of the current stage has come, 0 to 1.
    pub fn seek_through(&mut self, through: f32) {
        if through.is_finite() && self.steps > 0 {
            self.seek_stage(self.stage);
            self.set_through(f64::from(through.clamp(0.0, 1.0)));
        }
    }

    /// The stage has come, and stays.
    fn settle(&mut self) {
        self.elapsed = 0.0;
        self.finish_stage();
    }

    /// The stage has come.
    fn finish_stage(&mut self) {
        self.through = 1.0;
        if self.drive == Drive::Stage {
            self.drive = Drive::Rests;
        }
    }

    /// Goes to where a stage begins.
    fn begin_stage(&mut self, stage: usize) {
        self.seek_stage(stage);
        self.set_through(0.0);
    }

    fn set_through(&mut self, through: f64) {
        self.through = if self.still { 1.0 } else { through };
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

    /// Completes an unfinished stage, or starts the next one; after the last, the first stage of the next step.
    /// The new stage is in progress until enough time has passed.
    pub fn next_stage(&mut self) {
        let left_in_the_middle = self.through < 1.0 && self.drive == Drive::Rests;
        if (left_in_the_middle || self.following_stage()) && !self.still {
            self.drive = Drive::Stage;
        }
    }

    /// Moves to the beginning of the next stage, if there is one.
    fn following_stage(&mut self) -> bool {
        if !self.at_last_stage() {
            self.begin_stage(self.stage + 1);
        } else if self.step + 1 < self.steps {
            self.seek(self.step + 1);
            self.begin_stage(0);
        } else {
            return false;
        }
        true
    }

    /// Moves back to the end of the previous stage; before the first, to the last stage of the previous step.
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

/// Advances a process of `takes` seconds from its progress, 0 to 1. True at its end; the time that remains stays in
/// `seconds`.
fn advance(progress: &mut f64, seconds: &mut f64, takes: f64) -> bool {
    let needs = (1.0 - *progress) * takes;
    if *seconds < needs {
        *progress += *seconds / takes;
        return false;
    }
    *seconds -= needs;
    *progress = 1.0;
    true
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
    fn requested_stage_stays_until_whole_steps() {
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
        player.set_speed(0.25);
        player.set_range(Some((1, 1)));
        player.seek(1);
        player.seek_stage(0);
        player.play();
        player.advance(4.0 + 1e-6);
        assert_eq!((player.step(), player.stage()), (1, 0));
    }

    #[test]
    fn slow_playback_walks_through_the_stages() {
        let mut player = Player::new(2, 9);
        player.set_speed(0.25);
        player.seek_stage(0);
        player.play();
        player.advance(4.0 / 9.0 + 1e-9);
        assert_eq!((player.step(), player.stage()), (0, 1));
        player.advance(20.0);
        assert_eq!((player.step(), player.stage()), (1, 8));
        assert!(!player.playing());
        player.play();
        assert_eq!((player.step(), player.stage()), (0, 0));
    }

    /// A player that walks through the nine stages of a few steps, 8/9 of a second each.
    fn walking() -> Player {
        let mut player = Player::new(3, 9);
        player.set_speed(0.125);
        player.play();
        player
    }

    fn at(player: &Player) -> (usize, usize, f32) {
        (player.step(), player.stage(), player.through())
    }

    #[test]
    fn a_stage_moves_and_then_rests() {
        let mut player = walking();
        assert_eq!(at(&player), (0, 0, 0.0));
        player.advance(MOVE / 2.0);
        assert_eq!(at(&player), (0, 0, 0.5));
        player.advance(MOVE / 2.0 + 1e-9);
        assert_eq!(at(&player), (0, 0, 1.0));
        let rest = 8.0 / 9.0 - MOVE;
        player.advance(rest - 1e-6);
        assert_eq!(at(&player), (0, 0, 1.0));
        player.advance(MOVE / 4.0 + 1e-6);
        let (step, stage, through) = at(&player);
        assert_eq!((step, stage), (0, 1));
        assert!((through - 0.25).abs() < 1e-6);
    }

    #[test]
    fn frames_are_requested_only_while_moving() {
        let mut player = walking();
        assert_eq!(player.next_move_in(), Some(FRAME));
        player.advance(MOVE + 0.1);
        let rest = player.next_move_in().unwrap();
        assert!((rest - (8.0 / 9.0 - MOVE - 0.1)).abs() < 1e-9);
        player.pause();
        assert_eq!(player.next_move_in(), None);
        player.next_stage();
        let mut frames = 0;
        while let Some(seconds) = player.next_move_in() {
            assert!(seconds <= FRAME + 1e-9);
            player.advance(seconds);
            frames += 1;
        }
        assert_eq!(at(&player), (0, 1, 1.0));
        assert!((24..=25).contains(&frames), "{frames}");
    }

    #[test]
    fn pause_freezes_a_stage_and_the_next_key_completes_it() {
        let mut player = walking();
        player.advance(8.0 / 9.0 + MOVE / 2.0);
        player.pause();
        let frozen = at(&player);
        assert!(frozen.1 == 1 && (0.49..0.51).contains(&frozen.2));
        player.advance(5.0);
        assert_eq!(at(&player), frozen);
        player.next_stage();
        player.advance(MOVE / 4.0);
        assert!(player.stage() == 1 && (0.74..0.76).contains(&player.through()));
        player.advance(5.0);
        assert_eq!(at(&player), (0, 1, 1.0));
        // A second request does not wait.
        player.next_stage();
        player.next_stage();
        assert_eq!(at(&player), (0, 3, 0.0));
        player.advance(MOVE / 2.0);
        player.pause();
        player.previous_stage();
        assert_eq!(at(&player), (0, 2, 1.0));
        // From the middle it plays on.
        player.seek_through(0.75);
        player.play();
        player.advance(MOVE / 8.0);
        assert_eq!(at(&player), (0, 2, 0.875));
    }

    #[test]
    fn seek_reaches_every_position_in_stage() {
        let mut player = Player::new(3, 9);
        player.seek_stage(4);
        for through in [0.0, 0.3, 1.0] {
            player.seek_through(through);
            assert_eq!(at(&player), (0, 4, through));
        }
        for (asked, taken) in [(-1.0, 0.0), (7.0, 1.0), (f32::NAN, 1.0)] {
            player.seek_through(asked);
            assert_eq!(at(&player), (0, 4, taken));
        }
        player.seek_through(0.5);
        assert_eq!(player.next_move_in(), None);
        // A step, whole or not, has come.
        player.forward(1);
        assert_eq!(at(&player), (1, 4, 1.0));
    }

    #[test]
    fn reduced_motion_moves_nothing() {
        let mut player = walking();
        player.advance(MOVE / 2.0);
        player.set_reduced_motion(true);
        for _ in 0..200 {
            assert!(player.through() >= 1.0);
            player.advance(0.125);
        }
        assert_eq!(at(&player), (2, 8, 1.0));
        assert_eq!(player.next_move_in(), None);
        player.first();
        player.next_stage();
        player.seek_through(0.5);
        assert_eq!(at(&player), (1, 0, 1.0));
        assert_eq!(player.next_move_in(), None);
    }

    #[test]
    fn fast_playback_uses_whole_steps() {
        let mut player = walking();
        player.advance(MOVE / 2.0);
        player.set_speed(0.5);
        assert!(!player.stage_by_stage());
        player.advance(1.0);
        assert_eq!(at(&player), (0, 0, 1.0));
        player.advance(1.0);
        assert_eq!(at(&player), (1, 8, 1.0));
        assert!(player.whole_steps());
        // Fewer stages have more time each.
        let mut player = Player::new(3, 2);
        player.set_speed(2.0);
        assert!(player.stage_by_stage());
    }

    #[test]
    fn speed_change_keeps_position() {
        let mut player = walking();
        player.advance(MOVE / 2.0);
        for speed in [0.0625, 0.25] {
            player.set_speed(speed);
            assert_eq!(at(&player), (0, 0, 0.5));
        }
        player.advance(4.0 / 9.0 - MOVE / 2.0 + 1e-9);
        assert_eq!((player.step(), player.stage()), (0, 1));
    }

    #[test]
    fn stages_can_be_followed_at_a_speed_of_the_ladder() {
        for (stages, speed) in [
            (2, 0.5),
            (9, 0.125),
            (10, 0.125),
            (13, 0.0625),
            (40, SLOWEST),
        ] {
            let player = Player::new(3, stages);
            assert!((player.followed() - speed).abs() < 1e-9, "{stages} stages");
        }
    }

    #[test]
    fn small_ticks_match_one_large_tick() {
        let (mut small, mut large) = (walking(), walking());
        for ticks in 1..300 {
            small.advance(1.0 / 64.0);
            large = walking();
            large.advance(f64::from(ticks) / 64.0);
            assert_eq!((small.step(), small.stage()), (large.step(), large.stage()));
            assert!((small.through() - large.through()).abs() < 1e-6);
        }
        assert!(large.step() > 0 || large.stage() > 4);
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
    fn invalid_times_are_ignored() {
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
