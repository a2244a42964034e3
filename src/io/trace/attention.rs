//! Attention of other programs: a file of weights, or of the links of an alignment, with the tokens that they are of.
//!
//! | file | contents |
//! |---|---|
//! | `.npy` | weights [steps, source], [heads, steps, source] or [layers, heads, steps, source] |
//! | text | a matrix: a line for each step, numbers separated by blanks, tabs, commas or semicolons |
//! | text | links in the Pharaoh format: a line for each pair of sentences, `0-0 1p2`; `p` is a possible link |

use std::path::PathBuf;

use serde_json::json;

use super::format::{FORMAT, VERSION};
use super::imported::Imported;
use super::read::with_source;
use super::source::{ArraySource, Fault, check_shape};
use super::table::Described;
use crate::io::error::short;
use crate::io::npy::{self, MAGIC, header, number};
use crate::io::{Error, file, memory_limit};
use crate::task::{Link, Links, MAX_LENGTH};
use crate::train::LARGEST_RECORDING;

/// Most heads of all layers.
const MOST_HEADS: usize = 2048;
/// Most different tokens of a side.
const MOST_TOKENS: usize = 1022;
/// Most tokens of a sentence of which only the links are known.
const UNNAMED: usize = 1000;
/// Most bytes of a text and of an array, and most characters of a token.
const TEXT_LIMIT: u64 = 256 << 20;
const LIMIT: u64 = 2 << 30;
const TOKEN: usize = 240;
/// The largest difference from 1 of the weights of a step: that of half precision.
const SLACK: f64 = 1e-2;
/// The machine files of attention within a sequence, and of attention to another one.
const PAGES: [(&str, &str); 2] = [
    (
        "self_attention_weights.machine",
        include_str!("pages/self_attention_weights.machine"),
    ),
    (
        "cross_attention_weights.machine",
        include_str!("pages/cross_attention_weights.machine"),
    ),
];

/// The tokens of a side, or the links of a pair of sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// Those of a text file, separated by blanks and lines.
    File(PathBuf),
    /// These.
    Given(Vec<String>),
}

/// Tokens and links that a file of weights does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttentionOptions {
    /// The token of each step [default: its number].
    pub tokens: Option<Words>,
    /// The tokens of another sequence, to which the steps attend [default: as many steps as tokens attend to each other].
    pub source: Option<Words>,
    /// The known links of the alignment.
    pub links: Option<Words>,
    /// The line of every text file with a sentence in each line, from 1 [default: 1 with links, otherwise a file is one text].
    pub line: Option<usize>,
    /// The number of the first token in links, 0 or 1.
    pub first: usize,
    /// That of the known links [default: the same].
    pub links_first: Option<usize>,
}

impl AttentionOptions {
    /// The words of a field, with the label of their file or of the field.
    fn words(
        &self,
        of: Option<&Words>,
        field: &str,
    ) -> Result<Option<(String, Vec<String>)>, Error> {
        Ok(match of {
            None => None,
            Some(Words::Given(words)) => Some((field.to_owned(), words.clone())),
            Some(Words::File(path)) => {
                let (label, text) = (file::label(path), file::read_text(path, TEXT_LIMIT)?);
                let text = file::without_mark(&text);
                let text = self
                    .line
                    .map_or(Ok(text), |line| self.line_of(text, line, &label))?;
                Some((label, text.split_whitespace().map(str::to_owned).collect()))
            }
        })
    }

