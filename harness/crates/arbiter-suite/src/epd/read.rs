//! Parser of EPD suites, which have one record per line.

use shakmaty::{Chess, Move, Position};

use super::{Goal, Record};
use crate::Suite;
use arbiter_pgn::read_move;
use arbiter_position::{Operation, Start, lines, operations};

/// Parses a suite. If `is_chess960` is `true`, all positions get the castling mode of Chess960.
/// Otherwise, only positions that require this mode get the mode.
pub fn read(text: &str, is_chess960: bool) -> Suite<Record> {
    let records = lines(text).map(|(line, text)| (line, Record::read(line, text, is_chess960)));
    Suite::collect(records, |record| &record.start)
}

impl Record {
    /// Parses the line with the number `line`. The position gets the castling mode of Chess960 if
    /// `is_chess960` is `true`, or if the position needs this mode. Fails if the line has no legal
    /// position, or no condition that can be judged.
    pub fn read(line: usize, text: &str, is_chess960: bool) -> Result<Record, String> {
        let (start, rest) = Start::split(text, is_chess960)?;
        // A position without legal moves cannot be solved.
        if start.position.legal_moves().is_empty() {
            return Err("the game is over in this position".to_owned());
        }
        let operations = operations(rest);
        let mut notes = Vec::new();
        let goal = goal(&operations, &start, &mut notes)?;
        if goal.is_empty() {
            let nothing = || "neither bm, am, dm nor points for moves".to_owned();
            return Err(notes.first().cloned().unwrap_or_else(nothing));
        }
        let id = first(&operations, "id").filter(|id| !id.is_empty()).map(str::to_owned);
        let theme = id.as_deref().and_then(theme);
        Ok(Record { line, text: text.to_owned(), id, theme, start, goal, notes })
    }
}

fn first<'a>(operations: &'a [Operation], opcode: &str) -> Option<&'a str> {
    let found = operations.iter().find(|operation| operation.opcode == opcode)?;
    Some(&found.operand)
}

fn goal(operations: &[Operation], start: &Start, notes: &mut Vec<String>) -> Result<Goal, String> {
    let best = moves("bm", operations, start)?;
    let avoid = moves("am", operations, start)?;
    let refused = best.refused.iter().chain(&avoid.refused);
    notes.extend(refused.map(|reason| format!("{reason}; ignored")));
    let dm = first(operations, "dm").and_then(|text| {
        let mate = text.trim_start_matches(['#', 'M']).parse().ok().filter(|mate| *mate != 0);
        if mate.is_none() {
            notes.push(format!("dm '{text}' is not a mate in a number of moves; ignored"));
        }
        mate
    });
    let points = points(operations, &start.position);
    let points = points.map_err(|reason| notes.push(reason)).unwrap_or_default();
    // In `bm e4; d4;`, the second move would be an operation without operands, which has no effect.
    // `c3` is also an opcode.
    let is_stray = |operation: &&Operation| {
        let is_comment = operation.opcode.starts_with('c') && operation.opcode.len() == 2;
        let is_empty = operation.operand.is_empty() && !is_comment;
        is_empty && read_move(&start.position, &operation.opcode).is_ok()
    };
    if let Some(stray) = operations.iter().find(is_stray) {
        return Err(format!("the move '{}' belongs to no operation", stray.opcode));
    }
    // Without this error, the same move would be both correct and wrong.
    if best.found.iter().any(|found| avoid.found.contains(found)) {
        return Err("the same move is in bm and in am".to_owned());
    }
    Ok(Goal { best: best.found, avoid: avoid.found, mate: dm.or(best.mate), points })
}

/// Operands of all operations with the opcode `bm`, or of all operations with the opcode `am`.
#[derive(Debug, Default)]
struct Moves {
    found: Vec<Move>,
    /// Number of moves to mate, from `bm #5`.
    mate: Option<i32>,
    refused: Vec<String>,
}

