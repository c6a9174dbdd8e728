//! The commands `eval` and `compare` of the command line.

use super::cli::{EXIT_INPUT, EXIT_USAGE, complain};
use super::comparison::{ComparisonReport, Form};
use super::explain;
use super::options::{personality, variant};
use super::output::Output;
use super::overview;
use crate::chess::{Position, fen};
use crate::eval::compare::{compare, term_differences};
use crate::search::Configuration;

/// Why a command failed.
enum Failure {
    /// Invalid arguments.
    Usage,
    /// As many arguments as cannot be, with a message.
    Count(&'static str),
    /// An unknown name or an unreadable file, with a message.
    Input(String),
}

impl Failure {
    fn input(error: impl ToString) -> Failure {
        Failure::Input(error.to_string())
    }
}

/// Runs `eval` with the words that follow it and returns the exit code.
pub(super) fn run_eval(words: &[&str], output: &Output, usage: &str) -> i32 {
    exit_code(eval(words, output), usage)
}

/// Runs `compare` with the words that follow it and returns the exit code.
pub(super) fn run_compare(words: &[&str], output: &Output, usage: &str) -> i32 {
    exit_code(compare_variants(words, output), usage)
}

fn exit_code(result: Result<(), Failure>, usage: &str) -> i32 {
    match result {
        Ok(()) => 0,
        Err(Failure::Usage) => {
            complain(usage);
            EXIT_USAGE
        }
        Err(Failure::Count(reason)) => {
            complain(&format!("palimpsest: {reason}"));
            EXIT_USAGE
        }
        Err(Failure::Input(reason)) => {
            complain(&format!("palimpsest: {reason}"));
            EXIT_INPUT
        }
    }
}

fn eval(words: &[&str], output: &Output) -> Result<(), Failure> {
    let (mut variant_name, mut search) = (None, None);
    let (mut disable, mut enable, mut file) = ("", "", None);
    let (mut json, mut list, mut list_experiments) = (false, false, false);
    let mut fields: Vec<&str> = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--variant" => variant_name = Some(words.next().ok_or(Failure::Usage)?),
            "--disable" => disable = words.next().ok_or(Failure::Usage)?,
            "--enable" => enable = words.next().ok_or(Failure::Usage)?,
            "--experiments" => list_experiments = true,
            "--positions" => file = Some(words.next().ok_or(Failure::Usage)?),
            "--personality" => {
                let name = words.next().ok_or(Failure::Usage)?;
                search = Some(personality(name).map_err(Failure::input)?);
            }
            "--json" => json = true,
            "--features" => list = true,
            // A dash alone is a field of a FEN.
            _ if word.starts_with("--") => return Err(Failure::Usage),
            _ => fields.push(word),
        }
    }
    let chosen = variant_name.map(variant).transpose().map_err(Failure::input)?;
    let configuration = Configuration::new(search.unwrap_or_default(), chosen);
    let configuration = configuration.without(disable).map_err(Failure::input)?;
    let configuration = configuration.trying(enable).map_err(Failure::input)?;
    let variant = configuration.eval.variant;
    if list || list_experiments {
        let features = if list { configuration.features() } else { variant.experiments() };
        output.line(&if json {
            explain::features_object(variant, &features)
        } else if features.is_empty() {
            format!("{} has none.", variant.name())
        } else {
            explain::features(&features)
        });
        return Ok(());
    }
    let positions = match file {
        Some(_) if !fields.is_empty() => return Err(Failure::Usage),
        Some(file) => read_positions(file)?,
        None if fields.is_empty() => vec![Position::startpos()],
        None => vec![fen::parse(&fields.join(" ")).map_err(Failure::input)?],
    };
    for (index, position) in positions.iter().enumerate() {
        let report = configuration.eval.explain(position);
        if json {
            output.line(&explain::object(&report, position, file.is_none()));
        } else {
            let gap = if index == 0 { "" } else { "\n" };
            output.line(&format!("{gap}{}", explain::table(&report, position)));
        }
    }
    Ok(())
}

fn compare_variants(words: &[&str], output: &Output) -> Result<(), Failure> {
    let overview = match words {
        ["--all"] => Some(overview::text()),
        ["--all", "--markdown"] | ["--markdown", "--all"] => Some(overview::markdown()),
        _ => None,
    };
    if let Some(overview) = overview {
        output.line(&overview);
        return Ok(());
    }
    let (mut form, mut file) = (Form::Text, None);
    let mut names: Vec<&str> = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--markdown" => form = Form::Markdown,
            "--json" => form = Form::Json,
            "--positions" => file = Some(words.next().ok_or(Failure::Usage)?),
            _ if word.starts_with('-') => return Err(Failure::Usage),
            _ => names.push(word),
        }
    }
    let &[first, second] = names.as_slice() else {
        return Err(Failure::Count("compare takes the names of two evaluations, or --all"));
    };
    let first = variant(first).map_err(Failure::input)?;
    let second = variant(second).map_err(Failure::input)?;
    let differences = match file {
        Some(file) => {
            let positions = read_positions(file)?;
            Some((positions.len(), term_differences(first, second, &positions)))
        }
        None => None,
    };
    let features = compare(first, second);
    let report = ComparisonReport { variants: [first, second], features, differences };
    output.line(&report.render(form));
    Ok(())
}

/// Reads one position a line, as FEN or EPD; empty lines and those that begin with `#` are skipped.
fn read_positions(file: &str) -> Result<Vec<Position>, Failure> {
    let bytes = super::read_input(file)
        .map_err(|error| Failure::Input(format!("cannot read {file}: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut positions = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let position = fen::parse(&position_fields(line))
            .map_err(|error| Failure::Input(format!("{file}, line {}: {error}", index + 1)))?;
        positions.push(position);
    }
    Ok(positions)
}

/// The fields that make up the position; the operations of an EPD are left out.
fn position_fields(line: &str) -> String {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let counters = fields.iter().skip(4).take(2).take_while(|field| field.parse::<u32>().is_ok());
    fields[..(4 + counters.count()).min(fields.len())].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_left_out() {
        for (line, expected) in [
            ("8/8 w - - 0 1", "8/8 w - - 0 1"),
            ("8/8 w - -", "8/8 w - -"),
            ("8/8 w - - bm Kd2; id \"1\";", "8/8 w - -"),
            ("8/8 w - - 3 9 ; D1 20", "8/8 w - - 3 9"),
            ("8/8", "8/8"),
        ] {
            assert_eq!(position_fields(line), expected, "{line}");
        }
    }
}
