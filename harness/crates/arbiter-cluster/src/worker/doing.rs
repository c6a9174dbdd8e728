//! What a slot does for a job until it is done or given up.

use std::pin::Pin;

use crate::outliers::is_breakdown;
use crate::wire::RunDescription;
use arbiter_plan::run::job::PlayedPair;
use arbiter_protocol::clock::Limits;
use arbiter_runner::executor::local::Local;
use arbiter_runner::executor::{Executor, JobEvent};
use arbiter_suite::drive::{Asked, DriveError};
use arbiter_suite::epd::task::{Answered, Question};
use arbiter_suite::perft::task::{Counted, Counting};

/// Something that is being done.
pub(super) trait Doing {
    /// What comes of it.
    type Done;

    /// Whether engines broke down in all of what was done.
    fn has_broken(done: &Self::Done) -> bool;

    /// Waits for the next event; may be given up at any moment and be called again.
    fn next(&mut self) -> impl Future<Output = JobEvent<Self::Done>> + Send;

    /// Gives it up. Nothing goes on when it returns.
    fn give_up(&mut self) -> impl Future<Output = ()> + Send;
}

/// Plays the pair that it has started.
impl Doing for Local {
    type Done = PlayedPair;

    fn has_broken(played: &PlayedPair) -> bool {
        played.games.iter().all(|game| is_breakdown(game.outcome.termination))
    }

    async fn next(&mut self) -> JobEvent {
        Executor::next(self).await
    }

    async fn give_up(&mut self) {
        self.cancel_all().await;
    }
}

/// Puts a question of a suite to engines.
pub(super) struct Asking<'a, D>(Option<Pin<Box<dyn Future<Output = JobEvent<D>> + Send + 'a>>>);

impl<'a, D> Asking<'a, D> {
    /// Begins with it.
    pub(super) fn new(asking: impl Future<Output = JobEvent<D>> + Send + 'a) -> Asking<'a, D> {
        Asking(Some(Box::pin(asking)))
    }
}

impl<D> Doing for Asking<'_, D> {
    type Done = D;

    // Nobody is compared by answers.
    fn has_broken(_: &D) -> bool {
        false
    }

    async fn next(&mut self) -> JobEvent<D> {
        match &mut self.0 {
            Some(asking) => asking.await,
            None => std::future::pending().await,
        }
    }

    async fn give_up(&mut self) {
        // Its engine is killed with it.
        self.0 = None;
    }
}

/// All engines search a position, one after another.
pub(super) async fn search(
    asked: &mut Asked,
    question: Question,
    description: &RunDescription,
) -> JobEvent<Answered> {
    let number = question.number;
    let limits: Vec<Limits> = description.contestants.iter().map(|c| c.conditions.limits).collect();
    let mut answers = Vec::new();
    for search in question.searches(limits) {
        match asked.ask(&search).await {
            Ok(answer) => answers.push(answer),
            Err(DriveError::Environment(reason)) => {
                return JobEvent::Failed { pair: number, reason };
            }
            Err(error @ DriveError::Hopeless { .. }) => answers.push(Err(error.to_string())),
        }
    }
    let played = Answered { number, answers };
    JobEvent::Played { played, noise: None, worker: None }
}

/// The engine counts the leaves of a position.
pub(super) async fn count(asked: &mut Asked, counting: Counting) -> JobEvent<Counted> {
    let number = counting.number;
    let verdict = match asked.ask(&counting.count).await {
        Ok(verdict) => verdict,
        Err(DriveError::Environment(reason)) => return JobEvent::Failed { pair: number, reason },
        Err(error @ DriveError::Hopeless { .. }) => Err(error.to_string()),
    };
    JobEvent::Played { played: Counted { number, verdict }, noise: None, worker: None }
}
