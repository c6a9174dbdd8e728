//! Games to look for positions in, from PGN text.

use std::io::{self, Read};
use std::ops::ControlFlow;

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::{Chess, KnownOutcome, Move, Outcome, Position};

use arbiter_game::record::{GameRecord, MoveRecord};
use arbiter_position::Start;
use arbiter_protocol::Score;

/// Longest tag line accepted, in bytes.
const MAX_TAG_LINE: usize = 1 << 13;

/// What the PGN tag `Termination` says of games that a fault decided.
const FAULTS: [&str; 5] =
    ["abandoned", "emergency", "rules infraction", "time forfeit", "unterminated"];

/// A game as far as it could be replayed.
#[derive(Debug, Clone)]
pub struct Game {
    /// Where it is from, such as "A v B, games.pgn game 7".
    pub origin: String,
    /// Its start.
    pub start: Start,
    /// Its moves.
    pub moves: Vec<Move>,
    /// What the engine told of each position when it moved, in centipawns for the side to move; nothing of
    /// book moves and mates, nor of games of a PGN file.
    pub scores: Vec<Option<i32>>,
    /// Who won; `None` if that is not known, or was decided by a fault of an engine.
    pub result: Option<KnownOutcome>,
    /// How many of the moves were made before an engine announced a mate.
    pub open_plies: usize,
}

/// All games of a PGN text, and what is wrong with those that are cut short or left out. Variations
/// are not looked at.
pub fn read_games(file: &str, source: impl Read) -> io::Result<(Vec<Game>, Vec<String>)> {
    let mut reader = Reader::build(source).set_supported_tag_line_length(MAX_TAG_LINE).finish();
    let (mut games, mut faults) = (Vec::new(), Vec::new());
    let mut number = 0;
    while let Some(read) = reader.read_game(&mut Replay)? {
        number += 1;
        let place = format!("{file} game {number}");
        match read {
            Err(reason) => faults.push(format!("{place}: {reason}")),
            Ok(Replayed { mut game, fault, first_mate, .. }) => {
                if let Some(reason) = fault {
                    game.result = None;
                    faults.push(format!("{place}: {reason}"));
                }
                game.origin.push_str(&place);
                game.open_plies = first_mate.unwrap_or(game.moves.len());
                games.push(game);
            }
        }
    }
    Ok((games, faults))
}

/// A game of the store.
pub fn stored_game(origin: String, record: &GameRecord) -> Result<Game, String> {
    let start = Start::read(&record.fen, record.chess960)?;
    let mut position = start.position.clone();
    let (mut moves, mut scores) = (Vec::new(), Vec::new());
    let mut open_plies = None;
    for MoveRecord { uci, thought } in &record.moves {
        let score = thought.as_ref().and_then(|thought| thought.score);
        if matches!(score, Some(Score::Mate(_))) {
            open_plies.get_or_insert(moves.len());
        }
        scores.push(match score {
            Some(Score::Centipawns(score)) => Some(score),
            Some(Score::Mate(_)) | None => None,
        });
        let played = uci.to_move(&position).map_err(|error| format!("{origin}: {uci}: {error}"))?;
        position.play_unchecked(played);
        moves.push(played);
    }
    let open_plies = open_plies.unwrap_or(moves.len());
    let is_fault = record.outcome.termination.is_fault();
    let result = Some(record.outcome.result).filter(|_| !is_fault);
    Ok(Game { origin, start, moves, scores, result, open_plies })
}

struct Replay;

#[derive(Default)]
struct Tags {
    fen: Option<String>,
    is_chess960: bool,
    players: [Option<String>; 2],
    is_faulty: bool,
}

struct Replayed {
    /// Its origin has the players only.
    game: Game,
    position: Chess,
    /// Why the rest of the game is left out.
    fault: Option<String>,
    /// Whether a fault of an engine decided the game.
    is_faulty: bool,
    /// Plies before an engine announced a mate.
    first_mate: Option<usize>,
}

