//! Tags of a game.

use std::borrow::Cow;

use arbiter_names::shown;
use arbiter_position::Start;
use shakmaty::{CastlingMode, Chess, KnownOutcome, Outcome};

use super::blanks::trimmed;
use super::words::{Meaning, meaning};

/// Maximum length of a stored name, in bytes.
pub const MAX_NAME: usize = 200;

/// Values of the `Variant` tag that mean standard chess, reduced to lowercase letters and digits,
/// without the word `chess`.
const CHESS: &str = "standard normal regular fromposition classical orthodox";
/// Values of the `Variant` tag that mean Chess960, in the same form.
const CHESS960: &str =
    "960 fischerandom fischerrandom frc dfrc doublefischerrandom freestyle wildfr";

/// Returns a tag value as a string. Valid UTF-8 is decoded as UTF-8, and any other value as
/// Latin-1, the encoding of the PGN standard. White space is reduced to single spaces. Control
/// characters are replaced as in [`shown`].
pub fn text_of(bytes: &[u8]) -> String {
    let text = match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // A long name that was truncated within a character is still UTF-8.
        Err(error) if error.error_len().is_none() && bytes.len() == MAX_NAME => {
            String::from_utf8_lossy(bytes)
        }
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shown(text)
}

/// Values of the tags that commands need, as written in the file; missing tags are empty.
#[derive(Debug, Default)]
pub struct Tags {
    /// `true` if the game has at least one tag.
    pub any: bool,
    /// Name of a tag that occurs twice with different values; `None` if there is no such tag.
    pub two_valued: Option<&'static str>,
    /// White's name.
    pub white: Vec<u8>,
    /// Black's name.
    pub black: Vec<u8>,
    /// Result of the game.
    pub result: Vec<u8>,
    /// Starting position, as a FEN; empty for the initial position.
    pub fen: Vec<u8>,
    /// Reason for the end of the game.
    pub termination: Vec<u8>,
    /// Variant of the rules.
    pub variant: Vec<u8>,
    /// Result at the end of the moves.
    pub(crate) written: Option<Outcome>,
    /// `true` if the moves are followed by two different results.
    pub(crate) has_two_results: bool,
}

impl Tags {
    /// Clears all tags but keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        let Tags { any, two_valued, written, has_two_results, .. } = self;
        (*any, *two_valued, *written, *has_two_results) = (false, None, None, false);
        let Tags { white, black, result, fen, termination, variant, .. } = self;
        [white, black, result, fen, termination, variant].into_iter().for_each(Vec::clear);
    }

    /// Sets the value of a tag; ignores tags that no command needs.
    pub(crate) fn set(&mut self, name: &[u8], value: &[u8]) {
        self.any = true;
        let known: [(&str, &mut Vec<u8>); 6] = [
            ("White", &mut self.white),
            ("Black", &mut self.black),
            ("Result", &mut self.result),
            ("FEN", &mut self.fen),
            ("Termination", &mut self.termination),
            ("Variant", &mut self.variant),
        ];
        let (name, value) = (trimmed(name), value.trim_ascii());
        let is_known = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let is_placeholder = |value: &[u8]| matches!(value, b"" | b"?" | b"*");
        for (known, target) in known.into_iter().filter(|(known, _)| is_known(known)) {
            let has_value = !is_placeholder(target);
            // A placeholder does not contradict a value.
            if has_value && is_placeholder(value) {
                continue;
            }
            if has_value && target != value {
                self.two_valued = Some(known);
            }
            target.clear();
            target.extend_from_slice(value);
        }
        // Some programs write all tags, including tags without a value.
        if matches!(self.fen.as_slice(), b"?" | b"-" | b"*" | b"startpos") {
            self.fen.clear();
        }
    }

    /// Returns the result of the game: the value of the `Result` tag or, if the tag is missing, the
    /// result at the end of the moves. Returns `None` if the game has no result.
    ///
    /// # Errors
    ///
    /// Fails if two results contradict each other; `*` contradicts a win or draw.
    pub fn outcome(&self) -> Result<Option<KnownOutcome>, &'static str> {
        let is_visible = |byte: &u8| !byte.is_ascii_whitespace();
        let word: Vec<u8> = self.result.iter().copied().filter(is_visible).collect();
        let tag = match (meaning(&word, b"").0, word.as_slice()) {
            (_, b"" | b"?") => None,
            (Meaning::Outcome(outcome), _) => Outcome::from_ascii(outcome.as_bytes()).ok(),
            _ => Some(Outcome::Unknown),
        };
        match (tag, self.written) {
            _ if self.has_two_results => Err("contradicting results"),
            (Some(tag), Some(written)) if tag != written => Err("contradicting results"),
            _ => Ok(tag.or(self.written).and_then(Outcome::known)),
        }
    }

    /// Returns the names of the players and the result, in one line.
    pub fn title(&self) -> String {
        let part = |text: &[u8]| text_of(&text[..text.len().min(MAX_NAME)]);
        format!("{} - {} {}", part(&self.white), part(&self.black), part(&self.result))
    }

    /// Returns the starting position of the game, with the castling mode.
    ///
    /// # Errors
    ///
    /// Fails if the variant is neither chess nor Chess960, if the `FEN` tag is not a valid
    /// position, or if a tag has two values.
    pub fn start(&self) -> Result<Start, String> {
        if let Some(name) = self.two_valued {
            return Err(format!("expected one value of the tag `{name}`, got two"));
        }
        let is_chess960 = self.is_chess960()?;
        if self.fen.is_empty() {
            return Ok(Start::new(Chess::default(), CastlingMode::from_chess960(is_chess960)));
        }
        Start::read(&text_of(&self.fen), is_chess960)
    }

    /// Returns whether the `Variant` tag means Chess960.
    ///
    /// # Errors
    ///
    /// Fails if the variant is neither chess nor Chess960.
    pub fn is_chess960(&self) -> Result<bool, String> {
        let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric();
        let letters = self.variant.iter().filter(is_letter).map(u8::to_ascii_lowercase);
        let letters = letters.map(char::from).collect::<String>().replace("chess", "");
        let is_of = |names: &str| names.split(' ').any(|name| name == letters);
        if letters.is_empty() || is_of(CHESS) {
            Ok(false)
        } else if is_of(CHESS960) {
            Ok(true)
        } else {
            Err(format!("expected chess or Chess960, got `{}`", text_of(&self.variant)))
        }
    }
}
