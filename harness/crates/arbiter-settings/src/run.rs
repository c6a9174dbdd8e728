//! The settings of a run.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use crate::file::build::BuildTable;
use crate::file::ci::CiTable;
use crate::file::tune::TuneTable;
use crate::values::{
    CORRECTIONS, FORMATS, Factor, Fields, Folders, MODELS, ORDERS, POLICIES, Pieces, Seconds,
    one_of, text,
};
use arbiter_game::adjudicate::{DrawRule, ResignRule, Rules, Scope, TablebaseRule};
use arbiter_game::annotation::{Annotation, Keeping, LinePattern, Notation};
use arbiter_openings::Order;
use arbiter_plan::{
    Affinity, CpuContention, DEFAULT_FAULT_LIMIT, DEFAULT_TIE_BREAKS, EngineSpec, Request, RunKind,
    SprtRequest, TournamentRequest, unexpanded_home, usual_pairs,
};
use arbiter_protocol::Deadlines;
use arbiter_schedule::{Format, OpeningPolicy};
use arbiter_stats::{Correction, DEFAULT_ELO0, DEFAULT_ELO1, DEFAULT_ERROR, Model};

/// Flags of runs on other machines, whose processors cannot be named.
const WORKERS: &[&str] = if cfg!(feature = "cluster") { &["on"] } else { &[] };

/// A value that another one completes.
trait Combine {
    /// Returns what is said here, and what `other` says where nothing is.
    fn or(self, other: Self) -> Self;
}

impl<T> Combine for Option<T> {
    fn or(self, other: Option<T>) -> Option<T> {
        self.or(other)
    }
}

impl Combine for bool {
    fn or(self, other: bool) -> bool {
        self || other
    }
}

