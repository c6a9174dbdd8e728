//! Report on the games of PGN files as a document. PGN files contain players, results and openings;
//! the document lists which data of a run they lack.

use crate::figures::{PlayedOpening, Rating, Strength, superiority};
use crate::parts::{Block, Document, Table, UNDEFINED, percent};
use crate::topics::ratings::{Ratings, encounter, seconds_per_move};
use crate::topics::tournament::MAX_CROSS;
use crate::topics::{calibration, result_figures};
use arbiter_rate::{Opening, RejectedGame};
use arbiter_run::Encounter;
use arbiter_stats::ratings::OutcomeModel;
use arbiter_stats::{Pentanomial, Trinomial, opening_bias};

/// Maximum number of players in a chart of ratings.
const MAX_RATED: usize = 40;

/// Maximum number of players in the chart that compares evaluations with results.
const MAX_CALIBRATED: usize = 8;

/// Returns the document of the games of PGN files.
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

/// Converts an opening of PGN files, for which only the name and White's results are known.
fn played_opening(Opening { name, results }: &Opening) -> PlayedOpening {
    PlayedOpening {
        label: name.clone(),
        name: name.clone(),
        placement: String::new(),
        white: *results,
        first: Trinomial::default(),
    }
}

/// Returns the players, the stronger player first, and their encounter from the first player's
/// point of view. Returns `None` unless there are exactly two players.
fn duel(ratings: &Ratings<'_>) -> Option<([usize; 2], Encounter)> {
    let players: [usize; 2] = ratings.order().try_into().ok()?;
    let [meeting] = ratings.meetings else { return None };
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
    let rated = order.first().and_then(|first| Some((*first, ratings.rating(*first)?)));
    let strong = match (duel(ratings), rated) {
        (Some((players, encounter)), _) => {
            let strength = Strength::of(encounter);
            let [first, second] = players.map(|player| ratings.name(player));
            let (elo, los) = (strength.elo_in_full(), strength.los_text());
            format!("{first} against {second}: Elo {elo}, LOS {los}.")
        }
        (None, Some((first, rating))) => {
            let rating = rating.describe(tally.players[first].results());
            format!("{} is rated first: {rating}.", ratings.name(first))
        }
        (None, None) => "These games do not determine ratings.".to_owned(),
    };
    Block::Paragraph { strong, text }
}

/// Adds a table of the players with their ratings and scores, remarks, and a chart of the ratings.
fn players(document: &mut Document, ratings: &Ratings<'_>, order: &[usize]) {
    let order: Vec<usize> = order.iter().copied().filter(|p| ratings.is_shown(*p)).collect();
    // Each model has its own Elo scale, so the heading names the model unless it is the default.
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
        let (games, score) = (results.games(), result_figures::score(&results));
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
    let likelihood = |one, other| superiority(ratings.rated, one, other);
    result_figures::superiority(document, &names, likelihood);
}

/// Adds a comparison of evaluations with results, if the comments contain evaluations.
fn evaluations(document: &mut Document, ratings: &Ratings<'_>, order: &[usize]) {
    let judge =
        |player: &usize| (ratings.name(*player), &ratings.tally.players[*player].calibration);
    let players: Vec<_> = order.iter().take(MAX_CALIBRATED).map(judge).collect();
    if let Some(figure) = calibration::figure(&players) {
        document.heading("Evaluations");
        document
            .paragraph("From the evaluations in PGN comments, from the player's point of view.");
        document.figures([figure]);
    }
}

fn bias(ratings: &Ratings<'_>) -> String {
    let rated = ratings.rated;
    let (elo, error) = (rated.advantage, rated.advantage_error);
    let mut text = result_figures::advantage(elo, error, "on the scale of the ratings");
    if let Some(bias) = duel(ratings).and_then(|(_, e)| opening_bias(&e.pairs, &e.games)) {
        text.push_str(&format!(" Opening bias: {bias:.0} Elo (root mean square)."));
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
        let (place, reason) = (format!("{file}:{line}"), format!("{}{culprit}", reason.as_str()));
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
        "Not contained in a PGN: the test and its LLR history, depth and speed, latencies, \
         misjudged games, programs with their hashes and options, limits, the seed, the machine, \
         and the command that reproduces the run. Pairs are games of the same two players from the \
         same opening with colours reversed.",
    );
}

fn counted_games(ratings: &Ratings<'_>) -> u64 {
    ratings.tally.games - ratings.tally.bad_games()
}
