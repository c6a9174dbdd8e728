//! Tests of the pages in a real browser: actions of a reader, and errors of the browser.
//!
//! With `ARBITER_PICTURES=FOLDER`, the tests save pictures of the pages in the folder.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::resume::wait_for_pairs;
use crate::snapshots::rich;
use crate::support::bench::Bench;
use crate::support::chromium::{self, Browser};
use crate::support::plan::Plan;
use crate::support::programs;
use crate::support::site::Site;
use crate::support::snapshot::expect_next;
use crate::support::wait_for;

/// Script that audits every page.
const AUDIT: &str = include_str!("browser/audit.js");

/// Package of axe-core, whose accessibility rules are downloaded if possible.
const AXE: &str = "axe-core@4.10.3";

/// Page widths of a desktop, a small screen and a phone, in CSS pixels.
const WIDTHS: [u32; 3] = [1440, 800, 360];

/// Colour schemes and widths that axe-core checks. A check takes seconds, and each rule depends on
/// the colours or on the width, not on both.
const AXE_AT: [(&str, u32); 3] = [("light", 1440), ("light", 360), ("dark", 1440)];

/// Returns a browser, or `None` with a notice if none is installed.
pub fn browser() -> Option<Browser> {
    if let Some(program) = chromium::program() {
        return Some(Browser::start(&program));
    }
    let notice = "not installed: chromium; tests/run installs it";
    assert!(std::env::var_os("CI").is_none(), "{notice}");
    eprintln!("skipped: {notice}");
    None
}

/// Returns the script of axe-core, downloaded with npm; without npm, prints a notice.
fn axe(bench: &Bench) -> Option<String> {
    let npm = programs::installed("npm");
    let notice = |why: &str| {
        eprintln!("NOTICE: {AXE} could not be fetched ({why}); pages meet our own checks only");
    };
    let Some(npm) = npm else {
        notice("npm is not installed");
        return None;
    };
    let mut pack = Command::new(npm);
    pack.args(["pack", AXE, "--silent", "--fetch-retries", "1", "--fetch-timeout", "20000"])
        .current_dir(bench.path(""));
    let packed = pack.output().ok().filter(|output| output.status.success());
    let name = packed.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let Some(name) = name else {
        notice("npm pack failed");
        return None;
    };
    let unpacked = Command::new("tar")
        .args(["-xzf", &name, "package/axe.min.js"])
        .current_dir(bench.path(""))
        .status();
    assert!(unpacked.is_ok_and(|status| status.success()), "{name} is no package");
    Some(bench.read("package/axe.min.js"))
}

/// Asserts that the page is accessible in light and dark colours and at all widths, and saves
/// pictures.
pub fn assert_accessible(browser: &mut Browser, axe: Option<&str>, name: &str) {
    for scheme in ["light", "dark"] {
        for width in WIDTHS {
            browser.look(width, scheme);
            let found = browser.value(AUDIT);
            assert_eq!(found, Value::Array(vec![]), "{name}, {scheme}, {width}: {found:#}");
            if let Some(axe) = axe.filter(|_| AXE_AT.contains(&(scheme, width))) {
                let found = browser.value(&format!(
                    "(async () => {{ if (!window.axe) {{ {axe}\n }}
                       const {{ violations }} = await axe.run();
                       return violations.map((one) => [one.id, one.nodes[0].html.slice(0, 200)]);
                     }})()"
                ));
                assert_eq!(found, Value::Array(vec![]), "{name}, {scheme}, {width}: {found:#}");
            }
            if let Some(folder) = std::env::var_os("ARBITER_PICTURES") {
                let file = format!("{name}-{scheme}-{width}.png");
                let height = browser.value("document.documentElement.scrollHeight").as_u64();
                let height = height.expect("a height is a number").min(16_000) as u32;
                browser.picture(width, height, &PathBuf::from(folder).join(file));
            }
        }
    }
    if let Some(folder) = std::env::var_os("ARBITER_PICTURES") {
        browser.print(&PathBuf::from(folder).join(format!("{name}.pdf")));
    }
    browser.look(WIDTHS[0], "light");
}

#[track_caller]
fn assert_no_faults(browser: &mut Browser, home: &str) {
    let faults = browser.faults(home);
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Returns an SPRT of the bundled engine, whose games fill all parts of a report.
fn bundled(bench: &Bench) -> Plan<'_> {
    let engine = |name: &str, eval: &str| format!("name={name},cmd=bundled,eval={eval}");
    Plan::new(bench, "sprt", 40)
        .engine(engine("palimpsest", "palimpsest"))
        .engine(engine("material", "material"))
        .set("each", "nodes=300")
        .set("elo0", 0)
        .set("elo1", 200)
}

