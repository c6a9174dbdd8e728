//! `arbiter cluster`: who plays, for which runs, and with which key.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{AccessArgs, default_key};
use crate::broker::trust::Key;
use crate::broker::watch::{Cluster, listen};
use crate::broker::wire::Hello;
use crate::cli::console::width;
use crate::cli::form::{Form, Rows};
use crate::cli::{ExitCode, Failure, emit, play};
use crate::report::document::{Block, Document};
use crate::report::table::Table;
use crate::report::{markdown, plain};

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
    /// Form of the output; csv has the workers
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
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
    let rows = Rows { list: Some("workers"), first: &["worker", "slots", "playing"] };
    emit(&args.format.render(
        || plain::render(&document(&cluster), width()),
        || markdown::render(&document(&cluster)),
        || as_json(&cluster),
        rows,
    ))
}

fn as_json(cluster: &Cluster) -> Value {
    let workers = cluster.workers().map(|worker| {
        json!({
            "worker": worker.worker,
            "version": worker.version,
            "slots": worker.slots,
            "playing": worker.playing,
            "pairs": worker.pairs,
            "pairs_per_minute": worker.pairs_per_minute(),
            "cores": worker.cores,
            "memory_mib": worker.memory_mib,
            "system": worker.system,
            "cpu": worker.cpu,
            "bench_nps": worker.benches.iter().cloned().collect::<BTreeMap<String, f64>>(),
            "trouble": trouble(worker),
        })
    });
    let runs = cluster.runs().map(|run| {
        json!({
            "run": run.run,
            "token": run.token,
            "priority": run.priority,
            "pairs_queued": run.queued,
            "pairs_playing": run.playing,
        })
    });
    json!({
        "schema": "arbiter.cluster/1",
        "workers": workers.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
    })
}

/// What went wrong at a worker last: why it does not play a run, or else what happened.
fn trouble(worker: &Hello) -> Option<&str> {
    let refused = worker.refusals.first().map(|(_, why)| why.as_str());
    refused.or(worker.trouble.as_deref())
}

/// How fast engines are there.
fn benches(worker: &Hello) -> String {
    let bench = |(engine, nps): &(String, f64)| match *nps < 1e5 {
        true => format!("{engine} {:.1} knps", nps / 1e3),
        false => format!("{engine} {:.2} Mnps", nps / 1e6),
    };
    let benches: Vec<String> = worker.benches.iter().map(bench).collect();
    if benches.is_empty() { "-".to_owned() } else { benches.join(", ") }
}

/// What people get to see of a cluster.
pub fn document(cluster: &Cluster) -> Document {
    let mut workers = Table::new([
        "worker",
        "playing",
        "pairs",
        "pairs/min",
        "cores",
        "memory",
        "processor",
        "bench",
        "last trouble",
    ]);
    for worker in cluster.workers() {
        workers.push([
            worker.worker.clone(),
            format!("{} of {}", worker.playing, worker.slots),
            worker.pairs.to_string(),
            worker.pairs_per_minute().map_or("-".to_owned(), |pairs| format!("{pairs:.1}")),
            worker.cores.to_string(),
            format!("{} MiB", worker.memory_mib),
            worker.cpu.clone(),
            benches(worker),
            trouble(worker).unwrap_or("-").to_owned(),
        ]);
    }
    let mut runs = Table::new(["run", "priority", "pairs queued", "pairs playing"]);
    for run in cluster.runs() {
        let counts = [run.priority.into(), run.queued, run.playing].map(|n: u64| n.to_string());
        let [priority, queued, playing] = counts;
        runs.push([run.run.clone(), priority, queued, playing]);
    }
    let mut document = Document::new("Cluster".to_owned());
    document.blocks.push(Block::Paragraph { strong: in_words(cluster), text: String::new() });
    for (heading, table, is_empty) in [
        ("Workers", workers, cluster.workers().next().is_none()),
        ("Runs", runs, cluster.runs().next().is_none()),
    ] {
        if !is_empty {
            document.blocks.push(Block::Heading(heading.to_owned()));
            document.table(table);
        }
    }
    document
}

/// How many there are, and what they do together.
fn in_words(cluster: &Cluster) -> String {
    let slots: u32 = cluster.workers().map(|worker| worker.slots).sum();
    let playing: u32 = cluster.workers().map(|worker| worker.playing).sum();
    let pace: f64 = cluster.workers().filter_map(Hello::pairs_per_minute).sum();
    format!(
        "{} with {}, {playing} playing, {pace:.1} pairs a minute; {}.",
        count(cluster.workers().count(), "worker"),
        count(slots as usize, "slot"),
        count(cluster.runs().count(), "run"),
    )
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
