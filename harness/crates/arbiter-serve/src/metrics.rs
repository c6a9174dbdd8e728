//! Health check of the server, and metrics for Prometheus on a separate port.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use tokio::net::TcpListener;

use super::connections;
use super::http_error::HttpError;
use super::site::Site;
use arbiter_store::Store;

/// Content type of Prometheus's text format.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers requests for `/metrics` until the process ends.
pub async fn serve_metrics(listener: TcpListener, mut registry: Registry) -> ! {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    let build = Family::<[(&str, &str); 1], Gauge>::default();
    build.get_or_create(&version).set(1);
    registry.register("arbiter_build_info", "The version of Arbiter, always 1", build);
    let router = Router::new().route("/metrics", get(figures)).with_state(Arc::new(registry));
    connections::serve(listener, router).await
}

async fn figures(State(registry): State<Arc<Registry>>) -> Response {
    // Reading the metrics of runs from the disk must not block the runtime.
    let encoded = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        encode(&mut text, &registry).map(|()| text)
    });
    match encoded.await {
        Ok(Ok(text)) => {
            ([(header::CONTENT_TYPE, TEXT_FORMAT)], prometheus_text(&text)).into_response()
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Converts OpenMetrics to the text format of Prometheus: the descriptions of counters contain the
/// full name with `_total`; the end marker and all lines with units are removed.
fn prometheus_text(open_metrics: &str) -> String {
    let is_counter = |name: &str| open_metrics.contains(&format!("\n# TYPE {name} counter\n"));
    let lines = open_metrics.lines().filter(|line| !line.starts_with("# UNIT") && *line != "# EOF");
    let lines = lines.map(|line| match line.splitn(4, ' ').collect::<Vec<_>>()[..] {
        ["#", keyword, name, rest] if is_counter(name) => {
            format!("# {keyword} {name}_total {rest}\n")
        }
        _ => format!("{line}\n"),
    });
    lines.collect()
}

impl Site {
    /// Registers the metrics of the server, the cluster and the store.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Time from the head of a request to the head of its response";
        let name = "arbiter_http_request_duration";
        registry.register_with_unit(name, help, Unit::Seconds, self.0.times.clone());
        self.0.hub.monitor.register(registry);
        // The runs are read at each request for metrics.
        registry.register_collector(Box::new(self.0.hub.runs.clone()));
    }
}

/// Answers a health check: status 200 if the store can be read or does not exist yet, otherwise
/// 503.
pub(crate) async fn healthz(State(site): State<Site>) -> Response {
    let counted = site.read_store(|results| Ok(Store::observe(results)?.outlines()?.len()));
    let (code, runs, reason) = match counted.await {
        Ok(runs) => (StatusCode::OK, runs, None),
        // A missing store is not an error, because the server may be started before the first run.
        Err(HttpError(StatusCode::NOT_FOUND, _)) => (StatusCode::OK, 0, None),
        Err(HttpError(_, message)) => (StatusCode::SERVICE_UNAVAILABLE, 0, Some(message)),
    };
    let version = env!("CARGO_PKG_VERSION");
    let body = serde_json::json!({ "version": version, "runs": runs, "reason": reason });
    (code, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
