//! Settings of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::command::{deadline, unusual};
use crate::file::build::BuildTable;
use crate::file::ci::CiTable;
use crate::file::tune::TuneTable;
use crate::values::{
    CORRECTIONS, MODELS, factor, fields, folders, folders_text, keys, nps, number, one_of,
    parse_nps, path, pieces, seconds, text, truth,
};
use crate::{Keys, merged};
use arbiter_game::adjudicate::{DrawRule, ResignRule, Rules, TablebaseRule};
use arbiter_game::annotation::{Annotation, Field, Keeping, LinePattern, Notation};
use arbiter_game::outcome::Scope;
use arbiter_names::{listed, names};
use arbiter_openings::{Order, ReadOptions};
use arbiter_plan::{
    Affinity, CpuContention, DEFAULT_FAULT_LIMIT, DEFAULT_TIE_BREAKS, EngineSpec, Plan, Request,
    RunKind, SprtRequest, TournamentRequest, unless, usual_pairs,
};
use arbiter_protocol::Deadlines;
use arbiter_schedule::{Design, Format, OpeningPolicy};
use arbiter_stats::{Correction, DEFAULT_ELO0, DEFAULT_ELO1, DEFAULT_ERROR, Model};

/// Flags for runs on other machines, whose processors cannot be selected.
const WORKERS: &[&str] = if cfg!(feature = "cluster") { &["on"] } else { &[] };

