//! Evaluation of micro-Max 3.2. The score is not computed from the position. Instead, each move has
//! a gain. The score of a side is the material balance at the start of the game, plus the gains of
//! all moves of this side, minus the gains of all moves of the opponent.

pub(crate) mod weights;

use super::feature::{FeatureSet, features};
use super::pair::Pair;
use super::report::Report;
use super::score::EVALUATION_MAX;
use super::sink::{Record, Sink};
use super::{Context, Evaluation, Evaluator, Score};
use crate::chess::position::castled_squares;
use crate::chess::{Bitboard, Color, Game, Kind, Move, Position, Square};
use weights::{BLOCKED, CASTLING, PROMOTION, UNIT, UNSUPPORTED, WORTH, eccentricity};

features! {
    /// A feature of this evaluation.
    Term {
        Material = "material", "pieces taken";
        Promotion = "promotion", "pawns promoted";
        Centre = "centre", "pawns, knights, bishops and kings that move towards the centre";
        Castling = "castling", "castling";
        PawnStructure = "pawn_structure", "pawns moving from between pawns two files away";
    }
}

features! {
    /// An experiment with this evaluation.
    Experiment {
        BlockedPawn = "blocked_pawn", "a piece loses by stepping before an own pawn";
        KeptPlacement = "kept_placement", "the game keeps what placement has gained";
    }
}

/// Gain of a move for the moving side, in 1/99 pawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// Gain from captures and promotions. This gain remains in the score for the rest of the game.
    pub permanent: Score,
    /// Gain from placement. This gain is part of the score only within a search.
    pub transient: Score,
}

/// Returns the gain of a legal move, with all features enabled.
pub fn gain(before: &Position, mv: Move) -> Gain {
    Features::default().gain(before, mv)
}

/// Disabled features and enabled experiments.
#[derive(Clone, Copy, Default)]
struct Features {
    disabled: FeatureSet,
    experiments: FeatureSet,
}

impl Features {
    fn keep(self, term: Term) -> bool {
        !self.disabled.contains(term.into())
    }

    fn tries(self, experiment: Experiment) -> bool {
        self.experiments.contains(experiment.into())
    }

    /// Returns the score if the feature is enabled, otherwise 0.
    fn of(self, term: Term, score: Score) -> Score {
        if self.keep(term) { score } else { 0 }
    }

    fn gain(self, before: &Position, mv: Move) -> Gain {
        Gain {
            permanent: self.capture_gain(before, mv) + self.promoted(mv),
            transient: self.placement_gain(before, mv),
        }
    }

    fn capture_gain(self, before: &Position, mv: Move) -> Score {
        self.of(Term::Material, before.captured(mv).map_or(0, |kind| UNIT * WORTH[kind.index()]))
    }

    fn promoted(self, mv: Move) -> Score {
        let worth = mv.promotion().map_or(0, |kind| match kind {
            Kind::Queen => PROMOTION,
            kind => UNIT * (WORTH[kind.index()] - 1),
        });
        self.of(Term::Promotion, worth)
    }

    fn placement_gain(self, before: &Position, mv: Move) -> Score {
        let (from, mut to) = (mv.from(), mv.to());
        let Some(kind) = before.kind_at(from) else { return 0 };
        let mut score = 0;
        if mv.is_castle() {
            to = castled_squares(from, to).0;
            score += self.of(Term::Castling, CASTLING);
        }
        if !matches!(kind, Kind::Rook | Kind::Queen) {
            score += self.of(Term::Centre, distance(from) - distance(to));
        }
        if kind == Kind::Pawn {
            score += self.of(Term::PawnStructure, structure(before, from));
        } else if self.tries(Experiment::BlockedPawn) {
            let own = before.board().pieces(before.turn(), Kind::Pawn).forward(before.turn());
            let blocks = |square| Score::from(own.contains(square));
            score += BLOCKED * (blocks(from) - blocks(to));
        }
        score
    }
}

fn distance(square: Square) -> Score {
    eccentricity(square.file(), square.rank())
}

/// Returns the gain of moving a pawn away from a square. The gain depends on the friendly pawns
/// that are on the same rank, two files away from the square.
fn structure(before: &Position, from: Square) -> Score {
    let own = before.board().pieces(before.turn(), Kind::Pawn);
    let square_set = Bitboard::of(from);
    let beside = square_set.east().east() | square_set.west().west();
    let missing = 2 - (own & beside).len() as Score;
    -UNSUPPORTED * (missing - 1)
}

/// Weights for a search that computes the gains of moves without the evaluator.
pub(crate) struct Weights {
    /// Gain for capturing a piece, by piece type.
    pub(crate) worth: [Score; 6],
    /// Gain for promoting to a queen.
    pub(crate) promotion: Score,
    /// Gain for castling.
    pub(crate) castling: Score,
    /// Cost unit of a pawn move; see [`weights::UNSUPPORTED`].
    pub(crate) unsupported: Score,
    /// Cost of a piece in front of a friendly pawn.
    pub(crate) blocked: Score,
    has_centre: bool,
}

