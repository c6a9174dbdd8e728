//! Tests of the live page over HTTP: its content during a run, and the requests that it obeys.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::resume::{resume, slow, uninterrupted, wait_for_pairs};
use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};
use crate::support::site::{Site, outline, page_text};
use crate::support::snapshot::{expect_next, without_figures, without_machine};
use crate::support::{phrases, programs, store, wait_for};

/// Plays a complete run of puppets with random moves.
fn play_random(bench: &Bench, name: &str, seed: u32) {
    Plan::new(bench, "sprt", 6)
        .puppet("P&0", &format!("--seed {seed}"))
        .puppet("P&1", "--seed 12")
        .set("name", name)
        .run();
}

#[test]
fn a_run_is_followed_from_before_its_start_to_its_end() {
    let bench = Bench::new();
    let site = Site::start(&bench, &[]);
    expect_next(&page_text(&site.get("/").body));
    let mut list = site.events("/events/runs");
    let running = slow(&bench).start();
    let row = list.wait_for("run-run", &["badge running"]);
    assert!(row.contains("A v B"), "{row}");
    let mut events = site.events("/events/runs/run");
    let boards = events.wait_for("part-boards", &["class=\"board\"", " marked\""]);
    assert!(boards.contains(">A<"), "{boards}");
    expect_next(&page_text(&events.wait_for("part-state", &["data-phase=\"ended\""])));
    list.wait_for("run-run", &[">24</td>"]);
    // A page that is loaded now has the same content.
    let page = site.get("/runs/run").body;
    expect_next(&outline(&page));
    // Viewers change nothing.
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
    store::assert_consistent(&bench.path("results"));
    site.end();
}

#[test]
fn the_list_is_filtered_by_the_server() {
    let bench = Bench::new();
    play_random(&bench, "one", 11);
    play_random(&bench, "two", 13);
    let site = Site::start(&bench, &["--read-only"]);
    let found = |query: &str| {
        let page = wait_for("all runs are read", || {
            let page = site.get(&format!("/?{query}")).body;
            (!page.contains("class=\"patience\"")).then_some(page)
        });
        ["one", "two"].map(|run| page.contains(&format!("id=\"run-{run}\"")))
    };
    for (query, expected) in [
        ("", [true, true]),
        ("q=^O", [true, false]),
        ("q=%26amp%3B", [false, false]),
        ("q=P%260&kind=sprt&state=ended&engine=P%261", [true, true]),
        ("kind=match", [false, false]),
        ("state=running", [false, false]),
        ("engine=P", [false, false]),
        ("page=2", [false, false]),
    ] {
        assert_eq!(found(query), expected, "{query}");
    }
    // The command line accepts the same filters.
    let wanted = ["--filter", "^O", "--kind", "sprt", "--state", "ended", "--engine", "P&1"];
    let args = [&["results", "list", "--results", "results"][..], &wanted].concat();
    let listed = bench.arbiter(args).finish().expect_code(0).stdout;
    assert!(listed.contains("one") && !listed.contains("two"), "{listed}");
    let page = site.get("/?q=(").body;
    assert!(page.contains("part-standing") && !page.contains("run-one"), "{page}");
    // Each list receives its own changes.
    let mut list = site.events("/events/runs?q=three");
    play_random(&bench, "three", 15);
    let row = list.wait_for("run-three", &["class=\"badge "]);
    assert!(row.contains("/runs/three"), "{row}");
    site.end();
    // A run that breaks every reader is still listed.
    let broken = "UPDATE runs SET plan = json_set(plan, '$.engines', json('[]')) WHERE run = 'one'";
    store::change(&bench.path("results"), broken);
    let args = ["results", "list", "--results", "results"];
    // The list reports the panic too.
    let listed = bench.arbiter(args).finish();
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let site = Site::start(&bench, &["--read-only"]);
    let page = wait_for("all runs are read", || {
        let page = site.get("/").body;
        (!page.contains("class=\"patience\"")).then_some(page)
    });
    expect_next(&without_figures(&without_machine(&listed.stdout)));
    expect_next(&without_figures(&page_text(&page)));
    store::change(&bench.path("results"), "UPDATE runs SET plan = '{}' WHERE run = 'two'");
    let log = bench.arbiter(["results", "log", "--results", "results"]).finish().stderr;
    expect_next(log.lines().last().expect("it says why"));
    site.end();
}

