//! Input thread of a UCI session. The thread replies to commands immediately, even during a search.

use std::io::{BufRead, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::effect::Change;
use super::explain;
use super::options::Options;
use super::output::Output;
use super::parse::{Command, Go, parse};
use super::print;
use super::worker::{Job, SearchJob, Worker};
use crate::chess::{Game, Move, Position, fen, uci_move};
use crate::failure::Failure;
use crate::search::{Limits, Signals};
use crate::time::{Budget, Clock, TimeLimit, Timer};

/// Maximum length of an input line, in bytes. A game of 1,000 moves takes about 1 % of this length.
const LINE_MAX_BYTES: u64 = 1 << 20;

/// Runs a UCI session: reads and executes commands until `quit` or the end of the input.
///
/// Returns the exit code: 3 if the network in `EvalFile` could not be loaded, 7 if the search
/// memory or the worker could not be created, otherwise 0.
pub fn run(mut input: impl BufRead, output: Output) -> i32 {
    let mut session = match Session::start(output.clone()) {
        Ok(session) => session,
        Err(error) => {
            output.note(&error);
            return 7;
        }
    };
    let mut code = 0;
    while let Some(line) = read_line(&mut input) {
        let command = match line {
            Line::Whole(line) => parse(&line),
            Line::TooLong => Command::Invalid("a line of more than 1 MiB is ignored".to_owned()),
        };
        if let ControlFlow::Break(end) = session.execute(command) {
            code = end;
            break;
        }
    }
    session.signals.stop();
    // A worker that waits to print a best move checks the signals only when the worker is woken.
    session.worker.wake();
    code
}

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// The line, including its line ending. Bytes that are not UTF-8 are replaced.
    Whole(String),
    /// A line that was too long; its content is dropped.
    TooLong,
}

/// Returns the next line; `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> Option<Line> {
    let mut bytes = Vec::new();
    let mut too_long = false;
    loop {
        bytes.clear();
        let count = input.by_ref().take(LINE_MAX_BYTES).read_until(b'\n', &mut bytes).ok()?;
        if count as u64 == LINE_MAX_BYTES && bytes.last() != Some(&b'\n') {
            // The rest of a line that is too long is also skipped, because the rest is not a
            // separate command.
            too_long = true;
        } else if too_long {
            return Some(Line::TooLong);
        } else {
            let line = || Line::Whole(String::from_utf8_lossy(&bytes).into_owned());
            return (count > 0).then(line);
        }
    }
}

struct Session {
    options: Options,
    game: Game,
    worker: Worker,
    /// Signals of the latest search, perft or bench.
    signals: Arc<Signals>,
    output: Output,
}

impl Session {
    fn start(output: Output) -> Result<Session, String> {
        let options = Options::default();
        let worker =
            Worker::start(options.hash_mb, output.clone()).map_err(|error| error.to_string())?;
        Ok(Session {
            options,
            game: Game::new(Position::startpos()),
            worker,
            signals: Arc::default(),
            output,
        })
    }

    /// Executes a command, which may end the session with an exit code.
    fn execute(&mut self, command: Command) -> ControlFlow<i32> {
        match command {
            Command::Uci => self.identify(),
            // The protocol requires a reply even during a search, so the reply does not wait in the
            // queue.
            Command::IsReady if self.worker.is_busy() => self.output.line("readyok"),
            Command::IsReady => self.worker.send(Job::Ready),
            Command::SetOption { name, value } => return self.set_option(&name, &value),
            Command::NewGame => self.worker.send(Job::Clear),
            Command::Position { fen, moves } => self.set_up(fen.as_deref(), &moves),
            Command::Go(_) | Command::Perft(_) | Command::Bench(_) if self.worker.is_busy() => {
                self.output.note("a search is still running; stop it first");
            }
            Command::Go(go) => self.go(&go),
            Command::Perft(depth) => self.perft(depth),
            Command::Bench(depth) => {
                let signals = self.renew_signals(false);
                let configuration = self.options.configuration;
                self.worker.send(Job::Bench { depth, configuration, signals });
            }
            Command::Stop => {
                self.signals.stop();
                self.worker.wake();
            }
            Command::PonderHit => {
                self.signals.ponder_hit();
                self.worker.wake();
            }
            Command::Display => self.output.line(&print::diagram(self.game.position())),
            Command::Evaluate => self.evaluate(),
            Command::Quit => return ControlFlow::Break(0),
            Command::Nothing => {}
            Command::Invalid(reason) => self.output.note(&reason),
        }
        ControlFlow::Continue(())
    }

    fn identify(&self) {
        let version = env!("CARGO_PKG_VERSION");
        self.output.line(&format!("id name Palimpsest {version}"));
        self.output.line("id author the Arbiter authors");
        for declaration in Options::declarations() {
            self.output.line(&declaration);
        }
        self.output.line("uciok");
    }

