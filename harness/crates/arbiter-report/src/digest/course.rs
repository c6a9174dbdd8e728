//! How the evidence grew from pair to pair.

use arbiter_plan::run::standing::PairTally;
use arbiter_stats::SprtStatus;
use arbiter_stats::elo::Estimate;

use crate::summary::Strength;
use arbiter_plan::run::standing::Standing;

/// Marks that are kept at most; a picture shows no more.
const MAX_MARKS: usize = 512;

/// The state after some pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// Games counted.
    pub games: u64,
    /// What the stopping rule says, if there is one.
    pub sprt_status: Option<SprtStatus>,
    /// Elo of the first engine; `None` while it has no spread.
    pub elo: Option<Estimate>,
}

/// The states after many pairs, evenly spaced, and after the last one.
#[derive(Debug, Clone, Default)]
pub struct Course {
    marks: Vec<Mark>,
    standing: Standing,
    /// Every so many pairs are marked; 0 stands for 1.
    stride: u64,
    pairs: u64,
    last: Option<Mark>,
}

impl Course {
    /// Adds a counted pair of two engines, and what the stopping rule said after it.
    pub fn count(&mut self, tally: &PairTally, sprt_status: Option<SprtStatus>) {
        self.standing.count(tally);
        self.pairs += 1;
        self.stride = self.stride.max(1);
        let mark = Mark { games: self.standing.games(), sprt_status, elo: None };
        let is_marked = self.pairs.is_multiple_of(self.stride);
        // Without a look there is only the estimate, which is computed where it is shown.
        let mark = match is_marked {
            true => Mark { elo: self.elo(), ..mark },
            false => mark,
        };
        self.last = Some(mark);
        if is_marked {
            self.marks.push(mark);
            self.thin();
        }
    }

    /// The marks, the last pair included.
    pub fn marks(&self) -> Vec<Mark> {
        let mut marks = self.marks.clone();
        let last = self.last.map(|last| Mark { elo: self.elo(), ..last });
        if let Some(last) = last.filter(|last| marks.last().is_none_or(|m| m.games < last.games)) {
            marks.push(last);
        }
        marks
    }

    fn elo(&self) -> Option<Estimate> {
        let estimate = Strength::of(self.standing.main_encounter()).elo?;
        // All pairs alike show no spread to judge by.
        (estimate.low != estimate.high).then_some(estimate)
    }

    /// Drops every second mark once there are too many.
    fn thin(&mut self) {
        if self.marks.len() > MAX_MARKS {
            let mut number = 0;
            self.marks.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.stride *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::Termination;
    use arbiter_plan::run::standing::GameTally;
    use arbiter_stats::GameResult;

    #[test]
    fn a_long_course_is_thinned_and_keeps_its_end() {
        let mut course = Course::default();
        for pair in 0..5_001 {
            let game =
                |result| GameTally { result, termination: Termination::Checkmate, fault: None };
            let second = if pair % 3 == 0 { GameResult::Win } else { GameResult::Draw };
            let second = Some(game(second));
            let tally = PairTally { pair, engines: [0, 1], first: game(GameResult::Draw), second };
            course.count(&tally, None);
        }
        let marks = course.marks();
        assert!((MAX_MARKS / 2..=MAX_MARKS + 1).contains(&marks.len()), "{}", marks.len());
        assert_eq!(marks.last().map(|mark| mark.games), Some(10_002));
        let steps: Vec<u64> = marks.windows(2).map(|two| two[1].games - two[0].games).collect();
        let (last, even) = steps.split_last().expect("there are many marks");
        assert!(even.iter().all(|step| *step == even[0]) && *last <= even[0], "{steps:?}");
        assert!(marks.iter().skip(1).all(|mark| mark.elo.is_some()));
    }
}
