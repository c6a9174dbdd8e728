//! Ratings from files of games as JSON, and what documents show of them.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::standings::Rating;
use crate::statistics::mean_score;
use crate::table::Table;
use arbiter_rate::{Player, RejectedGame, Tally};
use arbiter_stats::Trinomial;
use arbiter_stats::ratings::{Errors, Meeting, Rated};

/// Players up to whom JSON has matrices of everybody against everybody.
const MAX_CROSS_JSON: usize = 200;

/// What is to be shown.
#[derive(Debug)]
pub struct Ratings<'a> {
    /// The games.
    pub tally: &'a Tally,
    /// Who met whom.
    pub meetings: &'a [Meeting],
    /// The ratings.
    pub rated: &'a Rated,
    /// Model and scale in words.
    pub model: String,
    /// Added to all ratings of floating groups.
    pub average: f64,
}

impl Ratings<'_> {
    /// Players by rating, the unrated last.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tally.players.len()).collect();
        let key = |player: &usize| self.rated.rating(*player).unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|a, b| key(b).total_cmp(&key(a)));
        order
    }

    /// The rating of a player; `None` if there was nothing to rate.
    pub(super) fn rating(&self, player: usize) -> Option<Rating> {
        let rating = Rating::of(self.rated, player)?;
        Some(Rating { elo: rating.elo + self.average, ..rating })
    }

    pub(super) fn name(&self, player: usize) -> &str {
        &self.tally.players[player].name
    }

    /// What keeps players from being compared.
    pub(super) fn remarks(&self) -> String {
        let mut text = String::new();
        let names = |players: &[usize]| {
            let shown: Vec<&str> = players.iter().take(8).map(|p| self.name(*p)).collect();
            let more = if players.len() > 8 { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        let groups = &self.rated.groups;
        if groups.groups.len() > 1 {
            text.push_str("Ratings of different groups cannot be compared:\n");
            for (number, group) in (1..).zip(groups.groups.iter().take(10)) {
                let _ = writeln!(text, "  group {number} of {}: {}", group.len(), names(group));
            }
        }
        // Whoever beat only players without a rating has none either.
        let perfect = groups.perfect.iter().map(|perfect| perfect.player);
        let (bounds, mut unrated): (Vec<usize>, Vec<usize>) =
            perfect.partition(|player| self.rated.rating(*player).is_some());
        unrated.extend(&groups.alone);
        for (players, what) in [
            (&bounds, "Won all (>) or lost all (<), so that their ratings are bounds"),
            (&unrated, "Met nobody whose strength can be told"),
            (&self.rated.left_out, "Too many to be rated together"),
        ] {
            if !players.is_empty() {
                let _ = writeln!(text, "{what} ({}): {}", players.len(), names(players));
            }
        }
        text
    }

    /// Results of each player against each: won-drawn-lost.
    pub(super) fn crossed(&self) -> Table {
        let order = self.order();
        let mut table = Table::with_columns(["", "won-drawn-lost"], 1..=order.len());
        for (place, player) in (1..).zip(&order) {
            let cells = order.iter().map(|other| match against(self.meetings, *player, *other) {
                Some([lost, drawn, won]) => format!("{won}-{drawn}-{lost}"),
                None => String::new(),
            });
            table.push_with([&place, &self.name(*player)], cells);
        }
        table
    }
}

/// Mean time for a move, in seconds.
pub(crate) fn seconds_per_move(player: &Player) -> Option<f64> {
    (player.timed_moves > 0).then(|| 1e-3 * player.time_ms / player.timed_moves as f64)
}

/// Results of one player against another: lost, drawn, won.
fn against(meetings: &[Meeting], player: usize, other: usize) -> Option<[u64; 3]> {
    let players = [player.min(other), player.max(other)];
    let found = meetings.binary_search_by_key(&players, |meeting| meeting.players).ok()?;
    let [lost, drawn, won] = meetings[found].results();
    Some(if player < other { [lost, drawn, won] } else { [won, drawn, lost] })
}

/// All tables as one object.
pub fn ratings_json(ratings: &Ratings<'_>) -> Value {
    let tally = ratings.tally;
    let order = ratings.order();
    let is_small = order.len() <= MAX_CROSS_JSON;
    let bad: serde_json::Map<String, Value> =
        tally.bad.iter().map(|(reason, n)| (reason.as_str().to_owned(), json!(n))).collect();
    let named = |named: &RejectedGame| {
        json!({
            "file": named.file, "line": named.line, "game": named.number, "title": named.title,
            "reason": named.reason.as_str(), "move": named.culprit,
        })
    };
    let matrix = |cell: &dyn Fn(usize, usize) -> Option<f64>| {
        let row = |one: &usize| order.iter().map(|other| cell(*one, *other)).collect::<Value>();
        is_small.then(|| order.iter().map(row).collect::<Value>())
    };
    let rated = ratings.rated;
    let openings: Vec<Value> = tally.openings.iter().map(opening_json).collect();
    json!({
        "schema": "arbiter.rate/1",
        "model": ratings.model,
        "games": tally.games - tally.bad_games(),
        "pairs": tally.pairs,
        "plies": tally.plies,
        "bad_games": tally.bad_games(),
        "bad_reasons": bad,
        "bad_named": tally.named.iter().map(named).collect::<Vec<_>>(),
        "white_advantage_elo": rated.advantage,
        "white_advantage_error": rated.advantage_error,
        "draw_rate": rated.draw_rate,
        "players": order.iter().map(|player| player_json(ratings, *player)).collect::<Vec<_>>(),
        "groups": rated.groups.groups.len(),
        "los": matrix(&|one, other| rated.superiority(one, other, Errors::Sandwich)),
        "covariance": matrix(&|one, other| rated.covariance(one, other, Errors::Sandwich)),
        "meetings": ratings.meetings.iter().map(|m| meeting_json(ratings, m)).collect::<Vec<_>>(),
        "openings": openings,
        "terminations": tally.endings,
    })
}

fn opening_json(opening: &arbiter_rate::Opening) -> Value {
    let results = opening.results;
    json!({
        "name": opening.name, "games": results.games(), "white_score": mean_score(&results),
        "white_wins": results.wins, "draws": results.draws, "white_losses": results.losses,
    })
}

fn player_json(ratings: &Ratings<'_>, player: usize) -> Value {
    let own = &ratings.tally.players[player];
    let results = own.results();
    let rating = ratings.rating(player);
    let margin = rating.and_then(|rating| rating.margin);
    let end = |sign: f64| Some(rating?.elo + sign * margin?);
    let colour = |results: Trinomial| {
        json!({"wins": results.wins, "draws": results.draws, "losses": results.losses,
               "score": mean_score(&results)})
    };
    json!({
        "name": own.name,
        "rating": rating.map(|rating| rating.elo),
        "rating_low": end(-1.0),
        "rating_high": end(1.0),
        "rating_error": ratings.rated.error(player, Errors::Sandwich),
        "bound": rating.and_then(|rating| rating.won_all).map(|won_all| if won_all { "lower" } else { "upper" }),
        "group": ratings.rated.group(player),
        "games": results.games(), "score": mean_score(&results),
        "wins": results.wins, "draws": results.draws, "losses": results.losses,
        "white": colour(own.by_colour[0]),
        "black": colour(own.by_colour[1]),
        "time_ms": (own.timed_moves > 0).then_some(own.time_ms),
        "timed_moves": own.timed_moves,
        "time_per_move_ms": seconds_per_move(own).map(|seconds| 1e3 * seconds),
    })
}

/// Pairs of a meeting by the half points of its first player.
pub(crate) fn pentanomial(meeting: &Meeting) -> [u64; 5] {
    let mut counts = [0; 5];
    for (white, row) in meeting.pairs.iter().enumerate() {
        row.iter().enumerate().for_each(|(black, pairs)| counts[white + black] += pairs);
    }
    counts
}

fn meeting_json(ratings: &Ratings<'_>, meeting: &Meeting) -> Value {
    let [lost, drawn, won] = meeting.results();
    json!({
        "first": ratings.name(meeting.players[0]), "second": ratings.name(meeting.players[1]),
        "games": meeting.games(), "wins": won, "draws": drawn, "losses": lost,
        "pentanomial": pentanomial(meeting),
        "unpaired": meeting.singles.iter().flatten().sum::<u64>(),
    })
}
