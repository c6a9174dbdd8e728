//! Suites as documents and JSON: what they have in common.

mod epd;
mod epd_figures;
mod perft;
mod place;

pub use epd::{EpdEngine, EpdReport};
pub use perft::{PerftReport, PerftTotals};
pub use place::Place;

pub(crate) use epd_figures::EpdFigures;
pub(crate) use perft::PerftFigures;

use crate::document::Document;
use arbiter_suite::Unusable;

/// The lines that were not used, and why.
fn unusable(document: &mut Document, unusable: &[Unusable]) {
    let title = format!("Unusable lines, which count for nothing: {}", unusable.len());
    let lines = unusable.iter().map(|line| format!("line {}: {}", line.line, line.reason));
    document.list(title, lines.collect());
}
