//! Referee of one game: the side to move, the commands for its engine, and the judgement of the
//! answer.
//!
//! A pure state machine over shakmaty's rules, which are not the bundled engine's: a bug in one
//! cannot hide in the other. The order of judgement is fixed: gone or silent, over time,
//! unparseable, illegal, then the endings that the rules of chess know, and only then adjudication:
//! endgame tables, resignation, draw, move cap.

use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist128;
use shakmaty::{
    Bitboard, ByColor, CastlingMode, Chess, Color, EnPassantMode, Move, Position, attacks,
};

use crate::adjudicate::{Adjudicator, PlayedMove, Rules, Tables};
use crate::lint::{LintFinding, SearchedMove};
use crate::live_game::{GameSnapshot, MoveSummary};
use crate::outcome::{Outcome, Termination, color_name, printable};
use crate::record::{KeptFields, MoveRecord, SearchDetails, SearchInfo};
use arbiter_protocol::{Claim, Clock, Conditions, Go, Info, Limits, Score};

/// Length of the quoted part of an answer that is not a move, in characters.
const EXCERPT: usize = 20;

/// Number of moves by which the list grows: where many games are played, doubling it each time
/// would waste as much as they need.
const GROWTH: usize = 64;

/// Length of the quoted part of a claim, in characters.
const CLAIM_EXCERPT: usize = 60;

/// Task of the engine to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The side to move.
    pub color: Color,
    /// The `position` line.
    pub position: String,
    /// The bounds.
    pub go: Go,
    /// Time after which the flag has fallen, margin included; `None` if no clock runs.
    pub budget: Option<Duration>,
}

/// Answer of the engine to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A `bestmove`.
    Move {
        /// Move as written.
        text: String,
        /// Time from the flush of `go` to the stamp of the answer.
        elapsed: Duration,
        /// Information of the engine about its search.
        info: Info,
    },
    /// A result instead of a move.
    Claim(Claim),
    /// No move, and the engine cannot continue.
    Fault(Fault),
}

/// Task of an engine for its opponent's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    /// The `position` line after the expected reply.
    pub position: String,
    /// The bounds, with the clocks as they stand before that reply.
    pub go: Go,
}

/// Reason why an engine cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// No answer in time; the text says to what.
    Silent(String),
    /// The process ended; the text says how.
    Crashed(String),
    /// The pipe closed but the process still runs; the text says what happened.
    Disconnected(String),
}

/// Writes a word for the kind, and the text; `from_str` reads it back.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Silent(what) => write!(f, "silent: {what}"),
            Fault::Crashed(how) => write!(f, "crashed: {how}"),
            Fault::Disconnected(how) => write!(f, "disconnected: {how}"),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        match text.split_once(": ") {
            Some(("silent", what)) => Ok(Fault::Silent(what.to_owned())),
            Some(("crashed", how)) => Ok(Fault::Crashed(how.to_owned())),
            Some(("disconnected", how)) => Ok(Fault::Disconnected(how.to_owned())),
            _ => Err(format!("'{text}' is not a fault")),
        }
    }
}

/// State of one game.
#[derive(Debug, Clone)]
pub struct Referee {
    position: Chess,
    mode: CastlingMode,
    conditions: ByColor<Conditions>,
    clocks: ByColor<Option<Clock>>,
    /// Positions since the last irreversible move, the current one included.
    seen: Vec<Zobrist128>,
    /// The `position` line so far.
    line: String,
    moves: Vec<MoveRecord>,
    /// Selection of what is kept with each move.
    keep: Arc<KeptFields>,
    adjudicator: Adjudicator,
    outcome: Option<Outcome>,
    /// Excess over the time of the move that lost on time.
    late: Option<Duration>,
}

impl Referee {
    /// Creates a game from `start`, with `book` moves already played. Book moves must be legal, as
    /// those of a loaded opening are; an illegal one ends the book there. Endgame tables are asked
    /// after each move of an engine.
    pub fn new(
        start: Chess,
        mode: CastlingMode,
        book: &[UciMove],
        conditions: ByColor<Conditions>,
        rules: Rules,
        tables: Option<Arc<dyn Tables>>,
    ) -> Referee {
        let line = if start == Chess::default() && mode == CastlingMode::Standard {
            "position startpos".to_owned()
        } else {
            format!("position fen {}", Fen::from_position(&start, EnPassantMode::Legal))
        };
        let mut referee = Referee {
            seen: vec![key(&start)],
            position: start,
            mode,
            clocks: ByColor::new_with(|c| conditions.get(c).limits.new_clock()),
            conditions,
            line,
            moves: Vec::new(),
            keep: Arc::default(),
            adjudicator: Adjudicator::new(rules, tables),
            outcome: None,
            late: None,
        };
        for uci in book {
            let Ok(m) = uci.to_move(&referee.position) else { break };
            referee.play(m, None);
            if referee.outcome.is_some() {
                break;
            }
        }
        referee
    }

