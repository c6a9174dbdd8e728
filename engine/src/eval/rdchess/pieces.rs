//! Terms of kings in the middlegame, of minor and major pieces, and of hanging or pinned pieces.

use super::attacks::AttackTables;
use super::kingpawn::KingPawn;
use super::root::{Root, looks_castled, officers};
use super::{Term, plain, weights};
use crate::chess::{Bitboard, Color, Kind, Position, Square, attacks};
use crate::eval::Score;
use crate::eval::sink::Sink;

/// Squares c3 to f6.
const CENTRE: Bitboard = Bitboard(0x0000_3C3C_3C3C_0000);
/// Squares d4, e4, d5 and e5.
const MIDDLE: Bitboard = Bitboard(0x0000_0018_1800_0000);
/// The dark squares.
const DARK: Bitboard = Bitboard(0xAA55_AA55_AA55_AA55);

/// Adds the term for control of squares.
pub(super) fn control<K: Sink>(tables: &AttackTables, sink: &mut K) {
    for color in Color::ALL {
        let all = tables.all[color.index()];
        let count = |squares: Bitboard, weight: Score| squares.len() as Score * weight;
        let score = count(all & MIDDLE, weights::CONTROL_CENTRE)
            + count(all & (CENTRE - MIDDLE), weights::CONTROL_NEAR)
            + count(all - CENTRE, weights::CONTROL);
        sink.add(Term::Control, color, plain(score));
    }
}

/// Adds the middlegame terms of a king, scaled by the value of the opponent's minor and major
/// pieces.
pub(super) fn king<K: Sink>(position: &Position, color: Color, found: &KingPawn, sink: &mut K) {
    let enemy = officers(position, !color);
    let scaled = |score: Score| plain(score * enemy / weights::OFFICERS);
    sink.add(Term::KingCastling, color, scaled(castling(position, color)));
    sink.add(Term::KingShelter, color, scaled(found.shelter[color.index()]));
}

fn castling(position: &Position, color: Color) -> Score {
    if looks_castled(position, color).is_some() {
        return weights::CASTLED;
    }
    let king = position.board().king(color);
    let rooks = position.castling_rooks() & position.board().color(color);
    let mut score = weights::KING_ADVANCED * Score::from(king.relative(color).rank());
    let has_right = |short: bool| {
        let mut rooks = rooks;
        Iterator::any(&mut rooks, |rook| (rook.file() > king.file()) == short)
    };
    if !has_right(true) {
        score += weights::SHORT_RIGHT_LOST;
    }
    if !has_right(false) {
        score += weights::LONG_RIGHT_LOST;
    }
    score
}

/// Adds the terms of the knights, bishops, rooks and queens of a side.
pub(super) fn score<K: Sink>(
    position: &Position,
    color: Color,
    found: &KingPawn,
    tables: &AttackTables,
    root: &Root,
    sink: &mut K,
) {
    let board = position.board();
    let beside_king = attacks::king(board.king(!color));
    let king_weight = weights::OFFICER_KING[usize::from(root.endgame[(!color).index()])];
    for kind in [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen] {
        for square in board.pieces(color, kind) {
            let reach = tables.reach[square.index()];
            let centre = weights::OFFICER_CENTRE * (reach & CENTRE).len() as Score;
            let king = king_weight * (reach & beside_king).len() as Score;
            sink.add(Term::OfficerCentre, color, plain(centre));
            sink.add(Term::OfficerKing, color, plain(king));
            if root.early {
                sink.add(Term::Development, color, plain(development(kind, square, color)));
            }
        }
    }
    rooks(position, color, found, root, sink);
    let bishops = board.pieces(color, Kind::Bishop);
    if (bishops & DARK).any() && (bishops - DARK).any() {
        sink.add(Term::BishopPair, color, plain(weights::BISHOP_PAIR));
    }
    if root.endgame == [true; 2] {
        sink.add(Term::BishopColour, color, plain(bishop_colour(position, color)));
    }
}

fn development(kind: Kind, square: Square, color: Color) -> Score {
    match square.relative(color).rank() {
        0 => weights::UNDEVELOPED[kind.index()],
        3.. if kind == Kind::Queen => weights::EARLY_QUEEN,
        _ => 0,
    }
}

