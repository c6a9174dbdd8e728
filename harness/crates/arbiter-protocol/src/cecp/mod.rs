//! Chess Engine Communication Protocol (CECP) version 2, the protocol of xboard, on the side of the
//! GUI.

pub(super) mod dialect;
mod feature;
mod notation;
mod setup;
mod thinking;
