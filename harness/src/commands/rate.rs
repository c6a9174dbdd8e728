//! `arbiter rate`: ratings from the games of any PGN files.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use csv::{ReaderBuilder, StringRecord, Trim};

use crate::game_source::{OPENING_PLIES, PLAYERS, no_games_reason, read_files};
use crate::output::{OutputFormat, print_report, print_result};
use crate::{args::threads, exit_code::ExitCode, failure::Failure};
use arbiter_names::{did_you_mean, quantity};
use arbiter_process::read_text;
use arbiter_rate::{Choice, ScanOptions, Tally};
use arbiter_report::{Ratings, elostat, games_document, log_warn, note, ratings_json};
use arbiter_settings::{Choices, one_of};
use arbiter_stats::ratings::{LOGISTIC_SCALE, Options, OutcomeModel, Prior, Relation, scale_of};

/// Models of draws, with their help.
const LAWS: &Choices<OutcomeModel> = &[
    (OutcomeModel::Scores, "A draw is half a point, as in Ordo and in the Elo of a match"),
    (OutcomeModel::Davidson, "Davidson's model; rating differences are larger than with scores"),
    (
        OutcomeModel::RaoKupper,
        "Rao and Kupper's model (used by BayesElo); rating differences are smaller than with scores",
    ),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScaleArg {
    /// 400 points for a factor of ten in the odds
    Logistic,
    /// 202 points for an expected score of 76 %, as in Ordo
    Ordo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CopiesArg {
    /// Count a game once: duplicates add no evidence
    Once,
    /// Count each duplicate
    All,
}

/// Flags of `arbiter rate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --verify, moves are not replayed, so illegal moves and results that contradict the last position
go unnoticed. The number of games that do not count is printed, and the first 20 are listed.

Exit codes: 0 if there are ratings, even if some games do not count; 2 for usage errors, 3 for a
file that cannot be read and other invalid input, 4 if no game counts, 7 if the result cannot be
written.

Examples:
  arbiter rate games.pgn
  arbiter rate games.pgn more.pgn.zst --anchor Stockfish=3500 --format csv")]
pub(crate) struct RateArgs {
    /// PGN files; plain, .gz or .zst
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Draw model
    #[arg(long, value_parser = one_of(LAWS), default_value_t = OutcomeModel::Scores)]
    law: OutcomeModel,
    /// Scale of the ratings
    #[arg(long, value_enum, default_value = "logistic")]
    scale: ScaleArg,
    /// White's advantage in points [default: estimated]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true,
        value_parser = within(-MAX_DIFFERENCE..=MAX_DIFFERENCE))]
    advantage: Option<f64>,
    /// Share of draws between equal players [default: estimated]
    #[arg(long, value_name = "SHARE", value_parser = within(1e-6..=1.0 - 1e-6))]
    draw_ratio: Option<f64>,
    /// Player with a fixed rating; may be repeated
    #[arg(long, value_name = "NAME=ELO", value_parser = anchor)]
    anchor: Vec<(String, f64)>,
    /// Player with a prior: rating and standard deviation; may be repeated
    #[arg(long, value_name = "NAME=ELO:SD", value_parser = prior)]
    prior: Vec<(String, [f64; 2])>,
    /// File of prior rating differences between players, in Ordo's format: on each line two names,
    /// the rating of the first player minus the rating of the second, and the standard deviation,
    /// separated by commas
    #[arg(long, value_name = "FILE")]
    relations: Option<PathBuf>,
    /// Virtual draws per player, spread over the opponents; BayesElo uses 1
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = within(0.0..=1e6))]
    prior_draws: f64,
    /// Mean rating of a group of connected players, if the group has no anchor
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true,
        value_parser = within(-MAX_RATING..=MAX_RATING))]
    average: f64,
    /// Number of plies that count as the opening of a game that has neither a FEN tag nor marked
    /// book moves
    #[arg(long, value_name = "N", default_value_t = OPENING_PLIES)]
    opening_plies: u32,
    /// Count games of OTHER as games of NAME; may be repeated
    #[arg(long, value_name = "NAME=OTHER", value_parser = alias)]
    alias: Vec<(String, String)>,
    /// File of aliases in Ordo's format: on each line NAME and then each OTHER, separated by commas
    #[arg(long, value_name = "FILE")]
    synonyms: Option<PathBuf>,
    /// Count only games between players with these names; may be repeated; @FILE contains one name
    /// per line
    #[arg(long, value_name = "NAME")]
    include: Vec<String>,
    /// Ignore games of this player; may be repeated; @FILE contains one name per line
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,
    /// Omit players with fewer games from the table of ratings; the games of these players still
    /// count
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_games: u64,
    /// Ignore draws
    #[arg(long)]
    ignore_draws: bool,
    /// Treatment of duplicate games (same players, start position, moves and result)
    #[arg(long, value_enum, default_value = "once")]
    copies: CopiesArg,
    /// Count single games, not pairs from the same opening
    #[arg(long)]
    no_pairs: bool,
    /// Replay every game, and reject games with an illegal move, an impossible position, or a
    /// result that contradicts the last position. This is several times slower
    #[arg(long)]
    verify: bool,
    /// Threads [default: one per processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Format of the result
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
    /// Print the ratings in the format of EloStat
    #[arg(long, conflicts_with = "format")]
    elostat: bool,
}

