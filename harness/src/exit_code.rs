//! The exit codes of all commands.

use clap::ValueEnum;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[repr(u8)]
pub enum ExitCode {
    /// H1 accepted, or the run is complete and there was nothing to decide.
    Passed = 0,
    /// H0 accepted, or a suite shows what it must not.
    Negative = 1,
    /// The command line makes no sense; clap says so itself.
    Usage = 2,
    /// A setting or an input file is wrong.
    Invalid = 3,
    /// There is nothing to run.
    Nothing = 4,
    /// A cap was reached before a decision.
    Inconclusive = 5,
    /// More games ended by an engine's fault than allowed.
    Faulty = 6,
    /// The machine does not do its part: disk, memory, processes.
    Environment = 7,
    /// The NATS server cannot be reached, refuses, or is open and may not be.
    Cluster = 8,
    /// There is no git, or no repository.
    NoRepository = 20,
    /// The repository has no such revision.
    NoRevision = 21,
    /// A shallow clone may lack the revision.
    Shallow = 22,
    /// A build failed, or there is no way to build.
    BuildFailed = 23,
    /// A build took too long.
    BuildLate = 24,
    /// A build left no program.
    NoBinary = 25,
    /// A bench fails, or there is none where one is needed.
    NoBench = 26,
    /// The bench differs between copies of an engine.
    BenchUnsteady = 27,
    /// The bench is not the one that the commit promises.
    BenchBroken = 28,
    /// A bug of ours.
    Bug = 70,
    /// `arbiter ctl RUN drain`, or the key; results are saved.
    Drained = 75,
    /// SIGINT; results are saved.
    Interrupted = 130,
    /// SIGTERM; results are saved.
    Terminated = 143,
}

impl ExitCode {
    /// All of them, by their numbers.
    pub fn all() -> impl Iterator<Item = ExitCode> {
        ExitCode::value_variants().iter().copied()
    }

    /// The code of this number, if it is one of ours.
    pub fn of_number(number: u8) -> Option<ExitCode> {
        ExitCode::all().find(|code| *code as u8 == number)
    }
}

/// The table as help text.
pub(crate) const HELP: &str = "\
Exit codes:
    0  H1 accepted, or the run is complete and there was nothing to decide
    1  H0 accepted; perft: a wrong count; check: a must failed; epd, speed, ci: a gate not passed
    2  usage
    3  invalid configuration or input
    4  nothing to run
    5  inconclusive: the cap was reached before a decision
    6  invalid run: more engine faults than --fault-limit
    7  environment failure: disk, memory, processes; no sandbox although --sandbox require
    8  the NATS server of --on or worker cannot be reached, refuses, or is open (see --insecure)
   20  no git, or no repository         24  the build took too long
   21  no such revision, or engine      25  the build left no program
   22  a shallow clone lacks it         26  the bench fails, or is lost
   23  the build failed                 27  the bench differs between copies
                                        28  the bench is not the commit's
   70  a bug of arbiter
   75  drained by arbiter ctl or a key; results are saved, the resume command is printed
  130  interrupted (143: terminated); results are saved, the resume command is printed";

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_every_code() {
        for code in ExitCode::all() {
            let number = (code as u8).to_string();
            let words = HELP.split(|c: char| !c.is_ascii_digit());
            assert!(words.into_iter().any(|word| word == number), "{number}");
        }
    }
}
