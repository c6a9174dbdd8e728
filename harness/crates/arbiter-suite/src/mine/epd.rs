//! Suite lines for mined positions, and themes of solutions.

use std::collections::{BTreeMap, HashSet};

use shakmaty::fen::Epd;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, EnPassantMode, Move, Position, Role};

use super::Proof;
use super::candidate::Candidate;
use arbiter_game::text::printable;
use arbiter_position::{Start, material_lead};
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
pub(super) fn mined_position(candidate: &Candidate, proof: &Proof, depth: u32) -> MinedPosition {
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
        depth,
    );
    match proof.best_score {
        Score::Centipawns(cp) => tail.push_str(&format!(" ce {cp};")),
        Score::Mate(moves) if moves > 0 => tail.push_str(&format!(" dm {moves};")),
        // `dm` can only specify a mate by the side to move.
        Score::Mate(_) => {}
    }
    tail.push_str(&format!(" pv {};", line(position, &proof.line)));
    let fields = Epd::from_position(position, EnPassantMode::Legal);
    let theme = themes.first().copied().unwrap_or("other").to_owned();
    let head = format!("{fields} bm {};", san(position, proof.best));
    MinedPosition { theme, head, tail }
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

/// Minimum amount of material, in pawns, that a sacrifice gives up.
const SACRIFICE: i32 = 2;

/// Maximum number of pieces in an endgame, not counting kings and pawns.
const ENDGAME_PIECES: usize = 4;

/// Maximum score after a defence, in centipawns. A defence saves a game that the second best move
/// would lose, but does not win the game.
const DEFENCE: i32 = 50;

/// Returns the themes of a solution, the most specific theme first.
fn themes(start: &Start, proof: &Proof) -> Vec<&'static str> {
    let position = &start.position;
    let best = proof.best;
    let mut after = position.clone();
    after.play_unchecked(best);
    let is_quiet = !best.is_capture() && !best.is_promotion() && !after.is_check();
    let pieces = position.board().occupied()
        & !position.board().by_role(Role::Pawn)
        & !position.board().by_role(Role::King);
    let is_defence = match proof.best_score {
        Score::Centipawns(cp) => cp <= DEFENCE,
        Score::Mate(moves) => moves <= 0,
    };
    let named = [
        ("mate", matches!(proof.best_score, Score::Mate(moves) if moves > 0)),
        ("sacrifice", is_sacrifice(position, &proof.line)),
        ("underpromotion", best.promotion().is_some_and(|role| role != Role::Queen)),
        ("promotion", best.promotion() == Some(Role::Queen)),
        ("stalemate", after.is_stalemate()),
        ("defence", is_defence),
        ("evasion", position.is_check()),
        ("castling", best.is_castle()),
        ("en passant", best.is_en_passant()),
        ("quiet", is_quiet),
        ("check", after.is_check()),
        ("capture", best.is_capture()),
        ("king", best.role() == Role::King && !best.is_castle()),
        ("endgame", pieces.count() <= ENDGAME_PIECES),
    ];
    named.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}

/// Returns whether the best move gives up material that the next move of the same side does not win
/// back.
fn is_sacrifice(position: &Chess, line: &[Move]) -> bool {
    let mover = position.turn();
    let before = material_lead(position, mover);
    let mut position = position.clone();
    let mut balances = line.iter().take(3).map(|played| {
        position.play_unchecked(*played);
        material_lead(&position, mover)
    });
    // The opponent's reply captures the material, and the next move of the same side could win it
    // back.
    let [Some(_), Some(replied), Some(followed)] = std::array::from_fn(|_| balances.next()) else {
        return false;
    };
    before - replied >= SACRIFICE && before - followed >= SACRIFICE
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;

    use super::*;
    use crate::epd::read;

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
        let found = mined_position(&candidate, &proof, 18);
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
        let found = mined_position(&candidate, &proof, 18);
        let twice = [(0, found.clone()), (0, found.clone()), (1, found)];
        let lines = suite_lines(&twice);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].contains("\"mate.002\""));
    }

    fn themes_of(fen: &str, line: &str, score: Score) -> Vec<&'static str> {
        let start = Start::read(fen, false).unwrap();
        let mut position = start.position.clone();
        let mut moves = Vec::new();
        for word in line.split(' ') {
            let played = word.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(played);
            moves.push(played);
        }
        let proof = Proof {
            best: moves[0],
            second: moves[0],
            best_score: score,
            second_score: Score::Centipawns(-300),
            gap: 300,
            found_at: 5,
            line: moves,
        };
        themes(&start, &proof)
    }

    #[test]
    fn solutions_are_named_by_their_theme() {
        let cp = Score::Centipawns;
        let check = |fen, line, score, expect: &[&str]| {
            assert_eq!(themes_of(fen, line, score), expect, "{fen} {line}");
        };
        let rook = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
        check(rook, "a1a8", Score::Mate(1), &["mate", "check", "endgame"]);
        check(rook, "g1f1 g8f8", cp(300), &["quiet", "king", "endgame"]);
        let pawn = "8/P7/8/8/8/8/7k/K7 w - - 0 1";
        check(pawn, "a7a8q h2g1", cp(600), &["promotion", "endgame"]);
        check(pawn, "a7a8n h2g1", cp(10), &["underpromotion", "defence", "endgame"]);
        let attacked = "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1";
        let evasion = ["defence", "evasion", "capture", "king", "endgame"];
        check(attacked, "e1e2 e8e7", cp(0), &evasion);
        let passing = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
        check(passing, "e5d6 e8d7", cp(200), &["en passant", "capture", "endgame"]);
    }

    #[test]
    fn sacrifices_are_not_won_back_immediately() {
        let cp = Score::Centipawns(300);
        let trade = "r4k2/5ppp/8/8/8/8/R4PPP/R5K1 w - - 0 1";
        assert!(!themes_of(trade, "a2a8 f8e7 a8d8", cp).contains(&"sacrifice"));
        let given = "6k1/5ppp/2n5/8/8/8/1Q3PPP/6K1 w - - 0 1";
        assert!(themes_of(given, "b2e5 c6e5 g1f1", cp).contains(&"sacrifice"));
        let back = "6k1/5ppp/2n5/8/5P2/8/1Q4PP/6K1 w - - 0 1";
        assert!(themes_of(back, "b2e5 c6e5 f4e5", cp).contains(&"sacrifice"), "nine for three");
    }
}
