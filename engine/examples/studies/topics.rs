//! Features of all evaluations under common topics.

use clap::Args;
use palimpsest::eval::Variant;

/// Print the features of all evaluations by topic
#[derive(Args)]
pub(super) struct TopicsArgs {
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

/// Topics, each with the names of its features in all evaluations.
const TOPICS: [(&str, &[&str]); 29] = [
    ("piece values", &["material", "imbalance", "promotion"]),
    (
        "piece-square tables",
        &[
            "pst",
            "pst_pawn",
            "pst_knight",
            "pst_bishop",
            "pst_rook",
            "pst_queen",
            "pst_king",
            "centre",
            "officer_center",
            "minor",
        ],
    ),
    ("trades when ahead", &["trade_down"]),
    ("bishop pair", &["bishop_pair"]),
    ("bishop colours", &["bishop_colour", "bad_bishop", "opposite_bishops"]),
    ("mobility", &["mobility", "mob_knight", "mob_bishop", "mob_rook", "mob_queen"]),
    ("trapped bishops and rooks", &["trapped_bishop", "blocked_bishop", "blocked_rook"]),
    ("outposts", &["outpost", "knight_outpost"]),
    ("development", &["development"]),
    ("rooks on files", &["rook_file", "rook_kingfile", "rook_doubled", "rook_pawnfile"]),
    ("seventh rank", &["rook_seventh", "seventh_rook", "seventh_queen"]),
    ("square control and space", &["field_control", "space", "restricted"]),
    ("threats", &["pawn_threat", "push_threat", "minor_threat", "rook_threat", "hanging", "hung"]),
    ("pins", &["pinned"]),
    ("king attack", &["king_attack", "king_danger", "king_safety", "officer_king"]),
    ("king shelter", &["shield", "shelter", "king_shelter"]),
    ("castling", &["castling", "king_castling"]),
    ("king in endgames", &["king_center", "king_pawn_dist"]),
    ("connected pawns", &["connected", "pawn_structure"]),
    ("isolated pawns", &["isolated", "pawn_isolated"]),
    ("doubled pawns", &["doubled", "pawn_doubled"]),
    ("backward pawns", &["backward", "pawn_backward"]),
    ("pawn advances", &["pawn_advance", "pawn_antimob"]),
    ("candidate passed pawns", &["candidate", "pawn_candidate"]),
    ("passed pawns", &["passed", "passed_base", "pawn_passed"]),
    (
        "support and path of passed pawns",
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
    ("pawn races", &["unstoppable", "pawn_endings"]),
    (
        "special endings",
        &["drawish_material", "endgame_scale", "drawishness", "draw", "kbbk", "kbnk", "mating"],
    ),
    ("side to move", &["tempo"]),
];

/// A topic, with the names of its features in each evaluation.
struct Topic {
    name: &'static str,
    features: Vec<Vec<&'static str>>,
}

/// Returns the features of some evaluations by topic.
fn topics(variants: &[Variant]) -> Vec<Topic> {
    let topic = |(name, known): (&'static str, &[&str])| {
        let features = variants.iter().map(|variant| {
            let names = variant.features().into_iter().map(|feature| feature.name);
            names.filter(|name| known.contains(name)).collect()
        });
        Topic { name, features: features.collect() }
    };
    TOPICS.into_iter().map(topic).collect()
}

pub(super) fn run(args: &TopicsArgs) -> String {
    // The network has no features, and the only feature of `Material` is in every other evaluation.
    let mut variants = Variant::ALL.to_vec();
    variants.retain(|variant| variant.features().len() > 1);
    if args.markdown { markdown(&variants) } else { text(&variants) }
}

/// Returns a table with a row for each topic.
fn markdown(variants: &[Variant]) -> String {
    let names: Vec<&str> = variants.iter().map(|variant| variant.name()).collect();
    let mut lines = vec![
        format!("| topic | {} |", names.join(" | ")),
        format!("|---|{}", "---|".repeat(names.len())),
    ];
    lines.extend(topics(variants).iter().map(|topic| {
        let cells: Vec<String> = topic.features.iter().map(|found| found.join(", ")).collect();
        format!("| {} | {} |", topic.name, cells.join(" | "))
    }));
    lines.join("\n")
}

/// Returns a paragraph for each topic.
fn text(variants: &[Variant]) -> String {
    let paragraph = |topic: &Topic| {
        let found = variants.iter().zip(&topic.features).filter(|(_, names)| !names.is_empty());
        let lines =
            found.map(|(variant, names)| format!("  {:<16}{}", variant.name(), names.join(", ")));
        std::iter::once(topic.name.to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
    };
    topics(variants).iter().map(paragraph).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_one_topic() {
        let all = topics(&Variant::ALL);
        for (place, variant) in Variant::ALL.into_iter().enumerate() {
            for feature in variant.features() {
                let has = |topic: &&Topic| topic.features[place].contains(&feature.name);
                let under = all.iter().filter(has);
                assert_eq!(under.count(), 1, "{variant:?} {}", feature.name);
            }
        }
        let empty = |topic: &&Topic| topic.features.iter().all(Vec::is_empty);
        assert!(!all.iter().any(|topic| empty(&topic)));
    }

    #[test]
    fn evaluations_stand_side_by_side() {
        let table = run(&TopicsArgs { markdown: true });
        let row = table.lines().find(|line| line.starts_with("| isolated pawns |")).expect("a row");
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let pawns = ["isolated", "pawn_isolated", "pawn_isolated", "isolated", "pawn_isolated", ""];
        assert_eq!(cells[1..], pawns);
        let text = run(&TopicsArgs { markdown: false });
        assert!(text.contains("pins\n  rdchess         pinned\n"), "{text}");
    }
}