#[test]
fn games_are_listed_opened_and_downloaded_as_pgn() {
    let bench = Bench::new();
    play_random(&bench, "one", 11);
    let pgn = bench.read("games.pgn");
    let site = Site::start(&bench, &["--read-only"]);
    let list = |query: &str| site.get(&format!("/runs/one/games{query}")).body;
    let all = list("");
    assert!(all.contains("1 – 12 of 12 ") && all.contains("/runs/one/games/6.2\""), "{all}");
    // The lengths are those in the PGN.
    let plies =
        pgn.lines().filter_map(|line| line.strip_prefix("[PlyCount \"")?.strip_suffix("\"]"));
    let lengths: Vec<u32> = plies.map(|plies| plies.parse::<u32>().unwrap().div_ceil(2)).collect();
    let longest = *lengths.iter().max().expect("there are games");
    let count = lengths.iter().filter(|length| **length == longest).count();
    let few = list(&format!("?from={longest}&engine=P%260&page=1"));
    assert!(few.contains(&format!("1 – {count} of {count} ")), "{few}");
    assert!(list(&format!("?to={}&ending=", longest - 1)).contains(&format!("of {} ", 12 - count)));
    for none in ["?ending=crash", "?opening=zz"] {
        assert!(!list(none).contains("/runs/one/games/"), "{none}");
    }
    let answer = site.get("/runs/one/games.pgn");
    assert!(answer.head.contains("content-type: application/vnd.chess-pgn"), "{}", answer.head);
    assert_eq!(answer.body, pgn);
    let of_one_opening = site.get("/runs/one/games.pgn?opening=2").body;
    let one = site.get("/runs/one/games/2.1.pgn").body;
    let other = site.get("/runs/one/games/2.2.pgn").body;
    assert!(one.contains("[Round \"2.1\"]") && pgn.contains(&one), "{one}");
    assert_eq!(of_one_opening, format!("{one}{other}"));
    let page = site.get("/runs/one/games/2.1?opening=2").body;
    let next = "rel=\"next\" href=\"/runs/one/games/2.2?opening=2\"";
    assert!(page.contains(next) && !page.contains("rel=\"prev\""), "{page}");
    for (path, code) in [
        ("/runs/one/games/7.1", 404),
        ("/runs/one/games/1.3", 404),
        ("/runs/one/games/0.1.pgn", 404),
        ("/runs/none/games.pgn", 404),
        ("/runs/one/games?engine=none", 400),
        ("/runs/one/games.pgn?from=-1", 400),
        ("/runs/one/games/1.1?swing=x", 400),
    ] {
        assert_eq!(site.get(path).code, code, "{path}");
    }
    assert_eq!(site.get(&format!("/runs/one/games?{}", "x".repeat(2_000))).code, 400);
    site.end();
}

