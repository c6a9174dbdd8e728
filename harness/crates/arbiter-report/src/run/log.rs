//! Log of tests: one row per SPRT, with the purpose and the result.

use serde_json::Value;

use super::json::report;
use crate::figures::{Summary, Verdict};
use crate::parts::{Table, to_value, utc_time};
use arbiter_run::RunEnd;
use arbiter_stats::{DEFAULT_ERROR, Sprt};

/// Number of hexadecimal digits shown for a commit.
const COMMIT_DIGITS: usize = 9;

/// Formats the log of SPRTs as a Markdown document with the heading `title`.
pub fn log_markdown(tests: &[Summary], title: &str) -> String {
    format!("# {title}\n\n{}\n{LEGEND}", log_table(tests).markdown())
}

/// Returns a JSON array with the report of each test. Each report also contains the start time and
/// the search limits.
pub fn log_json(tests: &[Summary]) -> Value {
    let reports = tests.iter().map(|summary| {
        let limits = summary.limits().map(|limits| limits.to_string());
        let mut report = report(summary);
        let started = utc_time(summary.created_ms);
        (report.started, report.limits) = (Some(started), Some(limits.collect()));
        report
    });
    to_value(&reports.collect::<Vec<_>>())
}

const LEGEND: &str = "\
Made by `arbiter results log`; one row for each SPRT, oldest first. Accepted: H1 (the second bound)
was accepted. Rejected: H0 (the first bound) was accepted. Undecided: neither was accepted. Error
rates (alpha and beta) are 5 % unless the row gives other rates. Elo is logistic, bias-corrected,
with its 95 % interval. The statistics are computed from pairs of games: both games of a pair start
from the same opening, with colours reversed. Pairs are grouped by the points of the engine under
test, from 0 (LL) to 2 (WW).
";

/// Returns the log as a table.
pub fn log_table(tests: &[Summary]) -> Table {
    let mut table = Table::with_columns(
        ["date", "change", "dev", "base", "bounds, Elo", "limits", "games"],
        ["LL, LD, DD+WL, WD, WW", "Elo (95 %)", "LLR", "verdict", "run"],
    );
    for summary in tests {
        let started = utc_time(summary.created_ms);
        let strength = summary.strength();
        table.push([
            &started.get(.."2000-01-01".len()).unwrap_or(&started),
            summary.about.as_ref().unwrap_or(&summary.run),
            &engine(summary, 0),
            &engine(summary, 1),
            &summary.plan.sprt.as_ref().map_or(String::new(), sprt_bounds_text),
            &summary.limits_text(),
            &strength.games.games(),
            &strength.pairs.0.map(|count| count.to_string()).join(", "),
            &strength.elo_text(),
            &summary.llr_text(),
            &verdict(summary),
            &summary.run,
        ]);
    }
    table
}

/// Formats the commit of an engine, shortened to nine digits and followed by `-dirty` if the
/// working tree had changes. The engine's name precedes the commit if the user chose a name. For an
/// engine that was not built, returns only the name.
fn engine(summary: &Summary, index: usize) -> String {
    let name = &summary.engines[index];
    let Some(from) = &summary.plan.engines[index].provenance else { return name.clone() };
    let digits: String = from.commit.chars().take(COMMIT_DIGITS).collect();
    let commit = digits + if from.is_dirty { "-dirty" } else { "" };
    // The default name of an engine contains the commit, so the commit alone identifies the engine.
    if name.contains(&commit) { commit } else { format!("{name} ({commit})") }
}

/// Formats the Elo bounds and the model of an SPRT as `[0, 5] normalized`, followed by each error
/// rate that differs from 5 %.
pub fn sprt_bounds_text(sprt: &Sprt) -> String {
    let rates = [("alpha", sprt.alpha), ("beta", sprt.beta)];
    let unusual = rates.iter().filter(|(_, rate)| *rate != DEFAULT_ERROR);
    let unusual: String = unusual.map(|(name, rate)| format!(", {name} {rate}")).collect();
    format!("[{}, {}] {}{unusual}", sprt.elo0, sprt.elo1, sprt.model)
}

