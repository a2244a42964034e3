//! The attention of a text: a line for every word, with the words so far shaded by their weights, as in figure 1 of Cheng
//! et al. (2016). Heads stand side by side.

use crate::figure::facts::source::{received, short};
use crate::figure::scene::annotations::text_on;
use crate::figure::scene::fonts::{cut, lines, width_of};
use crate::figure::scene::layout::Scene;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::legend;
use crate::figure::{Area, Drawing, HeadName, Options, Pages, Scale, Style};
use crate::model::HeadTrace;
use crate::task::{Text, Tokens};
use crate::train::Recording;

/// The most words of a text: the figure grows with their square.
pub const MOST_WORDS: usize = 100;
/// The width that blocks share; one of several takes no more than half of it.
const WIDTH: f32 = 1240.0;
/// The least width of the text above them.
const NOTES: f32 = 520.0;
/// The least width of a block: room for its heading.
const LEAST: f32 = 180.0;
const MARGIN: f32 = 24.0;
const APART: f32 = 28.0;
/// Height of a line, of the gap below the line of a word, and of the heading of a block.
const LINE: f32 = 21.0;
const GAP: f32 = 4.0;
const HEADING: f32 = 26.0;
/// Room at both sides of a word.
const PAD: f32 = 4.0;
const LETTERS: f32 = 14.0;

/// The words of an episode, with the attention of some heads.
#[derive(Debug)]
pub struct Sentence<'a> {
    recording: &'a Recording,
    options: Options,
    /// The heads to draw.
    heads: Vec<usize>,
    /// The explanation, and the unknown words.
    notes: Vec<String>,
    /// The words with their places in a block: the line, and the left and right edges.
    words: Vec<(String, usize, [f32; 2])>,
}

impl<'a> Sentence<'a> {
    /// Places the words of the episode of a text.
    pub fn new(recording: &'a Recording, task: &Text, text: &str, options: Options) -> Self {
        let one = match task.tokens {
            Tokens::Words => "word",
            Tokens::Characters => "character",
        };
        let mut notes = vec![format!(
            "Each line: the outlined {one}, and shaded by weight the {one}s that it attends to."
        )];
        let (known, unknown) = (task.known(), task.unknown(text).join("  "));
        if !unknown.is_empty() {
            notes.push(format!(
                "unknown, not in the vocabulary of {known} {one}s: {unknown}"
            ));
        }
        let all = (0..recording.trace.heads.len()).collect();
        let heads = Some(options.heads.clone()).filter(|heads| !heads.is_empty());
        let heads: Vec<_> = heads.unwrap_or(all);
        let room = [WIDTH, (WIDTH - APART) / 2.0][usize::from(heads.len() > 1)];
        let style = Style::new(LETTERS, [0; 3]).bold();
        let (mut line, mut left) = (0, 0.0);
        let words = (0..recording.trace.steps()).map(|step| {
            let name = received(recording, step).unwrap_or_default();
            let name = match &*name {
                "space" => "␣".into(),
                name => short(name),
            };
            let name = cut(&name, &style, room - 2.0 * PAD);
            let width = width_of(&name, &style) + 2.0 * PAD;
            if left + width > room {
                (line, left) = (line + 1, 0.0);
            }
            let edges = [left, left + width];
            left += width;
            (name, line, edges)
        });
        Self {
            words: words.collect(),
            heads,
            recording,
            options,
            notes,
        }
    }

    /// The weights of a head in a step, for the words that its line shows.
    fn weights(&self, head: usize, step: usize) -> &'a [f32] {
        let weights = self.recording.trace.heads[head].weighting.row(step);
        let last = weights.iter().rposition(|weight| *weight > 0.0);
        let count = last.map_or(step, |last| last.max(step)) + 1;
        &weights[..count.min(weights.len())]
    }

    /// Paints a head from a point down; returns where it ends.
    fn head(&self, on: &mut Surface<'_>, head: usize, [left, top]: [f32; 2], width: f32) -> f32 {
        let (trace, colours) = (&self.recording.trace, on.page.colours);
        let name = HeadName::of(trace, head);
        let scale = Scale::weighting(self.options.log_scale).of_head(name);
        let layer = |head: &HeadTrace| head.mechanism.layer;
        let title = match trace.heads.last().map(layer) {
            Some(1..) => format!("{name} · layer {}", layer(&trace.heads[head])),
            _ => name.to_string(),
        };
        let style = Style::new(13.0, colours.head(name)).bold();
        on.text(title, [left, top + 8.0], style);
        legend(on, [left + width, top + 8.0], 70.0, scale);
        let mut y = top + HEADING;
        for step in 0..self.words.len() {
            let mut lines = 0;
            let words = self.words.iter().zip(self.weights(head, step)).enumerate();
            for (at, ((word, line, [from, to]), &weight)) in words {
                let top = y + LINE * *line as f32;
                let place = Area::new(left + from, top, to - from - 1.0, LINE - 1.0);
                let ground = colours.of(scale, weight);
                on.rect(place, ground);
                let style = Style::new(LETTERS, text_on(ground)).bold_if(at == step);
                on.text(&**word, [place.middle(), place.centre()], style.middle());
                if at == step {
                    on.outline(place, colours.accent);
                    on.outline(place.inset(1.0, 1.0), colours.accent);
                }
                lines = lines.max(line + 1);
            }
            y += LINE * lines as f32 + GAP;
        }
        y
    }
}

