//! Reports for users: a pure [`Summary`] of a run, and one writer for each format.
//!
//! Writers turn values into text; opening files is left to the caller. Only [`Live`], [`note`] and
//! [`complain`] print, on standard error.

mod ablation;
mod boards;
mod builds;
mod chart;
mod check;
mod compat;
mod csv;
mod document;
mod embed;
mod epd;
mod gates;
mod html;
mod json;
mod junit;
mod latency;
mod lint;
mod live;
mod log;
mod markdown;
mod openings;
mod options;
mod pgn;
mod plain;
mod plan;
mod ratings;
mod recent;
mod run_list;
#[cfg(feature = "json-schema")]
mod schemas;
mod speed;
mod standings;
mod standings_json;
mod statistics;
mod status;
mod stored;
mod style;
mod suite;
mod summary;
mod table;
mod terminal;
mod text;
mod transcript;
mod tuned;
mod verdict;

pub use boards::{Board, Boards, Running, Side};
pub use builds::{BuildRow, builds_document, size_in_mib};
pub use chart::{Chart, Intervals, Line, Lines};
pub use check::CheckReport;
pub use compat::{Dialect, DialectWriter};
pub use csv::{csv_rows, run_csv};
pub use document::{Block, Document, Figure, Game, Gauge, Picture, tone};
pub use document::{
    brief_document, game_to_show, games_document, outcome_document, plan_document, run_document,
    run_title,
};
pub use embed::{badge_svg, picture_svg};
pub use epd::final_positions;
pub use gates::{GatesReport, gates_json, gates_table, is_kept};
pub use html::squares;
pub use html::{
    HTML_POLICY, HTML_SCRIPT, HTML_STYLE, diagram, game_viewer, html_page, html_sections,
};
pub use json::{EloFigures, ends, run_json, run_json_text, to_value};
pub use junit::{games_junit, gates_junit, run_junit};
pub use live::Live;
pub use log::{LogEntry, log_json, log_markdown, log_text, short_commit, sprt_in_words};
pub use markdown::markdown;
pub use openings::{Named, OpeningNames};
pub use pgn::{PgnHeader, game_pgn, pgn_text};
pub use plain::{plain_body, plain_text};
pub use plan::{plan_json, repeats_in_words};
pub use ratings::{Ratings, elostat, ratings_json};
pub use recent::{Recent, RecentEvent, RecentEvents, in_words};
pub use run_list::{ListedRun, RunFilter, RunPhase, run_pattern, runs_json, runs_table};
#[cfg(feature = "json-schema")]
pub use schemas::{report_schemas, schema};
pub use speed::SpeedReport;
pub use standings::rules_in_words;
pub use statistics::{GameStatistics, HistoryPoint, LlrHistory};
pub use status::outlook;
pub use stored::{
    apply_tallies, gates_of_run, read_one, replayed_state, shown_run, stored_summary, summary_of,
};
pub use stored::{utc_time, utc_time_as};
pub use style::{BAD_STYLE, styled};
pub use suite::{EpdEngine, EpdReport, PerftReport, PerftTotals, Place};
pub use summary::{Strength, Summary, Verdict};
pub use table::Table;
pub use terminal::{complain, note, progress_bar, shown_message, shown_output, warn};
pub use text::{interval, percent, plus_minus, plus_minus_95, signed, superiority};
pub use transcript::transcript_text;
pub use tuned::{tuned_names, tuning_schedule};
pub use verdict::verdict_sentence;
