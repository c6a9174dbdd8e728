use super::*;
use crate::compare::{ComparedRun, comparison};
use arbiter_game::outcome::Termination;
use arbiter_plan::{Plan, Request, RunKind};
use arbiter_report::verdict_sentence;
use arbiter_report::{Board, Boards, ListedRun, Recent, RecentEvent, Running, Side, Summary};
use arbiter_run::{GameTally, Pace, PairTally, RunEnd, RunInput, RunState, RunStatus};
use arbiter_stats::{DEFAULT_ELO1, GameResult};
use arbiter_store::RunHead;

/// Returns the summary of an SPRT after `pairs` pairs. The first engine won most of the pairs.
/// Names contain markup.
fn summary(run: &str, pairs: u64) -> Summary {
    let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
    let mut state = RunState::new(plan.schedule(), plan.sprt);
    for pair in 0..pairs {
        let result = if pair % 4 == 0 { GameResult::Draw } else { GameResult::Win };
        let game =
            GameTally { result, termination: Termination::Checkmate, fault: None, hash: None };
        let (engines, second) = ([0, 1], Some(game));
        state.apply(RunInput::Committed(PairTally {
            pair,
            engines,
            first: game,
            second,
            is_repeat: false,
        }));
    }
    let mut summary = Summary::new(run, &plan, &state, None);
    summary.engines[0] = "<script>alert(1)</script>".to_owned();
    summary.about = Some("a \"quoted\" <b>".to_owned());
    summary
}

fn running() -> Running {
    Running::of(RunStatus {
        pace: Pace::Running,
        concurrency: 2,
        pairs_in_flight: 1,
        pairs_counted: 3,
        pairs_expected: 9,
        games: 6,
        faults: 0,
    })
}

const FEED: EventSource<'static> = EventSource { url: "/events/x", last_event_id: "ab-1" };

/// Asserts that a page contains nothing that its content security policy forbids.
fn assert_strict(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    for inline in ["<style", " style=", "onclick", "javascript:", "http://", "https://", "<b>"] {
        let known = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!known.contains(inline), "{inline} in {page}");
    }
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, page.matches("<script src=\"/assets/").count(), "{page}");
    for link in page.split("=\"/assets/").skip(1) {
        let name = link.split('"').next().unwrap();
        assert!(ASSETS.iter().any(|(own, ..)| *own == name), "{name}");
    }
}

#[test]
fn a_running_test_has_no_verdict() {
    let mut open = summary("one", 2);
    open.is_played = true;
    let sentence = verdict_sentence(&open);
    let (_, sprt_status) = open.test().unwrap();
    assert!(sentence.starts_with("Running.\nNo verdict yet: LLR +"), "{sentence}");
    assert!(sentence.contains(&format!(
        " [{:.2}, {:.2}] after 4 games.",
        sprt_status.lower, sprt_status.upper
    )));
    for claim in ["beats", "stronger", "does not beat"] {
        assert!(!sentence.contains(claim), "{sentence}");
    }
    open.is_played = false;
    assert!(verdict_sentence(&open).contains("was killed and can be resumed.\nNo verdict"));
    open.ending = Some(RunEnd::AcceptedH1);
    assert!(verdict_sentence(&open).contains("beats"));
}

#[test]
fn the_list_has_a_row_for_each_run_and_links_to_its_parts() {
    let listed = |run: &str, is_played| {
        let summary = Summary { is_played, ..summary(run, 8) };
        let (run, about) = (run.to_owned(), summary.about.clone());
        let created_ms = 1_795_136_523_000;
        let head = RunHead { run, created_ms, ending: None, pairs: 8, about };
        ListedRun { head, summary: Ok(summary) }
    };
    let row = list::row(&listed("one", true), Some(&running()));
    for part in [
        "id=\"run-one\"",
        "<a href=\"/runs/one\">one</a>",
        "2026-11-20 01:02",
        "&lt;script&gt;alert(1)",
        "a &quot;quoted&quot; &lt;b&gt;",
        ">16</td>",
        "class=\"badge running\">running</strong>",
        // Position of LLR 0 between the bounds, and start of the bar to the right of this position.
        "class=\"zero\" d=\"M50 0v8\"",
        "class=\"open\" x=\"50\"",
        "[-2.94, ",
    ] {
        assert!(row.html.contains(part), "{part} in {}", row.html);
    }
    let mut ended = listed("one", false);
    ended.summary.as_mut().unwrap().ending = Some(RunEnd::AcceptedH0);
    assert!(list::row(&ended, None).html.contains("class=\"badge bad\">H0 accepted<"));
    ended.summary = Err("<b>".to_owned());
    let unread = list::row(&ended, None).html;
    assert!(
        unread.contains("cannot be read: &lt;b&gt;") && unread.contains("/runs/one"),
        "{unread}"
    );
    let fields = vec![("q".to_owned(), "\"><b>".to_owned())];
    let url_query = UrlQuery::new("q=%22%3E%3Cb%3E&page=2", fields).unwrap().for_runs();
    let engine = "B".to_owned();
    let standing = list::standing(&url_query, 1, (120, 500), 7, &[&engine].into());
    for part in [
        "51 – 100 of 120 runs",
        "7 more of 500",
        "<option value=\"B\"",
        "/?q=%22%3E%3Cb%3E&amp;page=3",
    ] {
        assert!(standing.html.contains(part), "{part} in {}", standing.html);
    }
    let beyond = list::standing(&url_query, 9, (120, 500), 7, &[&engine].into()).html;
    assert!(beyond.contains("page=3\">Previous") && !beyond.contains(">Next"), "{beyond}");
    let page = list::list(&url_query, &[standing, row], FEED, false);
    let form = list::list(&url_query, &[], FEED, true);
    let elo1 = &*DEFAULT_ELO1.to_string();
    for (field, value) in [("limit", "8+0.08"), ("elo0", "0"), ("elo1", elo1), ("pairs", "50000")] {
        assert!(form.contains(&format!("name=\"{field}\" value=\"{value}\"")), "{field}");
    }
    assert!(page.contains("data-events=\"/events/x\" data-since=\"ab-1\""), "{page}");
    assert!(page.contains("value=\"&quot;&gt;&lt;b&gt;\""), "{page}");
    assert_strict(&page);
}

