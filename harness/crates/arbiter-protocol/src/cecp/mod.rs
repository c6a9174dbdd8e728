//! The Chess Engine Communication Protocol, version 2, as xboard speaks it, seen from the
//! graphical side.

pub(super) mod dialect;
mod feature;
mod notation;
mod setup;
mod thinking;
