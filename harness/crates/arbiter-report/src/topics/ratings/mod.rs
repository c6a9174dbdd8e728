//! Ratings from PGN files, as JSON, as parts of documents, and in EloStat's format.

mod document;

pub use document::games_document;

use std::collections::BTreeMap;
use std::fmt::Write;

use quick_junit::{NonSuccessKind, SerializeError, TestCaseStatus, TestSuite};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::figures::{Rating, mean_score};
use crate::forms::{case, failed, junit_text};
use crate::parts::{GamesByResult, Table, to_value};
use arbiter_plan::Prior;
use arbiter_rate::{Opening, Player, RejectedGame, Tally};
use arbiter_run::Encounter;
use arbiter_stats::Trinomial;
use arbiter_stats::ratings::{Errors, Meeting, NoMaximum, Options, OutcomeModel, RatingList, rate};

/// Maximum number of groups that are listed.
const MAX_GROUPS: usize = 10;

/// Maximum number of players for which the JSON contains tables of LOS and covariance.
const MAX_CROSS_JSON: usize = 200;

/// Ratings, with the games and the settings from which the ratings were computed.
#[derive(Debug)]
pub struct Ratings<'a> {
    /// Counts of games and pairs, by player and by opening.
    pub tally: &'a Tally,
    /// Results of each pair of players.
    pub meetings: Vec<Meeting>,
    /// Ratings computed from `meetings`.
    pub rated: RatingList,
    /// Model of game results.
    pub law: OutcomeModel,
    /// Description of the model and the scale.
    pub model: String,
    /// Minimum number of games that a player must have to appear in the table of ratings.
    pub min_games: u64,
    /// Elo added to all ratings.
    pub average: f64,
    /// Players with an anchor or a prior.
    pub given: Vec<usize>,
}

impl<'a> Ratings<'a> {
    /// Computes the ratings of all players. The table of ratings contains every player, because
    /// `min_games` is 0. `scale` is a description of the scale.
    pub fn new(tally: &'a Tally, options: &Options, scale: &str) -> Result<Ratings<'a>, NoMaximum> {
        let meetings = tally.meetings();
        let rated = rate(tally.players.len(), &meetings, options)?;
        let law = options.model;
        let anchors = options.anchors.iter().map(|(player, _)| *player);
        let given = anchors.chain(options.priors.iter().map(|prior| prior.player)).collect();
        let model = format!("law {law}, {scale}");
        Ok(Ratings { tally, meetings, rated, law, model, min_games: 0, average: 0.0, given })
    }

    /// Returns `true` if a player appears in the table of ratings.
    pub(super) fn is_shown(&self, player: usize) -> bool {
        self.tally.players[player].results().games() >= self.min_games
    }

    /// Returns the indices of the players with counted games, in descending order of rating;
    /// unrated players are last.
    pub(super) fn order(&self) -> Vec<usize> {
        let games = |player: &usize| self.tally.players[*player].results().games();
        let mut order: Vec<usize> = (0..self.tally.players.len()).collect();
        order.retain(|player| games(player) > 0);
        let key = |player: &usize| self.rated.rating(*player).unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|a, b| key(b).total_cmp(&key(a)));
        order
    }

    /// Returns the rating of a player, including [`Ratings::average`]; `None` if the player was not
    /// rated.
    pub(super) fn rating(&self, player: usize) -> Option<Rating> {
        let rating = Rating::of(&self.rated, player)?;
        Some(Rating { elo: rating.elo + self.average, ..rating })
    }

    pub(super) fn name(&self, player: usize) -> &str {
        &self.tally.players[player].name
    }

