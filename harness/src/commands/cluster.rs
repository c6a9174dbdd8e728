//! `arbiter cluster`: setup and status of a private NATS server, and the signing key.

mod server;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use crate::fleet::{AccessArgs, ServerName, signing_key};
use crate::output::{OutputFormat, Rows, print_report, print_result};
use crate::{failure::Failure, runtime::runtime};
use arbiter_cluster::{Cluster, RunId, document, observe, trouble};
use arbiter_report::to_value;

/// Time spent listening for workers and runs; workers send their status every three seconds.
const LISTEN: Duration = Duration::from_millis(3_500);

// A doc comment would replace the description of the command.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Create a folder with the configuration of a NATS server, and with a join file for the
    /// coordinator and for each worker.
    Init(Box<server::InitArgs>),
    /// Create join files for more workers.
    Add(server::AddArgs),
    /// Run the NATS server configured in a folder from init, until Ctrl-C.
    Up(server::UpArgs),
    /// Listen to a NATS server for some seconds, and show its workers and runs.
    Show(Box<ShowArgs>),
    /// Print the public signing key, which workers have to trust; create a key if none exists.
    Key {
        /// File of the key [default: arbiter/signing.key in the user's settings folder]
        #[arg(long, value_name = "FILE")]
        signing_key: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// NATS server: the coordinator's join file (*.join) or a URL such as tls://host:4222
    #[arg(long, value_name = "FILE|URL")]
    on: ServerName,
    /// Format of the output; csv contains only the workers
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    access: AccessArgs,
}

/// Runs the command.
pub(crate) fn run(command: ClusterCommand) -> Result<(), Failure> {
    match command {
        ClusterCommand::Init(args) => server::init(*args),
        ClusterCommand::Add(args) => server::add(&args),
        ClusterCommand::Up(args) => server::up(&args),
        ClusterCommand::Show(args) => show(*args),
        ClusterCommand::Key { signing_key: file } => {
            print_result(&format!("{}\n", signing_key(file)?.public()))
        }
    }
}

fn show(args: ShowArgs) -> Result<(), Failure> {
    let (access, _) = args.access.of_coordinator(args.on)?;
    let cluster = runtime()?.block_on(async {
        let connection = access.connect("arbiter cluster").await?;
        observe(&connection, LISTEN).await
    })?;
    let rows = Rows { list: Some("workers"), first: &["worker", "slots", "playing"] };
    let document = document(&cluster);
    print_report(&args.format.of_document(&document, || to_value(&figures(&cluster)), rows))
}

/// Workers and runs on a NATS server: `arbiter cluster show`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.cluster/2")]
pub(crate) struct ClusterFigures<'a> {
    /// Workers on the server.
    workers: Vec<WorkerFigures<'a>>,
    /// Runs on the server.
    runs: Vec<RunFigures<'a>>,
}

/// Figures of a worker, as reported by the worker.
#[derive(Debug, Serialize, JsonSchema)]
struct WorkerFigures<'a> {
    /// Name of the worker.
    worker: &'a str,
    /// Version of the worker's program.
    version: &'a str,
    /// Maximum number of concurrent games.
    slots: u32,
    /// Number of games in progress.
    playing: u32,
    /// Number of pairs played since the worker started.
    pairs: u64,
    /// Pairs per minute over the last minutes; `null` before the first sample.
    pairs_per_minute: Option<f64>,
    /// Number of processor cores.
    cores: u32,
    /// Memory in MiB; 0 if unknown.
    memory_mib: u64,
    /// Operating system.
    system: &'a str,
    /// Processor model.
    cpu: &'a str,
    /// Sandbox of engines, such as `landlock 7, seccomp` or `off`; empty if not reported.
    sandbox: &'a str,
    /// Bench speeds in nodes per second, by engine.
    bench_nps: BTreeMap<&'a str, f64>,
    /// Last problem of the worker, if there is one.
    problem: Option<&'a str>,
}

/// Figures of a run, as announced by its coordinator.
#[derive(Debug, Serialize, JsonSchema)]
struct RunFigures<'a> {
    /// Name of the run.
    run: &'a str,
    /// ID of the run on the server.
    #[schemars(with = "String")]
    run_id: &'a RunId,
    /// Priority of the run; higher numbers come first.
    priority: u8,
    /// Number of pairs that wait for a worker.
    pairs_queued: u64,
    /// Number of pairs in progress.
    pairs_playing: u64,
}

fn figures(cluster: &Cluster) -> ClusterFigures<'_> {
    let workers = cluster.workers().map(|(name, worker, _)| WorkerFigures {
        worker: name,
        version: &worker.version,
        slots: worker.slots,
        playing: worker.playing,
        pairs: worker.pairs,
        pairs_per_minute: worker.pairs_per_minute(),
        cores: worker.cores,
        memory_mib: worker.memory_mib,
        system: &worker.system,
        cpu: &worker.cpu,
        sandbox: &worker.sandbox,
        bench_nps: worker.benches.iter().map(|(engine, nps)| (engine.as_str(), *nps)).collect(),
        problem: trouble(worker),
    });
    let runs = cluster.runs().map(|run| RunFigures {
        run: &run.run,
        run_id: &run.run_id,
        priority: run.priority,
        pairs_queued: run.queued,
        pairs_playing: run.playing,
    });
    ClusterFigures { workers: workers.collect(), runs: runs.collect() }
}
