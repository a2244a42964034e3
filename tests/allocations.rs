//! No step allocates: once the longest episode has been seen, running, differentiating and updating a
//! machine leave the heap alone.

use tapescope::model::config::{ControllerConfig, ControllerKind};
use tapescope::model::{Draw, Model, NtmConfig, Params, Trace, Workspace};
use tapescope::task::{Copy, Task};
use tapescope::train::{Clip, Optimizer, OptimizerConfig, clip, logit_gradient, score};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

// Without the test harness: its own thread allocates too, and every block of the process is counted.
fn main() {
    let profiler = dhat::Profiler::builder().testing().build();
    for kind in [ControllerKind::Lstm, ControllerKind::Feedforward] {
        let task = Task::Copy(Copy {
            bits: 8,
            length: 1..=20,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        config.controller = ControllerConfig {
            kind,
            size: 50,
            layers: 2,
        };
        (config.read_heads, config.write_heads) = (2, 2);
        let mut machine = Model::<f32>::new(config, 1);
        let mut traces = vec![Trace::new(&machine.config); 3];
        let mut workspaces = [(); 3].map(|()| Workspace::new(&machine.config));
        let mut gradient = Params::zeros(&machine.config);
        let rule = OptimizerConfig::RmsProp {
            rate: 1e-4,
            decay: 0.95,
            momentum: 0.9,
            epsilon: 1e-4,
        };
        let mut optimizer = Optimizer::new(rule, &machine.config);
        let mut loss = [0.0; 41];

        let mut allocations = |length: usize| {
            let episodes = [length, length.div_ceil(2), 1]
                .map(|length| task.clone().with_size(length).episode(1, 0));
            let before = dhat::HeapStats::get().total_blocks;
            let inputs = episodes
                .iter()
                .map(|episode| (&episode.input, Draw::default()));
            machine.run_together(inputs, usize::MAX, &mut traces);
            for (episode, (trace, workspace)) in
                episodes.iter().zip(traces.iter().zip(&mut workspaces))
            {
                score(episode, trace, &mut loss[..episode.steps()]);
                logit_gradient(episode, trace, 1.0, &mut workspace.by.logit);
            }
            machine.backward(&traces, &mut workspaces, &mut gradient);
            clip(&mut gradient, Clip::Elementwise(10.0));
            optimizer.update(&mut machine.params, &gradient, 1.0);
            dhat::HeapStats::get().total_blocks - before
        };
        assert!(
            allocations(20) > 0,
            "the first episode makes room; if not, nothing is counted here"
        );
        for length in [20, 3, 1, 12, 20] {
            assert_eq!(allocations(length), 0, "{kind:?}, length {length}");
        }
    }
    drop(profiler);
}
