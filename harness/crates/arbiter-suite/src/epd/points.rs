//! Points for moves: `c0 "f5=10, Be5=2"`, or `c7 "f5 Be5"` and `c9 "f4f5 d4e5"` beside `c8 "10 2"`.

use shakmaty::{Chess, Move};

use super::spelling;

/// The comments that may hold points, as far as a record has them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Comments<'a> {
    pub(super) c0: Option<&'a str>,
    pub(super) c7: Option<&'a str>,
    pub(super) c8: Option<&'a str>,
    pub(super) c9: Option<&'a str>,
}

/// The points, or what is wrong with them; none for ordinary comments.
pub(super) fn points(comments: Comments, position: &Chess) -> Result<Vec<(Move, u32)>, String> {
    let values = comments.c8.and_then(numbers);
    let pairs: Vec<(&str, u32)> = match (values, comments.c9.or(comments.c7)) {
        (Some(values), Some(moves)) => {
            let moves: Vec<&str> = words(moves).collect();
            if moves.len() != values.len() {
                return Err(format!(
                    "c8 has {} points for {} moves; points left out",
                    values.len(),
                    moves.len()
                ));
            }
            moves.into_iter().zip(values).collect()
        }
        _ => match comments.c0.and_then(assignments) {
            Some(pairs) => pairs,
            None => return Ok(Vec::new()),
        },
    };
    let read = |(text, points): (&str, u32)| match spelling::read(text, position) {
        Ok(found) => Ok((found, points)),
        Err(error) => Err(format!("points for '{text}', which {}; points left out", error.words())),
    };
    let mut found: Vec<(Move, u32)> = Vec::new();
    for pair in pairs {
        let (listed, points) = read(pair)?;
        // A move may be listed twice; it is worth what it is worth at best.
        match found.iter_mut().find(|(known, _)| *known == listed) {
            Some((_, known)) => *known = points.max(*known),
            None => found.push((listed, points)),
        }
    }
    Ok(found)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

/// A list of numbers and nothing else.
fn numbers(text: &str) -> Option<Vec<u32>> {
    let numbers: Vec<u32> = words(text).map(|word| word.parse().ok()).collect::<Option<_>>()?;
    (!numbers.is_empty()).then_some(numbers)
}

/// A list of `move=points` and nothing else.
fn assignments(text: &str) -> Option<Vec<(&str, u32)>> {
    let pair = |word: &'_ str| -> Option<usize> {
        let at = word.rfind('=')?;
        word[at + 1..].parse::<u32>().ok().map(|_| at)
    };
    let pairs: Vec<(&str, u32)> = words(text)
        .map(|word| {
            let at = pair(word)?;
            Some((&word[..at], word[at + 1..].parse().ok()?))
        })
        .collect::<Option<_>>()?;
    (!pairs.is_empty()).then_some(pairs)
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    fn read(comments: Comments) -> Result<Vec<(String, u32)>, String> {
        let found = points(comments, &Chess::default())?;
        let name = |m: Move| m.to_uci(CastlingMode::Standard).to_string();
        Ok(found.into_iter().map(|(m, points)| (name(m), points)).collect())
    }

    #[test]
    fn points_in_each_form() {
        let expect = Ok(vec![("e2e4".to_owned(), 10), ("g1f3".to_owned(), 7)]);
        let c8 = Some("10 7");
        assert_eq!(read(Comments { c0: Some("e4=10, Nf3=7"), ..Comments::default() }), expect);
        assert_eq!(read(Comments { c7: Some("e4 Nf3"), c8, ..Comments::default() }), expect);
        assert_eq!(read(Comments { c9: Some("e2e4 g1f3"), c8, ..Comments::default() }), expect);
        // Moves in UCI notation leave least to be understood.
        let both = Comments { c0: Some("a4=1"), c7: Some("a4 b4"), c8, c9: Some("e2e4 g1f3") };
        assert_eq!(read(both), expect);
    }

    #[test]
    fn ordinary_comments_are_no_points() {
        let none = Ok(vec![]);
        assert_eq!(read(Comments { c0: Some("A - B, 1990"), ..Comments::default() }), none);
        assert_eq!(read(Comments { c7: Some("e4 Nf3"), ..Comments::default() }), none);
        assert_eq!(read(Comments::default()), none);
    }

    #[test]
    fn points_that_make_no_sense_are_left_out() {
        let c8 = Some("10 7");
        let error = read(Comments { c7: Some("e4"), c8, ..Comments::default() }).unwrap_err();
        assert_eq!(error, "c8 has 2 points for 1 moves; points left out");
        let error = read(Comments { c7: Some("e4 e5"), c8, ..Comments::default() }).unwrap_err();
        assert_eq!(error, "points for 'e5', which is not legal; points left out");
    }

    #[test]
    fn a_promotion_with_its_sign_of_equality() {
        let position = crate::start::Start::read("8/P6k/8/8/8/8/8/K7 w - - 0 1", false);
        let position = position.unwrap().position;
        let comments = Comments { c0: Some("a8=Q=10, a8=R=3"), ..Comments::default() };
        assert_eq!(points(comments, &position).map(|found| found.len()), Ok(2));
    }
}
