//! Values of a run: its summary, and statistics of its games.

mod openings;
mod standings;
mod statistics;
mod stored;
mod strength;
mod summary;

pub use {openings::*, standings::*, statistics::*, stored::*, strength::*, summary::*};
