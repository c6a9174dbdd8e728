//! Odd input. The protocol wants it ignored, not punished.

use super::super::script::Script;
use super::super::{Case, Check, Grade};
use super::{legal_answer, nothing_more, one_legal_answer_each};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "unknown-commands",
        grade: Grade::Must,
        says: "unknown commands are ignored",
        script: |_| {
            let lines = "xyzzy\nsetboard 8/8\nUCI\nnew\nlevel 40 5 0";
            Ok(Script::after_handshake().send(lines).responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "unknown-first-word",
        grade: Grade::Nice,
        says: "unknown words before a command are skipped: joho isready is isready",
        script: |_| Ok(Script::after_handshake().send("joho isready").expect("readyok")),
        judge: nothing_more,
        is_timed: false,
    },
    Check {
        name: "empty-lines",
        grade: Grade::Must,
        says: "empty lines and blanks are ignored",
        script: |_| Ok(Script::after_handshake().send("\n\n   \n\t\n").responds()),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "blanks",
        grade: Grade::Should,
        says: "blanks around and between words do not matter",
        script: |_| {
            let script = Script::after_handshake().send("   isready  ").expect("readyok");
            let script = script.send("  position   startpos   moves   e2e4  f7f6   d1h5 ");
            Ok(script.send("go   depth   2  ").expect("bestmove"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "tabs",
        grade: Grade::Should,
        says: "tabs are as good as blanks",
        script: |_| {
            let script = Script::after_handshake().send("\tisready\t").expect("readyok");
            Ok(script.send("position startpos\ngo\tdepth\t2").expect("bestmove"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "crlf",
        grade: Grade::Must,
        says: "lines may end with carriage return and line feed",
        script: |_| {
            let script =
                Script::after_handshake().bytes(b"isready\r\n", "isready\\r").expect("readyok");
            let script = script.send("position startpos moves e2e4 f7f6 d1h5\r\ngo depth 2\r");
            Ok(script.expect("bestmove"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "long-line",
        grade: Grade::Should,
        says: "a line of 30000 characters that means nothing is survived",
        script: |_| {
            let line = format!("{}\n", "garbage ".repeat(3750));
            let script =
                Script::after_handshake().bytes(line.as_bytes(), "garbage garbage … (30000)");
            Ok(script.responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "long-word",
        grade: Grade::Should,
        says: "a word of 20000 characters is survived",
        script: |_| {
            let line = format!("setoption name {}\n", "x".repeat(20_000));
            let script =
                Script::after_handshake().bytes(line.as_bytes(), "setoption name xxx… (20000)");
            Ok(script.responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "binary-input",
        grade: Grade::Nice,
        says: "bytes that are no text are survived",
        script: |_| {
            let bytes = b"\x01\x02\xff\xfe\x80 \xc3\x28 \x1b[2J\n";
            Ok(Script::after_handshake().bytes(bytes, "(bytes that are no text)").responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "go-nonsense",
        grade: Grade::Nice,
        says: "a go with words and values that make no sense is survived",
        script: |_| {
            let script =
                Script::after_handshake().send("position startpos\ngo depth x").collect_for(200);
            let script = script.send("stop").ready().send("go sideways 5").collect_for(200);
            Ok(script.send("stop").ready().send("position startpos\ngo depth 2").expect("bestmove"))
        },
        judge: nothing_more,
        is_timed: false,
    },
    Check {
        name: "debug",
        grade: Grade::Must,
        says: "debug on and debug off are understood, or ignored",
        script: |_| {
            Ok(Script::after_handshake().send("debug on").responds().send("debug off").responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "register",
        grade: Grade::Should,
        says: "register later is understood, or ignored",
        script: |_| Ok(Script::after_handshake().send("register later").responds()),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "go-twice",
        grade: Grade::Nice,
        says: "a go during a search neither ends the process nor spoils the searches that follow",
        script: |_| {
            let script =
                Script::after_handshake().send("position startpos\ngo infinite").collect_for(100);
            let script = script
                .send("go depth 2")
                .collect_for(300)
                .send("stop")
                .ready()
                .send("stop")
                .collect_for(200);
            Ok(script
                .ready()
                .send("position startpos moves e2e4 f7f6 d1h5\ngo depth 3")
                .collect_for(500)
                .send("stop")
                .ready())
        },
        judge: last_is_right,
        is_timed: false,
    },
    Check {
        name: "option-thinking",
        grade: Grade::Nice,
        says: "a setoption during a search does not end the process",
        script: |engine| {
            engine.range("Hash")?;
            let script =
                Script::after_handshake().send("position startpos\ngo infinite").collect_for(100);
            let script = script.send("setoption name Hash value 8").ready().send("stop");
            Ok(script.expect("bestmove").responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "newgame-thinking",
        grade: Grade::Nice,
        says: "ucinewgame during a search does not end the process",
        script: |_| {
            let script =
                Script::after_handshake().send("position startpos\ngo infinite").collect_for(100);
            let script =
                script.send("ucinewgame").collect_for(100).send("stop").collect_for(200).ready();
            Ok(script.search("startpos moves e2e4 f7f6 d1h5", "depth 2"))
        },
        judge: last_is_right,
        is_timed: false,
    },
];

/// The last search was answered by its legal move.
fn last_is_right(case: &Case) -> Result<(), String> {
    let searches = case.transcript.searches();
    let last = searches.last().ok_or("no search")?;
    match last.answers.len() {
        0 => Err("the last go was not answered".to_owned()),
        _ => legal_answer(last),
    }
}