    /// Returns remarks about players who cannot be compared, have only a bound, or are unrated.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let names = |players: &[usize]| {
            let shown: Vec<&str> = players.iter().take(8).map(|p| self.name(*p)).collect();
            let more = if players.len() > 8 { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        let groups = &self.rated.groups;
        if groups.groups.len() > 1 {
            lines.push("Ratings of different groups cannot be compared:".to_owned());
            for (number, group) in (1..).zip(groups.groups.iter().take(MAX_GROUPS)) {
                lines.push(format!("  group {number} of {}: {}", group.len(), names(group)));
            }
        }
        // A player who beat only unrated players has no bound, and is in the list of unrated
        // players.
        let mut bounds: Vec<usize> = self.rated.perfect.iter().map(|one| one.player).collect();
        bounds.sort_unstable();
        let perfect = groups.perfect.iter().map(|perfect| perfect.player);
        let unrated = perfect.chain(groups.alone.iter().copied());
        let unrated: Vec<usize> =
            unrated.filter(|player| self.rated.rating(*player).is_none()).collect();
        for (players, remark) in [
            (
                &bounds,
                "Won all (>) or lost all (<) games against the rated players: ratings are bounds",
            ),
            (&unrated, "Met no opponent of known strength"),
            (&self.rated.left_out, "Too many to be rated together"),
        ] {
            if !players.is_empty() {
                lines.push(format!("{remark} ({}): {}", players.len(), names(players)));
            }
        }
        lines
    }

    /// Returns the crosstable of results in the form won-drawn-lost.
    pub(super) fn crossed(&self) -> Table {
        let order = self.order();
        let mut table = Table::with_columns(["", "won-drawn-lost"], 1..=order.len());
        for (place, player) in (1..).zip(&order) {
            let cells = order.iter().map(|other| match against(&self.meetings, *player, *other) {
                Some([lost, drawn, won]) => format!("{won}-{drawn}-{lost}"),
                None => String::new(),
            });
            table.push_with([&place, &self.name(*player)], cells);
        }
        table
    }
}

/// Formats a table of ratings in the form of EloStat's `rating.dat`, with 95 % intervals. A rating
/// without an interval, such as a bound, has "-" in place of the interval.
pub fn elostat(ratings: &Ratings<'_>) -> String {
    let order = ratings.order();
    let width = order.iter().map(|player| ratings.name(*player).len()).max().unwrap_or(0).max(7);
    let heads = "    Elo    +    -  Games    Score   Av.Op.    Draws";
    let mut text = format!("\n\n     {:width$}  {heads}\n\n", "Program");
    let shown = order.into_iter().filter(|player| ratings.is_shown(*player));
    for (place, player) in (1..).zip(shown) {
        let Some(rating) = ratings.rating(player) else { continue };
        let results = ratings.tally.players[player].results();
        let (mut sum, mut games_met) = (0.0, 0);
        for meeting in &ratings.meetings {
            let Some(side) = meeting.players.iter().position(|other| *other == player) else {
                continue;
            };
            let Some(other) = ratings.rating(meeting.players[1 - side]) else { continue };
            sum += meeting.games() as f64 * other.elo;
            games_met += meeting.games();
        }
        let games = results.games();
        let share = |part: f64| 100.0 * part / games as f64;
        let margin = rating.margin.map_or("-".to_owned(), |margin| format!("{margin:.0}"));
        let _ = writeln!(
            text,
            "{place:4} {:width$} : {:6.0} {margin:>4} {margin:>4} {games:6} {:6.1} % {:8.0} {:6.1} %",
            ratings.name(player),
            rating.elo,
            share(results.wins as f64 + 0.5 * results.draws as f64),
            sum / games_met.max(1) as f64,
            share(results.draws as f64),
        );
    }
    text
}

/// Returns the mean time per move of a player, in seconds; `None` if no move has a time.
pub(crate) fn seconds_per_move(player: &Player) -> Option<f64> {
    (player.timed_moves > 0).then(|| 1e-3 * player.time_ms / player.timed_moves as f64)
}

