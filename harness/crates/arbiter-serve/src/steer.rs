//! Requests that need the token: control of runs, and start of a test.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::http_error::{HttpError, not_found};
use super::site::Site;
use super::starter::{NewTest, StartResult};
use super::url_query::UrlQuery;
use crate::web::run as run_page;
use arbiter_run::ControlCommand;
use arbiter_runner::{CONTROL_TIMEOUT, ControlError, send_command};
use arbiter_store::{RunLock, Store};

pub(crate) async fn steer(
    State(site): State<Site>,
    Path((run, command)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<String, (StatusCode, String)> {
    site.0.guard.may_steer(&headers).map_err(|(code, why)| (code, why.to_owned()))?;
    // Only listed commands are allowed, because a run also obeys commands that pages do not offer.
    let known = run_page::COMMANDS.into_iter().find(|(known, ..)| known.to_string() == command);
    let (command, ..) = known.ok_or((StatusCode::NOT_FOUND, "Unknown command.\n".to_owned()))?;
    RunLock::check_name(&run).map_err(|error| (StatusCode::NOT_FOUND, format!("{error}\n")))?;
    let starter = site.0.starter.clone();
    let sent = site.read_store(move |results| {
        let error = match send_command(results, &run, command, false, CONTROL_TIMEOUT) {
            Ok(message) => return Ok(message),
            Err(error) => error,
        };
        if matches!(error, ControlError::Idle(..)) {
            // A test that is still being prepared has no control socket, so only the server can
            // stop the test.
            if command == ControlCommand::Stop && starter.is_some_and(|one| one.stop(&run)) {
                return Ok("stopped before the run started\n".to_owned());
            }
            // A run that is not being played and a missing run have different status codes.
            Store::observe(results)?.run(&run)?;
        }
        Err(HttpError(StatusCode::CONFLICT, error.to_string()))
    });
    sent.await.map_err(|HttpError(code, message)| (code, format!("{message}\n")))
}

pub(crate) async fn start(
    State(site): State<Site>,
    headers: HeaderMap,
    url_query: UrlQuery,
) -> Response {
    let Some(starter) = site.0.starter.clone() else { return not_found().into_response() };
    if let Err(refusal) = site.0.guard.may_steer(&headers) {
        return refusal.into_response();
    }
    let [dev, base, limit, elo0, elo1, pairs, name] =
        ["dev", "base", "limit", "elo0", "elo1", "pairs", "name"]
            .map(|n| url_query.value(n).to_owned());
    let place = format!("/runs/{name}");
    let wanted = NewTest { dev, base, limit, elo0, elo1, pairs, name };
    let (code, message) = match tokio::task::spawn_blocking(move || starter.start(&wanted)).await {
        Ok(StartResult::Run) => (StatusCode::CREATED, format!("Started: {place}")),
        Ok(StartResult::Prepared) => (
            StatusCode::ACCEPTED,
            format!("Preparing the run; it will appear at {place}; {place}/stop stops it."),
        ),
        Ok(StartResult::Busy(run)) => {
            (StatusCode::CONFLICT, format!("Run {run}, started here, is still running."))
        }
        Ok(StartResult::Refused(why)) => (StatusCode::BAD_REQUEST, why),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    let location = (code == StatusCode::CREATED).then_some([(header::LOCATION, place)]);
    (code, location, format!("{message}\n")).into_response()
}