#[test]
fn a_run_shows_its_state_boards_and_commands() {
    let side = |engine| Side {
        engine,
        time_left_ms: Some(61_000),
        score: Some("+0.30".to_owned()),
        depth: Some(9),
        elapsed_ms: None,
    };
    let board = Board {
        pair: 2,
        game: 1,
        placement: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR".to_owned(),
        is_white_to_move: false,
        move_number: 1,
        last_move: Some("e2e4".to_owned()),
        white: side(1),
        black: side(0),
    };
    let summary = summary("one", 3);
    let boards = run::boards(&Boards { count: 3, shown: vec![board] }, &summary.engines);
    for part in ["Game 3.2 after e2e4: ", "1:01", "+0.30/9", "And 2 more.", "&lt;script&gt;"] {
        assert!(boards.html.contains(part), "{part} in {}", boards.html);
    }
    assert_eq!(boards.html.matches(" marked\"").count(), 2);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let outlook = [words(&["H1 45 %", "H0 41 %"]), words(&["1 fault", "about 4 min left"])];
    let played = run::counts(&summary, Some(&running()), [3, 9], &outlook);
    for part in [
        "3 of at most 9 pairs counted, 1 in progress, 2 games in parallel, 1 fault, about 4 min left.",
        "<li>H1 45 %</li>",
        "<p class=\"about\">SPRT: ",
    ] {
        assert!(played.html.contains(part), "{part} in {}", played.html);
    }
    let mut paused = running();
    paused.status.pace = arbiter_run::Pace::Paused;
    let paused = run::counts(&summary, Some(&paused), [3, 9], &outlook).html;
    assert!(paused.contains("badge paused\">paused<") && !paused.contains("left"), "{paused}");
    let over = run::counts(&summary, None, [3, 9], &Default::default());
    assert!(
        over.html.contains("data-phase=\"unfinished\"") && over.html.contains("badge unfinished")
    );
    let event = RecentEvent { at_ms: 3_661_000, text: "fault in game <1.1>".to_owned() };
    let recent = Recent { events: vec![event], ..Recent::default() };
    let events = run::events(&recent).expect("something has happened").html;
    assert!(events.contains("01:01:01</span> fault in game &lt;1.1&gt;"), "{events}");
    assert_eq!(run::events(&Recent::default()), None);
    assert!(!over.html.contains("<progress"));
    let fragments = [played, boards, run::error_notice("a < b"), run::loading(1, 3)];
    let page = run::run("one", &fragments, FEED, true);
    assert_strict(&page);
    for command in ["pause", "resume", "drain", "stop"] {
        assert!(page.contains(&format!("data-command=\"{command}\"")), "{command}");
    }
    assert!(!run::run("one", &fragments, FEED, false).contains("data-command"));
}

#[test]
fn compared_runs_show_their_differences() {
    let compared = |run: &str, seed: &str, pairs| ComparedRun {
        summary: summary(run, pairs),
        history: Vec::new(),
        settings: vec![("kind", "sprt".to_owned())],
        flags: vec!["--engine 'cmd=a --x'".to_owned(), format!("--seed {seed}")],
    };
    let differing = [compared("one", "1", 2), compared("two", "2", 12)];
    let page = static_page(&comparison(&differing));
    assert_strict(&page);
    assert!(page.contains("Comparison of 2 runs") && page.contains("Elo of each run"), "{page}");
    // The interval of the first run is unbounded at both ends; each unbounded end is drawn as an
    // arrow.
    assert!(page.matches("<polygon").count() >= 2, "{page}");
    assert!(page.contains("<td>--seed 1</td><td>--seed 2</td>"), "{page}");
    assert!(!page.contains("<th scope=\"row\">kind</th>"), "what is the same is left out");
    let same = [compared("one", "1", 8), compared("two", "1", 8)];
    let page = static_page(&comparison(&same));
    assert!(page.contains("have the same settings"), "{page}");
}
