//! Games as PGN text, with comments in the style of fastchess: `{score/depth time}`.
//!
//! If the engines play without time limits, comments contain node counts instead of times, so that
//! identical games produce identical bytes.

mod written;

use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position};

use self::written::sanitized;
use crate::figures::{OpeningName, OpeningNames};
use crate::games::{illegal_move, reason, time_control};
use crate::parts::{files_text, utc_time_as};
use arbiter_game::annotation::Dialect;
use arbiter_game::outcome::Termination;
use arbiter_game::record::GameRecord;
use arbiter_plan::{Engine, Plan, RunKind};
use arbiter_protocol::Limits;
use arbiter_run::PlayedPair;
use arbiter_store::Fingerprints;

/// Maximum length of a line of movetext, in characters, unless a single move with its comment is
/// longer.
const WIDTH: usize = 80;

/// Number of plies at the start of a game that are scanned for a named opening.
const LONGEST_OPENING: usize = 50;

/// Properties that all games of a run share.
#[derive(Debug, Clone)]
pub struct PgnHeader {
    plan: Plan,
    fingerprints: Fingerprints,
    /// Value of the tag `Date`: the day on which the run started, as `YYYY.MM.DD`.
    date: String,
    /// Names of openings; `None` if the games have no opening tags.
    names: Option<OpeningNames>,
}

impl PgnHeader {
    /// Returns the header of a run that started at `created_ms` (Unix time in milliseconds).
    pub fn of(plan: &Plan, fingerprints: &Fingerprints, created_ms: i64) -> PgnHeader {
        let is_named = plan.annotation.has_origin && !plan.annotation.is_minimal;
        PgnHeader {
            plan: plan.clone(),
            fingerprints: fingerprints.clone(),
            date: utc_time_as(created_ms, "%Y.%m.%d"),
            names: is_named.then(OpeningNames::default),
        }
    }

    /// Returns `true` if comments and tags contain times.
    fn is_timed(&self) -> bool {
        self.plan.annotation.dialect.is_some() || self.plan.is_timed()
    }

    /// Returns the engine of a side.
    fn engine(&self, game: &GameRecord, color: Color) -> &Engine {
        &self.plan.engines[*game.engines.get(color)]
    }

    /// Returns the value of the tag `Event`.
    fn event(&self) -> String {
        let Plan { annotation, kind, design, .. } = &self.plan;
        if let Some(event) = &annotation.event {
            return event.clone();
        }
        match (annotation.dialect, kind) {
            (Some(Dialect::Fastchess), _) => "Fastchess Tournament".to_owned(),
            (Some(Dialect::Cutechess), _) => "?".to_owned(),
            (None, RunKind::Sprt) => "Arbiter SPRT".to_owned(),
            (None, RunKind::Match) => "Arbiter match".to_owned(),
            (None, RunKind::Tournament) => format!("Arbiter {}", design.format),
            (None, RunKind::Ablate) => "Arbiter ablation".to_owned(),
            (None, RunKind::Tune) => "Arbiter tuning".to_owned(),
        }
    }
}

/// Formats the games of a pair, each followed by an empty line.
pub fn pgn_text(header: &PgnHeader, played: &PlayedPair) -> String {
    let game_indices = 0..played.games.iter().count();
    game_indices.filter_map(|game_index| game_pgn(header, played, game_index)).collect()
}

/// Formats the game with the index `game_index` (from 0) in a pair, followed by an empty line;
/// `None` if there is no such game.
pub fn game_pgn(header: &PgnHeader, played: &PlayedPair, game_index: usize) -> Option<String> {
    let game = played.games.iter().nth(game_index)?;
    let pair = played.pairing.pair;
    let before = header.plan.prior.map_or(0, |prior| prior.games());
    let number = before + pair * played.games.iter().count() as u64 + game_index as u64;
    let annotation = &header.plan.annotation;
    let round = match (annotation.dialect, annotation.round_games) {
        (None, _) => format!("{}.{}", pair + 1, game_index + 1),
        (Some(_), Some(games)) => (number / games.max(1) + 1).to_string(),
        (Some(_), None) => (pair + 1).to_string(),
    };
    Some(format!("{}\n{}\n\n", tags(header, round, game), movetext(header, game)))
}

