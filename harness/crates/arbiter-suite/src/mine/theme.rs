//! Themes of solutions.

use shakmaty::{Chess, Move, Position, Role};

use super::Proof;
use arbiter_position::{Start, material_lead};
use arbiter_protocol::Score;

/// Minimum amount of material that a sacrifice gives up, in pawns.
const SACRIFICE: i32 = 2;

/// Maximum number of pieces in an endgame, not counting kings and pawns.
const ENDGAME_PIECES: usize = 4;

/// Maximum score after a defence, in centipawns. A defence saves a game that the second best move
/// would lose, but does not win the game.
const DEFENCE: i32 = 50;

/// Returns the themes of a solution, the most specific theme first.
pub(super) fn themes(start: &Start, proof: &Proof) -> Vec<&'static str> {
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
