use super::*;

fn read(fen: &str) -> Result<String, String> {
    let start = Start::read(fen, false)?;
    let mode = if start.is_chess960() { "Chess960 " } else { "" };
    let correction = start.correction.as_ref().map(|what| format!("; {what}")).unwrap_or_default();
    Ok(format!("{mode}{}{correction}", start.fen()))
}

#[track_caller]
fn check(fen: &str, expect: &str) {
    assert_eq!(read(fen).as_deref(), Ok(expect), "{fen}");
}

#[test]
fn chess960_is_recognized_by_castling_rights() {
    check("4k3/8/8/8/8/8/8/R3K2R w KQ -", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1");
    check("4k3/8/8/8/8/8/8/R3K2R w HA - 5 9", "4k3/8/8/8/8/8/8/R3K2R w KQ - 5 9");
    let odd = "4k3/8/8/8/8/8/8/1R3K1R w HB - 0 1";
    check(odd, "Chess960 4k3/8/8/8/8/8/8/1R3K1R w KQ - 0 1");
    let inner = "4k3/8/8/8/8/8/8/RR2K3 w B - 0 1";
    check(inner, &format!("Chess960 {inner}"));
    let forced = Start::read("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", true);
    assert!(forced.is_ok_and(|start| start.is_chess960()));
}

#[test]
fn moves_after_a_position_are_not_part_of_it() {
    for moves in [
        "moves a1a2",
        "a1a2 e8e7",
        "Ra2",
        "O-O Ke7",
        "1. Ra2 Ke7",
        "1.Ra2",
        "7... c3",
        "e7e8q",
        "0-0",
        "0-0-0+",
        "Nf3!?",
        "Ra8+",
        "a1-a2, e8-e7",
        "Ra2 2. Ke2",
        "a1a2 0.31",
        "Ke2 0-0",
    ] {
        let error = read(&format!("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1 {moves}")).unwrap_err();
        assert!(error.starts_with("expected a position, got a position and moves;"), "{error}");
    }
    for rest in [
        "c3 \"x\"",
        "bm Ra2",
        "ce 5",
        "0 1 -- comment",
        "0 1 Z0",
        "0 1 0000",
        "0 1 1-0",
        "0 1 1. prize",
        "; e1g1",
        "0 1 ; 1. O-O Ke7",
        "0 1 d1 20; d2 400",
        "0 1 d1=20",
        "0 1; moves e1g1",
    ] {
        assert!(read(&format!("4k3/8/8/8/8/8/8/R3K2R w KQ - {rest}")).is_ok(), "{rest}");
    }
}

#[test]
fn impossible_castling_rights_are_dropped() {
    check(
        "4k3/8/8/8/8/8/8/4K3 w KQkq -",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 1; ignored as impossible: castling with a1, castling with h1, castling with a8, castling with h8",
    );
    check(
        "4k3/8/8/8/8/8/8/4K2R w KQ - 3 7",
        "4k3/8/8/8/8/8/8/4K2R w K - 3 7; ignored as impossible: castling with a1",
    );
    // The king is one square from its initial square, or farther away.
    check(
        "4k3/8/8/8/8/8/4K3/R6R w KQ - 0 1",
        "4k3/8/8/8/8/8/4K3/R6R w - - 0 1; ignored as impossible: castling with a1, castling with h1",
    );
    check(
        "4k2r/8/8/8/8/8/8/RR2K3 w HBh - 0 1",
        "Chess960 4k2r/8/8/8/8/8/8/RR2K3 w Bk - 0 1; ignored as impossible: castling with h1",
    );
    check(
        "4k3/8/8/8/8/8/8/R4K2 w KQ - 0 1",
        "4k3/8/8/8/8/8/8/R4K2 w - - 0 1; ignored as impossible: castling with a1, castling with h1",
    );
}

#[test]
fn impossible_en_passant_squares_are_dropped() {
    let sound = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
    check(sound, sound);
    // No pawn can capture en passant, but the last move may have been a double pawn push.
    let idle = "4k3/8/8/3p4/8/8/8/4K3 w - d6 0 1";
    check(idle, idle);
    for square in ["e6", "d3", "d5", "a1", "h8", "d4"] {
        check(
            &format!("4k3/8/8/3pP3/8/8/8/4K3 w - {square} 0 1"),
            &format!(
                "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1; ignored as impossible: en passant on {square}"
            ),
        );
    }
    // Test suites contain positions in which no pawn move can have given the check.
    let checked = "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1";
    check(checked, checked);
    let blocked = "4k3/3p4/8/3p4/8/8/8/4K3 w - d6";
    check(blocked, "4k3/3p4/8/3p4/8/8/8/4K3 w - - 0 1; ignored as impossible: en passant on d6");
    check(
        "4k3/8/8/8/8/8/8/4K3 b KQ e3 0 1",
        "4k3/8/8/8/8/8/8/4K3 b - - 0 1; ignored as impossible: castling with a1, castling with h1, \
         en passant on e3",
    );
}

#[test]
fn positions_that_no_game_reaches_are_read_if_their_moves_are_defined() {
    let crowded = Start::read("4k3/8/8/8/8/NNN5/NNNNNNNN/4K3 w - - 0 1", false).unwrap();
    let reason = crowded.reachable().unwrap_err();
    assert_eq!(reason, "illegal position: too much material");
    assert_eq!(Start::new(Chess::default(), CastlingMode::Standard).reachable(), Ok(()));
}

#[test]
fn ambiguous_positions_are_rejected() {
    let refused = |fen: &str, expect: &str| {
        let reason = read(fen).expect_err(fen);
        assert!(reason.ends_with(expect), "{fen}: {reason}");
    };
    refused("QQQQQQQQ/QQQQQQQQ/8/8/8/8/8/k6K w - - 0 1", "opposite check");
    refused("4k3/8/8/8/8/8/8/8 w - - 0 1", "missing king");
    refused("8/8/8/8 w - -", "got `8/8/8/8 w - -`: invalid board part in fen");
    refused("4k3/7/8/8/8/8/8/4K3 w - -", "invalid board part in fen");
    refused("4k3/8/8/8/8/8/8/4K3 x - -", "invalid turn part in fen");
    refused("4k3/8/8/8/8/8/8/4K3 w KX -", "invalid castling part in fen");
    let variant = "expected chess or Chess960, got `";
    for tail in ["4K3[Q] w - - 0 1", "4K3 w - - 3+3 0 1", "4K3 w - - 0 1 +0+1"] {
        let fen = format!("4k3/8/8/8/8/8/8/{tail}");
        assert_eq!(read(&fen), Err(format!("{variant}{fen}`")));
    }
}
