//! Flags of runs on other machines, and the connection to the workers.

mod access;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use tokio::time::timeout;

use self::access::of_file;
pub(crate) use self::access::{AccessArgs, ServerName};
use crate::output::quoted;
use crate::{exit_code::ExitCode, failure::Failure, project::user_folder, runtime::runtime};
pub(crate) use arbiter_cluster::check as check_for_workers;
use arbiter_cluster::wire::{BenchResult, RunDescription, RunEngine, RunFile};
use arbiter_cluster::{
    Access, AccessError, Assignment, AuditSpec, ClusterMetrics, Key, RunId, RunSpec, SuiteRunError,
    WorkerHistory, coordinate, describe, describe_suite, measure,
};
use arbiter_game::engine::EngineSetup;
use arbiter_plan::{Engine, Plan, engine_threads};
use arbiter_protocol::Deadlines;
use arbiter_report::note;
use arbiter_runner::{CoordinatorEnd, DispatcherEnd, RemoteExecutor, Signals, job_channel};
use arbiter_settings::{Keys, merged};
use arbiter_store::Store;

/// Default lease: time for which a worker may be silent, in seconds.
const DEFAULT_LEASE_S: u64 = 30;

/// Default priority of a run.
const DEFAULT_PRIORITY: u8 = 100;

/// Maximum time to wait, after a signal, for a request in progress. The request may still create
/// streams, which have to be removed from the server.
const SETTLE: Duration = Duration::from_secs(2);

arbiter_settings::keys! {
    /// Settings of a run on workers
    FleetKeys, false, plan;
    /// Priority of the run, 0 to 255 (highest first); runs of equal priority share workers equally
    priority["N"]: u8 as "arbiter_settings::number" = DEFAULT_PRIORITY,
    /// Time without a heartbeat for a pair, in seconds (2 to 3600), after which another worker gets
    /// the pair
    lease["SEC"]: Lease as "arbiter_settings::text" = DEFAULT_LEASE_S,
    /// File with the key that signs the descriptions of runs (workers start programs only for
    /// signed runs); created if missing [default: the key in the join file, or arbiter/signing.key
    /// in the user's settings folder]
    signing_key["FILE"]: PathBuf as "arbiter_settings::text",
    /// Have workers run the bench of every engine before playing, and exclude workers whose node
    /// count differs from the node count on this machine; if false, workers run only the benches of
    /// engines built from a revision with a bench
    check_bench["true|false"]: bool as "arbiter_settings::truth",
    /// Share of the pairs, such as 2%, that a second worker plays again before the pairs count. A
    /// worker found to invent games is excluded, and all pairs of this worker are played again
    audit["SHARE"]: Share as "arbiter_settings::text",
}

/// Time for which a worker may be silent about a pair, 2 to 3600 seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lease(Duration);

impl FromStr for Lease {
    type Err = String;

    fn from_str(text: &str) -> Result<Lease, String> {
        let seconds = text.parse().ok().filter(|seconds| (2..=3600).contains(seconds));
        let lease = seconds.map(|seconds| Lease(Duration::from_secs(seconds)));
        lease.ok_or_else(|| format!("{text} is not a whole number of seconds from 2 to 3600"))
    }
}

/// Share of pairs, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Share(f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let percent = text.strip_suffix('%').and_then(|number| number.parse().ok());
        let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
        let share = percent.map(|percent: f64| Share(percent / 100.0));
        share.ok_or_else(|| format!("expected 0% to 100%, such as 2%, got {text}"))
    }
}

/// Flags of commands that can use other machines.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Other machines")]
pub(crate) struct ClusterArgs {
    /// NATS server whose workers play the games: the coordinator's join file (*.join), or URLs such
    /// as tls://host:4222, separated by commas. --concurrency then limits the number of pairs in
    /// progress; without --concurrency, only the workers' slots limit this number
    #[arg(long, value_name = "FILE|URL")]
    on: Option<ServerName>,
    /// Run on workers.
    #[arg(long, value_name = "KEY=VALUE", requires = "on", help = FleetKeys::ABOUT.trim(), long_help = FleetKeys::help())]
    fleet: Vec<FleetKeys>,
    #[command(flatten)]
    access: AccessArgs,
}

/// Bench result of each engine; `None` if the bench was not run.
type Benches = Vec<Option<BenchResult>>;

/// Access to the workers on a server.
#[derive(Debug)]
pub(crate) struct Fleet {
    access: Access,
    /// Server as named on the command line.
    server: ServerName,
    key: Key,
    keys: FleetKeys,
    /// Maximum number of pairs in flight, if given by the user.
    pub most: Option<usize>,
    /// Metrics of jobs and workers.
    pub metrics: ClusterMetrics,
}

impl ClusterArgs {
    /// Returns whether workers play.
    pub(crate) fn has_workers(&self) -> bool {
        self.on.is_some()
    }

