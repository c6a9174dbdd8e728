//! `arbiter worker`: a process that plays pairs for runs coordinated by other machines.

use std::path::PathBuf;

use clap::Args;
use tokio::sync::watch;

use crate::fleet::{AccessArgs, ServerName};
use crate::{
    console::LogArgs, engine_builds::own_binary, failure::Failure, metrics::MetricsArgs,
    project::user_folder, runtime::runtime,
};
use arbiter_cluster::wire::{WorkerStatus, is_worker_name};
use arbiter_cluster::{Access, Config, Phase, PublicKey, Role, WorkerMetrics, serve};
use arbiter_names::quantity;
use arbiter_plan::{SandboxMode, default_concurrency};
use arbiter_process::{
    ResourceLimits, Sandbox, SandboxSupport, Spawner, host_name, memory_mib, processor_name,
};
use arbiter_report::note;
use arbiter_run::MAX_SLOTS;
use arbiter_runner::{Signals, StopSignal};
use arbiter_settings::{SANDBOXES, at_least_one, one_of};

/// Default maximum size of a file that an engine may write, in MiB: far more than any log or table
/// of an engine, but too little to fill a disk.
const FILE_MIB: u64 = 1024;

/// Default maximum number of processes and threads of the user: more than engines need on any
/// machine, but too few to bring a machine down.
const PROCESSES: u64 = 8192;

/// Flags of `arbiter worker`.
#[derive(Debug, Args)]
#[command(after_help = "\
A worker plays for every run that is on the server and signed with a trusted key: the run with the
highest priority first, and runs of equal priority in equal shares. The worker starts the programs
of these runs, identified by hashes, in a sandbox; nevertheless, run the worker as a separate user.
Programs must run on this machine unchanged; files that the programs read, such as NNUE files, must
be at the paths given in the engine options, and below a path given with --readable.

Ctrl-C ends the worker when its pairs in progress are finished. A second Ctrl-C ends the worker
immediately; other workers then play the unfinished pairs. While a worker tries to reconnect to the
server, one Ctrl-C ends the worker immediately.

Exit codes: 0 after Ctrl-C or a signal; 2 for usage errors, 3 for invalid input, 7 for an environment error, or
if --sandbox require is given and no complete sandbox is available; 8 if the server cannot be reached, refuses the
connection, or lacks encryption or authentication (see --insecure).

Examples:
  arbiter worker --on worker1.join
  arbiter worker --on worker1.join --slots 8 --readable ~/nnue")]
pub(crate) struct WorkerArgs {
    /// Number of concurrent games [default: the number of processors minus 1]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    slots: Option<usize>,
    /// Folder for downloaded programs [default: arbiter/programs in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// Maximum address space of each engine process, in MiB; a run can only lower this limit
    #[arg(long, value_name = "MIB")]
    memory: Option<u64>,
    /// Maximum size of a file that an engine process may write, in MiB
    #[arg(long, value_name = "MIB", default_value_t = FILE_MIB)]
    file_size: u64,
    /// Maximum total CPU time of an engine process, in seconds; a process that exceeds this limit
    /// is killed, and the engine loses the game
    #[arg(long, value_name = "SEC", value_parser = clap::value_parser!(u64).range(1..))]
    cpu_time: Option<u64>,
    /// Maximum number of processes and threads of the worker's user; at this number, an engine
    /// cannot start another process. Root is exempt
    #[arg(long, value_name = "N", default_value_t = PROCESSES)]
    processes: u64,
    /// Sandbox for engines and their benches: an engine can write only to a separate empty home
    /// folder, which is also the engine's working folder. An engine can read only the system's
    /// programs and libraries and its own program, and cannot access the network, other processes,
    /// or environment variables that may contain a secret
    #[arg(long, value_parser = one_of(SANDBOXES), default_value_t = SandboxMode::Auto)]
    sandbox: SandboxMode,
    /// File or folder that engines may also read, such as a folder of NNUE files; may be repeated
    #[arg(long, value_name = "PATH")]
    readable: Vec<PathBuf>,
    /// NATS server: the join file of this worker (*.join), written by 'arbiter cluster init' or
    /// 'add'; or, with --trust, URLs such as tls://host:4222, separated by commas
    #[arg(long, value_name = "FILE|URL")]
    on: ServerName,
    /// Public key of a coordinator whose programs may be started on this machine, or a file with
    /// the key; 'arbiter cluster key' prints the key; may be repeated
    #[arg(long, value_name = "KEY")]
    trust: Vec<String>,
    /// Name of the worker if --on is a URL: letters, digits, '.', '_' and '-'; unique on the server
    /// [default: host name and process ID]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    pub log: LogArgs,
}

