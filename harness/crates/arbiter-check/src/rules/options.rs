//! Checks of options.

use std::collections::BTreeSet;

use super::{ensure, legal_answers, must, nice, should};
use crate::script::{ONLY_MOVE, Script};
use crate::{Case, Check, Judgement};
use arbiter_protocol::OptionKind;

pub(super) const CHECKS: &[Check] = &[
    must("option-unknown", "an option that the engine does not have is ignored").script(|s| {
        let s = s.send("setoption name No Such Thing value 7");
        Ok(s.send("setoption name Nothing").responds())
    }),
    should("option-out-of-range", "the engine survives invalid option values").script(|s| {
        s.engine.range("Hash")?;
        Ok(["0", "-5", "many", ""].into_iter().fold(s, |s, value| s.set("Hash", value)).responds())
    }),
    nice("option-malformed", "the engine survives an incomplete setoption line").script(|s| {
        let lines = ["setoption", "setoption name", "setoption value 3", "setoption Hash 16"];
        Ok(lines.into_iter().fold(s, |s, line| s.send(line).ready()).responds())
    }),
    should("option-case", "option names are case-insensitive")
        .script(|s| Ok(several_lines(s, "mUlTIpV", 2)?.search("startpos", "depth 4")))
        .judge(|case| has_lines(case, 2)),
    must("option-defaults-set", "every option accepts its own default").script(defaults),
    must("option-buttons", "every button can be pressed").script(buttons),
    should("option-spaces", "an option with blanks in its name is found")
        .script(|s| {
            let spaced = s.engine.options.iter().find_map(|option| {
                let name = &option.name;
                let is_spin = matches!(option.kind, OptionKind::Spin { .. });
                let default = option.default.as_ref().filter(|_| is_spin && name.contains(' '))?;
                Some(format!("setoption name {name} value {default}"))
            });
            let line = spaced.ok_or("the engine has no spin with a blank in its name")?;
            Ok(s.send(&line).responds())
        })
        .judge(not_refused),
    must("option-hash", "Hash can be set, also between searches").script(|s| {
        let (min, max) = s.engine.range("Hash")?;
        // The transposition table grows and shrinks, each time after a search has used the table.
        let sizes = [min.max(1), 8.clamp(min, max), 64.clamp(min, max), 1.clamp(min, max)];
        Ok(sizes.into_iter().fold(s, |s, size| s.set("Hash", size).search(OPEN_GAME, "depth 4")))
    }),
    should(
        "option-has-hash",
        "an engine has the option Hash, so that both engines of a match can use equal memory",
    )
    .judge(|case| case.engine.range("Hash").map(drop)),
    must("option-threads", "Threads can be set, also between searches").script(|s| {
        let (_, max) = s.engine.range("Threads")?;
        ensure(max >= 2, || "the engine has one thread".to_owned())?;
        // Between searches, threads are both added and removed.
        Ok([2, 1, 2].into_iter().fold(s, |s, n| s.set("Threads", n).search(OPEN_GAME, "depth 5")))
    }),
    should("multipv-count", "with MultiPV 3, there are three lines with different first moves")
        .script(|s| Ok(several_lines(s, "MultiPV", 3)?.search("startpos", "depth 5")))
        .judge(|case| has_lines(case, 3)),
    should(
        "multipv-order",
        "with MultiPV, the lines are numbered in the order of descending scores",
    )
    .script(|s| {
        let s = several_lines(s, "MultiPV", 4)?;
        Ok(s.search("startpos moves e2e4 e7e5 g1f3 d7d6", "depth 5"))
    })
    .judge(in_order),
    should("multipv-few-moves", "MultiPV may exceed the number of legal moves").script(|s| {
        // An engine that waits until it has four lines would never end this search.
        Ok(several_lines(s, "MultiPV", 4)?.search(ONLY_MOVE, "depth 4").responds())
    }),
];

const OPEN_GAME: &str = "startpos moves e2e4 e7e5";

/// Sets `MultiPV` by a name that may differ in case.
fn several_lines<'a>(script: Script<'a>, name: &str, count: i64) -> Result<Script<'a>, String> {
    let (_, max) = script.engine.range("MultiPV")?;
    ensure(max >= count, || format!("MultiPV is at most {max}"))?;
    Ok(script.set(name, count))
}