#[test]
fn control_requires_the_token() {
    let bench = Bench::new();
    let site = Site::start(&bench, &[]);
    let running = slow(&bench).start();
    wait_for_pairs(&bench, 1);
    let token = site.token.clone().expect("it is kept");
    assert_eq!(token.len(), 64);
    let bearer = format!("Bearer {token}");
    let right = ("Authorization", bearer.as_str());
    let pause = |headers: &[(&str, &str)]| site.ask("POST", "/runs/run/pause", headers).code;
    assert_eq!(pause(&[]), 401);
    assert_eq!(pause(&[("Authorization", &format!("Bearer {}0", &token[1..]))]), 401);
    assert_eq!(pause(&[right, ("Origin", "http://evil.example")]), 403);
    assert_eq!(pause(&[right, ("Origin", "null")]), 403, "a page in a frame or of a file");
    assert_eq!(pause(&[right, ("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(pause(&[right, ("Sec-Fetch-Site", "same-site")]), 403, "another port");
    assert_eq!(pause(&[right, ("Host", "evil.example")]), 421);
    let state = site.get("/runs/run").body;
    assert!(state.contains("data-state=\"running\""), "nobody may have paused it");
    let origin = site.url("");
    assert_eq!(pause(&[right, ("Origin", &origin), ("Sec-Fetch-Site", "same-origin")]), 200);
    let mut events = site.events("/events/runs/run");
    events.wait_for("part-state", &["data-state=\"paused\""]);
    expect_next(&site.command("/runs/run/resume").body);
    let [speed, rest] = phrases::PACE;
    let state = events.wait_for("part-state", &["data-state=\"running\"", speed, rest]);
    assert!(!state.contains("NaN"), "{state}");
    // The page lists the commands to the run, newest first.
    let [paused, resumed] = phrases::EVENTS;
    let events_part = events.wait_for("part-events", &[paused, resumed]);
    assert!(events_part.find(resumed) < events_part.find(paused), "{events_part}");
    assert_eq!(site.command("/runs/run/explode").code, 404);
    assert_eq!(site.command("/runs/other/pause").code, 404);
    let stopped = site.command("/runs/run/stop");
    expect_next(&without_figures(&stopped.body));
    let finished = running.finish().expect_code(75);
    assert!(finished.stderr.contains("--resume"), "{finished:#?}");
    bench.wait_until_quiet();
    events.wait_for("part-state", &["data-phase=\"unfinished\""]);
    assert_eq!(site.command("/runs/run/pause").code, 409);
    // An abandoned pair is played again.
    let running = resume(&bench);
    events.wait_for("part-state", &["data-phase=\"ended\""]);
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
    site.end();
}

/// Registers an engine `silent`, which replies as long as the file `asleep` does not exist.
fn add_silent(bench: &Bench) {
    let (asleep, puppet) = (bench.path("asleep"), programs::puppet().display());
    let text = format!("#!/bin/sh\n[ -e {} ] && exec sleep 60\nexec {puppet}\n", asleep.display());
    let silent = bench.write("silent", text);
    std::fs::set_permissions(&silent, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    let silent = silent.display().to_string();
    bench.arbiter(["engines", "add", "silent", &silent]).finish().expect_code(0);
}

/// Returns the request that the form sends to start a test.
fn ask(dev: &str, base: &str, name: &str) -> String {
    format!("/start?dev={dev}&base={base}&limit=nodes%3D9&elo0=0&elo1=200&pairs=20&name={name}")
}

#[test]
fn the_token_allows_tests_but_no_other_programs() {
    let bench = Bench::new();
    let puppet = bench.puppet("slow", "--seed 1 --delay-ms 20", "");
    bench.arbiter(["engines", "add", "slow", &puppet]).finish().expect_code(0);
    add_silent(&bench);
    let closed = Site::start(&bench, &[]);
    assert!(!closed.get("/").body.contains("id=\"start\""));
    assert_eq!(closed.command("/start?dev=bundled").code, 404);
    closed.end();
    let site = Site::start(&bench, &["--start"]);
    assert!(site.get("/").body.contains("id=\"start\""));
    let first = ask("bundled", "slow", "first");
    let bearer = format!("Bearer {}", site.token.as_deref().expect("it is kept"));
    let right = ("Authorization", bearer.as_str());
    let post = |headers: &[(&str, &str)]| site.ask("POST", &first, headers).code;
    assert_eq!((post(&[]), post(&[("Authorization", "Bearer x")])), (401, 401));
    assert_eq!(post(&[right, ("Origin", "http://evil.example")]), 403);
    assert_eq!(post(&[right, ("Sec-Fetch-Site", "cross-site")]), 403);
    let program = bench.write("sh", "#!/bin/sh\ntouch was-here\n").display().to_string();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    for word in ["-x", "./sh", &program, "cmd%3Dsh", "cmd%3D./sh", "slow,cmd%3D./sh", "a/../sh", ""]
    {
        let reply = site.command(&ask("bundled", word, "bad"));
        assert_eq!(reply.code, 400, "{word}: {reply:?}");
        assert!(!bench.path("results/bad.log").exists(), "{word}");
    }
    // A name that is not a registered engine means a revision, not a program in the search path.
    let mut attempts = 0;
    let reply = wait_for("it is refused", || {
        attempts += 1;
        let reply = site.command(&ask("bundled", "sh", "bad"));
        (reply.code == 400).then_some(reply)
    });
    assert!(reply.body.starts_with("error"), "{reply:?}");
    // A client that got a reply knows the reason, so no file contains it; a client without a reply
    // finds the reason in the file.
    assert!(attempts > 1 || !bench.path("results/bad.log").exists());
    assert!(!bench.path("was-here").exists());
    let reply = site.command(&first);
    // The run exists immediately, except on a very busy machine.
    let is_there = reply.code == 201 && reply.head.contains("location: /runs/first");
    assert!(is_there || reply.code == 202, "{reply:?}");
    let second = site.command(&ask("bundled", "bundled:material", "second"));
    assert!(second.code == 409 && second.body.contains("first"), "{second:?}");
    // The run continues without the server.
    site.end();
    let site = Site::start(&bench, &["--start"]);
    site.events("/events/runs/first").wait_for("part-state", &["max=\"20\""]);
    let second = site.command(&ask("bundled", "bundled:material", "second"));
    assert!(second.code == 409 && second.body.contains("first"), "{second:?}");
    assert_eq!(site.command("/runs/first/stop").code, 200);
    wait_for("there is one of that name", || (site.command(&first).code == 400).then_some(()));
    assert!([201, 202].contains(&site.command(&ask("bundled", "bundled:material", "second")).code));
    site.events("/events/runs/second").wait_for("part-state", &["data-phase=\"ended\""]);
    assert!(bench.read("results/second.log").contains("material"));
    // A test whose run has not started is also stopped.
    bench.write("asleep", "");
    let reply = site.command(&ask("bundled", "silent", "third"));
    assert_eq!(reply.code, 202, "{reply:?}");
    let stopped = site.command("/runs/third/stop");
    assert_eq!(stopped.code, 200, "{stopped:?}");
    expect_next(&stopped.body);
    // A log that is a link is not written.
    std::os::unix::fs::symlink(bench.write("other", ""), bench.path("results/link.log"))
        .expect("the folder is there");
    wait_for("it has ended", || {
        let reply = site.command(&ask("bundled", "bundled:material", "link"));
        (reply.code == 400 && reply.body.contains("link.log")).then_some(())
    });
    assert_eq!(bench.read("other"), "");
    site.end();
}

#[test]
fn the_engines_of_a_started_test_do_not_see_secrets() {
    let bench = Bench::new();
    let (seen, puppet) = (bench.path("seen"), programs::puppet().display());
    let text = format!("#!/bin/sh\nenv >> {}\nexec {puppet}\n", seen.display());
    let nosy = bench.write("nosy", text);
    std::fs::set_permissions(&nosy, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    let nosy = nosy.display().to_string();
    bench.arbiter(["engines", "add", "nosy", &nosy]).finish().expect_code(0);
    std::fs::remove_file(&seen).expect("the engine was checked when it was added");
    let token = "a-token-of-mine-1";
    let variables = format!("ARBITER_TOKEN={token} ARBITER_NATS_TOKEN={token} OTHER=passed");
    let site = Site::start_in(&bench, &variables, &["--start"]);
    let bearer = format!("Bearer {token}");
    let reply = site.ask("POST", &ask("nosy", "bundled", "run"), &[("Authorization", &bearer)]);
    assert!([201, 202].contains(&reply.code), "{reply:?}");
    site.events("/events/runs/run").wait_for("part-state", &["data-phase=\"ended\""]);
    let seen = bench.read("seen");
    assert!(seen.contains("OTHER=passed") && !seen.contains(token), "{seen}");
    site.end();
}

#[test]
fn a_server_ends_in_time_though_a_start_waits() {
    let bench = Bench::new();
    add_silent(&bench);
    bench.write("asleep", "");
    let site = Site::start(&bench, &["--start"]);
    let reserved = site.command(&ask("bundled", "silent", "latest"));
    assert_eq!(reserved.code, 400, "{reserved:?}");
    expect_next(&reserved.body);
    let bearer = format!("Bearer {}", site.token.as_deref().expect("it is kept"));
    let address = ask("bundled", "silent", "first");
    let _waiting = site.request("POST", &address, &[("Authorization", &bearer)]);
    wait_for("it is being started", || bench.path("results/first.log").exists().then_some(()));
    let signalled = Instant::now();
    site.end();
    assert!(signalled.elapsed() < Duration::from_secs(3), "{:?}", signalled.elapsed());
}

#[test]
fn every_reply_has_security_headers() {
    let bench = Bench::new();
    play_random(&bench, "one", 11);
    play_random(&bench, "two", 13);
    let site = Site::start(&bench, &["--read-only", "--host", "lab.example"]);
    assert_eq!(site.token, None);
    let pages = ["/", "/runs/one", "/compare?run=one&run=two", "/assets/live.js"];
    for path in pages {
        let reply = site.get(path);
        assert_eq!(reply.code, 200, "{path}: {reply:?}");
        for part in ["<style", " style=", "http://", "https://"] {
            let local_body = reply.body.replace("http://www.w3.org/2000/svg", "");
            assert!(!local_body.contains(part), "{part} in {path}");
        }
    }
    let lost =
        ["/runs/three", "/runs/..%2Fone", "/assets/none.js", "/nowhere", "/runs/three/report.html"];
    for path in pages.iter().chain(&lost) {
        let reply = site.get(path);
        assert_eq!(reply.code, if lost.contains(path) { 404 } else { 200 }, "{path}: {reply:?}");
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "x-content-type-options: nosniff",
            "frame-ancestors 'none'",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(reply.head.contains(header), "{header} for {path}: {reply:?}");
        }
        assert!(!reply.head.contains("access-control-"), "{reply:?}");
        assert_eq!(site.ask("GET", path, &[("Host", "evil.example")]).code, 421, "{path}");
        assert_ne!(site.ask("GET", path, &[("Host", "lab.example:80")]).code, 421, "{path}");
    }
    assert_eq!((site.get("/compare").code, site.get("/compare?run=x").code), (400, 404));
    let token = ("Authorization", "Bearer 0123456789abcdef");
    assert_eq!(site.ask("POST", "/runs/one/stop", &[token]).code, 403);
    assert!(!site.get("/runs/one").body.contains("data-command"));
    let names = site.get("/compare?run=one&run=two").body;
    assert!(names.contains("P&amp;0 v P&amp;1") && names.contains(">two<"), "{names}");
    // The report equals the file that `arbiter report` writes, but is isolated from the pages of
    // the server.
    let report = site.get("/runs/one/report.html");
    assert!(report.head.contains("sandbox allow-scripts"), "{}", report.head);
    let out = bench.path("one.html").display().to_string();
    let args = ["report", "--results", "results", "one", "--out", &out];
    bench.arbiter(args).finish().expect_code(0);
    assert_eq!(report.body, bench.read("one.html"));
    site.end();
}

#[test]
fn a_token_can_be_given_and_must_be_one() {
    let bench = Bench::new();
    let file = bench.write("token", "a-token-of-mine-1\nnotes\n").display().to_string();
    let site = Site::start(&bench, &["--token-file", &file]);
    assert_eq!(site.token, None, "who gave it knows it");
    let steer = |token: &str| {
        let bearer = format!("Bearer {token}");
        site.ask("POST", "/runs/run/pause", &[("Authorization", &bearer)]).code
    };
    assert_eq!((steer("a-token-of-mine-1"), steer("a-token-of-mine-2")), (404, 401));
    site.end();
    bench.write("token", "short\n");
    let serve = |args: &[&str]| bench.arbiter([&["serve"], args].concat()).finish();
    serve(&["--token-file", &file]).expect_error(3);
    let lost = bench.path("lost").display().to_string();
    serve(&["--token-file", &lost]).expect_error(3);
    serve(&["--token-file", &file, "--read-only"]).expect_code(2);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = taken.local_addr().expect("it has an address").to_string();
    serve(&["--listen", &address]).expect_error(7);
    serve(&["--results", "/proc/none"]).expect_error(7);
    serve(&["--results", &file]).expect_error(7);
}

#[test]
fn a_generated_token_is_in_a_private_file() {
    let bench = Bench::new();
    let site = Site::start(&bench, &[]);
    let token = site.token.clone().expect("it is kept");
    assert!(!bench.read("serve.log").contains(&token), "whoever reads the log could steer");
    let file = std::fs::metadata(bench.path("results/serve.token")).expect("the file is there");
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    site.end();
    let site = Site::start(&bench, &["--log-format", "json"]);
    assert_eq!(site.token.as_deref(), Some(token.as_str()), "pages go on after a restart");
    site.end();
}

#[test]
fn a_killed_run_is_shown_as_unfinished() {
    let bench = Bench::new();
    let running = slow(&bench).start();
    wait_for_pairs(&bench, 2);
    let site = Site::start(&bench, &[]);
    let mut events = site.events("/events/runs/run");
    events.wait_for("part-state", &["data-phase=\"running\""]);
    running.signal(rustix::process::Signal::KILL);
    assert_eq!(running.finish().code, None);
    events.wait_for("part-state", &["data-phase=\"unfinished\""]);
    wait_for("its page says so", || {
        site.get("/runs/run").body.contains("data-phase=\"unfinished\"").then_some(())
    });
    site.end();
    bench.wait_until_quiet();
}

#[test]
fn healthz_checks_that_the_store_is_readable() {
    let bench = Bench::new();
    let site = Site::start(&bench, &["--read-only"]);
    let healthy = site.get("/healthz");
    assert_eq!(healthy.code, 200, "{}", healthy.body);
    assert!(healthy.body.contains(r#""reason":null"#), "{}", healthy.body);
    bench.write("results/arbiter.db", "this is no store, and longer than its header would be");
    let ill = site.get("/healthz");
    assert_eq!(ill.code, 503, "{}", ill.body);
    expect_next(&ill.body);
    site.end();
}

/// Returns whether the peer has closed a connection without sending anything.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a socket can be asked");
    match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    }
}

#[test]
fn idle_connections_block_no_client() {
    let bench = Bench::new();
    let site = Site::start(&bench, &[]);
    let connect = |_| TcpStream::connect(&site.address).expect("the server listens");
    // Most idle connections make room for new connections immediately; a timeout closes the rest.
    let idle: Vec<TcpStream> = (0..600).map(connect).collect();
    let slow: Vec<TcpStream> = (0..150).map(connect).collect();
    let deaf = connect(0);
    let request = format!("GET /assets/live.js HTTP/1.1\r\nHost: {}\r\n\r\n", site.address);
    let answer = site.get("/assets/live.js").body.len();
    (&deaf).write_all(request.repeat(20_000_000 / answer).as_bytes()).expect("the server reads");
    let started = Instant::now();
    assert_eq!(site.get("/").code, 200);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let mut list = site.events("/events/runs");
    // Connections that make room are closed a moment later.
    wait_for("no more than 256 are connected", || {
        (150..=256).contains(&site.connections()).then_some(())
    });
    slow.iter().for_each(|mut slow| slow.write_all(b"GET / HTTP/1.1\r\nX: ").expect("it is open"));
    wait_for("the idle and the slow are gone", || {
        slow.iter().for_each(|mut slow| drop(slow.write_all(b"x")));
        idle.iter().chain(&slow).all(is_closed).then_some(())
    });
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(site.connections(), 2, "that of the page, and that of who does not read");
    wait_for("who does not read is gone", || (site.connections() == 1).then_some(()));
    // The page has received nothing in the meantime, but still gets events.
    play_random(&bench, "one", 11);
    list.wait_for("run-one", &["class=\"badge "]);
    site.end();
}