/// Minimum standard deviation of a prior, in points; a smaller value would fix the rating.
const LEAST_DEVIATION: f64 = 0.01;

/// Maximum absolute rating, in points.
const MAX_RATING: f64 = 1e5;

/// Maximum difference between two ratings in a prior, in points.
const MAX_DIFFERENCE: f64 = 1e4;

/// Threshold for a warning: deviation of a rating difference from its prior, in standard
/// deviations.
const REMARKABLE: f64 = 3.0;

fn anchor(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("expected NAME=ELO, got '{text}'");
    let (name, rating) = text.rsplit_once('=').ok_or_else(wrong)?;
    Ok((name.to_owned(), finite(rating).ok_or_else(wrong)?))
}

/// Parses `NAME=OTHER`. Returns OTHER, then NAME.
fn alias(text: &str) -> Result<(String, String), String> {
    let (name, other) =
        text.split_once('=').ok_or_else(|| format!("expected NAME=OTHER, got '{text}'"))?;
    Ok((other.trim().to_owned(), name.trim().to_owned()))
}

fn prior(text: &str) -> Result<(String, [f64; 2]), String> {
    let wrong = || format!("expected NAME=ELO:SD with an SD of 0.01 or more, got '{text}'");
    let (name, rest) = text.rsplit_once('=').ok_or_else(wrong)?;
    let (mean, deviation) = rest.split_once(':').ok_or_else(wrong)?;
    let deviation = finite(deviation).filter(|sd| *sd >= LEAST_DEVIATION).ok_or_else(wrong)?;
    Ok((name.to_owned(), [finite(mean).ok_or_else(wrong)?, deviation]))
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.abs() <= MAX_RATING)
}

fn within(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    let expected = format!("expected a number from {} to {}", range.start(), range.end());
    move |text| match text.trim().parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(expected.clone()),
    }
}

/// Runs the command.
pub(crate) fn run(args: &RateArgs) -> Result<(), Failure> {
    let threads = threads(args.threads).map_err(Failure::invalid)?;
    let tally = read_all(args, threads).map_err(Failure::invalid)?;
    if tally.games == tally.bad_games() {
        return Err(Failure::nothing_to_run(no_games_reason(&tally)));
    }
    if tally.corrected > 0 {
        let games = quantity(tally.corrected, "FEN tag");
        note(&format!("{games} corrected: impossible castling or en passant rights ignored"));
    }
    let (options, lines) = options(args, &tally).map_err(Failure::invalid)?;
    let has_prior = !(options.priors.is_empty() && options.relations.is_empty());
    let contradiction = "--prior and --relations contradict each other: give larger deviations";
    let scale = if args.scale == ScaleArg::Ordo { "Ordo's scale" } else { "logistic scale" };
    let mut shown = Ratings::new(&tally, &options, scale).map_err(|error| {
        if has_prior { Failure::invalid(contradiction) } else { Failure::new(ExitCode::Bug, error) }
    })?;
    let has_level = !(args.anchor.is_empty() && args.prior.is_empty());
    shown.min_games = args.min_games;
    shown.average = if has_level { 0.0 } else { args.average };
    for (line, relation) in lines.iter().zip(&options.relations) {
        warn_of_contradiction(args, *line, relation, &shown);
    }
    if args.elostat {
        return print_result(&elostat(&shown));
    }
    let files: Vec<String> = args.files.iter().map(|path| path.display().to_string()).collect();
    let document = games_document(&shown, &files);
    print_report(&args.format.of_document(&document, || ratings_json(&shown), PLAYERS))
}

