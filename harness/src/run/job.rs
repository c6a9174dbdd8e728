//! The unit of work and of evidence: a pair of games.

use std::num::NonZeroUsize;
use std::sync::Arc;

use shakmaty::ByColor;

use crate::adjudicate::{Rules, Tables};
use crate::clock::Conditions;
use crate::config::plan::Plan;
use crate::game::driver::GameSetup;
use crate::game::pulse::Pulse;
use crate::game::record::{GameRecord, Keep};
use crate::openings::order::OpeningOrder;
use crate::openings::{Book, Opening};
use crate::schedule::Pairing;

/// The games of a pair, in the order of play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Games<T> {
    /// The first engine has White.
    pub first: T,
    /// The second engine has White; `None` in a run that plays each opening once.
    pub second: Option<T>,
}

impl<T> Games<T> {
    /// The games, in the order of play.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.second)
    }
}

/// A pair to be played.
#[derive(Debug, Clone)]
pub struct PairJob {
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// Its games.
    pub games: Games<GameSetup>,
}

/// A pair that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedPair {
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// Its games.
    pub games: Games<GameRecord>,
}

impl PlayedPair {
    /// Forgets what was said, which is in the store.
    pub fn drop_transcripts(&mut self) {
        let Games { first, second } = &mut self.games;
        first.transcript = None;
        second.iter_mut().for_each(|game| game.transcript = None);
    }
}

/// Makes the job of a pairing from the plan alone, so that a resumed run plays the same games.
#[derive(Debug)]
pub struct JobMaker<'a> {
    is_single: bool,
    book: &'a Book,
    order: OpeningOrder,
    conditions: Vec<Conditions>,
    rules: Rules,
    tables: Option<Arc<dyn Tables>>,
    keep: Arc<Keep>,
}

impl JobMaker<'_> {
    /// The jobs of a plan; `tables` are those that its rules ask for.
    pub fn new<'a>(plan: &Plan, book: &'a Book, tables: Option<Arc<dyn Tables>>) -> JobMaker<'a> {
        let length = NonZeroUsize::new(book.len());
        let length = length.expect("a book has at least one opening");
        JobMaker {
            is_single: plan.design.is_single,
            book,
            order: OpeningOrder::new(plan.order, plan.seed, plan.opening_start, length),
            conditions: plan.engines.iter().map(|engine| engine.conditions).collect(),
            rules: plan.rules,
            tables,
            keep: Arc::new(Keep::for_annotation(&plan.annotation, plan.transcripts)),
        }
    }

    /// The job of a pairing.
    pub fn job(&mut self, pairing: Pairing) -> PairJob {
        let opening = &self.book.opening(self.order.opening_for(pairing.opening));
        let [first, second] = pairing.engines;
        let setup = |white, black| self.setup(opening, ByColor { white, black });
        let games = Games {
            first: setup(first, second),
            second: (!self.is_single).then(|| setup(second, first)),
        };
        PairJob { pairing, games }
    }

    fn setup(&self, opening: &Opening, engines: ByColor<usize>) -> GameSetup {
        GameSetup {
            engines,
            fen: opening.fen().to_string(),
            start: opening.start_position(),
            mode: opening.castling_mode(),
            book: opening.moves().to_vec(),
            conditions: engines.map(|index| self.conditions[index]),
            rules: self.rules,
            tables: self.tables.clone(),
            keep: self.keep.clone(),
            pulse: Pulse::default(),
        }
    }
}