    /// The line with this number, from 1, of a file with as many lines as the others.
    fn line_of<'a>(&self, text: &'a str, line: usize, label: &str) -> Result<&'a str, Error> {
        let count = text.lines().count();
        let files = [&self.tokens, &self.source, &self.links].into_iter();
        let first = files.flatten().find_map(|words| match words {
            Words::File(path) => Some(path),
            Words::Given(_) => None,
        });
        // All are compared with the first.
        if let Some(path) = first.filter(|path| file::label(path) != label) {
            let other = file::read_text(path, TEXT_LIMIT)?.lines().count();
            if other != count {
                let other_file = file::label(path);
                let problem = format!(
                    "has {count} lines, but {other_file} has {other}; expected one for each pair of sentences, an empty one of a sentence without links"
                );
                return Err(Error::content(label, "", problem));
            }
        }
        text.lines().nth(line.wrapping_sub(1)).ok_or_else(|| {
            let problem = format!("is missing; the file has {count} lines, numbered from 1");
            Error::content(label, format!("line {line}"), problem)
        })
    }

    /// Refuses files of tokens that are given with a trace.
    pub(super) fn check_trace(&self, label: &str) -> Result<(), Error> {
        if *self == Self::default() {
            return Ok(());
        }
        let problem = "is a trace, which has its own tokens; files of tokens and links belong to weights: .npy, a matrix, or links";
        Err(Error::content(label, "", problem))
    }
}

/// Reads such a file, already in memory; `label` stands for it in messages.
///
/// # Errors
/// The file, the place, what was found and what was expected.
pub(in crate::io) fn from_bytes(
    bytes: Vec<u8>,
    options: &AttentionOptions,
    label: &str,
) -> Result<Imported, Error> {
    let fail = |problem: String| Error::content(label, "", problem);
    if bytes.starts_with(&MAGIC[..6]) {
        let attention = Attention::of_npy(&bytes).map_err(fail)?;
        return attention.imported(options, label);
    }
    if bytes.len() as u64 > TEXT_LIMIT {
        let most = TEXT_LIMIT >> 20;
        return Err(fail(format!(
            "is larger than the limit of {most} MB for text; expected .npy"
        )));
    }
    let text = file::text(bytes).map_err(fail)?;
    let text = file::without_mark(&text);
    if !file::words(text).next().is_some_and(file::is_link) {
        let attention = Attention::of_matrix(text).map_err(|fault| fault.of(label))?;
        return attention.imported(options, label);
    }
    let line = options.line.unwrap_or(1);
    let options = AttentionOptions {
        line: Some(line),
        ..options.clone()
    };
    let source = options.words(options.source.as_ref(), "source")?;
    let sides = [source, options.words(options.tokens.as_ref(), "tokens")?];
    let lengths = sides.map(|side| side.map(|(_, words)| words.len()));
    let most = lengths.map(|length| length.unwrap_or(UNNAMED));
    let words = options.line_of(text, line, label)?.split_whitespace();
    let found = Link::parse_all(words, most, options.first);
    let links = found.map_err(|problem| Error::content(label, format!("line {line}"), problem))?;
    let shown = |side: usize| {
        links
            .iter()
            .map(|link| link.ends[side] + 1)
            .max()
            .unwrap_or(0)
    };
    let lengths = [0, 1].map(|side| lengths[side].unwrap_or_else(|| shown(side)));
    let attention = Attention::of_links(&links, lengths).map_err(fail)?;
    attention.imported(&options, label)
}

/// Weights with their sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// Layers, heads of each, steps, and tokens to which these attend.
    shape: [usize; 4],
    /// In this order. Those of a step sum to 1, but for links.
    weights: Vec<f32>,
    are_links: bool,
}

impl Attention {
    /// Weights of this shape, [layers, heads, steps, source]; without the first axes those of one layer, or of one head.
    ///
    /// # Errors
    /// Another number of axes, of heads or of values; too many tokens; a batch of several.
    pub fn new(shape: &[usize], weights: Vec<f32>) -> Result<Self, String> {
        let shape = match *shape {
            [steps, source] => [1, 1, steps, source],
            [heads, steps, source] => [1, heads, steps, source],
            [layers, heads, steps, source] | [layers, 1, heads, steps, source] => {
                [layers, heads, steps, source]
            }
            [_, batch, ..] if shape.len() == 5 => {
                return Err(format!(
                    "is a batch of {batch}; expected one sequence, without its padding"
                ));
            }
            _ => {
                return Err(format!(
                    "has the shape {shape:?}; expected [steps, source], [heads, steps, source] or [layers, heads, steps, source]"
                ));
            }
        };
        let heads = shape[0].saturating_mul(shape[1]);
        if heads > MOST_HEADS {
            let most = MOST_HEADS;
            return Err(format!(
                "has {heads} heads; expected at most {most}: some of the layers, or the mean of their heads"
            ));
        }
        let count = shape.into_iter().fold(1, usize::saturating_mul);
        if count != weights.len() || count == 0 || shape[2].max(shape[3]) > MAX_LENGTH {
            let found = weights.len();
            return Err(format!(
                "has {found} weights in the shape {shape:?}; expected one for each step and token, of 1 to {MAX_LENGTH} each"
            ));
        }
        Ok(Self {
            shape,
            weights,
            are_links: false,
        })
    }

