//! Report on the games of PGN files as a document. PGN files contain players, results and openings;
//! the document also lists the data that a run contains and PGN files do not.

use crate::figures::{PlayedOpening, Rating, Strength, first_place, superiority};
use crate::parts::{Block, Document, Table, UNDEFINED, percent};
use crate::topics::ratings::{MAX_GROUPS, Ratings, encounter, seconds_per_move};
use crate::topics::result_figures;
use crate::topics::tournament::MAX_CROSS;
use arbiter_rate::{Opening, RejectedGame};
use arbiter_run::Encounter;
use arbiter_stats::ratings::OutcomeModel;
use arbiter_stats::{Pentanomial, Trinomial};

/// Maximum number of players in a chart of ratings.
const MAX_RATED: usize = 40;

/// Maximum number of players in the chart that compares evaluations with results.
const MAX_CALIBRATED: usize = 8;

/// Returns the report on the games of PGN files as a document.
pub fn games_document(ratings: &Ratings<'_>, files: &[String]) -> Document {
    let tally = ratings.tally;
    let order = ratings.order();
    let mut document = Document::new(match order[..] {
        [first, second] => format!("{} against {}", ratings.name(first), ratings.name(second)),
        _ => format!("Games of {} players", order.len()),
    });
    document.blocks.push(conclusion(ratings, &order));
    document.heading("Result");
    players(&mut document, ratings, &order);
    if (2..=MAX_CROSS).contains(&order.len()) {
        crosstables(&mut document, ratings, &order);
    }
    document.heading("Game endings");
    let endings = tally.endings.iter().map(|(ending, count)| (ending.clone(), *count, Vec::new()));
    let pairs = duel(ratings).filter(|(_, encounter)| encounter.pairs.pairs() > 0);
    let pairs =
        pairs.map(|([first, _], met)| result_figures::pairs(ratings.name(first), met.pairs.0));
    let by_colour = |player: &usize| (ratings.name(*player), tally.players[*player].by_colour);
    let by_colour: Vec<_> = order.iter().map(by_colour).collect();
    let white: Trinomial = tally.players.iter().map(|player| player.by_colour[0]).sum();
    let colours = result_figures::colours(&by_colour, white);
    let endings = result_figures::endings(&[], endings.collect());
    document.figures(pairs.into_iter().chain([endings, colours]));
    document.paragraph(bias(ratings));
    evaluations(&mut document, ratings, &order);
    let openings: Vec<PlayedOpening> = tally.openings.iter().map(played_opening).collect();
    result_figures::openings(&mut document, None, openings.iter().collect());
    if tally.bad_games() > 0 {
        add_rejected_games(&mut document, ratings);
    }
    document.heading("Source");
    origin(&mut document, ratings, files);
    document
}

/// Converts an opening from PGN files. Only the name and White's results are known.
fn played_opening(Opening { name, results }: &Opening) -> PlayedOpening {
    PlayedOpening {
        label: name.clone(),
        name: name.clone(),
        placement: String::new(),
        white: *results,
        first: Trinomial::default(),
    }
}

/// Returns the players, the stronger player first, and the encounter from the stronger player's
/// point of view. Returns `None` unless there are exactly two players.
fn duel(ratings: &Ratings<'_>) -> Option<([usize; 2], Encounter)> {
    let players: [usize; 2] = ratings.order().try_into().ok()?;
    let [meeting] = &ratings.meetings[..] else { return None };
    let mut encounter = encounter(meeting);
    // Pairs omit games without a partner game, so the pairs are used only if every game has a
    // partner game.
    if meeting.singles.iter().flatten().any(|count| *count > 0) {
        encounter.pairs = Pentanomial::default();
    }
    Some((players, if meeting.players == players { encounter } else { encounter.swapped() }))
}

fn conclusion(ratings: &Ratings<'_>, order: &[usize]) -> Block {
    let tally = ratings.tally;
    let games = arbiter_names::quantity(counted_games(ratings), "game");
    let mut text = format!("{games} counted, {} of them in pairs.", 2 * tally.pairs);
    if tally.copies > 0 {
        text += &format!(" Duplicates excluded: {}.", tally.copies);
    }
    let strong = match duel(ratings) {
        Some((players, encounter)) => {
            let strength = Strength::of(encounter);
            let [first, second] = players.map(|player| ratings.name(player));
            let (elo, los) = (strength.elo_in_full(), strength.los_text());
            format!("{first} against {second}: Elo {elo}, LOS {los}.")
        }
        None => leaders(ratings, order),
    };
    Block::Paragraph { strong, text }
}

