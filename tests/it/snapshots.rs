//! Tests of results in every format: snapshots of a hand-written store. `UPDATE_EXPECT=1 cargo test
//! -p tests --test it snapshots` rewrites them; check the changes.

pub mod rich;

use std::path::{Path, PathBuf};

use clap::{ArgAction, Command, CommandFactory};

use crate::support::bench::Bench;
use crate::support::snapshot::expect;

/// Returns a bench with the store.
fn filled() -> Bench {
    let bench = Bench::new();
    rich::fill(&bench.path("results"));
    bench
}

fn output_of(bench: &Bench, args: &[&str]) -> String {
    let results = bench.path("results").display().to_string();
    let args = [args, &["--results", &results]].concat();
    bench.arbiter(args).finish().expect_code(0).stdout
}

/// Returns the page without its style and script, which contain no results.
fn bare(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    for (start, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let (before, after) = rest.split_once(start).expect("there is one");
        let (_, behind) = after.split_once(end).expect("it ends");
        text.push_str(&format!("{before}{start}{end}"));
        rest = behind;
    }
    // One line for each element makes differences readable.
    (text + rest).replace("><", ">\n<")
}

#[test]
fn a_report_in_every_form() {
    let bench = filled();
    for form in ["md", "json", "ndjson", "csv", "junit", "text"] {
        expect(&format!("rich.{form}"), &output_of(&bench, &["report", "rich", "--format", form]));
    }
    let comment = ["report", "tournament", "--format", "comment", "--link", "https://x.example/1"];
    expect("tournament.comment", &output_of(&bench, &comment));
    expect("rich.html", &bare(&output_of(&bench, &["report", "rich", "--format", "html"])));
}

#[test]
fn tournament_ablation_and_tuning_in_every_form() {
    let bench = filled();
    for run in ["tournament", "ablation", "tuning"] {
        for form in ["md", "csv", "junit", "text"] {
            expect(
                &format!("{run}.{form}"),
                &output_of(&bench, &["report", run, "--format", form]),
            );
        }
    }
}

#[test]
fn undecided_runs_have_no_verdict_mark() {
    let bench = filled();
    for (run, colour) in [
        ("rich", "bad"),
        ("rejected", "bad"),
        ("single", "open"),
        ("tournament", "open"),
        ("ablation", "open"),
    ] {
        let page = output_of(&bench, &["report", run, "--format", "html"]);
        assert!(page.contains(&format!("class=\"verdict {colour}\"")), "{run}: {page}");
    }
}

#[test]
fn every_ending_of_a_run() {
    let bench = filled();
    let runs = ["rejected", "undecided", "interrupted", "killed", "single"];
    let texts = runs.map(|run| output_of(&bench, &["results", "show", run]));
    expect("endings.text", &texts.join("\n"));
    for form in ["text", "md", "json", "ndjson", "csv"] {
        expect(&format!("list.{form}"), &output_of(&bench, &["results", "list", "--format", form]));
        expect(
            &format!("gates.{form}"),
            &output_of(&bench, &["results", "gates", "--format", form]),
        );
    }
    for form in ["text", "md", "csv"] {
        expect(&format!("log.{form}"), &output_of(&bench, &["results", "log", "--format", form]));
    }
}

#[test]
fn the_list_is_sorted_and_filtered() {
    let bench = filled();
    let names = |flags: &[&str]| -> Vec<String> {
        let args = [&["results", "list", "--format", "ndjson"], flags].concat();
        let listed = output_of(&bench, &args);
        let run = |line: &str| Some(line.split_once("\"run\":\"")?.1.split_once('"')?.0.to_owned());
        listed.lines().filter_map(run).collect()
    };
    assert_eq!(names(&["--state", "unfinished"]), ["killed", "interrupted"]);
    assert_eq!(names(&["--filter", "^h[01] ACC", "--sort", "elo"]), ["rich", "rejected"]);
    assert_eq!(names(&["--filter", "one of every"]), ["rich"]);
    assert_eq!(names(&["--filter", "^tuned"]), ["tuning"]);
    assert_eq!(names(&["--sort", "llr"])[..2], ["rich", "interrupted"]);
    assert_eq!(names(&["--sort", "games"])[..3], ["tuning", "rich", "rejected"]);
    assert_eq!(names(&["--sort", "name"])[..2], ["ablation", "interrupted"]);
    assert_eq!(names(&["--sort", "state", "--state", "ended"])[0], "rejected");
    assert_eq!(names(&["--state", "running"]), [""; 0]);
    // Piped output has one row per line.
    let piped = output_of(&bench, &["results", "list"]);
    assert_eq!(piped.lines().count(), 9 + 4, "{piped}");
}

