//! Pages of the games of a run, computed for each request: list of games, page of one game, and
//! PGN.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::Mutex;

use super::http_error::{HttpError, bad_request};
use super::url_query::UrlQuery;
use crate::web::games::{self as pages, ORDERS, PART};
use arbiter_plan::Plan;
use arbiter_process::lock;
use arbiter_report::{OpeningNames, PgnHeader, game_pgn, game_to_show, shown_run};
use arbiter_store::{GamePart, GameQuery, Store, StoreError, StoredRun};

/// Maximum number of games in a PGN file.
const MAX_PGN: u64 = 100_000;

/// Maximum number of runs whose opening names are cached. Viewers may request any run, so a full
/// cache is emptied.
const MAX_RUNS: usize = 16;

impl UrlQuery {
    /// Converts all fields except `opening` to a query of the store.
    fn games(&self, plan: &Plan) -> Result<GameQuery, String> {
        let engine = |name: &str| {
            let known = plan.engines.iter().position(|engine| engine.name == name);
            known.ok_or_else(|| format!("No engine of this run is named '{name}'."))
        };
        let order = self.value("order");
        let order = ORDERS.iter().find(|(name, ..)| *name == order);
        Ok(GameQuery {
            engine: self.non_empty("engine").map(engine).transpose()?,
            ending: self.non_empty("ending").map(str::parse).transpose()?,
            openings: None,
            // A game of n moves has 2n − 1 or 2n plies.
            min_plies: self.number("from", 10_000, 2.0)?.map(|plies| plies.saturating_sub(1)),
            max_plies: self.number("to", 10_000, 2.0)?,
            min_swing: self.number("swing", 20, 100.0)?,
            order: order.ok_or("Games can be ordered by length or by swing.")?.2,
        })
    }
}

/// Cache of opening names. A poisoned lock is harmless: names that a panic left out of the cache
/// are read again.
#[derive(Debug, Default)]
pub(crate) struct Openings {
    table: Option<OpeningNames>,
    /// Opening names by run; the key of a run consists of the name and the start time of the run.
    /// The inner map maps the number of an opening in the book to the name of the opening.
    runs: BTreeMap<(String, i64), BTreeMap<u64, String>>,
}

impl Openings {
    /// Returns the names of a run's openings. `wanted` contains the numbers of openings, each with
    /// a pair that was played from the opening. The name of an unnamed opening is empty.
    fn names(
        &mut self,
        store: &Store,
        stored: &StoredRun,
        wanted: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<BTreeMap<u64, String>, StoreError> {
        let run = &stored.head.run;
        let table = self.table.get_or_insert_default();
        // The key contains the start time, because a new run may have the name of a removed run.
        let key = (run.clone(), stored.head.created_ms);
        if self.runs.len() >= MAX_RUNS && !self.runs.contains_key(&key) {
            self.runs.clear();
        }
        let names = self.runs.entry(key).or_default();
        let mut found = BTreeMap::new();
        for (opening, pair) in wanted {
            let name = match names.entry(opening) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let played = store.pair(run, pair)?;
                    let named = played.and_then(|pair| table.name_in_book(&pair.games.first));
                    let name = named.map(|named| format!("{} {}", named.eco, named.name));
                    unknown.insert(name.unwrap_or_default())
                }
            };
            found.insert(opening, name.clone());
        }
        Ok(found)
    }
}

/// Games of a run that a URL query selects.
pub(crate) struct Selection<'a> {
    store: Store,
    pub(crate) stored: StoredRun,
    pub(crate) url_query: UrlQuery,
    query: GameQuery,
    openings: &'a Mutex<Openings>,
}

