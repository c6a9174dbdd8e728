//! Report of `arbiter epd`, as a document and as JSON.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use shakmaty::Move;
use shakmaty::san::SanPlus;

use super::SuiteConditions;
use super::epd_figures::{
    AnsweredSearch, ComparedFigures, EngineFigures, EpdFigures, EpdResults, PositionFigures,
    SearchFigures, SolvedFigures, ThemeFigures, theme_table,
};
use crate::parts::{Block, Document, Table, to_value};
use crate::topics::result_figures::share;
use arbiter_names::quantity;
use arbiter_stats::elo::Z_95;
use arbiter_stats::paired::{SolvedCounts, mcnemar, share_interval};
use arbiter_suite::epd::{Comparison, Record, SearchOutcome, Tally, compare, themes};

/// Results of `arbiter epd`.
#[derive(Debug)]
pub struct EpdReport<'a> {
    /// Name of the suite.
    pub suite: &'a str,
    /// Engines, each with one search per record.
    pub engines: Vec<EpdEngine<'a>>,
    /// Number of plies for which a solution had to be stable to end a search early; `None` if no
    /// search was ended early.
    pub hold: Option<u32>,
    /// Positions of the suite.
    pub records: &'a [Arc<Record>],
    /// Unusable and corrected lines of the suite, and machines on which the engines ran.
    pub conditions: SuiteConditions<'a>,
}

/// Engine with its searches.
#[derive(Debug)]
pub struct EpdEngine<'a> {
    /// Name of the engine.
    pub name: &'a str,
    /// Search limits of the engine, as text.
    pub limits: String,
    /// Searches, in the order of the records.
    pub searches: Vec<SearchOutcome>,
}

