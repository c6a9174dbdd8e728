//! Output lines of runs in the form of fastchess and cutechess-cli, for scripts that read these
//! lines.

mod cutechess;
mod fastchess;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use shakmaty::Color;
use shakmaty::fen::Fen;

use crate::figures::{Strength, total};
pub use arbiter_game::annotation::Dialect;
use arbiter_game::lint::{LintFinding, LintRule};
use arbiter_game::outcome::{Outcome, Termination, color_name};
use arbiter_game::record::GameRecord;
use arbiter_plan::Plan;
use arbiter_protocol::{Limits, Score};
use arbiter_run::{Encounter, RunCounts, RunEnd};
use arbiter_schedule::Format;
use arbiter_stats::{Sprt, SprtStatus, Trinomial};

/// Line that fastchess prints above and below results.
const RULE: &str = "--------------------------------------------------\n";

/// Formatter for the output lines of a run in the form of fastchess or cutechess-cli.
#[derive(Debug, Clone)]
pub struct DialectWriter {
    dialect: Dialect,
    /// Imitated program. The program may differ from `dialect`, because fastchess can also print in
    /// the form of cutechess-cli.
    program: Dialect,
    /// Number of seeds of a gauntlet; 0 in other formats.
    seeds: usize,
    /// `true` if results are computed from pairs.
    penta: bool,
    engines: Vec<String>,
    sprt: Option<Sprt>,
    /// Time control, threads, hash and opening book, such as `8+0.08, 1t, 16MB, book.epd`.
    conditions: String,
}

impl DialectWriter {
    /// Returns a formatter for a run. If `penta` is `true`, results are computed from pairs.
    /// `defaults` contains the known default options of each engine.
    pub fn new(
        dialect: Dialect,
        penta: bool,
        plan: &Plan,
        defaults: &[Vec<(String, String)>],
    ) -> DialectWriter {
        let is_gauntlet = plan.design.format == Format::Gauntlet;
        DialectWriter {
            dialect,
            program: plan.annotation.dialect.unwrap_or(dialect),
            seeds: if is_gauntlet { plan.design.seeds.max(1) } else { 0 },
            penta: penta && !plan.design.is_single,
            engines: plan.engines.iter().map(|engine| engine.name.clone()).collect(),
            sprt: plan.sprt,
            conditions: conditions(plan, defaults),
        }
    }

    /// Returns the line that is printed at the start of a game.
    pub fn started(&self, number: u64, total: u64, white: usize, black: usize) -> String {
        format!("Started game {number} of {total} ({})\n", self.players(white, black))
    }

    /// Returns the line that is printed at the end of a game.
    pub fn finished(&self, number: u64, white: usize, black: usize, outcome: &Outcome) -> String {
        let players = self.players(white, black);
        let result = outcome.result.as_str();
        let reason = match self.program {
            Dialect::Fastchess => annotation(outcome, self.program),
            Dialect::Cutechess => reason(outcome, self.program),
        };
        format!("Finished game {number} ({players}): {result} {{{reason}}}\n")
    }

    /// Returns the score of two engines after a game. Returns an empty string in the form of
    /// fastchess, and also if cutechess-cli is imitated and the run has more than two engines.
    pub fn score(&self, first: usize, second: usize, games: &Trinomial) -> String {
        let is_wanted = self.engines.len() == 2 || self.program == Dialect::Fastchess;
        if self.dialect == Dialect::Fastchess || !is_wanted {
            return String::new();
        }
        let Trinomial { wins, losses, draws } = games;
        let count = games.games();
        let score = (*wins as f64 + 0.5 * *draws as f64) / count as f64;
        let players = self.players(first, second);
        let score = match self.program {
            Dialect::Cutechess => cutechess::format_like_qt(score, 3),
            Dialect::Fastchess => format!("{score:.3}"),
        };
        format!("Score of {players}: {wins} - {losses} - {draws}  [{score}] {count}\n")
    }

    /// Formats the current strength of the engines, and the state of the SPRT.
    pub fn interval(&self, counts: &RunCounts, sprt_status: Option<SprtStatus>) -> String {
        let is_duel = self.engines.len() == 2;
        let test = self.sprt.zip(sprt_status).filter(|_| is_duel);
        let is_cutechess = self.program == Dialect::Cutechess;
        let figures = match (self.dialect, is_duel) {
            (Dialect::Fastchess, true) => fastchess::duel(self, counts),
            (_, true) if is_cutechess => cutechess::duel(self, counts),
            (_, false) if is_cutechess => cutechess::table(self, counts),
            (Dialect::Cutechess, true) => fastchess::duel_like_cutechess(self, counts),
            (_, false) => fastchess::table(self, counts),
        };
        match self.dialect {
            Dialect::Fastchess => {
                format!("{RULE}{figures}{}{RULE}", test.map(fastchess::sprt).unwrap_or_default())
            }
            _ if is_cutechess => figures + &cutechess::sprt(test.map(|(_, status)| status)),
            _ => figures + &test.map(fastchess::sprt_like_cutechess).unwrap_or_default(),
        }
    }

