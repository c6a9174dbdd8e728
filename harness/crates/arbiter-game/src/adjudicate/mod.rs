//! Adjudication: engine scores, tablebases or a move cap end a game before the rules of chess do.
//! After every move, the referee checks tablebases, resignation, draw and move cap, in this order.
//! Only [`Syzygy`] reads files.

mod scores;
mod tablebase;

pub use scores::{DrawRule, ResignRule};
pub use tablebase::{Syzygy, TablebaseRule, Tables};

use std::sync::Arc;

use scores::DecidedMoves;
use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color};

use crate::outcome::{Outcome, Scope, Termination, color_name};
use arbiter_protocol::Score;

/// Adjudication rules of a run, by default none. The tablebase folders are configured separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rules {
    /// Rule for adjudicating draws.
    pub draw: Option<DrawRule>,
    /// Rule for resigning on behalf of an engine.
    pub resign: Option<ResignRule>,
    /// Number of moves of each side after which a game is drawn.
    pub move_cap: Option<u32>,
    /// `true` if moves are counted by the move number of the position, so that EPD and PGN books
    /// have the same effect. If `false`, moves are counted from the start of the game, book moves
    /// included, as in cutechess-cli.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_by_position: bool,
    /// `true` if moves are counted as in fastchess: the draw rule uses the move number of the
    /// position, and the move cap excludes book moves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_as_fastchess: bool,
    /// Rule for adjudication by tablebases.
    #[serde(skip)]
    pub tablebase: Option<TablebaseRule>,
}

impl Rules {
    /// Returns a description of the rules, one line per rule.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(DrawRule { move_number, move_count, score_cp }) = self.draw {
            lines.push(format!(
                "adjudicated as a draw from move {move_number} on, after {move_count} consecutive \
                 moves at which each engine reports a score within {score_cp} cp of 0; a capture or \
                 pawn move restarts the count"
            ));
        }
        if let Some(ResignRule { move_count, score_cp, two_sided }) = self.resign {
            let mut rule = format!(
                "adjudicated as a loss after {move_count} consecutive moves at which an engine \
                 reports -{score_cp} cp or worse"
            );
            if two_sided {
                rule.push_str(&format!(" and its opponent +{score_cp} cp or better"));
            }
            lines.push(rule);
        }
        lines.extend(self.move_cap.map(|cap| {
            let counted = match (self.counts_by_position, self.counts_as_fastchess) {
                (true, _) => format!("move {cap}"),
                (false, true) => format!("{cap} moves by each side, book moves excluded"),
                (false, false) => format!("{cap} moves by each side, book moves included"),
            };
            format!("adjudicated as a draw after {counted}")
        }));
        if let Some(TablebaseRule { pieces, ignores_fifty, scope }) = self.tablebase {
            let results = match scope {
                Scope::Both => "won or drawn",
                Scope::Wins => "won",
                Scope::Draws => "drawn",
            };
            let few =
                if pieces > 0 { format!(" with up to {pieces} pieces") } else { String::new() };
            let fifty = if ignores_fifty { ", the fifty-move rule ignored" } else { "" };
            lines.push(format!("{results} by Syzygy tablebases{few}{fifty}"));
        }
        lines
    }
}

/// Properties of a move that adjudication needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayedMove {
    /// Side that moved.
    pub color: Color,
    /// Number of completed full moves according to the move number of the position, including the
    /// moves before the starting position of the game.
    pub full_moves: u32,
    /// `true` for a move of the opening book.
    pub is_book: bool,
    /// `true` for a capture or a pawn move.
    pub zeroing: bool,
    /// Score that the engine reported; `None` for book moves and for engines that report no score.
    pub score: Option<Score>,
}

/// Adjudication rules with the counters of one game.
#[derive(Debug, Clone, Default)]
pub struct Adjudicator {
    rules: Rules,
    tables: Option<Arc<dyn Tables>>,
    /// Number of consecutive plies with a score near 0.
    agreed_plies: u32,
    /// Number of plies of the game, book moves included.
    plies: u32,
    book_plies: u32,
    decided_moves: DecidedMoves,
}

impl Adjudicator {
    /// Creates an adjudicator for one game; `tables` are the tablebases.
    pub fn new(rules: Rules, tables: Option<Arc<dyn Tables>>) -> Adjudicator {
        Adjudicator { rules, tables, ..Adjudicator::default() }
    }

    /// Returns the outcome if the tablebases decide `position`.
    pub fn look_up(&self, position: &Chess) -> Option<Outcome> {
        let rule = self.rules.tablebase?;
        let tables = self.tables.as_deref()?;
        let result = rule.value(tables, position)?;
        let winner = result.winner();
        let end = winner.map_or("draw".to_owned(), |winner| format!("{} wins", color_name(winner)));
        let detail = format!("{end} by adjudication: Syzygy tables");
        Some(Outcome { result, termination: Termination::TablebaseAdjudication, detail })
    }

