//! The order in which operations run: step by step where they wait for each other, all steps at once elsewhere.
//!
//! In a block along an axis, operations that wait for each other through the step before are a loop. All others run over
//! all steps at once, before the loops that they feed or after those that feed them; then the steps are one more loop
//! inside of the operation. The reverse sweep has the same plan, backwards.

use std::collections::HashMap;
use std::sync::Arc;

use super::bind::{Bound, Fault};
use super::flatten::{Base, Cut, Flat, Operation, View};
use super::lower::{Program, Source, When};
use super::op::{Act, Exec, Node};
use super::page::{Page, Part};

/// A part of a plan.
#[derive(Clone, Debug)]
pub enum Item {
    /// An operation, by its index.
    Operation(usize),
    /// Steps of a block, by its place among those around a statement.
    Loop {
        /// The place of the block.
        frame: usize,
        /// Number of steps.
        length: usize,
        /// Whether it begins at the last step.
        backwards: bool,
        /// The items of each step.
        items: Vec<Item>,
    },
}

/// How a program runs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What runs forward, in this order, and in reverse backwards.
    pub items: Vec<Item>,
    /// Operations of which only the gradients of tensors are wanted, over all steps, after the reverse sweep.
    pub late: Vec<Exec>,
    /// The statements that an operation is the last one of.
    pub ends: Vec<Vec<usize>>,
}

/// Plans a program, and makes the operations that run over all steps loop over them.
pub fn plan(bound: &mut Bound, flat: &Flat) -> Plan {
    let all = flat.equations.iter().chain(&flat.firsts);
    let operations = all.flatten().collect();
    let mut planner = Planner {
        equation_of: vec![None; bound.page.statements.len()],
        ends: vec![vec![]; bound.execs.len()],
        bound,
        operations,
        flat,
    };
    for (index, equation) in planner.bound.program.equations.iter().enumerate() {
        planner.equation_of[equation.statement] = Some(index);
        let makes = |operation: &usize| matches!(planner.operations[*operation].out.base, Base::Series(series) if equation.makes.contains(&series));
        if let Some(last) = planner.bound.ranges[index].clone().rev().find(makes) {
            planner.ends[last].push(index);
        }
        for pack in &flat.packs {
            let made = |series: &usize| {
                let mut members = pack.members.iter();
                members.any(|member| member.out == Base::Series(*series))
            };
            let is_product = |own: &&Operation| own.out.base == Base::Result(pack.scratch);
            let product = planner.operations.iter().rposition(is_product);
            let count = equation.makes.iter().filter(|series| made(series)).count();
            if let Some(product) = product.filter(|_| count > 0) {
                planner.ends[product].push(index);
            }
        }
    }
    let page = Arc::clone(&planner.bound.page);
    let roots = (0..page.blocks.len()).filter(|block| page.blocks[*block].parent.is_none());
    let items: Vec<Item> = roots.flat_map(|block| planner.block(block, 0)).collect();
    let mut late = Vec::new();
    planner.delay(&items, &mut vec![], &mut late);
    let ends = planner.ends;
    // A side that is not taken may be no number: then it matters that 0 times it is 0.
    let chooses = bound.execs.iter().any(|exec| matches!(&exec.act, Act::Map(nodes) if nodes.iter().any(|node| matches!(node, Node::Where(..)))));
    for exec in bound.execs.iter_mut().chain(&mut late) {
        exec.join_loops();
        exec.is_guarded = chooses;
        *exec = std::mem::take(exec).prepared();
    }
    Plan { items, late, ends }
}

