#![doc = include_str!("../README.md")]

pub mod cecp;
pub mod clock;
mod name;
mod session;
pub mod uci;

pub use name::{UnknownName, from_name};
pub use session::*;
