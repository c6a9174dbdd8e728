//! Themes of positions, derived from the positions' ids.

/// Returns the theme that an id contains. The theme is the text that follows a number and a dash or
/// colon. If the id contains no such text, the theme is the text before the last number. Returns
/// `None` if the id contains only numbers.
pub(super) fn theme(id: &str) -> Option<String> {
    let is_number = |c: char| c.is_ascii_digit();
    let is_joint = |c: char| c.is_whitespace() || matches!(c, '.' | '-' | '_' | '#' | ':' | '/');
    let tail = id.find(is_number).and_then(|first| {
        let rest = id[first..].trim_start_matches(is_number);
        let tail = rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(':'));
        tail.map(str::trim).filter(|tail| !tail.is_empty() && !tail.contains(is_number))
    });
    if let Some(tail) = tail {
        return Some(tail.to_owned());
    }
    // Text in brackets or a comment after the number belongs only to this position.
    let last = id.rfind(is_number).filter(|last| !id[last + 1..].contains('"'));
    let head = match last {
        Some(last) => {
            let open =
                id.find([' ', '(']).filter(|open| *open > 0 && id[..*open].ends_with(is_number));
            id[..open.unwrap_or(last + 1)].trim_end_matches(is_number)
        }
        None => id,
    };
    let head = head.trim_end_matches(is_joint);
    let numbered = |c: char| is_number(c) || is_joint(c);
    // Some ids start with a number that belongs only to this position.
    let head = if head.starts_with(is_number) { head.trim_start_matches(numbered) } else { head };
    (!head.is_empty()).then(|| head.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn themes_are_derived_from_common_ids() {
        let check = |id: &str, expect: &str| assert_eq!(theme(id).as_deref(), Some(expect), "{id}");
        check("ABC.001", "ABC");
        check("ABC.01.7", "ABC.01");
        check("pins2024.12", "pins2024");
        check("X(v1.0) Outposts.034", "X(v1.0) Outposts");
        check("ENDING 017 - rooks", "rooks");
        check("PWN012: Pawn race", "Pawn race");
        check("POS07 (d6!)", "POS");
        check("test 12", "test");
        check("3.5.AB.931", "AB");
        check("sacrifice", "sacrifice");
        assert_eq!(theme("12"), None);
        assert_eq!(theme(""), None);
    }
}
