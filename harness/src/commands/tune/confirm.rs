//! `arbiter tune … --confirm`: SPRT of the tuned values against the initial values.

use std::path::Path;

use clap::Args;

use crate::requested_run::{RequestedRun, RunArgs};
use crate::{exit_code::ExitCode, failure::Failure, output::OutputFormat, run};
use arbiter_plan::{DEFAULT_SPRT_PAIRS, RunKind, SprtRequest, confirmation};
use arbiter_report::note;
use arbiter_settings::help;
use arbiter_stats::{DEFAULT_ELO0, DEFAULT_ELO1};
use arbiter_store::Store;

/// Flags of the confirmation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Confirmation")]
pub(super) struct ConfirmArgs {
    /// After the run, play run NAME-confirm: an SPRT of the tuned values against the initial
    /// values; with --resume, start or resume this SPRT
    #[arg(long)]
    pub(super) confirm: bool,
    #[arg(help = help("Elo of the null hypothesis", &[&DEFAULT_ELO0]), long, value_name = "ELO", allow_negative_numbers = true, requires = "confirm")]
    elo0: Option<f64>,
    #[arg(help = help("Elo of the alternative", &[&DEFAULT_ELO1]), long, value_name = "ELO", allow_negative_numbers = true, requires = "confirm")]
    elo1: Option<f64>,
    #[arg(help = help("Maximum number of pairs of the SPRT", &[&DEFAULT_SPRT_PAIRS]), long, value_name = "N", requires = "confirm")]
    confirm_pairs: Option<u64>,
}

impl ConfirmArgs {
    /// Starts or resumes the SPRT that confirms the values of the run `tuned`.
    pub(super) fn play(
        &self,
        results: &Path,
        tuned: &str,
        format: OutputFormat,
    ) -> Result<ExitCode, Failure> {
        let name = format!("{tuned}-confirm");
        if run::run_exists(results, &name)? {
            note(&format!("continuing the existing run {name}"));
            let requested = RequestedRun {
                results: results.to_owned(),
                flags: RunArgs { resume: Some(name), format, ..RunArgs::default() },
                ..RequestedRun::default()
            };
            return run::run_command(RunKind::Sprt, requested);
        }
        let store = Store::open(results)?;
        let plan = store.run(tuned)?.plan;
        let state = run::replay_stored(&store, tuned, &plan)?;
        drop(store);
        let Some(spsa) = state.spsa() else { return Ok(ExitCode::NothingToRun) };
        let sprt = SprtRequest { elo0: self.elo0, elo1: self.elo1, ..SprtRequest::default() };
        let confirmed = confirmation(&plan, spsa.theta(), sprt, self.confirm_pairs);
        let Some(confirmed) = confirmed.map_err(Failure::invalid)? else {
            let message = "the tuned values equal the initial values: nothing to confirm";
            return Err(Failure::nothing_to_run(message));
        };
        let about = format!("values tuned in {tuned} against the initial values");
        run::play_plan(confirmed, results, name, &about, format)
    }
}