/// Declares settings: each field is a flag below the heading, and a key of `arbiter.toml`; the help is its
/// documentation and, behind `=`, its default. Those `of_file` are keys only.
macro_rules! settings {
    (
        $(#[$about:meta])* $name:ident;
        $( $heading:literal => { $(
            $(#[doc = $doc:literal])* $(#[arg($($arg:tt)*)])* $(#[serde($($serde:tt)*)])*
            $field:ident: $type:ty $(= $default:expr)?,
        )* } )*
        of_file => { $( $(#[$key:meta])* $of_file:ident: $table:ty, )* }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, Args, Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            $( $(
                $(#[doc = $doc])* $(#[serde($($serde)*)])*
                #[arg(long, help_heading = $heading, help = help(concat!($($doc),*), &[$(&$default)?]))]
                $(#[arg($($arg)*)])*
                pub $field: $type,
            )* )*
            $( $(#[$key])* #[arg(skip)] pub $of_file: $table, )*
        }

        impl $name {
            /// Returns these settings of the command line, completed by those of the file.
            pub fn or(self, file: $name) -> $name {
                $name {
                    $( $( $field: Combine::or(self.$field, file.$field), )* )*
                    $( $of_file: file.$of_file, )*
                }
            }
        }
    };
}

settings! {
    /// What flags and `arbiter.toml` say of a run; all of it may be left open.
    Settings;
    "Openings" => {
        /// Opening book: EPD, FEN list, PGN or Polyglot (.bin); plain, .gz, .zst or .zip. Bad lines are
        /// left out [default: the bundled book]
        #[arg(value_name = "FILE")]
        openings: Option<PathBuf>,
        /// Take only so many plies of each PGN opening
        #[arg(value_name = "N")]
        plies: Option<u32>,
        /// Follow a Polyglot book for so many plies [default: 8]
        #[arg(value_name = "PLIES")]
        book_depth: Option<u32>,
        /// Refuse a book with a bad line instead of leaving that line out
        strict_book: bool,
        /// Order of the openings [default: random]
        #[arg(value_parser = one_of(ORDERS))]
        #[serde(deserialize_with = "text")]
        order: Option<Order>,
    }
    "Run" => {
        /// Seed from which every random choice derives [default: 1]
        #[arg(value_name = "N")]
        seed: Option<u64>,
    }
    "Schedule" => {
        /// Who meets whom: round-robin, gauntlet, pyramid, knockout, swiss or ladder, as `arbiter
        /// tournament --help` describes them [default: round-robin]
        #[arg(hide_possible_values = true, value_name = "FORMAT", value_parser = one_of(FORMATS))]
        #[serde(deserialize_with = "text")]
        schedule: Option<Format>,
        /// How often the schedule is gone through; rounds of a Swiss, climbs of a ladder
        /// [default: 1, for a Swiss as many as a knockout has]
        #[arg(value_name = "N")]
        rounds: Option<u64>,
        /// Pairs of games for each two engines that meet in a round (for sprt: at most)
        #[arg(value_name = "N")]
        pairs: Option<u64> = pairs_by_kind(),
        /// Games for each two engines that meet in a round, in place of --pairs
        #[arg(value_name = "N", conflicts_with = "pairs")]
        games: Option<u64>,
        /// Play each opening once, the engine that is listed first as White. Figures then count
        /// games, not pairs, and colours are not balanced
        noswap: bool,
        /// Let the other engine be White first
        reverse: bool,
        /// Engines that are seeded in the order in which they are listed: those that a gauntlet is
        /// about [default: 1]; for knockout, Swiss and ladder the others are drawn [default: all]
        #[arg(value_name = "N")]
        seeds: Option<usize>,
        /// Further pairs, at most, of a knockout encounter that is level; then the better seed goes
        /// through
        #[arg(value_name = "N")]
        tie_breaks: Option<u64> = DEFAULT_TIE_BREAKS,
        /// Let a knockout encounter go on when its loser cannot catch up any more
        play_out: bool,
        /// When the next opening is taken [default: shared]
        #[arg(value_name = "POLICY", value_parser = one_of(POLICIES))]
        #[serde(deserialize_with = "text")]
        opening_policy: Option<OpeningPolicy>,
        /// Begin with opening number N of the order, from 1 [default: 1]
        #[arg(value_name = "N")]
        opening_start: Option<u64>,
        /// Milliseconds between two games at one place [default: 0]
        #[arg(value_name = "MS")]
        wait: Option<u64>,
    }
    "Run" => {
        /// Concurrent games [default: one for each core; under a clock one less, but at least 1]
        #[arg(value_name = "N", value_parser = at_least_one)]
        concurrency: Option<usize>,
        /// Processors for the games: auto (each game its own, different physical cores first), a list
        /// such as 0-3,8 (taken in this order), or none. A game gets as many as its engines have
        /// Threads, of both if they may ponder [default: none]
        #[arg(value_name = "CPUS", conflicts_with_all = WORKERS)]
        #[serde(deserialize_with = "text")]
        affinity: Option<Affinity>,
        /// Folder of the results store [default: results, beside the settings or where a store is already]
        #[arg(value_name = "DIR")]
        results: Option<PathBuf>,
    }
    "Games" => {
        /// Append the games to this file, in schedule order
        #[arg(value_name = "FILE")]
        pgn: Option<PathBuf>,
    }
    "Faults and noise" => {
        /// Share of games, 0 to 1, that may end by a fault of an engine (crash, stall, disconnect,
        /// illegal move, time loss) before the run counts as invalid
        #[arg(value_name = "SHARE")]
        fault_limit: Option<f64> = DEFAULT_FAULT_LIMIT,
        /// What to do about engines that wait for a processor in games under a clock. "discard" plays a
        /// pair again, twice at most, if that can have decided it: an engine lost on time by no more than
        /// it had waited in that game, or one waited for a share of its thinking time that is more than
        /// 0.25 above the other's. All other pairs count, and the result says how much engines waited.
        /// "report" counts all, "off" does not measure [default: discard]
        #[arg(value_name = "WHAT")]
        #[serde(deserialize_with = "text")]
        cpu_contention: Option<CpuContention>,
    }
    "Games" => {
        /// Further facts in the comments of the PGN, with commas between them: timeleft, latency,
        /// nodes, seldepth, nps, hashfull, tbhits, pv; or all
        #[arg(value_name = "FIELDS")]
        #[serde(deserialize_with = "text")]
        pgn_fields: Option<Fields>,
        /// Engine lines that go into the comment of the move, as a regular expression
        #[arg(value_name = "REGEX")]
        #[serde(deserialize_with = "text")]
        pgn_match: Option<LinePattern>,
        /// How the PGN has moves: san (Nf3), lan (Ng1f3) or uci (g1f3) [default: san]
        #[arg(value_name = "NOTATION")]
        #[serde(deserialize_with = "text")]
        notation: Option<Notation>,
        /// Write the PGN without comments, and with the tags only that every game must have
        pgn_minimal: bool,
        /// What the PGN names as the event [default: the kind of run]
        #[arg(value_name = "TEXT")]
        event: Option<String>,
        /// What the PGN names as the site [default: ?]
        #[arg(value_name = "TEXT")]
        site: Option<String>,
        /// Append the final position of each game to this file, in schedule order
        #[arg(value_name = "FILE")]
        epd: Option<PathBuf>,
        /// Keep every line to and from both engines: of abnormal games (which an engine's fault ended),
        /// of all, or of none; `arbiter replay` shows them [default: abnormal]
        #[arg(value_name = "GAMES")]
        #[serde(deserialize_with = "text")]
        transcripts: Option<Keeping>,
        /// Append the error output of each engine to a file of its own in this folder
        #[arg(value_name = "DIR")]
        stderr_dir: Option<PathBuf>,
    }
    "Adjudication" => {
        /// Draw games in which both engines see equality: movenumber=N (not before; 40), movecount=N
        /// (moves of each in a row, counted anew from each capture or pawn move; 8), score=CP (10)
        #[arg(value_name = "RULE")]
        #[serde(deserialize_with = "text")]
        draw: Option<DrawRule>,
        /// Let engines resign that know they are lost: movecount=N (moves in a row; 3), score=CP
        /// (600), twosided=true if the winner must see it too
        #[arg(value_name = "RULE")]
        #[serde(deserialize_with = "text")]
        resign: Option<ResignRule>,
        /// Draw games after so many moves of each side
        #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        max_moves: Option<u32>,
        /// End games whose result is in the Syzygy tables of these folders, with ":" between them. The
        /// fifty-move rule counts; for that the .rtbz files are needed, too
        #[arg(value_name = "DIRS")]
        syzygy: Option<Folders>,
        /// Look up positions with at most so many pieces, kings included [default: as many as the
        /// tables know]
        #[arg(value_name = "N")]
        #[serde(deserialize_with = "text")]
        syzygy_pieces: Option<Pieces>,
        /// Count wins that the fifty-move rule prevents as wins
        syzygy_ignore_50: bool,
        /// Results that tables give out: both (wins and draws), wins or draws [default: both]
        #[arg(value_name = "WHAT")]
        #[serde(deserialize_with = "text")]
        syzygy_adjudicate: Option<Scope>,
    }
    "Deadlines" => {
        /// Seconds an engine may take from its start to "uciok"
        #[arg(value_name = "SEC")]
        #[serde(deserialize_with = "text")]
        start_deadline: Option<Seconds> = Deadlines::default().uciok.as_secs(),
        /// Multiply the deadlines of an engine's start, "uciok" and "isready", by this [default: 1]
        #[arg(value_name = "FACTOR")]
        #[serde(deserialize_with = "text")]
        start_scale: Option<Factor>,
        /// Seconds it may take to answer "isready"
        #[arg(value_name = "SEC")]
        #[serde(deserialize_with = "text")]
        ready_deadline: Option<Seconds> = Deadlines::default().readyok.as_secs(),
        /// Seconds it may take for a move that no clock bounds (nodes, depth)
        #[arg(value_name = "SEC")]
        #[serde(deserialize_with = "text")]
        move_deadline: Option<Seconds> = Deadlines::default().bestmove.as_secs(),
        /// Seconds it may take to answer "stop" after its flag has fallen
        #[arg(value_name = "SEC")]
        #[serde(deserialize_with = "text")]
        stop_deadline: Option<Seconds> = Deadlines::default().stop.as_secs(),
    }
    "Scaled times" => {
        /// Multiply all times by how much slower than the reference this machine is, by the bench of
        /// the last engine with as many copies at once as games; needs --reference-nps. With --on
        /// (Cargo feature cluster) each worker does so by its own speed
        scale: bool,
        /// Nodes per second for which times are meant, of one of so many copies at once
        #[arg(value_name = "NPS")]
        reference_nps: Option<f64>,
    }
    of_file => {
        /// `[[engine]]`, as written.
        #[serde(rename = "engine")]
        engine_tables: Vec<BTreeMap<String, toml::Value>>,
        /// `[each]`, as written.
        #[serde(rename = "each")]
        each_table: BTreeMap<String, toml::Value>,
        /// The `[[engine]]` tables, understood.
        #[serde(skip)]
        engines: Vec<EngineSpec>,
        /// `[each]`, understood: settings for all engines.
        #[serde(skip)]
        each: EngineSpec,
        /// The file that was read, for messages; empty if there is none.
        #[serde(skip)]
        path: PathBuf,
        /// `[sprt]`.
        sprt: TestSettings,
        /// `[build]`.
        build: Option<BuildTable>,
        /// `[ci]`.
        ci: CiTable,
        /// `[tune]`.
        tune: TuneTable,
    }
}

settings! {
    /// The stopping rule.
    #[derive(PartialEq)]
    TestSettings;
    "Test" => {
        /// Elo of the null hypothesis
        #[arg(value_name = "ELO", allow_negative_numbers = true)]
        elo0: Option<f64> = DEFAULT_ELO0,
        /// Elo of the alternative
        #[arg(value_name = "ELO", allow_negative_numbers = true)]
        elo1: Option<f64> = DEFAULT_ELO1,
        /// Chance to accept the alternative if the null hypothesis holds
        #[arg(value_name = "P")]
        alpha: Option<f64> = DEFAULT_ERROR,
        /// Chance to accept the null hypothesis if the alternative holds
        #[arg(value_name = "P")]
        beta: Option<f64> = DEFAULT_ERROR,
        /// What the Elo bounds mean [default: normalized]
        #[arg(value_parser = one_of(MODELS))]
        #[serde(deserialize_with = "text")]
        model: Option<Model>,
        /// How the bounds of the ratio allow for its jumps [default: dynamic for Elo bounds at most 20
        /// apart, else none]
        #[arg(value_parser = one_of(CORRECTIONS))]
        #[serde(deserialize_with = "text")]
        overshoot: Option<Correction>,
    }
    of_file => {}
}

/// Returns the help of a flag with its default, if that stands apart.
fn help(text: &str, default: &[&dyn Display]) -> String {
    let shown: String = default.iter().map(|default| format!(" [default: {default}]")).collect();
    text.trim().to_owned() + &shown
}

/// Returns the usual numbers of pairs in words.
fn pairs_by_kind() -> String {
    let kinds = [RunKind::Sprt, RunKind::Match, RunKind::Tournament, RunKind::Tune];
    let pairs = kinds.map(|kind| format!("{kind} {}", usual_pairs(kind, kind == RunKind::Sprt)));
    pairs.join(", ")
}

/// Reads a number of things of which there is one at least.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number, 1 or more".to_owned())
}

impl Settings {
    /// Returns the settings of the command line, completed by those of the file. One of pairs and games says
    /// it all: a flag of either kind beats the file.
    pub fn over(self, mut file: Settings) -> Settings {
        if self.pairs.is_some() || self.games.is_some() {
            (file.pairs, file.games) = (None, None);
        }
        self.or(file)
    }

    /// Returns the nodes per second for which times are meant, if they are to be scaled.
    pub fn reference(&self) -> Result<Option<f64>, String> {
        match self.reference_nps {
            _ if !self.scale => Ok(None),
            Some(nps) if (1.0..=1e12).contains(&nps) => Ok(Some(nps)),
            reference => {
                let found = reference.map_or("none".to_owned(), |nps| nps.to_string());
                Err(format!(
                    "scaled times need the nodes per second of the reference, 1 to 10^12, as \
                     reference-nps; got {found}"
                ))
            }
        }
    }

    /// Returns the request for a run.
    pub fn request(self) -> Result<Request, String> {
        let rules = self.rules()?;
        Ok(Request {
            deadlines: self.deadlines(),
            rules,
            tables: self.syzygy.unwrap_or_default().0,
            engines: self.engines,
            each: self.each,
            openings: self.openings,
            plies: self.plies,
            book_depth: self.book_depth,
            strict_book: self.strict_book,
            order: self.order,
            seed: self.seed,
            tournament: TournamentRequest {
                format: self.schedule,
                rounds: self.rounds,
                pairs: self.pairs,
                games: self.games,
                seeds: self.seeds,
                tie_breaks: self.tie_breaks,
                play_out: self.play_out,
                noswap: self.noswap,
                reverse: self.reverse,
                openings: self.opening_policy,
                opening_start: self.opening_start,
                wait: self.wait.map(Duration::from_millis),
                ..TournamentRequest::default()
            },
            concurrency: self.concurrency,
            affinity: self.affinity.unwrap_or_default(),
            pgn: self.pgn,
            annotation: Annotation {
                notation: self.notation.unwrap_or_default(),
                fields: self.pgn_fields.unwrap_or_default().0,
                pattern: self.pgn_match,
                is_minimal: self.pgn_minimal,
                has_origin: true,
                event: self.event,
                site: self.site,
                ..Annotation::default()
            },
            epd: self.epd,
            transcripts: self.transcripts.unwrap_or_default(),
            stderr_dir: self.stderr_dir,
            fault_limit: self.fault_limit,
            cpu_contention: self.cpu_contention.unwrap_or_default(),
            sprt: SprtRequest {
                elo0: self.sprt.elo0,
                elo1: self.sprt.elo1,
                alpha: self.sprt.alpha,
                beta: self.sprt.beta,
                model: self.sprt.model,
                correction: self.sprt.overshoot,
                evidence: None,
            },
            ..Request::default()
        })
    }

    fn deadlines(&self) -> Deadlines {
        let usual = Deadlines::default();
        let or = |own: Option<Seconds>, usual| own.map_or(usual, |Seconds(seconds)| seconds);
        let deadlines = Deadlines {
            uciok: or(self.start_deadline, usual.uciok),
            readyok: or(self.ready_deadline, usual.readyok),
            bestmove: or(self.move_deadline, usual.bestmove),
            stop: or(self.stop_deadline, usual.stop),
        };
        deadlines.with_start_scaled(self.start_scale.map_or(1.0, |Factor(factor)| factor))
    }

    fn rules(&self) -> Result<Rules, String> {
        let folders = self.syzygy.iter().flat_map(|Folders(folders)| folders);
        let has_tables = folders.clone().next().is_some();
        if let Some(reason) = folders.filter_map(|folder| folder.to_str()).find_map(unexpanded_home)
        {
            return Err(format!("syzygy: {reason}"));
        }
        let (pieces, scope) = (self.syzygy_pieces, self.syzygy_adjudicate);
        let is_given = self.syzygy.is_some() || pieces.is_some() || scope.is_some();
        if !has_tables && (is_given || self.syzygy_ignore_50) {
            return Err("syzygy: name the folders of the tables with --syzygy DIRS".to_owned());
        }
        let tablebase = has_tables.then(|| TablebaseRule {
            pieces: pieces.map_or(0, |Pieces(pieces)| pieces),
            ignores_fifty: self.syzygy_ignore_50,
            scope: scope.unwrap_or_default(),
        });
        Ok(Rules {
            draw: self.draw,
            resign: self.resign,
            move_cap: self.max_moves,
            counts_by_position: true,
            tablebase,
            ..Rules::default()
        })
    }
}