fn defaults(script: Script<'_>) -> Result<Script<'_>, String> {
    let options = &script.engine.options;
    ensure(!options.is_empty(), || "the engine has no options".to_owned())?;
    // String options are skipped, because setting a path could make the engine open a file.
    let is_safe = |kind: &OptionKind| !matches!(kind, OptionKind::Button | OptionKind::String);
    let safe = options.iter().filter(|option| is_safe(&option.kind));
    let defaults = safe.filter_map(|option| Some((&option.name, option.default.as_ref()?)));
    let lines = defaults.map(|(name, value)| format!("setoption name {name} value {value}"));
    Ok(lines.fold(script, |s, line| s.send(&line)).responds())
}

/// Words in the names of buttons that checks never press, because a check must neither change the
/// user's files nor end the engine.
const HARMFUL: [&str; 4] = ["save", "write", "delete", "quit"];

fn buttons(script: Script<'_>) -> Result<Script<'_>, String> {
    let is_harmless = |name: &&String| {
        let name = name.to_ascii_lowercase();
        !HARMFUL.iter().any(|word| name.contains(word))
    };
    let options = script.engine.options.iter();
    let buttons = options.filter(|option| option.kind == OptionKind::Button);
    let mut names = buttons.map(|button| &button.name).filter(is_harmless).peekable();
    ensure(names.peek().is_some(), || "the engine has no button".to_owned())?;
    let lines = names.map(|name| format!("setoption name {name}"));
    Ok(lines.fold(script, |s, line| s.send(&line).ready()).responds())
}

/// Replies of engines to an unknown option.
const REFUSALS: [&str; 4] =
    ["no such option", "unknown option", "no option", "unrecognized option"];

fn not_refused(case: &Case) -> Judgement {
    let is_refusal = |line: &str| {
        let line = line.to_ascii_lowercase();
        REFUSALS.iter().any(|refusal| line.contains(refusal))
    };
    match case.transcript.received().find(|(_, line)| is_refusal(line)) {
        Some((_, line)) => Err(format!("'{line}'")),
        None => legal_answers(case),
    }
}

/// Variation of a MultiPV search.
struct Line<'a> {
    number: i64,
    /// Score, in centipawns; `None` for a mate score.
    score: Option<i64>,
    first_move: &'a str,
}

/// Returns the MultiPV lines of the last iteration.
fn last_lines<'a>(case: &Case<'a>) -> Vec<Line<'a>> {
    let mut lines: Vec<Line> = Vec::new();
    for info in case.transcript.searches().iter().flat_map(|search| &search.infos) {
        // Lines with a bound are skipped, because the engine sends them again with the exact score.
        let first_move = info.pv().first().copied().filter(|_| !info.is_bound());
        let (Some(number), Some(first_move)) = (info.number("multipv"), first_move) else {
            continue;
        };
        // Line 1 of the next depth removes all lines of the previous depth. A repeated line
        // replaces the earlier line with the same number.
        lines.retain(|other| other.number < number);
        lines.push(Line { number, score: info.number("cp"), first_move });
    }
    lines
}

fn has_lines(case: &Case, count: usize) -> Judgement {
    legal_answers(case)?;
    let lines = last_lines(case);
    let numbers: Vec<i64> = lines.iter().map(|line| line.number).collect();
    let expected: Vec<i64> = (1..=count as i64).collect();
    ensure(numbers == expected, || {
        format!("the last lines are numbered {numbers:?}, expected {expected:?}")
    })?;
    let moves = lines.iter().map(|line| line.first_move).collect::<BTreeSet<_>>().len();
    ensure(moves == count, || format!("{count} lines, but {moves} different moves"))
}

fn in_order(case: &Case) -> Judgement {
    has_lines(case, 4)?;
    let scores: Vec<i64> = last_lines(case).iter().filter_map(|line| line.score).collect();
    let is_sorted = scores.is_sorted_by(|a, b| a >= b);
    ensure(is_sorted, || format!("the last lines have the scores {scores:?}"))
}
