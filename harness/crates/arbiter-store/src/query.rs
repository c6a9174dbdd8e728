//! Reading from the store.

use rusqlite::{Row, params};
use shakmaty::KnownOutcome;

use super::append::ending_of;
use super::{Offsets, Store, StoreError};
use arbiter_game::outcome::Termination;
use arbiter_plan::{Ending, GameTally, Games, PairTally, Plan, PlayedPair};
use arbiter_schedule::Pairing;
use arbiter_schema::{Fingerprints, GameRow, PlanRow, stored_hash};
use arbiter_stats::GameResult;

/// What stands for the newest run.
pub const LATEST: &str = "latest";

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
        self.rows(&format!("SELECT {HEAD} FROM runs ORDER BY created_ms, run"), [], head)
    }

    /// The name of the run that is meant: by [`LATEST`] the newest, unless one has this name.
    pub fn named(&self, word: &str) -> Result<String, StoreError> {
        let select =
            "SELECT run FROM runs ORDER BY run = ?1 DESC, created_ms DESC, run DESC LIMIT 1";
        match word {
            LATEST => self.row(select, [word], |row| row.get(0))?.ok_or_else(|| self.empty()),
            _ => Ok(word.to_owned()),
        }
    }

    /// The run of this name.
    pub fn run(&self, run: &str) -> Result<StoredRun, StoreError> {
        let select = format!(
            "SELECT {HEAD}, plan, version, pgn_offset, epd_offset FROM runs WHERE run = ?1"
        );
        let found = self.row(&select, [run], |row| {
            let offsets = Offsets { pgn: row.get(7)?, epd: row.get(8)? };
            Ok((head(row)?, row.get::<_, String>(5)?, row.get(6)?, offsets))
        })?;
        let (head, plan, version, offsets) = found.ok_or_else(|| self.no_run(run))?;
        let row = PlanRow::from_json(&plan).map_err(|e| self.corrupt(run, e))?;
        let (plan, fingerprints) = row.into_plan();
        Ok(StoredRun { head, version, plan, fingerprints, offsets })
    }

    /// What each pair on disk adds to the counts, in schedule order.
    pub fn tallies(&self, run: &str) -> Result<Vec<PairTally>, StoreError> {
        let rows = self.rows(
            "SELECT p.pair, p.first, p.second, coalesce(g.white, 0), coalesce(g.black, 0),
                 coalesce(g.result, ''), coalesce(g.termination, ''),
                 CASE g.half WHEN 0 THEN p.first_hash ELSE p.second_hash END
             FROM pairs p LEFT JOIN games g ON g.run = p.run AND g.pair = p.pair
             WHERE p.run = ?1 ORDER BY p.pair, g.half",
            [run],
            TallyRow::read,
        )?;
        self.sum_up(run, &rows)
    }

    /// The games of pairs, summed up.
    pub(super) fn sum_up(
        &self,
        run: &str,
        games: &[TallyRow],
    ) -> Result<Vec<PairTally>, StoreError> {
        let pairs = games.chunk_by(|one, other| one.pair == other.pair);
        let sum_up = |pair| {
            let tally = sum_up(pair).map_err(|e| self.corrupt(run, e))?;
            if tally.first.hash.is_some() { Ok(tally) } else { self.with_hashes(run, tally) }
        };
        pairs.map(sum_up).collect()
    }

    /// A pair that was stored without the hashes of its games, with what its moves say. Moves that cannot
    /// be read have none.
    fn with_hashes(&self, run: &str, mut tally: PairTally) -> Result<PairTally, StoreError> {
        let select =
            "SELECT fen, chess960, moves FROM games WHERE run = ?1 AND pair = ?2 ORDER BY half";
        let rows = self.rows(select, params![run, tally.pair], |row| {
            let (fen, chess960, moves): (String, bool, String) = row.try_into()?;
            Ok(stored_hash(&fen, chess960, &moves))
        })?;
        let games = std::iter::once(&mut tally.first).chain(&mut tally.second);
        games.zip(rows).for_each(|(game, hash)| game.hash = hash);
        Ok(tally)
    }

    /// One pair with its games, if it is on disk.
    pub fn pair(&self, run: &str, pair: u64) -> Result<Option<PlayedPair>, StoreError> {
        let select = "SELECT first, second, opening FROM pairs WHERE run = ?1 AND pair = ?2";
        let pairing = self.row(select, params![run, pair], |row| {
            let (first, second, opening) = row.try_into()?;
            Ok(Pairing { pair, engines: [first, second], opening })
        })?;
        let Some(pairing) = pairing else { return Ok(None) };
        let select = format!("SELECT {GAME} FROM games WHERE run = ?1 AND pair = ?2 ORDER BY half");
        let rows = self.rows(&select, params![run, pair], game_row)?;
        let games: Result<Vec<_>, _> = rows.into_iter().map(GameRow::into_record).collect();
        let games = games.map_err(|e| self.corrupt(run, format!("pair {pair}: {e}")))?;
        let mut games = games.into_iter();
        let (Some(first), second, None) = (games.next(), games.next(), games.next()) else {
            return Err(self.corrupt(run, format!("pair {pair} has not one or two games")));
        };
        Ok(Some(PlayedPair { pairing, games: Games { first, second } }))
    }
}

/// The columns of a [`GameRow`].
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

/// The columns of a [`RunHead`].
const HEAD: &str = "run, created_ms, ending,
    (SELECT count(*) FROM pairs WHERE pairs.run = runs.run), about";

fn head(row: &Row<'_>) -> rusqlite::Result<RunHead> {
    let (run, created_ms, ending, pairs, about) = row.try_into()?;
    Ok(RunHead { run, created_ms, ending: ending_of(ending), pairs, about })
}

/// A game, as far as it counts.
pub(super) struct TallyRow {
    pair: u64,
    engines: [usize; 2],
    white: usize,
    black: usize,
    result: String,
    termination: String,
    hash: Option<i64>,
}

impl TallyRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<TallyRow> {
        let (pair, first, second, white, black, result, termination, hash) = row.try_into()?;
        Ok(TallyRow { pair, engines: [first, second], white, black, result, termination, hash })
    }

    fn winner(&self) -> Result<Option<usize>, String> {
        let outcome: KnownOutcome =
            self.result.parse().map_err(|_| format!("'{}' is not a result", self.result))?;
        Ok(outcome.winner().map(|color| color.fold_wb(self.white, self.black)))
    }
}

/// The rows of one pair, summed up.
fn sum_up(rows: &[TallyRow]) -> Result<PairTally, String> {
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
        let fault = loser.filter(|_| termination.is_fault());
        Ok(GameTally { result, termination, fault, hash: game.hash.map(i64::cast_unsigned) })
    };
    Ok(PairTally {
        pair: first.pair,
        engines,
        first: read(first)?,
        second: second.map(read).transpose()?,
        is_repeat: false,
    })
}
