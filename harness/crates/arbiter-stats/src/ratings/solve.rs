//! Maximization of the likelihood by Newton's method, jointly in all ratings, White's advantage and
//! the draw parameter.

use super::groups::{Groups, PerfectScore, Score, divide};
use super::matrix::{Cholesky, Matrix, add_outer, zero};
use super::model::OutcomeModel;
use super::outcome::{RatingList, Solution, is_inside};
use super::state::{Constraint, Encounter, State};
use super::{MAX_PLAYERS, Meeting, NoMaximum, Options};
use crate::elo::finite;
use crate::roots::falling_crossing;

/// Maximum step, in natural units. Steps are limited because the log-likelihood is close to a
/// parabola only near the current point.
const MAX_STEP: f64 = 1.5;

/// Step length, in natural units, below which the search ends.
const LAST_STEP: f64 = 1e-11;

/// Maximum number of steps; ordinary crosstables take 5 to 10 steps.
const MAX_STEPS: usize = 300;

/// Largest absolute rating, in natural units, in the search for ratings of perfect scores. On the
/// standard scale, 30 units are 5,200 Elo.
const PERFECT_RANGE: f64 = 30.0;

/// Minimum distance of a draw rate from 0 and from 1.
const EXTREME_RATE: f64 = 1e-9;

/// Rates `players` players by their games.
///
/// Each group of comparable players is rated around a separate level. Players with a perfect score
/// are rated afterwards, at the level at which their score has a probability of one half (Ordo's
/// rule). If all groups together have more than [`MAX_PLAYERS`] players, groups that would exceed
/// this limit are not rated; larger groups take precedence. Fails if Newton's method does not
/// converge.
pub fn rate(
    players: usize,
    meetings: &[Meeting],
    options: &Options,
) -> Result<RatingList, NoMaximum> {
    let mut groups = divide(players, &scores(meetings, options));
    let mut rated = 0;
    let is_too_large = |group: &mut Vec<usize>| {
        // Groups are sorted by size, so the largest groups are rated first.
        let fits = rated + group.len() <= MAX_PLAYERS;
        rated += if fits { group.len() } else { 0 };
        !fits
    };
    let left_out = groups.groups.extract_if(.., is_too_large).flatten().collect();
    let encounters = encounters(players, meetings, options, &groups);
    let mut state = start(players, &encounters, options, &groups);
    let mut fitted = newton(&mut state, &encounters, options);
    // If all games were drawn and the draw rate is estimated, the draw rate explains all results,
    // so the games contain no information about strengths.
    let is_flat = draw_share(&encounters) == 1.0
        && options.draw_rate.is_none()
        && options.priors.is_empty()
        && options.relations.is_empty();
    let is_advantage_estimated = !encounters.is_empty() && !is_flat && fitted.is_some();
    let is_advantage_known = is_advantage_estimated || options.advantage.is_some();
    let mut fixed = options.clone();
    if fitted.is_none() && !is_advantage_known {
        // A player had only one colour, so White's advantage cannot be separated from the strength
        // of this player.
        fixed.advantage = Some(0.0);
        state = start(players, &encounters, &fixed, &groups);
        fitted = newton(&mut state, &encounters, &fixed);
    }
    if fitted.is_none() {
        // If one of two players never loses, the likelihood has no maximum: the likelihood keeps
        // increasing with more draws and a larger difference. The draw rate is therefore fixed at
        // the share of draws in the games.
        fixed.draw_rate = Some(draw_share(&encounters));
        state = start(players, &encounters, &fixed, &groups);
        fitted = newton(&mut state, &encounters, &fixed);
    }
    let root = fitted.ok_or(NoMaximum)?;
    let is_draw_estimated = options.draw_rate.is_none() && !encounters.is_empty();
    if options.model == OutcomeModel::Scores && is_draw_estimated {
        state.draw = draw_parameter(&state, &encounters);
    }
    let (perfect, between) = perfect_ratings(&mut state, meetings, options, &groups);
    let solution = Solution { state, root, encounters, is_advantage_known, is_flat };
    let mut rated = RatingList::new(solution, meetings, options, groups);
    (rated.perfect, rated.between, rated.left_out) = (perfect, between, left_out);
    Ok(rated)
}

