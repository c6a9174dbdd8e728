//! Flags that say who meets whom, how often, and from which openings.

use std::time::Duration;

use clap::Args;

use super::words::{FORMATS, POLICIES, merged};
use crate::Failure;
use arbiter_plan::{ConfigFile, TournamentRequest};
use arbiter_schedule::{Format, OpeningPolicy};

/// Who meets whom.
#[derive(Debug, Args)]
#[command(next_help_heading = "Schedule")]
pub(crate) struct TournamentArgs {
    /// Who meets whom: round-robin, gauntlet, pyramid, knockout, swiss or ladder, as `arbiter
    /// tournament --help` describes them [default: round-robin]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT",
        value_parser = FORMATS.parser())]
    schedule: Option<Format>,
    /// How often the schedule is gone through; rounds of a Swiss, climbs of a ladder
    /// [default: 1, for a Swiss as many as a knockout has]
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Pairs of games for each two engines that meet in a round (for sprt: at most)
    /// [default: sprt 50000, match 100, tournament 2, tune 8]
    #[arg(long, value_name = "N")]
    pairs: Option<u64>,
    /// Games for each two engines that meet in a round, in place of --pairs
    #[arg(long, value_name = "N", conflicts_with = "pairs")]
    games: Option<u64>,
    /// Play each opening once, the engine that is listed first as White. Figures then count
    /// games, not pairs, and colours are not balanced
    #[arg(long)]
    noswap: bool,
    /// Let the other engine be White first
    #[arg(long)]
    reverse: bool,
    /// Engines that are seeded in the order in which they are listed: those that a gauntlet is
    /// about [default: 1]; for knockout, Swiss and ladder the others are drawn [default: all]
    #[arg(long, value_name = "N")]
    seeds: Option<usize>,
    /// Further pairs, at most, of a knockout encounter that is level; then the better seed goes
    /// through [default: 4]
    #[arg(long, value_name = "N")]
    tie_breaks: Option<u64>,
    /// Let a knockout encounter go on when its loser cannot catch up any more
    #[arg(long)]
    play_out: bool,
    /// When the next opening is taken [default: shared]
    #[arg(long, value_name = "POLICY", value_parser = POLICIES.parser())]
    opening_policy: Option<OpeningPolicy>,
    /// Begin with opening number N of the order, from 1 [default: 1]
    #[arg(long, value_name = "N")]
    opening_start: Option<u64>,
    /// Milliseconds between two games at one place [default: 0]
    #[arg(long, value_name = "MS")]
    wait: Option<u64>,
}

impl TournamentArgs {
    /// Sets the format as the flag would.
    pub(crate) fn set_format(&mut self, format: Option<Format>) {
        self.schedule = format.or(self.schedule);
    }

    /// Returns whether a flag, or what stands for it, says who meets whom.
    pub(crate) fn has_format(&self) -> bool {
        self.schedule.is_some()
    }

    /// Sets rounds, and pairs of a round, as flags would that were not given.
    pub(crate) fn set_usual_length(&mut self, rounds: u64, pairs: u64) {
        self.rounds.get_or_insert(rounds);
        if self.games.is_none() {
            self.pairs.get_or_insert(pairs);
        }
    }

    /// Merges flags and file; flags win.
    pub(crate) fn resolve(&self, file: &ConfigFile) -> Result<TournamentRequest, Failure> {
        let (format, policy) = (&file.schedule, &file.opening_policy);
        let read_policy = |word: &str| POLICIES.read(word);
        // One of the two says it all; a flag of either kind beats the file.
        let (pairs, games) = match (self.pairs, self.games) {
            (None, None) => (file.pairs, file.games),
            flags => flags,
        };
        Ok(TournamentRequest {
            format: merged(self.schedule, file, "schedule", format, |word| FORMATS.read(word))?,
            rounds: self.rounds.or(file.rounds),
            pairs,
            games,
            seeds: self.seeds.or(file.seeds),
            tie_breaks: self.tie_breaks.or(file.tie_breaks),
            play_out: self.play_out || file.play_out.unwrap_or(false),
            noswap: self.noswap || file.noswap.unwrap_or(false),
            reverse: self.reverse || file.reverse.unwrap_or(false),
            openings: merged(self.opening_policy, file, "opening-policy", policy, read_policy)?,
            opening_start: self.opening_start.or(file.opening_start),
            wait: self.wait.or(file.wait).map(Duration::from_millis),
            ..TournamentRequest::default()
        })
    }
}