impl EpdReport<'_> {
    /// Returns the counts of positions solved by the engine with the index `engine`.
    pub fn tally(&self, engine: usize) -> Tally {
        let records = self.records.iter().map(|record| &**record);
        Tally::of(records.zip(&self.engines[engine].searches))
    }

    /// Compares the positions solved by the first engine with the positions solved by the engine
    /// `other`.
    pub fn comparison(&self, other: usize) -> Comparison {
        compare(&self.engines[0].searches, &self.engines[other].searches)
    }

    /// Returns the report as a document.
    pub fn document(&self) -> Document {
        let mut document = Document::new(self.suite.to_owned());
        let stop = |plies| format!(", stopped when a solution was stable for {plies} plies");
        let hold = self.hold.map_or(String::new(), stop);
        let EpdReport { suite, records, conditions, .. } = self;
        let positions = quantity(records.len(), "position");
        let lines = quantity(conditions.unusable.len(), "line");
        let place = conditions.place.describe();
        document.paragraph(format!("{suite}: {positions}, {lines} unusable; {place}{hold}"));
        document.blocks.push(Block::Gap);
        document.table(self.engine_table());
        if let Some(table) = self.theme_table() {
            document.heading("Solved by theme");
            document.table(table);
        }
        (1..self.engines.len()).for_each(|other| self.add_comparison(&mut document, other));
        self.engines.iter().for_each(|engine| self.add_unsolved(&mut document, engine));
        conditions.place.add_excluded_workers(&mut document);
        let notes = self.records.iter().flat_map(|record| {
            record.notes.iter().map(|note| format!("line {}: {note}", record.line))
        });
        document.list("Ignored parts of usable lines", notes.collect());
        conditions.add_line_faults(&mut document);
        document
    }

    fn engine_table(&self) -> Table {
        let tallies: Vec<Tally> = (0..self.engines.len()).map(|index| self.tally(index)).collect();
        let mut table = Table::with_columns(
            ["engine", "limit", "solved", "share (95 %)"],
            ["points", "mates seen", "median time", "sum of times", "faults"],
        );
        for (EpdEngine { name, limits, .. }, tally) in self.engines.iter().zip(&tallies) {
            let solved = format!("{}/{}", tally.solved, tally.positions);
            let share = share(tally.solved, tally.positions);
            let (points, mates) = (ratio(tally.points), ratio(tally.mates));
            let median = tally.median_time().map_or("-".to_owned(), seconds);
            let sum = seconds(tally.total_time());
            let more = [points, mates, median, sum, tally.faults.to_string()];
            table.push_with([name, limits, &solved, &share], more);
        }
        let unused = [
            ("points", tallies.iter().all(|tally| tally.points.is_none())),
            ("mates seen", tallies.iter().all(|tally| tally.mates.is_none())),
            ("faults", tallies.iter().all(|tally| tally.faults == 0)),
        ];
        let unused = unused.into_iter().filter(|(_, is_unused)| *is_unused);
        unused.fold(table, |table, (heading, _)| table.without(heading))
    }

    /// Returns a table of solved positions and points by theme. Returns `None` if there is only one
    /// theme, or if the themes have fewer than two positions on average.
    fn theme_table(&self) -> Option<Table> {
        let count = themes(self.records).len();
        if count < 2 || count * 2 > self.records.len() {
            return None;
        }
        let cell = |counts: &SolvedFigures| {
            let SolvedFigures { positions, solved, points, points_max } = counts;
            let points = points.zip(*points_max);
            let points = points.map(|(made, all)| format!(", {made}/{all} points"));
            format!("{solved}/{positions}{}", points.unwrap_or_default())
        };
        Some(theme_table(&self.all_engine_figures(), "(none)", cell))
    }

    /// Adds the comparison of the first engine with the engine `other`.
    fn add_comparison(&self, document: &mut Document, other: usize) {
        let (first, second) = (self.engines[0].name, self.engines[other].name);
        let found = self.comparison(other);
        let SolvedCounts { both, only_first, only_second, neither } = found.solved;
        document.heading(format!("{first} against {second}"));
        match mcnemar(&found.solved) {
            None => document.paragraph("Both engines solved the same positions."),
            Some(test) => {
                let (share, standard_error) = test.difference;
                let [share, error] = [share, Z_95 * standard_error].map(|part| 100.0 * part);
                let shown =
                    |p| if p < 0.0001 { "< 0.0001".to_owned() } else { format!("= {p:.4}") };
                let [exact, mid] = [test.p_exact, test.p_mid].map(shown);
                document.paragraph(format!(
                    "Solved by both {both}, only by {first} {only_first}, only by {second} \
                     {only_second}, by neither {neither}"
                ));
                document.paragraph(format!(
                    "Difference {share:+.2} ± {error:.2} % of the positions (95 %)"
                ));
                document.paragraph(format!("McNemar's test: p {exact} (exact), {mid} (mid-p)"));
            }
        }
        for (engine, indices) in [(first, &found.won), (second, &found.lost)] {
            let names: Vec<String> =
                indices.iter().map(|&index| name(&self.records[index])).collect();
            if !names.is_empty() {
                document.paragraph(format!("Only {engine}: {}", names.join(", ")));
            }
        }
    }

    fn add_unsolved(&self, document: &mut Document, engine: &EpdEngine<'_>) {
        let searches = self.records.iter().zip(&engine.searches);
        let lines = searches.filter_map(|(record, searched)| match searched {
            Err(fault) => Some(format!("{}: fault: {fault}", name(record))),
            Ok(outcome) if !outcome.is_solved => {
                let played = san(record, outcome.played);
                let expected = solution_san(record);
                Some(format!("{}: played {played}, expected {expected}", name(record)))
            }
            Ok(_) => None,
        });
        let lines: Vec<String> = lines.collect();
        document.list(format!("Not solved by {}: {}", engine.name, lines.len()), lines);
    }

    /// Returns the report as one JSON object.
    pub fn json(&self) -> Value {
        to_value(&EpdFigures {
            suite: self.suite,
            stable_plies: self.hold,
            results: EpdResults {
                engines: self.all_engine_figures(),
                comparisons: (1..self.engines.len()).map(|e| self.compared_figures(e)).collect(),
            },
            positions: (0..self.records.len()).map(|index| self.position(index)).collect(),
            conditions: &self.conditions,
        })
    }

    fn all_engine_figures(&self) -> Vec<EngineFigures<'_>> {
        (0..self.engines.len()).map(|engine| self.engine_figures(engine)).collect()
    }

    fn engine_figures(&self, index: usize) -> EngineFigures<'_> {
        let engine = &self.engines[index];
        let tally = self.tally(index);
        let interval = share_interval(tally.solved, tally.positions);
        let search = |index: usize| (&*self.records[index], &engine.searches[index]);
        let by_theme = themes(self.records).into_iter().map(|(theme, members)| ThemeFigures {
            theme,
            solved: Tally::of(members.into_iter().map(search)).into(),
        });
        EngineFigures {
            name: engine.name,
            limits: &engine.limits,
            share_low: interval.map(|(low, _)| low),
            share_high: interval.map(|(_, high)| high),
            faults: tally.faults,
            mates_announced: tally.mates.map(|(seen, _)| seen),
            mates_expected: tally.mates.map(|(_, all)| all),
            median_time_ms: tally.median_time().map(millis),
            total_time_ms: millis(tally.total_time()),
            themes: by_theme.collect(),
            solved: tally.into(),
        }
    }

    fn compared_figures(&self, other: usize) -> ComparedFigures<'_> {
        let found = self.comparison(other);
        let test = mcnemar(&found.solved);
        let lines = |indices: &[usize]| -> Vec<usize> {
            indices.iter().map(|&index| self.records[index].line).collect()
        };
        ComparedFigures {
            first: self.engines[0].name,
            second: self.engines[other].name,
            solved: found.solved,
            p_exact: test.map(|test| test.p_exact),
            p_mid: test.map(|test| test.p_mid),
            difference: test.map(|test| test.difference.0),
            difference_error: test.map(|test| test.difference.1),
            won_lines: lines(&found.won),
            lost_lines: lines(&found.lost),
        }
    }

    fn position(&self, index: usize) -> PositionFigures<'_> {
        let record = &*self.records[index];
        let searches = self.engines.iter().map(|engine| match &engine.searches[index] {
            Err(fault) => SearchFigures { solved: false, fault: Some(fault), search: None },
            Ok(outcome) => SearchFigures {
                solved: outcome.is_solved,
                fault: None,
                search: Some(AnsweredSearch {
                    r#move: outcome.played.to_uci(record.start.mode).to_string(),
                    points: outcome.points,
                    mate_announced: outcome.announced,
                    solution_ms: outcome.found.map(|found| millis(found.at)),
                    solution_depth: outcome.found.and_then(|found| found.depth),
                    solution_nodes: outcome.found.and_then(|found| found.nodes),
                    time_ms: millis(outcome.end.at),
                    depth: outcome.end.depth,
                    nodes: outcome.end.nodes,
                }),
            },
        });
        PositionFigures {
            line: record.line,
            id: record.id.as_deref(),
            theme: record.theme.as_deref(),
            fen: record.start.fen(),
            solution: solution_san(record),
            notes: &record.notes,
            searches: searches.collect(),
        }
    }
}

