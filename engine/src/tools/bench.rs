//! The command `bench`.

use clap::Args;

use super::Output;
use crate::bench;
use crate::eval::Variant;
use crate::failure::Failure;
use crate::search::Signals;

/// Search fixed positions; the node count is the signature of the engine
#[derive(Args)]
pub(super) struct BenchArgs {
    /// Depth of each search in plies [default: 12]
    depth: Option<u32>,
}

impl BenchArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let result = bench::run(self.depth, Variant::default(), &Signals::default());
        output.line(&result.map_err(Failure::environment)?.to_string());
        Ok(())
    }
}
