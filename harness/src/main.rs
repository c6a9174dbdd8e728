//! The `arbiter` binary.

use std::process::ExitCode;

use arbiter::Cli;

fn main() -> ExitCode {
    arbiter_process::set_up_c_library();
    let cli = Cli::read();
    // The panic hook has already printed the message. The default exit code of a panic, 101, is not
    // an exit code of Arbiter.
    let code = std::panic::catch_unwind(|| cli.run()).unwrap_or(arbiter::ExitCode::Bug);
    code.into()
}
