//! No step allocates: once the longest episode has been seen, running, differentiating and updating a
//! machine leave the heap alone.

use tapescope::model::attention::{Score, Weighting};
use tapescope::model::config::{ControllerConfig, ControllerKind, ShiftForm};
use tapescope::model::{Draw, Kind, Model, NoiseMode, NtmConfig, Params, Terms, Trace, Workspace};
use tapescope::task::{Copy, Task};
use tapescope::train::{Clip, Optimizer, OptimizerConfig, Redundancy, clip, logit_gradient, score};

use crate::heap;

fn task() -> Task {
    Task::Copy(Copy {
        bits: 8,
        length: 1..=20,
    })
}

/// Those of the paper with each controller, and every way to attend.
fn machines() -> Vec<NtmConfig> {
    let mut machines = Vec::new();
    for kind in [ControllerKind::Lstm, ControllerKind::Feedforward] {
        let mut config = NtmConfig::new(1, 1);
        config.controller = ControllerConfig {
            kind,
            size: 50,
            layers: 2,
        };
        (config.read_heads, config.write_heads) = (2, 2);
        machines.push(config.clone());
        config.attention.score = vec![
            Score::Dot,
            Score::ScaledDot,
            Score::ScaledDot,
            Score::Additive,
        ]
        .into();
        config.attention.weighting = vec![
            Weighting::LocalMonotonic,
            Weighting::Weibull,
            Weighting::Soft,
            Weighting::Hard,
        ]
        .into();
        config.shift_form = ShiftForm::None.into();
        machines.push(config);
    }
    machines.push(NtmConfig::with_every_mechanism());
    for machine in &mut machines {
        machine.set_channels(task().inputs(), task().outputs());
    }
    machines
}

/// Without the test harness and before another thread starts: every block of the process is counted.
pub fn check_all() {
    for config in machines() {
        for (redundancy, sampling) in [
            (Redundancy::Off, NoiseMode::Mean),
            (Redundancy::Both(0.1), NoiseMode::Sampled),
            (Redundancy::Read(0.1), NoiseMode::Expected),
        ] {
            check(&config, redundancy, sampling);
        }
    }
}

fn check(config: &NtmConfig, redundancy: Redundancy, sampling: NoiseMode) {
    let task = task();
    let mut machine = Model::<f32>::new(config.clone(), 1);
    let mut traces = vec![Trace::new(&machine.config); 3];
    let mut workspaces = [(); 3].map(|()| Workspace::new(&machine.config));
    let mut gradient = Params::zeros(&machine.config);
    let rule = OptimizerConfig::RmsProp {
        learning_rate: 1e-4,
        decay: 0.95,
        momentum: 0.9,
        epsilon: 1e-4,
    };
    let mut optimizer = Optimizer::new(rule, &machine.config);
    let mut loss = [0.0; 41];

    let mut allocations = |length: usize| {
        let episodes = [length, length.div_ceil(2), 1]
            .map(|length| task.clone().with_size(length).episode(1, 0));
        let before = heap::count();
        let inputs = episodes.iter().map(|episode| {
            let draw = Draw {
                sampling,
                ..Draw::of(3, 0)
            };
            (&episode.input, draw)
        });
        machine.run_together(inputs, usize::MAX, &mut traces);
        for (episode, (trace, workspace)) in episodes.iter().zip(traces.iter().zip(&mut workspaces))
        {
            score(episode, trace, &mut loss[..episode.steps()]);
            let by = &mut workspace.upstream;
            logit_gradient(episode, trace, 1.0, &mut by.logit);
            redundancy.gradient(trace, 1.0, by);
            by.terms = Terms {
                divergence: 0.1,
                reward: 0.2,
                entropy: 0.3,
                ..Terms::default()
            };
        }
        machine.backward(&traces, &mut workspaces, &mut gradient);
        clip(&mut gradient, Clip::Elementwise(10.0));
        optimizer.update(&mut machine.params, &gradient, 1.0);
        heap::count() - before
    };
    assert!(
        allocations(20) > 0,
        "the first episode makes room; if not, nothing is counted here"
    );
    for length in [20, 3, 1, 12, 20] {
        let found = allocations(length);
        assert_eq!(found, 0, "{config:?}, {sampling:?}, length {length}");
    }
}
