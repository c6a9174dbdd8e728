//! The list of runs.

use maud::html;

use super::run::State;
use super::{EventSource, Fragment, NavPage, page};
use arbiter_plan::RunKind;
use arbiter_report::Summary;

/// Runs that are shown at most, the newest.
pub(crate) const MAX_ROWS: usize = 1000;

/// One run of the list.
pub(crate) fn row(summary: &Summary, started: &str, state: &State) -> Fragment {
    let run = summary.run.as_str();
    let engines = summary.engines_in_words();
    let about = summary.about.as_deref().unwrap_or_default();
    let words = format!("{run} {engines} {about}").to_lowercase();
    let id = format!("run-{run}");
    let kind = summary.plan.kind;
    let html = html! {
        tr id=(id) data-kind=(kind) data-phase=(state.phase()) data-words=(words) {
            td { input type="checkbox" name="run" value=(run) form="compare"
                aria-label={ "Choose " (run) }; }
            th scope="row" { a href={ "/runs/" (run) } { (run) } }
            td class="time" { (started.replace('T', " ").trim_end_matches('Z')) }
            td { (kind) }
            td class="names" { (engines) }
            td class="figure" { (summary.counts.games()) }
            td class="figure" { (summary.elo_in_words()) }
            td class="figure" { (summary.llr_in_words()) }
            td { (state.badge(summary)) }
            td class="names" { (about) }
        }
    };
    Fragment { id, html: html.into_string() }
}

/// A row with a sentence instead of a run.
pub(crate) fn notice(words: &str) -> Fragment {
    let id = "notice".to_owned();
    let html = html! { tr id=(id) { td colspan="10" { (words) } } };
    Fragment { html: html.into_string(), id }
}

/// The page of the list, whose rows are these.
pub(crate) fn list(rows: &[Fragment], source: EventSource<'_>) -> String {
    let heads = ["Run", "Begun (UTC)", "Kind", "Engines"];
    let figures = ["Games", "Elo (95 %)", "LLR [stops]"];
    let body = html! {
        form id="filter" role="search" aria-label="Runs" {
            label { "Words " input type="search" name="words" autocomplete="off"; }
            label { "Kind " select name="kind" {
                option value="" { "all" }
                @for kind in RunKind::ALL { option value=(kind) { (kind) } }
            } }
            label { "State " select name="phase" {
                option value="" { "all" }
                option value="played" { "being played" }
                option value="ended" { "ended" }
                option value="left" { "unfinished" }
            } }
            span id="count" role="status" {}
        }
        form id="compare" action="/compare" { button { "Compare the chosen" } }
        div class="scroll" tabindex="0" role="group" aria-label="Runs" {
            table class="runs" {
                thead { tr {
                    td {}
                    @for head in heads { th scope="col" { (head) } }
                    @for head in figures { th scope="col" class="figure" { (head) } }
                    th scope="col" { "State" }
                    th scope="col" { "About" }
                } }
                tbody id="parts" { @for row in rows { (maud::PreEscaped(&row.html)) } }
            }
        }
    };
    page(NavPage::Runs, "Runs", Some(source), &body)
}
