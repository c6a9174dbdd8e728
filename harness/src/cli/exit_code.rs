//! The one table of exit codes.

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// The NATS server cannot be reached, or refuses.
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
    /// An engine has no bench that can be read.
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
    /// All of them.
    pub const ALL: [ExitCode; 22] = {
        use ExitCode::*;
        [
            Passed,
            Negative,
            Usage,
            Invalid,
            Nothing,
            Inconclusive,
            Faulty,
            Environment,
            Cluster,
            NoRepository,
            NoRevision,
            Shallow,
            BuildFailed,
            BuildLate,
            NoBinary,
            NoBench,
            BenchUnsteady,
            BenchBroken,
            Bug,
            Drained,
            Interrupted,
            Terminated,
        ]
    };

    /// The code of this number, if it is one of ours.
    pub fn of_number(number: u8) -> Option<ExitCode> {
        ExitCode::ALL.into_iter().find(|code| *code as u8 == number)
    }
}

/// The table as help text.
pub const HELP: &str = "\
Exit codes:
    0  H1 accepted, or the run is complete and there was nothing to decide
    1  H0 accepted; perft: a wrong count; check: a must failed; epd, speed, ci: a gate not passed
    2  usage
    3  invalid configuration or input
    4  nothing to run
    5  inconclusive: the cap was reached before a decision
    6  invalid run: more engine faults than --fault-limit
    7  environment failure: disk, memory, processes
    8  the NATS server of --on or worker cannot be reached, or refuses
   20  no git, or no repository         24  the build took too long
   21  no such revision                 25  the build left no program
   22  a shallow clone lacks it         26  the engine has no bench
   23  the build failed                 27  the bench differs between copies
                                        28  the bench is not the commit's
   70  a bug of arbiter
   75  drained by arbiter ctl or a key; results are saved, the resume command is printed
  130  interrupted (143: terminated); results are saved, the resume command is printed";

/// The part of the table that matters to `stats`, which decides nothing.
pub const STATS_HELP: &str = "\
Exit codes: 0 if the figures could be computed, whatever they say, also a verdict of H0;
2 for bad usage, 3 for input that makes no sense, 7 if the result cannot be written.";

/// The part of the table that matters to `rate`.
pub const RATE_HELP: &str = "\
Moves are not replayed: an illegal move goes unnoticed, and so does a result that the last position
contradicts. Games that cannot count are counted, and the first 20 are named.

Exit codes: 0 if there are ratings, also where some games do not count; 2 for bad usage, 3 for a
file that cannot be read and other bad input, 4 without any game that counts, 7 if the result
cannot be written.";

/// The part of the table that matters to `perft`.
pub const PERFT_HELP: &str = "\
Suites: lines of FEN and counts (\";D1 20 ;D2 400\"), records (\"id\", \"epd\", \"perft 1 20\"), and JSON
(a list of fen, depth, nodes; or testCases with start and the positions expected after each move).
Lines that cannot be used are named and count for nothing. With --on workers count.

Exit codes: 0 if all counts are right; 1 if the engine is wrong somewhere; 2 for bad usage; 3 for
bad input, an engine that cannot count, or a suite that is wrong where the engine is right; 4 if
there is nothing to count; 6 if the engine failed to answer; 7 for a failure of the machine;
8 if the NATS server cannot be used.";

