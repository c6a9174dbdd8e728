//! Agreement with published programs and with simulations, and properties of any counts.
//!
//! Reference figures are printed by the named programs or, where noted, by an independent solver.

pub(super) mod agreement;
mod laws;
mod promises;
mod ratings;
mod reference;
mod sequences;
mod sequential;
