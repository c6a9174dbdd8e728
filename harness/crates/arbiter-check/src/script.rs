//! Scripts: what is sent to an engine, and what is waited for.

use std::time::Duration;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Send lines, all at once.
    Send(Vec<String>),
    /// Send bytes as they are; the line stands for them in the transcript.
    Bytes(Vec<u8>, String),
    /// Wait for a line that begins with this word, and has not been waited for yet.
    Expect(&'static str, Wait),
    /// Collect output for so long.
    Collect(Duration),
    /// Close the engine's input.
    Close,
    /// Wait until the process has exited.
    AwaitExit(Wait),
}

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The timeout of the engine under test.
    Default,
    /// A multiple of it.
    Times(u32),
}

/// A script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// What to do.
    pub steps: Vec<Step>,
    /// Whether the handshake is left out.
    pub is_raw: bool,
    /// Arguments besides the usual.
    pub args: Vec<String>,
}

impl Script {
    /// A script that begins with the handshake.
    pub fn after_handshake() -> Script {
        Script::default()
    }

    /// A script without handshake.
    pub fn raw() -> Script {
        Script { is_raw: true, ..Script::default() }
    }

    /// Sends lines; several in one text are sent at once.
    pub fn send(mut self, text: &str) -> Script {
        self.steps.push(Step::Send(text.split('\n').map(str::to_owned).collect()));
        self
    }

    /// Sends bytes as they are, the line end included.
    pub fn bytes(mut self, bytes: &[u8], shown: &str) -> Script {
        self.steps.push(Step::Bytes(bytes.to_vec(), shown.to_owned()));
        self
    }

    /// Waits for a line that begins with `word`.
    pub fn expect(self, word: &'static str) -> Script {
        self.expect_within(word, Wait::Default)
    }

    /// Waits for a line that begins with `word`, for longer than usual perhaps.
    pub fn expect_within(mut self, word: &'static str, wait: Wait) -> Script {
        self.steps.push(Step::Expect(word, wait));
        self
    }

    /// Collects output for so many milliseconds.
    pub fn collect_for(mut self, ms: u64) -> Script {
        self.steps.push(Step::Collect(Duration::from_millis(ms)));
        self
    }

    /// Closes the engine's input.
    pub fn close(mut self) -> Script {
        self.steps.push(Step::Close);
        self
    }

    /// Waits until the process has exited.
    pub fn exit(self) -> Script {
        self.exit_within(Wait::Default)
    }

    /// Waits until the engine has left, for longer than usual perhaps.
    pub fn exit_within(mut self, wait: Wait) -> Script {
        self.steps.push(Step::AwaitExit(wait));
        self
    }

    /// Asks whether it is ready, and waits for the answer.
    pub fn ready(self) -> Script {
        self.send("isready").expect("readyok")
    }

    /// Searches: a `position` line, a `go` line, and the wait for the move.
    pub fn search(self, position: &str, go: &str) -> Script {
        self.send(&format!("position {position}\ngo {go}")).expect("bestmove")
    }

    /// Checks that the engine still answers.
    pub fn responds(self) -> Script {
        self.ready().search("startpos", "depth 2")
    }
}
