//! Judges one game: whose turn it is, what the engine is told, and what its answer means.
//!
//! A pure state machine over shakmaty's rules, which are not the bundled engine's: a bug in one
//! cannot hide in the other. The order of judgement is fixed: gone or silent, unparseable,
//! illegal, over time, then the endings that the rules of chess know, and only then adjudication:
//! resignation, draw, move cap.

use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist128;
use shakmaty::{ByColor, CastlingMode, Chess, Color, EnPassantMode, Move, Position};

use crate::adjudicate::{Adjudicator, Played, Rules};
use crate::clock::{Clock, Conditions};
use crate::game::outcome::{Outcome, Termination, color_name, printable};
use crate::game::record::{MoveRecord, Thought};
use crate::uci::command::Go;
use crate::uci::info::Info;

/// How much of an answer that is not a move is quoted, in characters.
const EXCERPT: usize = 20;

/// What an engine is to be told.
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

/// What came back from the engine to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A `bestmove`.
    Move {
        /// The move as written.
        text: String,
        /// From the flush of `go` to the stamp of the answer.
        elapsed: Duration,
        /// What the engine said of its search.
        info: Info,
    },
    /// No move, and the engine cannot go on.
    Fault(Fault),
}

/// Why an engine cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// No answer in time; the text says to what.
    Silent(String),
    /// The process ended; the text says how.
    Crashed(String),
    /// The pipe closed but the process lives; the text says what happened.
    Disconnected(String),
}

/// The state of one game.
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
    adjudicator: Adjudicator,
    outcome: Option<Outcome>,
}

