//! Execution of one job. Dropping a future of this module stops the engines of a suite;
//! [`Executor::cancel_all`] must be called to stop the engines of a pair.

use tokio::sync::watch;

use crate::wire::{Report, RunDescription};
use arbiter_protocol::Limits;
use arbiter_run::{PairJob, PlayedPair};
use arbiter_runner::{Executor, JobEvent, LocalExecutor};
use arbiter_suite::epd::{EngineAnswers, Question};
use arbiter_suite::perft::{Count, CountResult};
use arbiter_suite::{SuiteEngines, SuiteError};

/// Plays a pair; `game_index` receives the index of each game (0 or 1) when the game starts.
pub(crate) async fn play(
    local: &mut LocalExecutor,
    job: PairJob,
    game_index: watch::Sender<Option<u8>>,
) -> Report<PlayedPair> {
    local.start(job);
    loop {
        match Executor::next(local).await {
            JobEvent::Played { played, .. } => return Report::Played(played),
            JobEvent::Failed { reason, .. } | JobEvent::Lost(reason) | JobEvent::Unfit(reason) => {
                return Report::Failed(reason);
            }
            JobEvent::Started { game_index: started, .. } => {
                let _ = game_index.send(u8::try_from(started).ok());
            }
            JobEvent::Ended { .. }
            | JobEvent::Paused(_)
            | JobEvent::Noted(_)
            | JobEvent::Presence(_)
            | JobEvent::WorkerExcluded(_) => {}
        }
    }
}

/// Lets all engines search a position, one after another.
pub(super) async fn search(
    engines: &mut SuiteEngines,
    question: Question,
    description: &RunDescription,
) -> Report<EngineAnswers> {
    let limits: Vec<Limits> =
        description.engines.iter().map(|run_engine| run_engine.engine.conditions.limits).collect();
    let mut answers = Vec::new();
    for search in question.searches(limits) {
        match fault_or_answer(engines.ask(&search).await) {
            Ok(answer) => answers.push(answer),
            Err(reason) => return Report::Failed(reason),
        }
    }
    Report::Played(EngineAnswers(answers))
}

/// Lets the engine count the leaf nodes of a position (perft).
pub(super) async fn count(engines: &mut SuiteEngines, count: Count) -> Report<CountResult> {
    match fault_or_answer(engines.ask(&count).await) {
        Ok(verdict) => Report::Played(CountResult(verdict)),
        Err(reason) => Report::Failed(reason),
    }
}

/// Returns the answer of an engine, or the failure of the engine as the inner error; the outer
/// error is a failure of the machine.
fn fault_or_answer<D>(
    answer: Result<Result<D, String>, SuiteError>,
) -> Result<Result<D, String>, String> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(SuiteError::Environment(reason)) => Err(reason),
        Err(error @ SuiteError::Unsupported(_)) => Ok(Err(error.to_string())),
    }
}
