//! Admission of workers: compares the workers' bench results with the coordinator's bench results.
//! This module does no I/O.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::{BenchResult, Benches};

/// Minimum number of workers whose bench results must differ from the coordinator's results before
/// the run ends. The run ends because the coordinator's machine is then suspect. The number of
/// differing workers must also reach the number of other workers that can play. If a single worker
/// differs, that worker may be broken.
const MIN_DIFFERING: usize = 2;

/// Maximum number of workers of a run. The number is limited, because the names of the workers are
/// stored until the run ends.
const MAX_WORKERS: usize = 10_000;

/// Decision on a join request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The worker may play.
    Admit,
    /// The worker may not play, for this reason.
    Exclude(String),
    /// The worker may not play, because the run already has the maximum number of workers.
    TooMany,
    /// The run ends, because too many workers differ from the coordinator; the text describes the
    /// differences.
    EndRun(String),
}

/// The bench results that workers of a run have to reproduce.
#[derive(Debug, Default)]
pub(super) struct Admission {
    /// Name of each engine, and the node count of its bench on this machine; `None` if the bench is
    /// not compared.
    engines: Vec<(String, Option<u64>)>,
    /// Workers whose results differ from the coordinator's results, each with a description of the
    /// difference.
    differing: BTreeMap<String, String>,
    /// Workers whose results equal the coordinator's results.
    matching: BTreeSet<String>,
}

impl Admission {
    /// Creates the admission for engines and their bench results on this machine, if any.
    pub(super) fn new(engines: impl Iterator<Item = (String, Option<BenchResult>)>) -> Admission {
        let engines = engines.map(|(name, bench)| (name, bench.map(|bench| bench.nodes)));
        Admission { engines: engines.collect(), ..Admission::default() }
    }

    /// Decides on a join request; `others` is the number of other workers that report, are not
    /// excluded and do not refuse the run. A worker counts even if the worker has not joined.
    pub(super) fn judge(&mut self, worker: &str, benches: &Benches, others: usize) -> Verdict {
        if self.matching.len() + self.differing.len() >= MAX_WORKERS
            && !self.matching.contains(worker)
        {
            return Verdict::TooMany;
        }
        let mut verdict = Verdict::Admit;
        for (index, (name, expected)) in self.engines.iter().enumerate() {
            let Some(nodes) = expected else { continue };
            let why = match benches.get(index).and_then(Option::as_ref) {
                Some(Ok(found)) if found.nodes == *nodes => continue,
                Some(Ok(found)) => {
                    let why = format!(
                        "the bench of engine '{name}' has {} nodes on the worker, but {nodes} on \
                         the coordinator's machine",
                        found.nodes
                    );
                    self.differing.insert(worker.to_owned(), why.clone());
                    verdict = Verdict::Exclude(why);
                    break;
                }
                Some(Err(error)) => format!("engine '{name}' has no bench on the worker: {error}"),
                None => format!("no bench reported for engine '{name}'"),
            };
            verdict = Verdict::Exclude(why);
        }
        if verdict == Verdict::Admit {
            self.matching.insert(worker.to_owned());
        }
        // If fewer workers were enough, a few workers with false reports could end the run.
        let enough = MIN_DIFFERING.max(others);
        if !self.differing.contains_key(worker) || self.differing.len() < enough {
            return verdict;
        }
        let found = self.differing.iter().map(|(worker, why)| format!("worker {worker}: {why}"));
        Verdict::EndRun(format!(
            "{} workers report the same problem: {}; the engine depends on the machine, or this \
             machine differs",
            self.differing.len(),
            found.collect::<Vec<_>>().join("; ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benches(nodes: [u64; 2]) -> Benches {
        nodes.map(|nodes| Some(Ok(BenchResult { nodes, nps: 1.0 }))).to_vec()
    }

    fn admission() -> Admission {
        let bench = |nodes| Some(BenchResult { nodes, nps: 5.0 });
        Admission::new([("A".to_owned(), bench(10)), ("B".to_owned(), bench(20))].into_iter())
    }

    #[test]
    fn a_worker_with_the_same_bench_is_admitted() {
        let mut admission = admission();
        for worker in ["a", "b", "c"] {
            assert_eq!(admission.judge(worker, &benches([10, 20]), 0), Verdict::Admit);
        }
        // Engines that have no bench are not compared.
        let mut none = Admission::new([("A".to_owned(), None)].into_iter());
        assert_eq!(none.judge("a", &Benches::new(), 0), Verdict::Admit);
    }

    #[test]
    fn one_wrong_worker_is_excluded_and_two_end_the_run() {
        let mut admission = admission();
        let why = "the bench of engine 'B' has 21 nodes on the worker, but 20 on the \
                   coordinator's machine";
        for _ in 0..3 {
            let verdict = admission.judge("a", &benches([10, 21]), 0);
            assert_eq!(verdict, Verdict::Exclude(why.into()), "the same worker is one worker");
        }
        assert_eq!(admission.judge("b", &benches([10, 20]), 0), Verdict::Admit);
        // Workers that have not joined in this process count, too.
        let verdict = admission.judge("c", &benches([9, 20]), 3);
        assert!(matches!(verdict, Verdict::Exclude(_)), "3 others can play: {verdict:?}");
        let verdict = admission.judge("c", &benches([9, 20]), 2);
        let Verdict::EndRun(message) = verdict else { panic!("{verdict:?}") };
        for part in ["2 workers", "worker a: the bench of engine 'B'", "worker c: ", "9 nodes"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn the_number_of_workers_is_limited() {
        let mut admission = admission();
        let mut judge = |worker: &str| admission.judge(worker, &benches([10, 20]), 0);
        let names: Vec<String> = (0..MAX_WORKERS).map(|number| number.to_string()).collect();
        assert!(names.iter().all(|name| judge(name) == Verdict::Admit));
        assert_eq!((judge("more"), judge("7")), (Verdict::TooMany, Verdict::Admit));
    }

    #[test]
    fn failing_benches_exclude_workers_but_do_not_end_the_run() {
        let mut admission = admission();
        for worker in ["a", "b", "c"] {
            let mut failed = benches([10, 20]);
            failed[1] = Some(Err("ended with signal 4".into()));
            let verdict = admission.judge(worker, &failed, 0);
            assert!(
                matches!(&verdict, Verdict::Exclude(why) if why.contains("signal 4")),
                "{verdict:?}"
            );
            failed.truncate(1);
            assert!(matches!(admission.judge(worker, &failed, 0), Verdict::Exclude(_)));
        }
    }
}
