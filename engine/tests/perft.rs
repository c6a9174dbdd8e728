//! Leaf counts of well-known positions, and of positions that test single rules.

use palimpsest::chess::attacks::{Level, Machine};
use palimpsest::chess::fen;
use palimpsest::chess::perft::{PerftTable, Settings, divide, perft, perft_at, perft_by_lists};

fn check(text: &str, counts: &[u64]) {
    let position = fen::parse(text).expect(text);
    for (depth, &expected) in (1..).zip(counts) {
        assert_eq!(perft(&position, depth), expected, "{text} depth {depth}");
        assert_eq!(perft_by_lists(&position, depth), expected, "{text} depth {depth}, by lists");
        for machine in Level::ALL.into_iter().filter_map(Machine::at) {
            let name = machine.level().name();
            assert_eq!(perft_at(machine, &position, depth), expected, "{text} {depth} {name}");
        }
        let table = PerftTable::new(1).unwrap();
        for table in [None, Some(&table)] {
            let settings = Settings { threads: 2, table, ..Settings::default() };
            let counts = divide(&position, depth, &settings, &|| false);
            let sum: u64 = counts.iter().map(|(_, count)| count).sum();
            assert_eq!(sum, expected, "{text} depth {depth}, by move");
        }
    }
}

#[test]
fn known_positions() {
    check(fen::STARTPOS, &[20, 400, 8_902, 197_281, 4_865_609]);
    check(
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        &[48, 2_039, 97_862, 4_085_603],
    );
    check("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", &[14, 191, 2_812, 43_238, 674_624]);
    check(
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        &[6, 264, 9_467, 422_333],
    );
    check("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", &[44, 1_486, 62_379]);
    check(
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        &[46, 2_079, 89_890],
    );
}

#[test]
fn en_passant_and_pins() {
    check("8/5bk1/8/2Pp4/8/1K6/8/8 w - d6 0 1", &[8, 104, 736]);
    check("8/8/8/2k5/2pP4/8/B7/4K3 b - d3 0 3", &[8]);
    check("8/8/8/8/k1pP3R/8/8/K7 b - d3 0 1", &[6]);
    check("3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1", &[18, 92, 1_670]);
}

#[test]
fn promotions_and_small_endings() {
    check("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", &[24, 496, 9_483, 182_838]);
    check("8/P1k5/K7/8/8/8/8/8 w - - 0 1", &[6, 27, 273, 1_329]);
    check("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", &[26, 112, 3_189, 17_945]);
}

#[test]
fn chess960_castling() {
    check("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", &[21, 528, 12_189]);
    check("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9", &[21, 807, 18_002]);
    check("r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1", &[23, 522, 12_333]);
    check("8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q - 0 1", &[34, 318, 9_002]);
    check("2r5/8/8/8/8/8/6PP/k2KR3 w K - 0 1", &[17, 242, 3_931]);
}
