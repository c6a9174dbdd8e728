//! Benchmark of a coordinator and its NATS server: CPU time per pair, memory, and time to stop, for
//! several numbers of slots.
//!
//! The coordinator is a process of `arbiter match … --on URL`, with its store on disk; the server
//! is the installed `nats-server`, with file storage. The fleet is simulated in this process, and
//! answers immediately. Each slot takes jobs, reports progress and sends results of realistic size,
//! over the same subjects and with the same calls as a worker, but starts no engine: the games
//! consist of random moves. The coordinator and the server are therefore fully loaded. The figures
//! are the costs per pair, not the load that a fleet of real engines causes.
//!
//! Environment variables, with their defaults: `FLEET_SLOTS` sets the numbers of slots
//! (10,50,100,250,500), `FLEET_SECONDS` the duration of each measurement in seconds (15), and
//! `FLEET_WORKER` the number of slots that share a connection (25).

#![expect(clippy::disallowed_methods, reason = "a benchmark")]
#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

#[path = "fleet/process.rs"]
mod process;
#[path = "fleet/simulated_worker.rs"]
mod simulated_worker;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arbiter_cluster::{Access, Credentials, PublicKey, Secret};
use tabled::builder::Builder;
use tabled::settings::{Alignment, Style, object::Columns};

use self::process::Process;
use self::simulated_worker::Fleet;

/// Time for which a fleet plays before the measurement starts.
const WARM_UP: Duration = Duration::from_secs(3);

/// Opening book of the run. Any book is suitable, because the fleet plays random moves.
const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../openings/balanced.epd");

/// Measurements of a fleet with `slots` slots.
struct Figures {
    /// Number of slots.
    slots: usize,
    /// Number of pairs played during the measurement.
    pairs: u64,
    /// Duration of the measurement.
    time: Duration,
    /// CPU time of the coordinator during the measurement.
    coordinator: Duration,
    /// CPU time of the server during the measurement.
    server: Duration,
    /// Peak resident set sizes of the coordinator and the server, in MiB.
    resident_mib: [f64; 2],
    /// Time from the signal to the coordinator until the last worker received the cancellation.
    cancelled: Duration,
    /// Time from the signal to the coordinator until the exit of the coordinator.
    ended: Duration,
}

fn main() {
    // `cargo bench` passes only `--bench`. With other arguments, for example to list or test
    // benchmarks, the program does nothing.
    if !std::env::args().skip(1).eq(["--bench".to_owned()]) {
        return;
    }
    let number = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
    };
    let sizes = std::env::var("FLEET_SLOTS").unwrap_or_else(|_| "10,50,100,250,500".to_owned());
    let sizes = sizes.split(',').map(|text| text.parse().expect("FLEET_SLOTS has numbers"));
    let seconds = Duration::from_secs(number("FLEET_SECONDS", 15));
    let share = number("FLEET_WORKER", 25) as usize;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let figures = sizes.map(|slots| runtime.block_on(measure(slots, share, seconds)));
    println!("{}", table(figures.collect()));
}

fn table(all: Vec<Figures>) -> String {
    let mut table = Builder::default();
    table.push_record([
        "slots",
        "pairs",
        "pairs/s",
        "coordinator µs/pair",
        "server µs/pair",
        "coordinator MiB",
        "server MiB",
        "stop heard ms",
        "ended ms",
    ]);
    for figures in all {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / figures.pairs.max(1) as f64;
        let ms = |time: Duration| format!("{:.0}", time.as_secs_f64() * 1e3);
        table.push_record([
            figures.slots.to_string(),
            figures.pairs.to_string(),
            format!("{:.0}", figures.pairs as f64 / figures.time.as_secs_f64()),
            format!("{:.0}", each(figures.coordinator)),
            format!("{:.0}", each(figures.server)),
            format!("{:.0}", figures.resident_mib[0]),
            format!("{:.0}", figures.resident_mib[1]),
            ms(figures.cancelled),
            ms(figures.ended),
        ]);
    }
    let mut table = table.build();
    table.with(Style::markdown()).modify(Columns::new(..), Alignment::right());
    table.to_string()
}

