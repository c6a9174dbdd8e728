//! The options of fastchess and cutechess-cli, and the request that they make.

use std::path::PathBuf;
use std::time::Duration;

use super::Style;
use super::words::{Word, figure, truth};
use crate::MODELS;
use arbiter_game::adjudicate::{DrawRule, Scope, TablebaseRule};
use arbiter_game::annotation::Field;
use arbiter_openings::Order;
use arbiter_plan::{Affinity, Request, SprtRequest, parse_draw, parse_resign};
use arbiter_report::Dialect;
use arbiter_schedule::{Format, OpeningPolicy};
use arbiter_stats::{Correction, Model};

/// A whole command line.
#[derive(Debug)]
pub(crate) struct Options {
    /// Whose it is.
    pub dialect: Dialect,
    /// How the run is shown.
    pub style: Style,
    /// The run, apart from what follows from `rounds`, `games` and `start_scale`.
    pub request: Request,
    pub is_sprt: bool,
    pub rounds: Option<u64>,
    pub games: Option<u64>,
    pub repeat: bool,
    /// The largest factor for the deadlines of a start.
    pub start_scale: Option<f64>,
    /// Deadline for `readyok`.
    pub ready: Option<Duration>,
    /// Whether an existing PGN file may not be added to.
    pub pgn_is_new: bool,
    /// What was read and does nothing here, and why.
    pub notes: Vec<String>,
}

/// Takes an option over.
type Take = fn(&mut Options, &Word) -> Result<(), String>;

/// Options with an effect.
const OPTIONS: [(&str, Take); 35] = [
    ("engine", Options::add_engine),
    // What is said of each engine overrules what they say, wherever it stands.
    ("each", |_, _| Ok(())),
    ("quick", Options::quick),
    ("concurrency", |o, word| word.number().map(|n| o.request.concurrency = Some(n))),
    ("rounds", |o, word| word.number().map(|n| o.rounds = Some(n))),
    ("games", |o, word| word.number().map(|n| o.games = Some(n))),
    ("repeat", Options::repeat),
    ("tournament", Options::tournament),
    ("seeds", |o, word| word.number().map(|n| o.request.tournament.seeds = Some(n))),
    ("noswap", |o, word| word.bare().map(|()| o.request.tournament.noswap = true)),
    ("reverse", |o, word| word.bare().map(|()| o.request.tournament.reverse = true)),
    ("wait", |o, word| word.millis().map(|pause| o.request.tournament.wait = Some(pause))),
    ("openings", Options::openings),
    ("srand", |o, word| word.number().map(|n| o.request.seed = Some(n))),
    ("sprt", Options::sprt),
    ("draw", |o, word| {
        let rule = parse_draw(&word.rule("movenumber=0,movecount=1,score=0")?);
        o.request.rules.draw = Some(rule.map_err(|error| format!("-draw: {error}"))?);
        Ok(())
    }),
    ("resign", |o, word| {
        let rule = parse_resign(&word.rule("movecount=1,score=0")?);
        o.request.rules.resign = Some(rule.map_err(|error| format!("-resign: {error}"))?);
        Ok(())
    }),
    ("maxmoves", |o, word| {
        let moves = u32::try_from(word.number::<u64>()?).unwrap_or(u32::MAX);
        o.request.rules.move_cap = (moves > 0).then_some(moves);
        Ok(())
    }),
    ("pgnout", Options::pgnout),
    ("epdout", Options::epdout),
    ("event", |o, word| {
        o.request.annotation.event = Some(word.values.join(" "));
        Ok(())
    }),
    ("site", |o, word| {
        o.request.annotation.site = Some(word.values.join(" "));
        Ok(())
    }),
    ("tb", |o, word| {
        let folders = word.single()?.split([':', ';']).filter(|folder| !folder.is_empty());
        o.request.tables = folders.map(PathBuf::from).collect();
        o.tablebase();
        Ok(())
    }),
    ("tbpieces", |o, word| match word.number()? {
        pieces @ 3..=7 => {
            o.tablebase().pieces = pieces;
            Ok(())
        }
        pieces => Err(format!("-tbpieces {pieces}: give 3 to 7 pieces")),
    }),
    ("tbignore50", |o, word| word.bare().map(|()| o.tablebase().ignores_fifty = true)),
    ("tbadjudicate", |o, word| scope(word.single()?).map(|scope| o.tablebase().scope = scope)),
    ("ratinginterval", |o, word| word.number().map(|n| o.style.rating_interval = n)),
    ("scoreinterval", |o, word| word.number().map(|n| o.style.score_interval = n)),
    ("report", Options::report),
    ("output", Options::output),
    ("variant", |_, word| variant(word)),
    ("use-affinity", Options::affinity),
    ("startup-ms", |o, word| word.millis().map(|limit| o.request.deadlines.uciok = limit)),
    ("ping-ms", |o, word| word.millis().map(|limit| o.ready = o.ready.max(Some(limit)))),
    ("ucinewgame-ms", |o, word| word.millis().map(|limit| o.ready = o.ready.max(Some(limit)))),
];