/// Returns the numbers of games that `player` lost, drew and won against `other`; `None` if the two
/// players did not meet.
fn against(meetings: &[Meeting], player: usize, other: usize) -> Option<[u64; 3]> {
    let players = [player.min(other), player.max(other)];
    let found = meetings.binary_search_by_key(&players, |meeting| meeting.players).ok()?;
    let [lost, drawn, won] = meetings[found].results();
    Some(if player < other { [lost, drawn, won] } else { [won, drawn, lost] })
}

/// Ratings from the games of PGN files, printed by `arbiter rate`, and by `arbiter report` for PGN
/// files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.rate/3")]
pub(crate) struct RatingFigures<'a> {
    /// Model and scale, as text.
    model: &'a str,
    /// Number of counted games.
    games: u64,
    /// Number of pairs of counted games.
    pairs: u64,
    /// Number of excluded duplicates: games with equal players, start, moves and result.
    copies: u64,
    /// Number of games whose FEN tags contain impossible castling or en passant rights, which are
    /// removed.
    corrected: u64,
    /// Number of plies of the counted games.
    plies: u64,
    /// Number of rejected games.
    rejected_games: u64,
    /// Number of rejected games by reason.
    rejected_reasons: BTreeMap<&'static str, u64>,
    /// First rejected games.
    rejected_examples: Vec<RejectedFigures<'a>>,
    /// Advantage of White, in Elo.
    white_advantage_elo: Option<f64>,
    /// Standard error of `white_advantage_elo`, in Elo.
    white_advantage_error: Option<f64>,
    /// Share of draws between equal players, 0 to 1.
    draw_rate: f64,
    /// Players in descending order of rating, unrated players last.
    players: Vec<PlayerFigures<'a>>,
    /// Number of groups of comparable players.
    groups: usize,
    /// Likelihood, 0 to 1, that the player of a row is stronger than the player of a column; rows
    /// and columns have the order of `players`. `null` for more than 200 players.
    los: Option<Vec<Vec<Option<f64>>>>,
    /// Covariance of two ratings, in Elo squared; rows and columns have the order of `players`.
    /// `null` for more than 200 players.
    covariance: Option<Vec<Vec<Option<f64>>>>,
    /// Results of each pair of players.
    encounters: Vec<EncounterFigures<'a>>,
    /// Openings, if they were requested.
    openings: Vec<OpeningFigures<'a>>,
    /// Number of counted games by ending, as named in the files.
    terminations: &'a BTreeMap<String, u64>,
}

/// Rejected game.
#[derive(Debug, Serialize, JsonSchema)]
struct RejectedFigures<'a> {
    /// Name of the file.
    file: &'a str,
    /// Line in the file, from 1, of the rejected move or of the start of the game.
    line: u64,
    /// Number of the game in the file, from 1.
    game: u64,
    /// Players and result.
    title: &'a str,
    /// Reason for the rejection.
    reason: &'static str,
    /// Rejected move, if the game was rejected because of a move.
    r#move: Option<&'a str>,
}

/// Player with rating and results.
#[derive(Debug, Serialize, JsonSchema)]
struct PlayerFigures<'a> {
    /// Name of the player.
    name: &'a str,
    #[serde(flatten)]
    rating: RatingByLaw,
    /// Kind of the bound if the rating is only a bound: `lower` if all games were won, `upper` if
    /// all games were lost.
    bound: Option<&'static str>,
    /// Index, from 0, of the group of comparable players.
    group: Option<usize>,
    #[serde(flatten)]
    all: Results,
    /// Results as White.
    white: Results,
    /// Results as Black.
    black: Results,
    /// Total time of the moves with a reported time, in milliseconds; `null` if no move has a
    /// reported time.
    time_ms: Option<f64>,
    /// Number of moves with a reported time.
    timed_moves: u64,
    /// Mean time of the moves with a reported time, in milliseconds.
    time_per_move_ms: Option<f64>,
}