    /// Returns the referee with this selection of what is kept with each move.
    pub fn keeping(self, keep: Arc<KeptFields>) -> Referee {
        Referee { keep, ..self }
    }

    /// Returns the outcome of the game, once it is over.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Returns the task of the side to move.
    pub fn turn(&self) -> Turn {
        let color = self.position.turn();
        let Conditions { limits, margin, .. } = *self.conditions.get(color);
        let left = self.clocks.get(color).as_ref().map(Clock::left);
        // An engine may have a clock and a time for each move, and must keep both.
        let budget = [left, limits.movetime].into_iter().flatten().min();
        // The copy has the capacity of the line, which grows in steps. Copies that are each a few
        // bytes longer than the last would leave the threads that drop them with free memory of
        // every size.
        let mut position = String::with_capacity(self.line.capacity());
        position.push_str(&self.line);
        Turn {
            color,
            position,
            go: self.bounds(color),
            // With `nodestime` the clock runs on nodes, whose real time decides nothing.
            budget: budget.filter(|_| limits.nodestime.is_none()).map(|b| b + margin),
        }
    }

    /// Returns what the side that has just moved may think about until its opponent has; `None` if
    /// the expected reply is illegal or ends the game.
    pub fn forecast(&self, reply: &str) -> Option<Forecast> {
        let m = UciMove::from_ascii(reply.as_bytes()).ok()?.to_move(&self.position).ok()?;
        let mut after = self.position.clone();
        after.play_unchecked(m);
        if after.is_game_over() {
            return None;
        }
        let mut position = self.line.clone();
        append(&mut position, self.moves.is_empty(), m.to_uci(self.mode));
        Some(Forecast { position, go: self.bounds(self.position.turn().other()) })
    }

    fn bounds(&self, color: Color) -> Go {
        let limits = self.conditions.get(color).limits;
        let told = |c: Color| self.clocks.get(c).as_ref().map(|k| (k.left(), k.increment()));
        let clock = self.clocks.get(color).as_ref();
        // An engine without a clock would take its opponent's clock for a limit of its own.
        let shown = |c: Color| if clock.is_some() { told(c) } else { None };
        Go {
            white: shown(Color::White),
            black: shown(Color::Black),
            moves_to_go: clock.and_then(Clock::moves_left),
            movetime: limits.movetime,
            nodes: limits.nodes,
            depth: limits.depth,
            ponder: false,
        }
    }

    /// Judges the answer of the side to move.
    pub fn judge(&mut self, reply: Reply) {
        let color = self.position.turn();
        let judged = match reply {
            Reply::Fault(fault) => Err(loss_by_fault(fault)),
            Reply::Claim(claim) => Err(loss_by_claim(&claim)),
            Reply::Move { text, elapsed, info } => self.judge_move(color, &text, elapsed, info),
        };
        if let Err(loss) = judged {
            self.lose(color, loss);
        }
    }

    /// Ends the game by a fault of `color`, whether or not it is its turn. A game that is over
    /// stays as it is.
    pub fn forfeit(&mut self, color: Color, fault: Fault) -> &Outcome {
        self.lose(color, loss_by_fault(fault))
    }

    fn lose(&mut self, color: Color, (termination, what): Loss) -> &Outcome {
        let detail = format!("{} {what}", color_name(color));
        self.outcome.get_or_insert_with(|| Outcome::lost(color, termination, detail))
    }

