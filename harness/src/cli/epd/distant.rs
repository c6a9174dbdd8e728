//! A suite that workers put to the engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Searches;
use crate::broker::asking::{AskingError, News, ask};
use crate::cli::cluster::Fleet;
use crate::cli::play::runtime;
use crate::cli::suites::{AskArgs, bar, interrupted, seats, trial};
use crate::cli::{ExitCode, Failure};
use crate::config::plan::Engine;
use crate::report::suite::by::By;
use crate::report::terminal::note;
use crate::run::dispatch::unix_time_ms;
use crate::run::executor::remote::Order;
use crate::run::signal::Signals;
use crate::suite::epd::task::Question;

impl From<AskingError> for Failure {
    fn from(error: AskingError) -> Failure {
        Failure::new(ExitCode::Environment, error)
    }
}

/// Has the questions of a suite answered; also by whom.
pub(super) fn searches(
    fleet: Fleet,
    suite: &str,
    engines: &[Engine],
    questions: Vec<Question>,
    args: &AskArgs,
) -> Result<(Searches, By), Failure> {
    let own_binary = std::env::current_exe().map_err(Failure::environment)?;
    let seats = seats(engines, &own_binary, args.deadline);
    let needs_chess960 = questions.iter().any(|question| question.record.start.is_chess960());
    let records: Vec<_> = questions.iter().map(|question| Arc::clone(&question.record)).collect();
    let bar = bar(questions.len() as u64);
    let most = fleet.most();
    let answers = runtime()?.block_on(async {
        let mut signals = Signals::listen().map_err(Failure::environment)?;
        let opening = async {
            trial(&seats, needs_chess960).await?;
            fleet.link(suite, unix_time_ms(), engines, seats.clone()).await
        };
        let mut link = tokio::select! {
            link = opening => link?,
            request = signals.next() => return Err(interrupted(request)),
        };
        let tell = |news: News<'_>| match news {
            News::Answered(count) => bar.set_position(count as u64),
            News::Remark(remark) => {
                bar.suspend(|| note(&format!("worker {}: {}", remark.worker, remark.what)));
            }
        };
        let asked = tokio::select! {
            asked = ask(&mut link, questions, most, tell) => asked.map_err(Failure::from),
            request = signals.next() => Err(interrupted(request)),
        };
        if asked.is_err() {
            link.have(Order::CancelAll).await;
        }
        link.have(Order::Finish).await;
        asked
    });
    bar.finish_and_clear();
    let answers = answers?;
    let mut positions: BTreeMap<String, u64> = BTreeMap::new();
    let mut searches: Searches = engines.iter().map(|_| Vec::new()).collect();
    for (record, (answered, worker)) in records.iter().zip(answers.answered.into_values()) {
        for (searches, answer) in searches.iter_mut().zip(answered.answers) {
            let searched = answer.and_then(|answer| answer.judged(&record.start, &record.goal));
            searches.push(searched.map_err(|fault| format!("{fault} (worker {worker})")));
        }
        *positions.entry(worker).or_default() += 1;
    }
    let aside = answers.aside.into_iter().map(|remark| (remark.worker, remark.what));
    Ok((searches, By::Workers { positions, aside: aside.collect() }))
}
