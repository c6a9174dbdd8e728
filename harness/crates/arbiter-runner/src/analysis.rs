//! Searches outside games: evaluation of positions, and the check that an engine can be tuned. An
//! engine can be tuned if the engine has an option for each parameter, accepts new values of these
//! options between games, and plays differently with different values.

use shakmaty::{CastlingMode, Chess, Color};

use crate::preflight::{PreflightError, ask_engine, start, start_spawner};
use arbiter_game::engine::{EngineError, EngineProcess, EngineSetup};
use arbiter_game::referee::{Fault, Reply, Turn};
use arbiter_openings::Book;
use arbiter_process::{QUIT_GRACE, Spawner};
use arbiter_protocol::{
    Game, Go, Info, Limits, OptionDeclaration, OptionKind, Protocol, Restart, Score, check_option,
};
use arbiter_spsa::{Parameter, ParameterKind, Tuning};

/// Number of positions in which searches with different values are compared.
const POSITIONS: usize = 8;

/// Depth, in plies, of the compared searches if the run has neither a node nor a depth limit.
const DEPTH: u32 = 8;

/// Result of a search without the search time: move, depth, score, nodes, and PV.
type Trace = (String, Option<u32>, Option<Score>, Option<u64>, Vec<String>);

/// Running engine that evaluates positions outside games.
#[derive(Debug)]
pub struct AnalysisEngine {
    /// Name of the engine, for errors.
    name: String,
    engine: EngineProcess,
    /// Spawner of the engine, kept because dropping the spawner would kill the engine.
    _spawner: Spawner,
}

impl AnalysisEngine {
    /// Starts the engine. Fails if the engine does not speak UCI, does not start, or does not
    /// accept its options.
    pub async fn start(setup: &EngineSetup) -> Result<AnalysisEngine, PreflightError> {
        if setup.protocol != Protocol::Uci {
            let cause = "only UCI engines can analyse positions";
            return Err(PreflightError::new(&setup.name, cause));
        }
        let spawner = start_spawner(&setup.name)?;
        let engine = start(&spawner, setup).await?;
        Ok(AnalysisEngine { name: setup.name.clone(), engine, _spawner: spawner })
    }

    /// Starts a new game, searches a position for `nodes` nodes, and returns the information about
    /// the search; `None` if the engine does not move. After an error, the engine can no longer be
    /// used.
    pub async fn ask(&mut self, fen: &str, nodes: u64) -> Result<Option<Info>, PreflightError> {
        let broken = |cause: String| PreflightError::new(&self.name, cause);
        let start = Chess::default();
        let mode = CastlingMode::Standard;
        let game = Game { start: &start, mode, limits: Limits::default(), settings: &[] };
        let go = Go { nodes: Some(nodes), ..Go::default() };
        let reply = search(&mut self.engine, game, format!("position fen {fen}"), go).await;
        match reply.map_err(|error| broken(error.to_string()))? {
            Reply::Move { info, .. } => Ok(Some(info)),
            Reply::Claim(_) => Ok(None),
            Reply::Fault(
                Fault::Silent(cause) | Fault::Crashed(cause) | Fault::Disconnected(cause),
            ) => Err(broken(cause)),
        }
    }

    /// Terminates the engine with `quit`.
    pub async fn quit(self) {
        self.engine.quit(QUIT_GRACE).await;
    }
}

/// Starts a new game, and lets the engine search a position without time limits.
async fn search(
    engine: &mut EngineProcess,
    game: Game<'_>,
    position: String,
    go: Go,
) -> Result<Reply, EngineError> {
    engine.new_game(game).await?;
    // The colour only selects a clock, and no clock is running.
    Ok(engine.think(Turn { color: Color::White, position, go, budget: None }).await)
}

/// Returns the name, default, minimum and maximum of each spin option of an engine. Fails if the
/// engine cannot be started or configured.
pub async fn spin_options(
    setup: &EngineSetup,
) -> Result<Vec<(String, i64, i64, i64)>, PreflightError> {
    let spin = |option: &OptionDeclaration| {
        let OptionKind::Spin { min, max } = option.kind else { return None };
        Some((option.name.clone(), option.default.as_ref()?.parse().ok()?, min, max))
    };
    ask_engine(setup, |session| session.options().iter().filter_map(spin).collect()).await
}

