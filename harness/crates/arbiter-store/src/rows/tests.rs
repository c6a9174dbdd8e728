//! Tests that rows of earlier versions can be read, and are unchanged when written again.

use serde_json::Value;

use super::{GameRow, PlanRow};

/// Plans of all kinds. The last plan has tablebases, a commit and scaled times.
const PLANS: &str = include_str!("tests/plans.jsonl");

/// Games with and without search information.
const GAMES: &str = include_str!("tests/games.jsonl");

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn stored_plans_are_read_and_written_as_they_were() {
    for text in PLANS.lines() {
        let (plan, fingerprints) = PlanRow::from_json(text).unwrap().into_plan();
        assert_eq!(value(&PlanRow::of(&plan, &fingerprints).to_json()), value(text));
    }
}

#[test]
fn stored_games_are_read_and_written_as_they_were() {
    for text in GAMES.lines() {
        let row: GameRow = serde_json::from_str(text).unwrap();
        let record = row.clone().into_record().unwrap();
        assert_eq!(GameRow::of(&record), row);
        assert!(record.moves.iter().all(|played| played.search.is_some()));
    }
}
