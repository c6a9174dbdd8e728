//! State of the search for ratings.

use super::Options;

/// Games between two players with fixed colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encounter {
    pub white: usize,
    pub black: usize,
    /// Numbers of games lost, drawn and won by White, including prior draws.
    pub counts: [f64; 3],
    /// Number of games that belong to no pair.
    pub singles: f64,
}

/// Prior of a rating or of a rating difference, in natural units.
#[derive(Debug)]
pub(super) struct Constraint {
    /// Indices of the unknowns to which the prior applies, with their signs.
    pub direction: Vec<(usize, f64)>,
    /// Reciprocal of the prior variance.
    pub weight: f64,
    /// Current value minus the mean of the prior.
    pub off: f64,
}

/// Indices of the unknowns, and the values of all parameters in natural units.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// Index of each player's rating among the unknowns; `None` if the player is anchored or not
    /// rated.
    pub index: Vec<Option<usize>>,
    /// Index of White's advantage among the unknowns; `None` if the advantage is not estimated.
    pub advantage_index: Option<usize>,
    /// Index of the draw parameter among the unknowns; `None` if the parameter is not estimated.
    pub draw_index: Option<usize>,
    /// Number of unknowns.
    pub unknowns: usize,
    pub ratings: Vec<f64>,
    pub advantage: f64,
    pub draw: f64,
    /// Indices of the unknowns of each group that has neither an anchor nor a prior. The level of
    /// such a group is arbitrary.
    pub floating: Vec<Vec<usize>>,
}

impl State {
    pub(super) fn difference(&self, encounter: &Encounter) -> f64 {
        self.ratings[encounter.white] - self.ratings[encounter.black] + self.advantage
    }

    /// Returns the unknowns on which the strength difference between `white` and `black` depends,
    /// with their signs.
    pub(super) fn direction(&self, white: usize, black: usize) -> Vec<(usize, f64)> {
        let mut direction = Vec::with_capacity(4);
        direction.extend(self.index[white].map(|i| (i, 1.0)));
        direction.extend(self.index[black].map(|i| (i, -1.0)));
        direction.extend(self.advantage_index.map(|i| (i, 1.0)));
        direction
    }

    /// Returns the priors in the options as constraints.
    pub(super) fn constraints(&self, options: &Options) -> Vec<Constraint> {
        let of = |players: &[(usize, f64)], mean: f64, deviation: f64| Constraint {
            direction: players
                .iter()
                .filter_map(|(p, sign)| Some((self.index[*p]?, *sign)))
                .collect(),
            weight: (options.scale / deviation).powi(2),
            off: players.iter().map(|(p, sign)| sign * self.ratings[*p]).sum::<f64>()
                - mean / options.scale,
        };
        let priors = options.priors.iter().map(|p| of(&[(p.player, 1.0)], p.mean, p.deviation));
        let relations = options.relations.iter().map(|relation| {
            let [first, second] = relation.players;
            of(&[(first, 1.0), (second, -1.0)], relation.mean, relation.deviation)
        });
        priors.chain(relations).collect()
    }

    /// Adds a step to the unknowns.
    pub(super) fn add(&mut self, step: &[f64]) {
        let ratings = self.ratings.iter_mut().zip(&self.index);
        ratings.for_each(|(rating, index)| *rating += index.map_or(0.0, |index| step[index]));
        self.advantage += self.advantage_index.map_or(0.0, |index| step[index]);
        self.draw += self.draw_index.map_or(0.0, |index| step[index]);
    }
}
