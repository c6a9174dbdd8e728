//! Execution of suites by workers.

use std::collections::BTreeMap;

use super::{SuiteArgs, UNFINISHED, bar, setups};
use crate::fleet::{Fleet, opened};
use crate::{failure::Failure, runtime::runtime};
use arbiter_cluster::{Assignment, check_engines, run_suite};
use arbiter_names::quantity;
use arbiter_plan::Engine;
use arbiter_report::{EngineLocation, note};
use arbiter_run::Remark;
use arbiter_runner::{DispatcherEnd, JobCommand, Signals, check_suite_engines, unix_time_ms};

/// Results of all queries of a suite, in order. Each result has a suffix that names the worker in
/// messages about faults.
pub(crate) type WorkerResults<A> = Vec<(<A as Assignment>::Done, String)>;

/// Runs all queries of a suite on workers. Also returns the number of positions of each worker.
pub(crate) fn run_on_workers<A: Assignment>(
    fleet: Fleet,
    args: &SuiteArgs,
    engines: &[Engine],
    needs_chess960: bool,
    questions: Vec<A>,
) -> Result<(WorkerResults<A>, EngineLocation), Failure> {
    check_engines(engines).map_err(Failure::invalid)?;
    note(&quantity(questions.len(), "position"));
    fleet.announce();
    let setups = setups(engines, args.query.deadline)?;
    let bar = bar(questions.len() as u64);
    let most = fleet.most;
    let results = runtime()?.block_on(async {
        let mut signals = Signals::listen().map_err(Failure::environment)?;
        let opening = async {
            check_suite_engines(&setups, needs_chess960).await?;
            fleet.link(&args.name(), unix_time_ms(), engines, setups.clone()).await
        };
        let put_away =
            async |link: DispatcherEnd<A, A::Done>| link.send_and_wait(JobCommand::Finish).await;
        let mut link = opened(opening, &mut signals, put_away, UNFINISHED).await?;
        let observe = |done: usize, remark: Option<Remark>| {
            if let Some(Remark { worker, text, .. }) = remark {
                bar.suspend(|| note(&format!("worker {worker}: {text}")));
            }
            bar.set_position(done as u64);
        };
        let result = tokio::select! {
            result = run_suite(&mut link, questions, most, observe) => {
                result.map_err(Failure::from)
            }
            request = signals.next() => Err(Failure::interrupted(request, UNFINISHED)),
        };
        // After an error or a signal, workers are first notified, so that they abandon the jobs in
        // progress. After that, the data of the suite is removed from the server.
        if result.is_err() {
            link.send_and_wait(JobCommand::CancelAll).await;
        }
        link.send_and_wait(JobCommand::Finish).await;
        result
    });
    bar.finish_and_clear();
    let results = results?;
    let mut positions: BTreeMap<String, u64> = BTreeMap::new();
    for (_, worker) in results.done.values() {
        *positions.entry(worker.clone()).or_default() += 1;
    }
    let excluded = results.excluded.into_iter().map(|remark| (remark.worker, remark.text));
    let place = EngineLocation::workers(positions, excluded);
    let answers = results.done.into_values();
    Ok((answers.map(|(done, worker)| (done, format!(" (worker {worker})"))).collect(), place))
}
