//! A position of a suite, to be searched. It is complete together with the description of its run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use shakmaty::Move;
use shakmaty::uci::UciMove;

use super::{WireError, invalid};
use arbiter_suite::Start;
use arbiter_suite::epd::{Goal, Question, Record};

/// Most moves that a position lists of one kind: no position has more.
const MAX_MOVES: usize = 256;

/// A question as it is sent.
#[derive(Serialize, Deserialize)]
pub(super) struct QuestionMessage {
    fen: String,
    chess960: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    best: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    avoid: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mate: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    points: Vec<(String, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold: Option<u32>,
}

impl QuestionMessage {
    pub(super) fn of(question: &Question) -> QuestionMessage {
        let Record { start, goal, .. } = &*question.record;
        let uci = |played: &Move| played.to_uci(start.mode).to_string();
        QuestionMessage {
            fen: start.fen(),
            chess960: start.is_chess960(),
            best: goal.best.iter().map(uci).collect(),
            avoid: goal.avoid.iter().map(uci).collect(),
            mate: goal.mate,
            points: goal.points.iter().map(|(played, points)| (uci(played), *points)).collect(),
            hold: question.hold,
        }
    }

    /// The question of this number to so many engines.
    pub(super) fn into_question(self, number: u64, engines: usize) -> Result<Question, WireError> {
        if [self.best.len(), self.avoid.len(), self.points.len()].iter().any(|n| *n > MAX_MOVES) {
            return Err(invalid("more moves than a position has"));
        }
        let start = Start::read(&self.fen, self.chess960)
            .map_err(|error| invalid(format!("FEN: {error}")))?;
        let read = |text: &String| {
            let illegal = || invalid("a move that is none");
            let uci: UciMove = text.parse().map_err(|_| illegal())?;
            uci.to_move(&start.position).map_err(|_| illegal())
        };
        let all = |texts: &[String]| texts.iter().map(read).collect::<Result<Vec<Move>, _>>();
        let points = self.points.iter().map(|(text, points)| Ok((read(text)?, *points)));
        let goal = Goal {
            best: all(&self.best)?,
            avoid: all(&self.avoid)?,
            mate: self.mate,
            points: points.collect::<Result<_, WireError>>()?,
        };
        let record = Record { line: 0, id: None, theme: None, start, goal, notes: Vec::new() };
        Ok(Question { number, record: Arc::new(record), hold: self.hold, engines })
    }
}
