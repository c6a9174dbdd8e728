//! IDs of runs, and names of subjects, streams and consumers on the server. Operators use the names
//! in the permissions of their servers, so the names must not change.

use serde::{Deserialize, Serialize};

use super::wire::VERSION;

/// Beacons of all coordinators.
pub const BEACONS: &str = "arbiter.beacon";

/// Status messages of all workers.
pub(crate) const ALL_WORKER_STATUSES: &str = "arbiter.hello.>";

/// Coordinator messages of all runs.
pub const ALL_COORDINATOR_MESSAGES: &str = "arbiter.run.*.word";

/// Object store of programs.
pub(crate) const PROGRAMS: &str = "ARBITER_PROGRAMS";

/// Consumer of the jobs, shared by all workers.
pub const JOB_CONSUMER: &str = "workers";

/// The coordinator's consumer of the results.
pub(crate) const RESULT_CONSUMER: &str = "collector";

/// Prefix of reply subjects.
pub const INBOX: &str = "_INBOX";

/// Returns the subject of a worker's status messages.
pub fn worker_status(worker: &str) -> String {
    format!("arbiter.hello.{worker}")
}

/// Returns the name of the worker that sends to a subject; empty if workers do not send to the
/// subject. The permissions of the server prevent other workers from sending to this subject.
pub(crate) fn sender(subject: &str) -> &str {
    match subject.strip_prefix("arbiter.hello.") {
        Some(worker) => worker,
        // Worker names may contain dots, so the rest of the subject is the name.
        None => subject.splitn(5, '.').nth(4).unwrap_or_default(),
    }
}

/// Prefix of the subjects with which servers replace reply subjects of another account.
const OTHER_ACCOUNT: &str = "_R_";

/// Returns whether a coordinator may reply to this subject. Coordinators have more permissions than
/// workers. If workers could choose any reply subject, a worker could make the coordinator send
/// messages that the worker itself may not send.
pub fn is_inbox(subject: &impl AsRef<str>) -> bool {
    let subject = subject.as_ref();
    let rest = subject.strip_prefix(INBOX).or_else(|| subject.strip_prefix(OTHER_ACCOUNT));
    // The dot excludes longer words with the same prefix.
    rest.is_some_and(|rest| rest.starts_with('.') && !rest.contains(['*', '>', ' ']))
}

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
    use super::*;

    #[test]
    fn replies_go_only_to_inboxes() {
        for inbox in ["_INBOX.abc", "_INBOX.worker1.abc.7", "_R_.abc.7"] {
            assert!(is_inbox(&inbox), "{inbox}");
        }
        for other in [
            "$JS.API.STREAM.DELETE.ARBITER_JOBS_0123456789abcdef",
            "arbiter.jobs.0123456789abcdef.0",
            "arbiter.run.0123456789abcdef.word",
            "_INBOX",
            "_INBOXES.abc",
            "_INBOX.>",
            "",
        ] {
            assert!(!is_inbox(&other), "{other}");
        }
    }

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
