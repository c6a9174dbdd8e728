//! Scripts: lines to send to an engine, and answers to wait for.

use std::fmt::Display;
use std::time::Duration;

use super::engine_info::EngineInfo;

/// Position in which White mates in one move.
pub(super) const MATE_IN_ONE: &str = "fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";

/// Position with one legal move.
pub(super) const ONLY_MOVE: &str = "fen rR4k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1";

/// Step of a script. In `Expect` and `AwaitExit`, the number is the factor by which the engine's
/// timeout is multiplied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Send bytes in one write. The transcript shows the lines instead of the bytes.
    Send(Vec<u8>, Vec<String>),
    /// Wait for a line that starts with this word and that no earlier step has consumed.
    Expect(&'static str, u32),
    /// Wait for the move of a search. After the timeout, send `stop` and wait again.
    Finish,
    /// Collect output for this duration.
    Collect(Duration),
    /// Close the engine's input.
    Close,
    /// Wait until the process has exited.
    AwaitExit(u32),
}

/// Steps after the handshake, and additional arguments of the process.
#[derive(Debug, Clone)]
pub struct Script<'a> {
    /// Engine for which the script is made.
    pub(super) engine: &'a EngineInfo,
    pub(super) steps: Vec<Step>,
    /// `true` to omit the handshake.
    pub(super) is_raw: bool,
    /// Additional arguments of the engine's command line.
    pub(super) args: Vec<String>,
}

impl<'a> Script<'a> {
    /// Creates an empty script.
    pub(super) fn new(engine: &'a EngineInfo) -> Script<'a> {
        Script { engine, steps: Vec::new(), is_raw: false, args: Vec::new() }
    }

    /// Omits the handshake.
    pub(super) fn raw(self) -> Script<'a> {
        Script { is_raw: true, ..self }
    }

    fn step(mut self, step: Step) -> Script<'a> {
        self.steps.push(step);
        self
    }

    /// Sends one or more lines in one write.
    pub(super) fn send(self, text: &str) -> Script<'a> {
        // One write delivers the lines together. A `stop` after `go`, for example, arrives before
        // the search starts.
        let lines = text.split('\n').map(str::to_owned).collect();
        self.step(Step::Send(format!("{text}\n").into_bytes(), lines))
    }

    /// Sends bytes unchanged, without adding a line ending. The transcript shows `shown` instead.
    pub(super) fn bytes(self, bytes: &[u8], shown: &str) -> Script<'a> {
        self.step(Step::Send(bytes.to_vec(), vec![shown.to_owned()]))
    }

    /// Waits for a line that starts with `word`.
    pub(super) fn expect(self, word: &'static str) -> Script<'a> {
        self.step(Step::Expect(word, 1))
    }

    /// Sends `uci` and waits for `uciok` with twice the usual timeout, because the engine has just
    /// started.
    pub(super) fn greet(self) -> Script<'a> {
        self.send("uci").step(Step::Expect("uciok", 2))
    }

    /// Collects output for `ms` milliseconds.
    pub(super) fn collect(self, ms: u64) -> Script<'a> {
        self.step(Step::Collect(Duration::from_millis(ms)))
    }

    /// Closes the engine's input.
    pub(super) fn close(self) -> Script<'a> {
        self.step(Step::Close)
    }

    /// Waits until the process has exited, for at most `factor` times the usual timeout.
    pub(super) fn exit(self, factor: u32) -> Script<'a> {
        self.step(Step::AwaitExit(factor))
    }

    /// Sends `isready`, and waits for `readyok`.
    pub(super) fn ready(self) -> Script<'a> {
        self.send("isready").expect("readyok")
    }

    /// Collects unexpected output for 100 ms, then sends `isready` and waits for `readyok`.
    pub(super) fn settle(self) -> Script<'a> {
        // A second answer would arrive within this time. The `readyok` then shows that the engine
        // is idle.
        self.collect(100).ready()
    }

    /// Sets an option, and waits until the engine is ready.
    pub(super) fn set(self, name: &str, value: impl Display) -> Script<'a> {
        self.send(&format!("setoption name {name} value {value}")).ready()
    }

    /// Starts a search with a `position` and a `go` command.
    pub(super) fn go(self, position: &str, limits: &str) -> Script<'a> {
        self.send(&format!("position {position}\ngo {limits}"))
    }

    /// Starts an infinite search, and collects output for `ms` milliseconds.
    pub(super) fn think(self, ms: u64) -> Script<'a> {
        self.go("startpos", "infinite").collect(ms)
    }

    /// Stops a search, and waits for its move.
    pub(super) fn stop(self) -> Script<'a> {
        self.send("stop").expect("bestmove")
    }

    /// Starts a search, and waits for its move.
    pub(super) fn search(self, position: &str, limits: &str) -> Script<'a> {
        self.go(position, limits).expect("bestmove")
    }

    /// Starts a search, waits for its move, and stops the search after the timeout. Used for checks
    /// of the output during a search.
    pub(super) fn try_search(self, position: &str, limits: &str) -> Script<'a> {
        self.go(position, limits).step(Step::Finish)
    }

    /// Searches each position, and waits for each move.
    pub(super) fn search_all(self, positions: &[&str], limits: &str) -> Script<'a> {
        positions.iter().fold(self, |script, position| script.search(position, limits))
    }

    /// Checks that the engine still answers.
    pub(super) fn responds(self) -> Script<'a> {
        self.ready().search("startpos", "depth 2")
    }
}
