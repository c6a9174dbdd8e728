//! Referee of one game: determines the side to move and the commands for its engine, and judges the
//! answer.
//!
//! The referee is a state machine without I/O. The rules of chess come from shakmaty, not from the
//! bundled engine, so that a bug in one implementation cannot hide a bug in the other
//! implementation. The order of judgement is fixed: crash, disconnect or stall; loss on time;
//! unparseable move; illegal move; endings by the rules of chess; and finally adjudication by
//! tablebases, resignation, draw and move cap.

use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist128;
use shakmaty::{
    Bitboard, ByColor, CastlingMode, Chess, Color, EnPassantMode, Move, Position, attacks,
};
use thiserror::Error;

use crate::adjudicate::{Adjudicator, PlayedMove, Rules, Tables};
use crate::lint::{LintFinding, SearchedMove};
use crate::live_game::{GameSnapshot, MoveSummary};
use crate::outcome::{Outcome, Termination, color_name};
use crate::record::{KeptFields, MoveRecord, SearchDetails, SearchInfo};
use crate::text::printable;
use arbiter_position::legal_move;
use arbiter_protocol::{Claim, Clock, Conditions, Go, Info, Limits, Score};

/// Maximum length, in characters, of a quoted answer that is not a move.
const EXCERPT: usize = 20;

/// Number of moves by which the move list grows. Doubling the list would waste up to half of the
/// memory for moves.
const GROWTH: usize = 64;

/// Maximum length, in characters, of a quoted claim.
const CLAIM_EXCERPT: usize = 60;

/// Task for the side to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Side to move.
    pub color: Color,
    /// `position` command.
    pub position: String,
    /// Limits of the search.
    pub go: Go,
    /// Time after which the side to move loses on time, including the margin; `None` if the move
    /// has no time limit.
    pub budget: Option<Duration>,
}

/// Answer of the side to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Move sent by the engine.
    Move {
        /// Text of the move.
        text: String,
        /// Time from the flush of `go` to the time stamp of the answer.
        elapsed: Duration,
        /// Information from the engine about its search.
        info: Info,
    },
    /// Claim of a result instead of a move.
    Claim(Claim),
    /// Fault instead of a move; the engine cannot continue.
    Fault(Fault),
}

/// Task of an engine that ponders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    /// `position` command for the position after the expected reply.
    pub position: String,
    /// Limits of the search; the clocks show the times left at the start of pondering.
    pub go: Go,
}

/// Reason why an engine cannot continue. The display form consists of the kind of fault and the
/// text; `from_str` parses this form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// The engine did not answer in time; the text names the missing answer.
    #[error("silent: {0}")]
    Silent(String),
    /// The process exited; the text describes the exit status.
    #[error("crashed: {0}")]
    Crashed(String),
    /// The output was closed but the process is still running; the text describes the event.
    #[error("disconnected: {0}")]
    Disconnected(String),
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

/// State and rules of one game.
#[derive(Debug, Clone)]
pub struct Referee {
    position: Chess,
    mode: CastlingMode,
    conditions: ByColor<Conditions>,
    clocks: ByColor<Option<Clock>>,
    /// Keys of the positions since the last irreversible move, including the current position.
    keys: Vec<Zobrist128>,
    /// `position` command for the current position.
    line: String,
    moves: Vec<MoveRecord>,
    /// Fields that are kept with each move.
    pub(crate) keep: Arc<KeptFields>,
    adjudicator: Adjudicator,
    outcome: Option<Outcome>,
    late: Option<Duration>,
}

impl Referee {
    /// Creates a game that starts from `start` with the moves of `book`. An illegal move ends the
    /// book; loaded openings contain no illegal moves. Tablebases are probed after each move of an
    /// engine.
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
            keys: vec![key(&start)],
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

    /// Returns the outcome of the game, if the game is over.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Returns the time by which the side that lost on time exceeded the available time.
    pub(crate) fn late(&self) -> Option<Duration> {
        self.late
    }

    /// Returns the task of the side to move.
    pub fn turn(&self) -> Turn {
        let color = self.position.turn();
        let Conditions { limits, margin, .. } = *self.conditions.get(color);
        let left = self.clocks.get(color).as_ref().map(Clock::left);
        // An engine may have both a clock and a time per move, and must obey both.
        let budget = [left, limits.movetime].into_iter().flatten().min();
        // The copy has the same capacity as `line`, which grows in large steps. Copies that are
        // each a few bytes longer than the last would fragment the heap.
        let mut position = String::with_capacity(self.line.capacity());
        position.push_str(&self.line);
        // With `nodestime` the clock counts nodes, and real time does not matter.
        let budget = budget.filter(|_| limits.nodestime.is_none()).map(|b| b + margin);
        Turn { color, position, go: self.bounds(color), budget }
    }

