//! The options of fastchess and cutechess-cli, and the request that they make.

use std::path::PathBuf;
use std::time::Duration;

use super::engine::Engines;
use super::extras::{Tablebase, Written, scope};
use super::words::{Word, figure, truth};
use arbiter_game::adjudicate::{DrawRule, ResignRule};
use arbiter_openings::Order;
use arbiter_plan::affinity::Affinity;
use arbiter_report::compat::Dialect;
use arbiter_schedule::{Format, OpeningPolicy};
use arbiter_stats::Model;

/// A whole command line.
#[derive(Debug)]
pub(crate) struct Options {
    /// Whose it is.
    pub dialect: Dialect,
    /// In whose form the output is.
    pub output: Dialect,
    pub engines: Engines,
    pub concurrency: Option<usize>,
    pub rounds: Option<u64>,
    pub games: Option<u64>,
    pub repeat: bool,
    pub format: Option<Format>,
    pub seeds: Option<usize>,
    pub noswap: bool,
    pub reverse: bool,
    pub wait: Option<Duration>,
    pub openings: Openings,
    pub seed: Option<u64>,
    pub sprt: Option<Test>,
    pub draw: Option<DrawRule>,
    pub resign: Option<ResignRule>,
    pub move_cap: Option<u32>,
    pub pgn: Option<PathBuf>,
    /// Whether an existing PGN file may not be added to.
    pub pgn_is_new: bool,
    pub affinity: Affinity,
    /// Games, or pairs, between two reports of figures; 0 for only one at the end.
    pub rating_interval: u64,
    /// Games between two lines of the score.
    pub score_interval: u64,
    pub penta: bool,
    /// Deadline for `uciok`, and for `readyok`.
    pub deadlines: [Option<Duration>; 2],
    pub tablebase: Tablebase,
    pub written: Written,
    pub epd: Option<PathBuf>,
    /// What was read and does nothing here, and why.
    pub notes: Vec<String>,
}

/// `-openings`.
#[derive(Debug, Default)]
pub(crate) struct Openings {
    pub file: Option<PathBuf>,
    pub order: Option<Order>,
    pub plies: Option<u32>,
    pub start: Option<u64>,
    pub policy: Option<OpeningPolicy>,
}

/// `-sprt`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    pub elo0: f64,
    pub elo1: f64,
    pub alpha: f64,
    pub beta: f64,
    pub model: Model,
}

impl Options {
    /// Reads the options. The answer to what cannot be is a sentence.
    pub(crate) fn read(dialect: Dialect, words: &[Word]) -> Result<Options, String> {
        let is_fastchess = dialect == Dialect::Fastchess;
        let mut options = Options {
            dialect,
            output: dialect,
            engines: Engines::default(),
            concurrency: None,
            rounds: None,
            games: None,
            repeat: false,
            format: None,
            seeds: None,
            noswap: false,
            reverse: false,
            wait: None,
            openings: Openings::default(),
            seed: None,
            sprt: None,
            draw: None,
            resign: None,
            move_cap: None,
            pgn: None,
            pgn_is_new: false,
            affinity: Affinity::None,
            rating_interval: if is_fastchess { 10 } else { 0 },
            score_interval: 1,
            penta: is_fastchess,
            deadlines: [None, None],
            tablebase: Tablebase::default(),
            written: Written::default(),
            epd: None,
            notes: Vec::new(),
        };
        for word in words {
            options.take(word)?;
        }
        // What is said of each engine overrules what they say, wherever it stands.
        for word in words.iter().filter(|word| word.name == "each") {
            options.engines.apply_to_all(word)?;
        }
        Ok(options)
    }