#[test]
fn a_report_can_be_read_and_stepped_through() {
    let Some(mut browser) = browser() else { return };
    let bench = Bench::new();
    bundled(&bench).run();
    let out = bench.path("run.html").display().to_string();
    let args = ["report", "--results", "results", "run", "--out", &out];
    bench.arbiter(args).finish().expect_code(0);
    let home = format!("file://{out}");
    browser.open(&home);
    let charts = browser.value("document.querySelectorAll('figure svg').length");
    assert!(charts.as_u64() > Some(4), "{charts} charts");
    // A reader follows a link to a section, and opens the figures of a chart.
    browser.click("nav a[href='#openings']");
    browser.wait_until("location.hash === '#openings'");
    browser.click("figure details summary");
    browser.wait_until("document.querySelector('figure details').open");
    step_through(&mut browser);
    let axe = axe(&bench);
    assert_accessible(&mut browser, axe.as_deref(), "report");
    assert_no_faults(&mut browser, &home);
}

/// Reads values from the charts of the page with keys: a key pressed in one chart also selects the
/// value in the other charts with the same axis.
fn read_charts(browser: &mut Browser) {
    let tips = "[...document.querySelectorAll('.tip:not([hidden])')].map((tip) => tip.textContent)";
    browser.value("document.querySelector('.chart[data-values]').focus()");
    browser.press("End");
    let end = browser.value(tips);
    let tip_text = end[0].as_str().expect("there is a tip").to_owned();
    assert!(tip_text.starts_with("games ") && tip_text.contains(": "), "{tip_text}");
    // Only the charts of LLR and Elo show a value.
    assert_eq!(end.as_array().map(Vec::len), Some(2), "{end}");
    browser.press("ArrowLeft");
    browser.wait_until(&format!("{tips}[0] !== '{tip_text}'"));
    assert_eq!(browser.value("document.querySelectorAll('.tip[aria-live=polite]').length"), 1);
    browser.press("Escape");
    browser.wait_until(&format!("{tips}.length === 0"));
    browser.hover(".chart[data-values] svg");
    browser.wait_until(&format!("{tips}.length === 2 && {tips}[0].startsWith('games ')"));
    let line = "document.querySelector('.chart[data-values] .now').hasAttribute('hidden')";
    assert_eq!(browser.value(line), false);
    browser.hover("h1");
    browser.wait_until(&format!("{tips}.length === 0 && {line}"));
    // The down-arrow key reads one row after the other, each with its name.
    browser.value("document.querySelector('.chart:has([data-rows])').focus()");
    browser.press("Home");
    let tip_text = browser.value(&format!("{tips}[0]"));
    browser.press("ArrowDown");
    browser.wait_until(&format!("{tips}.length === 1 && {tips}[0] !== {tip_text}"));
    let name = "document.querySelector('.chart:has([data-rows]) ~ details tbody tr:nth-child(2) th').textContent";
    browser.wait_until(&format!("{tips}[0].startsWith(`${{{name}}}: `)"));
    browser.press("Escape");
    browser.wait_until(&format!("{tips}.length === 0"));
    // Keys read the graphs of the current game, not the graphs of other games.
    browser.click("article.game:has(.chart) [data-step=first]");
    browser.press("End");
    browser.wait_until(&format!("{tips}.length === 2 && {tips}[0].startsWith('move ')"));
    browser.hover("article.game .chart svg");
    browser.wait_until(&format!("{tips}.length === 2"));
    browser.hover("h1");
    browser.wait_until(&format!("{tips}.length === 0"));
}