    /// Returns the pondering task of the side that has just moved; `None` if the expected reply is
    /// illegal or ends the game.
    pub fn forecast(&self, reply: &str) -> Option<Forecast> {
        let m = legal_move(&self.position, UciMove::from_ascii(reply.as_bytes()).ok()?)?;
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
        let Limits { movetime, nodes, depth, .. } = self.conditions.get(color).limits;
        let time_of = |c: Color| self.clocks.get(c).as_ref().map(|k| (k.left(), k.increment()));
        let clock = self.clocks.get(color).as_ref();
        // An engine without a clock would mistake its opponent's clock for its own.
        let shown = |c: Color| if clock.is_some() { time_of(c) } else { None };
        let [white, black] = Color::ALL.map(shown);
        let moves_to_go = clock.and_then(Clock::moves_left);
        Go { white, black, moves_to_go, movetime, nodes, depth, ponder: false }
    }

    /// Judges the answer of the side to move.
    pub fn judge(&mut self, reply: Reply) {
        let color = self.position.turn();
        let judged = match reply {
            Reply::Fault(fault) => Err(loss_by_fault(fault)),
            Reply::Claim(claim) => Err(loss_by_claim(&claim)),
            Reply::Move { text, elapsed, info } => self.judge_move(&text, elapsed, info),
        };
        if let Err(loss) = judged {
            self.lose(color, loss);
        }
    }

    /// Ends the game as a loss of `color` by a fault, regardless of the side to move. A game that
    /// is already over keeps its outcome.
    pub fn forfeit(&mut self, color: Color, fault: Fault) -> &Outcome {
        self.lose(color, loss_by_fault(fault))
    }

    fn lose(&mut self, color: Color, (termination, what): Loss) -> &Outcome {
        let detail = format!("{} {what}", color_name(color));
        self.outcome.get_or_insert_with(|| Outcome::lost(color, termination, detail))
    }

    fn judge_move(&mut self, text: &str, elapsed: Duration, mut info: Info) -> Result<(), Loss> {
        let color = self.position.turn();
        // The clock is judged first: a late answer loses on time, regardless of its text.
        self.charge(elapsed, info.nodes).map_err(|over| {
            self.late = Some(over);
            let ms = over.as_secs_f64() * 1e3;
            (Termination::TimeForfeit, format!("loses on time ({ms:.1} ms over)"))
        })?;
        let uci = UciMove::from_ascii(text.as_bytes()).map_err(|_| {
            let answer = printable(text, EXCERPT);
            (Termination::UnparseableMove, format!("answered '{answer}', which is not a move"))
        })?;
        let illegal = || (Termination::IllegalMove, format!("played the illegal move {text}"));
        let m = legal_move(&self.position, uci).ok_or_else(illegal)?;
        // If the engine plays White, scores from White's point of view need no conversion.
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
        let clock = self.clocks.get(color).as_ref();
        let left = clock.filter(|_| self.keep.time_left()).map(Clock::left);
        let Info { score, depth, seldepth, nodes, time: reported, .. } = info;
        let Info { nps, hashfull, tbhits, pv, lines, .. } = info;
        let details = SearchDetails { left, nps, hashfull, tbhits, pv, lines, findings }.boxed();
        let search = SearchInfo { score, depth, seldepth, nodes, elapsed, reported, details };
        self.play(m, Some(search));
        Ok(())
    }

    /// Returns the lint findings about a move of the side to move and about the search for this
    /// move.
    fn lint(&self, best: Move, elapsed: Duration, info: &Info) -> Vec<LintFinding> {
        // The last move is the opponent's, so the engine's previous move is the second to last.
        let before = self.moves.iter().rev().nth(1).and_then(|own| own.search.as_ref()?.score);
        let repetitions = |position: &Chess| {
            let key = key(position);
            self.keys.iter().filter(|earlier| **earlier == key).count()
        };
        let limits = &self.conditions.get(self.position.turn()).limits;
        let position = &self.position;
        SearchedMove { position, repetitions: &repetitions, best, limits, before, elapsed, info }
            .lint()
    }

    /// Charges the time of a move to the clock of the side to move. The error is the time by which
    /// the move is late.
    fn charge(&mut self, elapsed: Duration, nodes: Option<u64>) -> Result<(), Duration> {
        let color = self.position.turn();
        let Conditions { limits, margin, .. } = *self.conditions.get(color);
        let cost = limits.cost(elapsed, nodes);
        if let Some(movetime) = limits.movetime.filter(|t| cost > *t + margin) {
            return Err(cost - movetime);
        }
        if let Some(clock) = self.clocks.get_mut(color) {
            clock.charge(cost, margin)?;
        }
        // Only an hourglass clock gains the time that the opponent used, and only if the opponent
        // did not lose on time.
        if let Some(clock) = self.clocks.get_mut(color.other()) {
            clock.opponent_used(cost);
        }
        Ok(())
    }