impl Referee {
    /// A game from `start`, with `book` moves already played. Book moves must be legal, as those
    /// of a loaded opening are; one that is not ends the book there.
    pub fn new(
        start: Chess,
        mode: CastlingMode,
        book: &[UciMove],
        conditions: ByColor<Conditions>,
        rules: Rules,
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
            clocks: ByColor::new_with(|c| conditions.get(c).limits.clock.map(Clock::new)),
            conditions,
            line,
            moves: Vec::new(),
            adjudicator: Adjudicator::new(rules),
            outcome: None,
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

    /// How the game ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// What to tell the side to move.
    pub fn turn(&self) -> Turn {
        let color = self.position.turn();
        let Conditions { limits, margin } = *self.conditions.get(color);
        let told = |c: Color| self.clocks.get(c).as_ref().map(|k| (k.left(), k.increment()));
        let clock = self.clocks.get(color).as_ref();
        // An engine without a clock must not be misled by its opponent's.
        let shown = |c: Color| if clock.is_some() { told(c) } else { None };
        let left = clock.map(Clock::left);
        let budget = [left, limits.movetime].into_iter().flatten().min();
        Turn {
            color,
            position: self.line.clone(),
            go: Go {
                white: shown(Color::White),
                black: shown(Color::Black),
                moves_to_go: clock.and_then(Clock::moves_left),
                movetime: limits.movetime,
                nodes: limits.nodes,
                depth: limits.depth,
            },
            budget: budget.map(|b| b + margin),
        }
    }

    /// Judges the answer of the side to move.
    pub fn judge(&mut self, reply: Reply) {
        let color = self.position.turn();
        match reply {
            Reply::Fault(fault) => {
                self.forfeit(color, fault);
            }
            Reply::Move { text, elapsed, info } => self.judge_move(color, &text, elapsed, &info),
        }
    }

    /// `color` cannot go on, whether or not it is its turn. A game that is over stays as it is.
    pub fn forfeit(&mut self, color: Color, fault: Fault) -> &Outcome {
        let name = color_name(color);
        let (termination, detail) = match fault {
            Fault::Crashed(how) => (Termination::Crash, format!("{name} crashed ({how})")),
            Fault::Disconnected(how) => {
                (Termination::Disconnect, format!("{name} disconnected ({how})"))
            }
            Fault::Silent(what) => (Termination::Stall, format!("{name} stalled ({what})")),
        };
        self.outcome.get_or_insert_with(|| Outcome::lost(color, termination, detail))
    }

    fn judge_move(&mut self, color: Color, text: &str, elapsed: Duration, info: &Info) {
        let name = color_name(color);
        let Ok(uci) = UciMove::from_ascii(text.as_bytes()) else {
            let detail =
                format!("{name} answered '{}', which is not a move", printable(text, EXCERPT));
            self.outcome = Some(Outcome::lost(color, Termination::UnparseableMove, detail));
            return;
        };
        let Ok(m) = uci.to_move(&self.position) else {
            let detail = format!("{name} played the illegal move {text}");
            self.outcome = Some(Outcome::lost(color, Termination::IllegalMove, detail));
            return;
        };
        if let Err(over) = self.charge(color, elapsed) {
            let detail = format!("{name} loses on time ({:.1} ms over)", over.as_secs_f64() * 1e3);
            self.outcome = Some(Outcome::lost(color, Termination::TimeForfeit, detail));
            return;
        }
        let thought = Thought {
            score: info.score,
            depth: info.depth,
            seldepth: info.seldepth,
            nodes: info.nodes,
            elapsed,
        };
        self.play(m, Some(thought));
    }

    fn charge(&mut self, color: Color, elapsed: Duration) -> Result<(), Duration> {
        let Conditions { limits, margin } = *self.conditions.get(color);
        if let Some(movetime) = limits.movetime.filter(|t| elapsed > *t + margin) {
            return Err(elapsed - movetime);
        }
        match self.clocks.get_mut(color) {
            Some(clock) => clock.charge(elapsed, margin).map_err(|over| over.0),
            None => Ok(()),
        }
    }

    fn play(&mut self, m: Move, thought: Option<Thought>) {
        let uci = m.to_uci(self.mode).to_string();
        self.line.push_str(if self.moves.is_empty() { " moves " } else { " " });
        self.line.push_str(&uci);
        self.moves.push(MoveRecord { uci, thought });
        if self.position.is_irreversible(m) {
            self.seen.clear();
        }
        let color = self.position.turn();
        self.position.play_unchecked(m);
        self.seen.push(key(&self.position));
        let adjudicated = self.adjudicator.observe(Played {
            color,
            move_number: self.moves.len().div_ceil(2) as u32,
            zeroing: m.is_zeroing(),
            score: thought.and_then(|thought| thought.score),
        });
        self.outcome = self.rule_ending().or(adjudicated);
    }

    fn rule_ending(&self) -> Option<Outcome> {
        let color = self.position.turn();
        let current = self.seen.last();
        if self.position.is_checkmate() {
            let detail = format!("{} mates", color_name(color.other()));
            Some(Outcome::lost(color, Termination::Checkmate, detail))
        } else if self.position.is_stalemate() {
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

    /// All moves so far.
    pub fn into_moves(self) -> Vec<MoveRecord> {
        self.moves
    }
}

/// Equal for positions that count as repetitions: placement, side to move, castling rights and
/// an en passant capture that is really possible.
fn key(position: &Chess) -> Zobrist128 {
    position.zobrist_hash(EnPassantMode::Legal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Limits;
    use shakmaty::KnownOutcome;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const NO_RULES: Rules = Rules { draw: None, resign: None, move_cap: None };

    fn conditions(tc: &str, margin: Duration) -> ByColor<Conditions> {
        let limits = Limits { clock: Some(tc.parse().unwrap()), ..Limits::default() };
        ByColor::new_with(|_| Conditions { limits, margin })
    }

    fn from_fen(fen: &str) -> Referee {
        let fen: Fen = fen.parse().unwrap();
        let position = fen.into_position(CastlingMode::Standard).unwrap();
        Referee::new(position, CastlingMode::Standard, &[], conditions("1", MS(10)), NO_RULES)
    }

    fn answer(text: &str, elapsed: Duration) -> Reply {
        Reply::Move { text: text.into(), elapsed, info: Info::default() }
    }

    /// Plays `moves` at a millisecond each and tells how the game stands.
    fn after(fen: &str, moves: &str) -> Option<(KnownOutcome, Termination)> {
        let mut referee = from_fen(fen);
        for text in moves.split_whitespace() {
            assert_eq!(referee.outcome(), None, "over before {text}");
            referee.judge(answer(text, MS(1)));
        }
        referee.outcome().map(|o| (o.result, o.termination))
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const WHITE: KnownOutcome = KnownOutcome::Decisive { winner: Color::White };
    const BLACK: KnownOutcome = KnownOutcome::Decisive { winner: Color::Black };
    const DRAW: KnownOutcome = KnownOutcome::Draw;

    #[test]
    fn endings_by_the_rules() {
        let check = |fen: &str, moves: &str, result, termination| {
            assert_eq!(after(fen, moves), Some((result, termination)), "{fen} {moves}");
        };
        check(START, "f2f3 e7e5 g2g4 d8h4", BLACK, Termination::Checkmate);
        check("7k/5K2/8/6Q1/8/8/8/8 w - - 0 1", "g5g6", DRAW, Termination::Stalemate);
        check("7k/8/8/8/8/8/1r6/K1B5 w - - 0 1", "a1b2", DRAW, Termination::DeadPosition);
        check("7k/8/8/8/8/8/8/KQ6 w - - 99 90", "b1b2", DRAW, Termination::FiftyMoves);
        let knights = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
        check(START, knights, DRAW, Termination::Threefold);
    }

    #[test]
    fn mate_on_the_hundredth_ply_is_mate() {
        let fen = "6k1/5ppp/8/8/8/8/8/KR6 w - - 99 90";
        assert_eq!(after(fen, "b1b8"), Some((WHITE, Termination::Checkmate)));
    }

    #[test]
    fn rights_that_differ_are_no_repetition() {
        // The first occurrence still had castling rights, so three visits are two repetitions.
        let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        let round = "e1e2 e8e7 e2e1 e7e8";
        assert_eq!(after(fen, &format!("{round} {round}")), None);
        let three = format!("{round} {round} e1e2 e8e7");
        assert_eq!(after(fen, &three), Some((DRAW, Termination::Threefold)));
    }

    /// The whole order of judgement in one table: each answer has every fault below it as well.
    #[test]
    fn faults_are_judged_in_a_fixed_order() {
        let fen = "6k1/5ppp/8/8/8/8/8/KR6 w - - 99 90";
        let late = MS(2_000);
        let check = |reply: Reply, result, termination| {
            let mut referee = from_fen(fen);
            referee.judge(reply.clone());
            let got = referee.outcome().map(|o| (o.result, o.termination));
            assert_eq!(got, Some((result, termination)), "{reply:?}");
        };
        check(Reply::Fault(Fault::Crashed("exit code 1".into())), BLACK, Termination::Crash);
        check(Reply::Fault(Fault::Disconnected("closed".into())), BLACK, Termination::Disconnect);
        check(Reply::Fault(Fault::Silent("no 'bestmove'".into())), BLACK, Termination::Stall);
        check(answer("xyzzy", late), BLACK, Termination::UnparseableMove);
        check(answer("", late), BLACK, Termination::UnparseableMove);
        check(answer("(none)", late), BLACK, Termination::UnparseableMove);
        check(answer("0000", late), BLACK, Termination::IllegalMove);
        check(answer("b1c2", late), BLACK, Termination::IllegalMove);
        check(answer("g8h8", late), BLACK, Termination::IllegalMove);
        check(answer("b1b8", late), BLACK, Termination::TimeForfeit);
        check(answer("b1b8", MS(1_010)), WHITE, Termination::Checkmate);
    }

    #[test]
    fn the_rules_of_chess_come_before_adjudication() {
        let fen: Fen = "6k1/5ppp/8/8/8/8/8/KR6 w - - 98 90".parse().unwrap();
        let rules = Rules { move_cap: Some(1), ..NO_RULES };
        let check = |moves: &[&str], termination| {
            let start: Chess = fen.clone().into_position(CastlingMode::Standard).unwrap();
            let conditions = conditions("1", MS(10));
            let mut referee = Referee::new(start, CastlingMode::Standard, &[], conditions, rules);
            moves.iter().for_each(|text| referee.judge(answer(text, MS(1))));
            assert_eq!(referee.outcome().map(|o| o.termination), Some(termination));
        };
        check(&["b1b8"], Termination::Checkmate);
        check(&["b1b2", "g8f8"], Termination::FiftyMoves);
        check(&["b1b2", "h7h6"], Termination::MoveCap);
    }

    #[test]
    fn engines_are_told_position_and_clock() {
        let mut referee = Referee::new(
            Chess::default(),
            CastlingMode::Standard,
            &[],
            conditions("40/60+0.5", MS(10)),
            NO_RULES,
        );
        referee.judge(answer("e2e4", MS(1_500)));
        let turn = referee.turn();
        assert_eq!(turn.color, Color::Black);
        assert_eq!(turn.position, "position startpos moves e2e4");
        assert_eq!(
            turn.go.to_string(),
            "go wtime 59000 btime 60000 winc 500 binc 500 movestogo 40"
        );
        assert_eq!(turn.budget, Some(MS(60_010)));
    }

    #[test]
    fn movetime_is_enforced_and_nodes_have_no_clock() {
        let sides = ByColor {
            white: Limits { movetime: Some(MS(100)), ..Limits::default() },
            black: Limits { nodes: Some(500), ..Limits::default() },
        };
        let conditions = sides.map(|limits| Conditions { limits, margin: MS(5) });
        let start =
            || Referee::new(Chess::default(), CastlingMode::Standard, &[], conditions, NO_RULES);
        let mut referee = start();
        assert_eq!(referee.turn().go.to_string(), "go movetime 100");
        referee.judge(answer("e2e4", MS(105)));
        assert_eq!(referee.outcome(), None);
        assert_eq!(referee.turn().go.to_string(), "go nodes 500");
        assert_eq!(referee.turn().budget, None);
        let mut referee = start();
        referee.judge(answer("e2e4", MS(106)));
        let outcome = referee.outcome().unwrap();
        assert_eq!(outcome.termination, Termination::TimeForfeit);
        assert_eq!(outcome.detail, "White loses on time (6.0 ms over)");
    }

    #[test]
    fn castling_is_written_by_the_mode() {
        let fen: Fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1".parse().unwrap();
        let check = |mode, text: &str, written: &str| {
            let start: Chess = fen.clone().into_position(mode).unwrap();
            let mut referee = Referee::new(start, mode, &[], conditions("1", MS(0)), NO_RULES);
            referee.judge(answer(text, MS(1)));
            assert_eq!(referee.into_moves()[0].uci, written);
        };
        check(CastlingMode::Standard, "e1g1", "e1g1");
        check(CastlingMode::Chess960, "e1h1", "e1h1");
    }
}
