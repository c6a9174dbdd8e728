//! Comparisons with published programs and with simulations, and properties that hold for any
//! counts.
//!
//! The named programs print the reference figures; where noted, an independent solver prints them.

pub(super) mod agreement;
mod laws;
mod promises;
mod ratings;
mod reference;
mod sequences;
mod sequential;