/// Returns the points of the two players in each meeting and each relation. Prior draws and
/// relations count as points for both players. Anchors and other priors do not count.
fn scores(meetings: &[Meeting], options: &Options) -> Vec<Score> {
    let prior = u64::from(options.prior_draws > 0.0);
    let score = |meeting: &Meeting| {
        let [lost, drawn, won] = meeting.results();
        let shared = if lost + drawn + won > 0 { prior } else { 0 };
        let taken = [2 * won + drawn + shared, 2 * lost + drawn + shared];
        Score { players: meeting.players, taken }
    };
    let related = options.relations.iter();
    let related = related.map(|relation| Score { players: relation.players, taken: [1, 1] });
    meetings.iter().map(score).chain(related).collect()
}

/// Returns the games within groups, including prior draws.
fn encounters(
    players: usize,
    meetings: &[Meeting],
    options: &Options,
    groups: &Groups,
) -> Vec<Encounter> {
    let group_of = groups.by_player(players);
    let is_inside = |meeting: &&Meeting| is_inside(meeting, &group_of);
    let mut games = vec![0.0; players];
    for meeting in meetings.iter().filter(is_inside) {
        meeting.players.iter().for_each(|player| games[*player] += meeting.games() as f64);
    }
    let mut found = Vec::new();
    for meeting in meetings.iter().filter(is_inside) {
        let [first, second] = meeting.players;
        let share: f64 =
            meeting.players.iter().map(|player| meeting.games() as f64 / games[*player]).sum();
        let prior = 0.5 * options.prior_draws * share;
        let [white, black] = meeting.by_colour().map(|counts| counts.map(|n| n as f64));
        let with = |mut counts: [f64; 3]| {
            counts[1] += prior;
            counts
        };
        let single = |side: usize| meeting.singles[side].iter().sum::<u64>() as f64;
        let [lost, drawn, won] = black;
        let both =
            [(first, second, white, single(0)), (second, first, [won, drawn, lost], single(1))];
        for (white, black, counts, singles) in both {
            if counts.iter().sum::<f64>() + prior > 0.0 {
                found.push(Encounter { white, black, counts: with(counts), singles });
            }
        }
    }
    found
}

/// Returns the state from which the search starts, with the indices of the unknowns. Anchored
/// players start at their anchors. All other players start at the mean of the anchors in their
/// group, or at 0 without anchors.
fn start(players: usize, encounters: &[Encounter], options: &Options, groups: &Groups) -> State {
    let mut ratings = vec![0.0; players];
    let mut is_anchored = vec![false; players];
    for (player, rating) in &options.anchors {
        ratings[*player] = rating / options.scale;
        is_anchored[*player] = true;
    }
    let has_prior = |player: &usize| options.priors.iter().any(|prior| prior.player == *player);
    let mut index = vec![None; players];
    let mut unknowns = 0;
    let mut floating = Vec::new();
    for group in &groups.groups {
        let anchors: Vec<f64> =
            group.iter().filter(|p| is_anchored[**p]).map(|p| ratings[*p]).collect();
        let level = anchors.iter().sum::<f64>() / (anchors.len().max(1)) as f64;
        let free: Vec<usize> = group.iter().copied().filter(|p| !is_anchored[*p]).collect();
        let first = unknowns;
        for player in &free {
            ratings[*player] = level;
            index[*player] = Some(unknowns);
            unknowns += 1;
        }
        if anchors.is_empty() && !group.iter().any(has_prior) {
            floating.push((first..unknowns).collect());
        }
    }
    let mut next = |wanted: bool| {
        let at = wanted.then_some(unknowns);
        unknowns += usize::from(wanted);
        at
    };
    let advantage_index = next(options.advantage.is_none() && !encounters.is_empty());
    let observed = draw_share(encounters);
    let is_estimable = observed > 0.0 && observed < 1.0;
    let is_draw_unknown =
        options.draw_rate.is_none() && is_estimable && options.model.draws_inform();
    let draw_index = next(is_draw_unknown);
    // Without encounters there are no draws, because a drawn game would be an encounter.
    let rate = options.draw_rate.unwrap_or(if observed.is_nan() { 0.0 } else { observed });
    let draw = options.model.parameter(rate.clamp(EXTREME_RATE, 1.0 - EXTREME_RATE));
    let advantage = options.advantage.map_or(0.0, |points| points / options.scale);
    State { index, advantage_index, draw_index, unknowns, ratings, advantage, draw, floating }
}

