//! The tournament as asked for becomes a [`Design`].

use std::time::Duration;

use thiserror::Error;

use super::plan::Kind;
use arbiter_schedule::{Design, Format, OpeningPolicy};

/// Further pairs, at most, of a knockout encounter that is level, unless the user sets them.
const DEFAULT_TIE_BREAKS: u64 = 4;

/// Most pairs that a format may have whose pairs are all kept in memory.
const MAX_PAIRS: u64 = 10_000_000;

/// Most engines of such a format.
const MAX_ENGINES: usize = 2_000;

/// Who meets whom and how often, as the user says it; all of it may be open.
#[derive(Debug, Clone, Copy, Default)]
pub struct TournamentRequest {
    /// Who meets whom.
    pub format: Option<Format>,
    /// Rounds.
    pub rounds: Option<u64>,
    /// Pairs of an encounter.
    pub pairs: Option<u64>,
    /// Games of an encounter, instead of pairs.
    pub games: Option<u64>,
    /// Engines that are seeded.
    pub seeds: Option<usize>,
    /// Further pairs of a level knockout encounter.
    pub tie_breaks: Option<u64>,
    /// Knockout encounters go on when they are decided.
    pub play_out: bool,
    /// One game from each opening, not two.
    pub noswap: bool,
    /// The other engine is White first.
    pub reverse: bool,
    /// When the next opening is taken.
    pub openings: Option<OpeningPolicy>,
    /// The first opening, from 1.
    pub opening_start: Option<u64>,
    /// Pause between games.
    pub wait: Option<Duration>,
}