    /// Returns the fleet if the flags name a server; `most` is the maximum number of pairs in
    /// flight. Connects to the server once, so that an unusable server is reported before a run
    /// starts.
    pub(crate) fn fleet(self, most: Option<usize>) -> Result<Option<Fleet>, Failure> {
        let Some(server) = self.on else { return Ok(None) };
        let (access, own_key) = self.access.of_coordinator(server.clone())?;
        let mut keys = merged(self.fleet);
        let key = match (keys.signing_key.take(), own_key) {
            (None, Some(key)) => key,
            (path, _) => signing_key(path)?,
        };
        runtime()?.block_on(access.connect("arbiter"))?;
        let metrics = ClusterMetrics::default();
        Ok(Some(Fleet { access, server, key, keys, most, metrics }))
    }
}

/// Reads the signing key from a file, by default `signing.key` in the user's settings folder.
/// Creates a missing key, and prints a note because a mistyped path also creates a new key.
pub(crate) fn signing_key(path: Option<PathBuf>) -> Result<Key, Failure> {
    let folder = || user_folder("XDG_CONFIG_HOME", ".config", "--fleet signing-key");
    let path = path.map_or_else(|| Ok(folder()?.join("signing.key")), Ok::<_, Failure>)?;
    let is_new = !path.exists();
    let key = Key::load_or_make(&path).map_err(Failure::invalid)?;
    if is_new {
        note(&format!("created the signing key {}; workers do not trust it yet", path.display()));
    }
    Ok(key)
}

impl Fleet {
    fn lease(&self) -> Duration {
        self.keys.lease.map_or(Duration::from_secs(DEFAULT_LEASE_S), |Lease(lease)| lease)
    }

    /// Prints the command that starts a worker.
    pub(crate) fn announce(&self) {
        let place = self.access.place();
        note(&format!("workers on {place} play the pairs; to add a worker:"));
        match &self.server {
            ServerName::Url(_) => {
                let key = self.key.public();
                let insecure = self.insecure_flag();
                note(&format!("  arbiter worker --on {place} --trust {key}{insecure}"));
            }
            ServerName::Join(_) => note("  arbiter worker --on NAME.join"),
        }
    }

    /// Returns the flags for the server, without secrets.
    pub(crate) fn flag(&self) -> String {
        let server = match &self.server {
            ServerName::Url(_) => self.access.place(),
            ServerName::Join(path) => quoted(path),
        };
        format!(" --on {server}{}", self.insecure_flag())
    }

