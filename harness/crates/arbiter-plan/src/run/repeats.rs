//! Pairs that repeat earlier ones: engines that repeat themselves bring no evidence after their
//! first pass through the book.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use crate::{GameTally, PairTally};
use arbiter_stats::GameResult;

/// The games that were counted, and the passes through the book.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeats {
    /// Number of openings of the book; `None` where it is not known, and no pass has an end.
    book_length: Option<u64>,
    /// First opening of the run in the order of the book.
    start: u64,
    /// Hashes of all games, with their players.
    games: HashSet<u64>,
    /// Hashes of all pairs of such games.
    pairs: HashSet<[u64; 2]>,
    /// Current pass through the book, by the two engines.
    passes: BTreeMap<[usize; 2], Pass>,
}

/// A pass through the book.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    number: u64,
    /// Number of openings whose pairs were all repeats; `None` if one was not.
    repeated: Option<u64>,
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

    /// Adds the games of a pair between two players, in the order of its engines; returns whether
    /// both repeat those of an earlier pair. A player is an engine with its values.
    pub(super) fn add<P: Hash>(&mut self, tally: &PairTally, players: [P; 2]) -> bool {
        if tally.first.hash.is_none() {
            return false;
        }
        // The hasher has fixed keys, because hashes of different calls are compared.
        let hashes = BuildHasherDefault::<DefaultHasher>::default();
        let [one, other] = &players;
        // The same moves with another ending, such as a loss on time, are another game.
        let game = |white: &P, black: &P, game: GameTally, result: GameResult| {
            hashes.hash_one((white, black, game.hash, result.half_points(), game.termination))
        };
        let first = game(one, other, tally.first, tally.first.result);
        let second = tally.second.map(|second| game(other, one, second, second.result.reversed()));
        let mut pair = [first, second.unwrap_or(first)];
        self.games.extend(pair);
        // The engines of a pair may be listed in the other order, and its games with them.
        pair.sort_unstable();
        !self.pairs.insert(pair)
    }

    /// Returns the number of different games.
    pub(super) fn distinct_games(&self) -> u64 {
        self.games.len() as u64
    }

    /// Notes a pair of two engines from an opening, by its number; returns whether it completes a
    /// pass through the book that brought only repeats.
    pub(super) fn exhausts(&mut self, engines: [usize; 2], opening: u64, is_repeat: bool) -> bool {
        let Some(book_length) = self.book_length else { return false };
        let place = self.start.saturating_add(opening);
        let number = place / book_length;
        let pass = self.passes.entry(engines).or_default();
        if pass.number != number || pass.last.is_none() {
            *pass = Pass { number, repeated: Some(0), last: None };
        }
        // Consecutive pairs may share an opening, which counts once.
        let is_new = pass.last != Some(place);
        pass.last = Some(place);
        pass.repeated = pass.repeated.filter(|_| is_repeat).map(|count| count + u64::from(is_new));
        pass.repeated == Some(book_length)
    }
}
