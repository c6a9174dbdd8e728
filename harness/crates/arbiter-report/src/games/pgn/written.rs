//! Text of one move: its notation and its comment.
//!
//! Notation and comment are written directly to the output, without intermediate strings, because a
//! run writes thousands of moves per second.

use std::fmt::{self, Write as _};
use std::time::Duration;

use shakmaty::san::{San, SanPlus, Suffix};
use shakmaty::{CastlingMode, Chess, Move, Position};

use arbiter_game::annotation::{Annotation, Dialect, Field, Notation};
use arbiter_game::record::{MoveRecord, SearchDetails, SearchInfo};
use arbiter_game::text::printable;
use arbiter_protocol::Score;

/// Maximum length of a detail or an engine line in a comment, in characters.
const MAX_LINE: usize = 1_000;

/// Plays a move and writes its notation; `None` if the move is illegal.
pub(super) fn play(
    text: &mut String,
    position: &mut Chess,
    played: &MoveRecord,
    notation: Notation,
    mode: CastlingMode,
) -> Option<()> {
    let m = played.uci.to_move(position).ok()?;
    if notation == Notation::Uci {
        position.play_unchecked(m);
        return write!(text, "{}", m.to_uci(mode)).ok();
    }
    let san = San::from_move(position, m);
    position.play_unchecked(m);
    // The suffix is used only if the move gives check.
    let check = if position.is_checkmate() { Suffix::Checkmate } else { Suffix::Check };
    let san = SanPlus { san, suffix: position.is_check().then_some(check) };
    write!(text, "{}", if notation == Notation::Lan { long(san, m) } else { san }).ok()
}

/// Returns the long algebraic notation of a move, with its source square.
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

/// Writes the comment on a move, without braces: score, depth, time (or nodes in a game without
/// time limits), and the requested fields. Fields that the engine did not report are omitted,
/// except when another program's form requires them.
pub(super) fn comment(
    text: &mut String,
    thought: &SearchInfo,
    annotation: &Annotation,
    is_timed: bool,
) -> fmt::Result {
    let is_cutechess = annotation.dialect == Some(Dialect::Cutechess);
    let is_shown = thought.score.is_some() || is_cutechess;
    let depth = thought.depth.filter(|_| is_shown).unwrap_or(0);
    match thought.score {
        // cutechess-cli writes no score if there is no depth.
        score if is_cutechess && (depth == 0 || score.is_none()) => {}
        Some(Score::Mate(moves)) if annotation.dialect.is_some() => {
            // Other programs write mates in plies: 2n − 1 plies for a mate in n moves by the side
            // to move, and 2n plies for a mate by the opponent.
            let plies = if moves > 0 { 2 * i64::from(moves) - 1 } else { 2 * i64::from(moves) };
            let sign = if moves > 0 { '+' } else { '-' };
            write!(text, "{sign}M{}", plies.abs())?;
        }
        Some(score) => write!(text, "{score}")?,
        // Other programs write a missing score in this form, which PGN readers recognize.
        None => text.push_str("0.00"),
    }
    if is_cutechess {
        if depth > 0 {
            write!(text, "/{depth} ")?;
        }
        if depth > 0 || thought.nodes.is_some() || thought.elapsed.as_millis() >= 500 {
            write!(text, "{}", RoundedTime(thought.elapsed))?;
        }
    } else {
        write!(text, "/{depth}")?;
        if is_timed {
            write!(text, " {}", Seconds(thought.elapsed))?;
        }
    }
    for field in Field::ALL {
        if annotation.has(field) || (field == Field::Nodes && !is_timed) {
            fact(text, thought, field, annotation.dialect.is_some())?;
        }
    }
    for line in thought.details.iter().flat_map(|details| &details.lines) {
        write!(text, ", line=\"{}\"", harmless(line))?;
    }
    Ok(())
}

/// Writes a field. A field with an unknown value is omitted or, with `must_be`, written as 0.
fn fact(f: &mut String, thought: &SearchInfo, field: Field, must_be: bool) -> fmt::Result {
    let details = thought.details.as_deref();
    let no_time = must_be.then_some(Duration::ZERO);
    let of_details =
        |of: fn(&SearchDetails) -> Option<u64>| details.and_then(of).or(must_be.then_some(0));
    match field {
        Field::TimeLeft => {
            let left = details.and_then(|details| details.left);
            named(f, "tl", left.or(no_time).map(Seconds))
        }
        Field::Latency => named(f, "latency", thought.latency().or(no_time).map(Seconds)),
        Field::Nodes => named(f, "n", thought.nodes.or(must_be.then_some(0))),
        Field::Seldepth => named(f, "sd", thought.seldepth.or(must_be.then_some(0))),
        Field::Nps => named(f, "nps", of_details(|details| details.nps)),
        Field::Hashfull => named(f, "hashfull", of_details(|own| own.hashfull.map(u64::from))),
        Field::Tbhits => named(f, "tbhits", of_details(|details| details.tbhits)),
        Field::Pv => {
            let pv = details.map_or(&[][..], |details| &details.pv);
            let is_shown = must_be || !pv.is_empty();
            named(f, "pv", is_shown.then(|| format!("\"{}\"", harmless(&pv.join(" ")))))
        }
    }
}

