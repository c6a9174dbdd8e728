//! The question which move is best, and by how much.

use std::sync::Arc;
use std::time::Duration;

use super::candidate::Candidate;
use super::epd::{Found, found};
use super::proof::{Transcript, look, prove};
use super::{Criteria, Rejection};
use crate::drive::{Task, Trouble};
use arbiter_game::engine::EngineProcess;

/// What the engine that proves is told besides what the user says: one thread, so that it says the
/// same again, and two lines.
pub const OPTIONS: [(&str, &str); 2] = [("Threads", "1"), ("MultiPV", "2")];

/// One position.
#[derive(Debug, Clone)]
pub struct Search {
    /// The position.
    pub candidate: Arc<Candidate>,
    /// What is wanted of it.
    pub criteria: Arc<Criteria>,
    /// How long a search may take.
    pub limit: Duration,
}

impl Task for Search {
    type Done = Result<Found, Rejection>;

    fn seat(&self) -> usize {
        0
    }

    async fn carry_out(&self, player: &mut EngineProcess) -> Result<Self::Done, Trouble> {
        for &depth in &self.criteria.looks {
            let seen = self.search(player, depth).await?;
            if let Err(rejection) = look(&self.candidate, &seen, depth, &self.criteria) {
                return Ok(Err(rejection));
            }
        }
        let searched = self.search(player, self.criteria.depth).await?;
        let proof = prove(&self.candidate, &searched, &self.criteria);
        Ok(proof.map(|proof| found(&self.candidate, &proof, &self.criteria)))
    }
}

impl Search {
    /// Searches with an empty hash table, so that the order of positions makes no difference.
    async fn search(&self, player: &mut EngineProcess, depth: u32) -> Result<Transcript, Trouble> {
        let start = &self.candidate.start;
        player.new_game(start.game()).await?;
        let mut transcript = Transcript::default();
        let take = |line: &str| transcript.take(line);
        player.ask(&start.line(&[]), &format!("go depth {depth}"), self.limit, take).await?;
        Ok(transcript)
    }
}