    fn judge_move(
        &mut self,
        color: Color,
        text: &str,
        elapsed: Duration,
        mut info: Info,
    ) -> Result<(), Loss> {
        // The clock comes first: an answer after the flag fell loses on time, whatever it says.
        self.charge(color, elapsed, info.nodes).map_err(|over| {
            self.late = Some(over);
            let ms = over.as_secs_f64() * 1e3;
            (Termination::TimeForfeit, format!("loses on time ({ms:.1} ms over)"))
        })?;
        let uci = UciMove::from_ascii(text.as_bytes()).map_err(|_| {
            let answer = printable(text, EXCERPT);
            (Termination::UnparseableMove, format!("answered '{answer}', which is not a move"))
        })?;
        let illegal = |_| (Termination::IllegalMove, format!("played the illegal move {text}"));
        let m = uci.to_move(&self.position).map_err(illegal)?;
        // For White both points of view are the same.
        if color.is_black() && self.conditions.get(color).white_pov {
            for score in [&mut info.score, &mut info.pv_score] {
                *score = score.map(Score::reversed);
            }
        }
        let limits = &self.conditions.get(color).limits;
        if let (Some(limit), Some(nodes)) = (limits.nodes, info.nodes)
            && ignores_limit(limits, &info)
        {
            let what =
                format!("searched {nodes} nodes with nodes={limit}: the engine ignores 'go nodes'");
            return Err((Termination::ProtocolError, what));
        }
        let findings = self.lint(m, elapsed, &info);
        self.keep.trim_info(&mut info);
        let Info { nps, hashfull, tbhits, pv, lines, .. } = info;
        let clock = self.clocks.get(color).as_ref();
        let left = clock.filter(|_| self.keep.time_left()).map(Clock::left);
        let details = SearchDetails { left, nps, hashfull, tbhits, pv, lines, findings };
        let thought = SearchInfo {
            score: info.score,
            depth: info.depth,
            seldepth: info.seldepth,
            nodes: info.nodes,
            elapsed,
            reported: info.time,
            details: details.boxed(),
        };
        self.play(m, Some(thought));
        Ok(())
    }

    /// Returns the findings about the move of the side to move and its search.
    fn lint(&self, best: Move, elapsed: Duration, info: &Info) -> Vec<LintFinding> {
        // The last move is the opponent's, so that the engine's own is the one before it.
        let before = self.moves.iter().rev().nth(1).and_then(|own| own.thought.as_ref()?.score);
        let repetitions = |position: &Chess| {
            // A position can recur after four plies at the earliest, so that shorter lists need no
            // search.
            if self.seen.len() < 5 {
                return 0;
            }
            let key = key(position);
            self.seen.iter().filter(|seen| **seen == key).count()
        };
        let limits = &self.conditions.get(self.position.turn()).limits;
        let position = &self.position;
        SearchedMove { position, repetitions: &repetitions, best, limits, before, elapsed, info }
            .lint()
    }

    fn charge(
        &mut self,
        color: Color,
        elapsed: Duration,
        nodes: Option<u64>,
    ) -> Result<(), Duration> {
        let Conditions { limits, margin, .. } = *self.conditions.get(color);
        let cost = limits.cost(elapsed, nodes);
        if let Some(movetime) = limits.movetime.filter(|t| cost > *t + margin) {
            return Err(cost - movetime);
        }
        if let Some(clock) = self.clocks.get_mut(color) {
            clock.charge(cost, margin)?;
        }
        // Only an hourglass gains this time. It does so after the mover's flag was judged.
        if let Some(clock) = self.clocks.get_mut(color.other()) {
            clock.opponent_used(cost);
        }
        Ok(())
    }

    fn play(&mut self, m: Move, thought: Option<SearchInfo>) {
        let uci = m.to_uci(self.mode);
        append(&mut self.line, self.moves.is_empty(), uci);
        let is_own = thought.is_some();
        let score = thought.as_ref().and_then(|thought| thought.score);
        if self.moves.len() == self.moves.capacity() {
            // `reserve` would double the list, which `GROWTH` is to avoid.
            self.moves.reserve_exact(GROWTH);
        }
        self.moves.push(MoveRecord { uci, thought });
        // No earlier position can recur after such a move, so that the list stays short.
        if self.position.is_irreversible(m) {
            self.seen.clear();
        }
        let color = self.position.turn();
        self.position.play_unchecked(m);
        self.seen.push(key(&self.position));
        let adjudicated = self.adjudicator.observe(PlayedMove {
            color,
            // The move number has been increased if Black has moved; the current move is not over.
            full_moves: self.position.fullmoves().get() - 1,
            is_book: !is_own,
            zeroing: m.is_zeroing(),
            score,
        });
        // Tables are asked only after a move of an engine, because an opening that is in the tables
        // is to be played.
        let looked_up = || is_own.then(|| self.adjudicator.look_up(&self.position)).flatten();
        // The rules of chess come first, so that no mate is adjudicated away.
        self.outcome = self.rule_ending().or_else(looked_up).or(adjudicated);
    }