/// Options that are read and do nothing here, and why.
pub(super) const WITHOUT_EFFECT: [(&str, &str); 12] = [
    ("recover", "engines that crash are always started again"),
    ("autosaveinterval", "every pair is in the store as soon as it is over"),
    ("force-concurrency", "the concurrency is never cut"),
    ("log", "no log is written; errors of engines are shown as they happen"),
    ("debug", "no log is written; errors of engines are shown as they happen"),
    ("outcomeinterval", "results are shown in the usual format"),
    ("resultformat", "results are shown in the usual format"),
    ("bookmode", "books are kept in memory"),
    ("show-latency", "it has no effect"),
    ("check-mate-pvs", "it has no effect"),
    ("testEnv", "it has no effect"),
    ("strict", "it has no effect"),
];

impl Options {
    /// Reads the options. The answer to what cannot be is a sentence.
    pub(crate) fn read(dialect: Dialect, words: &[Word]) -> Result<Options, String> {
        let is_fastchess = dialect == Dialect::Fastchess;
        let mut request = Request { order: Some(Order::Sequential), ..Request::default() };
        request.annotation.has_origin = true;
        let mut options = Options {
            dialect,
            style: Style {
                dialect,
                penta: is_fastchess,
                rating_interval: if is_fastchess { 10 } else { 0 },
                score_interval: 1,
                saved_in: None,
            },
            request,
            is_sprt: false,
            rounds: None,
            games: None,
            repeat: false,
            start_scale: None,
            ready: None,
            pgn_is_new: false,
            notes: Vec::new(),
        };
        for word in words {
            options.take(word)?;
        }
        for word in words.iter().filter(|word| word.name == "each") {
            options.apply_to_all(word)?;
        }
        Ok(options)
    }

