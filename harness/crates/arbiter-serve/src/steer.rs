//! Requests that need the token: to steer runs, and to start one.

use std::fmt::Debug;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::asked::UrlQuery;
use super::routes::{HttpError, Site, check_run, not_found};
use crate::web::run as run_page;
use arbiter_plan::ControlCommand;
use arbiter_runner::{CONTROL_TIMEOUT, ControlError, send_command};
use arbiter_store::RunLock;

/// Test as requested in the form, word for word.
#[derive(Debug, Clone, Default)]
pub struct NewTest {
    /// Engine under test.
    pub dev: String,
    /// Engine with which dev is compared.
    pub base: String,
    /// Limit of the thinking of both engines, such as a time control, in the form of `--each`.
    pub limit: String,
    /// Elo of the null hypothesis.
    pub elo0: String,
    /// Elo of the alternative hypothesis.
    pub elo1: String,
    /// Most pairs of games.
    pub pairs: String,
    /// Name of the run.
    pub name: String,
}

/// Result of a request to start a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartResult {
    /// The test is a run with the requested name.
    Run,
    /// The test is being prepared; the log says whether it becomes a run.
    Prepared,
    /// Another run, with this name, was started here and is still played.
    Busy(String),
    /// The test is not started, or has ended, for this reason.
    Refused(String),
}

/// Starter of tests, one at a time.
pub trait Starter: Debug + Send + Sync {
    /// Starts a test, and waits for a while until it is a run.
    fn start(&self, wanted: &NewTest) -> StartResult;

    /// Stops a test that this server has started, also before it is a run; returns whether it did.
    fn stop(&self, run: &str) -> bool;
}

pub(crate) async fn steer(
    State(site): State<Site>,
    Path((run, command)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if let Err(refusal) = site.0.guard.may_steer(&headers) {
        return refusal.into_response();
    }
    // A list of allowed commands, because a run obeys others that pages do not offer.
    let known = run_page::COMMANDS.into_iter().find(|(known, ..)| known.to_string() == command);
    let Some((command, ..)) = known else {
        return (StatusCode::NOT_FOUND, "Unknown command.\n").into_response();
    };
    if let Err(error) = RunLock::check_name(&run) {
        return (StatusCode::NOT_FOUND, format!("{error}\n")).into_response();
    }
    let (results, starter) = (site.0.results.clone(), site.0.starter.clone());
    let name = run.clone();
    // A test that is still being built has no run and no control socket. Only its starter can end
    // it.
    let told = move || match send_command(&results, &run, command, false, CONTROL_TIMEOUT) {
        Err(ControlError::Idle(..))
            if command == ControlCommand::Stop && starter.is_some_and(|one| one.stop(&run)) =>
        {
            Ok("stopped before the run started\n".to_owned())
        }
        told => told,
    };
    match tokio::task::spawn_blocking(told).await {
        Ok(Ok(words)) => words.into_response(),
        Ok(Err(error)) => {
            let unknown = match error {
                // An idle run and a run that does not exist are different mistakes.
                ControlError::Idle(..) => check_run(&site, &name).await.err(),
                ControlError::Refused(_) => None,
            };
            let HttpError(code, words) =
                unknown.unwrap_or(HttpError(StatusCode::CONFLICT, error.to_string()));
            (code, format!("{words}\n")).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

pub(crate) async fn start(
    State(site): State<Site>,
    headers: HeaderMap,
    asked: UrlQuery,
) -> Response {
    let Some(starter) = site.0.starter.clone() else { return not_found().into_response() };
    if let Err(refusal) = site.0.guard.may_steer(&headers) {
        return refusal.into_response();
    }
    let [dev, base, limit, elo0, elo1, pairs, name] =
        ["dev", "base", "limit", "elo0", "elo1", "pairs", "name"]
            .map(|n| asked.value(n).to_owned());
    let place = format!("/runs/{name}");
    let wanted = NewTest { dev, base, limit, elo0, elo1, pairs, name };
    match tokio::task::spawn_blocking(move || starter.start(&wanted)).await {
        Ok(StartResult::Run) => {
            let words = format!("Started: {place}\n");
            (StatusCode::CREATED, [(header::LOCATION, place)], words).into_response()
        }
        Ok(StartResult::Prepared) => {
            let words =
                format!("Preparing the run; it will appear at {place}; {place}/stop stops it.\n");
            (StatusCode::ACCEPTED, words).into_response()
        }
        Ok(StartResult::Busy(run)) => {
            let words = format!("Run {run}, started here, is still running.\n");
            (StatusCode::CONFLICT, words).into_response()
        }
        Ok(StartResult::Refused(why)) => {
            (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}
