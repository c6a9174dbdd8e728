//! Setup of a position in CECP.

use shakmaty::fen::Fen;
use shakmaty::{Bitboard, CastlingMode, Chess, Color, EnPassantMode, File, Position, Rank, Role};

/// Returns the commands that set up `position` after `new` and `force`; an empty string for the
/// initial position, and `None` if the engine cannot set up the position.
///
/// An engine without `setboard` may support the older `edit`, which only places pieces. A move sent
/// before `edit` sets the side to move. After `edit`, the engine assumes that castling is allowed
/// if king and rook are on their initial squares, and that no en passant capture is possible.
pub(super) fn commands(position: &Chess, mode: CastlingMode, setboard: bool) -> Option<String> {
    if *position == Chess::default() && mode == CastlingMode::Standard {
        return Some(String::new());
    }
    if setboard {
        let fen = Fen::from_position(position, EnPassantMode::Legal);
        return Some(format!("setboard {fen}\n"));
    }
    let can_edit = mode == CastlingMode::Standard
        && position.legal_ep_square().is_none()
        && has_all_castling_rights(position);
    can_edit.then(|| edit(position))
}

fn edit(position: &Chess) -> String {
    let mut text = String::new();
    if position.turn() == Color::Black {
        text += "a2a3\n";
    }
    text += "edit\n#\n";
    for color in [Color::White, Color::Black] {
        if color == Color::Black {
            text += "c\n";
        }
        for square in position.board().by_color(color) {
            let role = position.board().role_at(square).map_or('P', Role::upper_char);
            text += &format!("{role}{square}\n");
        }
    }
    text + ".\n"
}

/// Returns whether the position has exactly the castling rights that `edit` implies: one right for
/// each rook on its initial square, provided that the king of the same colour is also on its
/// initial square.
fn has_all_castling_rights(position: &Chess) -> bool {
    let board = position.board();
    let rooks_at_home = |color: Color| {
        let rank = Bitboard::from(color.fold_wb(Rank::First, Rank::Eighth));
        let king = board.by_piece(color.king()) & rank & Bitboard::from(File::E);
        let rooks = board.by_piece(color.rook()) & rank & Bitboard::CORNERS;
        if king.is_empty() { Bitboard::EMPTY } else { rooks }
    };
    let possible = rooks_at_home(Color::White) | rooks_at_home(Color::Black);
    possible == position.castles().castling_rights()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup_commands(fen: &str, setboard: bool) -> Option<String> {
        let mode = CastlingMode::Standard;
        let position: Chess = fen.parse::<Fen>().unwrap().into_position(mode).unwrap();
        commands(&position, mode, setboard).map(|text| text.trim_end().replace('\n', " "))
    }

    #[test]
    fn positions_are_set_up() {
        let fen = "4k2r/8/8/8/8/8/P7/4K3 b k - 3 9";
        assert_eq!(
            setup_commands(fen, true).as_deref(),
            Some("setboard 4k2r/8/8/8/8/8/P7/4K3 b k - 3 9")
        );
        assert_eq!(setup_commands(fen, false).as_deref(), Some("a2a3 edit # Ke1 Pa2 c Ke8 Rh8 ."));
    }

    #[test]
    fn positions_that_edit_cannot_express_are_rejected() {
        assert_eq!(setup_commands("4k2r/8/8/8/8/8/8/4K3 w - - 0 1", false), None, "a lost right");
        let passing = "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1";
        assert_eq!(setup_commands(passing, false), None);
        assert!(setup_commands(passing, true).is_some());
    }
}
