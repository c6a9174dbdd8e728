//! Drawish endings, and progress towards mate against a bare king.

use super::layout as at;
use super::weights::WEIGHTS;
use super::{SCALE_MAX, Term};
use crate::chess::outcome::LIGHT;
use crate::chess::position::Board;
use crate::chess::{Bitboard, Color, Kind, Position, Square};
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;

/// Bonus, in centipawns, for each step of a bare king towards the edge, or towards a corner in
/// which bishop and knight can mate.
const DRIVE: i32 = 12;

/// Bonus, in centipawns, for each step of the kings towards each other in endings against a bare
/// king.
const CLOSE_IN: i32 = 6;

/// Adds the bonus for driving a bare king to the edge or, with bishop and knight, to a corner of
/// the bishop's square colour. The bonus also rewards a small distance between the kings.
#[inline(always)]
pub(super) fn mating<K: Sink>(position: &Position, sink: &mut K) {
    let board = position.board();
    if board.kind(Kind::Pawn).any() {
        return;
    }
    for strong in Color::ALL {
        if board.color(!strong).has_several() || !can_mate(board, strong) {
            continue;
        }
        let own = board.king(strong);
        let bare = board.king(!strong);
        let steps_driven = match bishop_and_knight(board, strong) {
            Some(is_light) => 7 - i32::from(to_corner(bare, is_light)),
            None => 6 - i32::from(to_edge(bare)),
        };
        let close = 7 - i32::from(own.distance(bare));
        let worth = DRIVE * steps_driven + CLOSE_IN * close;
        sink.add(Term::Mating, strong, Pair::of_endgame(worth));
    }
}

/// Returns whether the side has a rook, a queen, or a bishop and another minor piece.
fn can_mate(board: &Board, color: Color) -> bool {
    let own = board.color(color);
    let bishops = own & board.kind(Kind::Bishop);
    let minors = bishops | own & board.kind(Kind::Knight);
    (own & board.straight_sliders()).any() || bishops.any() && minors.has_several()
}

/// Returns `None` unless the side has exactly a bishop and a knight besides its king. Otherwise,
/// returns whether the bishop is on a light square.
fn bishop_and_knight(board: &Board, color: Color) -> Option<bool> {
    let own = board.color(color);
    let bishops = own & board.kind(Kind::Bishop);
    let knights = own & board.kind(Kind::Knight);
    let only = own.len() == 3 && bishops.len() == 1 && knights.len() == 1;
    only.then(|| (bishops & LIGHT).any())
}

/// Returns the number of king moves from `square` to the nearer of the two corners of one colour
/// (light if `is_light`).
fn to_corner(square: Square, is_light: bool) -> u8 {
    let corners = if is_light {
        [Square::at(0, 7), Square::at(7, 0)]
    } else {
        [Square::at(0, 0), Square::at(7, 7)]
    };
    let [one, other] = corners.map(|corner| square.distance(corner));
    one.min(other)
}

/// Returns the distance to the nearer of the files a and h, plus the distance to the nearer of the
/// first and last ranks: 0 in a corner, 6 in the centre.
fn to_edge(square: Square) -> u8 {
    let steps = |line: u8| line.min(7 - line);
    steps(square.file()) + steps(square.rank())
}

/// Returns the scale factor of the endgame score `end`, in 1/[`SCALE_MAX`]. White is the stronger
/// side unless `end` is negative.
#[inline(always)]
pub(super) fn scale(position: &Position, end: i32) -> i32 {
    let board = position.board();
    let strong = if end >= 0 { Color::White } else { Color::Black };
    let pawns = board.pieces(strong, Kind::Pawn);
    if pawns.len() > 6 {
        // If the stronger side has more than six pawns, only opposite-coloured bishops make the
        // ending drawish. Most positions have so many pawns, so this case is handled first.
        return opposite_bishops(board).unwrap_or(SCALE_MAX);
    }
    few_pawns(board, strong, pawns)
}

fn weight(place: usize) -> i32 {
    WEIGHTS[place].endgame()
}

#[inline(never)]
fn few_pawns(board: &Board, strong: Color, pawns: Bitboard) -> i32 {
    if pawns.is_empty() {
        let own = worth(board, strong);
        let other = worth(board, !strong);
        // A lone minor piece cannot mate, and two knights cannot force mate.
        if own <= 6 && !can_mate(board, strong) {
            return 0;
        }
        return if own - other <= 3 { weight(at::SCALE_NO_PAWNS) } else { SCALE_MAX };
    }
    if is_wrong_bishop(board, strong, pawns) {
        return weight(at::SCALE_WRONG_BISHOP);
    }
    if let Some(scale) = opposite_bishops(board) {
        return scale;
    }
    if is_drawish_rook_ending(board, strong, pawns) {
        return weight(at::SCALE_ROOKS);
    }
    let least = weight(at::SCALE_FEW_PAWNS);
    let each = weight(at::SCALE_FEW_PAWNS + 1);
    (least + each * pawns.len() as i32).min(SCALE_MAX)
}

/// Returns whether `pieces` contains exactly one piece, and the side has no other piece besides its
/// king and pawns.
fn is_only_piece(board: &Board, color: Color, pieces: Bitboard) -> bool {
    let simple = board.kind(Kind::Pawn) | board.kind(Kind::King);
    pieces.any() && !pieces.has_several() && pieces == board.color(color) - simple
}

/// Returns the material value of a side's pieces other than pawns, in pawns.
fn worth(board: &Board, color: Color) -> i32 {
    let units = [(Kind::Knight, 3), (Kind::Bishop, 3), (Kind::Rook, 5), (Kind::Queen, 9)];
    units.into_iter().map(|(kind, unit)| unit * board.pieces(color, kind).len() as i32).sum()
}

