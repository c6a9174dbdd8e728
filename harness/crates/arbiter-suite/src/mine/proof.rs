//! Search of a position by an engine that reports two principal variations; the result is a proof
//! that a move is clearly best, or the reason for a rejection.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{Move, Position};

use super::candidate::Candidate;
use super::epd::{MinedPosition, mined_position};
use super::{CONFIRMATIONS, Criteria, Proof, Rejection};
use crate::runner::{Task, TaskError};
use crate::start::game;
use arbiter_game::engine::EngineProcess;
use arbiter_position::legal_move;
use arbiter_protocol::{Info, info_words};

/// Maximum length of the stored principal variation, in plies.
const MAX_LINE: usize = 12;

/// Last `info` lines of an engine about its two best moves at each depth. Lines whose score is a
/// bound are ignored.
#[derive(Debug, Default)]
struct Transcript(BTreeMap<u32, [Option<Info>; 2]>);

impl Transcript {
    /// Reads an output line of the engine. Returns `Break` at the end of the search.
    fn take(&mut self, line: &str) -> ControlFlow<()> {
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

/// Options for the engine that searches the positions, in addition to the user's options. With one
/// thread, searches are reproducible; two variations show the second best move.
pub const OPTIONS: [(&str, &str); 2] = [("Threads", "1"), ("MultiPV", "2")];

/// Searches of one position: quick searches, then the proof search.
#[derive(Debug, Clone)]
pub struct Search {
    /// Position to search.
    pub candidate: Arc<Candidate>,
    /// Conditions that the position must meet.
    pub criteria: Arc<Criteria>,
    /// Time limit for each search.
    pub limit: Duration,
}

impl Task for Search {
    type Output = Result<MinedPosition, Rejection>;

    async fn run(&self, engine: &mut EngineProcess) -> Result<Self::Output, TaskError> {
        // Most positions have no clearly best move. A shallow search rejects such a position in a
        // fraction of the time that a proof search takes.
        for &depth in &self.criteria.looks {
            let transcript = self.search(engine, depth).await?;
            if let Err(rejection) = self.look(&transcript, depth) {
                return Ok(Err(rejection));
            }
        }
        let searched = self.search(engine, self.criteria.depth).await?;
        let proof = self.prove(&searched);
        Ok(proof.map(|proof| mined_position(&self.candidate, &proof, self.criteria.depth)))
    }
}

impl Search {
    /// Searches the position with an empty hash table. The result therefore depends neither on the
    /// order of positions nor on interruptions, and the same games give the same suite.
    async fn search(
        &self,
        engine: &mut EngineProcess,
        depth: u32,
    ) -> Result<Transcript, TaskError> {
        let start = &self.candidate.start;
        engine.new_game(game(start)).await?;
        let mut transcript = Transcript::default();
        let take = |line: &str| transcript.take(line);
        engine.ask(&start.line(&[]), &format!("go depth {depth}"), self.limit, take).await?;
        Ok(transcript)
    }

    /// Rejects a position unless a quick search at `depth` is promising. A search is promising if
    /// the scores of the two best moves differ by at least half of the required gap, and if the
    /// best move is neither a recapture nor preferred at a low depth.
    fn look(&self, transcript: &Transcript, depth: u32) -> Result<(), Rejection> {
        let (best, second) = transcript.at(depth).ok_or(Rejection::Incomplete)?;
        // The gap may still grow, because a quick search is shallow. Half of the required gap
        // therefore justifies a proof search.
        if self.gap_between(best, second) * 2 < self.criteria.gap {
            return Err(Rejection::Unpromising);
        }
        let best_move = self.replayed(&best.pv).first().copied();
        self.worth(best_move.ok_or(Rejection::Incomplete)?, transcript.found_at(depth))
    }

    /// Rejects a best move that is a recapture, or that the engine already preferred at a low
    /// depth.
    fn worth(&self, best: Move, found_at: u32) -> Result<(), Rejection> {
        // Every engine finds a recapture, so such a position is not useful.
        if best.is_capture() && self.candidate.taken_on == Some(best.to()) {
            return Err(Rejection::Recapture);
        }
        if found_at < self.criteria.found_at { Err(Rejection::Obvious) } else { Ok(()) }
    }

    /// Returns the proof, or the reason for rejecting the position.
    fn prove(&self, transcript: &Transcript) -> Result<Proof, Rejection> {
        let Criteria { depth, gap: least_gap, .. } = *self.criteria;
        let (first, other) = transcript.at(depth).ok_or(Rejection::Incomplete)?;
        let gap = self.gap_between(first, other);
        if gap < least_gap {
            return Err(Rejection::Unclear);
        }
        // The last depth has already been checked, so one fewer depth remains to be checked.
        for earlier in (1..depth).rev().take(CONFIRMATIONS as usize - 1) {
            let lines = transcript.at(earlier).ok_or(Rejection::Incomplete)?;
            let is_same = lines.0.pv.first() == first.pv.first();
            if !is_same || self.gap_between(lines.0, lines.1) < least_gap {
                return Err(Rejection::Unsettled);
            }
        }
        let line = self.replayed(&first.pv);
        let second = self.replayed(&other.pv).first().copied();
        let (Some(&best), Some(second)) = (line.first(), second) else {
            return Err(Rejection::Incomplete);
        };
        let found_at = transcript.found_at(depth);
        // The quick searches checked only the best moves that they found, and the proof search may
        // prefer another move.
        self.worth(best, found_at)?;
        let (Some(best_score), Some(second_score)) = (first.score, other.score) else {
            return Err(Rejection::Incomplete);
        };
        Ok(Proof { best, second, best_score, second_score, gap, found_at, line })
    }

    /// Returns the difference between two scores, in centipawns. Each score is limited to
    /// ±[`Criteria::decided`].
    fn gap_between(&self, best: &Info, second: &Info) -> i32 {
        let value =
            |info: &Info| info.score.map_or(0, |score| score.limited(self.criteria.decided));
        value(best) - value(second)
    }

    /// Returns the moves of a variation before the first illegal move, at most [`MAX_LINE`] plies.
    fn replayed(&self, pv: &[String]) -> Vec<Move> {
        let mut position = self.candidate.start.position.clone();
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

    fn search(taken_on: Option<Square>) -> Search {
        let candidate = Arc::new(candidate(taken_on));
        Search { candidate, criteria: Arc::new(CRITERIA), limit: Duration::ZERO }
    }

    fn judged(depths: &[(&str, &str, &str)]) -> Result<Proof, Rejection> {
        search(None).prove(&searched(depths))
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
        let transcript = searched(&[QUIET, CLEAR, CLEAR, CLEAR, CLEAR]);
        let prove = |taken_on| search(taken_on).prove(&transcript);
        assert_eq!(prove(Some(Square::D5)), Err(Rejection::Recapture));
        assert!(prove(Some(Square::A1)).is_ok());
    }

    #[test]
    fn a_quick_search_requires_half_of_the_gap() {
        let looked = |first: &str, second: &str, taken_on| {
            let transcript = searched(&[(first, "cp 10", "cp 0"), ("e4d5", "cp 100", second)]);
            search(taken_on).look(&transcript, 2)
        };
        assert_eq!(looked("e4e5", "cp 0", None), Ok(()));
        assert_eq!(looked("e4e5", "cp 1", None), Err(Rejection::Unpromising));
        assert_eq!(looked("e4d5", "cp 0", None), Err(Rejection::Obvious));
        assert_eq!(looked("e4e5", "cp 0", Some(Square::D5)), Err(Rejection::Recapture));
    }
}
