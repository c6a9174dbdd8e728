//! Summary of a run: plan, counts, state and ratings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::standings::{self, Rating, Standings};
use super::strength::Strength;
use crate::parts::{ratio, shortened};
use arbiter_openings::Quarantine;
use arbiter_plan::{Plan, RunKind};
use arbiter_protocol::Limits;
use arbiter_run::{Disturbances, ExcludedWorker, Latencies, Remark, RunCounts, RunEnd, RunState};
use arbiter_schedule::Format;
use arbiter_spsa::SpsaState;
use arbiter_stats::ratings::RatingList;
use arbiter_stats::sequential::{self, SequentialEstimate};
use arbiter_stats::{Sprt, SprtMonitor, SprtStatus};
use arbiter_store::LintCount;

/// Maximum number of engines for which all names are listed.
const MAX_NAMED: usize = 4;

/// Maximum length, in characters, of an engine name that precedes a rating.
const NAME_LENGTH: usize = 24;

/// Verdict of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The first engine is stronger, within the SPRT's error rates.
    #[serde(rename = "H1")]
    H1,
    /// The first engine is not stronger, within the SPRT's error rates.
    #[serde(rename = "H0")]
    H0,
    /// The SPRT was not decided.
    Inconclusive,
    /// The run tests no hypothesis.
    None,
}

arbiter_names::named!(Verdict);

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    /// The run is being played.
    Running,
    /// The run is complete, or the test is decided.
    Ended,
    /// The run was interrupted or killed.
    Unfinished,
}

arbiter_names::named!(RunPhase);

/// Final or current results of a run.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Name of the run in the store.
    pub run: String,
    /// Start time, as Unix time in milliseconds.
    pub created_ms: i64,
    /// Purpose of the run, in one line, if given by the user.
    pub about: Option<String>,
    /// Plan of the run.
    pub plan: Plan,
    /// Names of the engines.
    pub engines: Vec<String>,
    /// Openings that were excluded from the book, with reasons.
    pub quarantine: Quarantine,
    /// Openings that were corrected in the book, with reasons.
    pub corrected: Quarantine,
    /// Numbers of pairs whose results may have been decided by CPU contention.
    pub disturbances: Disturbances,
    /// Workers that were excluded from the run.
    pub excluded: Vec<ExcludedWorker>,
    /// Remarks about workers and results. A remark does not affect the run.
    pub remarks: Vec<Remark>,
    /// State of the stopping rule for each encounter with counted pairs, by the indices of the
    /// engines.
    pub sprt_statuses: BTreeMap<[usize; 2], SprtStatus>,
    /// Counts of games, pairs, endings and faults.
    pub counts: RunCounts,
    /// Ending of the run; `None` before the end.
    pub ending: Option<RunEnd>,
    /// `true` if a process is playing the run; set only for live pages and lists.
    pub is_played: bool,
    /// Latencies of the engines' replies.
    pub latencies: Latencies,
    /// Number of lint findings, by engine and rule.
    pub lint: Vec<LintCount>,
    /// State of the tuning run, if the run is a tuning run.
    pub spsa: Option<SpsaState>,
    /// Standings, if the run is a tournament.
    pub standings: Option<Standings>,
}

impl Summary {
    /// Returns the summary of a run from its plan and its state. Fields for data that only the
    /// store contains are empty.
    pub fn new(run: &str, plan: &Plan, state: &RunState, ending: Option<RunEnd>) -> Summary {
        let is_match = plan.engines.len() == 2 && plan.design.format.is_fixed();
        let has_standings = !is_match && plan.ablation.is_none();
        Summary {
            run: run.to_owned(),
            created_ms: 0,
            about: None,
            plan: plan.clone(),
            engines: plan.engines.iter().map(|engine| engine.name.clone()).collect(),
            quarantine: Quarantine::default(),
            corrected: Quarantine::default(),
            disturbances: Disturbances::default(),
            excluded: Vec::new(),
            remarks: Vec::new(),
            sprt_statuses: state.sprt_statuses().clone(),
            counts: state.counts().clone(),
            ending,
            is_played: false,
            latencies: Latencies::default(),
            lint: Vec::new(),
            spsa: state.spsa().cloned(),
            standings: has_standings.then(|| Standings::new(state.schedule(), state.counts())),
        }
    }

