//! Weights of a version of Rybka's evaluation, and rules in which the versions differ.
//!
//! Scores are in units of 1/3399 pawn, as pairs of a middlegame (opening) and an endgame value.
//! Arrays by rank begin with the back rank of the side. `PROVENANCE.md` gives the source of each
//! weight.

use crate::eval::pair::Pair;

/// Value of a pawn, in the unit of all scores.
pub(super) const PAWN: i32 = 3399;

/// Piece-square table, from the point of view of the piece's side, a1 first.
pub(super) type Squares = [Pair; 64];

/// Weights and rules of one version.
pub(in crate::eval) struct Weights {
    /// Rules in which the versions differ.
    pub(super) rules: Rules,
    /// Weights for material imbalances, in addition to the piece count.
    pub(super) imbalance: Imbalance,
    /// Piece-square tables by piece type.
    pub(super) squares: [Squares; 6],
    /// Mobility bonus per reachable square: knight, bishop, rook, queen.
    pub(super) mobility: [Pair; 4],
    /// Penalty for a pawn if the square in front of the pawn is occupied.
    pub(super) pawn_blocked: Pair,
    /// Weight of an attack on squares next to the enemy king: knight, bishop, rook, queen.
    pub(super) attack: [i32; 4],
    /// Bonus for a rook with no friendly pawn ahead on the file.
    pub(super) rook_half_open: Pair,
    /// Bonus, in addition to `rook_half_open`, if no enemy pawn is ahead of the rook.
    pub(super) rook_open: Pair,
    /// Bonus, in addition to `rook_half_open`, if a square next to the enemy king is ahead of the
    /// rook.
    pub(super) rook_king_zone: Pair,
    /// Bonus, in addition to `rook_half_open`, if the enemy king is ahead of the rook.
    pub(super) rook_king: Pair,
    /// Bonus for a piece on the seventh rank: rook, queen.
    pub(super) seventh: [Pair; 2],
    /// Factor of the sum of attack weights, in 1/32, by number of attackers.
    pub(super) danger: [i32; 16],
    /// Penalty for missing shelter on a file, by the rank of the nearest friendly pawn: second to
    /// fifth rank, none.
    pub(super) shelter: [i32; 5],
    /// Penalty if all three shelter pawns are on the second rank, where these pawns confine the
    /// king to the back rank.
    pub(super) shelter_home: i32,
    /// Penalty for the nearest enemy pawn on a file near the king, indexed by the rank of the pawn
    /// relative to the king's colour: ranks 2 to 5, then no pawn.
    pub(super) storm: [i32; 5],
    /// Penalty for a doubled pawn, which has another friendly pawn on the same file.
    pub(super) doubled: Pair,
    /// Penalties for an isolated pawn: first without any pawn ahead on the file, then with a pawn
    /// of either side ahead.
    pub(super) isolated: [Pair; 2],
    /// Penalties for a backward pawn, which can neither be supported nor advance: first without any
    /// pawn ahead on the file, then with a pawn of either side ahead.
    pub(super) backward: [Pair; 2],
    /// Bonus for a candidate passed pawn, by rank.
    pub(super) candidate: [Pair; 8],
    /// Bonus for a passed pawn, by rank.
    pub(super) passed: [Pair; 8],
    /// Endgame bonus, by rank, for a passed pawn without a friendly piece ahead.
    pub(super) unblocked_own: [i32; 8],
    /// Endgame bonus, by rank, for a passed pawn without an enemy piece ahead.
    pub(super) unblocked_opp: [i32; 8],
    /// Endgame bonus, by rank, for a passed pawn if no square ahead of the pawn is attacked by the
    /// enemy alone.
    pub(super) free: [i32; 8],
    /// Endgame penalty, by rank, for each step between the friendly king and the square in front of
    /// a passed pawn.
    pub(super) own_king: [i32; 8],
    /// Endgame bonus, by rank, for each step between the enemy king and the square in front of a
    /// passed pawn.
    pub(super) enemy_king: [i32; 8],
    /// Penalty for a bishop that an enemy pawn traps on the wing.
    pub(super) trapped_bishop: Pair,
    /// Penalty for a bishop on its initial square behind a blocked centre pawn.
    pub(super) blocked_bishop: Pair,
    /// Penalty for a rook that the friendly king traps near the corner.
    pub(super) blocked_rook: Pair,
    /// Factor of the endgame sum, in 1/256, by 24 minus the game phase: index 0 is for all pieces
    /// on the board, index 24 for only kings and pawns.
    pub(super) endgame_share: [i32; 25],
    /// Bonus for the side to move, in centipawns.
    pub(super) tempo: i32,
    /// Drawishness of a lead, by the number of files on which the leading side has pawns.
    pub(super) drawishness: [i32; 9],
}

