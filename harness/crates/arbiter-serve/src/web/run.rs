//! Page of a run: state, games in progress, and current report.

use maud::{Markup, PreEscaped, html};

use super::{EventSource, Fragment, joined, page};
use arbiter_names::quantity;
use arbiter_report::{Board, Boards, Recent, RecentEvent, Running, Side, Summary};
use arbiter_report::{diagram, run_title, squares, tone, utc_time_as};
use arbiter_run::{ControlCommand, Pace};

/// Commands of the page, each with its name and effect.
pub(crate) const COMMANDS: [(ControlCommand, &str, &str); 4] = [
    (ControlCommand::Pause, "Pause", "start no more pairs until resumed"),
    (ControlCommand::Resume, "Resume", "start pairs again"),
    (ControlCommand::Drain, "Drain", "finish the pairs in progress, then stop"),
    (ControlCommand::Stop, "Stop", "discard the pairs in progress and stop immediately"),
];

/// Formats the state of a run in a few words; `running` is the reply of the process that plays the
/// run, if any.
fn describe(running: Option<&Running>, summary: &Summary) -> String {
    running.map_or_else(|| summary.state_text(), |running| running.status.pace.to_string())
}

/// Returns the state of a run with a symbol and a colour.
pub(super) fn badge(running: Option<&Running>, summary: &Summary) -> Markup {
    let class = match running {
        Some(running) if running.status.pace == Pace::Paused => "paused",
        Some(_) => "running",
        None if summary.is_over() => tone(summary).name(),
        None => "unfinished",
    };
    html! { strong class={ "badge " (class) } { (describe(running, summary)) } }
}

/// Returns the fragment with the state, the forecast, and the number of counted pairs; the LLR is
/// in the report.
pub(crate) fn counts(
    summary: &Summary,
    running: Option<&Running>,
    [done, expected]: [u64; 2],
    [chances, pace]: &[Vec<String>; 2],
) -> Fragment {
    let unit = if summary.plan.design.is_single { "games" } else { "pairs" };
    let most = if summary.plan.sprt.is_some() { "at most " } else { "" };
    let markup = html! {
        div class="standing" data-phase=(summary.phase()) data-state=(describe(running, summary)) {
            p class="about" {
                (run_title(&summary.plan)) ", " (summary.limits_text())
                @if let Some(about) = &summary.about { ": " (about) }
            }
            @if running.is_some() {
                @if !chances.is_empty() {
                    ul class="facts" aria-label="Chance of each verdict" {
                        @for chance in chances { li { (chance) } }
                    }
                }
                progress aria-label=(format!("Share of the {unit} counted")) value=(done)
                    max=(expected.max(1)) {}
            }
            p {
                (badge(running, summary)) " "
                (done) " of " (most) (expected) " " (unit) " counted"
                @if let Some(Running { status, .. }) = running {
                    ", " (status.pairs_in_flight) " in progress, "
                    (quantity(status.concurrency, "game")) " in parallel"
                }
                // The speed of a paused run is meaningless.
                @if !running.is_some_and(|running| running.status.pace == Pace::Paused) {
                    @for text in pace { ", " (text) }
                }
                "."
            }
        }
    };
    Fragment::boxed("state", &markup)
}

/// Returns the fragment of recent events, newest first; `None` if there are no events.
pub(crate) fn events(recent: &Recent) -> Option<Fragment> {
    recent.events.first()?;
    let markup = html! {
        section aria-labelledby="recent-events" {
            h2 id="recent-events" { "Recent events" }
            ul class="events" { @for RecentEvent { at_ms, text } in &recent.events {
                li { span class="time" { (utc_time_as(*at_ms, "%H:%M:%S")) } " " (text) }
            } }
            p class="remark" { "Times are in UTC." }
        }
    };
    Some(Fragment::boxed("events", &markup))
}

/// Returns the fragment with the number of pairs whose games have been read.
pub(crate) fn loading(read: u64, all: u64) -> Fragment {
    let text = html! { p class="patience" { "Reading the games: " (read) " of " (all) " pairs." } };
    Fragment::boxed("patience", &text)
}

/// Returns the fragment that shows an error.
pub(crate) fn error_notice(message: &str) -> Fragment {
    Fragment::boxed("trouble", &html! { p class="trouble" { (message) } })
}

/// Returns the fragment of the games in progress.
pub(crate) fn boards(boards: &Boards, engines: &[String]) -> Fragment {
    let hidden = boards.count.saturating_sub(boards.shown.len());
    let markup = html! {
        section aria-labelledby="games-in-progress" {
            h2 id="games-in-progress" { "Games in progress" }
            ul class="boards" { @for board in &boards.shown { li { (game(board, engines)) } } }
            @if boards.count == 0 { p { "None on this machine." } }
            @else if hidden > 0 { p { "And " (hidden) " more." } }
        }
    };
    Fragment::boxed("boards", &markup)
}

fn game(board: &Board, engines: &[String]) -> Markup {
    let marked: Vec<usize> = board.last_move.as_deref().map_or_else(Vec::new, squares);
    let title = format!("Game {}", board.place());
    let after =
        board.last_move.as_deref().map_or("at the start".to_owned(), |m| format!("after {m}"));
    let label = format!("{title} {after}: {}", board.placement);
    html! {
        (player_line("Black", &board.black, engines, !board.is_white_to_move))
        (diagram(&board.placement, &label, &marked))
        (player_line("White", &board.white, engines, board.is_white_to_move))
        p class="move-number" { (title) ", move " (board.move_number) }
    }
}

fn player_line(colour: &str, side: &Side, engines: &[String], is_to_move: bool) -> Markup {
    let name = engines.get(side.engine).map_or("?", String::as_str);
    html! {
        p class=(if is_to_move { "player to-move" } else { "player" }) {
            span class={ "disc " (colour.to_lowercase()) } title=(colour) {}
            span class="name" { (name) }
            span class="thought" {
                @if side.score.is_some() || side.depth.is_some() {
                    (side.score.as_deref().unwrap_or("–"))
                    @if let Some(depth) = side.depth { "/" (depth) }
                }
            }
            @if let Some(clock) = side.clock() { span class="clock" { (clock) } }
        }
    }
}

/// Returns the page of a run from its fragments, with commands if `is_steered` is `true`.
pub(crate) fn run(
    run: &str,
    fragments: &[Fragment],
    source: EventSource<'_>,
    is_steered: bool,
) -> String {
    // The fragments above the commands are always present; fragments below may be added and
    // removed.
    let is_first = |fragment: &Fragment| ["part-conclusion", "part-state"].contains(&&*fragment.id);
    let first = fragments.iter().take_while(|fragment| is_first(fragment)).count();
    let (first, rest) = fragments.split_at(first);
    let body = html! {
        p class="links" {
            a href={ "/runs/" (run) "/games" } { "All games" }
            a href={ "/runs/" (run) "/report.html" } { "Download report (HTML)" }
        }
        @for fragment in first { (PreEscaped(&fragment.html)) }
        @if is_steered {
            section id="steer" aria-label="Control" data-run=(run) hidden {
                div class="buttons" role="group" aria-label="Commands" {
                    @for (command, name, meaning) in COMMANDS {
                        button type="button" data-command=(command) title=(meaning) { (name) }
                    }
                }
                details id="unlock" hidden {
                    summary { "Control this run" }
                    form {
                        label { "Token " input type="password" name="token" autocomplete="off"; }
                        button { "Unlock" }
                    }
                }
                p id="answer" role="status" {}
            }
        }
        (joined(rest))
    };
    page("", run, Some(source), &body)
}