    /// Returns the verdict of the run.
    pub fn verdict(&self) -> Verdict {
        // An ablation has a test for each feature, and no overall verdict.
        match (self.plan.sprt.filter(|_| self.plan.kind == RunKind::Sprt), self.ending) {
            (None, _) => Verdict::None,
            (Some(_), Some(RunEnd::AcceptedH1)) => Verdict::H1,
            (Some(_), Some(RunEnd::AcceptedH0)) => Verdict::H0,
            (Some(_), _) => Verdict::Inconclusive,
        }
    }

    /// Returns the strength of the first engine against all opponents combined.
    pub fn strength(&self) -> Strength {
        match self.engines.len() {
            2 => self.strength_of([0, 1]),
            _ => Strength::of(standings::total(&self.counts, 0)),
        }
    }

    /// Returns the strength of one engine against another. If all pairs of a test have the same
    /// result, Elo is not corrected for the stopping rule, because the results have no variance. If
    /// all games were won or all were lost, the uncorrected bound is also more informative.
    pub(crate) fn strength_of(&self, engines: [usize; 2]) -> Strength {
        let naive = Strength::of(self.counts.encounter(engines));
        let sample = naive.pairs.distribution().moments();
        let test = self.plan.sprt.filter(|_| sample.is_some_and(|sample| sample.variance > 0.0));
        let after_stop = test.zip(self.sprt_status(engines)).and_then(|(test, sprt_status)| {
            sequential::after(&test, &naive.pairs, sprt_status.decision)
        });
        let Some(SequentialEstimate { elo, los, .. }) = after_stop else { return naive };
        Strength { elo: Some(elo), los: Some(los), naive: naive.elo, ..naive }
    }

    /// Returns `true` if the run has two engines and both games of every pair have the same moves.
    pub(crate) fn is_mirrored(&self) -> bool {
        let pairs = self.counts.main_encounter().pairs.pairs();
        self.engines.len() == 2 && pairs > 0 && self.counts.mirrored_pairs == pairs
    }

    /// Formats the number of distinct games, and the number and treatment of repeated pairs.
    pub(crate) fn repeats_text(&self) -> String {
        let RunCounts { distinct_games, repeated_pairs, .. } = self.counts;
        let fate = if self.plan.is_lenient { "counted" } else { "not counted" };
        match repeated_pairs {
            0 => format!("{distinct_games} distinct, no repeated pair"),
            1 => format!("{distinct_games} distinct, 1 repeated pair {fate}"),
            pairs => format!("{distinct_games} distinct, {pairs} repeated pairs {fate}"),
        }
    }

    /// Returns the state of the stopping rule for an encounter; `None` if the run has no stopping
    /// rule.
    pub fn sprt_status(&self, engines: [usize; 2]) -> Option<SprtStatus> {
        let start = |sprt| SprtMonitor::new(sprt, 1).start();
        self.sprt_statuses.get(&engines).copied().or(self.plan.sprt.map(start))
    }

    /// Returns the SPRT and its state, if the run has a single SPRT.
    pub fn test(&self) -> Option<(Sprt, SprtStatus)> {
        let sprt = self.plan.sprt.filter(|_| self.engines.len() == 2)?;
        Some((sprt, self.sprt_status([0, 1])?))
    }

    /// Returns H0 and H1 in logistic Elo; `None` if the run has no single SPRT, or too few games
    /// for the conversion.
    pub(crate) fn hypotheses(&self) -> Option<[f64; 2]> {
        let (sprt, _) = self.test()?;
        Some(sprt.logistic_hypotheses(&self.strength().moments()?))
    }

    /// Returns the index and rating of each engine, strongest first; `None` if the games do not
    /// connect all engines.
    pub(crate) fn ratings(&self) -> Option<Vec<(usize, Rating)>> {
        let rated = self.rate_engines().filter(|rated| rated.groups.groups.len() <= 1)?;
        let rating = |engine| Some((engine, Rating::of(&rated, engine)?));
        let mut list = (0..self.engines.len()).map(rating).collect::<Option<Vec<_>>>()?;
        // An engine that won all its games has only a lower bound, and is ranked above all engines
        // with an estimate. An engine that lost all its games has only an upper bound, and is
        // ranked last.
        let class =
            |rating: &Rating| rating.won_all.map_or(1, |won_all| if won_all { 0 } else { 2 });
        list.sort_by(|(_, a), (_, b)| class(a).cmp(&class(b)).then(b.elo.total_cmp(&a.elo)));
        Some(list)
    }

    /// Rates all engines together; `None` if no rating can be computed.
    pub(crate) fn rate_engines(&self) -> Option<RatingList> {
        standings::rate_engines(self.engines.len(), &self.counts)
    }

