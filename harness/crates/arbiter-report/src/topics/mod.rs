//! Subjects of reports. The module of a subject contains values, document sections and JSON.

pub(crate) mod ablation;
pub(crate) mod builds;
pub(crate) mod check;
pub(crate) mod games;
pub(crate) mod gates;
pub(crate) mod latency;
pub(crate) mod lint;
pub(crate) mod ratings;
pub(crate) mod result_figures;
pub(crate) mod search;
pub(crate) mod speed;
pub(crate) mod strength;
pub(crate) mod suite;
pub(crate) mod tournament;
pub(crate) mod tuning;
