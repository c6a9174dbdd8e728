//! Routes of the server.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Query, RawQuery, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream::{Stream, unfold};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::compare::{self, MAX_RUNS};
use super::connections;
use super::games;
use super::http_error::{HttpError, bad_request, not_found, unavailable};
use super::hub::{Latest, Topic};
use super::metrics::healthz;
use super::request_times::timed;
use super::run::report as run_report;
use super::site::Site;
use super::steer::{start, steer};
use super::url_query::UrlQuery;
use crate::web::{self, EventSource, list, run as run_page};
use arbiter_report::HTML_POLICY;
use arbiter_store::parse_place;

/// Headers of every response. The headers forbid browsers to load anything from other sites, to
/// show the page in a frame of another site, to send the page's URL to other sites, and to cache
/// the page.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, web::POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Content security policy that sandboxes a report, because a report contains a script. The browser
/// treats the report as another site, so the report has none of the rights of the server's own
/// pages.
const SANDBOX: &str = "sandbox allow-scripts; frame-ancestors 'none'";

/// Interval of keep-alive messages on a silent connection, so that both ends notice a lost
/// connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Response, or an error page.
type Answer = Result<Response, HttpError>;

impl Site {
    /// Answers requests until the process ends.
    pub async fn serve(self, listener: TcpListener) -> ! {
        connections::serve(listener, self.router()).await
    }

    /// Returns all routes.
    fn router(self) -> Router {
        let router = Router::new();
        #[cfg(feature = "cluster")]
        let router = router.route("/cluster", get(cluster));
        router
            .route("/", get(runs))
            .route("/start", post(start))
            .route("/events/{*topic}", get(events))
            .route("/runs/{run}", get(run))
            .route("/runs/{run}/report.html", get(report))
            .route("/runs/{run}/games", get(games))
            .route("/runs/{run}/games.pgn", get(games_pgn))
            .route("/runs/{run}/games/{game}", get(game))
            .route("/runs/{run}/{command}", post(steer))
            .route("/compare", get(compare))
            .route("/assets/{name}", get(asset))
            .route("/healthz", get(healthz))
            .fallback(async || not_found())
            // The last layer is the outermost, so response times include refused requests.
            .layer(from_fn_with_state(self.clone(), guarded))
            .layer(from_fn_with_state(self.0.times.clone(), timed))
            .with_state(self)
    }
}

