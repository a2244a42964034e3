//! Links to the episode and view on screen, and back: `machine=copy&length=20&seed=7&step=21&head=R0`. The names are
//! those of the options of `tapescope view`, and mean the same; `tapescope view --link` takes all of it.

use std::fmt::{self, Display, Formatter};

use form_urlencoded::Serializer;

use super::state::{
    ExternalEpisode, InvalidStart, Machine, Parts, StartOptions, State, WindowLayout,
};
use crate::figure::head_label;
use crate::io::{shell, weights};
use crate::model::{Draw, NoiseMode};
use crate::task::{MAX_REPEATS, Task};
use crate::train::UNSEEN_SEED;

/// The names that a link knows.
const NAMES: &str = "machine, length, items, repeats, seed, sample, rows, flip, intervene, step, stage, head, pin, layout, page, embed and parts";

/// The name of the page on attention mechanisms.
const PAGE: &str = "attention";

/// Keys for the position in an episode: a link to a recorded trace has no others.
const PLACES: [&str; 7] = ["step", "stage", "head", "pin", "layout", "embed", "parts"];

/// The contents of a link; missing ones have their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// The address of a trace next to the page, before the `#`.
    trace: Option<String>,
    /// The name of an included machine.
    pub machine: Option<String>,
    /// `length` or `items`, and how many.
    size: Option<(&'static str, usize)>,
    repeats: Option<usize>,
    seed: Option<u64>,
    /// Number of the sample, where heads sample.
    sample: Option<u64>,
    /// The place and the other options that mean the same in the command line.
    begin: StartOptions,
}

