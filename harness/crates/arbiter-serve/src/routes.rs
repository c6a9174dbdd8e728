//! Routes of the server.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
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
use tokio::sync::{Mutex, Semaphore, watch};

use super::asked::UrlQuery;
use super::cluster::ClusterMonitor;
use super::compute;
use super::connections;
use super::games::{self, Openings};
use super::guard::Guard;
use super::hub::{Hub, Latest, Topic};
use super::metrics::{RequestTimes, healthz, request_times, timed};
use super::run::report as run_report;
use super::steer::{Starter, start, steer};
use crate::web::{self, EventSource, list, run as run_page};
use arbiter_report::HTML_POLICY;
use arbiter_store::{RunLock, Store, StoreError};

/// Headers of every response: they forbid browsers to load anything from other sites, to show the
/// page in a frame of another site, to send its address to other sites, and to cache it.
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

/// Maximum number of requests computed in parallel; the other processors are left to the engines.
const MAX_COMPUTED: usize = 4;

/// State of the server.
#[derive(Debug, Clone)]
pub struct Site(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) hub: Arc<Hub>,
    pub(super) guard: Guard,
    pub(super) results: PathBuf,
    /// Component that starts tests; `None` if tests cannot be started.
    pub(super) starter: Option<Arc<dyn Starter>>,
    /// Identity of this server process, which distinguishes it from earlier processes at the same
    /// address.
    boot: String,
    /// Locks of computations, by key: the name of a run, or empty for comparisons.
    turns: Mutex<BTreeMap<String, Arc<Mutex<()>>>>,
    /// Permits for computations, [`MAX_COMPUTED`] in total.
    permits: Arc<Semaphore>,
    openings: Openings,
    pub(super) times: RequestTimes,
}

/// Response, or an error page.
type Answer = Result<Response, HttpError>;

/// Error of a request: its status code, and a sentence for the error page.
#[derive(Debug)]
pub(crate) struct HttpError(pub(super) StatusCode, pub(super) String);

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let HttpError(code, words) = self;
        let title = code.canonical_reason().unwrap_or("Error");
        (code, Html(web::error_page(title, &words))).into_response()
    }
}

impl From<StoreError> for HttpError {
    fn from(error: StoreError) -> HttpError {
        let (code, words) = match error {
            StoreError::NoRun { run, .. } => {
                (StatusCode::NOT_FOUND, format!("No run is named '{run}'."))
            }
            StoreError::Missing(_) => (StatusCode::NOT_FOUND, "No store yet.".to_owned()),
            error => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        };
        HttpError(code, words)
    }
}

impl Site {
    /// Creates the site of a results folder and a cluster; `boot` must differ for each server
    /// process.
    pub fn new(
        results: PathBuf,
        monitor: Arc<ClusterMonitor>,
        guard: Guard,
        starter: Option<Arc<dyn Starter>>,
        boot: String,
    ) -> Site {
        Site(Arc::new(Inner {
            hub: Arc::new(Hub::new(results.clone(), monitor)),
            guard,
            results,
            starter,
            boot,
            turns: Mutex::default(),
            permits: Arc::new(Semaphore::new(MAX_COMPUTED)),
            openings: Openings::default(),
            times: request_times(),
        }))
    }

    /// Answers requests until the process ends.
    pub async fn serve(self, listener: TcpListener) -> ! {
        connections::serve(listener, self.router()).await
    }

    /// Returns all routes.
    fn router(self) -> Router {
        let mut router = Router::new();
        if cfg!(feature = "cluster") {
            router = router.route("/cluster", get(cluster));
        }
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

    /// Returns the ID of a page version, as used in events and pages.
    fn id(&self, version: u64) -> String {
        format!("{}-{version}", self.0.boot)
    }

    /// Computes the result of a request, with at most [`MAX_COMPUTED`] computations in parallel.
    /// Computations with equal `key` run one after another, so that repeated requests for a slow
    /// page use only one permit.
    async fn compute_shared<T: Send + 'static>(
        &self,
        key: &str,
        work: impl FnOnce(&std::path::Path) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        // The lock is acquired before the permit. Otherwise, several requests for one slow page
        // would hold all permits while they wait for each other.
        let turn = self.0.turns.lock().await.entry(key.to_owned()).or_default().clone();
        let turn = turn.lock_owned().await;
        // An error means that the semaphore is closed, which never happens.
        let permit = self.0.permits.clone().acquire_owned().await;
        // A computation in a blocking thread cannot be cancelled, so the lock and the permit are
        // held until it ends, even if the client has disconnected.
        self.read_store(move |results| {
            let _place = (turn, permit);
            work(results)
        })
        .await
    }