/// Returns the options, and the line number of each relation.
fn options(args: &RateArgs, tally: &Tally) -> Result<(Options, Vec<u64>), String> {
    let by_name: HashMap<&str, usize> =
        tally.players.iter().enumerate().map(|(i, p)| (p.name.as_str(), i)).collect();
    let player = |name: &str| by_name.get(name).copied().ok_or_else(|| unknown(name, tally));
    let anchors = args.anchor.iter().map(|(name, rating)| Ok((player(name)?, *rating)));
    let anchors: Vec<(usize, f64)> = anchors.collect::<Result<_, String>>()?;
    for (at, (player, _)) in anchors.iter().enumerate() {
        if anchors[..at].iter().any(|(earlier, _)| earlier == player) {
            return Err(format!("--anchor is given twice for '{}'", tally.players[*player].name));
        }
    }
    let is_anchored = |player: usize| anchors.iter().any(|(anchored, _)| *anchored == player);
    let mut known = HashMap::new();
    let relations = args.relations.iter().map(|path| {
        rows(path, |row, line| {
            let relation = relation(row, player)?;
            let [first, second] = relation.players;
            if is_anchored(first) && is_anchored(second) {
                return Err("--anchor gives the ratings of both players".to_owned());
            }
            match known.insert([first.min(second), first.max(second)], line) {
                Some(line) => Err(format!("line {line} has the same two players")),
                None => Ok((line, relation)),
            }
        })
    });
    let relations = relations.collect::<Result<Vec<_>, _>>()?;
    let (lines, relations) = relations.into_iter().flatten().unzip();
    let mut priors = Vec::new();
    for (name, [mean, deviation]) in &args.prior {
        priors.push(Prior { player: player(name)?, mean: *mean, deviation: *deviation });
    }
    let options = Options {
        model: args.law,
        scale: match args.scale {
            ScaleArg::Logistic => LOGISTIC_SCALE,
            ScaleArg::Ordo => scale_of(202.0, 0.76),
        },
        advantage: args.advantage,
        draw_rate: args.draw_ratio,
        prior_draws: args.prior_draws,
        anchors,
        priors,
        relations,
    };
    Ok((options, lines))
}

/// Prints a warning if the ratings contradict a line of `--relations`.
fn warn_of_contradiction(args: &RateArgs, line: u64, relation: &Relation, shown: &Ratings<'_>) {
    let Relation { players, mean, deviation } = *relation;
    let [first, second] = players.map(|player| shown.rated.rating(player));
    let found = first.zip(second).map(|(first, second)| first - second);
    if let Some(found) = found.filter(|found| (found - mean).abs() > REMARKABLE * deviation) {
        let path = args.relations.as_deref().unwrap_or(Path::new("")).display();
        let [first, second] = players.map(|player| &shown.tally.players[player].name);
        log_warn(&format!(
            "{path}:{line}: {first} is rated {found:+.1} against {second}, far from the given \
             {mean:+.1} ± {deviation}"
        ));
    }
}

fn unknown(name: &str, tally: &Tally) -> String {
    let hint = did_you_mean(name, tally.players.iter().map(|player| player.name.as_str()));
    format!("expected the name of a player, got '{name}'{hint}")
}

