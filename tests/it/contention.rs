//! Tests that pairs which CPU contention may have decided are void and played again, and that other
//! pairs count.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use rustix::thread::sched_getaffinity;

use crate::resume::resume;
use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::{expect_next, line_with, without_figures};
use crate::support::{process, programs, store, wait_for};

/// Process that uses as much of one processor as possible, and ends with the test.
struct Hog(Child);

impl Hog {
    fn on(cpu: usize) -> Hog {
        let mut command = Command::new("taskset");
        command.args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
        let child = command.stdin(Stdio::null()).spawn();
        Hog(child.expect("taskset is part of util-linux"))
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        // The process cannot have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a processor that this test may use.
fn processor() -> usize {
    let allowed = sched_getaffinity(None).expect("a process may ask where it runs");
    (0..1024).find(|cpu| allowed.is_set(*cpu)).expect("a process runs somewhere")
}

/// Returns a script that starts the bundled engine on the processor of a hog, where it gets at most
/// a quarter of the time.
fn starved_engine(bench: &Bench, cpu: usize) -> PathBuf {
    let arbiter = programs::arbiter().display();
    let script = format!("exec taskset -c {cpu} nice -n 5 '{arbiter}' engine\n");
    bench.write("starved.sh", script)
}

/// Returns a match of short games between the starved engine and an engine with enough CPU time.
fn starved(bench: &Bench, pairs: usize, cpu: usize) -> Plan<'_> {
    let script = starved_engine(bench, cpu);
    Plan::new(bench, "match", pairs)
        .engine(format!("name=A,cmd=sh,args=\"{}\"", script.display()))
        .puppet("B", "--seed 2")
        .unset("cpu-contention")
        .set("max-moves", 3)
        .set("fault-limit", 1)
}

#[test]
fn pairs_of_a_starved_engine_are_void_and_finally_count_with_a_remark() {
    let bench = Bench::new();
    let cpu = processor();
    let _hog = Hog::on(cpu);
    let finished = starved(&bench, 1, cpu).set("each", "tc=1.2+0.06").run().expect_code(0);
    let json = finished.json();
    assert_eq!((&json["pairs_voided"], &json["pairs_disturbed"]), (&2.into(), &1.into()));
    expect_next(&without_figures(&finished.stderr));
    let played = RunOutput::read(&bench, &finished);
    assert_eq!((played.report.games, played.games().len()), (2, 2));
    let noted = store::disturbances(&bench.path("results"));
    let fates: Vec<(i64, i64, bool)> = noted.iter().map(|row| (row.0, row.1, row.3)).collect();
    assert_eq!(fates, [(0, 0, false), (0, 1, false), (0, 2, true)]);
    noted.iter().for_each(|row| expect_next(&without_figures(&row.2)));
    // The other report formats contain the same counts.
    let results = bench.path("results").display().to_string();
    for form in ["text", "md"] {
        let show = ["results", "--results", &results, "show", "run", "--format", form];
        let shown = bench.arbiter(show).finish().expect_code(0);
        expect_next(&without_figures(line_with(&shown.stdout, ": 2 played again, 1 ")));
    }
}

#[test]
fn compat_runs_measure_contention_only_on_request() {
    let cpu = processor();
    let _hog = Hog::on(cpu);
    for (more, is_measured) in [("", false), ("-arbiter contention=discard", true)] {
        let bench = Bench::new();
        let (script, puppet) = (starved_engine(&bench, cpu), programs::puppet());
        let (script, puppet, marker) = (script.display(), puppet.display(), bench.marker());
        let args = format!("args=--marker {marker}");
        let line = format!(
            "compat|fastchess|-engine|cmd=sh|args={script}|name=A|-engine|cmd={puppet}|{args}|\
             -each|tc=1.2+0.06|-rounds|1|-maxmoves|3|-recover"
        );
        let line = line.split('|').chain(more.split_whitespace());
        let finished = bench.arbiter(line).finish().expect_code(0);
        let noted = store::disturbances(&bench.path("results"));
        assert_eq!(!noted.is_empty(), is_measured, "{noted:?}");
        assert_eq!(!finished.stderr.is_empty(), is_measured, "{finished:#?}");
    }
}

#[test]
fn pairs_of_engines_with_equal_waits_count() {
    let bench = Bench::new();
    let cpu = processor();
    let _hog = Hog::on(cpu);
    let script = starved_engine(&bench, cpu);
    let engine = |name| format!("name={name},cmd=sh,args=\"{}\"", script.display());
    let plan = Plan::new(&bench, "match", 2).engine(engine("A")).engine(engine("B"));
    let plan = plan.unset("cpu-contention").set("max-moves", 10).set("each", "tc=1.2+0.06");
    let finished = plan.run().expect_code(0);
    let json = finished.json();
    assert_eq!((&json["pairs_voided"], &json["pairs_disturbed"]), (&0.into(), &0.into()));
    let results = bench.path("results").display().to_string();
    let show = ["results", "--results", &results, "show", "run"];
    let shown = bench.arbiter(show).finish().expect_code(0);
    let wait_line = shown.stdout.lines().find(|line| line.starts_with("CPU"));
    let waited =
        wait_line.and_then(|line| line.split(' ').find_map(|word| word.parse::<f64>().ok()));
    assert!(waited.is_some_and(|percent| percent > 10.0), "{shown:#?}");
}

#[test]
fn games_without_a_clock_or_a_measurement_are_never_void() {
    let cpu = processor();
    let _hog = Hog::on(cpu);
    let check = |each: &str, treatment: &str| {
        let bench = Bench::new();
        let plan = starved(&bench, 1, cpu).set("each", each).set("cpu-contention", treatment);
        let json = plan.run().expect_code(0).json();
        assert_eq!((&json["pairs_voided"], &json["games"]), (&0.into(), &2.into()), "{each}");
    };
    check("nodes=500", "discard");
    check("tc=1.2+0.06", "off");
    check("tc=1.2+0.06", "report");
}

#[test]
fn a_run_with_void_pairs_survives_being_killed() {
    let bench = Bench::new();
    let cpu = processor();
    let _hog = Hog::on(cpu);
    let results = bench.path("results");
    let mut running = starved(&bench, 2, cpu).set("each", "tc=1.2+0.06").start();
    let mut before = Vec::new();
    // The run is killed after the first pair was postponed, and while postponed pairs are played.
    // It may end earlier, because an attempt may be undisturbed by chance.
    for rows in [2, 4] {
        wait_for(&format!("{rows} disturbances are noted, or the end"), || {
            (running.has_ended() || store::disturbances(&results).len() >= rows).then_some(())
        });
        if running.has_ended() {
            break;
        }
        running.signal(Signal::KILL);
        assert_eq!(running.finish().code, None);
        process::wait_until_gone(bench.marker());
        before.extend(store::disturbances(&results));
        running = resume(&bench);
    }
    let finished = running.finish().expect_code(0);
    let played = RunOutput::read(&bench, &finished);
    assert_eq!((played.report.games, played.games().len()), (4, 4));
    store::assert_consistent(&results);
    assert_eq!(store::pairs(&results).len(), 2);
    // The records of void attempts survive the kills: no pair is played more than three times. An
    // attempt may have been undisturbed by chance.
    let noted = store::disturbances(&results);
    assert!(before.iter().all(|row| noted.contains(row)), "{before:?} {noted:?}");
    for pair in 0..2 {
        let fates: Vec<(i64, bool)> =
            noted.iter().filter(|row| row.0 == pair).map(|row| (row.1, row.3)).collect();
        let expected = [(0, false), (1, false), (2, true)];
        assert!(expected.starts_with(&fates), "pair {pair}: {fates:?}");
    }
}
