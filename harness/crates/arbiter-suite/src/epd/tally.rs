//! Counts of the positions that engines solved.

use std::sync::Arc;
use std::time::Duration;

use super::Record;
use super::judge::Outcome;
use arbiter_stats::paired::SolvedCounts;

/// Judged result of a search; the error is a fault of the engine.
pub type SearchOutcome = Result<Outcome, String>;

/// Counts for a set of positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of positions.
    pub positions: u64,
    /// Number of solved positions.
    pub solved: u64,
    /// Number of positions for which the engine did not answer with a legal move; these positions
    /// count as unsolved.
    pub faults: u64,
    /// Points scored, and maximum number of points; `None` if no record gives points.
    pub points: Option<(u64, u64)>,
    /// Number of mates announced within the required number of moves, and number of mates required;
    /// `None` if no record requires a mate.
    pub mates: Option<(u64, u64)>,
    /// Solution times of the solved positions, in ascending order.
    times: Vec<Duration>,
}

impl Tally {
    /// Counts the searches of one engine. Each search is given with its record.
    pub fn of<'a>(searches: impl IntoIterator<Item = (&'a Record, &'a SearchOutcome)>) -> Tally {
        let mut tally = Tally::default();
        for (record, searched) in searches {
            tally.add(record, searched.as_ref().ok());
        }
        // The median needs sorted times.
        tally.times.sort_unstable();
        tally
    }

    fn add(&mut self, record: &Record, outcome: Option<&Outcome>) {
        self.positions += 1;
        self.faults += u64::from(outcome.is_none());
        if let Some(most) = record.goal.most_points() {
            let (made, all) = self.points.get_or_insert_default();
            *made += u64::from(outcome.and_then(|outcome| outcome.points).unwrap_or(0));
            *all += u64::from(most);
        }
        if record.goal.mate.is_some() {
            let (in_time, all) = self.mates.get_or_insert_default();
            *in_time += u64::from(outcome.is_some_and(|outcome| outcome.announced == Some(true)));
            *all += 1;
        }
        if let Some(outcome) = outcome.filter(|outcome| outcome.is_solved) {
            self.solved += 1;
            self.times.extend(outcome.found.map(|found| found.at));
        }
    }

    /// Returns the time within which at least half of the solved positions were solved; `None` if
    /// no position was solved.
    pub fn median_time(&self) -> Option<Duration> {
        // If the number of times is even, half of the positions were solved within the lower of the
        // two middle times.
        let middle = self.times.len().checked_sub(1)? / 2;
        self.times.get(middle).copied()
    }

    /// Returns the sum of the solution times of all solved positions.
    pub fn total_time(&self) -> Duration {
        self.times.iter().sum()
    }
}

/// Returns the themes of a suite, each with the indices of the positions that have this theme.
/// Themes are in the order of their first positions. Positions without a theme form a group with
/// the theme `None`.
pub fn themes(records: &[Arc<Record>]) -> Vec<(Option<&str>, Vec<usize>)> {
    let mut themes: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let theme = record.theme.as_deref();
        match themes.iter_mut().find(|(listed, _)| *listed == theme) {
            Some((_, members)) => members.push(index),
            None => themes.push((theme, vec![index])),
        }
    }
    themes
}

/// Comparison of two engines on the same positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Numbers of positions that both engines, only one engine or neither engine solved.
    pub solved: SolvedCounts,
    /// Indices of the positions that only the first engine solved.
    pub won: Vec<usize>,
    /// Indices of the positions that only the second engine solved.
    pub lost: Vec<usize>,
}

/// Compares the searches of two engines, position by position. Both slices must contain the same
/// positions in the same order.
pub fn compare(first: &[SearchOutcome], second: &[SearchOutcome]) -> Comparison {
    let is_solved =
        |searched: &SearchOutcome| searched.as_ref().is_ok_and(|outcome| outcome.is_solved);
    let mut comparison = Comparison::default();
    let Comparison { solved, won, lost } = &mut comparison;
    for (index, (first, second)) in first.iter().zip(second).enumerate() {
        match (is_solved(first), is_solved(second)) {
            (true, true) => solved.both += 1,
            (false, false) => solved.neither += 1,
            (true, false) => won.push(index),
            (false, true) => lost.push(index),
        }
    }
    solved.only_first = won.len() as u64;
    solved.only_second = lost.len() as u64;
    comparison
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epd::judge::Judge;
    use crate::epd::read::read;
    use arbiter_protocol::Info;

    const SUITE: &str = "4k3/8/8/8/8/8/4P3/4K2R w K - bm e4; id \"A.1\"; c0 \"e4=10, e3=4\";
4k3/8/8/8/8/8/4P3/4K2R w K - bm e4; dm 3; id \"A.2\";
4k3/8/8/8/8/8/4P3/4K2R w K - bm e3; id \"B.1\";";

    struct Suite(Vec<Record>);

    impl Suite {
        fn played(&self, played: [&str; 3]) -> Vec<SearchOutcome> {
            let searches = self.0.iter().zip(played).zip(1..);
            searches
                .map(|((record, played), ms)| {
                    let judge = Judge::new(&record.start, &record.goal);
                    judge
                        .end(played, Duration::from_millis(ms), &Info::parse("score mate 3"))
                        .judged(&record.start, &record.goal)
                })
                .collect()
        }
    }

    #[test]
    fn counts_and_comparison() {
        let suite = Suite(read(SUITE, false).cases);
        let first = suite.played(["e2e3", "e2e4", "e2e3"]);
        let tally = Tally::of(suite.0.iter().zip(&first));
        assert_eq!((tally.positions, tally.solved, tally.faults), (3, 2, 0));
        assert_eq!((tally.points, tally.mates), (Some((4, 10)), Some((1, 1))));
        assert_eq!(tally.median_time(), Some(Duration::from_millis(2)));
        assert_eq!(tally.total_time(), Duration::from_millis(5));
        let second = suite.played(["e2e4", "nonsense", "e2e4"]);
        let tally = Tally::of(suite.0.iter().zip(&second));
        assert_eq!((tally.solved, tally.faults, tally.mates), (1, 1, Some((0, 1))));
        let found = compare(&first, &second);
        let solved = SolvedCounts { both: 0, only_first: 2, only_second: 1, neither: 0 };
        assert_eq!(found, Comparison { solved, won: vec![1, 2], lost: vec![0] });
    }

    #[test]
    fn themes_are_in_order_of_first_positions() {
        let suite: Vec<Arc<Record>> = read(SUITE, false).cases.into_iter().map(Arc::new).collect();
        let expect = [(Some("A"), vec![0, 1]), (Some("B"), vec![2])];
        assert_eq!(themes(&suite), expect);
        assert_eq!(Tally::of([]).median_time(), None);
    }
}