/// Measures a fleet with `slots` slots, in a separate run on a separate server. `share` is the
/// number of slots per connection.
async fn measure(slots: usize, share: usize, seconds: Duration) -> Figures {
    let dir = tempfile::tempdir().expect("a folder can be made");
    let (server, url) = start_server(dir.path());
    let server = Process::new(server);
    let trust = trust(dir.path());
    let access = Access {
        url: Secret(url.clone()),
        credentials: Credentials::None,
        ca: None,
        certificate: None,
        inbox: None,
        insecure: true,
    };
    let fleet = Arc::new(Fleet::default());
    for (number, first) in (0..slots).step_by(share).enumerate() {
        let link = access.connect("fleet").await.expect("the server listens");
        let slots = share.min(slots - first);
        tokio::spawn(simulated_worker::work(
            fleet.clone(),
            link,
            format!("w{number}"),
            slots,
            trust,
        ));
    }
    let coordinator = Process::new(start_run(dir.path(), &url));
    while fleet.played.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(WARM_UP).await;
    let before = (fleet.played.load(Ordering::Relaxed), Instant::now());
    let cpu_before = [coordinator.cpu(), server.cpu()];
    tokio::time::sleep(seconds).await;
    let pairs = fleet.played.load(Ordering::Relaxed) - before.0;
    let time = before.1.elapsed();
    let cpu = [coordinator.cpu() - cpu_before[0], server.cpu() - cpu_before[1]];
    let resident_mib = [coordinator.resident_mib(), server.resident_mib()];
    let signalled = Instant::now();
    coordinator.terminate();
    let ended = tokio::task::spawn_blocking(move || coordinator.wait()).await;
    let ended = ended.expect("it can be waited for") - signalled;
    let cancelled = fleet.last_cancelled();
    let cancelled =
        cancelled.expect("workers hear of the end").saturating_duration_since(signalled);
    let [coordinator, server] = cpu;
    Figures { slots, pairs, time, coordinator, server, resident_mib, cancelled, ended }
}

fn start_server(dir: &Path) -> (Child, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = listener.local_addr().expect("a listener has an address").port();
    drop(listener);
    let (config, log) = (dir.join("nats.conf"), dir.join("nats.log"));
    let store = dir.join("nats").display().to_string();
    let text = format!("listen: 127.0.0.1:{port}\njetstream {{ store_dir: {store:?} }}\n");
    std::fs::write(&config, text).expect("a file can be written");
    let program = which::which("nats-server").unwrap_or_else(|_| "/usr/sbin/nats-server".into());
    let server = Command::new(program).arg("-c").arg(&config).arg("-l").arg(&log).spawn();
    let server = server.expect("nats-server is installed");
    while !std::fs::read_to_string(&log).unwrap_or_default().contains("Server is ready") {
        std::thread::sleep(Duration::from_millis(5));
    }
    (server, format!("nats://127.0.0.1:{port}"))
}

fn arbiter(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arbiter"));
    command.current_dir(dir).env("HOME", dir).env("XDG_CONFIG_HOME", dir);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// Returns the public key of coordinators whose home folder is `dir`.
fn trust(dir: &Path) -> PublicKey {
    let output = arbiter(dir).args(["cluster", "key"]).output().expect("arbiter can be started");
    let text = String::from_utf8(output.stdout).expect("a key is text");
    PublicKey::read(text.trim()).expect("a key was printed")
}

fn start_run(dir: &Path, url: &str) -> Child {
    let mut command = arbiter(dir);
    command.args(["match", "--engine", "name=a,cmd=bundled", "--engine", "name=b,cmd=bundled"]);
    command.args(["--each", "nodes=1000000", "--pairs", "10000000"]);
    command.args(["--seed", "1", "--openings", BOOK]);
    command.args([
        "--results",
        "results",
        "--name",
        "fleet",
        "--cpu-contention",
        "off",
        "--on",
        url,
    ]);
    command.args(["--insecure", "--format", "json"]).stdout(Stdio::null());
    command.spawn().expect("arbiter can be started")
}
