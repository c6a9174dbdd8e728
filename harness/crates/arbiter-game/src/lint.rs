//! Lint of the information that engines send about their searches. Findings never affect results.
//! This module does no I/O.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::As;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use crate::text::Text;
use crate::text::printable;
use arbiter_position::legal_move;
use arbiter_protocol::{Info, Limits, Score};

/// Amount by which the reported time of a search may exceed the measured time: on a busy machine,
/// an engine may read `go` before Arbiter starts the engine's clock.
const TIME_MARGIN: Duration = Duration::from_millis(500);

/// Number of nodes by which a search may exceed its node limit, because few engines check the limit
/// at every node. The margin is at least a quarter of the limit.
const NODE_MARGIN: u64 = 5_000;

/// Minimum absolute score, in centipawns, at which a change of sign between two consecutive moves
/// of an engine is a finding: few searches are wrong by that much.
const SURE: i32 = 1_000;

/// Maximum length, in characters, of a quoted move. A move in UCI notation has at most five
/// characters.
const EXCERPT: usize = 10;

/// Lint rule. The names are stored and printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LintRule {
    /// A move of the principal variation is illegal.
    IllegalPv,
    /// The principal variation continues after mate, stalemate or a draw by rule.
    PvAfterEnd,
    /// `bestmove` is not the first move of the principal variation.
    NotPvMove,
    /// The principal variation of a mate score does not mate in that number of moves.
    MateScore,
    /// A clear advantage became a clear disadvantage from one move to the next, or vice versa.
    ScoreJump,
    /// The number of nodes decreased during a search.
    Nodes,
    /// The engine searched more nodes than the limit allows.
    NodeLimit,
    /// The engine searched more plies than the limit allows.
    DepthLimit,
    /// The engine reported more time than was measured.
    Time,
    /// The engine reported a hash table that is more than full.
    Hashfull,
}

arbiter_names::named!(LintRule);

impl LintRule {
    /// Returns a description of a violation of the rule.
    pub fn describe(self) -> &'static str {
        match self {
            LintRule::IllegalPv => "illegal move in the PV",
            LintRule::PvAfterEnd => "PV after the end of the game",
            LintRule::NotPvMove => "bestmove differs from the PV",
            LintRule::MateScore => "mate announced, but the PV does not mate",
            LintRule::ScoreJump => "score changes sign",
            LintRule::Nodes => "node count decreases",
            LintRule::NodeLimit => "node limit exceeded",
            LintRule::DepthLimit => "depth limit exceeded",
            LintRule::Time => "time longer than measured",
            LintRule::Hashfull => "hash table more than full",
        }
    }
}

/// Violation of a lint rule by a move, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LintFinding {
    /// Violated rule.
    pub rule: LintRule,
    /// Figures or moves that show the violation.
    #[serde(with = "As::<Text>")]
    pub what: String,
    /// `info` line with the violation, without the word `info`; empty unless all lines of a search
    /// are checked. This field is neither stored nor sent.
    #[serde(skip)]
    pub line: String,
}

/// Minimum number of plies without an irreversible move before a threefold repetition.
const MIN_THREEFOLD: u32 = 8;

/// Maximum number of PV moves that are checked per search, so that excessive output cannot delay a
/// game.
const MAX_CHECKED: usize = 5_000;

/// Maximum length, in characters, of a quoted line.
const MAX_LINE: usize = 1_000;

/// Move with the engine's information about the search.
pub(crate) struct SearchedMove<'a> {
    /// Position before the move.
    pub(crate) position: &'a Chess,
    /// Function that counts the occurrences of a position in the game since the last irreversible
    /// move.
    pub(crate) repetitions: &'a dyn Fn(&Chess) -> usize,
    /// Move that was sent as `bestmove`.
    pub(crate) best: Move,
    /// Limits of the search.
    pub(crate) limits: &'a Limits,
    /// Score of the engine's previous move.
    pub(crate) before: Option<Score>,
    /// Time from `go` to `bestmove`.
    pub(crate) elapsed: Duration,
    /// Last information about the search.
    pub(crate) info: &'a Info,
}

