//! Page of the list of runs.

use std::collections::BTreeSet;
use std::fmt::Display;

use maud::{Markup, html};

use super::run::State;
use super::{EventSource, Fragment, NavPage, option, page, parts};
use crate::asked::Asked;
use arbiter_plan::{DEFAULT_SPRT_PAIRS, DEFAULT_TC, RunKind};
use arbiter_report::{ListedRun, RunPhase, Summary, tone, utc_time_as};
use arbiter_stats::{DEFAULT_ELO0, DEFAULT_ELO1, SprtStatus};

/// Number of runs on a page of the list.
pub(crate) const PAGE: u64 = 50;

/// Most names of engines offered.
pub(crate) const MAX_ENGINES: usize = 200;

/// Returns the row of a run.
pub(crate) fn row(run: &ListedRun, state: &State) -> Fragment {
    let (head, summary) = (&run.head, run.summary.as_ref().ok());
    let name = head.run.as_str();
    let said = |say: fn(&Summary) -> String| summary.map_or(String::new(), say);
    let id = format!("run-{name}");
    let html = html! {
        tr id=(id) {
            td class="choose" { input type="checkbox" name="run" value=(name) form="compare"
                aria-label={ "Choose " (name) }; }
            th scope="row" class="title" {
                a href={ "/runs/" (name) } { (name) }
                @if let Some(about) = &head.about { p { (about) } }
            }
            td class="state" { @match summary {
                Some(summary) => (state.badge(summary)),
                None => { strong class="badge bad" { "unreadable" } p { (run.state_in_words()) } }
            } }
            td class="names" { (said(Summary::engines_in_words)) }
            td class="figure" data-label="Elo" { (said(Summary::elo_in_words)) }
            td class="llr" { @if let Some(summary) = summary { (gauge(summary)) } }
            td class="figure" data-label="Games" { (said(|summary| summary.counts.games().to_string())) }
            td { (said(|summary| summary.plan.kind.to_string())) }
            td class="time" { (utc_time_as(head.created_ms, "%Y-%m-%d %H:%M")) }
        }
    };
    Fragment { id, html: html.into_string() }
}

/// Returns a gauge of the log-likelihood ratio between the bounds that apply now; nothing without a
/// test.
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
            span { "LLR " (summary.llr_in_words()) }
        }
    }
}

/// Returns a sentence in place of a list or its error.
pub(crate) fn notice(words: &str) -> Fragment {
    Fragment::boxed("standing", &html! { p { (words) } })
}

/// Returns the numbers of the runs shown and of all, links to the other pages, and the names of
/// engines.
pub(crate) fn standing(
    asked: &Asked,
    part: u64,
    (chosen, all): (usize, usize),
    unread: usize,
    engines: &BTreeSet<&String>,
) -> Fragment {
    let markup = html! {
        @if all == 0 { p { "No runs yet. Start one with arbiter sprt or arbiter match." } }
        @else { (parts(asked, "/", "runs", part, PAGE, chosen as u64)) }
        @if unread > 0 { p class="patience" { "Reading " (unread) " more of " (all) " runs." } }
        datalist id="engines" { @for engine in engines { option value=(engine) {} } }
    };
    Fragment::boxed("standing", &markup)
}

/// Returns the form for a new test, which the script shows to those who have the token.
fn new_test() -> Markup {
    let field = |name: &str, label: &str, value: &dyn Display| {
        html! { label { (label) " " input name=(name) value=(value) required maxlength="100"; } }
    };
    html! {
        details id="start" {
            summary { "New test" }
            // The form uses POST, so that without a script no token gets into an address.
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

/// Returns the page of the list: the numbers, then the rows.
pub(crate) fn list(
    asked: &Asked,
    fragments: &[Fragment],
    source: EventSource<'_>,
    may_start: bool,
) -> String {
    let (standing, rows) = fragments.split_at(fragments.len().min(1));
    let heads = ["Run", "State", "Engines"].map(|head| (head, ""));
    let figures = [("Elo (95 %)", "figure"), ("LLR", ""), ("Games", "figure")];
    let rest = ["Kind", "Started (UTC)"].map(|head| (head, ""));
    let phases = [RunPhase::Running, RunPhase::Ended, RunPhase::Unfinished].map(|p| p.to_string());
    let choice = |name: &str, value: String| option(asked, name, &value, &value);
    let body = html! {
        form class="filter" role="search" aria-label="Runs" {
            label class="long" { "Search " input type="search" name="q" value=(asked.value("q")) maxlength="200"
                placeholder="run, engine, state, about"; }
            label { "State " select name="state" {
                (option(asked, "state", "", "all")) @for phase in phases { (choice("state", phase)) }
            } }
            label { "Kind " select name="kind" {
                (option(asked, "kind", "", "all"))
                @for kind in RunKind::ALL { (choice("kind", kind.to_string())) }
            } }
            label { "Engine " input name="engine" list="engines" value=(asked.value("engine")) maxlength="200"; }
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
                    @for (head, class) in heads.into_iter().chain(figures).chain(rest) {
                        th scope="col" class=(class) { (head) }
                    }
                } }
                tbody id="parts" { @for row in rows { (maud::PreEscaped(&row.html)) } }
            }
        }
    };
    page(NavPage::Runs, "Runs", Some(source), &body)
}
