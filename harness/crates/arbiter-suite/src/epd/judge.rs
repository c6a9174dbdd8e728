//! Judge that determines whether and when a search solved the position.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Move};

use super::Goal;
use arbiter_game::text::Text;
use arbiter_position::{Start, legal_move};
use arbiter_protocol::times::Nanos;
use arbiter_protocol::{Info, Score};

/// State of a search at one moment, for example when the search found the solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchProgress {
    /// Time since the command `go`.
    #[serde(with = "Nanos")]
    pub at: Duration,
    /// Depth of the search at this moment, in plies.
    pub depth: Option<u32>,
    /// Number of nodes searched until this moment.
    pub nodes: Option<u64>,
}

/// Judged result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Move that the engine played.
    pub played: Move,
    /// `true` if the move is a solution.
    pub is_solved: bool,
    /// State of the search when the solution last became the best move; `None` if the position is
    /// not solved.
    pub found: Option<SearchProgress>,
    /// Points for the move; `None` if the record gives no points.
    pub points: Option<u32>,
    /// `true` if the engine announced a mate within the required number of moves; `None` if the
    /// record requires no mate.
    pub announced: Option<bool>,
    /// State at the end of the search.
    pub end: SearchProgress,
}

/// Engine answer that has not been judged yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Move that the engine played, in UCI notation.
    #[serde(with = "Text")]
    pub played: String,
    /// Last score, from the engine's point of view.
    pub score: Option<Score>,
    /// State at the end of the search.
    pub end: SearchProgress,
    /// State of the search when the first move of the principal variation last became a solution;
    /// `None` if the first move was not a solution at the end.
    pub since: Option<SearchProgress>,
}

impl Answer {
    /// Judges the answer. Fails if the move is illegal.
    pub fn judged(&self, start: &Start, goal: &Goal) -> Result<Outcome, String> {
        let illegal = || format!("illegal move '{}'", self.played);
        let played = read(&self.played, &start.position).ok_or_else(illegal)?;
        let is_solved = goal.is_solved_by(played, self.score);
        // If no principal variation showed the solution, the engine found the solution at the end
        // of the search.
        let found = is_solved.then(|| self.since.unwrap_or(self.end));
        let points = goal.points_of(played);
        let announced = goal.mate.map(|_| goal.announces_mate(self.score));
        Ok(Outcome { played, is_solved, found, points, announced, end: self.end })
    }
}

fn read(text: &str, position: &Chess) -> Option<Move> {
    legal_move(position, text.parse().ok()?)
}

/// Judge of a search in progress.
#[derive(Debug)]
pub struct Judge<'a> {
    goal: &'a Goal,
    position: &'a Chess,
    /// State of the search when the first move of the principal variation last became a solution;
    /// `None` if the current first move is not a solution.
    since: Option<SearchProgress>,
}

