//! Fixtures for tests of figures.
#![cfg(test)]

use crate::model::{Model, NtmConfig};
use crate::task::{Copy, Task};
use crate::train::Recording;

/// An untrained machine with two heads of each kind.
pub fn recording() -> Recording {
    let task = Task::Copy(Copy {
        bits: 3,
        length: 4..=4,
    });
    let mut config = NtmConfig::new(task.inputs(), task.outputs());
    (config.rows, config.columns, config.controller.size) = (12, 5, 4);
    (config.read_heads, config.write_heads) = (2, 2);
    Recording::new(&Model::new(config, 3), &task, 7, 0)
}