/// The part of the table that matters to `epd`.
pub const EPD_HELP: &str = "\
A position is solved by a move of bm, by none of am, or by announcing a mate within dm moves (bm #5
counts as dm 5). Points for moves are taken from c0 (\"f5=10, Be5=2\") or c7 and c9 with c8. The time
to the solution ends when the principal variation turned to a solution for good. Themes come from
ids. Lines that cannot be used are named and count neither as solved nor as failed. With --on
workers search the positions; use --nodes or --depth if they are not all alike.

Exit codes: 0 if no gate was missed; 1 if --min-solved or --max-lost was; 2 for bad usage; 3 for bad
input; 4 if no line can be used; 6 if an engine failed to answer; 7 for a failure of the machine;
8 if the NATS server cannot be used.";

/// The part of the table that matters to `speed`.
pub const SPEED_HELP: &str = "\
In each round both engines run their bench once; a coin says which goes first, so that nothing that
the machine does besides can favour one of them. After 8, 16, 32 … rounds it is looked whether the
interval decides, and the interval allows for these looks: of comparisons of equal engines at most
5 % end with a verdict. Speed is what the engine's bench says of itself, or else its nodes by the
time it took.

Exit codes: 0 if it was measured, and --max-loss is certainly kept; 1 if it certainly is not; 5 if
the rounds cannot tell; 2 for bad usage; 3 for bad input; 7 for a failure of the machine; 20 to 28
for a revision that cannot be built or has no bench (see arbiter --help).";

/// The part of the table that matters to `ci`.
pub const CI_HELP: &str = "\
Steps are [[ci.step]] of arbiter.toml:
  kind          check, bench, perft, epd, speed or sprt
  name          its name, if it is not the kind
  args          flags of the subcommand
  changed       paths; the step is left out unless something below them differs from the base
  stop          whether its failure ends it all (true)
  budget        seconds after which an sprt is to say what it knows
  inconclusive  pass or fail (pass): what an sprt or a comparison of speeds without verdict is

The engine under test is HEAD and the base its parent, unless --test and --base, or base in [ci],
say otherwise. `arbiter results gates` shows what became of all steps so far.

Exit codes: 0 if all gates are passed; else that of the first that is not: 1 not passed, 5 not
decided where that is not allowed, 20 to 28 not built or its bench is wrong (see arbiter --help),
or any other of its subcommand; 4 if there is no step; 2 and 3 for bad usage and input.";

/// The part of the table that matters to `check`.
pub const CHECK_HELP: &str = "\
Each check talks to a new process. Its grade says how much depends on it: must (games are lost or runs
break without it), should (the protocol asks for it), nice. The score weighs them 4, 2 and 1; checks
that do not concern an engine, such as ponderhit without the option Ponder, do not count. Checks of
time are tried up to three times: a busy machine delays and never hurries.

Exit codes: 0 if every must is passed; 1 if one is not; 2 for bad usage; 3 for an engine that cannot be
started; 4 if no check is wanted; 7 for a failure of the machine.";

/// The part of the table that matters to `mine`.
pub const MINE_HELP: &str = "\
A position is taken if one move is better than the second by --gap, with scores cut at --decided, at
--depth and the two depths before; if that move does not just take back; and if the engine did not
prefer it from before --found-at on. Cheaper looks come first, and ask for half of --gap. The engine uses one thread and forgets all before
each search, so the same games give the same suite.

What is known is kept in FILE.journal until the suite is written; the same command goes on after an
interruption. A position on which the engine fails is asked again then.

Exit codes: 0 if the suite is written; 2 for bad usage; 3 for bad input; 4 if there is no position to
look at, or none is a question; 6 if the engine failed at some positions (the journal stays); 7 for a
failure of the machine; 130 and 143 if interrupted.";

/// The part of the table that matters to `samples`.
pub const SAMPLES_HELP: &str = "\
Writes one line per position, FEN;RESULT;GAME, such as
  8/5k2/8/8/3PK3/8/8/8 w - - 0 60;1-0;17
The side to move is not in check and went on with a move that neither took nor promoted anything. Games
without a result, or decided by a fault of an engine, are left out, and of each game what comes after an
engine announced a mate. `palimpsest tune` reads such files.

Exit codes: 0 if there are samples; 2 for bad usage; 3 for bad input; 4 if there is no such position; 7 for
a failure of the machine.";

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
        for code in ExitCode::ALL {
            let number = (code as u8).to_string();
            let words = HELP.split(|c: char| !c.is_ascii_digit());
            assert!(words.into_iter().any(|word| word == number), "{number}");
        }
    }
}