    /// An array file: any floats, bfloat16 too, or whole numbers, row-major or column-major.
    fn of_npy(mut bytes: &[u8]) -> Result<Self, String> {
        const ALLOWED: &str = "<f2, <f4, <f8, bfloat16 (V2) and whole numbers";
        let header = header(&mut bytes, ALLOWED)?;
        // NumPy has no name for bfloat16: two bytes of an unknown kind, the upper half of an f32.
        let bfloat16 = |value: &[u8]| {
            f32::from_bits(u32::from(u16::from_le_bytes(npy::le(value))) << 16).into()
        };
        let number = number(&header.kind).or(header.kind.ends_with("V2").then_some((2, bfloat16)));
        let (width, number) = number.ok_or_else(|| npy::other_kind(&header.kind, ALLOWED))?;
        claim((2 * width as u64 + 4) * (bytes.len() / width) as u64)?;
        let values = npy::values(bytes, &header, width, LIMIT)?;
        let weights = values.chunks(width).map(|value| number(value) as f32);
        Self::new(&header.shape, weights.collect())
    }

    /// The matrix of one head, a step in each line.
    fn of_matrix(text: &str) -> Result<Self, Fault> {
        let (mut weights, mut steps, mut source) = (Vec::<f32>::new(), 0, 0);
        for (line, place) in text.lines().zip(1..) {
            let fail = |problem| Fault {
                within: format!("line {place}"),
                problem,
            };
            let before = weights.len();
            for word in file::words(line) {
                let problem = || {
                    format!(
                        "has `{}`; expected numbers, separated by blanks, tabs or commas",
                        short(word)
                    )
                };
                weights.push(word.parse().map_err(|_| fail(problem()))?);
            }
            let count = weights.len() - before;
            if count > 0 && steps > 0 && count != source {
                return Err(fail(format!(
                    "has {count} numbers; expected {source}, as in the first line"
                )));
            }
            steps += usize::from(count > 0);
            source = source.max(count);
        }
        Ok(Self::new(&[steps, source], weights)?)
    }

    /// The same weight on each token that a step is linked to; `lengths` are the numbers of tokens of source and target.
    fn of_links(links: &[Link], [source, steps]: [usize; 2]) -> Result<Self, String> {
        let bytes = 4 * (steps as u64).saturating_mul(source as u64);
        if bytes > LIMIT || bytes == 0 {
            let most = LIMIT >> 20;
            return Err(format!(
                "has links of {steps} tokens to {source}; expected at least one of each, and at most {most} MB of weights"
            ));
        }
        claim(bytes)?;
        let mut weights = vec![0.0; steps * source];
        for Link {
            ends: [from, to], ..
        } in links
        {
            weights[to * source + from] = 1.0;
        }
        for step in weights.chunks_mut(source) {
            let count = step.iter().sum::<f32>().max(1.0);
            step.iter_mut().for_each(|weight| *weight /= count);
        }
        Ok(Self {
            are_links: true,
            ..Self::new(&[steps, source], weights)?
        })
    }