/// Returns the share of draws, 0 to 1; NaN without games.
fn draw_share(encounters: &[Encounter]) -> f64 {
    let drawn: f64 = encounters.iter().map(|e| e.counts[1]).sum();
    drawn / encounters.iter().flat_map(|e| e.counts).sum::<f64>()
}

/// Moves the state to the maximum of the likelihood by Newton's method. Returns the Cholesky factor
/// of the curvature at the maximum; `None` if the curvature is singular or the steps do not
/// converge.
fn newton(state: &mut State, encounters: &[Encounter], options: &Options) -> Option<Cholesky> {
    for _ in 0..MAX_STEPS {
        let (slope, curvature) = local(state, encounters, options);
        let root = Cholesky::new(&curvature)?;
        let mut step = root.solve(&slope);
        let longest = step.iter().fold(0.0, |max: f64, s| max.max(s.abs()));
        // All components are scaled by the same factor, which keeps the direction of the step.
        if longest > MAX_STEP {
            step.iter_mut().for_each(|s| *s *= MAX_STEP / longest);
        }
        state.add(&step);
        if options.model == OutcomeModel::RaoKupper {
            // In this model, δ must be positive, because otherwise the probability of a draw would
            // not be positive.
            state.draw = state.draw.max(EXTREME_RATE);
        }
        if longest < LAST_STEP {
            let games: f64 = encounters.iter().flat_map(|e| e.counts).sum();
            let rest = local(state, encounters, options).0;
            // A short step is not sufficient. The gradient must also vanish, up to rounding errors
            // that grow with the number of games.
            let is_root = rest.iter().all(|s| s.abs() <= 1e-7 * (1.0 + games));
            return is_root.then_some(root);
        }
    }
    None
}

/// Returns the gradient of the log-likelihood with respect to all unknowns, and the curvature,
/// which is the negative of the Hessian matrix. The level of each floating group is arbitrary; an
/// added term fixes the level without affecting the differences between ratings.
fn local(state: &State, encounters: &[Encounter], options: &Options) -> (Vec<f64>, Matrix) {
    let mut slope = vec![0.0; state.unknowns];
    let mut curvature = zero(state.unknowns);
    for encounter in encounters {
        let at = options.model.slope(state.difference(encounter), state.draw, encounter.counts);
        let direction = state.direction(encounter.white, encounter.black);
        for (unknown, sign) in &direction {
            slope[*unknown] += sign * at.first[0];
        }
        add_outer(&mut curvature, &direction, at.second[0]);
        if let Some(draw) = state.draw_index {
            slope[draw] += at.first[1];
            curvature[draw][draw] += at.second[2];
            for (unknown, sign) in &direction {
                curvature[*unknown][draw] += sign * at.second[1];
                curvature[draw][*unknown] += sign * at.second[1];
            }
        }
    }
    for Constraint { direction, weight, off } in state.constraints(options) {
        direction.iter().for_each(|(unknown, sign)| slope[*unknown] -= sign * weight * off);
        add_outer(&mut curvature, &direction, weight);
    }
    for group in &state.floating {
        // The weight is of the same size as the curvature, which keeps the matrix well conditioned.
        // A group without games also needs a positive weight.
        let trace: f64 = group.iter().map(|i| curvature[*i][*i]).sum();
        let weight = (trace / (group.len() * group.len()) as f64).max(f64::MIN_POSITIVE);
        for i in group {
            for j in group {
                curvature[*i][*j] += weight;
            }
        }
    }
    (slope, curvature)
}

/// Returns the draw parameter at which the expected number of draws equals the actual number.
fn draw_parameter(state: &State, encounters: &[Encounter]) -> f64 {
    let drawn: f64 = encounters.iter().map(|e| e.counts[1]).sum();
    let missing = |parameter: f64| -> f64 {
        let expected = |e: &Encounter| {
            let games: f64 = e.counts.iter().sum();
            games * OutcomeModel::Scores.probabilities(state.difference(e), parameter)[1]
        };
        drawn - encounters.iter().map(expected).sum::<f64>()
    };
    let rates = [EXTREME_RATE, 1.0 - EXTREME_RATE];
    let [low, high] = rates.map(|rate| OutcomeModel::Scores.parameter(rate));
    finite(falling_crossing(missing, 0.0, low, high)).unwrap_or(state.draw)
}

