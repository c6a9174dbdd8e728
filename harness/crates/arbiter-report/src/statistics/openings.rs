//! How openings scored.

use std::collections::BTreeMap;

use shakmaty::Color;

use super::{mean_score, result};
use crate::openings::OpeningNames;
use arbiter_game::record::GameRecord;
use arbiter_stats::Trinomial;

/// The games from one opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// What it is called, or where it starts if it has no name.
    pub name: String,
    /// Results for White.
    pub white: Trinomial,
}

/// All openings, by their ordinal in the order of the book.
#[derive(Debug, Clone, Default)]
pub struct Openings {
    names: OpeningNames,
    found: BTreeMap<u64, Opening>,
}

impl Openings {
    /// Adds a game.
    pub(super) fn add(&mut self, opening: u64, game: &GameRecord) {
        let entry = self.found.entry(opening).or_insert_with(|| Opening {
            name: match self.names.of_book_moves(game) {
                Some(named) => format!("{} {}", named.eco, named.name),
                None => game.fen.clone(),
            },
            white: Trinomial::default(),
        });
        entry.white.record(result(game, Color::White));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The openings.
    pub fn iter(&self) -> impl Iterator<Item = &Opening> {
        self.found.values()
    }
}

/// The `count` openings whose score is the furthest from that of all games, for the number of their
/// games; those that lean most come first.
pub fn outliers<'a>(openings: impl Iterator<Item = &'a Opening>, count: usize) -> Vec<&'a Opening> {
    let mut order: Vec<&Opening> = openings.collect();
    let all: Trinomial = order.iter().map(|opening| opening.white).sum();
    let Some(expected) = mean_score(&all) else { return Vec::new() };
    let lean = |opening: &Opening| {
        let games = opening.white.games() as f64;
        mean_score(&opening.white).map_or(0.0, |mean| (mean - expected).abs() * games.sqrt())
    };
    order.sort_by(|a, b| lean(b).total_cmp(&lean(a)));
    order.truncate(count);
    order
}
