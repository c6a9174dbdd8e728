//! Bench of an engine: a fixed search whose node count identifies the engine's behaviour.

use std::time::Duration;

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::error::BuildFailure::{BenchFailed, NoBench};
use super::error::{BuildError, Result};
use arbiter_names::whole_number;
use arbiter_process::{Cancel, EndReason, Launch, Spawner, Timeouts, run_to_completion};

/// Default time limit of a bench.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Pattern of the lines that may contain a node count. The count is read only from the last such
/// line, so that the count of a single position is not mistaken for the total.
const COUNTS: [&str; 1] = [concat!(
    r"\d\S*\s+nodes(?:\s*$|\s*[^\s\w/]|\s+[^\s/p]|\s*/\s*\d)",
    r"|\bnodes(?: searched)?\s*[:=]?\s*\d|\bbench\s*[:=]\s*\d",
)];

/// Pattern of the lines whose first number is an average, a rate or the use of the hash table, and
/// not a total.
const NO_TOTALS: [&str; 1] = [concat!(
    r"^\D*\b(?:average|avg|mean|per|hash\w*)\b\D*",
    r"(?:nodes\D*\d|\d(?:\S*\d)?\s+nodes\s*(?:$|[^\s:=]))",
)];

/// Patterns for the node count; all patterns that match a line must capture the same number. A
/// number is captured together with the characters that follow, so that a part of a number is not
/// mistaken for the complete number. In the last pattern, `nps` must not be followed by a number of
/// seconds, as in `20 nodes 30 nps 5.1s`.
const NODES: [&str; 5] = [
    r"nodes searched\s*[:=]?\s*(\d.*)$",
    concat!(
        r"(?:^|[\s(])(\d\S*(?:\s(?:\d{3}|[kmg]))*)\s+nodes",
        r"(?:\s*$|[\s,;/)]+(?:[^\s:=].*?\s)?\(?\d\S*\s*[kmg]?nps\b)",
    ),
    r"\bbench\s*[:=]\s*(\S+)\s*$",
    r"^\s*(?:total )?nodes\s*[:=]\s*(\d.*)$",
    concat!(
        r"\bnodes(?:\s*[:=]\s*|\s+)(\d\S*)[\s,;]+(?:.*\s)?",
        r"nps\s*[:=]?\s*\d[\d.]*(?:$|[^\d.ms\s]|m(?:$|[^s])|\s+(?:$|[^s\s]|s\w))",
    ),
];

/// Patterns for the speed.
const SPEED: [&str; 2] = [
    r"\b(?:nps|nodes\s*(?:/|per)\s*s\w*)\s*[:=]?\s*(\d\S*)",
    r"(?:^|[\s(])(\d\S*\s*[kmg]?)(?:nps|nodes\s*(?:/|per)\s*s\w*)\b",
];

/// Settings for running the bench and parsing its output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BenchRecipe {
    /// Arguments that run the bench; `bench` if `None`.
    pub args: Option<Vec<String>>,
    /// Pattern whose first group captures the node count and whose optional second group captures
    /// the speed.
    pub pattern: Option<String>,
    /// Time limit; 10 minutes if `None`.
    pub timeout: Option<Duration>,
}

impl BenchRecipe {
    /// Returns a string that identifies the method of running the bench and reading its output. The
    /// string changes whenever a version of Arbiter changes the recognized output formats.
    pub(super) fn how(&self) -> String {
        format!("5 {:?} {:?}", self.args, self.pattern)
    }
}

/// Result of a bench.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    /// Number of nodes searched; equal for programs that behave identically.
    pub nodes: u64,
    /// Nodes per second, averaged over all copies.
    pub nps: f64,
}

/// A program whose bench is run.
#[derive(Debug, Clone)]
pub struct BenchTarget<'a> {
    /// Name in messages.
    pub name: &'a str,
    /// Launch settings of the engine, as for games.
    pub launch: &'a Launch,
    /// Settings of the bench.
    pub recipe: &'a BenchRecipe,
    /// Spawner of the processes.
    pub spawner: &'a Spawner,
    /// Signal that cancels the bench and ends its processes.
    pub cancel: &'a Cancel,
}

