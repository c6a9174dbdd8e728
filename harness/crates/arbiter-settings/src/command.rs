//! Command line that plays the games of a plan again.

use std::time::Duration;

use crate::setting::Setting;
use crate::{OnResume, Settings, TestSettings, TuneTable};
use arbiter_plan::{
    DEFAULT_MARGIN, Engine, EngineSpec, Plan, Request, RunKind, TournamentRequest, engine_text,
    field, fields, limits_text, unless,
};
use arbiter_protocol::Deadlines;
use arbiter_schedule::Design;
use arbiter_spsa::table;

/// Name and value of a flag; the value of a switch is empty. For one key of a flag with several
/// keys, the name consists of the flag and the key, such as "openings order".
type Flag = (String, String);

fn flag(name: &str, value: impl ToString) -> Flag {
    (name.to_owned(), value.to_string())
}

/// Returns a flag as words of a command line.
fn words((name, value): &Flag) -> impl Iterator<Item = String> {
    let flag = format!("--{}", name.split(' ').next().unwrap_or(name));
    std::iter::once(flag).chain(Some(value.clone()).filter(|value| !value.is_empty()))
}

/// Returns the effect of a flag when it is used with `--resume`. A flag that is not a setting may
/// change freely, unless this function lists the flag.
pub fn on_resume(flag: &str) -> OnResume {
    match flag {
        "engine" | "eval" | "each" | "dev" | "base" | "repo" | "sandbox" => OnResume::Engines,
        "param" | "params" | "spins" => OnResume::Parameters,
        "sprt" => OnResume::Bound,
        "option" | "features" => OnResume::Fixed,
        _ => {
            let flag = flag.split(' ').next().unwrap_or(flag);
            let setting = settings().find(|setting| setting.flag() == flag);
            setting.map_or(OnResume::Free, |setting| setting.on_resume)
        }
    }
}

/// Returns all settings of runs, in the order in which they are written on a command line.
fn settings() -> impl Iterator<Item = &'static Setting> {
    TuneTable::ALL.iter().chain(Settings::ALL).chain(TestSettings::ALL)
}

/// Returns the command line `arbiter …` with all settings that determine which games are played,
/// but without the places where the games are stored.
pub fn command_line(plan: &Plan) -> String {
    format!("arbiter {} {}", plan.kind, command_flags(plan).join(" "))
}

/// Returns the flags of [`command_line`], each with its value, quoted for a shell.
pub fn command_flags(plan: &Plan) -> Vec<String> {
    flags(plan).iter().map(|flag| shell_words::join(words(flag))).collect()
}

/// Splits a flag with several keys into one flag per key, and returns any other flag unchanged.
fn keys((name, value): Flag) -> Vec<Flag> {
    let has_keys = settings().any(|setting| setting.has_keys && setting.flag() == name);
    match fields(&value, "", &|_| false) {
        Ok(pairs) if has_keys => pairs
            .into_iter()
            .map(|(key, value)| (format!("{name} {key}"), field(&key, &value)))
            .collect(),
        _ => vec![(name, value)],
    }
}

/// Compares the flags that determine which games two plans play. Considers only flags for which
/// `matters` returns `true`. Returns the first flag whose values differ, once with the value in
/// each plan. Limits are part of `--engine`, or of `--each` if all engines have the same limits.
pub fn difference(
    plan: &Plan,
    other: &Plan,
    matters: impl Fn(&str) -> bool,
) -> Option<[String; 2]> {
    let all = |plan| flags(plan).into_iter().flat_map(keys).collect::<Vec<Flag>>();
    let [plan, other] = [plan, other].map(all);
    let given = |flags: &[Flag], wanted: &str| -> Vec<String> {
        flags.iter().filter(|(name, _)| *name == wanted).flat_map(words).collect()
    };
    let shown = |words: Vec<String>, flag| {
        if words.is_empty() { format!("the default of --{flag}") } else { shell_words::join(words) }
    };
    let names = plan.iter().chain(&other).map(|(name, _)| name.as_str());
    names.filter(|name| matters(name)).find_map(|flag| {
        let words = [&plan, &other].map(|flags| given(flags, flag));
        (words[0] != words[1]).then(|| words.map(|words| shown(words, flag)))
    })
}

