//! Page of the list of runs.

use std::collections::BTreeSet;
use std::fmt::Display;

use maud::{Markup, html};

use super::run::badge;
use super::{EventSource, Fragment, option, page, parts};
use crate::url_query::UrlQuery;
use arbiter_names::names;
use arbiter_plan::{DEFAULT_SPRT_PAIRS, DEFAULT_TC, RunKind};
use arbiter_report::{ListedRun, RunColumn, RunPhase, Running, Summary, tone};
use arbiter_stats::{DEFAULT_ELO0, DEFAULT_ELO1, SprtStatus};

/// Number of runs on a page of the list. Without this division into pages, the rows of all runs
/// would be sent to each viewer.
pub(crate) const PAGE: u64 = 50;

/// Maximum number of engine names suggested in the filter; the names are sent to each viewer with
/// the list.
pub(crate) const MAX_ENGINES: usize = 200;

/// Columns of the list.
const COLUMNS: [RunColumn; 8] = {
    use RunColumn::*;
    [Run, State, Engines, Elo, Llr, Games, Kind, Started]
};

/// Returns the row of a run.
pub(crate) fn row(run: &ListedRun, running: Option<&Running>) -> Fragment {
    let name = run.head.run.as_str();
    let id = format!("run-{name}");
    let html = html! {
        tr id=(id) {
            td class="choose" { input type="checkbox" name="run" value=(name) form="compare"
                aria-label={ "Choose " (name) }; }
            @for column in COLUMNS { (cell(column, run, running)) }
        }
    };
    Fragment { id, html: html.into_string() }
}

fn cell(column: RunColumn, run: &ListedRun, running: Option<&Running>) -> Markup {
    let text = column.cell(run);
    let summary = run.summary.as_ref().ok();
    match column {
        RunColumn::Run => html! {
            th scope="row" class="title" {
                a href={ "/runs/" (text) } { (text) }
                @if let Some(about) = &run.head.about { p { (about) } }
            }
        },
        RunColumn::State => html! { td class="state" { @match summary {
            Some(summary) => (badge(running, summary)),
            None => { strong class="badge bad" { "unreadable" } p { (text) } }
        } } },
        RunColumn::Llr => {
            html! { td class="llr" { @if let Some(summary) = summary { (gauge(summary)) } } }
        }
        RunColumn::Elo => html! { td class="figure" data-label="Elo" { (text) } },
        RunColumn::Games => html! { td class="figure" data-label="Games" { (text) } },
        RunColumn::Engines => html! { td class="names" { (text) } },
        RunColumn::Started => html! { td class="time" { (text) } },
        _ => html! { td { (text) } },
    }
}

/// Returns the heading of a column, capitalized.
fn heading(column: RunColumn) -> Markup {
    let name = column.to_string();
    let (first, rest) = name.split_at(1);
    let class = if matches!(column, RunColumn::Elo | RunColumn::Games) { "figure" } else { "" };
    html! { th scope="col" class=(class) { (first.to_uppercase()) (rest) } }
}

/// Returns a gauge of the LLR between its current bounds; empty for a run without an SPRT.
fn gauge(summary: &Summary) -> Markup {
    let Some((_, SprtStatus { llr, lower, upper, .. })) = summary.test() else { return html! {} };
    let at = |value: f64| (100.0 * ((value - lower) / (upper - lower)).clamp(0.0, 1.0)).round();
    let (zero, end) = (at(0.0), at(llr));
    html! {
        div class="gauge" {
            svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
                rect class="track" width="100" height="8" {}
                rect class=(tone(summary).name()) x=(zero.min(end)) width=((end - zero).abs()) height="8" {}
                path class="zero" d={ "M" (zero) " 0v8" } {}
            }
            span { "LLR " (summary.llr_text()) }
        }
    }
}

/// Returns the fragment with a sentence that replaces the list.
pub(crate) fn notice(message: &str) -> Fragment {
    Fragment::boxed("standing", &html! { p { (message) } })
}

/// Returns the fragment above the list: the number of runs, links to other pages, the progress of
/// reading, and the engine names for the filter.
pub(crate) fn standing(
    url_query: &UrlQuery,
    part: u64,
    (chosen, all): (usize, usize),
    unread: usize,
    engines: &BTreeSet<&String>,
) -> Fragment {
    let markup = html! {
        @if all == 0 { p { "No runs yet. Start one with arbiter sprt or arbiter match." } }
        @else { (parts(url_query, "/", "runs", part, PAGE, chosen as u64)) }
        @if unread > 0 { p class="patience" { "Reading " (unread) " more of " (all) " runs." } }
        datalist id="engines" { @for engine in engines { option value=(engine) {} } }
    };
    Fragment::boxed("standing", &markup)
}

/// Returns the form for a new test.
fn new_test() -> Markup {
    let field = |name: &str, label: &str, value: &dyn Display| {
        html! { label { (label) " " input name=(name) value=(value) required maxlength="100"; } }
    };
    html! {
        details id="start" {
            summary { "New test" }
            // A GET form would put the token into the URL and therefore into the browser history.
            form method="post" action="/start" {
                (field("dev", "Dev", &"")) (field("base", "Base", &""))
                (field("limit", "Limit", &DEFAULT_TC))
                (field("elo0", "Elo0", &DEFAULT_ELO0)) (field("elo1", "Elo1", &DEFAULT_ELO1))
                (field("pairs", "Maximum pairs", &DEFAULT_SPRT_PAIRS)) (field("name", "Run", &""))
                label class="token" { "Token " input type="password" name="token" autocomplete="off"; }
                button { "Start" } " "
                button type="button" name="stop" hidden { "Stop" }
            }
            p class="remark" {
                "A registered engine, bundled, bundled:EVAL, or a branch, tag or commit, which is \
                 built first. Book and options come from arbiter.toml."
            }
            p id="answer" role="status" {}
        }
    }
}

/// Returns the page with the list of runs, built from its fragments.
pub(crate) fn list(
    url_query: &UrlQuery,
    fragments: &[Fragment],
    source: EventSource<'_>,
    may_start: bool,
) -> String {
    let (standing, rows) = fragments.split_at(fragments.len().min(1));
    let choice = |name: &str, value: &str| option(url_query, name, value, value);
    let body = html! {
        form class="filter" role="search" aria-label="Runs" {
            label class="long" { "Search " input type="search" name="q" value=(url_query.value("q")) maxlength="200"
                placeholder="run, engine, state, about"; }
            label { "State " select name="state" {
                (option(url_query, "state", "", "all")) @for phase in names::<RunPhase>() { (choice("state", phase)) }
            } }
            label { "Kind " select name="kind" {
                (option(url_query, "kind", "", "all"))
                @for kind in names::<RunKind>() { (choice("kind", kind)) }
            } }
            label { "Engine " input name="engine" list="engines" value=(url_query.value("engine")) maxlength="200"; }
            button { "Filter" }
        }
        @if may_start { (new_test()) }
        div class="above" {
            @for part in standing { (maud::PreEscaped(&part.html)) }
            form id="compare" action="/compare" { button { "Compare selected runs" } }
        }
        div class="scroll" tabindex="0" role="group" aria-label="Runs" {
            table class="runs cards" {
                thead { tr {
                    td {}
                    @for column in COLUMNS { (heading(column)) }
                } }
                tbody id="parts" { @for row in rows { (maud::PreEscaped(&row.html)) } }
            }
        }
    };
    page("/", "Runs", Some(source), &body)
}
