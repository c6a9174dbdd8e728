//! What to say to an engine, and what to wait for.

use std::time::Duration;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Say lines, all at once.
    Say(Vec<String>),
    /// Say bytes as they are; the line stands for them in the conversation.
    Bytes(Vec<u8>, String),
    /// Wait for a line that begins with this word, and has not been waited for yet.
    Hear(&'static str, Patience),
    /// Listen for so long.
    Listen(Duration),
    /// Close the engine's input.
    Close,
    /// Wait until the engine has left.
    Leave(Patience),
}

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As long as the user says.
    Usual,
    /// So many times as long.
    Times(u32),
}

/// A whole script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// What to do.
    pub steps: Vec<Step>,
    /// Whether the engine is not greeted first.
    pub is_raw: bool,
    /// Arguments besides the usual.
    pub args: Vec<String>,
}

impl Script {
    /// A script that begins with the handshake.
    pub fn greeted() -> Script {
        Script::default()
    }

    /// A script that begins with nothing.
    pub fn raw() -> Script {
        Script { is_raw: true, ..Script::default() }
    }

    /// Says lines; several in one text are sent at once.
    pub fn say(mut self, text: &str) -> Script {
        self.steps.push(Step::Say(text.split('\n').map(str::to_owned).collect()));
        self
    }

    /// Says bytes as they are, the line end included.
    pub fn bytes(mut self, bytes: &[u8], shown: &str) -> Script {
        self.steps.push(Step::Bytes(bytes.to_vec(), shown.to_owned()));
        self
    }

    /// Waits for a line that begins with `word`.
    pub fn hear(self, word: &'static str) -> Script {
        self.hear_within(word, Patience::Usual)
    }

    /// Waits for a line that begins with `word`, for longer than usual perhaps.
    pub fn hear_within(mut self, word: &'static str, patience: Patience) -> Script {
        self.steps.push(Step::Hear(word, patience));
        self
    }

    /// Listens for so many milliseconds.
    pub fn listen(mut self, ms: u64) -> Script {
        self.steps.push(Step::Listen(Duration::from_millis(ms)));
        self
    }

    /// Closes the engine's input.
    pub fn close(mut self) -> Script {
        self.steps.push(Step::Close);
        self
    }

    /// Waits until the engine has left.
    pub fn leave(self) -> Script {
        self.leave_within(Patience::Usual)
    }

    /// Waits until the engine has left, for longer than usual perhaps.
    pub fn leave_within(mut self, patience: Patience) -> Script {
        self.steps.push(Step::Leave(patience));
        self
    }

    /// Asks whether it is ready, and waits for the answer.
    pub fn ready(self) -> Script {
        self.say("isready").hear("readyok")
    }

    /// Searches: a `position` line, a `go` line, and the wait for the move.
    pub fn search(self, position: &str, go: &str) -> Script {
        self.say(&format!("position {position}\ngo {go}")).hear("bestmove")
    }

    /// Sees that it still works.
    pub fn alive(self) -> Script {
        self.ready().search("startpos", "depth 2")
    }
}
