//! A faster way to train in an included file: `ntm`, `dnc` and `sam` have passes that are written by hand. Where the file and
//! its choices are those of such a machine, training runs them on the weights of the file.

use std::ops::Range;

use super::by_hand::ByHand;
use super::config::EquationsConfig;
use super::pool::{Job, Purpose};
use crate::keys::Switch;
use crate::math::matrix::padded;
use crate::math::{Matrix, Real};
use crate::model::attention::ShiftForm;
use crate::model::kind::Kind;
use crate::model::machine::{Batch, Upstream, Workspace, longest};
use crate::model::params::Params;
use crate::model::shape::Shape;
use crate::model::trace::{Keep, TAPE_LIMIT, Trace};

/// A number of a tensor by hand: its matrix, its row and its column.
type Number = (usize, [usize; 2]);

/// Where the numbers of the tensors of a file stand by hand.
struct Places<'a> {
    hand: &'a ByHand,
    shape: Shape,
}

impl Places<'_> {
    /// Where the first number for result `out` of a statement stands by hand; `end` is `weight`, `bias` or `start`. Of weights
    /// the others stand below it, of starts beside it.
    fn number(&self, statement: &str, end: &str, out: usize) -> Option<Number> {
        let units = self.hand.sizes().units;
        let (head, own) = statement.split_once('.').unwrap_or(("", statement));
        let is_lstm = self
            .shape
            .tensors
            .iter()
            .any(|own| own.name == "initial.cell" && own.rows > 0);
        let layer = if is_lstm { 4 * units } else { units };
        match (own, end) {
            ("r", "start") => self.tensor("initial.read", out),
            ("M", "start") => self.tensor("initial.memory", out),
            ("h", "start") => self.tensor("initial.hidden", out),
            ("c", "start") => self.tensor("initial.cell", out),
            ("h_u", "start") => self.tensor("initial.hidden", 1 + out),
            ("c_u", "start") => self.tensor("initial.cell", 1 + out),
            ("head.w", "start") => {
                let reads = if head == "write" {
                    self.hand.read_heads()
                } else {
                    0
                };
                self.tensor("initial.weighting", reads + out)
            }
            ("h", _) if head.is_empty() => self.map("controller0", end, out),
            ("h_u", _) => {
                let name = format!("controller{}", 1 + out / layer);
                self.map(&name, end, out % layer)
            }
            ("z", _) if head.is_empty() => self.map("output", end, out),
            _ => self.of_head(head, own, end, out),
        }
    }

    fn tensor(&self, name: &str, row: usize) -> Option<Number> {
        let index = self.shape.tensors.iter().position(|own| own.name == name)?;
        Some((2 * self.shape.linears.len() + index, [row, 0]))
    }

    /// A number of the part of a linear map with this name.
    fn map(&self, name: &str, end: &str, out: usize) -> Option<Number> {
        let mut linears = self.shape.linears.iter().enumerate();
        linears.find_map(|(index, linear)| {
            let part = linear.parts.iter().position(|own| own.0 == name)?;
            let first: usize = linear.parts[..part].iter().map(|own| own.1).sum();
            let is_bias = end == "bias";
            Some((2 * index + usize::from(is_bias), [0, first + out]))
        })
    }

    /// A number of what a head takes from its controller. `kind` is that of all heads, `read`, or one of them, `read1`.
    fn of_head(&self, kind: &str, own: &str, end: &str, out: usize) -> Option<Number> {
        let digits = kind.trim_start_matches(|c: char| !c.is_ascii_digit());
        let kind = &kind[..kind.len() - digits.len()];
        // The write head of a DNC is no kind; a head of sparse access memory reads and writes.
        let kind = match kind {
            "head" if ["q", "beta"].contains(&own) => "read",
            "head" | "" => "write",
            kind => kind,
        };
        let width = |head| {
            let mut parts = widths(self.hand, kind, head).into_iter();
            parts.find(|part| part.0 == own).map(|part| part.1)
        };
        let head = match digits.parse() {
            Ok(head) => head,
            Err(_) => out.checked_div(width(0)?)?,
        };
        let parts = widths(self.hand, kind, head);
        let part = parts.iter().position(|part| part.0 == own)?;
        let first: usize = parts[..part].iter().map(|part| part.1).sum();
        let width = parts[part].1;
        let out = first + out.checked_rem(width)?;
        self.map(&format!("{kind}{head}"), end, out)
    }
}

