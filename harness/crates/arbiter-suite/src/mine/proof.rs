//! Proof that a move is clearly best, from the output of an engine that reports two principal
//! variations.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use shakmaty::uci::UciMove;
use shakmaty::{Move, Position};

use super::candidate::Candidate;
use super::{CONFIRMATIONS, Criteria, Proof, Rejection};
use arbiter_position::legal_move;
use arbiter_protocol::{Info, info_words};

/// Maximum length of the stored principal variation, in plies.
const MAX_LINE: usize = 12;

/// Last `info` lines of an engine about its two best moves at each depth. Lines whose score is a
/// bound are ignored.
#[derive(Debug, Default)]
pub(super) struct Transcript(BTreeMap<u32, [Option<Info>; 2]>);

impl Transcript {
    /// Reads an output line of the engine. Returns `Break` at the end of the search.
    pub(super) fn take(&mut self, line: &str) -> ControlFlow<()> {
        let line = line.trim_ascii_start();
        let (word, rest) = line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""));
        match word {
            "bestmove" => return ControlFlow::Break(()),
            "info" => {}
            _ => return ControlFlow::Continue(()),
        }
        let info = Info::parse_any(rest);
        let number = info_words(rest).find(|found| found.field == "multipv" && found.place == 1);
        let number = number.map_or(Some(1), |found| found.word.parse().ok());
        if let (Some(depth), Some(number @ 1..=2)) = (info.depth, number)
            // A gap computed from a bound could be larger than the exact gap.
            && info.score.is_some()
            && !info.pv.is_empty()
        {
            self.0.entry(depth).or_default()[number - 1] = Some(info);
        }
        ControlFlow::Continue(())
    }

    /// Returns the two `info` lines at a depth, the line of the best move first; `None` if a line
    /// is missing.
    fn at(&self, depth: u32) -> Option<(&Info, &Info)> {
        match self.0.get(&depth) {
            Some([Some(best), Some(second)]) => Some((best, second)),
            _ => None,
        }
    }

    /// Returns the best move at a depth.
    fn first_move(&self, depth: u32) -> Option<&str> {
        let best = self.0.get(&depth)?[0].as_ref()?;
        best.pv.first().map(String::as_str)
    }

    /// Returns the lowest depth d such that the engine preferred the same move at every depth from
    /// d to `depth`.
    fn found_at(&self, depth: u32) -> u32 {
        let last = self.first_move(depth);
        let same = |other: &u32| self.first_move(*other) == last;
        (1..=depth).rev().take_while(same).last().unwrap_or(depth)
    }
}

/// Rejects a position unless a quick search at `depth` is promising. A search is promising if the
/// scores of the two best moves differ by at least half of the required gap, and if the best move
/// is neither a recapture nor preferred at a low depth.
pub(super) fn look(
    candidate: &Candidate,
    transcript: &Transcript,
    depth: u32,
    criteria: &Criteria,
) -> Result<(), Rejection> {
    let (best, second) = transcript.at(depth).ok_or(Rejection::Incomplete)?;
    // The gap may still grow, because a quick search is shallow. Half of the required gap therefore
    // justifies a proof search.
    if gap_between(best, second, criteria.decided) * 2 < criteria.gap {
        return Err(Rejection::Unpromising);
    }
    let best_move = replayed(candidate, &best.pv).first().copied();
    worth(candidate, best_move.ok_or(Rejection::Incomplete)?, transcript.found_at(depth), criteria)
}

/// Rejects a best move that is a recapture, or that the engine already preferred at a low depth.
fn worth(
    candidate: &Candidate,
    best: Move,
    found_at: u32,
    criteria: &Criteria,
) -> Result<(), Rejection> {
    // Every engine finds a recapture, so such a position is not useful.
    if best.is_capture() && candidate.taken_on == Some(best.to()) {
        return Err(Rejection::Recapture);
    }
    if found_at < criteria.found_at { Err(Rejection::Obvious) } else { Ok(()) }
}

/// Returns the proof, or the reason for rejecting the position.
pub(super) fn prove(
    candidate: &Candidate,
    transcript: &Transcript,
    criteria: &Criteria,
) -> Result<Proof, Rejection> {
    let depth = criteria.depth;
    let (first, other) = transcript.at(depth).ok_or(Rejection::Incomplete)?;
    let gap = gap_between(first, other, criteria.decided);
    if gap < criteria.gap {
        return Err(Rejection::Unclear);
    }
    // The last depth has already been checked, so one fewer depth remains to be checked.
    for earlier in (1..depth).rev().take(CONFIRMATIONS as usize - 1) {
        let lines = transcript.at(earlier).ok_or(Rejection::Incomplete)?;
        let is_same = lines.0.pv.first() == first.pv.first();
        if !is_same || gap_between(lines.0, lines.1, criteria.decided) < criteria.gap {
            return Err(Rejection::Unsettled);
        }
    }
    let line = replayed(candidate, &first.pv);
    let second = replayed(candidate, &other.pv).first().copied();
    let (Some(&best), Some(second)) = (line.first(), second) else {
        return Err(Rejection::Incomplete);
    };
    let found_at = transcript.found_at(depth);
    // The quick searches checked only the best moves that they found, and the proof search may
    // prefer another move.
    worth(candidate, best, found_at, criteria)?;
    let (Some(best_score), Some(second_score)) = (first.score, other.score) else {
        return Err(Rejection::Incomplete);
    };
    Ok(Proof { best, second, best_score, second_score, gap, found_at, line })
}

/// Returns the difference between two scores, in centipawns. Each score is limited to ±`decided`.
fn gap_between(best: &Info, second: &Info, decided: i32) -> i32 {
    let value = |info: &Info| info.score.map_or(0, |score| score.limited(decided));
    value(best) - value(second)
}

