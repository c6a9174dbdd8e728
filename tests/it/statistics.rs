//! Tests of `arbiter stats`, which computes figures from counts. Expected figures are known
//! results, or follow from a formula beside them.

mod rate;

use std::path::Path;

use serde_json::Value;

use crate::support::bench::{Bench, Finished, cpu_seconds_of_finished};
use crate::support::programs::arbiter;
use crate::support::snapshot::expect_next;

/// Runs `arbiter stats` with space-separated flags, in a separate bench.
fn stats(flags: &str) -> Finished {
    let bench = Bench::new();
    bench.arbiter(["stats"].into_iter().chain(flags.split(' '))).finish()
}

/// Shows the text output in the snapshot; it must be valid.
#[track_caller]
fn show(flags: &str) {
    let finished = stats(flags).expect_code(0);
    assert_eq!(finished.stderr, "", "{finished:#?}");
    assert_sound(&finished.stdout);
    expect_next(&finished.stdout);
}

/// Returns the JSON output, with the format flag at the end.
#[track_caller]
fn json(flags: &str) -> Value {
    let finished = stats(&format!("{flags} --format json")).expect_code(0);
    assert_sound(&finished.stdout);
    let json = finished.json();
    let command = flags.split(' ').next().expect("a command");
    let version = if command == "sprt" { 2 } else { 1 };
    let schema = format!("arbiter.stats.{command}/{version}");
    assert_eq!(json["schema"], schema.as_str());
    json
}

/// Asserts that the output contains no infinite or undefined numbers.
#[track_caller]
fn assert_sound(shown: &str) {
    assert!(!shown.contains('∞'), "{shown}");
    for word in shown.split(|c: char| !c.is_ascii_alphanumeric()) {
        let word = word.to_ascii_lowercase();
        assert!(!matches!(word.as_str(), "nan" | "inf" | "infinity"), "{shown}");
    }
}

/// Asserts the values of keys in `json`: equal except for rounding, or null.
#[track_caller]
fn assert_figures(json: &Value, expected: &[(&str, Option<f64>)]) {
    for (key, expected) in expected {
        let value = json.get(key).unwrap_or_else(|| panic!("no key {key} in {json:#}"));
        let got = value.as_f64();
        assert!(got.is_some() || value.is_null(), "{key} is {value}");
        let is_near = |(a, b): (f64, f64)| (a - b).abs() <= 1e-9 * b.abs().max(1e-3);
        let agree = got.zip(*expected).map_or(got == *expected, is_near);
        assert!(agree, "{key} is {got:?}, not {expected:?}");
    }
}

/// Returns Wald's upper bound for error rates of 5 %.
fn ln19() -> f64 {
    19f64.ln()
}

#[test]
fn pairs_have_their_figures() {
    let flags = "sprt --counts 223,9863,21279,10037,246 --model logistic --elo0 0.5 --elo1 2.5";
    let (nelo, half_width) = (1.79476437634, 2.359447487971);
    let found = json(flags);
    assert_figures(
        &found,
        &[
            ("games", Some(83_296.0)),
            ("llr", Some(-3.07412643958917)),
            ("llr_lower", Some(-ln19())),
            ("llr_upper", Some(ln19())),
            ("elo", Some(0.9176431827537)),
            ("elo_low", Some(-0.288715626964)),
            ("elo_high", Some(2.124024119186)),
            ("nelo", Some(nelo)),
            ("nelo_low", Some(nelo - half_width)),
            ("nelo_high", Some(nelo + half_width)),
            ("los", Some(0.9320046373687)),
            ("wins", None),
            ("opening_bias_elo", None),
            ("llr_classical", None),
        ],
    );
    assert_eq!(found["verdict"], "H0");
    show(flags);
}