impl Visitor for Replay {
    type Tags = Tags;
    type Movetext = Replayed;
    type Output = Result<Replayed, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(
        &mut self,
        tags: &mut Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let value = || value.decode_utf8_lossy().into_owned();
        match name {
            b"FEN" => tags.fen = Some(value()),
            b"Variant" => tags.is_chess960 = value().to_ascii_lowercase().contains("960"),
            b"White" => tags.players[0] = Some(value()),
            b"Black" => tags.players[1] = Some(value()),
            b"Termination" => tags.is_faulty = FAULTS.contains(&value().as_str()),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, Replayed> {
        let initial = || shakmaty::fen::Fen::default().to_string();
        let fen = tags.fen.unwrap_or_else(initial);
        let players = match tags.players {
            [Some(white), Some(black)] => format!("{white} v {black}, "),
            _ => String::new(),
        };
        match Start::read(&fen, tags.is_chess960) {
            Ok(start) => ControlFlow::Continue(Replayed {
                position: start.position.clone(),
                game: Game {
                    origin: players,
                    start,
                    moves: Vec::new(),
                    scores: Vec::new(),
                    result: None,
                    open_plies: 0,
                },
                fault: None,
                is_faulty: tags.is_faulty,
                first_mate: None,
            }),
            Err(reason) => ControlFlow::Break(Err(reason)),
        }
    }

    fn begin_variation(&mut self, _: &mut Replayed) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn san(&mut self, read: &mut Replayed, san: SanPlus) -> ControlFlow<Self::Output> {
        if read.fault.is_some() {
            return ControlFlow::Continue(());
        }
        match san.san.to_move(&read.position) {
            Ok(played) => {
                read.position.play_unchecked(played);
                read.game.moves.push(played);
            }
            // What was played before stands.
            Err(error) => {
                let ply = read.game.moves.len() + 1;
                let fault = format!("move '{san}', ply {ply}: {error}; the rest is left out");
                read.fault = Some(fault);
            }
        }
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        read: &mut Replayed,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        let text = comment.as_bytes().trim_ascii();
        if text.starts_with(b"+M") || text.starts_with(b"-M") {
            read.first_mate.get_or_insert(read.game.moves.len().saturating_sub(1));
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, read: &mut Replayed, outcome: Outcome) -> ControlFlow<Self::Output> {
        if let Outcome::Known(result) = outcome {
            read.game.result = Some(result).filter(|_| !read.is_faulty);
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, read: Replayed) -> Self::Output {
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_count_unless_an_engine_failed() {
        let pgn = "[Termination \"normal\"]\n\n1. e4 {+0.20/8} e5 {+M4/9 0.1s} 2. Nf3 1-0\n\n\
                   [Termination \"time forfeit\"]\n\n1. e4 1-0\n\n1. e4 *\n\n1. e5 0-1\n";
        let (games, _) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        let found: Vec<_> = games.iter().map(|game| (game.result, game.open_plies)).collect();
        let white = KnownOutcome::Decisive { winner: shakmaty::Color::White };
        assert_eq!(found, [(Some(white), 1), (None, 1), (None, 1), (None, 0)]);
    }

    #[test]
    fn games_are_replayed_as_far_as_they_go() {
        let pgn = "[White \"A\"]\n[Black \"B\"]\n\n1. e4 (1. d4 d5) 1... e5 2. Nf3 *\n\n\
                   [FEN \"4k3/8/8/8/8/8/8/R3K3 w Q - 0 1\"]\n\n1. O-O-O Kd9 2. Rd2 *\n\n\
                   1. e4 e5 2. e5 d5 *\n\n[FEN \"what\"]\n\n1. e4 *\n";
        let (games, faults) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        let plies: Vec<usize> = games.iter().map(|game| game.moves.len()).collect();
        assert_eq!(plies[0], 3);
        assert_eq!(games[0].origin, "A v B, a.pgn game 1");
        assert_eq!(games[1].origin, "a.pgn game 2");
        assert_eq!(plies[2], 2);
        assert!(faults.iter().any(|fault| fault.starts_with("a.pgn game 3: move 'e5', ply 3")));
        assert!(
            faults.iter().any(|fault| fault.starts_with("a.pgn game 4: expected a position")),
            "{faults:?}"
        );
    }
}
