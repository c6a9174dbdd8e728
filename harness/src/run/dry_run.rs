//! `--dry-run`: everything but the games.

use super::{Planned, check_engines, planned};
use crate::args::RequestedRun;
use crate::failure::Failure;
use crate::output::{Rows, emit, width};
use arbiter_plan::plan::Kind;
use arbiter_report::stored;
use arbiter_report::{document, markdown, plain, plan};

/// Resolves the plan, reads the book, tries all engines out, and prints what would be played. Nothing is
/// entered into the store, and no file of games is begun.
pub(super) fn rehearse(kind: Kind, mut requested: RequestedRun) -> Result<(), Failure> {
    let own_binary = std::env::current_exe().map_err(Failure::environment)?;
    let form = requested.format;
    let is_probed = requested.is_probed;
    let Planned { plan, book, fingerprints, .. } =
        planned(kind, &mut requested, &own_binary, None)?;
    let book = check_engines(&plan, book, &own_binary, is_probed)?;
    let origin = stored::origin(&plan, env!("CARGO_PKG_VERSION"), None, &fingerprints, &[]);
    let document = document::of_plan(&origin);
    emit(&form.render(
        || plain::render(&document, width()),
        || markdown::render(&document),
        || plan::json(&origin, book.len()),
        Rows { list: Some("engines"), first: &["name", "limits", "program", "commit", "blake3"] },
    ))
}
