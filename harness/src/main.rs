//! The `arbiter` binary.

use std::process::ExitCode;

use arbiter::Cli;

fn main() -> ExitCode {
    arbiter_process::set_up_c_library();
    let cli = Cli::read();
    // The panic has printed its message already; all that is left is the exit code.
    let code = std::panic::catch_unwind(|| cli.run()).unwrap_or(arbiter::ExitCode::Bug);
    code.into()
}