    /// Checks the weights, and scales those of every step to the sum 1.
    fn normalize(&mut self) -> Result<(), Fault> {
        let [_, heads, steps, source] = self.shape;
        for (index, row) in self.weights.chunks_mut(source).enumerate() {
            let (head, step) = (index / steps, index % steps);
            let within = || format!("layer {}, head {}, step {step}", head / heads, head % heads);
            let fail = |problem| {
                Err(Fault {
                    within: within(),
                    problem,
                })
            };
            let mut weights = row.iter().enumerate();
            if let Some((token, weight)) =
                weights.find(|(_, weight)| !(0.0..=f32::MAX).contains(*weight))
            {
                return fail(format!(
                    "has the weight {weight} of token {token}; expected 0 to 1, of a sequence without padding"
                ));
            }
            let sum: f64 = row.iter().copied().map(f64::from).sum();
            if (sum - 1.0).abs() > SLACK && !self.are_links {
                return fail(format!(
                    "has weights that sum to {sum:.3}; expected 1: weights after the softmax, without dropout and without padding"
                ));
            }
            let sum = if self.are_links { 1.0 } else { sum };
            row.iter_mut()
                .for_each(|weight| *weight = (f64::from(*weight) / sum) as f32);
        }
        Ok(())
    }

    /// Refuses tokens at the end without weight in any head: masked padding. One head alone may be rounded.
    fn check_padding(&self) -> Result<(), Fault> {
        let [layers, heads, _, source] = self.shape;
        let is_weighted = |token: &usize| {
            let mut steps = self.weights.chunks(source);
            steps.any(|weights| weights[*token] > 0.0)
        };
        let tokens = (0..source)
            .rev()
            .find(is_weighted)
            .map_or(0, |last| last + 1);
        if tokens < source && layers * heads > 1 {
            return Err(Fault {
                within: format!("token {tokens}"),
                problem: format!(
                    "has no weight in any head, nor has a later one; expected a sequence without its padding: the weights [.., :{tokens}]"
                ),
            });
        }
        Ok(())
    }

    /// Checks that a trace of `t` steps is not too large to be shown.
    fn check_memory(&self, t: usize, label: &str) -> Result<(), Error> {
        let [layers, heads, steps, source] = self.shape;
        // Content and weighting of each head, their mean and maximum; then what is seen and answered.
        let rows = (2 * layers * heads + 2).saturating_mul(source);
        let values = rows.saturating_add(2 * (source + MOST_TOKENS));
        let bytes = (4 * t as u64).saturating_mul(values as u64);
        if bytes > LARGEST_RECORDING {
            let problem = format!(
                "takes {} MB to show: {steps} steps of {heads} heads in {layers} layers, with {source} tokens; expected at most {} MB: a part of the \
                 sequence, or fewer heads",
                bytes >> 20,
                LARGEST_RECORDING >> 20
            );
            return Err(Error::content(label, "", problem));
        }
        Ok(())
    }

