use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Color, KnownOutcome};

use super::*;
use crate::wire::samples::{job, played};
use arbiter_game::outcome::Outcome;
use arbiter_protocol::Limits;

#[test]
fn true_results_are_accepted() {
    assert_eq!(check(&played(3), &job(3), &Terms::default()), Ok(()));
}

fn refuse(job: &PairJob, part: &str, change: &dyn Fn(&mut PlayedPair)) {
    let mut played = played(3);
    change(&mut played);
    let error = check(&played, job, &Terms::default()).unwrap_err();
    assert!(error.contains(part), "{error}");
}

fn uci(text: &str) -> UciMove {
    text.parse().unwrap()
}

/// Makes the first game end with `outcome` after `plies` plies.
fn ended(p: &mut PlayedPair, plies: usize, outcome: Outcome) {
    p.games.first.moves.truncate(plies);
    p.games.first.outcome = outcome;
}

#[test]
fn impossible_results_are_rejected() {
    let job = job(3);
    let refuse = |part: &str, change: &dyn Fn(&mut PlayedPair)| refuse(&job, part, change);
    refuse("other engines", &|p| p.pairing.engines = [1, 0]);
    refuse("another opening", &|p| p.pairing.opening = 4);
    refuse("number of games", &|p| p.games.second = None);
    refuse("game 1: other engines", &|p| p.games.first.engines = ByColor { white: 1, black: 0 });
    refuse("another start", &|p| p.games.first.fen = "8/8/8/8/8/8/8/8 w - - 0 1".into());
    refuse("another opening", &|p| p.games.first.moves[0].uci = uci("e2e4"));
    refuse("differs from the opening", &|p| p.games.first.moves[1].search = None);
    refuse("move 2 (e7e4): Black played the illegal move", &|p| {
        p.games.first.moves[1].uci = uci("e7e4");
    });
    refuse("no opening", &|p| ended(p, 0, Outcome::lost(Color::White, Termination::Crash, "")));
    refuse("1/2-1/2 does not end by checkmate", &|p| {
        p.games.first.outcome.result = KnownOutcome::Draw;
    });
    refuse("move 5 follows the end by checkmate", &|p| {
        let last = p.games.first.moves[3].clone();
        p.games.first.moves.push(last);
    });
}

#[test]
fn verified_endings_follow_the_rules_and_the_plan() {
    let job = job(3);
    for termination in [
        Termination::Threefold,
        Termination::FiftyMoves,
        Termination::DeadPosition,
        Termination::Stalemate,
        Termination::DrawAdjudication,
        Termination::MoveCap,
        Termination::TablebaseAdjudication,
    ] {
        for plies in [1, 2, 3, 4] {
            let part = format!("does not end by {termination}");
            refuse(&job, &part, &|p| ended(p, plies, Outcome::drawn(termination, "")));
        }
    }
    for termination in [Termination::Checkmate, Termination::ResignAdjudication] {
        let part = format!("does not end by {termination}");
        refuse(&job, &part, &|p| ended(p, 3, Outcome::lost(Color::White, termination, "")));
    }
    // There is no clock.
    let forfeit = Outcome::lost(Color::White, Termination::TimeForfeit, "");
    refuse(&job, "does not end by time", &|p| ended(p, 2, forfeit.clone()));
    // The side to move is White.
    let check_lost = |loser, plies| {
        let mut played = played(3);
        ended(&mut played, plies, Outcome::lost(loser, Termination::Crash, ""));
        check(&played, &job, &Terms::default())
    };
    assert_eq!(check_lost(Color::White, 2), Ok(()));
    assert!(check_lost(Color::Black, 2).is_err());
    // Before the first move of an engine, either engine may have failed to start.
    assert_eq!(check_lost(Color::White, 1), Ok(()));
    assert_eq!(check_lost(Color::Black, 1), Ok(()));
}

#[test]
fn scores_and_times_are_verified() {
    let mut capped = job(3);
    for setup in [Some(&mut capped.games.first), capped.games.second.as_mut()] {
        setup.unwrap().rules.move_cap = Some(1);
    }
    refuse(&capped, "follows the end by", &|_| ());
    let mut timed = job(3);
    let limits = Limits { movetime: Some(Duration::from_millis(10)), ..Limits::default() };
    for setup in [Some(&mut timed.games.first), timed.games.second.as_mut()] {
        for conditions in setup.unwrap().conditions.iter_mut() {
            conditions.limits = limits;
        }
    }
    assert_eq!(check(&played(3), &timed, &Terms::default()), Ok(()));
    let slow = |p: &mut PlayedPair| {
        let search = p.games.first.moves[2].search.as_mut().unwrap();
        search.elapsed = Duration::from_millis(11);
    };
    refuse(&timed, "move 3 (g2g4): White loses on time", &slow);
    let mut scaled = played(3);
    slow(&mut scaled);
    assert_eq!(
        check(&scaled, &timed, &Terms { is_scaled: true, ..Terms::default() }),
        Ok(()),
        "the worker is slower than this machine"
    );
    let mut late = played(3);
    ended(&mut late, 2, Outcome::lost(Color::White, Termination::TimeForfeit, ""));
    assert_eq!(check(&late, &timed, &Terms::default()), Ok(()));
}
