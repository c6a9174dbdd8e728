//! Measurement of the CPU time that viewers take from a match, for a machine without other load.
//!
//! ```text
//! cargo test --release -p tests --test it viewers -- --ignored --nocapture
//! ```
//!
//! `VIEWERS` (50), `VIEWERS_ROUNDS` (8), `VIEWERS_PAIRS` (1000) and `VIEWERS_NODES` (100) change
//! the measurement. Each round plays the same match with and without a server and its viewers, in
//! alternating order. The match uses the whole machine, so it loses the CPU time that the server
//! and the viewers take; the durations of the matches show the same loss, with much more noise.

use std::path::Path;
use std::time::Instant;

use crate::support::bench::{Bench, Running};
use crate::support::plan::Plan;
use crate::support::programs::installed;
use crate::support::site::Site;
use crate::support::{store, wait_for};

/// Returns a number from the environment.
fn setting(name: &str, default: usize) -> usize {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect("a setting is a number"))
}

/// Measurements of a match.
struct Measurements {
    /// Duration of all pairs, in seconds.
    seconds: f64,
    /// Share of the machine's CPU time that the server and the viewers used.
    share: f64,
    /// Number of bytes sent to the viewers.
    sent: u64,
}

/// Plays the match with this number of viewers.
fn play_match(pairs: usize, nodes: usize, viewers: usize) -> Measurements {
    let bench = Bench::new();
    let site = (viewers > 0).then(|| Site::start(&bench, &[]));
    let engine = |name: &str, eval: &str| format!("name={name},cmd=bundled,eval={eval}");
    // Openings repeat, because there are only so many of two plies.
    let book = bench.write("book.epd", crate::support::plan::openings(400));
    let running = Plan::new(&bench, "match", 1)
        .engine(engine("a", "palimpsest"))
        .engine(engine("b", "palimpsest"))
        .set("each", format!("nodes={nodes}"))
        .set("openings", book.display())
        .set("pairs", pairs)
        .set("concurrency", cores())
        .start();
    let results = bench.path("results");
    wait_for("the run is in the store", || store::has_run(&results, "run").then_some(()));
    let eyes: Vec<Running> = site.iter().flat_map(|site| look_on(&bench, site, viewers)).collect();
    let before = wait_for("games are played", || {
        let stored = store::pairs(&results).len();
        (stored > 0).then_some(stored)
    });
    let watching = || -> f64 {
        let eyes = eyes.iter().map(Running::cpu_seconds);
        site.iter().map(Site::cpu_seconds).chain(eyes).sum()
    };
    let (start, watched) = (Instant::now(), watching());
    running.finish().expect_code(0);
    let seconds = start.elapsed().as_secs_f64();
    let share = (watching() - watched) / (seconds * cores() as f64);
    eyes.iter().for_each(|eye| eye.signal(rustix::process::Signal::TERM));
    drop(eyes);
    let sent =
        (0..viewers).filter_map(|eye| std::fs::metadata(bench.path(&format!("eye{eye}"))).ok());
    let sent = sent.map(|file| file.len()).sum();
    site.into_iter().for_each(Site::end);
    Measurements { seconds: seconds / (pairs - before) as f64 * pairs as f64, share, sent }
}

/// Returns the number of processors of the machine.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Returns the mean and twice its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, 2.0 * (spread / count).sqrt())
}

/// Starts viewers of the list and the run, with the lowest priority.
fn look_on(bench: &Bench, site: &Site, viewers: usize) -> Vec<Running> {
    let curl = installed("curl").expect("viewers are curl");
    let look = |eye: usize| {
        let page = if eye.is_multiple_of(10) { "/events/runs" } else { "/events/runs/run" };
        let script =
            format!("exec nice -n 19 {} -sN '{}' -o eye{eye}", curl.display(), site.url(page));
        bench.start(Path::new("/bin/sh"), ["-c", &script])
    };
    (0..viewers).map(look).collect()
}

#[test]
#[ignore = "measures for minutes; wants a machine that does nothing else"]
fn viewers_do_not_slow_a_match() {
    let viewers = setting("VIEWERS", 50);
    let rounds = setting("VIEWERS_ROUNDS", 8);
    let (pairs, nodes) = (setting("VIEWERS_PAIRS", 1000), setting("VIEWERS_NODES", 100));
    let (mut losses, mut shares) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut seconds = [0.0; 2];
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for is_seen in order {
            let taken = play_match(pairs, nodes, is_seen * viewers);
            seconds[is_seen] = taken.seconds;
            let (rate, share) = (2.0 * pairs as f64 / taken.seconds, 100.0 * taken.share);
            let (seen, megabytes) = (is_seen * viewers, taken.sent as f64 / 1e6);
            println!(
                "{seen:3} viewers: {:7.2} s, {rate:6.1} games/s, {megabytes:.1} MB sent, \
                 {share:.2} % of the processors",
                taken.seconds
            );
            shares.extend((is_seen == 1).then_some(share));
        }
        losses.push(100.0 * (seconds[1] / seconds[0] - 1.0));
    }
    let ((loss, doubt), (share, spread)) = (mean(&losses), mean(&shares));
    println!(
        "{share:.2} % ± {spread:.2} % of the processors; slower by {loss:+.2} % ± {doubt:.2} % (two \
         standard errors), {rounds} rounds"
    );
    assert!(share + spread <= 1.0, "those who look on take more than 1 % of the machine");
    assert!(loss - doubt <= 1.0, "viewers slow the match by more than 1 %");
}
