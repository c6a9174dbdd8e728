//! Groups of players whose ratings are comparable.
//!
//! The likelihood of ratings has a maximum only if, for every division of the players into two
//! sets, each set scored against the other (L. Ford, 1957). Players who won or lost all their games
//! are therefore removed one after the other and rated later. The remaining players and the points
//! between them form a graph; the strongly connected components of this graph are the groups.

/// Player who won or lost all games. The player's rating is the strength at which this score has a
/// probability of one half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerfectScore {
    /// Index of the player.
    pub player: usize,
    /// `true` if the player won all games against the remaining players, `false` if the player lost
    /// all these games.
    pub won_all: bool,
}

/// Players, divided into groups of comparable ratings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    /// Players with perfect scores, in the order of removal.
    pub perfect: Vec<PerfectScore>,
    /// Groups of at least two comparable players, the largest first.
    pub groups: Vec<Vec<usize>>,
    /// Players whose ratings are not comparable with any other rating.
    pub alone: Vec<usize>,
}

/// Points of two players against each other, in half points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Score {
    /// Indices of the two players.
    pub players: [usize; 2],
    /// Half points that each player scored against the other player.
    pub taken: [u64; 2],
}

impl Groups {
    /// Returns, for each of `players` players, the index of the player's group; `None` for players
    /// outside all groups.
    pub(super) fn by_player(&self, players: usize) -> Vec<Option<usize>> {
        let mut group_of = vec![None; players];
        for (number, group) in self.groups.iter().enumerate() {
            group.iter().for_each(|player| group_of[*player] = Some(number));
        }
        group_of
    }
}

/// Divides `players` players into groups by their scores against each other.
pub(super) fn divide(players: usize, scores: &[Score]) -> Groups {
    let mut links: Vec<Vec<(usize, u64, u64)>> = vec![Vec::new(); players];
    for score in scores.iter().filter(|score| score.taken != [0, 0]) {
        let ([a, b], [from_b, from_a]) = (score.players, score.taken);
        links[a].push((b, from_b, from_a));
        links[b].push((a, from_a, from_b));
    }
    let mut is_in = vec![true; players];
    let mut perfect = Vec::new();
    let mut waiting: Vec<usize> = (0..players).rev().collect();
    while let Some(player) = waiting.pop() {
        let opponents = links[player].iter().filter(|(other, ..)| is_in[*other]);
        let (taken, given) = opponents.fold((0, 0), |sum, link| (sum.0 + link.1, sum.1 + link.2));
        if !is_in[player] || (taken > 0) == (given > 0) {
            continue;
        }
        is_in[player] = false;
        perfect.push(PerfectScore { player, won_all: taken > 0 });
        waiting.extend(links[player].iter().map(|(other, ..)| *other).filter(|o| is_in[*o]));
    }
    let (mut groups, mut alone) = (Vec::new(), Vec::new());
    for group in components(&links, &is_in) {
        match group.as_slice() {
            [single] => alone.push(*single),
            _ => groups.push(group),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    alone.sort_unstable();
    Groups { perfect, groups, alone }
}

/// Returns the strongly connected components of the relation "scored against" (S. Rao Kosaraju's
/// algorithm in two passes, without recursion).
fn components(links: &[Vec<(usize, u64, u64)>], is_in: &[bool]) -> Vec<Vec<usize>> {
    let next = |player: usize, forward: bool| {
        links[player].iter().filter_map(move |(other, taken, given)| {
            let linked = if forward { *taken > 0 } else { *given > 0 };
            (linked && is_in[*other]).then_some(*other)
        })
    };
    let mut order = Vec::new();
    let mut visited: Vec<bool> = is_in.iter().map(|is_in| !is_in).collect();
    for start in 0..links.len() {
        if std::mem::replace(&mut visited[start], true) {
            continue;
        }
        let mut path = vec![(start, next(start, true))];
        while let Some((player, others)) = path.last_mut() {
            match others.find(|other| !visited[*other]) {
                Some(other) => {
                    visited[other] = true;
                    path.push((other, next(other, true)));
                }
                None => {
                    order.push(*player);
                    path.pop();
                }
            }
        }
    }
    let mut found = Vec::new();
    let mut visited: Vec<bool> = is_in.iter().map(|is_in| !is_in).collect();
    for start in order.into_iter().rev() {
        if std::mem::replace(&mut visited[start], true) {
            continue;
        }
        let mut group = vec![start];
        let mut at = 0;
        while at < group.len() {
            for other in next(group[at], false) {
                if !std::mem::replace(&mut visited[other], true) {
                    group.push(other);
                }
            }
            at += 1;
        }
        group.sort_unstable();
        found.push(group);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(a: usize, b: usize, taken: [u64; 2]) -> Score {
        Score { players: [a, b], taken }
    }

    #[test]
    fn perfect_scores_are_removed_one_after_the_other() {
        // 0 beats all, 1 beats all except 0, and 2 and 3 share the points.
        let scores =
            [score(0, 1, [2, 0]), score(1, 2, [2, 0]), score(0, 3, [4, 0]), score(2, 3, [1, 1])];
        let found = divide(5, &scores);
        let order: Vec<_> = found.perfect.iter().map(|p| (p.player, p.won_all)).collect();
        assert_eq!(order, [(0, true), (1, true)]);
        assert_eq!(found.groups, [vec![2, 3]]);
        assert_eq!(found.alone, [4]);
    }

    #[test]
    fn one_way_results_separate_groups() {
        // There are two groups; one group won all games between them.
        let scores =
            [score(0, 1, [1, 1]), score(2, 3, [2, 2]), score(3, 4, [2, 2]), score(0, 2, [2, 0])];
        let found = divide(5, &scores);
        assert_eq!(found.groups, [vec![2, 3, 4], vec![0, 1]]);
        assert_eq!((found.perfect.len(), found.alone.len()), (0, 0));
    }

    #[test]
    fn a_cycle_of_wins_is_one_group() {
        let scores = [score(0, 1, [2, 0]), score(1, 2, [2, 0]), score(2, 0, [2, 0])];
        assert_eq!(divide(3, &scores).groups, [vec![0, 1, 2]]);
        assert_eq!(divide(2, &[score(0, 1, [2, 0])]).groups, [[0; 0]; 0]);
    }
}
