//! Ratings as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::standings;
use crate::statistics::mean_score;
use crate::status::percent;
use crate::table::Table;
use arbiter_rate::{Player, RejectedGame, Tally};
use arbiter_stats::Trinomial;
use arbiter_stats::elo::Z_95;
use arbiter_stats::ratings::{Errors, Meeting, Rated};

/// Players up to whom tables of everybody against everybody are shown.
const MAX_CROSS: usize = 20;

/// The same for JSON.
const MAX_CROSS_JSON: usize = 200;

/// Openings shown in the text.
const MAX_OPENINGS: usize = 10;

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

    pub(super) fn rating(&self, player: usize) -> Option<f64> {
        self.rated.rating(player).map(|rating| rating + self.average)
    }

    /// Half-width of the 95 % interval.
    pub(super) fn margin(&self, player: usize) -> Option<f64> {
        standings::margin(self.rated, player)
    }

    /// `>` or `<` where the rating is only a bound.
    pub(super) fn bound(&self, player: usize) -> &'static str {
        let perfect = self.rated.perfect.iter().find(|perfect| perfect.player == player);
        perfect.map_or("", |perfect| if perfect.won_all { ">" } else { "<" })
    }

    pub(super) fn name(&self, player: usize) -> &str {
        &self.tally.players[player].name
    }

    /// What keeps players from being compared.
    pub(super) fn remarks(&self) -> String {
        let ratings = self;
        let mut text = String::new();
        let names = |players: &[usize]| {
            let shown: Vec<&str> = players.iter().take(8).map(|p| ratings.name(*p)).collect();
            let more = if players.len() > 8 { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        let groups = &ratings.rated.groups;
        if groups.groups.len() > 1 {
            let _ = writeln!(text, "Ratings of different groups cannot be compared:");
            for (number, group) in (1..).zip(groups.groups.iter().take(10)) {
                let _ = writeln!(text, "  group {number} of {}: {}", group.len(), names(group));
            }
        }
        // Whoever beat only players without a rating has none either.
        let (bounds, unrated): (Vec<usize>, Vec<usize>) = groups
            .perfect
            .iter()
            .map(|perfect| perfect.player)
            .partition(|player| ratings.rated.rating(*player).is_some());
        let unrated = [unrated.as_slice(), &groups.alone].concat();
        for (players, what) in [
            (&bounds, "Won all (>) or lost all (<), so that their ratings are bounds"),
            (&unrated, "Met nobody whose strength can be told"),
            (&ratings.rated.left_out, "Too many to be rated together"),
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
        let heads = (1..=order.len()).map(|place| place.to_string());
        let head = ["".to_owned(), "won-drawn-lost".to_owned()].into_iter().chain(heads);
        let mut rows: Vec<Vec<String>> = vec![head.collect()];
        for (place, player) in (1..).zip(&order) {
            let cells = order.iter().map(|other| match against(self.meetings, *player, *other) {
                Some([lost, drawn, won]) => format!("{won}-{drawn}-{lost}"),
                None => String::new(),
            });
            let head = [format!("{place}"), self.name(*player).to_owned()];
            rows.push(head.into_iter().chain(cells).collect());
        }
        Table::from_rows(rows)
    }
}

/// The tables for a terminal of so many columns.
pub fn text(ratings: &Ratings<'_>, width: Option<usize>) -> String {
    let tally = ratings.tally;
    let mut text = String::new();
    let good = tally.games - tally.bad_games();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{good} games, {} pairs, {} players, {} openings; {}",
        tally.pairs,
        tally.players.len(),
        tally.openings.len(),
        ratings.model
    );
    text.push('\n');
    text.push_str(&table(ratings).fitted(width));
    let shown = |value: Option<f64>| value.map_or("undefined".to_owned(), |v| format!("{v:.1}"));
    let advantage = ratings.rated.advantage;
    let error = ratings.rated.advantage_error.map(|error| Z_95 * error);
    let _ = writeln!(text, "White's advantage {} ± {}", shown(advantage), shown(error));
    let _ = writeln!(text, "Draws between equals {:.1} %", 100.0 * ratings.rated.draw_rate);
    text.push_str(&ratings.remarks());
    if tally.players.len() <= MAX_CROSS {
        for table in [ratings.crossed(), superiority_table(ratings)] {
            text.push_str(&format!("\n{}", table.fitted(width)));
        }
    }
    text.push_str(&openings(tally));
    text.push_str("\nEndings\n");
    let mut endings: Vec<_> = tally.endings.iter().collect();
    endings.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (ending, count) in endings {
        let _ = writeln!(text, "{count:>9} {ending}");
    }
    if tally.bad_games() > 0 {
        let _ = writeln!(text, "\nGames that do not count: {}", tally.bad_games());
        for (reason, count) in &tally.bad {
            let _ = writeln!(text, "{count:>9} {}", reason.as_str());
        }
        for named in &tally.named {
            let RejectedGame { file, line, number, title, reason, culprit } = named;
            let reason = reason.as_str();
            let culprit = culprit.as_ref().map_or(String::new(), |culprit| format!(" {culprit}"));
            let _ = writeln!(
                text,
                "          {file}:{line}: game {number}: {title} ({reason}{culprit})"
            );
        }
    }
    text
}

fn table(ratings: &Ratings<'_>) -> Table {
    let mut table = Table::new([
        "", "player", "rating", "± 95 %", "games", "score", "won", "drawn", "lost", "white",
        "black", "s/move",
    ]);
    for (place, player) in (1..).zip(ratings.order()) {
        let own = &ratings.tally.players[player];
        let results = own.results();
        let rating = ratings.rating(player).map_or("-".to_owned(), |r| format!("{r:.1}"));
        table.push([
            place.to_string(),
            own.name.clone(),
            format!("{}{rating}", ratings.bound(player)),
            ratings.margin(player).map_or("-".to_owned(), |margin| format!("{margin:.1}")),
            results.games().to_string(),
            percent(mean_score(&results)),
            results.wins.to_string(),
            results.draws.to_string(),
            results.losses.to_string(),
            percent(mean_score(&own.by_colour[0])),
            percent(mean_score(&own.by_colour[1])),
            seconds_per_move(own).map_or("-".to_owned(), |s| format!("{s:.3}")),
        ]);
    }
    table
}

/// Likelihood, in per cent, that the player of the row is stronger than that of the column.
fn superiority_table(ratings: &Ratings<'_>) -> Table {
    let order = ratings.order();
    let heads = (1..=order.len()).map(|place| place.to_string());
    let head = ["".to_owned(), "stronger, %".to_owned()].into_iter().chain(heads);
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    let matrix = standings::superiority(ratings.rated, &order);
    for ((place, player), likelihoods) in (1..).zip(&order).zip(matrix) {
        let shown =
            |los: Option<f64>| los.map_or(String::new(), |los| format!("{:.1}", 100.0 * los));
        let head = [format!("{place}"), ratings.name(*player).to_owned()];
        rows.push(head.into_iter().chain(likelihoods.into_iter().map(shown)).collect());
    }
    Table::from_rows(rows)
}

fn openings(tally: &Tally) -> String {
    let mut order: Vec<_> = tally.openings.iter().collect();
    order.sort_by_key(|opening| std::cmp::Reverse(opening.results.games()));
    let mut text = format!("\nOpenings, White's score ({} in all)\n", order.len());
    for opening in order.iter().take(MAX_OPENINGS) {
        let results = opening.results;
        let name: String = opening.name.chars().take(72).collect();
        let _ =
            writeln!(text, "{:>9} {:>8} {name}", results.games(), percent(mean_score(&results)));
    }
    text
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
pub fn json(ratings: &Ratings<'_>) -> Value {
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
    let superiority = |player: &usize| -> Value {
        let los = |other: &usize| ratings.rated.superiority(*player, *other, Errors::Sandwich);
        order.iter().map(los).collect()
    };
    let covariance = |player: &usize| -> Value {
        let one = |other: &usize| ratings.rated.covariance(*player, *other, Errors::Sandwich);
        order.iter().map(one).collect()
    };
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
        "white_advantage_elo": ratings.rated.advantage,
        "white_advantage_error": ratings.rated.advantage_error,
        "draw_rate": ratings.rated.draw_rate,
        "players": order.iter().map(|player| player_json(ratings, *player)).collect::<Vec<_>>(),
        "groups": ratings.rated.groups.groups.len(),
        "los": is_small.then(|| order.iter().map(superiority).collect::<Vec<_>>()),
        "covariance": is_small.then(|| order.iter().map(covariance).collect::<Vec<_>>()),
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
    let (rating, margin) = (ratings.rating(player), ratings.margin(player));
    let colour = |results: Trinomial| {
        json!({"wins": results.wins, "draws": results.draws, "losses": results.losses,
               "score": mean_score(&results)})
    };
    json!({
        "name": own.name,
        "rating": rating,
        "rating_low": rating.zip(margin).map(|(rating, margin)| rating - margin),
        "rating_high": rating.zip(margin).map(|(rating, margin)| rating + margin),
        "rating_error": ratings.rated.error(player, Errors::Sandwich),
        "bound": match ratings.bound(player) { ">" => Some("lower"), "<" => Some("upper"), _ => None },
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

fn meeting_json(ratings: &Ratings<'_>, meeting: &Meeting) -> Value {
    let [lost, drawn, won] = meeting.results();
    let mut pentanomial = [0u64; 5];
    for (white, row) in meeting.pairs.iter().enumerate() {
        for (black, pairs) in row.iter().enumerate() {
            pentanomial[white + black] += pairs;
        }
    }
    json!({
        "first": ratings.name(meeting.players[0]), "second": ratings.name(meeting.players[1]),
        "games": meeting.games(), "wins": won, "draws": drawn, "losses": lost,
        "pentanomial": pentanomial,
        "unpaired": meeting.singles.iter().flatten().sum::<u64>(),
    })
}