    fn take(&mut self, word: &Word) -> Result<(), String> {
        match word.name.as_str() {
            "engine" => self.engines.add(word)?,
            "each" => {}
            "quick" => self.quick(word)?,
            "concurrency" => {
                let number = word.number()?;
                self.concurrency = Some(usize::try_from(number).unwrap_or(usize::MAX));
            }
            "rounds" => self.rounds = Some(word.number()?),
            "games" => self.games = Some(word.number()?),
            "repeat" => self.repeat(word)?,
            "tournament" => self.format = Some(tournament(word)?),
            "seeds" => self.seeds = Some(usize::try_from(word.number()?).unwrap_or(usize::MAX)),
            "noswap" => self.noswap = word.bare().map(|()| true)?,
            "reverse" => self.reverse = word.bare().map(|()| true)?,
            "wait" => self.wait = Some(Duration::from_millis(word.number()?)),
            "openings" => self.openings(word)?,
            "srand" => self.seed = Some(word.number()?),
            "sprt" => self.sprt(word)?,
            "draw" => self.draw(word)?,
            "resign" => self.resign(word)?,
            "maxmoves" => {
                let moves = u32::try_from(word.number()?).unwrap_or(u32::MAX);
                self.move_cap = (moves > 0).then_some(moves);
            }
            "pgnout" => self.pgnout(word)?,
            "epdout" => self.epdout(word)?,
            "event" => self.written.event = Some(word.values.join(" ")),
            "site" => self.written.site = Some(word.values.join(" ")),
            "tb" => self.tablebase.folders = Some(word.single()?.to_owned()),
            "tbpieces" => self.tablebase.pieces = Some(word.number()?),
            "tbignore50" => self.tablebase.ignores_fifty = word.bare().map(|()| true)?,
            "tbadjudicate" => self.tablebase.scope = Some(scope(word.single()?)?),
            "ratinginterval" => self.rating_interval = word.number()?,
            "scoreinterval" => self.score_interval = word.number()?,
            "report" => self.report(word)?,
            "output" => self.output(word)?,
            "variant" => variant(word)?,
            "use-affinity" => self.affinity(word)?,
            "startup-ms" => self.deadlines[0] = Some(Duration::from_millis(word.number()?)),
            "ping-ms" | "ucinewgame-ms" => {
                let limit = Some(Duration::from_millis(word.number()?));
                self.deadlines[1] = self.deadlines[1].max(limit);
            }
            "recover" | "force-concurrency" | "testEnv" | "strict" if !word.values.is_empty() => {
                word.bare()?;
            }
            name => match without_effect(name) {
                Some(why) => self.notes.push(format!("-{name}: {why}")),
                None => return Err(self.unknown(word)),
            },
        }
        Ok(())
    }

    fn quick(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.pairs()? {
            match key {
                "cmd" => {
                    let number = self.engines.specs.len() + 1;
                    let name = format!("name={value}{number}");
                    let values = vec![format!("cmd={value}"), name, "tc=10+0.1".to_owned()];
                    self.engines.add(&Word { name: word.name.clone(), values })?;
                }
                "book" => self.openings.file = Some(PathBuf::from(value)),
                _ => return Err(word.unknown_key(key, "cmd, book")),
            }
        }
        self.openings.order = Some(Order::Random);
        (self.games, self.rounds) = (Some(2), Some(25_000));
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        self.concurrency = Some(cores.saturating_sub(2).max(1));
        self.draw = Some(DrawRule { move_number: 30, move_count: 8, score_cp: 8 });
        self.output = Dialect::Cutechess;
        Ok(())
    }

    fn repeat(&mut self, word: &Word) -> Result<(), String> {
        self.repeat = true;
        match word.values.is_empty() {
            // In fastchess it stands for two games from each opening.
            true if self.dialect == Dialect::Fastchess => self.games = Some(2),
            true => {}
            false if word.number()? == 2 => {}
            false => {
                return Err(format!(
                    "-repeat {}: arbiter plays each opening twice; say -repeat",
                    word.values[0]
                ));
            }
        }
        Ok(())
    }

    fn openings(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.pairs()? {
            let openings = &mut self.openings;
            match (key, value) {
                ("file", _) => openings.file = Some(PathBuf::from(value)),
                // The kind of a book is seen from its name or its contents.
                ("format", "epd" | "pgn") => {}
                ("order", "random") => openings.order = Some(Order::Random),
                ("order", "sequential") => openings.order = Some(Order::Sequential),
                ("plies", _) => openings.plies = Some(figure(&word.name, key, value)?),
                ("start", _) => openings.start = Some(figure(&word.name, key, value)?),
                ("policy", "default") => openings.policy = None,
                ("policy", "encounter") => openings.policy = Some(OpeningPolicy::PerEncounter),
                ("policy", "round") => openings.policy = Some(OpeningPolicy::PerRound),
                ("format" | "order" | "policy", _) => {
                    return Err(format!("-openings {key}={value}: '{value}' is not known"));
                }
                _ => return Err(word.unknown_key(key, "file, format, order, plies, start, policy")),
            }
        }
        Ok(())
    }

