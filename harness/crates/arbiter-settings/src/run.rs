//! The settings of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::command::{deadline, unless, unusual};
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
    Affinity, BookReading, CpuContention, DEFAULT_FAULT_LIMIT, DEFAULT_TIE_BREAKS, EngineSpec,
    Request, RunKind, SprtRequest, TournamentRequest, unexpanded_home, usual_pairs,
};
use arbiter_protocol::Deadlines;
use arbiter_schedule::{Format, OpeningPolicy};
use arbiter_stats::{Correction, DEFAULT_ELO0, DEFAULT_ELO1, DEFAULT_ERROR, Model};

/// Flags of runs on other machines, whose processors cannot be named.
const WORKERS: &[&str] = if cfg!(feature = "cluster") { &["on"] } else { &[] };

settings! {
    /// Settings of a run, from flags and `arbiter.toml`; each may be left open.
    Settings, plan;
    "Openings" => {
        /// Opening book: EPD, FEN list, PGN or Polyglot (.bin); plain, .gz, .zst or .zip. Bad lines
        /// are left out [default: the bundled book]
        openings["FILE"]: Option<PathBuf> => plan.book.as_ref().map(|path| path.display()),
        /// Take at most N plies of each PGN opening
        plies["N"]: Option<u32> => plan.reading.plies,
        /// Follow a Polyglot book for so many plies [default: 8]
        book_depth["PLIES"]: Option<u32> => plan.reading.book_depth,
        /// Refuse a book with a bad line instead of leaving that line out
        strict_book: bool => plan.reading.strict_book,
        /// Order of the openings [default: random]
        #[arg(value_parser = one_of(ORDERS))]
        order: Option<Order> as "text" => unless(Order::Random, plan.order),
    }
    "Run" => {
        /// Seed from which every random choice derives [default: 1]
        seed["N"]: Option<u64> => Some(plan.seed),
    }
    "Schedule" => {
        /// Tournament format: round-robin, gauntlet, pyramid, knockout, swiss or ladder, as
        /// `arbiter tournament --help` describes them [default: round-robin]
        #[arg(hide_possible_values = true, value_parser = one_of(FORMATS))]
        schedule["FORMAT"]: Option<Format> as "text" =>
            unless(Format::default(), plan.design.format).filter(|_| plan.kind != RunKind::Ablate),
        /// Number of rounds: passes through the schedule, rounds of a Swiss, climbs of a ladder
        /// [default: 1, for a Swiss as many as a knockout has]
        #[resume(Length)]
        rounds["N"]: Option<u64> =>
            unusual(plan, |design| design.rounds).filter(|_| plan.kind != RunKind::Tune),
        /// Pairs of games between two engines that meet in a round (for sprt: the maximum)
        #[resume(Length)]
        pairs["N"]: Option<u64> = pairs_by_kind() => Some(plan.design.pairs),
        /// Games between two engines that meet in a round, in place of --pairs
        #[arg(conflicts_with = "pairs")]
        #[resume(Length)]
        games["N"]: Option<u64>,
        /// Play each opening once, with the engine that is listed first as White. Figures then
        /// count games, not pairs, and colours are not balanced
        noswap: bool => plan.design.is_single,
        /// Give White in the first game to the engine that is listed second
        reverse: bool => plan.design.is_reversed,
        /// Number of seeded engines, in the order in which they are listed: for a gauntlet those
        /// that meet all others [default: 1]; for knockout, Swiss and ladder the others are drawn
        /// [default: all]
        seeds["N"]: Option<usize> =>
            unusual(plan, |design| design.seeds as u64).filter(|_| plan.kind != RunKind::Ablate),
        /// Maximum number of further pairs of a knockout encounter that is level; then the better
        /// seed goes through
        tie_breaks["N"]: Option<u64> = DEFAULT_TIE_BREAKS => unusual(plan, |design| design.tie_breaks),
        /// Continue a knockout encounter when its loser cannot catch up any more
        play_out: bool => plan.design.plays_out,
        /// Time at which the next opening is taken [default: shared]
        #[arg(value_parser = one_of(POLICIES))]
        opening_policy["POLICY"]: Option<OpeningPolicy> as "text" =>
            unless(OpeningPolicy::default(), plan.design.openings),
        /// Start with opening number N of the order, counted from 1 [default: 1]
        opening_start["N"]: Option<u64> => unless(1, plan.opening_start + 1),
        /// Milliseconds between two games of the same slot [default: 0]
        wait["MS"]: Option<u64> => unless(0, plan.wait.as_millis()),
    }
    "Run" => {
        /// Number of concurrent games [default: one for each core; under a clock one less, but at
        /// least 1]
        #[arg(value_parser = at_least_one)]
        #[resume(Free)]
        concurrency["N"]: Option<usize> => Some(plan.concurrency),
        /// Processors for the games: auto (each game its own, different physical cores first), a
        /// list such as 0-3,8 (taken in this order), or none. A game gets as many as its engines
        /// have Threads: the larger number, or the sum if they may ponder [default: none]
        #[arg(conflicts_with_all = WORKERS)]
        #[resume(Free)]
        affinity["CPUS"]: Option<Affinity> as "text" => unless(Affinity::None, plan.affinity.clone()),
        /// Folder of the results store [default: results, beside the settings or where a store is
        /// already]
        #[resume(Free)]
        results["DIR"]: Option<PathBuf>,
    }
    "Games" => {
        /// Append the games to this file, in schedule order
        #[resume(Free)]
        pgn["FILE"]: Option<PathBuf>,
    }
    "Faults and noise" => {
        /// Share of games, 0 to 1, that may end by a fault of an engine (crash, stall, disconnect,
        /// illegal move, time loss) before the run counts as invalid
        fault_limit["SHARE"]: Option<f64> = DEFAULT_FAULT_LIMIT => Some(plan.fault_limit),
        /// Treatment of engines that wait for a processor in games under a clock. "discard" replays
        /// a pair, twice at most, if the waiting may have decided it: an engine lost on time by no
        /// more than it had waited in that game, or one waited for a share of its thinking time
        /// that is more than 0.25 above the other's. All other pairs count, and the result reports
        /// how much engines waited. "report" counts all pairs, "off" does not measure [default:
        /// discard]
        cpu_contention["WHAT"]: Option<CpuContention> as "text" =>
            unless(CpuContention::default(), plan.cpu_contention()),
    }
    "Games" => {
        /// Further facts in the comments of the PGN, separated by commas: timeleft, latency, nodes,
        /// seldepth, nps, hashfull, tbhits, pv; or all
        #[resume(Written)]
        pgn_fields["FIELDS"]: Option<Fields> as "text",
        /// Regular expression of engine lines that go into the comment of the move
        #[resume(Written)]
        pgn_match["REGEX"]: Option<LinePattern> as "text",
        /// Notation of moves in the PGN: san (Nf3), lan (Ng1f3) or uci (g1f3) [default: san]
        #[resume(Written)]
        notation["NOTATION"]: Option<Notation> as "text",
        /// Write the PGN without comments, and only with the tags that every game must have
        #[resume(Written)]
        pgn_minimal: bool,
        /// Event tag of the PGN [default: the kind of run]
        #[resume(Written)]
        event["TEXT"]: Option<String>,
        /// Site tag of the PGN [default: ?]
        #[resume(Written)]
        site["TEXT"]: Option<String>,
        /// Append the final position of each game to this file, in schedule order
        #[resume(Written)]
        epd["FILE"]: Option<PathBuf>,
        /// Games of which every line to and from both engines is kept: abnormal (ended by an
        /// engine's fault), all or none; `arbiter replay` shows them [default: abnormal]
        #[resume(Written)]
        transcripts["GAMES"]: Option<Keeping> as "text",
        /// Append the error output of each engine to a file of its own in this folder
        stderr_dir["DIR"]: Option<PathBuf>,
    }
    "Adjudication" => {
        /// Draw games in which both engines report equality: movenumber=N (not before; 40),
        /// movecount=N (moves of each in a row, counted anew from each capture or pawn move; 8),
        /// score=CP (10)
        draw["RULE"]: Option<DrawRule> as "text" => plan.rules.draw,
        /// Adjudicate a loss when the loser reports it: movecount=N (moves in a row; 3), score=CP
        /// (600), twosided=true if the winner must report it too
        resign["RULE"]: Option<ResignRule> as "text" => plan.rules.resign,
        /// Draw games after N moves of each side
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        max_moves["N"]: Option<u32> => plan.rules.move_cap,
        /// End games whose result is in the Syzygy tables of these folders, separated by ":". The
        /// fifty-move rule counts, which needs the .rtbz files, too
        syzygy["DIRS"]: Option<Folders> => plan.rules.tablebase.map(|_| Folders(plan.tables.clone())),
        /// Look up positions with at most N pieces, kings included [default: as many as the tables
        /// have]
        syzygy_pieces["N"]: Option<Pieces> as "text" =>
            plan.rules.tablebase.and_then(|rule| unless(0, rule.pieces)),
        /// Count wins that the fifty-move rule prevents as wins
        syzygy_ignore_50: bool => plan.rules.tablebase.is_some_and(|rule| rule.ignores_fifty),
        /// Results that are adjudicated by tables: both (wins and draws), wins or draws [default:
        /// both]
        syzygy_adjudicate["WHAT"]: Option<Scope> as "text" =>
            plan.rules.tablebase.and_then(|rule| unless(Scope::default(), rule.scope)),
    }
    "Deadlines" => {
        /// Seconds an engine may take from its start to "uciok"
        start_deadline["SEC"]: Option<Seconds> as "text" = Deadlines::default().uciok.as_secs() =>
            deadline(plan, |deadlines| deadlines.uciok),
        /// Factor of the deadlines of an engine's start, "uciok" and "isready" [default: 1]
        start_scale["FACTOR"]: Option<Factor> as "text",
        /// Seconds an engine may take to answer "isready"
        ready_deadline["SEC"]: Option<Seconds> as "text" = Deadlines::default().readyok.as_secs() =>
            deadline(plan, |deadlines| deadlines.readyok),
        /// Seconds an engine may take for a move that no clock limits (nodes, depth)
        move_deadline["SEC"]: Option<Seconds> as "text" = Deadlines::default().bestmove.as_secs() =>
            deadline(plan, |deadlines| deadlines.bestmove),
        /// Seconds an engine may take to answer "stop" after its flag has fallen
        stop_deadline["SEC"]: Option<Seconds> as "text" = Deadlines::default().stop.as_secs() =>
            deadline(plan, |deadlines| deadlines.stop),
    }
    "Scaled times" => {
        /// Multiply all times by the slowness of this machine relative to the reference, measured
        /// by the bench of the last engine with as many copies in parallel as games; needs
        /// --reference-nps. With --on (Cargo feature cluster) each worker does so by its own speed
        #[resume(Engines)]
        scale: bool,
        /// Nodes per second of one such copy on the machine for which times are meant
        #[resume(Engines)]
        reference_nps["NPS"]: Option<f64>,
    }
    @of_file => {
        /// `[[engine]]`, as written.
        #[serde(rename = "engine")]
        engine_tables: Vec<BTreeMap<String, toml::Value>>,
        /// `[each]`, as written.
        #[serde(rename = "each")]
        each_table: BTreeMap<String, toml::Value>,
        /// The `[[engine]]` tables, parsed.
        #[serde(skip)]
        engines: Vec<EngineSpec>,
        /// `[each]`, parsed: settings for all engines.
        #[serde(skip)]
        each: EngineSpec,
        /// Settings file that was read, for messages; empty if there is none.
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
    /// Bounds and model of the SPRT.
    #[derive(PartialEq)]
    TestSettings, plan;
    "Test" => {
        /// Elo of the null hypothesis
        #[arg(allow_negative_numbers = true)]
        #[resume(Bound)]
        elo0["ELO"]: Option<f64> = DEFAULT_ELO0 => plan.sprt.map(|sprt| sprt.elo0),
        /// Elo of the alternative
        #[arg(allow_negative_numbers = true)]
        #[resume(Bound)]
        elo1["ELO"]: Option<f64> = DEFAULT_ELO1 => plan.sprt.map(|sprt| sprt.elo1),
        /// Probability of accepting the alternative if the null hypothesis holds
        alpha["P"]: Option<f64> = DEFAULT_ERROR => plan.sprt.map(|sprt| sprt.alpha),
        /// Probability of accepting the null hypothesis if the alternative holds
        beta["P"]: Option<f64> = DEFAULT_ERROR => plan.sprt.map(|sprt| sprt.beta),
        /// Scale of the Elo bounds [default: normalized]
        #[arg(value_parser = one_of(MODELS))]
        model: Option<Model> as "text" => plan.sprt.map(|sprt| sprt.model),
        /// Correction of the bounds for the overshoot of the log-likelihood ratio [default: dynamic
        /// for Elo bounds at most 20 apart, else none]
        #[arg(value_parser = one_of(CORRECTIONS))]
        overshoot: Option<Correction> as "text" => plan.sprt.map(|sprt| sprt.correction),
    }
    @of_file => {}
}

/// Returns the usual numbers of pairs as text.
fn pairs_by_kind() -> String {
    let kinds = [RunKind::Sprt, RunKind::Match, RunKind::Tournament, RunKind::Tune];
    let pairs = kinds.map(|kind| format!("{kind} {}", usual_pairs(kind, kind == RunKind::Sprt)));
    pairs.join(", ")
}

/// Parses a count that is at least 1.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number, 1 or more".to_owned())
}

impl Settings {
    /// Returns the settings of the command line, completed by those of the file. Pairs and games
    /// exclude each other: a flag of either kind beats the file.
    pub fn over(self, mut file: Settings) -> Settings {
        if self.pairs.is_some() || self.games.is_some() {
            // Both keys give the same length, so a flag for either replaces both.
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
                    "scaled times require reference-nps, 1 to 10^12 nodes per second; got {found}"
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
            reading: BookReading {
                plies: self.plies,
                book_depth: self.book_depth,
                strict_book: self.strict_book,
            },
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
            return Err("syzygy: give the folders of the tables with --syzygy DIRS".to_owned());
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