/// Checks the engine in `setup`: each parameter must be an option that accepts the start, minimum
/// and maximum values, and at least one parameter must have an effect. Returns the names of the
/// parameters that had no effect in the first positions of the book.
pub async fn check_tuning(
    setup: &EngineSetup,
    tuning: &Tuning,
    limits: Limits,
    book: &Book,
) -> Result<Vec<String>, PreflightError> {
    let spawner = start_spawner(&setup.name)?;
    let engine = start(&spawner, setup).await?;
    for parameter in &tuning.parameters {
        check_parameter(&engine, parameter)
            .map_err(|reason| PreflightError::new(&setup.name, reason))?;
    }
    let mut trial = Trial { setup, spawner, engine: Some(engine), tuning, limits, book };
    let mut ineffective = Vec::new();
    for (place, parameter) in tuning.parameters.iter().enumerate() {
        let low = trial.traces(place, parameter.min).await?;
        let high = trial.traces(place, parameter.max).await?;
        if low == high {
            ineffective.push(parameter.name.clone());
        }
    }
    if let Some(engine) = trial.engine {
        engine.quit(QUIT_GRACE).await;
    }
    if ineffective.len() < tuning.parameters.len() {
        return Ok(ineffective);
    }
    let reason = format!(
        "ignores setoption, or its parameters have no effect: searches of {} positions are \
         identical at the minimum and maximum of {}; --no-probe tunes anyway",
        POSITIONS.min(book.len()),
        ineffective.join(", ")
    );
    Err(PreflightError::new(&setup.name, reason))
}

/// Returns an error if an option does not accept the start, minimum or maximum of a parameter.
fn check_parameter(engine: &EngineProcess, parameter: &Parameter) -> Result<(), String> {
    let Parameter { name, kind, start, min, max, .. } = parameter;
    let checked = |value: &f64| {
        let (_, text) = parameter.setting(*value);
        check_option(engine.session().options(), name, &text).map_err(|error| error.to_string())
    };
    let (option, _) = checked(start)?;
    checked(min)?;
    checked(max)?;
    match option.kind {
        OptionKind::Spin { .. } if *kind == ParameterKind::Float => {
            Err(format!("option '{name}' takes only whole numbers; tune it as an int"))
        }
        OptionKind::Spin { .. } | OptionKind::String => Ok(()),
        _ => Err(format!("option '{name}' takes no numbers")),
    }
}

/// Engine whose parameters are checked, with the settings of the searches.
struct Trial<'a> {
    setup: &'a EngineSetup,
    spawner: Spawner,
    engine: Option<EngineProcess>,
    tuning: &'a Tuning,
    limits: Limits,
    book: &'a Book,
}

impl Trial<'_> {
    /// Searches the first positions of the book with one parameter at `value` and all other
    /// parameters at their start values. Returns the results of the searches. Options are set as in
    /// a run: between games, or in a new process if the engine is restarted for each game.
    async fn traces(&mut self, place: usize, value: f64) -> Result<Vec<Trace>, PreflightError> {
        let mut values = self.tuning.start();
        values[place] = value;
        let settings = self.tuning.settings(&values);
        let (name, text) = settings[place].clone();
        let (setup, book) = (self.setup, self.book);
        let unfit = |cause: String| {
            PreflightError::new(&setup.name, format_args!("with {name} at {text}: {cause}"))
        };
        // If the run restarts the engine for each game, the engine need not accept new option
        // values between games.
        if self.setup.restart == Restart::On
            && let Some(engine) = self.engine.take()
        {
            engine.quit(QUIT_GRACE).await;
        }
        let mut engine = match self.engine.take() {
            Some(engine) => engine,
            None => start(&self.spawner, self.setup).await?,
        };
        let mut traces = Vec::new();
        for opening in book.openings().take(POSITIONS) {
            let start = opening.start_position();
            let game = Game {
                start: &start,
                mode: opening.castling_mode,
                limits: self.limits,
                settings: &settings,
            };
            let moves: Vec<String> = opening.moves.iter().map(ToString::to_string).collect();
            let position = if moves.is_empty() {
                format!("position fen {}", opening.fen)
            } else {
                format!("position fen {} moves {}", opening.fen, moves.join(" "))
            };
            let reply = search(&mut engine, game, position, self.question()).await;
            match reply.map_err(|error| unfit(error.to_string()))? {
                Reply::Move { text, info, .. } => {
                    traces.push((text, info.depth, info.score, info.nodes, info.pv));
                }
                Reply::Claim(_) => {}
                Reply::Fault(fault) => return Err(unfit(fault.to_string())),
            }
        }
        self.engine = Some(engine);
        Ok(traces)
    }

    /// Returns the node and depth limits of the run; without limits, returns a fixed depth, so that
    /// searches are reproducible.
    fn question(&self) -> Go {
        match (self.limits.nodes, self.limits.depth) {
            // Searches limited by time differ each time, even if a parameter has no effect.
            (None, None) => Go { depth: Some(DEPTH), ..Go::default() },
            (nodes, depth) => Go { nodes, depth, ..Go::default() },
        }
    }
}
