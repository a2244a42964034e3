//! What a preset says of a machine file: its name and text, and the values of its keys.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::compiled::Compiled;
use super::familiar::{Familiar, Memory, Rows};
use super::interned;
use super::parts::{Offer, Part, Unfit};
use super::quantities::Quantity;
use super::settings::Settings;
use super::trial;
use crate::equations::bind::lengths;
use crate::equations::included::{included, whole};
use crate::equations::page::{Key, Page, Word};
use crate::equations::text::Mistake;
use crate::keys::Field::{ChoicePerHead, Integer, Text, Within};
use crate::keys::{Choices, ConfigError, Keys, Table};
use crate::model::array;
use crate::model::attention::Mechanism;
use crate::model::axis::Sizes;
use crate::model::config::Order;
use crate::model::kind::Kind;
use crate::model::shape::Shape;
use crate::model::spec::{Array, Place};
use crate::model::tape::FileWords;

/// The machine that stands for all of its kind until a file is named.
const EXAMPLE: &str = "tape_reader.machine";

/// A machine whose equations stand in a file.
#[derive(Clone, Debug)]
pub struct EquationsConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Steps of the question of a task about a document.
    pub question: usize,
    /// The name of the file.
    pub file: String,
    /// Its text, with the components that it uses.
    pub text: String,
    settings: Settings,
    /// Steps of an episode, and those of its source.
    lengths: [usize; 2],
    /// The lengths of all axes in this episode, once they were asked for.
    axes: Option<Arc<[usize]>>,
    compiled: Option<Arc<Compiled>>,
}

impl PartialEq for EquationsConfig {
    fn eq(&self, other: &Self) -> bool {
        let of = |own: &Self| (own.inputs, own.outputs, own.question, own.lengths);
        of(self) == of(other)
            && (&self.file, &self.text, &self.settings)
                == (&other.file, &other.text, &other.settings)
    }
}

/// The words of a switch, and what is chosen for each head.
struct Words {
    words: Vec<&'static str>,
    chosen: Vec<&'static str>,
}

impl Choices for Words {
    fn words(&self) -> Vec<&'static str> {
        self.words.clone()
    }

    fn chosen(&self) -> Vec<&'static str> {
        self.chosen.clone()
    }

    fn choose(&mut self, word: &str) -> bool {
        let known = self.words.iter().find(|own| **own == word);
        known.is_some_and(|word| {
            self.chosen = vec![word];
            true
        })
    }

    fn choose_each(&mut self, words: &[String]) -> Result<(), String> {
        let of = |word: &String| {
            let known = self.words.iter().find(|own| *own == word);
            known.copied().ok_or_else(|| word.clone())
        };
        let chosen: Vec<_> = words.iter().map(of).collect::<Result<_, _>>()?;
        if chosen.is_empty() {
            return Err(String::new());
        }
        self.chosen = chosen;
        Ok(())
    }
}

