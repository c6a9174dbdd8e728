//! The subcommands, one module each. No subcommand imports another subcommand.

pub(crate) mod ablate;
pub(crate) mod builds;
pub(crate) mod check;
pub(crate) mod ci;
#[cfg(feature = "cluster")]
pub(crate) mod cluster;
pub(crate) mod compat;
pub(crate) mod ctl;
pub(crate) mod datagen;
pub(crate) mod doctor;
pub(crate) mod engines;
pub(crate) mod epd;
pub(crate) mod init;
pub(crate) mod manual;
pub(crate) mod mine;
pub(crate) mod openings;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod rate;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod samples;
pub(crate) mod serve;
pub(crate) mod speed;
pub(crate) mod stats;
pub(crate) mod tune;
#[cfg(feature = "cluster")]
pub(crate) mod worker;

/// Returns the JSON Schemas of all output with --format json and ndjson.
#[cfg(feature = "json-schema")]
pub(crate) fn schemas() -> Vec<schemars::Schema> {
    use arbiter_report::schema;

    let mut all = arbiter_report::report_schemas();
    all.extend([
        schema::<stats::sprt::CountFigures>(),
        schema::<stats::plan::CostFigures>(),
        schema::<stats::simulate::SimulationFigures>(),
        schema::<engines::Registration>(),
        schema::<engines::CheckedEngine>(),
        schema::<doctor::Findings>(),
        schema::<tune::simulate::SimulationFigures<'_>>(),
        schema::<crate::run::Line<'_>>(),
        #[cfg(feature = "cluster")]
        schema::<cluster::ClusterFigures<'_>>(),
    ]);
    all
}
