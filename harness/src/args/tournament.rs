//! Flags that say who meets whom, how often, and from which openings.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::args::ArgsError;
use arbiter_plan::file::ConfigFile;
use arbiter_plan::tournament::TournamentRequest;
use arbiter_schedule::{Format, OpeningPolicy};

/// Who meets whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScheduleArg {
    /// Everyone meets everyone
    RoundRobin,
    /// The first engine, or the first --seeds, meet all others
    Gauntlet,
    /// Each engine meets all that are listed before it
    Pyramid,
    /// Who loses an encounter is out; byes go to the best seeds
    Knockout,
    /// Engines with equal points meet, and nobody the same opponent twice
    Swiss,
    /// From the bottom up, the winner of each encounter meets the next one above
    Ladder,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PolicyArg {
    /// The n-th pair of every encounter of a round gets the same opening
    Shared,
    /// One opening for a whole round
    PerRound,
    /// One opening for all pairs of an encounter
    PerEncounter,
    /// Each pair gets an opening of its own
    PerPair,
}

/// Who meets whom.
#[derive(Debug, Args)]
pub(crate) struct TournamentArgs {
    /// Who meets whom: round-robin, gauntlet, pyramid, knockout, swiss or ladder, as `arbiter
    /// tournament --help` describes them [default: round-robin]
    #[arg(long, conflicts_with = "resume", hide_possible_values = true, value_name = "FORMAT")]
    schedule: Option<ScheduleArg>,
    /// How often the schedule is gone through; rounds of a Swiss, climbs of a ladder
    /// [default: 1, for a Swiss as many as a knockout has]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    rounds: Option<u64>,
    /// Pairs of games for each two engines that meet in a round (for sprt: at most)
    /// [default: sprt 50000, match 100, tournament 2, tune 8]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pairs: Option<u64>,
    /// The same in games
    #[arg(long, value_name = "N", conflicts_with_all = ["resume", "pairs"])]
    games: Option<u64>,
    /// Play each opening once, the engine that is listed first as White. Figures then count
    /// games, not pairs, and colours are not balanced
    #[arg(long, conflicts_with = "resume")]
    noswap: bool,
    /// Let the other engine be White first
    #[arg(long, conflicts_with = "resume")]
    reverse: bool,
    /// Engines that are seeded in the order in which they are listed: those that a gauntlet is
    /// about [default: 1]; for knockout, Swiss and ladder the others are drawn [default: all]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seeds: Option<usize>,
    /// Further pairs, at most, of a knockout encounter that is level; then the better seed goes
    /// through [default: 4]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    tie_breaks: Option<u64>,
    /// Let a knockout encounter go on when its loser cannot catch up any more
    #[arg(long, conflicts_with = "resume")]
    play_out: bool,
    /// When the next opening is taken [default: shared]
    #[arg(long, value_name = "POLICY", conflicts_with = "resume")]
    opening_policy: Option<PolicyArg>,
    /// Begin with opening number N of the order, from 1 [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    opening_start: Option<u64>,
    /// Milliseconds between two games at one place [default: 0]
    #[arg(long, value_name = "MS", conflicts_with = "resume")]
    wait: Option<u64>,
}

impl TournamentArgs {
    /// Sets the format as the flag would.
    pub(crate) fn set_format(&mut self, format: Option<ScheduleArg>) {
        self.schedule = format.or(self.schedule);
    }

    /// Sets rounds, and pairs of a round, as flags would that were not given.
    pub(crate) fn set_usual_length(&mut self, rounds: u64, pairs: u64) {
        self.rounds.get_or_insert(rounds);
        if self.games.is_none() {
            self.pairs.get_or_insert(pairs);
        }
    }

    /// Merges flags and file; flags win.
    pub(crate) fn resolve(&self, file: &ConfigFile) -> Result<TournamentRequest, ArgsError> {
        let schedule = file.schedule.as_deref().map(|text| word(file, "schedule", text));
        let policy = file.opening_policy.as_deref().map(|text| word(file, "opening-policy", text));
        // One of the two says it all; a flag of either kind beats the file.
        let (pairs, games) = match (self.pairs, self.games) {
            (None, None) => (file.pairs, file.games),
            flags => flags,
        };
        Ok(TournamentRequest {
            format: self.schedule.or(schedule.transpose()?).map(Format::from),
            rounds: self.rounds.or(file.rounds),
            pairs,
            games,
            seeds: self.seeds.or(file.seeds),
            tie_breaks: self.tie_breaks.or(file.tie_breaks),
            play_out: self.play_out || file.play_out.unwrap_or(false),
            noswap: self.noswap || file.noswap.unwrap_or(false),
            reverse: self.reverse || file.reverse.unwrap_or(false),
            openings: self.opening_policy.or(policy.transpose()?).map(OpeningPolicy::from),
            opening_start: self.opening_start.or(file.opening_start),
            wait: self.wait.or(file.wait).map(Duration::from_millis),
        })
    }
}

/// A word of the file as the flag of the same name takes it.
fn word<T: ValueEnum>(file: &ConfigFile, key: &'static str, text: &str) -> Result<T, ArgsError> {
    T::from_str(text, false).map_err(|_| {
        let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        ArgsError::Word {
            file: file.name(),
            key,
            value: text.to_owned(),
            expected: names.join(", "),
        }
    })
}

impl From<ScheduleArg> for Format {
    fn from(arg: ScheduleArg) -> Format {
        match arg {
            ScheduleArg::RoundRobin => Format::RoundRobin,
            ScheduleArg::Gauntlet => Format::Gauntlet,
            ScheduleArg::Pyramid => Format::Pyramid,
            ScheduleArg::Knockout => Format::Knockout,
            ScheduleArg::Swiss => Format::Swiss,
            ScheduleArg::Ladder => Format::Ladder,
        }
    }
}

impl From<PolicyArg> for OpeningPolicy {
    fn from(arg: PolicyArg) -> OpeningPolicy {
        match arg {
            PolicyArg::Shared => OpeningPolicy::Shared,
            PolicyArg::PerRound => OpeningPolicy::PerRound,
            PolicyArg::PerEncounter => OpeningPolicy::PerEncounter,
            PolicyArg::PerPair => OpeningPolicy::PerPair,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_flags_are_those_of_reports() {
        for arg in ScheduleArg::value_variants() {
            let name = arg.to_possible_value().unwrap();
            assert_eq!(name.get_name(), Format::from(*arg).as_str());
        }
        for arg in PolicyArg::value_variants() {
            let name = arg.to_possible_value().unwrap();
            assert_eq!(name.get_name(), OpeningPolicy::from(*arg).as_str());
        }
    }

    #[test]
    fn a_wrong_word_in_the_file_is_answered_with_the_right_ones() {
        let file = ConfigFile::default();
        let error = word::<ScheduleArg>(&file, "schedule", "swill").unwrap_err().to_string();
        assert!(error.contains("schedule = \"swill\"") && error.contains("swiss"), "{error}");
    }
}
