//! Tests of the Prometheus metrics of all commands with `--metrics`.

use rustix::process::Signal;

use crate::distributed::distributed_plan;
use crate::resume::PAIRS;
use crate::support::bench::Bench;
use crate::support::nats::{Server, Worker, free_port, key};
use crate::support::plan::Plan;
use crate::support::site::{Site, get};
use crate::support::snapshot::expect_next;
use crate::support::wait_for;

/// Returns the metrics on a port, once they contain these lines.
pub fn wait_for_figures(port: u16, lines: &[&str]) -> String {
    wait_for(&format!("figures with {lines:?}"), || {
        let reply = get(&format!("127.0.0.1:{port}"), "/metrics")?;
        assert!(reply.head.contains("content-type: text/plain; version=0.0.4"));
        let has = |line: &&str| reply.body.lines().any(|other| other == *line);
        lines.iter().all(has).then_some(reply.body)
    })
}

/// Returns the value of the first metric whose line starts with `name`.
fn count(figures: &str, name: &str) -> f64 {
    let line = figures.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("{name}: {figures}"))
}

#[test]
fn runs_and_the_live_page_export_metrics() {
    let bench = Bench::new();
    let [of_run, of_site] = [free_port(), free_port()];
    let site = Site::start(&bench, &["--metrics", &of_site.to_string()]);
    let running = Plan::new(&bench, "match", 200)
        .puppet("A", "--seed 11 --delay-ms 8")
        .puppet("B", "--seed 12 --mode illegal-move")
        .set("pairs", 20_000)
        .set("fault-limit", 1)
        .set("name", "run")
        .set("metrics", of_run)
        .start();
    let state = ["arbiter_run_state{state=\"running\"} 1", "arbiter_nats_connected 1"];
    let figures = wait_for_figures(of_run, &state[..1]);
    assert!(!figures.contains(state[1]), "{figures}");
    let after_fault = wait_for("a fault is counted", || {
        let figures = wait_for_figures(of_run, &[]);
        (count(&figures, "arbiter_faults_total{kind=\"illegal_move\"}") > 0.0).then_some(figures)
    });
    assert!(count(&after_fault, "arbiter_pairs_total") > 0.0, "{after_fault}");
    assert_eq!(
        count(&after_fault, "arbiter_pairs_total"),
        count(&after_fault, "arbiter_run_pairs")
    );
    wait_for_figures(of_site, &["arbiter_store_runs{state=\"running\"} 1"]);
    running.signal(Signal::INT);
    running.finish();
    assert_eq!(site.get("/runs/none").code, 404);
    assert_eq!(site.get("/nowhere/at/all").code, 404);
    let figures = wait_for_figures(of_site, &["arbiter_store_runs{state=\"unfinished\"} 1"]);
    assert!(count(&figures, "arbiter_store_pairs") >= count(&after_fault, "arbiter_run_pairs"));
    assert!(count(&figures, "arbiter_store_faults{kind=\"illegal_move\"}") > 0.0);
    for route in ["/runs/{run}", "other"] {
        let labels = format!("{{route=\"{route}\",code=\"404\"}}");
        let name = format!("arbiter_http_request_duration_seconds_count{labels}");
        assert_eq!(count(&figures, &name), 1.0, "{figures}");
    }
    site.end();
    let taken = bench.arbiter(["serve", "--listen", "127.0.0.1:0", "--metrics", "192.0.2.1:1"]);
    let refused = taken.finish().expect_code(7);
    expect_next(&refused.stderr);
}

#[test]
fn workers_and_coordinators_export_metrics() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let [of_run, of_worker] = [free_port(), free_port()];
    let key = key(&bench);
    let port = of_worker.to_string();
    let flags = ["--slots", "2", "--trust", &key, "--metrics", &port];
    let _worker = Worker::start_with(&bench, &server, "a", &flags);
    wait_for_figures(of_worker, &["arbiter_nats_connected 1", "arbiter_slots 2"]);
    let running = distributed_plan(&bench, &server).set("metrics", of_run).start();
    let lines = ["arbiter_nats_connected 1", "arbiter_workers{state=\"playing\"} 1"];
    let figures = wait_for_figures(of_run, &lines);
    assert!(count(&figures, "arbiter_jobs{state=\"playing\"}") > 0.0, "{figures}");
    let done = wait_for("results are timed", || {
        let figures = wait_for_figures(of_run, &[]);
        (count(&figures, "arbiter_job_duration_seconds_count") > 0.0).then_some(figures)
    });
    assert!(count(&done, "arbiter_job_duration_seconds_sum") > 0.0, "{done}");
    running.finish().expect_code(0);
    wait_for_figures(of_worker, &[&format!("arbiter_pairs_total {PAIRS}")]);
}
