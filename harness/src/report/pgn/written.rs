//! One move as it is written: its notation and its comment.

use std::time::Duration;

use shakmaty::san::{San, SanPlus};
use shakmaty::{CastlingMode, Chess, Move, Position};

use crate::annotation::{Annotation, Field, Notation};
use crate::game::outcome::printable;
use crate::game::record::{MoveRecord, Thought};

/// Most of one line of an engine that a comment holds, in characters.
const MAX_LINE: usize = 1_000;

/// Plays the move and names it; `None` if it is not legal.
pub(super) fn play(
    position: &mut Chess,
    played: &MoveRecord,
    notation: Notation,
    mode: CastlingMode,
) -> Option<String> {
    let m = played.uci.to_move(position).ok()?;
    if notation == Notation::Uci {
        position.play_unchecked(m);
        return Some(m.to_uci(mode).to_string());
    }
    let san = SanPlus::from_move_and_play_unchecked(position, m);
    Some(if notation == Notation::Lan { long(san, m) } else { san }.to_string())
}

/// The same with the square that the move starts from in full.
fn long(short: SanPlus, m: Move) -> SanPlus {
    match (short.san, m.from()) {
        (San::Normal { role, capture, to, promotion, .. }, Some(from)) => {
            let (file, rank) = (Some(from.file()), Some(from.rank()));
            let san = San::Normal { role, file, rank, capture, to, promotion };
            SanPlus { san, ..short }
        }
        _ => short,
    }
}

/// What is said of a move: score, depth and time, or nodes where no clock runs, and what else is
/// wanted. What an engine did not say is left out.
pub(super) fn comment(thought: &Thought, annotation: &Annotation, timed: bool) -> String {
    let score = thought.score.map_or_else(|| "0.00".to_owned(), |score| score.to_string());
    let depth = thought.depth.unwrap_or(0);
    let mut text = format!("{score}/{depth}");
    if timed {
        text.push(' ');
        text.push_str(&seconds(thought.elapsed));
    }
    for field in Field::ALL {
        let is_wanted = annotation.has(field) || (field == Field::Nodes && !timed);
        if let Some(fact) = fact(thought, field).filter(|_| is_wanted) {
            text.push_str(", ");
            text.push_str(&fact);
        }
    }
    for line in thought.details.iter().flat_map(|details| &details.lines) {
        text.push_str(&format!(", line=\"{}\"", harmless(line)));
    }
    text
}

fn fact(thought: &Thought, field: Field) -> Option<String> {
    let details = thought.details.as_deref();
    match field {
        Field::TimeLeft => thought.left.map(|time| format!("tl={}", seconds(time))),
        Field::Latency => thought.latency().map(|time| format!("latency={}", seconds(time))),
        Field::Nodes => thought.nodes.map(|nodes| format!("n={nodes}")),
        Field::Seldepth => thought.seldepth.map(|depth| format!("sd={depth}")),
        Field::Nps => details?.nps.map(|nps| format!("nps={nps}")),
        Field::Hashfull => details?.hashfull.map(|permill| format!("hashfull={permill}")),
        Field::Tbhits => details?.tbhits.map(|hits| format!("tbhits={hits}")),
        Field::Pv if details?.pv.is_empty() => None,
        Field::Pv => Some(format!("pv=\"{}\"", harmless(&details?.pv.join(" ")))),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}s", time.as_secs_f64())
}

/// Text that cannot end a comment.
pub(super) fn harmless(text: &str) -> String {
    printable(&text.replace(['{', '}'], "|"), MAX_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::record::Details;
    use crate::uci::score::Score;

    #[test]
    fn moves_are_written_in_three_ways() {
        let check = |notation, expect: [&str; 5]| {
            let mut position = Chess::default();
            let moves = ["e2e4", "d7d5", "e4d5", "g8f6", "f1b5"];
            let written = moves.map(|uci| {
                let played = MoveRecord { uci: uci.parse().unwrap(), thought: None };
                play(&mut position, &played, notation, CastlingMode::Standard).unwrap()
            });
            assert_eq!(written, expect);
        };
        check(Notation::San, ["e4", "d5", "exd5", "Nf6", "Bb5+"]);
        check(Notation::Lan, ["e2e4", "d7d5", "e4xd5", "Ng8f6", "Bf1b5+"]);
        check(Notation::Uci, ["e2e4", "d7d5", "e4d5", "g8f6", "f1b5"]);
    }

    #[test]
    fn comments_have_what_is_wanted_and_known() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let lines = vec!["info string {net} \u{1b}[1m".to_owned()];
        let details = Details {
            nps: Some(9_000),
            hashfull: None,
            tbhits: Some(0),
            pv: vec!["e2e4".into(), "e7e5".into()],
            lines: Vec::new(),
        };
        let thought = Thought {
            score: Some(Score::Centipawns(31)),
            depth: Some(7),
            seldepth: Some(12),
            nodes: Some(900),
            elapsed: Duration::from_millis(104),
            reported: ms(100),
            overrun: None,
            left: ms(61_500),
            details: Details { lines: lines.clone(), ..details.clone() }.boxed(),
        };
        let quiet = Thought { details: details.boxed(), ..thought.clone() };
        let none = Annotation::default();
        assert_eq!(comment(&quiet, &none, true), "+0.31/7 0.104s");
        assert_eq!(comment(&quiet, &none, false), "+0.31/7, n=900");
        let all = Annotation { fields: Field::ALL.to_vec(), ..Annotation::default() };
        let expect = "+0.31/7 0.104s, tl=61.500s, latency=0.004s, n=900, sd=12, nps=9000, \
                      tbhits=0, pv=\"e2e4 e7e5\", line=\"info string |net| \u{fffd}[1m\"";
        assert_eq!(comment(&thought, &all, true), expect);
    }
}
