//! The page of a run: how it stands, its games in progress, and its report as far as it is known.

use maud::{Markup, html};

use super::{EventSource, Fragment, NavPage, joined, page};
use arbiter_plan::{ControlCommand, Ending};
use arbiter_report::{Board, Boards, Running, Side, Summary, diagram};

/// The commands of the page, each with its name and what it does.
pub(crate) const COMMANDS: [(ControlCommand, &str, &str); 4] = [
    (ControlCommand::Pause, "Pause", "start no more pairs until told to"),
    (ControlCommand::Resume, "Resume", "start pairs again"),
    (ControlCommand::Drain, "Drain", "play the pairs in flight to their end, then stop"),
    (ControlCommand::Stop, "Stop", "give up the pairs in flight and stop now"),
];

/// Whether a run is played, and if not, how it ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// A process plays it.
    Played(Running),
    /// It is over; without an ending, as it was killed, or is only about to begin.
    Over(Option<Ending>),
}

impl State {
    /// In a word or two.
    fn words(&self, summary: &Summary) -> String {
        match self {
            State::Played(running) => running.status.pace.to_string(),
            State::Over(_) => summary.state_in_words(),
        }
    }

    /// As the list is filtered: played, ended, or left unfinished.
    pub(super) fn phase(&self) -> &'static str {
        match self {
            State::Played(_) => "played",
            State::Over(Some(Ending::AcceptedH1 | Ending::AcceptedH0 | Ending::Complete)) => {
                "ended"
            }
            State::Over(Some(Ending::Interrupted) | None) => "left",
        }
    }

    /// The words, so that the eye finds them.
    pub(super) fn badge(&self, summary: &Summary) -> Markup {
        html! { strong class={ "badge " (self.phase()) } { (self.words(summary)) } }
    }
}

/// State and counts of the run: the first fragment of its page.
pub(crate) fn counts(summary: &Summary, state: &State, expected: u64) -> Fragment {
    let counted: u64 = match state {
        State::Played(running) => running.status.pairs_counted,
        State::Over(_) if summary.plan.design.is_single => summary.counts.games(),
        State::Over(_) => summary.counts.encounters.values().map(|e| e.pairs.pairs()).sum(),
    };
    let unit = if summary.plan.design.is_single { "games" } else { "pairs" };
    let most = if summary.plan.sprt.is_some() { "at most " } else { "" };
    let markup = html! {
        div class="standing" data-phase=(state.phase()) data-state=(state.words(summary)) {
            @if let Some(about) = &summary.about { p class="about" { (about) } }
            p {
                (state.badge(summary)) " "
                (counted) " of " (most) (expected) " " (unit) " counted"
                @if let State::Played(Running { status, .. }) = state {
                    ", " (status.pairs_in_flight) " in flight, " (status.concurrency)
                    " games at once, " (status.faults) " faults"
                }
                "."
            }
            @if let State::Played(_) = state {
                progress aria-label=(format!("Share of the {unit} counted")) value=(counted)
                    max=(expected.max(1)) {}
            }
        }
    };
    Fragment::boxed("state", &markup)
}

/// A line that says how many games are read yet.
pub(crate) fn loading(read: u64, all: u64) -> Fragment {
    let markup = html! {
        p class="patience" { "Reading the games: " (read) " of " (all) " pairs." }
    };
    Fragment::boxed("patience", &markup)
}

/// A line with an error.
pub(crate) fn error_notice(words: &str) -> Fragment {
    Fragment::boxed("trouble", &html! { p class="trouble" { (words) } })
}

/// The games in progress.
pub(crate) fn boards(boards: &Boards, engines: &[String]) -> Fragment {
    let hidden = boards.count.saturating_sub(boards.shown.len());
    let markup = html! {
        section aria-labelledby="games-in-progress" {
            h2 id="games-in-progress" { "Games in progress" }
            ul class="boards" { @for board in &boards.shown { li { (game(board, engines)) } } }
            @if boards.count == 0 { p { "None at the moment." } }
            @else if hidden > 0 { p { "And " (hidden) " more." } }
        }
    };
    Fragment::boxed("boards", &markup)
}

fn game(board: &Board, engines: &[String]) -> Markup {
    let marked: Vec<usize> = board.last.as_deref().map_or_else(Vec::new, squares);
    let title = format!("Game {}.{}", board.pair + 1, board.half + 1);
    let after = board.last.as_deref().map_or("at its start".to_owned(), |m| format!("after {m}"));
    let label = format!("{title} {after}: {}", board.placement);
    html! {
        (player_line("Black", &board.black, engines, !board.is_white_to_move))
        (diagram(&board.placement, &label, &marked))
        (player_line("White", &board.white, engines, board.is_white_to_move))
        p class="move-number" { (title) ", move " (board.number) }
    }
}

fn player_line(colour: &str, side: &Side, engines: &[String], is_to_move: bool) -> Markup {
    let name = engines.get(side.engine).map_or("?", String::as_str);
    html! {
        p class=(if is_to_move { "player to-move" } else { "player" }) {
            span class={ "disc " (colour.to_lowercase()) } title=(colour) {}
            span class="name" { (name) }
            span class="thought" {
                @if let Some(score) = &side.score { (score) }
                @if let Some(depth) = side.depth { "/" (depth) }
            }
            @if let Some(left) = side.left_ms { span class="clock" { (clock(left)) } }
        }
    }
}

/// Time left: minutes and seconds, with tenths in the last minute.
fn clock(ms: u64) -> String {
    let (minutes, rest) = (ms / 60_000, ms % 60_000);
    match minutes {
        0 => format!("{}.{}", rest / 1000, rest % 1000 / 100),
        _ => format!("{minutes}:{:02}", rest / 1000),
    }
}

/// From where to where a move goes, as squares counted from a8.
fn squares(uci: &str) -> Vec<usize> {
    let square = |text: &[u8]| match text {
        [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
            Some(8 * usize::from(b'8' - rank) + usize::from(file - b'a'))
        }
        _ => None,
    };
    uci.as_bytes().chunks(2).take(2).filter_map(square).collect()
}

/// The page of a run with these fragments, where it can be steered by those who may.
pub(crate) fn run(
    run: &str,
    fragments: &[Fragment],
    source: EventSource<'_>,
    is_steered: bool,
) -> String {
    let body = html! {
        p class="links" {
            a href={ "/runs/" (run) "/report.html" } { "Report as one file" }
        }
        @if is_steered {
            section id="steer" aria-label="Steering" data-run=(run) hidden {
                div class="buttons" role="group" aria-label="Commands" {
                    @for (command, name, meaning) in COMMANDS {
                        button type="button" data-command=(command) title=(meaning) { (name) }
                    }
                }
                details id="unlock" hidden {
                    summary { "Steer this run" }
                    form {
                        label { "Token " input type="password" name="token" autocomplete="off"; }
                        button { "Unlock" }
                    }
                }
                p id="answer" role="status" {}
            }
        }
        (joined(fragments))
    };
    page(NavPage::Other, run, Some(source), &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_squares_are_read_off() {
        let shown = [950, 59_999, 60_000, 3_725_000].map(clock);
        assert_eq!(shown, ["0.9", "59.9", "1:00", "62:05"]);
        assert_eq!(squares("a8h1"), [0, 63]);
        assert_eq!(squares("e7e8q"), [12, 4]);
        assert!(squares("0000").is_empty());
    }
}
