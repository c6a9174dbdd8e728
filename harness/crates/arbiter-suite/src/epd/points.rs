//! Points for moves: `c0 "f5=10, Be5=2"`, or moves in `c7 "f5 Be5"` or `c9 "f4f5 d4e5"` with points
//! in `c8 "10 2"`.

use shakmaty::{Chess, Move};

use arbiter_pgn::read_move;

/// Returns the moves with points; empty if the comments contain no points. `comment` returns the
/// operand of `c0`, `c7`, `c8` or `c9`, if the record has this opcode. The error is a message about
/// invalid points.
pub(super) fn points<'a>(
    comment: impl Fn(&str) -> Option<&'a str>,
    position: &Chess,
) -> Result<Vec<(Move, u32)>, String> {
    // In other suites, `c8` is an ordinary comment, so operands that are not numbers are ignored.
    let values = comment("c8").and_then(numbers);
    // `c9` is preferred to `c7`, because the UCI notation in `c9` is never ambiguous.
    let pairs: Vec<(&str, u32)> = match (values, comment("c9").or_else(|| comment("c7"))) {
        (Some(values), Some(moves)) => {
            let moves: Vec<&str> = words(moves).collect();
            if moves.len() != values.len() {
                let (points, moves) = (values.len(), moves.len());
                return Err(format!("c8 has {points} points for {moves} moves; points ignored"));
            }
            moves.into_iter().zip(values).collect()
        }
        _ => assignments(comment("c0").unwrap_or_default(), position)?,
    };
    let mut found: Vec<(Move, u32)> = Vec::new();
    for (text, points) in pairs {
        let listed = read_move(position, text)
            .map_err(|error| format!("points for '{text}', which {error}; points ignored"))?;
        // A move that is listed twice gets the higher number of points.
        match found.iter_mut().find(|(other, _)| *other == listed) {
            Some((_, previous)) => *previous = points.max(*previous),
            None => found.push((listed, points)),
        }
    }
    Ok(found)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

/// Parses a list of numbers; `None` if the list contains anything else.
fn numbers(text: &str) -> Option<Vec<u32>> {
    let numbers: Option<Vec<u32>> = words(text).map(|word| word.parse().ok()).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

/// Parses a list of items of the form `move=points`. If no item starts with a legal move, the text
/// is an ordinary comment, and the list is empty unless all items have this form.
fn assignments<'t>(text: &'t str, position: &Chess) -> Result<Vec<(&'t str, u32)>, String> {
    let parse = |word: &'t str| {
        let (text, points) = word.rsplit_once('=')?;
        Some((text, points.parse().ok()?))
    };
    let names_move = |word: &str| {
        let is_value = |text: &str| text.contains(char::is_alphanumeric);
        let assigned = word.rsplit_once('=').filter(|(_, points)| is_value(points));
        assigned.is_some_and(|(text, _)| read_move(position, text).is_ok())
    };
    let is_list = words(text).any(names_move);
    match words(text).map(|word| parse(word).ok_or(word)).collect() {
        Err(word) if is_list => Err(format!("'{word}' is not a move with points; points ignored")),
        found => Ok(found.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    fn find<'a>(comments: &[(&str, &'a str)], opcode: &str) -> Option<&'a str> {
        comments.iter().find(|(name, _)| *name == opcode).map(|(_, text)| *text)
    }

    fn read(comments: &[(&str, &str)]) -> Result<Vec<(String, u32)>, String> {
        let found = points(|opcode| find(comments, opcode), &Chess::default())?;
        let name = |m: Move| m.to_uci(CastlingMode::Standard).to_string();
        Ok(found.into_iter().map(|(m, points)| (name(m), points)).collect())
    }

    #[test]
    fn points_in_each_form() {
        let expect = Ok(vec![("e2e4".to_owned(), 10), ("g1f3".to_owned(), 7)]);
        let c8 = ("c8", "10 7");
        assert_eq!(read(&[("c0", "e4=10, Nf3=7")]), expect);
        assert_eq!(read(&[("c7", "e4 Nf3"), c8]), expect);
        assert_eq!(read(&[("c9", "e2e4 g1f3"), c8]), expect);
        // UCI notation is preferred, because this notation is never ambiguous.
        let both = [("c0", "a4=1"), ("c7", "a4 b4"), c8, ("c9", "e2e4 g1f3")];
        assert_eq!(read(&both), expect);
    }

    #[test]
    fn ordinary_comments_give_no_points() {
        let none = Ok(vec![]);
        for c0 in ["A - B, 1990", "after e4=+ depth=20", "a8=Q wins"] {
            assert_eq!(read(&[("c0", c0)]), none, "{c0}");
        }
        assert_eq!(read(&[("c7", "e4 Nf3")]), none);
        assert_eq!(read(&[]), none);
    }

    #[test]
    fn invalid_points_are_ignored() {
        let c8 = ("c8", "10 7");
        let error = read(&[("c7", "e4"), c8]).unwrap_err();
        assert_eq!(error, "c8 has 2 points for 1 moves; points ignored");
        for (c0, word) in [
            ("Nf3=10, e4=x", "e4=x"),
            ("e4=x", "e4=x"),
            ("e4=5 d4=-1", "d4=-1"),
            ("e4 =5 d4=1", "e4"),
        ] {
            let error = read(&[("c0", c0)]).unwrap_err();
            assert_eq!(error, format!("'{word}' is not a move with points; points ignored"));
        }
        let error = read(&[("c7", "e4 e5"), c8]).unwrap_err();
        assert_eq!(error, "points for 'e5', which is not legal; points ignored");
    }

    #[test]
    fn promotions_may_contain_an_equals_sign() {
        let position = arbiter_position::Start::read("8/P6k/8/8/8/8/8/K7 w - - 0 1", false);
        let position = position.unwrap().position;
        let comments = &[("c0", "a8=Q=10, a8=R=3")];
        assert_eq!(
            points(|opcode| find(comments, opcode), &position).map(|found| found.len()),
            Ok(2)
        );
    }
}
