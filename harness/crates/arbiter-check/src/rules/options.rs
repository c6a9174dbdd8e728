//! Setting options.

use std::collections::BTreeSet;

use super::super::engine_info::EngineInfo;
use super::super::script::Script;
use super::super::{Case, Check, Grade};
use super::{nothing_more, number, one_legal_answer_each, pv};
use arbiter_protocol::uci::option::OptionKind;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "option-unknown",
        grade: Grade::Must,
        says: "an option that the engine does not have is ignored",
        script: |_| {
            let script = Script::after_handshake().send("setoption name No Such Thing value 7");
            Ok(script.send("setoption name Nothing").responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "option-out-of-range",
        grade: Grade::Should,
        says: "a value that an option does not take is survived",
        script: |engine| {
            engine.range("Hash")?;
            let values =
                ["0", "-5", "many", ""].map(|value| format!("setoption name Hash value {value}"));
            let set = |script: Script, line: String| script.send(&line).ready();
            Ok(values.into_iter().fold(Script::after_handshake(), set).responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "option-malformed",
        grade: Grade::Nice,
        says: "a setoption line that is not complete is survived",
        script: |_| {
            let lines = ["setoption", "setoption name", "setoption value 3", "setoption Hash 16"];
            let set = |script: Script, line: &str| script.send(line).ready();
            Ok(lines.into_iter().fold(Script::after_handshake(), set).responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "option-case",
        grade: Grade::Should,
        says: "the name of an option is known whatever the case of its letters",
        script: |engine| {
            several_lines(engine, 2)?;
            let script = Script::after_handshake().send("setoption name mUlTIpV value 2").ready();
            Ok(script.search("startpos", "depth 4"))
        },
        judge: |case| has_lines(case, 2),
        is_timed: false,
    },
    Check {
        name: "option-defaults-set",
        grade: Grade::Must,
        says: "every option takes its own default",
        script: defaults,
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "option-buttons",
        grade: Grade::Must,
        says: "every button can be pressed",
        script: |engine| {
            let is_button = |kind: &OptionKind| matches!(kind, OptionKind::Button);
            let buttons: Vec<&str> = engine
                .options
                .iter()
                .filter(|declared| is_button(&declared.option.kind))
                .map(|declared| declared.option.name.as_str())
                // What a button of this name does is not ours to try.
                .filter(|name| {
                    !["save", "write", "delete", "quit"]
                        .iter()
                        .any(|word| name.to_ascii_lowercase().contains(word))
                })
                .collect();
            if buttons.is_empty() {
                return Err("the engine has no button".to_owned());
            }
            let press = |script: Script, name: &&str| {
                script.send(&format!("setoption name {name}")).ready()
            };
            Ok(buttons.iter().fold(Script::after_handshake(), press).responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "option-spaces",
        grade: Grade::Should,
        says: "an option with blanks in its name is found",
        script: |engine| {
            let spaced = engine.options.iter().find_map(|declared| {
                let name = &declared.option.name;
                let default = declared.default.as_ref()?;
                let OptionKind::Spin { .. } = declared.option.kind else { return None };
                name.contains(' ').then(|| format!("setoption name {name} value {default}"))
            });
            let line = spaced.ok_or("the engine has no spin with a blank in its name")?;
            Ok(Script::after_handshake().send(&line).responds())
        },
        judge: not_refused,
        is_timed: false,
    },
    Check {
        name: "option-hash",
        grade: Grade::Must,
        says: "Hash can be set, between searches too",
        script: |engine| {
            let (min, max) = engine.range("Hash")?;
            let sizes = [min.max(1), 8.clamp(min, max), 64.clamp(min, max), 1.clamp(min, max)];
            let set = |script: Script, size: i64| {
                let script = script.send(&format!("setoption name Hash value {size}")).ready();
                script.search("startpos moves e2e4 e7e5", "depth 4")
            };
            Ok(sizes.into_iter().fold(Script::after_handshake(), set))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "option-has-hash",
        grade: Grade::Should,
        says: "an engine has the option Hash, so that matches are fair in memory",
        script: |_| Ok(Script::after_handshake()),
        judge: |case| case.engine.range("Hash").map(drop),
        is_timed: false,
    },
    Check {
        name: "option-threads",
        grade: Grade::Must,
        says: "Threads can be set, between searches too",
        script: |engine| {
            let (_, max) = engine.range("Threads")?;
            if max < 2 {
                return Err("the engine has one thread".to_owned());
            }
            let set = |script: Script, threads| {
                let script =
                    script.send(&format!("setoption name Threads value {threads}")).ready();
                script.search("startpos moves e2e4 e7e5", "depth 5")
            };
            Ok([2, 1, 2].into_iter().fold(Script::after_handshake(), set))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "multipv-count",
        grade: Grade::Should,
        says: "with MultiPV 3 there are three lines with different moves",
        script: |engine| {
            several_lines(engine, 3)?;
            let script = Script::after_handshake().send("setoption name MultiPV value 3").ready();
            Ok(script.search("startpos", "depth 5"))
        },
        judge: |case| has_lines(case, 3),
        is_timed: false,
    },
    Check {
        name: "multipv-order",
        grade: Grade::Should,
        says: "with MultiPV the lines are numbered from the best score down",
        script: |engine| {
            several_lines(engine, 4)?;
            let script = Script::after_handshake().send("setoption name MultiPV value 4").ready();
            Ok(script.search("startpos moves e2e4 e7e5 g1f3 d7d6", "depth 5"))
        },
        judge: in_order,
        is_timed: false,
    },
    Check {
        name: "multipv-few-moves",
        grade: Grade::Should,
        says: "MultiPV may be more than there are moves",
        script: |engine| {
            several_lines(engine, 4)?;
            let script = Script::after_handshake().send("setoption name MultiPV value 4").ready();
            Ok(script.search("fen rR4k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", "depth 4").responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
];

fn several_lines(engine: &EngineInfo, count: i64) -> Result<(), String> {
    match engine.range("MultiPV")? {
        (_, max) if max >= count => Ok(()),
        (_, max) => Err(format!("MultiPV is at most {max}")),
    }
}

fn defaults(engine: &EngineInfo) -> Result<Script, String> {
    let set = |script: Script, declared: &super::super::engine_info::Declared| {
        let name = &declared.option.name;
        match (&declared.option.kind, declared.default.as_deref()) {
            // Paths and names of files are let be: to set them may open something.
            (OptionKind::Button | OptionKind::String, _) | (_, None) => script,
            (_, Some(value)) => script.send(&format!("setoption name {name} value {value}")),
        }
    };
    match engine.options.is_empty() {
        true => Err("the engine has no options".to_owned()),
        false => Ok(engine.options.iter().fold(Script::after_handshake(), set).responds()),
    }
}

/// Words in which engines say that they do not know an option.
const REFUSALS: [&str; 4] =
    ["no such option", "unknown option", "no option", "unrecognized option"];

fn not_refused(case: &Case) -> Result<(), String> {
    nothing_more(case)?;
    let is_refusal = |line: &str| {
        let line = line.to_ascii_lowercase();
        REFUSALS.iter().any(|refusal| line.contains(refusal))
    };
    match case.transcript.received().find(|(_, line)| is_refusal(line)) {
        Some((_, line)) => Err(format!("'{line}'")),
        None => one_legal_answer_each(case),
    }
}

/// The lines of the deepest iteration that has several: number, score and first move.
fn last_lines(case: &Case) -> Vec<(i64, Option<i64>, String)> {
    let mut lines: Vec<(i64, Option<i64>, String)> = Vec::new();
    let searches = case.transcript.searches();
    for (_, info) in searches.iter().flat_map(|search| &search.infos) {
        let moves = pv(info);
        let (Some(line), Some(first)) = (number(info, "multipv"), moves.first()) else { continue };
        if info.contains("bound") {
            continue;
        }
        let score = number(info, "cp");
        lines.retain(|(other, ..)| *other < line);
        lines.push((line, score, (*first).to_owned()));
    }
    lines
}

fn has_lines(case: &Case, count: usize) -> Result<(), String> {
    one_legal_answer_each(case)?;
    let lines = last_lines(case);
    let moves: BTreeSet<&str> = lines.iter().map(|(.., first)| first.as_str()).collect();
    let numbers: Vec<i64> = lines.iter().map(|(number, ..)| *number).collect();
    let expected: Vec<i64> = (1..=count as i64).collect();
    if numbers != expected {
        return Err(format!("the last lines are numbered {numbers:?}, expected {expected:?}"));
    }
    match moves.len() == count {
        true => Ok(()),
        false => Err(format!("{count} lines, but {} different moves", moves.len())),
    }
}

fn in_order(case: &Case) -> Result<(), String> {
    has_lines(case, 4)?;
    let lines = last_lines(case);
    let scores: Vec<i64> = lines.iter().filter_map(|(_, score, _)| *score).collect();
    match scores.is_sorted_by(|a, b| a >= b) {
        true => Ok(()),
        false => Err(format!("the last lines have the scores {scores:?}")),
    }
}
