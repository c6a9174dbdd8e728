//! Features of all evaluations under common topics.

use super::Variant;

/// The topics, each with the names of the features that belong to it, whichever evaluation has them.
const TOPICS: [(&str, &[&str]); 29] = [
    ("worth of pieces", &["material", "promotion", "interpolation"]),
    ("squares of pieces", &["pst", "piece_squares", "centre", "officer_center", "minor"]),
    ("exchanges when ahead", &["trade_down"]),
    ("pair of bishops", &["bishop_pair"]),
    ("colours of bishops", &["bishop_colour", "bad_bishop", "opposite_bishops"]),
    ("mobility", &["mobility", "mob_knight", "mob_bishop", "mob_rook", "mob_queen"]),
    ("bishops and rooks shut in", &["trapped_bishop", "blocked_bishop", "blocked_rook"]),
    ("outposts", &["outpost", "knight_outpost"]),
    ("development", &["development"]),
    (
        "rooks on files",
        &[
            "rook_file",
            "rook_half_open",
            "rook_open",
            "rook_king_zone",
            "rook_king",
            "rook_doubled",
            "rook_pawnfile",
        ],
    ),
    ("the seventh rank", &["rook_seventh", "seventh_rook", "seventh_queen"]),
    ("control of squares", &["field_control", "space", "restricted"]),
    ("threats", &["pawn_threat", "push_threat", "minor_threat", "rook_threat", "hanging", "hung"]),
    ("pins", &["pinned"]),
    ("attack on the king", &["king_attack", "king_danger", "king_safety", "officer_king"]),
    ("shelter of the king", &["shield", "shelter", "king_shelter"]),
    ("castling", &["castling", "king_castling"]),
    ("the king in endgames", &["king_center", "king_pawn_dist"]),
    ("pawns side by side", &["connected", "pawn_structure"]),
    ("isolated pawns", &["isolated", "pawn_isolated"]),
    ("doubled pawns", &["doubled", "pawn_doubled"]),
    ("backward pawns", &["backward", "pawn_backward"]),
    ("pawns that advance, or cannot", &["pawn_advance", "pawn_antimob"]),
    ("candidates", &["candidate", "pawn_candidate"]),
    ("passed pawns", &["passed", "passed_base", "pawn_passed"]),
    (
        "the way of passed pawns",
        &[
            "passed_free",
            "passed_unblocked_own",
            "passed_unblocked_opp",
            "passed_king",
            "passed_kingdist",
            "passed_rook",
            "rook_behind",
        ],
    ),
    ("races of pawns", &["unstoppable", "pawn_endings"]),
    ("endings of their own", &["endgame_scale", "drawishness", "draw", "kbbk", "kbnk", "mating"]),
    ("the move, and saving time", &["tempo", "lazy_evaluation"]),
];

/// A topic, with the names of the features of each evaluation that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Name of the topic.
    pub name: &'static str,
    /// Features by evaluation, in the order of the requested ones.
    pub features: Vec<Vec<&'static str>>,
}

/// The topics of some evaluations.
pub fn topics(variants: &[Variant]) -> Vec<Topic> {
    let entries: Vec<_> = variants.iter().map(|variant| variant.entries()).collect();
    let topic = |(name, names): (&'static str, &[&str])| {
        let of = |entries: &Vec<super::compare::Entry>| {
            let own = entries.iter().map(|entry| entry.name);
            own.filter(|name| names.contains(name)).collect()
        };
        Topic { name, features: entries.iter().map(of).collect() }
    };
    TOPICS.into_iter().map(topic).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_one_topic() {
        let all = topics(&Variant::ALL);
        for (place, variant) in Variant::ALL.into_iter().enumerate() {
            for entry in variant.entries() {
                let under = all.iter().filter(|topic| topic.features[place].contains(&entry.name));
                assert_eq!(under.count(), 1, "{variant:?} {}", entry.name);
            }
        }
        let empty = |topic: &&Topic| topic.features.iter().all(Vec::is_empty);
        assert_eq!(all.iter().find(empty), None);
    }
}