/// Steps through the first game of the page, with its buttons, with keys, and with a click on a
/// move.
fn step_through(browser: &mut Browser) {
    let label = "document.querySelector('article.game .board').ariaLabel";
    let current =
        "document.querySelector('article.game').querySelector('.move[aria-current]')?.dataset.move";
    browser.click("article.game [data-step=first]");
    browser.wait_until(&format!("{label}.startsWith('Board after the start')"));
    assert_eq!(browser.value(current), Value::Null);
    browser.click("article.game [data-step=on]");
    browser.wait_until(&format!("{current} === '1'"));
    browser.press("ArrowRight");
    browser.wait_until(&format!("{current} === '2'"));
    let pieces = browser
        .value("document.querySelectorAll('article.game .board')[0].querySelectorAll('b').length");
    assert!(pieces.as_u64() >= Some(30), "{pieces} pieces after two plies");
    browser.press("ArrowLeft");
    browser.wait_until(&format!("{current} === '1'"));
    let moves =
        browser.value("document.querySelector('article.game').querySelectorAll('.move').length");
    let moves = moves.as_u64().expect("a length is a number");
    // Some games of the hand-written runs are short.
    let some = moves.min(5);
    browser.click(&format!("article.game .move[data-move='{some}']"));
    browser.wait_until(&format!("{current} === '{some}'"));
    browser.press("End");
    browser.wait_until(&format!("{current} === '{moves}'"));
}

#[test]
fn every_kind_of_run_is_fit_for_all_readers() {
    let Some(mut browser) = browser() else { return };
    let bench = Bench::new();
    rich::fill(&bench.path("results"));
    rich::add_tournaments(&bench.path("results"));
    rich::add_commits(&bench.path("results"));
    let axe = axe(&bench);
    let out = format!("{}/", bench.path("pages").display());
    let runs = ["rich", "tournament", "ablation", "tuning", "single", "killed"];
    // The live pages of these runs are not opened, because they differ only in the report.
    let more = ["rejected", "undecided", "swiss", "knockout", "ladder"];
    let args =
        [&["report", "--results", "results"], &runs[..], &more[..], &["--out", &out]].concat();
    bench.arbiter(args).finish().expect_code(0);
    for run in more {
        browser.open(&format!("file://{out}{run}.html"));
        let verdict = browser.value("document.querySelector('.verdict').textContent");
        let verdict = verdict.as_str().expect("there is a verdict");
        expect_next(&format!("{run}: {verdict}"));
        assert_accessible(&mut browser, axe.as_deref(), &format!("file-{run}"));
        assert_no_faults(&mut browser, "file://");
    }
    let site = Site::start(&bench, &["--read-only"]);
    for run in runs {
        let home = format!("file://{out}{run}.html");
        browser.open(&home);
        assert_accessible(&mut browser, axe.as_deref(), &format!("file-{run}"));
        step_through(&mut browser);
        if run == "rich" {
            read_charts(&mut browser);
            browser.click("#lint ~ .scroll tbody a");
            browser.wait_until("location.hash.startsWith('#lint-0-')");
        }
        assert_no_faults(&mut browser, &home);
        browser.open(&site.url(&format!("/runs/{run}")));
        browser.wait_until("document.getElementById('misjudged-games') !== null");
        assert_accessible(&mut browser, axe.as_deref(), &format!("live-{run}"));
        assert_no_faults(&mut browser, &site.url("/"));
    }
    browser.open(&site.url("/compare?run=commit-1&run=commit-2&run=rich"));
    assert_accessible(&mut browser, axe.as_deref(), "compare-three");
    site.end();
}

#[test]
fn a_run_is_watched_and_steered_until_its_end() {
    let Some(mut browser) = browser() else { return };
    let bench = Bench::new();
    let site = Site::start(&bench, &[]);
    let home = site.url("/");
    let token = site.token.clone().expect("it is kept");
    browser.open(&format!("{home}#token={token}"));
    // The token disappears from the address bar immediately.
    browser.wait_until("location.hash === ''");
    browser.wait_until("document.getElementById('link').textContent === 'live'");
    // The games are slow, so that the run is still in progress when it is paused and resumed, even
    // on a busy machine.
    let running = Plan::new(&bench, "match", 12)
        .puppet("A", "--seed 1 --delay-ms 15")
        .puppet("B", "--seed 2 --delay-ms 15")
        .set("max-moves", 60)
        .set("about", "a try")
        .start();
    browser.wait_until("document.querySelector('#run-run [href=\"/runs/run\"]') !== null");
    // The click is repeated, because the row of the run may be replaced at this moment.
    let path = "location.pathname === '/runs/run' && document.readyState === 'complete'";
    wait_for("the page of the run is there", || {
        if browser.holds("location.pathname === '/' && document.readyState === 'complete'") {
            browser.click("#run-run a");
        }
        browser.holds(path).then_some(())
    });
    wait_for_pairs(&bench, 1);
    // A variable of the page shows that the page is never reloaded.
    browser.value("window.mine = 'still here'");
    browser.wait_until("document.querySelectorAll('.boards .board').length > 0");
    let state = "document.querySelector('.standing').dataset.state";
    browser.click_until("[data-command=pause]", &format!("{state} === 'paused'"));
    browser.wait_until("document.querySelector('[data-command=pause]').disabled");
    let axe = axe(&bench);
    assert_accessible(&mut browser, axe.as_deref(), "run");
    browser.click_until("[data-command=resume]", &format!("{state} === 'running'"));
    browser.wait_until(&format!("{state} === 'complete'"));
    running.finish().expect_code(0);
    browser.wait_until("document.getElementById('steer').hidden");
    browser
        .wait_until("document.getElementById('part-conclusion').textContent.includes('24 games')");
    // An opened element stays open.
    assert_eq!(browser.value("window.mine"), "still here");
    assert_accessible(&mut browser, axe.as_deref(), "run-ended");
    assert_no_faults(&mut browser, &home);
    site.end();
    bench.wait_until_quiet();
}

