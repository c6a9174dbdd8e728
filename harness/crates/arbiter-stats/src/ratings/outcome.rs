//! Ratings with their covariance.

use super::groups::{Groups, PerfectScore};
use super::matrix::{Cholesky, Matrix, add_outer, zero};
use super::state::{Constraint, Encounter, State};
use super::{Meeting, Options};
use crate::elo::normal_cdf;

/// State at the maximum of the likelihood, with the curvature at this point.
#[derive(Debug)]
pub(super) struct Solution {
    pub(super) state: State,
    pub(super) root: Cholesky,
    pub(super) encounters: Vec<Encounter>,
    pub(super) is_advantage_known: bool,
    /// `true` if the games contain no information about strengths.
    pub(super) is_flat: bool,
}

/// Ratings of all players.
#[derive(Debug)]
pub struct RatingList {
    /// Players in groups of comparable ratings.
    pub groups: Groups,
    /// Players with a perfect score who have a rating; each rating is a bound.
    pub perfect: Vec<PerfectScore>,
    /// Players who won all games against some opponents and lost all games against all other
    /// opponents. These players have a rating without a standard error.
    pub between: Vec<usize>,
    /// Players who are not rated because all groups together have more than
    /// [`MAX_PLAYERS`](super::MAX_PLAYERS) players.
    pub left_out: Vec<usize>,
    /// White's advantage in Elo points; `None` if the advantage cannot be separated from the
    /// strengths of the players.
    pub advantage: Option<f64>,
    /// Standard error of White's advantage, in Elo points, if the advantage was estimated.
    pub advantage_error: Option<f64>,
    /// Probability of a draw between equal players, 0 to 1.
    pub draw_rate: f64,
    ratings: Vec<f64>,
    group_of: Vec<Option<usize>>,
    index: Vec<Option<usize>>,
    is_flat: bool,
    /// Covariance of all unknowns, in squared Elo points, for each estimator of [`Errors`].
    covariances: [Matrix; 2],
}

/// Estimator of standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// Standard errors from the curvature of the likelihood, valid if games are independent and the
    /// model is correct.
    Information,
    /// Sandwich standard errors, from the observed variance of pairs and the model's variance of
    /// single games (P. Huber, 1967). If there are few pairs, the observed variance is too small on
    /// average. A correction that decreases with the number of pairs is therefore added (J. Morel,
    /// M. Bokossa, N. Neerchal, 2003).
    Sandwich,
}

impl RatingList {
    /// Creates the list of the ratings in all groups. Players with perfect scores and unrated
    /// players are added by the caller.
    pub(super) fn new(
        solution: Solution,
        meetings: &[Meeting],
        options: &Options,
        groups: Groups,
    ) -> RatingList {
        let Solution { state, root, encounters, is_advantage_known, is_flat } = solution;
        let group_of = groups.by_player(state.ratings.len());
        let spread = spread(&state, &encounters, meetings, options, &group_of);
        let square = options.scale * options.scale;
        let information = root.inverse();
        let mut sandwich = root.sandwich(&spread);
        let pairs = meetings.iter().filter(|meeting| is_inside(meeting, &group_of));
        let pairs: u64 = pairs.flat_map(|meeting| meeting.pairs.iter().flatten()).sum();
        let sample = SampleSize {
            pairs: pairs as f64,
            singles: encounters.iter().map(|encounter| encounter.singles).sum(),
            // The level of a group without an anchor or prior is not estimated.
            unknowns: (state.unknowns - state.floating.len()) as f64,
        };
        sample.allow_for_few(&mut sandwich, &information, &spread);
        let sandwich = centred(sandwich, &state, square);
        let information = centred(information, &state, square);
        let advantage_index = state.advantage_index.filter(|_| is_advantage_known);
        let advantage_error = advantage_index.map(|index| sandwich[index][index].max(0.0).sqrt());
        RatingList {
            perfect: Vec::new(),
            between: Vec::new(),
            left_out: Vec::new(),
            advantage: is_advantage_known.then_some(state.advantage * options.scale),
            advantage_error,
            draw_rate: options.model.draw_rate(state.draw),
            ratings: state.ratings.iter().map(|rating| rating * options.scale).collect(),
            group_of,
            index: state.index,
            is_flat,
            covariances: [information, sandwich],
            groups,
        }
    }

