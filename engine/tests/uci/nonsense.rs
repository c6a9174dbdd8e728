//! Sessions with random input. For any input, the engine must not crash, must reply, and must still
//! be able to play.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Maximum time for a reply. The time is long, because the machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// Xorshift generator of random numbers, with fixed seeds, so that every run has the same sessions.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Valid commands, and commands with invalid parameters. Some commands start searches without a
/// limit.
const COMMANDS: [&str; 51] = [
    "uci",
    "isready",
    "ucinewgame",
    "stop",
    "ponderhit",
    "d",
    "eval",
    "debug on",
    "register later",
    "bench 2",
    "bench 70",
    "go",
    "go infinite",
    "go depth 4",
    "go depth 1",
    "go nodes 3000",
    "go nodes 0",
    "go movetime 5",
    "go mate 2",
    "go ponder",
    "go ponder wtime 50 btime 50",
    "go wtime 30 btime 30 winc 1 binc 1",
    "go wtime 1 btime 1 movestogo 1",
    "go wtime -40 btime -40",
    "go searchmoves e2e4 d2d4 depth 3",
    "go perft 3",
    "go perft 60",
    "go perft 4000000000",
    "position startpos",
    "position startpos moves e2e4 e7e5 g1f3",
    "position startpos moves e2e4 e7e5 e1e3",
    "position startpos moves e1g1",
    "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 moves e1g1",
    "position fen R3k3/8/4K3/8/8/8/8/8 b - - 0 1",
    "position fen k7/2Q5/8/8/8/8/8/7K b - - 99 1",
    "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
    "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1h1",
    "position fen qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1",
    "setoption name Hash value 1",
    "setoption name Hash value 40",
    "setoption name Threads value 3",
    "setoption name Threads value 1",
    "setoption name MultiPV value 5",
    "setoption name MultiPV value 256",
    "setoption name Move Overhead value 0",
    "setoption name UCI_Chess960 value true",
    "setoption name Personality value micromax",
    "setoption name Personality value rdchess",
    "setoption name Personality value palimpsest",
    "setoption name Clear Hash",
    "setoption name Eval value blunder",
];

/// Words that are invalid in most commands.
const WORDS: [&str; 22] = [
    "-1",
    "0",
    "7",
    "99999999999999999999999999",
    "-9223372036854775809",
    "18446744073709551615",
    "1e9",
    "NaN",
    "\0",
    "\u{0}\u{1}\u{1b}[2J",
    "é\u{202e}",
    "a7a8q",
    "0000",
    "e1e1",
    "moves",
    "value",
    "name",
    "fen",
    "searchmoves",
    "K7/8/8/8/8/8/8/k7",
    "infinite",
    "99/99/99/99/99/99/99/99",
];

/// Returns a random line of input, without a line ending.
fn line(random: &mut Random) -> Vec<u8> {
    match random.below(10) {
        0..5 => random.pick(&COMMANDS).into(),
        5 => splice(random),
        6 => shuffled(random),
        7 => {
            let length = random.below(80);
            (0..length).map(|_| random.below(256) as u8).collect()
        }
        8 => corrupted_command(random),
        _ => long(random),
    }
}

/// Returns the beginning of one command, followed by the end of another command.
fn splice(random: &mut Random) -> Vec<u8> {
    let (a, b) = (random.pick(&COMMANDS).as_bytes(), random.pick(&COMMANDS).as_bytes());
    let (end, start) = (random.below(a.len() + 1), random.below(b.len() + 1));
    [&a[..end], &b[start..]].concat()
}

/// Returns a command with random words inserted and sometimes two words swapped.
fn shuffled(random: &mut Random) -> Vec<u8> {
    let mut words: Vec<&str> = random.pick(&COMMANDS).split(' ').collect();
    for _ in 0..random.below(4) {
        let at = random.below(words.len() + 1);
        words.insert(at, random.pick(&WORDS));
    }
    if random.below(2) == 0 {
        let (a, b) = (random.below(words.len()), random.below(words.len()));
        words.swap(a, b);
    }
    words.join(random.pick(&[" ", "  ", "\t"])).into_bytes()
}

/// Returns a command with random bytes replaced.
fn corrupted_command(random: &mut Random) -> Vec<u8> {
    let mut bytes = random.pick(&COMMANDS).as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        bytes[at] = random.below(256) as u8;
    }
    bytes
}

