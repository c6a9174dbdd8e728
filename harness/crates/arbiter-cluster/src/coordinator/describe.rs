//! Conversion of a plan to a run description. This module does no I/O.

use std::time::Duration;

use crate::subject::RunId;
use crate::wire::{Requirements, RunDescription, RunEngine};
use arbiter_game::adjudicate::Rules;
use arbiter_game::annotation::{Annotation, Keeping};
use arbiter_plan::{Engine, Plan, cpus_per_game, engine_threads};
use arbiter_protocol::Deadlines;

/// Number of moves whose total clock time is the upper bound on the time of a single move.
const MOVES: u32 = 200;

/// Margin added to the longest expected time without progress; the sum is the stall timeout.
const SLACK: Duration = Duration::from_secs(10);

/// Returns the run description of a plan; `suite` is the description of a suite that has the
/// engines and the deadlines of the plan. The plan must pass [`check`].
pub fn describe(plan: &Plan, suite: RunDescription) -> RunDescription {
    let deadlines = plan.deadlines;
    let searches = plan.engines.iter().map(|engine| longest_search(engine, &deadlines));
    let start = deadlines.uciok + deadlines.readyok;
    let mut hashes: Vec<u64> = plan.engines.iter().map(hash_mib).collect();
    hashes.sort_unstable();
    RunDescription {
        rules: plan.rules,
        tuned: plan.tuning.iter().flat_map(|tuning| tuning.names()).collect(),
        transcripts: plan.transcripts,
        annotation: plan.annotation.clone(),
        noise_limit: plan.noise_limit,
        wait: plan.wait,
        // Workers report no progress while engines start, while engines search, and in the pause
        // between games.
        stall_timeout: searches.max().unwrap_or_default().max(start) + plan.wait + SLACK,
        requirements: Requirements {
            threads: u32::try_from(cpus_per_game(&plan.engines)).unwrap_or(u32::MAX),
            // Any two engines may meet, so the two largest hash tables must fit into memory
            // together.
            memory_mib: hashes.iter().rev().take(2).sum(),
        },
        // The times of the plan are already scaled to this machine, so the speed of this machine is
        // the reference.
        reference_nps: plan.scale.map(|scale| scale.measured_nps),
        ..suite
    }
}

/// Returns the run description of a suite. For each position, the engines of a suite search one
/// after another. The engines must pass [`check_engines`].
pub fn describe_suite(
    run_id: RunId,
    run: &str,
    engines: Vec<RunEngine>,
    deadlines: Deadlines,
    lease: Duration,
) -> RunDescription {
    let start = deadlines.uciok + deadlines.readyok;
    let run_engines = || engines.iter().map(|run_engine| &run_engine.engine);
    let all = run_engines().map(|engine| start + longest_search(engine, &deadlines));
    let threads = run_engines().map(engine_threads).max().unwrap_or(1);
    RunDescription {
        run_id,
        run: run.to_owned(),
        tuned: Vec::new(),
        deadlines,
        rules: Rules::default(),
        transcripts: Keeping::None,
        annotation: Annotation::default(),
        noise_limit: None,
        wait: Duration::ZERO,
        lease,
        stall_timeout: all.sum::<Duration>() + SLACK,
        requirements: Requirements {
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
            // All engines run at the same time.
            memory_mib: run_engines().map(hash_mib).sum(),
        },
        reference_nps: None,
        engines,
    }
}

