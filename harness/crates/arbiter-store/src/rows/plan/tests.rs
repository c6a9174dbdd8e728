//! Tests that plans are unchanged after storing and reading.

use super::*;
use arbiter_game::adjudicate::Rules;
use arbiter_game::adjudicate::{DrawRule, ResignRule};
use arbiter_game::annotation::{Dialect, Field, Notation};
use arbiter_game::outcome::Scope;
use arbiter_plan::{
    CpuContention, EngineSpec, Provenance, Request, RunKind, Scale, SprtRequest, TournamentRequest,
};
use arbiter_schedule::Design;
use arbiter_spsa::Tuning;
use arbiter_stats::{Correction, Evidence};

#[test]
fn tunings_survive_storage_to_the_last_digit() {
    let lines = "A,28,0,60,0.1234567890123456,0.002\nB,float,0.30000000000000004,0,1,0.1,1e-3";
    let parameters = arbiter_spsa::table::read(lines).unwrap();
    let [alpha, gamma, a_ratio] = [0.602, 0.101, 0.1];
    let (iterations, pairs, ahead) = (0, 0, 7);
    let tuning = Tuning { parameters, alpha, gamma, a_ratio, iterations, pairs, ahead };
    let engines = vec![EngineSpec::parse("cmd=bundled").unwrap()];
    let mut request = Request { engines, tuning: Some(tuning), ..Request::default() };
    request.tournament.rounds = Some(11);
    let plan = Plan::resolve(RunKind::Tune, request).unwrap();
    let engines = vec![EngineHashes::default(); 2];
    let json = PlanRow::of(&plan, &Fingerprints { engines, ..Default::default() }).to_json();
    let (read, _) = PlanRow::from_json(&json).unwrap().into_plan();
    assert_eq!(read.tuning, plan.tuning);
    assert_eq!(format!("{read:?}"), format!("{plan:?}"));
}

/// Returns an annotation that differs from the default in every field.
fn annotation() -> Annotation {
    Annotation {
        notation: Notation::Lan,
        fields: vec![Field::Nodes, Field::Pv],
        pattern: Some("^info string".parse().unwrap()),
        is_minimal: true,
        has_origin: true,
        dialect: Some(Dialect::Cutechess),
        round_games: Some(4),
        event: Some("Cup".to_owned()),
        site: Some("home".to_owned()),
    }
}

#[test]
fn plans_survive_storage() {
    let rules = Rules {
        draw: Some(DrawRule { move_number: 40, move_count: 8, score_cp: 10 }),
        resign: Some(ResignRule { move_count: 3, score_cp: 600, two_sided: true }),
        move_cap: Some(200),
        counts_by_position: true,
        counts_as_fastchess: true,
        tablebase: Some(TablebaseRule { pieces: 5, ignores_fifty: true, scope: Scope::Wins }),
    };
    let dir = tempfile::tempdir().unwrap();
    let net = dir.path().join("a.net");
    std::fs::write(&net, "weights").unwrap();
    let odd = "cmd=bundled,name=odd,tc=40/60+0.5:20/30:5,nodestime=600,init=a b,restart=on,\
               ponder=true,stderr=e.log,memory=64,sandbox=auto";
    let odd = format!("{odd},option.EvalFile=@{}", net.display());
    let engines = ["cmd=bundled", &odd].map(|spec| EngineSpec::parse(spec).unwrap()).into();
    let mut draft = Plan {
        rules,
        scale: Some(Scale { reference_nps: 1e6, measured_nps: 7e5 }),
        annotation: annotation(),
        epd: Some("/tmp/ends.epd".into()),
        transcripts: Keeping::All,
        has_no_book: true,
        is_lenient: true,
        tables: vec!["/tables/3-4".into(), "/tables/5".into()],
        ..Plan::default()
    };
    (draft.reading.depth, draft.reading.strict) = (Some(6), true);
    let (is_single, alternates, seeds_meet) = (true, true, true);
    let design = Design { is_single, alternates, seeds_meet, repeats: 3, ..Design::default() };
    let request = Request {
        engines,
        draft,
        cpu_contention: CpuContention::Report,
        tournament: TournamentRequest { draft: design, ..TournamentRequest::default() },
        sprt: SprtRequest { evidence: Some(Evidence::GamesWithPrior), ..SprtRequest::default() },
        ..Request::default()
    };
    let mut plan = Plan::resolve(RunKind::Sprt, request).unwrap();
    plan.engines[1].provenance = Some(Provenance {
        repo: "/r".into(),
        revision: "main".into(),
        commit: "0a1b".into(),
        is_dirty: true,
        bench: Some(77),
    });
    let fingerprints = Fingerprints {
        book: "b".into(),
        openings: "o".into(),
        quarantine: Quarantine { count: 2, faults: vec!["b.epd:3: bad".into()] },
        corrected: Quarantine { count: 1, faults: vec!["b.epd:4: odd".into()] },
        duplicates: Some(3),
        host: "a machine".into(),
        engines: vec![
            EngineHashes { program: "x".into(), option_files: vec![] },
            EngineHashes { program: "y".into(), option_files: vec!["z".into()] },
        ],
    };
    let json = PlanRow::of(&plan, &fingerprints).to_json();
    let (read, prints) = PlanRow::from_json(&json).unwrap().into_plan();
    assert_eq!(format!("{read:?}"), format!("{plan:?}"));
    assert_eq!(prints, fingerprints);
    assert_eq!(read.sprt.unwrap().correction, Correction::Dynamic);
    let newer = json.replace("\"version\":3", "\"version\":4");
    assert!(PlanRow::from_json(&newer).unwrap_err().contains("update arbiter"));
}
