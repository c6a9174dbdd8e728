//! Engine process for tests, connected by pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The engine under test. Dropping this value closes the input and checks that the engine exits.
pub struct Engine {
    process: Child,
    /// Standard input of the engine; `None` after it has been closed.
    pub input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Engine {
    /// Starts the engine.
    pub fn start() -> Engine {
        Engine::start_with(&mut Command::new(env!("CARGO_BIN_EXE_palimpsest")))
    }

    /// Starts the engine with `command`.
    pub fn start_with(command: &mut Command) -> Engine {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the engine was built for this test");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("the output is piped"));
        Engine { process, input, output }
    }

    /// Sends a line to the engine.
    pub fn send_line(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("the input is open"), "{line}").unwrap();
    }

    /// Reads and returns the lines up to and including the first line that starts with `prefix`.
    pub fn read_until(&mut self, prefix: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let count = self.output.read_line(&mut line).unwrap();
            assert!(count > 0, "the engine ended before \"{prefix}\": {lines:?}");
            lines.push(line.trim_end().to_owned());
            if line.starts_with(prefix) {
                return lines;
            }
        }
    }

    /// Returns the `bestmove` line of the running search.
    pub fn best_move(&mut self) -> String {
        self.read_until("bestmove").pop().expect("the last line is the one looked for")
    }

    /// Sends `isready`, and returns the lines before the reply.
    pub fn sync(&mut self) -> Vec<String> {
        self.send_line("isready");
        let mut lines = self.read_until("readyok");
        lines.pop();
        lines
    }
}

impl Engine {
    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Ends the session by closing the input, and returns the remaining output.
    pub fn close(mut self) -> Vec<String> {
        self.input = None;
        let lines = self.output.by_ref().lines().map_while(Result::ok);
        lines.collect()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.input = None;
        // The time limit is long, because the machine may be busy with other tests.
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.process.try_wait() {
                assert!(status.success() || std::thread::panicking(), "{status}");
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.process.kill().expect("the process is ours");
        panic!("the end of the input did not end the engine");
    }
}
