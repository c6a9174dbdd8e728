//! Walk from a wrong count to the first wrong position.
//!
//! At each position, the walk asks the engine for the counts of all moves, compares these counts
//! with the counts of the harness, and follows the first move whose count differs. The walk ends at
//! a position whose moves are wrong, or whose counts cannot be compared any further.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use serde_with::serde_conv;
use shakmaty::{Chess, Move, Position};

use super::task::Answer;
use arbiter_game::text::{MAX_TEXT, Text, printable};
use arbiter_position::{Start, fen, legal_move};

/// Maximum number of moves accepted in a list from another machine. No known position has more than
/// 218 legal moves.
const MAX_MOVES: usize = 256;

/// Fault of the engine at a position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PositionFault {
    /// The engine's list of moves is wrong.
    Moves {
        /// Legal moves that are missing from the engine's list.
        #[serde(with = "Moves")]
        missing: Vec<String>,
        /// Illegal moves in the engine's list.
        #[serde(with = "Moves")]
        extra: Vec<String>,
    },
    /// The total is wrong, and the engine reports either no counts for moves or only correct counts
    /// for moves. At depth 1, the count of a move may be wrong instead of the total.
    Count {
        /// Depth of the count, in plies.
        depth: u32,
        /// The engine's count.
        got: u64,
        /// Correct count.
        expected: u64,
    },
    /// The engine's divide of the parent position has a wrong count for this position, but the
    /// engine counts correctly when asked about this position.
    Context {
        /// Depth of the count at this position, in plies.
        depth: u32,
        /// Count that the engine printed for this position in the divide of the parent position.
        got: u64,
        /// Correct count.
        expected: u64,
    },
    /// The fault is not reproducible: when asked again, the engine counts correctly.
    Unrepeatable,
}

/// First wrong position, at which the walk ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// FEN of the position.
    #[serde(with = "Text")]
    pub fen: String,
    /// Moves from the start to the position, in UCI notation.
    #[serde(with = "Moves")]
    pub path: Vec<String>,
    /// Fault of the engine at the position.
    pub wrong: PositionFault,
}

serde_conv!(Moves, Vec<String>, Vec::as_slice, |list: Vec<String>| {
    let moves = list.iter().take(MAX_MOVES).map(|text| printable(text, MAX_TEXT));
    Ok::<_, Infallible>(moves.collect())
});

/// Walk in progress.
#[derive(Debug)]
pub(super) struct Walk {
    start: Start,
    position: Chess,
    path: Vec<String>,
    depth: u32,
    /// Count that the engine printed for this position in the divide of the parent position.
    claimed: Option<u64>,
}

impl Walk {
    /// Starts a walk at a position whose count at `depth` was wrong.
    pub(super) fn new(start: &Start, depth: u32) -> Walk {
        let position = start.position.clone();
        Walk { start: start.clone(), position, path: Vec::new(), depth, claimed: None }
    }

    /// Returns the next question to the engine: a `position` command, and the depth of the count.
    pub(super) fn question(&self) -> (String, u32) {
        (self.start.line(&self.path), self.depth)
    }

    /// Reads the answer to the last question. Returns the finding if the walk has ended.
    pub(super) fn answer(&mut self, answer: &Answer) -> Option<Finding> {
        let legal = self.position.legal_moves();
        let truth: Vec<(Move, u64)> =
            legal.iter().map(|&legal| (legal, self.leaves_after(legal))).collect();
        let expected = truth.iter().map(|(_, count)| count).sum();
        let theirs: Vec<(Option<Move>, &str, u64)> = answer
            .moves
            .iter()
            .map(|(text, count)| (read_move(text, &self.position), text.as_str(), *count))
            .collect();
        // Without counts for moves, the walk cannot continue.
        if theirs.is_empty() && !truth.is_empty() {
            return Some(self.end(self.judge_total(answer.total, expected)));
        }
        let name = |legal: &Move| legal.to_uci(self.start.mode).to_string();
        let their = |wanted: Move| theirs.iter().find(|(found, ..)| *found == Some(wanted));
        let missing: Vec<String> =
            legal.iter().filter(|legal| their(**legal).is_none()).map(name).collect();
        let unknown = theirs.iter().filter(|(found, ..)| found.is_none());
        let extra: Vec<String> = unknown.map(|(_, text, _)| (*text).to_owned()).collect();
        // Wrong moves explain wrong counts, so the moves are checked first.
        if !missing.is_empty() || !extra.is_empty() {
            return Some(self.end(PositionFault::Moves { missing, extra }));
        }
        let differs = truth.iter().find_map(|&(legal, count)| {
            let (.., got) = their(legal)?;
            (*got != count).then_some((legal, *got, count))
        });
        match differs {
            Some((_, got, expected)) if self.depth <= 1 => {
                Some(self.end(PositionFault::Count { depth: self.depth, got, expected }))
            }
            Some((legal, got, _)) => {
                self.path.push(legal.to_uci(self.start.mode).to_string());
                self.position.play_unchecked(legal);
                self.depth -= 1;
                self.claimed = Some(got);
                None
            }
            None => Some(self.end(self.judge_total(answer.total, expected))),
        }
    }