/// Rating in Elo, or a bound, with both ends of the 95 % interval and the standard error. For
/// models other than `scores`, the keys contain the model, because each model has its own Elo
/// scale.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum RatingByLaw {
    /// Rating by the model `scores`.
    Scores {
        rating: Option<f64>,
        rating_low: Option<f64>,
        rating_high: Option<f64>,
        rating_error: Option<f64>,
    },
    /// Rating by the model `davidson`.
    Davidson {
        rating_davidson: Option<f64>,
        rating_davidson_low: Option<f64>,
        rating_davidson_high: Option<f64>,
        rating_davidson_error: Option<f64>,
    },
    /// Rating by the model `rao-kupper`.
    RaoKupper {
        rating_rao_kupper: Option<f64>,
        rating_rao_kupper_low: Option<f64>,
        rating_rao_kupper_high: Option<f64>,
        rating_rao_kupper_error: Option<f64>,
    },
}

impl RatingByLaw {
    fn new(law: OutcomeModel, figures: [Option<f64>; 4]) -> RatingByLaw {
        let [rating, rating_low, rating_high, rating_error] = figures;
        match law {
            OutcomeModel::Scores => {
                RatingByLaw::Scores { rating, rating_low, rating_high, rating_error }
            }
            OutcomeModel::Davidson => RatingByLaw::Davidson {
                rating_davidson: rating,
                rating_davidson_low: rating_low,
                rating_davidson_high: rating_high,
                rating_davidson_error: rating_error,
            },
            OutcomeModel::RaoKupper => RatingByLaw::RaoKupper {
                rating_rao_kupper: rating,
                rating_rao_kupper_low: rating_low,
                rating_rao_kupper_high: rating_high,
                rating_rao_kupper_error: rating_error,
            },
        }
    }
}

/// Results of a player.
#[derive(Debug, Serialize, JsonSchema)]
struct Results {
    #[serde(flatten)]
    games: GamesByResult,
    /// Mean points per game, 0 to 1.
    score: Option<f64>,
}

/// Results of two players, from the point of view of the first.
#[derive(Debug, Serialize, JsonSchema)]
struct EncounterFigures<'a> {
    /// Name of the first player.
    first: &'a str,
    /// Name of the second player.
    second: &'a str,
    #[serde(flatten)]
    games: GamesByResult,
    /// Number of pairs by points of the first player: 0, ½, 1, 1½, 2.
    pentanomial: [u64; 5],
    /// Number of games without a partner.
    unpaired: u64,
}

/// Opening and its results.
#[derive(Debug, Serialize, JsonSchema)]
struct OpeningFigures<'a> {
    /// Start position and first moves.
    name: &'a str,
    /// Number of games.
    games: u64,
    /// Mean points per game of White, 0 to 1.
    white_score: Option<f64>,
    /// Number of games that White won.
    white_wins: u64,
    /// Number of games drawn.
    draws: u64,
    /// Number of games that White lost.
    white_losses: u64,
}

/// Returns the report on ratings as a JSON value.
pub fn ratings_json(ratings: &Ratings<'_>) -> Value {
    let Ratings { tally, rated, .. } = ratings;
    let order = ratings.order();
    let matrix = |cell: &dyn Fn(usize, usize) -> Option<f64>| {
        let row = |one: &usize| order.iter().map(|other| cell(*one, *other)).collect();
        (order.len() <= MAX_CROSS_JSON).then(|| order.iter().map(row).collect())
    };
    to_value(&RatingFigures {
        model: &ratings.model,
        games: tally.games - tally.bad_games(),
        pairs: tally.pairs,
        copies: tally.copies,
        corrected: tally.corrected,
        plies: tally.plies,
        rejected_games: tally.bad_games(),
        rejected_reasons: tally.bad.iter().map(|(reason, n)| (reason.as_str(), *n)).collect(),
        rejected_examples: tally.named.iter().map(rejected_game).collect(),
        white_advantage_elo: rated.advantage,
        white_advantage_error: rated.advantage_error,
        draw_rate: rated.draw_rate,
        players: order.iter().map(|player| player_figures(ratings, *player)).collect(),
        groups: rated.groups.groups.len(),
        los: matrix(&|one, other| rated.superiority(one, other, Errors::Sandwich)),
        covariance: matrix(&|one, other| rated.covariance(one, other, Errors::Sandwich)),
        encounters: ratings.meetings.iter().map(|m| encounter_figures(ratings, m)).collect(),
        openings: tally.openings.iter().map(opening_figures).collect(),
        terminations: &tally.endings,
    })
}

