use super::Palimpsest;
use crate::chess::{Position, fen};
use crate::eval::feature::FeatureSet;
use crate::eval::{Choice, Evaluator, Variant};

/// Returns the position with colours swapped and ranks mirrored.
pub(crate) fn flipped(text: &str) -> Position {
    let fields: Vec<&str> = text.split(' ').collect();
    let swap_case = |letter: char| {
        if letter.is_uppercase() {
            letter.to_ascii_lowercase()
        } else {
            letter.to_ascii_uppercase()
        }
    };
    let swap = |field: &str| -> String { field.chars().map(swap_case).collect() };
    let rows: Vec<String> = fields[0].split('/').rev().map(swap).collect();
    let turn = if fields[1] == "w" { "b" } else { "w" };
    let castling = swap(fields[2]);
    fen::parse(&format!("{} {turn} {castling} - 0 1", rows.join("/"))).unwrap()
}

/// Returns the position with the files mirrored (a becomes h) and without castling rights.
fn mirrored(text: &str) -> Position {
    let fields: Vec<&str> = text.split(' ').collect();
    let rows: Vec<String> = fields[0].split('/').map(|row| row.chars().rev().collect()).collect();
    fen::parse(&format!("{} {} - - 0 1", rows.join("/"), fields[1])).unwrap()
}

const POSITIONS: [&str; 5] = [
    fen::STARTPOS,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/5bk1/8/2Pp4/8/1K6/8/8 w - - 0 1",
];

/// Returns varied positions. From each of [`POSITIONS`] and from a few endgames, up to 40 moves are
/// played. The result contains each position before a played move, and the positions after all
/// legal moves in that position.
pub(crate) fn positions() -> Vec<Position> {
    const PLIES: usize = 40;
    let endgames = [
        "2bR4/1p4kp/2p2n2/4r2B/5p2/1P6/2N2PPP/6K1 w - - 2 35",
        "8/1pk3R1/p4p2/2pPp2r/8/P5K1/1PP5/8 b - - 3 38",
        "1kB5/1Qq2p2/1p3Pp1/R5Pp/5B1P/8/1P3P2/6K1 b - - 2 41",
        "8/8/8/5k2/2P1Q3/P2P4/1BK5/1n6 b - - 6 59",
    ];
    let mut positions = Vec::new();
    for text in POSITIONS.into_iter().chain(endgames) {
        let mut position = fen::parse(text).unwrap();
        for ply in 0..PLIES {
            let moves = position.legal_moves();
            positions.push(position);
            positions.extend(moves.iter().map(|&mv| position.play(mv)));
            match moves.get(ply * 7 % moves.len().max(1)) {
                Some(&mv) => position = position.play(mv),
                None => break,
            }
        }
    }
    positions
}

#[test]
fn evaluation_is_symmetric_in_colours() {
    for text in POSITIONS {
        let position = fen::parse(text).unwrap();
        assert_eq!(
            Variant::Palimpsest.evaluate(&position),
            Variant::Palimpsest.evaluate(&flipped(text)),
            "{text}"
        );
    }
}

#[test]
fn evaluation_is_symmetric_in_files() {
    for text in &POSITIONS[2..] {
        let position = fen::parse(text).unwrap();
        assert_eq!(
            Variant::Palimpsest.evaluate(&position),
            Variant::Palimpsest.evaluate(&mirrored(text)),
            "{text}"
        );
    }
}

#[test]
fn more_material_scores_more() {
    let evaluate = |text| Variant::Palimpsest.evaluate(&fen::parse(text).unwrap());
    assert!(evaluate("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1") > 700);
    assert!(
        evaluate("4k3/P7/8/8/8/8/8/4K3 w - - 0 1") > evaluate("4k3/8/8/8/8/8/P7/4K3 w - - 0 1")
    );
}

#[test]
fn all_implementations_give_the_same_score() {
    let positions = positions();
    let every = Variant::Palimpsest.features();
    let one = |index: usize| FeatureSet::EMPTY.with(every[index % every.len()].index);
    let mut complete = Palimpsest::new(FeatureSet::EMPTY);
    let mut lacking: Vec<Palimpsest> =
        (0..every.len()).map(|at| Palimpsest::new(one(at))).collect();
    for (index, position) in positions.iter().enumerate().step_by(7) {
        let choice = Choice::from(Variant::Palimpsest);
        assert_eq!(complete.evaluate(position), choice.explain(position).value, "{position:?}");
        let choice = Choice { disabled: one(index), ..choice };
        let cached = lacking[index % every.len()].evaluate(position);
        assert_eq!(cached, choice.evaluate(position), "{position:?}");
        assert_eq!(cached, choice.explain(position).value, "{position:?}");
    }
}

#[test]
fn every_feature_matters_somewhere() {
    let mut positions = positions();
    positions.push(fen::parse("8/8/8/4k3/8/4K3/8/R7 w - - 0 1").unwrap());
    let choice = Choice::from(Variant::Palimpsest);
    let mut missing = Variant::Palimpsest.features();
    for position in &positions {
        let report = choice.explain(position);
        missing.retain(|feature| {
            let term = report.terms[feature.index];
            term.sides == [Default::default(); 2] && term.step == 0
        });
        if missing.is_empty() {
            return;
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
