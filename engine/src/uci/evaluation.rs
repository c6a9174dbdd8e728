//! The commands `eval` and `compare` of the command line.

use super::cli::{CommandError, EXIT_INPUT, EXIT_USAGE};
use super::comparison::{ComparisonReport, Form};
use super::explain;
use super::options::{personality, variant};
use super::output::Output;
use super::overview;
use crate::chess::{Position, fen};
use crate::eval::compare::{compare, term_differences};
use crate::search::Configuration;

fn input(error: impl ToString) -> CommandError {
    CommandError(EXIT_INPUT, error.to_string())
}

/// Runs `eval` with the words that follow it.
pub(super) fn eval(words: &[&str], output: &Output, usage: &str) -> Result<(), CommandError> {
    let wrong = || CommandError(EXIT_USAGE, format!("invalid arguments\n{usage}"));
    let (mut variant_name, mut search) = (None, None);
    let (mut disable, mut enable, mut file) = ("", "", None);
    let (mut json, mut list, mut list_experiments) = (false, false, false);
    let mut fields: Vec<&str> = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--variant" => variant_name = Some(words.next().ok_or_else(wrong)?),
            "--disable" => disable = words.next().ok_or_else(wrong)?,
            "--enable" => enable = words.next().ok_or_else(wrong)?,
            "--experiments" => list_experiments = true,
            "--positions" => file = Some(words.next().ok_or_else(wrong)?),
            "--personality" => {
                let name = words.next().ok_or_else(wrong)?;
                search = Some(personality(name).map_err(input)?);
            }
            "--json" => json = true,
            "--features" => list = true,
            // A dash alone is a field of a FEN.
            _ if word.starts_with("--") => return Err(wrong()),
            _ => fields.push(word),
        }
    }
    let chosen = variant_name.map(variant).transpose().map_err(input)?;
    let configuration = Configuration::with_features(search.unwrap_or_default(), chosen);
    let configuration = configuration.without(disable).map_err(input)?;
    let configuration = configuration.trying(enable).map_err(input)?;
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
        Some(_) if !fields.is_empty() => return Err(wrong()),
        Some(file) => read_positions(file)?,
        None if fields.is_empty() => vec![Position::startpos()],
        None => vec![fen::parse(&fields.join(" ")).map_err(input)?],
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

/// Runs `compare` with the words that follow it.
pub(super) fn compare_variants(
    words: &[&str],
    output: &Output,
    usage: &str,
) -> Result<(), CommandError> {
    let wrong = || CommandError(EXIT_USAGE, format!("invalid arguments\n{usage}"));
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
            "--positions" => file = Some(words.next().ok_or_else(wrong)?),
            _ if word.starts_with('-') => return Err(wrong()),
            _ => names.push(word),
        }
    }
    let &[first, second] = names.as_slice() else {
        let reason = "compare takes the names of two evaluations, or --all";
        return Err(CommandError(EXIT_USAGE, reason.to_owned()));
    };
    let first = variant(first).map_err(input)?;
    let second = variant(second).map_err(input)?;
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
fn read_positions(file: &str) -> Result<Vec<Position>, CommandError> {
    let bytes =
        super::read_input(file).map_err(|error| input(format!("cannot read {file}: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut positions = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let position = fen::parse(&position_fields(line))
            .map_err(|error| input(format!("{file}, line {}: {error}", index + 1)))?;
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
