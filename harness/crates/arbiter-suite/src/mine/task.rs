//! Task that asks an engine for the best move in a position and for the lead of this move over the
//! second best move.

use std::sync::Arc;
use std::time::Duration;

use super::candidate::Candidate;
use super::epd::{MinedPosition, mined_position};
use super::proof::{Transcript, look, prove};
use super::{Criteria, Rejection};
use crate::runner::{Task, TaskError};
use crate::start::game;
use arbiter_game::engine::EngineProcess;

/// Options for the engine that searches the positions, in addition to the user's options. With one
/// thread, searches are reproducible; two variations show the second best move.
pub const OPTIONS: [(&str, &str); 2] = [("Threads", "1"), ("MultiPV", "2")];

/// Searches of one position: quick searches, then the proof search.
#[derive(Debug, Clone)]
pub struct Search {
    /// Position to search.
    pub candidate: Arc<Candidate>,
    /// Conditions that the position must meet.
    pub criteria: Arc<Criteria>,
    /// Time limit for each search.
    pub limit: Duration,
}

impl Task for Search {
    type Output = Result<MinedPosition, Rejection>;

    async fn run(&self, engine: &mut EngineProcess) -> Result<Self::Output, TaskError> {
        // Most positions have no clearly best move. A shallow search rejects such a position in a
        // fraction of the time that a proof search takes.
        for &depth in &self.criteria.looks {
            let transcript = self.search(engine, depth).await?;
            if let Err(rejection) = look(&self.candidate, &transcript, depth, &self.criteria) {
                return Ok(Err(rejection));
            }
        }
        let searched = self.search(engine, self.criteria.depth).await?;
        let proof = prove(&self.candidate, &searched, &self.criteria);
        Ok(proof.map(|proof| mined_position(&self.candidate, &proof, &self.criteria)))
    }
}

impl Search {
    /// Searches the position with an empty hash table. The result therefore depends neither on the
    /// order of positions nor on interruptions, and the same games give the same suite.
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