impl<'a> Judge<'a> {
    /// Creates the judge for a search that has not started yet.
    pub fn new(start: &'a Start, goal: &'a Goal) -> Judge<'a> {
        Judge { goal, position: &start.position, since: None }
    }

    /// Reads an `info` line of the search. Returns the number of plies by which the depth has grown
    /// since the solution appeared, so that the caller can end the search early. Returns `None` if
    /// the line shows no solution or contains no depth.
    pub fn look(&mut self, at: Duration, info: &Info) -> Option<u32> {
        let best = read(info.pv.first()?, self.position)?;
        if !self.goal.is_solved_by(best, info.score) {
            // Only a solution that lasts until the end of the search counts, so the earlier
            // solution is discarded.
            self.since = None;
            return None;
        }
        let now = SearchProgress { at, depth: info.depth, nodes: info.nodes };
        let since = self.since.get_or_insert(now);
        info.depth?.checked_sub(since.depth?)
    }

    /// Returns the answer of a search that ended with the move `text`.
    pub fn end(&self, text: &str, elapsed: Duration, info: &Info) -> Answer {
        let end = SearchProgress { at: elapsed, depth: info.depth, nodes: info.nodes };
        Answer { played: text.to_owned(), score: info.score, end, since: self.since }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epd::Record;
    use crate::epd::read::read;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn record(operations: &str) -> Record {
        let line = format!("4k3/8/8/8/8/8/4P3/4K2R w K - {operations}");
        read(&line, false).cases.remove(0)
    }

    fn info(text: &str) -> Info {
        Info::parse(text)
    }

    fn outcome(
        record: &Record,
        judge: &Judge<'_>,
        text: &str,
        after: u64,
        last: &str,
    ) -> Result<Outcome, String> {
        judge.end(text, ms(after), &info(last)).judged(&record.start, &record.goal)
    }

    #[test]
    fn the_solution_time_starts_when_it_last_appeared() {
        let record = record("bm e4;");
        let mut judge = Judge::new(&record.start, &record.goal);
        assert_eq!(judge.look(ms(1), &info("depth 1 nodes 9 pv e2e4")), Some(0));
        assert_eq!(judge.look(ms(2), &info("depth 2 nodes 20 pv e2e3")), None);
        assert_eq!(judge.look(ms(3), &info("depth 3 nodes 50 pv e2e4 e8e7")), Some(0));
        assert_eq!(judge.look(ms(9), &info("depth 5 nodes 99 pv e2e4")), Some(2));
        let ended = outcome(&record, &judge, "e2e4", 20, "depth 5 nodes 120").unwrap();
        let found = SearchProgress { at: ms(3), depth: Some(3), nodes: Some(50) };
        assert_eq!((ended.is_solved, ended.found), (true, Some(found)));
    }

    #[test]
    fn the_move_played_decides() {
        let record = record("bm e4;");
        let mut judge = Judge::new(&record.start, &record.goal);
        judge.look(ms(1), &info("depth 1 pv e2e4"));
        let ended = outcome(&record, &judge, "e2e3", 20, "depth 1").unwrap();
        assert_eq!((ended.is_solved, ended.found), (false, None));
        // An engine that reports no principal variation also has a solution time.
        let judge = Judge::new(&record.start, &record.goal);
        let plain = |text| outcome(&record, &judge, text, 20, "");
        assert_eq!(plain("e2e4").unwrap().found.map(|found| found.at), Some(ms(20)));
        assert_eq!(plain("e2e5"), Err("illegal move 'e2e5'".into()));
        assert!(plain("").is_err());
    }

    #[test]
    fn every_kind_of_goal_is_judged() {
        let solved = |operations: &str, played: &str, last: &str| {
            let record = record(operations);
            let judge = Judge::new(&record.start, &record.goal);
            outcome(&record, &judge, played, 1, last).unwrap().is_solved
        };
        assert!(solved("am e4;", "e2e3", ""));
        assert!(!solved("am e4;", "e2e4", ""));
        assert!(solved("bm e3; am e4;", "e2e3", ""));
        assert!(!solved("bm e3; am e4;", "h1h8", ""));
        assert!(solved("dm 4;", "e2e3", "score mate 4"));
        assert!(!solved("dm 4;", "e2e3", "score mate 5"));
        assert!(!solved("dm 4;", "e2e3", "score mate -2"));
        assert!(!solved("dm 4;", "e2e3", "score cp 900"));
        assert!(solved("bm #-4;", "e2e3", "score mate -4"));
        assert!(solved("dm -4;", "e2e3", "score mate -1"));
        assert!(!solved("bm #-4;", "e2e3", "score mate -5"));
        assert!(!solved("bm #-4;", "e2e3", "score mate 2"));
        assert!(!solved("bm #-4;", "e2e3", "score mate 0"));
        assert!(solved("bm e4; dm 4;", "e2e4", "score cp 1"));
        assert!(solved("bm e4; dm 4;", "h1h8", "score mate 3"));
        assert!(!solved("am h1h8; dm 4;", "h1h8", "score mate 3"));
        assert!(solved("c0 \"e4=10, e3=4\";", "e2e4", ""));
        assert!(!solved("c0 \"e4=10, e3=4\";", "e2e3", ""));
    }

    #[test]
    fn outcomes_include_points_and_announced_mates() {
        let record = record("bm e4; dm 3; c0 \"e4=10, e3=4\";");
        let judge = Judge::new(&record.start, &record.goal);
        let points = |played| outcome(&record, &judge, played, 1, "").unwrap().points;
        assert_eq!((points("e2e4"), points("e2e3"), points("h1h8")), (Some(10), Some(4), Some(0)));
        let judged = outcome(&record, &judge, "e2e4", 1, "score mate 3").unwrap();
        assert_eq!(judged.announced, Some(true));
    }
}