fn verdict(summary: &Summary) -> String {
    let word = match (summary.verdict(), summary.ending) {
        (Verdict::H1, _) => "accepted",
        (Verdict::H0, _) => "rejected",
        (_, Some(RunEnd::Complete)) => "undecided (cap)",
        (_, Some(RunEnd::Interrupted)) => "undecided (interrupted)",
        (_, _) => "undecided (unfinished)",
    };
    if summary.is_invalid() { format!("{word}, invalid (faults)") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::Termination;
    use arbiter_plan::{Plan, Provenance, Request, RunKind};
    use arbiter_run::{GameTally, PairTally, RunInput, RunState};
    use arbiter_stats::GameResult;

    /// Returns the summary of an SPRT after `pairs` pairs; the first engine won most of the pairs.
    fn test(run: &str, pairs: u64, ending: Option<RunEnd>) -> Summary {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let mut state = RunState::new(plan.schedule(), plan.sprt);
        for pair in 0..pairs {
            let result = if pair % 4 == 0 { GameResult::Draw } else { GameResult::Win };
            let game =
                GameTally { result, termination: Termination::Checkmate, fault: None, hash: None };
            let engines = [0, 1];
            state.apply(RunInput::Committed(PairTally {
                pair,
                engines,
                first: game,
                second: Some(game),
                is_repeat: false,
            }));
        }
        let ending = state.ending().or(ending);
        let summary = Summary::new(run, &plan, &state, ending);
        Summary { created_ms: 1_795_136_523_000, ..summary }
    }

    fn built(commit: &str, is_dirty: bool) -> Option<Provenance> {
        let (repo, revision) = ("/r".into(), "HEAD".to_owned());
        Some(Provenance { repo, revision, commit: commit.to_owned(), is_dirty, bench: None })
    }

    fn rows(tests: &[Summary]) -> Vec<Vec<String>> {
        let text = log_markdown(tests, "Log");
        let rows = text.lines().filter(|line| line.starts_with('|')).skip(2);
        rows.map(|row| row.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect())
            .collect()
    }

    #[test]
    fn a_log_row_has_the_description_commits_and_verdict() {
        let mut decided = test("one", 60, None);
        decided.about = Some("a better rook".to_owned());
        decided.engines = vec!["HEAD@123456789".into(), "old".into()];
        let built = [built("123456789abcdef", false), built("fedcba987654321", true)];
        for (engine, from) in decided.plan.engines.iter_mut().zip(built) {
            engine.provenance = from;
        }
        let rows = rows(&[decided, test("two", 3, Some(RunEnd::Complete))]);
        let [first, second] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(first[..2], ["2026-11-20", "a better rook"]);
        assert_eq!(first[2..4], ["123456789", "old (fedcba987-dirty)"]);
        assert_eq!(first[4], "[0, 20] normalized");
        assert!(first[8].starts_with('+') && first[9].starts_with('+'), "{first:?}");
        assert_eq!(first[10..], ["accepted", "one"]);
        assert_eq!((second[1].as_str(), second[6].as_str()), ("two", "6"));
        assert_eq!(second[7], "0, 0, 1, 0, 2");
        assert_eq!(second[10], "undecided (cap)");
        assert_eq!(second[2..4], ["palimpsest", "no-mobility"]);
    }

    #[test]
    fn unusual_endings_and_error_rates_are_shown() {
        let mut open = test("open", 1, None);
        assert_eq!(verdict(&open), "undecided (unfinished)");
        open.ending = Some(RunEnd::Interrupted);
        assert_eq!(verdict(&open), "undecided (interrupted)");
        // One fault in a few games is not enough to be certain that the final fault share exceeds
        // the limit.
        open.counts.faults.insert((0, Termination::Crash), 1);
        assert_eq!(verdict(&open), "undecided (interrupted)");
        open.plan.fault_limit = 0.0;
        assert_eq!(verdict(&open), "undecided (interrupted), invalid (faults)");
        (open.plan.fault_limit, open.ending) = (0.05, Some(RunEnd::Complete));
        assert_eq!(verdict(&open), "undecided (cap), invalid (faults)");
        let model = open.plan.sprt.unwrap().model;
        let strict = Sprt::new(-3.0, 1.5, 0.01, 0.05, model).unwrap();
        assert_eq!(sprt_bounds_text(&strict), "[-3, 1.5] normalized, alpha 0.01");
        open.plan.engines[1].conditions.limits.nodes = Some(7);
        let text = open.limits_text();
        assert!(text.contains(" v "), "{text}");
        let json = log_json(&[open]);
        assert_eq!(json[0]["started"], "2026-11-20T01:02:03Z");
        assert_eq!((&json[0]["run"], &json[0]["about"]), (&"open".into(), &Value::Null));
        assert_eq!(json[0]["limits"].as_array().map(Vec::len), Some(2));
    }
}