impl EquationsConfig {
    /// A machine without a file.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            question: 1,
            file: String::new(),
            text: String::new(),
            settings: Settings {
                numbers: BTreeMap::new(),
                choices: BTreeMap::new(),
            },
            lengths: [2, 1],
            axes: None,
            compiled: None,
        }
    }

    /// A machine under these choices, in episodes with this many steps, channels and steps of a source.
    fn in_trial(compiled: &Arc<Compiled>, steps: usize) -> Self {
        Self {
            lengths: [steps; 2],
            compiled: Some(Arc::clone(compiled)),
            ..Self::new(steps, steps)
        }
    }

    /// The machine in this file.
    ///
    /// # Errors
    /// A mistake in the file.
    pub fn of_file(file: &str, text: &str) -> Result<Self, String> {
        let mut config = Self::new(1, 1);
        (config.file, config.text) = (file.to_owned(), text.to_owned());
        config.compile().map_err(|mistake| mistake.to_string())?;
        Ok(config)
    }

    /// The machine in an included file of this name (`bahdanau`), for these numbers of inputs and outputs, with these sizes,
    /// heads, constants and switches, each by its path (`encoder.units`, `4`).
    ///
    /// # Errors
    /// There is no such file or key, or the mistake that a value makes.
    pub fn included(
        name: &str,
        [inputs, outputs]: [usize; 2],
        set: &[(&str, &str)],
    ) -> Result<Self, String> {
        let file = format!("{name}.machine");
        let text = whole(name).ok_or_else(|| format!("no included file {file}"))??;
        let mut config = Self::of_file(&file, &text)?;
        (config.inputs, config.outputs) = (inputs, outputs);
        config.compile().map_err(|mistake| mistake.to_string())?;
        // Defaults of the file are no settings.
        let defaults = config.clone();
        for (path, value) in set {
            let (key, own) = (defaults.key(path), (*path).to_owned());
            if let Ok(number) = value.parse::<f64>() {
                if key.is_none_or(|key| key.value != number) {
                    config.settings.numbers.insert(own, number);
                }
            } else {
                let words: Vec<String> = value.split(' ').map(str::to_owned).collect();
                let is_chosen = |key: &Key| key.chosen.iter().map(|word| &**word).eq(&words);
                if !key.is_some_and(is_chosen) {
                    config.settings.choices.insert(own, words);
                }
            }
        }
        config.compile().map_err(|mistake| mistake.to_string())?;
        for (path, value) in set {
            let none = || format!("{file} has no key {path}");
            let key = config.key(path).ok_or_else(none)?;
            let [least, most] = key.range;
            let is_inside = |value: f64| (least..=most).contains(&value);
            if value.parse().is_ok_and(|value| !is_inside(value)) {
                return Err(format!(
                    "{file}: {path} = {value}; allowed: {least}..{most}"
                ));
            }
        }
        Ok(config)
    }

    /// What the file means.
    pub fn compiled(&self) -> &Arc<Compiled> {
        static EXAMPLES: LazyLock<Option<Arc<Compiled>>> = LazyLock::new(|| {
            trial::compiled(
                EXAMPLE,
                included(EXAMPLE)?,
                &Settings::default(),
                EquationsConfig::in_trial,
            )
            .ok()
        });
        let example = || {
            EXAMPLES
                .as_ref()
                .unwrap_or_else(|| unreachable!("the example is checked"))
        };
        self.compiled.as_ref().unwrap_or_else(example)
    }

    /// Reads the file under the present settings.
    fn compile(&mut self) -> Result<(), Mistake> {
        let compiled = trial::compiled(&self.file, &self.text, &self.settings, Self::in_trial)?;
        self.compiled = Some(compiled);
        self.axes = None;
        Ok(())
    }

    /// Checks the file under the present choices. Returns what fits but is often a mistake.
    ///
    /// # Errors
    /// A mistake in the file.
    pub fn check(&self) -> Result<Vec<String>, String> {
        let compiled = trial::compiled(&self.file, &self.text, &self.settings, Self::in_trial);
        let checked = compiled.and_then(|compiled| compiled.check());
        let text = |mistake: Mistake| mistake.to_string();
        checked
            .map(|all| all.into_iter().map(text).collect())
            .map_err(text)
    }

    /// Whether the data of the file are those of a task.
    ///
    /// # Errors
    /// What does not fit.
    pub fn fits(&self, offer: Offer) -> Result<(), Unfit> {
        self.compiled().fits(offer)
    }

    pub(super) fn offer(&self) -> Offer {
        Offer {
            inputs: self.inputs,
            outputs: self.outputs,
            answers_last: true,
            document: None,
            has_one_answer: true,
        }
    }

    /// The lengths of all axes in an episode.
    pub(super) fn axis_lengths(&self, sizes: [usize; 2]) -> Arc<[usize]> {
        if let Some(axes) = self.axes.as_ref().filter(|_| self.lengths == sizes) {
            return Arc::clone(axes);
        }
        let compiled = self.compiled();
        let given = compiled.given(sizes, self.offer(), self.question);
        lengths(&compiled.page, &compiled.program, &given).into()
    }

    fn key(&self, name: &str) -> Option<&Key> {
        self.compiled().page.key(name)
    }

    /// Sets a size on which no tensor depends.
    ///
    /// # Errors
    /// There is no such size, or it is out of range.
    pub fn set_size(&mut self, name: &str, size: usize) -> Result<(), ConfigError> {
        let compiled = Arc::clone(self.compiled());
        let free: Vec<_> = compiled.free_sizes().collect();
        let Some((_, own, range)) = free.iter().find(|own| own.0 == name) else {
            let names: Vec<&str> = free.iter().map(|own| own.0).collect();
            let allowed = match &names[..] {
                [] => "none, because every size is one of a tensor".to_owned(),
                names => format!("{}; the tensors depend on all others", names.join(", ")),
            };
            return Err(ConfigError {
                field: "size".to_owned(),
                found: name.to_owned(),
                allowed,
            });
        };
        if size == *own {
            return Ok(());
        }
        ConfigError::unless((range[0]..=range[1]).contains(&size), name, size, || {
            format!("{} to {}", range[0], range[1])
        })?;
        let mut settings = self.settings.clone();
        settings.numbers.insert(name.to_owned(), size as f64);
        let make = || trial::compiled(&self.file, self.source(), &settings, Self::in_trial);
        let resized = compiled.with_size(name, size, make);
        self.compiled = Some(resized.map_err(|mistake| ConfigError {
            field: name.to_owned(),
            found: size.to_string(),
            allowed: format!("what the file can have: {mistake}"),
        })?);
        (self.settings, self.axes) = (settings, None);
        Ok(())
    }

    fn source(&self) -> &str {
        if self.text.is_empty() {
            included(EXAMPLE).unwrap_or_default()
        } else {
            &self.text
        }
    }
}