impl Selection<'_> {
    /// Reads a run, and converts a URL query to a query for the run's games. The field `opening`
    /// contains the number of an opening, from 1, or a part of an opening name.
    pub(crate) fn new<'a>(
        results: &Path,
        run: &str,
        url_query: UrlQuery,
        openings: &'a Mutex<Openings>,
    ) -> Result<Selection<'a>, HttpError> {
        let store = Store::observe(results)?;
        let stored = shown_run(&store, run)?;
        let mut query = url_query.games(&stored.plan).map_err(bad_request)?;
        let wanted = url_query.value("opening").to_lowercase();
        query.openings = match wanted.parse::<u64>() {
            Ok(number) => Some(vec![number.saturating_sub(1)]),
            Err(_) if wanted.is_empty() => None,
            Err(_) => {
                let played = store.openings(run)?;
                let names = lock(openings).names(&store, &stored, played)?;
                let fits = |name: &String| name.to_lowercase().contains(&wanted);
                Some(names.into_iter().filter(|(_, name)| fits(name)).map(|(at, _)| at).collect())
            }
        };
        Ok(Selection { store, stored, url_query, query, openings })
    }

    /// Returns a page of the list of games.
    pub(crate) fn list(&self) -> Result<String, HttpError> {
        let part = self.url_query.part().map_err(bad_request)?;
        let run = &self.stored.head.run;
        let games = self.store.games(
            run,
            &self.query,
            GamePart::Page { first: part * PART + 1, count: PART },
        )?;
        let played = games.iter().map(|game| (game.opening, game.pair));
        let names = lock(self.openings).names(&self.store, &self.stored, played)?;
        Ok(pages::list(self, part, &games, &names))
    }

    /// Returns the page of a game; `None` if the game is not in the store.
    pub(crate) fn game(&self, place: (u64, usize)) -> Result<Option<String>, HttpError> {
        let Selection { store, stored, .. } = self;
        let (pair, game_index) = place;
        let Some(played) = store.pair(&stored.head.run, pair)? else { return Ok(None) };
        let Some(game) = played.games.iter().nth(game_index) else { return Ok(None) };
        let around =
            store.games(&stored.head.run, &self.query, GamePart::Around(pair, game_index))?;
        let opening = played.pairing.opening;
        let name = lock(self.openings).names(store, stored, [(opening, pair)])?.remove(&opening);
        let shown = game_to_show(&stored.plan, (pair, game_index, game), 0, |_| {
            let outcome = &game.outcome;
            let opening = name.filter(|name| !name.is_empty());
            let opening = opening.map_or(String::new(), |name| format!(" Opening: {name}."));
            let names = game.engines.map(|engine| stored.plan.engines[engine].name.as_str());
            let why = outcome.termination.describe();
            let description = outcome.naming(names);
            format!("Ending: {why}. {description}.{opening}")
        });
        Ok(Some(pages::game(self, place, &around, &shown)))
    }

    /// Returns the PGN header of the run, and the selected games. Each game is represented by the
    /// number of the pair and the index of the game in the pair, both from 0.
    pub(crate) fn places(&self) -> Result<(PgnHeader, Vec<(u64, usize)>), HttpError> {
        let StoredRun { plan, fingerprints, head, .. } = &self.stored;
        // Only the numbers of the games are in memory; games are read while earlier games are sent.
        let games = self.store.games(
            &head.run,
            &self.query,
            GamePart::Page { first: 1, count: MAX_PGN },
        )?;
        let header = PgnHeader::of(plan, fingerprints, head.created_ms);
        Ok((header, games.iter().map(|game| (game.pair, game.half)).collect()))
    }
}

/// Returns the PGN of games of a run; games that are not in the store are omitted.
pub(crate) fn pgn(
    results: &Path,
    run: &str,
    header: &PgnHeader,
    games: &[(u64, usize)],
) -> Result<String, HttpError> {
    let store = Store::observe(results)?;
    let mut text = String::new();
    for games in games.chunk_by(|one, other| one.0 == other.0) {
        if let Some(played) = store.pair(run, games[0].0)? {
            text.extend(
                games.iter().filter_map(|(_, game_index)| game_pgn(header, &played, *game_index)),
            );
        }
    }
    Ok(text)
}

/// Returns the PGN of one game; empty if the game is not in the store.
pub(crate) fn one_pgn(results: &Path, run: &str, place: (u64, usize)) -> Result<String, HttpError> {
    let StoredRun { plan, fingerprints, head, .. } = Store::observe(results)?.run(run)?;
    pgn(results, run, &PgnHeader::of(&plan, &fingerprints, head.created_ms), &[place])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url_query::MAX_QUERY;
    use arbiter_plan::{Request, RunKind};
    use arbiter_store::{GameOrder, parse_place};

    #[test]
    fn invalid_game_queries_are_explained() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let ask = |query: &str| {
            let fields = query.split('&').filter_map(|field| field.split_once('='));
            let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
            UrlQuery::new(query, fields.collect())
        };
        let url_query =
            ask("from=10&to=20&swing=1.5&ending=crash&page=3&order=swing&opening=").unwrap();
        let address = "/?from=10&to=20&swing=1.5&ending=crash&order=swing";
        assert_eq!(url_query.address("/", None), address);
        let games = url_query.games(&plan).unwrap();
        assert_eq!((games.min_plies, games.max_plies), (Some(19), Some(40)));
        assert_eq!((games.min_swing, games.order), (Some(150), GameOrder::Swing));
        assert_eq!(url_query.part(), Ok(2));
        for wrong in ["engine=x", "ending=x", "from=-1", "to=1e9", "swing=nan", "order=x"] {
            let message = ask(wrong).unwrap().games(&plan).unwrap_err();
            assert!(!message.is_empty(), "{wrong}");
        }
        let message = ask("order=longest").unwrap().games(&plan).unwrap_err();
        assert!(ORDERS[1..].iter().all(|(name, ..)| message.contains(name)), "{message}");
        assert!(ask("page=x").unwrap().part().is_err());
        assert!(ask(&"x".repeat(MAX_QUERY + 1)).is_err());
        assert_eq!(
            ["3.1", "0.1", "1", "1.x", "1.0"].map(parse_place),
            [Some((2, 0)), None, None, None, None]
        );
    }
}
