//! Records of games.

use std::fmt::{Display, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Chess, Color};

use crate::annotation::{Annotation, Field, Keeping};
use crate::lint::LintFinding;
use crate::outcome::Outcome;
use crate::text::at_most;
use crate::transcript::Transcript;
use arbiter_protocol::times::Nanos;
use arbiter_protocol::{Info, Score};

/// Number of moves of a game that another machine may send. The fifty-move rule ends every game
/// before: at most 96 pawn moves and 30 captures, each at most 100 plies after the last, make at
/// most 12,700 plies.
const MAX_MOVES: usize = 20_000;

/// Number of lines of an engine, and of moves of its principal variation, that another machine may
/// send with a move. Our own games keep at most 32 lines of a move.
const MAX_LIST: usize = 1_000;

/// Move that lost a game on time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateMove {
    /// Excess over the time, margin included. Only sums of it are stored.
    #[serde(with = "Nanos")]
    pub over: Duration,
    /// Time that the engine had to wait for a processor during this move; `None` if that was not
    /// measured. It is not stored.
    #[serde(with = "As::<Option<Nanos>>")]
    pub waited: Option<Duration>,
}

/// Largest score, in centipawns, where changes of evaluations are measured; mates count the same.
const MAX_SWING_SCORE: i32 = 1_000;

/// Move with the results of its engine's search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveRecord {
    /// Move, with castling in the notation of its game's rules.
    #[serde(with = "As::<DisplayFromStr>")]
    pub uci: UciMove,
    /// Search of the engine that chose the move; `None` for the opening book.
    pub thought: Option<SearchInfo>,
}

/// Last information of an engine before a move.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchInfo {
    /// Score for the side that moved.
    pub score: Option<Score>,
    /// Plies searched.
    pub depth: Option<u32>,
    /// Selective depth: deepest line, in plies.
    pub seldepth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Time from the flush of `go` to the stamp of `bestmove`.
    #[serde(with = "Nanos")]
    pub elapsed: Duration,
    /// Time that the engine reported last.
    #[serde(with = "As::<Option<Nanos>>")]
    pub reported: Option<Duration>,
    /// Details that are kept only on request; `None` if there are none. (Separate, because many
    /// concurrent games have many moves in memory.)
    pub details: Option<Box<SearchDetails>>,
}

/// Further details of a move: its search, and the clock.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchDetails {
    /// Time left on the mover's clock after the move.
    #[serde(with = "As::<Option<Nanos>>")]
    pub left: Option<Duration>,
    /// Nodes per second, as reported by the engine.
    pub nps: Option<u64>,
    /// Fill of the hash table, in permill.
    pub hashfull: Option<u32>,
    /// Positions found in endgame tables.
    pub tbhits: Option<u64>,
    /// Principal variation, as the engine wrote it.
    #[serde(deserialize_with = "at_most::<MAX_LIST, _, _>")]
    pub pv: Vec<String>,
    /// Lines that the user wants to see with the move, as the engine wrote them.
    #[serde(deserialize_with = "at_most::<MAX_LIST, _, _>")]
    pub lines: Vec<String>,
    /// Findings of the lint.
    #[serde(default, deserialize_with = "at_most::<MAX_LIST, _, _>")]
    pub findings: Vec<LintFinding>,
}

impl SearchDetails {
    /// Returns the details for a [`SearchInfo`]; `None` if they are empty.
    pub fn boxed(self) -> Option<Box<SearchDetails>> {
        (self != SearchDetails::default()).then(|| Box::new(self))
    }
}

impl SearchInfo {
    /// Returns the excess of measured over reported time; `None` if the engine reported none. Not
    /// below zero, as engines round.
    pub fn latency(&self) -> Option<Duration> {
        self.reported.map(|reported| self.elapsed.saturating_sub(reported))
    }
}

