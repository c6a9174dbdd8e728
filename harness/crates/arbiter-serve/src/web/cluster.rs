//! Page of the workers and runs on a NATS server.

use std::collections::BTreeMap;

use maud::html;

use super::{EventSource, Fragment, fragments as of_document, page};
use crate::url_query::UrlQuery;
use arbiter_cluster::{
    Cluster, WorkerState, benches, cluster_text, runs_table, trouble, wire::WorkerStatus,
};
use arbiter_names::{names, quantity};
use arbiter_report::Document;

/// Returns the page of the workers and runs on a NATS server, built from its fragments.
pub(crate) fn cluster(fragments: &[Fragment], source: EventSource<'_>) -> String {
    let is_row = |fragment: &&Fragment| fragment.html.starts_with("<tr");
    let (rows, around): (Vec<_>, Vec<_>) = fragments.iter().partition(is_row);
    let (standing, rest) = around.split_at(around.len().min(1));
    let heads = ["Worker", "State"].map(|head| (head, ""));
    let figures =
        ["Playing", "Pairs/min", "Pairs", "Residual", "Cores"].map(|head| (head, "figure"));
    let last = ["Version", "Last message", "Last problem"].map(|head| (head, ""));
    let body = html! {
        @for part in standing { (maud::PreEscaped(&part.html)) }
        div class="scroll" tabindex="0" role="group" aria-label="Workers" {
            table class="runs cards" {
                thead { tr { @for (head, class) in heads.into_iter().chain(figures).chain(last) {
                    th scope="col" class=(class) { (head) }
                } } }
                tbody id="parts" { @for row in rows { (maud::PreEscaped(&row.html)) } }
            }
        }
        @for part in rest { (maud::PreEscaped(&part.html)) }
    };
    page("/cluster", "Cluster", Some(source), &body)
}

/// Returns the fragments of the page while the server is not connected; `why` is a sentence with
/// the reason.
pub(crate) fn lost(why: &str) -> Vec<Fragment> {
    let standing = Fragment::boxed("standing", &html! { p { (why) } });
    vec![standing, Fragment::boxed("runs", &html! {})]
}

/// Returns the fragments of the page: the state of the cluster, a row for each selected worker, and
/// the runs. Workers are ordered by state, with excluded and silent workers first.
pub(crate) fn fragments(
    cluster: &Cluster,
    url_query: &UrlQuery,
    residuals: &BTreeMap<String, f64>,
) -> Vec<Fragment> {
    let mut workers: Vec<Worker<'_>> = cluster
        .workers()
        .map(|(name, status, silent)| (WorkerState::of(status, silent), name, status, silent))
        .collect();
    workers.sort_by_key(|(state, name, ..)| (*state, *name));
    let wanted = url_query.value("state");
    let here = |state: &str| (state == wanted).then_some("true");
    let standing = html! {
        p { strong { (cluster_text(cluster)) } }
        nav class="parts" aria-label="Workers by state" { ul {
            li { a href="/cluster" aria-current=[here("")] { "all " (workers.len()) } }
            @for state in names::<WorkerState>().iter().copied() {
                @let count = workers.iter().filter(|worker| worker.0.to_string() == state).count();
                li { a href={ "/cluster?state=" (state) } aria-current=[here(state)] { (state) " " (count) } }
            }
        } }
    };
    let shown =
        workers.iter().filter(|(state, ..)| wanted.is_empty() || state.to_string() == wanted);
    let rows = shown.map(|worker| row(worker, residuals.get(worker.1)));
    let standing = Fragment::boxed("standing", &standing);
    std::iter::once(standing).chain(rows).chain([runs(cluster)]).collect()
}

/// State, name and last message of a worker, and the time in seconds since this message.
type Worker<'a> = (WorkerState, &'a str, &'a WorkerStatus, u32);

