//! Runs that a worker knows, and selection of the next run to play. This module does no I/O and
//! takes the time as an argument.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::run_setup::RunSetup;
use super::throughput::Throughput;
use crate::subject::RunId;
use crate::trust::PublicKey;
use crate::wire::{Beacon, CoordinatorMessage, Job, Notice};

/// Time without a beacon after which a run is forgotten. Coordinators send a beacon every second,
/// so five beacons may be lost.
const RUN_TIMEOUT: Duration = Duration::from_secs(6);

/// Minimum and maximum backoff after a pair in which engines failed; each further failure doubles
/// the backoff. Such pairs end early: without a backoff, a broken worker could take all pairs of a
/// short run before the coordinator can compare the worker with other workers.
const BACKOFF: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(4)];

/// Maximum number of runs, and of benches, that a worker keeps. Any coordinator may send beacons,
/// so the number must be limited.
const MAX_RUNS: usize = 1_000;

/// Maximum number of waiting audits of a run. The coordinator draws another worker for an audit
/// that is dropped.
const MAX_AUDITS: usize = 1_000;

/// Setup of a run, created by the first slot that needs the setup; the error is the reason why the
/// run is not played.
pub(super) type SetupCell = Arc<OnceCell<Result<Arc<RunSetup>, String>>>;

#[derive(Debug)]
struct KnownRun {
    beacon: Beacon,
    heard: Duration,
    setup: SetupCell,
    refusal: Option<String>,
    backoff: Backoff,
    /// Signed audits that the worker has to play, in order of arrival.
    audits: VecDeque<Vec<u8>>,
}

/// State of a run that a worker has joined. The state outlives the run, so that replayed messages
/// have no effect.
#[derive(Debug)]
struct JoinedRun {
    /// Key of the coordinator.
    key: PublicKey,
    /// Time stamp of the last join, in microseconds of the coordinator's clock.
    at: u64,
    /// Time stamp of the last beacon or of the end of the run, in microseconds of the coordinator's
    /// clock.
    last_beacon: u64,
    /// Number of the attempt whose result was sent last, by job.
    done: HashMap<u64, u32>,
}

/// Period in which a run is not played because its engines failed.
#[derive(Debug, Default)]
struct Backoff {
    until: Duration,
    length: Duration,
}

/// Run that a slot plays next.
#[derive(Debug)]
pub(super) struct Choice {
    /// ID of the run.
    pub(super) run_id: RunId,
    /// Setup of the run.
    pub(super) setup: SetupCell,
    /// `true` if another run also has work.
    pub(super) others_have_work: bool,
}

/// The runs that a worker knows.
#[derive(Debug, Default)]
pub(super) struct KnownRuns {
    runs: BTreeMap<RunId, KnownRun>,
    joined: BTreeMap<RunId, JoinedRun>,
    now: Duration,
    /// Last problem.
    pub(super) trouble: Option<String>,
    /// Pairs played in the last minutes.
    pub(super) throughput: Throughput,
    benches: BTreeMap<String, f64>,
}

impl KnownRuns {
    /// Records a beacon; `key` is the key that signed the beacon, if the key is trusted. Returns
    /// whether a new run was added.
    pub(super) fn update(&mut self, beacon: Beacon, key: Option<PublicKey>) -> bool {
        let heard = self.now;
        if let Some(JoinedRun { key: joined_key, last_beacon, .. }) =
            self.joined.get_mut(&beacon.run_id)
        {
            // A replayed beacon must not restart a run that has ended.
            if key != Some(*joined_key) || beacon.at <= *last_beacon {
                return false;
            }
            *last_beacon = beacon.at;
        }
        if let Some(known) = self.runs.get_mut(&beacon.run_id) {
            known.beacon = beacon;
            known.heard = heard;
            return false;
        }
        if self.runs.len() >= MAX_RUNS {
            return false;
        }
        let (setup, refusal, backoff, audits) = Default::default();
        let run_id = beacon.run_id.clone();
        self.runs.insert(run_id, KnownRun { beacon, heard, setup, refusal, backoff, audits });
        true
    }

