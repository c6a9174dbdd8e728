//! Tests of the replies to mistakes of new users. `UPDATE_EXPECT=1` rewrites the snapshot.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::bench::Bench;
use crate::support::programs::{arbiter, puppet};
use crate::support::project::Project;
use crate::support::snapshot::expect;

/// Command lines; `PUPPET` is replaced by an engine.
const MISTAKES: &str = "\
match ./nosuch bundled
match ./plane bundled
match ./plain bundled
match plain bundled
match mien bundled
match mine bundled --openings nosuch.epd
match mine bundled:materail
match mine bundled,option.Disable=mobility --each nodes=1
ablate bundled:nnue
match mine bundled --pgn nodir/x.pgn
tournament roundrobin mine bundled
match mine bundled --each tc=8+0,08
match mine bundled --each 8+0.08
match mine bundled --each hash=64
match mine bundled --each time=8+0.08
match mine bundled --each nodes=1,option.MultiPV=2
match mine bundled --tc 8+0.08
match -engine cmd=mine -engine cmd=bundled -each tc=1+1
match mine,option.Hsh=64 bundled --each nodes=1
match mine bundled gauntlet
match mine
match bundled bundled
match mine bundled,name=mine
match mine bundled --config engin.toml
match mine bundled --concurrency 0
match mine bundled --pairs -1
match mine bundled --pairs ten
match mine bundled --on tls://localhost:1
match false bundled
match 'PUPPET,args=--proto xboard' bundled --each nodes=5
match PUPPET,args='--seed 1 --wait 9' bundled
tournement mine bundled
sprrt mine bundled
sprt mine bundled --elo0 5 --elo1 0
sprt --each tc=1+0.01 --elo1 5
sprt HEAD main
epd mine --suite nosuch.epd
ablate bundled --features tempoo
results show frist
results show lates
ci
match --resume frist
ctl frist status
results list --results nowhere
worker
match './crash.py illegal' bundled
match --engine 'cmd=./crash.py illegal' --engine cmd=bundled
match 'sh -c x' bundled
match '~/mine' bundled
match --engine cmd=~/mine --engine cmd=bundled
match mine bundled,stderr=~/log
match mine bundled --openings '~/book.epd'
match mine bundled --pgn=~/x.pgn
match mine bundled --results '~/results'
match mine bundled --syzygy '/tables:~/tables'
match mine bundled --config home.toml
match mine bundled --each 'tc=1+0.01 option.Hash=16'
match mine bundled --each 'tc=1+0.01;option.Hash=16'
match 'mine nodes=5' bundled
match mine bundled --each tc=0,5+0,05
match mine bundled --each depth=1,5
sprt mine bundled --elo0 0,5
sprt mine bundled --alpha five
match mine bundled --pairs 1,000
match mine bundled --pairs 1.5
match mine bundled --pairs 99999999999999999999999
match mine bundled --fault-limit 0,05
match mine bundled --deadlines move=2,5
match mine bundled --draw 'movenumber=40 movecount=8'
match mine bundled --draw movecount=4,score=0,5
match mine bundled --resign twosided=yes
match mine bundled --pgn fields=all
match mine bundled --openings start=ten
match mine bundled --openings strict=yes
match mine bundled --fleet priority=300 --on tls://localhost:1
stats sprt --counts 1,2
serve --listen 7878
";

#[test]
fn mistakes_of_new_users_get_helpful_errors() {
    let bench = Bench::new();
    let puppet = puppet().display().to_string();
    bench.arbiter(["engines", "add", "mine", &puppet]).finish().expect_code(0);
    let first = ["match", "mine", "bundled", "--each", "nodes=1", "--pairs", "1"];
    bench.arbiter([&first[..], &["--name", "first"]].concat()).finish().expect_code(0);
    bench.write("plain", "no program");
    let script = bench.write("crash.py", "#!/bin/sh\n");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.write("home.toml", "openings = \"~/book.epd\"\n");
    bench.write("engin.toml", "pairs = 3\nengin = 3\n");
    let mut answers = String::new();
    for line in MISTAKES.lines() {
        let args = shell_words::split(&line.replace("PUPPET", &puppet)).expect("words");
        let finished = bench.arbiter(args).finish();
        let code = finished.code.expect("it ends by itself");
        assert_eq!(finished.stdout, "", "{line}");
        answers.push_str(&format!("$ arbiter {line}\n{}exit code {code}\n\n", finished.stderr));
    }
    let project = Project::new(&bench);
    project.write("arbiter.toml", "");
    project.write("src/main.c", "");
    let args = [OsStr::new("-C"), "project/src".as_ref(), arbiter().as_ref(), "ci".as_ref()];
    let below = bench.start(Path::new("/usr/bin/env"), args).finish().expect_code(4).stderr;
    answers.push_str(&format!("$ cd project/src; arbiter ci\n{below}"));
    expect("mistakes.text", &answers);
}
