//! Tests of the table in `docs/faults.md`, row by row.

use std::collections::BTreeSet;
use std::path::Path;

use crate::puppet::mode_names;
use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};

/// Position in which a greedy engine promotes with its first move.
const PROMOTION: &str = "8/P7/6k1/8/8/7K/2p5/8 w - -";

/// Position in which an engine with random moves soon castles.
const CASTLING: &str = "4k2r/3ppp1p/8/8/8/8/3PPP1P/4K2R w Kk -";

#[derive(Debug, Clone)]
struct Row {
    /// Arguments after `--mode`.
    misdeed: String,
    with: String,
    outcome: String,
}

impl Row {
    fn mode(&self) -> &str {
        self.misdeed.split(' ').next().unwrap_or_default()
    }

    /// Returns the pair that the row describes, with `misdeed` in place of the row's misdeed.
    fn plan<'a>(&self, bench: &'a Bench, misdeed: &str) -> Plan<'a> {
        let (mut fields, mut each) = (String::new(), Vec::new());
        let mut book = None;
        for setting in self.with.split(',').filter(|setting| !setting.is_empty()) {
            match setting.split('=').next() {
                Some("promotion") => book = Some(PROMOTION),
                Some("castling") => book = Some(CASTLING),
                Some("ponder" | "memory" | "proto") => fields = format!("{fields},{setting}"),
                _ => each.push(setting),
            }
        }
        let seed = if misdeed.contains("--seed") { "" } else { "--seed 1 " };
        let proto = if fields.contains("proto=xboard") { "--proto xboard " } else { "" };
        // xboard has no node limit.
        fields.push_str(if proto.is_empty() { "" } else { ",depth=1" });
        let mut plan = Plan::new(bench, "match", 1)
            .puppet_with("A", &format!("{proto}{seed}--mode {misdeed}"), &fields)
            .puppet("B", "--seed 2")
            // The timeouts are long for a puppet, but short enough to keep the test fast.
            .set("deadlines start", 2)
            .set("deadlines ready", 1.5)
            .set("deadlines move", 1.5)
            .set("deadlines stop", 0.5);
        if !each.is_empty() {
            plan = plan.set("each", each.join(","));
        }
        match book {
            Some(line) => plan.set("openings", bench.write("row.epd", line).display()),
            None => plan,
        }
    }

    fn check(&self) {
        let bench = Bench::new();
        let plan = self.plan(&bench, &self.misdeed);
        match self.outcome.split_once(": ") {
            Some(("loses", reason)) => {
                // A resignation is not a fault.
                let played = plan.expect_output(if reason == "resignation" { 0 } else { 6 });
                assert_eq!(played.report.losses, 2, "{:#?}", played.report);
                assert_eq!(played.report.ended_by(reason), 2, "{:#?}", played.report);
            }
            None if self.outcome == "refused" => {
                plan.run().expect_refusal(3, &["'A'"]);
            }
            None if self.outcome == "no harm" => self.check_harmless(plan.expect_output(0)),
            _ => panic!("`{}` is no outcome", self.outcome),
        }
        bench.wait_until_quiet();
    }

    /// Asserts that the same pair with a well-behaved engine gives the same result.
    fn check_harmless(&self, played: RunOutput) {
        let bench = Bench::new();
        let behaved = self.misdeed.replacen(self.mode(), "good", 1);
        let expected = self.plan(&bench, &behaved).expect_output(0);
        assert_eq!(played.report, expected.report);
        assert_eq!(played.moves(), expected.moves());
        let needed = match self.with.as_str() {
            "castling" => " O-O",
            "promotion" => "=Q",
            _ => "",
        };
        assert!(played.pgn.contains(needed), "no {needed} in {}", played.pgn);
    }
}

fn table() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/faults.md");
    let text = std::fs::read_to_string(path).expect("the table is part of the project");
    let mut rows = Vec::new();
    for line in text.lines() {
        let Some(cells) = line.strip_prefix("| `") else { continue };
        let cells: Vec<&str> = cells.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [misdeed, with, behaviour, outcome, ""] = cells[..] else {
            panic!("four cells: {line}")
        };
        assert!(!behaviour.is_empty(), "{line}");
        let [misdeed, with, outcome] = [misdeed, with, outcome].map(str::to_owned);
        rows.push(Row { misdeed, with, outcome });
    }
    rows
}

include!(concat!(env!("OUT_DIR"), "/rows.rs"));

#[test]
fn every_mode_of_the_puppet_is_in_the_table() {
    let rows = table();
    let documented: BTreeSet<&str> = rows.iter().map(Row::mode).collect();
    let modes = mode_names();
    assert_eq!(documented, modes.iter().map(String::as_str).collect());
}
