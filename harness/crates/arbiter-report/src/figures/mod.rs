//! Values of a run: the summary of the run, and statistics of the games.

mod openings;
mod standings;
mod statistics;
mod stored;
mod strength;
mod summary;

pub use {openings::*, standings::*, statistics::*, stored::*, strength::*, summary::*};
