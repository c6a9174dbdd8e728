//! Notation of moves in CECP.

use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, CastlingSide, Chess, Move};

use arbiter_position::legal_move;

/// Writes a legal move for the engine: in SAN if `san` is `true`, otherwise in coordinate notation
/// (in Chess960, castling is written as `O-O` or `O-O-O`).
pub(super) fn write(position: &Chess, m: Move, mode: CastlingMode, san: bool) -> String {
    if san {
        return San::from_move(position, m).to_string();
    }
    match (mode, m.castling_side()) {
        // In Chess960 the source and target squares of the king may also stand for an ordinary
        // move, so xboard writes castling as `O-O`.
        (CastlingMode::Chess960, Some(CastlingSide::KingSide)) => "O-O".to_owned(),
        (CastlingMode::Chess960, Some(CastlingSide::QueenSide)) => "O-O-O".to_owned(),
        _ => m.to_uci(mode).to_string(),
    }
}

/// Parses a move of an engine in coordinate notation or SAN; `None` if the move is illegal.
pub(super) fn read(position: &Chess, text: &str) -> Option<Move> {
    let text = text.trim_end_matches(['+', '#', '!', '?']);
    // Some engines write promotions as `e7e8=Q` or `e7e8Q`, and moves as `e2-e4`.
    let coordinates = text.replace(['=', '-'], "").to_ascii_lowercase();
    if let Ok(uci) = coordinates.parse::<UciMove>() {
        return legal_move(position, uci);
    }
    // Old engines write castling with zeros or small letters.
    let castling = text.replace(['0', 'o'], "O").parse::<San>();
    castling.or_else(|_| text.replace('-', "").parse()).ok()?.to_move(position).ok()
}

#[cfg(test)]
mod tests {
    use shakmaty::fen::Fen;

    use super::*;

    fn position(fen: &str, mode: CastlingMode) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(mode).unwrap()
    }

    #[test]
    fn moves_are_parsed_in_every_notation() {
        let fen = "r3k3/4P3/8/8/8/8/4P3/4K2R w K - 0 1";
        let standard = CastlingMode::Standard;
        let check = |text: &str, expect: Option<&str>| {
            let position = position("3nk3/2P5/8/8/8/8/4P3/4K2R w K - 0 1", standard);
            let got = read(&position, text).map(|m| m.to_uci(standard).to_string());
            assert_eq!(got.as_deref(), expect, "{text} in {fen}");
        };
        check("e2e4", Some("e2e4"));
        check("e4", Some("e2e4"));
        check("e1g1", Some("e1g1"));
        check("O-O", Some("e1g1"));
        check("0-0", Some("e1g1"));
        check("o-o", Some("e1g1"));
        check("e1-g1!", Some("e1g1"));
        check("c7xd8=Q+", Some("c7d8q"));
        check("c7-c8=q", Some("c7c8q"));
        check("e2-e4", Some("e2e4"));
        check("Ke1-d1?!", Some("e1d1"));
        check("h1h8+", Some("h1h8"));
        check("c7d8q", Some("c7d8q"));
        check("c7d8Q", Some("c7d8q"));
        check("cxd8=Q+", Some("c7d8q"));
        check("c7xd8=Q", Some("c7d8q"));
        check("e2e5", None);
        check("Ke3", None);
        check("hello", None);
        check("", None);
    }

    #[test]
    fn moves_are_written_in_the_requested_notation() {
        let fen = "4k3/8/8/8/8/8/4P3/4K2R w K - 0 1";
        let check = |mode, text: &str, san, expect: &str| {
            let position = position(fen, mode);
            assert_eq!(write(&position, read(&position, text).unwrap(), mode, san), expect);
        };
        check(CastlingMode::Standard, "e2e4", false, "e2e4");
        check(CastlingMode::Standard, "e2e4", true, "e4");
        check(CastlingMode::Standard, "O-O", false, "e1g1");
        check(CastlingMode::Standard, "O-O", true, "O-O");
        check(CastlingMode::Chess960, "O-O", false, "O-O");
    }
}