    /// The trace of these weights; `label` stands for them in messages.
    ///
    /// # Errors
    /// Weights that are no shares of 1; numbers of tokens that differ; links to others; too many different tokens; not enough memory.
    pub fn imported(mut self, options: &AttentionOptions, label: &str) -> Result<Imported, Error> {
        self.normalize().map_err(|fault| fault.of(label))?;
        let [layers, heads, steps, source] = self.shape;
        let line = options.line.or(options.links.is_some().then_some(1));
        let options = AttentionOptions {
            line,
            ..options.clone()
        };
        let is_self = steps == source
            && !self.are_links
            && options.source.is_none()
            && options.links.is_none();
        let tokens = options.words(options.tokens.as_ref(), "tokens")?;
        let tokens = tokens
            .map(|words| Side::new(words, (steps, "steps"), label))
            .transpose()?;
        let from = options.words(options.source.as_ref(), "source")?;
        let from = from
            .map(|words| Side::new(words, (source, "source tokens"), label))
            .transpose()?;
        let found = options.words(options.links.as_ref(), "links")?;
        let links = found.map(|(of, words)| {
            let words = words.iter().map(String::as_str);
            let first = options.links_first.unwrap_or(options.first);
            let links = Link::parse_all(words, [source, steps], first);
            let place = line.map_or_else(String::new, |line| format!("line {line}"));
            links.map_err(|problem| Error::content(&of, place, problem))
        });
        let links = links.transpose()?;
        self.check_padding().map_err(|fault| fault.of(label))?;

        let known = tokens.is_some() || from.is_some();
        let tokens = tokens.unwrap_or_else(|| Side::numbered(steps, known));
        let from = from.unwrap_or_else(|| Side::numbered(source, known));
        let before = if is_self { 0 } else { source };
        let t = before + steps;
        self.check_memory(t, label)?;
        let mut params =
            json!({"file": "tokens", "sha256": "0".repeat(64), "number": null, "tokens": "words"});
        let (mut switches, mut phases) = (
            json!({}),
            json!([["input", 0, source], ["answer", source, t]]),
        );
        if is_self {
            let mut rows = self.weights.chunks(source).enumerate();
            let is_causal = rows.all(|(row, weights)| {
                weights[row % steps + 1..]
                    .iter()
                    .all(|weight| *weight == 0.0)
            });
            switches["mask"] = ["full", "causal"][usize::from(is_causal && steps > 1)].into();
            params["text_symbols"] = tokens.known.join(" ").into();
            phases = json!([["input", 0, t]]);
        } else {
            params["source_symbols"] = from.known.join(" ").into();
            params["target_symbols"] = tokens.known.join(" ").into();
        }
        let name = if !known {
            "attention"
        } else if is_self {
            "text"
        } else {
            "pairs"
        };
        let answer = if known { "symbols" } else { "bits" };
        let (file, text) = PAGES[usize::from(!is_self)];
        let meta = json!({
            "format": FORMAT,
            "version": VERSION,
            "task": {"name": name, "params": params, "length": source, "answer": answer, "seed": null, "episode": null},
            "model": {"kind": "equations", "file": file, "text": text, "sizes": {"layers": layers}, "heads": {"read": heads}, "switches": switches},
            "axes": {"t": {"size": t, "phases": phases}, "n": {"size": source}},
            "arrays": {},
        });
        let mut arrays = Arrays {
            attention: self,
            sides: [tokens, from],
            before,
        };
        let mut imported = with_source(&meta.to_string(), label, &mut arrays)?;
        let recording = &mut imported.recording;
        // Made of the weights, they are in the trace as these are.
        for names in [&mut recording.computed, &mut recording.absent] {
            names.retain(|name| !["mean", "maximum"].contains(&&**name));
        }
        if let Some(links) = links {
            let links = Links::between_tokens(&links, before..t);
            recording.episode.set_links(links);
        }
        Ok(imported)
    }
}

fn claim(bytes: u64) -> Result<(), String> {
    memory_limit::claim(bytes, 0).map_err(|short| format!("to read it {short}"))
}

impl Fault {
    fn of(self, label: &str) -> Error {
        Error::content(label, self.within, self.problem)
    }
}

/// The tokens of a sequence: the different ones, and the number of each among these.
struct Side {
    known: Vec<String>,
    codes: Vec<usize>,
}

impl Side {
    /// The tokens of a file `of`; `label` has weights of this many.
    fn new(
        (of, words): (String, Vec<String>),
        (length, each): (usize, &str),
        label: &str,
    ) -> Result<Self, Error> {
        let fail = |problem: String| Err(Error::content(&of, "", problem));
        let count = words.len();
        if count != length {
            return fail(format!(
                "has {count} tokens; {label} has weights of {length} {each}; expected one for each, special tokens too; of a file with a sentence in each line, the option `line` chooses one"
            ));
        }
        let mut all = Self {
            known: Vec::new(),
            codes: Vec::new(),
        };
        for word in &words {
            let is_hidden = |next: char| next.is_whitespace() || next.is_control();
            let shown = word
                .chars()
                .map(|next| if is_hidden(next) { '\u{2423}' } else { next });
            if word.chars().count() > TOKEN {
                return fail(format!(
                    "has a token of {} characters; expected at most {TOKEN}",
                    word.chars().count()
                ));
            }
            let mut shown: String = shown.collect();
            if shown.is_empty() {
                shown.push('\u{2205}');
            }
            let code = all.known.iter().position(|known| *known == shown);
            all.codes.push(code.unwrap_or(all.known.len()));
            all.known.extend(code.is_none().then_some(shown));
            if all.known.len() > MOST_TOKENS {
                let most = MOST_TOKENS;
                return fail(format!(
                    "has more than {most} different tokens; expected a part of the sequence"
                ));
            }
        }
        Ok(all)
    }

