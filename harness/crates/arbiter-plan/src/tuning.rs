//! Checks of a [`Tuning`], and the two engines (sides) that a tuning run plays against each other.

use crate::Engine;
use arbiter_protocol::Protocol;
use arbiter_spsa::{Parameter, Tuning};

/// Default number of pairs per iteration.
pub const DEFAULT_TUNING_PAIRS: u64 = 8;

/// Default number of iterations.
pub const DEFAULT_ITERATIONS: u64 = 1_000;

/// Default number of iterations that may start before earlier iterations have ended, so that no
/// slot has to wait for the last game of an iteration.
pub const DEFAULT_AHEAD: u64 = 1;

/// Suffixes of the engine's name for the two sides.
const SIDES: [char; 2] = ['+', '-'];

/// Checks a tuning run and the tuned engine: the engine must use UCI and must not set a tuned
/// option.
pub(super) fn check(tuning: &Tuning, engine: &Engine) -> Result<(), String> {
    tuning.check()?;
    let name = base_name(&engine.name);
    if engine.launch.protocol != Protocol::Uci {
        return Err(format!("engine '{name}': tune requires a UCI engine"));
    }
    let is_set = |parameter: &&Parameter| {
        engine.options.iter().any(|(option, _)| option.eq_ignore_ascii_case(&parameter.name))
    };
    match tuning.parameters.iter().find(is_set) {
        Some(Parameter { name: option, .. }) => Err(format!(
            "engine '{name}' sets option.{option}, which is to be tuned; give its value as the \
             start value"
        )),
        None => Ok(()),
    }
}

/// Returns two engines with the names of the two sides and otherwise equal settings.
pub(super) fn sides(engine: &Engine) -> [Engine; 2] {
    SIDES.map(|side| Engine { name: format!("{}{side}", engine.name), ..engine.clone() })
}

/// Returns the name of the engine without the suffix of a side.
pub fn base_name(side: &str) -> &str {
    side.strip_suffix(SIDES).unwrap_or(side)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{EngineSpec, Plan, PlanError, Request, RunKind};
    use arbiter_spsa::table;

    pub(crate) fn resolve(engine: &str, lines: &str) -> Result<Plan, PlanError> {
        let parameters = table::read(lines).unwrap();
        let tuning = Tuning {
            parameters,
            alpha: 0.6,
            gamma: 0.1,
            a_ratio: 0.1,
            iterations: 0,
            pairs: 0,
            ahead: DEFAULT_AHEAD,
        };
        let engines = vec![EngineSpec::parse(engine).unwrap()];
        let mut request = Request { engines, tuning: Some(tuning), ..Request::default() };
        request.tournament.rounds = Some(30);
        Plan::resolve(RunKind::Tune, request)
    }

    #[test]
    fn an_engine_plays_against_itself_in_iterations() {
        let plan = resolve("cmd=sh,name=E,option.Hash=8", "A,1,0,10,1,0.1").unwrap();
        let names: Vec<&str> = plan.engines.iter().map(|engine| engine.name.as_str()).collect();
        assert_eq!(names, ["E+", "E-"]);
        assert_eq!(plan.engines[0].options, plan.engines[1].options);
        assert_eq!(names.iter().map(|name| base_name(name)).collect::<Vec<_>>(), ["E", "E"]);
        let tuning = plan.tuning.as_ref().unwrap();
        assert_eq!((tuning.iterations, tuning.pairs, tuning.ahead), (30, 8, 1));
        let schedule = plan.schedule();
        assert_eq!((schedule.known_pairs(), schedule.expected_pairs()), (16, 240));
    }

    #[test]
    fn invalid_tunings_are_rejected() {
        let check = |engine: &str, lines: &str, expect: &str| {
            let error = resolve(engine, lines).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        };
        check("cmd=sh", "", "tune requires parameters");
        check("cmd=sh,option.a=3", "A,1,0,10,1,0.1", "engine 'sh' sets option.A,");
        check("cmd=sh,proto=xboard", "A,1,0,10,1,0.1", "requires a UCI engine");
    }
}
