//! `--dry-run`: resolves and checks everything, and plays nothing.

use super::{LoadedPlan, check_engines, load};
use crate::{Failure, RequestedRun, Rows, emit};
use arbiter_plan::RunKind;
use arbiter_report::{plan_document, plan_json};

/// Resolves the plan, reads the book, starts every engine once, and prints what would be played. Nothing
/// is stored, and no games file is opened.
pub(super) fn print(kind: RunKind, mut requested: RequestedRun) -> Result<(), Failure> {
    let format = requested.format;
    let is_probed = requested.is_probed;
    let LoadedPlan { plan, book, fingerprints, setups, .. } = load(kind, &mut requested, None)?;
    let book = check_engines(&plan, book, &setups, is_probed)?;
    let document = plan_document(&plan, &fingerprints);
    let rows =
        Rows { list: Some("engines"), first: &["name", "limits", "program", "commit", "blake3"] };
    let json = || plan_json(&plan, &fingerprints, book.len());
    emit(&format.of_document(&document, json, rows))
}
