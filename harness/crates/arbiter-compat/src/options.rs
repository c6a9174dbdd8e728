//! Parsing of the options of fastchess and cutechess-cli.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Style;
use crate::foreign::TYPES;
use crate::log::Level;
use crate::saved::{Config, SavedIdentity};
use crate::table::{is_idle, unknown};
use crate::words::{Word, split};
use arbiter_game::adjudicate::{DrawRule, TablebaseRule};
use arbiter_game::annotation::{Field, Keeping};
use arbiter_game::outcome::Scope;
use arbiter_openings::Order;
use arbiter_plan::{Affinity, CpuContention, Request, SprtRequest};
use arbiter_report::{Dialect, log_warn, utc_time_as};
use arbiter_runner::unix_time_ms;
use arbiter_schedule::{Format, OpeningPolicy};
use arbiter_stats::{Correction, Model};

/// A parsed command line.
#[derive(Debug, Default)]
pub struct Options {
    /// Output style of the run.
    pub style: Style,
    /// Settings of the run, without the effects of the other fields.
    pub request: Request,
    pub(crate) is_sprt: bool,
    pub(crate) rounds: Option<u64>,
    pub(crate) games: Option<u64>,
    /// Number of games from one opening.
    pub(crate) repeats: Option<u64>,
    /// Opening books of individual engines, each with its maximum number of moves.
    pub(crate) books: Vec<(PathBuf, Option<u32>)>,
    /// Run to resume, if the file of `-config` identifies a run.
    pub resumes: Option<SavedIdentity>,
    /// Results folder, if given.
    pub results: Option<PathBuf>,
    /// Largest of the engines' factors for start-up timeouts.
    pub(crate) start_scale: Option<f64>,
    /// `true` if more concurrent games than processors are allowed.
    pub(crate) is_forced: bool,
    /// `true` to report progress and the results folder on standard error.
    pub is_verbose: bool,
    /// Lines to print before the run starts.
    pub(crate) first_lines: String,
    /// Timeout for `readyok`.
    pub(crate) ready: Option<Duration>,
    /// `true` for each file (PGN, EPD, log) that is replaced if the file exists.
    pub(crate) replaces: [bool; 3],
}

impl Options {
    /// Parses a command line; `command` is the command that started this program.
    ///
    /// # Errors
    ///
    /// Returns a description of the first invalid option, or of a file that cannot be read.
    pub fn parse(dialect: Dialect, line: &[String], command: String) -> Result<Options, String> {
        let words = split(line)?;
        let mut options = if dialect == Dialect::Fastchess {
            let Config { run, prior, words, out } = Config::read(&words)?;
            let mut options = Options::read(dialect, &words)?;
            options.resumes = run;
            options.request.draft.prior = prior;
            options.style.saved_in = Some(out);
            options
        } else {
            Options::read(dialect, &words)?
        };
        options.style.command = command;
        Ok(options)
    }

    /// Parses the options; the error describes the first invalid option.
    fn read(dialect: Dialect, words: &[Word]) -> Result<Options, String> {
        let mut request = Request { order: Some(Order::Sequential), ..Request::default() };
        request.draft.annotation.dialect = Some(dialect);
        request.draft.rules.counts_as_fastchess = dialect == Dialect::Fastchess;
        request.draft.is_lenient = true;
        request.draft.has_no_book = true;
        request.cpu_contention = CpuContention::Off;
        let style = Style::new(dialect);
        let mut options = Options { style, request, ..Options::default() };
        for word in words {
            options.take(word)?;
        }
        for word in words.iter().filter(|word| word.name == "each") {
            options.apply_to_all(word)?;
        }
        Ok(options)
    }

