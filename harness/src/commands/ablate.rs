//! `arbiter ablate`: the Elo of each feature of an engine.

use clap::Args;

use crate::bundled_engine::{Evaluation, evaluation};
use crate::{
    args::PlayArgs, exit_code::ExitCode, failure::Failure, requested_run::RequestedRun, run,
};
use arbiter_names::did_you_mean;
use arbiter_plan::{Ablation, BUNDLED, EngineSpec, RunKind};
use arbiter_settings::TestSettings;

/// Option of the bundled engine that switches features off.
const BUNDLED_OPTION: &str = "Disable";

/// Flags of `arbiter ablate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints a table with the Elo of each feature: the result of the engine with the feature against the engine
without the feature, so a positive value means that the feature helps. By default, engines search 2,000
nodes per move and play 200 pairs (400 games) per feature.

Examples:
  arbiter ablate bundled:rybka-2.3.2a --pairs 200
  arbiter ablate bundled:palimpsest --features tempo,outpost --sprt --elo1 10
  arbiter ablate bundled,option.Personality=rdchess --features null_move,killers
  arbiter ablate ./mine --option Disable --features pins,threats --each nodes=5000")]
pub(crate) struct AblateArgs {
    /// Evaluation (of the bundled engine) whose features are tested [default: palimpsest]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["engines", "engine"])]
    eval: Option<String>,
    /// UCI option that disables the feature named by its value [default: Disable]
    #[arg(long, value_name = "NAME")]
    option: Option<String>,
    /// Features to test, separated by commas [default: all evaluation features]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    features: Vec<String>,
    /// Stop the games of a feature when its SPRT reaches a verdict; flags of the SPRT, such as
    /// --elo0, imply --sprt
    #[arg(long)]
    sprt: bool,
    #[command(flatten)]
    bounds: TestSettings,
    #[command(flatten)]
    play: PlayArgs,
}

/// Plays, for each feature, the engine with the feature against the engine without the feature.
pub(crate) fn run(args: AblateArgs) -> Result<ExitCode, Failure> {
    run::run_command(RunKind::Ablate, resolve(args)?)
}

/// Merges the flags with the settings file; flags take precedence.
pub(crate) fn resolve(args: AblateArgs) -> Result<RequestedRun, Failure> {
    let is_sequential = args.sprt || args.bounds != TestSettings::default();
    let mut requested = args.play.resolve(Some(args.bounds))?;
    let request = &mut requested.request;
    if let Some(name) = args.eval {
        request.engines = vec![EngineSpec {
            cmd: Some(BUNDLED.to_owned()),
            eval: Some(name),
            ..EngineSpec::default()
        }];
    }
    let option = args.option.unwrap_or_else(|| BUNDLED_OPTION.to_owned());
    let names = args.features.iter().map(|name| name.trim().to_owned());
    let mut features: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    if let [engine] = &mut request.engines[..]
        && option.eq_ignore_ascii_case(BUNDLED_OPTION)
        && engine.cmd.as_deref().or(request.each.cmd.as_deref()) == Some(BUNDLED)
    {
        let options = || request.each.options.iter().chain(&engine.options);
        let last = |option: &str| {
            let mut values = options().filter(|(name, _)| name.eq_ignore_ascii_case(option));
            values.next_back().map(|(_, value)| value.as_str())
        };
        let named = engine.eval.as_deref().or(request.each.eval.as_deref());
        let known = evaluation(last("Eval").or(named), last("Personality"));
        let known = known.map_err(Failure::invalid)?;
        if known.features.is_empty() {
            let reason = format!("evaluation {} has no features", known.name);
            return Err(Failure::invalid(format!("{reason}; use bundled:palimpsest")));
        }
        engine.eval = Some(known.name.to_owned());
        features = select(&known, features)?;
    }
    request.draft.ablation = Some(Ablation { option, features });
    request.is_sequential = is_sequential;
    Ok(requested)
}

/// Returns the requested features in the engine's spelling; all features if `names` is empty.
fn select(known: &Evaluation, names: Vec<String>) -> Result<Vec<String>, Failure> {
    if names.is_empty() {
        return Ok(known.features.iter().map(|name| (*name).to_owned()).collect());
    }
    let find = |name: String| {
        let found = known.features.iter().find(|feature| feature.eq_ignore_ascii_case(&name));
        found.map(|feature| (*feature).to_owned()).ok_or_else(|| {
            let hint = did_you_mean(&name, known.features.iter().copied());
            Failure::invalid(format!(
                "evaluation {} has no feature '{name}'{hint}; it has {}",
                known.name,
                known.features.join(", ")
            ))
        })
    };
    names.into_iter().map(find).collect()
}
