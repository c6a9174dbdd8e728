//! Swiss format: in each round, engines with equal or similar scores meet.
//!
//! Before each round, engines are ranked by game points, then by seed. From the top of the ranking,
//! each engine is paired within its score group as in the Dutch system: the upper half against the
//! lower half. An engine without an opponent in its group floats down to the next group.
//!
//! Two engines do not meet again if the round can be paired without a rematch: an opponent is
//! accepted only if all other engines can still be paired (see [`super::matching`]). If a round
//! without rematches is impossible, the maximum number of meetings is raised by one.
//!
//! If the number of engines is odd, one engine has a bye: the lowest-ranked of the engines with the
//! fewest byes. A bye is worth half of the points of an encounter, the expected score against an
//! equal opponent. Colours need no balancing, because the second game of each pair has colours
//! reversed.

use super::ledger::Ledger;
use super::matching::Matching;

/// State of a Swiss tournament: the rounds and byes so far.
#[derive(Debug, Clone)]
pub(super) struct Swiss {
    /// Engines from the highest seed to the lowest.
    order: Vec<usize>,
    /// Number of scheduled rounds.
    started: u64,
    pub(super) is_over: bool,
    /// Number of the round and index of the engine for each bye, both counted from 0.
    pub(super) byes: Vec<(u64, usize)>,
}

impl Swiss {
    pub(super) fn new(order: Vec<usize>, ledger: &mut Ledger) -> Swiss {
        let mut swiss = Swiss { order, started: 0, is_over: false, byes: Vec::new() };
        swiss.next_round(ledger);
        swiss
    }

    /// Schedules the next round if all encounters are over.
    pub(super) fn settle(&mut self, ledger: &mut Ledger) {
        if ledger.encounters.iter().all(|encounter| encounter.is_over()) {
            self.next_round(ledger);
        }
    }

    fn next_round(&mut self, ledger: &mut Ledger) {
        if self.started == ledger.design.rounds {
            self.is_over = true;
            return;
        }
        let points = self.points(ledger);
        let mut ranking = self.order.clone();
        // The sort is stable, so that engines with equal points keep the order of their seeds.
        ranking.sort_by_key(|engine| std::cmp::Reverse(points[*engine]));
        let met = self.meetings(ledger);
        let (bye, pairs) = pair(&ranking, &points, &met, &self.bye_order(&ranking));
        self.byes.extend(bye.map(|position| (self.started, ranking[position])));
        let pairs: Vec<[usize; 2]> = pairs.into_iter().map(|p| p.map(|n| ranking[n])).collect();
        ledger.open(self.started, &pairs);
        self.started += 1;
    }

    /// Returns the half points of each engine, including byes.
    fn points(&self, ledger: &Ledger) -> Vec<u64> {
        let mut points = vec![0; self.order.len()];
        for encounter in &ledger.encounters {
            let [first, second] = encounter.engines;
            points[first] += encounter.score.half_points[0];
            points[second] += encounter.score.half_points[1];
        }
        let design = ledger.design;
        // An encounter of n games is worth n points. A bye is worth half of these points: n half
        // points.
        let bye = design.pairs * design.games_per_pair();
        self.byes.iter().for_each(|&(_, engine)| points[engine] += bye);
        points
    }

    fn meetings(&self, ledger: &Ledger) -> Vec<Vec<u64>> {
        let mut met = vec![vec![0; self.order.len()]; self.order.len()];
        for encounter in &ledger.encounters {
            let [a, b] = encounter.engines;
            met[a][b] += 1;
            met[b][a] += 1;
        }
        met
    }

    /// Returns positions in the ranking, in the order in which their engines should get a bye.
    fn bye_order(&self, ranking: &[usize]) -> Vec<usize> {
        let had = |engine: usize| self.byes.iter().filter(|(_, other)| *other == engine).count();
        let mut positions: Vec<usize> = (0..ranking.len()).rev().collect();
        positions.sort_by_key(|position| had(ranking[*position]));
        positions
    }
}

/// Returns the bye, if any, and the encounters of a round, all as positions in the ranking.
fn pair(
    ranking: &[usize],
    points: &[u64],
    met: &[Vec<u64>],
    bye_order: &[usize],
) -> (Option<usize>, Vec<[usize; 2]>) {
    let count = ranking.len();
    let byes: Vec<Option<usize>> = match count % 2 {
        0 => vec![None],
        _ => bye_order.iter().map(|position| Some(*position)).collect(),
    };
    for limit in 0.. {
        let may_meet = |a: usize, b: usize| met[ranking[a]][ranking[b]] <= limit;
        for &bye in &byes {
            let mut matching = Matching::new(count, bye, &may_meet);
            if matching.is_perfect() {
                let remaining = (0..count).filter(|position| Some(*position) != bye).collect();
                let group = |position: usize| points[ranking[position]];
                return (bye, pair_from_top(remaining, &group, &mut matching));
            }
        }
    }
    unreachable!("a limit above all meetings allows every pairing")
}

/// Pairs all remaining engines from the top of the ranking. The matching must be perfect.
fn pair_from_top(
    mut remaining: Vec<usize>,
    group: &dyn Fn(usize) -> u64,
    matching: &mut Matching<'_>,
) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    while let Some(&top) = remaining.first() {
        let size = remaining.iter().filter(|position| group(**position) == group(top)).count();
        // A group of one engine has no lower half, so the engine floats down to the next group.
        let lower_start = (size / 2).max(1);
        // The Dutch system prefers opponents in the lower half from its top, then in the upper half
        // from its bottom, then in lower groups.
        let lower = remaining.iter().skip(lower_start).take(size - lower_start);
        let upper = remaining[1..lower_start].iter().rev();
        let candidates: Vec<usize> =
            lower.chain(upper).chain(remaining.iter().skip(size.max(1))).copied().collect();
        let opponent = candidates.into_iter().find(|candidate| matching.take(top, *candidate));
        let opponent = opponent.expect("a perfect matching has a partner for everybody");
        remaining.retain(|position| *position != top && *position != opponent);
        pairs.push([top, opponent]);
    }
    pairs
}