impl Link {
    /// Parses the part after the `#` of an address.
    ///
    /// # Errors
    /// A sentence that names what is not known or not allowed, and what is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut link = Self::default();
        let text = text.trim_start_matches('#');
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            link.set(&name, &value)?;
        }
        if let (Some(parts), false) = (&link.begin.parts, link.begin.embed) {
            return invalid(format!("parts={parts}; it needs embed=1."));
        }
        Ok(link)
    }

    /// The name of the included machine that it shows.
    ///
    /// # Errors
    /// A sentence that names one that is not known, and those that are.
    pub fn first(&self) -> Result<&'static str, String> {
        let mut names = weights::included_names();
        let Some(name) = &self.machine else {
            return Ok(names.next().unwrap_or_default());
        };
        if let Some(known) = names.find(|known| known == name) {
            return Ok(known);
        }
        let known: Vec<_> = weights::included_names().collect();
        let known = known.join(", ");
        invalid(format!("machine={name}; the machines are {known}."))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "machine" => self.machine = Some(value.to_owned()),
            "length" => self.size = Some(("length", number(name, value)?)),
            "items" => self.size = Some(("items", number(name, value)?)),
            "repeats" => self.repeats = Some(number(name, value)?),
            "seed" => self.seed = Some(number(name, value)?),
            "sample" => self.sample = Some(number(name, value)?),
            "rows" => self.begin.rows = Some(number(name, value)?),
            "flip" => self.begin.flipped = flips(value)?,
            "intervene" => self.begin.interventions.push(value.to_owned()),
            "step" => self.begin.step = Some(number(name, value)?),
            "stage" => self.begin.stage = Some(number(name, value)?),
            "head" => self.begin.head = Some(value.to_owned()),
            "pin" => self.begin.pin = Some(value.to_owned()),
            "page" if value == PAGE => self.begin.family = true,
            "page" => return invalid(format!("page={value}; the only page is {PAGE}.")),
            "embed" if value == "1" => self.begin.embed = true,
            "embed" => return invalid(format!("embed={value}; the only value is 1.")),
            "parts" => self.begin.parts = Some(Parts::parse(value).or_else(invalid)?),
            "layout" => {
                self.begin.layout = WindowLayout::named(value);
                if self.begin.layout.is_none() {
                    let known = WindowLayout::KEPT.map(WindowLayout::name).join(", ");
                    return invalid(format!("layout={value}; the layouts are {known}."));
                }
            }
            _ => return invalid(format!("unknown name `{name}`; known are {NAMES}.")),
        }
        Ok(())
    }

    /// Returns a link to the episode on screen, if an included machine can show it, or its trace is next to the page.
    pub fn of(state: &State) -> Option<Self> {
        let open = state.session.open.as_ref()?;
        let trace = &open.shown.recording.trace;
        let begin = StartOptions {
            step: Some(state.player.step()),
            stage: (!state.player.whole_steps()).then(|| state.player.stage()),
            head: (state.view.chosen).then(|| head_label(trace, state.view.focus)),
            pin: state.pinned_value().map(|value| value.name(trace)),
            layout: WindowLayout::named(state.layout().name()),
            family: state.welcome.shown && state.welcome.family,
            embed: state.embedded,
            parts: state.parts.clone(),
            ..StartOptions::default()
        };
        if open.shown.address.is_some() {
            return Some(Self {
                trace: open.shown.address.clone(),
                begin: StartOptions {
                    family: false,
                    ..begin
                },
                ..Self::default()
            });
        }
        let request = open.request.as_ref()?;
        if request.given.is_some() {
            return None;
        }
        let machine = state.session.machines.get(request.machine)?;
        weights::included_names().find(|name| *name == machine.name)?;
        let is_drawn = request.sampling == NoiseMode::Sampled;
        let is_other = request.rows != machine.ntm.config.rows();
        Some(Self {
            trace: None,
            machine: Some(machine.name.clone()),
            size: Some((machine.task.measure().name(), request.size)),
            repeats: machine.task.repeats().map(|_| request.repeats),
            seed: Some(request.seed),
            sample: is_drawn.then_some(request.sample),
            begin: StartOptions {
                rows: is_other.then_some(request.rows),
                flipped: request.flipped.clone(),
                interventions: request
                    .interventions()
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
                ..begin
            },
        })
    }

    /// The whole of it, of a page at this address.
    pub fn at(&self, page: &str) -> String {
        match &self.trace {
            Some(trace) => format!("{page}?{}#{self}", encoded([("trace", trace)])),
            None => format!("{page}#{self}"),
        }
    }

    /// Returns the initial state of the window for this machine.
    ///
    /// # Errors
    /// A sentence that names what the machine does not do, and what it does.
    pub fn beginning(&self, machine: &Machine) -> Result<StartOptions, String> {
        let names_episode = self.size.is_some() || self.repeats.is_some() || self.seed.is_some();
        let names_episode =
            names_episode || self.sample.is_some() || !self.begin.flipped.is_empty();
        if let Some(rows) = self.begin.rows
            && let Err(error) = machine.ntm.config.with_rows(rows)
        {
            let (name, allowed) = (&machine.name, error.allowed);
            return invalid(format!("rows={rows}; the machine {name} allows {allowed}."));
        }
        Ok(StartOptions {
            asked: names_episode.then(|| self.asked(machine)).transpose()?,
            ..self.begin.clone()
        })
    }

    /// Describes the part of a link that the episode does not have.
    pub fn lacks(lacks: &InvalidStart) -> String {
        let InvalidStart { option, value, has } = lacks;
        format!("Invalid link: {option}={value}; {has}.")
    }

    /// Returns the initial place in the trace at this address.
    ///
    /// # Errors
    /// A sentence that names what is not known of a trace, or that there is no address.
    pub fn place_in(&self, address: &str) -> Result<StartOptions, String> {
        if address.is_empty() {
            return invalid(
                "?trace= without a file; give the address of a trace next to the page, such as copy.ntmtrace.json.",
            );
        }
        let pairs = self.pairs().into_iter();
        let mut others = pairs.filter(|(name, _)| !PLACES.contains(name));
        match others.next() {
            None => Ok(self.begin.clone()),
            Some((name, value)) => invalid(format!(
                "{name}={value}; a recorded trace cannot be changed, a link to it may hold {}.",
                PLACES.join(", ")
            )),
        }
    }

    fn asked(&self, machine: &Machine) -> Result<ExternalEpisode, String> {
        let task = self.task(machine)?;
        let seed = self.seed.unwrap_or(UNSEEN_SEED);
        let mut origin = Draw::of(seed, 0);
        if let Some(sample) = self.sample {
            if !machine.ntm.config.is_random() {
                let name = &machine.name;
                return invalid(format!("sample={sample}; no head of {name} samples."));
            }
            (origin.sample, origin.sampling) = (sample, NoiseMode::Sampled);
        }
        let episode = task.episode(seed, 0);
        let mut changed = episode.clone();
        for &(step, channel) in &self.begin.flipped {
            let Some(other) = task.flipped(&changed, step, channel) else {
                return invalid(format!(
                    "flip={step}.{channel}; the input of this episode has no such bit."
                ));
            };
            changed = other;
        }
        Ok(ExternalEpisode {
            episode,
            task,
            origin: Some(origin),
        })
    }

    fn task(&self, machine: &Machine) -> Result<Task, String> {
        let mut task = machine.task.clone();
        let kind = machine.task.name();
        if let Some((name, size)) = self.size {
            let (measure, least) = (task.measure(), task.least_size());
            let (right, most) = (measure.name(), task.most_size());
            if right != name {
                return invalid(format!("{name}={size}; the task {kind} has {right}."));
            }
            if !(least..=most).contains(&size) {
                return invalid(format!(
                    "{name}={size}; the task {kind} allows {least} to {most}."
                ));
            }
            task = task.with_size(size);
        }
        if let Some(repeats) = self.repeats {
            if task.repeats().is_none() {
                return invalid(format!(
                    "repeats={repeats}; the task {kind} has no repeats."
                ));
            }
            if !(1..=MAX_REPEATS).contains(&repeats) {
                return invalid(format!(
                    "repeats={repeats}; the task {kind} allows 1 to {MAX_REPEATS}."
                ));
            }
            task = task.with_repeats(repeats);
        }
        Ok(task)
    }

    /// The command that shows the same.
    pub fn command(&self) -> String {
        shell::command(&["view", "--link", &self.to_string()])
    }

    /// Every name with its value, in the order of [`NAMES`].
    fn pairs(&self) -> Vec<(&'static str, String)> {
        fn text<T: ToString>(value: Option<T>) -> Option<String> {
            value.map(|value| value.to_string())
        }
        let begin = &self.begin;
        let (measure, size) = self.size.unzip();
        let flips = begin.flipped.iter();
        let flips = flips.map(|(step, bit)| format!("{step}.{bit}"));
        let flips = flips.collect::<Vec<_>>().join(",");
        let pairs = [
            ("machine", self.machine.clone()),
            (measure.unwrap_or("length"), text(size)),
            ("repeats", text(self.repeats)),
            ("seed", text(self.seed)),
            ("sample", text(self.sample)),
            ("rows", text(begin.rows)),
            ("flip", Some(flips).filter(|flips| !flips.is_empty())),
            ("step", text(begin.step)),
            ("stage", text(begin.stage)),
            ("head", begin.head.clone()),
            ("pin", begin.pin.clone()),
            ("layout", text(begin.layout.map(WindowLayout::name))),
            ("page", begin.family.then(|| PAGE.to_owned())),
            ("embed", begin.embed.then(|| "1".to_owned())),
            ("parts", text(begin.parts.as_ref())),
        ];
        let said = pairs.into_iter();
        let said = said.filter_map(|(name, value)| Some((name, value?)));
        let mut said: Vec<_> = said.collect();
        let interventions = begin.interventions.iter();
        said.extend(interventions.map(|text| ("intervene", text.clone())));
        said
    }
}

