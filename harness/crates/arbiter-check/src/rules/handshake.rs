//! How an engine introduces itself.

use std::collections::BTreeSet;

use super::super::engine_info::{EngineInfo, field, split_word};
use super::super::script::Script;
use super::super::{Case, Check, Grade};
use super::nothing_more;
use arbiter_protocol::uci::option::{OptionDeclaration, OptionKind};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "uciok",
        grade: Grade::Must,
        says: "uci is answered, and the answer ends with uciok",
        script: introduction,
        judge: nothing_more,
        is_timed: false,
    },
    Check {
        name: "id-name",
        grade: Grade::Must,
        says: "an engine gives its name in answer to uci",
        script: introduction,
        judge: |case| named(case.engine.name.as_deref(), "id name"),
        is_timed: false,
    },
    Check {
        name: "id-author",
        grade: Grade::Should,
        says: "an engine names its author in answer to uci",
        script: introduction,
        judge: |case| named(case.engine.author.as_deref(), "id author"),
        is_timed: false,
    },
    Check {
        name: "option-lines",
        grade: Grade::Must,
        says: "every option line has a name, a known type, and what that type needs",
        script: introduction,
        judge: |case| case.engine.option_lines.iter().try_for_each(|line| well_formed(line)),
        is_timed: false,
    },
    Check {
        name: "option-defaults",
        grade: Grade::Must,
        says: "the default of an option is a value that the option takes",
        script: introduction,
        judge: |case| case.engine.option_lines.iter().try_for_each(|line| sound_default(line)),
        is_timed: false,
    },
    Check {
        name: "option-names",
        grade: Grade::Must,
        says: "no two options have the same name, whatever the case of its letters",
        script: introduction,
        judge: |case| distinct(case.engine),
        is_timed: false,
    },
    Check {
        name: "silence-before-uci",
        grade: Grade::Must,
        says: "before uci, an engine says nothing that could be taken for an answer",
        script: |_| Ok(Script::raw().collect_for(300).send("uci").expect("uciok")),
        judge: silent_before,
        is_timed: false,
    },
    Check {
        name: "handshake-clean",
        grade: Grade::Nice,
        says: "between uci and uciok there is nothing but id, option and info lines",
        // What a program prints when it starts may come after the first uci.
        script: |_| Ok(Script::after_handshake().send("uci").expect("uciok")),
        judge: nothing_else,
        is_timed: false,
    },
    Check {
        name: "uci-twice",
        grade: Grade::Should,
        says: "a second uci is answered like the first",
        script: |_| Ok(Script::after_handshake().send("uci").expect("uciok").responds()),
        judge: nothing_more,
        is_timed: false,
    },
];

fn introduction(_: &EngineInfo) -> Result<Script, String> {
    Ok(Script::raw().send("uci").expect("uciok"))
}

fn named(value: Option<&str>, what: &str) -> Result<(), String> {
    match value {
        Some(text) if !text.trim().is_empty() => Ok(()),
        Some(_) => Err(format!("{what} is empty")),
        None => Err(format!("no {what} before uciok")),
    }
}

fn well_formed(line: &str) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("'option {line}': {what}"));
    let Some(option) = OptionDeclaration::parse(line) else {
        return wrong("no name, or no known type");
    };
    let is_number = |key| field(line, key).is_some_and(|value| value.parse::<i64>().is_ok());
    match &option.kind {
        OptionKind::Spin { .. } if !["default", "min", "max"].into_iter().all(is_number) => {
            wrong("a spin needs the numbers default, min and max")
        }
        OptionKind::Spin { min, max } if min > max => wrong("min is more than max"),
        OptionKind::Combo { values } if values.is_empty() => wrong("a combo needs values (var)"),
        OptionKind::Check | OptionKind::Combo { .. } if field(line, "default").is_none() => {
            wrong("it needs a default")
        }
        _ => Ok(()),
    }
}

fn sound_default(line: &str) -> Result<(), String> {
    let (Some(option), Some(default)) = (OptionDeclaration::parse(line), field(line, "default"))
    else {
        return Ok(());
    };
    let fits = match &option.kind {
        OptionKind::Check => matches!(default.as_str(), "true" | "false"),
        OptionKind::Spin { min, max } => {
            default.parse::<i64>().map_or(true, |number| (*min..=*max).contains(&number))
        }
        OptionKind::Combo { values } => values.contains(&default),
        OptionKind::Button | OptionKind::String => true,
    };
    match fits {
        true => Ok(()),
        false => Err(format!("option {} does not take its own default '{default}'", option.name)),
    }
}

fn distinct(engine: &EngineInfo) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for declared in &engine.options {
        if !seen.insert(declared.option.name.to_ascii_lowercase()) {
            return Err(format!("option {} comes twice", declared.option.name));
        }
    }
    Ok(())
}

/// Words that open an answer.
const ANSWERS: [&str; 6] = ["id", "option", "uciok", "readyok", "bestmove", "copyprotection"];

fn silent_before(case: &Case) -> Result<(), String> {
    let asked = case.transcript.sent_at("uci").unwrap_or_default();
    let early = case.transcript.received().take_while(|(at, _)| *at < asked);
    let mut answers = early.filter(|(_, line)| ANSWERS.contains(&split_word(line).0));
    match answers.next() {
        Some((_, line)) => Err(format!("'{line}' before uci")),
        None => Ok(()),
    }
}

fn nothing_else(case: &Case) -> Result<(), String> {
    let asked = case.transcript.sent_at("uci").unwrap_or_default();
    let answer = case.transcript.received().filter(|(at, _)| *at >= asked).map(|(_, line)| line);
    let until_end = answer.take_while(|line| line.trim() != "uciok");
    let mut others = until_end.filter(|line| {
        !matches!(
            split_word(line).0,
            "" | "id" | "option" | "info" | "copyprotection" | "registration"
        )
    });
    match others.next() {
        Some(line) => Err(format!("'{line}' before uciok")),
        None => Ok(()),
    }
}
