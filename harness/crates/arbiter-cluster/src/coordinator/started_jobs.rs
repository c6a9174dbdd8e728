//! Jobs that workers have started and not finished, to detect jobs that a worker withholds. This
//! module does no I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Number of a job, and number of the attempt.
type JobAttempt = (u64, u32);

/// Unfinished jobs of a worker.
#[derive(Debug, Default)]
struct Unfinished {
    /// Jobs that may be in a slot, each with its start time, in order of start.
    playing: Vec<(JobAttempt, Duration)>,
    /// Jobs that the worker withholds.
    withheld: BTreeSet<JobAttempt>,
    /// Largest number of jobs that were in slots at any one time so far.
    most: u64,
}

/// Unfinished jobs, by worker.
#[derive(Debug, Default)]
pub(super) struct StartedJobs(BTreeMap<String, Unfinished>);

impl StartedJobs {
    /// Records a heartbeat for a job. Returns the number of the worker's oldest job if the worker
    /// withholds this job. A job counts as withheld if, more than a lease ago, the worker had
    /// started as many later jobs as the worker has slots.
    pub(super) fn heartbeat(
        &mut self,
        worker: &str,
        job: JobAttempt,
        slots: usize,
        lease: Duration,
        now: Duration,
    ) -> Option<u64> {
        let Unfinished { playing, withheld, most } = self.0.entry(worker.to_owned()).or_default();
        if !withheld.contains(&job) && playing.iter().all(|(other, _)| *other != job) {
            playing.push((job, now));
            *most = (*most).max(playing.len().min(slots) as u64);
        }
        // A slot takes its next job only after the server has stored the last result, but the
        // heartbeat of the next job may arrive before this result.
        let is_withheld = playing.get(slots).is_some_and(|(_, started)| now > *started + lease);
        is_withheld.then(|| {
            let (oldest, _) = playing.remove(0);
            withheld.insert(oldest);
            oldest.0
        })
    }

    /// Removes a job whose result a worker has sent, or which the worker has given back. Returns
    /// whether the job was withheld before.
    pub(super) fn finished(&mut self, worker: &str, job: JobAttempt) -> bool {
        let Some(Unfinished { playing, withheld, .. }) = self.0.get_mut(worker) else {
            return false;
        };
        playing.retain(|(other, _)| *other != job);
        withheld.remove(&job)
    }

    /// Returns the largest number of jobs that a worker has played at any one time so far.
    pub(super) fn most(&self, worker: &str) -> u64 {
        self.0.get(worker).map_or(0, |unfinished| unfinished.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    const NONE: [u64; 0] = [];

    /// Returns the pairs that a worker with two slots withholds; each event is the time in seconds,
    /// and the pair for which the worker sends a heartbeat (`Ok`) or a result (`Err`).
    fn withheld(jobs: &mut StartedJobs, events: &[(u64, Result<u64, u64>)]) -> Vec<u64> {
        let mut withheld = Vec::new();
        for (second, event) in events {
            match event {
                Ok(pair) => {
                    let now = Duration::from_secs(*second);
                    withheld.extend(jobs.heartbeat("a", (*pair, 7), 2, LEASE, now));
                }
                Err(pair) => assert!(!jobs.finished("a", (*pair, 7)), "pair {pair}"),
            }
        }
        withheld
    }

    #[test]
    fn a_job_whose_slot_does_other_jobs_is_withheld() {
        let mut jobs = StartedJobs::default();
        let silent = [(0, Ok(1)), (0, Ok(2)), (5, Ok(3)), (9, Err(2)), (9, Ok(4)), (39, Ok(4))];
        assert_eq!(withheld(&mut jobs, &silent), NONE, "not for longer than a lease");
        assert_eq!(withheld(&mut jobs, &[(40, Ok(1)), (41, Ok(1)), (99, Ok(3))]), [1]);
        assert_eq!(["a", "b"].map(|worker| jobs.most(worker)), [2, 0], "slots in use");
        assert!(!jobs.finished("b", (1, 7)) && !jobs.finished("a", (1, 8)));
        assert!(jobs.finished("a", (1, 7)) && !jobs.finished("a", (1, 7)), "a late result");
    }

    #[test]
    fn jobs_of_slow_paused_and_disconnected_workers_are_not_withheld() {
        let events =
            [(0, Ok(1)), (0, Ok(2)), (50, Err(2)), (50, Ok(3)), (600, Err(3)), (600, Ok(4))];
        assert_eq!(withheld(&mut StartedJobs::default(), &events), NONE, "slow in one slot");
        let paused =
            [(0, Ok(1)), (0, Ok(2)), (900, Ok(1)), (901, Err(2)), (902, Ok(3)), (950, Ok(1))];
        assert_eq!(withheld(&mut StartedJobs::default(), &paused), NONE, "paused");
        // The heartbeats of the next jobs arrive before the results of the last jobs.
        let late =
            [(0, Ok(1)), (0, Ok(2)), (900, Ok(3)), (900, Ok(4)), (905, Err(1)), (905, Err(2))];
        let late = [late.as_slice(), &[(990, Ok(3)), (990, Ok(4))]].concat();
        assert_eq!(withheld(&mut StartedJobs::default(), &late), NONE, "disconnected");
    }
}
