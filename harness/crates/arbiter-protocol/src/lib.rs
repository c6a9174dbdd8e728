#![doc = include_str!("../README.md")]

pub mod cecp;
pub mod clock;
mod session;
pub mod uci;

pub use session::*;
