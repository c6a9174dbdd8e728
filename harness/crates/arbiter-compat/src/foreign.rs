//! The file in which fastchess saves the settings, engines and counts of a tournament.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::words::Word;
use crate::{Style, games_before};
use arbiter_game::adjudicate::Rules;
use arbiter_game::annotation::{Field, Notation};
use arbiter_names::variants;
use arbiter_openings::Order;
use arbiter_plan::{Affinity, Engine, Plan, Prior};
use arbiter_protocol::Restart;
use arbiter_report::{Dialect, log_warn};
use arbiter_run::{Encounter, RunCounts};
use arbiter_schedule::Format;
use arbiter_stats::{Model, Sprt};

/// Keys of the pair counts. Each key has the results of both games (0 lost, 1 drawn, 2 won). These
/// results are the indices of the count in the table of an encounter.
const PAIRS: [(&str, [usize; 2]); 6] = [
    ("penta_WW", [2, 2]),
    ("penta_WD", [2, 1]),
    ("penta_WL", [2, 0]),
    ("penta_DD", [1, 1]),
    ("penta_LD", [0, 1]),
    ("penta_LL", [0, 0]),
];

/// Optional rules, with their keys in the saved file; on the command line, the keys have no
/// underscores.
const RULES: [(&str, &[&str]); 3] = [
    ("resign", &["move_count", "score", "twosided"]),
    ("draw", &["move_number", "move_count", "score"]),
    ("sprt", &["elo0", "elo1", "alpha", "beta", "model"]),
];

/// Numeric options whose names are also their keys in the saved file.
const NUMBERS: [&str; 7] = [
    "ratinginterval",
    "scoreinterval",
    "wait",
    "games",
    "rounds",
    "concurrency",
    "autosaveinterval",
];

/// Tournament formats with their numbers in the saved file; fastchess supports only the first two
/// formats.
pub(super) const TYPES: [(Format, &str); 4] = [
    (Format::RoundRobin, "roundrobin"),
    (Format::Gauntlet, "gauntlet"),
    (Format::Knockout, "knockout"),
    (Format::Pyramid, "pyramid"),
];

/// Key for the engine settings that fastchess does not support.
const MORE: &str = "arbiter";

/// Maximum of each count in a file. Larger counts are reduced to this maximum, so that their sums
/// cannot overflow.
const MOST_GAMES: u64 = 1_000_000_000;

/// Interval that fastchess saves if intermediate reports are disabled.
const NEVER: u64 = i32::MAX as u64;

/// Returns a run in the file format of fastchess.
///
/// # Errors
///
/// Returns a message if the path of this program is unknown.
pub(super) fn to_fastchess(
    plan: &Plan,
    style: &Style,
    counts: &RunCounts,
) -> Result<Value, String> {
    let own_program = std::env::current_exe().map_err(|error| error.to_string())?;
    let design = plan.design;
    let games = match design.is_single {
        false => 2,
        true if design.alternates => 1,
        true => design.repeats.max(1),
    };
    let before = games_before(plan.prior);
    let all = before + design.pairs * design.games_per_pair();
    let rounds = if plan.engines.len() == 2 { all / games } else { design.rounds };
    let interval = |every: u64| if every == 0 { NEVER } else { every.min(NEVER) };
    let engine = |each| engine(each, &own_program, style.is_chess960);
    let Rules { draw, resign, move_cap, tablebase, .. } = plan.rules;
    let tables: Vec<String> = plan.tables.iter().map(|path| path.display().to_string()).collect();
    let test = |of: fn(&Sprt) -> f64| plan.sprt.as_ref().map_or(0.0, of);
    Ok(json!({
        "resign": {"move_count": resign.map_or(1, |rule| rule.move_count),
                   "score": resign.map_or(0, |rule| rule.score_cp),
                   "twosided": resign.is_some_and(|rule| rule.two_sided),
                   "enabled": resign.is_some()},
        "draw": {"move_number": draw.map_or(0, |rule| rule.move_number),
                 "move_count": draw.map_or(1, |rule| rule.move_count),
                 "score": draw.map_or(0, |rule| rule.score_cp), "enabled": draw.is_some()},
        "maxmoves": {"move_count": move_cap.unwrap_or(1), "enabled": move_cap.is_some()},
        "tb_adjudication": {"syzygy_dirs": tables.join(":"),
                            "max_pieces": tablebase.map_or(0, |rule| rule.pieces),
                            "ignore_50_move_rule": tablebase.is_some_and(|rule| rule.ignores_fifty),
                            "enabled": tablebase.is_some()},
        "sprt": {"alpha": test(|test| test.alpha), "beta": test(|test| test.beta),
                 "elo0": test(|test| test.elo0), "elo1": test(|test| test.elo1),
                 "model": plan.sprt.map_or(Model::Normalized, |test| test.model),
                 "enabled": plan.sprt.is_some()},
        "pgn": pgn(plan, style.shows_crc),
        "opening": opening(plan, before / games),
        "epd": {"file": path_text(plan.epd.as_deref()), "append_file": true},
        "config_name": path_text(style.saved_in.as_deref()),
        "output": u8::from(style.dialect == Dialect::Cutechess),
        "seed": plan.seed,
        "variant": u8::from(style.is_chess960),
        "type": TYPES.iter().position(|(format, _)| *format == design.format),
        "gauntlet_seeds": design.seeds.max(1),
        "ratinginterval": interval(style.rating_interval),
        "scoreinterval": interval(style.score_interval),
        "wait": plan.wait.as_millis() as u64,
        "autosaveinterval": style.save_interval,
        "games": games,
        "rounds": rounds,
        "concurrency": plan.concurrency,
        "force_concurrency": true,
        "recover": style.recovers,
        "noswap": design.is_single && !design.alternates,
        "reverse": design.is_reversed,
        "report_penta": style.penta,
        "affinity": plan.affinity != Affinity::None,
        "check_mate_pvs": style.checks_mates,
        "show_latency": false,
        "log": {"file": path_text(style.log.file.as_deref()), "level": style.log.level as u8,
                "append_file": true, "compress": false, "realtime": true,
                "engine_coms": style.log.has_engines},
        "engines": plan.engines.iter().map(engine).collect::<Vec<_>>(),
        "stats": stats(plan, counts),
    }))
}

