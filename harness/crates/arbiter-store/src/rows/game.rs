//! Stored form of games.

use std::fmt::{Formatter, Result as FmtResult};
use std::time::Duration;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr};
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, KnownOutcome};

use arbiter_game::compact::read_moves;
use arbiter_game::outcome::Outcome;
use arbiter_game::record::{GameRecord, MoveRecord, SearchDetails, SearchInfo, game_hash};
use arbiter_protocol::Score;
use arbiter_protocol::times::{Nanos, nanos};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<SearchInfoRow<'a>>,
}

/// Form of [`MoveRow`] that is used for reading.
#[derive(Deserialize)]
struct ReadMove {
    #[serde(with = "As::<DisplayFromStr>")]
    m: UciMove,
    #[serde(default, deserialize_with = "read_search")]
    t: Option<SearchInfo>,
}

/// Search information of an engine on a move.
#[derive(Serialize)]
struct SearchInfoRow<'a> {
    /// Score in centipawns.
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    /// Number of moves to mate; negative if the engine is mated.
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    /// Depth in plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<u32>,
    /// Selective depth in plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    sd: Option<u32>,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    /// Measured time, in nanoseconds.
    #[serde(with = "Nanos")]
    ns: Duration,
    /// Time that the engine reported, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<u64>,
    /// Time left on the clock, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    l: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nps: Option<u64>,
    /// Share of the hash table in use, in permille.
    #[serde(skip_serializing_if = "Option::is_none")]
    hf: Option<u32>,
    /// Number of positions found in tablebases.
    #[serde(skip_serializing_if = "Option::is_none")]
    tb: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pv: &'a [String],
    /// Lines of engine output that the user selected.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    x: &'a [String],
}

impl GameRow {
    /// Returns the stored form of a record.
    pub(crate) fn of(record: &GameRecord) -> GameRow {
        let none = SearchDetails::default();
        let row = |played| MoveRow::of(played, &none);
        let moves: Vec<MoveRow<'_>> = record.moves.iter().map(row).collect();
        let moves = serde_json::to_string(&moves);
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
        let moves = match read_moves(&self.moves) {
            Some(moves) => moves,
            None => {
                let moves: Vec<ReadMove> =
                    serde_json::from_str(&self.moves).map_err(|error| format!("moves: {error}"))?;
                let record = |row: ReadMove| MoveRecord { uci: row.m, search: row.t };
                moves.into_iter().map(record).collect()
            }
        };
        let result: KnownOutcome =
            self.result.parse().map_err(|_| format!("'{}' is not a result", self.result))?;
        // A damaged number may be negative or NaN, for which the infallible conversion would panic.
        let duration = Duration::try_from_secs_f64(self.duration_ms / 1e3)
            .map_err(|error| format!("duration: {error}"))?;
        Ok(GameRecord {
            engines: ByColor { white: self.white, black: self.black },
            fen: self.fen,
            chess960: self.chess960,
            moves,
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

/// Returns the [`game_hash`] of a stored game from its FEN, castling rules and moves; `None` if the
/// moves cannot be read.
pub(crate) fn stored_hash(fen: &str, chess960: bool, moves: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Move {
        m: String,
    }
    if let Some(moves) = read_moves(moves) {
        return Some(game_hash(fen, chess960, moves.iter().map(|played| played.uci)));
    }
    let moves: Vec<Move> = serde_json::from_str(moves).ok()?;
    Some(game_hash(fen, chess960, moves.into_iter().map(|played| played.m)))
}

impl<'a> MoveRow<'a> {
    fn of(record: &'a MoveRecord, none: &'a SearchDetails) -> MoveRow<'a> {
        let search = record.search.as_ref();
        MoveRow { m: record.uci, t: search.map(|search| SearchInfoRow::of(search, none)) }
    }
}

impl<'a> SearchInfoRow<'a> {
    /// Returns the stored form of `search`. `none` contains the details to store if `search` has
    /// no details.
    fn of(search: &'a SearchInfo, none: &'a SearchDetails) -> SearchInfoRow<'a> {
        let details = search.details.as_deref().unwrap_or(none);
        // The findings are stored in separate rows.
        let SearchDetails { left, nps, hashfull, tbhits, pv, lines, findings: _ } = details;
        SearchInfoRow {
            cp: search.score.and_then(Score::centipawns),
            mate: search.score.and_then(Score::mate),
            d: search.depth,
            sd: search.seldepth,
            n: search.nodes,
            ns: search.elapsed,
            t: search.reported.map(|time| time.as_millis() as u64),
            l: left.map(nanos),
            nps: *nps,
            hf: *hashfull,
            tb: *tbhits,
            pv,
            x: lines,
        }
    }
}

/// Reads a [`SearchInfoRow`] into a [`SearchInfo`], field by field, because moving a complete row
/// would take as long as reading the row.
fn read_search<'de, D: Deserializer<'de>>(json: D) -> Result<Option<SearchInfo>, D::Error> {
    json.deserialize_map(SearchInfoFields).map(Some)
}

struct SearchInfoFields;

impl<'de> Visitor<'de> for SearchInfoFields {
    type Value = SearchInfo;

    fn expecting(&self, out: &mut Formatter<'_>) -> FmtResult {
        out.write_str("search information")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SearchInfo, A::Error> {
        let mut search = SearchInfo::default();
        let mut elapsed = None;
        while let Some(field) = map.next_key::<&str>()? {
            let SearchInfo { details, .. } = &mut search;
            match field {
                "cp" => search.score = Some(Score::Centipawns(map.next_value()?)),
                "mate" => search.score = Some(Score::Mate(map.next_value()?)),
                "d" => search.depth = Some(map.next_value()?),
                "sd" => search.seldepth = Some(map.next_value()?),
                "n" => search.nodes = Some(map.next_value()?),
                "ns" => elapsed = Some(Duration::from_nanos(map.next_value()?)),
                "t" => search.reported = Some(Duration::from_millis(map.next_value()?)),
                "l" => {
                    let left = Duration::from_nanos(map.next_value()?);
                    details.get_or_insert_default().left = Some(left);
                }
                "nps" => details.get_or_insert_default().nps = Some(map.next_value()?),
                "hf" => details.get_or_insert_default().hashfull = Some(map.next_value()?),
                "tb" => details.get_or_insert_default().tbhits = Some(map.next_value()?),
                "pv" => details.get_or_insert_default().pv = map.next_value()?,
                "x" => details.get_or_insert_default().lines = map.next_value()?,
                // A later version may add fields.
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        // Search information always has a measured time, so a row without a measured time is
        // damaged.
        search.elapsed = elapsed.ok_or_else(|| Error::missing_field("ns"))?;
        Ok(search)
    }
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
    fn moves_are_read_as_by_serde_or_left_to_serde() {
        let written =
            r#"[{"m":"e2e4"},{"m":"e7e8q","t":{"cp":-7,"d":0,"ns":19,"pv":["a","b\""]}}]"#;
        let others = r#"[{"m":"e1h1","t":{"mate":1,"sd":2,"n":3,"ns":4,"t":5,"l":6,"nps":7,"hf":8,"tb":9,"x":["y"]}}]"#;
        let by_serde = |text: &str| -> Option<Vec<MoveRecord>> {
            let rows: Vec<ReadMove> = serde_json::from_str(text).ok()?;
            Some(rows.into_iter().map(|row| MoveRecord { uci: row.m, search: row.t }).collect())
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
}
