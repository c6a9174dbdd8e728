//! Flags that say how long engines may be silent.

use std::time::Duration;

use clap::Args;

use super::words::merged;
use crate::Failure;
use arbiter_plan::ConfigFile;
use arbiter_protocol::{Deadlines, parse_seconds};

/// How long engines may take to answer where no clock says so, in seconds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Deadlines")]
pub(super) struct DeadlineArgs {
    /// Seconds an engine may take from its start to "uciok" [default: 10]
    #[arg(long, value_name = "SEC", value_parser = parse_seconds)]
    start_deadline: Option<Duration>,
    /// Multiply the deadlines of an engine's start, "uciok" and "isready", by this [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = parse_scale)]
    start_scale: Option<f64>,
    /// Seconds it may take to answer "isready" [default: 30]
    #[arg(long, value_name = "SEC", value_parser = parse_seconds)]
    ready_deadline: Option<Duration>,
    /// Seconds it may take for a move that no clock bounds (nodes, depth) [default: 60]
    #[arg(long, value_name = "SEC", value_parser = parse_seconds)]
    move_deadline: Option<Duration>,
    /// Seconds it may take to answer "stop" after its flag has fallen [default: 2]
    #[arg(long, value_name = "SEC", value_parser = parse_seconds)]
    stop_deadline: Option<Duration>,
}

impl DeadlineArgs {
    /// Merges flags and file; flags win.
    pub(super) fn resolve(&self, file: &ConfigFile) -> Result<Deadlines, Failure> {
        let usual = Deadlines::default();
        let pick = |flag, key, written: Option<f64>, usual| {
            Ok::<_, Failure>(merged(flag, file, key, &written, parse_seconds)?.unwrap_or(usual))
        };
        let scale = merged(self.start_scale, file, "start-scale", &file.start_scale, parse_scale)?;
        let deadlines = Deadlines {
            uciok: pick(self.start_deadline, "start-deadline", file.start_deadline, usual.uciok)?,
            readyok: pick(
                self.ready_deadline,
                "ready-deadline",
                file.ready_deadline,
                usual.readyok,
            )?,
            bestmove: pick(
                self.move_deadline,
                "move-deadline",
                file.move_deadline,
                usual.bestmove,
            )?,
            stop: pick(self.stop_deadline, "stop-deadline", file.stop_deadline, usual.stop)?,
        };
        Ok(deadlines.with_start_scaled(scale.unwrap_or(1.0)))
    }
}

/// A factor that is good for a deadline.
fn parse_scale(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor| (0.01..=1_000.0).contains(factor));
    factor.ok_or_else(|| format!("start-scale {text} is not a factor between 0.01 and 1000"))
}