/// Returns the settings of the openings. If the run continues `before` rounds of an earlier run,
/// `start` is the first opening of the earlier run.
fn opening(plan: &Plan, before: u64) -> Value {
    let file = path_text(plan.book.as_deref());
    let format = if plan.book.is_none() { 2 } else { u8::from(file.contains(".pgn")) };
    json!({"file": file, "format": format, "order": u8::from(plan.order == Order::Sequential),
           "plies": plan.reading.plies.map_or(-1, i64::from), "start": (plan.opening_start + 1).saturating_sub(before)})
}

fn pgn(plan: &Plan, has_crc: bool) -> Value {
    let annotation = &plan.annotation;
    let lines: Vec<String> = annotation.pattern.iter().map(ToString::to_string).collect();
    let mut pgn = json!({
        "additional_lines_rgx": lines,
        "event_name": annotation.event.as_deref().unwrap_or("Fastchess Tournament"),
        "site": annotation.site.as_deref().unwrap_or("?"),
        "file": path_text(plan.pgn.as_deref()),
        "notation": annotation.notation as u8,
        "append_file": true,
        "min": annotation.is_minimal,
        "crc": has_crc,
    });
    for field in variants() {
        pgn[field_key(field)] = annotation.fields.contains(&field).into();
    }
    pgn
}

/// Returns the key of a field of PGN comments.
fn field_key(field: Field) -> String {
    format!("track_{field}")
}

/// Returns a path as a string; empty for `None`.
fn path_text(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}

fn engine(engine: &Engine, own_program: &Path, is_chess960: bool) -> Value {
    let limits = engine.conditions.limits;
    let first = limits.clock.map(|clock| clock.get(0));
    let ms = |time: std::time::Duration| time.as_millis() as u64;
    let (program, mut args) = match &engine.program {
        Some(path) => (path.as_path(), Vec::new()),
        None => (own_program, vec!["engine".to_owned()]),
    };
    args.extend(engine.args.iter().cloned());
    let launch = &engine.launch;
    let mut more: Vec<String> = launch.init.iter().map(|line| format!("initstr={line}")).collect();
    more.extend(launch.stderr.iter().map(|path| format!("stderr={}", path.display())));
    for (word, holds) in [("ponder", launch.ponder), ("whitepov", engine.conditions.white_pov)] {
        more.extend(holds.then(|| word.to_owned()));
    }
    json!({
        "name": engine.name, "cmd": program, "args": args.join(" "),
        "dir": engine.dir.as_deref().unwrap_or(Path::new("")),
        "restart": engine.launch.restart == Restart::On,
        "options": engine.options,
        MORE: more,
        "limit": {
            "tc": {"time": first.map_or(0, |first| ms(first.base)),
                   "increment": first.map_or(0, |first| ms(first.increment)),
                   "moves": first.and_then(|first| first.moves).unwrap_or(0),
                   "fixed_time": limits.movetime.map_or(0, ms),
                   "timemargin": ms(engine.conditions.margin)},
            "nodes": limits.nodes.unwrap_or(0), "plies": limits.depth.unwrap_or(0),
        },
        "variant": u8::from(is_chess960),
    })
}

