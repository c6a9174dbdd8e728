//! Prints a run as the other programs do.

use std::collections::BTreeMap;

use super::Style;
use crate::{Failure, emit};
use arbiter_plan::{
    Ending, Observer, ObserverError, PairTally, Plan, PlayedPair, RunCounts, RunEvent, RunState,
};
use arbiter_report::{Dialect, DialectWriter, disturbance, note};
use arbiter_schedule::Schedule;
use arbiter_stats::{SprtMonitor, SprtStatus, Trinomial};

/// Watches a run and prints its lines on standard output.
#[derive(Debug)]
pub(crate) struct Printer {
    style: Style,
    writer: DialectWriter,
    /// Follows the counted pairs, as the number of games may depend on them.
    schedule: Schedule,
    counts: RunCounts,
    /// Counts after each game, where [`RunCounts`] has them after each pair.
    scores: BTreeMap<[usize; 2], Trinomial>,
    sprt_status: Option<SprtStatus>,
    games: u64,
    /// Whether only two engines meet.
    is_duel: bool,
    /// Whether nothing was counted since the last figures.
    is_up_to_date: bool,
}

impl Printer {
    /// A printer of a run that has not started.
    pub(crate) fn new(style: &Style, plan: &Plan, schedule: Schedule) -> Printer {
        Printer {
            style: style.clone(),
            writer: DialectWriter::new(style.dialect, style.penta, plan),
            schedule,
            counts: RunCounts::default(),
            scores: BTreeMap::new(),
            sprt_status: plan.sprt.map(|sprt| SprtMonitor::new(sprt, 1).start()),
            games: 0,
            is_duel: plan.engines.len() == 2,
            is_up_to_date: false,
        }
    }

    /// Prints the figures of a run that is over.
    pub(crate) fn print_again(
        style: &Style,
        plan: &Plan,
        state: &RunState,
        ending: Ending,
    ) -> Result<(), Failure> {
        let mut printer = Printer::new(style, plan, state.schedule().clone());
        printer.go_on(state.counts(), state.sprt_statuses());
        let text = printer.figures() + &printer.writer.ended(ending);
        emit(&text)
    }

    fn total(&self) -> u64 {
        self.schedule.expected() * self.schedule.design().games_per_pair()
    }

    /// Takes over what was counted before.
    fn go_on(&mut self, counts: &RunCounts, sprt_statuses: &BTreeMap<[usize; 2], SprtStatus>) {
        self.counts = counts.clone();
        self.scores =
            counts.encounters.iter().map(|(twosome, met)| (*twosome, met.games)).collect();
        self.games = self.scores.values().map(Trinomial::games).sum();
        self.sprt_status = sprt_statuses.values().next().copied().or(self.sprt_status);
    }

    fn counted(
        &mut self,
        played: &PlayedPair,
        tally: &PairTally,
        sprt_status: Option<SprtStatus>,
    ) -> String {
        let mut text = String::new();
        self.counts.count(tally);
        self.schedule.count(tally.pair, tally.halves(), tally.games().count() as u64);
        self.sprt_status = sprt_status.or(self.sprt_status);
        self.is_up_to_date = false;
        let per_pair = self.schedule.design().games_per_pair();
        let [first, second] = tally.engines;
        let mut figures_are_due = false;
        let numbers = (tally.pair * per_pair + 1)..;
        for ((number, game), tally) in numbers.zip(played.games.iter()).zip(tally.games()) {
            let players = (game.engines.white, game.engines.black);
            text += &self.writer.finished(number, players.0, players.1, &game.outcome);
            self.games += 1;
            let twosome = [first.min(second), first.max(second)];
            let score = self.scores.entry(twosome).or_default();
            score.record(if first < second { tally.result } else { tally.result.reversed() });
            if self.is_duel && is_due(self.games, self.style.score_interval) {
                text += &self.writer.score(twosome[0], twosome[1], score);
            }
            figures_are_due |= is_due(self.games, self.style.rating_interval);
        }
        if self.style.penta && self.style.dialect == Dialect::Fastchess {
            figures_are_due = is_due(self.games / per_pair, self.style.rating_interval);
        }
        if figures_are_due {
            text += &self.figures();
        }
        text
    }

    fn figures(&mut self) -> String {
        self.is_up_to_date = true;
        self.writer.interval(&self.counts, self.sprt_status)
    }
}

fn is_due(games: u64, interval: u64) -> bool {
    interval > 0 && games.is_multiple_of(interval)
}

impl Observer for Printer {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        let text = match event {
            RunEvent::Started { counts, sprt_statuses, .. } => {
                self.go_on(counts, sprt_statuses);
                String::new()
            }
            RunEvent::GameStarted { pairing, half } => {
                let per_pair = self.schedule.design().games_per_pair();
                let number = pairing.pair * per_pair + *half as u64 + 1;
                let [first, second] = pairing.engines;
                let (white, black) = if *half == 0 { (first, second) } else { (second, first) };
                self.writer.started(number, self.total(), white, black)
            }
            RunEvent::Counted { played, tally, sprt_status, .. } => {
                self.counted(played, tally, *sprt_status)
            }
            RunEvent::Ended { ending, .. } => {
                let figures = if self.is_up_to_date { String::new() } else { self.figures() };
                figures + &self.writer.ended(*ending)
            }
            RunEvent::Disturbed { pair, reason, is_void } => {
                note(&disturbance(*pair, reason, *is_void));
                String::new()
            }
            _ => String::new(),
        };
        // A script that has seen enough and closed the pipe does not end the run.
        emit(&text).map_err(|failure| ObserverError(failure.message))
    }
}
