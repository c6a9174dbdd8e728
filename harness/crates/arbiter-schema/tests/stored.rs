//! What earlier versions stored is read, and written again as it was.

use serde_json::Value;

use arbiter_plan::RunKind;
use arbiter_schema::{GameRow, PlanRow};
use arbiter_stats::Correction;

/// Plans of all kinds as version 2 was first written.
const PLANS: &str = include_str!("stored/plans.jsonl");

/// A plan with tables, a commit and scaled times, and one with nothing that the first version did
/// not have.
const OTHER_PLANS: &str = include_str!("stored/other_plans.jsonl");

/// Games with and without details of the searches.
const GAMES: &str = include_str!("stored/games.jsonl");

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn stored_plans_are_read_and_written_as_they_were() {
    for text in PLANS.lines().chain(OTHER_PLANS.lines().take(1)) {
        let (plan, fingerprints) = PlanRow::from_json(text).unwrap().into_plan();
        assert_eq!(value(&PlanRow::of(&plan, &fingerprints).to_json()), value(text));
    }
}

#[test]
fn what_the_first_version_did_not_have_is_as_it_was_then() {
    let text = OTHER_PLANS.lines().nth(1).unwrap();
    let (plan, fingerprints) = PlanRow::from_json(text).unwrap().into_plan();
    assert_eq!(plan.kind, RunKind::Sprt);
    assert_eq!(plan.sprt.unwrap().correction, Correction::None);
    assert_eq!((fingerprints.openings, fingerprints.host), (None, None));
    assert_eq!(fingerprints.engines.len(), 2);
    let written = value(&PlanRow::of(&plan, &Default::default()).to_json());
    let expect = r#"{
        "version": 2, "engines": [], "book_hash": "", "openings_hash": null, "host": null,
        "quarantine": {"count": 0, "faults": []}, "tables": null, "kind": "sprt", "book": null,
        "plies": null, "book_depth": null, "strict_book": false, "order": "random", "seed": 1,
        "schedule": "round-robin", "seeds": 0, "rounds": 1, "pairs": 4, "noswap": false,
        "reverse": false, "opening_policy": "shared", "opening_start": 0, "tie_breaks": 0,
        "plays_out": true, "wait_ms": 0, "concurrency": 1, "affinity": "none", "ablation": null,
        "sprt": {"elo0": 0.0, "elo1": 20.0, "alpha": 0.05, "beta": 0.05, "model": "normalized",
                 "overshoot": "none"},
        "tuning": null, "fault_limit": 0.05, "noise_limit": null, "scale": null, "draw": null,
        "deadlines_ms": [10000, 30000, 60000, 2000], "resign": null, "move_cap": null,
        "pgn": null, "output": {"notation": "san", "fields": [], "pattern": null, "epd": null,
        "minimal": false, "origin": false, "event": null, "site": null, "transcripts": "none"}
    }"#;
    assert_eq!(written, value(expect));
}

#[test]
fn stored_games_are_read_and_written_as_they_were() {
    for text in GAMES.lines() {
        let row: GameRow = serde_json::from_str(text).unwrap();
        let record = row.clone().into_record().unwrap();
        assert_eq!(GameRow::of(&record), row);
        assert!(record.moves.iter().all(|played| played.thought.is_some()));
    }
}
