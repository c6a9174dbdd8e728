//! Games from PGN text or from the store, to be scanned for candidate positions.

use std::io::{self, Read};
use std::ops::ControlFlow;

use shakmaty::{KnownOutcome, Move, Position};

use arbiter_game::record::{GameRecord, MoveRecord};
use arbiter_pgn::{
    Blocks, Evaluation, GameVisitor, Games, Mainline, San, Tags, Text, evaluation, text_of,
};
use arbiter_position::Start;
use arbiter_protocol::Score;

/// Beginnings of the words with which a PGN file reports that a fault decided the game: in values
/// of the tag `Termination` in the PGN standard (section 9.8.1), and in values and comments of
/// cutechess-cli, fastchess, XBoard and chess servers. If a fault decided the game, the result
/// contains no information about the positions.
const FAULTS: &str = "abandoned, connection, crash, disconnect, emergency, exited, forfeit, \
                      illegal engine move, illegal move, on time, out of time, rules infraction, \
                      stalled, stalls, time out, timeout, unterminated";

/// Beginnings of comments in which [`FAULTS`] are about the end of the game: sides, and the
/// programs that Arena, XBoard and Polyglot name. In other comments, such words may be about the
/// moves.
const REPORTERS: [&str; 6] = ["White", "Black", "Arena", "Xboard", "Error", "polyglot"];

/// Returns whether a value of the PGN tag `Termination`, or the comment after the last move,
/// reports that a fault decided the game.
pub fn is_fault(termination: &str, last_comment: &str) -> bool {
    let tells = |text: &str| {
        let words = text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ");
        FAULTS.split(", ").any(|fault| format!(" {words}").contains(&format!(" {fault}")))
    };
    let is_report = |text: &&str| REPORTERS.iter().any(|name| text.starts_with(name));
    tells(termination) || last_comment.split(", ").filter(is_report).any(tells)
}

/// Game, up to the last move that could be replayed.
#[derive(Debug, Clone)]
pub struct Game {
    /// Players and source of the game, such as "A v B, games.pgn game 7".
    pub origin: String,
    /// Starting position.
    pub start: Start,
    /// Moves from the starting position.
    pub moves: Vec<Move>,
    /// Score, in centipawns, that the engine reported for each move, from the point of view of the
    /// side to move; `None` for mate scores and for moves without a score, such as book moves.
    /// Empty for games from a PGN file.
    pub scores: Vec<Option<i32>>,
    /// Result of the game; `None` if the result is unknown or a fault decided the game.
    pub result: Option<KnownOutcome>,
    /// Number of plies before an engine first announced a mate; total number of plies if no engine
    /// announced a mate.
    pub open_plies: usize,
}

/// Parses all games in a PGN text, without variations. Returns the games, and messages about games
/// that were truncated, corrected or skipped. Fails only if the source cannot be read.
pub fn read_games(file: &str, source: impl Read) -> io::Result<(Vec<Game>, Vec<String>)> {
    let (mut games, mut faults) = (Vec::new(), Vec::new());
    let mut replay = Replay::default();
    let mut number = 0;
    for block in Blocks::new(source) {
        let block = block?;
        let text = Text::new(&block);
        let mut reader = Games::new(&text);
        while reader.read(&mut replay) {
            number += 1;
            let result = replay.result(reader.tags());
            let place = format!("{file} game {number}");
            faults.extend(replay.fault.take().map(|reason| format!("{place}: {reason}")));
            let Some(Mainline { mut start, moves, .. }) = replay.line.take() else { continue };
            faults.extend(start.correction.take().map(|what| format!("{place}: {what}")));
            let origin = format!("{}{place}", replay.origin);
            let open_plies = replay.first_mate.unwrap_or(moves.len());
            games.push(Game { origin, start, moves, scores: Vec::new(), result, open_plies });
        }
    }
    Ok((games, faults))
}

/// Converts a game from the store. Fails if the starting position or a move is illegal.
pub fn stored_game(origin: String, record: &GameRecord) -> Result<Game, String> {
    let start = Start::read(&record.fen, record.chess960)?;
    let mut position = start.position.clone();
    let (mut moves, mut scores) = (Vec::new(), Vec::new());
    let mut open_plies = None;
    for MoveRecord { uci, search } in &record.moves {
        let score = search.as_ref().and_then(|search| search.score);
        if matches!(score, Some(Score::Mate(_))) {
            open_plies.get_or_insert(moves.len());
        }
        scores.push(score.and_then(Score::centipawns));
        let played = uci.to_move(&position).map_err(|error| format!("{origin}: {uci}: {error}"))?;
        position.play_unchecked(played);
        moves.push(played);
    }
    let open_plies = open_plies.unwrap_or(moves.len());
    // A result that a fault decided contains no information about the positions, so the result must
    // not be used for training.
    let is_fault = record.outcome.termination.is_fault();
    let result = Some(record.outcome.result).filter(|_| !is_fault);
    Ok(Game { origin, start, moves, scores, result, open_plies })
}

/// Visitor that replays the game that is being read.
#[derive(Default)]
struct Replay {
    /// Starting position and moves; `None` if the starting position is invalid.
    line: Option<Mainline>,
    /// Names of the players; empty if a name is missing.
    origin: String,
    /// Reason for skipping the game, the result, or the rest of the game.
    fault: Option<String>,
    /// Number of plies before an engine first announced a mate.
    first_mate: Option<usize>,
    /// Comment after the last move.
    last_comment: String,
}

impl Replay {
    /// Skips the rest of the game. The moves before the fault are kept, but the result is
    /// discarded.
    fn break_off(&mut self, reason: String) -> ControlFlow<()> {
        self.fault = Some(reason);
        ControlFlow::Break(())
    }