    /// Formats the numbers of games by ending for each engine, in the form of cutechess-cli.
    pub fn outcomes(&self, outcomes: &[BTreeMap<String, u64>]) -> String {
        let lines = self.engines.iter().zip(outcomes).map(|(name, outcomes)| {
            let each = outcomes.iter().map(|(ending, count)| format!("   \"{ending}\": {count}\n"));
            format!("Player: {name}\n{}", each.collect::<String>())
        });
        format!("\n{}", lines.collect::<String>())
    }

    /// Returns the ending of a game from the point of view of one side.
    pub fn outcome(outcome: &Outcome, color: Color) -> String {
        let reason = reason(outcome, Dialect::Cutechess);
        match outcome.result.winner() {
            None => reason,
            Some(winner) if winner == color => format!("Win: {reason}"),
            Some(_) => format!("Loss: {reason}"),
        }
    }

    /// Returns the line that fastchess prints when an SPRT accepts a hypothesis. The line is empty
    /// if there is no SPRT or no verdict, and if cutechess-cli is imitated.
    pub fn verdict(&self, ending: RunEnd) -> String {
        let verdict = match ending {
            RunEnd::AcceptedH1 => "H1",
            RunEnd::AcceptedH0 => "H0",
            RunEnd::Complete | RunEnd::Interrupted => return String::new(),
        };
        match (self.dialect, self.sprt) {
            (Dialect::Fastchess, Some(Sprt { elo0, elo1, .. })) => {
                format!("SPRT ([{elo0:.2}, {elo1:.2}]) completed - {verdict} was accepted\n")
            }
            (Dialect::Cutechess, Some(_)) if self.program == Dialect::Fastchess => {
                "Tournament finished\n".to_owned()
            }
            _ => String::new(),
        }
    }

    /// Returns the numbers of timeouts and crashes for each engine with timeouts or crashes; empty
    /// in the form of cutechess-cli.
    pub fn faults(&self, counts: &RunCounts) -> String {
        let count = |engine, kind| counts.faults.get(&(engine, kind)).copied().unwrap_or(0);
        let broken = [Termination::Crash, Termination::Disconnect, Termination::Stall];
        let lines = self.engines.iter().enumerate().filter_map(|(engine, name)| {
            let late = count(engine, Termination::TimeForfeit);
            let crashed: u64 = broken.into_iter().map(|kind| count(engine, kind)).sum();
            let line = format!("Player: {name}\n  Timeouts: {late}\n  Crashed: {crashed}\n");
            (late + crashed > 0).then_some(line)
        });
        let lines: String = lines.collect();
        if lines.is_empty() || self.dialect == Dialect::Cutechess {
            String::new()
        } else {
            format!("\n{lines}\n")
        }
    }

    /// Returns the warning about an engine that reports no score; empty if cutechess-cli is
    /// imitated.
    pub fn no_score(&self, engine: usize) -> String {
        if self.program == Dialect::Cutechess {
            return String::new();
        }
        let name = &self.engines[engine];
        format!("Warning; Could not extract score from engine {name}: Element 'score' not found\n")
    }

    /// Returns fastchess's warnings about principal variations and mate scores. A warning about a
    /// lint finding also contains the engine's line and the position.
    pub fn lint(&self, game: &GameRecord, checks_mates: bool) -> String {
        let findings =
            game.findings().filter_map(|(ply, color, LintFinding { rule, what, line })| {
                let name = &self.engines[*game.engines.get(color)];
                let (m, rest) = what.split_once(' ')?;
                let warning = match (rule, rest.split_once("after ")) {
                    (LintRule::MateScore, _) if checks_mates => format!("{} -", mating(what)),
                    (LintRule::IllegalPv, _) => format!("Illegal PV move - move {m}"),
                    (LintRule::PvAfterEnd, Some((_, end))) if end != "insufficient material" => {
                        format!("PV continues after {end} - move {m}")
                    }
                    (LintRule::NotPvMove, _) => {
                        format!("Bestmove does not match beginning of last PV - move {m}")
                    }
                    _ => return None,
                };
                Some(format!("Warning; {warning} from {name}\n{}", place(game, ply, line)))
            });
        findings.collect::<String>() + &self.mates(game)
    }

