//! Tests of engines by name: registered engines, revisions and programs; and of their protocol.

use std::path::Path;

use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;
use crate::support::programs::{self, puppet};
use crate::support::project::Project;
use crate::support::snapshot::expect_next;

/// Plays one pair of two engines, given by name.
fn play(bench: &Bench, engines: &[&str], more: &[&str]) -> Finished {
    let short = ["--each", "nodes=1", "--pairs", "1", "--format", "json"];
    bench.arbiter([&["match"], engines, &short, more].concat()).finish()
}

fn names(finished: Finished) -> Vec<String> {
    let json = finished.expect_code(0).json();
    let names = json["engines"].as_array().expect("engines are a list").iter();
    names.map(|name| name.as_str().expect("a name is a text").to_owned()).collect()
}

#[test]
fn a_registered_name_is_an_engine_everywhere() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(puppet(), bench.path("mine")).expect("a link can be made");
    let add = |name: &str, engine: &str| bench.arbiter(["engines", "add", name, engine]).finish();
    add("old", "./mine,option.Hash=8,args=\"--seed 4\"").expect_code(0);
    add("old", "./mine").expect_error(3);
    add("bundled", "./mine").expect_error(3);
    add("ghost", "./ghost").expect_error(3);
    let cutechess = format!(r#"[{{"name": "theirs", "command": "{}"}}]"#, puppet().display());
    bench.write("engines.json", cutechess);

    assert_eq!(names(play(&bench, &["old", "./mine,name=new"], &[])), ["old", "new"]);
    assert_eq!(names(play(&bench, &["bundled:material", "theirs"], &[])), ["material", "theirs"]);
    bench.write("arbiter.toml", "[[engine]]\nengine = \"old\"\n[[engine]]\nengine = \"bundled\"\n");
    assert_eq!(names(play(&bench, &[], &[])), ["old", "palimpsest"]);

    let list = bench.arbiter(["engines", "list", "--format", "json"]).finish().expect_code(0);
    let list = list.json();
    assert_eq!([&list[0]["name"], &list[1]["name"]], ["old", "theirs"], "{list:#}");
    let check = bench.arbiter(["engines", "check"]).finish().expect_code(0);
    expect_next(&check.stdout);
    let check = bench.arbiter(["engines", "check", "old", "false"]).finish().expect_code(6);
    expect_next(&check.stdout);

    bench.arbiter(["check", "old", "--filter", "uciok"]).finish().expect_code(0);
    let near = play(&bench, &["oldd", "theirs"], &[]);
    near.expect_error(21);
    let here = play(&bench, &["mine", "theirs"], &[]);
    here.expect_error(21);
}

#[test]
fn an_engine_is_forgotten_and_the_others_stay_as_they_are() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(puppet(), bench.path("mine")).expect("a link can be made");
    let run = |args: &[&str]| bench.arbiter([&["engines"], args].concat()).finish();
    run(&["add", "first", "./mine"]).expect_code(0);
    let file = "arbiter/engines.toml";
    let before = format!("# Mine\n{}", bench.read(file));
    bench.write(file, &before);
    run(&["add", "second", "./mine,option.Hash=8"]).expect_code(0);
    run(&["add", "third", "./mine"]).expect_code(0);
    let with_third = bench.read(file);
    run(&["remove", "third"]).expect_code(0);
    run(&["remove", "second"]).expect_code(0);
    assert_eq!(bench.read(file).trim_end(), before.trim_end(), "{with_third}");
    run(&["remove", "fist"]).expect_error(21);
    bench.write("engines.json", r#"[{"name": "theirs", "command": "x"}]"#);
    run(&["remove", "theirs"]).expect_error(3);
    run(&["add", "HEAD", "./mine"]).expect_error(3);
    // Unreadable entries in the list of another program are reported but do not stop the command.
    for list in [
        "[{",
        "{}",
        r#"[{"command": "x"}]"#,
        r#"[{"name": "t", "command": "x", "protocol": "usb"}]"#,
    ] {
        bench.write("engines.json", list);
        let listed = run(&["list"]).expect_code(0);
        expect_next(&listed.stderr);
        expect_next(&listed.stdout);
    }
}