    fn sprt(&mut self, word: &Word) -> Result<(), String> {
        let model = match self.dialect {
            Dialect::Fastchess => Model::Normalized,
            Dialect::Cutechess => Model::Bayesian,
        };
        let mut test = Test { elo0: 0.0, elo1: 0.0, alpha: 0.05, beta: 0.05, model };
        for (key, value) in word.pairs()? {
            match key {
                "elo0" => test.elo0 = figure(&word.name, key, value)?,
                "elo1" => test.elo1 = figure(&word.name, key, value)?,
                "alpha" => test.alpha = figure(&word.name, key, value)?,
                "beta" => test.beta = figure(&word.name, key, value)?,
                "model" => {
                    test.model = match value {
                        "normalized" => Model::Normalized,
                        "logistic" => Model::Logistic,
                        "bayesian" => Model::Bayesian,
                        _ => {
                            let known = "normalized, logistic or bayesian";
                            return Err(format!("-sprt model={value}: expected {known}"));
                        }
                    }
                }
                _ => return Err(word.unknown_key(key, "elo0, elo1, alpha, beta, model")),
            }
        }
        self.sprt = Some(test);
        Ok(())
    }

    fn draw(&mut self, word: &Word) -> Result<(), String> {
        let mut rule = DrawRule { move_number: 0, move_count: 1, score_cp: 0 };
        for (key, value) in word.pairs()? {
            match key {
                "movenumber" => rule.move_number = figure(&word.name, key, value)?,
                "movecount" => rule.move_count = figure(&word.name, key, value)?,
                "score" => rule.score_cp = figure(&word.name, key, value)?,
                _ => return Err(word.unknown_key(key, "movenumber, movecount, score")),
            }
        }
        rule.move_count = rule.move_count.max(1);
        self.draw = Some(rule);
        Ok(())
    }

    fn resign(&mut self, word: &Word) -> Result<(), String> {
        let mut rule = ResignRule { move_count: 1, score_cp: 0, two_sided: false };
        for (key, value) in word.pairs()? {
            match key {
                "movecount" => rule.move_count = figure(&word.name, key, value)?,
                "score" => rule.score_cp = figure(&word.name, key, value)?,
                "twosided" => rule.two_sided = truth(&word.name, key, value)?,
                _ => return Err(word.unknown_key(key, "movecount, score, twosided")),
            }
        }
        rule.move_count = rule.move_count.max(1);
        self.resign = Some(rule);
        Ok(())
    }

    fn pgnout(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.fields() {
            match (key, value) {
                ("file", Some(value)) => self.pgn = Some(PathBuf::from(value)),
                ("notation", Some(value)) => {
                    let notation = value.parse();
                    self.written.notation =
                        notation.map_err(|error| format!("-pgnout notation={value}: {error}"))?;
                }
                ("append", Some(value)) => self.pgn_is_new = !truth(&word.name, key, value)?,
                ("min", Some(value)) => self.written.is_minimal = truth(&word.name, key, value)?,
                ("match_line", Some(value)) => self.written.lines.push(value.to_owned()),
                (_, Some(value)) if FIELDS.contains(&key) => {
                    if truth(&word.name, key, value)? {
                        self.written.add(key)?;
                    }
                }
                (_, Some(_)) => return Err(word.unknown_key(key, PGN_KEYS)),
                // The form of cutechess-cli: the file, then words. Only finished games are
                // written anyway.
                ("fi", None) if self.pgn.is_some() => {}
                ("min", None) if self.pgn.is_some() => self.written.is_minimal = true,
                (_, None) if self.pgn.is_none() => self.pgn = Some(PathBuf::from(key)),
                (_, None) => return Err(word.unknown_key(key, PGN_KEYS)),
            }
        }
        match self.pgn {
            Some(_) => Ok(()),
            None => Err("-pgnout needs a file: -pgnout FILE, or -pgnout file=FILE".to_owned()),
        }
    }

    fn epdout(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.fields() {
            match (key, value) {
                ("file", Some(value)) => self.epd = Some(PathBuf::from(value)),
                ("append", Some("true")) => {}
                (file, None) => self.epd = Some(PathBuf::from(file)),
                _ => return Err(word.unknown_key(key, "file")),
            }
        }
        Ok(())
    }

