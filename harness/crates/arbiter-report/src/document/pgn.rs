//! Games of a PGN as a document. A PGN tells who met whom, with which result and from which opening; what
//! it does not tell is left out, and said.

use super::parts::{self, Strong};
use super::{Block, Document, calibration};
use crate::ratings::{Ratings, seconds_per_move};
use crate::standings::superiority;
use crate::statistics::{Opening, mean_score, outliers};
use crate::status::{percent, plus_minus};
use crate::summary::Strength;
use crate::table::Table;
use arbiter_plan::run::standing::Encounter;
use arbiter_rate::RejectedGame;
use arbiter_stats::ratings::Meeting;
use arbiter_stats::{GameResult, Trinomial, opening_bias};

/// Players beyond which everybody against everybody would be too much.
const MAX_CROSS: usize = 20;

/// Players that a chart of ratings shows.
const MAX_RATED: usize = 40;

/// Players whose evaluations are shown.
const MAX_JUDGES: usize = 8;

/// Openings that are listed.
const OPENINGS: usize = 12;

/// The document of the games of some files.
pub fn of_games(ratings: &Ratings<'_>, files: &[String]) -> Document {
    let tally = ratings.tally;
    let order = ratings.order();
    let mut document = Document::new(title(ratings, &order));
    document.blocks.push(conclusion(ratings, &order));
    document.heading("Result");
    players(&mut document, ratings, &order);
    if let Some((first, encounter)) = duel(ratings).filter(|(_, e)| e.pairs.pairs() > 0) {
        let figure = parts::pairs(ratings.name(first), encounter.pairs.0);
        document.blocks.push(Block::Figure(figure));
    }
    if (2..=MAX_CROSS).contains(&order.len()) {
        everybody(&mut document, ratings, &order);
    }
    document.heading("How the games ended");
    let endings = tally.endings.iter().map(|(ending, count)| (ending.clone(), *count));
    document.blocks.push(Block::Figure(parts::endings(endings.collect())));
    document.heading("Colours and draws");
    document.paragraph(bias(ratings));
    let by_colour: Vec<_> = order
        .iter()
        .map(|player| (ratings.name(*player), tally.players[*player].by_colour))
        .collect();
    let white: Trinomial = tally.players.iter().map(|player| player.by_colour[0]).sum();
    document.blocks.push(Block::Figure(parts::colours(&by_colour, white)));
    evaluations(&mut document, ratings, &order);
    document.heading("Openings");
    document.paragraph(format!(
        "{} openings were played. Those whose score is the furthest from that of all games, for \
         their number of games:",
        tally.openings.len()
    ));
    let openings: Vec<Opening> = tally
        .openings
        .iter()
        .map(|opening| Opening { name: opening.name.clone(), white: opening.results })
        .collect();
    let leaning = outliers(openings.iter(), OPENINGS);
    document.blocks.push(Block::Figure(parts::openings(&leaning, mean_score(&white))));
    if tally.bad_games() > 0 {
        bad(&mut document, ratings);
    }
    document.heading("Where it is from");
    origin(&mut document, ratings, files);
    document
}

fn title(ratings: &Ratings<'_>, order: &[usize]) -> String {
    match order {
        [first, second] => format!("{} against {}", ratings.name(*first), ratings.name(*second)),
        _ => format!("Games of {} players", order.len()),
    }
}

/// The two players of a match, the stronger one first, from that one's side.
fn duel(ratings: &Ratings<'_>) -> Option<(usize, Encounter)> {
    let &[first, _] = ratings.order().as_slice() else { return None };
    let [meeting] = ratings.meetings else { return None };
    let encounter = encounter(meeting);
    Some((first, if meeting.players[0] == first { encounter } else { encounter.swapped() }))
}

/// Counts of a meeting as those of a run.
fn encounter(meeting: &Meeting) -> Encounter {
    let [losses, draws, wins] = meeting.results();
    let mut encounter = Encounter {
        games: Trinomial { losses, draws, wins },
        table: meeting.pairs,
        singles: meeting.singles,
        ..Encounter::default()
    };
    let results = [GameResult::Loss, GameResult::Draw, GameResult::Win];
    for (white, row) in results.into_iter().zip(meeting.pairs) {
        for (black, count) in results.into_iter().zip(row) {
            let cell = white.half_points() + black.half_points();
            encounter.pairs.0[cell] += count;
        }
    }
    // Games that found no partner would be missing from the pairs.
    if meeting.singles.iter().flatten().any(|count| *count > 0) {
        encounter.pairs = Default::default();
    }
    encounter
}

fn conclusion(ratings: &Ratings<'_>, order: &[usize]) -> Block {
    let tally = ratings.tally;
    let text = format!("{} games counted, {} of them in pairs.", counted(ratings), 2 * tally.pairs);
    let strong = match duel(ratings) {
        Some((first, encounter)) => {
            let strength = Strength::of(encounter);
            let second = order.iter().find(|player| **player != first).copied().unwrap_or(first);
            format!(
                "{} against {}: {} Elo (95 %), LOS {}.",
                ratings.name(first),
                ratings.name(second),
                plus_minus(strength.elo.as_ref()),
                percent(strength.los)
            )
        }
        None => match order.first().and_then(|first| strong(ratings, *first)) {
            Some(first) => {
                format!("{} is rated first, at {} Elo (95 %).", first.name, first.words())
            }
            None => "The games tell no ratings.".to_owned(),
        },
    };
    Block::Paragraph { strong, text }
}

