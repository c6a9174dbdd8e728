//! The name of a new run.

use std::path::Path;
use std::time::Duration;

use crate::failure::Failure;
use arbiter_plan::RunKind;
use arbiter_report::utc_time_as;
use arbiter_runner::unix_time_ms;
use arbiter_store::{LockError, RunLock, Store, StoreError};

/// Unique name of a new run, with the lock of the run.
#[derive(Debug)]
pub(super) struct NewName {
    pub name: String,
    /// Start of the run, as Unix time in milliseconds.
    pub created_ms: i64,
    /// Lock of the run.
    pub lock: RunLock,
}

/// Returns the name of a new run, and locks the run. The name is `chosen` if given; by default, the
/// name consists of the kind and the start time of the run. If another run has the default name,
/// waits for the next millisecond. Fails if another run has the name `chosen`.
pub(super) fn new_name(
    store: &Store,
    results: &Path,
    kind: RunKind,
    chosen: Option<String>,
) -> Result<NewName, Failure> {
    loop {
        let created_ms = unix_time_ms();
        let default = || format!("{kind}-{}", utc_time_as(created_ms, "%Y%m%d-%H%M%S-%3f"));
        let name = chosen.clone().unwrap_or_else(default);
        let failure: Failure = match RunLock::take(results, &name) {
            Ok(_) if store.run(&name).is_ok() => StoreError::Exists(name).into(),
            Ok(lock) => return Ok(NewName { name, created_ms, lock }),
            Err(error @ LockError::Busy(_)) => error.into(),
            Err(error) => return Err(error.into()),
        };
        if chosen.is_some() {
            return Err(failure);
        }
        // Runs that start in the same millisecond are not rare: of 240 matches, started six at a
        // time, 3 had the same start time as another match.
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_the_same_millisecond_have_different_names() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path()).unwrap();
        let take = |chosen: Option<&str>| {
            new_name(&store, dir.path(), RunKind::Match, chosen.map(str::to_owned))
        };
        let taken: Vec<NewName> = (0..20).map(|_| take(None).unwrap()).collect();
        assert!(taken.windows(2).all(|two| two[0].name < two[1].name));
        let error = take(Some(&taken[7].name)).unwrap_err().message;
        assert!(error.contains("is being played"), "{error}");
    }
}