settings! {
    /// Settings of a run, from flags and `arbiter.toml`; each may be unset.
    Settings, plan;
    "Openings" => {
        /// Openings.
        #[arg(help = OpeningKeys::ABOUT.trim(), long_help = OpeningKeys::help())]
        openings["FILE,KEY=VALUE"]: Vec<OpeningKeys> as "keys" => OpeningKeys::flag_value(plan),
    }
    "Run" => {
        /// Seed of all random choices [default: 1]
        seed["N"]: Option<u64> => Some(plan.seed),
    }
    "Schedule" => {
        /// Tournament format.
        #[arg(help = ScheduleKeys::ABOUT.trim(), long_help = ScheduleKeys::help())]
        schedule["FORMAT,KEY=VALUE"]: Vec<ScheduleKeys> as "keys" => ScheduleKeys::flag_value(plan),
        /// Number of rounds: passes through the schedule, Swiss rounds, or climbs of a ladder
        /// [default: 1; for Swiss, as many as in a knockout of the same engines]
        #[resume(Length)]
        rounds["N"]: Option<u64> =>
            unusual(plan, |design| design.rounds).filter(|_| plan.kind != RunKind::Tune),
        /// Pairs of games per encounter of two engines (for sprt: the maximum)
        #[resume(Length)]
        pairs["N"]: Option<u64> = pairs_by_kind() => Some(plan.design.pairs),
        /// Games per encounter of two engines, instead of --pairs
        #[arg(conflicts_with = "pairs")]
        #[resume(Length)]
        games["N"]: Option<u64>,
        /// Play each opening once, with the engine listed first as White. Statistics then
        /// use single games, not pairs, and colours are not balanced
        noswap: bool => plan.design.is_single.then_some(""),
        /// Give White in the first game of each pair to the engine listed second
        reverse: bool => plan.design.is_reversed.then_some(""),
        /// Pause, in milliseconds, between the end of a game and the start of the next game in its
        /// place [default: 0]
        wait["MS"]: Option<u64> => unless(0, plan.wait.as_millis()),
    }
    "Run" => {
        /// Number of concurrent games [default: one per processor; one less for timed games, but at
        /// least 1]
        #[arg(value_parser = at_least_one)]
        #[resume(Free)]
        concurrency["N"]: Option<usize> => Some(plan.concurrency),
        /// Processors for the games: auto (separate processors for each game, if possible on
        /// different physical cores), a list such as 0-3,8 (used in the given order), or none. The
        /// number of processors of a game is the larger Threads value of the two engines, or the
        /// sum of both values if an engine may ponder [default: none]
        #[arg(conflicts_with_all = WORKERS)]
        #[resume(Free)]
        affinity["CPUS"]: Option<Affinity> as "text" => unless(Affinity::None, plan.affinity.clone()),
        /// Folder of the results store [default: the nearest results/ that contains a store, else a
        /// new folder next to the settings file]
        #[resume(Free)]
        results["DIR"]: Option<PathBuf> as "path",
    }
    "Games" => {
        /// Games as PGN.
        #[arg(help = PgnKeys::ABOUT.trim(), long_help = PgnKeys::help())]
        #[resume(Written)]
        pgn["FILE,KEY=VALUE"]: Vec<PgnKeys> as "keys",
    }
    "Faults and noise" => {
        /// Share of games, 0 to 1, that may end with an engine fault (crash, stall, disconnect,
        /// illegal move, time forfeit) before the run counts as invalid
        fault_limit["SHARE"]: Option<f64> = DEFAULT_FAULT_LIMIT => Some(plan.fault_limit),
        /// Treatment of engines that wait for a processor in timed games. "discard" plays a pair
        /// again, at most twice, if waiting may have decided the result: either an engine exceeded
        /// its time by no more than the time it had waited, or the share of thinking time spent
        /// waiting differs by more than 0.25 between the two engines. Other pairs count, and the
        /// result reports how long engines waited. "report" counts all pairs; "off" does not
        /// measure waiting [default: discard]
        cpu_contention["WHAT"]: Option<CpuContention> as "text" =>
            unless(CpuContention::default(), plan.cpu_contention()),
    }
    "Games" => {
        /// Append the final position of each game to this file, in schedule order
        #[resume(Written)]
        epd["FILE"]: Option<PathBuf> as "path",
        /// Games whose transcript (all lines to and from both engines) is stored: abnormal (ended
        /// by an engine fault), all or none; `arbiter replay` prints a transcript [default:
        /// abnormal]
        #[resume(Written)]
        transcripts["GAMES"]: Option<Keeping> as "text",
        /// Append the standard error of each engine to a separate file in this folder
        stderr_dir["DIR"]: Option<PathBuf> as "path",
    }
    "Adjudication" => {
        /// Adjudicate a draw when both engines report scores near 0: movenumber=N (earliest move,
        /// default 40), movecount=N (consecutive moves of each engine; a capture or pawn move
        /// restarts the count; default 8), score=CP (largest absolute score, default 10)
        draw["RULE"]: Option<DrawRule> as "text" => plan.rules.draw,
        /// Adjudicate a loss when an engine reports a lost position: movecount=N (consecutive
        /// moves, default 3), score=CP (centipawns behind, default 600), twosided=true if the
        /// opponent must also report a win
        resign["RULE"]: Option<ResignRule> as "text" => plan.rules.resign,
        /// Adjudicate a draw after move number N
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        max_moves["N"]: Option<u32> => plan.rules.move_cap,
        /// Tablebases.
        #[arg(help = SyzygyKeys::ABOUT.trim(), long_help = SyzygyKeys::help())]
        syzygy["DIRS,KEY=VALUE"]: Vec<SyzygyKeys> as "keys" => SyzygyKeys::flag_value(plan),
    }
    "Faults and noise" => {
        /// Deadlines for engines.
        #[arg(help = DeadlineKeys::ABOUT.trim(), long_help = DeadlineKeys::help())]
        deadlines["KEY=VALUE"]: Vec<DeadlineKeys> as "keys" => DeadlineKeys::flag_value(plan),
    }
    "Run" => {
        /// Multiply all times by NPS divided by the speed of this machine in nodes per second. The
        /// speed is measured with the bench of the last engine, with as many benches in parallel as
        /// there are concurrent games; each worker measures the speed of its own machine
        #[arg(value_parser = parse_nps)]
        #[resume(Engines)]
        scale["NPS"]: Option<f64> as "nps",
    }
    @of_file => {
        /// The `[[engine]]` tables, not yet parsed.
        #[serde(rename = "engine")]
        engine_tables: Vec<BTreeMap<String, toml::Value>>,
        /// The `[each]` table, not yet parsed.
        #[serde(rename = "each")]
        each_table: BTreeMap<String, toml::Value>,
        /// The `[[engine]]` tables, parsed.
        #[serde(skip)]
        engines: Vec<EngineSpec>,
        /// The `[each]` table, parsed: settings for all engines.
        #[serde(skip)]
        each: EngineSpec,
        /// Path of the settings file that was read; empty if no file was read.
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

keys! {
    /// Opening book, and the order of the openings
    OpeningKeys, true, plan;
    /// EPD, FEN list, PGN or Polyglot (.bin); plain, .gz, .zst or .zip. Invalid lines are skipped
    /// [default: the bundled book]
    file["FILE"]: PathBuf as "path" => plan.book.as_ref().map(|path| path.display()),
    /// sequential or random [default: random]
    order["ORDER"]: Order as "text" => unless(Order::Random, plan.order),
    /// Number of the first opening in the given order, counted from 1 [default: 1]
    start["N"]: u64 as "number" => unless(1, plan.opening_start + 1),
    /// Rule for changing the opening: per-round, per-encounter, per-pair, shared (the n-th pairs of
    /// all encounters in a round get the same opening), or cycled (the pairs cycle through as many
    /// openings as there are rounds) [default: shared]
    policy["POLICY"]: OpeningPolicy as "text" =>
        unless(OpeningPolicy::default(), plan.design.openings),
    /// Maximum number of plies of a PGN opening
    plies["N"]: u32 as "number" => plan.reading.plies,
    /// Number of plies for which a Polyglot book is followed [default: 8]
    depth["PLIES"]: u32 as "number" => plan.reading.depth,
    /// Reject a book that has invalid lines, instead of skipping these lines
    strict["true|false"]: bool as "truth" => unless(false, plan.reading.strict),
}

keys! {
    /// Format of a tournament
    ScheduleKeys, true, plan;
    /// {values}
    format["FORMAT" = listed(names::<Format>(), "or")]: Format as "text" = Format::default() =>
        unless(Format::default(), plan.design.format).filter(|_| plan.kind != RunKind::Ablate),
    /// The first N engines listed are seeded. In a gauntlet, the seeded engines meet all others
    /// [default: 1]; in knockout, Swiss and ladder, the remaining engines are placed in random
    /// order [default: all]
    seeds["N"]: usize as "number" =>
        unusual(plan, |design| design.seeds as u64).filter(|_| plan.kind != RunKind::Ablate),
    /// Maximum number of additional pairs in a drawn knockout encounter; after these, the higher
    /// seed advances
    tie_breaks["N"]: u64 as "number" = DEFAULT_TIE_BREAKS => unusual(plan, |design| design.tie_breaks),
    /// Play all games of a knockout encounter, even if one engine can no longer catch up
    play_out["true|false"]: bool as "truth" => unless(false, plan.design.plays_out),
}

keys! {
    /// Games as PGN, in schedule order
    PgnKeys, true, plan;
    /// File to which games are appended
    file["FILE"]: PathBuf as "path",
    /// Additional fields in move comments, separated by +: {values}; or all
    fields["FIELDS" = names::<Field>().join(", ")]: Vec<Field> as "fields",
    /// Regular expression that selects the engine lines to include in the move comment
    r#match["REGEX"]: LinePattern as "text",
    /// san (Nf3), lan (Ng1f3) or uci (g1f3) [default: san]
    notation["NOTATION"]: Notation as "text",
    /// Write only the Seven Tag Roster and the moves, without comments
    minimal["true|false"]: bool as "truth",
    /// Event tag [default: the kind of run]
    event["TEXT"]: String as "text",
    /// Site tag [default: ?]
    site["TEXT"]: String as "text",
}

keys! {
    /// Syzygy tablebases for adjudication
    SyzygyKeys, true, plan;
    /// Folders of the tables, separated by ":". The fifty-move rule applies, so the .rtbz files are
    /// needed as well
    dirs["DIRS"]: Vec<PathBuf> as "folders" => plan.rules.tablebase.map(|_| folders_text(&plan.tables)),
    /// Maximum number of pieces, kings included [default: the maximum of the tables]
    pieces["N"]: u32 as "pieces" => plan.rules.tablebase.and_then(|rule| unless(0, rule.pieces)),
    /// Adjudicate cursed wins (draws by the fifty-move rule) as wins
    ignore_50["true|false"]: bool as "truth" =>
        plan.rules.tablebase.and_then(|rule| unless(false, rule.ignores_fifty)),
    /// Results that are adjudicated: both (wins and draws), wins or draws [default: both]
    adjudicate["WHICH"]: Scope as "text" =>
        plan.rules.tablebase.and_then(|rule| unless(Scope::default(), rule.scope)),
}

keys! {
    /// Timeouts for engines, in seconds, and a factor
    DeadlineKeys, false, plan;
    /// From an engine's start to "uciok"
    start["SEC"]: Duration as "seconds" = Deadlines::default().uciok.as_secs() =>
        deadline(plan, |deadlines| deadlines.uciok),
    /// Answer to "isready"
    ready["SEC"]: Duration as "seconds" = Deadlines::default().readyok.as_secs() =>
        deadline(plan, |deadlines| deadlines.readyok),
    /// Move without a time limit (nodes, depth)
    r#move["SEC"]: Duration as "seconds" = Deadlines::default().bestmove.as_secs() =>
        deadline(plan, |deadlines| deadlines.bestmove),
    /// Answer to "stop" after the engine's flag has fallen
    stop["SEC"]: Duration as "seconds" = Deadlines::default().stop.as_secs() =>
        deadline(plan, |deadlines| deadlines.stop),
    /// Factor by which start and ready are multiplied [default: 1]
    scale["FACTOR"]: f64 as "factor",
}

settings! {
    /// Bounds and model of the SPRT.
    #[derive(PartialEq)]
    TestSettings, plan;
    "Test" => {
        /// Elo of the null hypothesis, on the scale of --model
        #[arg(allow_negative_numbers = true)]
        #[resume(Bound)]
        elo0["ELO"]: Option<f64> = DEFAULT_ELO0 => plan.sprt.map(|sprt| sprt.elo0),
        /// Elo of the alternative, on the scale of --model
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
        /// Overshoot correction [default: dynamic for Elo bounds at most 20 apart on the --model
        /// scale, else none]
        #[arg(value_parser = one_of(CORRECTIONS))]
        overshoot: Option<Correction> as "text" => plan.sprt.map(|sprt| sprt.correction),
    }
    @of_file => {}
}

/// Returns the default number of pairs for each kind of run, as text.
fn pairs_by_kind() -> String {
    let kinds = [RunKind::Sprt, RunKind::Match, RunKind::Tournament, RunKind::Tune];
    let pairs = kinds.map(|kind| format!("{kind} {}", usual_pairs(kind, kind == RunKind::Sprt)));
    pairs.join(", ")
}

/// Parses a count of at least 1.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number, 1 or more".to_owned())
}

impl Settings {
    /// Returns the settings of the command line, with unset settings taken from the file.
    pub fn over(self, mut file: Settings) -> Settings {
        if self.pairs.is_some() || self.games.is_some() {
            // `pairs` and `games` set the same length, so a flag for either overrides both keys of
            // the file.
            file.pairs = None;
            file.games = None;
        }
        self.or(file)
    }

    /// Returns the request for a run.
    pub fn request(self) -> Result<Request, String> {
        let openings = merged(self.openings);
        let schedule = merged(self.schedule);
        let syzygy = merged(self.syzygy);
        let mut pgn = merged(self.pgn);
        Ok(Request {
            engines: self.engines,
            each: self.each,
            order: openings.order,
            seed: self.seed,
            tournament: TournamentRequest {
                format: schedule.format,
                rounds: self.rounds,
                pairs: self.pairs,
                games: self.games,
                seeds: schedule.seeds,
                tie_breaks: schedule.tie_breaks,
                opening_start: openings.start,
                draft: Design {
                    is_single: self.noswap,
                    is_reversed: self.reverse,
                    openings: openings.policy.unwrap_or_default(),
                    plays_out: schedule.play_out.unwrap_or_default(),
                    ..Design::default()
                },
                ..TournamentRequest::default()
            },
            concurrency: self.concurrency,
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
            draft: Plan {
                book: openings.file,
                reading: ReadOptions {
                    plies: openings.plies,
                    depth: openings.depth,
                    strict: openings.strict.unwrap_or_default(),
                    ..ReadOptions::default()
                },
                wait: self.wait.map(Duration::from_millis).unwrap_or_default(),
                affinity: self.affinity.unwrap_or_default(),
                rules: Rules {
                    draw: self.draw,
                    resign: self.resign,
                    move_cap: self.max_moves,
                    counts_by_position: true,
                    tablebase: syzygy.rule()?,
                    ..Rules::default()
                },
                tables: syzygy.dirs.unwrap_or_default(),
                deadlines: merged(self.deadlines).deadlines(),
                pgn: pgn.file.take(),
                annotation: pgn.annotation(),
                epd: self.epd,
                transcripts: self.transcripts.unwrap_or_default(),
                ..Plan::default()
            },
            ..Request::default()
        })
    }
}

impl PgnKeys {
    fn annotation(self) -> Annotation {
        Annotation {
            notation: self.notation.unwrap_or_default(),
            fields: self.fields.unwrap_or_default(),
            pattern: self.r#match,
            is_minimal: self.minimal.unwrap_or_default(),
            event: self.event,
            site: self.site,
            ..Annotation::default()
        }
    }
}

impl DeadlineKeys {
    fn deadlines(self) -> Deadlines {
        let usual = Deadlines::default();
        let deadlines = Deadlines {
            uciok: self.start.unwrap_or(usual.uciok),
            readyok: self.ready.unwrap_or(usual.readyok),
            bestmove: self.r#move.unwrap_or(usual.bestmove),
            stop: self.stop.unwrap_or(usual.stop),
        };
        deadlines.with_start_scaled(self.scale.unwrap_or(1.0))
    }
}

impl SyzygyKeys {
    /// Returns the rule for adjudication by tablebases; `None` if no key is set. Fails if keys are
    /// set without a folder.
    fn rule(&self) -> Result<Option<TablebaseRule>, String> {
        if self.dirs.iter().flatten().count() == 0 {
            if *self == SyzygyKeys::default() {
                return Ok(None);
            }
            return Err(
                "syzygy: give the folders of the tables: --syzygy DIRS, or dirs in [syzygy]"
                    .to_owned(),
            );
        }
        Ok(Some(TablebaseRule {
            pieces: self.pieces.unwrap_or(0),
            ignores_fifty: self.ignore_50.unwrap_or_default(),
            scope: self.adjudicate.unwrap_or_default(),
        }))
    }
}