#[test]
fn commas_are_quoted_and_registration_requires_a_home() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(puppet(), bench.path("a,b c")).expect("a link can be made");
    let odd = "\"./a,b c\"";
    bench
        .arbiter(["engines", "add", "odd", &format!("{odd},option.Hash=8")])
        .finish()
        .expect_code(0);
    assert_eq!(names(play(&bench, &["odd", "cmd=\"./a,b c\",name=other"], &[])), ["odd", "other"]);
    for home in ["HOME=", "HOME=here"] {
        let args = ["-u", "XDG_CONFIG_HOME", home, &programs::arbiter().display().to_string()];
        let add = ["engines", "add", "mine", odd];
        let none = bench.start(Path::new("/usr/bin/env"), [&args[..], &add].concat()).finish();
        none.expect_error(3);
    }
}

#[test]
fn a_name_is_a_revision_before_it_is_a_program_and_a_path_is_neither() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let commit = project.commit_with_bench(100, "First");
    project.git(&["branch", "true"]);
    project.commit_with_bench(200, "Second");
    let both = project.run(&["match", "true", "HEAD"]).expect_code(0);
    expect_next(&both.stderr);
    assert!(both.stdout.contains(&format!("true@{}", &commit[..9])), "{both:#?}");
    project.run(&["match", "cmd=true", "HEAD"]).expect_error(3);
    project.run(&["match", "./true", "HEAD"]).expect_error(3);
    project.run(&["match", "HEAD,rev=main", "HEAD"]).expect_error(3);
    project.run(&["match", "HEAD", "nine"]).expect_error(21);
}

#[test]
fn formats_and_limits_are_no_engines() {
    let bench = Bench::new();
    let slip = play(&bench, &["bundled", "gauntlet", "bundled:material"], &[]);
    slip.expect_error(2);
    play(&bench, &["bundled", "tc=1+1"], &[]).expect_error(3);
    let each = bench.arbiter(["match", "bundled", "--each", "1+1"]).finish();
    each.expect_error(3);
    let three = ["bundled", "bundled:material", "bundled:blunder", "--each", "nodes=1"];
    let played = ["--pairs", "1", "--format", "json"];
    let args = [&["tournament", "gauntlet"], &three[..], &played].concat();
    let json = bench.arbiter(args).finish().expect_code(0).json();
    assert_eq!(json["games"], 4, "{json:#}");
}

#[test]
fn an_engine_that_speaks_xboard_is_played_so() {
    let bench = Bench::new();
    let fields = ",option.Style=Risky,tc=5+0.1";
    let plan = || {
        Plan::new(&bench, "match", 1)
            .puppet_with("A", "--proto xboard", fields)
            .puppet("B", "--seed 3")
            .set("name", "found")
    };
    let finished = plan().run().expect_code(0);
    expect_next(&finished.stderr);
    let again = plan().unset("name").set("resume", "found").run().expect_code(0);
    expect_next(&again.stderr);
    let nodes = Plan::new(&bench, "match", 1)
        .puppet_with("A", "--proto xboard", ",nodes=5")
        .puppet("B", "--seed 3");
    nodes.run().expect_error(3);
}

#[test]
fn engines_with_a_console_are_recognised_by_the_argument_they_need() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(puppet(), bench.path("console")).expect("a link can be made");
    let bare = "./console,args=\"--proto console\"";
    let early = ["--deadlines", "start=1"];
    play(&bench, &[bare, "bundled"], &early).expect_error(3);
    let named = "./console,args=\"--proto console --uci\"";
    assert_eq!(names(play(&bench, &[named, "bundled"], &early)), ["console", "palimpsest"]);
}

#[test]
fn a_program_that_is_known_to_need_an_argument_gets_it() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(puppet(), bench.path("gnuchess")).expect("a link can be made");
    let check = |engine: &str| bench.arbiter(["engines", "check", engine]).finish();
    check("./gnuchess").expect_code(0);
    // Arguments that are given remain unchanged.
    let check = check("./gnuchess,args=\"--name Other\"").expect_code(0);
    expect_next(&check.stdout);
}
