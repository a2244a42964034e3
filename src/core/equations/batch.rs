//! Episodes of a batch: each runs in a workspace of its own thread, and gradients are summed in the order of the episodes,
//! so the result has the same bits on any number of threads.

use super::bind::Bound;
use super::flatten::Flat;
use super::op::Real;
use super::page::Page;
use super::program::Program;
use super::run::Engine;
use crate::pool::Pool;

/// The lengths of an episode: of sequences and widths, by axis.
pub type Lengths = Vec<(String, usize)>;

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
    /// An engine for each set of lengths so far, with the version of its tensors.
    engines: Vec<(Lengths, u64, Engine<'a, R>)>,
    /// The episodes of this thread, and the gradients of their tensors.
    episodes: Vec<usize>,
    gradients: Vec<Vec<R>>,
}

impl<'a, R: Real> Batch<'a, R> {
    /// Workspaces on this number of threads.
    pub fn new(page: &'a Page, program: &'a Program, flat: &'a Flat, threads: usize) -> Self {
        let worker = |_| Worker {
            engines: vec![],
            episodes: vec![],
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

    /// Runs the episodes and sums the gradients of the tensors. `run` gets the index of an episode and an engine for it,
    /// with the tensors and without gradients; it puts the data in, and runs it forward and backward.
    ///
    /// # Errors
    /// The lengths of an episode whose arrays are too large.
    pub fn learn(
        &mut self,
        lengths: &[Lengths],
        gradient: &mut [R],
        run: impl Fn(usize, &mut Engine<'a, R>) + Sync,
    ) -> Result<(), Lengths> {
        let count = self.workers.len().min(lengths.len()).max(1);
        let Self {
            page,
            program,
            flat,
            version,
            tensors,
            ..
        } = self;
        for (index, worker) in self.workers.iter_mut().enumerate() {
            worker.episodes.clear();
            let own = (index..lengths.len()).step_by(count);
            worker.episodes.extend(own.filter(|_| index < count));
            for episode in &worker.episodes {
                let lengths = &lengths[*episode];
                if !worker.engines.iter().any(|own| own.0 == *lengths) {
                    let of = |axis: &str| lengths.iter().find(|own| own.0 == axis).map(|own| own.1);
                    let mut bound = Bound::for_training(page, program, flat, &of)
                        .map_err(|_| lengths.clone())?;
                    bound.ignore_inputs(flat);
                    worker
                        .engines
                        .push((lengths.clone(), 0, Engine::new(bound, flat, true)));
                }
            }
            while worker.gradients.len() < worker.episodes.len() {
                worker.gradients.push(vec![R::ZERO; tensors.len()]);
            }
        }
        gradient.fill(R::ZERO);
        let (version, tensors, is_alone) = (*version, &tensors[..], count == 1);
        let work = |worker: &mut Worker<'a, R>, gradient: &mut [R]| {
            for (place, episode) in worker.episodes.iter().enumerate() {
                let mut engines = worker.engines.iter_mut();
                let own = engines.find(|own| own.0 == lengths[*episode]);
                let Some((_, has, engine)) = own else {
                    continue;
                };
                let range = engine.bound.tensor_range();
                if std::mem::replace(has, version) != version {
                    engine.memory.arena[range.clone()].copy_from_slice(tensors);
                }
                engine.clear_gradients();
                run(*episode, engine);
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
            work(&mut self.workers[0], gradient);
            return Ok(());
        }
        self.pool
            .share(&mut self.workers[..count], |worker| work(worker, &mut []));
        for episode in 0..lengths.len() {
            let worker = &self.workers[episode % count];
            add(gradient, &worker.gradients[episode / count]);
        }
        Ok(())
    }
}

fn add<R: Real>(to: &mut [R], from: &[R]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
}