#[test]
fn games_have_their_figures() {
    let found = json("sprt --wdl 498,1266,431");
    let (nelo, half_width) = (16.31933798386, 14.53466836586);
    assert_figures(
        &found,
        &[
            ("games", Some(2195.0)),
            ("wins", Some(498.0)),
            ("draws", Some(1266.0)),
            ("losses", Some(431.0)),
            ("draw_ratio", Some(1266.0 / 2195.0)),
            ("score", Some((498.0 + 633.0) / 2195.0)),
            ("llr", Some(1.25497182830393)),
            ("elo", Some(10.60839078657)),
            ("elo_low", Some(1.159768964452)),
            ("elo_high", Some(20.07272932993)),
            ("nelo_low", Some(nelo - half_width)),
            ("nelo_high", Some(nelo + half_width)),
            ("los", Some(0.9861186116862)),
        ],
    );
    assert!(found["pentanomial"].is_null());
    assert_eq!(found["verdict"], "inconclusive");
    let bayesian = "sprt --wdl 3155,8055,3010 --model bayesian --elo0 -3 --elo1 1";
    let found = json(bayesian);
    assert_figures(&found, &[("llr", Some(3.11550429973268)), ("elo", Some(3.542890721833))]);
    assert!(found["llr_classical"].is_f64(), "{found:#}");
    assert_eq!(found["verdict"], "H1");
    show(bayesian);
}

#[test]
fn overshoot_is_corrected_in_little_time_for_any_counts() {
    let cpu_seconds = |flags: &str| {
        let before = cpu_seconds_of_finished();
        for _ in 0..8 {
            stats(flags).expect_code(0);
        }
        cpu_seconds_of_finished() - before
    };
    for counts in [
        "10,20,40,21,10",
        "5000,25000,50000,25100,5000",
        "50000,250000,500000,251000,50000",
        "500000000,1000000000,2000000000,1000100000,500000000",
    ] {
        let flags = format!("sprt --counts {counts}");
        let plain = cpu_seconds(&format!("{flags} --overshoot none"));
        let corrected = cpu_seconds(&flags);
        // The kernel counts CPU time in hundredths of a second.
        assert!(corrected <= 2.0 * plain + 0.2, "{counts}: {corrected} s, {plain} s without");
    }
}

#[test]
fn unequal_error_rates_move_the_bounds() {
    let found = json("sprt --counts 58,611,1294,702,77 --elo1 2 --alpha 0.01 --beta 0.1");
    assert_figures(
        &found,
        &[
            ("llr", Some(1.18678675479065)),
            ("llr_lower", Some((0.1f64 / 0.99).ln())),
            ("llr_upper", Some((0.9f64 / 0.01).ln())),
        ],
    );
}

#[test]
fn pairs_and_their_games_show_the_bias_of_openings() {
    // White wins both games of each opening: all pairs are even, and no game is drawn.
    let found = json("sprt --counts 0,0,50,0,0 --wdl 50,0,50");
    let score = found["opening_bias_elo"].as_f64();
    assert_eq!(score, None, "a bias of all points is beyond all Elo: {found:#}");
    let found = json("sprt --counts 0,0,50,0,0 --wdl 25,50,25");
    // b² = v(games) − 2·v(pairs) = ⅛, and the figure is the Elo of ½ + b.
    let score = 0.5 + 0.125f64.sqrt();
    let elo = -400.0 * (1.0 / score - 1.0).log10();
    assert_figures(&found, &[("opening_bias_elo", Some(elo)), ("draw_ratio", Some(0.5))]);
}

#[test]
fn undefined_figures_are_marked() {
    let estimates = ["elo", "elo_high", "nelo", "nelo_high", "los"];
    let undefined = |found: &Value, keys: &[&str]| {
        let expected: Vec<_> = keys.iter().map(|key| (*key, None)).collect();
        assert_figures(found, &expected);
    };
    // If all units (pairs or games) are won, the lower bound is the score s for which s to the
    // power of the number of units is 2.5 %.
    let elo = |units: f64| -400.0 * (0.025f64.powf(-1.0 / units) - 1.0).log10();
    let (some, one) = (Some(elo(5550.0)), Some(elo(1.0)));
    for (flags, llr, low) in [
        ("sprt --counts 0,0,0,0,0", -1.03538760173137e-6, None),
        ("sprt --counts 0,0,0,0,5550", 111.797555086714, some),
        ("sprt --wdl 1,0,0 --model logistic", 0.0142873714383302, one),
    ] {
        let found = json(flags);
        undefined(&found, &estimates);
        assert_figures(&found, &[("llr", Some(llr)), ("elo_low", low)]);
        show(flags);
    }
    for (flags, llr) in [
        ("sprt --counts 0,0,100,0,0", -0.0375398828364521),
        ("sprt --wdl 0,1000,0", -0.202132602372846),
        ("sprt --counts 0,0,100,0,0 --model logistic", -1.4416479084498),
    ] {
        let found = json(flags);
        undefined(&found, &["nelo", "nelo_low", "nelo_high", "los"]);
        let none = Some(0.0);
        let expected = [("elo", none), ("elo_low", None), ("elo_high", None), ("llr", Some(llr))];
        assert_figures(&found, &expected);
        show(flags);
    }
    // The correction for the stopping rule treats empty cells as small counts, and would claim
    // more.
    show("sprt --counts 5,0,0,0,0");
}