/// Returns the scale factor for opposite-coloured bishops; `None` unless each side has exactly one
/// bishop and the bishops are on squares of different colours.
#[inline(always)]
fn opposite_bishops(board: &Board) -> Option<i32> {
    let bishops = board.kind(Kind::Bishop);
    if bishops.len() != 2 || (bishops & LIGHT).len() != 1 {
        return None;
    }
    if (bishops & board.color(Color::White)).len() != 1 {
        return None;
    }
    let others = board.kind(Kind::Knight) | board.straight_sliders();
    let place = if others.is_empty() { at::SCALE_OPPOSITE_ALONE } else { at::SCALE_OPPOSITE };
    Some(weight(place))
}

/// Returns whether the ending has a wrong-coloured bishop. Besides the king, the stronger side has
/// only a bishop and pawns on one rook file, and the bishop does not control the promotion square.
/// The opponent's king is on or next to the promotion square.
fn is_wrong_bishop(board: &Board, strong: Color, pawns: Bitboard) -> bool {
    let bishops = board.pieces(strong, Kind::Bishop);
    let file = pawns.first().file();
    let on_one = pawns.any() && (pawns - Bitboard::file(file)).is_empty();
    if !is_only_piece(board, strong, bishops) || !on_one || !matches!(file, 0 | 7) {
        return false;
    }
    let goal = Square::at(file, strong.relative_rank(7));
    let sees = (bishops & LIGHT).any() == LIGHT.contains(goal);
    !sees && board.king(!strong).distance(goal) <= 1
}

/// Returns whether the position is a drawish rook ending. Each side has one rook, and no other
/// piece besides the king and pawns. The stronger side has pawns on one wing only, and at most one
/// pawn more than the opponent. The opponent's king is near the stronger side's pawns.
fn is_drawish_rook_ending(board: &Board, strong: Color, pawns: Bitboard) -> bool {
    let only_rooks = Color::ALL
        .into_iter()
        .all(|color| is_only_piece(board, color, board.pieces(color, Kind::Rook)));
    let queenside = Bitboard(0x0F0F_0F0F_0F0F_0F0F);
    let on_one_side = (pawns & queenside).is_empty() || (pawns - queenside).is_empty();
    if !only_rooks || !on_one_side || pawns.len() > board.pieces(!strong, Kind::Pawn).len() + 1 {
        return false;
    }
    let king = board.king(!strong);
    pawns.any() && king.file().abs_diff(pawns.first().file()) <= 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::eval::Variant;

    fn evaluate(text: &str) -> i32 {
        Variant::Palimpsest.evaluate(&fen::parse(text).unwrap())
    }

    #[test]
    fn drawish_endings_are_recognised() {
        for (text, end, expected) in [
            ("4k3/8/8/8/8/8/8/N3K3 w - - 0 1", 300, 0),
            ("4k3/8/8/8/8/8/8/N3K1N1 w - - 0 1", 600, 0),
            ("4k3/p7/8/8/8/8/8/N3K1N1 w - - 0 1", 500, 0),
            ("4k3/8/8/8/8/8/8/N3K2R w - - 0 1", 800, SCALE_MAX),
            ("4k3/8/8/8/8/8/8/B3K1NN w - - 0 1", 900, SCALE_MAX),
            ("k7/8/8/8/8/P7/8/K1B5 w - - 0 1", 400, weight(at::SCALE_WRONG_BISHOP)),
            ("7k/8/8/8/8/7P/8/K4B2 w - - 0 1", 400, weight(at::SCALE_WRONG_BISHOP)),
            ("4r1k1/5ppp/8/8/8/8/4RPPP/6K1 w - - 0 1", 5, weight(at::SCALE_ROOKS)),
            ("4k3/pp3b2/8/8/8/8/PPP2B2/4K3 w - - 0 1", 90, weight(at::SCALE_OPPOSITE_ALONE)),
            ("4k3/pp3b2/4r3/8/8/4R3/PPP2B2/4K3 w - - 0 1", 90, weight(at::SCALE_OPPOSITE)),
        ] {
            assert_eq!(scale(&fen::parse(text).unwrap(), end), expected, "{text}");
        }
        let right = fen::parse("k7/8/8/8/8/P7/8/K4B2 w - - 0 1").unwrap();
        assert!(scale(&right, 400) > weight(at::SCALE_WRONG_BISHOP));
    }

    #[test]
    fn a_bare_king_is_driven_to_the_edge_and_the_right_corner() {
        let centre = evaluate("8/8/8/4k3/8/4K3/8/R7 w - - 0 1");
        let edge = evaluate("4k3/8/4K3/8/8/8/8/R7 w - - 0 1");
        assert!(edge > centre + 2 * DRIVE, "{edge} {centre}");
        // The bishop on f1 is on a light square, so bishop and knight can mate in the corners h1
        // and a8.
        let right = evaluate("k7/8/1K6/8/8/8/8/1N3B2 w - - 0 1");
        let wrong = evaluate("7k/8/6K1/8/8/8/8/1N3B2 w - - 0 1");
        assert!(right > wrong + 3 * DRIVE, "{right} {wrong}");
    }

    #[test]
    fn lone_minor_pieces_score_near_zero() {
        assert!(evaluate("4k3/8/8/8/8/8/8/N3K3 w - - 0 1").abs() < 20);
        assert!(evaluate("4k3/8/8/8/8/8/8/N3K1N1 w - - 0 1").abs() < 60);
        assert!(evaluate("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1") > 700);
    }
}