fn tags(header: &PgnHeader, round: String, game: &GameRecord) -> String {
    let annotation = &header.plan.annotation;
    let is_cutechess = annotation.dialect == Some(Dialect::Cutechess);
    let mut tags = vec![
        ("Event", header.event()),
        ("Site", annotation.site.clone().unwrap_or_else(|| "?".to_owned())),
        ("Date", header.date.clone()),
        ("Round", round),
        ("White", header.engine(game, Color::White).name.clone()),
        ("Black", header.engine(game, Color::Black).name.clone()),
        ("Result", game.outcome.result.as_str().to_owned()),
    ];
    let roster = tags.len();
    let start = Fen::from_position(&Chess::default(), EnPassantMode::Legal).to_string();
    if game.fen != start || game.chess960 {
        tags.extend([("SetUp", "1".to_owned()), ("FEN", game.fen.clone())]);
    }
    if game.chess960 {
        tags.push(("Variant", if is_cutechess { "fischerandom" } else { "Chess960" }.to_owned()));
    }
    if !annotation.is_minimal {
        more_tags(header, game, &mut tags);
    }
    if is_cutechess {
        // cutechess-cli sorts by name the tags that follow the seven mandatory tags.
        tags[roster..].sort_unstable();
    }
    let escaped = |value: String| {
        value.replace(char::is_control, " ").replace('\\', "\\\\").replace('"', "\\\"")
    };
    let lines = tags.into_iter().map(|(name, value)| format!("[{name} \"{}\"]\n", escaped(value)));
    lines.collect()
}

/// Adds the tags that are not needed to replay a game.
fn more_tags(header: &PgnHeader, game: &GameRecord, tags: &mut Vec<(&'static str, String)>) {
    let PgnHeader { plan, fingerprints, .. } = header;
    let dialect = plan.annotation.dialect;
    let is_cutechess = dialect == Some(Dialect::Cutechess);
    if header.is_timed() {
        tags.push(("GameDuration", clock_time(game.duration)));
    }
    if let Some(begun_ms) = game.begun_ms.filter(|_| dialect.is_some()) {
        let seconds = if is_cutechess { "%S%.3f UTC" } else { "%S +0000" };
        let shown = |ms| utc_time_as(ms, &format!("%Y-%m-%dT%H:%M:{seconds}"));
        let length = i64::try_from(game.duration.as_millis()).unwrap_or(0);
        tags.push(("GameStartTime", shown(begun_ms)));
        tags.push(("GameEndTime", shown(begun_ms.saturating_add(length))));
    }
    // fastchess counts an illegal move as a ply.
    let illegal = illegal_move(&game.outcome)
        .filter(|played| dialect == Some(Dialect::Fastchess) && !played.is_empty());
    tags.push(("PlyCount", (game.moves.len() + illegal.iter().count()).to_string()));
    let termination_tag = termination(game.outcome.termination, dialect);
    if !(is_cutechess && termination_tag == "normal") {
        tags.push(("Termination", termination_tag.to_owned()));
    }
    let [white, black] =
        [Color::White, Color::Black].map(|color| header.engine(game, color).conditions.limits);
    let control = |limits: &Limits| match dialect {
        None => limits.to_string(),
        Some(_) => time_control(limits)
            .unwrap_or_else(|| if is_cutechess { "inf" } else { "-" }.to_owned()),
    };
    // fastchess writes a single tag for engines with equal time controls, even if other limits
    // differ.
    let is_one = dialect == Some(Dialect::Fastchess) && control(&white) == control(&black);
    if white == black || is_one {
        tags.push(("TimeControl", control(&white)));
    } else {
        tags.push(("WhiteTimeControl", control(&white)));
        tags.push(("BlackTimeControl", control(&black)));
    }
    // cutechess-cli names the opening only if the game starts from the initial position.
    let is_named = !is_cutechess || tags.iter().all(|(name, _)| *name != "FEN");
    let names = header.names.as_ref().filter(|_| is_named);
    let named = names.and_then(|names| names.last_named(game, LONGEST_OPENING));
    if let Some(OpeningName { eco, name }) = named {
        tags.extend([("ECO", eco.to_owned()), ("Opening", name.to_owned())]);
    }
    if plan.annotation.has_origin && dialect.is_none() {
        let hashes = |color: Color| &fingerprints.engines[*game.engines.get(color)];
        let hash = |color| hashes(color).program.clone();
        tags.extend([("WhiteHash", hash(Color::White)), ("BlackHash", hash(Color::Black))]);
        for (tag, color) in [("WhiteFiles", Color::White), ("BlackFiles", Color::Black)] {
            let files = files_text(header.engine(game, color), &hashes(color).option_files);
            tags.extend(Some((tag, files)).filter(|(_, files)| !files.is_empty()));
        }
        tags.push(("Seed", plan.seed.to_string()));
    }
}

/// Returns the value of the tag `Termination`, as defined by the PGN standard or by the dialect.
fn termination(termination: Termination, dialect: Option<Dialect>) -> &'static str {
    match termination {
        Termination::IllegalMove | Termination::UnparseableMove if dialect.is_some() => {
            "illegal move"
        }
        Termination::Stall if dialect == Some(Dialect::Cutechess) => "stalled connection",
        Termination::TimeForfeit => "time forfeit",
        Termination::IllegalMove | Termination::UnparseableMove | Termination::ProtocolError => {
            "rules infraction"
        }
        _ if termination.is_fault() => "abandoned",
        _ if termination.adjudicated().is_some() => "adjudication",
        _ => "normal",
    }
}

