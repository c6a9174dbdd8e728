//! Reports for users: the [`Summary`] of a run, and formatters for all output formats.
//!
//! Formatters convert values to text; the caller opens files. Only [`Live`], [`note`] and the log
//! functions print, to standard error.
//!
//! `parts` and `forms` do not depend on runs. `figures` contains the values of a run, and `topics`
//! contains sections and reports by subject. `run`, `live` and `games` contain the reports of runs.

mod figures;
mod forms;
mod games;
mod live;
mod parts;
mod run;
#[cfg(feature = "json-schema")]
mod schemas;
mod topics;

pub use figures::{
    EloFigures, GameStatistics, HistoryPoint, LlrHistory, OpeningNames, RunPhase, Strength,
    Summary, Verdict, apply_tallies, check_stored, gates_of_run, read_one, replayed_state,
    rules_text, shown_run, stored_summary, summary_of,
};
pub use forms::{
    HTML_POLICY, HTML_SCRIPT, HTML_STYLE, csv_rows, diagram, game_viewer, html_page, html_sections,
    markdown, plain_body, plain_text, run_csv, squares,
};
pub use games::compat::{Dialect, DialectWriter};
pub use games::epd::final_positions;
pub use games::pgn::{PgnHeader, clock_time, game_pgn, pgn_text};
pub use games::transcript::transcript_text;
pub use live::{
    Board, Boards, Live, Recent, RecentEvent, RecentEvents, Running, Side, event_texts, outlook,
};
pub use parts::{
    BAD_STYLE, Block, Chart, Document, Figure, Game, Intervals, Line, Lines, Table, ends, interval,
    log_error, log_warn, note, percent, plus_minus_95, print_report, print_result, progress_bar,
    short_hash, shown_message, signed, styled, to_value, utc_time, utc_time_as,
};
pub use run::brief::brief_document;
pub use run::document::{outcome_document, plan_document, run_document, run_title, tone};
pub use run::embed::{badge_svg, picture_svg};
pub use run::gate::gate_text;
pub use run::json::{run_json, run_json_text};
pub use run::junit::run_junit;
pub use run::list::{ListedRun, RunColumn, RunFilter, run_pattern, runs_json, runs_table};
pub use run::log::{LogEntry, log_json, log_markdown, log_table, sprt_bounds_text};
pub use run::plan::{plan_json, repeats_text};
pub use run::verdict::verdict_sentence;
#[cfg(feature = "json-schema")]
pub use schemas::{report_schemas, schema};
pub use topics::builds::{BuildRow, builds_document, size_in_mib};
pub use topics::check::{CheckReport, failed_musts};
pub use topics::games::game_to_show;
pub use topics::gates::{ci_document, ci_json, gates_json, gates_junit, gates_table, is_kept};
pub use topics::ratings::{Ratings, elostat, games_document, games_junit, ratings_json};
pub use topics::speed::SpeedReport;
pub use topics::suite::{
    EngineLocation, EpdEngine, EpdReport, PerftReport, PerftTotals, SuiteConditions,
};
pub use topics::tuning::{tuned_names, tuning_schedule};
