//! Name, author and options of an engine.

use super::transcript::{Transcript, split_word};
use arbiter_protocol::{OptionDeclaration, OptionKind};

/// Answer of an engine to `uci`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineInfo {
    /// Text of `id name`.
    pub name: Option<String>,
    /// Text of `id author`.
    pub author: Option<String>,
    /// Arguments of all `option` lines, including invalid lines.
    pub(super) option_lines: Vec<String>,
    /// Options from the `option` lines that could be parsed.
    pub(super) options: Vec<OptionDeclaration>,
    /// `true` if `uciok` was received.
    pub(super) is_complete: bool,
}

impl EngineInfo {
    /// Reads the answer from a transcript in which `uci` was the first line sent.
    pub(super) fn read(transcript: &Transcript) -> EngineInfo {
        let mut engine = EngineInfo::default();
        for (_, line) in transcript.received() {
            let (word, rest) = split_word(line);
            match (word, split_word(rest)) {
                ("uciok", _) => {
                    // Lines after `uciok` are not part of the answer.
                    engine.is_complete = true;
                    break;
                }
                ("id", ("name", name)) => engine.name = Some(name.to_owned()),
                ("id", ("author", author)) => engine.author = Some(author.to_owned()),
                ("option", _) => {
                    engine.option_lines.push(rest.to_owned());
                    let option = OptionDeclaration::parse(rest);
                    engine.options.extend(option.filter(OptionDeclaration::has_known_type));
                }
                _ => {}
            }
        }
        engine
    }

    /// Returns whether the engine sent a name, an option or `uciok`.
    pub fn speaks_uci(&self) -> bool {
        self.is_complete || self.name.is_some() || !self.option_lines.is_empty()
    }

    /// Returns the option with this name, ignoring case. The error is the reason for skipping a
    /// check.
    pub(super) fn option(&self, name: &str) -> Result<&OptionDeclaration, String> {
        // UCI ignores the case of option names.
        let found = self.options.iter().find(|option| option.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| format!("the engine has no option {name}"))
    }

    /// Returns the minimum and the maximum of a spin option. The error is the reason for skipping a
    /// check.
    pub(super) fn range(&self, name: &str) -> Result<(i64, i64), String> {
        match self.option(name)?.kind {
            OptionKind::Spin { min, max } => Ok((min, max)),
            _ => Err(format!("the option {name} is not a spin")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::transcript::tests::transcript;
    use super::*;

    #[test]
    fn name_and_options_are_read_from_the_answer_to_uci() {
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
        let style = engine.option("default style").unwrap();
        assert_eq!(style.default.as_deref(), Some("Very Solid"));
        assert!(engine.option("Ponder").is_err());
    }
}