#[test]
fn bad_input_is_refused() {
    let counts = "sprt --counts 1,2,3,4,5";
    for (code, flags) in [
        (2, "sprt"),
        (2, "sprt --counts 1,2,3"),
        (2, "sprt --counts 1,2,3,4,5,6"),
        (2, "sprt --counts 1,2,3,4,-5"),
        (2, "sprt --counts -1,2,3,4,5"),
        (2, "sprt --counts 1,2,3,4,x"),
        (2, "sprt --counts 1,2,3,4,1.5"),
        (2, "sprt --counts 1,2,3,4,1000000000000001"),
        (2, "sprt --counts 1,2,3,4,99999999999999999999999"),
        (2, "sprt --wdl 1,2"),
        (2, &format!("{counts} --model elo")),
        (2, &format!("{counts} --alpha much")),
        (3, &format!("{counts} --alpha 0")),
        (3, &format!("{counts} --alpha 1.5")),
        (3, &format!("{counts} --alpha NaN")),
        (3, &format!("{counts} --beta=-0.1")),
        (3, &format!("{counts} --alpha 0.6 --beta 0.6")),
        (3, &format!("{counts} --elo0 5")),
        (3, &format!("{counts} --elo0 7")),
        (3, &format!("{counts} --elo1 NaN")),
        (3, &format!("{counts} --elo1 inf")),
        (3, &format!("{counts} --wdl 3,3,3")),
        (2, "sprt --wdl 3,3,3 --overshoot dynamic"),
        (2, "plan --elo0 -.5"),
        (3, "plan --draw-ratio 1"),
        (3, "plan --draw-ratio NaN"),
        (3, "plan --bias 1e9"),
        (3, "plan --bias inf"),
        (3, "plan --bias=-1"),
        (3, "plan --elo NaN"),
        (3, "plan --elo 1001"),
        (3, "plan --pilot 0,0,0,0,0"),
        (3, "plan --pilot 0,0,9,0,0"),
        (3, "simulate --runs 1"),
        (3, "simulate --threads 0"),
        (3, "simulate --threads 1000000"),
        (3, "simulate --elo 1e9"),
        (3, "simulate --probabilities 1,1,1,1,1"),
        (3, "simulate --probabilities NaN,0,0,0,1"),
        (2, "simulate --probabilities 0,0,1,0,0 --elo 5"),
    ] {
        stats(flags).expect_error(code);
    }
}

#[test]
fn a_plan_follows_from_theory() {
    let flags = "plan --elo0 0 --elo1 5 --elo 0";
    let found = json(flags);
    // The ratio drifts by t²/2 per game and spreads by t², where t is the strength in units of the
    // noise of one game.
    let t = 5.0 * 10f64.ln() / 800.0;
    assert_figures(&found, &[("variance_per_game", Some(0.125)), ("logistic_elo0", Some(0.0))]);
    // The random walk is not Brownian motion, but its expected length is nearly equal.
    let assert_near = |cost: &Value, pass: f64, games: f64| {
        let figure = |key: &str| cost[key].as_f64().expect("a number");
        assert!((figure("pass_probability") - pass).abs() < 1e-3, "{cost:#}");
        assert!((figure("expected_games") / games - 1.0).abs() < 1e-3, "{cost:#}");
    };
    assert_near(&found["points"][0], 0.05, 0.9 * ln19() / (t * t / 2.0));
    assert_near(&found["worst"], 0.5, ln19().powi(2) / (t * t));
    assert!(found["pilot"].is_null());
    show(flags);
    let distant = json("plan --elo1 0.001 --elo 500");
    assert_eq!(distant["points"][0]["pass_probability"], 1.0, "{distant:#}");
    let range = json("plan --draw-ratio 0.6 --bias 100");
    assert_eq!(range["points"].as_array().map(Vec::len), Some(13));
    let pilot = json("plan --model logistic --pilot 12,143,287,161,21");
    let pass = pilot["pilot"]["pass_probability"].as_f64();
    assert!(pass.is_some_and(|pass| pass > 0.5 && pass <= 1.0), "{pilot:#}");
}