fn strong<'a>(ratings: &'a Ratings<'_>, player: usize) -> Option<Strong<'a>> {
    let won_all = match ratings.bound(player) {
        ">" => Some(true),
        "<" => Some(false),
        _ => None,
    };
    let (rating, margin) = (ratings.rating(player)?, ratings.margin(player));
    Some(Strong { name: ratings.name(player), rating, margin, won_all })
}

/// All players with what they scored.
fn players(document: &mut Document, ratings: &Ratings<'_>, order: &[usize]) {
    let mut table = Table::new([
        "",
        "player",
        "Elo (95 %)",
        "games",
        "score (95 %)",
        "won",
        "drawn",
        "lost",
        "s/move",
    ]);
    for (place, player) in (1..).zip(order) {
        let own = &ratings.tally.players[*player];
        let results = own.results();
        table.push([
            place.to_string(),
            own.name.clone(),
            strong(ratings, *player).map_or("undefined".to_owned(), |strong| strong.words()),
            results.games().to_string(),
            parts::score(&results),
            results.wins.to_string(),
            results.draws.to_string(),
            results.losses.to_string(),
            seconds_per_move(own).map_or("-".to_owned(), |seconds| format!("{seconds:.3}")),
        ]);
    }
    document.table(table);
    let remarks = ratings.remarks();
    remarks.lines().for_each(|line| document.paragraph(line));
    let mut rows: Vec<Strong<'_>> =
        order.iter().filter_map(|player| strong(ratings, *player)).collect();
    rows.truncate(MAX_RATED);
    if rows.len() > 2 {
        document.blocks.push(Block::Figure(parts::ratings(&rows)));
    }
}

/// Won, drawn and lost of each against each, and who is likely the stronger one.
fn everybody(document: &mut Document, ratings: &Ratings<'_>, order: &[usize]) {
    document.heading("Everybody against everybody");
    document.table(ratings.crossed());
    document.paragraph("Games won, drawn and lost by the player of the row.");
    let names: Vec<&str> = order.iter().map(|player| ratings.name(*player)).collect();
    document.table(parts::superiority(&names, &superiority(ratings.rated, order)));
    document.paragraph(parts::SUPERIORITY_LEGEND);
}

/// What became of the evaluations in the comments, if there are any.
fn evaluations(document: &mut Document, ratings: &Ratings<'_>, order: &[usize]) {
    let players: Vec<_> = order
        .iter()
        .take(MAX_JUDGES)
        .map(|player| (ratings.name(*player), &ratings.tally.players[*player].calibration))
        .collect();
    if let Some(figure) = calibration::figure(&players) {
        document.heading("How the players judged");
        document
            .paragraph("By the evaluations in the comments of the games, each from its own side.");
        document.blocks.push(Block::Figure(figure));
    }
}

fn bias(ratings: &Ratings<'_>) -> String {
    let rated = ratings.rated;
    let mut words = parts::advantage(rated.advantage, rated.advantage_error);
    let found = duel(ratings).filter(|(_, encounter)| encounter.pairs.pairs() > 0);
    if let Some(bias) = found.and_then(|(_, e)| opening_bias(&e.pairs, &e.games)) {
        words.push_str(&format!(" The openings lean by {bias:.0} Elo (root mean square)."));
    }
    words
}

/// The games that do not count.
fn bad(document: &mut Document, ratings: &Ratings<'_>) {
    let tally = ratings.tally;
    document.heading("Games that do not count");
    let mut reasons = Table::new(["reason", "games"]);
    for (reason, count) in &tally.bad {
        reasons.push([reason.as_str().to_owned(), count.to_string()]);
    }
    document.table(reasons);
    let mut named = Table::new(["place", "game", "players", "reason"]);
    for RejectedGame { file, line, number, title, reason, culprit } in &tally.named {
        let culprit = culprit.as_ref().map_or(String::new(), |culprit| format!(": {culprit}"));
        named.push([
            format!("{file}:{line}"),
            number.to_string(),
            title.clone(),
            format!("{}{culprit}", reason.as_str()),
        ]);
    }
    document.table(named);
}

fn origin(document: &mut Document, ratings: &Ratings<'_>, files: &[String]) {
    let mut table = Table::new(["", ""]);
    for file in files {
        table.push(["file".to_owned(), file.clone()]);
    }
    table.push(["games counted".to_owned(), counted(ratings).to_string()]);
    table.push(["in pairs".to_owned(), (2 * ratings.tally.pairs).to_string()]);
    table.push(["model".to_owned(), ratings.model.clone()]);
    document.table(table);
    document.paragraph(
        "These games are from a file, so there is no telling here what only a store knows: the test and its \
         LLR history, depth and speed, latencies, misjudged games, programs with their hashes \
         and options, limits, the seed, the machine, and the command that plays them again. Pairs are \
         games of the same two players from the same opening with colours reversed.",
    );
}

fn counted(ratings: &Ratings<'_>) -> u64 {
    ratings.tally.games - ratings.tally.bad_games()
}