/// The section of a preset with the keys of this kind.
fn section(word: Word) -> &'static str {
    match word {
        Word::Size => "sizes",
        Word::Heads => "heads",
        Word::Constant => "constants",
        Word::Switch | Word::Entries => "switches",
    }
}

impl Keys for EquationsConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        let before = (self.file.clone(), self.text.clone());
        to.required("file", Text(&mut self.file), "name of the machine file, which lies beside the preset (docs/equations.md); its keys are under `sizes`, `heads`, `switches` and `constants`");
        let is_changed = |own: &Self| (&own.file, &own.text) != (&before.0, &before.1);
        if !self.text.is_empty() {
            if self.compiled.is_none() || is_changed(self) {
                let _ = self.compile();
            }
            let compiled = Arc::clone(self.compiled());
            self.switches(&compiled.page, to);
            let compiled = Arc::clone(self.compiled());
            self.numbers(&compiled, to);
        }
        to.key(
            "text",
            Text(&mut self.text),
            "text of the file with its components; read from the file where it is left out",
        );
        if is_changed(self) && !self.text.is_empty() {
            let _ = self.compile();
        }
    }
}

impl EquationsConfig {
    /// Enters the switches; what is chosen decides which other keys there are.
    fn switches(&mut self, page: &Page, to: &mut Table<'_>) {
        let before = self.settings.choices.clone();
        let mut to = to.section("switches");
        let mut all: Vec<&Key> = page
            .keys
            .iter()
            .filter(|key| key.is_switch() && key.is_settable())
            .collect();
        all.sort_by_key(|key| &key.name);
        for key in all {
            let mut words = Words {
                words: key
                    .choices
                    .iter()
                    .map(|word| interned::text(word))
                    .collect(),
                chosen: key.chosen.iter().map(|word| interned::text(word)).collect(),
            };
            to.key(
                &key.name,
                ChoicePerHead(&mut words),
                interned::text(&key.sentence),
            );
            if words.chosen.iter().ne(key
                .chosen
                .iter()
                .map(|word| &**word)
                .collect::<Vec<_>>()
                .iter())
            {
                let chosen = words.chosen.iter().map(|word| (*word).to_owned());
                self.settings
                    .choices
                    .insert(key.name.to_string(), chosen.collect());
            }
        }
        if self.settings.choices != before {
            let _ = self.compile();
        }
    }

    /// Enters sizes, numbers of heads and constants.
    fn numbers(&mut self, compiled: &Compiled, to: &mut Table<'_>) {
        let before = self.settings.numbers.clone();
        for word in [Word::Size, Word::Heads, Word::Constant] {
            let mut to = to.section(section(word));
            let listed = compiled
                .program
                .keys
                .iter()
                .map(|key| &compiled.page.keys[*key]);
            let mut all: Vec<&Key> = listed.filter(|key| key.word == word).collect();
            all.sort_by_key(|key| &key.name);
            for key in all {
                let sentence = interned::text(&key.sentence);
                let old = self
                    .settings
                    .numbers
                    .get(&*key.name)
                    .copied()
                    .unwrap_or(key.value);
                let mut new = old;
                if word == Word::Constant {
                    to.key(
                        &key.name,
                        Within(&mut new, key.range[0]..=key.range[1]),
                        sentence,
                    );
                } else {
                    let mut size = old as usize;
                    let [least, most] = key.range.map(|end| end as usize);
                    to.key(&key.name, Integer(&mut size, least..=most), sentence);
                    new = size as f64;
                }
                if new != old {
                    self.settings.numbers.insert(key.name.to_string(), new);
                }
            }
        }
        if self.settings.numbers != before {
            let _ = self.compile();
        }
    }
}

