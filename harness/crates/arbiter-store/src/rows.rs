//! Stored forms of plans and games as JSON.
//!
//! A type whose name ends in `Row` is a stored form; all other types are stored as they are. The
//! names in JSON never change, whatever fields are called, so that every store from the first
//! format on can be read. A field that earlier versions did not write has a default, which is their
//! behaviour.

mod game;
mod plan;
#[cfg(test)]
mod tests;

pub(crate) use game::{GameRow, stored_hash};
pub use plan::Fingerprints;
pub(crate) use plan::PlanRow;
