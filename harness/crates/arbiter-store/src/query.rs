//! Reading from the store.

use rusqlite::{OptionalExtension, Row, params};
use shakmaty::KnownOutcome;

use super::append::ending_name;
use super::{Offsets, Store, StoreError};
use arbiter_game::outcome::Termination;
use arbiter_plan::plan::Plan;
use arbiter_plan::run::event::Ending;
use arbiter_plan::run::job::{Games, PlayedPair};
use arbiter_plan::run::standing::{GameTally, PairTally};
use arbiter_schedule::Pairing;
use arbiter_schema::{Fingerprints, GameRow, PlanRow};
use arbiter_stats::GameResult;

/// One line of the list of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHead {
    /// Its name.
    pub run: String,
    /// When it began, in milliseconds of Unix time.
    pub created_ms: i64,
    /// How it ended; `None` while it runs, or if it was killed.
    pub ending: Option<Ending>,
    /// Pairs on disk.
    pub pairs: u64,
    /// What it tries, in one line, if its user said so.
    pub about: Option<String>,
}

/// A run with what it needs to go on.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// Name, time and ending.
    pub head: RunHead,
    /// The version of the Arbiter that began it.
    pub version: String,
    /// What it does.
    pub plan: Plan,
    /// What its inputs looked like.
    pub fingerprints: Fingerprints,
    /// Where its games begin in their files.
    pub offsets: Offsets,
}

impl Store {
    /// All runs, oldest first.
    pub fn runs(&self) -> Result<Vec<RunHead>, StoreError> {
        let read = || -> rusqlite::Result<Vec<RunHead>> {
            let mut statement = self.connection.prepare(
                "SELECT run, created_ms, ending, (SELECT count(*) FROM pairs WHERE pairs.run = runs.run),
                    about
                 FROM runs ORDER BY created_ms, run",
            )?;
            statement.query_map([], head)?.collect()
        };
        read().map_err(|e| self.sqlite(e))
    }

    /// The run of this name.
    pub fn run(&self, run: &str) -> Result<StoredRun, StoreError> {
        let found = self
            .connection
            .query_row(
                "SELECT run, created_ms, ending, (SELECT count(*) FROM pairs WHERE pairs.run = runs.run),
                    about, plan, pgn_offset, epd_offset, version
                 FROM runs WHERE run = ?1",
                [run],
                |row| {
                    let offsets = Offsets { pgn: row.get(6)?, epd: row.get(7)? };
                    Ok((head(row)?, row.get::<_, String>(5)?, offsets, row.get(8)?))
                },
            )
            .optional()
            .map_err(|e| self.sqlite(e))?;
        let (head, plan, offsets, version) = found.ok_or_else(|| self.no_run(run))?;
        let row = PlanRow::from_json(&plan).map_err(|e| self.corrupt(run, e))?;
        let (plan, fingerprints) = row.into_plan();
        Ok(StoredRun { head, version, plan, fingerprints, offsets })
    }

    /// What each pair on disk adds to the counts, in schedule order.
    pub fn tallies(&self, run: &str) -> Result<Vec<PairTally>, StoreError> {
        let mut statement = self
            .connection
            .prepare(
                "SELECT p.pair, p.first, p.second, coalesce(g.white, 0), coalesce(g.black, 0),
                     coalesce(g.result, ''), coalesce(g.termination, '')
                 FROM pairs p LEFT JOIN games g ON g.run = p.run AND g.pair = p.pair
                 WHERE p.run = ?1 ORDER BY p.pair, g.half",
            )
            .map_err(|e| self.sqlite(e))?;
        let rows = statement.query_map([run], TallyRow::read).map_err(|e| self.sqlite(e))?;
        let rows: Vec<TallyRow> =
            rows.collect::<rusqlite::Result<_>>().map_err(|e| self.sqlite(e))?;
        let pairs = rows.chunk_by(TallyRow::is_of_pair);
        pairs.map(|pair| sum_up(pair).map_err(|e| self.corrupt(run, e))).collect()
    }

