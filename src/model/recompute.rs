//! Every stage of a recorded episode again, from the parameters that the heads emitted.

use super::ModelConfig;
use super::config::Order;
use super::memory;
use super::ntm::{address, compare};
use super::trace::Trace;
use crate::math::Real;

/// What the stages of every step, the reads and the memories must have been: each from the recorded
/// parameters of its step, the recorded memory before it and the recorded weighting of the step before, so
/// that one wrong number does not make all wrong that follow.
///
/// Needs no weights: a trace of any program can be recomputed.
pub fn recompute<R: Real>(config: &ModelConfig, recorded: &Trace<R>) -> Trace<R> {
    let mut again = recorded.clone();
    let (steps, epsilon) = (again.steps(), R::from_f64(config.similarity_epsilon));
    again.norms.resize(steps);
    let Trace {
        heads,
        memory_columns,
        norms,
        ..
    } = &mut again;
    // From the last step to the first, and in a step what comes last first: whatever is read is as it was
    // recorded.
    for t in (0..steps).rev() {
        let (before, after) = memory_columns.previous_and_row_mut(t + 1);
        let norms = norms.row_mut(t);
        match config.order {
            Order::ReadFirst => {
                memory::read_and_write(heads, t, before, after);
                compare(heads, t, before, epsilon, norms);
                address(heads, t);
            }
            Order::WriteFirst => {
                let (readers, writers) = heads.split_at_mut(config.read_heads);
                memory::read(readers, t, after);
                compare(readers, t, after, epsilon, norms);
                address(readers, t);
                memory::write(writers, t, before, after);
                compare(writers, t, before, epsilon, norms);
                address(writers, t);
            }
        }
    }
    again
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ntm;
    use crate::task::{Copy, Task};

    fn recorded(order: Order) -> (ModelConfig, Trace<f32>) {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let mut config = ModelConfig::new(task.inputs(), task.outputs());
        (config.rows, config.read_heads, config.write_heads) = (37, 2, 3);
        config.order = order;
        let machine = Ntm::new(config.clone(), 5);
        let mut trace = Trace::new(&config);
        machine.run(&task.episode(1, 0).input, &mut trace);
        (config, trace)
    }

    #[test]
    fn what_the_machine_did_comes_out_again_to_the_bit() {
        for order in [Order::ReadFirst, Order::WriteFirst] {
            let (config, mut trace) = recorded(order);
            let again = recompute(&config, &trace);
            if order == Order::WriteFirst {
                // Of two memories in a step one has its norms kept: which, is of no account.
                trace.norms = again.norms.clone();
            }
            assert_eq!(again, trace);
        }
    }

    #[test]
    fn a_wrong_number_is_wrong_where_it_stands() {
        let (config, mut trace) = recorded(Order::ReadFirst);
        let honest = trace.clone();
        trace.heads[1].shifted.row_mut(2)[7] += 0.25;
        assert_eq!(recompute(&config, &trace), honest);
    }
}
