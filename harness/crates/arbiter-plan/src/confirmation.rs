//! SPRT that confirms the result of a tuning run.

use crate::{DEFAULT_SPRT_PAIRS, Engine, Plan, RunKind, SprtRequest, base_name};
use arbiter_schedule::Design;

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
    use crate::tuning::tests::resolve;

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
