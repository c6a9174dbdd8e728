//! Perfect matchings, which show that all remaining engines can be paired within the rules.
//!
//! The search for a perfect matching uses J. Edmonds' augmenting paths ("Paths, trees, and
//! flowers", 1965). When a pair is removed, the matching is updated. The check whether all other
//! engines can still be paired therefore takes one search for a path, instead of a new matching.

use std::collections::VecDeque;

/// Maximum matching of the remaining engines.
#[derive(Clone)]
pub(super) struct Matching<'a> {
    /// Symmetric predicate: `true` if two engines may be paired.
    may_meet: &'a dyn Fn(usize, usize) -> bool,
    is_remaining: Vec<bool>,
    mate: Vec<Option<usize>>,
}

impl<'a> Matching<'a> {
    /// Creates a maximum matching of the numbers below `count`, except `absent`.
    pub(super) fn new(
        count: usize,
        absent: Option<usize>,
        may_meet: &'a dyn Fn(usize, usize) -> bool,
    ) -> Matching<'a> {
        let is_remaining = (0..count).map(|n| Some(n) != absent).collect();
        let mut matching = Matching { may_meet, is_remaining, mate: vec![None; count] };
        for n in 0..count {
            if matching.is_remaining[n] && matching.mate[n].is_none() {
                matching.augment(n);
            }
        }
        matching
    }

    /// Returns whether every remaining engine has a partner.
    pub(super) fn is_perfect(&self) -> bool {
        self.is_remaining
            .iter()
            .zip(&self.mate)
            .all(|(is_remaining, mate)| !is_remaining || mate.is_some())
    }

    /// Removes a pair if all other engines can still be paired. Returns whether the pair was
    /// removed. The matching must be perfect, and remains perfect.
    pub(super) fn take(&mut self, a: usize, b: usize) -> bool {
        if !(self.may_meet)(a, b) {
            return false;
        }
        // If the search fails, the matching is restored from this copy.
        let before = self.clone();
        let partners = [self.mate[a], self.mate[b]];
        for n in [a, b] {
            self.is_remaining[n] = false;
            if let Some(mate) = self.mate[n].take() {
                self.mate[mate] = None;
            }
        }
        // If the two engines were partners, no other engine has lost its partner.
        let [Some(partner), Some(_)] = partners else { return true };
        let is_possible = partner == b || self.augment(partner);
        if !is_possible {
            *self = before;
        }
        is_possible
    }

    /// Searches for an augmenting path from `root`, which has no partner. If there is such a path,
    /// augments the matching and returns `true`.
    fn augment(&mut self, root: usize) -> bool {
        let count = self.mate.len();
        let mut forest = Forest {
            parent: vec![None; count],
            base: (0..count).collect(),
            is_outer: vec![false; count],
        };
        forest.is_outer[root] = true;
        let mut queue = VecDeque::from([root]);
        while let Some(v) = queue.pop_front() {
            for to in 0..count {
                let is_edge = self.is_remaining[to] && to != v && (self.may_meet)(v, to);
                if !is_edge || forest.base[v] == forest.base[to] || self.mate[v] == Some(to) {
                    continue;
                }
                let is_outer =
                    to == root || self.mate[to].is_some_and(|mate| forest.parent[mate].is_some());
                if is_outer {
                    forest.contract(v, to, &self.mate, &mut queue);
                } else if forest.parent[to].is_none() {
                    forest.parent[to] = Some(v);
                    match self.mate[to] {
                        Some(mate) => {
                            forest.is_outer[mate] = true;
                            queue.push_back(mate);
                        }
                        None => {
                            self.flip(to, &forest.parent);
                            return true;
                        }
                    }
                }
            }
        }
        false
    }

    /// Swaps matched and unmatched edges on the augmenting path from `end` back to the root.
    fn flip(&mut self, end: usize, parent: &[Option<usize>]) {
        let mut next = Some(end);
        while let Some(v) = next {
            let Some(before) = parent[v] else { return };
            next = self.mate[before];
            self.mate[v] = Some(before);
            self.mate[before] = Some(v);
        }
    }
}

/// Alternating tree of one search. Each odd cycle is contracted to its base.
struct Forest {
    /// Outer vertex before each inner vertex, on the path from the root.
    parent: Vec<Option<usize>>,
    base: Vec<usize>,
    is_outer: Vec<bool>,
}

