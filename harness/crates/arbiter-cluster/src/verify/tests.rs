use std::sync::Arc;
use std::time::Duration;

use shakmaty::{ByColor, Color};

use super::*;
use arbiter_game::adjudicate::Rules;
use arbiter_game::outcome::Outcome;
use arbiter_game::progress::Progress;
use arbiter_game::record::{Keep, MoveRecord, Thought};
use arbiter_plan::Games;
use arbiter_protocol::{Conditions, Limits};
use arbiter_schedule::Pairing;

/// The pair of this number, with one move of opening.
pub(crate) fn job(pair: u64) -> PairJob {
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let conditions = Conditions { limits, margin: Duration::ZERO };
    let setup = |white, black| GameSetup {
        engines: ByColor { white, black },
        fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
        start: Chess::default(),
        mode: CastlingMode::Standard,
        book: vec!["f2f3".parse().unwrap()],
        conditions: ByColor { white: conditions, black: conditions },
        settings: ByColor::default(),
        rules: Rules::default(),
        tables: None,
        keep: Arc::new(Keep::default()),
        progress: Progress::default(),
    };
    let games = Games { first: setup(0, 1), second: Some(setup(1, 0)) };
    PairJob { pairing: Pairing { pair, engines: [0, 1], opening: pair }, games }
}

/// What can become of it: White is mated twice.
pub(crate) fn played(pair: u64) -> PlayedPair {
    let job = job(pair);
    let record = |setup: &GameSetup| GameRecord {
        engines: setup.engines,
        fen: setup.fen.clone(),
        chess960: false,
        moves: ["f2f3", "e7e5", "g2g4", "d8h4"]
            .into_iter()
            .enumerate()
            .map(|(ply, uci)| MoveRecord {
                uci: uci.parse().unwrap(),
                thought: (ply > 0).then(Thought::default),
            })
            .collect(),
        outcome: Outcome::lost(Color::White, Termination::Checkmate, "White is mated"),
        duration: Duration::from_millis(7),
        ready: ByColor::default(),
        movetime: ByColor::default(),
        late: None,
        transcript: None,
    };
    let second = job.games.second.as_ref().map(record);
    PlayedPair { pairing: job.pairing, games: Games { first: record(&job.games.first), second } }
}

#[test]
fn what_was_played_is_believed() {
    assert_eq!(check(&played(3), &job(3)), Ok(()));
}

#[test]
fn what_cannot_be_is_not() {
    let refuse = |part: &str, change: &dyn Fn(&mut PlayedPair)| {
        let mut played = played(3);
        change(&mut played);
        let error = check(&played, &job(3)).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    let uci = |text: &str| text.parse::<UciMove>().unwrap();
    refuse("other engines", &|p| p.pairing.engines = [1, 0]);
    refuse("another opening", &|p| p.pairing.opening = 4);
    refuse("number of games", &|p| p.games.second = None);
    refuse("game 1: other engines", &|p| p.games.first.engines = ByColor { white: 1, black: 0 });
    refuse("another start", &|p| p.games.first.fen = "8/8/8/8/8/8/8/8 w - - 0 1".into());
    refuse("not that of the opening", &|p| p.games.first.moves[0].uci = uci("e2e4"));
    refuse("not that of the opening", &|p| p.games.first.moves[1].thought = None);
    refuse("move 2 (e7e4) is illegal", &|p| p.games.first.moves[1].uci = uci("e7e4"));
    refuse("was not played", &|p| {
        p.games.first.moves.clear();
        p.games.first.outcome.termination = Termination::Crash;
    });
    let is_mate = |p: &mut PlayedPair| p.games.first.outcome.result = KnownOutcome::Draw;
    refuse("1/2-1/2 cannot end by checkmate", &is_mate);
    refuse("cannot end by checkmate", &|p| {
        p.games.first.moves.pop();
    });
    refuse("cannot end by threefold", &|p| {
        p.games.first.outcome.termination = Termination::Threefold;
    });
    refuse("cannot end by stalemate", &|p| {
        p.games.first.outcome = Outcome::drawn(Termination::Stalemate, "");
    });
}