impl Weights {
    /// Returns the weights without the `disabled` features and with the `experiments` enabled.
    pub(crate) fn new(disabled: FeatureSet, experiments: FeatureSet) -> Weights {
        let features = Features { disabled, experiments };
        Weights {
            worth: WORTH.map(|worth| features.of(Term::Material, UNIT * worth)),
            promotion: features.of(Term::Promotion, PROMOTION),
            castling: features.of(Term::Castling, CASTLING),
            unsupported: features.of(Term::PawnStructure, UNSUPPORTED),
            blocked: if features.tries(Experiment::BlockedPawn) { BLOCKED } else { 0 },
            has_centre: features.keep(Term::Centre),
        }
    }

    /// Returns the cost of a square for a pawn, knight, bishop or king; 0 if the feature `centre`
    /// is disabled.
    pub(crate) fn eccentricity(&self, square: Square) -> Score {
        if self.has_centre { distance(square) } else { 0 }
    }
}

/// Entry in the list of evaluations.
pub(super) const EVALUATION: Evaluation = Evaluation {
    name: "micromax",
    unit: "1/99 pawn",
    features: || Term::ALL.to_vec(),
    experiments: || Experiment::ALL.to_vec(),
    evaluator: |choice| Box::new(MicroMax::new(choice.disabled, choice.experiments)),
    explain: |choice, game| MicroMax::new(choice.disabled, choice.experiments).explain(game),
};

/// The evaluation, with the score of each node on the current line. Each score is from the point of
/// view of the side to move at the node.
struct MicroMax {
    features: Features,
    scores: Vec<Score>,
}

impl MicroMax {
    /// Returns the evaluation without the `disabled` features and with the `experiments` enabled.
    fn new(disabled: FeatureSet, experiments: FeatureSet) -> MicroMax {
        MicroMax { features: Features { disabled, experiments }, scores: vec![0] }
    }

    /// Returns the score of a game, term by term, without the gains from placement.
    fn explain(&self, game: &Game) -> Report {
        let mut record = Record::new(self.features.disabled);
        for color in Color::ALL {
            record.add(Term::Material, color, Pair::new(count(game.start(), color), 0));
        }
        let mut position = *game.start();
        for &mv in game.moves() {
            let all = Features::default();
            let [taken, promoted] = [all.capture_gain(&position, mv), all.promoted(mv)];
            record.add(Term::Material, position.turn(), Pair::new(taken, 0));
            record.add(Term::Promotion, position.turn(), Pair::new(promoted, 0));
            position = position.play(mv);
        }
        let white = record.sum().opening();
        let value = if position.turn() == Color::White { white } else { -white };
        Report::unblended(Term::ALL, &record, &position, limited(value))
    }

    fn top(&self) -> Score {
        self.scores.last().copied().unwrap_or_default()
    }
}

fn limited(score: Score) -> Score {
    score.clamp(-EVALUATION_MAX, EVALUATION_MAX)
}

/// Returns the sum of the piece values of a side.
fn count(position: &Position, color: Color) -> Score {
    let board = position.board();
    let worth = |kind: Kind| UNIT * WORTH[kind.index()] * board.pieces(color, kind).len() as Score;
    Kind::ALL.into_iter().map(worth).sum()
}

/// Returns the score of a game from the point of view of the side to move, in 1/99 pawn: the
/// material balance at the start, plus the permanent gains of all moves. With the experiment
/// `kept_placement`, the transient gains are included.
pub(crate) fn game_score(game: &Game, disabled: FeatureSet, experiments: FeatureSet) -> Score {
    let features = Features { disabled, experiments };
    let mut position = *game.start();
    let turn = position.turn();
    let balance = count(&position, turn) - count(&position, !turn);
    let mut score = features.of(Term::Material, balance);
    for &mv in game.moves() {
        let Gain { permanent, transient } = features.gain(&position, mv);
        let kept = if features.tries(Experiment::KeptPlacement) { transient } else { 0 };
        score = -(score + permanent + kept);
        position = position.play(mv);
    }
    score
}

impl Evaluator for MicroMax {
    fn context(&self) -> Context {
        Context::Path
    }

    fn reset(&mut self, game: &Game) {
        self.scores.clear();
        self.scores.push(game_score(game, self.features.disabled, self.features.experiments));
    }

    fn push(&mut self, before: &Position, mv: Move) {
        let gain = self.features.gain(before, mv);
        self.scores.push(-(self.top() + gain.permanent + gain.transient));
    }

    fn push_null(&mut self) {
        self.scores.push(-self.top());
    }

    fn pop(&mut self) {
        self.scores.pop();
    }

    fn evaluate(&mut self, _position: &Position) -> Score {
        limited(self.top())
    }
}
