//! In place of `fleet` and `suite_run::remote` where the feature `cluster` is off: no flag names other
//! machines, so that there are none.

use clap::Args;

use crate::failure::Failure;
use crate::suite_run::QueryArgs;
use arbiter_plan::plan::{Engine, Plan};
use arbiter_report::suite::Place;
use arbiter_runner::executor::remote::Remote;
use arbiter_runner::preflight::EngineSetup;
use arbiter_store::{Store, StoreError};
use arbiter_suite::epd::{Answered, Question};
use arbiter_suite::perft::{Counted, NumberedCount};

/// No flags.
#[derive(Debug, Default, Args)]
pub(crate) struct ClusterArgs {}

/// Other machines, of which there are none.
#[derive(Debug)]
pub(crate) enum Fleet {}

/// What the store knows of a run's workers, which only workers need.
pub(crate) struct WorkerHistory;

/// What workers can be asked.
pub(crate) trait Assignment {
    /// What comes of it.
    type Done;
}

/// What comes of all questions of a suite, each with the worker that says so.
type Answers<A> = Vec<(<A as Assignment>::Done, String)>;

impl Assignment for Question {
    type Done = Answered;
}

impl Assignment for NumberedCount {
    type Done = Counted;
}

impl ClusterArgs {
    pub(crate) fn fleet(self, _most: Option<usize>) -> Result<Option<Fleet>, Failure> {
        Ok(None)
    }
}

impl Fleet {
    pub(crate) fn check(&self, _: &Plan) -> Result<(), Failure> {
        match *self {}
    }

    pub(crate) fn announce(&self) {
        match *self {}
    }

    pub(crate) fn flag(&self) -> String {
        match *self {}
    }

    pub(crate) async fn executor(
        self,
        _: &Plan,
        _run: &str,
        _created_ms: i64,
        _: Vec<EngineSetup>,
        _: WorkerHistory,
    ) -> Result<Remote, Failure> {
        match self {}
    }
}

pub(crate) fn worker_history(_: &Store, _run: &str, _: &Plan) -> Result<WorkerHistory, StoreError> {
    Ok(WorkerHistory)
}

pub(crate) fn run_on_workers<A: Assignment>(
    fleet: Fleet,
    _suite: &str,
    _: &[Engine],
    _needs_chess960: bool,
    _questions: Vec<A>,
    _: &QueryArgs,
) -> Result<(Answers<A>, Place), Failure> {
    match fleet {}
}
