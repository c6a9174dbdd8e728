//! Engine that answers immediately, so that the runner causes nearly all costs of a match.
//!
//! The engine plays random legal moves. The engine logs the time of each `go` that it reads and of
//! each `bestmove` that it writes. The times come from the monotonic clock, which all processes
//! share. The log is a file in the folder that `INSTANT_LOG` names. The log is written in blocks
//! during the match, so that the exit of the engine takes little time: a runner may wait for the
//! exit.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Read, Write};

use rustix::time::{ClockId, clock_gettime};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

/// Typical output of an engine for a short search.
const INFO: &str = "info depth 1 seldepth 1 multipv 1 score cp 13 nodes 20 nps 20000 hashfull 0 \
                    tbhits 0 time 0 pv ";

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Current position, updated move by move, so that the time per move does not depend on the length
/// of the game.
struct Board {
    /// Arguments of the `position` command that led to `position`.
    arguments: String,
    position: Chess,
}

impl Board {
    fn new() -> Board {
        Board { arguments: String::new(), position: Chess::default() }
    }

    fn set(&mut self, arguments: &str) {
        let rest = match arguments.strip_prefix(self.arguments.as_str()) {
            Some(rest) if !self.arguments.is_empty() => rest,
            _ => {
                let (start, moves) = arguments.split_once("moves").unwrap_or((arguments, ""));
                let start = start.trim();
                self.position = match start.strip_prefix("fen ") {
                    None => Chess::default(),
                    Some(fen) => {
                        let fen: Fen = fen.parse().expect("a runner sends valid positions");
                        fen.into_position(CastlingMode::Standard).expect("a legal position")
                    }
                };
                moves
            }
        };
        for text in rest.split_ascii_whitespace().filter(|word| *word != "moves") {
            let uci: UciMove = text.parse().expect("a runner sends moves as UCI has them");
            let legal = uci.to_move(&self.position).expect("a runner sends legal moves");
            self.position.play_unchecked(legal);
        }
        arguments.clone_into(&mut self.arguments);
    }
}

fn main() {
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    let mut board = Board::new();
    let mut log = log();
    let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    let (mut input, mut answer) = (Vec::new(), String::new());
    let mut piece = vec![0; 1 << 16];
    'game: while let Ok(read @ 1..) = stdin.read(&mut piece) {
        let at = now();
        input.extend_from_slice(&piece[..read]);
        while let Some(end) = input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = input.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim();
            answer.clear();
            match line.split_once(' ').map_or(line, |(word, _)| word) {
                "uci" => answer.push_str("id name instant\nid author Arbiter\nuciok\n"),
                "isready" => answer.push_str("readyok\n"),
                "position" => board.set(line["position".len()..].trim()),
                "go" => {
                    let moves = board.position.legal_moves();
                    let chosen = moves[random.usize(..moves.len())];
                    let chosen = chosen.to_uci(CastlingMode::Standard).to_string();
                    answer.extend([INFO, &chosen, "\nbestmove ", &chosen, "\n"]);
                }
                "quit" => break 'game,
                _ => {}
            }
            if answer.is_empty() {
                continue;
            }
            if stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush()).is_err() {
                break 'game;
            }
            if let Some(log) = &mut log
                && line.starts_with("go")
            {
                let sent = now();
                let chosen = answer.rsplit(' ').next().unwrap_or_default().trim();
                let arguments = board.arguments.trim_end_matches(" moves").trim_end();
                let joint = if arguments.contains("moves") { " " } else { " moves " };
                let next = digest(&format!("{arguments}{joint}{chosen}"));
                writeln!(log, "{:x} {at} {next:x} {sent}", digest(arguments)).expect(LOG);
            }
        }
    }
    if let Some(mut log) = log {
        log.flush().expect(LOG);
    }
}

/// Panic message if the log cannot be written.
const LOG: &str = "the folder of the log can be written";

fn log() -> Option<BufWriter<File>> {
    let folder = std::env::var_os("INSTANT_LOG")?;
    let path = std::path::Path::new(&folder).join(std::process::id().to_string());
    Some(BufWriter::new(File::create(path).expect(LOG)))
}
