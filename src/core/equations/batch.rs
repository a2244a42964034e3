//! Episodes of a batch: those of the same lengths run side by side, each group in a workspace of its own thread, and
//! gradients are summed in the order of the groups, so the result has the same bits on any number of threads.

use super::bind::Bound;
use super::flatten::Flat;
use super::op::Real;
use super::page::Page;
use super::program::Program;
use super::run::Engine;
use crate::math::matrix::TOGETHER;
use crate::pool::Pool;

/// The lengths of an episode: of sequences and widths, by axis.
pub type Lengths = Vec<(String, usize)>;

/// An engine, with the lengths and the number of its episodes, and the version of its tensors.
type OfSize<'a, R> = (Lengths, usize, u64, Engine<'a, R>);

/// Workspaces of one program.
pub struct Batch<'a, R> {
    page: &'a Page,
    program: &'a Program,
    flat: &'a Flat,
    workers: Vec<Worker<'a, R>>,
    pool: Pool,
    /// Counts what the tensors were set to.
    version: u64,
    /// The tensors, as in an arena.
    tensors: Vec<R>,
}

/// What a thread works in.
struct Worker<'a, R> {
    /// Engines so far.
    engines: Vec<OfSize<'a, R>>,
    /// The gradients of the tensors of each of its groups.
    gradients: Vec<Vec<R>>,
}

impl<'a, R: Real> Batch<'a, R> {
    /// Workspaces on this number of threads.
    pub fn new(page: &'a Page, program: &'a Program, flat: &'a Flat, threads: usize) -> Self {
        let worker = |_| Worker {
            engines: vec![],
            gradients: vec![],
        };
        let workers = (0..threads.max(1)).map(worker).collect();
        Self {
            page,
            program,
            flat,
            workers,
            pool: Pool::new(threads),
            version: 0,
            tensors: vec![],
        }
    }

    /// Sets all tensors, which stand one after another as in the arena of an engine ([`Bound::tensor_range`]).
    pub fn set_tensors(&mut self, tensors: &[R]) {
        self.version += 1;
        self.tensors.clear();
        self.tensors.extend_from_slice(tensors);
    }

    /// Runs the episodes and sums the gradients of the tensors. Both functions get the index of an episode, its place among
    /// those that run side by side, and the engine ([`Engine::layout_in`]): `put` puts the data in, and `score` the gradient
    /// of the answer that was computed.
    ///
    /// # Errors
    /// The lengths of an episode whose arrays are too large.
    pub fn learn(
        &mut self,
        lengths: &[Lengths],
        gradient: &mut [R],
        put: impl Fn(usize, usize, &mut Engine<'a, R>) + Sync,
        score: impl Fn(usize, usize, &mut Engine<'a, R>) + Sync,
    ) -> Result<(), Lengths> {
        let groups = groups(lengths);
        let count = self.workers.len().min(groups.len()).max(1);
        for (index, group) in groups.iter().enumerate() {
            let (worker, own, size) = (
                &mut self.workers[index % count],
                &lengths[group[0]],
                group.len(),
            );
            if find(&mut worker.engines, own, size).is_none() {
                let of = |axis: &str| own.iter().find(|own| own.0 == axis).map(|own| own.1);
                let (page, program, flat) = (self.page, self.program, self.flat);
                let mut bound =
                    Bound::for_training(page, program, flat, &of, size).map_err(|_| own.clone())?;
                bound.ignore_inputs(flat);
                let engine = Engine::new(bound, flat, true);
                worker.engines.push((own.clone(), size, 0, engine));
            }
            if worker.gradients.len() <= index / count {
                worker.gradients.push(vec![R::ZERO; self.tensors.len()]);
            }
        }
        gradient.fill(R::ZERO);
        let (version, tensors, is_alone) = (self.version, &self.tensors[..], count == 1);
        let work = |first: usize, worker: &mut Worker<'a, R>, gradient: &mut [R]| {
            for (place, group) in groups.iter().skip(first).step_by(count).enumerate() {
                let Some((has, engine)) =
                    find(&mut worker.engines, &lengths[group[0]], group.len())
                else {
                    continue;
                };
                let range = engine.bound.tensor_range();
                if std::mem::replace(has, version) != version {
                    engine.memory.arena[range.clone()].copy_from_slice(tensors);
                }
                engine.clear_gradients();
                let all = || group.iter().enumerate();
                all().for_each(|(at, episode)| put(*episode, at, engine));
                engine.forward();
                all().for_each(|(at, episode)| score(*episode, at, engine));
                engine.backward();
                let (from, gradients) = (engine.memory.gradients, &engine.memory.arena);
                let found = &gradients[from + range.start..from + range.end];
                if is_alone {
                    add(gradient, found);
                } else {
                    worker.gradients[place].copy_from_slice(found);
                }
            }
        };
        if is_alone {
            work(0, &mut self.workers[0], gradient);
            return Ok(());
        }
        let mut workers: Vec<_> = self.workers[..count].iter_mut().enumerate().collect();
        let work = |(first, worker): &mut (usize, &mut Worker<'a, R>)| {
            work(*first, worker, &mut []);
        };
        self.pool.share(&mut workers, work);
        for group in 0..groups.len() {
            let worker = &self.workers[group % count];
            add(gradient, &worker.gradients[group / count]);
        }
        Ok(())
    }
}

/// The engine for this number of episodes of these lengths, with the version of its tensors.
fn find<'e, 'a, R>(
    engines: &'e mut [OfSize<'a, R>],
    lengths: &Lengths,
    count: usize,
) -> Option<(&'e mut u64, &'e mut Engine<'a, R>)> {
    let mut engines = engines.iter_mut();
    let own = engines.find(|own| own.1 == count && own.0 == *lengths);
    own.map(|(_, _, version, engine)| (version, engine))
}

/// Episodes that run side by side: of the same lengths four at a time, and the rest alone.
fn groups(lengths: &[Lengths]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![];
    for (index, own) in lengths.iter().enumerate() {
        let is_open = |group: &&mut Vec<usize>| group.len() < TOGETHER && lengths[group[0]] == *own;
        match groups.iter_mut().find(is_open) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let (whole, rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(|own| own.len() == TOGETHER);
    let rest = rest.into_iter().flatten().map(|own| vec![own]);
    whole.into_iter().chain(rest).collect()
}

fn add<R: Real>(to: &mut [R], from: &[R]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
}