    /// One pair with its games, if it is on disk.
    pub fn pair(&self, run: &str, pair: u64) -> Result<Option<PlayedPair>, StoreError> {
        let pairing = self
            .connection
            .prepare_cached("SELECT first, second, opening FROM pairs WHERE run = ?1 AND pair = ?2")
            .and_then(|mut statement| {
                statement
                    .query_row(params![run, pair], |row| {
                        let engines = [row.get(0)?, row.get(1)?];
                        Ok(Pairing { pair, engines, opening: row.get(2)? })
                    })
                    .optional()
            })
            .map_err(|e| self.sqlite(e))?;
        let Some(pairing) = pairing else { return Ok(None) };
        let rows = self.games(run, pair).map_err(|e| self.sqlite(e))?;
        let games: Vec<_> = rows
            .into_iter()
            .map(GameRow::into_record)
            .collect::<Result<_, _>>()
            .map_err(|e| self.corrupt(run, format!("pair {pair}: {e}")))?;
        let mut games = games.into_iter();
        let (Some(first), second, None) = (games.next(), games.next(), games.next()) else {
            return Err(self.corrupt(run, format!("pair {pair} has not one or two games")));
        };
        Ok(Some(PlayedPair { pairing, games: Games { first, second } }))
    }

    fn games(&self, run: &str, pair: u64) -> rusqlite::Result<Vec<GameRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT white, black, result, termination, detail, fen, chess960, duration_ms, moves
             FROM games WHERE run = ?1 AND pair = ?2 ORDER BY half",
        )?;
        let rows = statement.query_map(params![run, pair], |row| {
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
            })
        })?;
        rows.collect()
    }
}

fn head(row: &Row<'_>) -> rusqlite::Result<RunHead> {
    let ending: Option<String> = row.get(2)?;
    Ok(RunHead {
        run: row.get(0)?,
        created_ms: row.get(1)?,
        ending: ending.as_deref().and_then(ending_of),
        pairs: row.get(3)?,
        about: row.get(4)?,
    })
}

/// The ending of that name.
pub(super) fn ending_of(name: &str) -> Option<Ending> {
    let all = [Ending::AcceptedH1, Ending::AcceptedH0, Ending::Complete, Ending::Interrupted];
    all.into_iter().find(|ending| ending_name(*ending) == name)
}

/// A game, as far as it counts.
pub(super) struct TallyRow {
    pair: u64,
    engines: [usize; 2],
    white: usize,
    black: usize,
    result: String,
    termination: String,
}

impl TallyRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<TallyRow> {
        Ok(TallyRow {
            pair: row.get(0)?,
            engines: [row.get(1)?, row.get(2)?],
            white: row.get(3)?,
            black: row.get(4)?,
            result: row.get(5)?,
            termination: row.get(6)?,
        })
    }

    /// Whether both are games of the same pair.
    pub(super) fn is_of_pair(&self, other: &TallyRow) -> bool {
        self.pair == other.pair
    }

    fn winner(&self) -> Result<Option<usize>, String> {
        let outcome: KnownOutcome =
            self.result.parse().map_err(|_| format!("'{}' is not a result", self.result))?;
        Ok(outcome.winner().map(|color| color.fold_wb(self.white, self.black)))
    }
}

/// The rows of one pair, summed up.
pub(super) fn sum_up(rows: &[TallyRow]) -> Result<PairTally, String> {
    let (first, second) = match rows {
        [first] => (first, None),
        [first, second] => (first, Some(second)),
        _ => return Err("a pair has not one or two games".to_owned()),
    };
    if first.result.is_empty() {
        return Err(format!("pair {} has lost its games", first.pair));
    }
    let engines = first.engines;
    let read = |game: &TallyRow| -> Result<GameTally, String> {
        let termination: Termination = game.termination.parse()?;
        let (result, loser) = match game.winner()? {
            None => (GameResult::Draw, None),
            Some(engine) if engine == engines[0] => (GameResult::Win, Some(engines[1])),
            Some(_) => (GameResult::Loss, Some(engines[0])),
        };
        Ok(GameTally { result, termination, fault: loser.filter(|_| termination.is_fault()) })
    };
    Ok(PairTally {
        pair: first.pair,
        engines,
        first: read(first)?,
        second: second.map(read).transpose()?,
    })
}