    /// Runs work on the store in a blocking thread.
    pub(super) async fn read_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&std::path::Path) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let results = self.0.results.clone();
        let done = tokio::task::spawn_blocking(move || work(&results)).await;
        done.unwrap_or_else(|error| {
            Err(HttpError(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
        })
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
async fn live(
    site: &Site,
    topic: Topic,
    render: impl FnOnce(&[web::Fragment], EventSource<'_>) -> String,
) -> Answer {
    let url = topic.events_url();
    let mut latest = site.0.hub.follow(topic).map_err(unavailable)?;
    let page = latest.wait_for(Option::is_some).await.ok().and_then(|latest| latest.clone());
    let page = page.ok_or_else(|| unavailable("The page could not be generated.".to_owned()))?;
    let source = EventSource { url: &url, last_event_id: &site.id(page.version) };
    Ok(Html(render(&page.fragments, source)).into_response())
}

async fn runs(State(site): State<Site>, asked: UrlQuery) -> Answer {
    let asked = asked.for_runs();
    let render = |fragments: &[_], source: EventSource<'_>| {
        list::list(&asked, fragments, source, site.0.starter.is_some())
    };
    live(&site, Topic::Runs(asked.clone()), render).await
}

async fn run(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    check_run(&site, &run).await?;
    let render = |fragments: &[_], source: EventSource<'_>| {
        run_page::run(&run, fragments, source, site.0.guard.is_steered())
    };
    live(&site, Topic::Run(run.clone()), render).await
}

async fn cluster(State(site): State<Site>, asked: UrlQuery) -> Answer {
    let asked = asked.keep_fields(&["state"]);
    live(&site, Topic::Cluster(asked), web::cluster_page).await
}

/// Fails unless the store contains a run with this name.
pub(super) async fn check_run(site: &Site, run: &str) -> Result<(), HttpError> {
    RunLock::check_name(run)
        .map_err(|error| HttpError(StatusCode::NOT_FOUND, error.to_string()))?;
    let name = run.to_owned();
    let exists = move |results: &std::path::Path| {
        Store::observe(results)?.run(&name)?;
        Ok(())
    };
    site.read_store(exists).await
}

/// Streams the changes of a live page. The request contains the last event known to the browser: in
/// a header after a reconnection, and in the query if the page has just been loaded.
async fn events(
    State(site): State<Site>,
    Path(topic): Path<String>,
    asked: UrlQuery,
    headers: HeaderMap,
) -> Answer {
    let since = asked.value("since").to_owned();
    let topic = match topic.split_once('/') {
        None if topic == "runs" => Topic::Runs(asked.for_runs()),
        None if topic == "cluster" && cfg!(feature = "cluster") => {
            Topic::Cluster(asked.keep_fields(&["state"]))
        }
        Some(("runs", run)) => {
            check_run(&site, run).await?;
            Topic::Run(run.to_owned())
        }
        _ => return Err(not_found()),
    };
    let in_header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let seen = in_header.unwrap_or(&since).split_once('-');
    // After a restart of the server, version numbers start again, but the browser still sends its
    // old version number.
    let of_ours = seen.filter(|(boot, _)| *boot == site.0.boot);
    let seen = of_ours.and_then(|(_, version)| version.parse().ok()).unwrap_or(0);
    let latest = site.0.hub.follow(topic).map_err(unavailable)?;
    let events = Sse::new(changes(site, latest, seen));
    Ok(events.keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

fn changes(
    site: Site,
    latest: watch::Receiver<Latest>,
    seen: u64,
) -> impl Stream<Item = Result<Event, Infallible>> {
    unfold((site, latest, seen), |(site, mut latest, seen)| async move {
        loop {
            let page = latest.borrow_and_update().clone();
            // A version older than the version seen means that the page was closed and opened
            // again, so all fragments are sent.
            if let Some(found) = page.filter(|found| found.version != seen) {
                let version = found.version;
                let seen = if version > seen { seen } else { 0 };
                let event = Event::default().event("parts").id(site.id(version));
                return Some((Ok(event.data(found.since(seen))), (site, latest, version)));
            }
            latest.changed().await.ok()?;
        }
    })
}

async fn report(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    check_run(&site, &run).await?;
    let name = format!("inline; filename=\"{run}.html\"");
    // A report contains a script and texts from engines, so it must not have the rights of this
    // site.
    let policy = format!("{}; {SANDBOX}", HTML_POLICY);
    let key = run.clone();
    let page = site.compute_shared(&key, move |results| run_report(results, &run)).await?;
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

/// Runs work on the games of a run for one request.
async fn with_games<T: Send + 'static>(
    site: &Site,
    run: &str,
    work: impl FnOnce(&std::path::Path, &Openings) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    check_run(site, run).await?;
    let inner = site.0.clone();
    site.compute_shared(run, move |results| work(results, &inner.openings)).await
}

async fn games(State(site): State<Site>, Path(run): Path<String>, asked: UrlQuery) -> Answer {
    let name = run.clone();
    let list = move |results: &_, openings: &_| games::list(results, &name, &asked, openings);
    Ok(Html(with_games(&site, &run, list).await?).into_response())
}

/// Returns the page or the PGN of a game.
async fn game(
    State(site): State<Site>,
    Path((run, game)): Path<(String, String)>,
    asked: UrlQuery,
) -> Answer {
    let missing = || HttpError(StatusCode::NOT_FOUND, format!("Run {run} has no game {game}."));
    let name = run.clone();
    if let Some(game) = game.strip_suffix(".pgn") {
        let place = games::place(game).ok_or_else(missing)?;
        check_run(&site, &run).await?;
        let pgn =
            site.compute_shared(&run, move |results| games::one_pgn(results, &name, place)).await?;
        let pgn = Some(pgn).filter(|pgn| !pgn.is_empty()).ok_or_else(missing)?;
        return Ok(as_pgn(&format!("{run}-{game}"), pgn));
    }
    let place = games::place(&game).ok_or_else(missing)?;
    let page =
        move |results: &_, openings: &_| games::game(results, &name, place, &asked, openings);
    let page = with_games(&site, &run, page).await?;
    Ok(Html(page.ok_or_else(missing)?).into_response())
}

/// Streams the games that a query selects as PGN; games are read while they are sent.
async fn games_pgn(State(site): State<Site>, Path(run): Path<String>, asked: UrlQuery) -> Answer {
    let name = run.clone();
    let chosen =
        move |results: &_, openings: &_| games::select_games(results, &name, &asked, openings);
    let (header, chosen) = with_games(&site, &run, chosen).await?;
    let (name, header) = (run.clone(), Arc::new(header));
    let texts = unfold((site, chosen.into_iter()), move |(site, mut rest)| {
        let (run, header) = (run.clone(), header.clone());
        async move {
            // Games are read in parts, so that a large file needs little memory, and reading stops
            // when the client disconnects.
            let part: Vec<_> = rest.by_ref().take(games::PART as usize).collect();
            part.first()?;
            let work = move |results: &_| games::pgn(results, &run, &header, &part);
            let text = site.read_store(work).await;
            let text = text.map_err(|HttpError(_, words)| std::io::Error::other(words));
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
    if !(1..=web::compare::MAX_RUNS).contains(&runs.len()) {
        let most = web::compare::MAX_RUNS;
        return Err(bad_request(format!("Select 1 to {most} runs in the list to compare.")));
    }
    Ok(Html(site.compute_shared("", move |results| compute::compare(results, &runs)).await?)
        .into_response())
}

async fn asset(Path(name): Path<String>) -> Answer {
    let found = web::ASSETS.iter().find(|(own, ..)| *own == name);
    let (_, kind, text) = found.ok_or_else(not_found)?;
    Ok(([(header::CONTENT_TYPE, *kind)], *text).into_response())
}

pub(super) fn bad_request(words: String) -> HttpError {
    HttpError(StatusCode::BAD_REQUEST, words)
}

fn unavailable(words: String) -> HttpError {
    HttpError(StatusCode::SERVICE_UNAVAILABLE, words)
}

pub(super) fn not_found() -> HttpError {
    HttpError(StatusCode::NOT_FOUND, "Page not found.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a slow page delays neither pages of other runs nor checks of run names.
    #[test]
    fn a_slow_page_does_not_delay_pages_of_other_runs() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let results = PathBuf::from("no-such-folder");
        let monitor = Arc::new(ClusterMonitor::new(false));
        let guard = Guard::new(Vec::new(), None);
        let site = Site::new(results, monitor, guard, None, "boot".to_owned());
        let (started, has_started) = std::sync::mpsc::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let slow = site.clone();
        let slow = runtime.spawn(async move {
            let work = move |_: &std::path::Path| {
                started.send(()).expect("the test waits");
                let _ = released.recv();
                Ok(())
            };
            slow.compute_shared("slow", work).await.is_ok()
        });
        has_started.recv().expect("the slow page has started");
        let quick = async {
            let others = async {
                assert!(site.compute_shared("quick", |_| Ok(())).await.is_ok());
                // The answer is 404 because there is no store; only its promptness matters.
                assert_eq!(check_run(&site, "slow").await.err().map(|e| e.0.as_u16()), Some(404));
            };
            tokio::time::timeout(Duration::from_secs(5), others).await
        };
        let quick = runtime.block_on(quick);
        drop(release);
        assert!(runtime.block_on(slow).unwrap());
        assert!(quick.is_ok(), "pages of other runs waited for the slow one");
    }
}
