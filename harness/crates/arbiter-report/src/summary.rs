//! Everything there is to say of a run, as values.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run_list::RunPhase;
use crate::standings::{self, Rating, Standings};
use crate::text::{is_told, plus_minus, ratio, shortened, signed, superiority, too_few};
use arbiter_openings::Quarantine;
use arbiter_plan::{
    Disturbances, Encounter, Ending, ExcludedWorker, Latencies, Plan, Remark, RunCounts, RunKind,
    RunState,
};
use arbiter_protocol::Limits;
use arbiter_schedule::Format;
use arbiter_spsa::SpsaState;
use arbiter_stats::elo::{self, Estimate};
use arbiter_stats::normalized;
use arbiter_stats::ratings::Rated;
use arbiter_stats::sequential::{self, SequentialEstimate};
use arbiter_stats::{Moments, Pentanomial, Sprt, SprtMonitor, SprtStatus, Trinomial};
use arbiter_store::LintCount;

/// Engines beyond which they are counted instead of named.
const MAX_NAMED: usize = 4;

/// Characters of a name beside a figure.
const NAME_LENGTH: usize = 24;

/// The answer of a run to its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The first engine is stronger, as far as the SPRT's error rates vouch for it.
    #[serde(rename = "H1")]
    H1,
    /// The first engine is not stronger, as far as the SPRT's error rates vouch for it.
    #[serde(rename = "H0")]
    H0,
    /// An SPRT that was not decided.
    Inconclusive,
    /// No question was asked.
    None,
}

arbiter_names::named!(Verdict);

/// A run, or how far it came.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Name in the store.
    pub run: String,
    /// What it tries, in one line, if its user said so.
    pub about: Option<String>,
    /// What was asked for.
    pub plan: Plan,
    /// Names of the engines.
    pub engines: Vec<String>,
    /// What of the opening book was left out.
    pub quarantine: Quarantine,
    /// What of the book was corrected.
    pub corrected: Quarantine,
    /// Pairs that the machine disturbed.
    pub disturbances: Disturbances,
    /// Machines that were excluded.
    pub excluded: Vec<ExcludedWorker>,
    /// What machines did that changed nothing.
    pub remarks: Vec<Remark>,
    /// What the stopping rule says of the counted pairs of each two engines that have any.
    pub sprt_statuses: BTreeMap<[usize; 2], SprtStatus>,
    /// All counts.
    pub counts: RunCounts,
    /// How it ended, if it did.
    pub ending: Option<Ending>,
    /// Whether a process is known to play it at the moment; only live pages and lists ask.
    pub is_played: bool,
    /// How promptly engines answered.
    pub latencies: Latencies,
    /// What engines said of their searches that cannot be, by engine and rule.
    pub lint: Vec<LintCount>,
    /// How far the tuning has come, if the run is one.
    pub spsa: Option<SpsaState>,
    /// The table, if the run is more than a match of two.
    pub standings: Option<Standings>,
}

/// Strength figures of one engine against others, with their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Strength {
    /// Counted pairs.
    pub pairs: Pentanomial,
    /// Counted games.
    pub games: Trinomial,
    /// Logistic Elo by the pairs, or by the games if there are no pairs; of a test it allows for the stop.
    /// `None` before the first.
    pub elo: Option<Estimate>,
    /// Of a test, Elo by the counts alone: it leans to the side of the verdict.
    pub naive: Option<Estimate>,
    /// Normalized Elo; `None` while nothing is spread, but for a bound if all is won or lost.
    pub nelo: Option<Estimate>,
    /// Chance that the first engine is the stronger one, 0 to 1; of a test it allows for the stop.
    pub los: Option<f64>,
    /// A bound of it and its side, where it would seem surer than if all was won or lost.
    los_bound: Option<(Ordering, f64)>,
}