/// Compact model of Rybka's material table. Each array has the weights for the game phases 0, 12
/// and 24.
pub(super) struct Imbalance {
    pub(super) knight: [i32; 3],
    pub(super) bishop: [i32; 3],
    pub(super) rook: [i32; 3],
    pub(super) queen: [i32; 3],
    pub(super) bishop_pair: [i32; 3],
    pub(super) rook_pair: [i32; 3],
    pub(super) knight_pair: [i32; 3],
    pub(super) pawn: [i32; 3],
    /// Additional value of a pawn for each friendly knight, in every phase.
    pub(super) pawn_knight: i32,
    /// Additional value of a pawn for each friendly rook, in every phase.
    pub(super) pawn_rook: i32,
}

/// Rules of one version of Rybka's evaluation.
pub(super) struct Rules {
    /// `true` if knights have a mobility term.
    pub(super) knight_mobility: bool,
    /// `true` if a pawn is penalized when the square in front of the pawn is occupied.
    pub(super) pawn_anti_mobility: bool,
    /// `true` if a bishop that is blocked on its initial square is penalized.
    pub(super) blocked_bishops: bool,
    /// Number of trapped bishops of each side that are penalized.
    pub(super) trapped_bishops: TrappedBishops,
    /// Condition for the bonus of a rook with the enemy king ahead.
    pub(super) rook_king: RookKing,
    /// Condition for the bonus of a piece on the seventh rank.
    pub(super) seventh: Seventh,
    /// Wings whose shelter is evaluated.
    pub(super) shelter: Shelter,
    /// `true` if unstoppable pawns have a bonus when the enemy has only pawns.
    pub(super) unstoppable: bool,
    /// Effect of opposite-coloured bishops.
    pub(super) opposite_bishops: OppositeBishops,
    /// `true` if the side to move gets a bonus.
    pub(super) tempo: bool,
    /// `true` if a lead with pawns on few files is reduced.
    pub(super) drawishness: bool,
    /// `true` if pawn endings have separate rules.
    pub(super) pawn_endings: bool,
    /// Condition under which Rybka skips the full evaluation. The condition is used only in an
    /// experiment, because Rybka's bounds were not published.
    pub(super) lazy: Lazy,
}

/// Number of trapped bishops of each side that are penalized.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TrappedBishops {
    /// A side gets the penalty at most once.
    Once,
    /// A side gets the penalty for each trapped bishop.
    Each,
}

/// Condition for the bonus of a rook with the enemy king ahead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RookKing {
    /// The rook's side must have a queen and another piece. A square next to the king, ahead of the
    /// rook, also gives a small bonus.
    WithQueen,
    /// No condition on the pieces. Squares next to the king give no bonus.
    Always,
}

/// Condition for the bonus of a piece on the seventh rank.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Seventh {
    /// An enemy pawn on the seventh rank, or the enemy king on the eighth rank.
    PawnThereOrKingBehind,
    /// An enemy pawn or the enemy king on the seventh or eighth rank.
    PawnOrKingOnEither,
}

/// Wings whose shelter is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shelter {
    /// Mean of the king's wing and the best wing that the king can reach by castling.
    MeanWithCastling,
    /// The king's wing.
    Here,
}

/// Effect of opposite-coloured bishops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OppositeBishops {
    /// The middlegame and endgame sums are halved if the numbers of pawns differ by less than
    /// three.
    HalveSums,
    /// The interpolated score is halved if the numbers of pawns differ by at most two or at least
    /// six.
    HalveScore,
}

/// Condition under which Rybka skips the full evaluation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lazy {
    /// The piece count is outside a window that is set at the root.
    MaterialOutsideWindow,
    /// The sum of the material and the latest positional score is outside the search window.
    EstimateOutsideWindow,
}

/// Piece-square table as printed in the source: eighth rank first, files a to d. Files e to h
/// mirror files a to d.
pub(super) type HalfBoard = [[(i32, i32); 4]; 8];

/// Returns the piece-square table for the whole board, from the printed half of the table.
pub(super) const fn whole(half: &HalfBoard) -> Squares {
    let mut squares = [Pair::ZERO; 64];
    let mut index = 0;
    while index < 64 {
        let file = index % 8;
        let column = if file < 4 { file } else { 7 - file };
        let (opening, endgame) = half[7 - index / 8][column];
        squares[index] = Pair::new(opening, endgame);
        index += 1;
    }
    squares
}

/// Combines separate arrays of middlegame and endgame values by rank into one array.
pub(super) const fn ranks(opening: [i32; 8], endgame: [i32; 8]) -> [Pair; 8] {
    let mut ranks = [Pair::ZERO; 8];
    let mut index = 0;
    while index < 8 {
        ranks[index] = Pair::new(opening[index], endgame[index]);
        index += 1;
    }
    ranks
}
