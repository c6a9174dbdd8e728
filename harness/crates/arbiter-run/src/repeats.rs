//! Pairs that repeat earlier pairs: games of deterministic engines add no evidence after the first
//! pass through the book.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use crate::{GameTally, PairTally};
use arbiter_stats::GameResult;

/// Counted games and passes through the book.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeats {
    /// Number of openings in the book; `None` if unknown, in which case no pass ends.
    book_length: Option<u64>,
    /// Number of the run's first opening, from 0 in the order of the book.
    start: u64,
    /// Hashes of all games, including the players.
    games: HashSet<u64>,
    /// Hashes of the two games of each pair, sorted.
    pairs: HashSet<[u64; 2]>,
    /// Current pass through the book in each encounter.
    passes: BTreeMap<[usize; 2], Pass>,
}

/// Pass of two engines through the book.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    /// Number of the pass, from 0.
    number: u64,
    /// Number of openings of this pass whose pairs were all repeats; `None` if a pair of this pass
    /// was not a repeat.
    repeated: Option<u64>,
    /// Number of the last opening, counted over all passes.
    last: Option<u64>,
}

impl Repeats {
    pub(super) fn new(book_length: Option<u64>, start: u64) -> Repeats {
        Repeats { book_length, start, ..Repeats::default() }
    }

    /// Returns the state before the first pair.
    pub(super) fn blank(&self) -> Repeats {
        Repeats::new(self.book_length, self.start)
    }

    /// Adds the games of a pair. `players` are in the order of the engines of the pair; a player is
    /// an engine with specific tuned values. Returns whether both games repeat the games of an
    /// earlier pair.
    pub(super) fn add<P: Hash>(&mut self, tally: &PairTally, players: [P; 2]) -> bool {
        if tally.first.hash.is_none() {
            return false;
        }
        // The hasher has fixed keys, because hashes from different calls are compared.
        let hashes = BuildHasherDefault::<DefaultHasher>::default();
        let [one, other] = &players;
        // Games with the same moves but different endings, such as a loss on time, are different
        // games.
        let game = |white: &P, black: &P, game: GameTally, result: GameResult| {
            hashes.hash_one((white, black, game.hash, result.half_points(), game.termination))
        };
        let first = game(one, other, tally.first, tally.first.result);
        let second = tally.second.map(|second| game(other, one, second, second.result.reversed()));
        let mut pair = [first, second.unwrap_or(first)];
        self.games.extend(pair);
        // Another pair may list the engines, and therefore the games, in reversed order.
        pair.sort_unstable();
        !self.pairs.insert(pair)
    }

    /// Returns the number of different games.
    pub(super) fn distinct_games(&self) -> u64 {
        self.games.len() as u64
    }

    /// Records a pair of two engines from the opening with the number `opening`. Returns whether
    /// the pair completes a pass through the book in which every pair was a repeat of an earlier
    /// pair.
    pub(super) fn exhausts(&mut self, engines: [usize; 2], opening: u64, is_repeat: bool) -> bool {
        let Some(book_length) = self.book_length else { return false };
        let place = self.start.saturating_add(opening);
        let number = place / book_length;
        let pass = self.passes.entry(engines).or_default();
        if pass.number != number || pass.last.is_none() {
            *pass = Pass { number, repeated: Some(0), last: None };
        }
        // Consecutive pairs may share an opening, and a shared opening counts once.
        let is_new = pass.last != Some(place);
        pass.last = Some(place);
        pass.repeated = pass.repeated.filter(|_| is_repeat).map(|count| count + u64::from(is_new));
        pass.repeated == Some(book_length)
    }
}
