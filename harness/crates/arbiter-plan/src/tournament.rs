//! Request for a tournament, and the resolution of a request to a [`Design`].

use crate::{DEFAULT_TUNING_PAIRS, RunKind};
use arbiter_names::{listed, variants};
use arbiter_schedule::{Design, Format};

/// Default maximum number of additional pairs in a drawn knockout encounter.
pub const DEFAULT_TIE_BREAKS: u64 = 4;

/// Default number of pairs of a match.
const DEFAULT_PAIRS: u64 = 100;

/// Default maximum number of pairs of an SPRT. Without a maximum, a test might practically never
/// end if the true strength is between the hypotheses.
pub const DEFAULT_SPRT_PAIRS: u64 = 50_000;

/// Default number of pairs per encounter in a tournament.
const DEFAULT_TOURNAMENT_PAIRS: u64 = 2;

/// Default number of pairs for each feature of an ablation without an SPRT.
const DEFAULT_ABLATE_PAIRS: u64 = 200;

/// Maximum number of pairs in a format that keeps all pairs in memory.
const MAX_PAIRS: u64 = 10_000_000;

/// Maximum number of engines. The pairings of a round and the table of all encounters grow with the
/// square of this number, or faster.
const MAX_ENGINES: usize = 1_000;

/// Checks that a run of `engines` engines fits in memory.
pub fn check_size(design: &Design, engines: usize) -> Result<(), String> {
    let format = design.format;
    let rounds = if format == Format::Knockout { 1 } else { design.rounds };
    let most = (engines as u64).saturating_mul(rounds).saturating_mul(design.pairs);
    if engines > MAX_ENGINES {
        return Err(format!("{engines} engines; a {format} can have at most {MAX_ENGINES}"));
    }
    if !format.is_fixed() && most > MAX_PAIRS {
        return Err(format!("a {format} can have at most {MAX_PAIRS} pairs"));
    }
    Ok(())
}

/// Requested tournament: the settings that may be unset, and a preliminary design that contains all
/// other settings.
#[derive(Debug, Clone, Copy, Default)]
pub struct TournamentRequest {
    /// Format of the tournament.
    pub format: Option<Format>,
    /// Number of rounds.
    pub rounds: Option<u64>,
    /// Number of pairs per encounter.
    pub pairs: Option<u64>,
    /// Number of games per encounter, instead of pairs.
    pub games: Option<u64>,
    /// Number of seeded engines.
    pub seeds: Option<usize>,
    /// Maximum number of additional pairs in a drawn knockout encounter.
    pub tie_breaks: Option<u64>,
    /// `true` if the SPRT uses single games instead of pairs.
    pub has_game_evidence: bool,
    /// Number of the first opening, counted from 1.
    pub opening_start: Option<u64>,
    /// Draft of the design. The draft contains no final values for the settings in the other
    /// fields.
    pub draft: Design,
}

impl TournamentRequest {
    /// Returns the index of the first opening, counted from 0. Fails if the requested number is 0,
    /// because users count openings from 1.
    pub fn opening_start(&self) -> Result<u64, String> {
        let first = self.opening_start.unwrap_or(1).checked_sub(1);
        first.ok_or("--openings start must be at least 1".to_owned())
    }

    /// Returns the design for `engines` engines; `pairs` is the default number of pairs per
    /// encounter. Fails if the format does not fit the kind of run or the number of engines.
    pub fn design(&self, kind: RunKind, engines: usize, pairs: u64) -> Result<Design, String> {
        let format = self.format.unwrap_or_default();
        let is_judged_by_pairs = matches!(kind, RunKind::Sprt | RunKind::Ablate | RunKind::Tune);
        if kind == RunKind::Sprt && !matches!(format, Format::RoundRobin | Format::Gauntlet) {
            return Err(format!(
                "sprt plays one encounter, not a {format}; use `arbiter tournament`"
            ));
        }
        if kind == RunKind::Tune && format != Format::RoundRobin {
            return Err(format!("tune plays one encounter, not a {format}"));
        }
        // With single games, a test would mistake an advantage from the opening for strength.
        if is_judged_by_pairs && self.draft.is_single && !self.has_game_evidence {
            return Err(
                "sprt, ablate and tune require pairs with colours reversed; noswap is only for \
                 match and tournament"
                    .to_owned(),
            );
        }
        if kind == RunKind::Ablate && self.seeds.is_some() {
            return Err(no_seeds("run of ablate"));
        }
        // With single games, the colours could decide which engine advances.
        if self.draft.is_single && !format.is_fixed() {
            let fixed = listed(variants::<Format>().filter(|format| format.is_fixed()), "and");
            return Err(format!(
                "a {format} requires pairs with colours reversed; noswap is only for {fixed}"
            ));
        }
        if self.tie_breaks.is_some() && format != Format::Knockout {
            return Err(format!(
                "a {format} has no tie-break pairs; tie-break pairs are only for knockout"
            ));
        }
        if self.draft.plays_out && format != Format::Knockout {
            return Err(format!(
                "a {format} always plays all pairs; play-out is only for knockout"
            ));
        }
        let design = Design {
            format,
            seeds: self.seeds(format, engines)?,
            rounds: self.rounds(format, engines)?,
            pairs: self.pairs_per_encounter()?.unwrap_or(pairs),
            repeats: self.draft.repeats.max(1),
            tie_breaks: match format {
                Format::Knockout => self.tie_breaks.unwrap_or(DEFAULT_TIE_BREAKS),
                _ => 0,
            },
            ..self.draft
        };
        check_size(&design, engines)?;
        Ok(design)
    }