/// Refuses requests that are not addressed to this server, and adds [`HEADERS`] to every response.
async fn guarded(State(site): State<Site>, request: Request, next: Next) -> Response {
    let mut response = match site.0.guard.may_see(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Returns a live page in its current state.
async fn live(site: &Site, topic: Topic) -> Answer {
    let mut latest = site.0.hub.follow(topic.clone()).map_err(unavailable)?;
    let page = latest.wait_for(|page| page.version > 0).await.map(|page| page.clone());
    let page = page.map_err(|_| unavailable("The page could not be generated.".to_owned()))?;
    let source = EventSource { url: &topic.events_url(), last_event_id: &site.id(page.version) };
    let (fragments, inner) = (&page.fragments, &site.0);
    let html = match &topic {
        Topic::Runs(query) => list::list(query, fragments, source, inner.starter.is_some()),
        Topic::Run(run) => run_page::run(run, fragments, source, inner.guard.is_steered()),
        #[cfg(feature = "cluster")]
        Topic::Cluster(_) => web::cluster::cluster(fragments, source),
    };
    Ok(Html(html).into_response())
}

async fn runs(State(site): State<Site>, url_query: UrlQuery) -> Answer {
    live(&site, Topic::Runs(url_query.for_runs())).await
}

async fn run(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    site.check_run(&run).await?;
    live(&site, Topic::Run(run)).await
}

#[cfg(feature = "cluster")]
async fn cluster(State(site): State<Site>, url_query: UrlQuery) -> Answer {
    live(&site, Topic::Cluster(url_query.keep_fields(&["state"]))).await
}

/// Streams the changes of a live page. The request contains the last event known to the browser: in
/// a header after a reconnection, and in the query if the page has just been loaded.
async fn events(
    State(site): State<Site>,
    Path(topic): Path<String>,
    url_query: UrlQuery,
    headers: HeaderMap,
) -> Answer {
    let since = url_query.value("since").to_owned();
    let topic = match topic.split_once('/') {
        None if topic == "runs" => Topic::Runs(url_query.for_runs()),
        #[cfg(feature = "cluster")]
        None if topic == "cluster" => Topic::Cluster(url_query.keep_fields(&["state"])),
        Some(("runs", run)) => {
            site.check_run(run).await?;
            Topic::Run(run.to_owned())
        }
        _ => return Err(not_found()),
    };
    let in_header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let last_event = in_header.unwrap_or(&since).split_once('-');
    // After a restart of the server, version numbers start again, but the browser still sends the
    // old version number.
    let of_this_process = last_event.filter(|(boot, _)| *boot == site.0.boot);
    let seen_version = of_this_process.and_then(|(_, version)| version.parse().ok()).unwrap_or(0);
    let latest = site.0.hub.follow(topic).map_err(unavailable)?;
    let events = Sse::new(changes(site, latest, seen_version));
    Ok(events.keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

fn changes(
    site: Site,
    latest: watch::Receiver<Latest>,
    seen_version: u64,
) -> impl Stream<Item = Result<Event, Infallible>> {
    unfold((site, latest, seen_version), |(site, mut latest, seen_version)| async move {
        loop {
            let page = latest.borrow_and_update().clone();
            // If the version is older than the browser's version, the live page was removed and
            // created again in the meantime, so all fragments are sent.
            let version = page.version;
            if version > 0 && version != seen_version {
                let since = if version > seen_version { seen_version } else { 0 };
                let event = Event::default().event("parts").id(site.id(version));
                return Some((Ok(event.data(page.since(since))), (site, latest, version)));
            }
            latest.changed().await.ok()?;
        }
    })
}

async fn report(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    let name = format!("inline; filename=\"{run}.html\"");
    // A report contains a script and text from engines, so the report must not have the rights of
    // this site.
    let policy = format!("{HTML_POLICY}; {SANDBOX}");
    let page = site.compute_for_run(&run, run_report).await?;
    let headers = [(header::CONTENT_DISPOSITION, name), (header::CONTENT_SECURITY_POLICY, policy)];
    Ok((headers, Html(page)).into_response())
}

impl FromRequestParts<Site> for UrlQuery {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<UrlQuery, HttpError> {
        let Ok(RawQuery(raw)) = RawQuery::from_request_parts(parts, site).await;
        let fields = Query::from_request_parts(parts, site).await;
        let Query(fields) = fields.map_err(|error| bad_request(error.to_string()))?;
        UrlQuery::new(&raw.unwrap_or_default(), fields).map_err(bad_request)
    }
}

async fn games(State(site): State<Site>, Path(run): Path<String>, url_query: UrlQuery) -> Answer {
    let list = site.select_games(&run, url_query, |games| games.list()).await?;
    Ok(Html(list).into_response())
}

/// Returns the page or the PGN of a game.
async fn game(
    State(site): State<Site>,
    Path((run, game)): Path<(String, String)>,
    url_query: UrlQuery,
) -> Answer {
    let missing = || HttpError(StatusCode::NOT_FOUND, format!("Run {run} has no game {game}."));
    if let Some(game) = game.strip_suffix(".pgn") {
        let place = parse_place(game).ok_or_else(missing)?;
        let one = move |results: &_, run: &_| games::one_pgn(results, run, place);
        let pgn = site.compute_for_run(&run, one).await?;
        let pgn = Some(pgn).filter(|pgn| !pgn.is_empty()).ok_or_else(missing)?;
        return Ok(as_pgn(&format!("{run}-{game}"), pgn));
    }
    let place = parse_place(&game).ok_or_else(missing)?;
    let page = site.select_games(&run, url_query, move |games| games.game(place)).await?;
    Ok(Html(page.ok_or_else(missing)?).into_response())
}

/// Streams, as PGN, the games that a query selects; games are read while earlier games are sent.
async fn games_pgn(
    State(site): State<Site>,
    Path(run): Path<String>,
    url_query: UrlQuery,
) -> Answer {
    let (header, chosen) = site.select_games(&run, url_query, |games| games.places()).await?;
    let name = run.clone();
    let header = Arc::new(header);
    let texts = unfold((site, chosen.into_iter()), move |(site, mut rest)| {
        let (run, header) = (run.clone(), header.clone());
        async move {
            // Games are read in batches, so that a large file needs little memory, and so that
            // reading stops when the client disconnects.
            let part: Vec<_> = rest.by_ref().take(web::games::PART as usize).collect();
            part.first()?;
            let work = move |results: &_| games::pgn(results, &run, &header, &part);
            let text = site.read_store(work).await;
            let text = text.map_err(|HttpError(_, message)| std::io::Error::other(message));
            Some((text, (site, rest)))
        }
    });
    Ok(as_pgn(&name, Body::from_stream(texts)))
}

fn as_pgn(name: &str, text: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/vnd.chess-pgn; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.pgn\"")),
    ];
    (headers, text).into_response()
}

async fn compare(State(site): State<Site>, Query(query): Query<Vec<(String, String)>>) -> Answer {
    let named = query.into_iter().filter(|(name, _)| name == "run");
    let runs: Vec<String> = named.map(|(_, run)| run).collect();
    if !(1..=MAX_RUNS).contains(&runs.len()) {
        return Err(bad_request(format!("Select 1 to {MAX_RUNS} runs in the list to compare.")));
    }
    let page = site.compute_shared("", move |results| compare::compare(results, &runs)).await?;
    Ok(Html(page).into_response())
}

async fn asset(Path(name): Path<String>) -> Answer {
    let found = web::ASSETS.iter().find(|(own, ..)| *own == name);
    let (_, kind, text) = found.ok_or_else(not_found)?;
    Ok(([(header::CONTENT_TYPE, *kind)], *text).into_response())
}
