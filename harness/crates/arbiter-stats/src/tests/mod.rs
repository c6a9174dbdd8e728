//! Agreement with published programs and with simulations, and laws that hold for any counts.
//!
//! Figures are those that the named programs print, or, where noted, those of an independent
//! solver.

pub(super) mod agreement;
mod laws;
mod promises;
mod ratings;
mod reference;
mod sequences;
mod sequential;
