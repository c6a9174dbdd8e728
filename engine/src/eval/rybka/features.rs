//! Features of both versions, and selection of the features of one version.

use super::Version;
use super::weights::{Rules, Weights};
use crate::eval::feature::{Feature, features};

features! {
    /// A feature of either version.
    Term {
        Material = "material", "pieces counted at 1, 3, 3, 5, 10 pawns";
        Imbalance = "imbalance", "worth of combinations of pieces beyond their count";
        DrawishMaterial = "drawish_material", "material that cannot win counts less";
        PstPawn = "pst_pawn", "squares of pawns";
        PstKnight = "pst_knight", "squares of knights";
        PstBishop = "pst_bishop", "squares of bishops";
        PstRook = "pst_rook", "squares of rooks";
        PstQueen = "pst_queen", "squares of queens";
        PstKing = "pst_king", "squares of kings";
        MobKnight = "mob_knight", "squares within reach of knights";
        MobBishop = "mob_bishop", "squares within reach of bishops";
        MobRook = "mob_rook", "squares within reach of rooks";
        MobQueen = "mob_queen", "squares within reach of queens";
        PawnAntimob = "pawn_antimob", "pawns with something on the square ahead";
        TrappedBishop = "trapped_bishop", "bishops shut in behind enemy pawns on the wing";
        BlockedBishop = "blocked_bishop", "bishops at home behind a blocked centre pawn";
        RookFile = "rook_file", "rooks with no own pawn, or no pawn, ahead";
        RookKingfile = "rook_kingfile", "rooks on half-open files towards the enemy king";
        SeventhRook = "seventh_rook", "rooks on the seventh rank";
        SeventhQueen = "seventh_queen", "queens on the seventh rank";
        BlockedRook = "blocked_rook", "rooks shut in by their own king";
        KingDanger = "king_danger", "attacks on the surroundings of the enemy king";
        Shelter = "shelter", "missing pawns before the enemy king, and pawns that storm it";
        PawnDoubled = "pawn_doubled", "pawns with another own pawn on the file";
        PawnIsolated = "pawn_isolated", "pawns without own pawns on the files beside";
        PawnBackward = "pawn_backward", "pawns that can be neither supported nor advanced";
        PawnCandidate = "pawn_candidate", "pawns that may become passed";
        PassedBase = "passed_base", "passed pawns";
        Unstoppable = "unstoppable", "passed pawns that nothing can stop";
        PassedUnblockedOwn = "passed_unblocked_own", "passed pawns with no own piece ahead";
        PassedUnblockedOpp = "passed_unblocked_opp", "passed pawns with no enemy piece ahead";
        PassedFree = "passed_free", "passed pawns whose way the enemy does not control";
        PassedKingdist = "passed_kingdist", "distance of the kings from passed pawns";
        OppositeBishops = "opposite_bishops", "bishops of opposite colours alone count half";
        Drawishness = "drawishness", "a lead with pawns on few files counts less";
        PawnEndings = "pawn_endings", "races and wrong rook pawns in pawn endings";
        Tempo = "tempo", "having the move";
    }
}

features! {
    /// An experiment with a version.
    Experiment {
        OtherPawnValues = "other_pawn_values", "pawns count against pieces as in the other version";
        Lazy = "lazy", "no whole evaluation where material, or an estimate, is far outside";
        PawnAntimob = "with_pawn_antimob", "the younger version's pawns with something on the square ahead";
        Drawishness = "with_drawishness", "the younger version's lead with pawns on few files";
        PawnEndings = "with_pawn_endings", "the younger version's races and wrong rook pawns";
    }
}

/// Returns the features of a version.
pub(super) fn features<V: Version>() -> Vec<Feature> {
    Term::ALL.iter().copied().filter(|term| has(V::WEIGHTS, term.index)).collect()
}

/// Returns the experiments with a version. An experiment is omitted if it would add a feature that
/// the version already has.
pub(super) fn experiments<V: Version>() -> Vec<Feature> {
    let Rules { pawn_anti_mobility, drawishness, pawn_endings, .. } = V::WEIGHTS.rules;
    let present = [
        (Experiment::PawnAntimob, pawn_anti_mobility),
        (Experiment::Drawishness, drawishness),
        (Experiment::PawnEndings, pawn_endings),
    ];
    let is_present = |index| present.iter().any(|&(one, has)| has && usize::from(one) == index);
    Experiment::ALL.iter().copied().filter(|one| !is_present(one.index)).collect()
}

/// Returns whether this version has the feature with this index.
fn has(weights: &Weights, index: usize) -> bool {
    let rules = &weights.rules;
    let absent = [
        (Term::MobKnight, !rules.knight_mobility),
        (Term::PawnAntimob, !rules.pawn_anti_mobility),
        (Term::BlockedBishop, !rules.blocked_bishops),
        (Term::Unstoppable, !rules.unstoppable),
        (Term::Drawishness, !rules.drawishness),
        (Term::PawnEndings, !rules.pawn_endings),
        (Term::Tempo, !rules.tempo),
    ];
    !absent.iter().any(|&(term, absent)| absent && usize::from(term) == index)
}