/// Reader of the output of benches.
#[derive(Debug)]
pub struct BenchReader {
    counts: Vec<Regex>,
    no_totals: Vec<Regex>,
    nodes: Vec<Regex>,
    speed: Vec<Regex>,
}

impl BenchReader {
    /// Returns a reader for `pattern`; for the common output formats if `None`. The error explains
    /// why the pattern is invalid.
    pub fn new(pattern: Option<&str>) -> Result<BenchReader, String> {
        let compile = |pattern: &str| {
            // Engines print `Nodes searched`, `nodes searched` and `NODES`.
            let built = RegexBuilder::new(pattern).case_insensitive(true).build();
            built.map_err(|error| format!("bench-pattern '{pattern}': {error}"))
        };
        let all = |patterns: &[&str]| -> Result<Vec<Regex>, String> {
            patterns.iter().copied().map(compile).collect()
        };
        let own = pattern.as_ref().map(std::slice::from_ref);
        let counts = all(own.unwrap_or(&COUNTS))?;
        let no_totals = if own.is_some() { Vec::new() } else { all(&NO_TOTALS)? };
        let nodes = all(own.unwrap_or(&NODES))?;
        // `captures_len` counts the complete match as a group.
        if nodes.iter().any(|regex: &Regex| regex.captures_len() < 2) {
            let pattern = pattern.unwrap_or_default();
            return Err(format!("bench-pattern '{pattern}' has no group for the nodes"));
        }
        Ok(BenchReader { counts, no_totals, nodes, speed: all(&SPEED)? })
    }

    /// Returns the node count and, if reported, the nodes per second.
    pub fn read(&self, lines: &[String]) -> Option<(u64, Option<f64>)> {
        // The `info` lines of single searches do not contain the total.
        let is_of_search =
            |line: &&String| line.starts_with("info ") && !line.starts_with("info string ");
        let lines: Vec<&String> = lines.iter().filter(|line| !is_of_search(line)).collect();
        // The totals come last, after the results of individual positions.
        let fits = |patterns: &[Regex], line: &str| patterns.iter().any(|p| p.is_match(line));
        let is_total = |line: &&&String| fits(&self.counts, line) && !fits(&self.no_totals, line);
        let line = lines.iter().rev().find(is_total)?;
        let found = self.nodes.iter().filter_map(|pattern| pattern.captures(line));
        let mut numbers = found.map(|found| leading_number(found.get(1)?.as_str()));
        let nodes = numbers.next()?.filter(|nodes| *nodes > 0)?;
        if numbers.any(|other| other != Some(nodes)) {
            return None;
        }
        let own = |pattern: &Regex| leading_number(pattern.captures(line)?.get(2)?.as_str());
        let usual = || {
            // Any other line with a node count contains the speed of a single position.
            let last = lines.iter().rev().find(|line| fits(&self.speed, line));
            let speed = last.filter(|at| *at == line || !fits(&self.counts, at))?;
            leading_number(&self.speed.iter().find_map(|pattern| pattern.captures(speed))?[1])
        };
        let speed = self.nodes.iter().find_map(own).or_else(usual).filter(|speed| *speed > 0);
        Some((nodes, speed.map(|speed| speed as f64)))
    }
}

/// Returns the integer at the start of a string; `None` if more digits follow (as in `2 030 154` or
/// `20/30`), or if a unit follows (as in `2.03 M`).
fn leading_number(text: &str) -> Option<u64> {
    let (number, rest) = text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
    let rest = rest.trim_start().to_ascii_lowercase();
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let is_unit = ["k", "m", "g"].contains(&word)
        || ["kn", "mn", "gn", "million"].iter().any(|start| word.starts_with(start));
    let is_whole = !is_unit && !word.starts_with(|c: char| c.is_ascii_digit());
    whole_number(number.trim_end_matches([',', '.', ';'])).filter(|_| is_whole)
}

