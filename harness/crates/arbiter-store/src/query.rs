//! Reading runs and pairs from the store.

use rusqlite::{Params, Row, params};
use shakmaty::{ByColor, KnownOutcome};

use super::checksum::{OF_PAIR, OF_RUN, PAIRS, game_checksum};
use super::{Offsets, Result, Store};
use crate::rows::{Fingerprints, GameRow, PlanRow};
use arbiter_game::outcome::Termination;
use arbiter_plan::Plan;
use arbiter_run::{GameTally, Games, PairTally, PlayedPair, RunEnd};
use arbiter_schedule::Pairing;
use arbiter_stats::GameResult;

/// Name that stands for the newest run.
pub const LATEST: &str = "latest";

/// Entry of the list of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHead {
    /// Name of the run.
    pub run: String,
    /// Start of the run, as Unix time in milliseconds.
    pub created_ms: i64,
    /// Ending of the run; `None` if the run is in progress or was killed.
    pub ending: Option<RunEnd>,
    /// Number of pairs on disk.
    pub pairs: u64,
    /// Purpose of the run, in one line, if the user gave one.
    pub about: Option<String>,
}

/// A stored run, with all data that is needed to resume the run.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// Entry of the run in the list of runs.
    pub head: RunHead,
    /// Version of Arbiter that started the run.
    pub version: String,
    /// Plan of the run.
    pub plan: Plan,
    /// Fingerprints of the run's inputs.
    pub fingerprints: Fingerprints,
    /// Offsets at which the run's games start in the output files.
    pub offsets: Offsets,
}

impl Store {
    /// Returns all runs, oldest first.
    pub fn runs(&self) -> Result<Vec<RunHead>> {
        self.rows(&format!("SELECT {HEAD} FROM runs ORDER BY created_ms, run"), [], head)
    }

    /// Returns all runs as [`Store::runs`] does, but with 0 as the number of pairs, because
    /// counting the pairs of all runs takes a long time.
    pub fn outlines(&self) -> Result<Vec<RunHead>> {
        let select = "SELECT run, created_ms, ending, 0, about FROM runs ORDER BY created_ms, run";
        self.rows(select, [], head)
    }

    /// Returns the name of the run that `word` stands for. [`LATEST`] stands for the newest run,
    /// unless a run is named `latest`. Fails for [`LATEST`] in a store without runs.
    pub fn named(&self, word: &str) -> Result<String> {
        let select =
            // A run that the user has named `latest` must stay reachable.
            "SELECT run FROM runs ORDER BY run = ?1 DESC, created_ms DESC, run DESC LIMIT 1";
        match word {
            LATEST => self.row(select, [word], |row| row.get(0))?.ok_or_else(|| self.empty()),
            _ => Ok(word.to_owned()),
        }
    }

    /// Returns the run with this name. Fails if the store contains no run with this name, or if the
    /// run's plan is damaged or was written by a newer version of Arbiter.
    pub fn run(&self, run: &str) -> Result<StoredRun> {
        let select = format!(
            "SELECT {HEAD}, plan, version, pgn_offset, epd_offset, checksum IS {OF_RUN}
             FROM runs WHERE run = ?1"
        );
        let found = self.row(&select, [run], |row| {
            let offsets = Offsets { pgn: row.get(7)?, epd: row.get(8)? };
            Ok((head(row)?, row.get::<_, String>(5)?, row.get(6)?, offsets, row.get::<_, bool>(9)?))
        })?;
        let found = found.ok_or_else(|| self.no_run(run))?;
        let (head, plan, version, offsets, is_sound) = found;
        if !is_sound {
            return Err(self.damage_error(run, "settings and ending"));
        }
        let row = PlanRow::from_json(&plan).map_err(|e| self.corrupt(run, e))?;
        let (plan, fingerprints) = row.into_plan();
        Ok(StoredRun { head, version, plan, fingerprints, offsets })
    }

    /// Returns the tally of each pair on disk, in schedule order. Fails if a pair is damaged, or if
    /// a game has no pair.
    pub fn tallies(&self, run: &str) -> Result<Vec<PairTally>> {
        // Without a transaction, another process could store a pair between the two queries, and
        // the counts would differ although the store is undamaged.
        let (tallies, games) = self.atomically(|| -> Result<_> {
            let from = format!("{PAIRS} WHERE p.run = ?1 ORDER BY p.pair");
            let tallies = self.select_tallies(run, &from, [run])?;
            Ok((tallies, self.number("SELECT count(*) FROM games WHERE run = ?1", [run])?))
        })?;
        // The join starts from pairs, so it misses games without a pair.
        let in_pairs = tallies.iter().flat_map(PairTally::games).count() as u64;
        if in_pairs == games {
            Ok(tallies)
        } else {
            Err(self.damage_error(run, &format!("{games} games, of which {in_pairs} are in pairs")))
        }
    }