/// Plays until a signal ends the worker.
pub(crate) fn run(mut args: WorkerArgs) -> Result<(), Failure> {
    let slots = args.slots.unwrap_or_else(|| default_concurrency(true));
    if slots > MAX_SLOTS {
        return Err(Failure::invalid(format!("--slots: at most {MAX_SLOTS} concurrent games")));
    }
    let (access, name, trusted) = entry(&mut args)?;
    let bytes = |mib: u64| mib.saturating_mul(1 << 20);
    let folder = args.programs.map_or_else(default_folder, Ok)?;
    // Engines are started in other folders, where a relative path would be wrong.
    let folder = std::path::absolute(&folder).map_err(Failure::environment)?;
    let config = Config {
        trusted,
        folder,
        limits: ResourceLimits {
            memory_bytes: args.memory.map(bytes),
            file_bytes: Some(bytes(args.file_size)),
            cpu_seconds: args.cpu_time,
            processes: Some(args.processes),
        },
        sandbox: sandbox(args.sandbox, &args.readable)?,
        own_binary: own_binary()?,
        spawner: Spawner::start().map_err(Failure::environment)?,
        status: status(slots, args.sandbox),
        name,
        metrics: WorkerMetrics::default(),
    };
    Sandbox::remove_leftovers();
    let runtime = runtime()?;
    if let Some(mut endpoint) = args.metrics.open()? {
        config.metrics.register(&mut endpoint.registry, config.status.slots);
        endpoint.serve(runtime.handle())?;
    }
    runtime.block_on(async {
        let mut signals = Signals::listen().map_err(Failure::environment)?;
        let client_name = format!("arbiter worker {}", config.name);
        let connection = tokio::select! {
            connection = access.connect(&client_name) => connection?,
            _ = signals.next() => return Ok(()),
        };
        log::info!(
            worker:% = config.name;
            "worker {} on {}: {}, programs in {}, sandbox: {}",
            config.name,
            access.place(),
            quantity(config.status.slots, "slot"),
            config.folder.display(),
            config.status.sandbox
        );
        let (phase, phases) = watch::channel(Phase::Working);
        let server = connection.clone();
        let serving = serve(connection, config, phases);
        tokio::pin!(serving);
        loop {
            tokio::select! {
                served = &mut serving => return served.map_err(Failure::from),
                request = signals.next() => phase.send_modify(|phase| {
                    *phase = match (*phase, request) {
                        // Without a server, the results of the current pairs could not be sent, so
                        // finishing the pairs would be useless.
                        (Phase::Working, StopSignal::Interrupt) if server.is_connected() => {
                            note("finishing pairs in progress; press Ctrl-C again to stop");
                            Phase::Leaving
                        }
                        _ => Phase::Aborting,
                    };
                }),
            }
        }
    })
}

/// Returns the access to the server, the worker's name, and the keys that the worker trusts.
fn entry(args: &mut WorkerArgs) -> Result<(Access, String, Vec<PublicKey>), Failure> {
    if matches!(args.on, ServerName::Url(_)) && args.trust.is_empty() {
        return Err(Failure::usage("--on: a URL requires --trust KEY, as printed by the run"));
    }
    let (access, role) = std::mem::take(&mut args.access).access(args.on.clone())?;
    let trusted = args.trust.iter().map(|text| PublicKey::read(text));
    let mut trusted = trusted.collect::<Result<Vec<_>, _>>().map_err(Failure::invalid)?;
    let name = match role {
        Some(Role::Worker(..)) if args.name.is_some() => {
            return Err(Failure::usage("--name: the join file defines the name"));
        }
        Some(Role::Worker(name, key)) => {
            trusted.push(key);
            name
        }
        Some(Role::Coordinator(_)) => {
            return Err(Failure::invalid("--on: a coordinator's join file; expected a worker's"));
        }
        None => args.name.clone().unwrap_or_else(default_name),
    };
    if !is_worker_name(&name) {
        return Err(Failure::invalid(format!("invalid worker name '{name}'")));
    }
    Ok((access, name, trusted))
}

fn default_name() -> String {
    // The name becomes part of NATS subjects.
    let plain = |c: &char| c.is_ascii_alphanumeric() || "._-".contains(*c);
    let host: String = host_name().chars().filter(plain).take(40).collect();
    // The process ID is included because two workers on one machine need different names.
    format!("{}-{}", if host.is_empty() { "worker" } else { &host }, std::process::id())
}

fn default_folder() -> Result<PathBuf, Failure> {
    Ok(user_folder("XDG_CACHE_HOME", ".cache", "--programs")?.join("programs"))
}

/// Returns the sandbox of engines, without resource limits.
fn sandbox(mode: SandboxMode, readable: &[PathBuf]) -> Result<Option<Sandbox>, Failure> {
    if mode == SandboxMode::Require {
        SandboxSupport::detect().complete().map_err(Failure::environment)?;
    }
    let existing = |path: &PathBuf| {
        path.canonicalize()
            .map_err(|error| Failure::invalid(format!("--readable {}: {error}", path.display())))
    };
    let readable = readable.iter().map(existing).collect::<Result<_, _>>()?;
    Ok(arbiter_runner::sandbox(mode, readable))
}

/// Returns the constant part of the worker's status.
fn status(slots: usize, sandbox: SandboxMode) -> WorkerStatus {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    WorkerStatus {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        slots: u32::try_from(slots).unwrap_or(u32::MAX),
        cores: u32::try_from(cores).unwrap_or(u32::MAX),
        memory_mib: memory_mib(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        cpu: processor_name().unwrap_or_else(|| "unknown".to_owned()),
        sandbox: match sandbox {
            SandboxMode::Off => sandbox.to_string(),
            SandboxMode::Auto | SandboxMode::Require => SandboxSupport::detect().to_string(),
        },
        ..WorkerStatus::default()
    }
}
