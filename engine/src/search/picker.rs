//! Hands out the moves of a node, the promising ones first, and generates no more than asked for.

use super::history::{ContinuationContext, Histories};
use super::see;
use crate::chess::{Kind, Move, MoveList, Position};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    TtMove,
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
    /// Ranks the moves that are in the list now.
    fn rank(&mut self, mut score: impl FnMut(Move) -> i32) {
        self.next = 0;
        for (slot, &mv) in self.scores.iter_mut().zip(self.moves.iter()) {
            *slot = score(mv);
        }
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

/// Room for the moves of a node. It is handed from node to node, because clearing so much memory
/// takes longer than filling what is needed of it.
pub(super) struct Room {
    ranked: Ranked,
    /// Losing captures, put off to the end in the order met.
    bad: MoveList,
    /// What the node has searched.
    tried: MoveList,
}

impl Room {
    /// Room for any node.
    pub(super) fn new() -> Box<Room> {
        Box::new(Room {
            ranked: Ranked { moves: MoveList::new(), scores: [0; 256], next: 0 },
            bad: MoveList::new(),
            tried: MoveList::new(),
        })
    }
}

/// The moves of one node in the order in which they are to be tried.
pub(super) struct Picker {
    stage: Stage,
    tt_move: Option<Move>,
    killers: [Option<Move>; 2],
    killers_tried: usize,
    continuation: Option<ContinuationContext>,
    room: Box<Room>,
    bad_next: usize,
    /// Are quiet moves wanted at all?
    quiets: bool,
    /// Are losing captures wanted?
    losing: bool,
}

impl Picker {
    /// All moves of a node of the main search or of one in check.
    ///
    /// `tt_move` must be legal; the killers, quiet moves and different, need not be.
    pub(super) fn all(
        room: Box<Room>,
        tt_move: Option<Move>,
        killers: [Option<Move>; 2],
        continuation: ContinuationContext,
    ) -> Picker {
        Picker {
            killers,
            continuation: Some(continuation),
            quiets: true,
            losing: true,
            ..Picker::winning(room, tt_move)
        }
    }

    /// Captures and promotions that do not lose material, after the table move, which must be
    /// legal and none that is quiet.
    pub(super) fn winning(mut room: Box<Room>, tt_move: Option<Move>) -> Picker {
        room.bad.clear();
        room.tried.clear();
        Picker {
            stage: Stage::TtMove,
            tt_move,
            killers: [None; 2],
            killers_tried: 0,
            continuation: None,
            room,
            bad_next: 0,
            quiets: false,
            losing: false,
        }
    }

    /// Notes that a move has been searched.
    pub(super) fn note(&mut self, mv: Move) {
        self.room.tried.push(mv);
    }

    /// The moves noted.
    pub(super) fn tried(&self) -> &[Move] {
        &self.room.tried
    }

    /// Gives the room back, for another node.
    pub(super) fn into_room(self) -> Box<Room> {
        self.room
    }

    /// Hands out no more quiet moves.
    pub(super) fn skip_quiets(&mut self) {
        self.quiets = false;
    }

    /// The next move, if there is any.
    pub(super) fn next(&mut self, position: &Position, histories: &Histories) -> Option<Move> {
        loop {
            let found = match self.stage {
                Stage::TtMove => {
                    self.stage = Stage::GenerateNoisy;
                    self.tt_move
                }
                Stage::GenerateNoisy => {
                    let ranked = &mut self.room.ranked;
                    position.fill_with_noisy_moves(&mut ranked.moves);
                    ranked.rank(|mv| noisy_score(position, histories, mv));
                    self.stage = Stage::GoodNoisy;
                    None
                }
                Stage::GoodNoisy => self.next_noisy(position),
                Stage::Killers => self.next_killer(position),
                Stage::GenerateQuiet => {
                    if let Some(continuation) = self.continuation.filter(|_| self.quiets) {
                        let ranked = &mut self.room.ranked;
                        position.fill_with_quiet_moves(&mut ranked.moves);
                        ranked.rank(|mv| histories.ordering_score(position, mv, &continuation));
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
        let Some(mv) = self.room.ranked.pop() else {
            self.stage = if self.quiets { Stage::Killers } else { Stage::BadNoisy };
            return None;
        };
        if Some(mv) == self.tt_move {
            return None;
        }
        if see::gains_at_least(position, mv, 0) {
            return Some(mv);
        }
        if self.losing {
            self.room.bad.push(mv);
        }
        None
    }

    fn next_killer(&mut self, position: &Position) -> Option<Move> {
        while let Some(slot) = self.killers.get_mut(self.killers_tried) {
            self.killers_tried += 1;
            // One that cannot be played here must not keep the same move out later.
            *slot = slot.filter(|&mv| Some(mv) != self.tt_move && position.is_legal(mv));
            if slot.is_some() {
                return *slot;
            }
        }
        self.stage = Stage::GenerateQuiet;
        None
    }

    fn next_quiet(&mut self) -> Option<Move> {
        if self.quiets {
            while let Some(mv) = self.room.ranked.pop() {
                if Some(mv) != self.tt_move && !self.killers.contains(&Some(mv)) {
                    return Some(mv);
                }
            }
        }
        self.stage = Stage::BadNoisy;
        None
    }

    fn next_bad(&mut self) -> Option<Move> {
        let mv = self.room.bad.get(self.bad_next).copied();
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
    (victim + promoted) * 32 + histories.capture_score(position, mv)
}
