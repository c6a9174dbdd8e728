//! Checks of unusual input, which engines must ignore.

use super::{ensure, legal_answer, must, nice, nothing_more, should};
use crate::{Case, Check, Judgement};

/// Position with a single legal move.
const ONE_MOVE: &str = "startpos moves e2e4 f7f6 d1h5";

pub(super) const CHECKS: &[Check] = &[
    must("unknown-commands", "unknown commands are ignored")
        .script(|s| Ok(s.send("xyzzy\nsetboard 8/8\nUCI\nnew\nlevel 40 5 0").responds())),
    nice(
        "unknown-first-word",
        "unknown words before a command are skipped: joho isready means isready",
    )
    .script(|s| Ok(s.send("joho isready").expect("readyok"))),
    must("empty-lines", "empty lines and lines of blanks are ignored")
        .script(|s| Ok(s.send("\n\n   \n\t\n").responds())),
    should("blanks", "additional blanks around and between words do not matter").script(|s| {
        let s = s.send("   isready  ").expect("readyok");
        let s = s.send("  position   startpos   moves   e2e4  f7f6   d1h5 ");
        Ok(s.send("go   depth   2  ").expect("bestmove"))
    }),
    should("tabs", "tabs separate words as blanks do").script(|s| {
        let s = s.send("\tisready\t").expect("readyok");
        Ok(s.send("position startpos\ngo\tdepth\t2").expect("bestmove"))
    }),
    must("crlf", "lines may end with carriage return and line feed").script(|s| {
        let s = s.bytes(b"isready\r\n", "isready\\r").expect("readyok");
        Ok(s.send(&format!("position {ONE_MOVE}\r\ngo depth 2\r")).expect("bestmove"))
    }),
    should("long-line", "the engine survives a meaningless line of 30000 characters").script(|s| {
        let line = format!("{}\n", "garbage ".repeat(3750));
        Ok(s.bytes(line.as_bytes(), "garbage garbage … (30000)").responds())
    }),
    should("long-word", "the engine survives a word of 20000 characters").script(|s| {
        let line = format!("setoption name {}\n", "x".repeat(20_000));
        Ok(s.bytes(line.as_bytes(), "setoption name xxx… (20000)").responds())
    }),
    nice("binary-input", "the engine survives invalid UTF-8").script(|s| {
        let bytes = b"\x01\x02\xff\xfe\x80 \xc3\x28 \x1b[2J\n";
        Ok(s.bytes(bytes, "(invalid UTF-8)").responds())
    }),
    nice("go-nonsense", "the engine survives a go with invalid words and values")
        .script(|s| {
            let s = s.go("startpos", "depth x").collect(200).send("stop").ready();
            let s = s.send("go sideways 5").collect(200).send("stop").ready();
            Ok(s.search("startpos", "depth 2"))
        })
        .judge(nothing_more),
    must("debug", "debug on and debug off are obeyed or ignored")
        .script(|s| Ok(s.send("debug on").responds().send("debug off").responds())),
    should("register", "register later is obeyed or ignored")
        .script(|s| Ok(s.send("register later").responds())),
    nice("go-twice", "a go during a search neither ends the process nor affects later searches")
        .script(|s| {
            // The protocol does not define this case, so the engine may answer one `go` command or
            // both. The pauses let all answers arrive before the search that is judged.
            let s = s.think(100).send("go depth 2").collect(300).send("stop").ready();
            let s = s.send("stop").collect(200).ready();
            Ok(s.go(ONE_MOVE, "depth 3").collect(500).send("stop").ready())
        })
        .judge(last_is_right),
    nice("option-thinking", "a setoption during a search does not end the process").script(|s| {
        s.engine.range("Hash")?;
        Ok(s.think(100).set("Hash", 8).stop().responds())
    }),
    nice("newgame-thinking", "ucinewgame during a search does not end the process")
        .script(|s| {
            let s = s.think(100).send("ucinewgame").collect(100).send("stop").collect(200);
            Ok(s.ready().search(ONE_MOVE, "depth 2"))
        })
        .judge(last_is_right),
];

/// Requires that the last search was answered with a legal move.
fn last_is_right(case: &Case) -> Judgement {
    let searches = case.transcript.searches();
    let last = searches.last().ok_or("no search")?;
    ensure(!last.answers.is_empty(), || "the last go was not answered".to_owned())?;
    legal_answer(last)
}