/// Returns the ID of a position or, if the position has no ID, the line number.
fn name(record: &Record) -> String {
    record.id.clone().unwrap_or_else(|| format!("line {}", record.line))
}

/// Formats the solution of a record: the best moves, moves to avoid, mate, or the moves with the
/// most points. Moves are in SAN.
fn solution_san(record: &Record) -> String {
    let goal = &record.goal;
    let list = |moves: &[Move]| moves.iter().map(|m| san(record, *m)).collect::<Vec<_>>().join(" ");
    let mut parts = Vec::new();
    parts.extend((!goal.best.is_empty()).then(|| list(&goal.best)));
    parts.extend((!goal.avoid.is_empty()).then(|| format!("not {}", list(&goal.avoid))));
    parts.extend(goal.mate.map(|moves| match moves {
        1.. => format!("mate in {moves}"),
        _ => format!("mated in {}", moves.unsigned_abs()),
    }));
    if parts.is_empty() {
        let most = goal.most_points();
        let best = goal.points.iter().filter(|(_, points)| Some(*points) == most);
        parts.push(list(&best.map(|(listed, _)| *listed).collect::<Vec<_>>()));
    }
    parts.join(" or ").replace(" or not ", ", not ")
}

fn san(record: &Record, played: Move) -> String {
    SanPlus::from_move(record.start.position.clone(), played).to_string()
}