/// Returns the moves of a variation before the first illegal move, at most [`MAX_LINE`] plies.
fn replayed(candidate: &Candidate, pv: &[String]) -> Vec<Move> {
    let mut position = candidate.start.position.clone();
    let mut line = Vec::new();
    for text in pv.iter().take(MAX_LINE) {
        let read = UciMove::from_ascii(text.as_bytes()).ok();
        // Some engines take the end of a variation from the transposition table, so the end may
        // contain an illegal move.
        let Some(played) = read.and_then(|uci| legal_move(&position, uci)) else { break };
        position.play_unchecked(played);
        line.push(played);
    }
    line
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;
    use arbiter_position::Start;
    use arbiter_protocol::Score;

    const CRITERIA: Criteria =
        Criteria { looks: Vec::new(), depth: 5, gap: 200, decided: 600, found_at: 2 };

    /// Returns a position in which White can capture a pawn on d5 or play another move.
    fn candidate(taken_on: Option<Square>) -> Candidate {
        let start = Start::read("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", false).unwrap();
        Candidate { start, taken_on, origin: "test".to_owned(), game: 0 }
    }

    /// Returns the output of a search with these best moves and scores at each depth from 1. The
    /// second best move is `e1e2`.
    fn searched(depths: &[(&str, &str, &str)]) -> Transcript {
        let mut transcript = Transcript::default();
        for (depth, (best, score, second)) in (1..).zip(depths) {
            let lines = [
                format!("info depth {depth} multipv 1 score {score} nodes 1 pv {best} e8e7"),
                format!("info depth {depth} multipv 2 score {second} nodes 1 pv e1e2"),
                format!("info depth {depth} multipv 1 score cp 9000 lowerbound pv e4e5"),
                format!("info depth {depth} currmove e4e5 currmovenumber 1"),
            ];
            for line in lines {
                assert!(transcript.take(&line).is_continue());
            }
        }
        assert!(transcript.take("bestmove e4d5").is_break());
        transcript
    }

    fn judged(depths: &[(&str, &str, &str)]) -> Result<Proof, Rejection> {
        prove(&candidate(None), &searched(depths), &CRITERIA)
    }

    const QUIET: (&str, &str, &str) = ("e4e5", "cp 10", "cp 0");
    const CLEAR: (&str, &str, &str) = ("e4d5", "cp 260", "cp 20");

    #[test]
    fn one_clearly_best_move_is_proven() {
        let proof = judged(&[QUIET, QUIET, CLEAR, CLEAR, CLEAR]).unwrap();
        assert_eq!((proof.gap, proof.found_at), (240, 3));
        assert_eq!(proof.best.to(), Square::D5);
        assert_eq!(proof.line.len(), 2);
        assert_eq!(proof.second_score, Score::Centipawns(20));
    }

    #[test]
    fn unclear_unsettled_and_obvious_moves_are_rejected() {
        let near = ("e4d5", "cp 210", "cp 20");
        assert_eq!(judged(&[QUIET, CLEAR, CLEAR, CLEAR, near]), Err(Rejection::Unclear));
        assert_eq!(judged(&[QUIET, CLEAR, near, CLEAR, CLEAR]), Err(Rejection::Unsettled));
        assert_eq!(judged(&[QUIET, QUIET, QUIET, CLEAR, CLEAR]), Err(Rejection::Unsettled));
        assert_eq!(judged(&[CLEAR; 5]), Err(Rejection::Obvious));
        assert_eq!(judged(&[QUIET, CLEAR, CLEAR, CLEAR]), Err(Rejection::Incomplete));
        let illegal = ("e4d4", "cp 260", "cp 20");
        assert_eq!(
            judged(&[QUIET, illegal, illegal, illegal, illegal]),
            Err(Rejection::Incomplete)
        );
    }

    #[test]
    fn two_ways_to_win_or_to_lose_are_equally_good() {
        let wins = ("e4d5", "mate 3", "cp 700");
        assert_eq!(judged(&[QUIET, wins, wins, wins, wins]), Err(Rejection::Unclear));
        let loses = ("e4d5", "cp -650", "mate -3");
        assert_eq!(judged(&[QUIET, loses, loses, loses, loses]), Err(Rejection::Unclear));
        let mates = ("e4d5", "mate 3", "cp 100");
        assert_eq!(judged(&[QUIET, mates, mates, mates, mates]).map(|proof| proof.gap), Ok(500));
    }

    #[test]
    fn recaptures_are_rejected() {
        let search = searched(&[QUIET, CLEAR, CLEAR, CLEAR, CLEAR]);
        let prove = |taken_on| prove(&candidate(taken_on), &search, &CRITERIA);
        assert_eq!(prove(Some(Square::D5)), Err(Rejection::Recapture));
        assert!(prove(Some(Square::A1)).is_ok());
    }

    #[test]
    fn a_quick_search_requires_half_of_the_gap() {
        let looked = |first: &str, second: &str, taken_on| {
            let search = searched(&[(first, "cp 10", "cp 0"), ("e4d5", "cp 100", second)]);
            look(&candidate(taken_on), &search, 2, &CRITERIA)
        };
        assert_eq!(looked("e4e5", "cp 0", None), Ok(()));
        assert_eq!(looked("e4e5", "cp 1", None), Err(Rejection::Unpromising));
        assert_eq!(looked("e4d5", "cp 0", None), Err(Rejection::Obvious));
        assert_eq!(looked("e4e5", "cp 0", Some(Square::D5)), Err(Rejection::Recapture));
    }
}
