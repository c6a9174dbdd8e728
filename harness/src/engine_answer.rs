//! Properties that engines report when they are started.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{engine_builds::setup, failure::Failure, runtime::runtime};
use arbiter_plan::Engine;
use arbiter_protocol::Protocol;
use arbiter_runner::ask_engine;

/// Properties that an engine reports; absent if it does not reply.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Protocol of the engine.
    pub(crate) protocol: Protocol,
    /// Name that the engine reports for itself.
    pub(crate) declared_name: String,
    /// Number of the engine's options.
    pub(crate) options: usize,
}

/// Starts an engine, and returns the properties that the engine reports.
pub(crate) fn answer(engine: &Engine) -> Result<Answer, Failure> {
    let setup = setup(engine)?;
    let properties = ask_engine(&setup, |session| Answer {
        protocol: if session.is_uci() { Protocol::Uci } else { Protocol::Xboard },
        declared_name: session.engine_name().unwrap_or(&engine.name).to_owned(),
        options: session.options().len(),
    });
    Ok(runtime()?.block_on(properties)?)
}