/// Why a tournament cannot be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TournamentError {
    /// The format is for more than one encounter.
    #[error("sprt plays one encounter, not a {0}; use `arbiter tournament`")]
    SprtFormat(&'static str),
    /// A tuning plays two sides of one engine.
    #[error("tune plays one encounter, not a {0}")]
    TuneFormat(&'static str),
    /// An SPRT on single games would take the luck of the opening for strength.
    #[error(
        "sprt, ablate and tune judge pairs of games with colours reversed; noswap is for match and tournament"
    )]
    SprtNoswap,
    /// Colours would decide who goes on.
    #[error(
        "a {0} needs pairs with colours reversed; noswap is for round-robin, gauntlet, pyramid"
    )]
    Noswap(&'static str),
    /// Pairs and games both say how much is played.
    #[error("give either --pairs or --games")]
    PairsAndGames,
    /// Half a pair.
    #[error("{0} games are no whole pairs; give an even number to --games, or --noswap")]
    OddGames(u64),
    /// The format has no use for seeds.
    #[error("a {0} has no seeds; they are for gauntlet, knockout, swiss, ladder")]
    NoSeeds(&'static str),
    /// More seeds than there can be.
    #[error("{seeds} seeds of {engines} engines; a {format} takes from {least} to {most}")]
    Seeds {
        /// The format.
        format: &'static str,
        /// Seeds asked for.
        seeds: usize,
        /// Engines.
        engines: usize,
        /// Fewest.
        least: usize,
        /// Most.
        most: usize,
    },
    /// The bracket says how many rounds there are.
    #[error("a knockout of {0} engines has {1} rounds; leave out --rounds")]
    KnockoutRounds(usize, u64),
    /// Only a knockout breaks ties by playing on.
    #[error("a {0} has no tie-break pairs; they are for knockout")]
    NoTieBreaks(&'static str),
    /// Only a knockout has encounters that are over before their end.
    #[error("a {0} plays all its pairs anyway; play-out is for knockout")]
    PlayOut(&'static str),
    /// Openings are numbered from 1.
    #[error("openings are numbered from 1; give --opening-start at least 1")]
    OpeningStart,
    /// More than can be kept in memory.
    #[error("a {0} can have {MAX_ENGINES} engines and {MAX_PAIRS} pairs at most")]
    TooLarge(&'static str),
}

impl TournamentRequest {
    /// The opening to begin with, from 0.
    pub fn opening_start(&self) -> Result<u64, TournamentError> {
        self.opening_start.unwrap_or(1).checked_sub(1).ok_or(TournamentError::OpeningStart)
    }

    /// The rules for so many engines; `pairs` is the usual length of an encounter.
    pub fn design(
        &self,
        kind: Kind,
        engines: usize,
        pairs: u64,
    ) -> Result<Design, TournamentError> {
        let format = self.format.unwrap_or_default();
        let name = format.as_str();
        if kind == Kind::Sprt && !matches!(format, Format::RoundRobin | Format::Gauntlet) {
            return Err(TournamentError::SprtFormat(name));
        }
        if kind == Kind::Tune && format != Format::RoundRobin {
            return Err(TournamentError::TuneFormat(name));
        }
        if matches!(kind, Kind::Sprt | Kind::Ablate | Kind::Tune) && self.noswap {
            return Err(TournamentError::SprtNoswap);
        }
        if kind == Kind::Ablate && self.seeds.is_some() {
            return Err(TournamentError::NoSeeds("run of ablate"));
        }
        if self.noswap && !format.is_fixed() {
            return Err(TournamentError::Noswap(name));
        }
        if self.tie_breaks.is_some() && format != Format::Knockout {
            return Err(TournamentError::NoTieBreaks(name));
        }
        if self.play_out && format != Format::Knockout {
            return Err(TournamentError::PlayOut(name));
        }
        let design = Design {
            format,
            seeds: self.seeds(format, engines)?,
            rounds: self.rounds(format, engines)?,
            pairs: self.pairs_per_encounter()?.unwrap_or(pairs),
            is_single: self.noswap,
            is_reversed: self.reverse,
            openings: self.openings.unwrap_or_default(),
            tie_breaks: match format {
                Format::Knockout => self.tie_breaks.unwrap_or(DEFAULT_TIE_BREAKS),
                _ => 0,
            },
            plays_out: self.play_out,
        };
        let rounds = if format == Format::Knockout { 1 } else { design.rounds };
        let most = (engines as u64).saturating_mul(rounds).saturating_mul(design.pairs);
        if !format.is_fixed() && (most > MAX_PAIRS || engines > MAX_ENGINES) {
            return Err(TournamentError::TooLarge(name));
        }
        Ok(design)
    }

    fn pairs_per_encounter(&self) -> Result<Option<u64>, TournamentError> {
        match (self.pairs, self.games) {
            (Some(_), Some(_)) => Err(TournamentError::PairsAndGames),
            (None, Some(games)) if self.noswap => Ok(Some(games)),
            (None, Some(games)) if games % 2 == 1 => Err(TournamentError::OddGames(games)),
            (None, Some(games)) => Ok(Some(games / 2)),
            (pairs, None) => Ok(pairs),
        }
    }

    fn seeds(&self, format: Format, engines: usize) -> Result<usize, TournamentError> {
        let name = format.as_str();
        let (usual, least, most) = match format {
            Format::RoundRobin | Format::Pyramid => {
                return match self.seeds {
                    Some(_) => Err(TournamentError::NoSeeds(name)),
                    None => Ok(0),
                };
            }
            Format::Gauntlet => (1, 1, engines - 1),
            Format::Knockout | Format::Swiss | Format::Ladder => (engines, 0, engines),
        };
        let seeds = self.seeds.unwrap_or(usual);
        match (least..=most).contains(&seeds) {
            true => Ok(seeds),
            false => Err(TournamentError::Seeds { format: name, seeds, engines, least, most }),
        }
    }

    fn rounds(&self, format: Format, engines: usize) -> Result<u64, TournamentError> {
        // As many as halve the field down to one.
        let halvings = u64::from(engines.next_power_of_two().trailing_zeros());
        match format {
            Format::Knockout if self.rounds.is_some_and(|rounds| rounds != halvings) => {
                Err(TournamentError::KnockoutRounds(engines, halvings))
            }
            Format::Knockout | Format::Swiss => Ok(self.rounds.unwrap_or(halvings)),
            _ => Ok(self.rounds.unwrap_or(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(format: Format) -> TournamentRequest {
        TournamentRequest { format: Some(format), ..TournamentRequest::default() }
    }

    #[test]
    fn defaults_fit_the_format() {
        let design = |format| asked(format).design(Kind::Tournament, 6, 2).unwrap();
        let shown = Format::ALL.map(design).map(|d| (d.seeds, d.rounds, d.pairs, d.tie_breaks));
        let expected =
            [(0, 1, 2, 0), (1, 1, 2, 0), (0, 1, 2, 0), (6, 3, 2, 4), (6, 3, 2, 0), (6, 1, 2, 0)];
        assert_eq!(shown, expected);
    }

    #[test]
    fn games_are_pairs_unless_sides_are_not_swapped() {
        let games = |games, noswap| {
            let asked = TournamentRequest { games: Some(games), noswap, ..asked(Format::Pyramid) };
            asked.design(Kind::Tournament, 3, 2).map(|design| design.pairs)
        };
        assert_eq!(games(6, false), Ok(3));
        assert_eq!(games(5, true), Ok(5));
        assert_eq!(games(5, false), Err(TournamentError::OddGames(5)));
    }

    #[test]
    fn impossible_tournaments_are_refused_in_words() {
        let check = |kind, asked: TournamentRequest, part: &str| {
            let error = asked.design(kind, 6, 2).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        let noswap = |format| TournamentRequest { noswap: true, ..asked(format) };
        let seeds = |format, seeds| TournamentRequest { seeds: Some(seeds), ..asked(format) };
        check(Kind::Sprt, asked(Format::Swiss), "not a swiss");
        check(Kind::Sprt, noswap(Format::RoundRobin), "pairs of games");
        check(Kind::Tournament, noswap(Format::Knockout), "a knockout needs pairs");
        check(Kind::Tournament, seeds(Format::Gauntlet, 6), "from 1 to 5");
        check(Kind::Tournament, seeds(Format::Swiss, 7), "from 0 to 6");
        check(Kind::Tournament, seeds(Format::Pyramid, 1), "has no seeds");
        let rounds = TournamentRequest { rounds: Some(4), ..asked(Format::Knockout) };
        check(Kind::Tournament, rounds, "has 3 rounds");
        let breaks = TournamentRequest { tie_breaks: Some(4), ..asked(Format::Swiss) };
        check(Kind::Tournament, breaks, "no tie-break");
        let both = TournamentRequest { pairs: Some(1), games: Some(2), ..asked(Format::Swiss) };
        check(Kind::Match, both, "either");
        let many = TournamentRequest { pairs: Some(u64::MAX), ..asked(Format::Swiss) };
        check(Kind::Match, many, "at most");
        let start = TournamentRequest { opening_start: Some(0), ..asked(Format::Swiss) };
        assert_eq!(start.opening_start(), Err(TournamentError::OpeningStart));
    }
}
