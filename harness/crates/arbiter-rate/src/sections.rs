//! A block of games cut into sections, and places in it.

/// Counts lines up to places that come in order.
pub(crate) struct LineCounter<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    /// At the start of `text`.
    pub(crate) fn new(text: &'a [u8]) -> LineCounter<'a> {
        LineCounter { text, at: 0, line: 0 }
    }

    /// Newlines before `place`.
    pub(crate) fn of(&mut self, place: usize) -> u64 {
        let newlines = |from: usize, to: usize| {
            memchr::memchr_iter(b'\n', &self.text[from..to]).count() as u64
        };
        match place >= self.at {
            true => self.line += newlines(self.at, place),
            false => self.line -= newlines(place, self.at),
        }
        self.at = place;
        self.line
    }
}

/// Where `part` begins in the text that it is a part of.
pub(crate) fn offset(text: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// Tags and moves of a section that is one game in the usual form: lines that are tags, an empty
/// line, lines of moves. `None` if it may be anything else.
pub(crate) fn plain_game(section: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut start = 0;
    loop {
        match section.get(start)? {
            b'[' => start += memchr::memchr(b'\n', &section[start..])? + 1,
            b'\n' if start > 0 => break,
            b'\r' if start > 0 && section.get(start + 1) == Some(&b'\n') => break,
            _ => return None,
        }
    }
    let (tags, moves) = section.split_at(start);
    let moves = moves.trim_ascii();
    let is_special = |at: usize| matches!(moves[at + 1], b'\n' | b'\r' | b'[' | b'%');
    let is_plain = !moves.starts_with(b"[") && !memchr::memchr_iter(b'\n', moves).any(is_special);
    is_plain.then_some((tags, moves))
}

/// Cuts a text where a tag stands after an empty line and something that is no tag. Usually that is
/// each game; but a comment that is never closed must not swallow the games after its own.
pub(crate) fn sections(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let newline = memchr::memchr(b'\n', text).unwrap_or(0);
    let is_dos = newline > 0 && text[newline - 1] == b'\r';
    let needle: &[u8] = if is_dos { b"\n\r\n[" } else { b"\n\n[" };
    let is_tag = move |at: usize| {
        let is_named = text.get(at + needle.len()).is_some_and(u8::is_ascii_alphabetic);
        is_named && text[..at].trim_ascii_end().last() != Some(&b']')
    };
    let mut ends = memchr::memmem::find_iter(text, needle)
        .filter(move |at| is_tag(*at))
        .map(move |at| at + needle.len() - 1)
        .chain([text.len()]);
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = ends.next()?;
        Some(&text[std::mem::replace(&mut start, end)..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_games_are_taken_for_such() {
        let game = |moves: &str| format!("[White \"A\"]\n[Black \"B\"]\n\n{moves}\n\n");
        let plain = game("1. e4 {x} e5\n2. Nf3 1-0");
        assert!(plain_game(plain.as_bytes()).is_some());
        assert!(plain_game(plain.replace('\n', "\r\n").as_bytes()).is_some());
        for text in [
            game("1. e4 {x\n\ny} 1-0"),
            game("1. e4\n[White \"C\"]"),
            game("1. e4\n% {\n1-0"),
            game("\n[Date \"x\"]\n\n1. e4 1-0"),
            plain.replacen('\n', "\n; a note\n", 1),
            plain.replacen("]\n\n", "]\n", 1),
            format!("\n{plain}"),
        ] {
            assert!(plain_game(text.as_bytes()).is_none(), "{text}");
        }
    }
}