/// Returns a time as hours, minutes and seconds.
pub fn clock_time(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

fn movetext(header: &PgnHeader, game: &GameRecord) -> String {
    let mode = CastlingMode::from_chess960(game.chess960);
    let annotation = &header.plan.annotation;
    let is_timed = header.is_timed();
    let mut position = game.start();
    let is_cutechess = annotation.dialect == Some(Dialect::Cutechess);
    // cutechess-cli always counts moves from 1.
    let mut number = if is_cutechess { 1 } else { position.fullmoves().get() };
    let mut lines = WrappedText::default();
    let detail = match annotation.dialect {
        None => sanitized(&game.outcome.detail),
        Some(program) => reason(&game.outcome, program),
    };
    if game.moves.is_empty() && !annotation.is_minimal {
        lines.push(&format!("{{{detail}}}"));
    }
    for (index, played) in game.moves.iter().enumerate() {
        let before = match (position.turn(), index) {
            (Color::White, _) => format!("{number}. "),
            (Color::Black, 0) => format!("{number}... "),
            (Color::Black, _) => String::new(),
        };
        number += u32::from(position.turn().is_black());
        // The referee accepted all moves of the game, so only a damaged record contains an illegal
        // move. The text ends before such a move.
        let Some(name) = written::play(&mut position, played, annotation.notation, mode) else {
            break;
        };
        let mut word = before + &name;
        if !annotation.is_minimal {
            let mut comment = match &played.search {
                None => "book".to_owned(),
                Some(search) => written::comment(search, annotation, is_timed),
            };
            if index + 1 == game.moves.len() {
                comment += if comment.is_empty() { "" } else { ", " };
                comment += &detail;
            }
            if !comment.is_empty() {
                word += &format!(" {{{comment}}}");
            }
        }
        lines.push(&word);
    }
    lines.push(game.outcome.result.as_str());
    lines.text
}

/// Text that is wrapped at [`WIDTH`] characters, but only between moves.
#[derive(Default)]
struct WrappedText {
    text: String,
    column: usize,
}

impl WrappedText {
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
    use arbiter_game::annotation::{Annotation, Notation};
    use arbiter_game::outcome::Outcome;
    use arbiter_game::record::{MoveRecord, SearchInfo};
    use arbiter_plan::Request;
    use arbiter_protocol::Score;
    use arbiter_run::Games;
    use arbiter_schedule::Pairing;
    use arbiter_store::EngineHashes;
    use shakmaty::ByColor;

    fn game(fen: &str, moves: &[&str]) -> GameRecord {
        let search = SearchInfo {
            score: Some(Score::Centipawns(31)),
            depth: Some(7),
            seldepth: None,
            nodes: Some(900),
            elapsed: Duration::from_micros(104_400),
            ..SearchInfo::default()
        };
        let moves = moves.iter().map(|uci| MoveRecord {
            uci: uci.parse().unwrap(),
            search: (*uci != "e2e4").then(|| search.clone()),
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
        let mut plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        for (engine, name) in plan.engines.iter_mut().zip(["New", "Old"]) {
            engine.name = name.to_owned();
            engine.conditions.limits = limits;
        }
        plan.engines[0].options.push(("EvalFile".into(), "@/nets/a.net".into()));
        plan.seed = 9;
        let event = annotation.event.clone().or(Some("A \"test\"".to_owned()));
        plan.annotation = Annotation { event, ..annotation };
        let fingerprints = Fingerprints {
            engines: vec![
                EngineHashes { program: "aa".into(), option_files: vec!["cc".into()] },
                EngineHashes { program: "bb".into(), option_files: vec![] },
            ],
            ..Fingerprints::default()
        };
        let header = PgnHeader::of(&plan, &fingerprints, 1_893_542_400_000);
        let pairing = Pairing { pair: 4, engines: [0, 1], opening: 4 };
        let games = Games { first: record.clone(), second: Some(record) };
        pgn_text(&header, &PlayedPair { pairing, games })
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_timed_game_has_times_and_tags() {
        let text = text("1+0.01", game(START, &["e2e4", "e7e5", "g1f3"]));
        let expect = r#"[Event "A \"test\""]
[Site "?"]
[Date "2030.01.02"]
[Round "5.1"]
[White "Old"]
[Black "New"]
[Result "0-1"]
[GameDuration "01:02:05"]
[PlyCount "3"]
[Termination "time forfeit"]
[TimeControl "1+0.01"]

1. e4 {book} e5 {+0.31/7 0.104s} 2. Nf3 {+0.31/7 0.104s, White |loses|} 0-1

"#;
        assert!(text.starts_with(expect), "{text}");
        assert!(text.contains("[Round \"5.2\"]"));
    }

    #[test]
    fn games_have_the_forms_of_fastchess_and_cutechess() {
        let played = |dialect| {
            let annotation = Annotation {
                dialect: Some(dialect),
                round_games: Some(5),
                has_origin: true,
                ..Annotation::default()
            };
            let record = GameRecord {
                begun_ms: Some(1_500),
                ..game("4k3/8/8/8/8/8/4P3/4K3 b - - 3 20", &["e8e7", "e1d1"])
            };
            annotated("1", record, annotation)
        };
        // The pair consists of games 9 and 10, the last games of the second round.
        let roster = r#"[Site "?"]
[Date "2030.01.02"]
[Round "2"]
[White "Old"]
[Black "New"]
[Result "0-1"]
"#;
        let fastchess = r#"[SetUp "1"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20"]
[GameDuration "01:02:05"]
[GameStartTime "1970-01-01T00:00:01 +0000"]
[GameEndTime "1970-01-01T01:02:06 +0000"]
[PlyCount "2"]
[Termination "time forfeit"]
[TimeControl "1"]

20... Ke7 {+0.31/7 0.104s}
21. Kd1 {+0.31/7 0.104s, White loses on time (0ms overrun)} 0-1
"#;
        let cutechess = r#"[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20"]
[GameDuration "01:02:05"]
[GameEndTime "1970-01-01T01:02:06.500 UTC"]
[GameStartTime "1970-01-01T00:00:01.500 UTC"]
[PlyCount "2"]
[SetUp "1"]
[Termination "time forfeit"]
[TimeControl "1"]

1... Ke7 {+0.31/7 0.10s} 2. Kd1 {+0.31/7 0.10s, White loses on time} 0-1
"#;
        for (dialect, rest) in [(Dialect::Fastchess, fastchess), (Dialect::Cutechess, cutechess)] {
            let text = played(dialect);
            let (_, after_event) = text.split_once('\n').unwrap();
            assert!(after_event.starts_with(&format!("{roster}{rest}\n")), "{text}");
        }
    }

    #[test]
    fn mining_recognizes_games_that_a_fault_decided() {
        use arbiter_suite::mine::is_fault;
        for dialect in [None, Some(Dialect::Fastchess), Some(Dialect::Cutechess)] {
            for ending in Termination::ALL {
                let tag = termination(ending, dialect);
                assert_eq!(is_fault(tag, ""), ending.is_fault(), "{tag}");
                let outcome = Outcome::lost(Color::White, ending, "White loses");
                let comment = dialect.map_or(String::new(), |program| reason(&outcome, program));
                assert_eq!(
                    is_fault("", &comment),
                    dialect.is_some() && ending.is_fault(),
                    "{comment}"
                );
            }
        }
    }

    #[test]
    fn event_and_site_can_be_named() {
        let named = Annotation {
            event: Some("Cup\n\"9\"".to_owned()),
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
    fn a_game_has_tags_of_its_opening_and_origin() {
        let origin = Annotation { has_origin: true, ..Annotation::default() };
        let record = game(START, &["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "a2a3"]);
        let text = annotated("1", record, origin.clone());
        let tags = "[ECO \"C60\"]\n[Opening \"Ruy Lopez\"]\n[WhiteHash \"bb\"]\n\
                    [BlackHash \"aa\"]\n[BlackFiles \"EvalFile=a.net cc\"]\n[Seed \"9\"]\n\n";
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
        let long = ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(4);
        let text = text("1", game(START, &long));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
