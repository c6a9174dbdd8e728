//! Audits: a second worker repeats a pair before the pair counts, to detect invented games.
//!
//! The secret of the run determines which pairs are audited. Deterministic engines must play the
//! same moves again; if the games of two workers differ, the coordinator's machine plays the pair
//! and decides. For other engines, the results are compared: a worker is suspect if one engine
//! scores more in the worker's pairs than in the repetitions by other workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::{Coordinator, RETURN};
use crate::assignment::Assignment;
use crate::in_flight::InFlight;
use crate::outliers::{FALSE_ALARM, Finding};
use crate::wire::{self, AUDITS, Payload};
use arbiter_game::engine::EngineSetup;
use arbiter_run::PairTally;
use arbiter_runner::{JobEvent, task_output};
use arbiter_stats::ln_bias_evidence;

/// Number of failures after which the coordinator gives up an audit; an audit that the drawn worker
/// does not start counts as a failure. An audit must end even if all other workers refuse the
/// audit, because the audited pair is waiting.
const MAX_TRIES: u32 = 3;

/// Maximum total size of the packed results that wait for audits, in bytes. Beyond this size,
/// results lose their transcripts.
const MAX_PACKED_BYTES: usize = 128 << 20;

/// Settings of the audits of a run.
#[derive(Debug)]
pub struct AuditSpec {
    /// Share of the pairs to audit, 0 to 1.
    pub share: f64,
    /// `true` if engines play the same moves on every machine, because the engines use one thread
    /// and a limit on nodes or depth.
    pub repeats: bool,
    /// Setups of the engines on this machine.
    pub engines: Vec<EngineSetup>,
}

/// Result, without transcripts, that does not count until an audit has confirmed the result.
#[derive(Debug)]
pub(super) struct UnconfirmedResult<D> {
    worker: String,
    played: D,
    /// Worker that was drawn to repeat the pair; `None` if no other worker could be drawn.
    auditor: Option<String>,
    /// Number of failed audits of this result.
    failed: u32,
}

impl<D: Payload> UnconfirmedResult<D> {
    fn new(worker: String, mut played: D) -> UnconfirmedResult<D> {
        played.shorten();
        UnconfirmedResult { worker, played, auditor: None, failed: 0 }
    }
}

/// Pair that this machine has played twice to decide a dispute: its number, its results from
/// workers (two different results, or one result that no worker has repeated), and its two results
/// on this machine.
pub(super) type DisputedPair<D> = (u64, Vec<UnconfirmedResult<D>>, Result<[D; 2], String>);

/// The audits of a run.
#[derive(Debug)]
pub(super) struct Audits<A: Assignment> {
    spec: AuditSpec,
    /// Results that wait for an audit, by pair.
    pub(super) held: BTreeMap<u64, UnconfirmedResult<A::Done>>,
    disputed: JoinSet<DisputedPair<A::Done>>,
    /// Lock that limits this machine to one pair at a time; otherwise, workers could make this
    /// machine play any number of pairs in parallel.
    play_lock: Arc<Mutex<()>>,
    bias: BiasDetector,
}

impl<A: Assignment> Audits<A> {
    pub(super) fn new(spec: AuditSpec) -> Audits<A> {
        let held = BTreeMap::new();
        let disputed = JoinSet::new();
        Audits { spec, held, disputed, play_lock: Arc::default(), bias: BiasDetector::default() }
    }

    /// Returns the only worker that may do this job, if the job is an audit.
    pub(super) fn auditor(&self, number: u64) -> Option<&String> {
        self.held.get(&number.checked_sub(AUDITS)?)?.auditor.as_ref()
    }

    /// Returns whether a worker may do a job. An audit is only for the worker that was drawn.
    /// Otherwise, two workers of one owner could confirm each other's results by taking more jobs
    /// than other workers.
    pub(super) fn is_for(&self, number: u64, worker: &str) -> bool {
        number < AUDITS || self.auditor(number).is_some_and(|auditor| auditor == worker)
    }

