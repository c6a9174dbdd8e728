//! `arbiter builds`: the cached builds, and their removal.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{ArgGroup, Args, Subcommand};

use crate::failure::Failure;
use crate::output::{OutputFormat, Rows, print_report, print_result};
use arbiter_build::{
    Cache, KeptBuild, abandoned_folders, builds_to_remove, kept_builds, remove_abandoned,
    remove_build,
};
use arbiter_names::quantity;
use arbiter_report::{BuildRow, builds_document, note, size_in_mib, to_value, utc_time};
use arbiter_runner::unix_time_ms;

/// Length of a day.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Flags of `arbiter builds`.
#[derive(Debug, Args)]
pub(crate) struct BuildsArgs {
    /// Folder of the build cache [default: arbiter in the user's cache folder]
    #[arg(long, value_name = "DIR", global = true)]
    cache: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<BuildsCommand>,
}

#[derive(Debug, Subcommand)]
enum BuildsCommand {
    /// List all builds, longest unused first (the default).
    List {
        /// Format of the list
        #[arg(long, value_enum, default_value = "text")]
        format: OutputFormat,
    },
    /// Remove builds, longest unused first, except builds in progress or in use.
    ///
    /// If a resumed run needs a removed build, the revision is built again.
    Clean(CleanArgs),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("policy").required(true).multiple(true))]
struct CleanArgs {
    /// Remove builds unused for this many days
    #[arg(long, group = "policy", value_name = "DAYS", conflicts_with = "all")]
    keep_days: Option<u32>,
    /// Remove builds until the size of the cache is at most MIB mebibytes
    #[arg(long, group = "policy", value_name = "MIB", conflicts_with = "all")]
    max_size: Option<u32>,
    /// Remove all builds
    #[arg(long, group = "policy")]
    all: bool,
    /// List the builds that would be removed, but keep them
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
pub(crate) fn run(args: BuildsArgs) -> Result<(), Failure> {
    let cache = Cache::new(args.cache)?;
    match args.command.unwrap_or(BuildsCommand::List { format: OutputFormat::Text }) {
        BuildsCommand::List { format } => {
            let rows: Vec<BuildRow> = kept_builds(&cache)?.iter().map(row).collect();
            let first = Rows { list: None, first: &["build", "used", "bytes", "commit"] };
            print_report(&format.of_document(&builds_document(&rows), || to_value(&rows), first))
        }
        BuildsCommand::Clean(args) => tidy_up(&cache, &args),
    }
}

fn tidy_up(cache: &Cache, args: &CleanArgs) -> Result<(), Failure> {
    // With a clock set before 1970, the time is negative, which `u64` cannot represent.
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(unix_time_ms().max(0) as u64);
    let found = kept_builds(cache)?;
    let removed = if args.all {
        found.iter().collect()
    } else {
        let age = args.keep_days.map(|days| days * DAY);
        builds_to_remove(&found, age, args.max_size.map(|mib| u64::from(mib) << 20), now)
    };
    let (mut builds, mut bytes, mut in_use) = (0, 0, 0);
    for kept in removed {
        if args.dry_run || remove_build(cache, kept)? {
            (builds, bytes) = (builds + 1, bytes + kept.bytes);
        } else {
            in_use += 1;
            note(&format!("{} is in use; kept", kept.name));
        }
    }
    let abandoned = abandoned_folders(cache, now)?;
    if !args.dry_run {
        abandoned.iter().try_for_each(|path| remove_abandoned(path))?;
    }
    let would = if args.dry_run { "would be " } else { "" };
    let size = size_in_mib(bytes);
    let mut message = format!("{} with {size} {would}removed", quantity(builds, "build"));
    if in_use > 0 {
        message.push_str(&format!(", {in_use} in use kept"));
    }
    if !abandoned.is_empty() {
        let count = abandoned.len();
        message
            .push_str(&format!(", {} of killed builds {would}removed", quantity(count, "folder")));
    }
    print_result(&format!("{message}\n"))
}

fn row(kept: &KeptBuild) -> BuildRow {
    let used = kept.used.duration_since(UNIX_EPOCH).unwrap_or_default();
    let record = kept.record.as_ref();
    BuildRow {
        name: kept.name.clone(),
        used: utc_time(used.as_millis() as i64),
        bytes: kept.bytes,
        is_built: record.is_some(),
        commit: record.map(|record| record.commit.clone()),
        command: record.map(|record| record.command.clone()),
        seconds: record.map(|record| record.seconds),
        bench: record.and_then(|record| Some(record.bench.as_ref()?.signature.nodes)),
    }
}