/// Writes a field with its name, unless its value is unknown.
fn named(f: &mut String, name: &str, fact: Option<impl fmt::Display>) -> fmt::Result {
    match fact {
        Some(fact) => write!(f, ", {name}={fact}"),
        None => Ok(()),
    }
}

/// Time in comments, rounded to milliseconds.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Adding half a millisecond before the truncation rounds to the nearest millisecond.
        let ms = self.0.saturating_add(Duration::from_micros(500)).as_millis() as u64;
        write!(f, "{}.{:03}s", ms / 1_000, ms % 1_000)
    }
}

/// Time in comments in the form of cutechess-cli: longer times have fewer decimals.
struct RoundedTime(Duration);

impl fmt::Display for RoundedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis() as u64;
        let places = match ms {
            0 | 10_000.. => 0,
            1..100 => 3,
            100..1_000 => 2,
            1_000..10_000 => 1,
        };
        write!(f, "{:.places$}s", ms as f64 / 1e3)
    }
}

/// Returns the text without braces and control characters, so that it cannot end a comment.
pub(super) fn harmless(text: &str) -> String {
    printable(&text.replace(['{', '}'], "|"), MAX_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_protocol::Score;

    #[test]
    fn moves_are_written_in_three_notations() {
        let check = |notation, expect: [&str; 5]| {
            let mut position = Chess::default();
            let moves = ["e2e4", "d7d5", "e4d5", "g8f6", "f1b5"];
            let written = moves.map(|uci| {
                let played = MoveRecord { uci: uci.parse().unwrap(), thought: None };
                let mode = CastlingMode::Standard;
                let mut text = String::new();
                play(&mut text, &mut position, &played, notation, mode).unwrap();
                text
            });
            assert_eq!(written, expect);
        };
        check(Notation::San, ["e4", "d5", "exd5", "Nf6", "Bb5+"]);
        check(Notation::Lan, ["e2e4", "d7d5", "e4xd5", "Ng8f6", "Bf1b5+"]);
        check(Notation::Uci, ["e2e4", "d7d5", "e4d5", "g8f6", "f1b5"]);
    }

    #[test]
    fn comments_contain_the_selected_known_fields() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let lines = vec!["info string {net} \u{1b}[1m".to_owned()];
        let details = SearchDetails {
            left: ms(61_500),
            nps: Some(9_000),
            hashfull: None,
            tbhits: Some(0),
            pv: vec!["e2e4".into(), "e7e5".into()],
            ..SearchDetails::default()
        };
        let thought = SearchInfo {
            score: Some(Score::Centipawns(31)),
            depth: Some(7),
            seldepth: Some(12),
            nodes: Some(900),
            elapsed: Duration::from_millis(104),
            reported: ms(100),
            details: SearchDetails { lines: lines.clone(), ..details.clone() }.boxed(),
        };
        let quiet = SearchInfo { details: details.boxed(), ..thought.clone() };
        let none = Annotation::default();
        let comment = |thought: &SearchInfo, annotation: &Annotation, is_timed| {
            let mut text = String::new();
            super::comment(&mut text, thought, annotation, is_timed).unwrap();
            text
        };
        assert_eq!(comment(&quiet, &none, true), "+0.31/7 0.104s");
        let cutechess = Annotation { dialect: Some(Dialect::Cutechess), ..none.clone() };
        for (ms, shown) in
            [(0, "0s"), (9, "0.009s"), (104, "0.10s"), (2_340, "2.3s"), (12_800, "13s")]
        {
            let thought = SearchInfo { elapsed: Duration::from_millis(ms), ..quiet.clone() };
            assert_eq!(comment(&thought, &cutechess, true), format!("+0.31/7 {shown}"));
        }
        let silent = SearchInfo { elapsed: Duration::from_millis(30), ..SearchInfo::default() };
        assert_eq!(comment(&silent, &cutechess, true), "");
        assert_eq!(comment(&quiet, &none, false), "+0.31/7, n=900");
        let all = Annotation { fields: Field::ALL.to_vec(), ..Annotation::default() };
        let expect = "+0.31/7 0.104s, tl=61.500s, latency=0.004s, n=900, sd=12, nps=9000, \
                      tbhits=0, pv=\"e2e4 e7e5\", line=\"info string |net| \u{fffd}[1m\"";
        assert_eq!(comment(&thought, &all, true), expect);
    }
}
