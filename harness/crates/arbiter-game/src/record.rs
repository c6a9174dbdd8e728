//! Records of games.

use std::fmt::{Display, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Chess, Color};

use crate::annotation::{Field, Keeping};
use crate::lint::LintFinding;
use crate::outcome::Outcome;
use crate::text::at_most;
use crate::transcript::Transcript;
use arbiter_protocol::times::Nanos;
use arbiter_protocol::{Info, Score};

/// Maximum number of moves in a game from another machine. The fifty-move rule ends every game
/// earlier: a game has at most 96 pawn moves and 30 captures, and at most 100 plies between two of
/// these moves, so at most 12,700 plies.
const MAX_MOVES: usize = 20_000;

/// Maximum number of engine lines, PV moves and findings per move in a game from another machine.
/// Games on this machine keep at most 32 lines per move.
const MAX_LIST: usize = 1_000;

/// Move that lost a game on time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateMove {
    /// Time by which the move exceeded the available time; the margin is not subtracted. Only sums
    /// over games are stored.
    #[serde(with = "Nanos")]
    pub over: Duration,
    /// Time that the engine waited for a processor during this move; `None` if not measured. This
    /// time is not stored.
    #[serde(with = "As::<Option<Nanos>>")]
    pub waited: Option<Duration>,
}

/// Absolute score, in centipawns, to which scores are limited before a swing is computed. Mates
/// count as this score.
const MAX_SWING_SCORE: i32 = 1_000;

/// Move with the search results of its engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveRecord {
    /// Move in UCI notation; castling is written according to the game's castling mode.
    #[serde(with = "As::<DisplayFromStr>")]
    pub uci: UciMove,
    /// Search results of the engine; `None` for a book move.
    // Stored games and messages of workers have this key.
    #[serde(rename = "thought")]
    pub search: Option<SearchInfo>,
}

/// Last search results that an engine reported for one move.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchInfo {
    /// Score from the point of view of the side that moved.
    pub score: Option<Score>,
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// Selective depth: length of the longest variation searched, in plies.
    pub seldepth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Time from the flush of `go` to the time stamp of `bestmove`.
    #[serde(with = "Nanos")]
    pub elapsed: Duration,
    /// Last search time that the engine reported.
    #[serde(with = "As::<Option<Nanos>>")]
    pub reported: Option<Duration>,
    /// Details that are kept only on request; `None` if no details are kept. The details are boxed
    /// to save memory, because many concurrent games keep many moves.
    pub details: Option<Box<SearchDetails>>,
}

/// Additional details of a move: search and clock.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchDetails {
    /// Time left on the clock of the moving side after the move.
    #[serde(with = "As::<Option<Nanos>>")]
    pub left: Option<Duration>,
    /// Nodes per second, as reported by the engine.
    pub nps: Option<u64>,
    /// Share of the hash table in use, in per mille.
    pub hashfull: Option<u32>,
    /// Number of positions found in tablebases.
    pub tbhits: Option<u64>,
    /// Principal variation, as the engine wrote it.
    #[serde(deserialize_with = "at_most::<MAX_LIST, _, _>")]
    pub pv: Vec<String>,
    /// Output lines selected by the user's pattern, as the engine wrote them.
    #[serde(deserialize_with = "at_most::<MAX_LIST, _, _>")]
    pub lines: Vec<String>,
    /// Findings of the lint.
    #[serde(default, deserialize_with = "at_most::<MAX_LIST, _, _>")]
    pub findings: Vec<LintFinding>,
}

impl SearchDetails {
    /// Returns the details in a box; `None` if all details are empty.
    pub fn boxed(self) -> Option<Box<SearchDetails>> {
        (self != SearchDetails::default()).then(|| Box::new(self))
    }
}

impl SearchInfo {
    /// Returns the measured time minus the reported time; zero if the reported time is longer,
    /// because engines may round up. Returns `None` if the engine reported no time.
    pub fn latency(&self) -> Option<Duration> {
        self.reported.map(|reported| self.elapsed.saturating_sub(reported))
    }
}

/// Returns a 64-bit hash of a game: starting position, castling rules, and moves in UCI notation.
pub fn game_hash(fen: &str, chess960: bool, moves: impl IntoIterator<Item: Display>) -> u64 {
    let mut text = format!("{fen} {chess960}");
    for played in moves {
        write!(text, " {played}").expect("a String takes whatever is written");
    }
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("a BLAKE3 hash has 32 bytes"))
}

impl GameRecord {
    /// Returns the [`game_hash`] of the game.
    pub fn hash(&self) -> u64 {
        game_hash(&self.fen, self.chess960, self.moves.iter().map(|played| played.uci))
    }

    /// Returns the starting position of the game, or the initial position of chess if the FEN is
    /// invalid or illegal.
    pub fn start(&self) -> Chess {
        self.legal_start().unwrap_or_default()
    }

    /// Returns the starting position; `None` if the FEN is invalid or illegal.
    pub(crate) fn legal_start(&self) -> Option<Chess> {
        let mode = CastlingMode::from_chess960(self.chess960);
        self.fen.parse::<Fen>().ok()?.into_position(mode).ok()
    }