#[test]
fn a_simulation_can_be_repeated() {
    let run = |more: &str| stats(&format!("simulate --runs 200 --elo1 30 {more}")).expect_code(0);
    let first = run("--seed 1 --format json").json();
    assert_eq!(run("--seed 1 --threads 1 --format json").json(), first);
    assert_eq!(run("--seed 1 --threads 3 --format json").json(), first);
    assert_ne!(run("--seed 2 --format json").json()["points"], first["points"]);
    assert_eq!(run("--seed 1 --threads 1").stdout, run("--seed 1").stdout);
    let rate = |point: usize, key: &str| first["points"][point][key].as_f64().expect("a rate");
    // Four standard errors of 200 runs.
    assert!(rate(0, "pass_rate") < 0.112 && rate(2, "fail_rate") < 0.112, "{first:#}");
    assert!((rate(1, "pass_rate") - 0.5).abs() < 0.142, "{first:#}");
    show("simulate --runs 200 --seed 1 --elo1 30");
}

#[test]
fn a_simulation_without_spread_ends_at_its_cap() {
    let flags = "simulate --runs 2 --cap 50 --probabilities 0,0,1,0,0";
    let found = json(flags);
    let point = &found["points"][0];
    let expected = [("capped", Some(2.0)), ("mean_games", Some(100.0)), ("nelo", None)];
    assert_figures(point, &expected);
    show(flags);
    let capped = json("simulate --runs 2 --elo1 50 --cap 5 --batch 1000000000");
    assert_figures(&capped["points"][0], &[("capped", Some(2.0)), ("mean_games", Some(10.0))]);
    let text = stats("simulate --runs 2 --cap 5").expect_code(0).stdout;
    assert!(text.contains("Not measured: beta, because all tests reached the cap."), "{text}");
    assert!(!text.contains("holds"), "{text}");
}

#[test]
fn help_says_what_the_exit_codes_mean() {
    for flags in ["--help", "sprt --help"] {
        show(flags);
    }
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let bench = Bench::new();
    let pgn = bench.write("g.pgn", rate::table());
    for flags in ["stats sprt --wdl 1,2,3".to_owned(), format!("rate {}", pgn.display())] {
        let script = format!("exec '{}' {flags} > /dev/full", arbiter().display());
        let finished = bench.start(Path::new("/bin/sh"), ["-c", &script]).finish();
        finished.expect_error(7);
    }
}

#[test]
fn every_command_has_every_form() {
    let bench = Bench::new();
    let commands = [
        ("stats sprt --counts 12,180,402,196,22", 1),
        ("stats plan --elo 0,2,5", 3),
        ("stats simulate --runs 20 --elo1 60", 3),
        ("tune simulate --param P,50,0,100,5,0.002 --iterations 5 --runs 2", 2),
    ];
    for (command, rows) in commands {
        let in_form = |form: &str| {
            let args = command.split(' ').chain(["-q", "--format", form]);
            let shown = bench.arbiter(args).finish().expect_code(0).stdout;
            assert_sound(&shown);
            shown
        };
        let markdown = in_form("md");
        assert!(markdown.starts_with("# ") && markdown.contains("\n\n"), "{command}: {markdown}");
        assert!(markdown.contains('|'), "{command}: {markdown}");
        // One line for each row of results, below the header.
        let csv = in_form("csv");
        assert_eq!(csv.lines().count(), 1 + rows, "{command}: {csv}");
        serde_json::from_str::<Value>(&in_form("json")).expect("JSON");
        assert_eq!(in_form("text"), in_form("text"), "{command}");
    }
}
