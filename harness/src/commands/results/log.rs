//! `arbiter results log`: the log of SPRTs and their results.

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::Args;
use regex_lite::Regex;

use super::narrowed;
use crate::failure::Failure;
use crate::output::{NewFile, OutputFormat, Rows, in_use, print_result, store_files, width};
use arbiter_plan::RunKind;
use arbiter_report::{
    Summary, log_json, log_markdown, log_table, note, read_one, run_pattern, shown_run,
    stored_summary,
};
use arbiter_store::{RunHead, Store};

/// Flags of `arbiter results log`.
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// List only runs whose name or --about matches REGEX, ignoring case
    #[arg(long, value_name = "REGEX", value_parser = run_pattern)]
    filter: Option<Regex>,
    /// Write the log to this file, as Markdown unless --format selects another format
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Heading of the Markdown document
    #[arg(long, value_name = "TEXT", default_value = "Log of tests")]
    title: String,
}

/// First columns of the log as CSV.
const FIRST: [&str; 8] =
    ["started", "run", "about", "verdict", "elo", "elo_low", "elo_high", "llr"];

/// Columns that are omitted on a narrow terminal.
const OMITTED: [&str; 4] = ["bounds, Elo", "limits", "LL, LD, DD+WL, WD, WW", "date"];

/// Writes one log of the SPRTs in all stores.
pub(super) fn log(
    folders: &[PathBuf],
    args: &LogArgs,
    format: OutputFormat,
) -> Result<(), Failure> {
    let create = |path| {
        let stores = folders.iter().flat_map(|folder| store_files(folder));
        NewFile::create(path, in_use(stores)?)
    };
    let file = args.out.as_deref().map(create).transpose()?;
    let mut found = Vec::new();
    for folder in folders {
        let store = Store::open(folder)?;
        for head in store.runs()?.into_iter().filter(|head| is_wanted(head, args)) {
            let read = read_one(|| {
                let stored = shown_run(&store, &head.run)?;
                let is_test = stored.plan.kind == RunKind::Sprt;
                is_test.then(|| stored_summary(&store, &stored)).transpose()
            });
            match read {
                Ok(Some(summary)) => found.push(summary),
                Ok(None) => {}
                Err(why) => note(&format!("skipped: {} cannot be read: {why}", head.run)),
            }
        }
    }
    // A run that was copied is in two stores, possibly with different numbers of games. The copy
    // with more games is listed.
    let run_of = |test: &Summary| (test.created_ms, test.run.clone());
    found.sort_by_key(|test| (run_of(test), Reverse(test.counts.games())));
    found.dedup_by_key(|test| run_of(test));
    let (tests, empty): (Vec<Summary>, Vec<Summary>) =
        found.into_iter().partition(|test| test.counts.games() > 0);
    if !empty.is_empty() {
        let names: Vec<&str> = empty.iter().map(|test| test.run.as_str()).collect();
        note(&format!("skipped, no finished pair: {}", names.join(", ")));
    }
    if tests.is_empty() {
        return Err(Failure::nothing_to_run("no SPRT with a finished pair"));
    }
    let format =
        if format == OutputFormat::Text && args.out.is_some() { OutputFormat::Md } else { format };
    let rows = Rows { list: None, first: &FIRST };
    let markdown = || log_markdown(&tests, &args.title);
    let text = || narrowed(log_table(&tests), &OMITTED).fitted(width());
    let text = format.render(text, markdown, || log_json(&tests), rows);
    match file {
        Some(mut file) => {
            file.write(&text)?;
            file.finish()
        }
        None => print_result(&text),
    }
}

fn is_wanted(head: &RunHead, args: &LogArgs) -> bool {
    let mut texts = std::iter::once(&head.run).chain(&head.about);
    args.filter.as_ref().is_none_or(|pattern| texts.any(|text| pattern.is_match(text)))
}
