//! Comparisons with published programs and with simulations, and properties that hold for any
//! counts.
//!
//! Reference figures are from the named programs or, where noted, from an independent solver.

pub(super) mod agreement;
mod laws;
mod promises;
mod ratings;
mod reference;
mod sequences;
mod sequential;
