//! Check that an engine can be tuned: the engine has the options, accepts their values between
//! games, and plays differently with different values.

use shakmaty::Color;

use crate::preflight::{PreflightError, ask_engine, start, start_spawner};
use arbiter_game::engine::{EngineProcess, EngineSetup};
use arbiter_game::referee::{Reply, Turn};
use arbiter_openings::Book;
use arbiter_process::{QUIT_GRACE, Spawner};
use arbiter_protocol::{
    Game, Go, Limits, OptionDeclaration, OptionKind, Restart, Score, check_option,
};
use arbiter_spsa::{Parameter, ParameterKind, Tuning};

/// Number of positions in which searches with different values are compared.
const POSITIONS: usize = 8;

/// Depth, in plies, of the compared searches if the run has neither a node nor a depth limit.
const DEPTH: u32 = 8;

/// Result of a search except its time: move, depth, score, nodes, and PV.
type Trace = (String, Option<u32>, Option<Score>, Option<u64>, Vec<String>);

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
            engine.new_game(game).await.map_err(|error| unfit(error.to_string()))?;
            let moves: Vec<String> = opening.moves.iter().map(ToString::to_string).collect();
            let position = if moves.is_empty() {
                format!("position fen {}", opening.fen)
            } else {
                format!("position fen {} moves {}", opening.fen, moves.join(" "))
            };
            // The colour only selects a clock, and no clock is running.
            let turn = Turn { color: Color::White, position, go: self.question(), budget: None };
            match engine.think(turn).await {
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
