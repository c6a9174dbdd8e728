//! State and games of a run in progress, as sent over the run's control socket.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shakmaty::{Color, Position};

use super::recent::Recent;
use arbiter_game::live_game::GameSnapshot;
use arbiter_run::RunStatus;

/// Name and version of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Version {
    #[serde(rename = "arbiter.status/2")]
    V2,
}

/// State of a running run, the output of `arbiter ctl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "arbiter.status/2")]
pub struct Running {
    /// Name and version of the schema.
    schema: Version,
    /// State of the run.
    #[serde(flatten)]
    pub status: RunStatus,
    /// Games in progress, if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boards: Option<Boards>,
    /// Recent events, if the games were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<Recent>,
}

/// Number of games in progress, and the first of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Boards {
    /// Number of games in progress.
    pub count: usize,
    /// First games in progress, at most the requested number.
    pub shown: Vec<Board>,
}

/// Game in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Board {
    /// Number of the pair, from 0.
    pub pair: u64,
    /// Index of the game in the pair, from 0.
    pub game: usize,
    /// Board field of the FEN.
    pub placement: String,
    /// `true` if White is to move.
    pub is_white_to_move: bool,
    /// Full move number of the next move.
    pub move_number: u32,
    /// Last move, in UCI notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_move: Option<String>,
    /// Engine, clock and last search report of White.
    pub white: Side,
    /// Engine, clock and last search report of Black.
    pub black: Side,
}

/// One side of a game in progress, with its clock and the search report on its last move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Index of the engine.
    pub engine: usize,
    /// Time left on the clock in milliseconds, if there is a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_left_ms: Option<u64>,
    /// Score of the last move, in the form of game comments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<String>,
    /// Search depth of the last move, in plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Time used for the last move, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<f64>,
}

impl Running {
    /// Returns the state of a run, without games and events.
    pub fn of(status: RunStatus) -> Running {
        Running { schema: Version::V2, status, boards: None, recent: None }
    }
}

impl Boards {
    /// Returns the boards of the games `shown`, which are the first of `count` games in progress.
    pub fn of(shown: &[((u64, usize), GameSnapshot)], count: usize) -> Boards {
        let shown = shown.iter().map(|(place, snapshot)| Board::of(*place, snapshot)).collect();
        Boards { count, shown }
    }
}

impl Side {
    /// Formats the time left on the clock as minutes and seconds, or, in the last minute, as
    /// seconds and tenths. Returns `None` if there is no clock.
    pub fn clock(&self) -> Option<String> {
        let ms = self.time_left_ms?;
        Some(match ms / 60_000 {
            0 => format!("{}.{}", ms / 1000, ms % 1000 / 100),
            minutes => format!("{minutes}:{:02}", ms % 60_000 / 1000),
        })
    }
}

impl Board {
    /// Formats the numbers of the pair and the game, both from 1. For example, `3.2` is the second
    /// game of pair 3.
    pub fn place(&self) -> String {
        format!("{}.{}", self.pair + 1, self.game + 1)
    }

    /// Returns the number of plies before the position, counted from White's first move.
    pub(crate) fn ply(&self) -> u32 {
        2 * self.move_number.saturating_sub(1) + u32::from(!self.is_white_to_move)
    }

    fn of((pair, game): (u64, usize), snapshot: &GameSnapshot) -> Board {
        let side = |color: Color| {
            let search = snapshot.searches.get(color);
            Side {
                engine: *snapshot.engines.get(color),
                time_left_ms: snapshot.left.get(color).map(|left| left.as_millis() as u64),
                score: search.and_then(|search| search.score).map(|score| score.to_string()),
                depth: search.and_then(|search| search.depth),
                elapsed_ms: search.map(|search| search.elapsed.as_secs_f64() * 1e3),
            }
        };
        Board {
            pair,
            game,
            placement: snapshot.position.board().to_string(),
            is_white_to_move: snapshot.position.turn() == Color::White,
            move_number: snapshot.position.fullmoves().get(),
            last_move: snapshot.last.map(|uci| uci.to_string()),
            white: side(Color::White),
            black: side(Color::Black),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use shakmaty::{ByColor, Chess};

    use super::*;
    use arbiter_game::live_game::MoveSummary;
    use arbiter_protocol::Score;
    use arbiter_run::Pace;

    #[test]
    fn run_status_and_boards_round_trip() {
        let status = RunStatus {
            pace: Pace::Paused,
            concurrency: 2,
            pairs_in_flight: 1,
            pairs_counted: 3,
            pairs_expected: 9,
            games: 6,
            faults: 0,
        };
        let search = MoveSummary {
            score: Some(Score::Centipawns(-31)),
            depth: Some(7),
            elapsed: Duration::from_micros(2_500),
        };
        let snapshot = GameSnapshot {
            engines: ByColor { white: 1, black: 0 },
            position: Chess::default(),
            last: "g8f6".parse().ok(),
            searches: ByColor { white: None, black: Some(search) },
            left: ByColor { white: None, black: Some(Duration::from_millis(1_234)) },
        };
        let mut sent = Running::of(status.clone());
        sent.boards = Some(Boards::of(&[((4, 1), snapshot)], 5));
        sent.recent = Some(Recent::default());
        let json = |running: &Running| serde_json::to_string(running).unwrap();
        assert_eq!(serde_json::from_str::<Running>(&json(&sent)).unwrap(), sent);
        let boards = sent.boards.expect("they were asked for");
        let board = &boards.shown[0];
        assert_eq!((boards.count, board.pair, board.game, board.move_number), (5, 4, 1, 1));
        assert_eq!(board.placement, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
        assert_eq!(board.black.score.as_deref(), Some("-0.31"));
        assert_eq!((board.black.time_left_ms, board.white.depth), (Some(1_234), None));
        let newer = json(&Running::of(status)).replace("arbiter.status/2", "arbiter.status/3");
        let error = serde_json::from_str::<Running>(&newer).unwrap_err().to_string();
        assert!(error.contains("arbiter.status/3"), "{error}");
    }
}