#[test]
fn a_test_is_started_and_drained() {
    let Some(mut browser) = browser() else { return };
    let bench = Bench::new();
    let puppet = bench.puppet("slow", "--seed 1 --delay-ms 20", "");
    bench.arbiter(["engines", "add", "slow", &puppet]).finish().expect_code(0);
    let site = Site::start(&bench, &["--start"]);
    browser.open(&site.url("/"));
    browser.wait_until("document.body.textContent.includes('No store yet')");
    let axe = axe(&bench);
    assert_accessible(&mut browser, axe.as_deref(), "list-empty");
    browser.click("#start summary");
    browser.value("document.querySelector('#start [name=limit]').value = 'nodes=9'");
    let fill = |browser: &mut Browser, field: &str, text: &str| {
        browser.click(&format!("#start [name={field}]"));
        browser.type_in(text);
    };
    for (field, text) in [("dev", "bundled"), ("base", "slow"), ("name", "first"), ("token", "no")]
    {
        fill(&mut browser, field, text);
    }
    browser.click("#start button");
    let refused = "document.getElementById('answer').textContent.startsWith('This command requires the token')";
    browser.wait_until(refused);
    assert_accessible(&mut browser, axe.as_deref(), "start-refused");
    fill(&mut browser, "token", site.token.as_deref().expect("it is kept"));
    browser.click("#start button");
    // On a very busy machine, the reply comes before the run exists. The run then appears in the
    // list.
    wait_for("the page of the run is there", || {
        let link = "location.pathname === '/' && document.querySelector('#run-first a') !== null";
        if browser.holds(link) {
            browser.value("document.querySelector('#run-first a')?.click()");
        }
        let path = "location.pathname === '/runs/first' && document.readyState === 'complete'";
        browser.holds(path).then_some(())
    });
    browser.wait_until("document.querySelectorAll('.boards .board').length > 0 && document.querySelectorAll('.chart').length > 2");
    // The tooltip of a chart stays visible when the page changes.
    let tip = "document.querySelector('.tip:not([hidden])')";
    wait_for("a chart is read", || {
        browser.value("document.querySelector('.chart').focus()");
        browser.press("End");
        browser.holds(&format!("{tip} !== null")).then_some(())
    });
    browser.value(&format!("{tip}.mine = true"));
    browser.wait_until(&format!("{tip} && !{tip}.mine"));
    // axe-core is not used here, because it takes long, and the page changes in the meantime.
    assert_accessible(&mut browser, None, "run-playing");
    // The verdict comes first, then the controls.
    let order = "[...document.querySelectorAll('#part-conclusion, #part-state, #steer, #parts')].map((part) => part.id).join(' ')";
    assert_eq!(browser.value(order), "part-conclusion part-state steer parts");
    let drained = "document.querySelector('.standing').dataset.state === 'interrupted'";
    browser.click_until("[data-command=drain]", drained);
    // The browser reports the rejected request (401). It may also report clicks before or after the
    // run (409), but nothing else.
    let mut faults = browser.faults(&site.url("/"));
    faults.retain(|fault| !(fault.contains("409") && fault.contains("/drain")));
    assert!(faults.len() == 1 && faults[0].contains("401"), "{faults:#?}");
    site.end();
    bench.wait_until_quiet();
}

