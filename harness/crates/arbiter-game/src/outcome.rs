//! Outcomes of games.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr};
use shakmaty::{ByColor, Color, KnownOutcome};

use crate::text::Detail;

/// Results that may be adjudicated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Wins and draws.
    #[default]
    Both,
    /// Wins only; drawn games continue.
    Wins,
    /// Draws only; won games continue.
    Draws,
}

impl Scope {
    /// Returns whether a result belongs to the scope.
    pub(crate) fn contains(self, result: KnownOutcome) -> bool {
        self == Scope::Both || (self == Scope::Draws) == (result == KnownOutcome::Draw)
    }
}

arbiter_names::named!(Scope);

/// Reason for the end of a game. The names are stored and printed, and their meaning never changes.
// Engine faults come last, since `is_fault` compares variants.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// The side to move is checkmated.
    Checkmate,
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// The position occurred for the third time.
    Threefold,
    /// Both sides made fifty moves without a capture or pawn move.
    FiftyMoves,
    /// Neither side has enough material to mate.
    DeadPosition,
    /// The scores met the resign rule of the run.
    ResignAdjudication,
    /// An engine resigned.
    Resignation,
    /// The scores met the draw rule of the run.
    DrawAdjudication,
    /// Tablebases decided the game.
    TablebaseAdjudication,
    /// The game reached the move cap of the run.
    MoveCap,
    /// An engine exceeded its time by more than the margin.
    TimeForfeit,
    /// An engine sent an illegal move.
    IllegalMove,
    /// An engine sent text that is not a move.
    UnparseableMove,
    /// The engine refused a legal move, claimed a wrong result, or ignored `go nodes`.
    ProtocolError,
    /// The engine process exited.
    Crash,
    /// The engine closed its output but still runs.
    Disconnect,
    /// The engine did not answer in time (in a timed search, not even to `stop`).
    Stall,
}

impl Termination {
    /// All reasons, engine faults first.
    pub const ALL: [Termination; 17] = [
        Termination::Crash,
        Termination::Disconnect,
        Termination::Stall,
        Termination::ProtocolError,
        Termination::UnparseableMove,
        Termination::IllegalMove,
        Termination::TimeForfeit,
        Termination::Checkmate,
        Termination::Stalemate,
        Termination::DeadPosition,
        Termination::Threefold,
        Termination::FiftyMoves,
        Termination::Resignation,
        Termination::TablebaseAdjudication,
        Termination::ResignAdjudication,
        Termination::DrawAdjudication,
        Termination::MoveCap,
    ];

    /// Returns the name with spaces instead of underscores.
    pub fn describe(self) -> String {
        self.to_string().replace('_', " ")
    }

    /// Returns whether an engine fault ended the game.
    pub fn is_fault(self) -> bool {
        self >= Termination::TimeForfeit
    }

    /// Returns the results that an adjudication for this reason may have; `None` if the reason is
    /// not an adjudication.
    pub fn adjudicated(self) -> Option<Scope> {
        match self {
            Termination::DrawAdjudication | Termination::MoveCap => Some(Scope::Draws),
            Termination::ResignAdjudication => Some(Scope::Wins),
            Termination::TablebaseAdjudication => Some(Scope::Both),
            _ => None,
        }
    }

    /// Returns whether an engine lost by a fault or by resigning, regardless of the position.
    pub fn is_of_engine(self) -> bool {
        self.is_fault() || self == Termination::Resignation
    }
}

arbiter_names::named!(Termination);

/// Outcome of a game: result, reason and description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Result of the game.
    #[serde(with = "As::<DisplayFromStr>")]
    pub result: KnownOutcome,
    /// Reason for the end.
    pub termination: Termination,
    /// Description of the end, without a full stop, such as "Black loses on time (27 ms over)".
    #[serde(with = "Detail")]
    pub detail: String,
}

impl Outcome {
    /// Returns the outcome of a game that `loser` lost.
    pub fn lost(loser: Color, termination: Termination, detail: impl Into<String>) -> Outcome {
        let result = KnownOutcome::Decisive { winner: loser.other() };
        Outcome { result, termination, detail: detail.into() }
    }

    /// Returns the description of the end. If an engine lost by a fault or by resigning, the name
    /// of the engine is inserted.
    pub fn naming(&self, engines: ByColor<&str>) -> String {
        let color = if self.termination.is_of_engine() { self.result.winner() } else { None };
        let rest = color.and_then(|winner| {
            let loser = color_name(!winner);
            let rest = self.detail.strip_prefix(loser)?;
            Some(format!("{} ({loser}){rest}", engines.get(!winner)))
        });
        rest.unwrap_or_else(|| self.detail.clone())
    }

    /// Returns the outcome of a drawn game.
    pub fn drawn(termination: Termination, detail: impl Into<String>) -> Outcome {
        Outcome { result: KnownOutcome::Draw, termination, detail: detail.into() }
    }
}

/// Returns "White" or "Black".
pub fn color_name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_the_engine() {
        let engines = ByColor { white: "new", black: "old" };
        let described =
            |loser, termination, detail| Outcome::lost(loser, termination, detail).naming(engines);
        let late = "Black loses on time (27.0 ms over)";
        let late_text = described(Color::Black, Termination::TimeForfeit, late);
        assert_eq!(late_text, "old (Black) loses on time (27.0 ms over)");
        let crash = described(Color::White, Termination::Crash, "White crashed (exit code 3)");
        assert_eq!(crash, "new (White) crashed (exit code 3)");
        let mated = described(Color::White, Termination::Checkmate, "Black mates");
        assert_eq!(mated, "Black mates");
        let draw = Outcome::drawn(Termination::Stalemate, "draw by stalemate");
        assert_eq!(draw.naming(engines), "draw by stalemate");
    }

    #[test]
    fn names_are_unique_and_read_back() {
        for termination in Termination::ALL {
            assert_eq!(termination.to_string().parse(), Ok(termination));
        }
        assert!("boredom".parse::<Termination>().is_err());
    }
}