impl Bound {
    /// As [`Self::new`], for training some episodes side by side: of gradients that only one loop needs, two steps alone are
    /// kept. `episodes`: their number, and whether they have different lengths, see [`Engine::set_lengths`](super::run::Engine::set_lengths).
    /// `wanted`: series whose gradients are given: answers and penalties.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn for_training(
        page: &Arc<Page>,
        program: &Arc<Program>,
        flat: &Flat,
        given: &dyn Fn(&str) -> Option<usize>,
        episodes: (usize, bool),
        wanted: &[usize],
    ) -> Result<Self, Fault> {
        let (none, rings) = (HashMap::new(), HashMap::new());
        let mut whole = Self::with_rings(page, program, flat, given, episodes, none, &rings)?;
        let plan = plan(&mut whole, flat);
        let slopes = slope_rings(&whole, flat, &plan, wanted);
        Self::with_rings(
            page,
            program,
            flat,
            given,
            episodes,
            HashMap::new(),
            &slopes,
        )
    }

    /// As [`Self::new`], for an evaluation: of what only its own loop needs, the last steps alone are kept. `wanted`: series
    /// that are kept in full.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn for_evaluation(
        page: &Arc<Page>,
        program: &Arc<Program>,
        flat: &Flat,
        given: &dyn Fn(&str) -> Option<usize>,
        wanted: &[usize],
    ) -> Result<Self, Fault> {
        let mut whole = Self::new(page, program, flat, given)?;
        let plan = plan(&mut whole, flat);
        let found = in_one_loop(&whole, flat, &plan, wanted);
        let rings = found.into_iter().map(|(own, (steps, _))| (own, steps));
        Self::with_rings(
            page,
            program,
            flat,
            given,
            (1, false),
            rings.collect(),
            &HashMap::new(),
        )
    }
}

struct Planner<'b, 'f> {
    bound: &'b mut Bound,
    operations: Vec<&'f Operation>,
    equation_of: Vec<Option<usize>>,
    ends: Vec<Vec<usize>>,
    flat: &'f Flat,
}

impl Planner<'_, '_> {
    /// The parts of a block, with the starts before them.
    fn block(&mut self, block: usize, frame: usize) -> Vec<Item> {
        let (page, program) = (
            Arc::clone(&self.bound.page),
            Arc::clone(&self.bound.program),
        );
        let mut parts = Vec::new();
        for item in &page.blocks[block].items {
            match item {
                Part::Block(inner) => parts.extend(self.block(*inner, frame + 1)),
                Part::Statement(statement) => {
                    if let Some(equation) = self.equation_of[*statement] {
                        parts.extend(self.bound.ranges[equation].clone().map(Item::Operation));
                    }
                }
            }
        }
        let firsts =
            (0..program.firsts.len()).filter(|first| program.firsts[*first].block == block);
        let mut items: Vec<Item> = firsts
            .flat_map(|first| self.bound.ranges[program.equations.len() + first].clone())
            .map(Item::Operation)
            .collect();
        let Some(axis) = self.bound.axis_of(block) else {
            items.extend(parts);
            return items;
        };
        let (length, backwards) = (self.bound.lengths[axis], page.blocks[block].backwards);
        let (waits, carried) = self.waits(&parts, frame);
        let mut parts: Vec<Option<Item>> = parts.into_iter().map(Some).collect();
        for mut group in components(&waits) {
            group.sort_unstable();
            let is_loop = group.len() > 1 || carried[group[0]];
            let inside: Vec<Item> = group
                .iter()
                .filter_map(|part| parts[*part].take())
                .collect();
            if is_loop || !inside.iter().all(|item| self.can_lift(item, frame)) {
                items.push(Item::Loop {
                    frame,
                    length,
                    backwards,
                    items: inside,
                });
            } else {
                inside
                    .iter()
                    .for_each(|item| self.lift(item, frame, length));
                items.extend(inside);
            }
        }
        items
    }

