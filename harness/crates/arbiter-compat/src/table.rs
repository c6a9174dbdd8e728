//! Table of the options of fastchess and cutechess-cli.

use arbiter_names::nearest;

/// Keys of `-engine` and `-each`.
pub(super) const KEYS: &str = "conf, cmd, name, dir, args, arg, proto, tc, st, nodes, depth, plies, \
     timemargin, option.NAME, restart, ponder, initstr, stderr, tscale, book, bookdepth, whitepov, trust, debug";

/// Start of the description of an option that is accepted without effect; the reason follows.
const NOTHING: &str = "ignored: ";

/// All options, in the order of the help, each with its values and its effect in Arbiter.
/// `Options::take` applies the options.
pub(super) const OPTIONS: &[(&str, &str, &str)] = &[
    ("engine", "KEY=VALUE...", "adds an engine"),
    ("each", "KEY=VALUE...", "settings of all engines"),
    ("quick", "cmd=FILE cmd=FILE book=FILE", "a match at 10+0.1"),
    ("concurrency", "N", "concurrent games; 0 or less: added to the number of processors"),
    ("rounds", "N", "rounds"),
    ("games", "N", "games per encounter and round"),
    ("repeat", "[N]", "games from one opening: 2 or N"),
    ("tournament", "roundrobin|gauntlet|knockout|pyramid", "format of the tournament"),
    ("seeds", "N", "first engines of a gauntlet or knockout"),
    ("noswap", "", "colours are not swapped"),
    ("reverse", "", "the second engine plays White first"),
    ("wait", "MS", "pause between games"),
    (
        "openings",
        "file=FILE [format=epd|pgn] [order=random|sequential] [plies=N] [start=N] \
         [policy=default|encounter|round]",
        "the book",
    ),
    ("bookmode", "ram|disk", "ignored: books are kept in memory"),
    ("srand", "SEED", "seed of all random choices; default: a random one, which is shown"),
    (
        "sprt",
        "elo0=ELO elo1=ELO alpha=RATE beta=RATE [model=normalized|logistic|bayesian]",
        "ends the match when the SPRT decides",
    ),
    ("draw", "[movenumber=N] [movecount=N] [score=CP]", "draws are adjudicated"),
    ("resign", "[movecount=N] [score=CP] [twosided=BOOL]", "wins are adjudicated"),
    ("maxmoves", "N", "longer games are adjudicated as draws; 0: none"),
    ("tb", "FOLDERS", "Syzygy tablebases adjudicate"),
    ("tbpieces", "N", "maximum number of pieces, 3 to 7; 0: as the tables have"),
    ("tbignore50", "", "tables ignore the fifty-move rule"),
    ("tbadjudicate", "BOTH|WIN_LOSS|DRAW", "results that tables adjudicate"),
    ("variant", "standard|fischerandom", "as each opening needs"),
    (
        "pgnout",
        "[file=]FILE [notation=san|lan|uci] [append=BOOL] [min=BOOL] [match_line=REGEX] \
         [nodes|seldepth|nps|hashfull|tbhits|pv|timeleft|latency=BOOL] [fi]",
        "the games",
    ),
    ("epdout", "[file=]FILE [append=BOOL]", "their final positions"),
    ("crc32", "pgn=BOOL", "shows the checksum of the PGN file at the end"),
    ("event", "NAME", "name of the event"),
    ("site", "NAME", "name of the site"),
    ("output", "format=fastchess|cutechess", "format of the lines"),
    ("report", "penta=BOOL", "figures by pairs"),
    ("ratinginterval", "N", "pairs (or games) between figures; 0: only at the end"),
    ("scoreinterval", "N", "games between scores in the format of cutechess"),
    ("recover", "", "a crash of an engine does not end the run"),
    (
        "config",
        "[file=FILE] [outname=FILE] [discard=BOOL] [stats=BOOL]",
        "resumes the run of a file (fastchess)",
    ),
    ("use-affinity", "[CPUS]", "games on separate processors"),
    ("startup-ms", "MS", "time for uciok"),
    ("ping-ms", "MS", "time for readyok"),
    ("ucinewgame-ms", "MS", "time for readyok"),
    (
        "arbiter",
        "[contention=discard|report|off] [llr=BOOL] [results=DIR] [verbose=BOOL]",
        "arbiter's own: treatment of CPU contention; LLR by pairs; folder of the results; games and \
         seed on standard error",
    ),
    ("force-concurrency", "", "allows more concurrent games than processors"),
    ("autosaveinterval", "N", "games after which config.json is written again; 0: at the end"),
    ("outcomeinterval", "N", "games between lists of outcomes; 0: at the end"),
    ("resultformat", "FORMAT", "ignored: results are shown in the usual format"),
    (
        "log",
        "file=FILE [level=trace|info|warn|err|fatal] [append=BOOL] [engine=BOOL]",
        "copies the output to a file, with engine=true also the lines to and from engines",
    ),
    ("debug", "[all]", "prints the lines to and from engines"),
    ("show-latency", "", "ignored: -pgnout latency=true writes it"),
    ("check-mate-pvs", "", "warns of mate scores whose PV has no mate"),
    ("strict", "", "a warning ends the run"),
    ("testEnv", "", "ignored: it has no effect"),
];

/// Returns whether an option is accepted without effect.
pub(super) fn is_idle(name: &str) -> bool {
    OPTIONS.iter().any(|(known, _, does)| *known == name && does.starts_with(NOTHING))
}

/// Returns the error for an unknown option.
pub(super) fn unknown(name: &str) -> String {
    let known = nearest(name, OPTIONS.iter().map(|(known, ..)| *known));
    let hint = known.map_or("remove it".to_owned(), |known| format!("did you mean -{known}?"));
    format!("unknown option -{name}; {hint}")
}

/// Returns the help, with all options.
pub fn help() -> String {
    let lines = OPTIONS.iter().map(|(name, takes, does)| {
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
