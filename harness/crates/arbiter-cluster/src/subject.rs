//! Names of subjects, streams and consumers on the server. Operators use the names in the
//! permissions of their servers, so the names must not change.

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

/// Consumer of the results, for the coordinator.
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
}