    /// Returns the search limits of each engine.
    pub fn limits(&self) -> impl Iterator<Item = Limits> {
        self.plan.engines.iter().map(|engine| engine.conditions.limits)
    }

    /// Formats the distinct search limits of the engines.
    pub fn limits_text(&self) -> String {
        let mut texts: Vec<String> = Vec::new();
        for text in self.limits().map(|limits| limits.to_string()) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.join(" v ")
    }

    /// Formats the LLR and its bounds as `+1.20 [-2.94, 2.94]`; empty if the run has no single
    /// SPRT.
    pub fn llr_text(&self) -> String {
        self.test().map_or(String::new(), |(_, sprt_status)| ratio(sprt_status))
    }

    /// Formats the names of all engines or, if there are more than four engines, the first name and
    /// the number of the remaining engines.
    pub fn engines_text(&self) -> String {
        match &self.engines[..] {
            [first, second] => format!("{first} v {second}"),
            few if few.len() <= MAX_NAMED => few.join(", "),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
            [] => String::new(),
        }
    }

    /// Returns the strength of the first of two engines against the second. Returns `None` for a
    /// tuning run, for a run of more than two engines, and before the first game.
    pub fn duel(&self) -> Option<Strength> {
        let is_duel = self.engines.len() == 2 && self.spsa.is_none();
        is_duel.then(|| self.strength()).filter(|strength| strength.elo.is_some())
    }

    /// Returns `true` if the engines are ranked by the rule of the tournament format (points,
    /// rounds survived or rung) instead of by rating.
    pub(crate) fn is_by_table(&self) -> bool {
        let by_table = [Format::Knockout, Format::Swiss, Format::Ladder];
        self.engines.len() > 2 && by_table.contains(&self.plan.design.format)
    }

    /// Returns the engine in first place, and its rating if available. Returns `None` for two
    /// engines, before the first game, and if several engines share first place.
    pub(crate) fn first(&self) -> Option<(usize, Option<Rating>)> {
        let has_games = self.engines.len() > 2 && self.counts.games() > 0;
        let standings = self.standings.as_ref().filter(|_| has_games)?;
        if self.is_by_table() {
            let &[engine] = &standings.first()[..] else { return None };
            let row = standings.rows.iter().find(|row| row.ranked.engine == engine)?;
            return Some((engine, row.rating.filter(|_| !standings.has_groups())));
        }
        let ratings = self.ratings().filter(|ratings| !standings::is_level(ratings))?;
        let &(engine, rating) = ratings.first()?;
        Some((engine, Some(rating)))
    }

    /// Formats the Elo of [`Summary::duel`] with its 95 % interval, or the name and the rating of
    /// the engine in first place; empty if neither is available.
    pub fn elo_text(&self) -> String {
        if let Some((engine, rating)) = self.first() {
            let name = shortened(&self.engines[engine], NAME_LENGTH);
            return rating.map_or(name.clone(), |rating| format!("{name} {rating}"));
        }
        self.duel().map_or(String::new(), |strength| strength.elo_text())
    }

    /// Formats the state or ending of the run.
    pub fn state_text(&self) -> String {
        let state = match (self.verdict(), self.ending) {
            (Verdict::H1, _) => "H1 accepted",
            (Verdict::H0, _) => "H0 accepted",
            (Verdict::Inconclusive, Some(RunEnd::Complete)) => "inconclusive",
            (_, Some(RunEnd::Interrupted)) => "interrupted",
            (_, Some(_)) => "complete",
            (_, None) if self.is_played => "running",
            (_, None) => "unfinished",
        };
        format!("{state}{}", if self.is_invalid() { ", INVALID" } else { "" })
    }

    /// Returns the phase of the run. Lists can be filtered by phase.
    pub fn phase(&self) -> RunPhase {
        match self.ending {
            None if self.is_played => RunPhase::Running,
            Some(RunEnd::Interrupted) | None => RunPhase::Unfinished,
            Some(_) => RunPhase::Ended,
        }
    }

    /// Returns `true` if the run has reached its planned end.
    pub fn is_over(&self) -> bool {
        !matches!(self.ending, None | Some(RunEnd::Interrupted))
    }