#[test]
fn every_ending_of_a_game_and_every_verdict_is_shown() {
    let text = std::fs::read_to_string(snapshot("rich.md")).expect("the snapshot is there");
    for termination in arbiter_game::outcome::Termination::ALL {
        assert!(text.contains(&termination.describe()), "{termination}");
    }
    use arbiter_plan::{
        GateVerdict::Broken, GateVerdict::Failed, GateVerdict::Passed, GateVerdict::Skipped,
        GateVerdict::Undecided, GateVerdict::Unproven,
    };
    for verdict in [Passed, Failed, Undecided, Unproven, Broken, Skipped] {
        assert!(text.contains(&verdict.to_string()), "{verdict}");
    }
    for warning in ["INVALID", "excluded", "pairs with CPU contention", "scaled"] {
        assert!(text.contains(warning), "{warning}");
    }
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let bench = filled();
    let runs = ["rich", "tournament", "ablation", "tuning", "single"].map(|run| ["show", run]);
    for run in [&runs[..], &[["list", "--state=ended"], ["log", "--filter=."]]].concat() {
        for width in [60, 80, 120] {
            let script = format!("COLUMNS={width} exec \"$0\" \"$@\"");
            let results = bench.path("results").display().to_string();
            let arbiter = crate::support::programs::arbiter().display().to_string();
            let args = ["-c", &script, &arbiter, "results", run[0], run[1], "--results", &results];
            let shown = bench.start(Path::new("/bin/sh"), args).finish().expect_code(0).stdout;
            for line in shown.lines() {
                assert!(line.chars().count() <= width, "{run:?}, {width} columns: {line}");
            }
        }
    }
}

#[test]
fn colour_is_printed_on_request() {
    let bench = filled();
    // The bench sets NO_COLOR, and standard output is not a terminal.
    let plain = output_of(&bench, &["results", "show", "rich"]);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert_eq!(output_of(&bench, &["results", "show", "rich", "--color", "auto"]), plain);
    let coloured = output_of(&bench, &["results", "show", "rich", "--color", "always"]);
    assert!(coloured.contains("\u{1b}[1m"), "{coloured}");
    let machine =
        output_of(&bench, &["results", "show", "rich", "--format", "json", "--color", "always"]);
    assert!(!machine.contains('\u{1b}'), "{machine}");
}

fn snapshot(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("it/snapshots").join(name)
}

/// Appends a line for each command, positional argument and flag: names, short names and aliases,
/// whether it takes a value, and the possible values.
fn flags(command: &Command, path: &str, text: &mut String) {
    let aliases = command.get_all_aliases().map(|alias| format!(" = {alias}")).collect::<String>();
    text.push_str(&format!("{path}{aliases}\n"));
    for argument in command.get_arguments() {
        let mut line = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => format!("<{}>", argument.get_id()),
        };
        for alias in argument.get_all_aliases().unwrap_or_default() {
            line.push_str(&format!(" --{alias}"));
        }
        for short in argument.get_short_and_visible_aliases().unwrap_or_default() {
            line.push_str(&format!(" -{short}"));
        }
        let values = argument.get_possible_values();
        let named: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
        match argument.get_action() {
            ArgAction::Set | ArgAction::Append if !named.is_empty() => {
                line.push_str(&format!(" {}", named.join("|")));
            }
            ArgAction::Set | ArgAction::Append if argument.get_long().is_some() => {
                line.push_str(" VALUE");
            }
            _ => {}
        }
        text.push_str(&format!("  {line}\n"));
    }
    for inner in command.get_subcommands() {
        flags(inner, &format!("{path} {}", inner.get_name()), text);
    }
}

/// Scripts rely on these names: within a major version, lines may be added, but not removed or
/// changed.
#[test]
fn commands_and_flags() {
    let mut text = String::new();
    flags(&arbiter::Cli::command(), "arbiter", &mut text);
    expect("flags.text", &text);
}

/// Exit codes never change their meaning: lines may be added, but not removed or changed.
#[test]
fn exit_codes() {
    let line = |code: arbiter::ExitCode| format!("{} {code:?}\n", code as u8);
    expect("exit-codes.text", &arbiter::ExitCode::all().map(line).collect::<String>());
}
