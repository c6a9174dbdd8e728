//! Task that asks an engine for the best move and its lead over the second best move.

use std::sync::Arc;
use std::time::Duration;

use super::candidate::Candidate;
use super::epd::{MinedPosition, mined_position};
use super::proof::{Transcript, look, prove};
use super::{Criteria, Rejection};
use crate::runner::{Task, TaskError};
use crate::start::game;
use arbiter_game::engine::EngineProcess;

/// Options of the engine that proves positions, in addition to the user's options: one thread, so
/// that searches are reproducible, and two lines.
pub const OPTIONS: [(&str, &str); 2] = [("Threads", "1"), ("MultiPV", "2")];

/// Searches of one position.
#[derive(Debug, Clone)]
pub struct Search {
    /// Position to search.
    pub candidate: Arc<Candidate>,
    /// Conditions for a question.
    pub criteria: Arc<Criteria>,
    /// Time limit of one search.
    pub limit: Duration,
}

impl Task for Search {
    type Output = Result<MinedPosition, Rejection>;

    async fn run(&self, engine: &mut EngineProcess) -> Result<Self::Output, TaskError> {
        // Most positions have no clearly best move, and a shallow search detects this in a fraction
        // of the time of a proof search.
        for &depth in &self.criteria.looks {
            let seen = self.search(engine, depth).await?;
            if let Err(rejection) = look(&self.candidate, &seen, depth, &self.criteria) {
                return Ok(Err(rejection));
            }
        }
        let searched = self.search(engine, self.criteria.depth).await?;
        let proof = prove(&self.candidate, &searched, &self.criteria);
        Ok(proof.map(|proof| mined_position(&self.candidate, &proof, &self.criteria)))
    }
}

impl Search {
    /// Searches with an empty hash table. Therefore neither the order of positions nor an
    /// interruption changes the result, and the same games give the same suite.
    async fn search(
        &self,
        engine: &mut EngineProcess,
        depth: u32,
    ) -> Result<Transcript, TaskError> {
        let start = &self.candidate.start;
        engine.new_game(game(start)).await?;
        let mut transcript = Transcript::default();
        let take = |line: &str| transcript.take(line);
        engine.ask(&start.line(&[]), &format!("go depth {depth}"), self.limit, take).await?;
        Ok(transcript)
    }
}
