//! The command line that plays a plan again.

use super::affinity::Affinity;
use super::behaviour::Behaviour;
use super::noise::NoiseLimit;
use super::plan::{BUNDLED, BookSource, DEFAULT_MARGIN, Engine, Kind, Plan, Program, default_name};
use super::spec::EngineSpec;
use super::tournament::TournamentRequest;
use arbiter_game::adjudicate::{DrawRule, ResignRule, Scope, TablebaseRule};
use arbiter_openings::Order;
use arbiter_protocol::{Deadlines, Limits, Protocol, Restart};
use arbiter_schedule::{Design, Format, OpeningPolicy};
use arbiter_spsa::Tuning;
use arbiter_spsa::table;

/// `arbiter …` with everything that decides which games are played; not where they are kept. (A
/// value with a double quotation mark, which only a file can hold, cannot be written so.)
pub fn command(plan: &Plan) -> String {
    let mut words = vec!["arbiter".to_owned(), plan.kind.to_string()];
    let mut flag = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    let shared = shared_limits(plan);
    for (name, engine) in plan.own_engines() {
        let engine = Engine { name: name.to_owned(), ..engine.clone() };
        flag("engine", spec(&engine, shared.is_some()));
    }
    if let Some(limits) = shared {
        flag("each", limit_fields(&limits).join(","));
    }
    if let Some(ablation) = &plan.ablation {
        flag("option", ablation.option.clone());
        flag("features", ablation.features.join(","));
    }
    plan.tuning.iter().flat_map(|t| tuning(t)).for_each(|(name, value)| flag(name, value));
    if let BookSource::File(path) = &plan.book {
        flag("openings", path.display().to_string());
    }
    if let Some(plies) = plan.plies {
        flag("plies", plies.to_string());
    }
    if let Some(depth) = plan.book_depth {
        flag("book-depth", depth.to_string());
    }
    if plan.order == Order::Sequential {
        flag("order", "sequential".to_owned());
    }
    flag("seed", plan.seed.to_string());
    if plan.kind != Kind::Ablate && plan.design.format != Format::default() {
        flag("schedule", plan.design.format.to_string());
    }
    tournament(plan).into_iter().for_each(|(name, value)| flag(name, value));
    flag("pairs", plan.design.pairs.to_string());
    flag("concurrency", plan.concurrency.to_string());
    if plan.affinity != Affinity::None {
        flag("affinity", plan.affinity.to_string());
    }
    flag("fault-limit", plan.fault_limit.to_string());
    let noise_limit = NoiseLimit(plan.noise_limit);
    if noise_limit != NoiseLimit::default() {
        flag("noise-limit", noise_limit.to_string());
    }
    if let Some(sprt) = plan.sprt {
        flag("elo0", sprt.elo0.to_string());
        flag("elo1", sprt.elo1.to_string());
        flag("alpha", sprt.alpha.to_string());
        flag("beta", sprt.beta.to_string());
        flag("model", sprt.model.to_string());
        flag("overshoot", sprt.correction.to_string());
    }
    adjudication(plan).into_iter().for_each(|(name, value)| flag(name, value));
    deadlines(plan).into_iter().for_each(|(name, value)| flag(name, value));
    let ignores_fifty = plan.rules.tablebase.is_some_and(|rule| rule.ignores_fifty);
    words.extend(ignores_fifty.then(|| "--syzygy-ignore-50".to_owned()));
    words.extend(plan.strict_book.then(|| "--strict-book".to_owned()));
    words.extend(plan.design.is_single.then(|| "--noswap".to_owned()));
    words.extend(plan.design.plays_out.then(|| "--play-out".to_owned()));
    words.extend(plan.design.is_reversed.then(|| "--reverse".to_owned()));
    shell_words::join(words)
}

/// What is tuned, and how.
fn tuning(tuning: &Tuning) -> Vec<(&'static str, String)> {
    let Tuning { parameters, alpha, gamma, a_ratio, iterations, pairs: _, ahead } = tuning;
    let mut flags: Vec<_> = parameters.iter().map(|p| ("param", table::line(p))).collect();
    flags.extend([
        ("iterations", iterations.to_string()),
        ("alpha", alpha.to_string()),
        ("gamma", gamma.to_string()),
        ("a-ratio", a_ratio.to_string()),
        ("ahead", ahead.to_string()),
    ]);
    flags
}

/// What of the tournament is not as it would be anyway.
fn tournament(plan: &Plan) -> Vec<(&'static str, String)> {
    let design = plan.design;
    let usual = TournamentRequest { format: Some(design.format), ..TournamentRequest::default() };
    let usual = usual.design(plan.kind, plan.engines.len(), design.pairs).ok();
    let is_other =
        |part: fn(&Design) -> u64| usual.is_none_or(|usual| part(&usual) != part(&design));
    let mut flags = Vec::new();
    if is_other(|design| design.rounds) && plan.kind != Kind::Tune {
        flags.push(("rounds", design.rounds.to_string()));
    }
    if is_other(|design| design.seeds as u64) && plan.kind != Kind::Ablate {
        flags.push(("seeds", design.seeds.to_string()));
    }
    if is_other(|design| design.tie_breaks) {
        flags.push(("tie-breaks", design.tie_breaks.to_string()));
    }
    if design.openings != OpeningPolicy::default() {
        flags.push(("opening-policy", design.openings.to_string()));
    }
    if plan.opening_start > 0 {
        flags.push(("opening-start", (plan.opening_start + 1).to_string()));
    }
    if !plan.wait.is_zero() {
        flags.push(("wait", plan.wait.as_millis().to_string()));
    }
    flags
}

