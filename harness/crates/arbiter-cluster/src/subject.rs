//! Subjects, streams and consumers of a run on the server. Operators name them in the permissions of
//! their servers, so they stay as they are.

/// Beacons of all coordinators.
pub const BEACON: &str = "arbiter.beacon";

/// Status of all workers.
pub const ALL_WORKER_STATUSES: &str = "arbiter.hello.>";

/// Messages of all coordinators to their workers.
pub const ALL_COORDINATOR_MESSAGES: &str = "arbiter.run.*.word";

/// The object store of programs.
pub const PROGRAMS: &str = "ARBITER_PROGRAMS";

/// The consumer from which workers take jobs.
pub const JOB_CONSUMER: &str = "workers";

/// The consumer from which a coordinator takes results.
pub const RESULT_CONSUMER: &str = "collector";

/// Names of what belongs to one run; `token` stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    token: String,
}

impl Names {
    /// The names for a token, which must be one ([`is_token`]).
    pub fn new(token: &str) -> Names {
        Names { token: token.to_owned() }
    }

    /// Where its description is asked for.
    pub fn description(&self) -> String {
        format!("arbiter.run.{}.head", self.token)
    }

    /// Where a program is asked for that the object store lacks.
    pub fn need(&self) -> String {
        format!("arbiter.run.{}.need", self.token)
    }

    /// Where a worker of this name sends heartbeats.
    pub fn heartbeat(&self, worker: &str) -> String {
        format!("arbiter.run.{}.sign.{worker}", self.token)
    }

    /// Where all workers send heartbeats.
    pub fn all_heartbeats(&self) -> String {
        format!("arbiter.run.{}.sign.>", self.token)
    }

    /// Where a worker of this name asks whether it may play.
    pub fn join(&self, worker: &str) -> String {
        format!("arbiter.run.{}.join.{worker}", self.token)
    }

    /// Where all workers ask that.
    pub fn all_joins(&self) -> String {
        format!("arbiter.run.{}.join.>", self.token)
    }

    /// Where the coordinator sends messages to its workers.
    pub fn coordinator_messages(&self) -> String {
        format!("arbiter.run.{}.word", self.token)
    }

    /// The stream of its jobs.
    pub fn jobs(&self) -> String {
        format!("ARBITER_JOBS_{}", self.token)
    }

    /// The stream of its results.
    pub fn results(&self) -> String {
        format!("ARBITER_RESULTS_{}", self.token)
    }

    /// The job of a pair.
    pub fn job(&self, pair: u64) -> String {
        format!("arbiter.jobs.{}.{pair}", self.token)
    }

    /// All its jobs.
    pub fn all_jobs(&self) -> String {
        format!("arbiter.jobs.{}.*", self.token)
    }

    /// The result of a pair from a worker of this name.
    pub fn result(&self, pair: u64, worker: &str) -> String {
        format!("arbiter.results.{}.{pair}.{worker}", self.token)
    }

    /// All its results.
    pub fn all_results(&self) -> String {
        format!("arbiter.results.{}.*.>", self.token)
    }

    /// The place in the stream of jobs that a subject for acknowledgements stands for; `None` if it
    /// is not one for a job of this run. What a worker says it should acknowledge must not reach
    /// anything else.
    pub fn acknowledged(&self, subject: &str) -> Option<u64> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "$._-@".contains(c);
        if subject.len() > 512 || !subject.chars().all(plain) {
            return None;
        }
        let tokens: Vec<&str> = subject.strip_prefix("$JS.ACK.")?.split('.').collect();
        let jobs = self.jobs();
        // Newer servers put a domain and a hash of the account in front.
        let rest = match &tokens[..] {
            [stream, rest @ ..] if *stream == jobs && rest.len() == 6 => rest,
            [_, _, stream, rest @ ..] if *stream == jobs && rest.len() >= 6 => rest,
            _ => return None,
        };
        match rest {
            [consumer, _, sequence, ..] if *consumer == JOB_CONSUMER => sequence.parse().ok(),
            _ => None,
        }
    }
}

/// Where a worker of this name sends its status.
pub fn worker_status(worker: &str) -> String {
    format!("arbiter.hello.{worker}")
}

/// The worker that speaks at a subject; empty if it is one at which workers do not. The server has
/// seen to it that nobody else does, if its permissions are such.
pub fn speaker(subject: &str) -> &str {
    match subject.strip_prefix("arbiter.hello.") {
        Some(worker) => worker,
        None => subject.splitn(5, '.').nth(4).unwrap_or_default(),
    }
}

/// Whether a text can stand for a run: 16 hexadecimal digits.
pub fn is_token(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// What all subjects begin with at which answers are waited for.
pub const INBOX: &str = "_INBOX";

/// Whether a coordinator may answer there. It may say more than those who ask it: an answer to any
/// other subject would do for them what their own permissions forbid.
pub fn is_inbox(subject: &impl AsRef<str>) -> bool {
    let rest = subject.as_ref().strip_prefix(INBOX);
    rest.is_some_and(|rest| rest.starts_with('.') && !rest.contains(['*', '>', ' ']))
}

/// What stands for a run: it follows from its name, the time when it began, and the key of its
/// coordinator, so that a resumed run meets what was left of it and no other run does.
pub fn token_of(run: &str, created_ms: i64, key: &str) -> String {
    let text = format!("{run}\n{created_ms}\n{key}");
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_one_run() {
        let token = token_of("a", 1, "k");
        assert!(is_token(&token), "{token}");
        for other in [token_of("b", 1, "k"), token_of("a", 2, "k"), token_of("a", 1, "l")] {
            assert_ne!(token, other);
        }
        for wrong in ["", "0123", "0123456789abcdeF", "0123456789abcde.", "*"] {
            assert!(!is_token(wrong), "{wrong}");
        }
    }

    #[test]
    fn answers_go_to_inboxes_only() {
        for inbox in ["_INBOX.abc", "_INBOX.worker1.abc.7"] {
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

    #[test]
    fn only_jobs_of_the_run_are_acknowledged() {
        let names = Names::new("0123456789abcdef");
        let check = |subject: &str, expect| assert_eq!(names.acknowledged(subject), expect);
        check(
            "$JS.ACK.ARBITER_JOBS_0123456789abcdef.workers.1.42.7.1700000000000000000.3",
            Some(42),
        );
        check("$JS.ACK._.hash.ARBITER_JOBS_0123456789abcdef.workers.1.42.7.17.3.tok", Some(42));
        check("$JS.ACK.ARBITER_JOBS_0123456789abcdef.other.1.42.7.17.3", None);
        check("$JS.ACK.ARBITER_JOBS_1123456789abcdef.workers.1.42.7.17.3", None);
        check("$JS.ACK.ARBITER_RESULTS_0123456789abcdef.workers.1.42.7.17.3", None);
        check("$JS.ACK.ARBITER_JOBS_0123456789abcdef.workers.1.x.7.17.3", None);
        check("$JS.API.STREAM.DELETE.ARBITER_JOBS_0123456789abcdef", None);
        check("$JS.ACK.*.workers.1.42.7.17.3", None);
        check("", None);
    }

    #[test]
    fn who_speaks_is_named_by_the_subject() {
        let names = Names::new("0123456789abcdef");
        let worker = "lab.7-b";
        for subject in [
            names.join(worker),
            names.heartbeat(worker),
            names.result(7, worker),
            worker_status(worker),
        ] {
            assert_eq!(speaker(&subject), worker, "{subject}");
        }
        assert_eq!(speaker(&names.coordinator_messages()), "");
    }
}
