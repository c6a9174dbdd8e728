//! Pictures for the README, taken by Arbiter itself from a match that is played for them.
//!
//! ```text
//! cargo test --release -p tests --test it pictures -- --ignored
//! ```
//!
//! writes `docs/img/live.png` during the match and `docs/img/report.png` at its end;
//! `PICTURES=FOLDER` changes the folder. Both pages are 900 CSS pixels wide.

use std::path::{Path, PathBuf};

use crate::support::bench::Bench;
use crate::support::chromium::{self, Browser};
use crate::support::plan::Plan;
use crate::support::site::Site;
use crate::support::wait_for;

const WIDTH: u32 = 900;

#[test]
#[ignore = "writes the pictures of the README"]
fn pictures_of_the_readme() {
    let folder = std::env::var_os("PICTURES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/img"), PathBuf::from);
    let mut browser = Browser::start(&chromium::program().expect("chromium is installed"));
    browser.look(WIDTH, "light");
    let bench = Bench::new();
    let site = Site::start(&bench, &[]);
    let engine = |eval: &str| format!("name={eval},cmd=bundled,eval={eval}");
    let running = Plan::new(&bench, "sprt", 1)
        .set("pairs", 500)
        .engine(engine("palimpsest"))
        .engine(engine("rybka-2.3.2a"))
        .unset("openings")
        .unset("openings order")
        .set("each", "tc=0.8+0.008")
        .set("elo0", 0)
        .set("elo1", 60)
        .set("concurrency", 2)
        .set("name", "nightly")
        .set("about", "the hand-written evaluation against Rybka's")
        .start();
    let token = site.token.clone().expect("it is kept");
    wait_for("the run is listed", || (site.get("/runs/nightly").code == 200).then_some(()));
    browser.open(&site.url(&format!("/runs/nightly#token={token}")));
    // In the middle of the run, charts are drawn and both boards have pieces.
    let games = "Number(document.querySelector('.standing progress')?.value ?? 0)";
    browser.wait_until(&format!("{games} >= 12 && document.querySelectorAll('svg').length > 4"));
    let boards = "document.querySelectorAll('.boards .board .marked').length";
    browser.wait_until(&format!("{boards} >= 4"));
    browser.picture(WIDTH, 1350, &folder.join("live.png"));
    // The result of the match does not matter.
    let _ = running.finish();
    site.end();
    let out = bench.path("nightly.html").display().to_string();
    let args = ["report", "--results", "results", "nightly", "--out", &out];
    bench.arbiter(args).finish().expect_code(0);
    browser.open(&format!("file://{out}"));
    browser.picture(WIDTH, 1100, &folder.join("report.png"));
}
