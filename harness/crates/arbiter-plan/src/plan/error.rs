//! Why a request is not a plan.

use std::path::PathBuf;

use thiserror::Error;

use crate::ablation::AblationError;
use crate::program::ProgramError;
use crate::tournament::TournamentError;
use arbiter_spsa::TuningError;
use arbiter_stats::SprtError;

/// Why a request is not a plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// Too few or too many engines.
    #[error(
        "{0} needs {1} engines, got {2}; give one --engine SPEC for each, or --test and --base"
    )]
    EngineCount(&'static str, &'static str, usize),
    /// Two engines share a name.
    #[error("two engines are named '{0}'; give them different names with name=")]
    DuplicateName(String),
    /// An engine has no program.
    #[error("engine '{0}' has no cmd=; give a program, cmd=bundled, or rev= and a revision")]
    NoCommand(String),
    /// An engine has two programs.
    #[error("engine '{0}' has cmd= and rev=; give one of them")]
    TwoPrograms(String),
    /// The program cannot be run.
    #[error("engine '{name}': {source}")]
    Program {
        /// The engine.
        name: String,
        /// Why.
        source: ProgramError,
    },
    /// `eval=` for an engine that is not ours.
    #[error("engine '{0}': eval= is for cmd=bundled only; use option.NAME= for other engines")]
    ForeignEval(String),
    /// The working directory is not there.
    #[error("engine '{name}': dir '{}' is not a folder", .dir.display())]
    Directory {
        /// The engine.
        name: String,
        /// The folder.
        dir: PathBuf,
    },
    /// Nothing bounds an engine's thinking.
    #[error("engine '{0}': tc=inf needs another limit: give st, nodes or depth")]
    Unlimited(String),
    /// Nodes stand for time, and there is no time for them to stand for.
    #[error("engine '{0}': nodestime= needs a clock: give tc or st")]
    NodesWithoutTime(String),
    /// A limit that the protocol cannot express.
    #[error(
        "engine '{0}': the xboard protocol cannot tell this limit; use tc, st in whole seconds, \
         or depth"
    )]
    XboardLimit(String),
    /// A line that would be several.
    #[error("engine '{0}': a line of init= is empty or holds control characters")]
    Init(String),
    /// An engine's name would break a report.
    #[error("'{}' is no name for an engine; it must not be empty or hold control characters", .0.escape_debug())]
    Name(String),
    /// The castling rules follow from the opening.
    #[error("engine '{0}': UCI_Chess960 is set by arbiter for each game, as the opening needs it")]
    Chess960(String),
    /// A path cannot be written down in the store.
    #[error("'{}' is not UTF-8; rename it", .0.display())]
    Path(PathBuf),
    /// The ablation makes no sense.
    #[error(transparent)]
    Ablation(#[from] AblationError),
    /// The tuning makes no sense.
    #[error(transparent)]
    Tuning(#[from] TuningError),
    /// There is not one engine.
    #[error("tune needs one engine, got {0}; give one --engine SPEC")]
    TuneEngines(usize),
    /// Only UCI engines can be told values between games.
    #[error("engine '{0}': tune needs an engine that speaks UCI")]
    TuneProtocol(String),
    /// The engine's own settings hold what is to be tuned.
    #[error(
        "engine '{0}' sets option.{1} itself, which is to be tuned; give its value as the start"
    )]
    TuneOption(String, String),
    /// The stopping rule makes no sense.
    #[error("sprt: {0}")]
    Sprt(#[from] SprtError),
    /// A share outside 0 to 1.
    #[error("fault limit {0} is not a share between 0 and 1")]
    FaultLimit(f64),
    /// No game can run.
    #[error("concurrency must be at least 1")]
    Concurrency,
    /// There is nothing to play.
    #[error("0 pairs are nothing to run; give --pairs and --rounds at least 1")]
    NothingToRun,
    /// The tournament cannot be held.
    #[error(transparent)]
    Tournament(#[from] TournamentError),
}
