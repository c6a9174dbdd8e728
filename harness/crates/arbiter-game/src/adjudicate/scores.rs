//! Adjudication by the scores of the engines: the draw rule and the resign rule. A rule is written
//! as `movenumber=40,movecount=8,score=10`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color};

use super::PlayedMove;
use arbiter_protocol::Score;

/// Draw rule: a game is drawn after enough consecutive scores near zero from both engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawRule {
    /// Number of full moves that must be completed before a draw is adjudicated.
    pub move_number: u32,
    /// Number of consecutive moves of each side with a score near 0 before a draw is adjudicated,
    /// at least 1.
    pub move_count: u32,
    /// Largest absolute score, in centipawns, that counts as equal.
    pub score_cp: u32,
}

impl DrawRule {
    /// Returns whether the game is drawn after a move. `plies` counts the consecutive plies with a
    /// score near 0; a capture or pawn move restarts the count.
    pub(super) fn observe(self, plies: &mut u32, played: PlayedMove) -> bool {
        // A missing score does not count as equal. Otherwise, an engine that reports no scores
        // would agree to every draw.
        let centipawns = played.score.and_then(Score::centipawns);
        let equal = centipawns.is_some_and(|cp| cp.unsigned_abs() <= self.score_cp);
        let before = if played.zeroing { 0 } else { *plies };
        *plies = if equal { before + 1 } else { 0 };
        // Each side needs `move_count` moves, so both sides together need twice as many plies.
        *plies >= 2 * self.move_count && played.full_moves >= self.move_number
    }
}

/// Resign rule: a side resigns after enough consecutive hopeless scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResignRule {
    /// Number of consecutive moves with a lost score after which a side resigns, at least 1.
    pub move_count: u32,
    /// Minimum absolute score, in centipawns, at which a position counts as lost or won.
    pub score_cp: u32,
    /// `true` if the opponent must also have reported `move_count` consecutive won scores.
    pub two_sided: bool,
}

/// Numbers of consecutive moves with a lost score, and with a won score, for each side.
#[derive(Debug, Clone, Default)]
pub(super) struct DecidedMoves {
    lost: ByColor<u32>,
    won: ByColor<u32>,
}

impl ResignRule {
    /// Counts a move and returns the side that resigns after this move, if any.
    pub(super) fn observe(self, moves: &mut DecidedMoves, played: PlayedMove) -> Option<Color> {
        let limit = i32::try_from(self.score_cp).unwrap_or(i32::MAX);
        // A missing score counts as an equal score, so that an engine without scores neither
        // resigns nor confirms a win. A mate reaches every limit. Mate in 0 is a loss: the side to
        // move is already mated.
        let value = played.score.map_or(0, |score| score.limited(i32::MAX));
        let step = |count: &mut u32, holds: bool| *count = if holds { *count + 1 } else { 0 };
        step(moves.lost.get_mut(played.color), value <= -limit);
        step(moves.won.get_mut(played.color), value >= limit);
        let enough = self.move_count;
        let seen_by_winner = *moves.won.get(!played.color) >= enough;
        let resigns = *moves.lost.get(played.color) >= enough;
        (resigns && (seen_by_winner || !self.two_sided)).then_some(played.color)
    }
}

/// Parses a draw rule. Defaults: move 40, 8 consecutive moves, 10 centipawns.
impl FromStr for DrawRule {
    type Err = String;

    fn from_str(text: &str) -> Result<DrawRule, String> {
        let mut rule = DrawRule { move_number: 40, move_count: 8, score_cp: 10 };
        for field in fields(text)? {
            match field.split_once('=') {
                Some(("movenumber", value)) => rule.move_number = number(field, value)?,
                Some(("movecount", value)) => rule.move_count = number(field, value)?,
                Some(("score", value)) => rule.score_cp = number(field, value)?,
                other => return Err(unknown(field, other, "movenumber, movecount, score")),
            }
        }
        if rule.move_count == 0 { Err("movecount must be at least 1".to_owned()) } else { Ok(rule) }
    }
}

impl fmt::Display for DrawRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DrawRule { move_number, move_count, score_cp } = self;
        write!(f, "movenumber={move_number},movecount={move_count},score={score_cp}")
    }
}

/// Parses a resign rule. Defaults: 3 consecutive moves, 600 centipawns, one-sided.
impl FromStr for ResignRule {
    type Err = String;

    fn from_str(text: &str) -> Result<ResignRule, String> {
        let mut rule = ResignRule { move_count: 3, score_cp: 600, two_sided: false };
        for field in fields(text)? {
            match field.split_once('=') {
                Some(("movecount", value)) => rule.move_count = number(field, value)?,
                Some(("score", value)) => rule.score_cp = number(field, value)?,
                Some(("twosided", value)) => {
                    let truth = value.parse();
                    rule.two_sided =
                        truth.map_err(|_| format!("'{field}' is neither true nor false"))?;
                }
                other => return Err(unknown(field, other, "movecount, score, twosided")),
            }
        }
        if rule.move_count == 0 { Err("movecount must be at least 1".to_owned()) } else { Ok(rule) }
    }
}