    /// Returns the lint findings, each with the ply (counted from 0) and the side of the move.
    pub fn findings(&self) -> impl Iterator<Item = (usize, Color, &LintFinding)> {
        let movers = [self.first_to_move(), !self.first_to_move()].into_iter().cycle();
        self.moves.iter().zip(movers).enumerate().flat_map(|(ply, (played, mover))| {
            let details = played.search.as_ref().and_then(|search| search.details.as_ref());
            let findings = details.map_or(&[][..], |details| &details.findings);
            findings.iter().map(move |finding| (ply, mover, finding))
        })
    }

    /// Returns the number of searched moves of each side, and their total time. A move that lost on
    /// time is not counted, but the time of this move is added to the total; this time is the
    /// game's duration minus all recorded times.
    pub fn thinking_times(&self) -> ByColor<(u32, Duration)> {
        let mut sum = ByColor::new_with(|_| (0, Duration::ZERO));
        let mut color = self.first_to_move();
        for played in &self.moves {
            if let Some(search) = &played.search {
                let (moves, time) = sum.get_mut(color);
                *moves += 1;
                *time += search.elapsed;
            }
            color = !color;
        }
        if self.late.is_some() {
            let recorded = sum.white.1 + sum.black.1;
            sum.get_mut(color).1 += self.duration.saturating_sub(recorded);
        }
        sum
    }

    /// Returns the swing of the game: the largest change between two consecutive scores of one
    /// engine, in centipawns. Scores are limited to ten pawns. Returns `None` if no engine reported
    /// two scores.
    pub fn swing(&self) -> Option<i32> {
        let mut last = [None; 2];
        let searches = self.moves.iter().map(|played| played.search.as_ref());
        let changes = searches.enumerate().filter_map(|(ply, search)| {
            let score = search?.score?.limited(MAX_SWING_SCORE);
            Some((score - last[ply % 2].replace(score)?).abs())
        });
        changes.max()
    }

    /// Returns the side that made the first move.
    pub fn first_to_move(&self) -> Color {
        Color::from_white(self.fen.split(' ').nth(1) != Some("b"))
    }
}

/// Selection of the game data that are kept in addition to moves and result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptFields {
    /// Fields that comments contain.
    pub fields: Vec<Field>,
    /// Selection of the games whose transcripts are kept.
    pub transcripts: Keeping,
}

impl KeptFields {
    /// Drops the unselected search results of a move. Score, depths, nodes and times are always
    /// kept.
    pub(crate) fn trim_info(&self, info: &mut Info) {
        let mut unless = |field, drop: fn(&mut Info)| {
            if !self.fields.contains(&field) {
                drop(info);
            }
        };
        unless(Field::Nps, |info| info.nps = None);
        unless(Field::Hashfull, |info| info.hashfull = None);
        unless(Field::Tbhits, |info| info.tbhits = None);
        unless(Field::Pv, |info| info.pv = Vec::new());
    }

    /// Returns whether the time left on the clock is kept with each move.
    pub(crate) fn time_left(&self) -> bool {
        self.fields.contains(&Field::TimeLeft)
    }
}

/// Finished game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameRecord {
    /// Index of each side's engine in the plan.
    #[serde(with = "ByColorDef")]
    pub engines: ByColor<usize>,
    /// FEN of the starting position, with halfmove clock and move number.
    pub fen: String,
    /// `true` if castling follows the rules and notation of Chess960.
    pub chess960: bool,
    /// All moves from `fen`, book moves first.
    #[serde(deserialize_with = "at_most::<MAX_MOVES, _, _>")]
    pub moves: Vec<MoveRecord>,
    /// Result of the game, and the reason.
    pub outcome: Outcome,
    /// Duration of the game, in wall-clock time.
    #[serde(with = "Nanos")]
    pub duration: Duration,
    /// Time that each engine took to get ready for the game; `None` if the engine did not get
    /// ready. Only sums over games are stored.
    #[serde(with = "ByColorDef")]
    pub ready: ByColor<Option<Duration>>,
    /// Time per move of each side; `None` without a `movetime` limit. This field is not stored.
    #[serde(with = "ByColorDef")]
    pub movetime: ByColor<Option<Duration>>,
    /// Move that lost the game on time, if any.
    pub late: Option<LateMove>,
    /// Time that each engine waited for a processor while its clock ran, beyond the usual wait on
    /// an idle machine; `None` if not measured. Only sums over games are stored.
    #[serde(with = "ByColorDef")]
    pub waited: ByColor<Option<Duration>>,
    /// Start of the game, as Unix time in milliseconds; `None` for games from other machines.
    #[serde(skip)]
    pub begun_ms: Option<i64>,
    /// Transcript of the lines of both engines, if kept.
    #[serde(with = "As::<Option<DisplayFromStr>>")]
    pub transcript: Option<Transcript>,
}

/// Mirror of shakmaty's type for `#[serde(with)]`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "ByColor")]
struct ByColorDef<T> {
    white: T,
    black: T,
}
