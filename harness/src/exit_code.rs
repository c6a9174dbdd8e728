//! Exit codes of all commands.

use clap::ValueEnum;

/// Exit code of the program. The help shows the descriptions of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[repr(u8)]
pub enum ExitCode {
    /// H1 accepted, or a run without a test is complete.
    Passed = 0,
    /// H0 accepted; perft: a wrong count; check: a "must" check failed; epd, speed, ci: a gate
    /// failed.
    Negative = 1,
    /// Usage error: invalid command line.
    Usage = 2,
    /// Invalid configuration or input.
    Invalid = 3,
    /// Nothing to run.
    NothingToRun = 4,
    /// Inconclusive: the maximum number of pairs was reached.
    Inconclusive = 5,
    /// Invalid run: more engine faults than --fault-limit.
    TooManyFaults = 6,
    /// Environment failure: disk, memory, processes, or no complete sandbox (--sandbox require).
    Environment = 7,
    /// The NATS server cannot be reached, refuses the connection, or is insecure (see --insecure).
    Cluster = 8,
    /// No git, or no repository.
    NoRepository = 20,
    /// Unknown revision or engine.
    NoRevision = 21,
    /// A shallow clone lacks the revision.
    Shallow = 22,
    /// The build failed, or no recipe was found.
    BuildFailed = 23,
    /// The build timed out.
    BuildTimeout = 24,
    /// The build produced no program.
    NoBinary = 25,
    /// The bench fails, or a required bench is missing.
    NoBench = 26,
    /// The bench differs between parallel runs of an engine.
    BenchNondeterministic = 27,
    /// The node count of the bench differs from the node count in the commit message.
    BenchBroken = 28,
    /// A bug of Arbiter.
    Bug = 70,
    /// Drained by arbiter ctl or a key; results are saved, and the resume command is printed.
    Drained = 75,
    /// Interrupted; results are saved, and the resume command is printed.
    Interrupted = 130,
    /// Terminated; results are saved, and the resume command is printed.
    Terminated = 143,
}

impl ExitCode {
    /// Returns all exit codes, by number.
    pub fn all() -> impl Iterator<Item = ExitCode> {
        ExitCode::value_variants().iter().copied()
    }

    /// Returns the exit code with this number, if there is one.
    pub fn from_number(number: u8) -> Option<ExitCode> {
        ExitCode::all().find(|code| *code as u8 == number)
    }
}

/// Returns the table of exit codes for the help.
pub(crate) fn help() -> String {
    let mut help = "Exit codes:".to_owned();
    for code in ExitCode::all() {
        let words = code.to_possible_value().and_then(|value| value.get_help().cloned());
        help += &format!("\n  {:>3}  {}", code as u8, words.unwrap_or_default());
    }
    help
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}
