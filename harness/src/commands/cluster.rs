//! `arbiter cluster`: setup and status of a private NATS server, and the signing key.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use crate::fleet::{AccessArgs, ServerName, signing_key};
use crate::output::{OutputFormat, Rows, print_report, print_result, quoted};
use crate::{failure::Failure, runtime::runtime};
use arbiter_cluster::{
    CONFIGURATION, RunId, SetupError, add_workers, document, join_path, make_server, observe,
    trouble,
};
use arbiter_process::{host_name, read_text, replace_process, try_lock};
use arbiter_report::to_value;
use arbiter_runner::unix_time_ms;

/// Time spent listening for workers and runs; workers send their status every three seconds.
const LISTEN: Duration = Duration::from_millis(3_500);

/// Maximum number of workers for which `init` creates join files.
const MAX_WORKERS: u16 = 1_000;

/// Programs to try as the server. Debian installs the server in `/usr/sbin`, which is not in every
/// user's PATH.
const PROGRAMS: [&str; 2] = ["nats-server", "/usr/sbin/nats-server"];

// A doc comment would replace the description of the command.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Create a folder with the configuration of a NATS server, and with a join file for the
    /// coordinator and for each worker.
    Init(Box<InitArgs>),
    /// Create join files for more workers.
    Add(AddArgs),
    /// Run the NATS server configured in a folder from init, until Ctrl-C.
    Up(UpArgs),
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
#[command(after_help = "\
Writes the configuration of a NATS server with encryption and authentication to DIR (nats.conf, users.conf,
and a certificate that is valid for ten years), and a join file with the credentials of each user:
coordinator.join, worker1.join and so on. Keep the join files secret.

  arbiter cluster up --dir DIR            on the machine of the server
  arbiter worker --on worker1.join        on a machine that plays, with a separate join file
  arbiter sprt … --on coordinator.join    on the machine that owns the run