    /// Returns the warnings about consecutive mate scores that contradict each other: both engines
    /// expect to win, or both engines expect to lose.
    fn mates(&self, game: &GameRecord) -> String {
        let first = game.first_to_move();
        let scores = game.moves.iter().zip([first, !first].into_iter().cycle());
        let scores = scores.map(|(played, color)| match played.search.as_ref()?.score? {
            Score::Mate(moves) => Some((moves, color)),
            Score::Centipawns(_) => None,
        });
        let each = scores.clone().zip(scores.skip(1));
        let lines = each.filter_map(|(them, us)| {
            let ((them, their), (us, our)) = (them?, us?);
            let player = |color: Color| {
                format!("{} ({})", self.engines[*game.engines.get(color)], color_name(color))
            };
            (them.signum() * us.signum() > 0).then(|| {
                let players = format!("{} and {}", player(their), player(our));
                format!("Warning; Sign mismatch in mate scores {them} and {us} from {players}\n")
            })
        });
        lines.collect()
    }

    /// Returns fastchess's warnings about a game that ended by a fault. `recovers` is `true` if
    /// crashed engines are restarted.
    pub fn warnings(&self, game: &GameRecord, recovers: bool) -> String {
        let winner = game.outcome.result.winner().filter(|_| self.program == Dialect::Fastchess);
        let Some(winner) = winner else { return String::new() };
        let name = &self.engines[*game.engines.get(!winner)];
        let Some(played) = illegal_move(&game.outcome) else {
            let is_silent = match game.outcome.termination {
                // Before a restart of a crashed engine, fastchess tests whether the engine
                // responds, and prints this warning.
                Termination::Crash | Termination::Disconnect => recovers,
                termination => termination == Termination::Stall,
            };
            let line = is_silent.then(|| format!("Warning; Engine {name} is not responsive\n"));
            return line.unwrap_or_default();
        };
        let is_move = played != "0000" && game.outcome.termination == Termination::IllegalMove;
        let form = format!(
            "Warning; Move does not match uci move format, lowercase and 4/5 chars. Move {played} \
             played by {name}\n"
        );
        let form = if is_move || played.is_empty() { "" } else { &form };
        let played = if played.is_empty() { "<none>" } else { played };
        format!("{form}Warning; Illegal move {played} played by {name}\n")
    }

    fn players(&self, first: usize, second: usize) -> String {
        format!("{} vs {}", self.engines[first], self.engines[second])
    }

    /// Returns all engines with their strength against all opponents, strongest first.
    fn ranking(&self, counts: &RunCounts) -> Vec<(usize, Strength)> {
        let of = |engine| (engine, self.strength(total(counts, engine)));
        let mut ranking: Vec<(usize, Strength)> = (0..self.engines.len()).map(of).collect();
        let elo = |strength: &Strength| strength.elo.map(|elo| elo.value + 0.0);
        // `None` is less than every value, so engines without games are last.
        ranking.sort_by(|(_, a), (_, b)| elo(b).partial_cmp(&elo(a)).unwrap_or(Ordering::Equal));
        ranking
    }

    /// Returns the strength in an encounter. In the form of cutechess-cli, or if `penta` is
    /// `false`, the strength is computed from games, and otherwise from pairs.
    fn strength(&self, encounter: Encounter) -> Strength {
        let by_games = self.dialect == Dialect::Cutechess || !self.penta;
        let pairs = if by_games { Default::default() } else { encounter.pairs };
        Strength::of(Encounter { pairs, ..encounter })
    }
}

/// Returns the engine's output line that caused a lint finding, and the searched position; empty if
/// the finding has no line.
fn place(game: &GameRecord, ply: usize, line: &str) -> String {
    if line.is_empty() {
        return String::new();
    }
    let is_initial = game.fen == Fen::default().to_string();
    let position = if is_initial { "startpos".to_owned() } else { format!("fen {}", game.fen) };
    let moves: Vec<String> =
        game.moves[..ply].iter().map(|played| played.uci.to_string()).collect();
    format!("Info; info {line}\nPosition; {position}\nMoves; {}\n", moves.join(" "))
}

/// Returns fastchess's name for an error in the PV of a mate score. `finding` is the text of a lint
/// finding, such as `mate 3, and a PV of 4 plies that mates`.
fn mating(finding: &str) -> &'static str {
    let numbers = finding.split(|c: char| c != '-' && !c.is_ascii_digit());
    let mut numbers = numbers.filter_map(|word| word.parse::<i64>().ok());
    let (mate, plies) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let needed = 2 * mate.abs() - i64::from(mate > 0);
    match plies.cmp(&needed) {
        Ordering::Less => "Incomplete mating PV",
        Ordering::Greater => "Too long mating PV",
        Ordering::Equal => "Mating PV does not end with checkmate",
    }
}