/// Parses two players, the difference between their ratings, and the standard deviation of the
/// difference.
fn relation(
    row: &StringRecord,
    player: impl Fn(&str) -> Result<usize, String>,
) -> Result<Relation, String> {
    let figures = |at| row.get(at).and_then(finite);
    let (Some(first), Some(second), Some(mean), Some(deviation)) =
        (row.get(0), row.get(1), figures(2), figures(3).filter(|sd| *sd >= LEAST_DEVIATION))
    else {
        return Err("expected two players, a difference and a deviation of 0.01 or more".to_owned());
    };
    if mean.abs() > MAX_DIFFERENCE {
        return Err(format!("expected a difference of at most {MAX_DIFFERENCE} points"));
    }
    let players = [player(first)?, player(second)?];
    if players[0] == players[1] {
        return Err(format!("expected two players, got '{first}' twice"));
    }
    Ok(Relation { players, mean, deviation })
}

/// Parses each line of a comma-separated file with `of`, which receives the fields and the line
/// number.
fn rows<T>(
    path: &Path,
    mut of: impl FnMut(&StringRecord, u64) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let text = read_text(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = ReaderBuilder::new();
    lines.has_headers(false).flexible(true).trim(Trim::All);
    let row = |row: Result<StringRecord, csv::Error>| {
        let row = row.map_err(|error| format!("{}: {error}", path.display()))?;
        let line = row.position().map_or(0, |position| position.line());
        of(&row, line).map_err(|error| format!("{}:{line}: {error}", path.display()))
    };
    lines.from_reader(text.as_bytes()).into_records().map(row).collect()
}

/// Returns the given names; an item `@FILE` is replaced with the names in the file, one per line.
fn names(given: &[String]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for name in given {
        let Some(path) = name.strip_prefix('@') else {
            names.push(name.clone());
            continue;
        };
        let first = |row: &StringRecord, _| Ok(row.get(0).unwrap_or_default().to_owned());
        let listed = rows(Path::new(path), first)?;
        if listed.is_empty() {
            return Err(format!("{path}: expected a name on each line, got none"));
        }
        names.extend(listed);
    }
    Ok(names)
}

fn read_all(args: &RateArgs, threads: usize) -> Result<Tally, String> {
    // Only the Markdown output shows the calibration of evaluations.
    let evaluations = args.format == OutputFormat::Md;
    let scan_options =
        ScanOptions { opening_plies: args.opening_plies, replay: args.verify, evaluations };
    let choice = choice(args)?;
    let named = [&choice.include[..], &choice.exclude].concat();
    let tally = Tally::new(choice);
    let tally = read_files(&args.files, scan_options, tally, threads)?;
    for name in named.iter().filter(|name| tally.players.iter().all(|p| p.name != **name)) {
        // A file of names may contain players of many PGN files, so an unknown name in the file
        // causes only a warning.
        if args.include.iter().chain(&args.exclude).any(|given| given == name) {
            return Err(unknown(name, &tally));
        }
        log_warn(&unknown(name, &tally));
    }
    Ok(tally)
}

fn choice(args: &RateArgs) -> Result<Choice, String> {
    let mut given = args.alias.clone();
    if let Some(path) = &args.synonyms {
        let others = |row: &StringRecord, _| {
            let mut names = row.iter().map(str::to_owned);
            let name = names.next().unwrap_or_default();
            Ok(names.map(|other| (other, name.clone())).collect::<Vec<_>>())
        };
        given.extend(rows(path, others)?.into_iter().flatten());
    }
    let mut aliases = HashMap::new();
    for (other, name) in given.iter().filter(|(other, name)| other != name) {
        let before = aliases.insert(other.clone(), name.clone());
        if let Some(before) = before.filter(|before| before != name) {
            return Err(format!("'{other}' is another name of '{before}' and of '{name}'"));
        }
    }
    if let Some((other, name)) = given.iter().find(|(_, name)| aliases.contains_key(name)) {
        return Err(format!(
            "'{other}' is another name of '{name}', and that of '{}': give one name to all",
            aliases[name]
        ));
    }
    let (include, exclude) = (names(&args.include)?, names(&args.exclude)?);
    let counts_copies = args.copies == CopiesArg::All;
    let (ignores_draws, counts_singles) = (args.ignore_draws, args.no_pairs);
    Ok(Choice { aliases, include, exclude, ignores_draws, counts_copies, counts_singles })
}
