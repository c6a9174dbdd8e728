//! Scripts: input to an engine, and answers to wait for.

use std::fmt::Display;
use std::time::Duration;

use super::engine_info::EngineInfo;

/// Step of a script. A wait takes a multiple of the timeout of the engine under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Send bytes in one write; the lines stand for them in the transcript.
    Send(Vec<u8>, Vec<String>),
    /// Wait for a line that begins with this word, and that no earlier step has consumed.
    Expect(&'static str, u32),
    /// Wait for the move of a search; send `stop` after a timeout.
    Finish,
    /// Collect output for a duration.
    Collect(Duration),
    /// Close the engine's input.
    Close,
    /// Wait until the process has exited.
    AwaitExit(u32),
}

/// Steps after the handshake, and the arguments of the process.
#[derive(Debug, Clone)]
pub struct Script<'a> {
    /// Engine to which the script is sent.
    pub(super) engine: &'a EngineInfo,
    pub(super) steps: Vec<Step>,
    /// `true` to leave out the handshake.
    pub(super) is_raw: bool,
    /// Arguments of the process besides the usual ones.
    pub(super) args: Vec<String>,
}

impl<'a> Script<'a> {
    /// Returns an empty script.
    pub(super) fn new(engine: &'a EngineInfo) -> Script<'a> {
        Script { engine, steps: Vec::new(), is_raw: false, args: Vec::new() }
    }

    /// Leaves out the handshake.
    pub(super) fn raw(self) -> Script<'a> {
        Script { is_raw: true, ..self }
    }

    fn step(mut self, step: Step) -> Script<'a> {
        self.steps.push(step);
        self
    }

    /// Sends lines; several in one text are sent in one write.
    pub(super) fn send(self, text: &str) -> Script<'a> {
        // One write delivers the lines together: a `stop` behind `go` is there before the search
        // begins.
        let lines = text.split('\n').map(str::to_owned).collect();
        self.step(Step::Send(format!("{text}\n").into_bytes(), lines))
    }

    /// Sends bytes as they are, the line end included; `shown` stands for them in the transcript.
    pub(super) fn bytes(self, bytes: &[u8], shown: &str) -> Script<'a> {
        self.step(Step::Send(bytes.to_vec(), vec![shown.to_owned()]))
    }

    /// Waits for a line that begins with `word`.
    pub(super) fn expect(self, word: &'static str) -> Script<'a> {
        self.step(Step::Expect(word, 1))
    }

    /// Sends `uci` and waits twice the usual time for the answer, because the engine has just been
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

    /// Waits until the process has exited, for `factor` times the usual timeout.
    pub(super) fn exit(self, factor: u32) -> Script<'a> {
        self.step(Step::AwaitExit(factor))
    }

    /// Sends `isready`, and waits for the answer.
    pub(super) fn ready(self) -> Script<'a> {
        self.send("isready").expect("readyok")
    }

    /// Collects output for 100 ms, in which nothing is expected, and then sends `isready`.
    pub(super) fn settle(self) -> Script<'a> {
        // A second answer would come within this time; `readyok` then shows that the engine is
        // idle.
        self.collect(100).ready()
    }

    /// Sets an option.
    pub(super) fn set(self, name: &str, value: impl Display) -> Script<'a> {
        self.send(&format!("setoption name {name} value {value}")).ready()
    }

    /// Starts a search, with a `position` line and a `go` line.
    pub(super) fn go(self, position: &str, limits: &str) -> Script<'a> {
        self.send(&format!("position {position}\ngo {limits}"))
    }

    /// Starts a search without an end and lets it run for `ms` milliseconds.
    pub(super) fn think(self, ms: u64) -> Script<'a> {
        self.go("startpos", "infinite").collect(ms)
    }

    /// Stops a search and waits for its move.
    pub(super) fn stop(self) -> Script<'a> {
        self.send("stop").expect("bestmove")
    }

    /// Starts a search and waits for its move.
    pub(super) fn search(self, position: &str, limits: &str) -> Script<'a> {
        self.go(position, limits).expect("bestmove")
    }

    /// Searches as deep as the timeout allows, for checks of the output during the search.
    pub(super) fn try_search(self, position: &str, limits: &str) -> Script<'a> {
        self.go(position, limits).step(Step::Finish)
    }

    /// Searches each position.
    pub(super) fn search_all(self, positions: &[&str], limits: &str) -> Script<'a> {
        positions.iter().fold(self, |script, position| script.search(position, limits))
    }

    /// Checks that the engine still answers.
    pub(super) fn responds(self) -> Script<'a> {
        self.ready().search("startpos", "depth 2")
    }
}