    fn take(&mut self, word: &Word) -> Result<(), String> {
        let name = word.name.as_str();
        if let Some((_, take)) = OPTIONS.iter().find(|(known, _)| *known == name) {
            return take(self, word);
        }
        let Some((_, why)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(name));
        };
        if matches!(name, "recover" | "force-concurrency" | "testEnv" | "strict") {
            word.bare()?;
        }
        self.notes.push(format!("-{name}: {why}"));
        Ok(())
    }

    /// The rule by which tables end games; whether there are tables is seen at the end.
    fn tablebase(&mut self) -> &mut TablebaseRule {
        let all = TablebaseRule { pieces: 0, ignores_fifty: false, scope: Scope::Both };
        self.request.rules.tablebase.get_or_insert(all)
    }

    fn quick(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.pairs()? {
            match key {
                "cmd" => {
                    let number = self.request.engines.len() + 1;
                    let name = format!("name={value}{number}");
                    let values = vec![format!("cmd={value}"), name, "tc=10+0.1".to_owned()];
                    self.add_engine(&Word { name: word.name.clone(), values })?;
                }
                "book" => self.request.openings = Some(PathBuf::from(value)),
                _ => return Err(word.unknown_key(key, "cmd, book")),
            }
        }
        self.request.order = Some(Order::Random);
        (self.games, self.rounds) = (Some(2), Some(25_000));
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        self.request.concurrency = Some(cores.saturating_sub(2).max(1));
        self.request.rules.draw = Some(DrawRule { move_number: 30, move_count: 8, score_cp: 8 });
        self.style.dialect = Dialect::Cutechess;
        Ok(())
    }

    fn repeat(&mut self, word: &Word) -> Result<(), String> {
        self.repeat = true;
        match word.values.is_empty() {
            // In fastchess it stands for two games from each opening.
            true if self.dialect == Dialect::Fastchess => self.games = Some(2),
            true => {}
            false if word.number::<u64>()? == 2 => {}
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
            let request = &mut self.request;
            match (key, value) {
                ("file", _) => request.openings = Some(PathBuf::from(value)),
                // The kind of a book is seen from its name or its contents.
                ("format", "epd" | "pgn") => {}
                ("order", "random") => request.order = Some(Order::Random),
                ("order", "sequential") => request.order = Some(Order::Sequential),
                ("plies", _) => request.plies = Some(figure(&word.name, key, value)?),
                ("start", _) => {
                    request.tournament.opening_start = Some(figure(&word.name, key, value)?)
                }
                ("policy", "default") => request.tournament.openings = None,
                ("policy", "encounter") => {
                    request.tournament.openings = Some(OpeningPolicy::PerEncounter)
                }
                ("policy", "round") => request.tournament.openings = Some(OpeningPolicy::PerRound),
                ("format" | "order" | "policy", _) => {
                    return Err(format!("-openings {key}={value}: '{value}' is not known"));
                }
                _ => return Err(word.unknown_key(key, "file, format, order, plies, start, policy")),
            }
        }
        Ok(())
    }

    fn pgnout(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.fields() {
            match (key, value) {
                ("file", Some(value)) => self.request.pgn = Some(PathBuf::from(value)),
                ("notation", Some(value)) => {
                    let notation = value.parse();
                    self.request.annotation.notation =
                        notation.map_err(|error| format!("-pgnout notation={value}: {error}"))?;
                }
                ("append", Some(value)) => self.pgn_is_new = !truth(&word.name, key, value)?,
                ("min", Some(value)) => {
                    self.request.annotation.is_minimal = truth(&word.name, key, value)?
                }
                ("match_line", Some(value)) => self.match_line(value)?,
                (_, Some(value)) => {
                    let field: Field = key.parse().map_err(|_| word.unknown_key(key, PGN_KEYS))?;
                    if truth(&word.name, key, value)? {
                        self.request.annotation.fields.push(field);
                    }
                }
                // The form of cutechess-cli: the file, then words. Only finished games are
                // written anyway.
                ("fi", None) if self.request.pgn.is_some() => {}
                ("min", None) if self.request.pgn.is_some() => {
                    self.request.annotation.is_minimal = true
                }
                (_, None) if self.request.pgn.is_none() => {
                    self.request.pgn = Some(PathBuf::from(key))
                }
                (_, None) => return Err(word.unknown_key(key, PGN_KEYS)),
            }
        }
        match self.request.pgn {
            Some(_) => Ok(()),
            None => Err("-pgnout needs a file: -pgnout FILE, or -pgnout file=FILE".to_owned()),
        }
    }

    fn epdout(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.fields() {
            match (key, value) {
                ("file", Some(value)) => self.request.epd = Some(PathBuf::from(value)),
                ("append", Some("true")) => {}
                (file, None) => self.request.epd = Some(PathBuf::from(file)),
                _ => return Err(word.unknown_key(key, "file")),
            }
        }
        Ok(())
    }

    fn report(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.pairs()? {
            match key {
                "penta" => self.style.penta = truth(&word.name, key, value)?,
                _ => return Err(word.unknown_key(key, "penta")),
            }
        }
        Ok(())
    }

    fn output(&mut self, word: &Word) -> Result<(), String> {
        for (key, value) in word.pairs()? {
            self.style.dialect = match (key, value) {
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
        self.request.affinity = match &word.values[..] {
            [] => Affinity::Auto,
            _ => {
                let list = word.single()?;
                list.parse().map_err(|error| format!("-use-affinity: {error}"))?
            }
        };
        Ok(())
    }

    /// Writes lines of engines that match `line`, besides those that earlier ones match.
    fn match_line(&mut self, line: &str) -> Result<(), String> {
        let pattern = &mut self.request.annotation.pattern;
        let earlier = pattern.take().map_or_else(String::new, |pattern| format!("{pattern}|"));
        let all = format!("{earlier}(?:{line})").parse();
        *pattern = Some(all.map_err(|error| format!("-pgnout match_line: {error}"))?);
        Ok(())
    }

    fn sprt(&mut self, word: &Word) -> Result<(), String> {
        let model = match self.dialect {
            Dialect::Fastchess => Model::Normalized,
            Dialect::Cutechess => Model::Bayesian,
        };
        let mut test = SprtRequest {
            elo0: Some(0.0),
            elo1: Some(0.0),
            alpha: Some(0.05),
            beta: Some(0.05),
            model: Some(model),
            // Both stop at Wald's bounds.
            correction: Some(Correction::None),
        };
        for (key, value) in word.pairs()? {
            let bound = match key {
                "elo0" => &mut test.elo0,
                "elo1" => &mut test.elo1,
                "alpha" => &mut test.alpha,
                "beta" => &mut test.beta,
                "model" => {
                    let model = MODELS.read(value);
                    test.model = Some(model.map_err(|e| format!("-sprt model={value}: {e}"))?);
                    continue;
                }
                _ => return Err(word.unknown_key(key, "elo0, elo1, alpha, beta, model")),
            };
            *bound = Some(figure(&word.name, key, value)?);
        }
        (self.request.sprt, self.is_sprt) = (test, true);
        Ok(())
    }

    fn tournament(&mut self, word: &Word) -> Result<(), String> {
        self.request.tournament.format = Some(match word.single()? {
            "roundrobin" | "round-robin" => Format::RoundRobin,
            "gauntlet" => Format::Gauntlet,
            "knockout" => Format::Knockout,
            "pyramid" => Format::Pyramid,
            other => {
                let known = "roundrobin, gauntlet, knockout or pyramid";
                return Err(format!("-tournament {other}: expected {known}"));
            }
        });
        Ok(())
    }
}

/// The sentence for an option that is not known.
fn unknown(name: &str) -> String {
    match name {
        "config" => "-config: cutechess-cli has none".to_owned(),
        "compliance" => "-compliance: use `arbiter check`".to_owned(),
        "crc32" => "-crc32: arbiter writes no checksum of a PGN file; leave it out".to_owned(),
        "engines" => "-engines: engines are listed in engines.json, or in arbiter.toml".to_owned(),
        _ => {
            let known = OPTIONS.iter().map(|(known, _)| known);
            let known = known.chain(WITHOUT_EFFECT.iter().map(|(known, _)| known));
            let all = known.map(|known| (strsim::jaro_winkler(name, known), known));
            let nearest = all.max_by(|a, b| a.0.total_cmp(&b.0));
            let hint = match nearest.filter(|(likeness, _)| *likeness > 0.8) {
                Some((_, known)) => format!("did you mean -{known}?"),
                None => "leave it out".to_owned(),
            };
            format!("-{name} is not an option that arbiter knows; {hint}")
        }
    }
}

const PGN_KEYS: &str = "file, notation, append, nodes, seldepth, nps, hashfull, tbhits, pv, \
     timeleft, latency, min, match_line";

/// `-tbadjudicate`.
fn scope(word: &str) -> Result<Scope, String> {
    match word {
        "BOTH" => Ok(Scope::Both),
        "WIN_LOSS" => Ok(Scope::Wins),
        "DRAW" => Ok(Scope::Draws),
        _ => Err(format!("-tbadjudicate {word}: expected BOTH, WIN_LOSS or DRAW")),
    }
}

fn variant(word: &Word) -> Result<(), String> {
    match word.single()? {
        // Which of the two it is follows from each opening.
        "standard" | "fischerandom" => Ok(()),
        other => Err(format!("-variant {other}: arbiter plays standard and fischerandom")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::words::split;

    fn read(line: &str) -> Result<Options, String> {
        let words = split(&shell_words::split(line).unwrap()).unwrap();
        Options::read(Dialect::Fastchess, &words)
    }

    #[test]
    fn tables_are_in_several_folders() {
        let request = read("-tbpieces 6 -tb /a:/b;/c -tbadjudicate WIN_LOSS").unwrap().request;
        let rule = request.rules.tablebase.unwrap();
        assert_eq!((rule.pieces, rule.scope, request.tables.len()), (6, Scope::Wins, 3));
        assert!(read("-tbpieces 9").is_err() && read("-tbadjudicate wins").is_err());
    }

    #[test]
    fn any_of_several_lines_is_written() {
        let line = "-pgnout a.pgn match_line='^info string a' match_line=b$ nodes=true";
        let annotation = read(line).unwrap().request.annotation;
        assert_eq!(annotation.fields, [Field::Nodes]);
        let pattern = annotation.pattern.unwrap();
        assert!(
            pattern.matches("info string ab") && pattern.matches("ab") && !pattern.matches("a")
        );
        let error = read("-pgnout a.pgn match_line=(").unwrap_err();
        assert!(error.contains("match_line"), "{error}");
    }

    #[test]
    fn rules_have_the_defaults_of_the_other_programs() {
        let rules = read("-draw movenumber=9 movecount=0 -resign score=7").unwrap().request.rules;
        assert_eq!(rules.draw, Some(DrawRule { move_number: 9, move_count: 1, score_cp: 0 }));
        let resign = rules.resign.unwrap();
        assert_eq!((resign.move_count, resign.score_cp, resign.two_sided), (1, 7, false));
    }
}
