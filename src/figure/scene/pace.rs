//! Pace of an animation through the steps of an episode: the first ones slowly, then faster, and many steps whole.
//! So the file stays small enough to be sent, and takes no longer than requested.

/// Duration of a frame while something moves, in hundredths of a second.
const FRAME: u16 = 4;
/// The number of steps that play slowly.
const SLOWLY: usize = 2;
/// The largest number of frames with a moving stage in an animation, or frames of the same size, if its steps allow it:
/// at 1200 × 630 about 3 MB, the limit of mail and forums.
const FRAMES: usize = 400;
/// The cost of a frame in which the rows move and every number changes, in frames in which a stage moves: the ratio
/// of their bytes.
const COUNTS: usize = 3;

/// Pace of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Stage by stage; else the step as a whole.
    pub(crate) in_stages: bool,
    /// Frames of a stage, or of the step.
    pub(crate) frames: u16,
    /// Extra time of the last frame, in hundredths of a second.
    pub(crate) rest: u16,
}

const SLOW: Pace = Pace::new(true, 9, 36);
const FAST: Pace = Pace::new(true, 5, 8);
const WHOLE: Pace = Pace::new(false, 3, 20);
/// The pace of steps that are too many even for that: each in one frame.
const AT_ONCE: Pace = Pace::new(false, 1, 30);

impl Pace {
    const fn new(in_stages: bool, frames: u16, rest: u16) -> Self {
        Self {
            in_stages,
            frames,
            rest,
        }
    }

    /// Duration of a frame of a stage, or of the step, counted from 1.
    pub(crate) fn lasts(self, frame: u16) -> u16 {
        let is_last = frame >= self.frames;
        if is_last { self.rest } else { FRAME }
    }

    /// Returns the cost of a step, in frames with a moving stage.
    fn of_a_step(self, stages: usize) -> usize {
        let times = if self.in_stages { stages } else { COUNTS };
        usize::from(self.frames) * times
    }

    /// Duration of a step, in hundredths of a second.
    fn time_of_a_step(self, stages: usize) -> usize {
        let times = if self.in_stages { stages } else { 1 };
        times * usize::from((self.frames - 1) * FRAME + self.rest)
    }

    /// Duration of these steps, in hundredths of a second.
    fn time(self, steps: &[usize]) -> usize {
        let times = steps.iter().map(|&stages| self.time_of_a_step(stages));
        times.sum()
    }
}

/// Returns the pace of each step from its number of stages; `most` is the longest time for all of them where
/// possible, in hundredths of a second.
pub(crate) fn paces(stages: &[usize], most: usize) -> Vec<Pace> {
    // The frames left after the first `slowly` steps went slowly, and the slowest possible pace of the others.
    let rest = |slowly: usize| {
        let (slow, later) = stages.split_at(slowly);
        let frames: usize = slow.iter().map(|&stages| SLOW.of_a_step(stages)).sum();
        let free = FRAMES.saturating_sub(frames);
        let is_room = WHOLE.of_a_step(0) * later.len() <= free;
        (free, if is_room { WHOLE } else { AT_ONCE })
    };
    let takes = |slowly: usize| {
        let (slow, later) = stages.split_at(slowly);
        SLOW.time(slow) + rest(slowly).1.time(later)
    };
    let mut all = (0..=SLOWLY.min(stages.len())).rev();
    let slowly = all.find(|&slowly| takes(slowly) <= most).unwrap_or(0);
    let (slow, later) = stages.split_at(slowly);
    let (free, least) = rest(slowly);
    let mut free = free.saturating_sub(least.of_a_step(0) * later.len());
    let mut time = most.saturating_sub(takes(slowly));
    let mut in_stages = true;
    let later = later.iter().map(|&stages| {
        let more = FAST.of_a_step(stages).saturating_sub(least.of_a_step(0));
        let longer = FAST.time_of_a_step(stages);
        let longer = longer.saturating_sub(least.time_of_a_step(0));
        // Once whole steps have begun they go on.
        in_stages = in_stages && more <= free && longer <= time;
        if !in_stages {
            return least;
        }
        (free, time) = (free - more, time - longer);
        FAST
    });
    slow.iter().map(|_| SLOW).chain(later).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without an end in time.
    fn paces(stages: &[usize]) -> Vec<Pace> {
        super::paces(stages, usize::MAX)
    }

    fn cost(stages: &[usize]) -> usize {
        let paces = paces(stages);
        assert_eq!(paces.len(), stages.len());
        let steps = paces.iter().zip(stages);
        steps.map(|(pace, &stages)| pace.of_a_step(stages)).sum()
    }

    #[test]
    fn a_short_loop_goes_stage_by_stage_and_a_long_one_ends_step_by_step() {
        assert_eq!(paces(&[]), []);
        assert_eq!(paces(&[7]), [SLOW]);
        assert_eq!(paces(&[7; 8])[..3], [SLOW, SLOW, FAST]);
        assert!(paces(&[7; 8])[2..].iter().all(|pace| *pace == FAST));
        let long = paces(&[7; 20]);
        assert_eq!([long[2], long[19]], [FAST, WHOLE]);
        let longer = paces(&[7; 40]);
        assert_eq!([longer[2], longer[39]], [FAST, AT_ONCE]);
        // It never becomes slower again.
        let order = |pace: &Pace| {
            [SLOW, FAST, WHOLE, AT_ONCE]
                .iter()
                .position(|one| one == pace)
        };
        for steps in [3, 12, 40, 100, 1000] {
            let paces: Vec<_> = paces(&vec![7; steps]).iter().map(order).collect();
            assert!(paces.is_sorted(), "{steps}");
        }
        assert_eq!(paces(&[7; 1000])[2], AT_ONCE);
    }

    #[test]
    fn there_are_no_more_frames_than_can_be_sent() {
        for stages in [2, 7, 9, 12] {
            for steps in 1..40 {
                assert!(cost(&vec![stages; steps]) <= FRAMES, "{steps} of {stages}");
            }
        }
    }

    #[test]
    fn the_steps_take_no_longer_than_asked_where_they_can() {
        for steps in [1, 5, 11, 40] {
            let all = vec![9; steps];
            for most in (AT_ONCE.time(&all)..6_000).step_by(10) {
                let paces = super::paces(&all, most);
                let times = paces.iter().map(|pace| pace.time_of_a_step(9));
                let took = times.sum::<usize>();
                assert!(took <= most, "{steps} steps: {took} of {most}");
            }
        }
        assert_eq!(super::paces(&[9; 11], 900)[..2], [SLOW, WHOLE]);
    }
}
