//! The Chess Engine Communication Protocol, version 2, as xboard speaks it, from the side of the
//! graphical interface.

pub(super) mod dialect;
mod feature;
mod notation;
mod setup;
mod thinking;
