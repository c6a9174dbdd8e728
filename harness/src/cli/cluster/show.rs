//! `arbiter cluster`: who plays, for which runs, and with which key.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use tabled::builder::Builder;
use tabled::settings::Style;

use super::{AccessArgs, default_key};
use crate::broker::trust::Key;
use crate::broker::watch::{Cluster, listen};
use crate::cli::{ExitCode, Failure, emit, play};

/// How long is listened; workers greet more often.
const LISTEN: Duration = Duration::from_millis(3_500);

/// Flags of `arbiter cluster`.
#[derive(Debug, Args)]
pub struct ClusterCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Shows the workers and runs on a NATS server; listens for some seconds.
    Show(Box<ShowArgs>),
    /// Prints the public key that workers have to trust, and makes the key if there is none.
    Key(KeyArgs),
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// NATS server, such as nats://host:4222 or tls://host
    #[arg(long, value_name = "URL")]
    nats: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: AccessArgs,
}

#[derive(Debug, Args)]
struct KeyArgs {
    /// The key [default: arbiter/signing.key in the user's folder of settings]
    #[arg(long, value_name = "FILE")]
    signing_key: Option<PathBuf>,
}

/// Carries out the command.
pub fn cluster(command: ClusterCommand) -> ExitCode {
    let done = match command.what {
        What::Show(args) => show(*args),
        What::Key(args) => key(args),
    };
    match done {
        Ok(()) => ExitCode::Passed,
        Err(failure) => failure.report(),
    }
}

fn key(args: KeyArgs) -> Result<(), Failure> {
    let key = Key::load_or_make(&args.signing_key.map_or_else(default_key, Ok)?)?;
    emit(&format!("{}\n", key.public()))
}

fn show(args: ShowArgs) -> Result<(), Failure> {
    let access = args.access.access(args.nats)?;
    let cluster = play::runtime()?.block_on(async {
        let link = access.connect("arbiter cluster").await?;
        listen(&link, LISTEN).await
    })?;
    emit(&if args.json { as_json(&cluster) } else { as_text(&cluster) })
}

fn as_json(cluster: &Cluster) -> String {
    let workers = cluster.workers.values().map(|worker| {
        json!({
            "worker": worker.worker,
            "version": worker.version,
            "slots": worker.slots,
            "playing": worker.playing,
            "pairs": worker.pairs,
            "cores": worker.cores,
            "memory_mib": worker.memory_mib,
            "system": worker.system,
            "cpu": worker.cpu,
            "trouble": trouble(worker),
        })
    });
    let runs = cluster.runs.values().map(|run| {
        json!({
            "run": run.run,
            "token": run.token,
            "priority": run.priority,
            "pairs_queued": run.queued,
            "pairs_playing": run.playing,
        })
    });
    let report = json!({
        "schema": "arbiter.cluster/1",
        "workers": workers.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
    });
    format!("{report}\n")
}

/// What went wrong at a worker last: why it does not play a run, or else what happened.
fn trouble(worker: &crate::broker::wire::Hello) -> Option<&str> {
    let refused = worker.refusals.first().map(|(_, why)| why.as_str());
    refused.or(worker.trouble.as_deref())
}

fn as_text(cluster: &Cluster) -> String {
    let mut workers = Builder::default();
    workers.push_record(["worker", "playing", "pairs", "cores", "memory", "processor", "trouble"]);
    for worker in cluster.workers.values() {
        workers.push_record([
            worker.worker.clone(),
            format!("{} of {}", worker.playing, worker.slots),
            worker.pairs.to_string(),
            worker.cores.to_string(),
            format!("{} MiB", worker.memory_mib),
            worker.cpu.clone(),
            trouble(worker).unwrap_or("-").to_owned(),
        ]);
    }
    let mut runs = Builder::default();
    runs.push_record(["run", "priority", "queued", "playing"]);
    for run in cluster.runs.values() {
        let counts = [run.priority.into(), run.queued, run.playing].map(|n: u64| n.to_string());
        runs.push_record([run.run.clone()].into_iter().chain(counts));
    }
    let slots: u32 = cluster.workers.values().map(|worker| worker.slots).sum();
    let (workers_there, runs_there) = (cluster.workers.len(), cluster.runs.len());
    let mut text = format!("{workers_there} workers with {slots} slots, {runs_there} runs\n");
    for (table, count) in [(workers, workers_there), (runs, runs_there)] {
        if count > 0 {
            text += &format!("\n{}\n", table.build().with(Style::blank()));
        }
    }
    text
}
