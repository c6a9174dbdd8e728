//! Evaluation of RDChess: attack tables with the strength of attacks, parameters that are set at
//! the root of the search, and separate evaluators for endings.

mod attacks;
mod endings;
mod kingpawn;
mod passed;
mod pieces;
mod root;
mod weights;

use super::feature::{FeatureSet, features};
use super::pair::Pair;
use super::report::Report;
use super::score::EVALUATION_MAX;
use super::sink::{MaskedSum, Record, Sink, Sum};
use super::{Context, Evaluation, Evaluator, Score, TableUse};
use crate::chess::{Color, Game, Kind, Position, Square};
pub(crate) use attacks::AttackTables;
use endings::worth;
use kingpawn::KingPawnTable;
use root::Root;

features! {
    /// A feature of this evaluation.
    Term {
        Material = "material", "worth of the pieces";
        TradeDown = "trade_down", "the side ahead trades officers and keeps pawns";
        Control = "field_control", "squares attacked, those of the centre above all";
        Advance = "pawn_advance", "pawns that have advanced, by file and castled kings";
        Isolated = "pawn_isolated", "pawns without own pawns on the files beside";
        Backward = "pawn_backward", "pawns that have been left behind";
        Doubled = "pawn_doubled", "pawns with an own pawn ahead";
        Passed = "pawn_passed", "passed pawns, and who holds the square ahead";
        KingCastling = "king_castling", "castling, and rights to it that are lost";
        KingShelter = "king_shelter", "pawns before the king";
        KingCentre = "king_center", "kings in the centre in the endgame";
        KingPawns = "king_pawn_dist", "kings close to passed and backward pawns in the endgame";
        OfficerCentre = "officer_center", "officers that attack the centre";
        OfficerKing = "officer_king", "officers that attack squares beside the enemy king";
        Development = "development", "officers at home and early queens in the opening";
        RookFile = "rook_file", "rooks on files without pawns, or without own pawns";
        RookSeventh = "rook_seventh", "rooks on the seventh rank";
        RookPawnFile = "rook_pawnfile", "rooks on files of passed and backward pawns";
        RookBehind = "rook_behind", "rooks behind passed pawns in the endgame";
        RooksDoubled = "rook_doubled", "rooks that see each other on a file";
        BishopPair = "bishop_pair", "bishops on both colours";
        BishopColour = "bishop_colour", "pawns on the colour of bishops in the endgame";
        Hung = "hung", "pieces of the side to move that can be taken";
        Pinned = "pinned", "pieces of the side to move that are pinned to the king";
        Unstoppable = "unstoppable", "pawns that win the race in pawn endings";
        Draw = "draw", "material and clocks with which nobody wins";
        TwoBishops = "kbbk", "king and two bishops against the king";
        BishopKnight = "kbnk", "king, bishop and knight against the king";
        NearMate = "mating", "far ahead of a side without pawns, only the kings matter";
    }
}

/// Returns a score without a separate endgame score, because this evaluation is not tapered.
fn plain(score: Score) -> Pair {
    Pair::of_opening(score)
}

/// Returns a measure of the distance between a square and the centre: 1 for the four centre
/// squares, 3 and 5 for the next two rings of squares, and 7 for the squares on the edge.
fn edge_distance(square: Square) -> Score {
    let from_middle = |coordinate: u8| (2 * Score::from(coordinate) - 7).abs();
    from_middle(square.file()).max(from_middle(square.rank()))
}

/// Entry in the list of evaluations.
pub(super) const EVALUATION: Evaluation = Evaluation {
    name: "rdchess",
    unit: "centipawns",
    features: || Term::ALL.to_vec(),
    experiments: Vec::new,
    evaluator: |choice| Box::new(RdChess::new(choice.disabled)),
    explain: |choice, game| RdChess::new(choice.disabled).explain(game),
};

/// The evaluation, with the parameters that are set at the root.
struct RdChess {
    disabled: FeatureSet,
    root: Root,
    table: KingPawnTable,
}

