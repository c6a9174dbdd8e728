//! The engine's own evaluation: a sum of terms, each a middle-game and an endgame score, blended by
//! the material left on the board.

mod compare;
mod pawns;
mod pieces;
mod weights;

use super::feature::{Feature, FeatureSet, features};
use super::report::{Blend, Report};
use super::score::EVALUATION_MAX;
use super::sink::{Masked, Plain, Record, Sink};
use super::{Context, Evaluator, Score, Variant};
use crate::chess::color::{Black, Side, White};
use crate::chess::{Bitboard, Color, Game, Kind, Move, Position};
pub(super) use compare::entries;

features! {
    /// A feature of this evaluation.
    Term {
        Material = "material", "worth of the pieces";
        Squares = "pst", "squares of the pieces";
        BishopPair = "bishop_pair", "two bishops";
        Connected = "connected", "pawns beside or defended by own pawns";
        Isolated = "isolated", "pawns without own pawns on the files beside";
        Doubled = "doubled", "pawns with an own pawn ahead";
        Passed = "passed", "passed pawns";
        PassedFree = "passed_free", "passed pawns that may step forward at once";
        PassedKing = "passed_king", "distance of the kings from passed pawns";
        Mobility = "mobility", "squares within reach of knights, bishops, rooks and queens";
        MinorThreat = "minor_threat", "rooks and queens attacked by minor pieces";
        PawnThreat = "pawn_threat", "pieces attacked by pawns";
        Outpost = "outpost", "minor pieces that pawns defend and cannot drive away";
        RookFile = "rook_file", "rooks on files without pawns, or without own pawns";
        Shield = "shield", "pawns before the king";
        KingAttack = "king_attack", "pieces that look at the surroundings of the enemy king";
        EndgameScale = "endgame_scale", "endgames that are hard to win count less";
        Tempo = "tempo", "having the move";
    }
}

/// The evaluation; it keeps no state but what is switched off.
pub struct Palimpsest {
    disabled: FeatureSet,
}

impl Palimpsest {
    /// The evaluation without some features.
    pub(super) fn new(disabled: FeatureSet) -> Palimpsest {
        Palimpsest { disabled }
    }

    /// The features there are.
    pub(super) fn features() -> Vec<Feature> {
        Term::ALL.to_vec()
    }

    /// The position, term by term.
    pub(super) fn explain(&self, position: &Position) -> Report {
        let mut record = Record::new(self.disabled);
        let value = judge(position, &mut record);
        let phase = phase(position);
        let endgame = weights::PHASE_MAX - phase;
        let blend = Blend { opening: phase, endgame, divisor: weights::PHASE_MAX };
        Report::new(Variant::Palimpsest, &record, blend, phase, value)
    }
}

impl Evaluator for Palimpsest {
    const CONTEXT: Context = Context::None;

    fn reset(&mut self, _game: &Game) {}

    fn push(&mut self, _before: &Position, _mv: Move) {}

    fn push_null(&mut self) {}

    fn pop(&mut self) {}

    fn evaluate(&mut self, position: &Position) -> Score {
        if self.disabled.is_empty() {
            judge(position, &mut Plain::default())
        } else {
            judge(position, &mut Masked::new(self.disabled))
        }
    }
}

/// The score for the side to move, with every term sent to `sink`.
#[inline]
fn judge<K: Sink>(position: &Position, sink: &mut K) -> Score {
    let white = Survey::of::<White>(position);
    let black = Survey::of::<Black>(position);
    placement(position, sink);
    pawns::score::<White, K>(position, sink);
    pawns::score::<Black, K>(position, sink);
    pieces::score::<White, K>(position, &white, &black, sink);
    pieces::score::<Black, K>(position, &black, &white, sink);
    let phase = phase(position);
    let (middle, end) = (sink.sum().opening(), sink.sum().endgame());
    let mut score = blend(middle, end, phase);
    if sink.keeps(Term::EndgameScale) {
        let scaled = blend(middle, end * scale(position, end) / 16, phase);
        sink.step(Term::EndgameScale, scaled - score);
        score = scaled;
    }
    let white_moves = position.turn() == Color::White;
    let mut relative = if white_moves { score } else { -score };
    if sink.keeps(Term::Tempo) {
        relative += weights::TEMPO;
        sink.step(Term::Tempo, if white_moves { weights::TEMPO } else { -weights::TEMPO });
    }
    relative.clamp(-EVALUATION_MAX, EVALUATION_MAX)
}

/// The blend for a game phase between 0 (end) and [`weights::PHASE_MAX`] (middle).
#[inline]
fn blend(middle: i32, end: i32, phase: i32) -> i32 {
    (middle * phase + end * (weights::PHASE_MAX - phase)) / weights::PHASE_MAX
}