    /// Draws the worker that repeats a pair. All `present` workers except the worker that played
    /// the pair are equally likely, whatever their number of slots, because a worker can invent
    /// slots but not other workers. `draw` is a secret random number in [0, 1). Returns whether a
    /// worker was drawn.
    fn draw_auditor(&mut self, pair: u64, present: &BTreeSet<String>, draw: f64) -> bool {
        let Some(held) = self.held.get_mut(&pair) else { return false };
        let others: Vec<&String> = present.iter().filter(|name| **name != held.worker).collect();
        held.auditor = others.get((draw * others.len() as f64) as usize).copied().cloned();
        held.auditor.is_some()
    }

    /// Plays a pair twice on this machine, after the pairs that were disputed earlier. Does nothing
    /// if the pair is not in flight.
    fn play(&mut self, in_flight: &InFlight<A>, pair: u64, held: Vec<UnconfirmedResult<A::Done>>) {
        let Some(job) = in_flight.job(pair).cloned() else { return };
        let engines = self.spec.engines.clone();
        let play_lock = self.play_lock.clone();
        self.disputed.spawn(async move {
            let _guard = play_lock.lock().await;
            // The pair is played twice, because only identical games show that the engines repeat
            // their games at all.
            let first = job.clone().run_locally(engines.clone()).await;
            let again = job.run_locally(engines).await;
            (pair, held, first.and_then(|first| Ok([first, again?])))
        });
    }

    /// Discards all results that wait for an audit, and stops the games of disputed pairs.
    pub(super) fn cancel(&mut self) {
        self.held.clear();
        self.disputed.abort_all();
    }

    /// Waits until this machine has played a disputed pair; waits forever if no pair is disputed.
    pub(super) async fn next(&mut self) -> DisputedPair<A::Done> {
        while let Some(ended) = self.disputed.join_next().await {
            if let Some(disputed) = task_output(ended) {
                return disputed;
            }
        }
        std::future::pending().await
    }
}

impl<A: Assignment> Coordinator<A> {
    /// Holds a result, and sends an audit, if the pair has to be repeated before the result counts.
    /// Returns whether the result is held.
    pub(super) async fn audit(&mut self, pair: u64, worker: &str, played: &A::Done) -> bool {
        // A worker could report breakdowns to void pairs of its choice. If audits are enabled and
        // the engines repeat their games, every breakdown is therefore audited, regardless of the
        // share.
        let AuditSpec { share, repeats, .. } = self.audits.spec;
        let is_claim = share > 0.0 && repeats && played.breakdown().is_some();
        if !(is_claim || self.secret.draw(pair) < share) {
            return false;
        }
        let number = AUDITS + pair;
        let job = self.in_flight.job(pair).and_then(|job| job.renumbered(number));
        let Some(job) = job else { return false };
        // Results of audits are never parked, so requesting an audit always succeeds.
        let _ = self.in_flight.request(number, job, self.now);
        // Any number of results may wait for audits, so their transcripts stay packed.
        let packed: usize = self.unacknowledged.values().map(|message| message.payload.len()).sum();
        if packed > MAX_PACKED_BYTES
            && let Some(receipt) = self.in_flight.accepted_receipt(pair)
            && let Some(message) = self.unacknowledged.get_mut(&receipt)
        {
            message.message.payload.clear();
        }
        let held = UnconfirmedResult::new(worker.to_owned(), played.clone());
        self.audits.held.insert(pair, held);
        self.send_audit(pair).await;
        true
    }

    /// Returns the workers that may repeat pairs of other workers.
    fn auditors(&self) -> BTreeSet<String> {
        let auditors = self.players().map(|(name, _)| name);
        auditors.filter(|name| self.joined.contains(*name)).map(str::to_owned).collect()
    }