impl Pages for Sentence<'_> {
    fn scene(&self) -> Scene<'_> {
        let page = self.options.page(0);
        let edges = self.words.iter().map(|word| word.2[1]);
        let width = edges.fold(LEAST, f32::max);
        let across = ((WIDTH + APART) / (width + APART)) as usize;
        let across = across.clamp(1, self.heads.len().max(1));
        let blocks = (across as f32 * (width + APART) - APART).max(NOTES);
        let size = self.recording.episode.size;
        let title = format!("text, length {size}: attention");
        let ground = page.colours.panel;
        let mut drawing = Drawing::new(blocks + 2.0 * MARGIN, 0.0, ground, title);
        let (style, mut y) = (Style::new(13.0, page.colours.subdued), MARGIN);
        let notes = self.notes.iter();
        for line in notes.flat_map(|note| lines(note, &style, blocks)) {
            drawing.text(line, [MARGIN, y], style);
            y += 18.0;
        }
        y += 8.0;
        for heads in self.heads.chunks(across) {
            let top = y;
            for (at, &head) in heads.iter().enumerate() {
                let place = [MARGIN + at as f32 * (width + APART), top];
                let end = self.head(&mut Surface::new(&mut drawing, &page), head, place, width);
                y = y.max(end + APART);
            }
        }
        drawing.height = y;
        (drawing, Vec::new())
    }

    fn least_size(&self) -> (f32, f32) {
        let drawing = self.draw();
        (drawing.width, drawing.height)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::figure::{Colours, Layout, Mark};
    use crate::io::Experiment;
    use crate::model::{EquationsConfig, Model, ModelConfig};
    use crate::task::{HeldOut, Task};

    fn task(tokens: Tokens) -> Text {
        let mut none = Text::NONE;
        (none.tokens, none.held_out) = (tokens, HeldOut::Last(1));
        let lines = ["the cat sat", "a cat ran", "the end"].map(str::to_owned);
        none.with(Arc::new(lines.into())).unwrap()
    }

    fn recording(config: impl Into<ModelConfig>, of: &Text, text: &str) -> Recording {
        let (machine, task) = (Model::new(config, 3), Task::Text(of.clone()));
        Recording::of(&machine, &task, of.episode_of(text).unwrap(), None)
    }

    /// The grounds of the words of a page with their words, line by line.
    fn words(drawing: &Drawing) -> Vec<(String, [u8; 3])> {
        let pairs = drawing.marks.windows(2).filter_map(|pair| match pair {
            [Mark::Rect { fill, .. }, Mark::Text(text)] => Some((text.text.clone(), fill.colour)),
            _ => None,
        });
        pairs.collect()
    }

    #[test]
    fn every_line_shows_the_words_so_far_in_the_colours_of_their_weights() {
        let of = task(Tokens::Words);
        let channels = {
            let task = Task::Text(of.clone());
            [task.inputs(), task.outputs()]
        };
        let heads = EquationsConfig::included("multi_head_layers", channels, &[]);
        let recording = recording(heads.unwrap(), &of, "the dog sat");
        for (dark, head) in [(false, 0), (true, 5)] {
            let options = Options {
                dark,
                heads: vec![head],
                ..Options::new(Layout::Paper)
            };
            let drawing = Sentence::new(&recording, &of, "the dog sat", options).draw();
            let lines = [
                &["‹start›"][..],
                &["‹start›", "the"],
                &["‹start›", "the", "‹unknown›"],
                &["‹start›", "the", "‹unknown›", "sat"],
            ];
            let found = words(&drawing);
            let texts: Vec<_> = found.iter().map(|(word, _)| &**word).collect();
            assert_eq!(texts, lines.concat());
            let name = HeadName::of(&recording.trace, head);
            let scale = Scale::weighting(false).of_head(name);
            let weights = &recording.trace.heads[head].weighting;
            let mut cells = (0..4).flat_map(|t| (0..=t).map(move |row| (t, row)));
            for (_, ground) in &found {
                let (t, row) = cells.next().unwrap();
                let colour = Colours::for_theme(dark).of(scale, weights.row(t)[row]);
                assert_eq!(*ground, colour, "step {t}, row {row}");
            }
            let svg = drawing.to_svg();
            assert!(svg.contains("not in the vocabulary of 5 words: dog"));
            assert!(svg.contains(&format!("{name} · layer {}", head / 4)));
        }
        let all = Sentence::new(&recording, &of, "", Options::new(Layout::Paper)).draw();
        assert_eq!(words(&all).len(), 8 * 10);
    }

    #[test]
    fn long_texts_are_wrapped_and_spaces_are_seen() {
        let of = task(Tokens::Characters);
        let task = Task::Text(of.clone());
        let of_file = r#"{"task": {"kind": "copy", "bits": 8, "length": [1, 20]}, "model": {"kind": "equations", "file": "lstmn.machine"}}"#;
        let experiment = Experiment::from_json(of_file, "lstmn.json", &[]).unwrap();
        let mut machine = experiment.model;
        machine.set_channels(task.inputs(), task.outputs());
        let text = "the cat ".repeat(12);
        let recording = recording(machine, &of, &text);
        let drawing = Sentence::new(&recording, &of, &text, Options::new(Layout::Paper)).draw();
        let found = words(&drawing);
        assert_eq!(found.len(), (1..=97).sum::<usize>());
        assert!(found.iter().any(|word| word.0 == "␣"));
        for mark in &drawing.marks {
            if let Mark::Rect { area, .. } = mark {
                assert!(area.right <= drawing.width && area.bottom <= drawing.height);
            }
        }
        assert!(drawing.width <= WIDTH + 2.0 * MARGIN);
    }
}