/// Returns a sentence about the player with the highest rating or, if there are several groups,
/// about the first player of each of the first groups.
fn leaders(ratings: &Ratings<'_>, order: &[usize]) -> String {
    let rated = order.iter().filter_map(|player| Some((*player, ratings.rating(*player)?)));
    let rated: Vec<(usize, Rating)> = rated.collect();
    let Some((first, rating)) = rated.first() else {
        return "These games do not determine ratings.".to_owned();
    };
    let place = |rated: &[_], first| format!("{} {}", ratings.name(first), first_place(rated));
    let groups = &ratings.rated.groups.groups;
    if groups.len() > 1 {
        let mut places = Vec::new();
        for (number, group) in (1..).zip(groups.iter().take(MAX_GROUPS)) {
            let members = rated.iter().filter(|(player, _)| group.contains(player));
            let members: Vec<(usize, Rating)> = members.copied().collect();
            // A group that only --relations connects may have no counted games.
            if let Some((first, _)) = members.first() {
                places.push(format!("{} in group {number}", place(&members, *first)));
            }
        }
        let more = if groups.len() > MAX_GROUPS { "; …" } else { "." };
        return format!("{}{more}", places.join("; "));
    }
    let level = if groups.iter().flatten().any(|player| ratings.given.contains(player)) {
        "relative to the given ratings".to_owned()
    } else {
        format!("around a mean of {}", ratings.average)
    };
    let results = ratings.tally.players[*first].results();
    format!("{}: {}.", place(&rated, *first), rating.describe(results, &level))
}

/// Adds a table of the players (with ratings and scores), remarks, and a chart of the ratings.
fn players(document: &mut Document, ratings: &Ratings<'_>, order: &[usize]) {
    let order: Vec<usize> = order.iter().copied().filter(|p| ratings.is_shown(*p)).collect();
    // Each model has its own Elo scale, so the heading names the model unless the model is the
    // default.
    let elo = match ratings.law {
        OutcomeModel::Scores => "Elo (95 %)".to_owned(),
        law => format!("Elo by {law} (95 %)"),
    };
    let mut table = Table::with_columns(
        ["", "player", &elo, "games", "score (95 %)"],
        ["won", "drawn", "lost", "s/move"],
    );
    for (place, player) in (1..).zip(&order) {
        let entry = &ratings.tally.players[*player];
        let results = entry.results();
        let rating = ratings.rating(*player).map_or(UNDEFINED.to_owned(), |r| r.to_string());
        let pace =
            seconds_per_move(entry).map_or("-".to_owned(), |seconds| format!("{seconds:.3}"));
        let Trinomial { losses, draws, wins } = &results;
        let games = results.games();
        let score = result_figures::score(&results);
        table.push([&place, &entry.name, &rating, &games, &score, wins, draws, losses, &pace]);
    }
    document.table(table);
    ratings.remarks().into_iter().for_each(|line| document.paragraph(line));
    let rated = order.iter().enumerate().filter_map(|(place, player)| {
        Some((place, ratings.name(*player), ratings.rating(*player)?))
    });
    let rated: Vec<(usize, &str, Rating)> = rated.take(MAX_RATED).collect();
    if rated.len() > 2 {
        document.figures([result_figures::ratings(&rated)]);
    }
}

/// Adds the crosstable of results, and a table with the LOS of each player against each other
/// player.
fn crosstables(document: &mut Document, ratings: &Ratings<'_>, order: &[usize]) {
    document.heading("Crosstable");
    document.table(ratings.crossed());
    document.paragraph("Wins, draws and losses of the row's player.");
    let names: Vec<_> = order.iter().map(|player| (*player, ratings.name(*player))).collect();
    let likelihood = |one, other| superiority(&ratings.rated, one, other);
    result_figures::superiority(document, &names, likelihood);
}

/// Adds a comparison of evaluations with results, if the comments contain evaluations.
fn evaluations(document: &mut Document, ratings: &Ratings<'_>, order: &[usize]) {
    let judge =
        |player: &usize| (ratings.name(*player), &ratings.tally.players[*player].calibration);
    let players: Vec<_> = order.iter().take(MAX_CALIBRATED).map(judge).collect();
    if let Some(figure) = result_figures::calibration(&players) {
        document.heading("Evaluations");
        document
            .paragraph("From the evaluations in PGN comments, from the player's point of view.");
        document.figures([figure]);
    }
}

fn bias(ratings: &Ratings<'_>) -> String {
    let rated = &ratings.rated;
    let (elo, error) = (rated.advantage, rated.advantage_error);
    let mut text = result_figures::advantage(elo, error, "on the scale of the ratings");
    if let Some((_, encounter)) = duel(ratings) {
        text += &result_figures::bias_of_openings(&encounter.pairs, &encounter.games);
    }
    if ratings.tally.players.iter().any(|player| player.by_colour[0].draws > 0) {
        let share = percent(Some(rated.draw_rate));
        text.push_str(&format!(" Equal players draw {share} of their games."));
    }
    text
}