impl SearchedMove<'_> {
    /// Returns all findings.
    pub(crate) fn lint(&self) -> Vec<LintFinding> {
        let SearchedMove { limits, before, elapsed, info, .. } = *self;
        let mut findings = Vec::new();
        self.check_variations(&mut findings);
        if info.pv_score.is_some() {
            findings.extend(self.check_first_move());
        }
        let mut add = |rule, what| findings.push(LintFinding { rule, what, line: String::new() });
        if info.variations().is_empty() && info.pv_score.is_some() {
            self.follow(info, info.pv_score, &mut add);
        }
        if let (Some(before), Some(score)) = (before, info.score)
            && sign(before) * sign(score) < 0
        {
            add(LintRule::ScoreJump, format!("{before}, then {score}"));
        }
        if info.has_fewer_nodes {
            let nodes = info.nodes.unwrap_or_default();
            add(LintRule::Nodes, format!("{nodes} after a larger number"));
        }
        // A search that began as pondering had no limits at first, so the figures may exceed the
        // limits.
        let limited = !info.has_pondered;
        if let (Some(nodes), Some(limit)) = (info.nodes, limits.nodes)
            && limited
            && nodes > limit.saturating_add((limit / 4).max(NODE_MARGIN))
        {
            add(LintRule::NodeLimit, format!("{nodes} nodes with nodes={limit}"));
        }
        if let (Some(depth), Some(limit)) = (info.depth, limits.depth)
            && limited
            && depth > limit
        {
            add(LintRule::DepthLimit, format!("depth {depth} with depth={limit}"));
        }
        // With `nodestime` an engine counts nodes as time, and may report the number of nodes as
        // its time.
        let time = info.time.filter(|_| limits.nodestime.is_none());
        if let Some(time) = time.filter(|time| *time > elapsed + TIME_MARGIN) {
            let what = format!("{} ms, measured {}", time.as_millis(), elapsed.as_millis());
            add(LintRule::Time, what);
        }
        if let Some(hashfull) = info.hashfull.filter(|permill| *permill > 1_000) {
            add(LintRule::Hashfull, format!("hashfull {hashfull}"));
        }
        findings
    }

    /// Checks the principal variations in all kept `info` lines. A finding that occurs in several
    /// `info` lines is reported once.
    fn check_variations(&self, findings: &mut Vec<LintFinding>) {
        let mut remaining = MAX_CHECKED;
        for line in self.info.variations() {
            // A word that is not a move ends the variation without a finding, because this check
            // follows the warnings of fastchess.
            let parsed = Info { not_a_move: None, ..Info::parse_any(line) };
            let Some(rest) = remaining.checked_sub(parsed.pv.len()) else { return };
            remaining = rest;
            self.follow(&parsed, parsed.pv_score, &mut |rule, what| {
                if !findings.iter().any(|found| found.rule == rule && found.what == what) {
                    findings.push(LintFinding { rule, what, line: printable(line, MAX_LINE) });
                }
            });
        }
    }

    fn check_first_move(&self) -> Option<LintFinding> {
        let first = self.info.pv.first().map(String::as_str).or(self.info.not_a_move.as_deref());
        let is_played = |text: &str| {
            let uci = text.parse::<UciMove>().ok();
            uci.and_then(|uci| legal_move(self.position, uci)) == Some(self.best)
        };
        let head = printable(first.filter(|first| !is_played(first))?, EXCERPT);
        let best = self.best.to_uci(CastlingMode::Standard);
        let what = format!("{best} was played, the PV begins with {head}");
        let is_best = |line: &&String| !Info::parse(line).pv.is_empty();
        let line = self.info.variations().iter().rev().find(is_best);
        let line = line.map_or_else(String::new, |line| printable(line, MAX_LINE));
        Some(LintFinding { rule: LintRule::NotPvMove, what, line })
    }

    /// Checks the principal variation in an `info` line; `score` is the score in the `info` line,
    /// or `None` if this score is not exact.
    fn follow(&self, info: &Info, score: Option<Score>, add: &mut impl FnMut(LintRule, String)) {
        let moves = info.pv.iter().map(String::as_str);
        let pv: Vec<&str> = moves.chain(info.not_a_move.as_deref()).collect();
        let mut position = self.position.clone();
        let mut reached: Vec<Chess> = Vec::with_capacity(pv.len());
        for (ply, text) in (1..).zip(&pv) {
            let uci: Option<UciMove> = text.parse().ok();
            let Some(legal) = uci.and_then(|uci| legal_move(&position, uci)) else {
                let (rule, after) = match () {
                    () if position.is_checkmate() => (LintRule::PvAfterEnd, " after checkmate"),
                    () if position.is_stalemate() => (LintRule::PvAfterEnd, " after stalemate"),
                    () => (LintRule::IllegalPv, ""),
                };
                return add(rule, format!("{} at ply {ply}{after}", printable(text, EXCERPT)));
            };
            position.play_unchecked(legal);
            // A variation may reach the end of the game; only a move after the end is a finding.
            let Some(next) = pv.get(ply) else { break };
            let recent = reached.iter().rev().take(position.halfmoves() as usize);
            let occurrences = || {
                recent.filter(|earlier| **earlier == position).count()
                    + (self.repetitions)(&position)
            };
            let draw = if position.halfmoves() >= 100 {
                "fifty-move rule"
            } else if position.is_insufficient_material() {
                "insufficient material"
            } else if position.halfmoves() >= MIN_THREEFOLD && occurrences() >= 2 {
                "threefold repetition"
            } else {
                reached.push(position.clone());
                continue;
            };
            if !position.is_checkmate() {
                let next = printable(next, EXCERPT);
                let what = format!("{next} at ply {} after {draw}", ply + 1);
                return add(LintRule::PvAfterEnd, what);
            }
        }
        if let Some(Score::Mate(moves)) = score {
            // A mate in n moves takes 2n - 1 plies if the side to move mates, and 2n plies if the
            // side to move is mated.
            let plies = 2 * i64::from(moves).abs() - i64::from(moves > 0);
            let mates = position.is_checkmate();
            if !mates || pv.len() as i64 != plies {
                let end = if mates { "mates" } else { "does not mate" };
                let what = format!("mate {moves}, and a PV of {} plies that {end}", pv.len());
                add(LintRule::MateScore, what);
            }
        }
    }
}

