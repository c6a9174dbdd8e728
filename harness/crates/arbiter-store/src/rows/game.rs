//! Stored form of games.

use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_with::{As, DisplayFromStr};
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, KnownOutcome};

use crate::compact::read_moves;
use arbiter_game::outcome::Outcome;
use arbiter_game::record::{GameRecord, MoveRecord, SearchDetails, SearchInfo, game_hash};
use arbiter_protocol::Score;
use arbiter_protocol::times::nanos;

/// One row of the table `games`, without its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GameRow {
    /// Index of the engine that played White.
    pub white: usize,
    /// Index of the engine that played Black.
    pub black: usize,
    /// Result: `1-0`, `0-1` or `1/2-1/2`.
    pub result: String,
    /// Termination of the game.
    pub termination: String,
    /// Termination as a sentence.
    pub detail: String,
    /// FEN of the starting position.
    pub fen: String,
    /// `true` if castling follows the rules of Chess960.
    pub chess960: bool,
    /// Duration of the game, in milliseconds.
    pub duration_ms: f64,
    /// All moves from the starting position, as JSON.
    pub moves: String,
    /// Start of the game, as Unix time in milliseconds; `None` if unknown.
    pub begun_ms: Option<i64>,
}

/// A move. The keys are short because a store contains a large number of moves.
#[derive(Serialize)]
struct MoveRow<'a> {
    /// Move in UCI notation.
    #[serde(with = "As::<DisplayFromStr>")]
    m: UciMove,
    /// Search information of the engine; `None` for book moves.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write_search")]
    t: Option<&'a SearchInfo>,
}

impl GameRow {
    /// Returns the stored form of a record.
    pub(crate) fn of(record: &GameRecord) -> GameRow {
        let moves = record.moves.iter();
        let moves = moves.map(|played| MoveRow { m: played.uci, t: played.search.as_ref() });
        let moves = serde_json::to_string(&moves.collect::<Vec<_>>());
        GameRow {
            white: record.engines.white,
            black: record.engines.black,
            result: record.outcome.result.as_str().to_owned(),
            termination: record.outcome.termination.to_string(),
            detail: record.outcome.detail.clone(),
            fen: record.fen.clone(),
            chess960: record.chess960,
            duration_ms: record.duration.as_secs_f64() * 1e3,
            moves: moves.expect("rows of numbers and text are JSON"),
            begun_ms: record.begun_ms,
        }
    }

    /// Returns the record; the error is the reason why the row is invalid.
    pub(crate) fn into_record(self) -> Result<GameRecord, String> {
        let result: KnownOutcome =
            self.result.parse().map_err(|_| format!("'{}' is not a result", self.result))?;
        // A damaged number may be negative or NaN, for which the infallible conversion would panic.
        let duration = Duration::try_from_secs_f64(self.duration_ms / 1e3)
            .map_err(|error| format!("duration: {error}"))?;
        Ok(GameRecord {
            engines: ByColor { white: self.white, black: self.black },
            fen: self.fen,
            chess960: self.chess960,
            moves: stored_moves(&self.moves)?,
            outcome: Outcome {
                result,
                termination: self.termination.parse()?,
                detail: self.detail,
            },
            duration,
            ready: ByColor::default(),
            movetime: ByColor::default(),
            late: None,
            waited: ByColor::default(),
            begun_ms: self.begun_ms,
            transcript: None,
        })
    }
}

/// Maximum length, in bytes, of the text of a game's moves if the text is not in the form that the
/// store writes. Reading a text in another form takes up to 75 times the length of the text in
/// memory.
const MAX_OTHER_FORM: usize = 1 << 20;

/// Returns the [`game_hash`] of a stored game from its FEN, castling rules and moves; `None` if the
/// moves cannot be read.
pub(crate) fn stored_hash(fen: &str, chess960: bool, moves: &str) -> Option<u64> {
    let moves = stored_moves(moves).ok()?;
    Some(game_hash(fen, chess960, moves.iter().map(|played| played.uci)))
}

