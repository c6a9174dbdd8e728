//! Reports of runs: document, short report, JSON, list and log.

pub(crate) mod brief;
pub(crate) mod document;
pub(crate) mod gate;
mod head;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod list;
pub(crate) mod log;
mod manifest;
pub(crate) mod plan;
pub(crate) mod verdict;
