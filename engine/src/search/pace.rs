//! How much time a move deserves, judged by how the iterations went.

use super::SearchResult;
use crate::chess::Move;
use crate::eval::Score;

/// Iterations before this one say nothing about where the effort goes.
const EFFORT_DEPTH: u32 = 8;

/// What an iteration took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    /// Percent of all nodes at the root that went into the best move; none if that is not counted.
    pub(super) share: Option<u32>,
    /// How often the score fell out of the window downwards.
    pub(super) failures: u32,
}

/// Decides how much of the soft limit of time to use.
#[derive(Default)]
pub(super) struct Pace {
    best: Option<Move>,
    steady: u32,
    score: Score,
}

impl Pace {
    /// Percent of the soft limit to use, given the result of one more iteration: more if the best
    /// move has changed, if the score has dropped or was hard to settle, and if other moves took
    /// much effort to refute.
    pub(super) fn percent(&mut self, result: &SearchResult, effort: Effort) -> u32 {
        let best = result.line.first().copied();
        self.steady = if best == self.best { (self.steady + 1).min(6) } else { 0 };
        let drop = if self.best.is_some() { (self.score - result.score).clamp(0, 60) } else { 0 };
        self.best = best;
        self.score = result.score;
        let percent = 150 - 14 * self.steady + drop as u32 + 8 * effort.failures.min(3);
        match effort.share.filter(|_| result.depth >= EFFORT_DEPTH) {
            // Neutral at 70 %, which is usual for a move that is a little better than others.
            Some(share) => percent * (160 - 85 * share.min(100) / 100) / 100,
            None => percent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;

    /// The pace after iterations that found these moves (by number) and scores.
    fn after(iterations: &[(usize, Score)], effort: Effort) -> u32 {
        let moves = Position::startpos().legal_moves();
        let mut pace = Pace::default();
        let percents = iterations.iter().zip(EFFORT_DEPTH..).map(|(&(best, score), depth)| {
            let result =
                SearchResult { line: vec![moves[best]], score, depth, nodes: 0, threads: 1 };
            pace.percent(&result, effort)
        });
        percents.last().expect("there is an iteration")
    }

    #[test]
    fn a_settled_move_takes_less_time() {
        let usual = Effort::default();
        let steady = after(&[(0, 30), (0, 30), (0, 30), (0, 30)], usual);
        assert!(steady < after(&[(0, 30), (0, 30), (1, 30)], usual));
        assert!(steady < after(&[(0, 30), (0, 30), (0, 30), (0, -20)], usual));
        assert_eq!(steady, after(&[(0, 30), (0, 30), (0, 30), (0, 60)], usual));
        let failing = Effort { failures: 2, ..usual };
        assert!(steady < after(&[(0, 30), (0, 30), (0, 30), (0, 30)], failing));
    }

    #[test]
    fn a_move_that_took_all_the_effort_is_played_sooner() {
        let with = |share| after(&[(0, 30), (0, 30)], Effort { share: Some(share), failures: 0 });
        assert!(with(99) < with(70) && with(70) < with(30));
        assert_eq!(with(70), after(&[(0, 30), (0, 30)], Effort::default()) * 101 / 100);
        // Whatever is counted, the result is a sensible percentage.
        assert!((30..=400).contains(&with(0)) && (30..=400).contains(&with(u32::MAX)));
    }
}