fn rooks<K: Sink>(position: &Position, color: Color, found: &KingPawn, root: &Root, sink: &mut K) {
    let board = position.board();
    let pawns = board.kind(Kind::Pawn);
    let own_pawns = board.pieces(color, Kind::Pawn);
    let [passed, backward] = [found.passed, found.backward];
    let notable = passed[0] | passed[1] | backward[0] | backward[1];
    let rooks = board.pieces(color, Kind::Rook);
    for square in rooks {
        let file = Bitboard::file(square.file());
        if (pawns & file).is_empty() {
            sink.add(Term::RookFile, color, plain(weights::ROOK_OPEN));
        } else if (own_pawns & file).is_empty() {
            sink.add(Term::RookFile, color, plain(weights::ROOK_HALF_OPEN));
        }
        if square.relative(color).rank() == 6 {
            sink.add(Term::RookSeventh, color, plain(weights::ROOK_SEVENTH));
        }
        if (notable & file).any() {
            sink.add(Term::RookPawnFile, color, plain(weights::ROOK_PAWN_FILE));
        }
        if root.endgame[color.index()] {
            let behind = behind(board.occupied(), square, passed) as Score;
            sink.add(Term::RookBehind, color, plain(weights::ROOK_BEHIND * behind));
        }
    }
    let pairs = rooks.map(|first| {
        let above = Bitboard::of(first).forward_fill(Color::White);
        let sees =
            |second: &Square| (attacks::between(first, *second) & board.occupied()).is_empty();
        (rooks & above).filter(sees).count() as Score
    });
    sink.add(Term::RooksDoubled, color, plain(weights::ROOKS_DOUBLED * pairs.sum::<Score>()));
}

/// Returns the number of passed pawns of both sides that have the rook behind them: on the same
/// file, with no piece between the rook and the pawn.
fn behind(occupied: Bitboard, rook: Square, passed: [Bitboard; 2]) -> usize {
    let stands_behind = |color: Color, pawn: Square| {
        Bitboard::of(rook).forward_fill(color).contains(pawn)
            && (attacks::between(rook, pawn) & occupied).is_empty()
    };
    Color::ALL
        .into_iter()
        .map(|color| passed[color.index()].filter(|&pawn| stands_behind(color, pawn)).count())
        .sum()
}

/// Returns the endgame score of a side's pawns on squares of the same colour as either side's
/// bishops.
fn bishop_colour(position: &Position, color: Color) -> Score {
    let board = position.board();
    let pawns = board.pieces(color, Kind::Pawn);
    let Some(theirs) = only_colour(board.pieces(!color, Kind::Bishop)) else { return 0 };
    let mut score = weights::BISHOP_COLOUR * (pawns & theirs).len() as Score;
    if let Some(ours) = only_colour(board.pieces(color, Kind::Bishop)) {
        score -= weights::BISHOP_COLOUR * (pawns & ours).len() as Score;
    }
    score
}

/// Returns all squares of the bishops' colour; `None` if there are no bishops, or if there are
/// bishops on squares of both colours.
fn only_colour(bishops: Bitboard) -> Option<Bitboard> {
    match ((bishops & DARK).any(), (bishops - DARK).any()) {
        (true, false) => Some(DARK),
        (false, true) => Some(!DARK),
        _ => None,
    }
}

/// Adds the terms of the side to move for hanging pieces, which the opponent can capture at a
/// profit, and for pinned pieces.
pub(super) fn hanging_pieces<K: Sink>(position: &Position, tables: &AttackTables, sink: &mut K) {
    let color = position.turn();
    let mut score = 0;
    let mut count = 0;
    for square in position.board().color(color) {
        let Some(kind) = position.kind_at(square).filter(|&kind| kind != Kind::King) else {
            continue;
        };
        let worth = weights::WORTH[kind.index()];
        let enemy = tables.on(!color, square);
        let undefended = tables.on(color, square).is_none();
        if !enemy.is_none() && (undefended || enemy.has_cheaper_than(worth)) {
            score += weights::HUNG - worth / weights::HUNG_DIVISOR;
            count += 1;
        }
    }
    if count > 1 {
        score += weights::HUNG_SEVERAL;
    }
    sink.add(Term::Hung, color, plain(score));
    sink.add(Term::Pinned, color, plain(pinned(position)));
}

/// Returns the penalty for pieces of the side to move that are pinned to the king.
fn pinned(position: &Position) -> Score {
    let board = position.board();
    let color = position.turn();
    let king = board.king(color);
    let pins = position.straight_pins() | position.diagonal_pins();
    let cost = |pinner: Square| {
        let square = (attacks::between(king, pinner) & board.color(color)).first();
        let [pinning, pinned] =
            [pinner, square].map(|square| position.kind_at(square).unwrap_or(Kind::King));
        let worth = |kind: Kind| weights::WORTH[kind.index()];
        let base = if pinned == Kind::Pawn { weights::PINNED_PAWN } else { weights::PINNED };
        let pawns = attacks::pawn(color, square) & board.pieces(!color, Kind::Pawn);
        let grave = worth(pinning) < worth(pinned) || pawns.any();
        if grave { 2 * base } else { base }
    };
    (pins & board.color(!color)).map(cost).sum()
}
