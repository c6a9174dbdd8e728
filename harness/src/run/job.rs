//! The unit of work and of evidence: a pair of games.

use std::num::NonZeroUsize;

use shakmaty::ByColor;

use crate::adjudicate::Rules;
use crate::clock::Conditions;
use crate::config::plan::Plan;
use crate::game::driver::GameSetup;
use crate::game::record::GameRecord;
use crate::openings::order::OpeningOrder;
use crate::openings::{Book, Opening};
use crate::schedule::{Pairing, Schedule};

/// A pair to be played.
#[derive(Debug, Clone)]
pub struct PairJob {
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// The two games, in the order of play.
    pub games: [GameSetup; 2],
}

/// A pair that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedPair {
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// The two games, in the order of play.
    pub games: [GameRecord; 2],
}

/// Who meets whom in a plan.
pub fn schedule(plan: &Plan) -> Schedule {
    Schedule::new(plan.format, plan.engines.len(), plan.pairs)
}

/// Makes the job of a pair from its number alone, so that a resumed run plays the same games.
#[derive(Debug)]
pub struct JobMaker<'a> {
    schedule: Schedule,
    book: &'a Book,
    order: OpeningOrder,
    conditions: Vec<Conditions>,
    rules: Rules,
}

impl JobMaker<'_> {
    /// The jobs of a plan.
    pub fn new<'a>(plan: &Plan, book: &'a Book) -> JobMaker<'a> {
        let length = NonZeroUsize::new(book.openings().len());
        let length = length.expect("a book has at least one opening");
        JobMaker {
            schedule: schedule(plan),
            book,
            order: OpeningOrder::new(plan.order, plan.seed, 0, length),
            conditions: plan.engines.iter().map(|engine| engine.conditions).collect(),
            rules: plan.rules,
        }
    }

    /// The job of a pair, or `None` beyond the last.
    pub fn job(&mut self, pair: u64) -> Option<PairJob> {
        let pairing = self.schedule.pairing(pair)?;
        let opening = &self.book.openings()[self.order.opening_for(pairing.opening)];
        let [first, second] = pairing.engines;
        let games = [(first, second), (second, first)]
            .map(|(white, black)| self.setup(opening, ByColor { white, black }));
        Some(PairJob { pairing, games })
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
        }
    }
}
