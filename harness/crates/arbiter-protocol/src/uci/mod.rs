//! The Universal Chess Interface, seen from the graphical side.
//!
//! Everything here is pure: text in, values out. Start with [`session`], the state machine that
//! says what to send next and what each line of an engine means at that moment.

pub mod command;
pub mod info;
pub mod message;
pub mod option;
pub mod score;
pub mod session;
