//! Selection of the evaluator for a position, and the evaluators for won endings.

use super::root::officers;
use super::{Term, edge_distance, plain, weights};
use crate::chess::{Color, Kind, Position, Square};
use crate::eval::Score;
use crate::eval::sink::Sink;

/// Evaluator of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evaluator {
    /// Draw by insufficient material, or more than 100 plies without a capture or pawn move.
    Draw,
    /// Two bishops on squares of different colours against a lone king. The colour is the side with
    /// the bishops.
    TwoBishops(Color),
    /// Bishop and knight against a lone king. The colour is the side with the bishop and the
    /// knight.
    BishopKnight(Color),
    /// Large material advantage over an opponent without pawns. The colour is the side that is
    /// ahead.
    NearMate(Color),
    /// Kings and pawns only.
    Pawns,
    /// All other positions.
    Standard,
}

/// Returns the total value of a side's pieces and pawns, without the king, in centipawns.
pub(super) fn worth(position: &Position, color: Color) -> Score {
    let pawns = position.board().pieces(color, Kind::Pawn).len() as Score;
    officers(position, color) + weights::WORTH[0] * pawns
}

impl Evaluator {
    /// Returns the evaluator for a position. Evaluators whose feature is disabled in `sink` are
    /// skipped.
    pub(super) fn choose<K: Sink>(position: &Position, sink: &K) -> Evaluator {
        let rare = Evaluator::bare(position).filter(|evaluator| match evaluator {
            Evaluator::Draw => sink.is_enabled(Term::Draw),
            Evaluator::TwoBishops(_) => sink.is_enabled(Term::TwoBishops),
            _ => sink.is_enabled(Term::BishopKnight),
        });
        if let Some(evaluator) = rare {
            return evaluator;
        }
        let near_mate = Color::ALL.into_iter().find(|&color| is_near_mate(position, color));
        if let Some(color) = near_mate.filter(|_| sink.is_enabled(Term::NearMate)) {
            return Evaluator::NearMate(color);
        }
        let has_officers = Color::ALL.into_iter().any(|color| position.has_pieces(color));
        if has_officers { Evaluator::Standard } else { Evaluator::Pawns }
    }

    /// Returns the evaluator for draws, two bishops, or bishop and knight; `None` for other
    /// positions.
    fn bare(position: &Position) -> Option<Evaluator> {
        let board = position.board();
        if position.halfmove_clock() > 100 {
            return Some(Evaluator::Draw);
        }
        if board.kind(Kind::Pawn).any() {
            return None;
        }
        let count = |color: Color, kind: Kind| board.pieces(color, kind).len();
        let minors = Color::ALL.map(|color| {
            let heavy = count(color, Kind::Rook) + count(color, Kind::Queen);
            (heavy == 0).then(|| [count(color, Kind::Knight), count(color, Kind::Bishop)])
        });
        let [Some(white), Some(black)] = minors else { return None };
        let (strong, has) = match (white, black) {
            ([0, 0], has) => (Color::Black, has),
            (has, [0, 0]) => (Color::White, has),
            ([0, 1] | [1, 0], [0, 1] | [1, 0]) => return Some(Evaluator::Draw),
            _ => return None,
        };
        match has {
            [0, 0] | [1, 0] | [0, 1] | [2, 0] => Some(Evaluator::Draw),
            [1, 1] => Some(Evaluator::BishopKnight(strong)),
            [0, 2] => {
                let mut bishops = board.pieces(strong, Kind::Bishop).map(is_dark);
                let differ = bishops.next() != bishops.next();
                differ.then_some(Evaluator::TwoBishops(strong))
            }
            _ => None,
        }
    }
}

fn is_near_mate(position: &Position, ahead: Color) -> bool {
    position.board().pieces(!ahead, Kind::Pawn).is_empty()
        && worth(position, ahead) - worth(position, !ahead) > weights::NEAR_MATE
}

fn is_dark(square: Square) -> bool {
    (square.file() + square.rank()).is_multiple_of(2)
}

/// Returns the distance between two squares, in steps along ranks and files (Manhattan distance).
fn steps(a: Square, b: Square) -> Score {
    Score::from(a.file().abs_diff(b.file()) + a.rank().abs_diff(b.rank()))
}

const CORNERS: [Square; 4] =
    [Square::at(0, 0), Square::at(7, 0), Square::at(0, 7), Square::at(7, 7)];

/// Returns the Manhattan distance to the nearest corner for which `is_suitable` returns `true`.
fn corner_steps(square: Square, is_suitable: impl Fn(Square) -> bool) -> Score {
    let corners = CORNERS.into_iter().filter(|&corner| is_suitable(corner));
    corners.map(|corner| steps(square, corner)).min().unwrap_or_default()
}

fn kings_apart(position: &Position) -> Score {
    let [white, black] = Color::ALL.map(|color| position.board().king(color));
    steps(white, black)
}

/// Adds the score of the ending of two bishops against a lone king.
pub(super) fn two_bishops<K: Sink>(position: &Position, strong: Color, sink: &mut K) {
    let corner = corner_steps(position.board().king(!strong), |_| true);
    let score = weights::WON_ENDING
        + weights::CORNER * (7 - corner)
        + weights::KINGS_CLOSE * (14 - kings_apart(position));
    sink.add(Term::TwoBishops, strong, plain(score));
}

/// Adds the score of the ending of bishop and knight against a lone king.
pub(super) fn bishop_knight<K: Sink>(position: &Position, strong: Color, sink: &mut K) {
    let dark = is_dark(position.board().pieces(strong, Kind::Bishop).first());
    let corner = corner_steps(position.board().king(!strong), |corner| is_dark(corner) == dark);
    let score = weights::WON_ENDING
        + weights::RIGHT_CORNER * (14 - 2 * corner)
        + weights::KINGS_CLOSE * (14 - kings_apart(position));
    sink.add(Term::BishopKnight, strong, plain(score));
}

/// Adds the material, the bonus for driving the losing king to the edge, and the bonus for a small
/// distance between the kings.
pub(super) fn near_mate<K: Sink>(position: &Position, ahead: Color, sink: &mut K) {
    for color in Color::ALL {
        sink.add(Term::Material, color, plain(worth(position, color)));
    }
    let score = weights::DRIVEN * edge_distance(position.board().king(!ahead))
        + weights::NEAR_KINGS_CLOSE * (14 - kings_apart(position));
    sink.add(Term::NearMate, ahead, plain(score));
}