    /// Sets the time and forgets runs without recent beacons.
    pub(super) fn tick(&mut self, now: Duration) {
        self.now = now;
        self.runs.retain(|_, known| now < known.heard + RUN_TIMEOUT);
    }

    /// Records that the worker has joined a run, at the time `at` of the coordinator's clock; `key`
    /// is the coordinator's key.
    pub(super) fn join(&mut self, run_id: RunId, key: PublicKey, at: u64) {
        if self.joined.len() >= MAX_RUNS {
            // Runs without recent beacons are forgotten, because such runs have most likely ended.
            self.joined.retain(|joined, _| self.runs.contains_key(joined));
        }
        let new = || JoinedRun { key, at, last_beacon: at, done: HashMap::new() };
        let joined = self.joined.entry(run_id).or_insert_with(new);
        joined.at = joined.at.max(at);
    }

    /// Returns the key of the coordinator of a run that the worker has joined.
    pub(super) fn key(&self, run_id: &RunId) -> Option<PublicKey> {
        self.joined.get(run_id).map(|joined| joined.key)
    }

    /// Returns the notice in a message, unless the message was sent before the worker joined. The
    /// run of the message may be unknown, because a notice may arrive while the worker is joining.
    pub(super) fn take_notice(&mut self, message: CoordinatorMessage) -> Option<Notice> {
        if let Some(JoinedRun { at, last_beacon, .. }) = self.joined.get_mut(&message.run_id) {
            // A replayed message from before the worker joined has no effect.
            if message.at <= *at {
                return None;
            }
            // Messages may overtake each other: a beacon that was sent before the end of the run
            // and arrives later must not restart the run.
            if message.notice == Notice::Cancel {
                *last_beacon = message.at.max(*last_beacon);
            }
        }
        Some(message.notice)
    }