/// What both halves of the piece terms need to know of a side.
struct Survey {
    /// Squares its pawns attack.
    pawn_attacks: Bitboard,
    /// Squares its pawns could ever attack by advancing.
    pawn_span: Bitboard,
    /// Its king and the squares beside it.
    king_zone: Bitboard,
}

impl Survey {
    fn of<S: Side>(position: &Position) -> Survey {
        let board = position.board();
        let pawns = board.pieces(S::COLOR, Kind::Pawn);
        let pawn_attacks = pawns.pawn_attacks::<S>();
        let king = board.king(S::COLOR);
        Survey {
            pawn_attacks,
            pawn_span: pawn_attacks | pawn_attacks.forward_fill(S::COLOR),
            king_zone: crate::chess::attacks::king(king) | Bitboard::of(king),
        }
    }
}

/// Material and squares.
#[inline]
fn placement<K: Sink>(position: &Position, sink: &mut K) {
    let board = position.board();
    for color in Color::ALL {
        for kind in Kind::ALL {
            for square in board.pieces(color, kind) {
                let seen = square.relative(color);
                let file = seen.file().min(7 - seen.file()) as usize;
                let bonus = weights::SQUARES[kind.index()][7 - seen.rank() as usize][file];
                sink.add(Term::Squares, color, bonus);
                sink.add(Term::Material, color, weights::MATERIAL[kind.index()]);
            }
        }
        if board.pieces(color, Kind::Bishop).several() {
            sink.add(Term::BishopPair, color, weights::BISHOP_PAIR);
        }
    }
}

/// How far the game is from its end, 0 to [`weights::PHASE_MAX`].
fn phase(position: &Position) -> i32 {
    let board = position.board();
    let sum: i32 = Kind::ALL
        .into_iter()
        .map(|kind| weights::PHASE[kind.index()] * board.kind(kind).len() as i32)
        .sum();
    sum.min(weights::PHASE_MAX)
}

/// Sixteenths of an endgame score that can be made to count.
fn scale(position: &Position, end: i32) -> i32 {
    let board = position.board();
    let strong = if end >= 0 { Color::White } else { Color::Black };
    let worth = |color| -> i32 {
        let units = [(Kind::Knight, 3), (Kind::Bishop, 3), (Kind::Rook, 5), (Kind::Queen, 9)];
        units.into_iter().map(|(kind, unit)| unit * board.pieces(color, kind).len() as i32).sum()
    };
    let (own, other) = (worth(strong), worth(!strong));
    if board.pieces(strong, Kind::Pawn).is_empty() && own - other <= 3 {
        return weights::SCALE_NO_PAWNS;
    }
    let bishops = board.kind(Kind::Bishop);
    let light = Bitboard(0x55AA_55AA_55AA_55AA);
    let one_each = (own, other) == (3, 3) && bishops.len() == 2;
    if one_each && (bishops & light).len() == 1 {
        return weights::SCALE_OPPOSITE_BISHOPS;
    }
    16
}

#[cfg(test)]
mod tests {
    use crate::chess::{Position, fen};
    use crate::eval::Variant;

    /// The position with colours exchanged and the board turned over.
    fn flipped(text: &str) -> Position {
        let fields: Vec<&str> = text.split(' ').collect();
        let swap =
            |field: &str| -> String {
                field
                    .chars()
                    .map(|c| {
                        if c.is_uppercase() {
                            c.to_ascii_lowercase()
                        } else {
                            c.to_ascii_uppercase()
                        }
                    })
                    .collect()
            };
        let rows: Vec<String> = fields[0].split('/').rev().map(swap).collect();
        let turn = if fields[1] == "w" { "b" } else { "w" };
        let castling = swap(fields[2]);
        fen::parse(&format!("{} {turn} {castling} - 0 1", rows.join("/"))).unwrap()
    }

    #[test]
    fn colours_are_treated_alike() {
        for text in [
            fen::STARTPOS,
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
            "8/5bk1/8/2Pp4/8/1K6/8/8 w - - 0 1",
        ] {
            let position = fen::parse(text).unwrap();
            assert_eq!(
                Variant::Palimpsest.evaluate(&position),
                Variant::Palimpsest.evaluate(&flipped(text)),
                "{text}"
            );
        }
    }

    #[test]
    fn more_is_better() {
        let evaluate = |text| Variant::Palimpsest.evaluate(&fen::parse(text).unwrap());
        assert!(evaluate("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1") > 700);
        assert!(evaluate("4k3/8/8/8/8/8/8/N3K3 w - - 0 1").abs() < 120);
        assert!(
            evaluate("4k3/P7/8/8/8/8/8/4K3 w - - 0 1") > evaluate("4k3/8/8/8/8/8/P7/4K3 w - - 0 1")
        );
    }
}