/// Returns the operands of all operations with an opcode. Fails if the opcode has operands but no
/// move or mate, or if an operand of `am` is invalid, because the condition is then unknown.
fn moves(opcode: &str, operations: &[Operation], start: &Start) -> Result<Moves, String> {
    let mut moves = Moves::default();
    let operands = operations.iter().filter(|operation| operation.opcode == opcode);
    let mut words = operands.flat_map(|operation| words(&operation.operand)).peekable();
    let has_words = words.peek().is_some();
    while let Some(word) = words.next() {
        // Some files write the move number or an annotation as a separate word.
        if word.trim_matches(|c: char| matches!(c, '!' | '?' | '+' | '.' | '=')).is_empty()
            || matches!(word, "or" | "e.p." | "ep" | "mate")
            || is_move_number(word)
        {
            continue;
        }
        if let Some(mate) = word.strip_prefix(['#', 'M']).and_then(|mate| mate.parse::<i64>().ok())
        {
            match i32::try_from(mate) {
                Ok(mate) if mate != 0 && opcode == "bm" => moves.mate = Some(mate),
                _ => moves.refused.push(format!("{opcode} '{word}' is not a mate to find")),
            }
            continue;
        }
        match read_move(&start.position, word) {
            // Some files list one move in two notations.
            Ok(found) if moves.found.contains(&found) => {}
            Ok(found) => moves.found.push(found),
            Err(error) => {
                moves.refused.push(format!("{opcode} '{word}' {error}"));
                let last = moves.found.last();
                let after = last.and_then(|found| start.position.clone().play(*found).ok());
                // In a variation, a move after the opponent's reply is not an alternative to the
                // first move.
                if after.is_some_and(|after| read_move(&after, word).is_ok()) {
                    if words.peek().is_some() {
                        let rest = format!("the moves after '{word}' belong to a variation");
                        moves.refused.push(format!("{opcode}: {rest}"));
                    }
                    break;
                }
            }
        }
    }
    match (moves.found.is_empty() && moves.mate.is_none(), moves.refused.first()) {
        (true, Some(reason)) => Err(reason.clone()),
        (true, None) if has_words => Err(format!("{opcode} contains no move")),
        // The engine may play the move that an invalid operand of `am` stands for, so no move can
        // be judged. An invalid best move only makes the position harder to solve.
        (false, Some(reason)) if opcode == "am" => Err(reason.clone()),
        _ => Ok(moves),
    }
}

/// Returns whether a word is a move number. `00` is castling.
fn is_move_number(word: &str) -> bool {
    let number = word.trim_end_matches('.');
    number.starts_with(|c: char| matches!(c, '1'..='9')) && number.parse::<u32>().is_ok()
}