/// Runs `copies` copies of a bench in parallel, one copy for each concurrent game, and requires the
/// same node count from all copies. Blocks until all copies have ended. Fails if the counts differ,
/// or if a copy fails, reports no unambiguous node count, or exceeds the time limit.
pub fn run_bench(target: &BenchTarget<'_>, copies: usize) -> Result<Signature> {
    let reader = BenchReader::new(target.recipe.pattern.as_deref())
        .map_err(|reason| BuildError::invalid_recipe("arbiter.toml", &reason))?;
    let found = std::thread::scope(|scope| {
        let one = || scope.spawn(|| run_bench_once(target, &reader));
        let copies: Vec<_> = (0..copies.max(1)).map(|_| one()).collect();
        let joined = copies
            .into_iter()
            .map(|copy| copy.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect::<Result<Vec<Signature>>>()
    })?;
    let counts: Vec<u64> = found.iter().map(|copy| copy.nodes).collect();
    // Different counts are a sign of a data race or of uninitialized memory, and cannot identify
    // the program.
    if counts.iter().any(|count| *count != counts[0]) {
        return Err(BuildError::bench_differs(target.name, &counts));
    }
    let nps = found.iter().map(|copy| copy.nps).sum::<f64>() / found.len() as f64;
    Ok(Signature { nodes: counts[0], nps })
}

/// Runs a bench once.
pub fn run_bench_once(target: &BenchTarget<'_>, reader: &BenchReader) -> Result<Signature> {
    let mut command_line = vec![target.launch.program.display().to_string()];
    command_line.extend_from_slice(&target.launch.args);
    command_line.extend(target.recipe.args.clone().unwrap_or_else(|| vec!["bench".to_owned()]));
    // Some engines print the results to standard error, so the shell joins both outputs.
    let script = ["-c", "exec \"$0\" \"$@\" 2>&1"].map(str::to_owned);
    let args = [&script[..], &command_line].concat();
    let mut launch = Launch { program: "/bin/sh".into(), args, ..target.launch.clone() };
    // The sandbox must allow the program itself, because the process starts as `sh`.
    launch.sandbox.iter_mut().for_each(|own| own.readable.push(target.launch.program.clone()));
    let limit = target.recipe.timeout.unwrap_or(DEFAULT_TIMEOUT);
    let timeouts = Timeouts { limit, grace: Duration::ZERO };
    let ended = run_to_completion(target.spawner, &launch, timeouts, target.cancel, |_| ())?;
    let (failure, reason) = match ended.reason {
        EndReason::Cancelled => return Err(BuildError::Cancelled),
        EndReason::TimedOut => (BenchFailed, format!("took more than {} s", limit.as_secs_f64())),
        EndReason::Exited if ended.code != Some(0) => {
            (BenchFailed, format!("ended with {}", ended.how))
        }
        EndReason::Exited => {
            if let Some((nodes, speed)) = reader.read(&ended.lines) {
                // The measured time includes the start of the process, so a speed that the engine
                // reports is preferred. The lower limit prevents a division by zero if the clock
                // did not advance.
                let measured = nodes as f64 / ended.elapsed.as_secs_f64().max(1e-9);
                return Ok(Signature { nodes, nps: speed.unwrap_or(measured) });
            }
            (NoBench, "printed no recognised node count".to_owned())
        }
    };
    let name = target.name;
    let command = shell_words::join(&command_line);
    let text = format!(
        "{name} has no bench signature: `{command}` {reason}\nhint: set bench and bench-pattern in \
         [build] of arbiter.toml, or give --no-bench"
    );
    Err(BuildError::Failed(failure, text))
}

/// Returns the node count from the last line of the form `Bench: 123` in a commit message.
pub fn promised_nodes(message: &str) -> Option<u64> {
    let promise = |line: &str| -> Option<u64> {
        let line = line.trim();
        let (word, rest) = line.split_at_checked("bench".len())?;
        let number = rest.trim_start_matches([':', '=', ' ', '\t']);
        let is_promise = word.eq_ignore_ascii_case("bench") && number.len() < rest.len();
        whole_number(number.trim_end_matches('.')).filter(|_| is_promise)
    };
    // A message may quote the number of another commit; Stockfish's convention is that the commit's
    // own number comes last.
    message.lines().rev().find_map(promise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_outputs_are_recognized() {
        let check = |text: &str, expect| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            assert_eq!(BenchReader::new(None).unwrap().read(&lines), expect, "{text}");
        };
        let stockfish = "===========================\nTotal time (ms) : 2311\n\
                         Nodes searched  : 2030154\nNodes/second    : 878474\n";
        check(stockfish, Some((2_030_154, Some(878_474.0))));
        let weiss = "[# 50]  299 cp  h1h7     206423 nodes    280085 nps\n\
                     OVERALL:   26900 ms      10408355 nodes     386927 nps";
        check(weiss, Some((10_408_355, Some(386_927.0))));
        check("1234567 nodes 987654 nps", Some((1_234_567, Some(987_654.0))));
        check("Bench: 4321\ninfo depth 3 time 151 nodes 99 nps 5", Some((4321, None)));
        check("info depth 3 time 151 nodes 99 nps 5", None);
        check("Nodes searched: 20\nbestmove e2e4", Some((20, None)));
        check("bench 20", None);
        check("", None);
        check("2030154 nodes\n878474 nps", Some((2_030_154, Some(878_474.0))));
        check("20 nodes (30 nps)", Some((20, Some(30.0))));
        check("Searched 20 nodes in 3 ms (30 nps)", Some((20, Some(30.0))));
        check("20 nodes 30 nps\n40 nodes per second", Some((20, Some(40.0))));
        check("depth: 13, nodes: 20, nps: 30", Some((20, Some(30.0))));
        check("0 nodes 0 nps", None);
    }

    #[test]
    fn the_count_of_a_position_is_not_the_total() {
        let position = "[# 50]  299 cp  h1h7     206423 nodes    280085 nps";
        for (total, expect) in [
            ("OVERALL: 10408355 nodes 1.2 Mnps", Some((10_408_355, None))),
            ("OVERALL: 10408355 nodes 1.2M nps", Some((10_408_355, None))),
            ("total nodes: 12345 (45 qnodes)", Some((12_345, None))),
            ("10 408 355 nodes 386 927 nps", None),
            ("10 M nodes 386927 nps", None),
            ("10 m nodes 386927 nps", None),
            ("6183120 nodes 1234567 nps 5.1s", Some((6_183_120, None))),
            ("6183120 nodes 1234567 nps 5.1 s", Some((6_183_120, None))),
            ("Nodes searched: 2030154\nAverage nodes: 40603", Some((2_030_154, None))),
            ("Nodes searched: 2030154\nAvg. 40603 nodes 386927 nps", Some((2_030_154, None))),
            ("Nodes searched: 2030154\nPer position: 40603 nodes", Some((2_030_154, None))),
            ("Nodes searched: 2030154\nHash full 30 nodes", Some((2_030_154, None))),
            ("Hash: 16 Threads: 1 Nodes: 12345 NPS: 100", Some((12_345, Some(100.0)))),
            ("Nodes per second: 100, nodes searched: 12345", Some((12_345, Some(100.0)))),
            ("\x1b[32m10408355\x1b[0m nodes \x1b[1m386927\x1b[0m nps", None),
            ("Total: 12345 nodes in 3.2 s", None),
            ("Bench: 4321 (took 5 ms)", None),
            // The count may be either of two numbers.
            ("depth 13 nodes 12345 nps 100", None),
            ("depth 13 nodes 12345 nps 1.2M", None),
            ("depth 13 nodes 12345 nps 100 score 5", None),
        ] {
            let text = format!("{position}\n{total}");
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            assert_eq!(BenchReader::new(None).unwrap().read(&lines), expect, "{total}");
        }
    }

    #[test]
    fn numbers_are_read_completely_or_not_at_all() {
        let read = |text: &str| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            BenchReader::new(None).unwrap().read(&lines)
        };
        for number in
            ["2030154", "2,030,154", "2.030.154", "2'030'154", "2_030_154", "2\u{a0}030\u{a0}154"]
        {
            for (form, speed) in [
                ("Nodes searched  : {}", None),
                ("nodes searched={}", None),
                ("NODES SEARCHED {}", None),
                ("Nodes searched: {} in 5 ms", None),
                ("Nodes searched: {} Mean depth 5", None),
                ("{} nodes 1,000 nps", Some(1000.0)),
                ("NODES {} NPS 1000", Some(1000.0)),
                ("nodes={} nps=1000", Some(1000.0)),
                ("nodes: {}, time: 5 ms, nps: 1'000'000", Some(1e6)),
                ("Nodes: {}\nNPS: 1.000.000", Some(1e6)),
                ("BENCH = {}", None),
                ("bench:{}", None),
                ("total nodes : {}.", None),
            ] {
                let text = form.replace("{}", number);
                assert_eq!(read(&text), Some((2_030_154, speed)), "{text}");
            }
        }
        for text in [
            "Nodes searched : 2 030 154",
            "Nodes searched : 2.030",
            "Nodes searched : 2.03M",
            "Nodes searched : 2030k",
            "Nodes searched : 203 M",
            "Nodes searched : 203 m",
            "Nodes searched : 203 Knodes",
            "Nodes searched : 203 Million",
            "Nodes searched : 20/30",
            "Nodes searched : 20 30",
            "Nodes searched : 2e6",
            "Nodes searched : 2,03,154",
            "Nodes searched : 99999999999999999999",
            "Nodes searched : 2030154\nNodes searched : 2.03 M",
            "2.03M nodes 1000 nps",
            "NODES 20k NPS 30",
            "Bench: 2.03M",
            "nodes searched : none",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        // A speed with a unit is ambiguous, so the harness measures the speed.
        assert_eq!(read("Nodes searched: 20\nNodes/second: 1.2M"), Some((20, None)));
    }

    #[test]
    fn a_custom_pattern_takes_precedence() {
        let reader = BenchReader::new(Some(r"sum=([\d,]+) speed=(\d+)")).unwrap();
        let lines = ["Bench: 1".to_owned(), "sum=12,345 speed=678".to_owned()];
        assert_eq!(reader.read(&lines), Some((12_345, Some(678.0))));
        let reader = BenchReader::new(Some(r"Average nodes: (\d+)")).unwrap();
        assert_eq!(reader.read(&["Average nodes: 20".to_owned()]), Some((20, None)));
        assert!(BenchReader::new(Some("sum=")).unwrap_err().contains("group"));
        assert!(BenchReader::new(Some("(")).unwrap_err().contains("bench-pattern"));
    }

    #[test]
    fn commits_promise_a_signature() {
        let check =
            |message: &str, expect| assert_eq!(promised_nodes(message), expect, "{message}");
        check("Speed up\n\nBench: 1234567\n", Some(1_234_567));
        check("x\n\nbench 77", Some(77));
        check("x\n\nBench: 1\nBench: 2\n\nsigned", Some(2));
        check("x\n\nBench: 2,030,154", Some(2_030_154));
        check("x\n\nBench: 2'030'154", Some(2_030_154));
        check("x\n\nBench: 2,03", None);
        check("x\n\nBench: 2.030", None);
        check("Bench: no change", None);
        check("Benchmark 5 is faster", None);
        check("bench5", None);
        check("Fix bench", None);
    }
}