    fn set_option(&mut self, name: &str, value: &str) -> ControlFlow<i32> {
        match self.options.set(name, value) {
            Ok(effect) => {
                match effect.change {
                    Change::None => {}
                    Change::Resize => self.replace_table(Some(self.options.hash_mb)),
                    Change::Personality => self.replace_table(None),
                    Change::Clear => self.worker.send(Job::Clear),
                    Change::SetThreads => self.worker.send(Job::SetThreads(self.options.threads)),
                }
                effect.notes.iter().for_each(|text| self.output.note(text));
            }
            Err(reason) => {
                self.output.note(&reason);
                // The session ends, because games with the old network would otherwise count as
                // games with the requested network.
                if name.eq_ignore_ascii_case("EvalFile") {
                    return ControlFlow::Break(Failure::input(reason).report());
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn replace_table(&mut self, megabytes: Option<usize>) {
        let personality = self.options.configuration.personality;
        self.worker.send(Job::ReplaceTable { personality, megabytes });
    }

    /// Sets up a game. If any part of the command is invalid, the current game does not change.
    fn set_up(&mut self, text: Option<&str>, moves: &[String]) {
        let root = match text.map_or_else(|| Ok(Position::startpos()), fen::parse) {
            Ok(position) => position,
            Err(error) => {
                self.output.note(&format!("illegal position: {error}"));
                return;
            }
        };
        let mut game = Game::new(root);
        for (index, text) in moves.iter().enumerate() {
            let Some(mv) = uci_move::parse(text, game.position(), self.options.castling) else {
                let number = index + 1;
                self.output
                    .note(&format!("move {number}, \"{text}\", is illegal; position unchanged"));
                return;
            };
            game.play(mv);
        }
        self.game = game;
    }

    fn evaluate(&self) {
        self.output.line(&explain::table(self.options.configuration.eval, &self.game));
    }

    /// Replaces the signals of the previous job with new signals for the next job, and returns the
    /// new signals.
    fn renew_signals(&mut self, pondering: bool) -> Arc<Signals> {
        self.signals = Arc::new(Signals::new(pondering));
        Arc::clone(&self.signals)
    }

    fn perft(&mut self, depth: u32) {
        let signals = self.renew_signals(false);
        let game = Box::new(self.game.clone());
        self.worker.send(Job::Perft { game, depth, form: self.options.castling, signals });
    }

    fn go(&mut self, go: &Go) {
        let Some(search_moves) = self.search_moves(&go.search_moves) else {
            return;
        };
        let &Go { depth, nodes, mate, .. } = go;
        let lines = Some(self.options.lines);
        let limits = Limits { depth, nodes, soft_nodes: None, mate, search_moves, lines };
        let time = self.time_limit(go);
        let unlimited = (depth, nodes, mate) == (None, None, None) && time == TimeLimit::None;
        let budget = Budget::new(time, self.options.move_overhead_ms);
        let signals = self.renew_signals(go.ponder);
        self.worker.send(Job::Search(Box::new(SearchJob {
            game: self.game.clone(),
            limits,
            timer: Timer::start(budget.filter(|_| !go.infinite))
                .counting_nodes(self.options.nodes_per_ms),
            signals,
            configuration: self.options.configuration,
            form: self.options.castling,
            // A search without limits runs until `stop`, like `go infinite`.
            infinite: go.infinite || unlimited && !go.ponder,
        })));
    }

    /// Returns the moves with these names. Illegal moves are omitted and reported in notes. If all
    /// moves are illegal, prints an empty best move and returns `None`, because a search of all
    /// legal moves was not requested.
    fn search_moves(&self, names: &[String]) -> Option<Vec<Move>> {
        let mut moves = Vec::new();
        for name in names {
            match uci_move::parse(name, self.game.position(), self.options.castling) {
                Some(mv) => moves.push(mv),
                None => self.output.note(&format!("searchmoves: \"{name}\" is illegal")),
            }
        }
        if moves.is_empty() && !names.is_empty() {
            self.output.line("bestmove (none)");
            return None;
        }
        Some(moves)
    }

    fn time_limit(&self, go: &Go) -> TimeLimit {
        let side = self.game.position().turn().index();
        if let Some(move_ms) = go.move_time {
            return TimeLimit::Move(move_ms);
        }
        if go.time == [None, None] {
            return TimeLimit::None;
        }
        // A command with only the opponent's clock is probably an error in the GUI. The engine then
        // assumes that no time remains, and replies immediately.
        TimeLimit::Clock(Clock {
            left_ms: go.time[side].unwrap_or(0),
            increment_ms: go.increment[side].unwrap_or(0),
            moves_to_go: go.moves_to_go.filter(|&moves| moves > 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_lines_are_skipped() {
        let long = vec![b'x'; LINE_MAX_BYTES as usize];
        let mut text = b"uci\n".to_vec();
        text.extend_from_slice(&long);
        text.extend_from_slice(b" quit\nisready\n");
        text.extend_from_slice(&long[1..]);
        text.extend_from_slice(b"\n\xff\nstop");
        let mut input = text.as_slice();
        let mut lines = std::iter::from_fn(|| read_line(&mut input));
        let whole_line = |text: &str| Some(Line::Whole(text.to_owned()));
        assert_eq!(lines.next(), whole_line("uci\n"));
        assert_eq!(lines.next(), Some(Line::TooLong));
        assert_eq!(lines.next(), whole_line("isready\n"));
        assert!(matches!(lines.next(), Some(Line::Whole(line)) if line.len() == long.len()));
        assert_eq!(lines.next(), whole_line("\u{fffd}\n"));
        assert_eq!(lines.next(), whole_line("stop"));
        assert_eq!(lines.next(), None);
        let mut input = long.as_slice();
        assert_eq!(read_line(&mut input), Some(Line::TooLong));
        assert_eq!(read_line(&mut input), None);
    }
}
