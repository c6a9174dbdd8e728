//! Pages of a run's games: the list, and one game.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{option, page, parts};
use crate::games::Selection;
use arbiter_game::outcome::Termination;
use arbiter_report::{Game, game_viewer};
use arbiter_store::{GameOrder, ListedGame};

/// Number of games on a page of the list of games.
pub(crate) const PART: u64 = 100;

/// Orders of the list: name in queries, name in forms, and order.
pub(crate) const ORDERS: [(&str, &str, GameOrder); 3] = [
    ("", "as scheduled", GameOrder::Schedule),
    ("length", "longest first", GameOrder::Length),
    ("swing", "largest swing first", GameOrder::Swing),
];

/// Returns a page of the list of games; `openings` maps the number of an opening in the book to the
/// name of the opening.
pub(crate) fn list(
    selection: &Selection<'_>,
    part: u64,
    games: &[ListedGame],
    openings: &BTreeMap<u64, String>,
) -> String {
    let Selection { stored, url_query, .. } = selection;
    let run = &stored.head.run;
    let total = games.first().map_or(0, |game| game.total);
    let body = html! {
        p class="links" {
            a href={ "/runs/" (run) } { "The run" }
            a href=(url_query.address(&format!("/runs/{run}/games.pgn"), None)) download { "These games as PGN" }
        }
        (filter(selection))
        (parts(url_query, &format!("/runs/{run}/games"), "games", part, PART, total))
        div class="scroll" tabindex="0" role="group" aria-label="Games" {
            table class="games cards" {
                thead { tr {
                    @for head in ["Game", "White", "Black", "Result", "Ending"] { th scope="col" { (head) } }
                    @for head in ["Length (moves)", "Swing (pawns)"] { th scope="col" class="figure" { (head) } }
                    th scope="col" { "Opening" }
                } }
                tbody { @for game in games { (row(selection, game, openings)) } }
            }
        }
    };
    page("", &format!("Games of {run}"), None, &body)
}

fn filter(Selection { stored, url_query, .. }: &Selection<'_>) -> Markup {
    let number = |name: &str, most: u32, step: &str| {
        let value = url_query.value(name);
        html! { input type="number" name=(name) min="0" max=(most) step=(step) value=(value); }
    };
    let option = |name: &str, value: &str, text: &str| option(url_query, name, value, text);
    html! {
        form role="search" aria-label="Games" {
            label { "Engine " select name="engine" {
                (option("engine", "", "all"))
                @for engine in &stored.plan.engines { (option("engine", &engine.name, &engine.name)) }
            } }
            label { "Ending " select name="ending" {
                (option("ending", "", "all"))
                @for ending in Termination::ALL {
                    (option("ending", &ending.to_string(), &ending.describe()))
                }
            } }
            label { "Opening " input type="search" name="opening" value=(url_query.value("opening"))
                placeholder="ECO, name or number"; }
            label { "Moves from " (number("from", 10_000, "1")) }
            label { "Moves to " (number("to", 10_000, "1")) }
            label { "Swing from (pawns) " (number("swing", 20, "any")) }
            label { "Order " select name="order" {
                @for (value, text, _) in ORDERS { (option("order", value, text)) }
            } }
            button { "Filter" }
        }
    }
}

fn row(selection: &Selection<'_>, game: &ListedGame, openings: &BTreeMap<u64, String>) -> Markup {
    let run = &selection.stored.head.run;
    let engines = &selection.stored.plan.engines;
    let name = |engine: usize| engines.get(engine).map_or("?", |found| &found.name);
    let swing =
        game.swing.map_or("–".to_owned(), |swing| format!("{:.2}", f64::from(swing) / 100.0));
    let opening = openings.get(&game.opening).filter(|name| !name.is_empty());
    html! {
        tr {
            th scope="row" {
                a href=(game_url(selection, game)) { (game.place()) }
            }
            td class="names" data-label="White" { (name(game.white)) }
            td class="names" data-label="Black" { (name(game.black)) }
            td { (game.result) }
            td { (game.termination.replace('_', " ")) }
            td class="figure" data-label="Moves" { (game.length()) }
            td class="figure" data-label="Swing (pawns)" { (swing) }
            td { a href={ "/runs/" (run) "/games?opening=" (game.opening + 1) } {
                @match opening { Some(name) => (name), None => { "number " (game.opening + 1) } }
            } }
        }
    }
}

/// Returns the URL of a game's page. The URL contains the query that selects the games of the list.
fn game_url(selection: &Selection<'_>, game: &ListedGame) -> String {
    let path = format!("/runs/{}/games/{}", selection.stored.head.run, game.place());
    selection.url_query.address(&path, None)
}

/// Returns the page of a game, with links to the previous and next game of the list.
pub(crate) fn game(
    selection: &Selection<'_>,
    place: (u64, usize),
    around: &[ListedGame],
    game: &Game,
) -> String {
    let run = &selection.stored.head.run;
    let index = around.iter().position(|found| (found.pair, found.half) == place);
    let before = index.and_then(|index| around.get(index.checked_sub(1)?));
    let after = index.and_then(|index| around.get(index + 1));
    let place = format!("{}.{}", place.0 + 1, place.1 + 1);
    let body = html! {
        p class="links" {
            a href={ "/runs/" (run) } { "The run" }
            a href=(selection.url_query.address(&format!("/runs/{run}/games"), None)) { "List of games" }
            a href={ "/runs/" (run) "/games/" (place) ".pgn" } download { "PGN" }
        }
        nav class="parts" aria-label="Games around" { ul {
            @if let Some(found) = index.map(|index| &around[index]) {
                li { "Game " (found.number) " of " (found.total) }
                li { (found.length()) " moves after the opening" }
            }
            @if let Some(game) = before {
                li { a rel="prev" href=(game_url(selection, game)) title="Shift + ←" { "Previous: " (game.place()) } }
            }
            @if let Some(game) = after {
                li { a rel="next" href=(game_url(selection, game)) title="Shift + →" { "Next: " (game.place()) } }
            }
        } }
        section aria-labelledby="game" {
            h2 id="game" { "Moves" }
            (game_viewer("ply", game))
            p class="remark" {
                "Keys: ← and → for moves, Home and End, with Shift for games. Click a graph or a \
                 move to show its position."
            }
        }
    };
    page("", &format!("Game {place} of {run}"), None, &body)
}
