//! Tests of `config.json`, which both fastchess and Arbiter read and write.

use serde_json::{Value, json};

use super::{compat, lines};
use crate::support::bench::Bench;
use crate::support::snapshot::expect_next;
use crate::support::{pgn, plan, programs};

/// Returns the starting positions of the games of a file.
fn starts(bench: &Bench, name: &str) -> Vec<String> {
    let games = pgn::parse(&bench.read(name)).unwrap_or_else(|fault| panic!("{fault}"));
    games.iter().map(|game| game.tag("FEN").to_owned()).collect()
}

/// Returns the `config.json` that fastchess writes for a match of two puppets with these numbers of
/// won and drawn pairs.
fn theirs(bench: &Bench, won: u64, drawn: u64) -> Value {
    let engine = |name: &str| {
        let args = format!("--seed 1 --marker {}", bench.marker());
        json!({
            "name": name, "dir": "", "cmd": programs::puppet(), "args": args, "restart": false,
            "options": [["Hash", "8"]], "variant": 0,
            "limit": {"tc": {"increment": 0, "fixed_time": 0, "time": 0, "moves": 0,
                             "timemargin": 0}, "nodes": 1, "plies": 0},
        })
    };
    json!({
        "resign": {"move_count": 3, "score": 900, "twosided": false, "enabled": true},
        "draw": {"move_number": 0, "move_count": 1, "score": 0, "enabled": false},
        "maxmoves": {"move_count": 90, "enabled": true},
        "tb_adjudication": {"syzygy_dirs": "", "max_pieces": 0, "ignore_50_move_rule": false,
                            "enabled": false},
        "opening": {"file": bench.path("book.epd"), "format": 0, "order": 1, "plies": -1, "start": 3},
        "pgn": {"additional_lines_rgx": ["^info depth"], "event_name": "Cup", "site": "home",
                "file": bench.path("games.pgn"), "notation": 0, "append_file": true,
                "track_nodes": true, "min": false, "crc": false},
        "epd": {"file": "", "append_file": true},
        "sprt": {"alpha": 0.05, "beta": 0.05, "elo0": 0.0, "elo1": 150.0, "model": "normalized",
                 "enabled": true},
        "config_name": "config.json", "output": 0, "seed": 12_827_040_982_883_307_348_u64,
        "variant": 0, "type": 0, "gauntlet_seeds": 1, "ratinginterval": 2_147_483_647,
        "scoreinterval": 1, "wait": 0, "autosaveinterval": 20, "games": 2,
        "rounds": won + drawn + 2, "concurrency": 1, "force_concurrency": false, "recover": true,
        "noswap": false, "reverse": false, "report_penta": true, "affinity": false,
        "engines": [engine("A"), engine("B")],
        "stats": {"A vs B": {"wins": 2 * won, "losses": 0, "draws": 2 * drawn, "penta_WW": won,
                             "penta_WD": 0, "penta_WL": 0, "penta_DD": drawn, "penta_LD": 0,
                             "penta_LL": 0}},
    })
}

#[test]
fn runs_saved_by_fastchess_can_be_resumed() {
    let bench = Bench::new();
    let openings = plan::openings(20);
    bench.write("book.epd", &openings);
    bench.write("config.json", theirs(&bench, 1, 3).to_string());
    let go_on = |more: &str| {
        let command_line = format!("compat fastchess -config file=config.json {more}");
        bench.arbiter(command_line.split_whitespace()).finish()
    };
    let finished = go_on("-arbiter verbose=true").expect_code(0);
    expect_next(&finished.stderr);
    assert_eq!(lines(&finished, "Started game 9 of 12 (A vs B)").len(), 1, "{finished:#?}");
    assert_eq!(lines(&finished, "Finished game ").len(), 4, "{finished:#?}");
    let games = lines(&finished, "Games: 12, Wins: ");
    assert_eq!(games.len(), 1, "{finished:#?}");
    let ptnml = lines(&finished, "Ptnml(0-2): [")[0];
    let pairs = ptnml["Ptnml(0-2): [".len()..].split(']').next().unwrap();
    let pairs: Vec<u64> = pairs.split(", ").map(|count| count.parse().unwrap()).collect();
    assert_eq!(pairs.iter().sum::<u64>(), 6);
    assert!(pairs[2] >= 3 && pairs[4] >= 1, "{ptnml}");
    assert_eq!(lines(&finished, "LLR: ").len(), 1, "{finished:#?}");
    // The match continues in the requested format, after the four openings that were played: the
    // third to the sixth of the book.
    let expected: Vec<&str> = openings.lines().skip(6).take(2).collect();
    let played = starts(&bench, "games.pgn");
    assert_eq!(played.len(), 4);
    for (game, place) in played.iter().zip([0, 0, 1, 1]) {
        assert_eq!(game[..20], expected[place][..20], "{played:?}");
    }
    let text = bench.read("games.pgn");
    assert!(text.contains("[Event \"Cup\"]") && text.contains(", n=") && text.contains("line=\""));
    // Without the counts, the file starts another run, with another number of rounds on request.
    bench.write("config.json", theirs(&bench, 1, 3).to_string());
    let finished = go_on("stats=false -rounds 1").expect_code(0);
    assert_eq!(lines(&finished, "Started game 1 of 2 (A vs B)").len(), 1, "{finished:#?}");
    // Contradictory counts are not accepted.
    let mut wrong = theirs(&bench, 1, 3);
    wrong["stats"]["A vs B"]["wins"] = 7.into();
    bench.write("config.json", wrong.to_string());
    go_on("").expect_error(1);
}