    /// Checks whether to attempt a job; the error is the reason for skipping the job.
    pub(super) fn check_job<W>(&self, job: &Job<W>) -> Result<(), &'static str> {
        let joined = self.joined.get(&job.run_id).ok_or("its run was not joined")?;
        if joined.last_beacon > job.expires {
            return Err("it has expired");
        }
        if joined.done.get(&job.number).is_some_and(|last| job.attempt <= *last) {
            return Err("its result was sent");
        }
        Ok(())
    }

    /// Records that the result of an attempt at a job was sent.
    pub(super) fn done(&mut self, run_id: &RunId, (number, attempt): (u64, u32)) {
        if let Some(joined) = self.joined.get_mut(run_id) {
            joined.done.insert(number, attempt);
        }
    }

    /// Returns whether beacons still announce a run.
    pub(super) fn knows(&self, run_id: &RunId) -> bool {
        self.runs.contains_key(run_id)
    }

    /// Forgets a run that has ended.
    pub(super) fn forget(&mut self, run_id: &RunId) {
        self.runs.remove(run_id);
    }

    /// Adds an audit that the worker has to play.
    pub(super) fn add_audit(&mut self, run_id: &RunId, job: Vec<u8>) {
        if let Some(known) = self.runs.get_mut(run_id)
            && known.audits.len() < MAX_AUDITS
        {
            known.audits.push_back(job);
        }
    }

    /// Removes and returns the next audit that the worker has to play for a run, if any.
    pub(super) fn take_audit(&mut self, run_id: &RunId) -> Option<Vec<u8>> {
        self.runs.get_mut(run_id)?.audits.pop_front()
    }

    /// Returns the run to play next. Runs with audits for this worker come first, then runs with
    /// work, then the runs with the highest priority, then the runs with the fewest pairs in play.
    pub(super) fn choose(&self) -> Option<Choice> {
        let is_willing = |k: &&KnownRun| k.refusal.is_none() && k.backoff.until <= self.now;
        let willing = self.runs.values().filter(is_willing);
        let rank = |known: &&KnownRun| {
            let Beacon { priority, queued, playing, .. } = known.beacon;
            // A run without work comes last, whatever its priority. Among runs of equal priority,
            // the run with the fewest pairs in play gets the slot, so that the runs share the
            // fleet.
            (known.audits.is_empty(), queued == 0, std::cmp::Reverse(priority), playing)
        };
        let busy = willing.clone().filter(|known| known.beacon.queued > 0).count();
        let chosen = willing.min_by_key(rank)?;
        Some(Choice {
            run_id: chosen.beacon.run_id.clone(),
            setup: chosen.setup.clone(),
            others_have_work: busy > 1,
        })
    }

    /// Records that a slot has taken a job of a run, or that the run has no work at the moment.
    pub(super) fn record_take(&mut self, run_id: &RunId, has_work: bool) {
        let Some(KnownRun { beacon, .. }) = self.runs.get_mut(run_id) else { return };
        if has_work {
            // Other slots choose a run before the next beacon and have to count this pair. The
            // number of queued pairs stays, because a coordinator sends another job when a pair
            // ends; slots would otherwise switch to runs of lower priority.
            beacon.playing += 1;
        } else {
            beacon.queued = 0;
        }
    }

    /// Records that a pair of a run was played; `has_broken` is `true` if engines failed in all
    /// games of the pair.
    pub(super) fn record_pair(&mut self, run_id: &RunId, has_broken: bool) {
        let now = self.now;
        let Some(KnownRun { backoff, .. }) = self.runs.get_mut(run_id) else { return };
        if !has_broken {
            *backoff = Backoff::default();
        } else if backoff.until <= now {
            // Simultaneous breakdowns in several slots count once, because one cause must not
            // double the backoff several times.
            backoff.length = (2 * backoff.length).clamp(BACKOFF[0], BACKOFF[1]);
            backoff.until = now + backoff.length;
        }
    }

    /// Stops playing a run. Returns the name of the run at the first call, and `None` later.
    pub(super) fn refuse(&mut self, run_id: &RunId, why: &str) -> Option<String> {
        let known = self.runs.get_mut(run_id)?;
        let is_news = known.refusal.is_none();
        known.refusal.get_or_insert_with(|| why.to_owned());
        is_news.then(|| known.beacon.run.clone())
    }

    /// Records the bench speed of an engine, in nodes per second.
    pub(super) fn bench(&mut self, engine: &str, nps: f64) {
        if self.benches.len() < MAX_RUNS || self.benches.contains_key(engine) {
            self.benches.insert(engine.to_owned(), nps);
        }
    }

    /// Returns the engines whose bench was run, each with its speed in nodes per second.
    pub(super) fn benches(&self) -> Vec<(String, f64)> {
        self.benches.iter().map(|(engine, nps)| (engine.clone(), *nps)).collect()
    }

    /// Returns the runs that are not played, each with the reason.
    pub(super) fn refusals(&self) -> Vec<(RunId, String)> {
        let refusal =
            |(run_id, known): (&RunId, &KnownRun)| Some((run_id.clone(), known.refusal.clone()?));
        self.runs.iter().filter_map(refusal).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::Key;

    /// Returns the ID that consists of one digit repeated 16 times.
    fn id(digit: &str) -> RunId {
        RunId::try_from(digit.repeat(16)).unwrap()
    }

    fn beacon(digit: &str, priority: u8, queued: u64, playing: u64) -> Beacon {
        let run = format!("run {digit}");
        Beacon { run_id: id(digit), at: 0, run, priority, queued, playing }
    }

    fn job(run_id: RunId, (number, attempt): (u64, u32), expires: u64) -> Job<()> {
        let nonce = blake3::hash(b"n");
        Job { run_id, number, attempt, nonce, expires, only_for: None, work: () }
    }

    /// Returns the digit that identifies the selected run.
    fn selected_run(known_runs: &KnownRuns) -> Option<String> {
        known_runs.choose().map(|choice| choice.run_id.as_str()[..1].to_owned())
    }

    #[test]
    fn the_most_important_run_with_work_comes_first() {
        let mut known_runs = KnownRuns::default();
        assert_eq!(selected_run(&known_runs), None);
        assert!(known_runs.update(beacon("a", 1, 5, 0), None));
        assert!(known_runs.update(beacon("b", 2, 5, 900), None));
        assert_eq!(selected_run(&known_runs).as_deref(), Some("b"));
        known_runs.record_take(&id("b"), false);
        assert_eq!(selected_run(&known_runs).as_deref(), Some("a"));
        known_runs.record_take(&id("a"), false);
        assert_eq!(selected_run(&known_runs).as_deref(), Some("b"), "it may have some soon");
        assert!(!known_runs.update(beacon("a", 1, 1, 0), None));
        assert_eq!(selected_run(&known_runs).as_deref(), Some("a"));
        assert!(!known_runs.choose().unwrap().others_have_work);
        known_runs.update(beacon("b", 2, 1, 0), None);
        for _ in 0..3 {
            let choice = known_runs.choose().unwrap();
            assert!(
                choice.run_id == id("b") && choice.others_have_work,
                "it sends more when it is taken"
            );
            known_runs.record_take(&id("b"), true);
        }
    }

    #[test]
    fn audits_come_first_and_end_with_their_run() {
        let mut known_runs = KnownRuns::default();
        known_runs.update(beacon("a", 2, 5, 0), None);
        known_runs.update(beacon("b", 1, 0, 0), None);
        known_runs.add_audit(&id("c"), vec![0]);
        assert_eq!(selected_run(&known_runs).as_deref(), Some("a"), "of an unknown run");
        for number in 1..=2 {
            known_runs.add_audit(&id("b"), vec![number]);
        }
        for number in 1..=2 {
            assert_eq!(selected_run(&known_runs).as_deref(), Some("b"));
            assert_eq!(known_runs.take_audit(&id("b")), Some(vec![number]));
        }
        assert_eq!(selected_run(&known_runs).as_deref(), Some("a"));
        (0..=MAX_AUDITS).for_each(|_| known_runs.add_audit(&id("b"), Vec::new()));
        assert_eq!(known_runs.runs[&id("b")].audits.len(), MAX_AUDITS);
        known_runs.forget(&id("b"));
        known_runs.update(beacon("b", 1, 0, 0), None);
        assert_eq!(known_runs.take_audit(&id("b")), None);
    }

    #[test]
    fn runs_of_equal_priority_share_slots() {
        let mut known_runs = KnownRuns::default();
        known_runs.update(beacon("a", 1, 50, 3), None);
        known_runs.update(beacon("b", 1, 50, 1), None);
        let mut taken = Vec::new();
        for _ in 0..6 {
            let digit = selected_run(&known_runs).unwrap();
            known_runs.record_take(&id(&digit), true);
            taken.push(digit);
        }
        assert_eq!(taken, ["b", "b", "a", "b", "a", "b"]);
    }

    #[test]
    fn repeated_breakdowns_double_the_backoff() {
        let mut known_runs = KnownRuns::default();
        let (mut now, mut rests) = (Duration::ZERO, Vec::new());
        for _ in 0..7 {
            known_runs.update(beacon("a", 1, 1, 0), None);
            known_runs.record_pair(&id("a"), true);
            known_runs.record_pair(&id("a"), true);
            let start = now;
            while selected_run(&known_runs).is_none() {
                now += BACKOFF[0];
                known_runs.update(beacon("a", 1, 1, 0), None);
                known_runs.tick(now);
            }
            rests.push((now - start).as_secs_f64());
        }
        assert_eq!(rests, [0.25, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0]);
        known_runs.update(beacon("b", 0, 1, 0), None);
        known_runs.record_pair(&id("a"), true);
        assert_eq!(selected_run(&known_runs).as_deref(), Some("b"), "others are played meanwhile");
        known_runs.record_pair(&id("a"), false);
        assert_eq!(selected_run(&known_runs).as_deref(), Some("a"));
    }

    #[test]
    fn replayed_messages_have_no_effect() {
        let [key, other] = [1, 2].map(|byte| Some(Key::from_secret_bytes([byte; 32]).public()));
        let beacon = |at, queued| Beacon { at, ..beacon("a", 1, queued, 0) };
        let mut known_runs = KnownRuns::default();
        known_runs.update(beacon(5, 9), key);
        known_runs.join(id("a"), key.unwrap(), 10);
        let queued = |known_runs: &KnownRuns| known_runs.runs[&id("a")].beacon.queued;
        for (at, key) in [(10, key), (11, None), (11, other)] {
            known_runs.update(beacon(at, 1), key);
            assert_eq!(queued(&known_runs), 9, "{at}");
        }
        known_runs.update(beacon(11, 2), key);
        assert_eq!(queued(&known_runs), 2);

        let message = |at, notice| CoordinatorMessage { run_id: id("a"), at, notice };
        assert_eq!(known_runs.take_notice(message(10, Notice::Cancel)), None);
        // Messages may overtake each other.
        for at in [12, 11] {
            assert_eq!(known_runs.take_notice(message(at, Notice::Cancel)), Some(Notice::Cancel));
        }
        known_runs.update(beacon(12, 7), key);
        assert_eq!(queued(&known_runs), 2, "it is from before the end");
        let other_run = CoordinatorMessage { run_id: id("b"), ..message(1, Notice::Cancel) };
        assert_eq!(known_runs.take_notice(other_run), Some(Notice::Cancel), "not joined yet");

        let check = |known_runs: &KnownRuns, attempt, expires| {
            known_runs.check_job(&job(id("a"), attempt, expires))
        };
        assert_eq!(check(&known_runs, (7, 0), 13), Ok(()));
        assert_eq!(check(&known_runs, (7, 0), 10), Err("it has expired"));
        known_runs.done(&id("a"), (7, 0));
        assert_eq!(check(&known_runs, (7, 0), 13), Err("its result was sent"));
        assert_eq!(check(&known_runs, (7, 1), 13), Ok(()));
        assert_eq!(known_runs.check_job(&job(id("b"), (7, 0), 13)), Err("its run was not joined"));
    }

    #[test]
    fn a_worker_can_join_more_runs_than_it_remembers() {
        let key = Key::from_secret_bytes([1; 32]).public();
        let mut known_runs = KnownRuns::default();
        for number in 0..2 * MAX_RUNS {
            let run_id = RunId::try_from(format!("{number:016x}")).unwrap();
            known_runs.join(run_id.clone(), key, 1);
            assert_eq!(known_runs.check_job(&job(run_id, (0, 0), 2)), Ok(()));
        }
        assert!(known_runs.joined.len() <= MAX_RUNS);
    }

    #[test]
    fn runs_beyond_the_limit_are_not_kept() {
        let mut known_runs = KnownRuns::default();
        let mut update = |number: usize| {
            let run_id = RunId::try_from(format!("{number:016x}")).unwrap();
            known_runs.update(Beacon { run_id, ..beacon("a", 1, 1, 0) }, None)
        };
        assert!((0..MAX_RUNS).all(&mut update));
        assert!(!update(MAX_RUNS) && !update(0));
    }

    #[test]
    fn rejected_or_ended_runs_are_not_selected() {
        let mut known_runs = KnownRuns::default();
        known_runs.update(beacon("a", 1, 1, 0), None);
        assert_eq!(known_runs.refuse(&id("a"), "no").as_deref(), Some("run a"));
        assert_eq!(known_runs.refuse(&id("a"), "still no"), None);
        assert_eq!(known_runs.refusals(), [(id("a"), "no".to_owned())]);
        assert_eq!(selected_run(&known_runs), None);
        known_runs.update(beacon("b", 1, 1, 0), None);
        known_runs.tick(RUN_TIMEOUT / 2);
        assert_eq!(selected_run(&known_runs).as_deref(), Some("b"));
        known_runs.tick(RUN_TIMEOUT);
        assert_eq!(selected_run(&known_runs), None);
        assert!(
            known_runs.update(beacon("a", 1, 1, 0), None),
            "asked again, as it may be another by now"
        );
        assert_eq!(selected_run(&known_runs).as_deref(), Some("a"));
    }
}
