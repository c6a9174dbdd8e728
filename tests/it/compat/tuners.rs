//! Test with chess-tuning-tools from PyPI, which runs cutechess-cli by its name.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::support::bench::Bench;
use crate::support::plan;
use crate::support::programs;

/// Packages of the program, in versions that work together with Python 3.11; the versions that the
/// program requests are too old.
const PACKAGES: &str = "chess-tuning-tools==0.9.3 arviz==0.17.1 atomicwrites==1.4.1 bask==0.11.0 \
    click cloudpickle contourpy==1.3.2 cycler dill emcee==3.1.6 fonttools h5netcdf joblib kiwisolver \
    matplotlib==3.10.9 numpy==1.23.5 packaging pandas==2.3.3 pillow pyaml pyparsing python-dateutil pytz \
    PyYAML scikit-learn==1.2.2 scikit-optimize==0.9.0 scipy==1.11.4 setuptools==65.5.0 threadpoolctl tqdm \
    typing_extensions tzdata xarray xarray-einstats==0.9.1";

/// Number of iterations that the tuning has to complete.
const ITERATIONS: usize = 10;

/// Installs the program in a separate environment, unless the environment variable `TUNE` names an
/// installed program.
fn tune(bench: &Bench) -> PathBuf {
    if let Some(path) = std::env::var_os("TUNE") {
        return path.into();
    }
    let place = bench.path("python");
    let run = |program: &Path, args: &[&str]| {
        let ended = Command::new(program).args(args).output().expect("it can be started");
        assert!(ended.status.success(), "{program:?}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    run(Path::new("python3"), &["-m", "venv", &place.display().to_string()]);
    let install = ["install", "--quiet", "--no-deps"].into_iter();
    let args: Vec<&str> = install.chain(PACKAGES.split_whitespace()).collect();
    run(&place.join("bin/pip"), &args);
    place.join("bin/tune")
}

#[test]
#[ignore = "it installs a program from the network; `tests/run nightly` runs it"]
fn chess_tuning_tools_tunes_with_arbiter_as_cutechess() {
    let bench = Bench::new();
    let tune = tune(&bench);
    std::fs::create_dir(bench.path("bin")).expect("a folder can be made");
    bench.arbiter(["compat", "install", "bin"]).finish().expect_code(0);
    bench.write("openings.epd", plan::openings(20));
    let puppet = programs::puppet().display().to_string();
    let engine = |seed: u32| {
        let command = format!("{puppet} --seed {seed} --marker {}", bench.marker());
        json!({ "command": command, "fixed_parameters": { "Threads": 1 } })
    };
    let settings = json!({
        "engines": [engine(1), engine(2)], "parameter_ranges": { "Hash": "Integer(low=1, high=64)" },
        "engine1_tc": "5+0.1", "engine2_tc": "5+0.1", "opening_file": "openings.epd",
        "opening_order": "random", "rounds": 2, "concurrency": 2,
        "adjudicate_draws": true, "draw_movenumber": 30, "draw_movecount": 5, "draw_score": 10,
        "adjudicate_resign": true, "resign_movecount": 3, "resign_score": 550, "adjudicate_tb": false,
        "n_points": 50, "n_initial_points": 4, "gp_burnin": 1, "gp_samples": 20,
        "gp_initial_burnin": 1, "gp_initial_samples": 20, "acq_function_samples": 1,
        "plot_every": 0, "result_every": 0,
    });
    bench.write("tune.json", settings.to_string());
    let script = r#"PATH="$PWD/bin:$PATH" exec "$0" local -c tune.json --logfile log.txt"#;
    let shell_args = ["-c".to_owned(), script.to_owned(), tune.display().to_string()];
    let running = bench.start(Path::new("/bin/sh"), shell_args);
    let log = || std::fs::read_to_string(bench.path("log.txt")).unwrap_or_default();
    let started = Instant::now();
    while log().matches(" Got Elo: ").count() < ITERATIONS {
        assert!(started.elapsed() < Duration::from_secs(900), "{}", log());
        std::thread::sleep(Duration::from_millis(200));
    }
    running.signal(Signal::KILL);
    running.finish();
    let log = log();
    assert!(!log.contains("Traceback") && !log.contains("ERROR"), "{log}");
    // Both engines win some of the random games, but a misread result would always be equal.
    let figures: std::collections::BTreeSet<&str> =
        log.lines().filter_map(|line| line.split("Got Elo: ").nth(1)).collect();
    assert!(figures.len() > 2 && figures.iter().all(|line| !line.contains("nan")), "{figures:?}");
}
