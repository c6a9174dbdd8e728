use super::*;
use crate::EngineSpec;

fn request(engines: &[&str], each: &str) -> Request {
    Request {
        engines: engines.iter().map(|text| EngineSpec::parse(text).unwrap()).collect(),
        each: EngineSpec::parse(each).unwrap(),
        ..Request::default()
    }
}

#[test]
fn an_sprt_without_engines_is_the_demonstration() {
    let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
    let options = [("Eval", "palimpsest"), ("Disable", "mobility")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(plan.engines[0].options, options[..1]);
    assert_eq!(plan.engines[1].options, options);
    assert_eq!(plan.book, None);
    assert!(!plan.is_timed());
}

#[test]
fn names_and_limits_are_resolved() {
    let request = request(&["cmd=sh", "cmd=bundled,eval=material,nodes=5"], "depth=3");
    let plan = Plan::resolve(RunKind::Match, request).unwrap();
    let names: Vec<&str> = plan.engines.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["sh", "material"]);
    assert_eq!(plan.engines[0].conditions.limits.depth, Some(3));
    assert_eq!(plan.engines[1].conditions.limits.depth, None);
    assert!(!plan.is_timed());
}

#[test]
fn impossible_requests_are_rejected_with_a_reason() {
    let check = |kind, engines: &[&str], expect: &str| {
        let error = Plan::resolve(kind, request(engines, "")).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(RunKind::Sprt, &["cmd=sh"], "sprt needs two engines, got 1");
    check(RunKind::Match, &[], "at least two");
    check(RunKind::Match, &["cmd=sh", "cmd=sh"], "two engines are identical");
    check(RunKind::Match, &["cmd=sh", "cmd=sh,depth=3"], "two engines are named 'sh'");
    check(RunKind::Match, &["cmd=sh", "name=x"], "engine 'x' has no program");
    check(RunKind::Match, &["cmd=sh", "cmd=no-such"], "engine 'no-such': no program");
    check(RunKind::Match, &["cmd=sh,eval=x", "cmd=sh"], "eval= is only for cmd=bundled");
    check(RunKind::Match, &["cmd=sh,dir=/no/dir", "cmd=sh"], "'/no/dir' is not a folder");
    check(RunKind::Match, &["cmd=sh,tc=inf", "cmd=sh"], "tc=inf requires another limit");
    check(RunKind::Match, &["cmd=sh,nodestime=9,depth=3", "cmd=sh"], "requires a clock");
    check(RunKind::Match, &["cmd=sh,init=", "cmd=sh"], "init= is empty");
    check(RunKind::Match, &["cmd=sh,option.A=x\nquit", "cmd=sh"], "contains a control character");
    for limit in ["nodes=9", "st=0.5", "tc=1,nodes=9", "tc=1,nodestime=9"] {
        let spec = format!("cmd=sh,proto=xboard,{limit}");
        check(RunKind::Match, &[&spec, "cmd=sh"], "the xboard protocol supports only");
    }
}

#[test]
fn invalid_hypotheses_are_rejected() {
    let check = |change: fn(&mut Request)| {
        let mut request = Request::default();
        change(&mut request);
        assert!(Plan::resolve(RunKind::Sprt, request).is_err());
    };
    check(|r| r.sprt.elo0 = Some(30.0));
    check(|r| r.sprt.alpha = Some(0.0));
    check(|r| r.fault_limit = Some(1.5));
    check(|r| r.concurrency = Some(0));
    check(|r| r.tournament.pairs = Some(0));
}

#[test]
fn each_engine_has_a_separate_stderr_file() {
    let specs = ["name=a/b", "name=a b", "name=c,stderr=/own"];
    let mut engines = specs.map(|spec| {
        resolve_engine(0, EngineSpec::parse(&format!("cmd=bundled,{spec}")).unwrap()).unwrap()
    });
    spread_stderr(&mut engines, Path::new("/logs"));
    let files = engines.map(|engine| engine.launch.stderr.unwrap());
    assert_eq!(files, ["/logs/a_b.log", "/logs/a_b.2.log", "/own"].map(PathBuf::from));
}