/// Returns the theme that an id contains. The theme is the text that follows a number and a dash or
/// colon. If the id contains no such text, the theme is the text before the last number. Returns
/// `None` if the id contains only numbers.
fn theme(id: &str) -> Option<String> {
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

/// Returns the moves with points from `c0`, `c7`, `c8` and `c9`; empty if the comments contain no
/// points. The error is a message about invalid points.
fn points(operations: &[Operation], position: &Chess) -> Result<Vec<(Move, u32)>, String> {
    let comment = |opcode| first(operations, opcode);
    // In other suites, `c8` is an ordinary comment, so operands that are not numbers are ignored.
    let values = comment("c8").and_then(numbers);
    let assigned = comment("c0").unwrap_or_default().replace(" =", "=").replace("= ", "=");
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
        _ => assignments(&assigned, position)?,
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
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | '"');
    text.split(is_between).filter(|word| !word.is_empty())
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

    const ITALIAN: &str = "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq -";

    fn one(line: &str) -> Record {
        let mut suite = read(line, false);
        assert_eq!(suite.unusable, [], "{line:?}");
        assert_eq!(suite.cases.len(), 1, "{line:?}");
        suite.cases.remove(0)
    }

    fn names(moves: &[Move]) -> Vec<String> {
        moves.iter().map(|m| m.to_uci(CastlingMode::Standard).to_string()).collect()
    }

    fn read_error(line: &str) -> String {
        let suite = read(line, false);
        assert!(suite.cases.is_empty(), "{line}");
        suite.unusable[0].reason.clone()
    }

    #[test]
    fn common_errors_in_files_are_accepted() {
        for tail in [
            " bm O-O c3; id \"IT.007\";",
            " bm O-O c3; id \"IT.007\"",
            " bm O-O c3; id \"IT.007",
            " bm O-O c3; id \"IT.007;",
            " bm O-O c3; id IT.007;",
            " bm O-O c3; id IT.007",
            " ; bm O-O c3; id \"IT.007\";",
            ";bm O-O c3; id \"IT.007\";",
            " 4 4 bm O-O c3; id \"IT.007\";",
            " 4 4; bm O-O c3; id \"IT.007\";",
            "4 4;bm O-O c3; id \"IT.007\";",
            " 4 4bm O-O c3; id \"IT.007\";",
            " bm O-O c3; id \"IT.007\";\0",
            " bm O-O c3; id \"IT.007\";\0\r\n",
            " bm O-O c3; id \"IT.007\";\r\n",
            " bm O-O; bm c3; id \"IT.007\";",
            " bm O-O, c3; id \"IT.007\";",
            " bm O-O,c3; id \"IT.007\";",
            " bm 0-0!! c3!?; id \"IT.007\";",
            " bm 00 c3; id \"IT.007\";",
            " bm e1g1 c2c3; id \"IT.007\";",
            " bm e1-g1 c2-c3; id \"IT.007\";",
            " bm O-O c3 id \"IT.007\";",
            " id \"IT.007\"; bm 4. O-O 4. c3; ",
            " BM O-O c3; ID \"IT.007\";",
            " bm O-O c3 O-O; id \"IT.007\"; id \"other\";",
        ] {
            let record = one(&format!("{ITALIAN}{tail}"));
            assert_eq!(names(&record.goal.best), ["e1g1", "c2c3"], "{tail:?}");
            assert_eq!(record.id.as_deref(), Some("IT.007"), "{tail:?}");
            assert_eq!(record.theme.as_deref(), Some("IT"), "{tail:?}");
            assert_eq!(record.notes, [] as [&str; 0], "{tail:?}");
        }
    }

    #[test]
    fn every_kind_of_question_is_parsed() {
        let goal = |tail: &str| one(&format!("{ITALIAN} {tail}")).goal;
        assert_eq!(names(&goal("am Nxe5;").avoid), ["f3e5"]);
        assert_eq!((goal("dm 4;").mate, goal("dm M4;").mate), (Some(4), Some(4)));
        assert_eq!(names(&goal("bm 4.O-O Nf6 5.d3;").best), ["e1g1"]);
        assert_eq!(names(&goal("bm 4 O-O Nf6 d3;").best), ["e1g1"]);
        assert_eq!(names(&goal("bm 4.O-O 5.d3;").best), ["e1g1", "d2d3"]);
        assert_eq!((goal("bm #5;").mate, goal("bm M5;").mate), (Some(5), Some(5)));
        assert_eq!((goal("bm #-3;").mate, goal("dm -3;").mate), (Some(-3), Some(-3)));
        let both = goal("bm #5 O-O;");
        assert_eq!((both.mate, names(&both.best)), (Some(5), vec!["e1g1".to_owned()]));
        assert_eq!(goal("c0 \"O-O=10, c3=4\";").points.len(), 2);
        assert_eq!(goal("bm O-O; c8 \"10 4\"; c9 \"e1g1 c2c3\";").points.len(), 2);
    }

    #[test]
    fn impossible_solutions_are_skipped_if_another_exists() {
        let record = one(&format!("{ITALIAN} bm Qh5 O-O;"));
        assert_eq!(names(&record.goal.best), ["e1g1"]);
        assert_eq!(record.notes, ["bm 'Qh5' is not legal; ignored"]);
        let record = one(&format!("{ITALIAN} bm O-O; c7 \"O-O c3\"; c8 \"10\";"));
        assert_eq!(record.notes, ["c8 has 1 points for 2 moves; points ignored"]);
        let record = one(&format!("{ITALIAN} bm O-O Nf6 d3;"));
        assert_eq!(names(&record.goal.best), ["e1g1"]);
        let variation = "bm: the moves after 'Nf6' belong to a variation; ignored";
        assert_eq!(record.notes, ["bm 'Nf6' is not legal; ignored", variation]);
        let record = one(&format!("{ITALIAN} bm O-O Nf6;"));
        assert_eq!(record.notes, ["bm 'Nf6' is not legal; ignored"]);
        let record = one(&format!("{ITALIAN} bm #0 O-O;"));
        assert_eq!(record.notes, ["bm '#0' is not a mate to find; ignored"]);
        let record = one(&format!("{ITALIAN} bm O-O; dm soon;"));
        assert_eq!(record.notes, ["dm 'soon' is not a mate in a number of moves; ignored"]);
    }

    #[test]
    fn unusable_lines_have_a_reason() {
        for (goal, reason) in [
            ("bm #0;", "bm '#0' is not a mate to find"),
            ("am #5;", "am '#5' is not a mate to find"),
            ("bm #99999999999;", "bm '#99999999999' is not a mate to find"),
            ("bm 4;", "bm contains no move"),
            ("am 12;", "am contains no move"),
            ("bm O-O; am 4. !?;", "am contains no move"),
            ("bm 0;", "bm '0' is not a move"),
            ("dm 0;", "dm '0' is not a mate in a number of moves; ignored"),
            ("bm O-O; d4;", "the move 'd4' belongs to no operation"),
            ("dm 2.5;", "dm '2.5' is not a mate in a number of moves; ignored"),
        ] {
            assert_eq!(read_error(&format!("{ITALIAN} {goal}")), reason);
        }
        assert_eq!(read_error(&format!("{ITALIAN} bm Qh5;")), "bm 'Qh5' is not legal");
        assert_eq!(read_error(&format!("{ITALIAN} bm ???x;")), "bm '???x' is not a move");
        assert_eq!(read_error(&format!("{ITALIAN} am Qh5 Nxe5;")), "am 'Qh5' is not legal");
        assert_eq!(
            read_error(&format!("{ITALIAN} bm d4; am d4;")),
            "the same move is in bm and in am"
        );
        assert_eq!(
            read_error(&format!("{ITALIAN} id \"x\";")),
            "neither bm, am, dm nor points for moves"
        );
        // One rank has only seven squares.
        assert!(read_error("4k3/7/8/8/8/8/8/4K3 w - - bm Ke2;").contains("4k3/7/8"));
        assert!(read_error("hello").starts_with("expected a position (pieces"));
        for moves in ["moves e1g1 g8f6", "e1g1 g8f6", "4 4 moves e1g1"] {
            let error = read_error(&format!("{ITALIAN} {moves}; bm O-O;"));
            assert!(error.starts_with("expected a position, got a position and moves"), "{error}");
        }
        let mate = "7k/6Q1/6K1/8/8/8/8/8 b - - bm Kg8;";
        assert_eq!(read_error(mate), "the game is over in this position");
    }

    #[test]
    fn lines_are_numbered_as_in_editors() {
        let text = format!("# comment\r\n\r\n{ITALIAN} bm O-O;\r\nnonsense\r\n");
        let suite = read(&text, false);
        assert_eq!(suite.cases[0].line, 3);
        assert_eq!(suite.unusable[0].line, 4);
    }

    #[test]
    fn promotions_may_omit_the_equals_sign() {
        let record = one("8/2P4k/8/8/8/8/8/K7 w - - bm c8N!!");
        assert_eq!(names(&record.goal.best), ["c7c8n"]);
    }

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

    fn points_in(comments: &[(&str, &str)], position: &Chess) -> Result<Vec<(Move, u32)>, String> {
        let text: String =
            comments.iter().map(|(name, text)| format!("{name} \"{text}\";")).collect();
        points(&operations(&text), position)
    }

    fn points_of(comments: &[(&str, &str)]) -> Result<Vec<(String, u32)>, String> {
        let found = points_in(comments, &Chess::default())?;
        let name = |m: Move| m.to_uci(CastlingMode::Standard).to_string();
        Ok(found.into_iter().map(|(m, points)| (name(m), points)).collect())
    }

    #[test]
    fn points_in_each_form() {
        let expect = Ok(vec![("e2e4".to_owned(), 10), ("g1f3".to_owned(), 7)]);
        let c8 = ("c8", "10 7");
        assert_eq!(points_of(&[("c0", "e4=10, Nf3=7")]), expect);
        assert_eq!(points_of(&[("c0", "e4 = 10, Nf3 =7")]), expect);
        assert_eq!(points_of(&[("c7", "e4 Nf3"), c8]), expect);
        assert_eq!(points_of(&[("c9", "e2e4 g1f3"), c8]), expect);
        // UCI notation is preferred, because this notation is never ambiguous.
        let both = [("c0", "a4=1"), ("c7", "a4 b4"), c8, ("c9", "e2e4 g1f3")];
        assert_eq!(points_of(&both), expect);
    }

    #[test]
    fn ordinary_comments_give_no_points() {
        let none = Ok(vec![]);
        for c0 in ["A - B, 1990", "after e4=+ depth=20", "a8=Q wins"] {
            assert_eq!(points_of(&[("c0", c0)]), none, "{c0}");
        }
        assert_eq!(points_of(&[("c7", "e4 Nf3")]), none);
        assert_eq!(points_of(&[]), none);
    }

    #[test]
    fn invalid_points_are_ignored() {
        let c8 = ("c8", "10 7");
        let error = points_of(&[("c7", "e4"), c8]).unwrap_err();
        assert_eq!(error, "c8 has 2 points for 1 moves; points ignored");
        for (c0, word) in [("Nf3=10, e4=x", "e4=x"), ("e4=x", "e4=x"), ("e4=5 d4=-1", "d4=-1")] {
            let error = points_of(&[("c0", c0)]).unwrap_err();
            assert_eq!(error, format!("'{word}' is not a move with points; points ignored"));
        }
        let error = points_of(&[("c7", "e4 e5"), c8]).unwrap_err();
        assert_eq!(error, "points for 'e5', which is not legal; points ignored");
    }

    #[test]
    fn promotions_may_contain_an_equals_sign() {
        let position = arbiter_position::Start::read("8/P6k/8/8/8/8/8/K7 w - - 0 1", false);
        let position = position.unwrap().position;
        let comments = &[("c0", "a8=Q=10, a8=R=3")];
        assert_eq!(points_in(comments, &position).map(|found| found.len()), Ok(2));
    }
}
