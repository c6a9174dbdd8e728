//! Tests of tuning through games: the path depends only on the seed and the results, regardless of
//! interruptions.

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::bench::{Bench, Finished, Running};
use crate::support::plan::Plan;
use crate::support::snapshot::{expect_next, without_figures, without_machine};
use crate::support::{programs, store, wait_for};

const ITERATIONS: usize = 12;
const PAIRS: usize = 2;

/// Parameters with large steps, so that every result has a visible effect.
const PARAMS: &str = "Courage,50,0,100,10,0.5\nPatience, int, 0, -9, 9, 2, 0.25\n";

/// Returns a tuning run of two options of the puppet, each of which changes its moves.
fn tuning<'a>(bench: &'a Bench, args: &str) -> Plan<'a> {
    let params = bench.write("params.txt", PARAMS);
    Plan::new(bench, "tune", ITERATIONS * PAIRS)
        .set("pairs", PAIRS)
        .set("iterations", ITERATIONS)
        .set("params", params.display())
        .puppet("P", args)
}

fn resume(bench: &Bench, more: &[&str]) -> Running {
    let results = bench.path("results").display().to_string();
    let args = ["tune", "--resume", "run", "--results", &results, "--format", "json"];
    bench.arbiter(args.iter().chain(more))
}

/// An iteration: score, both sides, and the values after it.
type Row = (i64, String, String, String);

/// Returns the path in the store, read without the harness.
fn path(bench: &Bench) -> Vec<Row> {
    let store = Connection::open(bench.path("results").join("arbiter.db")).expect("a store");
    let mut statement = store
        .prepare("SELECT score, plus, minus, theta FROM iterations ORDER BY iteration")
        .expect("the table is there");
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let rows = statement.query_map([], read).expect("no parameters");
    rows.collect::<Result<_, _>>().expect("rows can be read")
}

/// Returns the parts of a run that must equal those of an uninterrupted run.
fn comparable(bench: &Bench, report: &Value) -> (Value, String, Vec<Row>) {
    let path = path(bench);
    assert_eq!(path.len(), ITERATIONS);
    (report["tuning"].clone(), bench.read("games.pgn"), path)
}

#[test]
fn a_tuning_survives_being_killed_and_takes_the_same_path() {
    let bench = Bench::new();
    let mut running = tuning(&bench, "--delay-ms 2").set("concurrency", 3).start();
    for kill in 1..=3 {
        wait_for("pairs are stored", || {
            (store::pairs(&bench.path("results")).len() >= 5 * kill).then_some(())
        });
        running.signal(Signal::KILL);
        assert_eq!(running.finish().code, None);
        bench.wait_until_quiet();
        store::assert_consistent(&bench.path("results"));
        running = resume(&bench, &[]);
    }
    let report = running.finish().expect_code(0).json();
    assert_eq!(store::pairs(&bench.path("results")).len(), ITERATIONS * PAIRS);
    let calm = Bench::new();
    let uninterrupted = tuning(&calm, "").run().expect_code(0).json();
    assert_eq!(comparable(&bench, &report), comparable(&calm, &uninterrupted));
    let tuning = &report["tuning"];
    assert_eq!(tuning["iterations_done"], ITERATIONS);
    let moved = |place: usize| {
        let parameter = &tuning["parameters"][place];
        parameter["value"].as_f64() != parameter["start"].as_f64()
    };
    assert!(moved(0) && moved(1), "{tuning:#}");
    // Resuming a finished tuning changes nothing.
    let again = resume(&bench, &[]).finish().expect_code(0).json();
    assert_eq!(comparable(&bench, &again), comparable(&calm, &uninterrupted));
}

#[test]
fn truncated_tuning_paths_are_restored_and_wrong_ones_detected() {
    let bench = Bench::new();
    let report = tuning(&bench, "").run().expect_code(0).json();
    let before = comparable(&bench, &report);
    let change = |sql: &str| {
        let store = Connection::open(bench.path("results").join("arbiter.db")).expect("a store");
        store.execute(sql, []).expect("the table is there");
    };
    // This is the state after a kill between a pair and its iteration.
    change("DELETE FROM iterations WHERE iteration >= 9");
    let again = resume(&bench, &[]).finish().expect_code(0).json();
    assert_eq!(comparable(&bench, &again), before);
    change("UPDATE iterations SET theta = '[1.0,1.0]' WHERE iteration = 5");
    resume(&bench, &[]).finish().expect_error(7);
}

