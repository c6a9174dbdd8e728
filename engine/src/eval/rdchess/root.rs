//! Parameters that are determined at the root of a search and used for all positions of the search.

use super::weights::{
    ADVANCE, ADVANCE_ASSAULT, ADVANCE_LATE, ADVANCE_STORM, EARLY, ENDGAME, LATE, WORTH,
};
use crate::chess::{Color, Game, Kind, Position, Square};
use crate::eval::Score;

/// A wing of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wing {
    /// Files a to c.
    Queen,
    /// Files f to h.
    King,
}

impl Wing {
    /// Returns the wing of a file; `None` for files d and e.
    pub(super) fn of(file: u8) -> Option<Wing> {
        match file {
            0..=2 => Some(Wing::Queen),
            5..=7 => Some(Wing::King),
            _ => None,
        }
    }
}

/// Returns the sum of the values of a side's knights, bishops, rooks and queens, in centipawns.
pub(super) fn officers(position: &Position, color: Color) -> Score {
    let board = position.board();
    [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen]
        .into_iter()
        .map(|kind| WORTH[kind.index()] * board.pieces(color, kind).len() as Score)
        .sum()
}

/// Returns the wing on which a side seems to have castled. The king must be on the back rank, on
/// files a to c or f to h, and the side must have no castling rights.
pub(super) fn looks_castled(position: &Position, color: Color) -> Option<Wing> {
    let king = position.board().king(color).relative(color);
    let rights = position.castling_rooks() & position.board().color(color);
    Wing::of(king.file()).filter(|_| rights.is_empty() && king.rank() == 0)
}

/// Parameters determined at the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Root {
    /// `true` if a side's king is evaluated as in the endgame; White's first.
    pub(super) endgame: [bool; 2],
    /// `true` if most minor and major pieces are still on the board.
    pub(super) early: bool,
    /// Bonus for an advanced pawn, by colour and square.
    pub(super) advance: [[Score; 64]; 2],
}

impl Root {
    /// Returns the parameters for the current position of a game as the root.
    pub(super) fn of(game: &Game) -> Root {
        let position = game.position();
        let worth = Color::ALL.map(|color| officers(position, color));
        let castled = Color::ALL.map(|color| castled(game, color));
        let late = worth[0] + worth[1] <= LATE;
        let table = |color: Color| {
            let wings = [castled[color.index()], castled[(!color).index()]];
            advance(color, wings, late)
        };
        Root {
            endgame: [worth[1] <= ENDGAME, worth[0] <= ENDGAME],
            early: worth[0] + worth[1] >= EARLY,
            advance: Color::ALL.map(table),
        }
    }
}

/// Returns the wing on which a side has castled. If the game has no moves, or if the side had no
/// castling rights at the start of the game, the wing is inferred from the current position.
fn castled(game: &Game, color: Color) -> Option<Wing> {
    let mut turn = game.start().turn();
    for mv in game.moves() {
        if turn == color && mv.is_castle() {
            return Some(if mv.to().file() > mv.from().file() { Wing::King } else { Wing::Queen });
        }
        turn = !turn;
    }
    let rights = game.start().castling_rooks() & game.start().board().color(color);
    if rights.any() && !game.moves().is_empty() {
        return None;
    }
    looks_castled(game.position(), color)
}

/// Returns the pawn advance table of a side. `wings` contains the wing on which this side has
/// castled, then the wing on which the opponent has castled.
fn advance(color: Color, wings: [Option<Wing>; 2], late: bool) -> [Score; 64] {
    let [own, enemy] = wings;
    let per_rank = |file: u8| {
        let usual = ADVANCE[file as usize & 7] + if late { ADVANCE_LATE } else { 0 };
        match (Wing::of(file), own) {
            (Some(wing), Some(castled)) if wing == castled => {
                if late {
                    usual
                } else {
                    0
                }
            }
            (Some(wing), Some(_)) => {
                usual + ADVANCE_STORM + if enemy == Some(wing) { ADVANCE_ASSAULT } else { 0 }
            }
            _ => usual,
        }
    };
    let mut table = [0; 64];
    for square in Square::all() {
        let rank = Score::from(square.relative(color).rank());
        if (1..=6).contains(&rank) {
            table[square.index()] = per_rank(square.file()) * (rank - 1);
        }
    }
    table
}