    /// Returns `true` if the share of games with an engine fault exceeds the limit of the plan.
    /// Before the end, returns `true` if the share is certain to exceed the limit.
    pub fn is_invalid(&self) -> bool {
        if self.is_over() {
            self.counts.fault_share() > self.plan.fault_limit
        } else {
            self.counts.has_too_many_faults(self.plan.fault_limit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::document::outcome_document;
    use arbiter_game::outcome::Termination::Checkmate;
    use arbiter_plan::{EngineSpec, Request, TournamentRequest};
    use arbiter_run::{Encounter, GameTally, PairTally, RunState};
    use arbiter_stats::GameResult::{Loss, Win};
    use arbiter_stats::Pentanomial;

    #[test]
    fn a_swiss_is_ranked_by_points_and_a_round_robin_by_rating() {
        let run = |format, ranks: [usize; 3], ending| {
            let engines = ["A", "B", "C"].map(|name| format!("cmd=sh,name={name}"));
            let engines = engines.iter().map(|text| EngineSpec::parse(text).unwrap()).collect();
            let tournament =
                TournamentRequest { format: Some(format), ..TournamentRequest::default() };
            let request = Request { engines, tournament, ..Request::default() };
            let plan = Plan::resolve(RunKind::Tournament, request).unwrap();
            let state = RunState::of(&plan);
            let mut counts = RunCounts::default();
            let game =
                |result| GameTally { result, termination: Checkmate, fault: None, hash: None };
            for (pair, engines, second) in [(0, [0, 1], Win), (1, [0, 2], Loss), (2, [1, 2], Loss)]
            {
                let (first, second) = (game(Win), Some(game(second)));
                counts.count(&PairTally { pair, engines, first, second, is_repeat: false });
            }
            let mut summary = Summary::new("run", &plan, &state, ending);
            let mut standings = Standings::new(state.schedule(), &counts);
            for row in &mut standings.rows {
                row.ranked.rank = ranks[row.ranked.engine];
            }
            (summary.counts, summary.standings) = (counts, Some(standings));
            summary
        };
        let first = |format, ranks| run(format, ranks, Some(RunEnd::Complete)).elo_text();
        assert!(first(Format::Swiss, [2, 3, 1]).starts_with("C "));
        assert_eq!(first(Format::Swiss, [1, 3, 1]), "", "the place is shared");
        assert!(first(Format::RoundRobin, [2, 3, 1]).starts_with("A +"));
        let so_far =
            |ranks| format!("{:?}", outcome_document(&run(Format::Swiss, ranks, None), None));
        assert!(so_far([2, 3, 1]).contains("So far: C leads the table."));
        assert!(!so_far([1, 3, 1]).contains("So far"), "the place is shared");
    }

    #[test]
    fn each_limit_of_several_engines_is_listed_once() {
        let engines = [("A", 9), ("B", 7), ("C", 9)];
        let engines = engines.map(|(name, nodes)| format!("cmd=sh,name={name},nodes={nodes}"));
        let engines = engines.iter().map(|text| EngineSpec::parse(text).unwrap()).collect();
        let request = Request { engines, ..Request::default() };
        let plan = Plan::resolve(RunKind::Tournament, request).unwrap();
        let summary = Summary::new("run", &plan, &RunState::of(&plan), None);
        let [first, second, _] = &summary.limits().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!(summary.limits_text(), format!("{first} v {second}"));
    }

    #[test]
    fn a_test_with_equal_pairs_has_no_interval() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let mut summary = Summary::new("run", &plan, &RunState::of(&plan), None);
        let mut meet = |pairs| {
            let met = Encounter { pairs: Pentanomial(pairs), ..Encounter::default() };
            summary.counts.encounters.insert([0, 1], met);
            (summary.strength().naive.is_some(), summary.elo_text())
        };
        assert_eq!(
            meet([0, 0, 15, 0, 0]),
            (false, "+0.0 (no interval: all pairs had the same result)".to_owned())
        );
        assert!(meet([0, 1, 13, 1, 0]).0);
        // The LOS after four pairs cannot exceed the LOS after four pairs in which both games were
        // won.
        meet([0, 0, 0, 1, 3]);
        assert_eq!(summary.strength().los_text(), "> 93.8 %");
    }

    #[test]
    fn only_runs_whose_pairs_are_all_mirrored_are_mirrored() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let mut summary = Summary::new("run", &plan, &RunState::of(&plan), None);
        let met = Encounter { pairs: Pentanomial([0, 0, 15, 0, 0]), ..Encounter::default() };
        assert!(!summary.is_mirrored(), "no pair was played");
        summary.counts.encounters.insert([0, 1], met);
        for (pairs, expected) in [(0, false), (14, false), (15, true)] {
            summary.counts.mirrored_pairs = pairs;
            assert_eq!(summary.is_mirrored(), expected, "{pairs}");
        }
    }
}