impl Kind for EquationsConfig {
    fn sizes(&self) -> Sizes {
        let familiar = self.familiar_sizes();
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            rows: self.rows().unwrap_or(familiar.rows),
            ..familiar
        }
    }

    fn shape(&self) -> Shape {
        self.compiled().shape(&self.axis_lengths(self.lengths))
    }

    fn width(&self, place: Place, array: Array) -> usize {
        use crate::model::array::{INITIAL, INPUT, LOGIT, MEMORY, NORMS, OUTPUT};
        match (place, array) {
            (Place::Machine, INPUT) => self.inputs,
            (Place::Machine, LOGIT | OUTPUT) => self.outputs,
            (Place::Machine, MEMORY | NORMS) | (Place::Head(_), INITIAL) => {
                let Sizes { rows, columns, .. } = self.familiar_sizes();
                rows.saturating_mul(if array == MEMORY { columns } else { 1 })
            }
            _ => {
                let own = self.compiled().quantity(place, array);
                let lengths = self.axis_lengths(self.lengths);
                own.map_or(0, |(_, own)| own.width(&lengths, self.lengths))
            }
        }
    }

    fn arrays(&self) -> &'static [Array] {
        self.compiled().arrays
    }

    fn head_arrays(&self, head: usize) -> [&'static [Array]; 2] {
        let familiar = self.compiled().familiar.as_ref();
        let further = familiar.and_then(|familiar| familiar.heads.get(head));
        [further.copied().unwrap_or_default(), &[]]
    }

    fn mechanism(&self, head: usize) -> Mechanism {
        let familiar = self.compiled().familiar.as_ref();
        familiar.map_or_else(Mechanism::default, |own| own.mechanism(head))
    }

    fn order(&self) -> Order {
        let familiar = self.compiled().familiar.as_ref();
        familiar.map_or(Order::ReadFirst, Familiar::order)
    }

    fn of_rows(&self, rows: usize) -> Option<Box<dyn Kind>> {
        self.compiled().row_per_step()?;
        let is_longer = self.has_source_part() && !self.has_rows_of_both_parts();
        self.of_episode(rows.saturating_add(usize::from(is_longer)), rows)
    }

    fn episode_rows(&self, steps: usize, source: usize) -> usize {
        match self.compiled().row_per_step() {
            Some(_) if !self.has_source_part() => steps,
            _ => source,
        }
    }

    fn most_rows(&self) -> (usize, &'static str) {
        let compiled = self.compiled();
        let has_rows = compiled.row_per_step().is_some() || self.has_source_part();
        let most = compiled.most_steps().filter(|_| has_rows);
        most.unwrap_or((usize::MAX, ""))
    }

    fn is_undefined_step(&self, place: Place, array: Array, t: usize, source: usize) -> bool {
        let compiled = self.compiled();
        let own = compiled.quantity(place, array);
        // Noise is drawn in all steps.
        own.filter(|(_, own)| !own.is_noise() && !own.is_shared())
            .is_some_and(|(_, own)| {
                if !own.pieces.is_empty() {
                    let mut pieces = own.pieces.iter();
                    return !pieces.any(|piece| piece.has_step(t, source, self.question));
                }
                let (first, count) = own.rows([usize::MAX, source], self.question);
                own.time.is_some_and(|(_, part)| match part {
                    Part::Answer | Part::Last => t < source,
                    Part::Steps => false,
                    _ => !(first..first.saturating_add(count)).contains(&t),
                })
            })
    }

    fn of_episode(&self, steps: usize, source: usize) -> Option<Box<dyn Kind>> {
        let mut config = self.clone();
        config.lengths = [steps, source];
        config.axes = Some(self.axis_lengths(config.lengths));
        Some(Box::new(config))
    }

    fn first_step(&self) -> usize {
        if self.has_source_part() {
            self.lengths[1].max(1)
        } else {
            0
        }
    }

    fn has_feedback(&self) -> bool {
        self.compiled().has_feedback
    }

    fn needs_only_last_step(&self, _: Place, _: Array) -> bool {
        false
    }

    fn bytes_outside_trace(&self, steps: usize, of_value: usize) -> [u64; 2] {
        let compiled = self.compiled();
        let lengths = self.axis_lengths([steps.max(2), steps / 2]);
        let values = compiled.quantities.iter().map(|own| {
            let width = own.width(&lengths, [steps, steps]) as u64;
            let steps = if own.time.is_some() { steps as u64 } else { 1 };
            steps.saturating_mul(width)
        });
        let bytes = values
            .fold(0, u64::saturating_add)
            .saturating_mul(of_value as u64);
        [bytes, bytes.saturating_mul(2)]
    }

    fn set_rows(&mut self, rows: usize) -> Result<(), ConfigError> {
        if self.key("rows").is_none() {
            return Err(ConfigError {
                field: "memory.rows".to_owned(),
                found: rows.to_string(),
                allowed: "none, because the file has no size rows".to_owned(),
            });
        }
        self.set_size("rows", rows)
    }

    fn runs_on_any_rows(&self) -> bool {
        self.rows().is_some()
    }

    fn is_recorded_apart(&self) -> bool {
        true
    }

    fn array_sizes(&self, array: Array) -> Option<Vec<usize>> {
        let compiled = self.compiled();
        let (_, own) = compiled.quantity(Place::Machine, array)?;
        Some(self.sizes_of(own))
    }

    fn reader(&self) -> Option<Array> {
        let compiled = self.compiled();
        let reader = &compiled.quantities[compiled.reader?];
        (reader.place == Place::Machine).then_some(reader.array)
    }

    fn file_words(&self) -> FileWords {
        self.compiled().words
    }

    fn draws(&self) -> bool {
        let mut all = self.compiled().quantities.iter();
        all.any(Quantity::is_noise)
    }

    fn is_rewarded(&self) -> bool {
        self.compiled().is_rewarded()
    }

    fn warms_up(&self) -> bool {
        self.compiled().is_told("warm_up")
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
        self.axes = None;
    }
}