impl RdChess {
    /// Returns the evaluation without the `disabled` features.
    fn new(disabled: FeatureSet) -> RdChess {
        let root = Root::of(&Game::new(Position::startpos()));
        RdChess { disabled, root, table: KingPawnTable::new() }
    }

    /// Returns the evaluation of the current position of a game, term by term, with this position
    /// as the root.
    fn explain(&mut self, game: &Game) -> Report {
        self.reset(game);
        let mut record = Record::new(self.disabled);
        let value = self.evaluate_terms(game.position(), &mut record);
        Report::unblended(Term::ALL, &record, game.position(), value)
    }

    fn evaluate_terms<K: Sink>(&mut self, position: &Position, sink: &mut K) -> Score {
        match endings::Evaluator::choose(position, sink) {
            endings::Evaluator::Draw => {}
            endings::Evaluator::TwoBishops(strong) => endings::two_bishops(position, strong, sink),
            endings::Evaluator::BishopKnight(strong) => {
                endings::bishop_knight(position, strong, sink);
            }
            endings::Evaluator::NearMate(ahead) => endings::near_mate(position, ahead, sink),
            endings::Evaluator::Pawns => self.pawn_ending(position, sink),
            endings::Evaluator::Standard => self.standard(position, sink),
        }
        let white = sink.sum().opening();
        let relative = if position.turn() == Color::White { white } else { -white };
        relative.clamp(-EVALUATION_MAX, EVALUATION_MAX)
    }

    fn standard<K: Sink>(&mut self, position: &Position, sink: &mut K) {
        material(position, sink);
        let found = self.table.look_up(position, &self.root, sink);
        let tables = AttackTables::of(position);
        pieces::control(&tables, sink);
        for color in Color::ALL {
            passed::score(position, color, &found, &tables, &self.root, sink);
            if !self.root.endgame[color.index()] {
                pieces::king(position, color, &found, sink);
            }
            pieces::score(position, color, &found, &tables, &self.root, sink);
        }
        pieces::hanging_pieces(position, &tables, sink);
    }

    fn pawn_ending<K: Sink>(&mut self, position: &Position, sink: &mut K) {
        material(position, sink);
        let found = self.table.look_up(position, &self.root, sink);
        let tables = AttackTables::of(position);
        for color in Color::ALL {
            passed::score(position, color, &found, &tables, &self.root, sink);
        }
        passed::runner(position, &found, sink);
    }
}

/// Adds the material and the trade-down bonus. When little material is left, the side that is ahead
/// gets this bonus for its pawns.
fn material<K: Sink>(position: &Position, sink: &mut K) {
    let worth = Color::ALL.map(|color| worth(position, color));
    for color in Color::ALL {
        sink.add(Term::Material, color, plain(worth[color.index()]));
    }
    let ahead = if worth[0] >= worth[1] { Color::White } else { Color::Black };
    let lead = (worth[0] - worth[1]).abs().min(weights::TRADE_LEAD_MAX);
    let pawns = position.board().pieces(ahead, Kind::Pawn).len() as Score;
    let missing_material = (weights::TRADE_MATERIAL_MAX - worth[0] - worth[1]).max(0);
    let bonus = lead * pawns * missing_material / (weights::TRADE_DIVISOR * (pawns + 1));
    sink.add(Term::TradeDown, ahead, plain(bonus));
}

impl Evaluator for RdChess {
    fn context(&self) -> Context {
        Context::Root
    }

    fn reset(&mut self, game: &Game) {
        let root = Root::of(game);
        if root != self.root {
            self.root = root;
            self.table.clear();
        }
    }

    fn pawn_table(&self) -> Option<TableUse> {
        Some(self.table.used)
    }

    fn evaluate(&mut self, position: &Position) -> Score {
        if self.disabled.is_empty() {
            self.evaluate_terms(position, &mut Sum::default())
        } else {
            self.evaluate_terms(position, &mut MaskedSum::new(self.disabled))
        }
    }
}