/// Rates players with perfect scores against the players that are already rated, in reverse order
/// of removal. Returns the rated perfect scores, and the players for [`RatingList::between`].
fn perfect_ratings(
    state: &mut State,
    meetings: &[Meeting],
    options: &Options,
    groups: &Groups,
) -> (Vec<PerfectScore>, Vec<usize>) {
    let mut is_rated = vec![false; state.ratings.len()];
    groups.groups.iter().flatten().for_each(|player| is_rated[*player] = true);
    options.anchors.iter().for_each(|(player, _)| is_rated[*player] = true);
    let last = last_remaining(meetings, options, groups);
    let mut found = Vec::new();
    last.iter().for_each(|last| is_rated[*last] = true);
    // In reverse order, each player is rated against the players that remained when this player was
    // removed.
    for taken in groups.perfect.iter().rev() {
        let player = taken.player;
        if is_rated[player] {
            continue;
        }
        // Each element contains the index of the opponent, the sign of White's advantage, and the
        // number of games.
        let mut opponents = Vec::new();
        for meeting in meetings {
            let Some(side) = meeting.players.iter().position(|p| *p == player) else { continue };
            let other = meeting.players[1 - side];
            if !is_rated[other] {
                continue;
            }
            let colours = if side == 0 { [1.0, -1.0] } else { [-1.0, 1.0] };
            for (counts, sign) in meeting.by_colour().iter().zip(colours) {
                opponents.push((other, sign, counts.iter().sum::<u64>() as f64));
            }
        }
        if opponents.is_empty() {
            continue;
        }
        let ln_probability = |rating: f64| -> f64 {
            let each = |(other, sign, games): &(usize, f64, f64)| {
                let x = rating - state.ratings[*other] + sign * state.advantage;
                let [loss, _, win] = options.model.probabilities(x, state.draw);
                // The probability may underflow to 0, and the logarithm of 0 would be infinite.
                games * if taken.won_all { win } else { loss }.max(f64::MIN_POSITIVE).ln()
            };
            opponents.iter().map(each).sum()
        };
        let missing = |rating: f64| {
            let excess = ln_probability(rating) - 0.5f64.ln();
            if taken.won_all { -excess } else { excess }
        };
        let rating = falling_crossing(missing, 0.0, -PERFECT_RANGE, PERFECT_RANGE);
        if rating.is_finite() {
            state.ratings[player] = rating;
            is_rated[player] = true;
            found.push(*taken);
        }
    }
    let Some(last) = last else { return (found, Vec::new()) };
    let players: Vec<usize> = found.iter().map(|perfect| perfect.player).chain([last]).collect();
    let mean = players.iter().map(|p| state.ratings[*p]).sum::<f64>() / players.len() as f64;
    players.iter().for_each(|player| state.ratings[*player] -= mean);
    let won_all = |player: &usize| match half_points(meetings, *player) {
        [_, 0] => Some(true),
        [0, _] => Some(false),
        _ => None,
    };
    let (between, bounds): (Vec<_>, Vec<_>) =
        players.into_iter().partition(|player| won_all(player).is_none());
    let bounds = bounds
        .into_iter()
        .filter_map(|player| Some(PerfectScore { player, won_all: won_all(&player)? }));
    (bounds.collect(), between)
}

/// Returns the half points that a player scored and conceded.
fn half_points(meetings: &[Meeting], player: usize) -> [u64; 2] {
    let results = meetings.iter().filter_map(|meeting| {
        let side = meeting.players.iter().position(|other| *other == player)?;
        let [lost, drawn, won] = meeting.results();
        let points = [2 * won + drawn, 2 * lost + drawn];
        Some([points[side], points[1 - side]])
    });
    results.fold([0, 0], |sum, results| [sum[0] + results[0], sum[1] + results[1]])
}

/// Returns the last remaining player if all other players were removed for perfect scores. The
/// ratings of the removed players are relative to the arbitrary level of this player. Returns
/// `None` if there is a group, an anchor or a prior, or if several players remain.
fn last_remaining(meetings: &[Meeting], options: &Options, groups: &Groups) -> Option<usize> {
    if !(groups.groups.is_empty() && options.anchors.is_empty() && options.priors.is_empty()) {
        return None;
    }
    let alone = groups.alone.iter().copied();
    let mut alone = alone.filter(|player| half_points(meetings, *player) != [0, 0]);
    alone.next().filter(|_| alone.next().is_none())
}
