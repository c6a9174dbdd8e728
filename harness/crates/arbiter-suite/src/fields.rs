//! The position at the beginning of a line, and what follows it.

/// Splits a line into a FEN of six fields and the rest, which begins with a word. Both FEN and EPD
/// are accepted, and between them what programs have written: counters that stick to the field
/// before or to the word behind them, semicolons that stick to a field, no en passant field.
pub(super) fn split(line: &str) -> Result<(String, &str), String> {
    let (placement, rest) = word(line);
    let (turn, rest) = word(rest);
    let (castling, rest) = word(rest);
    if castling.is_empty() {
        return Err("expected a position of four fields".to_owned());
    }
    if !matches!(turn, "w" | "b" | "W" | "B") {
        return Err(format!("expected w or b as the side to move, got '{turn}'"));
    }
    let (ep, rest) = en_passant(rest);
    let (halfmoves, rest) = counter(rest);
    let (fullmoves, rest) = counter(rest);
    let (halfmoves, fullmoves) = (halfmoves.unwrap_or(0), fullmoves.unwrap_or(1).max(1));
    let turn = turn.to_ascii_lowercase();
    let fen = format!("{placement} {turn} {castling} {ep} {halfmoves} {fullmoves}");
    Ok((fen, skip(rest)))
}

/// What may stand between a position and its first operation.
fn skip(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == ';')
}

/// The first word, which a semicolon ends too.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(text.len());
    text.split_at(end)
}

/// The en passant field; `-` if the line goes on with something else.
fn en_passant(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let bytes = text.as_bytes();
    let ends = |at: usize| bytes.get(at).is_none_or(|b| !b.is_ascii_alphabetic());
    match bytes {
        [b'-', ..] => text.split_at(1),
        [b'a'..=b'h', b'3' | b'6', ..] if ends(2) => text.split_at(2),
        _ => ("-", text),
    }
}

/// A counter, if the text begins with one.
fn counter(text: &str) -> (Option<u32>, &str) {
    let trimmed = text.trim_start();
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    match trimmed[..end].parse() {
        Ok(number) => (Some(number), &trimmed[end..]),
        Err(_) => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_ends_where_its_fields_end() {
        let check = |tail: &str, fields: &str, rest: &str| {
            let line = format!("4k3/8/8/8/8/8/8/4K3 {tail}");
            let expect = format!("4k3/8/8/8/8/8/8/4K3 {fields}");
            assert_eq!(split(&line), Ok((expect, rest)), "{line}");
        };
        check("w - - bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("b - e3 bm Ke7", "b - e3 0 1", "bm Ke7");
        check("w - - 12 34 bm Ke2;", "w - - 12 34", "bm Ke2;");
        check("w - - ; bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("w - -;bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("w - e6;bm Ke2;", "w - e6 0 1", "bm Ke2;");
        check("w - -0 1;bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("w - - 3 7bm Ke2;", "w - - 3 7", "bm Ke2;");
        check("w - bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("W - - 0 0 ;D1 5", "w - - 0 1", "D1 5");
        check("w - - 0 1;D1 5 ;D2 25", "w - - 0 1", "D1 5 ;D2 25");
        check("w - -", "w - - 0 1", "");
    }

    #[test]
    fn what_is_no_position_is_refused() {
        assert!(split("bm Ke2;").is_err());
        assert!(split("4k3/8/8/8/8/8/8/4K3 x - -").is_err());
        assert!(split("").is_err());
    }
}
