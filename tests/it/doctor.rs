//! Tests of the findings of `arbiter doctor` on this machine.

use serde_json::Value;

use crate::support::bench::{Bench, Finished};
use crate::support::nats::Server;

/// Returns the finding about a subject.
fn of<'a>(report: &'a Value, subject: &str) -> &'a Value {
    let findings = report["findings"].as_array().expect("a list");
    let found = findings.iter().find(|finding| finding["subject"] == subject);
    found.unwrap_or_else(|| panic!("nothing of {subject}: {report:#}"))
}

/// Returns the report after checking that the exit code matches it.
fn report(finished: &Finished) -> Value {
    let report = finished.json();
    let bad = report["findings"].as_array().expect("a list").iter();
    let bad = bad.filter(|finding| finding["health"] == "bad").count();
    assert_eq!(report["fit"], bad == 0, "{report:#}");
    assert_eq!(finished.code, Some(i32::from(bad > 0)), "{finished:#?}");
    report
}

#[test]
fn the_machine_is_inspected_and_engines_are_started() {
    let bench = Bench::new();
    let done = bench.arbiter(["doctor", "--format", "json"]).finish();
    let report = report(&done);
    assert_eq!(report["schema"], "arbiter.doctor/1");
    for subject in
        ["processors", "governor", "clock source", "other programs", "steal", "free memory"]
    {
        assert!(of(&report, subject)["found"].is_string(), "{report:#}");
    }
    let bundled = of(&report, "engine bundled");
    assert_eq!((&bundled["health"], &bundled["advice"]), (&"good".into(), &Value::Null));
    assert!(bundled["found"].as_str().is_some_and(|found| found.ends_with(", uci")), "{bundled}");
}

#[test]
fn a_missing_engine_and_a_silent_server_are_reported() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("arbiter")).expect("a folder can be made");
    bench.write("arbiter/engines.toml", "[gone]\ncmd = \"/nowhere/gone\"\n");
    let args = ["doctor", "--format", "json", "--on"];
    let done = bench.arbiter([&args[..], &["nats://127.0.0.1:1"]].concat()).finish().expect_code(1);
    let report = report(&done);
    for subject in ["engine gone", "server"] {
        let found = of(&report, subject);
        assert!(found["health"] == "bad" && found["advice"].is_string(), "{found}");
    }
    if let Some(server) = Server::start(&bench, "") {
        let done = bench.arbiter([&args[..], &[&server.url()]].concat()).finish();
        assert_eq!(of(&done.json(), "server")["health"], "good", "{done:#?}");
    }
}
