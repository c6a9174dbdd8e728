//! Layout of the weight table: groups of weights, each with the index of the first weight.

/// Group of consecutive weights in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name of the group.
    pub name: &'static str,
    /// Meaning of the weights; empty if the name of the group suffices.
    pub label: &'static str,
    /// Index of the first weight in the table.
    pub start: usize,
    /// Number of weights.
    pub len: usize,
}

macro_rules! layout {
    (@places $start:expr;) => {
        /// Number of weights in the table.
        pub const LEN: usize = $start;
    };
    (@places $start:expr; $name:ident[$len:expr]; $($rest:tt)*) => {
        pub(super) const $name: usize = $start;
        layout!(@places $name + $len; $($rest)*);
    };
    ($($name:ident[$len:expr] = $label:literal;)*) => {
        layout!(@places 0; $($name[$len];)*);

        /// All groups, in the order of the table.
        pub const GROUPS: &[Group] = &[$(Group {
            name: stringify!($name),
            label: $label,
            start: $name,
            len: $len,
        },)*];
    };
}

layout! {
    MATERIAL[5] = "P N B R Q";
    PST_PAWN[48] = "pawn, a2 to h7";
    PST_KNIGHT[64] = "knight, a1 to h8";
    PST_BISHOP[64] = "bishop, a1 to h8";
    PST_ROOK[64] = "rook, a1 to h8";
    PST_QUEEN[64] = "queen, a1 to h8";
    PST_KING[32] = "king, e1 to h8";
    BISHOP_PAIR[1] = "";
    SUPPORTED[8] = "defended, by rank";
    PHALANX[8] = "beside another, by rank";
    ISOLATED[4] = "by file";
    ISOLATED_OPEN[1] = "no enemy pawn ahead";
    DOUBLED[4] = "by file";
    BACKWARD[8] = "by rank";
    BACKWARD_OPEN[1] = "no enemy pawn ahead";
    CANDIDATE[8] = "by rank";
    PASSED[8] = "by rank";
    PASSED_FILE[4] = "by file";
    PASSED_DEFENDED[8] = "square ahead defended, by rank";
    PASSED_BLOCKED[8] = "enemy ahead, by rank";
    PASSED_STEP[8] = "safe step, by rank";
    PASSED_PATH[8] = "safe way, by rank";
    PASSED_UNSTOPPABLE[1] = "out of the king's reach";
    PASSED_OWN_KING[8] = "own king, by distance";
    PASSED_ENEMY_KING[8] = "enemy king, by distance";
    PASSED_ROOK[2] = "own, enemy";
    MOBILITY_KNIGHT[9] = "knight, by squares";
    MOBILITY_BISHOP[14] = "bishop, by squares";
    MOBILITY_ROOK[15] = "rook, by squares";
    MOBILITY_QUEEN[28] = "queen, by squares";
    OUTPOST[2] = "knight, bishop";
    OUTPOST_REACH[2] = "within reach of a knight, bishop";
    MINOR_SHELTERED[1] = "behind a pawn";
    MINOR_KING[2] = "knight, bishop, per step from the king";
    BISHOP_PAWNS[1] = "per own pawn of its colour";
    BISHOP_BLOCKED[1] = "per blocked one";
    BISHOP_CENTRE[1] = "sees two squares of the centre";
    ROOK_FILE[2] = "open, half open";
    ROOK_BLOCKED[1] = "own blocked pawn";
    ROOK_SEVENTH[1] = "";
    PAWN_THREAT[4] = "N B R Q";
    PUSH_THREAT[1] = "";
    MINOR_THREAT[5] = "P N B R Q";
    ROOK_THREAT[5] = "P N B R Q";
    HANGING[1] = "undefended, or attacked twice";
    KING_THREAT[1] = "attacked by the king";
    RESTRICTED[1] = "";
    SPACE[1] = "";
    SHELTER[32] = "own pawn, by file and rank";
    STORM[32] = "enemy pawn, by file and rank";
    STORM_BLOCKED[8] = "enemy pawn blocked by an own one, by rank";
    DANGER_BASE[1] = "always";
    DANGER_ATTACKER[4] = "N B R Q";
    DANGER_SQUARE[1] = "square attacked";
    DANGER_WEAK[1] = "square hardly defended";
    DANGER_CHECK[8] = "safe check by N B R Q: one, more";
    DANGER_NO_QUEEN[1] = "no queen";
    DANGER_BARE_FILE[1] = "file without shield";
    DANGER_STORM[1] = "pawn coming near";
    DANGER_FLANK[2] = "squares of the flank: attacked, defended";
    DANGER_DEFENDER[1] = "minor piece beside the king";
    SCALE_NO_PAWNS[1] = "no pawns";
    SCALE_WRONG_BISHOP[1] = "bishop of the wrong colour for a rook pawn";
    SCALE_OPPOSITE_ALONE[1] = "opposite bishops alone";
    SCALE_OPPOSITE[1] = "opposite bishops and more";
    SCALE_ROOKS[1] = "rook against rook, pawns on one side";
    SCALE_FEW_PAWNS[2] = "any other: at least, per pawn";
    TEMPO[1] = "side to move";
}

/// Index of the first mobility weight of each piece type, from knight to queen.
pub(super) const MOBILITY: [usize; 4] =
    [MOBILITY_KNIGHT, MOBILITY_BISHOP, MOBILITY_ROOK, MOBILITY_QUEEN];

/// Index of the first piece-square weight of each piece type, from knight to queen.
pub(super) const PST: [usize; 4] = [PST_KNIGHT, PST_BISHOP, PST_ROOK, PST_QUEEN];

/// Returns the index of the piece-square weight of a pawn. The square is given from the point of
/// view of the pawn's side.
#[inline(always)]
pub(super) const fn pawn_place(relative_square: usize) -> usize {
    PST_PAWN + relative_square - 8
}

/// Returns the index of the piece-square weight of a king on files e to h. The square is given from
/// the point of view of the king's side.
#[inline(always)]
pub(super) const fn king_place(relative_square: usize) -> usize {
    PST_KING + (relative_square >> 3) * 4 + (relative_square & 3)
}

/// Returns whether the weight at index `place` is in danger units, and therefore not part of the
/// linear sum.
pub const fn is_danger(place: usize) -> bool {
    DANGER_BASE <= place && place < SCALE_NO_PAWNS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_contiguous() {
        let end = GROUPS.iter().fold(0, |place, group| {
            assert_eq!(group.start, place, "{}", group.name);
            group.start + group.len
        });
        assert_eq!(end, LEN);
    }

    #[test]
    fn only_the_attack_on_the_king_is_danger() {
        for group in GROUPS {
            let is_attack = group.name.starts_with("DANGER_");
            assert_eq!(is_danger(group.start), is_attack, "{}", group.name);
            assert_eq!(is_danger(group.start + group.len - 1), is_attack, "{}", group.name);
        }
    }
}
