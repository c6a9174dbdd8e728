//! Checks of the answer to `uci`.

use std::collections::BTreeSet;

use super::{ensure, must, nice, nothing_more, should};
use crate::engine_info::EngineInfo;
use crate::script::Script;
use crate::transcript::split_word;
use crate::{Case, Check, Judgement};
use arbiter_protocol::{OptionDeclaration, OptionKind};

pub(super) const CHECKS: &[Check] = &[
    must("uciok", "uci is answered, and the answer ends with uciok").script(introduction),
    must("id-name", "an engine gives its name in answer to uci")
        .script(introduction)
        .judge(|case| named(case.engine.name.as_deref(), "id name")),
    should("id-author", "an engine names its author in answer to uci")
        .script(introduction)
        .judge(|case| named(case.engine.author.as_deref(), "id author")),
    must("option-lines", "every option line has a name, a known type, and the fields of this type")
        .script(introduction)
        .judge(|case| case.engine.option_lines.iter().try_for_each(|line| well_formed(line))),
    must("option-defaults", "the default of an option is a valid value of the option")
        .script(introduction)
        .judge(|case| case.engine.options.iter().try_for_each(sound_default)),
    must("option-names", "no two options have the same name, ignoring case")
        .script(introduction)
        .judge(|case| distinct(case.engine)),
    must(
        "silence-before-uci",
        "before uci, an engine prints nothing that could be mistaken for a reply",
    )
    .script(|s| introduction(s.collect(300)))
    .judge(silent_before),
    // Output at the start of the program may arrive after the first `uci`, so `uci` is sent again.
    nice("handshake-clean", "between uci and uciok there are only id, option and info lines")
        .script(|s| Ok(s.send("uci").expect("uciok")))
        .judge(nothing_else),
    should("uci-twice", "a second uci is answered like the first")
        .script(|s| Ok(s.send("uci").expect("uciok").responds()))
        .judge(nothing_more),
];

fn introduction(script: Script<'_>) -> Result<Script<'_>, String> {
    Ok(script.raw().send("uci").expect("uciok"))
}

fn named(value: Option<&str>, what: &str) -> Judgement {
    let value = value.ok_or_else(|| format!("no {what} before uciok"))?;
    ensure(!value.trim().is_empty(), || format!("{what} is empty"))
}

fn well_formed(line: &str) -> Judgement {
    let wrong = |what: &str| Err(format!("'option {line}': {what}"));
    let option = OptionDeclaration::parse(line).filter(OptionDeclaration::has_known_type);
    let Some(option) = option else {
        return wrong("no name, or no known type");
    };
    let is_number = |key| field(line, key).is_some_and(|value| value.parse::<i64>().is_ok());
    match &option.kind {
        OptionKind::Spin { .. } if !["default", "min", "max"].into_iter().all(is_number) => {
            wrong("a spin needs the numbers default, min and max")
        }
        OptionKind::Spin { min, max } if min > max => wrong("min is more than max"),
        OptionKind::Combo { values } if values.is_empty() => wrong("a combo needs values (var)"),
        OptionKind::Check | OptionKind::Combo { .. } if option.default.is_none() => {
            wrong("it needs a default")
        }
        _ => Ok(()),
    }
}

/// Returns the text of a field in an `option` line, up to the next field; `None` if the field is
/// missing.
fn field(line: &str, key: &str) -> Option<String> {
    const KEYS: [&str; 6] = ["name", "type", "default", "min", "max", "var"];
    // An option name may contain the names of fields, so the search starts at the type.
    let mut words = line.split_ascii_whitespace().skip_while(|word| *word != "type");
    words.find(|word| *word == key)?;
    Some(words.take_while(|word| !KEYS.contains(word)).collect::<Vec<_>>().join(" "))
}

fn sound_default(option: &OptionDeclaration) -> Judgement {
    let Some(default) = &option.default else { return Ok(()) };
    let fits = match &option.kind {
        OptionKind::Check => matches!(default.as_str(), "true" | "false"),
        OptionKind::Spin { min, max } => {
            // The check option-lines already fails if the default is not a number.
            default.parse::<i64>().map_or(true, |number| (*min..=*max).contains(&number))
        }
        OptionKind::Combo { values } => values.contains(default),
        // A button has no value, a string may have any value, and unknown types are not checked.
        OptionKind::Button | OptionKind::String | OptionKind::Unknown(_) => true,
    };
    ensure(fits, || format!("option {} does not take its own default '{default}'", option.name))
}

fn distinct(engine: &EngineInfo) -> Judgement {
    let mut names = BTreeSet::new();
    engine.options.iter().try_for_each(|option| {
        // UCI ignores the case of option names, so `setoption` could not distinguish the two
        // options.
        let is_new = names.insert(option.name.to_ascii_lowercase());
        ensure(is_new, || format!("option {} comes twice", option.name))
    })
}

/// First words of lines that are answers to commands.
const ANSWERS: [&str; 6] = ["id", "option", "uciok", "readyok", "bestmove", "copyprotection"];

/// First words of lines that are allowed in the answer to `uci`.
const INTRODUCTION: [&str; 6] = ["", "id", "option", "info", "copyprotection", "registration"];

fn silent_before(case: &Case) -> Judgement {
    let uci_sent_at = case.transcript.sent_at("uci");
    let mut early = case.transcript.received().take_while(|(at, _)| *at < uci_sent_at);
    let answer = early.find(|(_, line)| ANSWERS.contains(&split_word(line).0));
    answer.map_or(Ok(()), |(_, line)| Err(format!("'{line}' before uci")))
}

fn nothing_else(case: &Case) -> Judgement {
    let uci_sent_at = case.transcript.sent_at("uci");
    let answer =
        case.transcript.received().filter(|(at, _)| *at >= uci_sent_at).map(|(_, line)| line);
    let mut until_end = answer.take_while(|line| line.trim() != "uciok");
    let other = until_end.find(|line| !INTRODUCTION.contains(&split_word(line).0));
    other.map_or(Ok(()), |line| Err(format!("'{line}' before uciok")))
}
