//! Reports on games in PGN files, with the same reader as `arbiter rate`.

use std::path::PathBuf;

use super::ReportFormat;
use crate::game_source::{OPENING_PLIES, PLAYERS, no_games_reason, read_files};
use crate::output::{OutputFormat, file_name};
use crate::{args::threads, exit_code::ExitCode, failure::Failure};
use arbiter_rate::{ScanOptions, Tally};
use arbiter_report::{Ratings, games_document, games_junit, html_page, picture_svg, ratings_json};
use arbiter_stats::ratings::{Options, rate};

/// File extensions of PGN files.
const ENDINGS: [&str; 3] = [".pgn", ".pgn.gz", ".pgn.zst"];

/// Returns whether a word on the command line has the extension of a PGN file.
pub(super) fn is_pgn(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// Returns the file name of the report in a folder, without an extension.
pub(super) fn name(files: &[PathBuf]) -> String {
    let first = files.first().and_then(|path| path.file_name());
    let name = first.map_or("games".into(), |name| name.to_string_lossy().into_owned());
    let lower = name.to_ascii_lowercase();
    let ending = ENDINGS.iter().find(|ending| lower.ends_with(**ending));
    name[..name.len() - ending.map_or(0, |ending| ending.len())].to_owned()
}

/// Returns the report in the given format.
pub(super) fn render(files: &[PathBuf], form: ReportFormat) -> Result<String, Failure> {
    let threads = threads(None).map_err(Failure::invalid)?;
    let evaluations = form.is_document();
    let scan_options = ScanOptions { opening_plies: OPENING_PLIES, replay: false, evaluations };
    let tally =
        read_files(files, scan_options, Tally::default(), threads).map_err(Failure::invalid)?;
    if tally.games == tally.bad_games() {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let message = format!("{}: {}", names.join(", "), no_games_reason(&tally));
        return Err(Failure::nothing_to_run(message));
    }
    let meetings = tally.meetings();
    let options = Options::default();
    let rated = rate(tally.players.len(), &meetings, &options)
        .map_err(|error| Failure::new(ExitCode::Bug, error))?;
    let shown = Ratings {
        tally: &tally,
        meetings: &meetings,
        rated: &rated,
        law: options.model,
        model: format!("law {}, logistic scale", options.model),
        min_games: 0,
        average: 0.0,
        given: Vec::new(),
    };
    let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
    let document = games_document(&shown, &names);
    let value = || ratings_json(&shown);
    let render = |form: OutputFormat| form.of_document(&document, value, PLAYERS);
    Ok(match form {
        ReportFormat::Html => html_page(&document),
        ReportFormat::Md => render(OutputFormat::Md),
        ReportFormat::Json => render(OutputFormat::Json),
        ReportFormat::Ndjson => render(OutputFormat::Ndjson),
        ReportFormat::Csv => render(OutputFormat::Csv),
        ReportFormat::Text => render(OutputFormat::Text),
        ReportFormat::Svg => picture_svg(&document),
        ReportFormat::Badge | ReportFormat::Comment => {
            let message = "badges and comments are only available for runs, not for PGN files";
            return Err(Failure::usage(message));
        }
        ReportFormat::Junit => games_junit(&tally).map_err(Failure::environment)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_files_are_distinguished_from_runs_by_name() {
        let found = ["a.pgn", "b/A.PGN.gz", "a.pgn.zst", "nightly", "a.pgn.txt"].map(is_pgn);
        assert_eq!(found, [true, true, true, false, false]);
        let called = ["x/all.pgn.zst", "B.PGN", "odd"].map(|file| name(&[file.into()]));
        assert_eq!(called, ["all", "B", "odd"]);
    }
}
