//! Samples for the tuner: positions as counts of weights, with results.

use std::fmt;
use std::io::{self, BufRead};

use crate::chess::{Position, fen};
use crate::eval::palimpsest::trace::{Trace, Tracer, shares};
use crate::random::mix;

/// Positions as counts of weights, each with the result of its game.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Coefficients: pairs of the index of a weight and the count of this weight. Each row has a
    /// range of coefficients.
    coefficients: Vec<(u16, i16)>,
    rows: Vec<Row>,
}

/// A position with the result of its game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Index of the first coefficient.
    start: usize,
    /// Numbers of coefficients: of the linear sum, of White's attack, and of Black's attack.
    counts: [u16; 3],
    /// Factors of the middlegame sum and of the endgame sum.
    pub(super) shares: [f32; 2],
    /// Score that does not depend on any weight, in centipawns from White's point of view:
    /// middlegame, endgame.
    pub(super) fixed: [f32; 2],
    /// Result of the game: 1 if White won, 0.5 for a draw, 0 if Black won.
    pub(super) result: f32,
}

/// Coefficients of a row.
pub(super) struct Coefficients<'a> {
    /// Coefficients of the linear sum.
    pub(super) linear: &'a [(u16, i16)],
    /// Coefficients of the attack of each side, White's first.
    pub(super) danger: [&'a [(u16, i16)]; 2],
}

impl Samples {
    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a position. The result is 1 if White won, 0.5 for a draw, and 0 if Black won.
    pub fn push(&mut self, trace: &Trace, result: f32) {
        let start = self.coefficients.len();
        let parts = [&trace.linear, &trace.danger[0], &trace.danger[1]];
        for part in parts {
            self.coefficients.extend(part.iter().map(|&(place, times)| (place, times as i16)));
        }
        self.rows.push(Row {
            start,
            counts: parts.map(|part| part.len() as u16),
            shares: shares(trace.phase, trace.scale).map(|share| share as f32),
            fixed: trace.fixed.map(|part| part as f32),
            result,
        });
    }

    pub(super) fn row(&self, index: usize) -> (&Row, Coefficients<'_>) {
        let row = &self.rows[index];
        let [linear, white, black] = row.counts.map(usize::from);
        let (first, rest) = self.coefficients[row.start..].split_at(linear);
        let (white, rest) = rest.split_at(white);
        (row, Coefficients { linear: first, danger: [white, &rest[..black]] })
    }
}

/// Training and validation samples.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// Training samples.
    pub training: Samples,
    /// Validation samples. No game has both training and validation samples.
    pub validation: Samples,
    /// Number of games.
    pub games: usize,
}

/// Failure to read samples.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be read.
    Io(io::Error),
    /// Line number, from 1, and the reason why the line is invalid.
    Line(usize, String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "{error}"),
            ReadError::Line(line, reason) => write!(f, "line {line}: {reason}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl Split {
    /// Adds the samples in a file. A sample is a line `FEN;RESULT` or `FEN;RESULT;GAME`, where the
    /// result is `1-0`, `0-1` or `1/2-1/2`, and GAME is the number of the game. About one game in
    /// `one_in`, selected with `seed`, is a validation game; all positions of this game become
    /// validation samples. A line without a game number counts as a separate game. Empty lines and
    /// lines that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if a line is not a sample. For an invalid
    /// line, the error contains the line number.
    pub fn read(&mut self, source: impl BufRead, one_in: u64, seed: u64) -> Result<(), ReadError> {
        let mut tracer = Tracer::default();
        let mut last_game = None;
        let first_game = self.games;
        for (index, line) in source.lines().enumerate() {
            let line = line.map_err(ReadError::Io)?;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (position, result, game) =
                sample(line).map_err(|reason| ReadError::Line(index + 1, reason))?;
            if game.is_none() || game != last_game {
                self.games += 1;
                last_game = game;
            }
            let name = game.unwrap_or(index as u64).wrapping_add((first_game as u64) << 32);
            let is_validation = mix(name ^ mix(seed)).is_multiple_of(one_in.max(1));
            let set = if is_validation { &mut self.validation } else { &mut self.training };
            set.push(&tracer.trace(&position), result);
        }
        Ok(())
    }
}

fn sample(line: &str) -> Result<(Position, f32, Option<u64>), String> {
    let mut fields = line.split(';').map(str::trim);
    let (Some(text), Some(result)) = (fields.next(), fields.next()) else {
        return Err(format!("expected FEN;RESULT;GAME, got '{line}'"));
    };
    let position = fen::parse(text).map_err(|error| error.to_string())?;
    let result = match result {
        "1-0" => 1.0,
        "1/2-1/2" => 0.5,
        "0-1" => 0.0,
        other => return Err(format!("expected a result such as 1-0, got '{other}'")),
    };
    let number = |text: &str| {
        text.parse().map_err(|_| format!("expected the number of a game, got '{text}'"))
    };
    let game = fields.next().map(number).transpose()?;
    Ok((position, result, game))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_stay_together() {
        let mut text = String::from("# samples\n\n");
        for game in 0..400 {
            for pawn in ["8/P7", "P7/8", "7P/8"] {
                text.push_str(&format!("4k3/{pawn}/8/8/8/8/4K3 w - - 0 1;1/2-1/2;{game}\n"));
            }
        }
        // Each pawn is moved down one rank: an empty rank is inserted above the pawn, and an empty
        // rank below the pawn is removed.
        let text = text.replace("4k3/", "4k3/8/").replace("/8/8/8/8/4K3", "/8/8/8/4K3");
        let mut split = Split::default();
        split.read(text.as_bytes(), 10, 1).unwrap();
        assert_eq!((split.games, split.training.len() + split.validation.len()), (400, 1200));
        assert!((60..=180).contains(&split.validation.len()), "{}", split.validation.len());
        assert_eq!(split.validation.len() % 3, 0);
    }

    #[test]
    fn bad_lines_are_named() {
        for (line, expected) in [
            ("8/8 w - - 0 1;1-0;1", "line 2: "),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "FEN;RESULT;GAME"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1;2-0", "got '2-0'"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1;1-0;x", "got 'x'"),
        ] {
            let error = Split::default().read(format!("\n{line}\n").as_bytes(), 10, 1).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