    /// Tokens that are numbers, if the other side has tokens; without names, if there are too many.
    fn numbered(length: usize, has_names: bool) -> Self {
        let all = if has_names && length <= MOST_TOKENS {
            length
        } else {
            0
        };
        Self {
            known: (0..all).map(|token| token.to_string()).collect(),
            codes: (0..length).map(|token| token.min(all)).collect(),
        }
    }

    /// The channels of a task with these symbols, an unknown one, and one more.
    fn channels(&self) -> usize {
        self.known.len() + 2
    }

    /// The tokens in the steps from `start` on, [steps, channels].
    fn one_hot(&self, steps: usize, start: usize) -> Vec<f32> {
        let mut values = vec![0.0; steps * self.channels()];
        for (step, code) in self.codes.iter().enumerate() {
            values[(start + step) * self.channels() + code] = 1.0;
        }
        values
    }
}

/// The arrays of such a trace.
struct Arrays {
    attention: Attention,
    /// The tokens of the steps, and of the source.
    sides: [Side; 2],
    /// The steps before the first that has weights.
    before: usize,
}

impl Arrays {
    /// The number of the head whose weights an array has.
    fn head(&self, array: &str) -> Option<usize> {
        let (head, part) = array.strip_prefix("read")?.split_once('.')?;
        let [layers, heads, ..] = self.attention.shape;
        let head = head.parse().ok().filter(|head| *head < layers * heads);
        head.filter(|_| ["content", "weighting"].contains(&part))
    }
}

impl ArraySource for Arrays {
    fn has(&self, array: &str) -> bool {
        match array {
            "input" => true,
            "output" | "logit" | "mask" => self.before > 0,
            _ => self.head(array).is_some(),
        }
    }

    fn names(&self) -> Vec<String> {
        let heads = 0..self.attention.shape[0] * self.attention.shape[1];
        let parts = |head| ["content", "weighting"].map(|part| format!("read{head}.{part}"));
        let others = ["input", "output", "logit", "mask"].map(str::to_owned);
        let all = others.into_iter().chain(heads.flat_map(parts));
        all.filter(|name| self.has(name)).collect()
    }

    fn shape(&mut self, array: &str) -> Option<Vec<usize>> {
        let [.., steps, source] = self.attention.shape;
        let t = self.before + steps;
        self.has(array).then(|| match array {
            "mask" => vec![t],
            "input" => vec![t, self.sides[usize::from(self.before > 0)].channels()],
            "output" | "logit" => vec![t, self.sides[0].channels()],
            _ => vec![t, source],
        })
    }

    fn values(&mut self, expected: &Described) -> Result<Vec<f32>, Fault> {
        let [.., steps, source] = self.attention.shape;
        let (before, t) = (self.before, self.before + steps);
        check_shape(
            &self.shape(&expected.name).unwrap_or_default(),
            &expected.shape,
        )?;
        Ok(match &*expected.name {
            "mask" => [vec![0.0; before], vec![1.0; steps]].concat(),
            "input" => self.sides[usize::from(before > 0)].one_hot(t, 0),
            // Before the answer, logits are 0.
            name @ ("output" | "logit") => {
                let (of_symbols, channels) =
                    (!self.sides[0].known.is_empty(), self.sides[0].channels());
                let share = if of_symbols {
                    1.0 / channels as f32
                } else {
                    0.5
                };
                let none = if name == "logit" { 0.0 } else { share };
                let logit = |value: f32| match (value > 0.0, of_symbols) {
                    (false, _) => f32::NEG_INFINITY,
                    (true, true) => 0.0,
                    (true, false) => f32::INFINITY,
                };
                let mut values = self.sides[0].one_hot(t, before);
                let (source, answer) = values.split_at_mut(before * channels);
                source.fill(none);
                if name == "logit" {
                    answer.iter_mut().for_each(|value| *value = logit(*value));
                }
                values
            }
            array => {
                let start = self.head(array).unwrap_or_default() * steps * source;
                let own = &self.attention.weights[start..start + steps * source];
                [&vec![0.0; before * source], own].concat()
            }
        })
    }
}
