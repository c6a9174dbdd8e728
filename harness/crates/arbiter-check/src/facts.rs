//! What an engine says of itself.

use super::talk::Talk;
use arbiter_protocol::uci::option::{OptionDeclaration, OptionKind};

/// Name, author and options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
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

impl Facts {
    /// Reads them from a conversation that begins with `uci`.
    pub fn read(talk: &Talk) -> Facts {
        let mut facts = Facts::default();
        for line in talk.heard_after("uci") {
            let (word, rest) = split_word(line);
            match (word, split_word(rest)) {
                ("uciok", _) => {
                    facts.is_complete = true;
                    break;
                }
                ("id", ("name", name)) => facts.name = Some(name.to_owned()),
                ("id", ("author", author)) => facts.author = Some(author.to_owned()),
                ("option", _) => {
                    facts.option_lines.push(rest.to_owned());
                    let option = OptionDeclaration::parse(rest);
                    facts
                        .options
                        .extend(option.map(|option| Declared { option, default: default(rest) }));
                }
                _ => {}
            }
        }
        facts
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
    use super::super::talk::tests::talk;
    use super::*;

    #[test]
    fn an_engine_introduces_itself() {
        let facts = Facts::read(&talk(
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
        assert_eq!(facts.name.as_deref(), Some("Some Engine 1.0"));
        assert!(facts.is_complete && facts.author.is_some());
        assert_eq!(facts.option_lines.len(), 3);
        assert_eq!(facts.range("hash"), Ok((1, 64)));
        let style = facts.needs("default style").unwrap();
        assert_eq!(style.default.as_deref(), Some("Very Solid"));
        assert!(facts.needs("Ponder").is_err());
    }
}