    fn insecure_flag(&self) -> &'static str {
        if self.access.insecure { " --insecure" } else { "" }
    }

    /// Returns the engines for workers, in order, and the paths of all their files by hash. Also
    /// runs, on this machine, the benches that workers have to reproduce: the benches of all
    /// engines if `check-bench` is set or times are scaled, otherwise the benches of builds that
    /// have a bench.
    async fn run_engines(
        &self,
        engines: &[Engine],
        setups: &[EngineSetup],
        is_scaled: bool,
    ) -> Result<(Vec<RunEngine>, HashMap<blake3::Hash, PathBuf>, Benches), Failure> {
        let checks_bench = self.keys.check_bench.unwrap_or_default();
        let mut benches = Benches::new();
        for (index, (engine, setup)) in engines.iter().zip(setups).enumerate() {
            let is_built = engine.provenance.as_ref().is_some_and(|from| from.bench.is_some());
            let is_same = |other: &EngineSetup| {
                (&other.launch.program, &other.launch.args)
                    == (&setup.launch.program, &setup.launch.args)
            };
            let before = setups[..index].iter().position(is_same);
            let mut bench = before.and_then(|index| benches[index]);
            if bench.is_none() && (checks_bench || is_built || is_scaled) {
                match measure(setup, 1).await {
                    Ok(measured) => {
                        note(&format!("bench of {}: {} nodes", setup.name, measured.nodes));
                        bench = Some(measured);
                    }
                    Err(why) => note(&format!("workers' benches are not compared: {why}")),
                }
            }
            benches.push(bench);
        }
        // Workers scale times by the speed of the last engine with a bench.
        if is_scaled && benches.iter().all(Option::is_none) {
            let message = "workers scale times by the bench of the last engine, which has none";
            return Err(Failure::invalid(message));
        }
        let mut paths = HashMap::new();
        let mut read = |path: &Path| {
            let file = of_file(path, RunFile::read(path))?;
            paths.insert(file.hash, path.to_owned());
            Ok(file)
        };
        let mut run_engines = Vec::new();
        for ((engine, setup), bench) in engines.iter().zip(setups).zip(&benches) {
            let program = read(&setup.launch.program)?;
            let option_files = engine.option_files().map(|(_, path)| read(path));
            let option_files = option_files.collect::<Result<_, Failure>>()?;
            run_engines.push(RunEngine::new(engine, program, option_files, bench.is_some()));
        }
        Ok((run_engines, paths, benches))
    }

    /// Starts to coordinate a run, and returns its executor.
    pub(crate) async fn executor(
        self,
        plan: &Plan,
        run: &str,
        created_ms: i64,
        setups: Vec<EngineSetup>,
        history: WorkerHistory,
    ) -> Result<RemoteExecutor, Failure> {
        let run_engines = self.run_engines(&plan.engines, &setups, plan.scale.is_some()).await;
        let (engines, paths, benches) = run_engines?;
        let (remote, end) = RemoteExecutor::new(self.most);
        let run_id = RunId::new(run, created_ms, &self.key.public().to_string());
        let suite = describe_suite(run_id, run, engines, plan.deadlines, self.lease());
        let description = describe(plan, suite);
        // Only games with one thread and a limit on nodes or depth are the same on every machine.
        let is_deterministic = |engine: &Engine| {
            let limits = &engine.conditions.limits;
            let is_bounded = limits.nodes.is_some() || limits.depth.is_some();
            is_bounded && !limits.is_timed() && engine_threads(engine) == 1
        };
        let repeats = plan.engines.iter().all(is_deterministic);
        let share = self.keys.audit.map_or(0.0, |Share(share)| share);
        let audit = AuditSpec { share, repeats, engines: setups };
        self.start(description, paths, benches, history, audit, end).await?;
        Ok(remote)
    }

    /// Starts to coordinate a suite, and returns the channel to the coordinator.
    pub(crate) async fn link<A: Assignment>(
        self,
        suite: &str,
        created_ms: i64,
        engines: &[Engine],
        setups: Vec<EngineSetup>,
    ) -> Result<DispatcherEnd<A, A::Done>, Failure> {
        if self.keys.audit.is_some() {
            return Err(Failure::invalid("--fleet audit repeats pairs of games; a suite has none"));
        }
        let (engines, paths, benches) = self.run_engines(engines, &setups, false).await?;
        let (channel, end) = job_channel();
        let run_id = RunId::new(suite, created_ms, &self.key.public().to_string());
        let deadlines = setups.first().map_or_else(Deadlines::default, |setup| setup.deadlines);
        let description = describe_suite(run_id, suite, engines, deadlines, self.lease());
        let audit = AuditSpec { share: 0.0, repeats: false, engines: setups };
        self.start(description, paths, benches, WorkerHistory::default(), audit, end).await?;
        Ok(channel)
    }

    async fn start<A: Assignment>(
        self,
        description: RunDescription,
        programs: HashMap<blake3::Hash, PathBuf>,
        benches: Benches,
        history: WorkerHistory,
        audit: AuditSpec,
        end: CoordinatorEnd<A, A::Done>,
    ) -> Result<(), Failure> {
        let connection = self.access.connect(&format!("arbiter {}", description.run)).await?;
        let Fleet { key, metrics, .. } = self;
        let priority = self.keys.priority.unwrap_or(DEFAULT_PRIORITY);
        let spec =
            RunSpec { description, key, programs, priority, benches, history, audit, metrics };
        Ok(coordinate(connection, spec, end).await?)
    }
}

/// Waits for `opening`, or for a signal. After a signal, `put_away` cleans up the result of
/// `opening`; `when` describes the progress of the command for the error message.
pub(crate) async fn opened<T>(
    opening: impl Future<Output = Result<T, Failure>>,
    signals: &mut Signals,
    put_away: impl AsyncFnOnce(T),
    when: &str,
) -> Result<T, Failure> {
    let mut opening = pin!(opening);
    tokio::select! {
        open = &mut opening => open,
        request = signals.next() => {
            // `opening` is not dropped immediately, because its result is needed to remove the
            // streams from the server.
            if let Ok(Ok(open)) = timeout(SETTLE, opening).await {
                put_away(open).await;
            }
            Err(Failure::interrupted(request, when))
        }
    }
}

impl From<AccessError> for Failure {
    fn from(error: AccessError) -> Failure {
        Failure::new(ExitCode::Cluster, error)
    }
}

impl From<SuiteRunError> for Failure {
    fn from(error: SuiteRunError) -> Failure {
        match error {
            SuiteRunError::Lost(_) => Failure::new(ExitCode::Cluster, error),
            SuiteRunError::Failed(_) => Failure::environment(error),
        }
    }
}

/// Returns the history of the workers of a run, from the store.
pub(crate) fn worker_history(
    store: &Store,
    run: &str,
    plan: &Plan,
) -> Result<WorkerHistory, Failure> {
    let excluded = store.excluded_workers(run)?.into_iter();
    Ok(WorkerHistory {
        excluded: excluded.map(|excluded| (excluded.worker, excluded.reason)).collect(),
        played: store.played_by_workers(run)?,
        is_uniform: plan.engines.len() == 2 && plan.tuning.is_none(),
    })
}
