//! Proof that the sender of a result was given the job.
//!
//! A worker that joins a run is given a token, and each attempt at a job has a nonce. The proof of
//! a result is the hash of the nonce, keyed with the token. Tokens and nonces are derived from a
//! secret of the run, so that the coordinator need not store tokens and nonces, even to resume the
//! run.

use std::fmt::Display;

use super::subject::RunId;
use super::trust::Key;

/// 32 bytes known only to the coordinator and one recipient; comparisons take constant time.
pub type Token = blake3::Hash;

/// Secret from which the tokens and nonces of a run are derived; only the coordinator knows the
/// secret.
pub(crate) struct RunSecret([u8; 32]);

impl RunSecret {
    /// Derives the secret of a run from the key of its coordinator.
    pub(crate) fn new(key: &Key, run_id: &RunId) -> RunSecret {
        RunSecret(key.secret(run_id.as_str()))
    }

    /// Returns the token of a worker that joins.
    pub(crate) fn token(&self, worker: &str) -> Token {
        blake3::keyed_hash(&self.0, format!("worker {worker}").as_bytes())
    }

    /// Returns the nonce of an attempt at a pair, or at another assignment.
    pub(crate) fn nonce(&self, number: u64, attempt: u32) -> Token {
        // Each of the three uses of the secret has a different prefix.
        blake3::keyed_hash(&self.0, format!("job {number} {attempt}").as_bytes())
    }

    /// Returns a pseudorandom number in [0, 1) for a pair, or for another decision about audits.
    /// Workers cannot predict the number.
    pub(crate) fn draw(&self, decision: impl Display) -> f64 {
        let hash = blake3::keyed_hash(&self.0, format!("audit {decision}").as_bytes());
        let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        // The upper 53 bits fill the mantissa of an f64, so the quotient is exact and below 1.
        (u64::from_le_bytes(*first) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns the proof that the worker was given this attempt at a job.
    pub(crate) fn proof(&self, worker: &str, number: u64, attempt: u32) -> Token {
        proof(&self.token(worker), &self.nonce(number, attempt))
    }
}

/// Returns the proof that the worker with this token was given the job with this nonce.
pub fn proof(token: &Token, nonce: &Token) -> Token {
    blake3::keyed_hash(token.as_bytes(), nonce.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_depends_on_worker_job_attempt_run_and_key() {
        let dir = tempfile::tempdir().unwrap();
        let key = |name: &str| Key::load_or_make(&dir.path().join(name)).unwrap();
        let secret = |key: &Key, run: &str| RunSecret::new(key, &RunId::new(run, 1, "k"));
        let own = secret(&key("a"), "r");
        let given = proof(&own.token("w"), &own.nonce(7, 1));
        assert_eq!(secret(&key("a"), "r").proof("w", 7, 1), given);
        for other in [
            own.proof("v", 7, 1),
            own.proof("w", 8, 1),
            own.proof("w", 7, 2),
            secret(&key("a"), "s").proof("w", 7, 1),
            secret(&key("b"), "r").proof("w", 7, 1),
        ] {
            assert_ne!(other, given);
        }
    }
}
