//! A faster way to train in an included file: `ntm`, `dnc` and `sam` have passes that are written by hand. Where the file and
//! its choices are those of such a machine, training runs them on the weights of the file.

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
    /// Where number `out` of the results of a statement, for number `input` of what it takes in, stands by hand; `end` is
    /// `weight`, `bias` or `start`.
    fn number(&self, statement: &str, end: &str, [out, input]: [usize; 2]) -> Option<Number> {
        let units = self.hand.sizes().units;
        let (head, own) = statement.split_once('.').unwrap_or(("", statement));
        let is_lstm = self
            .shape
            .tensors
            .iter()
            .any(|own| own.name == "initial.cell" && own.rows > 0);
        let layer = if is_lstm { 4 * units } else { units };
        match (own, end) {
            ("r", "start") => self.tensor("initial.read", [out, input]),
            ("M", "start") => self.tensor("initial.memory", [out, input]),
            ("h", "start") => self.tensor("initial.hidden", [out, input]),
            ("c", "start") => self.tensor("initial.cell", [out, input]),
            ("h_u", "start") => self.tensor("initial.hidden", [1 + out, input]),
            ("c_u", "start") => self.tensor("initial.cell", [1 + out, input]),
            ("head.w", "start") => {
                let reads = if head == "write" {
                    self.hand.read_heads()
                } else {
                    0
                };
                self.tensor("initial.weighting", [reads + out, input])
            }
            ("h", _) if head.is_empty() => self.map("controller0", end, [out, input]),
            ("h_u", _) => {
                let name = format!("controller{}", 1 + out / layer);
                self.map(&name, end, [out % layer, input])
            }
            ("z", _) if head.is_empty() => self.map("output", end, [out, input]),
            _ => self.of_head(head, own, end, [out, input]),
        }
    }

    fn tensor(&self, name: &str, place: [usize; 2]) -> Option<Number> {
        let index = self.shape.tensors.iter().position(|own| own.name == name)?;
        Some((2 * self.shape.linears.len() + index, place))
    }

    /// A number of the part of a linear map with this name.
    fn map(&self, name: &str, end: &str, [out, input]: [usize; 2]) -> Option<Number> {
        let mut linears = self.shape.linears.iter().enumerate();
        linears.find_map(|(index, linear)| {
            let part = linear.parts.iter().position(|own| own.0 == name)?;
            let first: usize = linear.parts[..part].iter().map(|own| own.1).sum();
            let is_bias = end == "bias";
            Some((2 * index + usize::from(is_bias), [input, first + out]))
        })
    }

    /// A number of what a head takes from its controller. `kind` is that of all heads, `read`, or one of them, `read1`.
    fn of_head(
        &self,
        kind: &str,
        own: &str,
        end: &str,
        [out, input]: [usize; 2],
    ) -> Option<Number> {
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
        self.map(&format!("{kind}{head}"), end, [out, input])
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

/// A machine by hand with the weights of a file, and episodes that it has run.
pub(super) struct Fused<R> {
    hand: ByHand,
    params: Params<R>,
    gradient: Params<R>,
    /// Of each matrix of the weights the places of its numbers: its own, and that in the list of the file.
    places: Vec<Vec<[u32; 2]>>,
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
        let columns = matrices(&mut params).map(|matrix| padded(matrix.columns()));
        let columns: Vec<usize> = columns.collect();
        let mut places = vec![Vec::new(); columns.len()];
        let by_hand = Places {
            hand: &hand,
            shape: hand.shape(),
        };
        let shape = config.shape();
        for (spec, place) in shape.tensors.iter().zip(&shape.places) {
            let (statement, end) = spec.name.rsplit_once('.').unwrap_or((&*spec.name, ""));
            let mut at = 0;
            place.each(|from| {
                let entry = [at / spec.columns, at % spec.columns];
                at += 1;
                let entry = if end == "bias" { [entry[1], 0] } else { entry };
                if let Some((matrix, [row, column])) = by_hand.number(statement, end, entry) {
                    let own = row * columns[matrix] + column;
                    places[matrix].push([own as u32, from as u32]);
                }
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
            places,
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
        let demand = self.params.slices().map(<[R]>::len).sum();
        config.compiled().pool.put(job, demand, Box::new(self));
    }

    /// Runs episodes, longest first, and takes their answers and weightings out.
    pub(super) fn run(&mut self, params: &Params<R>, episodes: &mut [Trace<R>]) {
        for (matrix, places) in matrices(&mut self.params).zip(&self.places) {
            let to = matrix.as_mut_slice();
            places
                .iter()
                .for_each(|[at, from]| to[*at as usize] = params.list[*from as usize]);
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
        for tensor in &mut self.gradient.tensors {
            tensor.as_mut_slice().fill(R::ZERO);
        }
        let mut batch = Batch {
            traces: &self.traces,
            workspaces: &mut self.workspaces,
        };
        self.hand
            .passes()
            .backward(&self.params, &mut batch, &mut self.gradient);
        for (matrix, places) in matrices(&mut self.gradient).zip(&self.places) {
            let from = matrix.as_slice();
            places
                .iter()
                .for_each(|[own, at]| gradient.list[*at as usize] += from[*own as usize]);
        }
    }
}
