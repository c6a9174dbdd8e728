//! Runs that other machines play: the flags that say so, and the way there.

mod access;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

pub(crate) use self::access::AccessArgs;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::runtime::runtime;
use arbiter_cluster::access::{Access, AccessError};
use arbiter_cluster::asking::AskingError;
use arbiter_cluster::assignment::Assignment;
use arbiter_cluster::bench;
use arbiter_cluster::coordinator::{
    Identity, Known, Spec, check, check_engines, coordinate, describe, describe_suite,
};
use arbiter_cluster::trust::{Key, TrustError};
use arbiter_cluster::wire::{BenchResult, Program, RunDescription};
use arbiter_plan::plan::{Engine, Plan};
use arbiter_report::terminal::note;
use arbiter_runner::executor::remote::{Ends, Link, Remote, link};
use arbiter_runner::fingerprint;
use arbiter_runner::preflight::EngineSetup;
use arbiter_store::{Store, StoreError};

/// How long a worker may be silent unless the user says otherwise, in seconds.
const DEFAULT_LEASE_S: u32 = 30;

/// Priority of a run unless the user says otherwise.
const DEFAULT_PRIORITY: u8 = 100;

/// Flags of commands that can let other machines play.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Other machines")]
pub(crate) struct ClusterArgs {
    /// Let workers play that are connected to this NATS server, such as nats://host:4222 or
    /// tls://host; several with commas between them. --concurrency then bounds the pairs in flight
    /// [default: as many as workers have room for]
    #[arg(long, value_name = "URL")]
    on: Option<String>,
    /// How important the run is to workers, 0 to 255; those of the same importance share workers
    /// evenly [default: 100]
    #[arg(long, value_name = "N", requires = "on")]
    priority: Option<u8>,
    /// Seconds for which a worker may say nothing of a pair before another gets it [default: 30]
    #[arg(long, value_name = "SEC", requires = "on", value_parser = clap::value_parser!(u32).range(2..=3600))]
    lease: Option<u32>,
    /// Key with which descriptions of runs are signed, without which workers start no program; made
    /// if it is not there [default: arbiter/signing.key in the user's folder of settings]
    #[arg(long, value_name = "FILE", requires = "on")]
    signing_key: Option<PathBuf>,
    /// Have workers run `bench` of every engine before they play, and exclude those whose number
    /// of nodes is not that of this machine; without the flag of engines that were built from a
    /// revision and have a bench
    #[arg(long, requires = "on")]
    check_bench: bool,
    #[command(flatten)]
    access: AccessArgs,
}

/// Other machines, ready to be asked.
#[derive(Debug)]
pub(crate) struct Fleet {
    access: Access,
    key: Key,
    priority: u8,
    lease: Duration,
    most: Option<usize>,
    checks_bench: bool,
}

impl ClusterArgs {
    /// The other machines, if any are to play; `most` bounds the pairs in flight. The server is
    /// asked once, so that one that cannot be used is an error before a run starts.
    pub(crate) fn fleet(self, most: Option<usize>) -> Result<Option<Fleet>, Failure> {
        let Some(url) = self.on else { return Ok(None) };
        let access = self.access.access(url)?;
        let key = Key::load_or_make(&match self.signing_key {
            Some(path) => path,
            None => default_key()?,
        })?;
        let lease = Duration::from_secs(self.lease.unwrap_or(DEFAULT_LEASE_S).into());
        let priority = self.priority.unwrap_or(DEFAULT_PRIORITY);
        runtime()?.block_on(access.connect("arbiter"))?;
        let checks_bench = self.check_bench;
        Ok(Some(Fleet { access, key, priority, lease, most, checks_bench }))
    }
}

/// Where the key is that nobody named.
pub(crate) fn default_key() -> Result<PathBuf, Failure> {
    let settings = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let folder = settings.filter(|path| path.is_absolute()).or(home);
    let folder = folder.ok_or_else(|| Failure::invalid("there is no HOME; give --signing-key"))?;
    Ok(folder.join("arbiter").join("signing.key"))
}