impl fmt::Display for ResignRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResignRule { move_count, score_cp, two_sided } = self;
        write!(f, "movecount={move_count},score={score_cp},twosided={two_sided}")
    }
}

fn fields(text: &str) -> Result<Vec<&str>, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    match fields.iter().find(|field| field.contains([' ', ';'])) {
        Some(field) => Err(format!("'{field}' has no comma; separate keys by commas")),
        None => Ok(fields),
    }
}

fn number(field: &str, value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| format!("'{field}' is not KEY=NUMBER with a whole number"))
}

fn unknown(field: &str, split: Option<(&str, &str)>, expected: &'static str) -> String {
    match split {
        Some((key, _)) => format!("unknown key '{key}'; the keys are {expected}"),
        None => format!("'{field}' is not KEY=NUMBER"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn_after(moves: &[(Option<Score>, bool)]) -> Option<usize> {
        let rule = DrawRule { move_number: 3, move_count: 2, score_cp: 10 };
        let mut plies = 0;
        moves.iter().enumerate().find_map(|(ply, &(score, zeroing))| {
            let color = if ply % 2 == 0 { Color::White } else { Color::Black };
            let full_moves = (ply as u32).div_ceil(2);
            let played = PlayedMove { color, full_moves, is_book: false, zeroing, score };
            rule.observe(&mut plies, played).then_some(ply + 1)
        })
    }

    const EQUAL: (Option<Score>, bool) = (Some(Score::Centipawns(-10)), false);

    #[test]
    fn a_draw_needs_enough_equal_moves_and_a_minimum_move_number() {
        assert_eq!(drawn_after(&[EQUAL; 9]), Some(6));
        assert_eq!(drawn_after(&[EQUAL, EQUAL, (Some(Score::Centipawns(11)), false), EQUAL]), None);
    }

    #[test]
    fn missing_scores_mates_and_zeroing_moves_reset_the_draw_counter() {
        let others =
            [((None, false), 10), ((Some(Score::Mate(3)), false), 10), ((EQUAL.0, true), 9)];
        for (other, plies) in others {
            let mut moves = [EQUAL; 12];
            moves[5] = other;
            moves[2] = (None, false);
            assert_eq!(drawn_after(&moves), Some(plies), "{other:?}");
        }
    }

    /// Returns the number of plies after which a side resigns, and the resigning side; `scores`
    /// alternates between White and Black.
    fn resigned(two_sided: bool, scores: &[Score]) -> Option<(usize, Color)> {
        let rule = ResignRule { move_count: 2, score_cp: 500, two_sided };
        let mut moves = DecidedMoves::default();
        scores.iter().enumerate().find_map(|(ply, &score)| {
            let color = if ply % 2 == 0 { Color::White } else { Color::Black };
            let score = Some(score);
            let played = PlayedMove { color, full_moves: 1, is_book: false, zeroing: false, score };
            rule.observe(&mut moves, played).map(|loser| (ply + 1, loser))
        })
    }

    const fn cp(score: i32) -> Score {
        Score::Centipawns(score)
    }

    #[test]
    fn the_loser_alone_may_resign() {
        let scores = [cp(-500), cp(20), Score::Mate(-9), cp(20)];
        assert_eq!(resigned(false, &scores), Some((3, Color::White)));
        assert_eq!(resigned(true, &scores), None);
    }

    #[test]
    fn two_sided_waits_for_the_winner() {
        let scores = [cp(-600), cp(100), cp(-600), cp(700), cp(-600), Score::Mate(4), cp(-600)];
        // A side resigns only after its own move.
        assert_eq!(resigned(true, &scores), Some((7, Color::White)));
    }

    #[test]
    fn a_better_score_resets_the_resign_counter() {
        let scores = [cp(0), cp(-900), cp(0), cp(-499), cp(0), cp(-900), cp(0), cp(-900)];
        assert_eq!(resigned(false, &scores), Some((8, Color::Black)));
    }

    #[test]
    fn rules_are_parsed() {
        assert_eq!(
            DrawRule::from_str("movenumber=34,movecount=6,score=20"),
            Ok(DrawRule { move_number: 34, move_count: 6, score_cp: 20 })
        );
        assert_eq!(
            ResignRule::from_str("score=400,twosided=true"),
            Ok(ResignRule { move_count: 3, score_cp: 400, two_sided: true })
        );
    }

    #[test]
    fn errors_quote_the_invalid_field() {
        let check = |error: String, expect: &str| assert!(error.contains(expect));
        check(DrawRule::from_str("score").unwrap_err(), "'score' is not");
        check(DrawRule::from_str("score=-3").unwrap_err(), "'score=-3' is not");
        check(DrawRule::from_str("moves=3").unwrap_err(), "unknown key 'moves'");
        check(DrawRule::from_str("movecount=0").unwrap_err(), "at least 1");
        check(
            ResignRule::from_str("twosided=yes").unwrap_err(),
            "'twosided=yes' is neither true nor false",
        );
        check(ResignRule::from_str("sides=2").unwrap_err(), "movecount, score, twosided");
    }
}