    /// Draws a worker, and sends the audit of a pair to this worker. Returns `false` if no other
    /// worker can repeat the pair.
    async fn send_audit(&mut self, pair: u64) -> bool {
        // The time stamp makes each draw independent of earlier draws for the pair.
        let draw = format!("{pair} {}", self.next_at());
        let draw = self.secret.draw(draw);
        let is_drawn = self.audits.draw_auditor(pair, &self.auditors(), draw);
        if is_drawn {
            self.resend(AUDITS + pair).await;
        }
        is_drawn
    }

    /// Draws again for a failed or unstarted audit. After [`MAX_TRIES`] failures, the pair is
    /// handled as a pair that no worker repeats.
    pub(super) async fn audit_failed(&mut self, pair: u64) {
        let Some(held) = self.audits.held.get_mut(&pair) else { return };
        held.failed += 1;
        if held.failed < MAX_TRIES {
            self.send_audit(pair).await;
        } else {
            self.handle_unrepeated(pair, "the pair could not be repeated").await;
        }
    }

    /// Handles a pair that no worker repeats. If engines repeat their games, this machine plays the
    /// pair; otherwise, the worker's result counts.
    async fn handle_unrepeated(&mut self, pair: u64, why: &str) {
        let Some(held) = self.audits.held.remove(&pair) else { return };
        self.finish_pair(AUDITS + pair).await;
        if self.audits.spec.repeats {
            return self.audits.play(&self.in_flight, pair, vec![held]);
        }
        self.remark(&held.worker, Some(pair), format!("audit: {why}"));
        self.release(pair, held).await;
    }

    /// Compares the result of an audit with the audited result.
    pub(super) async fn handle_repetition(&mut self, pair: u64, worker: String, played: A::Done) {
        let Some(held) = self.audits.held.remove(&pair) else { return };
        if self.audits.spec.repeats {
            if held.played.is_same(&played) {
                return self.release(pair, held).await;
            }
            let again = UnconfirmedResult::new(worker, played);
            return self.audits.play(&self.in_flight, pair, vec![held, again]);
        }
        // If engines do not repeat their games, the results of a pair with a breakdown are not
        // compared. Instead, `outliers` compares the breakdown rate of each worker with the rates
        // of other workers.
        if [&held.played, &played].into_iter().any(|played| played.breakdown().is_some()) {
            return self.release(pair, held).await;
        }
        let tallies = held.played.tally().zip(played.tally());
        let finding = tallies.and_then(|(first, again)| {
            self.audits.bias.add([&held.worker, &worker], [&first, &again])
        });
        self.release(pair, held).await;
        self.exclude(finding).await;
    }

    /// Decides a disputed pair by the games played on this machine. A pair is disputed if workers
    /// have sent different games, or if no worker has repeated the pair.
    pub(super) async fn decide(&mut self, (pair, held, here): DisputedPair<A::Done>) {
        let why = match here {
            Ok([here, again]) if here.is_same(&again) => return self.judge(pair, held, here).await,
            Ok([here, again]) if !here.contradicts(&again) => {
                "an engine fails here, but not always".to_owned()
            }
            Ok(_) => {
                // This machine does not repeat its own games, so from now on only results are
                // compared.
                self.audits.spec.repeats = false;
                "engines do not repeat their games; audits now compare results".to_owned()
            }
            Err(why) => format!("this machine cannot repeat the pair: {why}"),
        };
        self.remark(&held[0].worker, Some(pair), format!("audit: {why}"));
        match <[_; 1]>::try_from(held) {
            Ok([held]) if self.policy.exclusion_reason(&held.worker).is_none() => {
                self.release(pair, held).await;
            }
            // The results contradict each other and this machine cannot decide, so the pair is
            // played again.
            _ => self.replay(pair).await,
        }
    }

