//! Tuning runs: checks of a [`Tuning`]; the two engines (sides) that play against each other; and
//! the SPRT that confirms the result.

use crate::{DEFAULT_SPRT_PAIRS, Engine, Plan, RunKind, SprtRequest};
use arbiter_protocol::Protocol;
use arbiter_schedule::Design;
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

/// Returns the plan of an SPRT of the tuned values against the initial values; `None` if the values
/// are equal. The SPRT has the conditions of the tuning run, but different openings. Fails if the
/// bounds of the SPRT are invalid.
pub fn confirmation(
    plan: &Plan,
    theta: &[f64],
    sprt: SprtRequest,
    pairs: Option<u64>,
) -> Result<Option<Plan>, String> {
    let (Some(tuning), Some(side)) = (&plan.tuning, plan.engines.first()) else { return Ok(None) };
    let tuned = tuning.settings(theta);
    let start = tuning.settings(&tuning.start());
    if tuned == start {
        return Ok(None);
    }
    let base = base_name(&side.name);
    let engine = |name: String, settings: Vec<(String, String)>| {
        let options = side.options.iter().cloned().chain(settings).collect();
        Engine { name, options, ..side.clone() }
    };
    let engines = vec![engine(format!("{base} tuned"), tuned), engine(base.to_owned(), start)];
    Ok(Some(Plan {
        kind: RunKind::Sprt,
        engines,
        design: Design::round_robin(pairs.unwrap_or(DEFAULT_SPRT_PAIRS)),
        // Another seed selects other openings, because the tuned values may fit the openings of the
        // tuning run by chance.
        seed: plan.seed.wrapping_add(1),
        sprt: Some(sprt.resolve()?),
        tuning: None,
        // The PGN and EPD files belong to the tuning run.
        pgn: None,
        epd: None,
        ..plan.clone()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineSpec, PlanError, Request};
    use arbiter_spsa::table;

    fn resolve(engine: &str, lines: &str) -> Result<Plan, PlanError> {
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

    #[test]
    fn a_confirmation_has_the_conditions_of_the_tuning() {
        let plan = resolve("cmd=sh,name=E,option.Hash=8,nodes=70", "A,1,0,10,1,0.1").unwrap();
        let confirm =
            |theta: f64| confirmation(&plan, &[theta], SprtRequest::default(), Some(9)).unwrap();
        assert!(confirm(1.3).is_none(), "1.3 is 1 for the engine");
        let sprt = confirm(3.6).unwrap();
        let option = |value: &str| ("A".to_owned(), value.to_owned());
        assert_eq!(sprt.engines[0].options[1], option("4"));
        assert_eq!(sprt.engines[1].options[1], option("1"));
        assert_eq!(sprt.engines[1].name, "E");
        assert_eq!(sprt.engines[1].conditions, plan.engines[0].conditions);
        assert!(sprt.tuning.is_none() && sprt.sprt.is_some() && sprt.design.pairs == 9);
    }
}
