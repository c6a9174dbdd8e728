//! Generation of openings by random play from the initial position.
//!
//! This module needs no engine. It generates [`Candidate`]s, each of which differs from all earlier
//! candidates. The caller uses an engine to find the balanced candidates. The same seed gives the
//! same candidates.

use std::collections::HashSet;

use shakmaty::fen::{Epd, Fen};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position};

use super::epd::ending;
use arbiter_position::material_lead;
use arbiter_schedule::seed::{below, seed_for};

/// Label of the random stream for random play.
const PURPOSE: &str = "openings.generate";

/// Maximum number of consecutive failed attempts, after which no further candidates are expected.
const MAX_FAILURES: usize = 10_000;

/// Maximum material difference between the two sides in a candidate, in pawns (pawn 1, knight and
/// bishop 3, rook 5, queen 9).
const MAX_MATERIAL_DIFFERENCE: i32 = 1;

/// Position that may become an opening.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Number of the attempt, counted from 0. The moves depend only on the seed, the number of
    /// plies and this number.
    pub id: u64,
    /// Moves from the initial position.
    pub moves: Vec<UciMove>,
    /// Position after the moves. The game is not over, and the side to move is not in check.
    pub position: Chess,
}

impl Candidate {
    /// Returns the candidate as a line of an EPD file, without the line ending. The line contains
    /// the position, the move counters, a name, and the engine's evaluation: `ce` in centipawns for
    /// the side to move, and the depth `acd` in plies.
    pub fn to_epd(&self, Verdict { score_cp, depth }: Verdict) -> String {
        let fen = Fen::from_position(&self.position, EnPassantMode::Legal);
        let setup = fen.as_setup();
        let (halfmoves, fullmoves) = (setup.halfmoves, setup.fullmoves);
        // EPD stores the counters as operations, not as fields.
        let epd = Epd::from_fen(fen);
        let id = self.id;
        format!(
            "{epd} hmvc {halfmoves}; fmvn {fullmoves}; ce {score_cp}; acd {depth}; \
             id \"random {id:06}\";"
        )
    }
}

/// Evaluation of a position by an engine, with the search depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Score in centipawns, from the point of view of the side to move.
    pub score_cp: i32,
    /// Depth of the search, in plies.
    pub depth: u32,
}

/// Returns all candidates for a seed after `plies` plies, in order of increasing [`Candidate::id`].
/// The iterator ends when random play finds no new positions.
pub fn candidates(seed: u64, plies: u32) -> impl Iterator<Item = Candidate> {
    let mut ids = 0..;
    let mut dealt = HashSet::new();
    std::iter::from_fn(move || {
        // There are few positions after few plies. Without a limit, the search for a new position
        // would never end.
        ids.by_ref().take(MAX_FAILURES).find_map(|id| {
            let candidate = attempt(seed, id, plies)?;
            // Positions that differ only in the move counters count as one opening.
            let position = Epd::from_position(&candidate.position, EnPassantMode::Legal);
            dealt.insert(position).then_some(candidate)
        })
    })
}

/// Plays random moves. Returns `None` if the resulting position is unsuitable.
fn attempt(seed: u64, id: u64, plies: u32) -> Option<Candidate> {
    let mut rng = seed_for(seed, PURPOSE, id);
    let mut position = Chess::default();
    let mut moves = Vec::new();
    for _ in 0..plies {
        let legal = position.legal_moves();
        if legal.is_empty() {
            return None;
        }
        let m = legal[below(&mut rng, legal.len() as u64) as usize];
        moves.push(m.to_uci(CastlingMode::Standard));
        position.play_unchecked(m);
    }
    let fit = !position.is_check()
        && ending(&position).is_none()
        && material_lead(&position, Color::White).abs() <= MAX_MATERIAL_DIFFERENCE;
    fit.then_some(Candidate { id, moves, position })
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, from_text};
    use super::*;

    const VERDICT: Verdict = Verdict { score_cp: 12, depth: 9 };

    fn lines(seed: u64, plies: u32, count: usize) -> Vec<String> {
        candidates(seed, plies).take(count).map(|c| c.to_epd(VERDICT)).collect()
    }

    #[test]
    fn the_same_seed_generates_the_same_openings() {
        assert_eq!(lines(5, 8, 200), lines(5, 8, 200));
        assert_ne!(lines(5, 8, 20), lines(6, 8, 20));
        assert_eq!(lines(5, 8, 200)[..50], lines(5, 8, 50));
    }

    #[test]
    fn candidates_are_legal_and_unique() {
        let mut found = HashSet::new();
        let mut last = None;
        for candidate in candidates(1, 9).take(500) {
            assert_eq!(
                (candidate.position.fullmoves().get(), candidate.position.turn()),
                (5, Color::Black)
            );
            assert!(!candidate.position.is_check() && ending(&candidate.position).is_none());
            let lead = material_lead(&candidate.position, Color::White);
            assert!(lead.abs() <= MAX_MATERIAL_DIFFERENCE);
            assert!(last < Some(candidate.id), "ids increase");
            last = Some(candidate.id);
            assert!(found.insert(Epd::from_position(&candidate.position, EnPassantMode::Legal)));
        }
    }

    #[test]
    fn generation_ends_when_candidates_run_out() {
        assert_eq!(lines(1, 1, 1000).len(), 20);
        assert_eq!(lines(1, 0, 1000).len(), 1);
    }

    #[test]
    fn written_candidates_can_be_read_as_openings() {
        for candidate in candidates(2, 7).take(50) {
            let line = candidate.to_epd(VERDICT);
            let book = from_text("made.epd", &line, ReadOptions::default()).expect("a sound line");
            let opening = book.opening(0);
            assert_eq!(opening.start_position(), candidate.position);
            let expected = Fen::from_position(&candidate.position, EnPassantMode::Legal);
            assert_eq!(opening.fen, expected, "{line}");
            assert!(line.contains(" ce 12; acd 9; id \"random "), "{line}");
        }
    }

    #[test]
    #[ignore = "writes the bundled book: LIST=balanced.epd BOOK=openings/balanced.moves"]
    fn pack_the_bundled_book() {
        use shakmaty::packed::PackedUciMove;
        let [list, book] = ["LIST", "BOOK"].map(|name| std::env::var(name).expect(name));
        let list = std::fs::read_to_string(list).expect("the list can be read");
        let ids = list.lines().map(|line| {
            let id = line.rsplit(' ').next().expect("a line has words");
            id.trim_end_matches("\";").parse().expect("it ends with the number of an attempt")
        });
        let moves = ids.flat_map(|id| attempt(2026, id, 8).expect("it was dealt before").moves);
        let bytes: Vec<u8> = moves.flat_map(|m| PackedUciMove::pack(m).to_bytes()).collect();
        std::fs::write(book, bytes).expect("the book can be written");
    }
}