impl Strength {
    /// The figures that follow from the counts.
    pub fn of(encounter: Encounter) -> Strength {
        let Encounter { pairs, games, .. } = encounter;
        let counts = Strength { pairs, games, ..Strength::default() };
        let moments = counts.moments();
        Strength {
            elo: moments.as_ref().map(elo::estimate),
            nelo: moments.as_ref().and_then(normalized::estimate),
            los: moments.as_ref().and_then(elo::likelihood_of_superiority),
            los_bound: moments.as_ref().and_then(elo::bound_of_superiority),
            ..counts
        }
    }

    /// Mean and spread of the unit of evidence, which are games where there are no pairs.
    fn moments(&self) -> Option<Moments> {
        match self.pairs.pairs() {
            0 => self.games.distribution().moments(),
            _ => self.pairs.distribution().moments(),
        }
    }

    /// Whether the first engine is told to be the stronger or the weaker one, with 95 % certainty; a few pairs tell
    /// nothing, however much alike they are.
    pub(crate) fn told(&self) -> Option<Ordering> {
        let los = self.los_bound.map(|(_, bound)| bound).or(self.los)?;
        match los {
            0.975.. => Some(Ordering::Greater),
            ..=0.025 => Some(Ordering::Less),
            _ => None,
        }
    }

    /// Why Elo has no interval, if it has none.
    pub fn no_interval(&self) -> Option<String> {
        let elo = self.elo.filter(|elo| !is_told(elo))?;
        let (units, unit) = match self.pairs.pairs() {
            0 => (self.games.games(), "game"),
            pairs => (pairs, "pair"),
        };
        Some(match (elo.low == elo.high, units) {
            (false, _) => "too few games".to_owned(),
            (true, 1) => format!("a single {unit}"),
            (true, _) => format!("all {unit}s had the same result"),
        })
    }

    /// Elo with its 95 % interval, or why it has none.
    pub fn elo_in_words(&self) -> String {
        match (self.elo, self.no_interval()) {
            (Some(elo), Some(reason)) if elo.value.is_finite() => {
                format!("{} (no interval: {reason})", signed(elo.value, 1))
            }
            (Some(_), Some(_)) => too_few(self.games),
            (elo, _) => plus_minus(elo),
        }
    }

    /// [`Strength::elo_in_words`] with the level of the interval, and whether it allows for a stop.
    pub fn elo_in_full(&self) -> String {
        let level = if self.elo.as_ref().is_some_and(is_told) { " (95 %)" } else { "" };
        let allowance = if self.naive.is_some() { ", bias-corrected" } else { "" };
        format!("{}{level}{allowance}", self.elo_in_words())
    }

    /// The likelihood of superiority as per cent, or its bound.
    pub fn los_in_words(&self) -> String {
        superiority(self.los, self.los_bound)
    }
}