    /// Counts a move, and returns the outcome if a rule ends the game.
    pub fn observe(&mut self, mut played: PlayedMove) -> Option<Outcome> {
        let Rules { draw, resign, move_cap, counts_by_position, counts_as_fastchess, .. } =
            self.rules;
        self.plies += 1;
        self.book_plies += u32::from(played.is_book);
        if !counts_by_position && !counts_as_fastchess {
            // cutechess-cli ignores the move number of the position and counts from the first book
            // move.
            played.full_moves = self.plies / 2;
        }
        let own_moves = (self.plies - self.book_plies) / 2;
        let capped_moves = if counts_as_fastchess { own_moves } else { played.full_moves };
        let resigned = resign.and_then(|rule| rule.observe(&mut self.decided_moves, played));
        let drawn = draw.is_some_and(|rule| rule.observe(&mut self.agreed_plies, played));
        let capped = move_cap.is_some_and(|cap| capped_moves >= cap);
        if let Some(loser) = resigned {
            let detail = format!("{} wins by adjudication", color_name(!loser));
            Some(Outcome::lost(loser, Termination::ResignAdjudication, detail))
        } else if drawn {
            Some(Outcome::drawn(Termination::DrawAdjudication, "draw by adjudication"))
        } else if capped {
            Some(Outcome::drawn(Termination::MoveCap, "draw by the move cap"))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds scores in centipawns, alternating between White and Black. Returns the number of plies
    /// after which the game ended, and the reason.
    fn first_adjudication(rules: Rules, scores: &[i32]) -> Option<(usize, Termination)> {
        over_from(0, rules, scores)
    }

    /// Feeds scores as [`first_adjudication`] does, from a position after `before` full moves.
    fn over_from(before: u32, rules: Rules, scores: &[i32]) -> Option<(usize, Termination)> {
        let mut adjudicator = Adjudicator::new(rules, None);
        scores.iter().enumerate().find_map(|(ply, cp)| {
            let outcome = adjudicator.observe(PlayedMove {
                color: if ply % 2 == 0 { Color::White } else { Color::Black },
                full_moves: before + (ply as u32).div_ceil(2),
                is_book: ply < 2,
                zeroing: false,
                score: Some(Score::Centipawns(*cp)),
            })?;
            Some((ply + 1, outcome.termination))
        })
    }

    #[test]
    fn without_adjudication_rules_no_game_is_ended() {
        assert_eq!(first_adjudication(Rules::default(), &[0; 400]), None);
    }

    #[test]
    fn the_move_cap_counts_full_moves_with_or_without_book_moves() {
        let rules = Rules { move_cap: Some(3), ..Rules::default() };
        assert_eq!(first_adjudication(rules, &[0; 9]), Some((6, Termination::MoveCap)));
        let rules = Rules { counts_as_fastchess: true, ..rules };
        assert_eq!(first_adjudication(rules, &[0; 9]), Some((8, Termination::MoveCap)));
    }

    #[test]
    fn moves_are_counted_by_the_number_in_the_position() {
        let draw = Some(DrawRule { move_number: 12, move_count: 1, score_cp: 10 });
        for rules in
            [Rules { move_cap: Some(12), ..Rules::default() }, Rules { draw, ..Rules::default() }]
        {
            let by_position = Rules { counts_by_position: true, ..rules };
            let plies = |before, rules| over_from(before, rules, &[0; 99]).map(|(ply, _)| ply);
            assert_eq!((plies(0, by_position), plies(8, by_position)), (Some(24), Some(8)));
            assert_eq!((plies(0, rules), plies(8, rules)), (Some(24), Some(24)));
        }
    }

    #[test]
    fn rules_are_described_as_they_are_applied() {
        let described = |rules: Rules| rules.describe().join("\n");
        let cap = Rules { move_cap: Some(40), ..Rules::default() };
        assert_eq!(
            described(cap),
            "adjudicated as a draw after 40 moves by each side, book moves included"
        );
        assert_eq!(
            described(Rules { counts_as_fastchess: true, ..cap }),
            "adjudicated as a draw after 40 moves by each side, book moves excluded"
        );
        let draw = Some(DrawRule { move_number: 34, move_count: 8, score_cp: 20 });
        let resign = Some(ResignRule { move_count: 3, score_cp: 600, two_sided: true });
        let all = Rules { draw, resign, counts_by_position: true, ..cap };
        assert_eq!(
            described(all),
            "adjudicated as a draw from move 34 on, after 8 consecutive moves at which each \
             engine reports a score within 20 cp of 0; a capture or pawn move restarts the count\n\
             adjudicated as a loss after 3 consecutive moves at which an engine reports -600 cp or \
             worse and its opponent +600 cp or better\n\
             adjudicated as a draw after move 40"
        );
    }

    #[test]
    fn resignation_comes_before_a_draw() {
        let rules = Rules {
            draw: Some(DrawRule { move_number: 1, move_count: 1, score_cp: 9_999 }),
            resign: Some(ResignRule { move_count: 1, score_cp: 500, two_sided: false }),
            move_cap: Some(1),
            ..Rules::default()
        };
        assert_eq!(
            first_adjudication(rules, &[600, -600]),
            Some((2, Termination::ResignAdjudication))
        );
    }
}
