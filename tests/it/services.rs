//! The units of systemd, where its tools are installed.

use std::process::Command;

use crate::support::bench::Bench;
use crate::support::programs;

#[test]
fn units_are_understood_and_hardened() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../packaging/systemd");
    let bench = Bench::new();
    let own = programs::arbiter().display().to_string();
    for unit in ["arbiter-serve.service", "arbiter-worker.service"] {
        let text = std::fs::read_to_string(format!("{folder}/{unit}")).expect("there is a unit");
        let start = text.lines().find_map(|line| line.strip_prefix("ExecStart="));
        let mut words = start.expect("it starts a program").split(' ').skip(1).collect::<Vec<_>>();
        words.push("--help");
        bench.arbiter(words).finish().expect_code(0);
        // Its verification wants the program to be installed.
        let unit = bench.write(unit, text.replace("/usr/bin/arbiter", &own));
        for task in [&["verify"][..], &["security", "--offline=true", "--threshold=20"]] {
            let Ok(done) = Command::new("systemd-analyze").args(task).arg(&unit).output() else {
                eprintln!("skipped: systemd-analyze is not installed");
                return;
            };
            assert!(done.status.success(), "{unit:?} {task:?} {done:?}");
        }
    }
}
