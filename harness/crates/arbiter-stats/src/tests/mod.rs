//! Agreement with published programs and with simulations, and laws that hold for any counts.
//!
//! Figures are those the named programs print, or those of an independent solver where it is said.

pub(super) mod agreement;
mod laws;
mod promises;
mod ratings;
mod reference;
mod sequences;
mod sequential;