fn rejected_game(named: &RejectedGame) -> RejectedFigures<'_> {
    RejectedFigures {
        file: &named.file,
        line: named.line,
        game: named.number,
        title: &named.title,
        reason: named.reason.as_str(),
        r#move: named.culprit.as_deref(),
    }
}

fn opening_figures(Opening { name, results }: &Opening) -> OpeningFigures<'_> {
    let Trinomial { wins: white_wins, draws, losses: white_losses } = *results;
    let games = results.games();
    let white_score = mean_score(results);
    OpeningFigures { name, games, white_score, white_wins, draws, white_losses }
}

fn player_figures<'a>(ratings: &Ratings<'a>, player: usize) -> PlayerFigures<'a> {
    let entry = &ratings.tally.players[player];
    let rating = ratings.rating(player);
    let margin = rating.and_then(|rating| rating.margin);
    let end = |sign: f64| Some(rating?.elo + sign * margin?);
    let elo = rating.map(|rating| rating.elo);
    let error = ratings.rated.error(player, Errors::Sandwich);
    let won_all = rating.and_then(|rating| rating.won_all);
    let of = |results| Results { score: mean_score(&results), games: results.into() };
    PlayerFigures {
        name: &entry.name,
        rating: RatingByLaw::new(ratings.law, [elo, end(-1.0), end(1.0), error]),
        bound: won_all.map(|won_all| if won_all { "lower" } else { "upper" }),
        group: ratings.rated.group(player),
        all: of(entry.results()),
        white: of(entry.by_colour[0]),
        black: of(entry.by_colour[1]),
        time_ms: (entry.timed_moves > 0).then_some(entry.time_ms),
        timed_moves: entry.timed_moves,
        time_per_move_ms: seconds_per_move(entry).map(|seconds| 1e3 * seconds),
    }
}

/// Converts the results of two players to an encounter of a run.
fn encounter(meeting: &Meeting) -> Encounter {
    Prior { table: meeting.pairs, singles: meeting.singles }.into()
}

fn encounter_figures<'a>(ratings: &Ratings<'a>, meeting: &Meeting) -> EncounterFigures<'a> {
    let Encounter { games, pairs, .. } = encounter(meeting);
    let [first, second] = meeting.players.map(|player| &*ratings.tally.players[player].name);
    EncounterFigures {
        first,
        second,
        games: games.into(),
        pentanomial: pairs.0,
        unpaired: meeting.singles.iter().flatten().sum(),
    }
}

/// Formats a JUnit test suite for PGN files: a passed test case for the counted games, and a failed
/// test case for each reason for rejecting games.
pub fn games_junit(tally: &Tally) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new("arbiter report of games");
    let good = format!("{} games count", tally.games - tally.bad_games());
    suite.add_test_case(case("games", "arbiter.games", &good, TestCaseStatus::success()));
    for (reason, count) in &tally.bad {
        let named = tally.named.iter().filter(|named| named.reason == *reason);
        let places: Vec<String> =
            named.map(|named| format!("{}:{}: {}", named.file, named.line, named.title)).collect();
        let status = failed(NonSuccessKind::Failure, "rejected games", &format!("{count} games"));
        suite.add_test_case(case(reason.as_str(), "arbiter.games", &places.join("\n"), status));
    }
    junit_text("arbiter", suite)
}
