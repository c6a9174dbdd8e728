//! The Chess Engine Communication Protocol, version 2, as xboard speaks it, seen from the
//! graphical side.
//!
//! Everything here is pure: text in, values out. Start with [`session`], the state machine that
//! says what to send next and what each line of an engine means at that moment.

mod feature;
mod notation;
pub mod session;
mod setup;
mod thinking;
