//! Common parts of the reports on suites.

mod epd;
pub(crate) mod epd_figures;
pub(crate) mod perft;
mod place;

pub use epd::{EpdEngine, EpdReport};
pub use perft::{PerftReport, PerftTotals};
pub use place::EngineLocation;

use crate::parts::Document;
use arbiter_suite::LineFault;

/// Adds lists of the corrected and the unusable lines, with reasons.
fn line_faults(document: &mut Document, corrected: &[LineFault], unusable: &[LineFault]) {
    let mut list = |title: &str, faults: &[LineFault]| {
        let lines = faults.iter().map(|fault| format!("line {}: {}", fault.line, fault.reason));
        document.list(format!("{title}: {}", faults.len()), lines.collect());
    };
    list("Corrected positions", corrected);
    list("Unusable lines (not counted)", unusable);
}
