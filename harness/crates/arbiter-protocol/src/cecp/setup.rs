//! Set-up of a position in CECP.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, CastlingSide, Chess, Color, EnPassantMode, Position, Role, Square};

/// Returns the commands that set up `position` after `new` and `force`; `None` if the engine cannot
/// set up the position.
///
/// An engine without `setboard` may support the older `edit`, which only places pieces. A move sent
/// before `edit` sets the side to move. Castling is allowed if king and rook are on their initial
/// squares, and en passant captures are impossible.
pub(super) fn lines(position: &Chess, mode: CastlingMode, setboard: bool) -> Option<Vec<String>> {
    if setboard {
        let fen = Fen::from_position(position, EnPassantMode::Legal);
        return Some(vec![format!("setboard {fen}")]);
    }
    let can_edit = mode == CastlingMode::Standard
        && position.legal_ep_square().is_none()
        && castles_wherever_it_could(position);
    can_edit.then(|| edit(position))
}

fn edit(position: &Chess) -> Vec<String> {
    let mut lines = Vec::new();
    if position.turn() == Color::Black {
        lines.push("a2a3".to_owned());
    }
    lines.extend(["edit", "#"].map(str::to_owned));
    for color in [Color::White, Color::Black] {
        if color == Color::Black {
            lines.push("c".to_owned());
        }
        for square in position.board().by_color(color) {
            let role = position.board().role_at(square).map_or('P', Role::upper_char);
            lines.push(format!("{role}{square}"));
        }
    }
    lines.push(".".to_owned());
    lines
}

/// Returns whether the position has exactly those castling rights for which king and rook are on
/// their initial squares.
fn castles_wherever_it_could(position: &Chess) -> bool {
    Color::ALL.into_iter().all(|color| {
        [CastlingSide::KingSide, CastlingSide::QueenSide].into_iter().all(|side| {
            let corner = match side {
                CastlingSide::KingSide => Square::H1,
                CastlingSide::QueenSide => Square::A1,
            };
            let at_home = |square: Square, role: Role| {
                let square = color.fold_wb(square, square.flip_vertical());
                position.board().piece_at(square) == Some(role.of(color))
            };
            let could = at_home(Square::E1, Role::King) && at_home(corner, Role::Rook);
            could == position.castles().has(color, side)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup_commands(fen: &str, setboard: bool) -> Option<String> {
        let mode = CastlingMode::Standard;
        let position: Chess = fen.parse::<Fen>().unwrap().into_position(mode).unwrap();
        lines(&position, mode, setboard).map(|lines| lines.join(" "))
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
