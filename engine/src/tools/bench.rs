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
    /// Time every evaluation on positions from games instead
    #[arg(long, conflicts_with = "depth")]
    eval: bool,
}

impl BenchArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        if self.eval {
            output.line(&bench::evaluations().to_string());
            return Ok(());
        }
        let result = bench::run(self.depth, Variant::default(), &Signals::default());
        output.line(&result.map_err(Failure::environment)?.to_string());
        Ok(())
    }
}