    /// For each part of a block the parts that it waits for, and whether it waits for itself in the step before.
    fn waits(&self, parts: &[Item], frame: usize) -> (Vec<Vec<usize>>, Vec<bool>) {
        let mut writers: HashMap<Base, Vec<usize>> = HashMap::new();
        let mut all = vec![vec![]; parts.len()];
        for (part, item) in parts.iter().enumerate() {
            each_operation(item, &mut |operation| {
                all[part].push(operation);
                for out in self.operations[operation].outs() {
                    let writers = writers.entry(self.flat.whole(out.base)).or_default();
                    if writers.last() != Some(&part) {
                        writers.push(part);
                    }
                }
            });
        }
        let (mut waits, mut carried) = (vec![vec![]; parts.len()], vec![false; parts.len()]);
        for (part, operations) in all.iter().enumerate() {
            for operation in operations
                .iter()
                .map(|operation| self.operations[*operation])
            {
                for view in operation.arguments.iter().chain([&operation.out]) {
                    let is_before = view.cuts.iter().any(|cut| match cut {
                        Cut::Step(_, When::Before(own)) | Cut::Past(_, own, _) => *own == frame,
                        _ => false,
                    });
                    for writer in writers
                        .get(&self.flat.whole(view.base))
                        .into_iter()
                        .flatten()
                    {
                        carried[part] |= is_before && *writer == part;
                        if *writer != part && (is_before || *writer < part) {
                            waits[part].push(*writer);
                        }
                    }
                }
            }
        }
        (waits, carried)
    }

    fn can_lift(&self, item: &Item, frame: usize) -> bool {
        let mut can_lift = true;
        each_operation(item, &mut |operation| {
            can_lift &= self.bound.execs[operation].can_lift(&[frame]);
        });
        can_lift
    }

    fn lift(&mut self, item: &Item, frame: usize, length: usize) {
        each_operation(item, &mut |operation| {
            self.bound.execs[operation].lift(frame, length);
            for equation in &self.ends[operation] {
                self.bound.probes[*equation]
                    .iter_mut()
                    .for_each(|probe| probe.lift(frame, length));
            }
        });
    }

    /// Takes the gradients of tensors out of the loops: one product over all steps instead of one in each.
    fn delay(&mut self, items: &[Item], around: &mut Vec<(usize, usize)>, late: &mut Vec<Exec>) {
        for item in items {
            match item {
                Item::Loop {
                    frame,
                    length,
                    items,
                    ..
                } => {
                    around.push((*frame, *length));
                    self.delay(items, around, late);
                    around.pop();
                }
                Item::Operation(index) => {
                    let exec = &self.bound.execs[*index];
                    let frames: Vec<usize> = around.iter().map(|own| own.0).collect();
                    let is_plain = match &exec.act {
                        Act::Contract { .. } => true,
                        Act::Map(nodes) => nodes[..] == [Node::Argument(0)],
                        _ => false,
                    };
                    if !is_plain || around.is_empty() || !exec.can_lift(&frames) {
                        continue;
                    }
                    for (argument, view) in self.operations[*index].arguments.iter().enumerate() {
                        if !self.bound.is_tensor(view.base) {
                            continue;
                        }
                        let mut all = self.bound.execs[*index].clone();
                        for (index, place) in all.arguments.iter_mut().enumerate() {
                            place.slope = index == argument;
                        }
                        for (frame, length) in around.iter().rev() {
                            all.lift(*frame, *length);
                        }
                        self.bound.execs[*index].arguments[argument].slope = false;
                        late.push(all);
                    }
                }
            }
        }
    }
}

/// Calls `visit` with every operation of an item.
fn each_operation(item: &Item, visit: &mut impl FnMut(usize)) {
    match item {
        Item::Operation(operation) => visit(*operation),
        Item::Loop { items, .. } => items.iter().for_each(|item| each_operation(item, visit)),
    }
}