/// Adds the section on rejected games.
fn add_rejected_games(document: &mut Document, ratings: &Ratings<'_>) {
    let tally = ratings.tally;
    document.heading(format!("Games not counted: {}", tally.bad_games()));
    let mut reasons = Table::new(["reason", "games"]);
    for (reason, count) in &tally.bad {
        reasons.push([&reason.as_str(), count]);
    }
    document.table(reasons);
    let mut named = Table::new(["place", "game", "players", "reason"]);
    for RejectedGame { file, line, number, title, reason, culprit } in &tally.named {
        let culprit = culprit.as_ref().map_or(String::new(), |culprit| format!(": {culprit}"));
        let place = format!("{file}:{line}");
        let reason = format!("{}{culprit}", reason.as_str());
        named.push([&place, number, title, &reason]);
    }
    document.table(named);
}

fn origin(document: &mut Document, ratings: &Ratings<'_>, files: &[String]) {
    let mut table = Table::new(["", ""]);
    for file in files {
        table.push([&"file", file]);
    }
    table.push([&"games counted", &counted_games(ratings)]);
    table.push([&"in pairs", &(2 * ratings.tally.pairs)]);
    if ratings.tally.copies > 0 {
        table.push([&"duplicates excluded", &ratings.tally.copies]);
    }
    table.push([&"model", &ratings.model]);
    document.table(table);
    document.paragraph(
        "Missing in PGN files: the test and the LLR history, depth and speed, latencies, \
         misjudged games, programs with hashes and options, limits, the seed, the machine, \
         and the command that reproduces the run. Pairs are games of the same two players from the \
         same opening with colours reversed.",
    );
}

fn counted_games(ratings: &Ratings<'_>) -> u64 {
    ratings.tally.games - ratings.tally.bad_games()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_rate::{Choice, Player, Tally};
    use arbiter_stats::ratings::{Meeting, Options, rate};

    /// Returns the main sentence for players A to D. Each item of `met` contains the indices of two
    /// players who played 10 games, and the number of games that the first player won. The second
    /// player won the remaining games.
    fn headline(met: &[([usize; 2], u64)], anchors: &[(usize, f64)], average: f64) -> String {
        let mut tally = Tally::new(Choice::default());
        for name in ["A", "B", "C", "D"] {
            tally.players.push(Player { name: name.to_owned(), ..Player::default() });
        }
        let mut meetings = Vec::new();
        for (players, wins) in met {
            let (wins, losses) = (*wins, 10 - wins);
            let singles = [[losses, 0, wins], [losses, 0, wins]];
            meetings.push(Meeting { singles, ..Meeting::new(*players) });
            tally.players[players[0]].by_colour[0] += Trinomial { losses, draws: 0, wins };
            let (wins, losses) = (losses, wins);
            tally.players[players[1]].by_colour[0] += Trinomial { losses, draws: 0, wins };
        }
        let options = Options { anchors: anchors.to_vec(), ..Options::default() };
        let rated = rate(tally.players.len(), &meetings, &options).expect("ratings");
        let ratings = Ratings {
            tally: &tally,
            meetings,
            rated,
            law: options.model,
            model: String::new(),
            min_games: 0,
            average,
            given: anchors.iter().map(|(player, _)| *player).collect(),
        };
        leaders(&ratings, &ratings.order())
    }

    #[test]
    fn the_headline_claims_only_what_the_ratings_show() {
        let chain = [([0, 1], 9), ([1, 2], 6)];
        let first = headline(&chain, &[], 2000.0);
        assert!(first.starts_with("A is rated first: +2"), "{first}");
        assert!(first.ends_with(" Elo (95 %) around a mean of 2000."), "{first}");
        let first = headline(&chain, &[(1, 100.0)], 0.0);
        assert!(first.ends_with(" Elo (95 %) relative to the given ratings."), "{first}");
        let first = headline(&chain, &[(0, 100.0)], 0.0);
        assert_eq!(first, "A is rated first: +100.0 (given).");
        let first = headline(&[([0, 1], 6), ([1, 2], 6)], &[], 0.0);
        assert!(first.starts_with("A is rated first (not significantly): +"), "{first}");
        let first = headline(&[([0, 1], 10), ([1, 2], 6)], &[], 0.0);
        assert_eq!(first, "A is rated first: 10–0 (no interval: all games had the same result).");
        let cycle = [([0, 1], 6), ([0, 2], 4), ([1, 2], 6)];
        let first = headline(&cycle, &[], 0.0);
        assert!(first.contains(" shares first place: +0.0 ± "), "{first}");
        let first = headline(&cycle, &[(0, 5.0)], 0.0);
        assert!(first.contains(" shares first place: +5.0 "), "{first}");
        let first = headline(&[([0, 1], 5), ([2, 3], 9)], &[], 0.0);
        assert_eq!(first, "C is rated first in group 1; A shares first place in group 2.");
        assert_eq!(headline(&[], &[], 0.0), "These games do not determine ratings.");
    }
}
