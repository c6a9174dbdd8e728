//! The checks, by what they are about.

mod answers;
mod go;
mod handshake;
mod info;
mod input;
mod life;
mod options;
mod ponder;
mod positions;

use std::time::Duration;

use shakmaty::{Chess, Position};

use super::board;
use super::transcript::Search;
use super::{Case, Check};

/// All checks, in the order in which they are carried out.
pub fn all() -> impl Iterator<Item = &'static Check> {
    [
        handshake::CHECKS,
        life::CHECKS,
        go::CHECKS,
        answers::CHECKS,
        positions::CHECKS,
        ponder::CHECKS,
        options::CHECKS,
        info::CHECKS,
        input::CHECKS,
    ]
    .into_iter()
    .flatten()
}

/// For checks of what the script alone shows: that the engine answered and stayed.
fn nothing_more(_: &Case) -> Result<(), String> {
    Ok(())
}

fn ms(time: Duration) -> u128 {
    time.as_millis()
}

/// Every search has exactly one answer, a legal move.
fn one_legal_answer_each(case: &Case) -> Result<(), String> {
    case.transcript.searches().iter().try_for_each(|search| {
        one_answer(search)?;
        legal_answer(search)
    })
}

fn one_answer(search: &Search) -> Result<(), String> {
    match search.answers.len() {
        1 => Ok(()),
        count => Err(format!("{count} bestmove lines for 'go {}'", search.go)),
    }
}

fn legal_answer(search: &Search) -> Result<(), String> {
    let best = search.best().unwrap_or_default();
    let fen = || arbiter_suite::start::fen(&search.position);
    match board::legal(&search.position, best) {
        Some(_) => Ok(()),
        None => Err(format!("'{best}' is no legal move of {}", fen())),
    }
}

/// Every search was answered within `limit` of its beginning and the margin.
fn answered_within(case: &Case, limit: Duration) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let duration = search.duration().unwrap_or_default();
        if duration > limit + case.margin {
            return Err(format!(
                "'go {}' took {} ms, expected {} ms and at most {} ms more",
                search.go,
                ms(duration),
                ms(limit),
                ms(case.margin)
            ));
        }
    }
    Ok(())
}

/// The number behind a word of an `info` line, as the engine wrote it.
fn field<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    let mut words = info.split_ascii_whitespace();
    words
        .by_ref()
        .find(|word| matches!(*word, "string" | "pv") || *word == key)
        .filter(|word| *word == key)?;
    words.next()
}

fn number(info: &str, key: &str) -> Option<i64> {
    field(info, key)?.parse().ok()
}

/// The moves of a variation.
fn pv(info: &str) -> Vec<&str> {
    let words = info.split_ascii_whitespace();
    let before = |word: &&str| *word != "pv" && *word != "string";
    let mut rest = words.skip_while(before);
    match rest.next() {
        Some("pv") => rest.collect(),
        _ => Vec::new(),
    }
}

/// Follows a variation; the answer is the position at its end, or the first move that is not legal.
fn follow<'a>(start: &Chess, moves: &[&'a str]) -> Result<Chess, &'a str> {
    let mut position = start.clone();
    for word in moves {
        let played = board::legal(&position, word).ok_or(*word)?;
        position.play_unchecked(played);
    }
    Ok(position)
}

#[cfg(test)]
mod tests;