/// Returns the sign of a score with an absolute value of at least [`SURE`]; 0 for other scores.
fn sign(score: Score) -> i32 {
    score.limited(SURE) / SURE
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_protocol::Variations;
    use shakmaty::fen::Fen;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    /// Position in which White can mate in one move (Ra8) or in two moves.
    const BACK_RANK: &str = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1";

    /// Returns the rules that `lines` and the move `best` violate.
    fn lint_rules(fen: &str, lines: &[&str], best: &str, limits: &Limits) -> Vec<LintRule> {
        let fen: Fen = fen.parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        let mut info = Info::default();
        lines.iter().for_each(|line| info.update(Info::parse(line)));
        let searched = SearchedMove {
            position: &position,
            repetitions: &|_| 0,
            best: best.parse::<UciMove>().unwrap().to_move(&position).unwrap(),
            limits,
            before: Some(Score::Centipawns(1_200)),
            elapsed: Duration::from_millis(100),
            info: &info,
        };
        let findings = searched.lint();
        assert!(findings.iter().all(|finding| !finding.what.is_empty()));
        findings.into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn each_lint_rule_detects_its_violation() {
        let check = |fen, lines: &[&str], best, expect: &[LintRule]| {
            let limits = Limits { nodes: Some(1_000), depth: Some(9), ..Limits::default() };
            assert_eq!(lint_rules(fen, lines, best, &limits), expect, "{lines:?}");
        };
        check(
            START,
            &["depth 9 score cp 20 nodes 900 time 99 hashfull 1000 pv e2e4 e7e5"],
            "e2e4",
            &[],
        );
        check(START, &["score cp 20 pv e2e4 e2e4"], "e2e4", &[LintRule::IllegalPv]);
        check(START, &["score cp 20 pv e2e4 x"], "e2e4", &[LintRule::IllegalPv]);
        check(START, &["score cp 20 pv e2e4"], "d2d4", &[LintRule::NotPvMove]);
        let both = [LintRule::NotPvMove, LintRule::IllegalPv];
        check(START, &["score cp 20 pv a1a1 e7e5"], "d2d4", &both);
        check(START, &["score cp 20 lowerbound pv e2e4"], "d2d4", &[]);
        check(BACK_RANK, &["score mate 1 pv a1a8"], "a1a8", &[]);
        check(BACK_RANK, &["score mate 2 pv a1a8"], "a1a8", &[LintRule::MateScore]);
        check(BACK_RANK, &["score mate 1 pv a1a7"], "a1a7", &[LintRule::MateScore]);
        check(BACK_RANK, &["score mate 1 pv a1a8 g8h8"], "a1a8", &[LintRule::PvAfterEnd]);
        check(BACK_RANK, &["score cp -1000"], "a1a8", &[LintRule::ScoreJump]);
        check(BACK_RANK, &["score cp -999"], "a1a8", &[]);
        check(BACK_RANK, &["score mate -3 upperbound"], "a1a8", &[]);
        check(START, &["nodes 50", "nodes 49"], "e2e4", &[LintRule::Nodes]);
        check(START, &["nodes 6000"], "e2e4", &[]);
        check(START, &["nodes 6001"], "e2e4", &[LintRule::NodeLimit]);
        check(START, &["depth 10"], "e2e4", &[LintRule::DepthLimit]);
        check(START, &["time 601"], "e2e4", &[LintRule::Time]);
        check(START, &["hashfull 1001"], "e2e4", &[LintRule::Hashfull]);
        let bare = "8/8/8/8/8/2k5/1p6/K7 w - - 0 1";
        check(bare, &["score cp 0 pv a1a2 b2b1n a2b1 c3d4"], "a1a2", &[LintRule::PvAfterEnd]);
        check(
            "8/8/8/8/8/2k5/1p6/1K6 w - - 99 80",
            &["score cp 0 pv b1a2 c3d4"],
            "b1a2",
            &[LintRule::PvAfterEnd],
        );
    }

    #[test]
    fn all_lines_of_a_search_are_checked_if_they_are_kept() {
        let position = Chess::default();
        let lines = [
            "depth 1 score cp 5 pv e2e5",
            "depth 2 score cp 5 lowerbound pv e2e4 e2e4",
            "depth 2 multipv 2 score cp 5 pv d2d4 d2d4",
            "depth 3 score mate 3 pv e2e4 (x)",
            "depth 4 score cp 5 pv e2e5",
            "depth 5 score cp 5 pv d2d4 d7d5",
        ];
        let mut info = Info::default();
        lines.iter().for_each(|line| info.update(Info::parse(line)));
        let mut find = |variations: Vec<String>| {
            info.variations = Some(Box::new(Variations(variations)));
            let searched = SearchedMove {
                position: &position,
                repetitions: &|_| 0,
                best: "e2e4".parse::<UciMove>().unwrap().to_move(&position).unwrap(),
                limits: &Limits::default(),
                before: None,
                elapsed: Duration::ZERO,
                info: &info,
            };
            let found = searched.lint().into_iter();
            found
                .map(|LintFinding { rule, what, line }| format!("{rule}: {what}: {line}"))
                .collect()
        };
        let found: Vec<String> = find(lines.map(str::to_owned).into());
        let expected = [
            format!("illegal_pv: e2e5 at ply 1: {}", lines[0]),
            format!("illegal_pv: e2e4 at ply 2: {}", lines[1]),
            format!("illegal_pv: d2d4 at ply 2: {}", lines[2]),
            format!("mate_score: mate 3, and a PV of 1 plies that does not mate: {}", lines[3]),
            format!("not_pv_move: e2e4 was played, the PV begins with d2d4: {}", lines[5]),
        ];
        assert_eq!(found, expected);
        // After `MAX_CHECKED` moves, further lines are not checked.
        let long = format!("score cp 5 pv {}", "g1f3 g8f6 f3g1 f6g8 ".repeat(1_250));
        let found: Vec<String> = find(vec![long, lines[0].to_owned()]);
        assert!(!found.iter().any(|text| text.starts_with("illegal_pv")), "{found:?}");
    }

    #[test]
    fn a_repetition_ends_the_principal_variation() {
        let fen: Fen = START.replace("0 1", "4 3").parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        let lint = |count: usize, plies: &str| {
            let info = Info::parse(&format!("score cp 0 pv {plies}e2e4"));
            let searched = SearchedMove {
                position: &position,
                repetitions: &|at| if *at.board() == *Chess::default().board() { count } else { 0 },
                best: "g1f3".parse::<UciMove>().unwrap().to_move(&position).unwrap(),
                limits: &Limits::default(),
                before: None,
                elapsed: Duration::ZERO,
                info: &info,
            };
            searched.lint().into_iter().map(|finding| finding.rule).collect::<Vec<_>>()
        };
        let knights = "g1f3 g8f6 f3g1 f6g8 ";
        assert_eq!(lint(2, knights), [LintRule::PvAfterEnd]);
        assert_eq!(lint(1, knights), []);
        assert_eq!(lint(1, &knights.repeat(2)), [LintRule::PvAfterEnd]);
        assert_eq!(lint(0, &knights.repeat(2)), []);
        assert_eq!(lint(0, &knights.repeat(3)), [LintRule::PvAfterEnd]);
    }
}
