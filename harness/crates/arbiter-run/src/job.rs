//! Pairs of games, which are the unit of work and of the statistics.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use arbiter_game::adjudicate::Tables;
use arbiter_game::driver::{GameSetup, Progress, Settings};
use arbiter_game::record::{GameRecord, KeptFields};
use arbiter_openings::{Book, OpeningOrder};
use arbiter_plan::{Plan, load_part_of_book};
use arbiter_schedule::{Pairing, Schedule};

/// One item for each game of a pair, in the order of play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Games<T> {
    /// Item of the game with the first engine as White.
    pub first: T,
    /// Item of the game with the second engine as White; `None` in a run of single games.
    pub second: Option<T>,
}

impl<T> Games<T> {
    /// Returns the items in the order of play.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.second)
    }
}

/// Pair to play, with the setups of the games.
#[derive(Debug, Clone)]
pub struct PairJob {
    /// Number, engines and opening of the pair.
    pub pairing: Pairing,
    /// Setups of the games.
    pub games: Games<GameSetup>,
}

/// Played pair, with the records of the games.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedPair {
    /// Number, engines and opening of the pair.
    pub pairing: Pairing,
    /// Records of the games.
    pub games: Games<GameRecord>,
}

impl PlayedPair {
    /// Drops the transcripts, after they have been stored.
    pub fn drop_transcripts(&mut self) {
        let Games { first, second } = &mut self.games;
        first.transcript = None;
        second.iter_mut().for_each(|game| game.transcript = None);
    }
}

/// Reduces the book to the openings that the run will play, if these openings are known. Dropping
/// the other openings frees most of the memory of a large book.
pub fn thin_book(book: &mut Book, plan: &Plan) {
    if !book.is_partial()
        && let Some(needed) = needed_openings(plan, &plan.schedule(), book.len())
    {
        book.keep(&needed);
    }
}

/// Reads only the openings that the run will play. The complete book must have been read earlier
/// for this run, without invalid lines. Returns `None` if the complete book has to be read again.
pub fn load_thin_book(plan: &Plan) -> Option<Book> {
    let length = usize::try_from(plan.book_length?).ok()?;
    let needed = needed_openings(plan, &plan.schedule(), length)?;
    load_part_of_book(plan, length, &needed)
}

/// Returns the indices of the openings that the run will use, in a book of `length` openings;
/// `None` if the indices are not known before the first pair, or if the run needs the complete
/// book.
fn needed_openings(plan: &Plan, schedule: &Schedule, length: usize) -> Option<BTreeSet<usize>> {
    let pairs = schedule.known_pairs();
    if !schedule.is_complete() || pairs >= length as u64 {
        return None;
    }
    let mut order = order(plan, length);
    let pairings = (0..pairs).filter_map(|pair| schedule.pairing(pair));
    Some(pairings.map(|pairing| order.opening_for(pairing.opening)).collect())
}

fn order(plan: &Plan, length: usize) -> OpeningOrder {
    OpeningOrder::new(plan.order, plan.seed, plan.opening_start, length)
}

/// Creator of jobs. Jobs depend only on plan, pairing and settings, so a resumed run plays the same
/// openings with the same settings.
#[derive(Debug)]
pub struct JobMaker<'a> {
    plan: &'a Plan,
    book: &'a Book,
    order: OpeningOrder,
    tables: Option<Arc<dyn Tables>>,
    keep: Arc<KeptFields>,
}

impl<'a> JobMaker<'a> {
    /// Creates the job maker of a plan; `tables` are the tablebases that the adjudication rules
    /// need.
    pub fn new(plan: &'a Plan, book: &'a Book, tables: Option<Arc<dyn Tables>>) -> JobMaker<'a> {
        let fields = plan.annotation.fields.clone();
        let keep = Arc::new(KeptFields { fields, transcripts: plan.transcripts });
        JobMaker { plan, book, order: order(plan, book.len()), tables, keep }
    }

    /// Returns the job of a pairing. In a tuning run, `settings` contains the options of engines 0
    /// and 1 for this pair.
    pub fn job(
        &mut self,
        pairing: Pairing,
        settings: Option<[Vec<(String, String)>; 2]>,
    ) -> PairJob {
        let settings = settings.unwrap_or_default().map(Settings::from);
        let opening = &self.book.opening(self.order.opening_for(pairing.opening));
        let [first, second] = pairing.engines;
        let setup = |white: usize, black| {
            let engines = ByColor { white, black };
            let options = |index: usize| settings.get(index).cloned().unwrap_or_default();
            GameSetup {
                engines,
                fen: opening.fen.to_string(),
                start: opening.start_position(),
                mode: opening.castling_mode,
                book: opening.moves.clone(),
                conditions: engines.map(|index| self.plan.engines[index].conditions),
                settings: engines.map(options),
                rules: self.plan.rules,
                tables: self.tables.clone(),
                keep: self.keep.clone(),
                progress: Progress::default(),
            }
        };
        let games = Games {
            first: setup(first, second),
            second: (!self.plan.design.is_single).then(|| setup(second, first)),
        };
        PairJob { pairing, games }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::{Request, RunKind};
    use arbiter_schedule::{Design, Format, OpeningPolicy};

    const LENGTH: usize = 1000;

    #[test]
    fn a_run_of_known_length_needs_only_the_openings_of_its_pairs() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let needed = |design: Design, engines| {
            needed_openings(&plan, &Schedule::new(design, engines, 1), LENGTH)
        };
        let mut order = order(&plan, LENGTH);
        let first: BTreeSet<usize> = (0..7).map(|nth| order.opening_for(nth)).collect();
        assert_eq!(needed(Design::round_robin(7), 2), Some(first.clone()));
        assert_eq!(needed(Design::round_robin(7), 4), Some(first), "each encounter has the same");
        let each_its_own = Design { openings: OpeningPolicy::PerPair, ..Design::round_robin(7) };
        assert_eq!(needed(each_its_own, 4).unwrap().len(), 42);
        // The run needs the complete book, or an unknown part of the book.
        assert_eq!(needed(Design::round_robin(LENGTH as u64), 2), None);
        assert_eq!(needed(Design { format: Format::Swiss, ..Design::round_robin(7) }, 4), None);
    }
}
