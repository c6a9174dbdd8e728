//! Tapered evaluation: interpolation between the middlegame and endgame sums, and corrections of
//! the resulting score.

use super::features::{Experiment, Term};
use super::material::{Counts, PHASE_MAX};
use super::passed::{is_guided, outruns_king};
use super::pawns::Pawns;
use super::weights::OppositeBishops;
use super::{Version, v2_3_2a};
use crate::chess::color::{Black, Side, White};
use crate::chess::{Bitboard, Color, Kind, Position, Square};
use crate::eval::sink::Sink;

/// Divisor of an interpolated sum, 256 × 32. The factors of the middlegame and endgame sums add up
/// to 256, and 32 units of 1/3399 pawn count as one centipawn.
pub(super) const DIVISOR: i32 = 1 << SHIFT;

const SHIFT: u32 = 13;

/// Returns the score from White's point of view, in centipawns.
#[inline]
pub(super) fn score<V: Version, K: Sink>(
    position: &Position,
    counts: &Counts,
    pawns: &Pawns,
    sink: &mut K,
) -> i32 {
    let weights = V::WEIGHTS;
    let endgame_share = weights.endgame_share[(PHASE_MAX - counts.phase()) as usize];
    let blend = |opening: i32, endgame: i32| {
        (opening * (256 - endgame_share) + endgame * endgame_share) >> SHIFT
    };
    let (opening, endgame) = (sink.sum().opening(), sink.sum().endgame());
    let mut score = blend(opening, endgame);

    let pawn_endings = weights.rules.pawn_endings || sink.tries(Experiment::PawnEndings);
    if pawn_endings && counts.phase() == 0 && !has_pieces(position) {
        return pawn_ending(position, pawns, score, sink);
    }
    if sink.is_enabled(Term::OppositeBishops)
        && counts.one_bishop_each()
        && on_both_colours(position.board().kind(Kind::Bishop))
    {
        let difference = counts.pawns(Color::White).abs_diff(counts.pawns(Color::Black));
        let before = score;
        match weights.rules.opposite_bishops {
            OppositeBishops::HalveSums if difference < 3 => score = blend(opening / 2, endgame / 2),
            OppositeBishops::HalveScore if difference <= 2 || difference >= 6 => score /= 2,
            OppositeBishops::HalveSums | OppositeBishops::HalveScore => {}
        }
        sink.adjust(Term::OppositeBishops, score - before);
    }
    if weights.rules.tempo && sink.is_enabled(Term::Tempo) {
        let having_the_move =
            if position.turn() == Color::White { weights.tempo } else { -weights.tempo };
        score += having_the_move;
        sink.adjust(Term::Tempo, having_the_move);
    }
    let drawishness = weights.rules.drawishness || sink.tries(Experiment::Drawishness);
    if drawishness && sink.is_enabled(Term::Drawishness) && score != 0 {
        let leader = if score > 0 { Color::White } else { Color::Black };
        let files = files_of(position.board().pieces(leader, Kind::Pawn));
        let drawish = 156 * v2_3_2a::WEIGHTS.drawishness[files] / 240;
        let cut = score.signum() * ((drawish * score.abs().min(100)) >> 8);
        score -= cut;
        sink.adjust(Term::Drawishness, -cut);
    }
    score
}

fn has_pieces(position: &Position) -> bool {
    Color::ALL.into_iter().any(|color| position.has_pieces(color))
}

#[inline]
fn on_both_colours(bishops: Bitboard) -> bool {
    const LIGHT: Bitboard = Bitboard(0x55AA_55AA_55AA_55AA);
    (bishops & LIGHT).any() && (bishops - LIGHT).any()
}

/// Returns the number of files that contain a square of the set.
#[inline]
fn files_of(set: Bitboard) -> usize {
    let mut rows = set.0;
    rows |= rows >> 32;
    rows |= rows >> 16;
    rows |= rows >> 8;
    (rows & 0xFF).count_ones() as usize
}

/// Returns the score of a pawn ending from White's point of view, in centipawns. The score includes
/// promotion races, and is 0 if the side that is ahead cannot win.
fn pawn_ending<K: Sink>(position: &Position, pawns: &Pawns, score: i32, sink: &mut K) -> i32 {
    if !sink.is_enabled(Term::PawnEndings) {
        return score;
    }
    let white = runner::<White>(position, pawns.passed[0]);
    let black = runner::<Black>(position, pawns.passed[1]);
    let mut found = score + bonus(white, black) - bonus(black, white);
    let lost_cause = match found.signum() {
        1 => cannot_win::<White>(position),
        -1 => cannot_win::<Black>(position),
        _ => false,
    };
    if lost_cause {
        found = 0;
    }
    sink.adjust(Term::PawnEndings, found - score);
    found
}

/// The most advanced unstoppable pawn of a side.
#[derive(Clone, Copy)]
struct Runner {
    /// Rank index of the pawn, from the point of view of the pawn's side; 0 if the side has no
    /// unstoppable pawn.
    rank: i32,
    /// Number of plies until the pawn promotes.
    plies: i32,
}

fn runner<S: Side>(position: &Position, passed: Bitboard) -> Runner {
    let rank = passed
        .filter(|&pawn| is_guided::<S>(position, pawn) || outruns_king::<S>(position, pawn))
        .map(|pawn| i32::from(pawn.relative(S::COLOR).rank()))
        .max()
        .unwrap_or(0);
    Runner { rank, plies: 2 * (7 - rank.max(2)) - i32::from(position.turn() == S::COLOR) }
}

/// Returns the bonus of a runner against the opponent's runner, in centipawns.
fn bonus(own: Runner, other: Runner) -> i32 {
    let first = own.rank > 0 && (other.rank == 0 || own.plies + 2 <= other.plies);
    if first { 150 + 50 * own.rank } else { 0 }
}

/// Returns whether side `S` cannot win: `S` has no pawns, or all pawns are on one rook file and the
/// enemy king controls the promotion square of this file.
fn cannot_win<S: Side>(position: &Position) -> bool {
    let board = position.board();
    let pawns = board.pieces(S::COLOR, Kind::Pawn);
    let enemy_king = board.king(!S::COLOR);
    let held = |file: u8| {
        let corner = Square::at(file, S::COLOR.relative_rank(7));
        (pawns - Bitboard::file(file)).is_empty() && enemy_king.distance(corner) <= 1
    };
    pawns.is_empty() || held(0) || held(7)
}