impl EquationsConfig {
    /// The sizes of the axes of an array, without that of the steps.
    fn sizes_of(&self, own: &Quantity) -> Vec<usize> {
        own.sizes(&self.axis_lengths(self.lengths), self.lengths[1])
    }

    /// Whether it answers after a source, or after a document.
    fn has_source_part(&self) -> bool {
        let mut data = self.compiled().data.iter();
        data.any(|data| matches!(data.part, Part::Source | Part::Document))
    }

    /// Whether its memory has a row for each step of source and answer.
    fn has_rows_of_both_parts(&self) -> bool {
        let rows = self.compiled().row_per_step();
        rows.is_some_and(Rows::are_of_both_parts)
    }

    /// The sizes of its controller, of its heads and of the rows that they see; 0 where it has none that pictures know.
    fn familiar_sizes(&self) -> Sizes {
        let compiled = self.compiled();
        let units = compiled.quantity(Place::Layer(0), array::HIDDEN);
        let lengths = self.axis_lengths(self.lengths);
        let units = units.map(|(_, own)| self.sizes_of(own).iter().product());
        let controller = Sizes {
            layers: compiled.layers,
            units: units.unwrap_or(0),
            ..Sizes::default()
        };
        let Some(familiar) = &compiled.familiar else {
            return controller;
        };
        let read_heads = familiar.read_heads();
        let heads = Sizes {
            read_heads,
            write_heads: familiar.heads.len() - read_heads,
            ..controller
        };
        let rows = match &familiar.memory {
            Memory::Steps(rows) => rows,
            Memory::Written(own) => {
                return Sizes {
                    rows: lengths[own.rows],
                    columns: lengths[own.columns],
                    shift_range: own.offsets.map_or(0, |offsets| lengths[offsets] / 2),
                    ..heads
                };
            }
        };
        Sizes {
            rows: if self.has_rows_of_both_parts() {
                self.lengths[0]
            } else {
                self.episode_rows(self.lengths[0], self.lengths[1])
            },
            columns: lengths[rows.columns],
            ..heads
        }
    }

    /// Whether training runs passes that are written by hand instead of the program of the file.
    pub fn is_fused(&self) -> bool {
        self.compiled().by_hand.is_some()
    }

    /// Whether its controller is the whole machine.
    pub fn is_controller(&self) -> bool {
        let compiled = self.compiled();
        compiled.layers > 0 && compiled.familiar.is_none()
    }

    /// The memory rows, where no tensor depends on them.
    fn rows(&self) -> Option<usize> {
        let mut free = self.compiled().free_sizes();
        free.find(|own| own.0 == "rows").map(|own| own.1)
    }
}