fn ratio(counts: Option<(u64, u64)>) -> String {
    counts.map_or("-".to_owned(), |(some, all)| format!("{some}/{all}"))
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::suite::EngineLocation;
    use arbiter_protocol::Info;
    use arbiter_suite::epd::{Judge, read};

    const SUITE: &str = "4k3/8/8/8/8/8/4P3/4K2R w K - bm e4 Rh8; id \"A.1\"; c0 \"e4=10, e3=4\";
4k3/8/8/8/8/8/4P3/4K2R w K - bm e4; id \"A.2\";
4k3/8/8/8/8/8/4P3/4K2R w K - am e4; dm 9; id \"B.1\";
4k3/8/8/8/8/8/4P3/4K2R w K - bm e3 Qa1; id \"B.2\";
nonsense";

    fn searches(records: &[Arc<Record>], played: [&str; 4]) -> Vec<SearchOutcome> {
        let search = |(record, played): (&Arc<Record>, &str)| {
            let judge = Judge::new(&record.start, &record.goal);
            let info = Info::parse("depth 3 nodes 70");
            let answer = judge.end(played, Duration::from_millis(250), &info);
            answer.judged(&record.start, &record.goal)
        };
        records.iter().zip(played).map(search).collect()
    }

    fn check(verify: impl Fn(&EpdReport)) {
        let suite = read(SUITE, false);
        let records: Vec<Arc<Record>> = suite.cases.into_iter().map(Arc::new).collect();
        let engine = |name, played| EpdEngine {
            name,
            limits: "depth 3".to_owned(),
            searches: searches(&records, played),
        };
        verify(&EpdReport {
            suite: "s.epd",
            engines: vec![
                engine("A", ["e2e4", "e2e4", "e2e4", "e2e3"]),
                engine("B", ["e2e3", "zzzz", "e2e3", "e2e3"]),
            ],
            hold: None,
            records: &records,
            conditions: SuiteConditions {
                unusable: &suite.unusable,
                corrected: &suite.corrected,
                place: EngineLocation::here(2),
            },
        });
    }

    #[test]
    fn the_text_contains_all_results() {
        check(|report| {
            let text = crate::forms::plain_text(&report.document(), None);
            for part in [
                "s.epd: 4 positions, 1 line unusable; 2 in parallel",
                "75.0 % [30.1, 95.4]",
                "2/2, 10/10 points",
                "only by A 2, only by B 1, by neither 0",
                "p = 1.0000 (exact)",
                "Only A: A.1, A.2",
                "Only B: B.1",
                "B.1: played e4, expected not e4",
                "A.1: played e3, expected e4 Rh8+",
                "A.2: fault: illegal move 'zzzz'",
                "line 4: bm 'Qa1' is not legal; ignored",
                "line 5: ",
            ] {
                assert!(text.contains(part), "{part}:\n{text}");
            }
            let markdown = crate::forms::markdown(&report.document());
            assert!(markdown.starts_with("# s.epd\n"), "{markdown}");
            assert!(markdown.contains("\n## A against B\n"), "{markdown}");
        });
    }

    #[test]
    fn json_has_each_search() {
        check(|report| {
            let json = report.json();
            assert_eq!(json["engines"][0]["solved"], 3);
            assert_eq!(json["comparisons"][0]["won_lines"], serde_json::json!([1, 2]));
            assert_eq!(json["positions"][0]["searches"][0]["solution_ms"], 250.0);
            assert_eq!(json["positions"][1]["searches"][1]["fault"], "illegal move 'zzzz'");
            assert_eq!(json["unusable"][0]["line"], 5);
        });
    }
}
