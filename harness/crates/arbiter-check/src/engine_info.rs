//! Name, author and options of an engine.

use super::transcript::Transcript;
use arbiter_protocol::uci::option::{OptionDeclaration, OptionKind};

/// Name, author and options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineInfo {
    /// `id name`.
    pub name: Option<String>,
    /// `id author`.
    pub author: Option<String>,
    /// What follows `option`, line by line.
    pub option_lines: Vec<String>,
    /// The options that could be understood.
    pub options: Vec<Declared>,
    /// Whether `uciok` came.
    pub is_complete: bool,
}

/// An option with its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Name and type.
    pub option: OptionDeclaration,
    /// Its default, if it names one; an empty string as such.
    pub default: Option<String>,
}

impl EngineInfo {
    /// Reads them from a transcript that begins with `uci`.
    pub fn read(transcript: &Transcript) -> EngineInfo {
        let mut engine = EngineInfo::default();
        for line in transcript.received_after("uci") {
            let (word, rest) = split_word(line);
            match (word, split_word(rest)) {
                ("uciok", _) => {
                    engine.is_complete = true;
                    break;
                }
                ("id", ("name", name)) => engine.name = Some(name.to_owned()),
                ("id", ("author", author)) => engine.author = Some(author.to_owned()),
                ("option", _) => {
                    engine.option_lines.push(rest.to_owned());
                    let option = OptionDeclaration::parse(rest);
                    engine
                        .options
                        .extend(option.map(|option| Declared { option, default: default(rest) }));
                }
                _ => {}
            }
        }
        engine
    }

    /// The option of this name, whatever its case.
    pub fn option(&self, name: &str) -> Option<&Declared> {
        self.options.iter().find(|declared| declared.option.name.eq_ignore_ascii_case(name))
    }

    /// The option of this name, or that it is missing as the reason to skip a check.
    pub fn needs(&self, name: &str) -> Result<&Declared, String> {
        self.option(name).ok_or_else(|| format!("the engine has no option {name}"))
    }

    /// The range of a spin option.
    pub fn range(&self, name: &str) -> Result<(i64, i64), String> {
        match self.needs(name)?.option.kind {
            OptionKind::Spin { min, max } => Ok((min, max)),
            _ => Err(format!("the option {name} is no spin")),
        }
    }
}

/// The words of a field of an option line, up to the next field; `None` if it has no such field.
pub(super) fn field(line: &str, key: &str) -> Option<String> {
    const KEYS: [&str; 6] = ["name", "type", "default", "min", "max", "var"];
    // Names may have such words in them, so look behind the type.
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let type_at = words.iter().position(|word| *word == "type")?;
    let at = type_at + words[type_at..].iter().position(|word| *word == key)?;
    let value: Vec<&str> =
        words[at + 1..].iter().copied().take_while(|word| !KEYS.contains(word)).collect();
    Some(value.join(" "))
}

fn default(line: &str) -> Option<String> {
    field(line, "default")
}

/// The first word of a line and the rest, without blanks around.
pub(super) fn split_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    match line.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (line, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::transcript::tests::transcript;
    use super::*;

    #[test]
    fn an_engine_introduces_itself() {
        let engine = EngineInfo::read(&transcript(
            "< hello
             > uci
             < id name Some Engine 1.0
             < id author A. B.
             < option name Hash type spin default 16 min 1 max 64
             < option name Default Style type combo default Very Solid var Very Solid var Wild
             < option nonsense
             < uciok
             < id name Other",
        ));
        assert_eq!(engine.name.as_deref(), Some("Some Engine 1.0"));
        assert!(engine.is_complete && engine.author.is_some());
        assert_eq!(engine.option_lines.len(), 3);
        assert_eq!(engine.range("hash"), Ok((1, 64)));
        let style = engine.needs("default style").unwrap();
        assert_eq!(style.default.as_deref(), Some("Very Solid"));
        assert!(engine.needs("Ponder").is_err());
    }
}
