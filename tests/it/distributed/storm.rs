//! Storm of kills: workers, the coordinator and the server are killed repeatedly in random order.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::bench::{Bench, Finished, Running};
use crate::support::nats::{LEASE, Server, Worker};
use crate::support::plan::{Plan, RunOutput};
use crate::support::store;

/// Number of pairs of a run; when it is over, the next run starts.
const PAIRS: usize = 60;

/// Share of pairs that are audited.
const AUDIT: &str = "30%";

/// Exit code of a program that finds no server.
const NO_SERVER: i32 = 8;

const WORKERS: [&str; 3] = ["a", "b", "c"];

/// Random numbers from a seed.
struct Dice {
    seed: u64,
    rolls: u64,
}

impl Dice {
    fn roll(&mut self, from: u64, to: u64) -> u64 {
        self.rolls += 1;
        let mut hasher = DefaultHasher::new();
        (self.seed, self.rolls).hash(&mut hasher);
        from + hasher.finish() % (to - from)
    }

    /// Returns a moment between `from` and `to` milliseconds from now.
    fn moment_between(&mut self, from: u64, to: u64) -> Instant {
        Instant::now() + Duration::from_millis(self.roll(from, to))
    }
}

/// A running program, or the time of its next start.
enum Victim<T> {
    Alive(T),
    Dead(Instant),
}

impl<T> Victim<T> {
    /// Starts the program if its time has come.
    fn start(&mut self, start: impl FnOnce() -> T) {
        if matches!(self, Victim::Dead(at) if *at <= Instant::now()) {
            *self = Victim::Alive(start());
        }
    }

    /// Returns whether the program is running and the condition is true.
    fn is_alive_and(&mut self, is_so: impl FnOnce(&mut T) -> bool) -> bool {
        match self {
            Victim::Alive(victim) => is_so(victim),
            Victim::Dead(_) => false,
        }
    }

    /// Kills the program, if it is running, and sets its next start to `again`; returns whether it
    /// was running.
    fn kill(&mut self, again: Instant, kill: impl FnOnce(T)) -> bool {
        match std::mem::replace(self, Victim::Dead(again)) {
            Victim::Alive(victim) => kill(victim),
            Victim::Dead(at) => {
                *self = Victim::Dead(at);
                return false;
            }
        }
        true
    }
}

/// A run with all its processes.
struct Storm<'a> {
    bench: &'a Bench,
    server: Server,
    is_server_dead: Victim<()>,
    workers: [Victim<Worker>; WORKERS.len()],
    coordinator: Victim<Running>,
    kills: &'a mut BTreeMap<&'static str, u32>,
}

impl Storm<'_> {
    /// Kills a random process.
    fn strike(&mut self, dice: &mut Dice) {
        let again = dice.moment_between(0, 2_000);
        // The run may have ended by itself just before.
        let end = |running: Running| {
            running.signal(Signal::KILL);
            assert_killed(&running.finish(), &[Some(0), Some(NO_SERVER)]);
        };
        let end_worker = |worker: Worker| {
            worker.signal(Signal::KILL);
            assert_killed(&worker.finish(), &[Some(NO_SERVER)]);
        };
        let (name, is_killed) = match dice.roll(0, 2 + WORKERS.len() as u64) as usize {
            0 => ("server", self.is_server_dead.kill(again, |()| self.server.kill())),
            1 => ("coordinator", self.coordinator.kill(again, end)),
            worker => ("worker", self.workers[worker - 2].kill(again, end_worker)),
        };
        *self.kills.entry(name).or_default() += u32::from(is_killed);
    }

    /// Restarts the programs that are due or found no server. Returns the end of the run, if it has
    /// ended.
    fn restart(&mut self, dice: &mut Dice) -> Option<Finished> {
        self.is_server_dead.start(|| self.server.restart());
        for (worker, name) in self.workers.iter_mut().zip(WORKERS) {
            worker.start(|| Worker::start(self.bench, &self.server, name));
            if worker.is_alive_and(Worker::has_ended) {
                worker.kill(dice.moment_between(0, 500), |worker| {
                    drop(worker.finish().expect_code(NO_SERVER))
                });
            }
        }
        self.coordinator.start(|| resume(self.bench, &self.server));
        let mut finished = None;
        if self.coordinator.is_alive_and(Running::has_ended) {
            self.coordinator
                .kill(dice.moment_between(0, 500), |running| finished = Some(running.finish()));
        }
        finished.filter(|finished| finished.code != Some(NO_SERVER))
    }

    /// Restarts everything and waits for the end of the run.
    fn calm(&mut self) -> Finished {
        for worker in &mut self.workers {
            worker.kill(Instant::now(), drop);
        }
        self.coordinator.kill(Instant::now(), |running| running.signal(Signal::KILL));
        self.is_server_dead.kill(Instant::now(), |()| self.server.kill());
        self.server.restart();
        let _workers = WORKERS.map(|name| Worker::start(self.bench, &self.server, name));
        resume(self.bench, &self.server).finish()
    }
}

