//! Features of this evaluation with their weights and conditions.

use super::weights;
use crate::eval::Score;
use crate::eval::compare::{Entry, WeightGroup};

fn entry(
    name: &'static str,
    weights: impl IntoIterator<Item = WeightGroup>,
    condition: &'static str,
) -> Entry {
    let weights = weights.into_iter().collect();
    Entry { number: None, name, weights, condition, switches: vec![name] }
}

fn one(score: Score) -> [WeightGroup; 1] {
    [WeightGroup::new("", [score])]
}

/// Returns all features, for comparisons.
pub(super) fn entries() -> Vec<Entry> {
    let mut entries = pawns();
    entries.extend(kings());
    entries.extend(officers());
    entries.extend(endings());
    entries
}

fn pawns() -> Vec<Entry> {
    vec![
        entry(
            "material",
            [WeightGroup::new("P N B R Q", weights::WORTH[..5].to_vec())],
            "each piece",
        ),
        entry(
            "trade_down",
            [WeightGroup::new(
                "lead, material, divisor",
                [weights::TRADE_LEAD_MAX, weights::TRADE_MATERIAL_MAX, weights::TRADE_DIVISOR],
            )],
            "more the less material is left and the more pawns the side ahead has",
        ),
        entry(
            "field_control",
            [WeightGroup::new(
                "middle, centre, other",
                [weights::CONTROL_CENTRE, weights::CONTROL_NEAR, weights::CONTROL],
            )],
            "each square attacked; not in pawn endings",
        ),
        entry(
            "pawn_advance",
            [
                WeightGroup::new("by file", weights::ADVANCE),
                WeightGroup::new("storm", [weights::ADVANCE_STORM, weights::ADVANCE_ASSAULT]),
                WeightGroup::new("late", [weights::ADVANCE_LATE]),
            ],
            "per rank from the second; by castled kings and officers left at the root",
        ),
        entry(
            "pawn_isolated",
            [WeightGroup::new("", [weights::ISOLATED, weights::ISOLATED_HALF_OPEN])],
            "no own pawn beside; more without an enemy pawn on the file",
        ),
        entry(
            "pawn_backward",
            [WeightGroup::new("", [weights::BACKWARD, weights::BACKWARD_HALF_OPEN])],
            "all neighbours ahead, square ahead held by an enemy pawn; more without one on the file",
        ),
        entry("pawn_doubled", one(weights::DOUBLED), "own pawn ahead on the file"),
        entry(
            "pawn_passed",
            [WeightGroup::new("by rank", weights::PASSED)],
            "two fifths more with a neighbour, a third less blocked, a quarter less held, half more \
             in the endgame",
        ),
    ]
}

fn kings() -> Vec<Entry> {
    vec![
        entry(
            "king_castling",
            [WeightGroup::new(
                "castled, rights lost, rank",
                [
                    weights::CASTLED,
                    weights::SHORT_RIGHT_LOST,
                    weights::LONG_RIGHT_LOST,
                    weights::KING_ADVANCED,
                ],
            )],
            "not in the endgame; scaled by the enemy's officers",
        ),
        entry(
            "king_shelter",
            [WeightGroup::new("second, third, other, none", weights::SHELTER)],
            "three files; not in the endgame; scaled by the enemy's officers",
        ),
        entry("king_center", one(weights::KING_CENTRE), "in the endgame"),
        entry(
            "king_pawn_dist",
            [WeightGroup::new("", [weights::KING_TO_PASSED, weights::KING_TO_BACKWARD])],
            "in the endgame; per step from passed and backward pawns of both sides",
        ),
    ]
}

fn officers() -> Vec<Entry> {
    vec![
        entry("officer_center", one(weights::OFFICER_CENTRE), "each square of c3-f6 attacked"),
        entry(
            "officer_king",
            [WeightGroup::new("", weights::OFFICER_KING)],
            "each square beside the enemy king attacked; less in its endgame",
        ),
        entry(
            "development",
            [
                WeightGroup::new("N B R Q", weights::UNDEVELOPED[1..5].to_vec()),
                WeightGroup::new("queen", [weights::EARLY_QUEEN]),
            ],
            "early: on the back rank; queen beyond the third rank",
        ),
        entry(
            "rook_file",
            [WeightGroup::new("", [weights::ROOK_OPEN, weights::ROOK_HALF_OPEN])],
            "no pawn on the file; no own pawn",
        ),
        entry("rook_seventh", one(weights::ROOK_SEVENTH), "on the seventh rank"),
        entry("rook_pawnfile", one(weights::ROOK_PAWN_FILE), "passed or backward pawn on the file"),
        entry("rook_behind", one(weights::ROOK_BEHIND), "in the endgame; each passed pawn"),
        entry("rook_doubled", one(weights::ROOKS_DOUBLED), "each pair on a file, nothing between"),
        entry("bishop_pair", one(weights::BISHOP_PAIR), "bishops on both colours"),
        entry(
            "bishop_colour",
            one(weights::BISHOP_COLOUR),
            "both in the endgame; each pawn on the colour of the enemy's bishops; the opposite on \
             that of the own ones",
        ),
        entry(
            "hung",
            [WeightGroup::new("", [weights::HUNG, weights::HUNG_DIVISOR, weights::HUNG_SEVERAL])],
            "side to move: attacked, and undefended or by a cheaper piece",
        ),
        entry(
            "pinned",
            [WeightGroup::new("", [weights::PINNED_PAWN, weights::PINNED])],
            "side to move; double by a cheaper piece or with a pawn attacking",
        ),
    ]
}

fn endings() -> Vec<Entry> {
    vec![
        entry(
            "unstoppable",
            [WeightGroup::new("", weights::RUNNER)],
            "wins the race in pawn endings",
        ),
        entry("draw", [], "neither side can mate; more than 100 plies without progress"),
        entry(
            "kbbk",
            [WeightGroup::new("", [weights::WON_ENDING, weights::CORNER, weights::KINGS_CLOSE])],
            "bishops on both colours",
        ),
        entry(
            "kbnk",
            [WeightGroup::new(
                "",
                [weights::WON_ENDING, weights::RIGHT_CORNER, weights::KINGS_CLOSE],
            )],
            "corner of the bishop's colour",
        ),
        entry(
            "mating",
            [WeightGroup::new(
                "lead, edge, kings",
                [weights::NEAR_MATE, weights::DRIVEN, weights::NEAR_KINGS_CLOSE],
            )],
            "side behind without pawns, lead larger than given",
        ),
    ]
}