fn row(&(state, name, status, silent): &Worker<'_>, residual: Option<&f64>) -> Fragment {
    let id = format!("worker-{name}");
    let class = match state {
        WorkerState::Excluded => "bad",
        WorkerState::Silent => "unfinished",
        WorkerState::Playing => "running",
        WorkerState::Idle => "idle",
    };
    let speed = status.pairs_per_minute();
    let machine = format!("{}, {} MiB", status.cpu, status.memory_mib);
    let more = [status.sandbox.clone(), benches(status)];
    let more = more.into_iter().filter(|text| !text.is_empty() && *text != "-");
    // A time in seconds would change each row on each tick, and each change is sent to all viewers.
    let last_message = match state {
        WorkerState::Silent => format!("{} ago", quantity(silent.div_ceil(60), "minute")),
        _ => "now".to_owned(),
    };
    let html = html! {
        tr id=(id) {
            th scope="row" class="title" { (name) p { (machine) @for text in more { "; " (text) } } }
            td class="state" { strong class={ "badge " (class) } { (state) } }
            td class="figure" data-label="Playing" { (status.playing) " of " (status.slots) }
            td class="figure" data-label="Pairs/min" { @if let Some(speed) = speed { (format!("{speed:.1}")) } }
            td class="figure" data-label="Pairs" { (status.pairs) }
            td class="figure" data-label="Residual" { @if let Some(residual) = residual { (format!("{residual:.1} σ")) } }
            td class="figure" data-label="Cores" { (status.cores) }
            td data-label="Version" { (status.version) }
            td data-label="Last message" { (last_message) }
            td class="names" { (trouble(status).unwrap_or_default()) }
        }
    };
    Fragment { id, html: html.into_string() }
}

/// Returns the fragment of the runs. The fragment exists even if there are no runs, so that rows of
/// workers can be inserted before the fragment.
fn runs(cluster: &Cluster) -> Fragment {
    let mut document = Document::new(String::new());
    document.heading("Runs");
    match cluster.runs().len() {
        0 => document.paragraph("None."),
        _ => document.table(runs_table(cluster)),
    }
    of_document(&document).pop().expect("the document has a heading")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_cluster::Announcement;

    #[test]
    fn workers_are_filtered_by_state_with_troubled_ones_first() {
        let mut cluster = Cluster::default();
        let status = |playing, trouble: &str| WorkerStatus {
            slots: 4,
            playing,
            version: "0.2.0".to_owned(),
            trouble: Some(trouble.to_owned()).filter(|text| !text.is_empty()),
            ..WorkerStatus::default()
        };
        let all = [("a", status(3, "")), ("b", status(0, "no <room>")), ("c", status(1, ""))];
        for (name, status) in all.clone() {
            cluster.update(Announcement::Worker(name.to_owned(), status));
        }
        (0..70).for_each(|_| cluster.tick());
        for (name, status) in all.into_iter().take(2) {
            cluster.update(Announcement::Worker(name.to_owned(), status));
        }
        let residuals = [("a".to_owned(), 2.25)].into();
        let ids = |query: &str| {
            let fields = vec![("state".to_owned(), query.to_owned())];
            let url_query = UrlQuery::new(&format!("state={query}"), fields).unwrap();
            let found = fragments(&cluster, &url_query, &residuals);
            let ids = found.iter().map(|fragment| fragment.id.clone()).collect::<Vec<_>>();
            (ids.join(" "), found.into_iter().map(|fragment| fragment.html).collect::<String>())
        };
        let (order, html) = ids("");
        assert_eq!(order, "part-standing worker-c worker-a worker-b part-runs");
        let parts = [
            "all 3",
            "2 workers with 8 slots",
            "silent 1",
            "playing 1",
            "3 of 4",
            "2.2 σ",
            "2 minutes ago",
            "no &lt;room&gt;",
        ];
        for part in parts {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert_eq!(ids("idle").0, "part-standing worker-b part-runs");
        assert_eq!(lost("Why.").len(), 2);
    }
}