/// Returns a long line: a game of many plies, a long list or a long word.
fn long(random: &mut Random) -> Vec<u8> {
    let count = [300, 6_000, 150_000][random.below(3)];
    let (start, part) = *random.pick(&[
        &("position startpos moves", " g1f3 g8f6 f3g1 f6g8"),
        &("position fen ", "8/"),
        &("setoption name Disable value ", "tempo,"),
        &("go searchmoves", " a2a3"),
        &("go depth 2 ", "depth 1 "),
        &("x", "x"),
    ]);
    [start.as_bytes(), part.repeat(count / part.len()).as_bytes()].concat()
}

/// Returns whether the line may request so much memory or so many threads that the session would
/// disturb other tests.
fn is_greedy(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    let numbers = || text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
    let asks = text.contains("hash") || text.contains("threads");
    asks && numbers().any(|number: u64| number > 40)
}

/// A running session.
struct Session {
    engine: Child,
    lines: Receiver<String>,
}

impl Session {
    fn start() -> Session {
        let mut engine = Command::new(env!("CARGO_BIN_EXE_palimpsest"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine was built for this test");
        let output = BufReader::new(engine.stdout.take().expect("the output is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                // If the output is not UTF-8, this thread panics and closes the channel, so the
                // test fails.
                let line = line.expect("the engine writes UTF-8");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Session { engine, lines }
    }

    fn send_line(&mut self, line: &[u8]) {
        let input = self.engine.stdin.as_mut().expect("the input is open");
        // A write error is ignored, because an engine that has exited is detected when the exit
        // status is checked.
        let _gone = input.write_all(line).and_then(|()| input.write_all(b"\n"));
    }

    /// Waits for a line that starts with one of `starts`.
    fn await_line(&self, starts: &[&str]) -> Result<String, String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(remaining) {
                Ok(line) if line.contains(char::is_control) => {
                    return Err(format!("a control character in {line:?}"));
                }
                Ok(line) if starts.iter().any(|start| line.starts_with(start)) => return Ok(line),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err(format!("no {starts:?}")),
                Err(RecvTimeoutError::Disconnected) => return Err("it has ended".to_owned()),
            }
        }
    }

    /// Checks that the engine still plays a move.
    fn plays_on(&mut self) -> Result<(), String> {
        self.send_line(b"setoption name UCI_Chess960 value false");
        self.send_line(b"position startpos moves d2d4 d7d5");
        // `go` is repeated, because an earlier search may still be running.
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            self.send_line(b"stop");
            self.send_line(b"go depth 2 searchmoves c2c4");
            let running = "info string a search is still running";
            loop {
                let line = self.await_line(&["bestmove", running])?;
                if line.starts_with("bestmove c2c4") {
                    return Ok(());
                }
                if line.starts_with(running) {
                    break;
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err("it never becomes idle".to_owned())
    }

    /// Closes the input, and checks that the engine exits without an error.
    fn end(mut self) -> Result<(), String> {
        self.engine.stdin = None;
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.engine.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if Instant::now() >= deadline => {
                    self.engine.kill().map_err(|error| error.to_string())?;
                    return Err("the end of the input did not end it".to_owned());
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let mut errors = String::new();
        let stderr = self.engine.stderr.as_mut().expect("the errors are piped");
        stderr.read_to_string(&mut errors).map_err(|error| error.to_string())?;
        if status.success() && errors.is_empty() {
            Ok(())
        } else {
            Err(format!("{status}: {errors}"))
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Killing has no effect on a process that has already exited.
        let _ended = self.engine.kill();
        let _status = self.engine.wait();
    }
}

/// Runs one session. In a third of all sessions, the input ends directly after the random lines.
fn session(seed: u64) -> Result<(), String> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut session = Session::start();
    for _ in 0..60 {
        let line = line(&mut random);
        let quits = line.split(|byte| byte.is_ascii_whitespace()).any(|word| word == b"quit");
        if !quits && !is_greedy(&line) {
            session.send_line(&line);
        }
    }
    if !seed.is_multiple_of(3) {
        session.plays_on()?;
    }
    session.end()
}

#[test]
fn the_engine_survives_random_input() {
    // The environment variable `NONSENSE_SESSIONS` can set a different number of sessions.
    let count = std::env::var("NONSENSE_SESSIONS")
        .map_or(40, |text| text.parse().expect("NONSENSE_SESSIONS is the number of sessions"));
    let bad: Vec<String> = (0..count)
        .filter_map(|seed| session(seed).err().map(|error| format!("seed {seed}: {error}")))
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
}