    /// Judges the results of a disputed pair by the games `here`, which this machine has repeated.
    async fn judge(&mut self, pair: u64, held: Vec<UnconfirmedResult<A::Done>>, here: A::Done) {
        let is_right = |held: &UnconfirmedResult<A::Done>| held.played.is_same(&here);
        let counts = is_right(&held[0]) && self.policy.exclusion_reason(&held[0].worker).is_none();
        let (mut right, other): (Vec<_>, Vec<_>) = held.into_iter().partition(is_right);
        // Only the first result has an accepted receipt, so if only the second result is confirmed,
        // the pair is played again.
        if counts {
            self.release(pair, right.swap_remove(0)).await;
        } else {
            self.replay(pair).await;
        }
        for UnconfirmedResult { worker, played, .. } in other {
            let finding = if played.contradicts(&here) {
                let reason = format!(
                    "audit: the worker's games of pair {} differ from the games played on \
                     the coordinator's machine",
                    pair + 1
                );
                Some(Finding { worker, reason })
            } else if let Some(how) = here.breakdown().filter(|_| played.breakdown().is_none()) {
                // The engine may break down only on some machines, so this is no proof of a lie.
                let text = format!("audit: not seen by the worker: {how}");
                self.remark(&worker, Some(pair), text);
                self.gave_back(&worker).await;
                None
            } else {
                // One worker reports an engine breakdown that neither the other worker nor this
                // machine reproduces. The result does not count, and the worker's rate of such
                // breakdowns is compared with the rates of other workers.
                let how = played.breakdown().unwrap_or_default();
                self.remark(&worker, Some(pair), format!("audit: seen once, not confirmed: {how}"));
                played.tally().and_then(|tally| self.policy.refuted(&worker, &tally))
            };
            self.exclude(finding).await;
        }
    }

    /// Accepts a result that was held for its audit.
    async fn release(&mut self, pair: u64, held: UnconfirmedResult<A::Done>) {
        let complete = self.reread(pair).unwrap_or(held.played);
        self.accepted(pair, held.worker, complete).await;
    }

    /// Reads the accepted result of a pair again; `None` if the packed result was not kept.
    fn reread(&self, pair: u64) -> Option<A::Done> {
        let message = self.unacknowledged.get(&self.in_flight.accepted_receipt(pair)?)?;
        let proven = wire::check_proof(message, &self.secret).ok()?;
        wire::read_result(&proven, &self.description.run_id).ok()?.report.ok()
    }

    /// Withdraws an accepted result, so that the pair is played again.
    async fn replay(&mut self, pair: u64) {
        if let Some(receipt) = self.in_flight.withdraw(pair) {
            self.acknowledge_result(receipt).await;
            self.resend(pair).await;
        }
    }

    /// Withdraws the held results of an excluded worker and cancels their audits; other workers
    /// play the pairs again.
    pub(super) async fn replay_held(&mut self, worker: &str) {
        let held = self.audits.held.extract_if(.., |_, held| held.worker == worker);
        for pair in held.map(|(pair, _)| pair).collect::<Vec<_>>() {
            self.finish_pair(AUDITS + pair).await;
            self.replay(pair).await;
        }
    }

    /// Draws again for the audits of a worker that joins again, because the worker has forgotten
    /// these audits.
    pub(super) async fn redraw_audits_of(&mut self, worker: &str) {
        let held = self.audits.held.iter();
        let held = held.filter(|(_, held)| held.auditor.as_deref() == Some(worker));
        for pair in held.map(|(pair, _)| *pair).collect::<Vec<_>>() {
            self.audit_failed(pair).await;
        }
    }

    /// Draws another worker for each audit whose worker no longer plays. Handles the results whose
    /// pairs no other worker can repeat.
    pub(super) async fn redraw_auditors(&mut self) {
        let auditors = self.auditors();
        let is_drawn = |held: &UnconfirmedResult<A::Done>| {
            held.auditor.as_ref().is_some_and(|auditor| auditors.contains(auditor))
        };
        let held = self.audits.held.iter().filter(|(_, held)| !is_drawn(held));
        let held: Vec<_> = held.map(|(pair, held)| (*pair, held.auditor.is_some())).collect();
        for (pair, has_left) in held {
            if has_left {
                self.audit_failed(pair).await;
            } else if !self.send_audit(pair).await && self.now > RETURN {
                self.handle_unrepeated(pair, "no other worker").await;
            }
        }
    }

