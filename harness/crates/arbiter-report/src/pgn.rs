//! Games as PGN text, with comments in the style of fastchess: `{score/depth time}`.
//!
//! Where no clock bounds the engines, comments carry nodes instead of times, and nothing else in
//! the text depends on the clock: the same games give the same bytes.

mod written;

use std::fmt::Write as _;
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position};

use self::written::harmless;
use crate::compat::{reason, time_control};
use crate::openings::{Named, OpeningNames};
use crate::stored::utc_time_as;
use arbiter_game::annotation::{Annotation, Dialect};
use arbiter_game::outcome::Termination;
use arbiter_game::record::GameRecord;
use arbiter_plan::PlayedPair;
use arbiter_protocol::Limits;

/// Longest line of move text, in characters, unless a single move needs more.
const WIDTH: usize = 80;

/// Plies after which no opening gets a name any more.
const LONGEST_OPENING: usize = 50;

/// What the games of a run have in common.
#[derive(Debug, Clone)]
pub struct PgnHeader {
    /// `Event` tag, if the annotation has none.
    pub event: String,
    /// `Date` tag, `YYYY.MM.DD`: the day the run began.
    pub date: String,
    /// Names of the engines.
    pub engines: Vec<String>,
    /// What bounds each engine.
    pub limits: Vec<Limits>,
    /// Content hashes of the engines' programs.
    pub hashes: Vec<String>,
    /// Seed of the run.
    pub seed: u64,
    /// What games tell besides their moves.
    pub annotation: Annotation,
    /// What openings are called, if games are to tell.
    pub names: Option<OpeningNames>,
}

impl PgnHeader {
    /// Whether comments and tags tell times.
    fn is_timed(&self) -> bool {
        self.annotation.dialect.is_some() || self.limits.iter().any(Limits::is_timed)
    }
}

/// The games of a pair, each followed by an empty line.
pub fn pgn_text(header: &PgnHeader, played: &PlayedPair) -> String {
    let games = played.games.iter().zip(1..);
    games
        .map(|(game, number)| {
            let pair = played.pairing.pair + 1;
            let round = match header.annotation.dialect {
                None => format!("{pair}.{number}"),
                Some(_) => pair.to_string(),
            };
            format!("{}\n{}\n\n", tags(header, &round, game), movetext(header, game))
        })
        .collect()
}

fn tags(header: &PgnHeader, round: &str, game: &GameRecord) -> String {
    let mut text = String::new();
    let dialect = header.annotation.dialect;
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        text.push_str(&format!("[{name} \"{value}\"]\n"));
    };
    let engine = |color: Color| *game.engines.get(color);
    tag("Event", header.annotation.event.as_ref().unwrap_or(&header.event));
    tag("Site", header.annotation.site.as_deref().unwrap_or("?"));
    tag("Date", &header.date);
    tag("Round", round);
    tag("White", &header.engines[engine(Color::White)]);
    tag("Black", &header.engines[engine(Color::Black)]);
    tag("Result", game.outcome.result.as_str());
    if game.chess960 {
        let is_cutechess = dialect == Some(Dialect::Cutechess);
        tag("Variant", if is_cutechess { "fischerandom" } else { "Chess960" });
    }
    let start = Fen::from_position(&Chess::default(), EnPassantMode::Legal).to_string();
    if game.fen != start || game.chess960 {
        tag("SetUp", "1");
        tag("FEN", &game.fen);
    }
    if header.annotation.is_minimal {
        return text;
    }
    tag("PlyCount", &game.moves.len().to_string());
    if header.is_timed() {
        tag("GameDuration", &clock_time(game.duration));
    }
    if let Some(begun_ms) = game.begun_ms.filter(|_| dialect.is_some()) {
        let shown = |ms| utc_time_as(ms, "%Y-%m-%dT%H:%M:%S +0000");
        let length = i64::try_from(game.duration.as_millis()).unwrap_or(0);
        tag("GameStartTime", &shown(begun_ms));
        tag("GameEndTime", &shown(begun_ms.saturating_add(length)));
    }
    tag("Termination", termination(game.outcome.termination, dialect));
    let [white, black] = [Color::White, Color::Black].map(|c| header.limits[engine(c)]);
    let control = |limits: &Limits| match dialect {
        None => limits.to_string(),
        Some(_) => time_control(limits).unwrap_or_else(|| "-".to_owned()),
    };
    if white == black {
        tag("TimeControl", &control(&white));
    } else {
        tag("WhiteTimeControl", &control(&white));
        tag("BlackTimeControl", &control(&black));
    }
    let named = header.names.as_ref().and_then(|names| names.last_named(game, LONGEST_OPENING));
    if let Some(Named { eco, name }) = named {
        tag("ECO", eco);
        tag("Opening", name);
    }
    if header.annotation.has_origin {
        tag("WhiteHash", &header.hashes[engine(Color::White)]);
        tag("BlackHash", &header.hashes[engine(Color::Black)]);
        tag("Seed", &header.seed.to_string());
    }
    text
}

