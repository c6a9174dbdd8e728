//! The paths that a file names, with `self` and `super` resolved.

use crate::tidy::source::{Source, Token};

/// A path that code names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its segments; the first is `crate` or the name of a crate.
    pub path: Vec<String>,
    /// The line of its last segment.
    pub line: usize,
    /// Whether only tests name it.
    pub in_test: bool,
}

/// Names that are neither modules nor crates though they start paths: the types
/// of the language and the tools that attributes address.
const BUILT_IN: [&str; 19] = [
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16",
    "u32", "u64", "u8", "usize", "clippy", "rustfmt",
];

/// Collects the paths of a file whose module is `home`, except those that start
/// with a name the file itself declares or imports: where that comes from is
/// listed already.
pub fn named_paths(source: &Source<'_>, home: &[String]) -> Vec<Named> {
    let local = local_names(source);
    let is_local = |named: &Named| {
        let first = named.path[0].as_str();
        let is_type = first.starts_with(char::is_uppercase);
        is_type || BUILT_IN.contains(&first) || named.path.len() > 1 && local.contains(&first)
    };
    all_paths(source, home).into_iter().filter(|named| !is_local(named)).collect()
}

/// The modules that a file declares and the names that its `use` lines bind.
fn local_names<'a>(source: &Source<'a>) -> Vec<&'a str> {
    let tokens = &source.tokens;
    let mut names = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map(|token| token.text);
        match token.text {
            "mod" | "as" => names.extend(next),
            "use" => {
                let mut tree = Vec::new();
                use_tree(tokens, index + 1, &[], &mut tree);
                // A crate that is imported as a whole is still that crate.
                let nested = tree.iter().filter(|(path, _)| path.len() > 1);
                names.extend(nested.filter_map(|(path, _)| path.last()));
            }
            _ => {}
        }
    }
    names
}

fn all_paths(source: &Source<'_>, home: &[String]) -> Vec<Named> {
    let tokens = &source.tokens;
    let mut found = Vec::new();
    let mut inline: Vec<(String, usize)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        inline.retain(|(_, end)| at <= *end);
        let here: Vec<&str> = home
            .iter()
            .map(String::as_str)
            .chain(inline.iter().map(|(name, _)| name.as_str()))
            .collect();
        match tokens[at].text {
            "mod" if tokens.get(at + 2).is_some_and(|token| token.text == "{") => {
                inline.push((tokens[at + 1].text.to_owned(), source.closing(at + 2)));
                at += 3;
            }
            "use" => {
                let mut tree = Vec::new();
                at = use_tree(tokens, at + 1, &[], &mut tree);
                found.extend(
                    tree.into_iter().filter_map(|(path, token)| resolve(&path, &here, token)),
                );
            }
            _ if tokens[at].is_word() && starts_path(tokens, at) => {
                let mut path = vec![tokens[at].text];
                while at + 2 < tokens.len()
                    && tokens[at + 1].text == "::"
                    && tokens[at + 2].is_word()
                {
                    at += 2;
                    path.push(tokens[at].text);
                }
                found.extend(resolve(&path, &here, tokens[at]));
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

/// Whether a path of several segments starts at `at`. `pub(in crate::a)` is
/// about who may see, not about what is seen, and is left out.
fn starts_path(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map(|index| tokens[index].text);
    let text = |index: usize| tokens.get(index).map(|token| token.text);
    !matches!(before, Some("::" | "in"))
        && text(at + 1) == Some("::")
        // Not the arguments of a generic function: `collect::<Vec<_>>()`.
        && text(at + 2) != Some("<")
}

/// Reads one tree of a `use` from `at` on and returns where it ends.
fn use_tree<'a>(
    tokens: &[Token<'a>],
    mut at: usize,
    prefix: &[&'a str],
    found: &mut Vec<(Vec<&'a str>, Token<'a>)>,
) -> usize {
    let mut path = prefix.to_vec();
    while let Some(&token) = tokens.get(at) {
        match token.text {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token.text != "}") {
                    at = use_tree(tokens, at, &path, found);
                    if tokens.get(at).is_some_and(|token| token.text == ",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "as" => at += 2,
            "*" => {
                found.push((path, token));
                return at + 1;
            }
            _ if token.is_word() => {
                // `a::{self}` is `a`.
                if token.text != "self" || path.is_empty() {
                    path.push(token.text);
                }
                at += 1;
                if tokens.get(at).is_none_or(|next| next.text != "::") {
                    found.push((path.clone(), token));
                }
            }
            _ => return at,
        }
    }
    at
}

/// Makes the path start at the root of the crate or with the name of a crate.
fn resolve(path: &[&str], here: &[&str], token: Token<'_>) -> Option<Named> {
    let mut base: Vec<&str> = here.to_vec();
    let mut rest = path;
    let mut is_relative = false;
    while let Some((&first, tail)) = rest.split_first() {
        match first {
            "crate" => base.clear(),
            "self" => {}
            "super" => {
                base.pop();
            }
            _ => break,
        }
        is_relative = true;
        rest = tail;
    }
    let root: &[&str] = if is_relative { &["crate"] } else { &[] };
    let base = if is_relative { base } else { Vec::new() };
    let path: Vec<String> =
        root.iter().chain(&base).chain(rest).map(|part| (*part).to_owned()).collect();
    (!path.is_empty()).then_some(Named { path, line: token.line, in_test: token.in_test })
}
