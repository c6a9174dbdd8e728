//! Stored forms of plans and games as JSON.
//!
//! A type whose name ends in `Row` is a stored form; all other types are stored as they are. Keys
//! in JSON never change, even if fields are renamed, so that every store since the first format can
//! be read. A field that earlier versions did not write has a default that corresponds to the
//! behaviour of those versions.

mod game;
mod plan;
#[cfg(test)]
mod tests;

pub(crate) use game::{GameRow, stored_hash};
pub(crate) use plan::PlanRow;
pub use plan::{EngineHashes, Fingerprints};
