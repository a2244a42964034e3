//! Operations over arrays, each in a file with its derivative.
//!
//! An operation runs over loops: first those of its result, then those that it sums or normalises over. Every array has a
//! stride for each loop, 0 where it does not vary.

pub mod allocation;
pub mod contract;
pub mod cosine;
pub mod draw;
pub mod exec;
pub mod log_softmax;
pub mod lstm;
pub mod map;
pub mod maximum;
pub mod memory;
pub mod onehot;
pub mod order;
pub mod pick;
pub mod product;
pub mod rank;
pub mod rows;
pub mod shift;
pub mod softmax;
pub mod update;
pub mod window;

pub use exec::{Act, Exec, Node};
pub use memory::{Memory, Real, Room, each};

use rows::rows;

impl Exec {
    /// An operation outside of blocks: its loops, how many are those of the function, and where its arrays are.
    #[cfg(test)]
    pub fn alone(act: Act, dims: &[usize], inner: usize, places: &[(isize, &[isize])]) -> Self {
        let mut places = places.iter().map(|(at, strides)| exec::Place {
            at: *at,
            begin: *at,
            strides: strides.to_vec(),
            slope: true,
            ..exec::Place::default()
        });
        let out = places.next().unwrap_or_default();
        Self {
            act,
            dims: dims.to_vec(),
            inner,
            out,
            arguments: places.collect(),
            ..Self::default()
        }
        .prepared()
    }

    /// Finds out, once for all steps, how it runs.
    pub fn prepared(mut self) -> Self {
        if matches!(self.act, Act::Contract { .. }) {
            self.orders = contract::orders(&self);
        }
        self.is_guarded |= map::is_guarded(&self);
        (self.steady, self.wanted) = (map::steady(&self), map::wanted(&self));
        self.needed = map::needed(&self);
        self
    }
}

/// Runs an operation.
pub fn forward<R: Real>(exec: &Exec, memory: &mut Memory<R>, steps: &[usize]) {
    match &exec.act {
        Act::Map(nodes) => map::forward(exec, nodes, memory, steps),
        Act::Contract { adds, is_mean } => contract::forward(exec, *adds, *is_mean, memory),
        Act::Cosine(axes) => cosine::run(exec, axes.len(), memory, false),
        Act::Lstm => lstm::run(exec, memory, false),
        Act::Softmax(_)
        | Act::Sharpen(_)
        | Act::LogSoftmax(_)
        | Act::Product(_)
        | Act::Maximum(_)
        | Act::Argmax(_)
        | Act::Rank(_)
        | Act::Allocation(_) => rows(exec, memory, false),
        Act::Pick(_) => pick::forward(exec, memory),
        Act::Onehot(_) => onehot::forward(exec, memory),
        Act::Shift(..) => shift::forward(exec, memory),
        Act::Window(..) => window::forward(exec, memory),
        Act::Draw(_) => draw::forward(exec, memory),
        Act::Update(form) => update::forward(exec, *form, memory),
    }
}

/// Adds to the gradients of its arguments what follows from the gradient of its result.
pub fn reverse<R: Real>(exec: &Exec, memory: &mut Memory<R>, steps: &[usize]) {
    if !exec.arguments.iter().any(|place| place.slope) {
        return;
    }
    match &exec.act {
        Act::Map(nodes) => map::reverse(exec, nodes, memory, steps),
        Act::Contract { is_mean, .. } => contract::reverse(exec, *is_mean, memory),
        Act::Cosine(axes) => cosine::run(exec, axes.len(), memory, true),
        Act::Lstm => lstm::run(exec, memory, true),
        Act::Softmax(_)
        | Act::Sharpen(_)
        | Act::LogSoftmax(_)
        | Act::Product(_)
        | Act::Maximum(_)
        | Act::Allocation(_) => rows(exec, memory, true),
        Act::Pick(_) => pick::reverse(exec, memory),
        Act::Shift(..) => shift::reverse(exec, memory),
        Act::Window(..) => window::reverse(exec, memory),
        Act::Update(form) => update::reverse(exec, *form, memory),
        Act::Argmax(_) | Act::Rank(_) | Act::Onehot(_) | Act::Draw(_) => {}
    }
}