    /// Returns the fault of the engine at a position for which no count in the engine's list of
    /// moves is wrong.
    fn judge_total(&self, got: Option<u64>, expected: u64) -> PositionFault {
        let depth = self.depth;
        match (got, self.claimed) {
            (Some(got), _) if got != expected => PositionFault::Count { depth, got, expected },
            (_, Some(got)) => PositionFault::Context { depth, got, expected },
            _ => PositionFault::Unrepeatable,
        }
    }

    fn end(&self, wrong: PositionFault) -> Finding {
        Finding { fen: fen(&self.position), path: self.path.clone(), wrong }
    }

    fn leaves_after(&self, legal: Move) -> u64 {
        let mut after = self.position.clone();
        after.play_unchecked(legal);
        leaves(&after, self.depth.saturating_sub(1))
    }
}

/// Returns the number of leaves that the harness counts at a depth of `depth` plies below a
/// position.
pub fn leaves(position: &Chess, depth: u32) -> u64 {
    if depth == 0 { 1 } else { shakmaty::perft(position, depth) }
}

/// Parses a legal move that an engine wrote.
fn read_move(text: &str, position: &Chess) -> Option<Move> {
    legal_move(position, text.to_ascii_lowercase().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    /// Position with castling, promotion, and en passant after a double pawn push.
    const FEN: &str = "r3k2r/pppp1ppp/8/8/4p3/8/PPPPPPpP/R3K2R w KQkq - 0 1";

    /// Returns the answer of an engine that omits the moves for which `bug` returns `true`, and
    /// otherwise counts correctly.
    fn count(position: &Chess, depth: u32, bug: fn(&Chess, Move) -> bool) -> Answer {
        fn leaves(position: &Chess, depth: u32, bug: fn(&Chess, Move) -> bool) -> u64 {
            if depth == 0 {
                return 1;
            }
            let legal = position.legal_moves();
            legal
                .into_iter()
                .filter(|legal| !bug(position, *legal))
                .map(|legal| {
                    let mut after = position.clone();
                    after.play_unchecked(legal);
                    leaves(&after, depth - 1, bug)
                })
                .sum()
        }
        let mut answer = Answer::default();
        for legal in position.legal_moves().into_iter().filter(|legal| !bug(position, *legal)) {
            let mut after = position.clone();
            after.play_unchecked(legal);
            let uci = legal.to_uci(CastlingMode::Standard).to_string();
            answer.moves.push((uci, leaves(&after, depth - 1, bug)));
        }
        answer.total = Some(answer.moves.iter().map(|(_, count)| count).sum());
        answer
    }

    fn find(depth: u32, bug: fn(&Chess, Move) -> bool, edit: fn(&mut Answer)) -> Finding {
        let start = Start::read(FEN, false).unwrap();
        let mut walk = Walk::new(&start, depth);
        for _ in 0..=depth {
            let mut answer = count(&walk.position, walk.question().1, bug);
            edit(&mut answer);
            if let Some(finding) = walk.answer(&answer) {
                return finding;
            }
        }
        panic!("the walk does not end: {walk:?}");
    }

    #[test]
    fn a_missing_en_passant_capture_is_found() {
        let found = find(3, |_, legal| legal.is_en_passant(), |_| {});
        assert_eq!(found.path.len(), 1, "{found:?}");
        let PositionFault::Moves { missing, extra } = &found.wrong else { panic!("{found:?}") };
        assert!(missing == &["e4d3"] || missing == &["e4f3"], "{found:?}");
        assert!(extra.is_empty());
        assert!(found.fen.contains(" b KQkq "), "{found:?}");
    }

    #[test]
    fn an_illegal_move_is_found() {
        let found = find(2, |_, _| false, |answer| answer.moves.push(("e1e8".to_owned(), 7)));
        assert_eq!(found.path, [] as [&str; 0]);
        let extra = vec!["e1e8".to_owned()];
        assert_eq!(found.wrong, PositionFault::Moves { missing: vec![], extra });
    }

    #[test]
    fn castling_may_be_written_as_king_takes_rook() {
        let rename = |answer: &mut Answer| {
            for (text, _) in &mut answer.moves {
                if text == "e1g1" {
                    *text = "e1h1".to_owned();
                }
            }
        };
        assert_eq!(find(2, |_, _| false, rename).wrong, PositionFault::Unrepeatable);
    }

    #[test]
    fn without_moves_only_the_count_is_checked() {
        let found = find(2, |_, legal| legal.is_castle(), |answer| answer.moves.clear());
        let PositionFault::Count { depth: 2, got, expected } = found.wrong else {
            panic!("{found:?}")
        };
        assert!(got < expected);
    }

    #[test]
    fn a_context_dependent_count_is_distinguished_from_a_wrong_position() {
        let start = Start::read(FEN, false).unwrap();
        let mut walk = Walk::new(&start, 2);
        let mut answer = count(&walk.position, 2, |_, _| false);
        answer.moves[0].1 += 1;
        assert_eq!(walk.answer(&answer), None);
        let honest = count(&walk.position, 1, |_, _| false);
        let found = walk.answer(&honest).unwrap();
        let expected = honest.total.unwrap();
        assert_eq!(found.wrong, PositionFault::Context { depth: 1, got: expected + 1, expected });
    }
}
