//! The weights of a version of Rybka's evaluation, and its named rule differences.
//!
//! Scores are in units of 1/3399 pawn, opening before endgame. Arrays by rank are counted from the
//! back rank of the side. `PROVENANCE.md` gives the source of each weight.

use crate::eval::pair::Pair;

/// Value of a pawn, in the unit of all scores.
pub(super) const PAWN: i32 = 3399;

/// A bonus for each square from White's point of view, a1 first.
pub(super) type Squares = [Pair; 64];

/// Weights and rules of one version.
pub(in crate::eval) struct Weights {
    /// Rules by which this version differs from the other version.
    pub(super) rules: Rules,
    /// Material beyond the plain count.
    pub(super) imbalance: Imbalance,
    /// Piece-square tables by kind.
    pub(super) squares: [Squares; 6],
    /// Mobility, per reachable square: knight, bishop, rook, queen.
    pub(super) mobility: [Pair; 4],
    /// A pawn whose stop square is occupied.
    pub(super) pawn_blocked: Pair,
    /// Weight of an attack on the surroundings of the enemy king: knight, bishop, rook, queen.
    pub(super) attack: [i32; 4],
    /// A rook with no friendly pawn ahead.
    pub(super) rook_half_open: Pair,
    /// In addition to `rook_half_open`: no enemy pawn ahead.
    pub(super) rook_open: Pair,
    /// In addition to `rook_half_open`: the surroundings of the enemy king ahead.
    pub(super) rook_king_zone: Pair,
    /// In addition to `rook_half_open`: the enemy king itself ahead.
    pub(super) rook_king: Pair,
    /// Seventh rank: rook, queen.
    pub(super) seventh: [Pair; 2],
    /// Factor of the summed attack weights by number of attackers, in 1/32.
    pub(super) danger: [i32; 16],
    /// Missing shelter of a king by the rank of its nearest pawn: second to fifth rank, none.
    pub(super) shelter: [i32; 5],
    /// All three pawns on their second rank: the king cannot leave the back rank.
    pub(super) shelter_home: i32,
    /// Enemy pawn near the king, by rank: second to fifth, none.
    pub(super) storm: [i32; 5],
    /// Doubled pawn: another friendly pawn on the file.
    pub(super) doubled: Pair,
    /// Isolated pawn: without a pawn ahead, with a pawn ahead.
    pub(super) isolated: [Pair; 2],
    /// Backward pawn, which can neither be supported nor advance: without a pawn ahead, with a pawn
    /// ahead.
    pub(super) backward: [Pair; 2],
    /// Candidate passed pawn.
    pub(super) candidate: [Pair; 8],
    /// Passed pawn.
    pub(super) passed: [Pair; 8],
    /// Passed pawn without a friendly piece ahead; endgame only, as for the next four fields.
    pub(super) unblocked_own: [i32; 8],
    /// Passed pawn without an enemy piece ahead.
    pub(super) unblocked_opp: [i32; 8],
    /// Passed pawn without a square ahead that only the enemy attacks.
    pub(super) free: [i32; 8],
    /// Passed pawn: penalty per step between the square ahead and the friendly king.
    pub(super) own_king: [i32; 8],
    /// Passed pawn: bonus per step between the square ahead and the enemy king.
    pub(super) enemy_king: [i32; 8],
    /// Bishop trapped behind enemy pawns on the wing.
    pub(super) trapped_bishop: Pair,
    /// Bishop on its first square behind a blocked centre pawn.
    pub(super) blocked_bishop: Pair,
    /// Rook in the corner blocked by its own king.
    pub(super) blocked_rook: Pair,
    /// Share of the endgame score in 1/256, by missing pieces: 0 with all pieces on the board, 24
    /// with no pieces.
    pub(super) endgame_share: [i32; 25],
    /// Bonus for the side to move, in centipawns.
    pub(super) tempo: i32,
    /// Lack of winning chances by number of files with friendly pawns.
    pub(super) drawishness: [i32; 9],
}

/// Compact model of the material table: weights with no, half and all pieces on the board.
pub(super) struct Imbalance {
    pub(super) knight: [i32; 3],
    pub(super) bishop: [i32; 3],
    pub(super) rook: [i32; 3],
    pub(super) queen: [i32; 3],
    pub(super) bishop_pair: [i32; 3],
    pub(super) rook_pair: [i32; 3],
    pub(super) knight_pair: [i32; 3],
    pub(super) pawn: [i32; 3],
    /// Value of a pawn for each friendly knight, in every phase.
    pub(super) pawn_knight: i32,
    /// Value of a pawn for each friendly rook, in every phase.
    pub(super) pawn_rook: i32,
}

/// The differences of rules between the versions.
pub(super) struct Rules {
    /// `true` if knights have mobility.
    pub(super) knight_mobility: bool,
    /// `true` if pawns blocked by a piece are penalised.
    pub(super) pawn_anti_mobility: bool,
    /// `true` if blocked bishops on their first square are penalised.
    pub(super) blocked_bishops: bool,
    /// Number of times a trapped bishop counts.
    pub(super) trapped_bishops: TrappedBishops,
    /// Condition under which a rook gains from the enemy king ahead.
    pub(super) rook_king: RookKing,
    /// Condition under which the seventh rank counts.
    pub(super) seventh: Seventh,
    /// Wings whose shelter counts.
    pub(super) shelter: Shelter,
    /// `true` if unstoppable pawns are recognised when the enemy has no pieces.
    pub(super) unstoppable: bool,
    /// Effect of opposite-coloured bishops.
    pub(super) opposite_bishops: OppositeBishops,
    /// `true` if the side to move has a bonus.
    pub(super) tempo: bool,
    /// `true` if a lead counts less with pawns on few files.
    pub(super) drawishness: bool,
    /// `true` if pawn endings have separate rules.
    pub(super) pawn_endings: bool,
    /// Condition under which the original skips the evaluation; used as an experiment only, because
    /// its bounds were not published.
    pub(super) lazy: Lazy,
}

/// Number of times a trapped bishop counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TrappedBishops {
    /// Once per side.
    Once,
    /// Each time.
    Each,
}

/// Condition under which a rook gains from the enemy king ahead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RookKing {
    /// With a queen and another piece on its side; the king's surroundings also count a little.
    WithQueen,
    /// Always, but only for the king itself.
    Always,
}

/// Condition under which the seventh rank counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Seventh {
    /// An enemy pawn on the seventh rank, or the enemy king on the eighth.
    PawnThereOrKingBehind,
    /// An enemy pawn or the enemy king on the seventh or eighth rank.
    PawnOrKingOnEither,
}

/// Wings whose shelter counts.
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
    /// Both sums are halved, if the pawns differ by less than three.
    HalveSums,
    /// The blended score is halved, if the pawns differ by at most two or at least six.
    HalveScore,
}

/// Condition under which the original skips the evaluation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lazy {
    /// If the count of material is outside a window set at the root.
    MaterialOutsideWindow,
    /// If material and the previous position's positional score are outside the search window.
    EstimateOutsideWindow,
}

/// Piece-square table as printed in the source: eighth rank first, files a to d, mirrored by e to
/// h.
pub(super) type HalfBoard = [[(i32, i32); 4]; 8];

/// Returns the table of the whole board from its printed half.
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

/// Returns an array by rank from its separate opening and endgame halves.
pub(super) const fn ranks(opening: [i32; 8], endgame: [i32; 8]) -> [Pair; 8] {
    let mut ranks = [Pair::ZERO; 8];
    let mut index = 0;
    while index < 8 {
        ranks[index] = Pair::new(opening[index], endgame[index]);
        index += 1;
    }
    ranks
}
