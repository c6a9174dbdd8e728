//! Thinking output of CECP: `ply score time nodes pv`.

use std::time::Duration;

use crate::uci::{Info, Score};

/// Smallest mate score: 100000 + N is a mate in N moves (CECP specification, "Thinking Output").
const MATE: i64 = 100_000;

/// Parses a line of thinking output; `None` for other lines.
pub(super) fn parse(line: &str) -> Option<Info> {
    let mut words = line.split_ascii_whitespace();
    // Engines may append a mark or the selective depth: `9.`, `9+`, `9/15`.
    let depth = words.next()?.split('/').next()?;
    let depth = depth.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    // Other lines may list moves, as in `1. e4 12 34`.
    let is_score = |word: &&str| {
        word.contains(|c: char| c.is_ascii_digit())
            && word.starts_with(|c: char| c.is_ascii_digit() || "+-#M".contains(c))
    };
    let score = words.next().filter(is_score)?;
    let score: Option<Score> = score.parse().ok().map(read);
    // The node count of an engine with 32-bit integers may be negative.
    let is_number =
        |word: &&str| word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    let time_cs = words.next().filter(is_number)?;
    let nodes = words.next().filter(is_number)?;
    // Selective depth, speed and tablebase hits may precede the variation.
    let pv = words.skip_while(|word| word.parse::<u64>().is_ok()).map(str::to_owned).collect();
    Some(Info {
        depth: Some(depth),
        score,
        has_unreadable_score: score.is_none(),
        nodes: nodes.parse().ok(),
        time: time_cs.parse().ok().map(|cs: u64| Duration::from_millis(cs.saturating_mul(10))),
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
        let selective = parse("12/20 35 1 2 Nf3").unwrap();
        assert_eq!((selective.depth, selective.score), (Some(12), Some(Score::Centipawns(35))));
        let unusual = parse("9 156 10.84 48,000 Nf3").unwrap();
        assert_eq!((unusual.score, unusual.time), (Some(Score::Centipawns(156)), None));
        for score in ["-0.33", "Mat05", "#5", "+M3", "156?"] {
            let info = parse(&format!("9 {score} 10 48000 Nf3")).unwrap();
            assert_eq!((info.score, info.has_unreadable_score), (None, true), "{score}");
        }
        assert_eq!(parse("1. e4 12 34"), None);
        let far = format!("9 {} 1 2", i64::MIN);
        assert_eq!(parse(&far).unwrap().score, Some(Score::Mate(-i32::MAX)));
    }

    #[test]
    fn other_lines_are_not_thinking_output() {
        for line in [
            "",
            "move e2e4",
            "1. e2e4",
            "1. e2e4 e7e5 d2d4",
            "9 156",
            "9 ++ 10 48000 Nf3",
            "# 9 1 1 1",
            "9 156 x 3",
            "8 r n b",
            "pong 1",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
