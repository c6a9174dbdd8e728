//! Squares attacked by a piece, and lines between squares.
//!
//! Leaper and line tables are computed at compile time. Slider tables are too large for computation
//! at compile time, so they are built on first use, in 1 to 2 ms. [`cpu`] describes how a program
//! built for all CPUs uses the instructions of newer CPUs.

#![allow(unsafe_code, reason = "instructions that the CPU was asked for")]

mod cpu;
mod leapers;
mod magics;
mod move_template;
mod rays;
mod sliders;

pub use cpu::{Cpu, Job, Level, Machine};
pub use leapers::{king, knight, pawn};
pub use move_template::MoveTemplate;
pub use rays::{between, line};
pub use sliders::{bishop, queen, rook};

pub(crate) use rays::{diagonal_rays, straight_rays};