impl Summary {
    /// The summary of a run by its plan and the state that its pairs led to.
    pub fn new(run: &str, plan: &Plan, state: &RunState, ending: Option<Ending>) -> Summary {
        let is_match = plan.engines.len() == 2 && plan.design.format.is_fixed();
        let has_standings = !is_match && plan.ablation.is_none();
        Summary {
            run: run.to_owned(),
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

    /// The verdict that the stopping rule licenses.
    pub fn verdict(&self) -> Verdict {
        // An ablation asks a question of each feature, and has no answer as a whole.
        match (self.plan.sprt.filter(|_| self.plan.kind == RunKind::Sprt), self.ending) {
            (None, _) => Verdict::None,
            (Some(_), Some(Ending::AcceptedH1)) => Verdict::H1,
            (Some(_), Some(Ending::AcceptedH0)) => Verdict::H0,
            (Some(_), _) => Verdict::Inconclusive,
        }
    }

    /// The first engine against all others together.
    pub fn strength(&self) -> Strength {
        match self.engines.len() {
            2 => self.strength_of([0, 1]),
            _ => Strength::of(standings::total(&self.counts, 0)),
        }
    }

    /// One engine against another. Where all pairs are alike a test has no Elo of its own: there is no spread
    /// to judge by, and of what was all won or lost the bound of the naive Elo says more.
    pub(crate) fn strength_of(&self, engines: [usize; 2]) -> Strength {
        let naive = Strength::of(self.counts.encounter(engines));
        let sample = naive.pairs.distribution().moments();
        let test = self.plan.sprt.filter(|_| sample.is_some_and(|sample| sample.variance > 0.0));
        let after_stop = test.zip(self.sprt_status(engines)).and_then(|(test, sprt_status)| {
            sequential::after(&test, &naive.pairs, sprt_status.decision)
        });
        match after_stop {
            None => naive,
            Some(SequentialEstimate { elo, los, .. }) => {
                Strength { elo: Some(elo), los: Some(los), naive: naive.elo, ..naive }
            }
        }
    }

    /// Returns whether two engines played the same moves against each other in both games of all pairs.
    pub(crate) fn is_mirrored(&self) -> bool {
        let pairs = self.counts.main_encounter().pairs.pairs();
        self.engines.len() == 2 && pairs > 0 && self.counts.mirrored_pairs == pairs
    }

    /// Returns how many games are different, and what became of pairs that repeat others.
    pub(crate) fn repeats_in_words(&self) -> String {
        let RunCounts { distinct_games, repeated_pairs, .. } = self.counts;
        let fate = if self.plan.counts_repeats() { "counted" } else { "left out" };
        match repeated_pairs {
            0 => format!("{distinct_games} distinct, no repeated pair"),
            1 => format!("{distinct_games} distinct, 1 repeated pair {fate}"),
            pairs => format!("{distinct_games} distinct, {pairs} repeated pairs {fate}"),
        }
    }

    /// What the stopping rule says of an encounter; `None` without one.
    pub fn sprt_status(&self, engines: [usize; 2]) -> Option<SprtStatus> {
        let start = |sprt| SprtMonitor::new(sprt, 1).start();
        self.sprt_statuses.get(&engines).copied().or(self.plan.sprt.map(start))
    }

    /// The test and what it says, if the whole run is one.
    pub fn test(&self) -> Option<(Sprt, SprtStatus)> {
        let sprt = self.plan.sprt.filter(|_| self.engines.len() == 2)?;
        Some((sprt, self.sprt_status([0, 1])?))
    }

    /// Both hypotheses of the test in logistic Elo, if the whole run is one and has games.
    pub(crate) fn hypotheses(&self) -> Option<[f64; 2]> {
        let (sprt, _) = self.test()?;
        Some(sprt.logistic_hypotheses(&self.strength().moments()?))
    }

    /// All engines by their results against each other, the strongest first; `None` if the games
    /// do not connect them.
    pub(crate) fn ratings(&self) -> Option<Vec<(usize, Rating)>> {
        let rated = self.rated().filter(|rated| rated.groups.groups.len() <= 1)?;
        let rating = |engine| Some((engine, Rating::of(&rated, engine)?));
        let mut list = (0..self.engines.len()).map(rating).collect::<Option<Vec<_>>>()?;
        // Who won or lost all is beyond its bound.
        let class =
            |rating: &Rating| rating.won_all.map_or(1, |won_all| if won_all { 0 } else { 2 });
        list.sort_by(|(_, a), (_, b)| class(a).cmp(&class(b)).then(b.elo.total_cmp(&a.elo)));
        Some(list)
    }

    /// What is known of all engines together; `None` before there is anything.
    pub(crate) fn rated(&self) -> Option<Rated> {
        standings::rated(self.engines.len(), &self.counts)
    }

    /// What bounds each engine.
    pub fn limits(&self) -> impl Iterator<Item = Limits> {
        self.plan.engines.iter().map(|engine| engine.conditions.limits)
    }

    /// What bounds the engines, once if it is the same for all.
    pub fn limits_in_words(&self) -> String {
        let mut limits: Vec<String> = self.limits().map(|limits| limits.to_string()).collect();
        limits.dedup();
        limits.join(" v ")
    }

    /// LLR and stopping bounds as `+1.20 [-2.94, 2.94]`; empty without a test.
    pub fn llr_in_words(&self) -> String {
        self.test().map_or(String::new(), |(_, sprt_status)| ratio(sprt_status))
    }

    /// Who plays: all engines, or the first and how many more.
    pub fn engines_in_words(&self) -> String {
        match &self.engines[..] {
            [first, second] => format!("{first} v {second}"),
            few if few.len() <= MAX_NAMED => few.join(", "),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
            [] => String::new(),
        }
    }

    /// The first of two engines against the other; `None` of more engines, of a tuning, and before the
    /// first game.
    pub fn duel(&self) -> Option<Strength> {
        let is_duel = self.engines.len() == 2 && self.spsa.is_none();
        is_duel.then(|| self.strength()).filter(|strength| strength.elo.is_some())
    }

    /// Whether places are by the table and not by ratings.
    pub(crate) fn is_by_table(&self) -> bool {
        let by_table = [Format::Knockout, Format::Swiss, Format::Ladder];
        self.engines.len() > 2 && by_table.contains(&self.plan.design.format)
    }

    /// Who is first of more than two engines that meet each other, and how strong, as far as that is known;
    /// `None` if several are.
    pub(crate) fn first(&self) -> Option<(usize, Option<Rating>)> {
        let has_games = self.engines.len() > 2 && self.counts.games() > 0;
        let standings = self.standings.as_ref().filter(|_| has_games)?;
        if self.is_by_table() {
            let &[engine] = &standings.first()[..] else { return None };
            let row = standings.rows.iter().find(|row| row.ranked.engine == engine)?;
            return Some((engine, row.rating.filter(|_| !standings.has_groups())));
        }
        let ratings = self.ratings()?;
        let is_level =
            ratings.get(1).is_some_and(|(_, next)| next.to_string() == ratings[0].1.to_string());
        ratings.first().filter(|_| !is_level).map(|&(engine, rating)| (engine, Some(rating)))
    }

    /// Elo of [`Summary::duel`] with its 95 % interval; of more engines that meet each other, who is first and how
    /// strong; empty if there is none.
    pub fn elo_in_words(&self) -> String {
        if let Some((engine, rating)) = self.first() {
            let name = shortened(&self.engines[engine], NAME_LENGTH);
            return rating.map_or(name.clone(), |rating| format!("{name} {rating}"));
        }
        self.duel().map_or(String::new(), |strength| strength.elo_in_words())
    }

    /// How it stands or ended, in a word or two.
    pub fn state_in_words(&self) -> String {
        let words = match (self.verdict(), self.ending) {
            (Verdict::H1, _) => "H1 accepted",
            (Verdict::H0, _) => "H0 accepted",
            (Verdict::Inconclusive, Some(Ending::Complete)) => "inconclusive",
            (_, Some(Ending::Interrupted)) => "interrupted",
            (_, Some(_)) => "complete",
            (_, None) if self.is_played => "running",
            (_, None) => "unfinished",
        };
        format!("{words}{}", if self.is_invalid() { ", INVALID" } else { "" })
    }

    /// Whether it is over, as lists are filtered.
    pub fn phase(&self) -> RunPhase {
        match self.ending {
            None if self.is_played => RunPhase::Running,
            Some(Ending::Interrupted) | None => RunPhase::Unfinished,
            Some(_) => RunPhase::Ended,
        }
    }

    /// Whether it has come to the end that was planned for it.
    pub fn is_over(&self) -> bool {
        !matches!(self.ending, None | Some(Ending::Interrupted))
    }

    /// Whether more games ended by an engine's fault than the plan allows; before the end, whether so many
    /// did that it will be so.
    pub fn is_invalid(&self) -> bool {
        match self.is_over() {
            true => self.counts.fault_share() > self.plan.fault_limit,
            false => self.counts.has_too_many_faults(self.plan.fault_limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::outcome_document;
    use arbiter_game::outcome::Termination::Checkmate;
    use arbiter_plan::{EngineSpec, GameTally, PairTally, Request, RunState, TournamentRequest};
    use arbiter_stats::GameResult::{Loss, Win};

    fn told(pairs: [u64; 5]) -> Option<Ordering> {
        Strength::of(Encounter { pairs: Pentanomial(pairs), ..Encounter::default() }).told()
    }

    #[test]
    fn few_pairs_tell_nothing() {
        assert_eq!([told([0, 0, 0, 1, 1]), told([0, 0, 0, 0, 3]), told([0; 5])], [None; 3]);
        assert_eq!(told([0, 0, 0, 5, 5]), Some(Ordering::Greater));
        assert_eq!(told([9, 0, 0, 0, 0]), Some(Ordering::Less));
        assert_eq!(told([2, 1, 4, 2, 2]), None);
    }

    #[test]
    fn elo_without_an_interval_says_why() {
        let shown = |pairs, [wins, losses]: [u64; 2]| {
            let (pairs, games) = (Pentanomial(pairs), Trinomial { wins, losses, draws: 0 });
            Strength::of(Encounter { pairs, games, ..Encounter::default() }).elo_in_full()
        };
        for (pairs, games, expected) in [
            ([0, 0, 15, 0, 0], [15, 15], "+0.0 (no interval: all pairs had the same result)"),
            ([0, 0, 0, 7, 0], [7, 0], "+190.8 (no interval: all pairs had the same result)"),
            ([0, 0, 0, 1, 0], [1, 0], "+190.8 (no interval: a single pair)"),
            ([1, 0, 0, 0, 1], [2, 2], "+0.0 (no interval: too few games)"),
            ([0, 0, 0, 0, 1], [2, 0], "2–0, too few games for an interval"),
            ([1, 0, 0, 0, 0], [0, 2], "0–2, too few games for an interval"),
            ([0; 5], [3, 0], "3–0, too few games for an interval"),
            ([0, 0, 0, 0, 9], [18, 0], "> +118 (95 %)"),
            ([0; 5], [0, 0], "–"),
        ] {
            assert_eq!(shown(pairs, games), expected, "{pairs:?}");
        }
    }

    #[test]
    fn a_swiss_is_won_by_points_and_a_round_robin_led_by_rating() {
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
        let first = |format, ranks| run(format, ranks, Some(Ending::Complete)).elo_in_words();
        assert!(first(Format::Swiss, [2, 3, 1]).starts_with("C "));
        assert_eq!(first(Format::Swiss, [1, 3, 1]), "", "the place is shared");
        assert!(first(Format::RoundRobin, [2, 3, 1]).starts_with("A +"));
        let so_far =
            |ranks| format!("{:?}", outcome_document(&run(Format::Swiss, ranks, None), None));
        assert!(so_far([2, 3, 1]).contains("So far: C leads the table."));
        assert!(!so_far([1, 3, 1]).contains("So far"), "the place is shared");
    }

    #[test]
    fn pairs_that_are_all_alike_have_no_interval_after_a_test_either() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let mut summary = Summary::new("run", &plan, &RunState::of(&plan), None);
        let mut meet = |pairs| {
            let met = Encounter { pairs: Pentanomial(pairs), ..Encounter::default() };
            summary.counts.encounters.insert([0, 1], met);
            (summary.strength().naive.is_some(), summary.elo_in_words())
        };
        assert_eq!(
            meet([0, 0, 15, 0, 0]),
            (false, "+0.0 (no interval: all pairs had the same result)".to_owned())
        );
        assert!(meet([0, 1, 13, 1, 0]).0);
        // Nor is what so few tell surer than the same number all won.
        meet([0, 0, 0, 1, 3]);
        assert_eq!(summary.strength().los_in_words(), "> 93.8 %");
    }
}