impl Fleet {
    /// An error if only this machine could play the plan.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), Failure> {
        check(plan).map_err(Failure::invalid)
    }

    /// An error if an engine can only be started on this machine.
    pub(crate) fn check_engines(&self, engines: &[Engine]) -> Result<(), Failure> {
        check_engines(engines).map_err(Failure::invalid)
    }

    /// Says how to join in.
    pub(crate) fn announce(&self) {
        let (place, key) = (self.access.place(), self.key.public());
        note(&format!("played by workers on {place}; to add one:"));
        note(&format!("  arbiter worker --nats {place} --trust {key}"));
    }

    /// The flag that leads there again, without secrets.
    pub(crate) fn flag(&self) -> String {
        format!(" --on {}", self.access.place())
    }

    /// Pairs in flight at most, if the user says so.
    pub(crate) fn most(&self) -> Option<usize> {
        self.most
    }

    /// What the benchmarks of those engines find here that workers have to compare: of all if they
    /// are for speed, too.
    async fn benches(
        &self,
        engines: &[Engine],
        setups: &[EngineSetup],
        is_for_speed: bool,
    ) -> Vec<Option<BenchResult>> {
        let mut found: Vec<Option<BenchResult>> = Vec::new();
        for (index, (engine, setup)) in engines.iter().zip(setups).enumerate() {
            let is_built = engine.provenance.as_ref().is_some_and(|from| from.bench.is_some());
            let is_needed = self.checks_bench || is_built || is_for_speed;
            let is_same = |other: &EngineSetup| {
                (&other.launch.program, &other.launch.args)
                    == (&setup.launch.program, &setup.launch.args)
            };
            let before = setups[..index].iter().position(is_same);
            found.push(match before.and_then(|index| found[index]) {
                Some(bench) => Some(bench),
                None if !is_needed => None,
                None => match bench::measure(setup, 1).await {
                    Ok(bench) => {
                        note(&format!("bench of {}: {} nodes", setup.name, bench.nodes));
                        Some(bench)
                    }
                    Err(why) => {
                        note(&format!("workers are not compared by their bench: {why}"));
                        None
                    }
                },
            });
        }
        found
    }

    /// Who plays the run, which is known so far.
    pub(crate) async fn executor(
        self,
        plan: &Plan,
        run: &str,
        created_ms: i64,
        setups: Vec<EngineSetup>,
        known: Known,
    ) -> Result<Remote, Failure> {
        // Workers scale times by the last engine that has a bench.
        let benches = self.benches(&plan.engines, &setups, plan.scale.is_some()).await;
        if plan.scale.is_some() && benches.iter().all(Option::is_none) {
            let told = "workers scale times by the bench of the last engine, and there is none";
            return Err(Failure::invalid(told));
        }
        let (remote, ends) = Remote::new(self.most);
        let (key, lease) = (self.key.public(), self.lease);
        let identity = Identity { run, created_ms, key: &key };
        let programs = Programs::of(&setups)?;
        let description = describe(plan, identity, setups, programs.list.clone(), lease);
        self.open(description.map_err(Failure::invalid)?, programs, benches, known, ends).await?;
        Ok(remote)
    }

    /// The link to those who put the questions of a suite to its engines.
    pub(crate) async fn link<A: Assignment>(
        self,
        suite: &str,
        created_ms: i64,
        engines: &[Engine],
        setups: Vec<EngineSetup>,
    ) -> Result<Link<A, A::Done>, Failure> {
        let benches = self.benches(engines, &setups, false).await;
        let (near, ends) = link();
        let (key, lease) = (self.key.public(), self.lease);
        let identity = Identity { run: suite, created_ms, key: &key };
        let programs = Programs::of(&setups)?;
        let description = describe_suite(engines, identity, setups, programs.list.clone(), lease);
        let description = description.map_err(Failure::invalid)?;
        self.open(description, programs, benches, Known::default(), ends).await?;
        Ok(near)
    }

    async fn open<A: Assignment>(
        self,
        mut description: RunDescription,
        programs: Programs,
        benches: Vec<Option<BenchResult>>,
        known: Known,
        ends: Ends<A, A::Done>,
    ) -> Result<(), Failure> {
        for (contestant, bench) in description.contestants.iter_mut().zip(&benches) {
            contestant.is_benched = bench.is_some();
        }
        let link = self.access.connect(&format!("arbiter {}", description.run)).await?;
        let (key, priority, programs) = (self.key, self.priority, programs.paths);
        Ok(coordinate(link, Spec { description, key, programs, priority, benches, known }, ends)
            .await?)
    }
}

/// The programs of engines.
struct Programs {
    /// By the index of the engine.
    list: Vec<Program>,
    /// Where they are, by their hashes.
    paths: BTreeMap<String, PathBuf>,
}

impl Programs {
    fn of(setups: &[EngineSetup]) -> Result<Programs, Failure> {
        let (mut list, mut paths) = (Vec::new(), BTreeMap::new());
        for setup in setups {
            let program = program(&setup.launch.program)?;
            paths.insert(program.hash.clone(), setup.launch.program.clone());
            list.push(program);
        }
        Ok(Programs { list, paths })
    }
}

/// What the store knows of a run's workers.
pub(crate) fn known(store: &Store, run: &str, plan: &Plan) -> Result<Known, StoreError> {
    let excluded =
        store.excluded_workers(run)?.into_iter().map(|excluded| (excluded.worker, excluded.reason));
    Ok(Known {
        excluded: excluded.collect(),
        played: store.played_by_workers(run)?,
        is_uniform: plan.engines.len() == 2 && plan.tuning.is_none(),
    })
}

/// A program by what is in it.
fn program(path: &Path) -> Result<Program, Failure> {
    let hash = fingerprint::hash(path).map_err(Failure::invalid)?;
    let bytes = std::fs::metadata(path).map_err(Failure::environment)?.len();
    let name = path.file_name().map_or_else(|| "engine".into(), |name| name.to_string_lossy());
    Ok(Program { hash, bytes, name: name.into_owned() })
}

impl From<AccessError> for Failure {
    fn from(error: AccessError) -> Failure {
        Failure::new(ExitCode::Cluster, error)
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Failure {
        Failure::invalid(error)
    }
}

impl From<AskingError> for Failure {
    fn from(error: AskingError) -> Failure {
        match error {
            AskingError::Lost(_) => Failure::new(ExitCode::Cluster, error),
            AskingError::Failed { .. } | AskingError::Unfit(_) => Failure::environment(error),
        }
    }
}
