//! Response times, by route and status code.

#![expect(clippy::disallowed_methods, reason = "answers are timed")]

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

/// Histograms of response times, by route and status code.
pub(crate) type RequestTimes = Family<[(&'static str, String); 2], Histogram, fn() -> Histogram>;

/// Creates empty histograms.
pub(crate) fn request_times() -> RequestTimes {
    // The upper bounds of the buckets range from 1 ms to 16 s.
    Family::new_with_constructor(|| Histogram::new(exponential_buckets(0.001, 4.0, 8)))
}

/// Measures the response time of a request.
pub(crate) async fn timed(
    State(times): State<RequestTimes>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    // Unknown paths share a label, because the number of labels must be limited.
    let path = request.extensions().get::<MatchedPath>();
    let route = path.map_or("other", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let labels = [("route", route), ("code", response.status().as_str().to_owned())];
    times.get_or_create(&labels).observe(started.elapsed().as_secs_f64());
    response
}
