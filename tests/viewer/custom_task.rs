//! A task of one's own in the window: which of its episodes is shown is chosen among those that are held out.

use super::*;
use ndarray::Array2;
use tapescope::task::Episodes;

/// An untrained machine for 30 episodes, three of which are held out: number n has n / 10 + 4 steps, two channels with
/// names, and is to say in every step from the third on what it saw two steps ago.
pub fn machine() -> Machine {
    let lengths: Vec<usize> = (0..30).map(|number| number / 10 + 4).collect();
    let steps = lengths.iter().sum();
    let bit = |row: usize| f32::from(u8::from(row * row % 7 < 3));
    let inputs = Array2::from_shape_fn((steps, 2), |(row, channel)| bit(row + 5 * channel));
    let targets = Array2::from_shape_fn((steps, 1), |(row, _)| bit(row.saturating_sub(2)));
    let asked = lengths
        .iter()
        .flat_map(|&length| (0..length).map(|step| step > 1));
    let mask = asked
        .map(|is_asked| f32::from(u8::from(is_asked)))
        .collect();
    let names = ["door", "light"].map(str::to_owned).to_vec();
    let recorded = tapescope::task::Recorded::new(inputs, targets, mask, &lengths)
        .unwrap()
        .named(names, vec!["door, late".to_owned()])
        .unwrap();
    let task = Task::Episodes(Episodes::NONE.with(Arc::new(recorded)).unwrap());
    Machine {
        other_way: None,
        away: false,
        name: "own".to_owned(),
        title: "Doors".to_owned(),
        ntm: small(&task, 8, 2),
        task,
    }
}

/// The steps of the episode on screen.
fn steps(screen: &Screen) -> usize {
    let open = screen.state().session.open.as_ref().unwrap();
    open.shown.recording.episode.steps()
}

#[test]
fn file_episode_is_chosen_from_held_out_set() {
    let mut screen = paused_on(machine());
    act(&mut screen, Episode::Seed(0));
    screen.get_by_label("More: Held out");
    screen.get_by_label("trained on 27 other episodes of its file; 3 are held out");
    assert!(screen.query_by_label("Length").is_none());
    assert!(
        screen
            .get_by_label("Edit input")
            .accesskit_node()
            .is_disabled()
    );
    assert_eq!(steps(&screen), 4);
    for (place, wanted) in [(1, 5), (2, 6), (3, 4)] {
        act(&mut screen, Episode::NextSeed);
        assert_eq!(steps(&screen), wanted);
        let title = screen.state().session.title();
        assert_eq!(
            title,
            format!("Doors, held-out {} of 3 – Tapescope", place % 3)
        );
    }
    // Its length is what it is.
    act(&mut screen, Episode::Size(9));
    assert_eq!(steps(&screen), 4);
    clipping::is_whole(&screen, "an episode of a file");
}