/// Returns the value of the engine's `Hash` option, in MiB; 0 if the option is not set.
fn hash_mib(engine: &Engine) -> u64 {
    let option = engine.options.iter().find(|(name, _)| name.eq_ignore_ascii_case("hash"));
    option.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

/// Returns an error if workers cannot play the plan, because the plan uses folders of this machine.
pub fn check(plan: &Plan) -> Result<(), String> {
    if plan.rules.tablebase.is_some() {
        return Err("--syzygy cannot be used with --on: the tables are on this machine".to_owned());
    }
    check_engines(&plan.engines)
}

/// Returns an error if an engine can only be started on this machine.
pub fn check_engines(engines: &[Engine]) -> Result<(), String> {
    for Engine { name, dir, launch, .. } in engines {
        let local = match (dir, &launch.stderr) {
            (Some(_), _) => "dir=",
            (_, Some(_)) => "stderr= (or --stderr-dir)",
            (None, None) => continue,
        };
        return Err(format!(
            "engine '{name}': {local} cannot be used with --on: the folder is on this machine"
        ));
    }
    Ok(())
}

/// Returns the longest time that an engine may search for a move.
fn longest_search(engine: &Engine, deadlines: &Deadlines) -> Duration {
    engine.conditions.limits.granted(MOVES).unwrap_or(deadlines.bestmove) + deadlines.stop
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::{Key, PublicKey};
    use crate::wire::{self, RunFile};
    use arbiter_plan::{EngineSpec, Request, RunKind};

    fn described(each: &str) -> Result<RunDescription, String> {
        let each = EngineSpec::parse(each).unwrap();
        let plan = Plan::resolve(RunKind::Sprt, Request { each, ..Request::default() }).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let key = Key::load_or_make(&dir.path().join("key")).unwrap();
        let program = RunFile { hash: blake3::hash(b"x"), bytes: 7, name: "arbiter".into() };
        check(&plan)?;
        let run_id = RunId::new("r", 5, &key.public().to_string());
        let engine = |engine| RunEngine::new(engine, program.clone(), vec![], false);
        let engines = plan.engines.iter().map(engine).collect();
        let lease = Duration::from_secs(30);
        let suite = describe_suite(run_id, "r", engines, plan.deadlines, lease);
        let description = describe(&plan, suite);
        // The description survives signing and reading unchanged.
        let (read, _): (RunDescription, _) =
            wire::verified(&wire::sign(&description, &key), &[key.public()]).unwrap();
        let without_programs = |description: &RunDescription| {
            let mut description = description.clone();
            description.annotation = Default::default();
            format!("{description:?}")
        };
        assert_eq!(without_programs(&read), without_programs(&description));
        Ok(description)
    }

    #[test]
    fn the_stall_timeout_is_longer_than_any_search() {
        let secs = |each: &str| described(each).unwrap().stall_timeout.as_secs();
        // The start may take 10 + 30 s, and a move without a clock 60 + 2 s.
        assert_eq!(secs("nodes=100"), 72);
        assert_eq!(secs("tc=8+0.1"), 50);
        assert_eq!(secs("tc=60+0.5"), 60 + 100 + 2 + 10);
    }

    #[test]
    fn a_game_needs_the_threads_of_one_engine_and_the_memory_of_both() {
        let needs = |each: &str| described(each).unwrap().requirements;
        let threads = needs("nodes=1,option.Threads=3,option.Hash=200");
        assert_eq!(threads, Requirements { threads: 3, memory_mib: 400 });
        assert_eq!(needs("nodes=1").threads, 1);
    }

    #[test]
    fn local_only_settings_are_rejected() {
        let check = |each: &str, part: &str| {
            let error = described(each).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("nodes=1,stderr=x.log", "stderr=");
        check("nodes=1,dir=.", "dir=");
    }

    #[test]
    fn untrusted_and_forged_descriptions_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let key = |name: &str| Key::load_or_make(&dir.path().join(name)).unwrap();
        let (own, other) = (key("own"), key("other"));
        let bytes = wire::sign(&described("nodes=1").unwrap(), &own);
        let refused = |bytes: &[u8], trusted: &[PublicKey], part: &str| {
            let error = wire::verified::<RunDescription>(bytes, trusted).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        refused(&bytes, &[other.public()], "is not trusted on this machine");
        refused(&bytes, &[], "is not trusted on this machine");
        let mut empty = described("nodes=1").unwrap();
        empty.engines.clear();
        refused(&wire::sign(&empty, &own), &[own.public()], "a run without engines");
        let mut forged = bytes.clone();
        let nodes = bytes.windows(9).position(|part| part == b"\"nodes\":1").unwrap();
        forged[nodes + 8] = b'2';
        refused(&forged, &[own.public()], "the signature was not made with");
        let renamed = [&other.public().to_bytes()[..], &bytes[32..]].concat();
        refused(&renamed, &[own.public(), other.public()], "the signature was not made with");
        refused(&bytes[..90], &[own.public()], "it is not signed");
        refused(b"{\"v\":1,\"body\":{}}", &[own.public()], "version 1");
    }
}