/// Returns a hash of a game by its start and its moves, in UCI notation: equal for equal games
/// only, as far as 64 bits go.
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

    /// Returns the starting position; that of chess if the FEN is not one of a legal position.
    pub fn start(&self) -> Chess {
        let mode = CastlingMode::from_chess960(self.chess960);
        let fen = self.fen.parse::<Fen>().ok();
        fen.and_then(|fen| fen.into_position(mode).ok()).unwrap_or_default()
    }

    /// Returns the findings of the lint, each with its ply, from 0, and the side whose move it is.
    pub fn findings(&self) -> impl Iterator<Item = (usize, Color, &LintFinding)> {
        let movers = [self.first_to_move(), !self.first_to_move()].into_iter().cycle();
        self.moves.iter().zip(movers).enumerate().flat_map(|(ply, (played, mover))| {
            let details = played.thought.as_ref().and_then(|thought| thought.details.as_ref());
            let findings = details.map_or(&[][..], |details| &details.findings);
            findings.iter().map(move |finding| (ply, mover, finding))
        })
    }

    /// Returns the number of moves that each side thought about, and the time. The move that lost
    /// the game on time is not among the moves; its time is what the others leave of the game's
    /// duration.
    pub fn thinking_times(&self) -> ByColor<(u32, Duration)> {
        let mut sum = ByColor::new_with(|_| (0, Duration::ZERO));
        let mut color = self.first_to_move();
        for played in &self.moves {
            if let Some(thought) = &played.thought {
                let (moves, time) = sum.get_mut(color);
                *moves += 1;
                *time += thought.elapsed;
            }
            color = !color;
        }
        if self.late.is_some() {
            let known = sum.white.1 + sum.black.1;
            sum.get_mut(color).1 += self.duration.saturating_sub(known);
        }
        sum
    }

    /// Returns the largest change of one engine's evaluation from one of its moves to its next, in
    /// centipawns, with scores of at most ten pawns; `None` if no engine gave two.
    pub fn swing(&self) -> Option<i32> {
        let mut last = [None; 2];
        let thoughts = self.moves.iter().map(|played| played.thought.as_ref());
        let changes = thoughts.enumerate().filter_map(|(ply, thought)| {
            let score = thought?.score?.limited(MAX_SWING_SCORE);
            Some((score - last[ply % 2].replace(score)?).abs())
        });
        changes.max()
    }

    /// Returns the side that made the first move.
    pub fn first_to_move(&self) -> Color {
        match self.fen.split(' ').nth(1) {
            Some("b") => Color::Black,
            _ => Color::White,
        }
    }
}

/// Selection of what is kept of a game besides moves and result, for the user to see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptFields {
    fields: Vec<Field>,
    /// Selection of the games whose transcripts are kept.
    pub transcripts: Keeping,
}

impl KeptFields {
    /// Selects what this annotation shows.
    pub fn for_annotation(annotation: &Annotation, transcripts: Keeping) -> KeptFields {
        KeptFields { fields: annotation.fields.clone(), transcripts }
    }

    /// Drops the search results of a move that are not to be kept; score, depths, nodes and times
    /// always are kept.
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

    /// Returns whether the time left is kept with each move.
    pub(crate) fn time_left(&self) -> bool {
        self.fields.contains(&Field::TimeLeft)
    }
}

/// A finished game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameRecord {
    /// Indices into the plan's engines.
    #[serde(with = "ByColorDef")]
    pub engines: ByColor<usize>,
    /// FEN of the start, counters included.
    pub fen: String,
    /// `true` if castling is by the rules and notation of Chess960.
    pub chess960: bool,
    /// All moves from `fen`, book moves first.
    #[serde(deserialize_with = "at_most::<MAX_MOVES, _, _>")]
    pub moves: Vec<MoveRecord>,
    /// Result of the game, and the reason.
    pub outcome: Outcome,
    /// Duration in real time.
    #[serde(with = "Nanos")]
    pub duration: Duration,
    /// Time that each engine took to get ready for the game; `None` if it did not. Only sums of it
    /// are stored.
    #[serde(with = "ByColorDef")]
    pub ready: ByColor<Option<Duration>>,
    /// Time that each side had for each move; `None` without such a limit. It is not stored.
    #[serde(with = "ByColorDef")]
    pub movetime: ByColor<Option<Duration>>,
    /// Move that lost the game on time, if any.
    pub late: Option<LateMove>,
    /// Time that each side had to wait for a processor while its clock ran, beyond the usual on a
    /// calm machine; `None` if that was not measured. Only sums of it are stored.
    #[serde(with = "ByColorDef")]
    pub waited: ByColor<Option<Duration>>,
    /// Start of the game, in milliseconds of Unix time; `None` for games that other machines
    /// played.
    #[serde(skip)]
    pub begun_ms: Option<i64>,
    /// Transcript of the lines of both engines, if it is kept.
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