/// Arrays that only one loop along a block at the top needs, but for their starts, with the block: the number of steps that
/// are read at a time, and the loop.
fn in_one_loop(
    bound: &Bound,
    flat: &Flat,
    plan: &Plan,
    wanted: &[usize],
) -> HashMap<(Base, usize), (usize, usize)> {
    let mut operations: Vec<(&Operation, usize, bool)> = vec![];
    for (own, frames, start) in bound.works(flat) {
        let block = frames.first().copied().or(start).unwrap_or(0);
        operations.extend(own.iter().map(|own| (own, block, frames.is_empty())));
    }
    let mut place = vec![usize::MAX; operations.len()];
    for (index, item) in plan.items.iter().enumerate() {
        if matches!(item, Item::Loop { frame: 0, .. }) {
            each_operation(item, &mut |operation| place[operation] = index);
        }
    }
    // The loop that needs each array, and the steps; no loop where something else needs it.
    let mut found: HashMap<Base, (usize, usize, usize)> = HashMap::new();
    for (index, (operation, block, is_start)) in operations.iter().enumerate() {
        let mut add = |view: &View, is_out: bool| {
            let has = |is: fn(&Cut) -> bool| view.cuts.iter().any(is);
            let is_past = has(|cut| matches!(cut, Cut::Past(_, 0, _)));
            let is_before = has(|cut| matches!(cut, Cut::Step(_, When::Before(0))));
            let steps = 1 + usize::from(is_start & is_out || is_before);
            let place = if is_start & is_out {
                found.get(&view.base).map_or(usize::MAX, |own| own.0)
            } else {
                place[index]
            };
            let own = found.entry(view.base).or_insert((place, *block, steps));
            own.2 = own.2.max(steps);
            if own.0 != place || is_past {
                own.0 = usize::MAX;
            }
        };
        operation.arguments.iter().for_each(|view| add(view, false));
        add(&operation.out, true);
    }
    let is_kept = |base: &Base| match base {
        Base::Series(series) => {
            wanted.contains(series)
                || !matches!(bound.program.series[*series].source, Source::Statement(..))
        }
        Base::Tensor(_) => true,
        Base::Result(result) => {
            flat.draws.iter().any(|(scratch, _)| scratch == result)
                || flat.packs.iter().any(|pack| pack.scratch == *result)
        }
    };
    let is_kept = |base: &Base| is_kept(base) || flat.whole(*base) != *base;
    found
        .into_iter()
        .filter(|(base, (place, ..))| *place != usize::MAX && !is_kept(base))
        .map(|(base, (place, block, steps))| ((base, block), (steps, place)))
        .collect()
}

/// Arrays of whose gradients two steps are enough, with their block: those that only one loop needs, and whose gradient is
/// not wanted over all steps.
fn slope_rings(
    bound: &Bound,
    flat: &Flat,
    plan: &Plan,
    wanted: &[usize],
) -> HashMap<Base, (usize, usize)> {
    let is_tensor = |view: &View| bound.is_tensor(view.base);
    let operations = flat.equations.iter().chain(&flat.firsts).flatten();
    let whole: Vec<Base> = operations
        .filter(|operation| operation.arguments.iter().any(is_tensor))
        .map(|operation| operation.out.base)
        .collect();
    let found = in_one_loop(bound, flat, plan, wanted).into_iter();
    found
        .filter(|((base, _), (steps, _))| {
            *steps <= 2 && !whole.contains(base) && bound.blocks_of(*base).len() == 1
        })
        .map(|((base, block), (_, place))| (base, (block, place)))
        .collect()
}

/// Sets of parts that wait for each other, each behind those that it waits for (Tarjan's algorithm).
fn components(waits: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut order, mut low, mut open) = (
        vec![NEW; waits.len()],
        vec![0; waits.len()],
        vec![false; waits.len()],
    );
    let (mut stack, mut out, mut count) = (vec![], vec![], 0);
    for root in 0..waits.len() {
        let mut path = if order[root] == NEW {
            vec![(root, 0)]
        } else {
            vec![]
        };
        while let Some((part, next)) = path.pop() {
            if next == 0 {
                (order[part], low[part], open[part], count) = (count, count, true, count + 1);
                stack.push(part);
            } else {
                low[part] = low[part].min(low[waits[part][next - 1]]);
            }
            let mut rest = next;
            let unseen = loop {
                match waits[part].get(rest) {
                    Some(other) if order[*other] == NEW => break Some(*other),
                    Some(other) if open[*other] => low[part] = low[part].min(order[*other]),
                    Some(_) => {}
                    None => break None,
                }
                rest += 1;
            };
            if let Some(other) = unseen {
                path.push((part, rest + 1));
                path.push((other, 0));
            } else if low[part] == order[part] {
                let begin = stack.iter().rposition(|own| *own == part).unwrap_or(0);
                let group = stack.split_off(begin);
                group.iter().for_each(|own| open[*own] = false);
                out.push(group);
            }
        }
    }
    out
}
