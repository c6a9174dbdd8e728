//! Notation and comment of a move.

use std::time::Duration;

use shakmaty::san::{San, SanPlus};
use shakmaty::{CastlingMode, Chess, Move};

use arbiter_game::annotation::{Annotation, Dialect, Field, Notation};
use arbiter_game::record::{MoveRecord, SearchInfo};
use arbiter_game::text::printable;
use arbiter_protocol::Score;

/// Maximum length, in characters, of a detail or an engine line in a comment.
const MAX_LINE: usize = 1_000;

/// Plays a move and returns its notation; `None` if the move is illegal.
pub(super) fn play(
    position: &mut Chess,
    played: &MoveRecord,
    notation: Notation,
    mode: CastlingMode,
) -> Option<String> {
    let m = played.uci.to_move(position).ok()?;
    let san = SanPlus::from_move_and_play_unchecked(position, m);
    Some(match notation {
        Notation::Uci => m.to_uci(mode).to_string(),
        Notation::Lan => long(san, m).to_string(),
        Notation::San => san.to_string(),
    })
}

/// Returns a move in long algebraic notation, that is, with its source square.
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

/// Returns the comment on a move, without braces: score, depth, time (or nodes in a game without
/// time limits), and the requested fields. A field that the engine did not report is omitted,
/// unless the dialect requires the field.
pub(super) fn comment(search: &SearchInfo, annotation: &Annotation, is_timed: bool) -> String {
    let mut text = match annotation.dialect {
        Some(Dialect::Cutechess) => cutechess_figures(search),
        dialect => {
            // fastchess writes a missing score as `0.00/0`, a form that PGN readers recognize.
            let score = search.score.map(|score| score_text(score, dialect));
            let depth = search.score.and(search.depth).unwrap_or(0);
            let time =
                if is_timed { format!(" {}", seconds(search.elapsed)) } else { String::new() };
            format!("{}/{depth}{time}", score.unwrap_or_else(|| "0.00".to_owned()))
        }
    };
    let mut fields = annotation.fields.clone();
    fields.extend((!is_timed).then_some(Field::Nodes));
    fields.sort_unstable();
    fields.dedup();
    let is_foreign = annotation.dialect.is_some();
    text.extend(fields.into_iter().filter_map(|field| field_text(search, field, is_foreign)));
    for line in search.details.iter().flat_map(|details| &details.lines) {
        text += &format!(", line=\"{}\"", sanitized(line));
    }
    text
}

/// Returns the score, depth and time in the form of cutechess-cli, which omits the score if there
/// is no depth.
fn cutechess_figures(search: &SearchInfo) -> String {
    let mut text = String::new();
    let depth = search.depth.unwrap_or(0);
    if depth > 0 {
        let score = search.score.map(|score| score_text(score, Some(Dialect::Cutechess)));
        text = format!("{}/{depth} ", score.unwrap_or_default());
    }
    if depth > 0 || search.nodes.is_some() || search.elapsed.as_millis() >= 500 {
        text += &rounded_seconds(search.elapsed);
    }
    text
}

fn score_text(score: Score, dialect: Option<Dialect>) -> String {
    match score {
        Score::Mate(moves) if dialect.is_some() => {
            // fastchess and cutechess-cli write mate scores in plies: 2n − 1 plies for a mate in n
            // moves by the side to move, and 2n plies for a mate in n moves by the opponent.
            let plies = if moves > 0 { 2 * i64::from(moves) - 1 } else { 2 * i64::from(moves) };
            let sign = if moves > 0 { '+' } else { '-' };
            format!("{sign}M{}", plies.abs())
        }
        score => score.to_string(),
    }
}