    /// Returns the tallies of pairs; `from` is the part of the query after `FROM`, and uses the
    /// table aliases of [`PAIRS`].
    pub(super) fn select_tallies(
        &self,
        run: &str,
        from: &str,
        params: impl Params,
    ) -> Result<Vec<PairTally>> {
        let select = format!(
            "SELECT p.pair, p.first, p.second, p.checksum IS {OF_PAIR},
                 a.white, a.black, a.result, a.termination, p.first_hash,
                 b.white, b.black, b.result, b.termination, p.second_hash
             FROM {from}"
        );
        let read = |row: &Row<'_>| {
            let is_sound: bool = row.get(3)?;
            if !is_sound {
                let part = format!("pair {}", row.get::<_, u64>(0)? + 1);
                return Ok(Err(self.damage_error(run, &part)));
            }
            Ok(pair_tally(row)?.map_err(|error| self.corrupt(run, error)))
        };
        self.rows(&select, params, read)?.into_iter().collect()
    }

    /// Returns one pair with its games; `None` if the pair is not on disk.
    pub fn pair(&self, run: &str, pair: u64) -> Result<Option<PlayedPair>> {
        let select = format!(
            "SELECT p.first, p.second, p.opening, p.checksum IS {OF_PAIR} FROM {PAIRS}
             WHERE p.run = ?1 AND p.pair = ?2"
        );
        let found = self.row(&select, params![run, pair], |row| {
            let (first, second, opening, is_sound): (_, _, _, bool) = row.try_into()?;
            Ok((Pairing { pair, engines: [first, second], opening }, is_sound))
        })?;
        let Some((pairing, is_sound)) = found else { return Ok(None) };
        if !is_sound {
            return Err(self.damage_error(run, &format!("pair {}", pair + 1)));
        }
        let select = format!(
            "SELECT {GAME}, checksum IS {} FROM games WHERE run = ?1 AND pair = ?2 ORDER BY half",
            game_checksum()
        );
        let read = |row: &Row<'_>| Ok((game_row(row)?, row.get::<_, bool>(10)?));
        let mut games = Vec::with_capacity(2);
        for (half, (row, is_sound)) in (0..).zip(self.rows(&select, params![run, pair], read)?) {
            if !is_sound {
                return Err(self.damaged_game(run, pair, half));
            }
            let game = row.into_record();
            games.push(game.map_err(|e| self.corrupt(run, format!("pair {pair}: {e}")))?);
        }
        let mut games = games.into_iter();
        let (Some(first), second, None) = (games.next(), games.next(), games.next()) else {
            return Err(self.corrupt(run, format!("pair {pair} lacks its one or two games")));
        };
        Ok(Some(PlayedPair { pairing, games: Games { first, second } }))
    }
}

/// Columns of a [`GameRow`].
pub(super) const GAME: &str =
    "white, black, result, termination, detail, fen, chess960, duration_ms, moves, begun_ms";

pub(super) fn game_row(row: &Row<'_>) -> rusqlite::Result<GameRow> {
    Ok(GameRow {
        white: row.get(0)?,
        black: row.get(1)?,
        result: row.get(2)?,
        termination: row.get(3)?,
        detail: row.get(4)?,
        fen: row.get(5)?,
        chess960: row.get(6)?,
        duration_ms: row.get(7)?,
        moves: row.get(8)?,
        begun_ms: row.get(9)?,
    })
}

/// Columns of a [`RunHead`].
const HEAD: &str = "run, created_ms, ending,
    (SELECT count(*) FROM pairs WHERE pairs.run = runs.run), about";

fn head(row: &Row<'_>) -> rusqlite::Result<RunHead> {
    let (run, created_ms, ending, pairs, about): (_, _, Option<String>, _, _) = row.try_into()?;
    // A later version may store other endings.
    let ending = ending.and_then(|name| name.parse().ok());
    Ok(RunHead { run, created_ms, ending, pairs, about })
}

/// Reads the tally of a pair; the inner error is the reason why the row is invalid.
fn pair_tally(row: &Row<'_>) -> rusqlite::Result<Result<PairTally, String>> {
    let (pair, first, second) = row.try_into()?;
    let engines = [first, second];
    let Some(first) = game_tally(row, 4, engines)? else {
        return Ok(Err(format!("pair {pair} has lost its games")));
    };
    let second = game_tally(row, 9, engines)?.transpose();
    let tally = |second| Ok(PairTally { pair, engines, first: first?, second, is_repeat: false });
    Ok(second.and_then(tally))
}

/// Reads the tally of the game whose columns start at index `at` of a row, from the point of view
/// of the first engine in `engines` (the engines of the pair). Returns `None` if the pair does not
/// have this game. The inner error is the reason why the row is invalid.
fn game_tally(
    row: &Row<'_>,
    at: usize,
    engines: [usize; 2],
) -> rusqlite::Result<Option<Result<GameTally, String>>> {
    // The outer join returns NULL if the pair has only one game.
    let Some(white) = row.get(at)? else { return Ok(None) };
    let players = ByColor { white, black: row.get::<_, usize>(at + 1)? };
    let result: String = row.get(at + 2)?;
    let termination: String = row.get(at + 3)?;
    let hash: Option<i64> = row.get(at + 4)?;
    let tally = || {
        let outcome: KnownOutcome =
            result.parse().map_err(|_| format!("'{result}' is not a result"))?;
        let termination: Termination = termination.parse()?;
        let has_won = outcome.winner().map(|color| *players.get(color) == engines[0]);
        let result = GameResult::of(has_won);
        let loser = has_won.map(|has_won| engines[usize::from(has_won)]);
        let fault = loser.filter(|_| termination.is_fault());
        Ok(GameTally { result, termination, fault, hash: hash.map(i64::cast_unsigned) })
    };
    Ok(Some(tally()))
}
