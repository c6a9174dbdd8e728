//! Work on a job until it is done or cancelled.

use std::pin::Pin;

use crate::outliers::is_breakdown;
use crate::wire::RunDescription;
use arbiter_plan::run::job::PlayedPair;
use arbiter_protocol::Limits;
use arbiter_runner::executor::local::Local;
use arbiter_runner::executor::{Executor, JobEvent};
use arbiter_suite::epd::{Answered, Question};
use arbiter_suite::perft::{Counted, NumberedCount};
use arbiter_suite::{SuiteEngines, SuiteError};

/// Work on one job.
pub(super) trait JobRunner {
    /// Its result.
    type Done;

    /// Whether engines broke down in all games of the result.
    fn has_broken(done: &Self::Done) -> bool;

    /// Waits for the next event. Cancel-safe.
    fn next(&mut self) -> impl Future<Output = JobEvent<Self::Done>> + Send;

    /// Cancels the work; when this returns, nothing of it goes on.
    fn cancel(&mut self) -> impl Future<Output = ()> + Send;
}

/// Plays the pair that was started.
impl JobRunner for Local {
    type Done = PlayedPair;

    fn has_broken(played: &PlayedPair) -> bool {
        played.games.iter().all(|game| is_breakdown(game.outcome.termination))
    }

    async fn next(&mut self) -> JobEvent {
        Executor::next(self).await
    }

    async fn cancel(&mut self) {
        self.cancel_all().await;
    }
}

/// Work on a position of a suite, as a future.
pub(super) struct SuiteRunner<'a, D>(
    Option<Pin<Box<dyn Future<Output = JobEvent<D>> + Send + 'a>>>,
);

impl<'a, D> SuiteRunner<'a, D> {
    /// Work that ends with the event of `future`.
    pub(super) fn new(runner: impl Future<Output = JobEvent<D>> + Send + 'a) -> SuiteRunner<'a, D> {
        SuiteRunner(Some(Box::pin(runner)))
    }
}

impl<D> JobRunner for SuiteRunner<'_, D> {
    type Done = D;

    // Workers are not compared by answers.
    fn has_broken(_: &D) -> bool {
        false
    }

    async fn next(&mut self) -> JobEvent<D> {
        match &mut self.0 {
            Some(runner) => runner.await,
            None => std::future::pending().await,
        }
    }

    async fn cancel(&mut self) {
        // Dropping the future kills its engine.
        self.0 = None;
    }
}

/// All engines search a position, one after another.
pub(super) async fn search(
    asked: &mut SuiteEngines,
    question: Question,
    description: &RunDescription,
) -> JobEvent<Answered> {
    let number = question.number;
    let limits: Vec<Limits> = description.contestants.iter().map(|c| c.conditions.limits).collect();
    let mut answers = Vec::new();
    for search in question.searches(limits) {
        match asked.ask(&search).await {
            Ok(answer) => answers.push(answer),
            Err(SuiteError::Environment(reason)) => {
                return JobEvent::Failed { pair: number, reason };
            }
            Err(error @ SuiteError::Unsupported(_)) => answers.push(Err(error.to_string())),
        }
    }
    let played = Answered { number, answers };
    JobEvent::Played { played, noise: None, worker: None }
}

/// The engine counts the leaves of a position.
pub(super) async fn count(asked: &mut SuiteEngines, counting: NumberedCount) -> JobEvent<Counted> {
    let number = counting.number;
    let verdict = match asked.ask(&counting.count).await {
        Ok(verdict) => verdict,
        Err(SuiteError::Environment(reason)) => return JobEvent::Failed { pair: number, reason },
        Err(error @ SuiteError::Unsupported(_)) => Err(error.to_string()),
    };
    JobEvent::Played { played: Counted { number, verdict }, noise: None, worker: None }
}
