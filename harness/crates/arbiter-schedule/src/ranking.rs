//! Ranking of the engines in a tournament.
//!
//! | format | order |
//! |---|---|
//! | round robin, pyramid | share of points, Sonneborn-Berger |
//! | gauntlet | share of points |
//! | Swiss | points, Buchholz, Sonneborn-Berger |
//! | knockout | rounds survived |
//! | ladder | rung |
//!
//! Engines with equal values share a rank.

use super::{Format, FormatState, Schedule};

/// Rank of one engine, with the values that determine the rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedEngine {
    /// Index of the engine.
    pub engine: usize,
    /// Rank, counted from 1; tied engines share a rank.
    pub rank: usize,
    /// Points, including byes.
    pub points: f64,
    /// Number of games played.
    pub games: u64,
    /// Buchholz score. The score is the sum of the points of the opponents, counted once for each
    /// encounter, and of the engine's own points, counted once for each bye. The value is `None`
    /// unless the format is Swiss.
    pub buchholz: Option<f64>,
    /// Sonneborn-Berger score. The score is the sum, over all games, of the opponent's points times
    /// the score of the game. The games of a bye count as draws of the engine against itself. The
    /// value is `None` unless the format is round robin, pyramid or Swiss.
    pub sonneborn_berger: Option<f64>,
    /// Number of rounds survived, including byes; `None` unless the format is a knockout.
    pub survived: Option<usize>,
}

impl Schedule {
    /// Returns the ranking of all engines, from first to last.
    pub fn ranking(&self) -> Vec<RankedEngine> {
        let totals = self.totals();
        let mut ranked: Vec<RankedEngine> =
            (0..self.engines).map(|e| self.place(e, &totals)).collect();
        match &self.course {
            FormatState::Ladder(ladder) => {
                ranked = ladder.rungs.iter().map(|engine| ranked[*engine]).collect();
                ranked.iter_mut().zip(1..).for_each(|(row, rank)| row.rank = rank);
            }
            _ => self.sort(&mut ranked),
        }
        ranked
    }

    fn sort(&self, ranked: &mut [RankedEngine]) {
        let is_swiss = self.design.format == Format::Swiss;
        let key = |row: &RankedEngine| -> [f64; 3] {
            match row.survived {
                Some(survived) => [survived as f64, 0.0, 0.0],
                None if is_swiss => [
                    row.points,
                    row.buchholz.unwrap_or_default(),
                    row.sonneborn_berger.unwrap_or_default(),
                ],
                None => {
                    // In a gauntlet and in an unfinished tournament, engines have different numbers
                    // of games.
                    let share = row.points / row.games.max(1) as f64;
                    [share, row.sonneborn_berger.unwrap_or_default(), 0.0]
                }
            }
        };
        let order = |a: &RankedEngine, b: &RankedEngine| {
            key(b).partial_cmp(&key(a)).expect("the values are numbers")
        };
        // The sort is stable, so that engines with equal values keep the order of the list.
        ranked.sort_by(order);
        for index in 0..ranked.len() {
            let is_level = index > 0 && order(&ranked[index - 1], &ranked[index]).is_eq();
            ranked[index].rank = if is_level { ranked[index - 1].rank } else { index + 1 };
        }
    }

    /// Returns, for each engine, the points (including byes) and the number of games.
    fn totals(&self) -> Vec<(f64, u64)> {
        let mut totals = vec![(0.0, 0); self.engines];
        for (engines, score) in &self.scores {
            for (engine, half_points) in engines.iter().zip(score.half_points) {
                totals[*engine].0 += half_points as f64 / 2.0;
                totals[*engine].1 += score.games;
            }
        }
        for (_, engine) in self.byes() {
            totals[*engine].0 += self.bye_points();
        }
        totals
    }

    /// Returns the points for a bye: half of the points in an encounter.
    fn bye_points(&self) -> f64 {
        // Each game is worth one point.
        (self.design.pairs * self.design.games_per_pair()) as f64 / 2.0
    }

    fn place(&self, engine: usize, totals: &[(f64, u64)]) -> RankedEngine {
        let (points, games) = totals[engine];
        let byes = self.byes().iter().filter(|(_, other)| *other == engine).count() as f64;
        let format = self.design.format;
        let is_swiss = format == Format::Swiss;
        let has_berger = is_swiss || matches!(format, Format::RoundRobin | Format::Pyramid);
        RankedEngine {
            engine,
            rank: 0,
            points,
            games,
            buchholz: is_swiss.then(|| self.buchholz(engine, totals) + byes * points),
            sonneborn_berger: has_berger
                .then(|| self.berger(engine, totals) + byes * self.bye_points() * points),
            survived: self.bracket().map(|bracket| bracket.survived(engine)),
        }
    }

    fn buchholz(&self, engine: usize, totals: &[(f64, u64)]) -> f64 {
        let opponents = self.encounters().iter().filter_map(|found| met(found.engines, engine));
        opponents.map(|(opponent, _)| totals[opponent].0).sum()
    }

    fn berger(&self, engine: usize, totals: &[(f64, u64)]) -> f64 {
        let terms = self.scores.iter().filter_map(|(engines, score)| {
            let (opponent, side) = met(*engines, engine)?;
            Some(totals[opponent].0 * score.half_points[side] as f64 / 2.0)
        });
        terms.sum()
    }
}

/// Returns the opponent of an engine in an encounter, and the side of the engine (0 or 1). Returns
/// `None` if the engine does not take part in the encounter.
fn met(engines: [usize; 2], engine: usize) -> Option<(usize, usize)> {
    let side = engines.iter().position(|other| *other == engine)?;
    Some((engines[1 - side], side))
}
