//! Overview of the workers and runs on a NATS server, as a document.

use arbiter_names::quantity;
use arbiter_report::{Block, Document, Table};

use crate::monitor::{Cluster, WorkerState};
use crate::wire::WorkerStatus;

/// Returns the reason why a worker does not play a run or, if there is no such reason, the last
/// problem of the worker.
pub fn trouble(worker: &WorkerStatus) -> Option<&str> {
    let refused = worker.refusals.first().map(|(_, why)| why.as_str());
    refused.or(worker.trouble.as_deref())
}

/// Returns the bench speeds of engines on a worker, as text.
pub fn benches(worker: &WorkerStatus) -> String {
    let bench = |(engine, nps): &(String, f64)| {
        if *nps < 1e5 {
            format!("{engine} {:.1} knps", nps / 1e3)
        } else {
            format!("{engine} {:.2} Mnps", nps / 1e6)
        }
    };
    let benches: Vec<String> = worker.benches.iter().map(bench).collect();
    if benches.is_empty() { "-".to_owned() } else { benches.join(", ") }
}

/// Returns the overview of a cluster.
pub fn document(cluster: &Cluster) -> Document {
    let mut workers = Table::new([
        "worker",
        "state",
        "playing",
        "pairs",
        "pairs/min",
        "cores",
        "memory",
        "processor",
        "sandbox",
        "bench",
        "last problem",
    ]);
    for (name, worker, silent) in cluster.workers() {
        workers.push([
            &name,
            &WorkerState::of(worker, silent),
            &format!("{} of {}", worker.playing, worker.slots),
            &worker.pairs,
            &worker.pairs_per_minute().map_or("-".to_owned(), |pairs| format!("{pairs:.1}")),
            &worker.cores,
            &format!("{} MiB", worker.memory_mib),
            &worker.cpu,
            &if worker.sandbox.is_empty() { "-" } else { &worker.sandbox },
            &benches(worker),
            &trouble(worker).unwrap_or("-"),
        ]);
    }
    let runs = runs_table(cluster);
    let mut document = Document::new("Cluster".to_owned());
    document.blocks.push(Block::Paragraph { strong: cluster_text(cluster), text: String::new() });
    for (heading, table, is_empty) in [
        ("Workers", workers, cluster.workers().len() == 0),
        ("Runs", runs, cluster.runs().len() == 0),
    ] {
        if !is_empty {
            document.heading(heading);
            document.table(table);
        }
    }
    document
}

/// Returns the runs, as a table.
pub fn runs_table(cluster: &Cluster) -> Table {
    let mut runs = Table::new(["run", "priority", "pairs queued", "pairs playing"]);
    for run in cluster.runs() {
        runs.push([&run.run, &run.priority, &run.queued, &run.playing]);
    }
    runs
}

/// Returns a sentence with the numbers of workers, slots and runs, and the total throughput in
/// pairs per minute.
pub fn cluster_text(cluster: &Cluster) -> String {
    // A silent worker may have stopped, so its last numbers are ignored.
    let is_heard = |&(_, worker, silent): &(&str, &WorkerStatus, u32)| {
        WorkerState::of(worker, silent) != WorkerState::Silent
    };
    let workers = || cluster.workers().filter(is_heard).map(|(_, worker, _)| worker);
    let slots: u32 = workers().map(|worker| worker.slots).sum();
    let playing: u32 = workers().map(|worker| worker.playing).sum();
    // An empty sum of floats is -0, which would be shown with its sign.
    let pace = 0.0 + workers().filter_map(WorkerStatus::pairs_per_minute).sum::<f64>();
    format!(
        "{} with {}, {playing} playing, {pace:.1} pairs per minute; {}.",
        quantity(workers().count(), "worker"),
        quantity(slots, "slot"),
        quantity(cluster.runs().len(), "run"),
    )
}