#[test]
fn the_list_is_filtered_and_runs_are_compared() {
    let Some(mut browser) = browser() else { return };
    let bench = Bench::new();
    bundled(&bench).set("name", "first").set("about", "with all").run();
    bundled(&bench).set("name", "second").set("pairs", 4).set("seed", 2).run();
    let site = Site::start(&bench, &[]);
    let home = site.url("/");
    browser.open(&home);
    let is_list = |query: &str, runs: usize| {
        format!(
            "location.search === '{query}' && document.querySelectorAll('tbody tr').length === {runs} && \
            document.readyState === 'complete'"
        )
    };
    browser.wait_until(&is_list("", 2));
    browser.click("[name=q]");
    browser.type_in("with ALL");
    browser.click(".filter button");
    browser.wait_until(&is_list("?q=with+ALL", 1));
    assert_eq!(browser.value("document.querySelector('[name=q]').value"), "with ALL");
    browser.open(&format!("{home}?kind=match"));
    browser.wait_until("document.body.textContent.includes('No runs found')");
    let axe = axe(&bench);
    assert_accessible(&mut browser, axe.as_deref(), "list-none");
    browser.open(&home);
    browser.wait_until(&is_list("", 2));
    assert_accessible(&mut browser, axe.as_deref(), "list");
    browser.click("#run-first input");
    browser.click("#run-second input");
    browser.click("#compare button");
    browser.wait_until("document.title.startsWith('Comparison of 2 runs')");
    browser.wait_until("document.readyState === 'complete'");
    assert_accessible(&mut browser, axe.as_deref(), "compare");
    browser.open(&site.url("/cluster"));
    browser.wait_until("document.body.textContent.includes('Start arbiter serve with --on')");
    assert_accessible(&mut browser, axe.as_deref(), "cluster-none");
    // The page of a finished run is a report with its games.
    browser.open(&site.url("/runs/first"));
    step_through(&mut browser);
    assert_accessible(&mut browser, axe.as_deref(), "past");
    assert_no_faults(&mut browser, &home);
    // A reader without the token can enter it, but a finished run has no controls.
    assert_eq!(browser.value("document.getElementById('steer').hidden"), true);
    browser.open(&site.url("/runs/none"));
    browser.wait_until("document.title.startsWith('Not Found')");
    assert_accessible(&mut browser, axe.as_deref(), "error");
    site.end();
}

#[test]
fn the_games_of_a_run_are_chosen_and_stepped_through() {
    let Some(mut browser) = browser() else { return };
    let bench = Bench::new();
    bundled(&bench).set("each", "tc=5+0.02").set("pairs", 2).run();
    let axe = axe(&bench);
    let site = Site::start(&bench, &["--read-only"]);
    browser.open(&site.url("/runs/run"));
    let is_at = |what: &str| {
        format!("document.title.startsWith('{what}') && document.readyState === 'complete'")
    };
    browser.click("a[href='/runs/run/games']");
    browser.wait_until(&is_at("Games of run"));
    browser.click("[name=opening]");
    browser.type_in("2");
    browser.click("form button");
    browser.wait_until(&format!("location.search.includes('opening=2') && {}", is_at("Games")));
    assert_eq!(browser.value("document.querySelectorAll('tbody tr').length"), 2);
    assert_accessible(&mut browser, axe.as_deref(), "games");
    browser.click("tbody a");
    browser.wait_until(&is_at("Game 2.1 of run"));
    // Keys step through the game without a click.
    let current = "document.querySelector('.move[aria-current]')?.dataset.move";
    browser.press("ArrowRight");
    browser.wait_until(&format!("{current} === '1'"));
    step_through(&mut browser);
    browser.open(&format!("{}#ply-2", site.url("/runs/run/games/2.1?opening=2&page=1")));
    browser.wait_until(&format!("{current} === '2'"));
    // There are graphs of evaluations and clocks, each with a marker at the move.
    assert_eq!(browser.value("document.querySelectorAll('.graphs .now').length"), 2);
    let moves = browser.value("document.querySelectorAll('.move').length").as_u64().unwrap();
    browser.click(".graphs svg");
    browser.wait_until(&format!("Math.abs({current} - {moves} / 2) <= {moves} / 5"));
    browser.value("location.hash = '#ply-3'");
    browser.wait_until(&format!("{current} === '3'"));
    let link = "document.querySelector('.here').getAttribute('href')";
    assert_eq!(browser.value(link), "#ply-3");
    assert_accessible(&mut browser, axe.as_deref(), "game");
    let key = "new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true })";
    browser.value(&format!("document.querySelector('article.game').dispatchEvent({key})"));
    browser.wait_until(&is_at("Game 2.2 of run"));
    assert_no_faults(&mut browser, &site.url("/"));
    site.end();
}
