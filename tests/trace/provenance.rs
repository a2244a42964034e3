//! Provenance of reads and output bits of all included machines, recorded and imported.

use tapescope::analysis::provenance::{Origin, Provenance, Target, Writes};
use tapescope::io::weights;
use tapescope::model::ModelConfig;
use tapescope::train::Recording;

use super::machines;

/// The sum of the amounts of a provenance, and of their magnitudes.
fn sums(found: &Provenance) -> [f64; 2] {
    let amounts = found.parts.iter().map(|part| part.amount);
    [amounts.clone().sum(), amounts.map(f64::abs).sum()]
}

#[test]
fn reads_and_bits_of_every_included_machine_are_sums_over_writes() {
    let mut without_reads = Vec::new();
    for trained in machines() {
        let (machine, name) = (&trained.machine, trained.experiment.name.clone());
        let recording = Recording::new(machine, &trained.experiment.task, 1, 0);
        let writes = Writes::of(&recording, &machine.config).unwrap();
        let trace = &recording.trace;
        let steps = (0..trace.steps()).step_by(5).chain([trace.steps() - 1]);
        let reads = (0..machine.config.read_heads())
            .flat_map(|head| steps.clone().map(move |step| (head, step)));
        for (head, step) in reads {
            let found = match writes.made(Target::Read(head, step), None) {
                Ok(found) => found,
                Err(problem) => {
                    without_reads.push(format!("{name}: {problem}"));
                    continue;
                }
            };
            for (m, &read) in trace.heads[head].read.row(step).iter().enumerate() {
                let values = found.parts.iter().map(|part| part.values[m]);
                let (sum, size) = (
                    values.clone().sum::<f64>(),
                    values.map(f64::abs).sum::<f64>(),
                );
                assert!(
                    (sum - f64::from(read)).abs() < 1e-5 * size.max(1.0),
                    "{name}, step {step}: {sum} is not {read}"
                );
            }
        }
        let is_linear = match &machine.config {
            ModelConfig::Equations(config) => config.is_controller(),
            _ => true,
        };
        for step in steps {
            let found = writes.made(Target::Bit(step, 0), Some(machine));
            assert_eq!(found.is_ok(), is_linear, "{name}");
            let Ok(found) = found else { break };
            let [sum, size] = sums(&found);
            assert!(
                (sum - found.total).abs() < 1e-5 * size.max(1.0),
                "{name}, step {step}"
            );
        }
    }
    without_reads.dedup();
    let others =
        "span_attention_over_attention: read0 reads something other than a sum of memory rows";
    assert_eq!(without_reads, [others]);
}

#[test]
fn an_imported_trace_has_the_same_provenance() {
    let trained = &weights::all_included().unwrap()[0];
    let machine = &trained.machine.with_rows(16).unwrap();
    let recording = Recording::new(machine, &trained.experiment.task.clone().with_size(5), 7, 2);
    let imported = super::opened(&super::json(machine, &recording));
    let [own, other] = [&recording, &imported.recording]
        .map(|recording| Writes::of(recording, &machine.config).unwrap());
    let step = recording.trace.steps() - 2;
    for [own, other] in [
        [
            own.made(Target::Read(0, step), None),
            other.made(Target::Read(0, step), None),
        ],
        [
            own.made(Target::Bit(step, 1), Some(machine)),
            other.made(Target::Bit(step, 1), Some(machine)),
        ],
    ] {
        assert_eq!(format!("{own:?}"), format!("{other:?}"));
    }
    let write = Origin::Write(1, 2);
    assert_eq!(
        format!("{:?}", own.uses(write)),
        format!("{:?}", other.uses(write))
    );
}
