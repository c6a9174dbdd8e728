//! Rust source as tokens with lines: just enough of a lexer to tell code from
//! comments and strings, and product code from tests.

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The text as written; `::` is one token, every other punctuation is one
    /// character.
    pub text: &'a str,
    /// The line, counted from one.
    pub line: usize,
    /// Whether it belongs to an item marked `#[cfg(test)]`.
    pub in_test: bool,
}

impl Token<'_> {
    /// Whether this is an identifier or a keyword.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !self.text.ends_with(['"', '\''])
            && !self.text.ends_with('#')
    }
}

/// A file, read.
#[derive(Debug)]
pub struct Source<'a> {
    /// Everything but comments and white space.
    pub tokens: Vec<Token<'a>>,
    /// The comments: first line and text.
    pub comments: Vec<(usize, &'a str)>,
}

impl<'a> Source<'a> {
    /// Reads the file. A file that holds a module of tests by its name
    /// (`tests.rs`, `tests/…` below `src`) is a test as a whole.
    pub fn read(path: &str, text: &'a str) -> Source<'a> {
        let mut source = Source { tokens: Vec::new(), comments: Vec::new() };
        let mut lexer = Lexer { text, at: 0, line: 1 };
        while let Some(piece) = lexer.next_piece() {
            match piece {
                Piece::Token(text, line) => {
                    source.tokens.push(Token { text, line, in_test: is_test_file(path) });
                }
                Piece::Comment(text, line) => source.comments.push((line, text)),
            }
        }
        mark_tests(&mut source.tokens);
        source
    }

    /// Whether the tokens from `index` on read like `pattern`, which is tokens
    /// separated by spaces.
    pub fn matches(&self, index: usize, pattern: &str) -> bool {
        let mut tokens = self.tokens[index..].iter();
        pattern.split(' ').all(|word| tokens.next().is_some_and(|token| token.text == word))
    }
}

/// Whether the whole file is a module of tests.
pub fn is_test_file(path: &str) -> bool {
    path.split_once("/src/").is_some_and(|(_, inner)| {
        inner.split('/').any(|part| part == "tests" || part == "tests.rs")
    })
}

enum Piece<'a> {
    Token(&'a str, usize),
    Comment(&'a str, usize),
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn next_piece(&mut self) -> Option<Piece<'a>> {
        let blank = self.rest().len() - self.rest().trim_start().len();
        self.take(blank);
        let first = self.rest().chars().next()?;
        let line = self.line;
        let length = match first {
            '/' if self.rest().starts_with("//") => {
                self.rest().find('\n').unwrap_or(self.rest().len())
            }
            '/' if self.rest().starts_with("/*") => block_comment(self.rest()),
            _ => {
                let length = token(self.rest());
                return Some(Piece::Token(self.take(length), line));
            }
        };
        Some(Piece::Comment(self.take(length), line))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + length];
        self.at += length;
        self.line += taken.matches('\n').count();
        taken
    }
}

/// The length of a block comment, which may hold others.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of the token at the start of `text`, which is not empty.
fn token(text: &str) -> usize {
    let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (prefix, rest) = text.split_at(word);
    if rest.starts_with('"') && matches!(prefix, "" | "b" | "c") {
        return word + quoted(rest, '"');
    }
    if matches!(prefix, "r" | "br" | "cr") && rest.starts_with(['"', '#']) {
        return word + raw(rest);
    }
    if rest.starts_with('\'') && matches!(prefix, "" | "b") {
        return word + char_or_lifetime(rest);
    }
    if word > 0 {
        let fraction = rest.strip_prefix('.').map_or(0, |rest| {
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
        });
        let is_number = prefix.starts_with(|c: char| c.is_ascii_digit());
        let has_digits = rest[1.min(rest.len())..].starts_with(|c: char| c.is_ascii_digit());
        return if is_number && has_digits { word + 1 + fraction } else { word };
    }
    if text.starts_with("::") {
        return 2;
    }
    text.chars().next().map_or(1, char::len_utf8)
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A raw string from its first `#` or `"` on, or the rest of a raw identifier.
fn raw(text: &str) -> usize {
    let hashes = text.len() - text.trim_start_matches('#').len();
    if !text[hashes..].starts_with('"') {
        return hashes;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    text[hashes + 1..].find(&end).map_or(text.len(), |at| hashes + 1 + at + end.len())
}

fn char_or_lifetime(text: &str) -> usize {
    let mut chars = text.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (_, Some('\'')) => quoted(text, '\''),
        _ => 1 + text[1..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(0),
    }
}

/// Marks every item that follows `#[cfg(test)]`.
fn mark_tests(tokens: &mut [Token<'_>]) {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut at = 0;
    while at + MARK.len() <= tokens.len() {
        if !tokens[at..].iter().zip(MARK).all(|(token, mark)| token.text == mark) {
            at += 1;
            continue;
        }
        let end = end_of_item(tokens, at + MARK.len());
        tokens[at..=end].iter_mut().for_each(|token| token.in_test = true);
        at = end + 1;
    }
}

/// The index of the last token of the item that starts at `at`.
fn end_of_item(tokens: &[Token<'_>], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at].text {
            ";" => return at,
            "{" => return closing(tokens, at),
            "(" | "[" => at = closing(tokens, at) + 1,
            _ => at += 1,
        }
    }
    tokens.len() - 1
}

fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len() - 1
}

#[test]
fn code_is_told_from_comments_strings_and_lifetimes() {
    let text = r##"
        /* outer /* inner */ still */ let a = "// no comment \" {"; // yes
        let b = r#"a "quoted" {"#; let c = '{'; let d: &'static str = b'\''; 1..2; 1.5; x.0.y
    "##;
    let source = Source::read("harness/src/a.rs", text);
    let tokens: Vec<&str> = source.tokens.iter().map(|token| token.text).collect();
    let expected = [
        "let",
        "a",
        "=",
        r#""// no comment \" {""#,
        ";",
        "let",
        "b",
        "=",
        "r#\"a \"quoted\" {\"#",
        ";",
        "let",
        "c",
        "=",
        "'{'",
        ";",
        "let",
        "d",
        ":",
        "&",
        "'static",
        "str",
        "=",
        r"b'\''",
        ";",
        "1",
        ".",
        ".",
        "2",
        ";",
        "1.5",
        ";",
        "x",
        ".",
        "0",
        ".",
        "y",
    ];
    assert_eq!(tokens, expected);
    assert_eq!(source.comments.len(), 2);
    assert_eq!(source.tokens.last().map(|token| token.line), Some(3));
}

#[test]
fn an_item_marked_as_test_is_a_test_to_its_end() {
    let text = "fn a() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n fn b() { {} }\n}\nfn c() {}";
    let source = Source::read("harness/src/a.rs", text);
    let product: String =
        source.tokens.iter().filter(|token| !token.in_test).map(|token| token.text).collect();
    assert_eq!(product, "fna(){}fnc(){}");
    let whole = Source::read("harness/src/a/tests.rs", text);
    assert!(whole.tokens.iter().all(|token| token.in_test));
}