    /// Returns the rating of a player, in Elo points; `None` if the player is not rated.
    pub fn rating(&self, player: usize) -> Option<f64> {
        let is_perfect = || self.perfect.iter().any(|perfect| perfect.player == player);
        let is_between = self.between.contains(&player);
        let is_rated = self.group_of[player].is_some() || is_between || is_perfect();
        is_rated.then(|| self.ratings[player])
    }

    /// Returns the index of the group in which a player was rated; `None` if the player is in no
    /// group.
    pub fn group(&self, player: usize) -> Option<usize> {
        self.group_of[player]
    }

    /// Returns the covariance of two players' ratings, in squared Elo points. Returns `None` if a
    /// player is outside all groups, or if all games were drawn and therefore contain no
    /// information about strengths.
    pub fn covariance(&self, a: usize, b: usize, errors: Errors) -> Option<f64> {
        self.group_of[a].and(self.group_of[b])?;
        let matrix = &self.covariances[errors as usize];
        match self.index[a].zip(self.index[b]) {
            Some((i, j)) => (!self.is_flat).then(|| matrix[i][j]),
            // The rating of an anchored player has no variance.
            None => Some(0.0),
        }
    }

    /// Returns the standard error of a rating, in Elo points, relative to the mean of the group or
    /// to the anchors. Returns `None` if [`covariance`](Self::covariance) returns `None`.
    pub fn error(&self, player: usize, errors: Errors) -> Option<f64> {
        Some(self.covariance(player, player, errors)?.max(0.0).sqrt())
    }

    /// Returns the standard error of the difference of two ratings, in Elo points; `None` if the
    /// ratings are not comparable.
    pub fn difference_error(&self, a: usize, b: usize, errors: Errors) -> Option<f64> {
        if self.group_of[a]? != self.group_of[b]? {
            return None;
        }
        let variance = self.covariance(a, a, errors)? + self.covariance(b, b, errors)?
            - 2.0 * self.covariance(a, b, errors)?;
        // Rounding errors may make the variance for nearly identical players negative.
        Some(variance.max(0.0).sqrt())
    }

    /// Returns the likelihood of superiority (LOS), 0 to 1, of player `a` over player `b`; `None`
    /// if the ratings are not comparable.
    pub fn superiority(&self, a: usize, b: usize, errors: Errors) -> Option<f64> {
        let error = self.difference_error(a, b, errors)?;
        (error > 0.0).then(|| normal_cdf((self.ratings[a] - self.ratings[b]) / error))
    }
}

/// Sample sizes of the sandwich estimator.
#[derive(Debug, Clone, Copy)]
struct SampleSize {
    /// Number of pairs, whose variance is observed.
    pairs: f64,
    /// Number of games without a partner game, whose variance follows from the model.
    singles: f64,
    /// Number of estimated parameters, not counting the levels of groups.
    unknowns: f64,
}

impl SampleSize {
    /// Applies the small-sample correction of the sandwich estimator (J. Morel, M. Bokossa, N.
    /// Neerchal, 2003). The correction is needed because estimates and variance come from the same
    /// games.
    ///
    /// For m units and p unknowns, the corrected covariance is c·V + δ·φ·H⁻¹. V is the covariance
    /// of the sandwich estimator, and H⁻¹ is the inverse of the curvature. In this formula, c = (n
    /// − 1)/(n − p) · m/(m − 1) for n games, and δ = p/(m − p), but at most ½. The factor φ is the
    /// ratio of the observed variance of pairs to the variance of the model, but at least 1.
    /// Without pairs, the covariance is not corrected.
    fn allow_for_few(self, sandwich: &mut Matrix, information: &Matrix, spread: &Matrix) {
        let SampleSize { pairs, singles, unknowns } = self;
        if pairs == 0.0 || unknowns <= 0.0 {
            return;
        }
        let units = pairs + singles;
        let games = 2.0 * pairs + singles;
        let lost = (games - 1.0) / (games - unknowns).max(1.0);
        let factor = lost.max(1.0) * units / (units - 1.0).max(1.0);
        // δ = p/(m − p) reaches its limit of ½ at m = 3p.
        let share = if units > 3.0 * unknowns { unknowns / (units - unknowns) } else { 0.5 };
        let cells = (0..spread.len()).flat_map(|i| (0..spread.len()).map(move |j| (i, j)));
        let trace: f64 = cells.map(|(i, j)| information[i][j] * spread[j][i]).sum();
        let wider = (trace / unknowns).max(1.0);
        for (cell, information) in sandwich.iter_mut().flatten().zip(information.iter().flatten()) {
            *cell += (factor - 1.0) * *cell + share * wider * information;
        }
    }
}