/// The words that readers of PGN know for this tag.
fn termination(termination: Termination, dialect: Option<Dialect>) -> &'static str {
    match termination {
        Termination::IllegalMove | Termination::UnparseableMove if dialect.is_some() => {
            "illegal move"
        }
        Termination::Stall if dialect == Some(Dialect::Cutechess) => "stalled connection",
        Termination::Checkmate
        | Termination::Stalemate
        | Termination::Threefold
        | Termination::FiftyMoves
        | Termination::DeadPosition
        | Termination::Resignation => "normal",
        Termination::ResignAdjudication
        | Termination::DrawAdjudication
        | Termination::TablebaseAdjudication
        | Termination::MoveCap => "adjudication",
        Termination::TimeForfeit => "time forfeit",
        Termination::IllegalMove | Termination::UnparseableMove | Termination::ProtocolError => {
            "rules infraction"
        }
        Termination::Crash | Termination::Disconnect | Termination::Stall => "abandoned",
    }
}

fn clock_time(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

fn movetext(header: &PgnHeader, game: &GameRecord) -> String {
    let mode = CastlingMode::from_chess960(game.chess960);
    let annotation = &header.annotation;
    let is_timed = header.is_timed();
    let mut position = game.start();
    let mut lines = Wrapped::default();
    let detail = match annotation.dialect {
        None => harmless(&game.outcome.detail),
        Some(_) => reason(&game.outcome),
    };
    if game.moves.is_empty() && !annotation.is_minimal {
        lines.push(&format!("{{{detail}}}"));
    }
    let mut word = String::new();
    for (index, played) in game.moves.iter().enumerate() {
        word.clear();
        // Nothing that is written to a text fails.
        let _ = match (position.turn(), index) {
            (Color::White, _) => write!(word, "{}. ", position.fullmoves()),
            (Color::Black, 0) => write!(word, "{}... ", position.fullmoves()),
            (Color::Black, _) => Ok(()),
        };
        // A record holds legal moves only; text of one that does not is cut short.
        if written::play(&mut word, &mut position, played, annotation.notation, mode).is_none() {
            break;
        }
        if !annotation.is_minimal {
            let _ = match &played.thought {
                None => write!(word, " {{book"),
                Some(thought) => written::comment(&mut word, thought, annotation, is_timed),
            };
            if index + 1 == game.moves.len() {
                let _ = write!(word, ", {detail}");
            }
            word.push('}');
        }
        lines.push(&word);
    }
    lines.push(game.outcome.result.as_str());
    lines.text
}

/// Text that breaks only between moves.
#[derive(Default)]
struct Wrapped {
    text: String,
    column: usize,
}

impl Wrapped {
    fn push(&mut self, word: &str) {
        let length = word.chars().count();
        if self.column > 0 && self.column + 1 + length > WIDTH {
            self.text.push('\n');
            self.column = 0;
        } else if self.column > 0 {
            self.text.push(' ');
            self.column += 1;
        }
        self.text.push_str(word);
        self.column += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::annotation::Notation;
    use arbiter_game::outcome::Outcome;
    use arbiter_game::record::{MoveRecord, Thought};
    use arbiter_plan::Games;
    use arbiter_protocol::Score;
    use arbiter_schedule::Pairing;
    use shakmaty::ByColor;

    fn game(fen: &str, moves: &[&str]) -> GameRecord {
        let thought = Thought {
            score: Some(Score::Centipawns(31)),
            depth: Some(7),
            seldepth: None,
            nodes: Some(900),
            elapsed: Duration::from_micros(104_400),
            ..Thought::default()
        };
        let moves = moves.iter().map(|uci| MoveRecord {
            uci: uci.parse().unwrap(),
            thought: (*uci != "e2e4").then(|| thought.clone()),
        });
        GameRecord {
            engines: ByColor { white: 1, black: 0 },
            fen: fen.to_owned(),
            chess960: false,
            moves: moves.collect(),
            outcome: Outcome::lost(Color::White, Termination::TimeForfeit, "White {loses}"),
            duration: Duration::from_secs(3_725),
            ready: ByColor::default(),
            movetime: ByColor::default(),
            late: None,
            waited: ByColor::default(),
            begun_ms: None,
            transcript: None,
        }
    }

    fn text(limits: &str, record: GameRecord) -> String {
        annotated(limits, record, Annotation::default())
    }

    fn annotated(limits: &str, record: GameRecord, annotation: Annotation) -> String {
        let limits = match limits {
            "" => Limits { nodes: Some(900), ..Limits::default() },
            tc => Limits { clock: Some(tc.parse().unwrap()), ..Limits::default() },
        };
        let header = PgnHeader {
            event: "A \"test\"".into(),
            date: "2030.01.02".into(),
            engines: vec!["New".into(), "Old".into()],
            limits: vec![limits; 2],
            hashes: vec!["aa".into(), "bb".into()],
            seed: 9,
            names: annotation.has_origin.then(OpeningNames::default),
            annotation,
        };
        let pairing = Pairing { pair: 4, engines: [0, 1], opening: 4 };
        let games = Games { first: record.clone(), second: Some(record) };
        pgn_text(&header, &PlayedPair { pairing, games })
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_timed_game() {
        let text = text("1+0.01", game(START, &["e2e4", "e7e5", "g1f3"]));
        let expect = r#"[Event "A \"test\""]
[Site "?"]
[Date "2030.01.02"]
[Round "5.1"]
[White "Old"]
[Black "New"]
[Result "0-1"]
[PlyCount "3"]
[GameDuration "01:02:05"]
[Termination "time forfeit"]
[TimeControl "1+0.01"]

1. e4 {book} e5 {+0.31/7 0.104s} 2. Nf3 {+0.31/7 0.104s, White |loses|} 0-1

"#;
        assert!(text.starts_with(expect), "{text}");
        assert!(text.contains("[Round \"5.2\"]"));
    }

    #[test]
    fn event_and_site_can_be_named() {
        let named = Annotation {
            event: Some("Cup \"9\"".to_owned()),
            site: Some("home".to_owned()),
            is_minimal: true,
            ..Annotation::default()
        };
        let text = annotated("1", game(START, &["e2e4"]), named);
        assert!(text.starts_with("[Event \"Cup \\\"9\\\"\"]\n[Site \"home\"]\n[Date"), "{text}");
    }

    #[test]
    fn an_untimed_game_has_no_times() {
        let text = text("", game("4k3/8/8/8/8/8/4P3/4K3 b - - 3 20", &["e8e7"]));
        assert!(text.contains("[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 3 20\"]"));
        assert!(text.contains("20... Ke7 {+0.31/7, n=900, White |loses|} 0-1"), "{text}");
        assert!(!text.contains("GameDuration"));
    }

    #[test]
    fn a_game_tells_its_opening_and_its_origin() {
        let origin = Annotation { has_origin: true, ..Annotation::default() };
        let record = game(START, &["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "a2a3"]);
        let text = annotated("1", record, origin.clone());
        let tags = "[ECO \"C60\"]\n[Opening \"Ruy Lopez\"]\n[WhiteHash \"bb\"]\n\
                    [BlackHash \"aa\"]\n[Seed \"9\"]\n\n";
        assert!(text.contains(tags), "{text}");
        let fen = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        let text = annotated("1", game(fen, &["b1c3"]), origin.clone());
        assert!(text.contains("[ECO \"B23\"]"), "{text}");
        let shuffled = GameRecord { chess960: true, ..game(START, &["e2e4"]) };
        assert!(!annotated("1", shuffled, origin).contains("ECO"));
    }

    #[test]
    fn a_minimal_game_has_tags_and_moves_only() {
        let minimal = Annotation {
            is_minimal: true,
            has_origin: true,
            notation: Notation::Uci,
            ..Annotation::default()
        };
        let text = annotated("1", game(START, &["e2e4", "e7e5"]), minimal);
        let expect = "[Result \"0-1\"]\n\n1. e2e4 e7e5 0-1\n\n";
        assert!(text.contains(expect), "{text}");
    }

    #[test]
    fn lines_break_between_moves() {
        let text = text("1", game(START, &["e7e5", "e2e4"]));
        assert!(text.contains("{White") || text.contains("0-1"));
        let long = ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(4);
        let text = super::tests::text("1", game(START, &long));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