    fn play(&mut self, m: Move, search: Option<SearchInfo>) {
        let uci = m.to_uci(self.mode);
        append(&mut self.line, self.moves.is_empty(), uci);
        let is_own = search.is_some();
        let score = search.as_ref().and_then(|search| search.score);
        if self.moves.len() == self.moves.capacity() {
            // `reserve` would double the capacity; see `GROWTH`.
            self.moves.reserve_exact(GROWTH);
        }
        self.moves.push(MoveRecord { uci, search });
        // No earlier position can recur after an irreversible move.
        if self.position.is_irreversible(m) {
            self.keys.clear();
        }
        let color = self.position.turn();
        self.position.play_unchecked(m);
        self.keys.push(key(&self.position));
        let adjudicated = self.adjudicator.observe(PlayedMove {
            color,
            // The move number has already increased if Black has moved; the current full move is
            // not yet complete.
            full_moves: self.position.fullmoves().get() - 1,
            is_book: !is_own,
            zeroing: m.is_zeroing(),
            score,
        });
        // Tablebases are probed only after a move of an engine, because an opening whose position
        // is in the tables should be played.
        let looked_up = || is_own.then(|| self.adjudicator.look_up(&self.position)).flatten();
        // The rules of chess take precedence, so that adjudication cannot override a mate.
        self.outcome = self.rule_ending().or_else(looked_up).or(adjudicated);
    }

    /// Returns whether a pawn that cannot be pinned has an empty square in front of the pawn; if
    /// so, the position is not stalemate. This test avoids generating all legal moves, which would
    /// take a tenth of the referee's time per game.
    fn has_free_pawn(&self) -> bool {
        let (board, color) = (self.position.board(), self.position.turn());
        let lines = board.king_of(color).map(|king| attacks::queen_attacks(king, Bitboard::EMPTY));
        let pawns = board.by_piece(color.pawn()) & !lines.unwrap_or_default();
        !(pawns.shift(color.fold_wb(8, -8)) & !board.occupied()).is_empty()
    }

    fn rule_ending(&self) -> Option<Outcome> {
        let color = self.position.turn();
        let current = self.keys.last();
        // Checkmate is tested before the fifty-move rule, because a mate on the hundredth ply wins.
        if self.position.is_checkmate() {
            let detail = format!("{} mates", color_name(color.other()));
            Some(Outcome::lost(color, Termination::Checkmate, detail))
        } else if !self.has_free_pawn() && self.position.is_stalemate() {
            Some(Outcome::drawn(Termination::Stalemate, "draw by stalemate"))
        } else if self.position.is_insufficient_material() {
            Some(Outcome::drawn(Termination::DeadPosition, "draw by insufficient material"))
        } else if self.keys.iter().filter(|k| Some(*k) == current).count() >= 3 {
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
        let mut searches = ByColor::default();
        for (played, color) in self.moves.iter().rev().zip([mover, !mover]) {
            *searches.get_mut(color) = played.search.as_ref().map(|search| {
                let &SearchInfo { score, depth, elapsed, .. } = search;
                MoveSummary { score, depth, elapsed }
            });
        }
        let position = self.position.clone();
        let last = self.moves.last().map(|played| played.uci);
        let left = self.clocks.as_ref().map(|clock| clock.as_ref().map(Clock::left));
        GameSnapshot { engines, position, last, searches, left }
    }

    /// Returns the number of plies played, including book moves.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// Returns all moves so far.
    pub fn into_moves(mut self) -> Vec<MoveRecord> {
        // Spare capacity is released, because the record may wait in memory until all earlier pairs
        // are counted.
        self.moves.shrink_to_fit();
        self.moves
    }
}

/// Returns whether a search exceeded its node limit by so much that the engine must have ignored
/// the limit: more than a hundred times the limit, and more than a million nodes.
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

/// Converts a claim to a loss. Claims of a win or a draw are wrong, because the game is still in
/// progress. Only a resignation is accepted.
fn loss_by_claim(claim: &Claim) -> Loss {
    let (what, line) = match claim {
        Claim::Loss => return (Termination::Resignation, "resigns".to_owned()),
        Claim::Win(line) => ("wrongly claims to have won", line),
        Claim::Draw(line) => ("wrongly claims a draw", line),
        Claim::Refusal(line) => ("refuses a legal move", line),
    };
    (Termination::ProtocolError, format!("{what}: '{}'", printable(line, CLAIM_EXCERPT)))
}

/// Appends a move to a `position` command.
fn append(line: &mut String, is_first: bool, uci: UciMove) {
    line.push_str(if is_first { " moves " } else { " " });
    // Writing to a string cannot fail.
    let _ = write!(line, "{uci}");
}

/// Returns a key of a position for the repetition rule: piece placement, side to move, castling
/// rights, and the en passant square if an en passant capture is legal.
fn key(position: &Chess) -> Zobrist128 {
    position.zobrist_hash(EnPassantMode::Legal)
}

#[cfg(test)]
mod tests;
