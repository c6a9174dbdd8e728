//! `arbiter results verify`: comparison of the store with its checksums.

use crate::{failure::Failure, output::print_result};
use arbiter_names::quantity;
use arbiter_report::check_stored;
use arbiter_store::{Store, StoreError};

/// Verifies one run or all runs, and the file of the store. Prints the result for each run, and all
/// damage.
pub(super) fn verify(store: &Store, run: Option<&str>) -> Result<(), Failure> {
    let runs = match run {
        Some(word) => vec![store.named(word)?],
        None => store.runs()?.into_iter().map(|head| head.run).collect(),
    };
    let mut text = String::new();
    let mut damaged = 0;
    let mut add = |label: String, found: Vec<String>| {
        let verdict = if found.is_empty() { "sound" } else { "damaged" };
        text += &format!("{label}: {verdict}\n");
        found.iter().for_each(|found| text += &format!("  {found}\n"));
        damaged += found.len();
    };
    for run in &runs {
        let mut checked = store.check_run(run)?;
        if checked.damaged.is_empty() {
            match check_stored(store, run) {
                Err(StoreError::Corrupt { what, .. }) => {
                    checked.damaged.push(format!("run '{run}': {what}"));
                }
                read => read?,
            }
        }
        let (pairs, games) = (quantity(checked.pairs, "pair"), quantity(checked.games, "game"));
        add(format!("run '{run}', {pairs}, {games}"), checked.damaged);
    }
    add(format!("{}, SQLite check", store.file().display()), store.check_file()?);
    print_result(&text)?;
    if damaged == 0 {
        return Ok(());
    }
    Err(Failure::environment(
        "the store is damaged\nhint: restore a copy, or remove damaged runs with `arbiter results \
         rm`; other runs can be exported",
    ))
}
