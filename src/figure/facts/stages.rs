//! The stages of a step of a machine, in order. The recorded arrays determine which ones it has: without heads only the
//! first and the last, without gates no gate stage.

use crate::figure::facts::column::Column;
use crate::figure::facts::family::{column, columns_of};
use crate::figure::facts::heads::signed;
use crate::figure::facts::stage::Stage;
use crate::figure::facts::statements::{Statement, title};
use crate::model::{HeadTrace, Trace, peak};

/// The stages that make a weighting, in order.
const ADDRESSING: [Stage; 10] = [
    Stage::Usage,
    Stage::Age,
    Stage::Allocate,
    Stage::Content,
    Stage::Gate,
    Stage::Shift,
    Stage::Sharpen,
    Stage::Draw,
    Stage::Links,
    Stage::Weigh,
];

/// Returns the stage that computes an array, by its name in a trace file; of this head, if it belongs to one.
pub fn computing_stage(array: &str, head: Option<&HeadTrace>) -> Stage {
    let name = array.rsplit('.').next().unwrap_or_default();
    let mut columns: Vec<_> = head.into_iter().flat_map(columns_of).collect();
    match name {
        "read" => Stage::Read,
        "memory" => Stage::Add,
        "output" | "loss" => Stage::Output,
        "noise" | "normal" | "centre" | "divergence" => Stage::Content,
        "draw" => Stage::Draw,
        "weighting" => columns.pop().map_or(Stage::Controller, |last| last.stage),
        _ => {
            let column = columns.iter().find(|column| column.array.name == name);
            column.map_or(Stage::Controller, |column| column.stage)
        }
    }
}

/// True for a head that takes part in a stage.
fn has_stage(head: &HeadTrace, stage: Stage) -> bool {
    match stage {
        Stage::Controller | Stage::Output => true,
        Stage::Statement(_) => false,
        Stage::Read => head.read.width() > 0,
        Stage::Erase => head.erase.width() > 0,
        Stage::Add => head.is_write(),
        stage => columns_of(head).any(|column| column.stage == stage),
    }
}

/// The word for what drives the heads of a machine.
pub fn network(trace: &Trace) -> &'static str {
    if trace.is_file() {
        return "input";
    }
    let mut own = trace.kind_arrays.arrays();
    if own.any(|(array, _)| array.name == "embedded") {
        "embedding"
    } else if trace.layers.is_empty() && !trace.heads.is_empty() {
        "encoder"
    } else if trace.heads.iter().any(|head| head.first_step > 0) {
        "decoder"
    } else {
        Stage::Controller.word()
    }
}

/// A stage of a step of some machine, and the heads that are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageRef {
    /// The stage.
    pub stage: Stage,
    /// True for write heads, false for read heads; `None` if both share the stage.
    write: Option<bool>,
    /// The word for the first stage of the machine, or for a statement.
    network: &'static str,
    /// The kind of heads of a statement, where its name needs one.
    kind: &'static str,
}

impl StageRef {
    /// Returns a name of one or two words.
    pub fn name(self) -> String {
        let is_of_reads = self.write == Some(false) && self.stage != Stage::Read;
        let read = if is_of_reads { "read " } else { "" };
        match self.stage {
            Stage::Controller => self.network.to_owned(),
            Stage::Statement(_) => title(self.kind, self.network),
            stage => format!("{read}{}", stage.word()),
        }
    }

    /// True for a head that takes part in it.
    pub fn has(self, head: &HeadTrace) -> bool {
        self.write.is_none_or(|write| write == head.is_write()) && has_stage(head, self.stage)
    }
}

/// The stages of every step of a machine, in the order in which it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages {
    all: Vec<StageRef>,
    /// The statements of a machine file; none of another machine.
    pub statements: Vec<Statement>,
    heads: Vec<StagesOfHead>,
}

/// What a head has, found once: its columns by their places among all, and the stages in which it takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StagesOfHead {
    columns: Vec<usize>,
    takes_part: Vec<bool>,
}