#[test]
fn saved_runs_contain_all_keys_of_fastchess() {
    let bench = Bench::new();
    let more = "-each nodes=1 option.Hash=8 -openings file=book.epd order=sequential -rounds 5 \
                -srand 3 -pgnout file=games.pgn -draw movenumber=30 movecount=4 score=9";
    let finished = compat(&bench, "fastchess", more).expect_code(0);
    let saved: Value = serde_json::from_str(&bench.read("config.json")).unwrap();
    // Every key that fastchess expects is present, with the expected type.
    let expected = theirs(&bench, 0, 0);
    for (key, value) in expected.as_object().unwrap() {
        let found = saved.get(key).unwrap_or_else(|| panic!("{key} is missing"));
        let kind = |value: &Value| (value.is_number(), value.is_string(), value.is_boolean());
        assert_eq!(kind(found), kind(value), "{key}");
        for (inner, value) in value.as_object().into_iter().flatten().filter(|_| key != "stats") {
            assert_eq!(kind(&found[inner]), kind(value), "{key}.{inner}");
        }
    }
    for (key, value) in expected["engines"][0].as_object().unwrap() {
        assert_eq!(saved["engines"][0][key].is_null(), value.is_null(), "engines.{key}");
    }
    for key in ["check_mate_pvs", "show_latency", "log"] {
        assert!(saved.get(key).is_some(), "{key} is missing");
    }
    let stats = &saved["stats"]["A vs B"];
    let [wins, losses, draws] = ["wins", "losses", "draws"].map(|key| stats[key].as_u64().unwrap());
    let line = format!("Games: 10, Wins: {wins}, Losses: {losses}, Draws: {draws}, ");
    assert_eq!(lines(&finished, &line).len(), 1, "{line} {finished:#?}");
    assert_eq!(
        (&saved["draw"]["score"], &saved["seed"], &saved["rounds"]),
        (&9.into(), &3.into(), &5.into())
    );
    // Without Arbiter's own keys, the match continues where it ended, as in fastchess.
    let mut unmarked = saved.clone();
    unmarked.as_object_mut().unwrap().retain(|key, _| !key.starts_with("arbiter"));
    assert_ne!(unmarked, saved);
    bench.write("config.json", unmarked.to_string());
    let more = "compat fastchess -config file=config.json -rounds 6 -pgnout file=more.pgn";
    let finished = bench.arbiter(more.split_whitespace()).finish().expect_code(0);
    assert_eq!(lines(&finished, "Started game 11 of 12 (A vs B)").len(), 1, "{finished:#?}");
    assert_eq!(lines(&finished, "Finished game 12 (B vs A)").len(), 1, "{finished:#?}");
    // The next game is the game that would have followed.
    let sixth = plan::openings(6);
    assert_eq!(starts(&bench, "more.pgn")[0][..20], sixth.lines().last().unwrap()[..20]);
}

#[test]
fn resumed_compat_runs_follow_the_current_file_and_command_line() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd order=sequential -rounds 2 -maxmoves 3 \
                -pgnout file=games.pgn";
    compat(&bench, "fastchess", more).expect_code(0);
    let go_on = |more: &str| {
        let command_line = format!("compat fastchess -config file=config.json {more}");
        bench.arbiter(command_line.split_whitespace()).finish().expect_code(0)
    };
    let edit = |key: &str, value: u64| {
        let mut saved: Value = serde_json::from_str(&bench.read("config.json")).unwrap();
        saved[key] = value.into();
        bench.write("config.json", saved.to_string());
    };
    let played = |finished: &crate::support::bench::Finished| {
        let finished_lines = lines(finished, "Finished game ");
        finished_lines
            .iter()
            .filter_map(|line| line.split(' ').nth(2))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    // With more rounds on the command line, the run continues in another file, after the openings
    // that were played.
    let longer = go_on("-rounds 3 -pgnout file=more.pgn -log file=x.log level=info");
    assert_eq!(played(&longer), ["5", "6"], "{longer:#?}");
    expect_next(&longer.stderr);
    assert_eq!(lines(&longer, "Games: 6, ").len(), 1, "{longer:#?}");
    let third = plan::openings(3);
    assert_eq!(starts(&bench, "more.pgn")[0][..20], third.lines().last().unwrap()[..20]);
    assert!(bench.read("more.pgn").contains("[Round \"3\"]"));
    // With more rounds in the file, which also names the log, the openings still continue.
    edit("rounds", 4);
    assert_eq!(played(&go_on("")), ["7", "8"]);
    let fourth = plan::openings(4);
    assert_eq!(starts(&bench, "more.pgn")[2][..20], fourth.lines().last().unwrap()[..20]);
    assert!(bench.read("x.log").contains("Finished game 8 "));
    // A setting that does not concern the games is taken from the file, and the run remains the
    // same.
    edit("output", 1);
    let over = go_on("");
    assert_eq!((played(&over).len(), lines(&over, "Elo difference: ").len()), (0, 1), "{over:#?}");
    // Without the counts of the file, the match starts again.
    assert_eq!(played(&go_on("stats=false -rounds 1")), ["1", "2"]);
}