    /// Returns the result of the game; `None` if the result contains no information about the
    /// moves.
    fn result(&mut self, tags: &Tags) -> Option<KnownOutcome> {
        // After a fault, the result depends on moves that could not be read.
        if self.fault.is_some() || is_fault(&text_of(&tags.termination), &self.last_comment) {
            return None;
        }
        tags.outcome().unwrap_or_else(|error| {
            self.fault = Some(error.to_string());
            None
        })
    }
}

impl GameVisitor for Replay {
    fn begin(&mut self, tags: &Tags) -> ControlFlow<()> {
        *self = Replay::default();
        match tags.start() {
            Ok(start) => self.line = Some(Mainline::new(start)),
            Err(reason) => return self.break_off(reason),
        }
        if !(tags.white.is_empty() || tags.black.is_empty()) {
            self.origin = format!("{} v {}, ", text_of(&tags.white), text_of(&tags.black));
        }
        ControlFlow::Continue(())
    }

    fn san(&mut self, san: San) -> ControlFlow<()> {
        self.last_comment.clear();
        let Some(line) = &mut self.line else { return ControlFlow::Break(()) };
        let Err(error) = line.play(san) else { return ControlFlow::Continue(()) };
        let written = line.numbered(&san.to_string());
        self.break_off(format!("{written} {error}; the rest is ignored"))
    }

    fn unknown(&mut self, word: &[u8]) -> ControlFlow<()> {
        let Some(line) = &self.line else { return ControlFlow::Break(()) };
        self.break_off(format!("{}; the rest is ignored", line.fault(word)))
    }

    fn comment(&mut self, comment: &[u8]) {
        let plies = self.line.as_ref().map_or(0, |line| line.moves.len());
        if evaluation(comment).is_some_and(Evaluation::is_mate) {
            // The comment is after the move, but the score belongs to the position before the move.
            self.first_mate.get_or_insert(plies.saturating_sub(1));
        }
        self.last_comment = text_of(comment);
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
        let pgn = "[Result \"1-0\"]\n\n1. e4\n\n[Result \"1-0\"]\n\n1. e4 0-1\n\n\
                   [Result \"*\"]\n\n1. e4 1-0\n";
        let (games, faults) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        let results: Vec<_> = games.iter().map(|game| game.result).collect();
        assert_eq!(results, [Some(white), None, None]);
        let expected = [2, 3].map(|game| format!("a.pgn game {game}: contradicting results"));
        assert_eq!(faults, expected);
    }

    #[test]
    fn faults_in_tags_and_comments_are_recognized() {
        for (termination, comment) in [
            ("Time forfeit", ""),
            ("rules_infraction", ""),
            ("A won on time", ""),
            ("A won - game abandoned", ""),
            ("normal", "White loses on time"),
            ("", "Black's connection stalls"),
            ("", "+0.31/7 0.1s, White makes an illegal move: e2e9"),
            ("", "-M2/9, 0.1s, pv=\"d7d5, x\", Black disconnects"),
            ("", " White wins on time. "),
            ("", "Black forfeits by disconnection"),
            ("", "Xboard: Forfeit due to invalid move: e2e5"),
            ("", "Arena Adjudication. Illegal move!"),
            ("", "Error: The first chess program (a) exited unexpectedly"),
            ("", "polyglot: resign (illegal engine move by a: e2e5 after move 3)"),
        ] {
            let comment = text_of(comment.as_bytes());
            assert!(is_fault(termination, &comment), "{termination} {comment}");
        }
        for (termination, comment) in [
            ("adjudication", "White wins by adjudication"),
            ("Stalling won by resignation", "Black resigns"),
            ("", "A quiet move on time, and the attack stalls"),
        ] {
            assert!(!is_fault(termination, comment), "{termination} {comment}");
        }
        let pgn = "1. e4 {0.1s, White loses on time} 0-1\n\n1. e4 {White disconnects} e5 0-1\n";
        let (games, _) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        assert_eq!([0, 1].map(|n: usize| games[n].result.is_some()), [false, true]);
    }

    #[test]
    fn mate_comments_are_recognized_and_corrections_reported() {
        let pgn = "1. e4 {[%eval 0.3] [%clk 0:01]} e5 {[%eval #3]} 2. Nf3 1-0\n\n\
                   [FEN \"4k3/8/8/8/8/8/4P3/4K3 w K - 0 1;\"]\n\n1. e4 {-M2/9 1s} *\n";
        let (games, faults) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        assert_eq!((games[0].open_plies, games[1].open_plies), (1, 0));
        assert_eq!(faults, ["a.pgn game 2: ignored as impossible: castling with h1"]);
    }

    #[test]
    fn games_are_replayed_up_to_the_first_fault() {
        let pgn = "[White \"A\"]\n[Black \"B\"]\n\n1. e4 (1. d4 d5) 1... e5 2. Nf3 *\n\n\
                   [FEN \"4k3/8/8/8/8/8/8/R3K3 w Q - 0 1\"]\n\n1. O-O-O Kd9 2. Rd2 *\n\n\
                   1. e4 e5 2. e5 d5 *\n\n[FEN \"what\"]\n\n1. e4 *\n";
        let (games, faults) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        let plies: Vec<usize> = games.iter().map(|game| game.moves.len()).collect();
        assert_eq!(plies[0], 3);
        assert_eq!(games[0].origin, "A v B, a.pgn game 1");
        assert_eq!(games[1].origin, "a.pgn game 2");
        assert_eq!(plies[2], 2);
        assert!(faults.iter().any(|fault| fault.starts_with("a.pgn game 3: 2. e5 is not legal")));
        let no_position = "a.pgn game 4: expected a position";
        assert!(faults.iter().any(|fault| fault.starts_with(no_position)), "{faults:?}");
    }
}