    fn report(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.pairs()? {
            match key {
                "penta" => self.penta = truth(&word.name, key, value)?,
                _ => return Err(word.unknown_key(key, "penta")),
            }
        }
        Ok(())
    }

    fn output(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.pairs()? {
            self.output = match (key, value) {
                ("format", "fastchess") => Dialect::Fastchess,
                ("format", "cutechess") => Dialect::Cutechess,
                ("format", _) => {
                    return Err(format!("-output format={value}: expected fastchess or cutechess"));
                }
                _ => return Err(word.unknown_key(key, "format")),
            };
        }
        Ok(())
    }

    fn affinity(&mut self, word: &Word) -> Result<(), String> {
        self.affinity = match &word.values[..] {
            [] => Affinity::Auto,
            _ => {
                let list = word.single()?;
                list.parse().map_err(|error| format!("-use-affinity: {error}"))?
            }
        };
        Ok(())
    }

    fn unknown(&self, word: &Word) -> String {
        let name = &word.name;
        match name.as_str() {
            "config" => "-config: cutechess-cli has none".to_owned(),
            "compliance" => "-compliance: use `arbiter check`".to_owned(),
            "crc32" => "-crc32: arbiter writes no checksum of a PGN file; leave it out".to_owned(),
            "engines" => {
                "-engines: engines are listed in engines.json, or in arbiter.toml".to_owned()
            }
            _ => {
                let all = KNOWN.iter().map(|known| (strsim::jaro_winkler(name, known), known));
                let nearest = all.max_by(|a, b| a.0.total_cmp(&b.0));
                let hint = nearest.filter(|(likeness, _)| *likeness > 0.8);
                let hint = hint.map(|(_, known)| format!("; did you mean -{known}?"));
                format!(
                    "-{name} is not an option that arbiter knows{}",
                    hint.unwrap_or_else(|| "; leave it out".to_owned())
                )
            }
        }
    }
}

/// Fields of `-pgnout` that are true or false.
const FIELDS: [&str; 8] =
    ["nodes", "seldepth", "nps", "hashfull", "tbhits", "pv", "timeleft", "latency"];

const PGN_KEYS: &str = "file, notation, append, nodes, seldepth, nps, hashfull, tbhits, pv, \
     timeleft, latency, min, match_line";

/// Options with an effect, for hints.
const KNOWN: [&str; 32] = [
    "engine",
    "each",
    "quick",
    "config",
    "concurrency",
    "rounds",
    "games",
    "repeat",
    "tournament",
    "seeds",
    "noswap",
    "reverse",
    "wait",
    "openings",
    "srand",
    "sprt",
    "draw",
    "resign",
    "maxmoves",
    "pgnout",
    "epdout",
    "event",
    "site",
    "tb",
    "tbpieces",
    "ratinginterval",
    "scoreinterval",
    "report",
    "output",
    "variant",
    "use-affinity",
    "recover",
];

/// Why an option that is read does nothing here.
fn without_effect(name: &str) -> Option<&'static str> {
    match name {
        "recover" => Some("engines that crash are always started again"),
        "autosaveinterval" => Some("every pair is in the store as soon as it is over"),
        "force-concurrency" => Some("the concurrency is never cut"),
        "log" | "debug" => Some("no log is written; errors of engines are shown as they happen"),
        "outcomeinterval" | "resultformat" => Some("results are shown in the usual format"),
        "bookmode" => Some("books are kept in memory"),
        "show-latency" | "check-mate-pvs" | "testEnv" | "strict" => Some("it has no effect"),
        _ => None,
    }
}

fn tournament(word: &Word) -> Result<Format, String> {
    match word.single()? {
        "roundrobin" | "round-robin" => Ok(Format::RoundRobin),
        "gauntlet" => Ok(Format::Gauntlet),
        "knockout" => Ok(Format::Knockout),
        "pyramid" => Ok(Format::Pyramid),
        other => {
            Err(format!("-tournament {other}: expected roundrobin, gauntlet, knockout or pyramid"))
        }
    }
}

fn variant(word: &Word) -> Result<(), String> {
    match word.single()? {
        // Which of the two it is follows from each opening.
        "standard" | "fischerandom" => Ok(()),
        other => Err(format!("-variant {other}: arbiter plays standard and fischerandom")),
    }
}
