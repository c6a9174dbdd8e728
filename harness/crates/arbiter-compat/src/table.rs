//! Table of the options of fastchess and cutechess-cli.

use std::path::PathBuf;

use crate::engine::KEYS;
use crate::options::{Options, scope, variant};
use crate::words::{Word, truth};
use arbiter_names::nearest;

/// Function that applies an option.
type ApplyOption = fn(&mut Options, &Word) -> Result<(), String>;

/// An option: name, values, effect in Arbiter, and the function that applies it.
type OptionRow = (&'static str, &'static str, &'static str, ApplyOption);

/// Prefix of the description of an option that is accepted without effect, before the reason.
const NOTHING: &str = "ignored: ";

/// All options, in the order of the help.
pub(super) const OPTIONS: &[OptionRow] = &[
    ("engine", "KEY=VALUE...", "adds an engine", Options::add_engine),
    // `-each` overrides the settings of individual engines, wherever it stands, so it is applied
    // last, by `Options::read`.
    ("each", "KEY=VALUE...", "settings of all engines", |_, _| Ok(())),
    ("quick", "cmd=FILE cmd=FILE book=FILE", "a match at 10+0.1", Options::quick),
    (
        "concurrency",
        "N",
        "concurrent games; 0 or less: added to the number of processors",
        |o, word| {
            o.concurrency(word.number()?);
            Ok(())
        },
    ),
    ("rounds", "N", "rounds", |o, word| word.number().map(|n| o.rounds = Some(n))),
    ("games", "N", "games per encounter and round", |o, word| {
        word.number().map(|n| o.games = Some(n))
    }),
    ("repeat", "[N]", "games from one opening: 2 or N", Options::repeat),
    (
        "tournament",
        "roundrobin|gauntlet|knockout|pyramid",
        "format of the tournament",
        Options::tournament,
    ),
    ("seeds", "N", "first engines of a gauntlet or knockout", |o, word| {
        word.number().map(|n| o.request.tournament.seeds = Some(n))
    }),
    ("noswap", "", "colours are not swapped", |o, word| {
        word.check_no_value().map(|()| o.request.tournament.draft.is_single = true)
    }),
    ("reverse", "", "the second engine plays White first", |o, word| {
        word.check_no_value().map(|()| o.request.tournament.draft.is_reversed = true)
    }),
    ("wait", "MS", "pause between games", |o, word| {
        word.millis().map(|pause| o.request.draft.wait = pause)
    }),
    (
        "openings",
        "file=FILE [format=epd|pgn] [order=random|sequential] [plies=N] [start=N] \
         [policy=default|encounter|round]",
        "the book",
        Options::openings,
    ),
    ("bookmode", "ram|disk", "ignored: books are kept in memory", |_, _| Ok(())),
    (
        "srand",
        "SEED",
        "seed of all random choices; default: a random one, which is shown",
        |o, word| word.number().map(|n| o.request.seed = Some(n)),
    ),
    (
        "sprt",
        "elo0=ELO elo1=ELO alpha=RATE beta=RATE [model=normalized|logistic|bayesian]",
        "ends the match when the SPRT decides",
        Options::sprt,
    ),
    ("draw", "[movenumber=N] [movecount=N] [score=CP]", "draws are adjudicated", |o, word| {
        let rule = word.rule("movenumber=0,movecount=1,score=0")?.parse();
        o.request.draft.rules.draw = Some(rule.map_err(|error| format!("-draw: {error}"))?);
        Ok(())
    }),
    ("resign", "[movecount=N] [score=CP] [twosided=BOOL]", "wins are adjudicated", |o, word| {
        let rule = word.rule("movecount=1,score=0")?.parse();
        o.request.draft.rules.resign = Some(rule.map_err(|error| format!("-resign: {error}"))?);
        Ok(())
    }),
    ("maxmoves", "N", "longer games are adjudicated as draws; 0: none", |o, word| {
        let moves = u32::try_from(word.number::<u64>()?).unwrap_or(u32::MAX);
        o.request.draft.rules.move_cap = (moves > 0).then_some(moves);
        Ok(())
    }),
    ("tb", "FOLDERS", "Syzygy tablebases adjudicate", |o, word| {
        let folders = word.single()?.split([':', ';']).filter(|folder| !folder.is_empty());
        o.request.draft.tables = folders.map(PathBuf::from).collect();
        o.tablebase();
        Ok(())
    }),
    ("tbpieces", "N", "maximum number of pieces, 3 to 7; 0: as the tables have", |o, word| {
        word.number::<u32>().map(|pieces| o.tablebase().pieces = pieces.min(7))
    }),
    ("tbignore50", "", "tables ignore the fifty-move rule", |o, word| {
        word.check_no_value().map(|()| o.tablebase().ignores_fifty = true)
    }),
    ("tbadjudicate", "BOTH|WIN_LOSS|DRAW", "results that tables adjudicate", |o, word| {
        scope(word.single()?).map(|scope| o.tablebase().scope = scope)
    }),
    ("variant", "standard|fischerandom", "as each opening needs", |o, word| {
        variant(word).map(|is_chess960| o.style.is_chess960 = is_chess960)
    }),
    (
        "pgnout",
        "[file=]FILE [notation=san|lan|uci] [append=BOOL] [min=BOOL] [match_line=REGEX] \
         [nodes|seldepth|nps|hashfull|tbhits|pv|timeleft|latency=BOOL] [fi]",
        "the games",
        Options::pgnout,
    ),
    ("epdout", "[file=]FILE [append=BOOL]", "their final positions", Options::epdout),
    ("crc32", "pgn=BOOL", "shows the checksum of the PGN file at the end", |o, word| {
        for (key, value) in word.pairs()? {
            match key {
                "pgn" => o.style.shows_crc = truth(&word.name, key, value)?,
                _ => return Err(word.unknown_key(key, "pgn")),
            }
        }
        Ok(())
    }),
    ("event", "NAME", "name of the event", |o, word| {
        o.request.draft.annotation.event = Some(word.values.join(" "));
        Ok(())
    }),
    ("site", "NAME", "name of the site", |o, word| {
        o.request.draft.annotation.site = Some(word.values.join(" "));
        Ok(())
    }),
    ("output", "format=fastchess|cutechess", "format of the lines", Options::output),
    ("report", "penta=BOOL", "figures by pairs", Options::report),
    ("ratinginterval", "N", "pairs (or games) between figures; 0: only at the end", |o, word| {
        word.number().map(|n| o.style.rating_interval = n)
    }),
    ("scoreinterval", "N", "games between scores in the format of cutechess", |o, word| {
        word.number().map(|n| o.style.score_interval = n)
    }),
    ("recover", "", "a crash of an engine does not end the run", |o, word| {
        word.check_no_value().map(|()| o.style.recovers = true)
    }),
    (
        "config",
        "[file=FILE] [outname=FILE] [discard=BOOL] [stats=BOOL]",
        "resumes the run of a file (fastchess)",
        |_, _| Ok(()),
    ),
    ("use-affinity", "[CPUS]", "games on separate processors", Options::affinity),
    ("startup-ms", "MS", "time for uciok", |o, word| {
        word.millis().map(|limit| o.request.draft.deadlines.uciok = limit)
    }),
    ("ping-ms", "MS", "time for readyok", |o, word| {
        word.millis().map(|limit| o.ready = o.ready.max(Some(limit)))
    }),
    ("ucinewgame-ms", "MS", "time for readyok", |o, word| {
        word.millis().map(|limit| o.ready = o.ready.max(Some(limit)))
    }),
    (
        "arbiter",
        "[contention=discard|report|off] [llr=BOOL] [results=DIR] [verbose=BOOL]",
        "arbiter's own: treatment of CPU contention; LLR by pairs; folder of the results; games and \
         seed on standard error",
        |o, word| {
            for (key, value) in word.pairs()? {
                match key {
                    "contention" => {
                        let what = value.parse().map_err(|e| format!("-arbiter contention: {e}"));
                        o.request.cpu_contention = what?;
                    }
                    "llr" => o.style.shows_pairs_llr = truth(&word.name, key, value)?,
                    "verbose" => o.is_verbose = truth(&word.name, key, value)?,
                    "results" => o.results = Some(PathBuf::from(value)),
                    _ => return Err(word.unknown_key(key, "contention, llr, results, verbose")),
                }
            }
            Ok(())
        },
    ),
    ("force-concurrency", "", "allows more concurrent games than processors", |o, word| {
        word.check_no_value().map(|()| o.is_forced = true)
    }),
    (
        "autosaveinterval",
        "N",
        "games after which config.json is written again; 0: at the end",
        |o, word| word.number().map(|n| o.style.save_interval = n),
    ),
    ("outcomeinterval", "N", "games between lists of outcomes; 0: at the end", |o, word| {
        word.number().map(|n| o.style.outcome_interval = n)
    }),
    ("resultformat", "FORMAT", "ignored: results are shown in the usual format", |_, _| Ok(())),
    (
        "log",
        "file=FILE [level=trace|info|warn|err|fatal] [append=BOOL] [engine=BOOL]",
        "copies the output to a file, with engine=true also the lines to and from engines",
        Options::log,
    ),
    ("debug", "[all]", "prints the lines to and from engines", |o, _| {
        o.debug();
        Ok(())
    }),
    ("show-latency", "", "ignored: -pgnout latency=true writes it", |_, _| Ok(())),
    ("check-mate-pvs", "", "warns of mate scores whose PV has no mate", |o, word| {
        word.check_no_value().map(|()| o.style.checks_mates = true)
    }),
    ("strict", "", "a warning ends the run", |o, word| {
        word.check_no_value().map(|()| o.style.is_strict = true)
    }),
    ("testEnv", "", "ignored: it has no effect", |_, word| word.check_no_value()),
];

/// Returns whether an option is accepted without effect.
pub(super) fn is_idle(name: &str) -> bool {
    OPTIONS.iter().any(|(known, _, does, _)| *known == name && does.starts_with(NOTHING))
}

/// Returns the error for an unknown option.
pub(super) fn unknown(name: &str) -> String {
    let hint = match nearest(name, OPTIONS.iter().map(|(known, ..)| *known)) {
        Some(known) => format!("did you mean -{known}?"),
        None => "remove it".to_owned(),
    };
    format!("unknown option -{name}; {hint}")
}

/// Returns the help, with all options.
pub fn help() -> String {
    let lines = OPTIONS.iter().map(|(name, takes, does, _)| {
        let head = format!("-{name} {takes}");
        format!("  {}\n      {does}\n", head.trim_end())
    });
    lines.collect::<String>() + &format!("\nKeys of -engine and -each: {KEYS}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_support_of_each_option() {
        let rows =
            include_str!("../../../../docs/compat.md").lines().filter(|line| line.contains('|'));
        let rows: Vec<&str> = rows.collect();
        for (name, ..) in OPTIONS {
            let row = rows.iter().find(|row| row.contains(&format!("`-{name}`")));
            let row = row.unwrap_or_else(|| panic!("-{name} is in no table"));
            assert_eq!(row.contains("| – |"), is_idle(name), "{row}");
        }
        for key in KEYS.split(", ") {
            assert!(rows.iter().any(|row| row.contains(&format!("`{key}`"))), "{key}");
        }
    }
}