impl Forest {
    /// Contracts the odd cycle that contains two adjacent outer vertices; the cycle then acts as
    /// one vertex.
    fn contract(
        &mut self,
        v: usize,
        to: usize,
        mate: &[Option<usize>],
        queue: &mut VecDeque<usize>,
    ) {
        let base = self.common_base(v, to, mate);
        let mut is_in_cycle = vec![false; mate.len()];
        self.mark(v, base, to, mate, &mut is_in_cycle);
        self.mark(to, base, v, mate, &mut is_in_cycle);
        for n in 0..mate.len() {
            if is_in_cycle[self.base[n]] {
                self.base[n] = base;
                if !self.is_outer[n] {
                    self.is_outer[n] = true;
                    queue.push_back(n);
                }
            }
        }
    }

    /// Returns the next outer vertex on the path from an outer vertex to the root: the parent of
    /// the vertex's mate.
    fn above(&self, v: usize, mate: &[Option<usize>]) -> Option<usize> {
        self.parent[mate[v]?]
    }

    /// Returns the first common base on the paths from two vertices to the root.
    fn common_base(&self, a: usize, b: usize, mate: &[Option<usize>]) -> usize {
        let mut is_on_way = vec![false; mate.len()];
        let mut way = Some(a);
        while let Some(v) = way {
            let v = self.base[v];
            is_on_way[v] = true;
            way = self.above(v, mate);
        }
        let mut v = self.base[b];
        while !is_on_way[v] {
            let above = self.above(v, mate).expect("both lie in the tree of one root");
            v = self.base[above];
        }
        v
    }

    fn mark(
        &mut self,
        mut v: usize,
        base: usize,
        mut child: usize,
        mate: &[Option<usize>],
        is_in_cycle: &mut [bool],
    ) {
        while self.base[v] != base {
            let partner = mate[v].expect("below its base a cycle is matched");
            is_in_cycle[self.base[v]] = true;
            is_in_cycle[self.base[partner]] = true;
            self.parent[v] = Some(child);
            child = partner;
            v = self.parent[partner].expect("a partner has an outer vertex before it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{below, seed_for};

    struct Graph(Vec<Vec<bool>>);

    fn random(count: usize, seed: u64, share: u64) -> Graph {
        let mut rng = seed_for(seed, "graph", 0);
        let below_diagonal: Vec<Vec<bool>> =
            (0..count).map(|a| (0..a).map(|_| below(&mut rng, 100) < share).collect()).collect();
        let edge = |a: usize, b: usize| a != b && below_diagonal[a.max(b)][a.min(b)];
        Graph((0..count).map(|a| (0..count).map(|b| edge(a, b)).collect()).collect())
    }

    /// Searches for a perfect matching by trying all pairings.
    fn has_perfect(graph: &Graph, remaining: &[usize]) -> bool {
        let Some((&first, rest)) = remaining.split_first() else { return true };
        rest.iter().any(|&other| {
            let without: Vec<usize> = rest.iter().copied().filter(|n| *n != other).collect();
            graph.0[first][other] && has_perfect(graph, &without)
        })
    }

    #[test]
    fn matchings_agree_with_exhaustive_search() {
        let mut outcomes = [0, 0];
        for seed in 0..600 {
            let count = 2 + 2 * (seed as usize % 5);
            let graph = random(count, seed, 15 + seed % 60);
            let all: Vec<usize> = (0..count).collect();
            let expected = has_perfect(&graph, &all);
            outcomes[usize::from(expected)] += 1;
            let may_meet = |a: usize, b: usize| graph.0[a][b];
            let mut matching = Matching::new(count, None, &may_meet);
            assert_eq!(matching.is_perfect(), expected, "seed {seed}");
            if !expected {
                continue;
            }
            // After each removed pair, all other engines can still be paired. A pair is refused if
            // and only if its removal would leave engines that cannot be paired.
            let mut remaining = all;
            while let Some(&a) = remaining.first() {
                let others = remaining[1..].to_vec();
                let mut paired = false;
                for b in others {
                    let rest: Vec<usize> =
                        remaining.iter().copied().filter(|n| *n != a && *n != b).collect();
                    let possible = graph.0[a][b] && has_perfect(&graph, &rest);
                    assert_eq!(matching.take(a, b), possible, "seed {seed}: {a} {b}");
                    if possible {
                        assert!(matching.is_perfect());
                        remaining = rest;
                        paired = true;
                        break;
                    }
                }
                assert!(paired);
            }
        }
        assert!(outcomes.iter().all(|count| *count > 100), "{outcomes:?}");
    }
}
