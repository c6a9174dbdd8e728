//! Suite lines for mined positions.

use std::collections::{BTreeMap, HashSet};

use shakmaty::fen::Epd;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, EnPassantMode, Move};

use super::candidate::Candidate;
use super::theme::themes;
use super::{Criteria, Proof};
use arbiter_game::text::printable;
use arbiter_protocol::Score;

/// Maximum length of an origin, in characters.
const MAX_ORIGIN: usize = 160;

/// Mined position, without a number in the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinedPosition {
    /// Most specific theme of the solution.
    pub theme: String,
    /// First part of the line: position and best move.
    pub head: String,
    /// Rest of the line: the operations after the id.
    pub tail: String,
}

/// Returns the mined position for the suite. `c0` contains the themes, `c1` the scores in
/// centipawns (`#` for mates), and `c2` the game.
pub(super) fn mined_position(
    candidate: &Candidate,
    proof: &Proof,
    criteria: &Criteria,
) -> MinedPosition {
    let position = &candidate.start.position;
    let themes = themes(&candidate.start, proof);
    let mut tail = format!(
        "c0 \"{}\"; c1 \"{} {}, {} {}, gap {}, from depth {}\"; c2 \"{}\"; acd {};",
        themes.join(", "),
        san(position, proof.best),
        score(proof.best_score),
        san(position, proof.second),
        score(proof.second_score),
        proof.gap,
        proof.found_at,
        // A quotation mark would end the operand.
        printable(&candidate.origin.replace('"', "'"), MAX_ORIGIN),
        criteria.depth,
    );
    match proof.best_score {
        Score::Centipawns(cp) => tail.push_str(&format!(" ce {cp};")),
        Score::Mate(moves) if moves > 0 => tail.push_str(&format!(" dm {moves};")),
        // `dm` can only specify a mate by the side to move.
        Score::Mate(_) => {}
    }
    tail.push_str(&format!(" pv {};", line(position, &proof.line)));
    let fields = Epd::from_position(position, EnPassantMode::Legal);
    MinedPosition {
        theme: themes.first().copied().unwrap_or("other").to_owned(),
        head: format!("{fields} bm {};", san(position, proof.best)),
        tail,
    }
}

/// Returns the lines of a suite, numbered within each theme. If several positions of a game have
/// the same solution, only the first position is kept, because a move that was missed once is often
/// missed again on the following moves. `found` contains the index of the game for each position;
/// positions of one game are in game order.
pub fn suite_lines(found: &[(usize, MinedPosition)]) -> Vec<String> {
    let mut written = HashSet::new();
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut lines = Vec::new();
    for (game, MinedPosition { theme, head, tail }) in found {
        let solution = head.rsplit(" bm ").next().unwrap_or_default();
        if !written.insert((*game, solution)) {
            continue;
        }
        let number = numbers.entry(theme).or_default();
        *number += 1;
        lines.push(format!("{head} id \"{theme}.{number:03}\"; {tail}"));
    }
    lines
}

fn san(position: &Chess, played: Move) -> SanPlus {
    SanPlus::from_move(position.clone(), played)
}

fn score(score: Score) -> String {
    match score {
        Score::Centipawns(cp) => format!("{cp:+}"),
        Score::Mate(moves) => format!("#{moves}"),
    }
}

fn line(position: &Chess, moves: &[Move]) -> String {
    let mut position = position.clone();
    let san = |m| SanPlus::from_move_and_play_unchecked(&mut position, m).to_string();
    moves.iter().copied().map(san).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use shakmaty::Position;

    use super::*;
    use crate::epd::read;
    use arbiter_position::Start;

    const CRITERIA: Criteria =
        Criteria { looks: Vec::new(), depth: 18, gap: 200, decided: 600, found_at: 4 };

    fn example() -> (Candidate, Proof) {
        let start = Start::read("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", false).unwrap();
        let legal = start.position.legal_moves();
        let find = |name: &str| {
            *legal
                .iter()
                .find(|m| SanPlus::from_move(start.position.clone(), **m).to_string() == name)
                .unwrap()
        };
        let (best, second) = (find("exd6"), find("Kd2"));
        let proof = Proof {
            best,
            second,
            best_score: Score::Mate(9),
            second_score: Score::Centipawns(-5),
            gap: 605,
            found_at: 7,
            line: vec![best],
        };
        let origin = "A \"x\" v B, g.pgn game 1 ply 9".to_owned();
        (Candidate { start, taken_on: None, origin, game: 0 }, proof)
    }

    #[test]
    fn written_lines_can_be_read_back() {
        let (candidate, proof) = example();
        let found = mined_position(&candidate, &proof, &CRITERIA);
        let lines = suite_lines(&[(0, found)]);
        assert_eq!(
            lines,
            ["4k3/8/8/3pP3/8/8/8/4K3 w - d6 bm exd6; id \"mate.001\"; \
              c0 \"mate, en passant, capture, endgame\"; \
              c1 \"exd6 #9, Kd2 -5, gap 605, from depth 7\"; \
              c2 \"A 'x' v B, g.pgn game 1 ply 9\"; acd 18; dm 9; pv exd6;"]
        );
        let suite = read(&lines[0], false);
        assert_eq!(suite.unusable, []);
        let record = &suite.cases[0];
        assert_eq!(record.theme.as_deref(), Some("mate"));
        assert_eq!(record.goal.best, [proof.best]);
        assert_eq!(record.goal.mate, Some(9));
        assert_eq!(record.notes, Vec::<String>::new());
    }

    #[test]
    fn equal_solutions_of_a_game_are_kept_once() {
        let (candidate, proof) = example();
        let found = mined_position(&candidate, &proof, &CRITERIA);
        let twice = [(0, found.clone()), (0, found.clone()), (1, found)];
        let lines = suite_lines(&twice);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].contains("\"mate.002\""));
    }
}