Exit codes: 0 on success; 2 for usage errors, 3 for an invalid name or a DIR that is not empty, 7 if a file
cannot be written.")]
pub(crate) struct InitArgs {
    /// Folder to create
    #[arg(long)]
    dir: PathBuf,
    /// Number of workers, named worker1, worker2 and so on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_WORKERS)), required_unless_present = "worker")]
    workers: Option<u16>,
    /// Name of an additional worker: letters, digits, '_', '-'; may be repeated
    #[arg(long, value_name = "NAME")]
    worker: Vec<String>,
    /// Host name or address of the server for workers; may be repeated for additional names in the
    /// certificate. Join files contain the first name [default: the name of this machine]
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Port of the server
    #[arg(long, default_value_t = 4222)]
    port: u16,
    /// Coordinator's signing key, which workers trust; created if missing [default:
    /// arbiter/signing.key in the user's settings folder]
    #[arg(long, value_name = "FILE")]
    signing_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Reload the users of a running server: nats-server --signal reload=DIR/nats.pid

To remove a worker, delete its block from DIR/users.conf and reload the users.

Exit codes: 0 on success; 2 for usage errors, 3 for an invalid name or join file, 7 if a file cannot be read or
written.")]
pub(crate) struct AddArgs {
    /// Folder created by 'arbiter cluster init'
    #[arg(long)]
    dir: PathBuf,
    /// Name of a worker: letters, digits, '_', '-'
    #[arg(value_name = "NAME", required = true)]
    workers: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
nats-server replaces this process: Ctrl-C ends the server, and SIGHUP makes the server reload its users.
The server stores its data in DIR/data.

Exit codes: those of nats-server (0 after Ctrl-C, 1 after SIGTERM or if it cannot run); 3 if DIR has no
configuration, 7 if nats-server is not found or already runs in DIR.")]
pub(crate) struct UpArgs {
    /// Folder created by 'arbiter cluster init'
    #[arg(long)]
    dir: PathBuf,
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
        ClusterCommand::Init(args) => init(*args),
        ClusterCommand::Add(args) => add(&args),
        ClusterCommand::Up(args) => up(&args),
        ClusterCommand::Show(args) => show(*args),
        ClusterCommand::Key { signing_key: file } => {
            print_result(&format!("{}\n", signing_key(file)?.public()))
        }
    }
}

fn init(args: InitArgs) -> Result<(), Failure> {
    let key = signing_key(args.signing_key)?;
    let hosts = if args.hosts.is_empty() { vec![host_name()] } else { args.hosts };
    let numbered = (1..=args.workers.unwrap_or(0)).map(|number| format!("worker{number}"));
    let workers: Vec<String> = numbered.chain(args.worker).collect();
    make_server(&args.dir, &hosts, args.port, &workers, &key, unix_time_ms())?;
    let host = &hosts[0];
    let port = args.port;
    let dir = quoted(&args.dir);
    print_result(&format!(
        "On this machine, which all others must be able to reach as {host}, port {port}:\n  \
         arbiter cluster up --dir {dir}\n{}On the machine that owns the runs, with this file:\n  \
         arbiter sprt … --on {}\n",
        joining(&args.dir, &workers),
        quoted(&join_path(&args.dir, "coordinator"))
    ))
}

fn add(args: &AddArgs) -> Result<(), Failure> {
    add_workers(&args.dir, &args.workers)?;
    print_result(&format!(
        "Reload a running server:\n  nats-server --signal reload={}\n{}",
        quoted(&args.dir.join("nats.pid")),
        joining(&args.dir, &args.workers)
    ))
}

/// Returns the commands that start the workers.
fn joining(dir: &Path, workers: &[String]) -> String {
    let line =
        |worker: &String| format!("  arbiter worker --on {}\n", quoted(&join_path(dir, worker)));
    let lines: String = workers.iter().map(line).collect();
    format!("On each machine that plays, with its own join file:\n{lines}")
}

/// Replaces this process with the server.
fn up(args: &UpArgs) -> Result<(), Failure> {
    if !args.dir.join(CONFIGURATION).is_file() {
        let dir = args.dir.display();
        return Err(Failure::invalid(format!(
            "no {CONFIGURATION} in {dir}\nhint: create it with 'arbiter cluster init --dir {dir}'"
        )));
    }
    // A failed attempt to start the server changes the current folder of this process, so a
    // relative path would no longer be valid.
    let dir = std::path::absolute(&args.dir).map_err(Failure::environment)?;
    let lock = lock(&dir)?;
    for program in PROGRAMS {
        let mut server = Command::new(program);
        // The server does not read its standard input, so this descriptor can hold the lock until
        // the server ends.
        server.stdin(lock.try_clone().map_err(Failure::environment)?);
        let error = replace_process(server.args(["-c", CONFIGURATION]).current_dir(&dir));
        if error.kind() != ErrorKind::NotFound {
            return Err(Failure::environment(format!("cannot start {program}: {error}")));
        }
    }
    let message = "no nats-server in PATH\nhint: install it (Debian package nats-server)";
    Err(Failure::environment(message))
}

/// Locks a folder. The returned file is the lock; the server inherits the lock.
fn lock(dir: &Path) -> Result<File, Failure> {
    let configuration = File::open(dir.join(CONFIGURATION)).map_err(Failure::environment)?;
    // A second server in the folder would open the streams of the first server, and overwrite
    // `nats.pid`, before detecting that the port is in use.
    if try_lock(&configuration).map_err(Failure::environment)? {
        return Ok(configuration);
    }
    let process = read_text(&dir.join("nats.pid")).unwrap_or_default();
    let process = process.lines().next().unwrap_or("unknown");
    let dir = dir.display();
    Err(Failure::environment(format!("a server is already running in {dir} (process {process})")))
}

fn show(args: ShowArgs) -> Result<(), Failure> {
    let (access, _) = args.access.of_coordinator(args.on)?;
    let cluster = runtime()?.block_on(async {
        let connection = access.connect("arbiter cluster").await?;
        observe(&connection, LISTEN).await
    })?;
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
    let figures = ClusterFigures { workers: workers.collect(), runs: runs.collect() };
    let rows = Rows { list: Some("workers"), first: &["worker", "slots", "playing"] };
    print_report(&args.format.of_document(&document(&cluster), || to_value(&figures), rows))
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

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Failure {
        Failure::classify(matches!(error, SetupError::Environment(_)), error)
    }
}