/// Returns the counts of each encounter.
fn stats(plan: &Plan, counts: &RunCounts) -> Value {
    let name = |engine: usize| &plan.engines[engine].name;
    let all = counts.encounters.iter().map(|([first, second], met)| {
        let Encounter { games, table, .. } = met;
        let mut row = json!({"wins": games.wins, "losses": games.losses, "draws": games.draws});
        for (kind, [a, b]) in PAIRS {
            let count = if a == b { table[a][b] } else { table[a][b] + table[b][a] };
            row[kind] = count.into();
        }
        (format!("{} vs {}", name(*first), name(*second)), row)
    });
    Value::Object(all.collect())
}

/// Returns whether a saved file has the format of fastchess.
pub(super) fn is_fastchess_format(saved: &Value) -> bool {
    saved["engines"].is_array() && saved["stats"].is_object()
}

/// Converts a tournament saved by fastchess to command-line options. If `keeps_counts` is `true`,
/// also returns the counted games of the tournament.
pub(super) fn read(
    saved: &Value,
    keeps_counts: bool,
) -> Result<(Vec<Word>, Option<Prior>), String> {
    let prior = if keeps_counts { counted_games(saved)? } else { None };
    let mut words: Vec<Word> = Vec::new();
    let mut add = |name: &str, values: Vec<String>| {
        words.push(Word { name: name.to_owned(), values });
    };
    for engine in saved["engines"].as_array().into_iter().flatten() {
        add("engine", spec(engine));
    }
    for (name, keys) in RULES {
        let rule = &saved[name];
        if rule["enabled"] == true {
            let value = |key: &&str| format!("{}={}", key.replace('_', ""), plain(&rule[*key]));
            add(name, keys.iter().map(value).collect());
        }
    }
    let tables = &saved["tb_adjudication"];
    let pgn = &saved["pgn"];
    for (holds, name, values) in [
        (&tables["enabled"], "tb", vec![plain(&tables["syzygy_dirs"])]),
        (&tables["enabled"], "tbpieces", vec![plain(&tables["max_pieces"])]),
        (&tables["ignore_50_move_rule"], "tbignore50", vec![]),
        (&saved["maxmoves"]["enabled"], "maxmoves", vec![plain(&saved["maxmoves"]["move_count"])]),
        (&saved["recover"], "recover", vec![]),
        (&saved["check_mate_pvs"], "check-mate-pvs", vec![]),
        (&saved["noswap"], "noswap", vec![]),
        (&saved["reverse"], "reverse", vec![]),
        (&saved["affinity"], "use-affinity", vec![]),
        (&saved["force_concurrency"], "force-concurrency", vec![]),
        (&pgn["crc"], "crc32", vec!["pgn=true".to_owned()]),
    ] {
        if *holds == true {
            add(name, values);
        }
    }
    let chosen = |key: &str, words: [&str; 2]| words[usize::from(saved[key] == 1)].to_owned();
    let kind = TYPES.get(saved["type"].as_u64().unwrap_or(0) as usize);
    for (name, value) in [
        ("variant", chosen("variant", ["standard", "fischerandom"])),
        ("tournament", kind.map_or("roundrobin", |(_, name)| name).to_owned()),
        ("output", format!("format={}", chosen("output", ["fastchess", "cutechess"]))),
        ("report", format!("penta={}", saved["report_penta"])),
        ("event", plain(&pgn["event_name"])),
        ("site", plain(&pgn["site"])),
        ("srand", plain(&saved["seed"])),
        ("seeds", plain(&saved["gauntlet_seeds"])),
    ] {
        add(name, vec![value]);
    }
    for name in NUMBERS {
        add(name, vec![plain(&saved[name])]);
    }
    if pgn["file"] != "" {
        add("pgnout", pgn_words(pgn));
    }
    if saved["log"]["file"].as_str().is_some_and(|file| !file.is_empty()) {
        add("log", log_words(&saved["log"]));
    }
    if saved["epd"]["file"] != "" {
        add("epdout", vec![format!("file={}", plain(&saved["epd"]["file"]))]);
    }
    let opening = &saved["opening"];
    if opening["file"] != "" {
        let rounds = games_before(prior) / saved["games"].as_u64().unwrap_or(2).max(1);
        add("openings", opening_words(opening, rounds));
    }
    Ok((words, prior))
}