/// The limits, if they and the margin are the same for all, and the margin is the usual one.
fn shared_limits(plan: &Plan) -> Option<Limits> {
    let first = plan.engines.first()?.conditions;
    let alike = plan.engines.iter().all(|engine| engine.conditions == first);
    (alike && first.margin == DEFAULT_MARGIN).then_some(first.limits)
}

fn spec(engine: &Engine, has_shared_limits: bool) -> String {
    // Files that are in no commit cannot be had again; what was built of them is in the cache.
    let built = engine.provenance.as_ref().filter(|provenance| !provenance.is_dirty);
    let cmd = match &engine.program {
        Program::Bundled => BUNDLED.to_owned(),
        Program::Path(path) => path.display().to_string(),
    };
    let is_eval = |(name, _): &&(String, String)| name == "Eval";
    let eval = engine.options.first().filter(is_eval).filter(|_| cmd == BUNDLED);
    let mut typed = EngineSpec { cmd: Some(cmd.clone()), ..EngineSpec::default() };
    typed.eval = eval.map(|(_, value)| value.clone());
    let mut fields = Vec::new();
    if built.is_some() || default_name(0, &typed) != engine.name {
        fields.push(("name".to_owned(), engine.name.clone()));
    }
    match built {
        Some(built) => fields.extend([
            ("rev".to_owned(), built.commit.clone()),
            ("repo".to_owned(), built.repo.display().to_string()),
        ]),
        None => fields.push(("cmd".to_owned(), cmd)),
    }
    if !engine.args.is_empty() {
        fields.push(("args".to_owned(), shell_words::join(&engine.args)));
    }
    fields.extend(engine.dir.iter().map(|dir| ("dir".to_owned(), dir.display().to_string())));
    fields.extend(eval.map(|(_, value)| ("eval".to_owned(), value.clone())));
    let others = engine.options.iter().skip(usize::from(eval.is_some()));
    fields.extend(others.map(|(name, value)| (format!("option.{name}"), value.clone())));
    fields.extend(behaviour(&engine.behaviour));
    let mut words: Vec<String> = fields.iter().map(|(key, value)| field(key, value)).collect();
    if !has_shared_limits {
        words.extend(limit_fields(&engine.conditions.limits));
        words.push(format!("timemargin={}", engine.conditions.margin.as_millis()));
    }
    words.join(",")
}

/// How an engine is treated, where it is not the usual way.
fn behaviour(behaviour: &Behaviour) -> Vec<(String, String)> {
    // Where its error output goes decides no game.
    let Behaviour { protocol, init, restart, ponder, stderr: _, memory_mib } = behaviour;
    let protocol = (*protocol != Protocol::default()).then(|| ("proto", protocol.to_string()));
    let init = (!init.is_empty()).then(|| ("init", init.join("\\n")));
    let restart = (*restart != Restart::default()).then(|| ("restart", restart.to_string()));
    let ponder = ponder.then(|| ("ponder", true.to_string()));
    let memory = memory_mib.map(|mib| ("memory", mib.to_string()));
    let all = [protocol, init, restart, ponder, memory].into_iter().flatten();
    all.map(|(key, value)| (key.to_owned(), value)).collect()
}

fn field(key: &str, value: &str) -> String {
    match value.contains([',', ' ']) {
        true => format!("{key}=\"{value}\""),
        false => format!("{key}={value}"),
    }
}

fn limit_fields(limits: &Limits) -> Vec<String> {
    let mut fields = Vec::new();
    fields.extend(limits.clock.map(|clock| format!("tc={clock}")));
    fields.extend(limits.movetime.map(|time| format!("st={}", time.as_secs_f64())));
    fields.extend(limits.nodes.map(|nodes| format!("nodes={nodes}")));
    fields.extend(limits.depth.map(|depth| format!("depth={depth}")));
    fields.extend(limits.nodestime.map(|rate| format!("nodestime={rate}")));
    fields
}

fn adjudication(plan: &Plan) -> Vec<(&'static str, String)> {
    let mut flags = Vec::new();
    if let Some(DrawRule { move_number, move_count, score_cp }) = plan.rules.draw {
        let rule = format!("movenumber={move_number},movecount={move_count},score={score_cp}");
        flags.push(("draw", rule));
    }
    if let Some(ResignRule { move_count, score_cp, two_sided }) = plan.rules.resign {
        let rule = format!("movecount={move_count},score={score_cp},twosided={two_sided}");
        flags.push(("resign", rule));
    }
    flags.extend(plan.rules.move_cap.map(|cap| ("max-moves", cap.to_string())));
    if let Some(TablebaseRule { pieces, scope, .. }) = plan.rules.tablebase {
        let folders: Vec<String> =
            plan.tables.iter().map(|folder| folder.display().to_string()).collect();
        flags.push(("syzygy", folders.join(":")));
        flags.extend((pieces > 0).then(|| ("syzygy-pieces", pieces.to_string())));
        let is_usual = scope == Scope::default();
        flags.extend((!is_usual).then(|| ("syzygy-adjudicate", scope.to_string())));
    }
    flags
}

/// Those that are not the usual ones.
fn deadlines(plan: &Plan) -> Vec<(&'static str, String)> {
    let usual = Deadlines::default();
    let all = [
        ("start-deadline", plan.deadlines.uciok, usual.uciok),
        ("ready-deadline", plan.deadlines.readyok, usual.readyok),
        ("move-deadline", plan.deadlines.bestmove, usual.bestmove),
        ("stop-deadline", plan.deadlines.stop, usual.stop),
    ];
    let changed = all.into_iter().filter(|(_, now, usual)| now != usual);
    changed.map(|(name, now, _)| (name, now.as_secs_f64().to_string())).collect()
}
