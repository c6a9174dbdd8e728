//! UCI part of a session.

use std::time::Instant;

use super::{Info, OptionDeclaration, OptionError, OptionKind, check_option};
use crate::state::{Game, Phase, Result, State, Step, no_chess960, unfit};

/// Returns the text that prepares a game. All settings of the game are sent, even if unchanged.
pub(crate) fn new_game(state: &mut State, game: &Game<'_>) -> Result<String> {
    let mut text = String::new();
    for (name, value) in game.settings {
        text += &set_option(state, name, value)?;
    }
    // The option is sent only if the mode changes, because engines without Chess960 do not have the
    // option.
    let is_chess960 = game.mode.is_chess960();
    if is_chess960 != state.is_chess960 {
        let command = set_option(state, "UCI_Chess960", &is_chess960.to_string());
        text += &command.map_err(|_| no_chess960())?;
        state.is_chess960 = is_chess960;
    }
    Ok(text + "ucinewgame\nisready\n")
}

/// Prepares the state for the search of a position.
pub(crate) fn set_position(state: &mut State, position: &str) {
    state.info = Info::default();
    state.expected = None;
    state.last_own_move.clear();
    state.last_own_move.push_str(position.rsplit(' ').nth(1).unwrap_or_default());
}

/// Returns whether an answer repeats the answer to the previous search. An answer is a repetition
/// if it equals the last move of the engine's side, and if no information about the current search
/// has arrived. The move cannot be legal again, because its source square no longer contains a
/// piece of this side. In Chess960, a king may castle without leaving its square, so a move from
/// c1, g1, c8 or g8 is never a repetition.
fn is_repetition(state: &State, text: &str) -> bool {
    let may_stay =
        state.is_chess960 && ["c1", "g1", "c8", "g8"].iter().any(|square| text.starts_with(square));
    text == state.last_own_move && !may_stay && state.info == Info::default()
}

/// Processes a line. Unexpected answers, such as a late `readyok` or a second `bestmove`, are
/// ignored, because engines differ in their output.
pub(crate) fn receive(state: &mut State, at: Instant, line: &str) -> Result<Step> {
    if state.phase == Phase::Asked {
        return Ok(Step::Answer(line.to_owned()));
    }
    let (word, rest) = split_word(line.trim());
    if word == "bestmove" && is_repetition(state, split_word(rest).0) {
        return Ok(Step::Continue);
    }
    match (state.phase, word) {
        (Phase::Handshake, "id") => {
            if let ("name", name) = split_word(rest) {
                state.name = Some(name.to_owned());
            }
        }
        (Phase::Handshake, "option") => {
            // Malformed declarations are ignored, because the engine can play without the option.
            if let Some(option) = OptionDeclaration::parse(rest) {
                state.declare(option)?;
            }
        }
        (Phase::Handshake, "uciok") => {
            state.leave_out_unfit();
            let text = configure(state)?;
            state.wait(Phase::Preparing, at, state.deadlines.readyok);
            return Ok(Step::Send(text));
        }
        (Phase::Thinking | Phase::Pondering, "info") => {
            state.info.update(Info::read(rest, state.setup.takes_bounds));
            if state.setup.keeps_variations {
                state.info.keep_variation(rest);
            }
            if state.phase == Phase::Thinking {
                return Ok(Step::Info);
            }
        }
        (Phase::Thinking, "bestmove") => {
            state.become_idle();
            let (text, rest) = split_word(rest);
            if let ("ponder", reply) = split_word(rest) {
                state.expected = Some(split_word(reply).0.to_owned());
            }
            let info = std::mem::take(&mut state.info);
            return Ok(Step::Move { text: text.to_owned(), info });
        }
        // An engine that answers while it ponders is idle after the answer, and gets a new search
        // on its turn.
        (Phase::Preparing, "readyok") | (Phase::Pondering | Phase::PonderMiss, "bestmove") => {
            state.become_idle();
        }
        // UCI requires both sides to ignore unknown lines.
        _ => {}
    }
    Ok(Step::Continue)
}

/// Returns the text that ends the handshake and sets the requested options.
fn configure(state: &State) -> Result<String> {
    let mut text = String::new();
    if state.setup.ponder {
        let command = set_option(state, "Ponder", "true");
        let needed = "does not declare Ponder, which ponder=true requires";
        text += &command.map_err(|_| unfit(needed))?;
    }
    if let Some(nodes) = state.setup.nodestime {
        // An engine without this option can also play: the referee counts the reported nodes.
        text += &set_option(state, "nodestime", &nodes.to_string()).unwrap_or_default();
    }
    for (name, value) in &state.setup.options {
        text += &set_option(state, name, value)?;
    }
    for line in &state.setup.init {
        text.extend([line, "\n"]);
    }
    Ok(text + "isready\n")
}

/// Returns the command that sets an option, with its declared name; a button has no value.
fn set_option(state: &State, name: &str, value: &str) -> Result<String, OptionError> {
    let (OptionDeclaration { name, kind, .. }, value) = check_option(&state.options, name, value)?;
    Ok(match (kind, value.as_str()) {
        // `false` means that the button is not pressed.
        (OptionKind::Button, "false") => String::new(),
        (OptionKind::Button, _) | (_, "") => format!("setoption name {name}\n"),
        _ => format!("setoption name {name} value {value}\n"),
    })
}

/// Splits a string into its first word and the rest.
fn split_word(text: &str) -> (&str, &str) {
    let parts = text.split_once(|c: char| c.is_ascii_whitespace());
    parts.map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

#[cfg(test)]
mod tests;