/// Formats a field of a comment, with a leading comma. If the value is unknown, returns `None` or,
/// if `is_required` is `true`, writes 0 (an empty string for the PV).
fn field_text(search: &SearchInfo, field: Field, is_required: bool) -> Option<String> {
    let details = search.details.as_deref();
    let number = |name: &str, value: Option<u64>| {
        let value = value.or(is_required.then_some(0))?;
        Some(format!(", {name}={value}"))
    };
    let time = |name: &str, value: Option<Duration>| {
        let value = value.or(is_required.then_some(Duration::ZERO))?;
        Some(format!(", {name}={}", seconds(value)))
    };
    match field {
        Field::TimeLeft => time("tl", details.and_then(|details| details.left)),
        Field::Latency => time("latency", search.latency()),
        Field::Nodes => number("n", search.nodes),
        Field::Seldepth => number("sd", search.seldepth.map(u64::from)),
        Field::Nps => number("nps", details.and_then(|details| details.nps)),
        Field::Hashfull => {
            number("hashfull", details.and_then(|details| details.hashfull).map(u64::from))
        }
        Field::Tbhits => number("tbhits", details.and_then(|details| details.tbhits)),
        Field::Pv => {
            let pv = details.map_or(&[][..], |details| &details.pv);
            let is_shown = is_required || !pv.is_empty();
            is_shown.then(|| format!(", pv=\"{}\"", sanitized(&pv.join(" "))))
        }
    }
}

/// Formats a time in seconds, rounded to milliseconds.
fn seconds(time: Duration) -> String {
    // Adding half a millisecond before the truncation rounds to the nearest millisecond.
    let ms = time.saturating_add(Duration::from_micros(500)).as_millis() as u64;
    format!("{}.{:03}s", ms / 1_000, ms % 1_000)
}

/// Formats a time in seconds in the form of cutechess-cli, with fewer decimal places for longer
/// times.
fn rounded_seconds(time: Duration) -> String {
    let ms = time.as_millis() as u64;
    let places = match ms {
        0 | 10_000.. => 0,
        1..100 => 3,
        100..1_000 => 2,
        1_000..10_000 => 1,
    };
    format!("{:.places$}s", ms as f64 / 1e3)
}

/// Replaces the braces and control characters in a string, so that the string cannot end a comment.
pub(super) fn sanitized(text: &str) -> String {
    printable(&text.replace(['{', '}'], "|"), MAX_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::record::SearchDetails;

    #[test]
    fn moves_are_written_in_three_notations() {
        let check = |notation, expect: [&str; 5]| {
            let mut position = Chess::default();
            let moves = ["e2e4", "d7d5", "e4d5", "g8f6", "f1b5"];
            let written = moves.map(|uci| {
                let played = MoveRecord { uci: uci.parse().unwrap(), search: None };
                play(&mut position, &played, notation, CastlingMode::Standard).unwrap()
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
        let search = SearchInfo {
            score: Some(Score::Centipawns(31)),
            depth: Some(7),
            seldepth: Some(12),
            nodes: Some(900),
            elapsed: Duration::from_millis(104),
            reported: ms(100),
            details: SearchDetails { lines: lines.clone(), ..details.clone() }.boxed(),
        };
        let quiet = SearchInfo { details: details.boxed(), ..search.clone() };
        let none = Annotation::default();
        assert_eq!(comment(&quiet, &none, true), "+0.31/7 0.104s");
        let cutechess = Annotation { dialect: Some(Dialect::Cutechess), ..none.clone() };
        for (ms, shown) in
            [(0, "0s"), (9, "0.009s"), (104, "0.10s"), (2_340, "2.3s"), (12_800, "13s")]
        {
            let search = SearchInfo { elapsed: Duration::from_millis(ms), ..quiet.clone() };
            assert_eq!(comment(&search, &cutechess, true), format!("+0.31/7 {shown}"));
        }
        let silent = SearchInfo { elapsed: Duration::from_millis(30), ..SearchInfo::default() };
        assert_eq!(comment(&silent, &cutechess, true), "");
        assert_eq!(comment(&quiet, &none, false), "+0.31/7, n=900");
        let all =
            Annotation { fields: arbiter_names::variants().collect(), ..Annotation::default() };
        let expect = "+0.31/7 0.104s, tl=61.500s, latency=0.004s, n=900, sd=12, nps=9000, \
                      tbhits=0, pv=\"e2e4 e7e5\", line=\"info string |net| \u{fffd}[1m\"";
        assert_eq!(comment(&search, &all, true), expect);
    }
}
