//! Who meets whom, with which opening. Pure: a pairing is a function of its number.

pub mod round_robin;

/// One pair of games: the same opening twice, colours reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    /// Number of the pair in the run, from 0.
    pub pair: u64,
    /// The two engines; the first is White in the first game.
    pub engines: [usize; 2],
    /// Ordinal of the opening, from 0; the order of the book says which opening that is.
    pub opening: u64,
}