/// Asserts that a program was killed, or had already ended with one of these exit codes.
#[track_caller]
fn assert_killed(finished: &Finished, before: &[Option<i32>]) {
    assert!(finished.code.is_none() || before.contains(&finished.code), "{finished:#?}");
    assert!(!finished.stderr.contains("panicked"), "{finished:#?}");
}

fn resume(bench: &Bench, server: &Server) -> Running {
    let results = bench.path("results").display().to_string();
    let pgn = bench.path("games.pgn").display().to_string();
    let (url, keys) = (server.url(), format!("lease={},audit={AUDIT}", LEASE.as_secs()));
    let args = ["match", "--resume", "run", "--results", &results, "--pgn", &pgn, "--on", &url];
    let more = ["--fleet", &keys, "--format", "json"];
    bench.arbiter(args.into_iter().chain(more))
}

fn plan<'a>(bench: &'a Bench, args: &str) -> Plan<'a> {
    let engine = |seed: u32| format!("--seed {seed} {args}");
    Plan::new(bench, "match", PAIRS).puppet("A", &engine(1)).puppet("B", &engine(2))
}

/// Plays a run with kills until `end`, or until the run ends by itself.
fn run(
    end: Instant,
    dice: &mut Dice,
    kills: &mut BTreeMap<&'static str, u32>,
) -> Option<RunOutput> {
    let bench = Bench::new();
    let server = Server::start(&bench, "")?;
    let workers = WORKERS.map(|name| Victim::Alive(Worker::start(&bench, &server, name)));
    let started = plan(&bench, "--delay-ms 2").unset("concurrency").set("on", server.url());
    let started = started.set("fleet lease", LEASE.as_secs()).set("fleet audit", AUDIT).start();
    let is_server_dead = Victim::Alive(());
    let coordinator = Victim::Alive(started);
    let mut storm = Storm { bench: &bench, server, is_server_dead, workers, coordinator, kills };
    // Without a plan in the store, there is nothing to resume.
    crate::support::wait_for("the run begins", || {
        store::has_run(&bench.path("results"), "run").then_some(())
    });
    let mut next = dice.moment_between(0, 2_000);
    let finished = loop {
        if let Some(finished) = storm.restart(dice) {
            break finished;
        }
        if Instant::now() >= end {
            break storm.calm();
        }
        if Instant::now() >= next {
            storm.strike(dice);
            next = dice.moment_between(100, 3_000);
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    drop(storm);
    let played = RunOutput::read(&bench, &finished.expect_code(0));
    store::assert_consistent(&bench.path("results"));
    assert_eq!(store::pairs(&bench.path("results")).len(), PAIRS);
    bench.wait_until_quiet();
    Some(played)
}

/// Removes the dates of the games, because runs before and after midnight are compared.
fn undated(played: RunOutput) -> RunOutput {
    let lines = played.pgn.split_inclusive('\n').filter(|line| !line.starts_with("[Date "));
    RunOutput { pgn: lines.collect(), ..played }
}

/// Kills processes for `length`, in one run after another; each run has to end like an undisturbed
/// run.
fn storm(length: Duration) {
    let seed = std::env::var("STORM_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("STORM_SEED={seed}");
    let calm = undated(plan(&Bench::new(), "").set("concurrency", 2).expect_output(0));
    let (mut dice, mut kills, mut runs) = (Dice { seed, rolls: 0 }, BTreeMap::new(), 0);
    let end = Instant::now() + length;
    while Instant::now() < end {
        let Some(played) = run(end, &mut dice, &mut kills) else { return };
        assert_eq!(undated(played), calm);
        runs += 1;
        println!("{runs} runs of {PAIRS} pairs, killed: {kills:?}");
    }
    assert!(kills.values().all(|count| *count > 0), "{kills:?}");
}

#[test]
fn runs_survive_a_gust() {
    storm(Duration::from_secs(20));
}

#[test]
#[ignore = "takes ten minutes"]
fn runs_survive_a_storm() {
    storm(Duration::from_secs(600));
}