/// What a head by hand takes from its controller: each statement of the file, and its results.
fn widths(hand: &ByHand, kind: &str, head: usize) -> Vec<(&'static str, usize)> {
    let is_on = |switch| usize::from(switch == Switch::On);
    let is_read = kind == "read";
    if let ByHand::Ntm(config) = hand {
        let head = if is_read {
            head
        } else {
            config.read_heads + head
        };
        let own = config.head_columns(head);
        let is_scalar = config.shift_form.of(head) == ShiftForm::Scalar;
        let parts = [
            ("head.k", own.key),
            ("head.beta", own.strength),
            ("head.g", own.gate),
            (if is_scalar { "head.d" } else { "head.s" }, own.shift),
            ("head.gamma", own.sharpening),
            ("e", own.erase),
            ("a", own.add),
        ];
        return parts.map(|(name, part)| (name, part.len())).to_vec();
    }
    let width = hand.columns();
    if let ByHand::Dnc(config) = hand {
        let (allocates, frees) = (is_on(config.allocation), is_on(config.free_gates));
        let (gate, modes) = (allocates * frees, 3 * is_on(config.links));
        if is_read {
            return vec![("k_r", width), ("beta_r", 1), ("f", gate), ("pi", modes)];
        }
        let gates = [("g_a", allocates), ("g_w", 1)];
        let own = [("k", width), ("beta", 1), ("e", width), ("v", width)];
        return own.into_iter().chain(gates).collect();
    }
    if is_read {
        vec![("q", width), ("beta", 1)]
    } else {
        vec![("a", width), ("alpha", 1), ("gamma", 1)]
    }
}

/// Neighbours in a matrix by hand, and their places in the list of the file.
struct Run {
    own: Range<usize>,
    /// The first number in the list, and from one to the next.
    file: usize,
    stride: usize,
}

impl Run {
    /// The runs of a matrix of which each number has this place in the list.
    fn all(places: &[Option<usize>]) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        let places = places.iter().enumerate();
        for (own, file) in places.filter_map(|(own, file)| Some((own, (*file)?))) {
            if let Some(last) = runs.last_mut().filter(|last| last.own.end == own) {
                let distance = file.saturating_sub(last.file);
                if last.own.len() == 1 && distance > 0 {
                    last.stride = distance;
                }
                if distance == last.stride * last.own.len() {
                    last.own.end += 1;
                    continue;
                }
            }
            let (own, stride) = (own..own + 1, 1);
            runs.push(Self { own, file, stride });
        }
        runs
    }

    /// Copies the numbers of the list into the matrix.
    fn copy<R: Copy>(&self, list: &[R], matrix: &mut [R]) {
        let (from, to) = (&list[self.file..], &mut matrix[self.own.clone()]);
        if self.stride == 1 {
            return to.copy_from_slice(&from[..to.len()]);
        }
        let from = from.iter().step_by(self.stride);
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }

    /// Adds the numbers of the matrix to the list.
    fn add<R: Real>(&self, matrix: &[R], list: &mut [R]) {
        let (from, to) = (&matrix[self.own.clone()], &mut list[self.file..]);
        if self.stride == 1 {
            return to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
        }
        let to = to.iter_mut().step_by(self.stride);
        to.zip(from).for_each(|(to, from)| *to += *from);
    }
}

/// A machine by hand with the weights of a file, and episodes that it has run.
pub(super) struct Fused<R> {
    hand: ByHand,
    params: Params<R>,
    gradient: Params<R>,
    /// The runs of each matrix of the weights.
    runs: Vec<Vec<Run>>,
    traces: Vec<Trace<R>>,
    workspaces: Vec<Workspace<R>>,
}

/// The matrices of weights by hand: weight and bias of each linear map, then the other tensors.
fn matrices<R>(params: &mut Params<R>) -> impl Iterator<Item = &mut Matrix<R>> {
    let linears = params.linears.iter_mut();
    let linears = linears.flat_map(|linear| [&mut linear.weight, &mut linear.bias]);
    linears.chain(&mut params.tensors)
}

impl<R: Real> Fused<R> {
    /// One for this many episodes side by side, where the file has passes by hand.
    pub(super) fn of(config: &EquationsConfig, episodes: usize) -> Option<Self> {
        let hand = config.compiled().by_hand.as_ref()?;
        let waiting = config.compiled().pool.take(Self::job(config, episodes));
        Some(waiting.unwrap_or_else(|| Self::new(config, hand.clone(), episodes)))
    }

