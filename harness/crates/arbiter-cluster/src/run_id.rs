//! ID of a run, and names of the run's subjects and streams on the server.

use serde::{Deserialize, Serialize};

use super::subject::JOB_CONSUMER;
use super::wire::VERSION;

/// ID of a run on a server: 16 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct RunId(String);

impl TryFrom<String> for RunId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<RunId, &'static str> {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let is_id = text.len() == 16 && text.bytes().all(is_digit);
        if is_id { Ok(RunId(text)) } else { Err("not an ID of a run") }
    }
}

impl RunId {
    /// Derives the ID of a run from its name, its start time (Unix time in milliseconds), and the
    /// key of its coordinator. A resumed run keeps its ID, unless the version of the messages has
    /// changed.
    pub fn new(run: &str, created_ms: i64, key: &str) -> RunId {
        // The hash includes the version, so that an updated coordinator does not open streams with
        // messages of another version.
        let text = format!("{run}\n{created_ms}\n{key}\n{VERSION}");
        RunId(blake3::hash(text.as_bytes()).to_hex()[..16].to_owned())
    }

    /// Returns the ID as a string.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the ID of the run from the subject of a coordinator message.
    pub(crate) fn from_subject(subject: &str) -> Option<RunId> {
        RunId::try_from(subject.split('.').nth(2)?.to_owned()).ok()
    }

    /// Returns the subject of requests for the description of the run.
    pub fn description_subject(&self) -> String {
        format!("arbiter.run.{}.head", self.0)
    }

    /// Returns the subject of requests for programs that the object store lacks.
    pub(crate) fn program_subject(&self) -> String {
        format!("arbiter.run.{}.need", self.0)
    }

    /// Returns the subject of the heartbeats of a worker; `>` for all workers.
    pub fn heartbeat_subject(&self, worker: &str) -> String {
        format!("arbiter.run.{}.sign.{worker}", self.0)
    }

    /// Returns the subject of the join requests of a worker; `>` for all workers.
    pub fn join_subject(&self, worker: &str) -> String {
        format!("arbiter.run.{}.join.{worker}", self.0)
    }

    /// Returns the subject of coordinator messages.
    pub(crate) fn coordinator_subject(&self) -> String {
        format!("arbiter.run.{}.word", self.0)
    }

    /// Returns the name of the stream of jobs.
    pub fn job_stream(&self) -> String {
        format!("ARBITER_JOBS_{}", self.0)
    }

    /// Returns the name of the stream of results.
    pub(crate) fn result_stream(&self) -> String {
        format!("ARBITER_RESULTS_{}", self.0)
    }

    /// Returns the subject of the job of a pair; `*` for all jobs.
    pub(crate) fn job_subject(&self, pair: impl std::fmt::Display) -> String {
        format!("arbiter.jobs.{}.{pair}", self.0)
    }

    /// Returns the subject of a worker's result for a pair; `*` for all pairs, `>` for all workers.
    pub fn result_subject(&self, pair: impl std::fmt::Display, worker: &str) -> String {
        format!("arbiter.results.{}.{pair}.{worker}", self.0)
    }

    /// Returns the number of the pair from the subject of a result.
    pub(crate) fn pair_of_result(subject: &str) -> Option<u64> {
        subject.split('.').nth(3)?.parse().ok()
    }

    /// Returns the subject for acknowledging the job with this sequence number in its stream.
    pub(crate) fn job_ack_subject(&self, sequence: u64) -> String {
        // The server uses only the stream sequence. Clients use the other fields: the number of
        // deliveries, the time and the number of pending messages.
        format!("$JS.ACK.{}.{JOB_CONSUMER}.1.{sequence}.{sequence}.0.0", self.job_stream())
    }
}

#[cfg(test)]
mod tests {
    use super::super::subject::{sender, worker_status};
    use super::*;

    fn id() -> RunId {
        RunId::try_from("0123456789abcdef".to_owned()).unwrap()
    }

    #[test]
    fn run_ids_depend_on_name_start_and_key() {
        let id = RunId::new("a", 1, "k");
        assert_eq!(RunId::try_from(id.0.clone()).as_ref(), Ok(&id));
        for other in [("b", 1, "k"), ("a", 2, "k"), ("a", 1, "l")] {
            assert_ne!(id, RunId::new(other.0, other.1, other.2));
        }
        for wrong in ["", "0123", "0123456789abcdeF", "0123456789abcde.", "*"] {
            assert!(RunId::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        assert_eq!(RunId::from_subject(&id.coordinator_subject()), Some(id));
    }

    #[test]
    fn the_subject_names_the_sender() {
        let worker = "lab.7-b";
        for subject in [
            id().join_subject(worker),
            id().heartbeat_subject(worker),
            id().result_subject(7, worker),
            worker_status(worker),
        ] {
            assert_eq!(sender(&subject), worker, "{subject}");
        }
        assert_eq!(sender(&id().coordinator_subject()), "");
    }
}
