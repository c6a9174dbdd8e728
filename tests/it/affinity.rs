//! Tests of games on separate processors.

use std::collections::BTreeMap;

use rustix::process::Pid;
use rustix::thread::sched_getaffinity;

use crate::resume::slow;
use crate::support::bench::Bench;
use crate::support::plan::Plan;
use crate::support::snapshot::{expect_next, without_figures, without_machine};
use crate::support::{phrases, process, wait_for};

/// Returns the processors that a process may use.
fn processors(of: Option<Pid>) -> Option<Vec<usize>> {
    let allowed = sched_getaffinity(of).ok()?;
    Some((0..1024).filter(|cpu| allowed.is_set(*cpu)).collect())
}

/// Counts the puppets of the bench by the set of processors that they may use.
fn affinities(bench: &Bench) -> BTreeMap<Vec<usize>, usize> {
    let mut affinities = BTreeMap::new();
    for cpus in process::marked(bench.marker()).into_iter().filter_map(|pid| processors(Some(pid)))
    {
        *affinities.entry(cpus).or_default() += 1;
    }
    affinities
}

#[test]
fn each_game_is_played_on_its_own_processors() {
    let processors_here = processors(None).expect("a process may ask where it runs");
    let games = processors_here.len().min(2);
    for affinity in [
        "auto".to_owned(),
        processors_here.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
    ] {
        let bench = Bench::new();
        let plan = slow(&bench).set("affinity", &affinity).set("concurrency", games);
        let running = plan.set("max-moves", 60).start();
        let expected: BTreeMap<Vec<usize>, usize> =
            processors_here.iter().take(games).map(|cpu| (vec![*cpu], 2)).collect();
        wait_for(&format!("two puppets sit on each of {games} processors"), || {
            let affinities = affinities(&bench);
            // With more than two processors, the order of cores decides which processors are used.
            let is_alike = affinities.len() == games
                && affinities.iter().all(|(cpus, puppets)| cpus.len() == 1 && *puppets == 2);
            (affinities == expected || (processors_here.len() > 2 && is_alike)).then_some(())
        });
        let finished = running.finish().expect_code(0);
        expect_next(&without_figures(&finished.stderr));
    }
}

#[test]
fn an_engine_gets_a_processor_for_each_thread() {
    let processors_here = processors(None).expect("a process may ask where it runs");
    let [first, second, ..] = processors_here[..] else {
        println!("SKIPPED: this machine has one processor");
        return;
    };
    let bench = Bench::new();
    let running = Plan::new(&bench, "match", 12)
        .puppet("A", "--seed 1 --delay-ms 2")
        .puppet("B", "--seed 2 --delay-ms 2")
        .set("affinity", format!("{first},{second}"))
        .set("each", "nodes=1,option.Threads=2")
        .set("max-moves", 60)
        .start();
    wait_for("two puppets share two processors", || {
        (affinities(&bench) == BTreeMap::from([(vec![first, second], 2)])).then_some(())
    });
    running.finish().expect_code(0);
}

#[test]
fn processors_that_are_not_there_are_errors() {
    let bench = Bench::new();
    let first = processors(None).expect("a process may ask where it runs")[0];
    let plan = |affinity: &str, games: usize| {
        slow(&bench).set("affinity", affinity).set("concurrency", games).run()
    };
    let one = first.to_string();
    for refused in [plan(&one, 2), plan("1023", 1)] {
        expect_next(&without_figures(&refused.expect_code(3).stderr));
    }
    plan("all", 1).expect_code(2);
    // `arbiter.toml` accepts the same values as the flags.
    for line in ["affinity = 1023", "affinity = \"all\"", "cpu-contention = \"loud\""] {
        bench.write("arbiter.toml", format!("{line}\n"));
        let refused = slow(&bench).unset("cpu-contention").run().expect_code(3);
        expect_next(&without_figures(&refused.stderr));
    }
}

#[test]
fn affinity_can_be_set_in_the_file_and_is_reported() {
    let bench = Bench::new();
    bench.write("arbiter.toml", "affinity = \"auto\"\ncpu-contention = \"report\"\n");
    let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let plan = plan.unset("cpu-contention");
    let report = plan.set("each", "tc=8+0.08").set("format", "md").run().expect_code(0).stdout;
    let (_, conditions) = report.split_once(phrases::CONDITIONS).expect("conditions");
    expect_next(&without_figures(&without_machine(conditions)));
}