/// Fills unset settings of a request from a plan, but only settings on which other settings depend.
/// If `is_whole` is `true`, the request specifies all engines completely, and the engines remain
/// unchanged.
pub fn filled(mut request: Request, plan: &Plan, is_whole: bool) -> Request {
    let planned: Vec<EngineSpec> =
        plan.own_engines().map(|(name, engine)| spec_of(name, engine)).collect();
    if request.engines.is_empty() {
        request.engines = vec![EngineSpec::default(); planned.len()];
    }
    let unfilled = if is_whole { &mut [] } else { &mut request.engines[..] };
    for (requested, planned) in unfilled.iter_mut().zip(&planned) {
        *requested = std::mem::take(requested).or(&request.each).or(planned);
    }
    if !is_whole && request.each.limits.is_empty() && !request.each.no_clock {
        request.each.limits = planned.first().map(|engine| engine.limits).unwrap_or_default();
    }
    request.seed.get_or_insert(plan.seed);
    if plan.kind != RunKind::Ablate {
        request.tournament.format.get_or_insert(plan.design.format);
    }
    if let (Some(requested), Some(planned)) = (&mut request.draft.ablation, &plan.ablation)
        && requested.features.is_empty()
    {
        requested.features.clone_from(&planned.features);
    }
    if let (Some(requested), Some(planned)) = (&mut request.tuning, &plan.tuning) {
        if requested.parameters.is_empty() {
            requested.parameters.clone_from(&planned.parameters);
        }
        request.tournament.rounds.get_or_insert(planned.iterations);
    }
    if let Some(planned) = plan.sprt {
        let requested = &mut request.sprt;
        requested.elo0.get_or_insert(planned.elo0);
        requested.elo1.get_or_insert(planned.elo1);
        requested.alpha.get_or_insert(planned.alpha);
        requested.beta.get_or_insert(planned.beta);
    }
    request
}

/// Returns the specification of an engine in a plan.
fn spec_of(name: &str, engine: &Engine) -> EngineSpec {
    let unbuilt = Engine { name: name.to_owned(), provenance: None, ..engine.clone() };
    let typed = EngineSpec::parse(&engine_text(&unbuilt, true)).unwrap_or_default();
    EngineSpec { provenance: engine.provenance.clone(), ..typed }
}

/// Returns the flags of a plan.
fn flags(plan: &Plan) -> Vec<Flag> {
    let shared = shared_limits(plan);
    let engine = |(name, engine): (&str, &Engine)| {
        let engine = Engine { name: name.to_owned(), ..engine.clone() };
        flag("engine", engine_text(&engine, shared.is_none()))
    };
    let mut flags: Vec<Flag> = plan.own_engines().map(engine).collect();
    flags.extend(shared.map(|engine| flag("each", limits_text(engine))));
    if let Some(ablation) = &plan.ablation {
        flags.push(flag("option", &ablation.option));
        flags.push(flag("features", ablation.features.join(",")));
    }
    let parameters = plan.tuning.iter().flat_map(|tuning| &tuning.parameters);
    flags.extend(parameters.map(|parameter| flag("param", table::line(parameter))));
    flags.extend(
        settings().filter_map(|setting| Some((setting.flag(), (setting.flag_value?)(plan)?))),
    );
    flags
}

/// Returns a value of the design if it differs from the default for the format.
pub(crate) fn unusual(plan: &Plan, part: fn(&Design) -> u64) -> Option<u64> {
    let design = plan.design;
    let usual = TournamentRequest { format: Some(design.format), ..TournamentRequest::default() };
    let usual = usual.design(plan.kind, plan.engines.len(), design.pairs).ok();
    Some(part(&design)).filter(|value| usual.is_none_or(|usual| part(&usual) != *value))
}

/// Returns the first engine if all engines have the same limits and the default time margin.
fn shared_limits(plan: &Plan) -> Option<&Engine> {
    let first = plan.engines.first()?;
    let alike = plan.engines.iter().all(|engine| engine.conditions == first.conditions);
    (alike && first.conditions.margin == DEFAULT_MARGIN).then_some(first)
}

/// Returns a timeout in seconds if it differs from the default.
pub(crate) fn deadline(plan: &Plan, of: fn(&Deadlines) -> Duration) -> Option<f64> {
    unless(of(&Deadlines::default()).as_secs_f64(), of(&plan.deadlines).as_secs_f64())
}