    /// Returns whether a pawn that no piece can pin has an empty square before it: out of check,
    /// this is no stalemate. Generating all legal moves took a tenth of the time that judging a
    /// game takes.
    fn has_free_pawn(&self) -> bool {
        let (board, color) = (self.position.board(), self.position.turn());
        let lines = board.king_of(color).map(|king| attacks::queen_attacks(king, Bitboard::EMPTY));
        let pawns = board.by_piece(color.pawn()) & !lines.unwrap_or_default();
        !(pawns.shift(color.fold_wb(8, -8)) & !board.occupied()).is_empty()
    }

    fn rule_ending(&self) -> Option<Outcome> {
        let color = self.position.turn();
        let current = self.seen.last();
        // Checkmate comes before the fifty-move rule, because a mate with the hundredth ply wins.
        if self.position.is_checkmate() {
            let detail = format!("{} mates", color_name(color.other()));
            Some(Outcome::lost(color, Termination::Checkmate, detail))
        } else if !self.has_free_pawn() && self.position.is_stalemate() {
            Some(Outcome::drawn(Termination::Stalemate, "draw by stalemate"))
        } else if self.position.is_insufficient_material() {
            Some(Outcome::drawn(Termination::DeadPosition, "draw by insufficient material"))
        } else if self.seen.iter().filter(|k| Some(*k) == current).count() >= 3 {
            Some(Outcome::drawn(Termination::Threefold, "draw by threefold repetition"))
        } else if self.position.halfmoves() >= 100 {
            Some(Outcome::drawn(Termination::FiftyMoves, "draw by the fifty-move rule"))
        } else {
            None
        }
    }

    /// Returns a snapshot of the game, for viewers.
    pub fn snapshot(&self, engines: ByColor<usize>) -> GameSnapshot {
        let mover = !self.position.turn();
        let mut thoughts = ByColor::default();
        for (played, color) in self.moves.iter().rev().zip([mover, !mover]) {
            *thoughts.get_mut(color) = played.thought.as_ref().map(|thought| MoveSummary {
                score: thought.score,
                depth: thought.depth,
                elapsed: thought.elapsed,
            });
        }
        GameSnapshot {
            engines,
            position: self.position.clone(),
            last: self.moves.last().map(|played| played.uci),
            thoughts,
            left: self.clocks.as_ref().map(|clock| clock.as_ref().map(Clock::left)),
        }
    }

    /// Returns the excess over the time of the move that lost the game on time, if any.
    pub fn late(&self) -> Option<Duration> {
        self.late
    }

    /// Returns the number of moves played, those of the book included.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// Returns all moves so far.
    pub fn into_moves(mut self) -> Vec<MoveRecord> {
        // The record may wait in memory until all earlier pairs are counted.
        self.moves.shrink_to_fit();
        self.moves
    }
}

/// Returns whether a search is so far past its limit of nodes that its engine cannot have obeyed
/// it: a hundred times, and a million nodes.
pub(crate) fn ignores_limit(limits: &Limits, info: &Info) -> bool {
    let most = limits.nodes.map(|nodes| nodes.saturating_mul(100).max(1_000_000));
    most.zip(info.nodes).is_some_and(|(most, nodes)| nodes > most)
}

/// Reason for a loss, and a description that follows the name of the side.
type Loss = (Termination, String);

fn loss_by_fault(fault: Fault) -> Loss {
    match fault {
        Fault::Crashed(how) => (Termination::Crash, format!("crashed ({how})")),
        Fault::Disconnected(how) => (Termination::Disconnect, format!("disconnected ({how})")),
        Fault::Silent(what) => (Termination::Stall, format!("stalled ({what})")),
    }
}

/// Maps a claim to a loss: a game in progress is neither won nor drawn, so only a resignation is
/// accepted.
fn loss_by_claim(claim: &Claim) -> Loss {
    let (what, line) = match claim {
        Claim::Loss => return (Termination::Resignation, "resigns".to_owned()),
        Claim::Win(line) => ("wrongly claims to have won", line),
        Claim::Draw(line) => ("wrongly claims a draw", line),
        Claim::Refusal(line) => ("refuses a legal move", line),
    };
    (Termination::ProtocolError, format!("{what}: '{}'", printable(line, CLAIM_EXCERPT)))
}

/// Appends a move to a `position` line.
fn append(line: &mut String, is_first: bool, uci: UciMove) {
    line.push_str(if is_first { " moves " } else { " " });
    // Writing to a string cannot fail.
    let _ = write!(line, "{uci}");
}

/// Returns a key that is equal for positions that count as repetitions: placement, side to move,
/// castling rights and an en passant capture that is really possible.
fn key(position: &Chess) -> Zobrist128 {
    position.zobrist_hash(EnPassantMode::Legal)
}

#[cfg(test)]
mod tests;