impl Stages {
    /// Returns the stages of the machine that made this trace.
    pub fn of(trace: &Trace, writes_first: bool) -> Self {
        let mut moments = Vec::new();
        let network = network(trace);
        let mut add = |stages: &[Stage], write: Option<bool>| {
            let moments_of = stages.iter().map(|&stage| StageRef {
                stage,
                write,
                network,
                kind: "",
            });
            let heads = || trace.heads.iter();
            let is_there = |at: &StageRef| heads().any(|head| at.has(head));
            moments.extend(moments_of.filter(is_there));
        };
        if writes_first {
            add(&ADDRESSING, Some(true));
            add(&[Stage::Erase, Stage::Add], Some(true));
            add(&ADDRESSING, Some(false));
            add(&[Stage::Read], Some(false));
        } else {
            add(&ADDRESSING, None);
            add(&[Stage::Read, Stage::Erase, Stage::Add], None);
        }
        let always = |stage| StageRef {
            stage,
            write: None,
            network,
            kind: "",
        };
        moments.insert(0, always(Stage::Controller));
        let statements = if trace.is_file() {
            Statement::of_all(trace)
        } else {
            Vec::new()
        };
        let places = statements.iter().enumerate();
        moments.extend(places.map(|(index, own)| StageRef {
            network: own.name,
            kind: own.kind(),
            ..always(Stage::Statement(index))
        }));
        moments.push(always(Stage::Output));
        debug_assert!(
            trace
                .heads
                .iter()
                .enumerate()
                .all(|(at, head)| head.index == at)
        );
        let heads = trace.heads.iter().map(|head| StagesOfHead {
            columns: columns_of(head).map(Column::place).collect(),
            takes_part: moments.iter().map(|at| at.has(head)).collect(),
        });
        Self {
            heads: heads.collect(),
            all: moments,
            statements,
        }
    }

    /// Columns of a head of the trace. The last is the one it reads or writes with.
    pub fn columns(&self, head: &HeadTrace) -> impl Iterator<Item = &'static Column> + Clone {
        let own = self.heads.get(head.index);
        let places = own.map_or(&[][..], |own| &own.columns).iter();
        places.filter_map(|&place| column(place))
    }

    /// True for a head of the trace that takes part in the stage at a place.
    fn has(&self, place: usize, head: &HeadTrace) -> bool {
        let own = self.heads.get(head.index);
        own.is_some_and(|own| own.takes_part[place])
    }

    /// True where the write heads have written before the read heads address the memory.
    pub fn writes_first(&self) -> bool {
        self.all.iter().any(|at| at.write == Some(true))
    }

    /// Number of stages.
    #[expect(clippy::len_without_is_empty, reason = "there are always two")]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = StageRef> + '_ {
        self.all.iter().copied()
    }

    /// Returns the stage at a place; beyond the end, the last one.
    pub fn at(&self, place: usize) -> StageRef {
        self.all[place.min(self.all.len() - 1)]
    }

    /// Place of a stage in the order; for a head, where the heads do not share the stage.
    pub fn place(&self, stage: Stage, head: Option<&HeadTrace>) -> Option<usize> {
        let mut all = self.all.iter().enumerate();
        all.position(|(place, at)| {
            at.stage == stage && head.is_none_or(|head| self.has(place, head))
        })
    }

    /// Place of the stage that matches one of another machine: the same stage, or the last before it.
    pub fn matching_place(&self, other: StageRef) -> usize {
        let same = self.all.iter().position(|at| *at == other);
        let alike = || self.place(other.stage, None);
        let before = |at: &StageRef| at.stage <= other.stage;
        let last = || self.all.iter().rposition(before).unwrap_or(0);
        same.or_else(alike).unwrap_or_else(last)
    }

    /// Places of the stages in which a head addresses the memory.
    pub fn addressing(&self, head: &HeadTrace) -> Vec<usize> {
        let all = self.all.iter().enumerate();
        let own =
            all.filter(|(place, at)| ADDRESSING.contains(&at.stage) && self.has(*place, head));
        own.map(|(place, _)| place).collect()
    }

    /// True where a stage is complete at `place`.
    pub fn reached(&self, place: usize, stage: Stage, head: Option<&HeadTrace>) -> bool {
        self.place(stage, head).is_some_and(|at| at <= place)
    }
}

