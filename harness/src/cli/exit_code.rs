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
    /// A bug of ours.
    Bug = 70,
    /// `arbiter ctl RUN drain`, or the key; results are saved.
    Drained = 75,
    /// SIGINT; results are saved.
    Interrupted = 130,
    /// SIGTERM; results are saved.
    Terminated = 143,
}

/// The table as help text.
pub const HELP: &str = "\
Exit codes:
    0  H1 accepted, or the run is complete and there was nothing to decide
    1  H0 accepted; perft: a wrong count; epd: a gate not passed; check: a must failed
    2  usage
    3  invalid configuration or input
    4  nothing to run
    5  inconclusive: the cap was reached before a decision
    6  invalid run: more engine faults than --fault-limit
    7  environment failure: disk, memory, processes
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
Lines that cannot be used are named and count for nothing.

Exit codes: 0 if all counts are right; 1 if the engine is wrong somewhere; 2 for bad usage; 3 for
bad input, an engine that cannot count, or a suite that is wrong where the engine is right; 4 if
there is nothing to count; 6 if the engine failed to answer; 7 for a failure of the machine.";

/// The part of the table that matters to `epd`.
pub const EPD_HELP: &str = "\
A position is solved by a move of bm, by none of am, or by announcing a mate within dm moves (bm #5
counts as dm 5). Points for moves are taken from c0 (\"f5=10, Be5=2\") or c7 and c9 with c8. The time
to the solution ends when the principal variation turned to a solution for good. Themes come from
ids. Lines that cannot be used are named and count neither as solved nor as failed.

Exit codes: 0 if no gate was missed; 1 if --min-solved or --max-lost was; 2 for bad usage; 3 for bad
input; 4 if no line can be used; 6 if an engine failed to answer; 7 for a failure of the machine.";

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
        use ExitCode::*;
        let all = [
            Passed,
            Negative,
            Usage,
            Invalid,
            Nothing,
            Inconclusive,
            Faulty,
            Environment,
            Bug,
            Drained,
            Interrupted,
            Terminated,
        ];
        for code in all {
            let number = (code as u8).to_string();
            let words = HELP.split(|c: char| !c.is_ascii_digit());
            assert!(words.into_iter().any(|word| word == number), "{number}");
        }
    }
}
