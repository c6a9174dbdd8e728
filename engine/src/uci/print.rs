//! UCI output of search results and positions.

use std::fmt::Write;
use std::time::Duration;

use crate::chess::uci_move::{self, CastlingForm};
use crate::chess::{Move, Position, Square};
use crate::eval::Score;
use crate::eval::score::mate_distance_moves;
use crate::search::{Report, SearchResult};
use crate::time::nodes_per_second;
use crate::tt::Bound;

/// Returns the `info` line for an interim result.
pub(super) fn info(report: &Report<'_>, elapsed: Duration, form: CastlingForm) -> String {
    let bound = match report.bound {
        Bound::Lower => " lowerbound",
        Bound::Upper => " upperbound",
        Bound::Exact | Bound::None => "",
    };
    let mut text = format!(
        "info depth {} seldepth {} multipv {} score {}{bound} nodes {} nps {} hashfull {} time {} pv",
        report.depth,
        report.selective_depth,
        report.rank,
        score(report.score),
        report.nodes,
        nodes_per_second(report.nodes, elapsed),
        report.hash_permille,
        elapsed.as_millis(),
    );
    for &mv in report.line {
        text.push(' ');
        text.push_str(&uci_move::format(mv, form));
    }
    text
}

/// Returns an `info` line with only the node count, the speed and the time.
pub(super) fn nodes(nodes: u64, elapsed: Duration) -> String {
    let speed = nodes_per_second(nodes, elapsed);
    format!("info nodes {nodes} nps {speed} time {}", elapsed.as_millis())
}

/// Returns a score in UCI notation: `cp` or `mate`.
pub(super) fn score(score: Score) -> String {
    match mate_distance_moves(score) {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {score}"),
    }
}

/// Returns the `bestmove` line. The move is `(none)` if the result contains no move.
pub(super) fn best_move(result: &SearchResult, form: CastlingForm) -> String {
    let write = |mv: &Move| uci_move::format(*mv, form);
    match &result.line[..] {
        [] => "bestmove (none)".to_owned(),
        [best] => format!("bestmove {}", write(best)),
        [best, answer, ..] => format!("bestmove {} ponder {}", write(best), write(answer)),
    }
}

/// Returns a diagram of the board, eighth rank first, with FEN, Zobrist key and checkers.
pub(super) fn diagram(position: &Position) -> String {
    let mut text = String::new();
    for rank in (0..8).rev() {
        let row: Vec<String> = (0..8)
            .map(|file| position.piece_at(Square::at(file, rank)))
            .map(|piece| piece.map_or(".".to_owned(), |piece| piece.letter().to_string()))
            .collect();
        let _infallible = writeln!(text, "{} {}", rank + 1, row.join(" "));
    }
    let checkers: Vec<String> = position.checkers().map(|square| square.to_string()).collect();
    format!(
        "{text}  a b c d e f g h\n\nFen: {position}\nKey: {:016X}\nCheckers: {}",
        position.key(),
        checkers.join(" ")
    )
}
