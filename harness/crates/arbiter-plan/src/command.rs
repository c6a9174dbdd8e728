//! The command line that plays a plan again.

use std::time::Duration;

use crate::{
    Affinity, BUNDLED, CpuContention, Engine, EngineSpec, LaunchSettings, Plan, Program, Request,
    RunKind, SandboxMode, TournamentRequest, plan::DEFAULT_MARGIN,
};
use arbiter_game::adjudicate::Scope;
use arbiter_openings::Order;
use arbiter_protocol::{Deadlines, Limits, Protocol, Restart};
use arbiter_schedule::{Design, Format, OpeningPolicy};
use arbiter_spsa::Tuning;
use arbiter_spsa::table;

/// A flag with its value; `None` where the plan is the same without it.
type Flag = Option<(&'static str, String)>;

fn flag(name: &'static str, value: impl ToString) -> Flag {
    Some((name, value.to_string()))
}

/// The flag, if its value is not the `usual` one.
fn unless<T: PartialEq + ToString>(usual: T, name: &'static str, value: T) -> Flag {
    (value != usual).then(|| (name, value.to_string()))
}

/// `arbiter …` with everything that decides which games are played; not where they are kept. (A
/// value with a double quotation mark, which only a file can hold, cannot be written so.)
pub fn command_line(plan: &Plan) -> String {
    let mut words = vec!["arbiter".to_owned(), plan.kind.to_string()];
    for (name, value) in flags(plan) {
        words.push(format!("--{name}"));
        words.extend(value);
    }
    shell_words::join(words)
}

/// A flag of which two plans differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// As one plan has it.
    pub before: String,
    /// As the other has it.
    pub now: String,
}