/// Formats it as the text after `#`.
impl Display for Link {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&encoded(self.pairs()))
    }
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    let sentence = format!("{name}={value}; it must be a whole number, 0 or more.");
    value.parse().or_else(|_| invalid(sentence))
}

/// `3.1,4.0`: steps and channels.
fn flips(value: &str) -> Result<Vec<(usize, usize)>, String> {
    let one = |part: &str| {
        let (step, channel) = part.split_once('.')?;
        Some((step.parse().ok()?, channel.parse().ok()?))
    };
    let all: Option<Vec<_>> = value.split(',').map(one).collect();
    let how = "it must list input bits as STEP.CHANNEL, separated by commas.";
    all.map_or_else(|| invalid(format!("flip={value}; {how}")), Ok)
}

/// Refuses a link, with what is wrong in it.
fn invalid<T>(what: impl Display) -> Result<T, String> {
    Err(format!("Invalid link: {what}"))
}

/// Encodes names and values as in the query of an address.
fn encoded<V: AsRef<str>>(pairs: impl IntoIterator<Item = (&'static str, V)>) -> String {
    let encoded = Serializer::new(String::new()).extend_pairs(pairs).finish();
    // Characters that are allowed there and readable.
    let allowed = [("%2C", ","), ("%5B", "["), ("%5D", "]")];
    let readable = |text: String, (code, sign)| text.replace(code, sign);
    allowed.into_iter().fold(encoded, readable)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::Trace;
    use crate::viewer::fixture::{config, copying, machine, opened};
    use crate::viewer::state::Settings;

    #[test]
    fn link_round_trips() {
        for text in [
            "machine=copy&length=20&seed=7&step=21&head=R0",
            "machine=repeat_copy&length=5&repeats=3&seed=18446744073709551615&rows=4096",
            "items=4&sample=2&flip=3.1,4.0&stage=2&layout=close-up",
            "machine=copy&seed=7&step=2&intervene=12%3Aread0.gate%3D1&intervene=20-%3Awrite0.erase%3D0",
            "machine=caption&page=attention",
            "machine=copy&step=3&pin=memory[5,2]",
            "machine=copy&embed=1&parts=memory,weightings,player",
            "",
        ] {
            let link = Link::parse(text).unwrap();
            assert_eq!(link.to_string(), text);
            assert_eq!(Link::parse(&format!("#{text}")), Ok(link));
        }
        let odd = Link::parse("layout=paper%2C+row%200%20at%20the%20top&&machine=a%zz").unwrap();
        assert_eq!(odd.begin.layout, Some(WindowLayout::PaperDown));
        assert_eq!(odd.machine.as_deref(), Some("a%zz"));
        assert_eq!(Link::parse(&odd.to_string()), Ok(odd));
    }

    #[test]
    fn invalid_link_part_is_named() {
        let tiny = machine(config(), copying(1..=3));
        let heads = Trace::new(&tiny.ntm.config);
        for (text, words) in [
            ("lenght=3", "`lenght`"),
            ("seed=-1", "seed=-1"),
            ("seed=18446744073709551616", "whole number"),
            ("flip=3", "STEP.CHANNEL"),
            ("layout=round", "close-up, debug, paper"),
            (
                "embed=1&parts=memory,notes",
                "parts=notes; the parts are input, ",
            ),
            ("parts=memory", "parts=memory; it needs embed=1."),
            ("page=results", "page=results; the only page is attention."),
            ("items=3", "the task copy has length"),
            ("length=0", "allows 1 to"),
            ("length=99999999", "allows 1 to"),
            ("repeats=2", "has no repeats"),
            ("sample=2", "no head of tiny samples"),
            ("rows=0", "rows=0; the machine tiny allows"),
            ("rows=99999999", "rows=99999999; the machine tiny allows"),
            ("length=2&flip=0.1,9.0", "flip=9.0; the input"),
            ("flip=0.99", "flip=0.99; the input"),
            ("stage=99", "stage=99; a step has the stages 0 to "),
            ("step=7", "step=7; the episode has steps 0 to 6."),
            ("head=R9", "head=R9; the heads are R0"),
            ("head=", "head=; the heads are R0"),
            (
                "pin=memory[99,0]",
                "pin=memory[99,0]; expected a whole number, 0 to 7",
            ),
            ("pin=memory[1]", "pin=memory[1]; expected a number"),
            ("pin=read0.gates", "pin=read0.gates; there is no array"),
            ("pin=loss", "pin=loss; expected a recorded value"),
        ] {
            let link = Link::parse(text).and_then(|link| link.beginning(&tiny));
            let begin =
                link.and_then(|begin| begin.check(7, &heads, false).map_err(|it| Link::lacks(&it)));
            let sentence = begin.unwrap_err();
            assert!(sentence.contains(words), "{text}: {sentence}");
            let is_one = sentence.ends_with('.') && !sentence.contains("..");
            assert!(is_one, "{text}: {sentence}");
        }
    }

    #[test]
    fn link_to_trace_has_address_and_position() {
        let mut state = State::new(
            vec![machine(config(), copying(1..=3))],
            Some(1),
            Settings::default(),
            StartOptions::default(),
            None,
        );
        let mut open = opened(config(), 3, 1);
        Arc::make_mut(&mut open.shown).address = Some("some traces/a.json".to_owned());
        state.session.open = Some(open);
        state.player.load(7, 3);
        state.player.seek(4);
        let link = Link::of(&state).unwrap().at("http://x/");
        let (before, behind) = link.split_once('#').unwrap();
        assert_eq!(before, "http://x/?trace=some+traces%2Fa.json");
        let again = Link::parse(behind).unwrap();
        assert_eq!(again.begin.step, Some(4));
        assert_eq!(
            again.place_in("a.json").map(|begin| begin.step),
            Ok(Some(4))
        );
        for (address, text, words) in [
            ("", "step=3", "?trace= without a file"),
            ("a.json", "machine=copy&step=3", "machine=copy"),
            (
                "a.json",
                "seed=3",
                "step, stage, head, pin, layout, embed, parts.",
            ),
        ] {
            let place = Link::parse(text).unwrap().place_in(address);
            let sentence = place.map(|_| ()).unwrap_err();
            assert!(sentence.contains(words), "{text}: {sentence}");
        }
    }
}