    /// Passes an accepted result to the dispatcher.
    pub(super) async fn accepted(&mut self, pair: u64, worker: String, played: A::Done) {
        let job = self.in_flight.job(pair);
        let limit = self.description.noise_limit;
        let is_suspect = job.zip(limit).is_some_and(|(job, limit)| job.is_suspect(&played, limit));
        // A suspect pair may be voided, and only the worker's report of CPU contention makes a pair
        // suspect. A worker could suppress results of its choice by such reports, so suspect pairs
        // count as pairs given back.
        if is_suspect {
            self.gave_back(&worker).await;
        } else if let Some(tally) = played.tally() {
            self.policy.accepted.insert(tally.pair, (worker.clone(), tally));
        }
        if let Some(requested) = self.in_flight.requested(pair) {
            self.metrics.job_done(self.now.saturating_sub(requested));
        }
        self.notify(JobEvent::Played { pair, played, worker: Some(worker) });
    }
}

/// Comparison of each worker's results with the results of other workers in the same pairs.
#[derive(Debug, Default)]
struct BiasDetector {
    /// For each worker and engine: number of pairs in which the engine scored more points on this
    /// worker than on the other worker that played the pair, and number of pairs in which the
    /// engine scored fewer points.
    counts: BTreeMap<(String, usize), [u64; 2]>,
}

impl BiasDetector {
    /// Adds a pair that two workers have played. If both workers are honest, each of the two
    /// results is equally likely to be better for an engine. Returns the most suspicious worker if
    /// the evidence suffices.
    fn add(&mut self, workers: [&String; 2], tallies: [&PairTally; 2]) -> Option<Finding> {
        let [[first, _], [again, _]] = tallies.map(PairTally::half_points);
        if first == again {
            return None;
        }
        let [engine, opponent] = tallies[0].engines;
        for (worker, is_better) in workers.into_iter().zip([first > again, again > first]) {
            for (engine, is_better) in [(engine, is_better), (opponent, !is_better)] {
                let counts = self.counts.entry((worker.clone(), engine)).or_default();
                counts[usize::from(!is_better)] += 1;
            }
        }
        // A worker may favour any engine, so the largest evidence over all engines counts.
        let mut most: BTreeMap<&str, (f64, [u64; 2])> = BTreeMap::new();
        for ((worker, _), counts) in &self.counts {
            let evidence = (ln_bias_evidence(counts[0], counts[1]), *counts);
            let best = most.entry(worker).or_insert(evidence);
            *best = if evidence.0 > best.0 { evidence } else { *best };
        }
        let mut ranks: Vec<(&str, (f64, [u64; 2]))> = most.into_iter().collect();
        ranks.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
        // Each comparison counts for both workers. With only two workers, or with two workers under
        // similar suspicion, the biased worker is unknown.
        let [(worker, (evidence, counts)), (_, (next, _)), _, ..] = ranks[..] else { return None };
        // Under the null hypothesis, the evidence is a martingale, so the probability that the
        // evidence ever exceeds 1/p is at most p (Ville's inequality). Bonferroni's correction
        // covers all workers and engines.
        let limit = (self.counts.len() as f64 / FALSE_ALARM).ln();
        (evidence > limit && next < evidence / 2.0).then(|| Finding {
            worker: worker.to_owned(),
            reason: format!(
                "audit: {} of the worker's pairs were better for one engine than when other \
                 workers played these pairs, and {} were worse",
                counts[0].max(counts[1]),
                counts[0].min(counts[1])
            ),
        })
    }
}

#[cfg(test)]
mod tests;
