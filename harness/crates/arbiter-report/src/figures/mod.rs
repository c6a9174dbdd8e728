//! Figures of a run, as values: summary, and statistics of games.

mod openings;
mod standings;
mod statistics;
mod stored;
mod strength;
mod summary;

pub use {openings::*, standings::*, statistics::*, stored::*, strength::*, summary::*};
