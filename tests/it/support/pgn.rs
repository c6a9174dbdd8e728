//! Independent PGN reader with independent rules, which plays every move and checks every result.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Outcome, Position};

/// One game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Game {
    /// Tags of the game.
    pub tags: BTreeMap<String, String>,
    /// Moves as written.
    pub moves: Vec<String>,
    /// Position after the last move.
    pub end: Chess,
    /// First rule that ends the game, with the number of moves after which the game ends.
    pub over: Option<(usize, &'static str)>,
    /// Result at the end of the moves.
    pub result: String,
    /// Number of occurrences of each position; positions are equal if they allow the same moves,
    /// regardless of counters.
    occurrences: HashMap<Chess, u32>,
}

impl Game {
    /// Returns the value of a tag, which must exist.
    pub fn tag(&self, name: &str) -> &str {
        self.tags.get(name).unwrap_or_else(|| panic!("no tag {name} in {:?}", self.tags))
    }

    /// Returns the score of `player`, in half points.
    pub fn half_points(&self, player: &str) -> usize {
        let is_white = self.tag("White") == player;
        assert!(is_white || self.tag("Black") == player, "{player} did not play {:?}", self.tags);
        match self.result.as_str() {
            "1-0" => 2 * usize::from(is_white),
            "0-1" => 2 * usize::from(!is_white),
            "1/2-1/2" => 1,
            other => panic!("a game ended {other}"),
        }
    }
}

/// Returns the rule by which a position that occurred `times` times ends the game.
fn rule(position: &Chess, times: u32) -> Option<&'static str> {
    let rules = [
        (position.is_checkmate(), "checkmate"),
        (position.is_stalemate(), "stalemate"),
        (position.is_insufficient_material(), "dead_position"),
        (times >= 3, "threefold"),
        (position.halfmoves() >= 100, "fifty_moves"),
    ];
    rules.into_iter().find(|(applies, _)| *applies).map(|(_, name)| name)
}

/// Reads all games; the error describes the first invalid game.
pub fn parse(text: &str) -> Result<Vec<Game>, String> {
    let mut reader = Reader::new(text.as_bytes());
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut Judge).map_err(|error| error.to_string())? {
        let game = game.map_err(|fault| format!("game {}: {fault}", games.len() + 1))?;
        games.push(game);
    }
    Ok(games)
}

/// Visitor that plays the moves of a game.
struct Judge;

impl Visitor for Judge {
    type Tags = BTreeMap<String, String>;
    type Movetext = Game;
    type Output = Result<Game, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(BTreeMap::new())
    }

    fn tag(
        &mut self,
        tags: &mut Self::Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let name = String::from_utf8_lossy(name).into_owned();
        if tags.contains_key(&name) {
            return ControlFlow::Break(Err(format!("the tag {name} comes twice")));
        }
        tags.insert(name, value.decode_utf8_lossy().into_owned());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        match start(&tags) {
            Ok(end) => ControlFlow::Continue(Game {
                tags,
                moves: Vec::new(),
                over: None,
                result: String::new(),
                occurrences: HashMap::from([(end.clone(), 1)]),
                end,
            }),
            Err(fault) => ControlFlow::Break(Err(fault)),
        }
    }

    fn san(&mut self, game: &mut Game, written: SanPlus) -> ControlFlow<Self::Output> {
        let Ok(legal) = written.san.to_move(&game.end) else {
            let fault = format!("{written} is not legal after {:?}", game.moves);
            return ControlFlow::Break(Err(fault));
        };
        let exact = SanPlus::from_move(game.end.clone(), legal);
        if exact != written {
            return ControlFlow::Break(Err(format!("{written} should be written {exact}")));
        }
        game.end.play_unchecked(legal);
        game.moves.push(written.to_string());
        let times = game.occurrences.entry(game.end.clone()).or_insert(0);
        *times += 1;
        if game.over.is_none() {
            game.over = rule(&game.end, *times).map(|rule| (game.moves.len(), rule));
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, game: &mut Game, outcome: Outcome) -> ControlFlow<Self::Output> {
        game.result = outcome.to_string();
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Game) -> Self::Output {
        let tagged = game.tags.get("Result");
        if tagged != Some(&game.result) {
            return Err(format!("tag Result is {tagged:?}, the moves end with {}", game.result));
        }
        if game.end.is_checkmate() && game.end.outcome().to_string() != game.result {
            return Err(format!("mate on the board, but {}", game.result));
        }
        Ok(game)
    }
}

/// Returns the starting position of a game.
fn start(tags: &BTreeMap<String, String>) -> Result<Chess, String> {
    let Some(fen) = tags.get("FEN") else { return Ok(Chess::default()) };
    let parsed: Fen = fen.parse().map_err(|error| format!("FEN {fen}: {error}"))?;
    let chess960 = tags.get("Variant").is_some_and(|variant| variant == "Chess960");
    let rules = CastlingMode::from_chess960(chess960);
    parsed.into_position(rules).map_err(|error| format!("FEN {fen}: {error}"))
}

fn game(result: &str, moves: &str) -> String {
    format!("[White \"A\"]\n[Black \"B\"]\n[Result \"{result}\"]\n\n{moves}\n\n")
}

#[test]
fn games_are_read_and_scored() {
    let text =
        game("0-1", "1. f3 e5 2. g4 Qh4# 0-1") + &game("1/2-1/2", "1. e4 { +0.1/1 } 1/2-1/2");
    let games = parse(&text).expect("the games are legal");
    assert_eq!(games.len(), 2);
    assert_eq!(games[0].moves, ["f3", "e5", "g4", "Qh4#"]);
    let points: Vec<usize> = games.iter().map(|game| game.half_points("B")).collect();
    assert_eq!(points, [2, 1]);
    assert_eq!(games[0].half_points("A"), 0);
}

#[test]
fn the_rule_that_ends_a_game_is_found() {
    let shuffle = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4";
    for (result, moves, over) in [
        ("0-1", "1. f3 e5 2. g4 Qh4#", Some((4, "checkmate"))),
        ("*", shuffle, Some((8, "threefold"))),
        ("*", "1. e4 e5", None),
    ] {
        let games = parse(&game(result, &format!("{moves} {result}")));
        assert_eq!(games.expect("the game is legal")[0].over, over);
    }
}

#[test]
fn an_invalid_game_is_reported_with_its_fault() {
    let check = |text: &str, fault: &str| {
        let error = parse(text).expect_err("the game is wrong");
        assert!(error.contains(fault), "{error}");
    };
    check(&(game("*", "*") + &game("*", "1. e5 *")), "game 2: e5 is not legal");
    check(&game("1-0", "1. f3 e5 2. g4 Qh4# 1-0"), "mate on the board");
    check(&game("1-0", "1. e4 0-1"), "tag Result");
    check(&game("0-1", "1. f3 e5 2. g4 Qh4 0-1"), "should be written Qh4#");
}