/// The first of the flags that matter, and that decide which games are played, of which two plans
/// differ. Limits are part of the engines or apart from them.
pub fn difference(plan: &Plan, other: &Plan, matters: impl Fn(&str) -> bool) -> Option<Difference> {
    let [plan, other] = [plan, other].map(flags);
    let own = |flags: &[(&'static str, Option<String>)], wanted: &str| {
        let own = flags.iter().filter(|(name, _)| *name == wanted);
        let own =
            own.flat_map(|(name, value)| std::iter::once(format!("--{name}")).chain(value.clone()));
        own.collect::<Vec<_>>()
    };
    let shown = |words: Vec<String>, flag| match words.is_empty() {
        true => format!("no --{flag}"),
        false => shell_words::join(words),
    };
    let names = plan.iter().chain(&other).map(|(name, _)| *name);
    names.filter(|name| matters(name)).find_map(|flag| {
        let [before, now] = [&plan, &other].map(|flags| own(flags, flag));
        (before != now).then(|| Difference { before: shown(before, flag), now: shown(now, flag) })
    })
}

/// A request for what the plan plays, in all that `request` leaves open and that other settings depend on;
/// its engines stay as they are if `is_whole`.
pub fn filled(mut request: Request, plan: &Plan, is_whole: bool) -> Request {
    let own: Vec<EngineSpec> = plan.own_engines().map(|(name, own)| spec_of(name, own)).collect();
    if request.engines.is_empty() {
        request.engines = vec![EngineSpec::default(); own.len()];
    }
    let open = if is_whole { &mut [] } else { &mut request.engines[..] };
    for (asked, own) in open.iter_mut().zip(&own) {
        *asked = std::mem::take(asked).or(&request.each).or(own);
    }
    if !is_whole && request.each.limits.is_empty() && !request.each.no_clock {
        request.each.limits = own.first().map(|own| own.limits).unwrap_or_default();
    }
    request.seed.get_or_insert(plan.seed);
    if plan.kind != RunKind::Ablate {
        request.tournament.format.get_or_insert(plan.design.format);
    }
    if let (Some(asked), Some(own)) = (&mut request.ablation, &plan.ablation)
        && asked.features.is_empty()
    {
        asked.features.clone_from(&own.features);
    }
    if let (Some(asked), Some(own)) = (&mut request.tuning, &plan.tuning) {
        if asked.parameters.is_empty() {
            asked.parameters.clone_from(&own.parameters);
        }
        request.tournament.rounds.get_or_insert(own.iterations);
    }
    if let Some(own) = plan.sprt {
        let asked = &mut request.sprt;
        asked.elo0.get_or_insert(own.elo0);
        asked.elo1.get_or_insert(own.elo1);
        asked.alpha.get_or_insert(own.alpha);
        asked.beta.get_or_insert(own.beta);
    }
    request
}

/// An engine of a plan as it would be asked for. (A value with a double quotation mark is another one.)
fn spec_of(name: &str, engine: &Engine) -> EngineSpec {
    let own = Engine { name: name.to_owned(), provenance: None, ..engine.clone() };
    let typed = EngineSpec::parse(&spec(&own, false)).unwrap_or_default();
    EngineSpec { provenance: engine.provenance.clone(), ..typed }
}

/// The flags of a plan; switches have no value.
fn flags(plan: &Plan) -> Vec<(&'static str, Option<String>)> {
    let Plan { design, kind, rules, .. } = plan;
    let shared = shared_limits(plan);
    let engine = |(name, engine): (&str, &Engine)| {
        let engine = Engine { name: name.to_owned(), ..engine.clone() };
        flag("engine", spec(&engine, shared.is_some()))
    };
    let mut flags: Vec<Flag> = plan.own_engines().map(engine).collect();
    flags.push(shared.and_then(|limits| flag("each", limit_fields(&limits).join(","))));
    if let Some(ablation) = &plan.ablation {
        flags.push(flag("option", &ablation.option));
        flags.push(flag("features", ablation.features.join(",")));
    }
    flags.extend(plan.tuning.iter().flat_map(|t| tuning(t)));
    flags.extend([
        plan.book.as_ref().and_then(|path| flag("openings", path.display())),
        plan.plies.and_then(|plies| flag("plies", plies)),
        plan.book_depth.and_then(|depth| flag("book-depth", depth)),
        unless(Order::Random, "order", plan.order),
        flag("seed", plan.seed),
        unless(Format::default(), "schedule", design.format).filter(|_| *kind != RunKind::Ablate),
    ]);
    flags.extend(tournament(plan));
    flags.extend([
        flag("pairs", design.pairs),
        flag("concurrency", plan.concurrency),
        unless(Affinity::None, "affinity", plan.affinity.clone()),
        flag("fault-limit", plan.fault_limit),
        unless(CpuContention::default(), "cpu-contention", plan.cpu_contention()),
    ]);
    if let Some(sprt) = plan.sprt {
        flags.extend([
            flag("elo0", sprt.elo0),
            flag("elo1", sprt.elo1),
            flag("alpha", sprt.alpha),
            flag("beta", sprt.beta),
            flag("model", sprt.model),
            flag("overshoot", sprt.correction),
        ]);
    }
    flags.extend(adjudication(plan));
    flags.extend(deadlines(plan));
    let values = flags.into_iter().flatten().map(|(name, value)| (name, Some(value)));
    let switches = [
        ("syzygy-ignore-50", rules.tablebase.is_some_and(|rule| rule.ignores_fifty)),
        ("strict-book", plan.strict_book),
        ("noswap", design.is_single),
        ("play-out", design.plays_out),
        ("reverse", design.is_reversed),
    ];
    let switches = switches.into_iter().filter(|(_, is_on)| *is_on);
    values.chain(switches.map(|(switch, _)| (switch, None))).collect()
}

/// What is tuned, and how.
fn tuning(tuning: &Tuning) -> Vec<Flag> {
    let Tuning { parameters, alpha, gamma, a_ratio, iterations, pairs: _, ahead } = tuning;
    let mut flags: Vec<_> = parameters.iter().map(|p| flag("param", table::line(p))).collect();
    flags.extend([
        flag("iterations", iterations),
        flag("alpha", alpha),
        flag("gamma", gamma),
        flag("a-ratio", a_ratio),
        flag("ahead", ahead),
    ]);
    flags
}

/// What of the tournament is not as it would be anyway.
fn tournament(plan: &Plan) -> [Flag; 6] {
    let design = plan.design;
    let usual = TournamentRequest { format: Some(design.format), ..TournamentRequest::default() };
    let usual = usual.design(plan.kind, plan.engines.len(), design.pairs).ok();
    let other = |name, part: fn(&Design) -> u64| {
        let is_other = usual.is_none_or(|usual| part(&usual) != part(&design));
        flag(name, part(&design)).filter(|_| is_other)
    };
    [
        other("rounds", |design| design.rounds).filter(|_| plan.kind != RunKind::Tune),
        other("seeds", |design| design.seeds as u64).filter(|_| plan.kind != RunKind::Ablate),
        other("tie-breaks", |design| design.tie_breaks),
        unless(OpeningPolicy::default(), "opening-policy", design.openings),
        unless(1, "opening-start", plan.opening_start + 1),
        unless(0, "wait", plan.wait.as_millis()),
    ]
}

/// The limits, if they and the margin are the same for all, and the margin is the usual one.
fn shared_limits(plan: &Plan) -> Option<Limits> {
    let first = plan.engines.first()?.conditions;
    let alike = plan.engines.iter().all(|engine| engine.conditions == first);
    (alike && first.margin == DEFAULT_MARGIN).then_some(first.limits)
}

/// An engine as `--engine` takes it, without its limits and the file for its error output.
pub fn engine_text(engine: &Engine) -> String {
    spec(engine, true)
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
    typed.options.clone_from(&engine.options);
    let mut fields = Vec::new();
    if built.is_some() || typed.default_name(0) != engine.name {
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
    fields.extend(launch(&engine.launch));
    let mut words: Vec<String> = fields.iter().map(|(key, value)| field(key, value)).collect();
    if !has_shared_limits {
        words.extend(limit_fields(&engine.conditions.limits));
        words.push(format!("timemargin={}", engine.conditions.margin.as_millis()));
    }
    if engine.conditions.white_pov {
        words.push("whitepov=true".to_owned());
    }
    words.join(",")
}

/// How an engine is treated, where it is not the usual way.
fn launch(launch: &LaunchSettings) -> Vec<(String, String)> {
    // Where its error output goes decides no game.
    let LaunchSettings { protocol, init, restart, ponder, stderr: _, memory_mib, sandbox } = launch;
    let all = [
        unless(Protocol::default(), "proto", *protocol),
        unless(String::new(), "init", init.join("\\n")),
        unless(Restart::default(), "restart", *restart),
        unless(false, "ponder", *ponder),
        memory_mib.and_then(|mib| flag("memory", mib)),
        unless(SandboxMode::default(), "sandbox", *sandbox),
    ];
    let all = all.into_iter().flatten();
    all.map(|(key, value)| (key.to_owned(), value)).collect()
}

fn field(key: &str, value: &str) -> String {
    match value.contains([',', ';']) || value.contains(char::is_whitespace) {
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

fn adjudication(plan: &Plan) -> [Flag; 6] {
    let rules = plan.rules;
    let folders = plan.tables.iter().map(|folder| folder.display().to_string());
    let folders = folders.collect::<Vec<_>>().join(":");
    [
        rules.draw.and_then(|rule| flag("draw", rule)),
        rules.resign.and_then(|rule| flag("resign", rule)),
        rules.move_cap.and_then(|cap| flag("max-moves", cap)),
        rules.tablebase.and_then(|_| flag("syzygy", folders)),
        rules.tablebase.and_then(|rule| unless(0, "syzygy-pieces", rule.pieces)),
        rules.tablebase.and_then(|rule| unless(Scope::default(), "syzygy-adjudicate", rule.scope)),
    ]
}

/// Those that are not the usual ones, in seconds.
fn deadlines(plan: &Plan) -> [Flag; 4] {
    let (own, usual) = (&plan.deadlines, Deadlines::default());
    let seconds =
        |name, own: Duration, usual: Duration| unless(usual.as_secs_f64(), name, own.as_secs_f64());
    [
        seconds("start-deadline", own.uciok, usual.uciok),
        seconds("ready-deadline", own.readyok, usual.readyok),
        seconds("move-deadline", own.bestmove, usual.bestmove),
        seconds("stop-deadline", own.stop, usual.stop),
    ]
}