    fn new(config: &EquationsConfig, mut hand: ByHand, episodes: usize) -> Self {
        hand.set_channels(config.inputs, config.outputs);
        let mut params = Params::zeros(&hand);
        let own = matrices(&mut params).map(|own| (padded(own.columns()), own.as_slice().len()));
        let (columns, lengths): (Vec<_>, Vec<_>) = own.unzip();
        let mut in_file: Vec<_> = lengths.iter().map(|length| vec![None; *length]).collect();
        let by_hand = Places {
            hand: &hand,
            shape: hand.shape(),
        };
        let shape = config.shape();
        for (spec, place) in shape.tensors.iter().zip(&shape.places) {
            let (statement, end) = spec.name.rsplit_once('.').unwrap_or((&*spec.name, ""));
            // A bias has a row for each result, too.
            let of_rows = place
                .lengths
                .len()
                .saturating_sub(usize::from(end != "bias"));
            let mut rows = place.clone();
            let inputs = rows.lengths.split_off(of_rows).pop().unwrap_or(1);
            let stride = rows.strides.split_off(of_rows).pop().unwrap_or(1);
            let mut out = 0;
            rows.each(|file| {
                if let Some((matrix, [row, column])) = by_hand.number(statement, end, out) {
                    let width = columns[matrix];
                    let own =
                        (row * width + column..).step_by(if end == "start" { 1 } else { width });
                    for (own, input) in own.zip(0..inputs) {
                        let file = file.checked_add_signed(stride * input.cast_signed());
                        in_file[matrix][own] = file;
                    }
                }
                out += 1;
            });
        }
        let traces = (0..episodes).map(|_| Trace::of(&*hand));
        let workspace =
            |_| Workspace::with(Upstream::new(&hand), hand.passes::<R>().scratch(), None);
        Self {
            gradient: Params::zeros(&hand),
            traces: traces.collect(),
            workspaces: (0..episodes).map(workspace).collect(),
            params,
            runs: in_file.iter().map(|places| Run::all(places)).collect(),
            hand,
        }
    }

    /// Under which it waits: for episodes of any length.
    fn job(config: &EquationsConfig, episodes: usize) -> Job {
        Job {
            purpose: Purpose::Training(episodes),
            sizes: [0; 2],
            own: None,
            channels: [config.inputs, config.outputs],
            question: 0,
        }
    }

    /// Lets it wait for the next episodes.
    pub(super) fn wait(self, config: &EquationsConfig) {
        let job = Self::job(config, self.traces.len());
        let values = self.traces.iter().flat_map(Trace::everything);
        let values: usize = values.map(|(.., series)| series.as_slice().len()).sum();
        let weights: usize = self.params.slices().map(<[R]>::len).sum();
        let demand = values + 2 * weights;
        config.compiled().pool.put(job, demand, Box::new(self));
    }

    /// Runs episodes, longest first, and takes their answers and weightings out.
    pub(super) fn run(&mut self, params: &Params<R>, episodes: &mut [Trace<R>]) {
        for (matrix, runs) in matrices(&mut self.params).zip(&self.runs) {
            let to = matrix.as_mut_slice();
            runs.iter().for_each(|run| run.copy(&params.list, to));
        }
        for (own, episode) in self.traces.iter_mut().zip(&*episodes) {
            own.setting = episode.setting;
            own.sampling = episode.sampling;
            own.resize_to_keep(&self.hand, episode.steps(), Keep::Tape(TAPE_LIMIT));
            own.input.clone_from(&episode.input);
        }
        let steps = longest(&self.traces);
        self.hand
            .passes()
            .run(&self.params, &mut self.traces, 0..steps);
        for (own, episode) in self.traces.iter().zip(episodes) {
            episode.logit.clone_from(&own.logit);
            episode.output.clone_from(&own.output);
            for (own, head) in own.heads.iter().zip(&mut episode.heads) {
                head.weighting.clone_from(&own.weighting);
            }
        }
    }

    /// The number of episodes.
    pub(super) fn episodes(&self) -> usize {
        self.traces.len()
    }

    /// Adds the gradients of the weights for these gradients of the answers.
    pub(super) fn backward(&mut self, workspaces: &[Workspace<R>], gradient: &mut Params<R>) {
        for (own, workspace) in self.workspaces.iter_mut().zip(workspaces) {
            let (own, upstream) = (&mut own.upstream, &workspace.upstream);
            own.logit.clone_from(&upstream.logit);
            own.weightings.clone_from(&upstream.weightings);
            own.terms = upstream.terms;
        }
        self.gradient.clear_tensors();
        let mut batch = Batch {
            traces: &self.traces,
            workspaces: &mut self.workspaces,
        };
        self.hand
            .passes()
            .backward(&self.params, &mut batch, &mut self.gradient);
        for (matrix, runs) in matrices(&mut self.gradient).zip(&self.runs) {
            let from = matrix.as_slice();
            runs.iter()
                .for_each(|run| run.add(from, &mut gradient.list));
        }
    }
}