    fn pairs_per_encounter(&self) -> Result<Option<u64>, String> {
        match (self.pairs, self.games) {
            (Some(_), Some(_)) => Err("give either --pairs or --games".to_owned()),
            (None, Some(games)) if self.draft.is_single => Ok(Some(games)),
            (None, Some(games)) if games % 2 == 1 => Err(format!(
                "{games} games are not whole pairs; give --games an even number, or --noswap"
            )),
            (None, Some(games)) => Ok(Some(games / 2)),
            (pairs, None) => Ok(pairs),
        }
    }

    fn seeds(&self, format: Format, engines: usize) -> Result<usize, String> {
        let Some((usual, least, most)) = format.seeds(engines) else {
            return self.seeds.map_or(Ok(0), |_| Err(no_seeds(format)));
        };
        let seeds = self.seeds.unwrap_or(usual);
        let is_allowed = (least..=most).contains(&seeds);
        is_allowed.then_some(seeds).ok_or_else(|| {
            format!("{seeds} seeds of {engines} engines; a {format} takes from {least} to {most}")
        })
    }

    fn rounds(&self, format: Format, engines: usize) -> Result<u64, String> {
        // Each knockout round halves the number of engines, down to one.
        let halvings = u64::from(engines.next_power_of_two().trailing_zeros());
        match format {
            Format::Knockout if self.rounds.is_some_and(|rounds| rounds != halvings) => Err(
                format!("a knockout of {engines} engines has {halvings} rounds; remove --rounds"),
            ),
            Format::Knockout | Format::Swiss => Ok(self.rounds.unwrap_or(halvings)),
            _ => Ok(self.rounds.unwrap_or(1)),
        }
    }
}

/// Returns the default number of pairs per encounter.
pub fn usual_pairs(kind: RunKind, is_sequential: bool) -> u64 {
    match kind {
        _ if is_sequential => DEFAULT_SPRT_PAIRS,
        RunKind::Ablate => DEFAULT_ABLATE_PAIRS,
        RunKind::Tournament => DEFAULT_TOURNAMENT_PAIRS,
        RunKind::Tune => DEFAULT_TUNING_PAIRS,
        RunKind::Sprt | RunKind::Match => DEFAULT_PAIRS,
    }
}

fn no_seeds(what: impl std::fmt::Display) -> String {
    let seeded = variants::<Format>().filter(|format| format.seeds(2).is_some());
    format!("a {what} has no seeds; seeds are only for {}", listed(seeded, "and"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_for(format: Format) -> TournamentRequest {
        TournamentRequest { format: Some(format), ..TournamentRequest::default() }
    }

    #[test]
    fn defaults_fit_the_format() {
        let design = |format| request_for(format).design(RunKind::Tournament, 6, 2).unwrap();
        let shown = variants().map(design).map(|d| (d.seeds, d.rounds, d.pairs, d.tie_breaks));
        let expected =
            [(0, 1, 2, 0), (1, 1, 2, 0), (0, 1, 2, 0), (6, 3, 2, 4), (6, 3, 2, 0), (6, 1, 2, 0)];
        assert!(shown.eq(expected));
    }

    #[test]
    fn games_are_pairs_unless_sides_are_not_swapped() {
        let games = |games, noswap| {
            let mut request =
                TournamentRequest { games: Some(games), ..request_for(Format::Pyramid) };
            request.draft.is_single = noswap;
            request.design(RunKind::Tournament, 3, 2).map(|design| design.pairs)
        };
        assert_eq!(games(6, false), Ok(3));
        assert_eq!(games(5, true), Ok(5));
        assert!(games(5, false).unwrap_err().contains("not whole pairs"));
    }

    #[test]
    fn impossible_tournaments_are_rejected_with_a_reason() {
        let check = |kind, request: TournamentRequest, part: &str| {
            let error = request.design(kind, 6, 2).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        let draft = Design { is_single: true, ..Design::default() };
        let noswap = |format| TournamentRequest { draft, ..request_for(format) };
        let seeds = |format, seeds| TournamentRequest { seeds: Some(seeds), ..request_for(format) };
        check(RunKind::Sprt, request_for(Format::Swiss), "not a swiss");
        check(RunKind::Sprt, noswap(Format::RoundRobin), "require pairs");
        check(RunKind::Tournament, noswap(Format::Knockout), "a knockout requires pairs");
        check(RunKind::Tournament, seeds(Format::Gauntlet, 6), "from 1 to 5");
        check(RunKind::Tournament, seeds(Format::Swiss, 7), "from 0 to 6");
        check(RunKind::Tournament, seeds(Format::Pyramid, 1), "has no seeds");
        let rounds = TournamentRequest { rounds: Some(4), ..request_for(Format::Knockout) };
        check(RunKind::Tournament, rounds, "has 3 rounds");
        let breaks = TournamentRequest { tie_breaks: Some(4), ..request_for(Format::Swiss) };
        check(RunKind::Tournament, breaks, "no tie-break");
        let both =
            TournamentRequest { pairs: Some(1), games: Some(2), ..request_for(Format::Swiss) };
        check(RunKind::Match, both, "either");
        let many = TournamentRequest { pairs: Some(u64::MAX), ..request_for(Format::Swiss) };
        check(RunKind::Match, many, "at most 10000000 pairs");
        for format in variants() {
            let design = |engines| request_for(format).design(RunKind::Tournament, engines, 2);
            assert!(design(1_000).is_ok() && design(1_001).is_err(), "{format}");
        }
        let start = TournamentRequest { opening_start: Some(0), ..request_for(Format::Swiss) };
        assert!(start.opening_start().unwrap_err().contains("at least 1"));
    }
}
