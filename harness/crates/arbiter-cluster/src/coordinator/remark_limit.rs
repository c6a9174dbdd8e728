//! Limit on the remarks of one kind about workers, so that remarks cannot fill the disk or the web
//! page.

use std::collections::BTreeMap;

/// Maximum number of remarks about all workers together.
const MAX: u32 = 10_000;

/// Maximum number of remarks about one worker. This limit is a tenth of the limit for all workers,
/// so that remarks about one worker cannot suppress remarks about other workers. Remarks are the
/// evidence against workers.
const MAX_OF_WORKER: u32 = 1_000;

/// Numbers of remarks so far, in total and by worker.
#[derive(Debug, Default)]
pub(super) struct RemarkLimit {
    all: u32,
    of_workers: BTreeMap<String, u32>,
}

impl RemarkLimit {
    /// Returns whether another remark is allowed, and counts the remark.
    pub(super) fn allows(&mut self, worker: &str) -> bool {
        if self.all >= MAX {
            return false;
        }
        let of_worker = self.of_workers.entry(worker.to_owned()).or_default();
        let is_allowed = *of_worker < MAX_OF_WORKER;
        *of_worker += u32::from(is_allowed);
        self.all += u32::from(is_allowed);
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_does_not_exhaust_the_shared_limit() {
        let mut limit = RemarkLimit::default();
        let mut allowed = |worker: &str| (0..5_000).filter(|_| limit.allows(worker)).count();
        let workers = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
        assert_eq!(workers.map(&mut allowed), [[1_000; 10].as_slice(), &[0]].concat()[..]);
    }
}
