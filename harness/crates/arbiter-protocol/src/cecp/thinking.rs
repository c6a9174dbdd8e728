//! Thinking output of CECP: `ply score time nodes pv`.

use std::time::Duration;

use crate::uci::{Info, Score};

/// Smallest mate score: 100000 + N is a mate in N moves (CECP specification, "Thinking Output").
const MATE: i64 = 100_000;

/// Parses a line of thinking output; `None` for other lines.
pub(super) fn parse(line: &str) -> Option<Info> {
    let mut words = line.split_ascii_whitespace();
    // Engines may append a mark to the depth: `9.`, `9+`, `9&`.
    let depth = words.next()?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    let score = words.next()?.parse().ok()?;
    let time_cs: i64 = words.next()?.parse().ok()?;
    // The node count of an engine with 32-bit integers may be negative.
    let nodes: i128 = words.next()?.parse().ok()?;
    // Selective depth, speed and tablebase hits may precede the variation.
    let pv = words.skip_while(|word| word.parse::<u64>().is_ok()).map(str::to_owned).collect();
    Some(Info {
        depth: Some(depth),
        score: Some(read(score)),
        nodes: u64::try_from(nodes).ok(),
        time: u64::try_from(time_cs).ok().map(|cs| Duration::from_millis(cs.saturating_mul(10))),
        pv,
        ..Info::default()
    })
}

fn read(score: i64) -> Score {
    let moves = i32::try_from(score.saturating_abs() - MATE).unwrap_or(i32::MAX);
    match score {
        MATE.. => Score::Mate(moves),
        ..=-100_000 => Score::Mate(-moves),
        _ => Score::Centipawns(i32::try_from(score).expect("a score below MATE fits into 32 bits")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_output_is_parsed() {
        let info = parse(" 9     156      1084   48000  Nf3 Nc6").unwrap();
        assert_eq!((info.depth, info.nodes), (Some(9), Some(48_000)));
        assert_eq!(info.time, Some(Duration::from_millis(10_840)));
        assert_eq!(info.score, Some(Score::Centipawns(156)));
        assert_eq!(info.pv, ["Nf3", "Nc6"]);
        assert_eq!(parse("9. -5 1 2").unwrap().score, Some(Score::Centipawns(-5)));
        assert_eq!(parse("9& 100003 1 2").unwrap().score, Some(Score::Mate(3)));
        assert_eq!(parse("9 -100002 1 2").unwrap().score, Some(Score::Mate(-2)));
        assert_eq!(parse("9 -100000 1 2").unwrap().score, Some(Score::Mate(0)));
        let extended = parse("9 156 1084 48000 18 450000 0\tNf3 Nc6 12. d4").unwrap();
        assert_eq!(extended.pv, ["Nf3", "Nc6", "12.", "d4"]);
        let overflown = parse("9 156 1084 -2147483648 Nf3").unwrap();
        assert_eq!((overflown.nodes, overflown.depth), (None, Some(9)));
        let far = format!("9 {} 1 2", i64::MIN);
        assert_eq!(parse(&far).unwrap().score, Some(Score::Mate(-i32::MAX)));
    }

    #[test]
    fn other_lines_are_not_thinking_output() {
        for line in ["", "move e2e4", "1. e2e4", "9 156", "# 9 1 1 1", "9 156 x 3", "pong 1"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