fn log_words(log: &Value) -> Vec<String> {
    let level = match log["level"].as_u64() {
        Some(0..=2) => "info",
        Some(4..) => "err",
        _ => "warn",
    };
    let engine = log["engine_coms"] == true;
    let file = plain(&log["file"]);
    vec![format!("file={file}"), format!("level={level}"), format!("engine={engine}")]
}

/// Returns the values of `-openings`. The first opening follows the openings of `before` counted
/// rounds.
fn opening_words(opening: &Value, before: u64) -> Vec<String> {
    let start = opening["start"].as_u64().unwrap_or(1).saturating_add(before);
    let order = if opening["order"] == 0 { "random" } else { "sequential" };
    vec![
        format!("file={}", plain(&opening["file"])),
        format!("order={order}"),
        format!("plies={}", opening["plies"]),
        format!("start={start}"),
    ]
}

fn pgn_words(pgn: &Value) -> Vec<String> {
    let notation = [Notation::San, Notation::Lan, Notation::Uci];
    let notation = notation.into_iter().find(|notation| pgn["notation"] == *notation as u8);
    let mut values = vec![format!("file={}", plain(&pgn["file"])), format!("min={}", pgn["min"])];
    values.extend(notation.map(|notation| format!("notation={notation}")));
    let tracked = variants().filter(|field| pgn[field_key(*field)] == true);
    values.extend(tracked.map(|field| format!("{field}=true")));
    let lines = pgn["additional_lines_rgx"].as_array().into_iter().flatten();
    values.extend(lines.map(|line| format!("match_line={}", plain(line))));
    values
}

/// Returns the values of `-engine` for an engine.
fn spec(engine: &Value) -> Vec<String> {
    let limit = &engine["limit"];
    let tc = &limit["tc"];
    let of = |value: &Value| value.as_u64().filter(|number| *number > 0);
    let seconds = |ms: u64| ms as f64 / 1e3;
    let mut values: Vec<String> = Vec::new();
    for key in ["name", "cmd", "dir", "args"] {
        let value = engine[key].as_str().filter(|value| !value.is_empty());
        values.extend(value.map(|value| format!("{key}={value}")));
    }
    if let Some(time) = of(&tc["time"]) {
        let moves = of(&tc["moves"]).map(|moves| format!("{moves}/")).unwrap_or_default();
        let increment = seconds(of(&tc["increment"]).unwrap_or(0));
        values.push(format!("tc={moves}{}+{increment}", seconds(time)));
    }
    values.extend(of(&tc["fixed_time"]).map(|time| format!("st={}", seconds(time))));
    values.extend(of(&tc["timemargin"]).map(|margin| format!("timemargin={margin}")));
    values.extend(of(&limit["nodes"]).map(|nodes| format!("nodes={nodes}")));
    values.extend(of(&limit["plies"]).map(|plies| format!("depth={plies}")));
    if engine["restart"] == true {
        values.push("restart=on".to_owned());
    }
    values.extend(engine[MORE].as_array().into_iter().flatten().map(plain));
    let options = engine["options"].as_array().into_iter().flatten();
    values.extend(
        options.map(|option| format!("option.{}={}", plain(&option[0]), plain(&option[1]))),
    );
    values
}

/// Returns the counted games of two engines; `None` if no games were counted. Counts of more than
/// two engines are ignored with a warning. Fails if the counts contradict each other.
fn counted_games(saved: &Value) -> Result<Option<Prior>, String> {
    let rows: Vec<&Value> = saved["stats"].as_object().into_iter().flat_map(Map::values).collect();
    let count = |row: &Value, key: &str| row[key].as_u64().unwrap_or(0).min(MOST_GAMES);
    let [wins, losses, draws] =
        ["wins", "losses", "draws"].map(|key| rows.iter().map(|row| count(row, key)).sum::<u64>());
    let games = wins.saturating_add(losses).saturating_add(draws);
    if games == 0 {
        return Ok(None);
    }
    let [row] = rows[..] else {
        log_warn(
            "counts of more than two engines are ignored, as by fastchess: all games are played",
        );
        return Ok(None);
    };
    let mut prior = Prior::default();
    for (kind, [a, b]) in PAIRS {
        prior.table[a][b] = count(row, kind);
    }
    let pairs: u64 = prior.table.iter().flatten().sum();
    if pairs == 0 {
        prior.singles[0] = [losses, draws, wins];
    } else if pairs.saturating_mul(2) != games || Encounter::from(prior).games.wins != wins {
        return Err(format!("its counts do not agree: {pairs} pairs of {games} games"));
    }
    Ok(Some(prior))
}

/// Returns a value as a string, without quotation marks.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
