//! Features of each version with their weights and conditions, numbered as in the published
//! comparison.

use super::Version;
use super::weights::{Lazy, OppositeBishops, RookKing, Seventh, Shelter, TrappedBishops, Weights};
use crate::eval::compare::{Entry, WeightGroup};
use crate::eval::pair::Pair;

/// Returns all features of one version, for comparisons.
pub(super) fn entries<V: Version>() -> Vec<Entry> {
    let weights = V::WEIGHTS;
    let mut entries = board(weights);
    entries.extend(pieces(weights));
    entries.extend(pawns(weights));
    entries.extend(whole_score(weights));
    entries
}

fn entry(
    number: impl Into<Option<u8>>,
    name: &'static str,
    weights: Vec<WeightGroup>,
    condition: &'static str,
) -> Entry {
    Entry { number: number.into(), name, weights, condition, switches: switches(name) }
}

/// Returns the features to disable in order to switch this feature off.
fn switches(name: &'static str) -> Vec<&'static str> {
    match name {
        "material" => vec!["material", "imbalance", "drawish_material"],
        "piece_squares" => {
            vec!["pst_pawn", "pst_knight", "pst_bishop", "pst_rook", "pst_queen", "pst_king"]
        }
        "rook_half_open" | "rook_open" => vec!["rook_file"],
        "rook_king_zone" | "rook_king" => vec!["rook_kingfile"],
        "king_attack" => vec!["king_danger"],
        "interpolation" | "lazy_evaluation" => Vec::new(),
        name => vec![name],
    }
}

fn pair(label: &'static str, score: Pair) -> WeightGroup {
    WeightGroup::pairs(label, &[score])
}

fn one(label: &'static str, value: i32) -> WeightGroup {
    WeightGroup::new(label, [value])
}

fn many(label: &'static str, values: &[i32]) -> WeightGroup {
    WeightGroup::new(label, values.iter().copied())
}

fn board(weights: &Weights) -> Vec<Entry> {
    let model = &weights.imbalance;
    let kinds = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    let squares = kinds.into_iter().zip(&weights.squares);
    vec![
        entry(
            1,
            "material",
            vec![
                one("pawn", super::weights::PAWN),
                many("count", &[1, 3, 3, 5, 10]),
                many("knight", &model.knight),
                many("bishop", &model.bishop),
                many("rook", &model.rook),
                many("queen", &model.queen),
                many("pawns", &model.pawn),
                many("pairs", &[model.bishop_pair, model.rook_pair, model.knight_pair].concat()),
                many("beside pawns", &[model.pawn_knight, model.pawn_rook]),
            ],
            "count plus a table of combinations (here a compact model: no, half, all pieces); less if it \
             cannot win",
        ),
        entry(
            2,
            "piece_squares",
            squares.map(|(kind, table)| WeightGroup::pairs(kind, table)).collect(),
            "each piece",
        ),
    ]
}

fn pieces(weights: &Weights) -> Vec<Entry> {
    let rules = &weights.rules;
    let reach = "each square within reach not held by an own piece";
    let mobility = |number, name, index: usize| {
        entry(number, name, vec![pair("", weights.mobility[index])], reach)
    };
    let seventh = match rules.seventh {
        Seventh::PawnThereOrKingBehind => "enemy pawn on the 7th or enemy king on the 8th rank",
        Seventh::PawnOrKingOnEither => "enemy pawn or king on the 7th or 8th rank",
    };
    let mut found = Vec::new();
    if rules.knight_mobility {
        found.push(mobility(3, "mob_knight", 0));
    }
    let trapped = match rules.trapped_bishops {
        TrappedBishops::Once => "bishop a6, a7, b8 (h6, h7, g8) behind an enemy pawn; once",
        TrappedBishops::Each => "bishop a6, a7, b8 (h6, h7, g8) behind an enemy pawn; each",
    };
    found.push(mobility(4, "mob_bishop", 1));
    found.push(entry(5, "trapped_bishop", vec![pair("", weights.trapped_bishop)], trapped));
    if rules.blocked_bishops {
        let when = "bishop c1 (f1), own pawn d2 (e2), d3 (e3) occupied";
        found.push(entry(6, "blocked_bishop", vec![pair("", weights.blocked_bishop)], when));
    }
    found.push(entry(
        7,
        "rook_half_open",
        vec![pair("", weights.rook_half_open)],
        "no own pawn ahead",
    ));
    found.push(entry(8, "rook_open", vec![pair("", weights.rook_open)], "no pawn at all ahead"));
    found.push(mobility(9, "mob_rook", 2));
    let king = match rules.rook_king {
        RookKing::WithQueen => {
            let when = "half open towards the enemy king's surroundings; own queen and a piece";
            let groups = vec![pair("", weights.rook_king_zone)];
            found.push(entry(10, "rook_king_zone", groups, when));
            "half open towards the enemy king; own queen and a piece"
        }
        RookKing::Always => "half open towards the enemy king",
    };
    found.push(entry(11, "rook_king", vec![pair("", weights.rook_king)], king));
    found.push(entry(12, "seventh_rook", vec![pair("", weights.seventh[0])], seventh));
    found.push(entry(13, "seventh_queen", vec![pair("", weights.seventh[1])], seventh));
    found.push(entry(
        14,
        "king_attack",
        vec![many("N B R Q", &weights.attack)],
        "attacks a square beside the enemy king; pawns count once, without weight",
    ));
    found.push(entry(
        15,
        "blocked_rook",
        vec![pair("", weights.blocked_rook)],
        "king b1, c1 and rook a1, a2, b1 (king f1, g1 and rook g1, h1, h2)",
    ));
    found.push(mobility(16, "mob_queen", 3));
    found
}

fn pawns(weights: &Weights) -> Vec<Entry> {
    let rules = &weights.rules;
    let shelter = match rules.shelter {
        Shelter::MeanWithCastling => "mean of the king's wing and the best it can still castle to",
        Shelter::Here => "the king's wing; castling ignored",
    };
    let open = |scores: [Pair; 2]| vec![pair("open", scores[0]), pair("closed", scores[1])];
    let mut found = vec![
        entry(17, "pawn_doubled", vec![pair("", weights.doubled)], "another own pawn on the file"),
        entry(
            18,
            "passed_base",
            vec![WeightGroup::pairs("by rank", &weights.passed)],
            "foremost passed pawn",
        ),
        entry(
            19,
            "pawn_candidate",
            vec![WeightGroup::pairs("by rank", &weights.candidate)],
            "no pawn ahead, at least as many guards as sentries",
        ),
        entry(20, "pawn_isolated", open(weights.isolated), "no own pawn on the files beside"),
        entry(
            21,
            "pawn_backward",
            open(weights.backward),
            "no guards; the way ahead is attacked by an enemy pawn",
        ),
        entry(
            22,
            "king_danger",
            vec![many("by attackers", &weights.danger)],
            "own queen and a piece; opening only",
        ),
        entry(
            23,
            "shelter",
            vec![
                many("shelter", &weights.shelter),
                one("home", weights.shelter_home),
                many("storm", &weights.storm),
            ],
            shelter,
        ),
    ];
    found.extend(passed(weights));
    if rules.pawn_anti_mobility {
        let groups = vec![pair("", weights.pawn_blocked)];
        found.push(entry(30, "pawn_antimob", groups, "the square ahead is occupied"));
    }
    found
}

fn passed(weights: &Weights) -> Vec<Entry> {
    let rules = &weights.rules;
    // The older version covers these cases by its rule for unstoppable pawns.
    let when = |always, with_pieces| if rules.unstoppable { with_pieces } else { always };
    let path = |number, name, values: &[i32; 8], when| {
        entry(number, name, vec![many("by rank", values)], when)
    };
    let mut found = Vec::new();
    if rules.unstoppable {
        found.push(entry(
            24,
            "unstoppable",
            vec![one("", super::passed::UNSTOPPABLE)],
            "enemy without pieces and its king outside the square, and again if the own king guides",
        ));
    }
    found.push(path(
        25,
        "passed_unblocked_own",
        &weights.unblocked_own,
        when(
            "no own piece ahead; endgame only",
            "no own piece ahead; endgame only; not if the enemy has no pieces",
        ),
    ));
    found.push(path(
        26,
        "passed_unblocked_opp",
        &weights.unblocked_opp,
        when(
            "no enemy piece ahead; endgame only",
            "no enemy piece ahead; endgame only; not if the enemy has no pieces",
        ),
    ));
    found.push(path(
        27,
        "passed_free",
        &weights.free,
        when(
            "no square ahead that only the enemy attacks; endgame only",
            "no square ahead that only the enemy attacks; endgame only; not if the enemy has no \
             pieces",
        ),
    ));
    found.push(entry(
        28,
        "passed_kingdist",
        vec![many("own king", &weights.own_king), many("enemy king", &weights.enemy_king)],
        "per step between the king and the square ahead; endgame only",
    ));
    found
}

fn whole_score(weights: &Weights) -> Vec<Entry> {
    let rules = &weights.rules;
    let bishops = match rules.opposite_bishops {
        OppositeBishops::HalveSums => "sums halved before blending; pawns differ by less than 3",
        OppositeBishops::HalveScore => {
            "score halved after blending; pawns differ by at most 2 or at least 6"
        }
    };
    let lazy = match rules.lazy {
        Lazy::MaterialOutsideWindow => {
            "material outside a window set at the root (experiment lazy)"
        }
        Lazy::EstimateOutsideWindow => {
            "material plus the last positional score outside the window (experiment lazy)"
        }
    };
    let mut found = vec![entry(29, "opposite_bishops", vec![one("divisor", 2)], bishops)];
    if rules.drawishness {
        let groups = vec![many("by files", &weights.drawishness)];
        found.push(entry(31, "drawishness", groups, "files with pawns of the side ahead"));
    }
    if rules.pawn_endings {
        let weights = vec![many("base, per rank", &[150, 50])];
        let when = "no pieces: races, wrong rook pawns; no other rule for the score";
        found.push(entry(32, "pawn_endings", weights, when));
    }
    found.push(entry(
        None,
        "interpolation",
        vec![many("endgame share", &weights.endgame_share)],
        "opening and endgame by pieces left, in 1/256",
    ));
    if rules.tempo {
        found.push(entry(None, "tempo", vec![one("centipawns", weights.tempo)], "side to move"));
    }
    found.push(entry(None, "lazy_evaluation", Vec::new(), lazy));
    found
}
