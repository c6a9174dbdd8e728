//! Reports for users: the [`Summary`] of a run, and formatters for all output formats.
//!
//! Formatters convert values to text; the caller opens files. Only [`print_result`] and
//! [`print_report`] write to standard output. Only [`Live`], [`progress_bar`], [`note`] and the log
//! functions write to standard error.
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

pub use figures::*;
pub use forms::*;
pub use games::*;
pub use live::{
    Board, Boards, Live, Recent, RecentEvent, RecentEvents, Running, Side, event_texts, outlook,
};
pub use parts::*;
pub use run::{brief::*, document::*, gate::*, json::*, junit::*};
pub use run::{list::*, log::*, plan::*, verdict::*};
#[cfg(feature = "json-schema")]
pub use schemas::{report_schemas, schema};
pub use topics::builds::{BuildRow, builds_document, size_in_mib};
pub use topics::check::{CheckReport, failed_musts};
pub use topics::games::game_to_show;
pub use topics::gates::{ci_document, ci_json, gates_json, gates_junit, gates_table, is_kept};
pub use topics::ratings::{Ratings, elostat, games_document, games_junit, ratings_json};
pub use topics::speed::{SpeedReport, speed_verdict};
pub use topics::suite::{
    EngineLocation, EpdEngine, EpdReport, PerftReport, PerftTotals, SuiteConditions,
};
pub use topics::tuning::{tuned_names, tuning_schedule};