/// What the tests of operations share.
#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::math::Aligned;

    /// Numbers that look random, in −1..1.
    pub fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..count)
            .map(|_| {
                (state, _) = state.overflowing_mul(6_364_136_223_846_793_005);
                state = state.wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
            })
            .collect()
    }

    /// A memory with these values behind the 1.
    pub fn memory<R: Real>(values: &[R]) -> Memory<R> {
        let gradients = values.len() + 1;
        let mut arena = Aligned::zeros(2 * gradients);
        arena[0] = R::ONE;
        arena[1..gradients].copy_from_slice(values);
        Memory {
            gradients,
            arena,
            constants: vec![R::from_f64(0.5)],
            room: Room::new(64, 24),
        }
    }

    /// A function of one row: y, and dx for this dy.
    pub fn row<R: Real>(act: Act, x: &[R], dy: &[R]) -> (Vec<R>, Vec<R>) {
        let n = x.len();
        let mut memory = memory(&[x, &vec![R::ZERO; n]].concat());
        let exec = Exec::alone(act, &[n], 1, &[(1 + n as isize, &[1]), (1, &[1])]);
        forward(&exec, &mut memory, &[]);
        let y = memory.arena[(1 + n)..=(2 * n)].to_vec();
        let at = memory.gradients + 1;
        memory.arena[at + n..at + 2 * n].copy_from_slice(dy);
        reverse(&exec, &mut memory, &[]);
        (y, memory.arena[at..at + n].to_vec())
    }

    /// Strides of a whole array with the loops of `has`, and its number of entries.
    fn whole(dims: &[usize], has: &[usize]) -> (Vec<isize>, usize) {
        let (mut strides, mut size) = (vec![0; dims.len()], 1);
        for dim in has.iter().rev() {
            strides[*dim] = size as isize;
            size *= dims[*dim];
        }
        (strides, size)
    }

    /// Holds the derivative of an operation to differences, for a random gradient of its result. `has`: the loops that the
    /// result has and those that each argument has; `value`: what an argument has instead of a number in −1..1.
    ///
    /// # Panics
    /// Where they differ.
    pub fn check(
        act: Act,
        dims: &[usize],
        inner: usize,
        has: &[&[usize]],
        value: impl Fn(usize, f64) -> f64,
    ) {
        let (mut at, mut places, mut values) = (1, vec![], vec![]);
        for (index, has) in has.iter().enumerate() {
            let (strides, size) = whole(dims, has);
            values.extend(numbers(size, index as u64 + 3).into_iter().map(|number| {
                if index == 0 {
                    0.0
                } else {
                    value(index - 1, number)
                }
            }));
            places.push((at, strides, size));
            at += size as isize;
        }
        let list: Vec<memory::Operand> = places
            .iter()
            .map(|(at, strides, _)| (*at, &strides[..]))
            .collect();
        let exec = Exec::alone(act, dims, inner, &list);
        let out = 1..1 + places[0].2;
        let slopes = numbers(places[0].2, 99);
        let run = |values: &[f64]| {
            let mut memory = memory(values);
            forward(&exec, &mut memory, &[7]);
            (
                memory.arena[out.clone()]
                    .iter()
                    .zip(&slopes)
                    .map(|(y, slope)| y * slope)
                    .sum::<f64>(),
                memory,
            )
        };
        let (_, mut memory) = run(&values);
        let gradients = memory.gradients;
        memory.arena[gradients + 1..gradients + 1 + places[0].2].copy_from_slice(&slopes);
        reverse(&exec, &mut memory, &[7]);
        for index in places[0].2..values.len() {
            let step = 1e-5;
            let at = |change: f64| {
                let mut values = values.clone();
                values[index] += change;
                run(&values).0
            };
            let wanted = (at(step) - at(-step)) / (2.0 * step);
            let found = memory.arena[gradients + 1 + index];
            assert!(
                (wanted - found).abs() < 1e-8 * (1.0 + wanted.abs()),
                "{:?}: argument entry {index}: {found} by the rule, {wanted} by differences",
                exec.act
            );
        }
    }
}