/// Reads the stored moves of a game; the error is the reason why the text is invalid.
fn stored_moves(text: &str) -> Result<Vec<MoveRecord>, String> {
    if let Some(moves) = read_moves(text) {
        return Ok(moves);
    }
    if text.len() > MAX_OTHER_FORM {
        return Err(format!("moves: more than {MAX_OTHER_FORM} bytes in another form"));
    }
    // Another program may have written the text with white space or other escapes.
    let json: Value = serde_json::from_str(text).map_err(|error| format!("moves: {error}"))?;
    read_moves(&json.to_string()).ok_or_else(|| "moves: not the moves of a game".to_owned())
}

/// Writes search information as an object, in the order of the list below.
fn write_search<S: Serializer>(search: &Option<&SearchInfo>, json: S) -> Result<S::Ok, S::Error> {
    let Some(search) = search else { return json.serialize_none() };
    let none = SearchDetails::default();
    let details = search.details.as_deref().unwrap_or(&none);
    // The findings are stored in separate rows.
    let SearchDetails { left, nps, hashfull, tbhits, pv, lines, findings: _ } = details;
    let milliseconds = |time: Duration| time.as_millis() as u64;
    // Score in centipawns, or number of moves to mate; negative if the engine is mated.
    let (score_key, score) = match search.score {
        Some(Score::Mate(moves)) => ("mate", Some(moves)),
        score => ("cp", score.and_then(Score::centipawns)),
    };
    let numbers = [
        (score_key, score.map(i128::from)),
        // Depth and selective depth, in plies.
        ("d", search.depth.map(i128::from)),
        ("sd", search.seldepth.map(i128::from)),
        // Number of nodes.
        ("n", search.nodes.map(i128::from)),
        // Measured time, in nanoseconds.
        ("ns", Some(nanos(search.elapsed).into())),
        // Time that the engine reported, in milliseconds.
        ("t", search.reported.map(|time| milliseconds(time).into())),
        // Time left on the clock, in nanoseconds.
        ("l", left.map(|time| nanos(time).into())),
        ("nps", nps.map(i128::from)),
        // Share of the hash table in use, in permille.
        ("hf", hashfull.map(i128::from)),
        // Number of positions found in tablebases.
        ("tb", tbhits.map(i128::from)),
    ];
    let mut map = json.serialize_map(None)?;
    for (key, number) in numbers {
        if let Some(number) = number {
            map.serialize_entry(key, &number)?;
        }
    }
    // Principal variation, and lines of engine output that the user selected.
    for (key, texts) in [("pv", pv), ("x", lines)] {
        if !texts.is_empty() {
            map.serialize_entry(key, texts)?;
        }
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::Termination;
    use shakmaty::Color;

    #[test]
    fn records_survive_storage() {
        let search = |score| SearchInfo {
            score,
            depth: Some(9),
            seldepth: None,
            nodes: Some(123_456_789_012),
            elapsed: Duration::from_nanos(1_234_567),
            reported: Some(Duration::from_millis(1)),
            details: SearchDetails {
                left: Some(Duration::from_nanos(7)),
                nps: Some(1_000),
                hashfull: None,
                tbhits: Some(3),
                pv: vec!["e2e4".into(), "e7e5".into()],
                lines: vec!["info string \"x\"".into()],
                findings: Vec::new(),
            }
            .boxed(),
        };
        let moves = [None, Some(search(Some(Score::Mate(-3)))), Some(search(None))];
        let record = GameRecord {
            engines: ByColor { white: 1, black: 0 },
            fen: "4k3/8/8/8/8/8/8/4K2R w K - 0 1".into(),
            chess960: true,
            moves: moves.map(|search| MoveRecord { uci: "e1h1".parse().unwrap(), search }).into(),
            outcome: Outcome::lost(Color::White, Termination::Crash, "White crashed (\"x\")"),
            duration: Duration::from_millis(1_500),
            ready: ByColor::default(),
            movetime: ByColor::default(),
            late: None,
            waited: ByColor::default(),
            begun_ms: Some(7),
            transcript: None,
        };
        let row = GameRow::of(&record);
        assert_eq!(stored_hash(&row.fen, row.chess960, &row.moves), Some(record.hash()));
        assert_eq!(row.into_record(), Ok(record));
    }

    #[test]
    fn moves_are_read_as_by_serde() {
        let written =
            r#"[{"m":"e2e4"},{"m":"e7e8q","t":{"cp":-7,"d":0,"ns":19,"pv":["a","b\""]}}]"#;
        let others = r#"[{"m":"e1h1","t":{"mate":1,"sd":2,"n":3,"ns":4,"t":5,"l":6,"nps":7,"hf":8,"tb":9,"x":["y"]}}]"#;
        #[derive(Deserialize)]
        struct Move {
            #[serde(with = "As::<DisplayFromStr>")]
            m: UciMove,
            t: Option<Search>,
        }
        #[derive(Deserialize)]
        struct Search {
            cp: Option<i32>,
            mate: Option<i32>,
            d: Option<u32>,
            sd: Option<u32>,
            n: Option<u64>,
            ns: u64,
            t: Option<u64>,
            l: Option<u64>,
            nps: Option<u64>,
            hf: Option<u32>,
            tb: Option<u64>,
            #[serde(default)]
            pv: Vec<String>,
            #[serde(default)]
            x: Vec<String>,
        }
        let search = |t: Search| SearchInfo {
            score: t.cp.map(Score::Centipawns).or(t.mate.map(Score::Mate)),
            depth: t.d,
            seldepth: t.sd,
            nodes: t.n,
            elapsed: Duration::from_nanos(t.ns),
            reported: t.t.map(Duration::from_millis),
            details: SearchDetails {
                left: t.l.map(Duration::from_nanos),
                nps: t.nps,
                hashfull: t.hf,
                tbhits: t.tb,
                pv: t.pv,
                lines: t.x,
                findings: Vec::new(),
            }
            .boxed(),
        };
        let by_serde = |text: &str| -> Option<Vec<MoveRecord>> {
            let rows: Vec<Move> = serde_json::from_str(text).ok()?;
            let record = |row: Move| MoveRecord { uci: row.m, search: row.t.map(search) };
            Some(rows.into_iter().map(record).collect())
        };
        for text in [written, others] {
            assert!(read_moves(text).is_some_and(|moves| Some(moves) == by_serde(text)), "{text}");
            for at in 0..text.len() {
                for other in "0019\"\\{}[],:-.eqx \n".split_inclusive(|_| true) {
                    let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                    let added = format!("{}{other}{}", &text[..at], &text[at..]);
                    for text in [changed, added] {
                        let found = read_moves(&text);
                        assert!(found.is_none() || found == by_serde(&text), "{text}: {found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn moves_that_another_program_wrote_are_read() {
        let written = r#"[{"m":"e2e4","t":{"cp":-7,"ns":19,"x":["a\tä","\u001b"]}},{"m":"e7e5"}]"#;
        let other = r#" [{"t":{"ns": 19, "x":["a\t\u00e4","\u001B"], "new":[], "cp":-7}, "m":"e2e4"},
            {"m":"e7e5", "newer":1}]"#;
        assert_eq!(stored_moves(other), stored_moves(written));
        assert!(read_moves(written).is_some() && read_moves(other).is_none());
        assert_eq!(stored_moves("[ ]"), Ok(Vec::new()));
        for wrong in ["[", "{}", r#"[{"m":"e2e9"}]"#, r#"[{"m":"e2e4","t":{"d":9}}]"#] {
            assert!(stored_moves(wrong).is_err_and(|why| why.starts_with("moves: ")), "{wrong}");
        }
    }
}