    /// Applies an option of [`OPTIONS`](crate::table::OPTIONS).
    fn take(&mut self, word: &Word) -> Result<(), String> {
        let rules = &mut self.request.draft.rules;
        match word.name.as_str() {
            "engine" => self.add_engine(word)?,
            // `-each` overrides the settings of individual engines wherever it appears, so
            // `Options::read` applies `-each` last. `Config::read` has already applied `-config`.
            "each" | "config" => {}
            "quick" => self.quick(word)?,
            "concurrency" => self.concurrency(word.number()?),
            "rounds" => self.rounds = Some(word.number()?),
            "games" => self.games = Some(word.number()?),
            "repeat" => self.repeat(word)?,
            "tournament" => self.request.tournament.format = Some(format(word.single()?)?),
            "seeds" => self.request.tournament.seeds = Some(word.number()?),
            "noswap" => self.request.tournament.draft.is_single = word.switch()?,
            "reverse" => self.request.tournament.draft.is_reversed = word.switch()?,
            "wait" => self.request.draft.wait = word.millis()?,
            "openings" => self.openings(word)?,
            "srand" => self.request.seed = Some(word.number()?),
            "sprt" => self.sprt(word)?,
            "tb" | "tbpieces" | "tbignore50" | "tbadjudicate" => self.tablebases(word)?,
            "variant" => self.style.is_chess960 = is_chess960(word.single()?)?,
            "pgnout" => self.pgnout(word)?,
            "epdout" => self.epdout(word)?,
            "crc32" => word.set_truth("pgn", &mut self.style.shows_crc)?,
            "event" => self.request.draft.annotation.event = Some(self.text(word)?),
            "site" => self.request.draft.annotation.site = Some(self.text(word)?),
            "output" => self.output(word)?,
            "report" => word.set_truth("penta", &mut self.style.penta)?,
            "ratinginterval" => self.style.rating_interval = word.number()?,
            "scoreinterval" => self.style.score_interval = word.number()?,
            "autosaveinterval" => self.style.save_interval = word.number()?,
            "outcomeinterval" => self.style.outcome_interval = word.number()?,
            "recover" => self.style.recovers = word.switch()?,
            "use-affinity" => self.affinity(word)?,
            "startup-ms" => self.request.draft.deadlines.uciok = word.millis()?,
            "ping-ms" | "ucinewgame-ms" => self.ready = self.ready.max(Some(word.millis()?)),
            "arbiter" => self.arbiter_options(word)?,
            "force-concurrency" => self.is_forced = word.switch()?,
            "log" => self.log(word)?,
            "debug" => {
                self.style.log.is_printed = true;
                self.request.draft.transcripts = Keeping::All;
            }
            "check-mate-pvs" => self.style.checks_mates = word.switch()?,
            "strict" => self.style.is_strict = word.switch()?,
            "testEnv" => drop(word.switch()?),
            "draw" => rules.draw = Some(word.rule("movenumber=0,movecount=1,score=0")?),
            "resign" => rules.resign = Some(word.rule("movecount=1,score=0")?),
            "maxmoves" => {
                let moves = u32::try_from(word.number::<u64>()?).unwrap_or(u32::MAX);
                rules.move_cap = (moves > 0).then_some(moves);
            }
            name if is_idle(name) => {}
            name => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Returns the text of an option. If there are several words, fastchess joins the words without
    /// spaces.
    fn text(&self, word: &Word) -> Result<String, String> {
        let is_fastchess = self.style.is_fastchess();
        if is_fastchess { Ok(word.values.concat()) } else { word.single().map(str::to_owned) }
    }

    /// Applies a tablebase option; the paths of the tablebases are checked later.
    fn tablebases(&mut self, word: &Word) -> Result<(), String> {
        let all = TablebaseRule { pieces: 0, ignores_fifty: false, scope: Scope::Both };
        let rule = self.request.draft.rules.tablebase.get_or_insert(all);
        match word.name.as_str() {
            "tbpieces" => rule.pieces = word.number::<u32>()?.min(7),
            "tbignore50" => rule.ignores_fifty = word.switch()?,
            "tbadjudicate" => rule.scope = scope(word.single()?)?,
            _ => {
                let folders = word.single()?.split([':', ';']).filter(|folder| !folder.is_empty());
                self.request.draft.tables = folders.map(PathBuf::from).collect();
            }
        }
        Ok(())
    }

    /// Applies `-arbiter`.
    fn arbiter_options(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.key_values()? {
            match key {
                "contention" => {
                    let contention = value.parse().map_err(|e| format!("-arbiter contention: {e}"));
                    self.request.cpu_contention = contention?;
                }
                "llr" => self.style.shows_pairs_llr = word.truth(key, value)?,
                "verbose" => self.is_verbose = word.truth(key, value)?,
                "results" => self.results = Some(PathBuf::from(value)),
                _ => return Err(word.unknown_key(key, "contention, llr, results, verbose")),
            }
        }
        Ok(())
    }

    fn log(&mut self, word: &Word) -> Result<(), String> {
        let log = &mut self.style.log;
        for (key, value) in word.key_values()? {
            match (key, value) {
                ("file", _) => log.file = Some(PathBuf::from(value)),
                ("level", "trace" | "all" | "info") => log.level = Level::Info,
                ("level", "warn") => log.level = Level::Warn,
                ("level", "err" | "fatal") => log.level = Level::Error,
                ("level", _) => {
                    let error = "expected trace, info, warn, err or fatal";
                    return Err(word.wrong(key, value, error));
                }
                ("append", _) => self.replaces[2] = !word.truth(key, value)?,
                ("engine", _) => log.has_engines = word.truth(key, value)?,
                ("compress", _) if word.truth(key, value)? => {
                    log_warn("-log compress=true: the log is not compressed");
                }
                ("compress" | "realtime", _) => drop(word.truth(key, value)?),
                _ => {
                    let keys = "file, level, append, engine, compress, realtime";
                    return Err(word.unknown_key(key, keys));
                }
            }
        }
        if log.has_engines {
            self.request.draft.transcripts = Keeping::All;
        }
        Ok(())
    }

    fn quick(&mut self, word: &Word) -> Result<(), String> {
        let before = self.request.engines.len();
        for (key, value) in word.key_values()? {
            match key {
                "cmd" => {
                    let [cmd, name] = ["cmd", "name"].map(|key| format!("{key}={value}"));
                    let values = vec![cmd, name, "tc=10+0.1".to_owned()];
                    self.add_engine(&Word { name: word.name.clone(), values })?;
                }
                "book" => self.request.draft.book = Some(PathBuf::from(value)),
                _ => return Err(word.unknown_key(key, "cmd, book")),
            }
        }
        let added = &mut self.request.engines[before..];
        if added.len() != 2 || self.request.draft.book.is_none() {
            return Err("-quick needs cmd= twice and book=".to_owned());
        }
        if added[0].cmd == added[1].cmd {
            for (engine, number) in added.iter_mut().zip(["1", "2"]) {
                engine.name.get_or_insert_default().push_str(number);
            }
        }
        self.request.order = Some(Order::Random);
        self.games = Some(2);
        self.rounds = Some(25_000);
        self.concurrency(-2);
        self.first_lines.clear();
        self.style.recovers = true;
        self.request.draft.rules.draw =
            Some(DrawRule { move_number: 30, move_count: 8, score_cp: 8 });
        self.style.dialect = Dialect::Cutechess;
        Ok(())
    }

    fn repeat(&mut self, word: &Word) -> Result<(), String> {
        let count = if word.values.is_empty() { 2 } else { word.number()? };
        match self.style.program {
            // In fastchess, all games of a round have the same opening, so the number of
            // repetitions is the number of games per round.
            Dialect::Fastchess => self.games = Some(count),
            Dialect::Cutechess => self.repeats = Some(count),
        }
        Ok(())
    }

    /// Sets the concurrency; 0 or a negative number is added to the number of processors.
    fn concurrency(&mut self, games: isize) {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let wanted = match usize::try_from(games) {
            Ok(games) if games > 0 => games,
            _ => cores.saturating_sub(games.unsigned_abs()).max(1),
        };
        self.first_lines.clear();
        if games <= 0 && self.style.is_fastchess() {
            self.first_lines = format!(
                "Info: Adjusted concurrency to {wanted} based on number of available hardware threads.\n"
            );
        }
        self.request.concurrency = Some(wanted);
    }

    fn openings(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.key_values()? {
            let request = &mut self.request;
            match (key, value) {
                ("file", _) => request.draft.book = Some(PathBuf::from(value)),
                // Arbiter recognizes the format of a book by its name or contents.
                ("format", "epd" | "pgn") => {}
                ("order", "random") => request.order = Some(Order::Random),
                ("order", "sequential") => request.order = Some(Order::Sequential),
                ("plies", "-1" | "0") => request.draft.reading.plies = None,
                ("plies", _) => request.draft.reading.plies = Some(word.figure(key, value)?),
                ("start", _) => request.tournament.opening_start = Some(word.figure(key, value)?),
                ("policy", "default") => request.tournament.draft.openings = OpeningPolicy::Shared,
                ("policy", "encounter") => {
                    request.tournament.draft.openings = OpeningPolicy::PerEncounter
                }
                ("policy", "round") => request.tournament.draft.openings = OpeningPolicy::PerRound,
                ("format" | "order" | "policy", _) => {
                    return Err(word.wrong(key, value, format!("unknown value '{value}'")));
                }
                _ => return Err(word.unknown_key(key, "file, format, order, plies, start, policy")),
            }
        }
        Ok(())
    }

    fn pgnout(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.fields() {
            let pgn = &mut self.request.draft.pgn;
            let annotation = &mut self.request.draft.annotation;
            match (key, value) {
                ("file", Some(value)) => *pgn = Some(PathBuf::from(value)),
                ("notation", Some(value)) => {
                    let notation = value.parse().map_err(|error| word.wrong(key, value, error));
                    annotation.notation = notation?;
                }
                ("append", Some(value)) => self.replaces[0] = !word.truth(key, value)?,
                ("min", Some(value)) => annotation.is_minimal = word.truth(key, value)?,
                ("match_line", Some(value)) => self.match_line(value)?,
                (_, Some(value)) => {
                    let field: Field = key.parse().map_err(|_| word.unknown_key(key, PGN_KEYS))?;
                    if word.truth(key, value)? {
                        annotation.fields.push(field);
                    }
                }
                // cutechess-cli accepts the file followed by words such as `fi`; fastchess rejects
                // this form. `fi` needs no action, because only finished games are written.
                (_, None) if self.style.is_fastchess() => return Err(word.no_value(key)),
                ("fi", None) if pgn.is_some() => {}
                ("min", None) if pgn.is_some() => annotation.is_minimal = true,
                (_, None) if pgn.is_none() => *pgn = Some(PathBuf::from(key)),
                (_, None) => return Err(word.unknown_key(key, PGN_KEYS)),
            }
        }
        let pgn = self.request.draft.pgn.get_or_insert_with(|| named_by_time("pgn"));
        // Scripts discard the games in this way.
        if pgn.as_path() == Path::new("/dev/null") {
            self.request.draft.pgn = None;
        }
        Ok(())
    }

    fn epdout(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.fields() {
            match (key, value) {
                ("file", Some(value)) => self.request.draft.epd = Some(PathBuf::from(value)),
                ("append", Some(value)) => self.replaces[1] = !word.truth(key, value)?,
                (file, None) if !self.style.is_fastchess() => {
                    self.request.draft.epd = Some(PathBuf::from(file))
                }
                _ => return Err(word.unknown_key(key, "file, append")),
            }
        }
        self.request.draft.epd.get_or_insert_with(|| named_by_time("epd"));
        Ok(())
    }

    fn output(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.key_values()? {
            self.style.dialect = match (key, value) {
                ("format", "fastchess") => Dialect::Fastchess,
                ("format", "cutechess") => Dialect::Cutechess,
                ("format", _) => {
                    return Err(word.wrong(key, value, "expected fastchess or cutechess"));
                }
                _ => return Err(word.unknown_key(key, "format")),
            };
        }
        Ok(())
    }

    fn affinity(&mut self, word: &Word) -> Result<(), String> {
        self.request.draft.affinity = match &word.values[..] {
            [] => Affinity::Auto,
            _ => word.single()?.parse().map_err(|error| format!("-use-affinity: {error}"))?,
        };
        Ok(())
    }

    /// Adds a pattern for the engine lines that are written to the PGN.
    fn match_line(&mut self, line: &str) -> Result<(), String> {
        let pattern = &mut self.request.draft.annotation.pattern;
        let earlier = pattern.take().map_or_else(String::new, |pattern| format!("{pattern}|"));
        let all = format!("{earlier}(?:{line})").parse();
        *pattern = Some(all.map_err(|error| format!("-pgnout match_line: {error}"))?);
        Ok(())
    }

    fn sprt(&mut self, word: &Word) -> Result<(), String> {
        let is_fastchess = self.style.is_fastchess();
        let model = if is_fastchess { Model::Normalized } else { Model::Bayesian };
        let mut test = SprtRequest {
            elo0: Some(0.0),
            elo1: Some(0.0),
            model: Some(model),
            // fastchess and cutechess-cli stop at Wald's bounds, without a correction for
            // overshoot.
            correction: Some(Correction::None),
            // The evidence is set after all options have been read, because it depends on other
            // options.
            ..SprtRequest::default()
        };
        for (key, value) in word.key_values()? {
            let bound = match key {
                "elo0" => &mut test.elo0,
                "elo1" => &mut test.elo1,
                "alpha" => &mut test.alpha,
                "beta" => &mut test.beta,
                "model" => {
                    let model = value.parse();
                    test.model = Some(model.map_err(|e| format!("-sprt model: {e}"))?);
                    continue;
                }
                _ => return Err(word.unknown_key(key, "elo0, elo1, alpha, beta, model")),
            };
            *bound = Some(word.figure(key, value)?);
        }
        if test.alpha.is_none() || test.beta.is_none() {
            return Err("-sprt needs elo0, elo1, alpha and beta".to_owned());
        }
        self.request.sprt = test;
        self.is_sprt = true;
        Ok(())
    }
}

const PGN_KEYS: &str = "file, notation, append, nodes, seldepth, nps, hashfull, tbhits, pv, \
     timeleft, latency, min, match_line";

/// Returns the default path of an output file; the path contains the current time.
fn named_by_time(kind: &str) -> PathBuf {
    PathBuf::from(format!("fastchess_{}.{kind}", utc_time_as(unix_time_ms(), "%Y%m%d_%H%M%S")))
}

/// Parses `-tournament`.
fn format(word: &str) -> Result<Format, String> {
    let word = if word == "round-robin" { "roundrobin" } else { word };
    let found = TYPES.into_iter().find(|(_, name)| *name == word);
    let names = "roundrobin, gauntlet, knockout or pyramid";
    found.map(|(format, _)| format).ok_or_else(|| format!("-tournament {word}: expected {names}"))
}

/// Parses `-tbadjudicate`.
fn scope(word: &str) -> Result<Scope, String> {
    match word {
        "BOTH" => Ok(Scope::Both),
        "WIN_LOSS" => Ok(Scope::Wins),
        "DRAW" => Ok(Scope::Draws),
        _ => Err(format!("-tbadjudicate {word}: expected BOTH, WIN_LOSS or DRAW")),
    }
}

/// Returns whether a variant is Chess960. (Each opening decides whether its games are Chess960.)
fn is_chess960(variant: &str) -> Result<bool, String> {
    match variant {
        "standard" => Ok(false),
        "fischerandom" => Ok(true),
        other => Err(format!("-variant {other}: arbiter plays standard and fischerandom")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        let words = split(&shell_words::split(line).unwrap()).unwrap();
        Options::read(Dialect::Fastchess, &words)
    }

    #[test]
    fn every_option_of_the_table_is_known() {
        for (name, ..) in crate::table::OPTIONS {
            let error = read(&format!("-{name}")).err().unwrap_or_default();
            assert!(!error.contains("unknown option"), "{error}");
        }
    }

    #[test]
    fn several_tablebase_folders_are_accepted() {
        let request = read("-tbpieces 6 -tb /a:/b;/c -tbadjudicate WIN_LOSS").unwrap().request;
        let rule = request.draft.rules.tablebase.unwrap();
        assert_eq!((rule.pieces, rule.scope, request.draft.tables.len()), (6, Scope::Wins, 3));
        let all = read("-tb /a -tbpieces 9").unwrap().request.draft.rules.tablebase.unwrap();
        assert_eq!(all.pieces, 7);
        assert!(read("-tbadjudicate wins").is_err());
    }

    #[test]
    fn the_words_of_an_event_are_joined_as_in_fastchess() {
        let annotation = read("-event Big Match -site 'My PC'").unwrap().request.draft.annotation;
        assert_eq!(annotation.event.as_deref(), Some("BigMatch"));
        assert_eq!(annotation.site.as_deref(), Some("My PC"));
        let words = split(&["-event", "Big", "Match"].map(str::to_owned)).unwrap();
        let error = Options::read(Dialect::Cutechess, &words).unwrap_err();
        assert_eq!(error, "-event takes one value; unexpected 'Match'");
    }

    #[test]
    fn games_for_the_null_device_are_not_written() {
        assert_eq!(read("-pgnout file=/dev/null").unwrap().request.draft.pgn, None);
        assert!(read("-pgnout file=a.pgn").unwrap().request.draft.pgn.is_some());
    }

    #[test]
    fn several_match_lines_are_combined() {
        let line = "-pgnout file=a.pgn match_line='^info string a' match_line=b$ nodes=true";
        let annotation = read(line).unwrap().request.draft.annotation;
        assert_eq!(annotation.fields, [Field::Nodes]);
        let pattern = annotation.pattern.unwrap();
        assert!(
            pattern.matches("info string ab") && pattern.matches("ab") && !pattern.matches("a")
        );
        let error = read("-pgnout file=a.pgn match_line=(").unwrap_err();
        assert!(error.contains("match_line"), "{error}");
    }

    #[test]
    fn rules_have_the_defaults_of_the_other_programs() {
        let rules =
            read("-draw movenumber=9 movecount=0 -resign score=7").unwrap().request.draft.rules;
        assert_eq!(rules.draw, Some(DrawRule { move_number: 9, move_count: 1, score_cp: 0 }));
        let resign = rules.resign.unwrap();
        assert_eq!((resign.move_count, resign.score_cp, resign.two_sided), (1, 7, false));
    }

    #[test]
    fn errors_name_the_given_option_and_what_it_lacks() {
        for (line, expected) in [
            ("-resign", "-resign needs KEY=VALUE"),
            ("-openings", "-openings needs KEY=VALUE"),
            ("-engine cmd=a nodes", "-engine: 'nodes' is not KEY=VALUE"),
            ("-engine cmd=a ponder=maybe", "-engine ponder=maybe: expected true or false"),
            ("-pgnout a.pgn", "-pgnout: 'a.pgn' is not KEY=VALUE"),
        ] {
            assert_eq!(read(line).unwrap_err(), expected);
        }
        let quick = read("-quick cmd=a cmd=a book=b.epd").unwrap();
        let names: Vec<_> = quick.request.engines.iter().map(|engine| &engine.name).collect();
        assert_eq!(names, [&Some("a1".to_owned()), &Some("a2".to_owned())]);
        assert!(read("-quick cmd=a cmd=b").is_err());
        let ponders = |line| read(line).unwrap().request.engines[0].ponder;
        assert_eq!(ponders("-engine cmd=a ponder"), Some(true));
        assert_eq!(ponders("-engine cmd=a ponder=false trust=true"), Some(false));
    }
}