/// Returns the description of a game's ending in the form of `program`.
pub(crate) fn annotation(outcome: &Outcome, program: Dialect) -> String {
    let name = color_name;
    let more = match outcome.termination {
        Termination::TablebaseAdjudication => ": SyzygyTB",
        Termination::MoveCap if program == Dialect::Cutechess => ": maximal game length",
        _ => "",
    };
    let Some(winner) = outcome.result.winner() else {
        let draw = match outcome.termination {
            Termination::Stalemate => "stalemate",
            Termination::Threefold => "3-fold repetition",
            Termination::FiftyMoves => "fifty moves rule",
            Termination::DeadPosition => "insufficient mating material",
            _ => "adjudication",
        };
        return format!("Draw by {draw}{more}");
    };
    let (winner, loser) = (name(winner), name(!winner));
    match outcome.termination {
        Termination::Checkmate => format!("{winner} mates"),
        Termination::Resignation => format!("{loser} resigns"),
        Termination::TimeForfeit if program == Dialect::Fastchess => {
            format!("{loser} loses on time ({}ms overrun)", overrun(&outcome.detail))
        }
        Termination::TimeForfeit => format!("{loser} loses on time"),
        Termination::IllegalMove | Termination::UnparseableMove => {
            format!("{loser} makes an illegal move")
        }
        Termination::Crash | Termination::Disconnect => format!("{loser} disconnects"),
        Termination::Stall | Termination::ProtocolError => format!("{loser}'s connection stalls"),
        _ => format!("{winner} wins by adjudication{more}"),
    }
}

/// Returns the description of a game's ending in the form of `program`, followed by the illegal
/// move, if any.
pub(crate) fn reason(outcome: &Outcome, program: Dialect) -> String {
    let annotation = annotation(outcome, program);
    match illegal_move(outcome) {
        Some(played) if !played.is_empty() => format!("{annotation}: {played}"),
        _ => annotation,
    }
}

/// Returns the time overrun, in milliseconds, from the detail of a loss on time.
fn overrun(detail: &str) -> u64 {
    let number = detail.split_once('(').and_then(|(_, rest)| rest.split_once(" ms"));
    number.and_then(|(ms, _)| ms.parse::<f64>().ok()).unwrap_or(0.0) as u64
}

/// Returns the illegal move that ended a game. The text is empty if the engine sent no move.
/// Returns `None` if the game ended in another way.
pub(crate) fn illegal_move(outcome: &Outcome) -> Option<&str> {
    match outcome.termination {
        Termination::IllegalMove => outcome.detail.rsplit(' ').next(),
        Termination::UnparseableMove => Some(outcome.detail.split('\'').nth(1).unwrap_or_default()),
        _ => None,
    }
}

/// Converts a share (0 to 1) to per cent; `None` becomes NaN.
fn percent(share: Option<f64>) -> f64 {
    share.map_or(f64::NAN, |share| 100.0 * share)
}

/// Returns the points, and the score in per cent.
fn points(games: &Trinomial) -> (f64, f64) {
    let points = games.wins as f64 + 0.5 * games.draws as f64;
    (points, 100.0 * points / games.games() as f64)
}

/// Returns the time control, threads, hash and opening book in the form of fastchess.
fn conditions(plan: &Plan, defaults: &[Vec<(String, String)>]) -> String {
    let option_of = |index: usize, wanted: &str, unit| {
        let is_it = |(name, _): &&(String, String)| name.eq_ignore_ascii_case(wanted);
        let configured = plan.engines[index].options.iter().rev().find(is_it);
        let default = || defaults.get(index)?.iter().find(is_it);
        configured.or_else(default).map_or("NULL".to_owned(), |(_, value)| format!("{value}{unit}"))
    };
    let both = |part: &dyn Fn(usize) -> String| {
        let mut parts: Vec<String> = (0..plan.engines.len().min(2)).map(part).collect();
        parts.dedup();
        parts.join(" - ")
    };
    let mut parts = vec![
        both(&|index| bounds(&plan.engines[index].conditions.limits)),
        both(&|index| option_of(index, "Threads", "t")),
        both(&|index| option_of(index, "Hash", "MB")),
    ];
    let book = plan.book.as_ref().and_then(|path| path.file_name());
    parts.extend(book.map(|name| name.to_string_lossy().into_owned()));
    parts.join(", ")
}

/// Returns the clock or the time per move in the form of the PGN tag `TimeControl`; `None` if the
/// limits contain neither a clock nor a time per move.
pub(crate) fn time_control(limits: &Limits) -> Option<String> {
    let clock = limits.clock.map(|control| control.to_string());
    clock.or_else(|| limits.movetime.map(|time| format!("{}/move", time.as_secs_f64())))
}

/// Returns the main search limit of a side: time control, depth or nodes.
fn bounds(limits: &Limits) -> String {
    let untimed = || match (limits.depth, limits.nodes) {
        (Some(depth), _) => format!("{depth} plies"),
        (None, Some(nodes)) => format!("{nodes} nodes"),
        (None, None) => String::new(),
    };
    time_control(limits).unwrap_or_else(untimed)
}

#[cfg(test)]
mod tests;