#[test]
fn engines_receive_the_values_of_their_side_before_each_game() {
    let bench = Bench::new();
    let log = bench.logs();
    tuning(&bench, &log).switch("no-probe").run().expect_code(0);
    let path = path(&bench);
    let values = |text: &String| -> Vec<f64> { serde_json::from_str(text).expect("a list") };
    let mut sides: Vec<Vec<Vec<f64>>> = vec![
        path.iter().map(|(_, plus, ..)| values(plus)).collect(),
        path.iter().map(|(_, _, minus, _)| values(minus)).collect(),
    ];
    let values_of = |input: &[String], option: &str| -> Vec<f64> {
        let start = format!("setoption name {option} value ");
        let values = input.iter().filter_map(|line| line.strip_prefix(&start));
        values.map(|value| value.parse().expect("a number")).collect()
    };
    let conversations = bench.conversations();
    assert_eq!(conversations.len(), 2, "one process for each side");
    for input in &conversations {
        let (courage, patience) = (values_of(input, "Courage"), values_of(input, "Patience"));
        let games = courage.len();
        assert_eq!((games, patience.len()), (2 * PAIRS * ITERATIONS, games));
        let input: Vec<Vec<f64>> = courage
            .into_iter()
            .zip(patience)
            .map(|(courage, patience)| vec![courage, patience])
            .step_by(2 * PAIRS)
            .collect();
        let side = sides.iter().position(|side| *side == input);
        sides.remove(side.unwrap_or_else(|| panic!("{input:?} is no side of {sides:?}")));
    }
}

#[test]
fn invalid_tunings_are_rejected_before_the_first_game() {
    let check = |param: &str| {
        let bench = Bench::new();
        let plan = Plan::new(&bench, "tune", 1).set("iterations", 3).set("param", param);
        plan.puppet("P", "").run().expect_error(3);
        assert_eq!(store::pairs(&bench.path("results")).len(), 0);
        assert!(!store::has_run(&bench.path("results"), "run"), "{param}");
    };
    check("Bravery,5,0,10,1,0.1");
    check("Courag,5,0,10,1,0.1");
    check("Courage,50,0,101,5,0.1");
    check("Courage,120,0,100,5,0.1");
    check("Courage,50,0,100,101,0.1");
    check("Courage,50,0,100,95,0.1");
    check("Courage,50,0,100");
    check("Courage,float,50,0,100,5,0.1");
    check("Style,1,0,2,1,0.1");
    check("Move Overhead,10,0,5000,250,0.1");
}

#[test]
fn a_tuning_is_of_one_engine_with_parameters() {
    let bench = Bench::new();
    let two = tuning(&bench, "").puppet("Q", "");
    two.run().expect_error(2);
    let none = Plan::new(&bench, "tune", 1).puppet("P", "").run();
    none.expect_error(3);
    tuning(&bench, "").set("params", "no-such.txt").run().expect_error(3);
    let broken = bench.write("broken.txt", "# mine\nCourage,50,0,100,10\n");
    let plan = tuning(&bench, "").set("params", broken.display());
    plan.run().expect_error(3);
    let set = Plan::new(&bench, "tune", 1).set("param", "Courage,50,0,100,10,0.1");
    let set = set.puppet_with("P", "", ",option.Courage=3");
    set.run().expect_error(3);
    let idle = tuning(&bench, "").set("param", "Move Overhead,10,0,5000,250,0.1");
    let finished = idle.run().expect_code(0);
    expect_next(&finished.stderr);
}

#[test]
fn options_of_the_engine_and_of_the_file_are_parameters() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(programs::puppet(), bench.path("bare")).expect("a link can be made");
    let spec = bench.puppet("P", "", "");
    let Finished { stdout, .. } = bench.arbiter(["tune", "spins", &spec]).finish().expect_code(0);
    let lines = ["Courage, int, 50, 0, 100, 5, 0.002", "Patience, int, 0, -9, 9, 0.9, 0.002"];
    assert_eq!(stdout.lines().collect::<Vec<_>>(), lines);
    let missing = bench.arbiter(["tune", "spins", &spec, "X*"]).finish();
    missing.expect_error(3);
    for engine in ["bundled", "./bare,args=\"--mode no-options\""] {
        bench.arbiter(["tune", "spins", engine]).finish().expect_error(3);
    }
    let table = "[tune]\niterations = 2\npairs = 1\nahead = 0\n[[tune.parameter]]\nname = \"Courage\"\n\
                 start = 40\nmin = 0\nmax = 100\nc-end = 9\nr-end = 0.5\n";
    let config = bench.write("settings.toml", table);
    let plan = || Plan::new(&bench, "tune", 2).unset("pairs").puppet("P", "");
    let filed = plan().set("config", config.display()).run().expect_code(0).json();
    assert_eq!(filed["tuning"]["parameters"][0]["start"], 40.0);
    assert_eq!((&filed["tuning"]["iterations"], &filed["games"]), (&2.into(), &4.into()));
    let spun = plan().set("name", "spun").set("spins", "courage").set("iterations", 1);
    let spun = spun.set("games", 4).run().expect_code(0).json();
    assert_eq!(spun["tuning"]["parameters"][0]["name"], "Courage");
    assert_eq!(spun["games"], 4);
}

