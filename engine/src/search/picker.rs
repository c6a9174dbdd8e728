//! Hands out the moves of a node, the promising ones first, and generates no more than asked for.

use super::history::{Histories, Trail};
use super::see;
use crate::chess::{Kind, Move, MoveList, Position};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Table,
    GenerateNoisy,
    GoodNoisy,
    Killers,
    GenerateQuiet,
    Quiet,
    BadNoisy,
    Done,
}

/// Moves with their scores, taken out best first.
struct Ranked {
    moves: MoveList,
    scores: [i32; 256],
    next: usize,
}

impl Ranked {
    fn none() -> Ranked {
        Ranked { moves: MoveList::new(), scores: [0; 256], next: 0 }
    }

    fn new(moves: MoveList, mut score: impl FnMut(Move) -> i32) -> Ranked {
        let mut ranked = Ranked { moves, scores: [0; 256], next: 0 };
        for (index, &mv) in ranked.moves.iter().enumerate() {
            ranked.scores[index] = score(mv);
        }
        ranked
    }

    fn pop(&mut self) -> Option<Move> {
        let rest = self.next..self.moves.len();
        // The first of equals, so that the order of generation decides.
        let best = rest.min_by_key(|&index| -self.scores[index])?;
        self.moves.swap(best, self.next);
        self.scores.swap(best, self.next);
        self.next += 1;
        Some(self.moves[self.next - 1])
    }
}

/// The moves of one node in the order in which they are to be tried.
pub(super) struct Picker {
    stage: Stage,
    table: Option<Move>,
    killers: [Option<Move>; 2],
    killers_tried: usize,
    trail: Trail,
    ranked: Ranked,
    /// Losing captures, put off to the end in the order met.
    bad: MoveList,
    bad_next: usize,
    /// Are quiet moves wanted at all?
    quiets: bool,
    /// Are losing captures wanted?
    losing: bool,
}

impl Picker {
    /// All moves of a node of the main search or of one in check.
    ///
    /// `table` must be legal; the killers, quiet moves and
    /// different, need not be.
    pub(super) fn all(table: Option<Move>, killers: [Option<Move>; 2], trail: Trail) -> Picker {
        Picker {
            stage: Stage::Table,
            table,
            killers,
            killers_tried: 0,
            trail,
            ranked: Ranked::none(),
            bad: MoveList::new(),
            bad_next: 0,
            quiets: true,
            losing: true,
        }
    }

    /// Captures and promotions that do not lose material.
    pub(super) fn winning(table: Option<Move>, trail: Trail) -> Picker {
        let table = table.filter(|mv| !mv.is_quiet());
        Picker { quiets: false, losing: false, ..Picker::all(table, [None; 2], trail) }
    }

    /// Hands out no more quiet moves.
    pub(super) fn skip_quiets(&mut self) {
        self.quiets = false;
    }

    /// The next move, if there is any.
    pub(super) fn next(&mut self, position: &Position, histories: &Histories) -> Option<Move> {
        loop {
            let found = match self.stage {
                Stage::Table => {
                    self.stage = Stage::GenerateNoisy;
                    self.table
                }
                Stage::GenerateNoisy => {
                    self.ranked = Ranked::new(position.noisy_moves(), |mv| {
                        noisy_score(position, histories, mv)
                    });
                    self.stage = Stage::GoodNoisy;
                    None
                }
                Stage::GoodNoisy => self.next_noisy(position),
                Stage::Killers => self.next_killer(position),
                Stage::GenerateQuiet => {
                    if self.quiets {
                        self.ranked = Ranked::new(position.quiet_moves(), |mv| {
                            histories.promise(position, mv, &self.trail)
                        });
                    }
                    self.stage = Stage::Quiet;
                    None
                }
                Stage::Quiet => self.next_quiet(),
                Stage::BadNoisy => self.next_bad(),
                Stage::Done => return None,
            };
            if found.is_some() {
                return found;
            }
        }
    }

    fn next_noisy(&mut self, position: &Position) -> Option<Move> {
        let Some(mv) = self.ranked.pop() else {
            self.stage = if self.quiets { Stage::Killers } else { Stage::BadNoisy };
            return None;
        };
        if Some(mv) == self.table {
            return None;
        }
        if see::gains_at_least(position, mv, 0) {
            return Some(mv);
        }
        if self.losing {
            self.bad.push(mv);
        }
        None
    }

    fn next_killer(&mut self, position: &Position) -> Option<Move> {
        while let Some(slot) = self.killers.get_mut(self.killers_tried) {
            self.killers_tried += 1;
            // One that cannot be played here must not keep the same move out later.
            *slot = slot.filter(|&mv| Some(mv) != self.table && position.is_legal(mv));
            if slot.is_some() {
                return *slot;
            }
        }
        self.stage = Stage::GenerateQuiet;
        None
    }

    fn next_quiet(&mut self) -> Option<Move> {
        if self.quiets {
            while let Some(mv) = self.ranked.pop() {
                if Some(mv) != self.table && !self.killers.contains(&Some(mv)) {
                    return Some(mv);
                }
            }
        }
        self.stage = Stage::BadNoisy;
        None
    }

    fn next_bad(&mut self) -> Option<Move> {
        let mv = self.bad.get(self.bad_next).copied();
        self.bad_next += 1;
        if mv.is_none() {
            self.stage = Stage::Done;
        }
        mv
    }
}

/// Most valuable victim first; history decides between equals.
fn noisy_score(position: &Position, histories: &Histories, mv: Move) -> i32 {
    let victim = position.captured(mv).map_or(0, see::price);
    let promoted = match mv.promotion() {
        None => 0,
        Some(Kind::Queen) => see::price(Kind::Queen),
        // Hardly ever better than a queen.
        Some(_) => -2_000,
    };
    (victim + promoted) * 32 + histories.capture(position, mv)
}