/// Returns whether both players of a meeting are in the same group.
pub(super) fn is_inside(meeting: &Meeting, group_of: &[Option<usize>]) -> bool {
    let [first, second] = meeting.players.map(|player| group_of[player]);
    first.is_some() && first == second
}

/// Returns the covariance in squared Elo points, without the terms that fix the levels of groups.
fn centred(mut covariance: Matrix, state: &State, square: f64) -> Matrix {
    for group in &state.floating {
        // An added term fixes the mean of the group. Ratings are relative to this mean, so the
        // covariance is centred on the mean (C·V·C with C = I − 1/n).
        let n = group.len() as f64;
        let row_mean = |row: &Vec<f64>| group.iter().map(|j| row[*j]).sum::<f64>() / n;
        let row_means: Vec<f64> = covariance.iter().map(row_mean).collect();
        let mean = group.iter().map(|i| row_means[*i]).sum::<f64>() / n;
        let is_member: Vec<bool> = (0..covariance.len()).map(|i| group.contains(&i)).collect();
        for (i, row) in covariance.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                let mut change = 0.0;
                if is_member[j] {
                    change -= row_means[i];
                }
                if is_member[i] {
                    change -= row_means[j];
                }
                if is_member[i] && is_member[j] {
                    change += mean;
                }
                *cell += change;
            }
        }
    }
    covariance.iter_mut().flatten().for_each(|cell| *cell += *cell * (square - 1.0));
    covariance
}

/// Returns the covariance of the gradient. Single games contribute the variance of the model, pairs
/// contribute their observed variance, and priors contribute the variance from their standard
/// deviation.
fn spread(
    state: &State,
    encounters: &[Encounter],
    meetings: &[Meeting],
    options: &Options,
    group_of: &[Option<usize>],
) -> Matrix {
    let mut spread = zero(state.unknowns);
    let model = options.model;
    let pull = |white: usize, black: usize, result: usize| {
        let x = state.ratings[white] - state.ratings[black] + state.advantage;
        let [strength, draw] = model.gradient(x, state.draw, result);
        let mut vector = state.direction(white, black);
        vector.iter_mut().for_each(|(_, sign)| *sign *= strength);
        vector.extend(state.draw_index.map(|index| (index, draw)));
        vector
    };
    for Constraint { direction, weight, .. } in state.constraints(options) {
        add_outer(&mut spread, &direction, weight);
    }
    for encounter in encounters.iter().filter(|e| e.singles > 0.0) {
        let p = model.probabilities(state.difference(encounter), state.draw);
        for (result, p) in p.iter().enumerate() {
            let vector = pull(encounter.white, encounter.black, result);
            add_outer(&mut spread, &vector, encounter.singles * p);
        }
    }
    for meeting in meetings.iter().filter(|meeting| is_inside(meeting, group_of)) {
        let [first, second] = meeting.players;
        for (with_white, row) in meeting.pairs.iter().enumerate() {
            for (with_black, count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                // The gradients of the two games in a pair are added before the product is formed,
                // because the games are not independent.
                let mut vector = pull(first, second, with_white);
                for (unknown, value) in pull(second, first, 2 - with_black) {
                    match vector.iter_mut().find(|(index, _)| *index == unknown) {
                        Some((_, sum)) => *sum += value,
                        None => vector.push((unknown, value)),
                    }
                }
                add_outer(&mut spread, &vector, *count as f64);
            }
        }
    }
    spread
}