/// Describes a move by this many rows.
pub fn moves(by: isize) -> String {
    match by {
        0 => "stays".to_owned(),
        1 => "moves on by one row".to_owned(),
        -1 => "moves back by one row".to_owned(),
        by => format!("moves by {} rows", signed(by)),
    }
}

/// Returns the number of rows from one row to another, the shorter way round.
pub fn shorter_way([from, to]: [usize; 2], rows: usize) -> isize {
    let on = (to + rows - from) % rows;
    let back = if 2 * on > rows { rows } else { 0 };
    on.cast_signed() - back.cast_signed()
}

/// Returns the move of the peak by the shift of a step: by how many rows, and from which one.
pub fn moved(head: &HeadTrace, step: usize) -> Option<(isize, usize)> {
    let known = |weighting| peak(weighting).filter(|(_, weight)| weight.is_finite());
    let before = columns_of(head).take_while(|column| column.stage != Stage::Shift);
    let (from, _) = known(before.last()?.values(head, step))?;
    let (to, _) = known(head.shifted.row(step))?;
    Some((shorter_way([from, to], head.shifted.width()), from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, NtmConfig};

    fn words(trace: &Trace, writes_first: bool) -> Vec<String> {
        let stages = Stages::of(trace, writes_first);
        stages.iter().map(StageRef::name).collect()
    }

    #[test]
    fn the_stages_of_a_machine_are_those_of_its_arrays() {
        let machine = Model::<f32>::new(NtmConfig::new(3, 2), 1);
        let mut trace = Trace::new(&machine.config);
        let read_first = "controller content gate shift sharpen read erase add output";
        assert_eq!(words(&trace, false).join(" "), read_first);
        let write_first = [
            "controller",
            "content",
            "gate",
            "shift",
            "sharpen",
            "erase",
            "add",
            "read content",
            "read gate",
            "read shift",
            "read sharpen",
            "read",
            "output",
        ];
        assert_eq!(words(&trace, true), write_first);
        let stages = Stages::of(&trace, true);
        let [read, write] = [false, true].map(|write| {
            let mut heads = trace.heads.iter();
            heads.find(|head| head.is_write() == write)
        });
        assert_eq!(stages.place(Stage::Gate, read), Some(8));
        assert_eq!(stages.place(Stage::Gate, write), Some(2));
        assert!(stages.reached(6, Stage::Sharpen, write));
        assert!(!stages.reached(6, Stage::Content, read));
        trace.heads.clear();
        assert_eq!(words(&trace, false), ["controller", "output"]);
    }

    #[test]
    fn head_without_erase_skips_erase_stage() {
        use crate::model::attention::Switch::{Off, On};
        let mut config = NtmConfig::new(3, 2);
        config.write_heads = 2;
        for (erase, erases) in [(vec![Off], vec![]), (vec![On, Off, On], vec![2])] {
            config.attention.erase = if let [all] = erase[..] {
                all.into()
            } else {
                erase.into()
            };
            let trace = Trace::new(&config);
            for writes_first in [false, true] {
                let stages = Stages::of(&trace, writes_first);
                let place = stages.place(Stage::Erase, None);
                let heads = (0..3).filter(|&head| {
                    place.is_some_and(|place| stages.at(place).has(&trace.heads[head]))
                });
                assert_eq!(heads.collect::<Vec<_>>(), erases);
            }
        }
    }

    #[test]
    fn an_array_is_computed_in_a_stage() {
        let mut config = NtmConfig::with_every_mechanism();
        config.rows = 8;
        let trace = Trace::new(&Model::<f32>::new(config, 1).config);
        let stages = ["read0.gated", "memory", "write0.read", "loss", "input"];
        let of = |array: &str, head: usize| computing_stage(array, trace.heads.get(head)).word();
        let stages = stages.map(|array| of(array, 1));
        assert_eq!(stages, ["gate", "add", "read", "output", "controller"]);
        let last = [1, 0].map(|head| of("read0.weighting", head));
        assert_eq!(last, ["sample", "sharpen"]);
    }
}