#[test]
fn values_are_reported_patched_and_confirmed() {
    let bench = Bench::new();
    let human = tuning(&bench, "").set("format", "text").run().expect_code(0).stdout;
    let report = resume(&bench, &[]).finish().expect_code(0).json();
    let tuned = |place: usize| {
        let value = report["tuning"]["parameters"][place]["tuned"].as_str();
        value.expect("a value as text").to_owned()
    };
    assert!(human.contains(&format!("setoption name Courage value {}\n", tuned(0))), "{human}");
    let results = bench.path("results").display().to_string();
    // The page shows the path of each parameter.
    let page = bench.path("page.html").display().to_string();
    bench.arbiter(["report", "run", "--results", &results, "--out", &page]).finish().expect_code(0);
    let page = bench.read("page.html");
    assert!(page.matches("<svg").count() >= 3, "two paths and the score");
    for part in ["<figcaption>Courage</figcaption>", "<figcaption>Patience</figcaption>"] {
        assert!(page.contains(part), "{part}");
    }
    // The patch applies to the table.
    let table = "pub const COURAGE: i32 = 50; // of 100\nlet patience = 0;\n";
    bench.write("table.rs", table);
    let patch = ["tune", "patch", "run", "--table", "table.rs", "--results", &results];
    let patch = bench.arbiter(patch).finish().expect_code(0).stdout;
    bench.write("a.patch", &patch);
    let shell = bench.start(std::path::Path::new("/bin/sh"), ["-c", "git apply -p0 a.patch"]);
    shell.finish().expect_code(0);
    let expect = table.replace("= 50", &format!("= {}", tuned(0)));
    assert_eq!(bench.read("table.rs"), expect.replace("= 0", &format!("= {}", tuned(1))));
    // A patch is also made for C++ code.
    bench.write("table.h", "#define COURAGE 50\r\nint patience{0};\r\n");
    let patch = ["tune", "patch", "run", "--table", "table.h", "--results", &results];
    bench.write("b.patch", bench.arbiter(patch).finish().expect_code(0).stdout);
    let shell = bench.start(std::path::Path::new("/bin/sh"), ["-c", "git apply -p0 b.patch"]);
    shell.finish().expect_code(0);
    let expect = format!("#define COURAGE {}\r\nint patience{{{}}};\r\n", tuned(0), tuned(1));
    assert_eq!(bench.read("table.h"), expect);
    // The confirmation plays the tuned against the initial values, and is resumed where it stopped.
    let confirm = ["--confirm", "--elo1", "50", "--confirm-pairs", "3"];
    let confirmed = resume(&bench, &confirm).finish().expect_code(5);
    assert!(store::has_run(&bench.path("results"), "run-confirm"));
    let last = confirmed.stdout.rsplit("\n}\n{").next().map(|text| format!("{{{text}"));
    let last: Value = serde_json::from_str(&last.expect("two reports")).expect("JSON");
    assert_eq!(last["engines"], serde_json::json!(["P tuned", "P"]));
    assert_eq!((&last["kind"], &last["games"]), (&"sprt".into(), &6.into()));
    let again = resume(&bench, &["--confirm"]).finish().expect_code(5);
    expect_next(&again.stderr);
}

#[test]
fn a_tuning_can_be_stopped_and_reports_it() {
    let bench = Bench::new();
    let running = tuning(&bench, "--delay-ms 3").set("format", "text").start();
    wait_for("pairs are stored", || {
        (store::pairs(&bench.path("results")).len() >= 3).then_some(())
    });
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    expect_next(&without_figures(&without_machine(&finished.stdout)));
    expect_next(&without_figures(&finished.stderr));
}

#[test]
fn a_simulated_tuning_climbs_a_hill() {
    let bench = Bench::new();
    let simulate = |more: &[&str]| {
        let args = ["tune", "simulate", "--param", "A,20,0,100,5,0.02", "--param"];
        let args = args.iter().chain(&["B,float,1.6,0,2,0.1,0.02", "--optimum", "45,1.1"]);
        bench.arbiter(args.chain(more)).finish()
    };
    let full = ["--iterations", "3000", "--pairs", "4", "--step-elo", "3", "--format", "json"];
    let report = simulate(&full).expect_code(0).json();
    let number = |key: &str| report[key].as_f64().expect("a number");
    assert!(number("start_loss_elo") > 149.0, "{report:#}");
    let runs = report["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 10);
    assert!(runs.iter().all(|run| run["loss_elo"].as_f64().expect("a number") < 10.0), "{runs:#?}");
    assert_eq!(simulate(&full).expect_code(0).json(), report, "the same seeds");
    let human = simulate(&["--runs", "2"]).expect_code(0).stdout;
    expect_next(&human);
    simulate(&["--step-elo", "1,2,3"]).expect_error(3);
    simulate(&["--draw-ratio", "1"]).expect_error(3);
    simulate(&["--runs", "0"]).expect_error(4);
}
