//! What users look at: a pure [`summary`] of a run, and one renderer for each form.
//!
//! Renderers turn values into text; opening files is left to the caller. Only [`live`] prints.

mod ablation;
pub mod boards;
pub mod builds;
pub mod chart;
pub mod check;
pub mod compat;
pub mod csv;
pub mod document;
pub mod epd;
pub mod gates;
pub mod html;
pub mod json;
pub mod junit;
mod latency;
pub mod live;
pub mod log;
pub mod markdown;
pub mod openings;
pub mod pgn;
pub mod plain;
pub mod plan;
pub mod ratings;
pub mod run_list;
pub mod speed;
pub mod standings;
mod standings_json;
pub mod statistics;
mod status;
pub use status::disturbance;
pub mod stored;
pub mod style;
pub mod suite;
pub mod summary;
pub mod table;
pub mod terminal;
pub mod text;
pub mod transcript;
pub mod tuned;
pub mod verdict;
