//! The command `genfens`, with which OpenBench requests openings for matches.

use super::Output;
use crate::datagen::{Settings, openings};
use crate::failure::Failure;

/// Help for the command. The command and its parameters are passed as one argument.
pub(super) const HELP: &str = "\
`palimpsest 'genfens N seed S book None'` prints N random openings, as OpenBench asks for them";

/// Soft node limit of the search that decides whether an opening is balanced.
const NODES: u64 = 1_000;

/// Maximum number of openings.
const COUNT_MAX: usize = 10_000_000;

/// Returns the first argument if it begins with `genfens ` and no argument except `quit` follows.
pub(super) fn request(args: &[String]) -> Option<&str> {
    let (first, rest) = args.split_first()?;
    (first.starts_with("genfens ") && (rest.is_empty() || rest == ["quit"])).then_some(first)
}

/// Runs `genfens N seed S book None`.
pub(super) fn run(argument: &str, output: &Output) -> Result<(), Failure> {
    let (count, seed) = parse(argument).map_err(Failure::usage)?;
    let settings = Settings { seed, nodes: NODES, ..Settings::default() };
    for position in openings(settings).map_err(Failure::environment)?.take(count) {
        output.line(&format!("info string genfens {position}"));
    }
    Ok(())
}

/// Returns the number of openings and the seed in the argument.
fn parse(argument: &str) -> Result<(usize, u64), String> {
    let words: Vec<&str> = argument.split_whitespace().collect();
    let ["genfens", count, "seed", seed, "book", book] = words[..] else {
        return Err(format!("expected 'genfens N seed S book None', not '{argument}'"));
    };
    if !book.eq_ignore_ascii_case("none") {
        return Err(format!("genfens reads no book such as '{book}'; say book None"));
    }
    let count = count.parse().ok().filter(|count| (1..=COUNT_MAX).contains(count));
    let count = count.ok_or_else(|| format!("genfens makes 1 to {COUNT_MAX} openings"))?;
    let seed = seed.parse().map_err(|_| format!("the seed '{seed}' is no whole number"))?;
    Ok((count, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_openbench_are_read() {
        assert_eq!(parse("genfens 12 seed 345 book None "), Ok((12, 345)));
        for (argument, part) in [
            ("genfens 12 seed 345", "expected"),
            ("genfens 0 seed 1 book None", "1 to"),
            ("genfens 1 seed x book None", "seed"),
            ("genfens 1 seed 1 book UHO.epd", "UHO.epd"),
        ] {
            assert!(parse(argument).unwrap_err().contains(part), "{argument}");
        }
    }

    #[test]
    fn openings_depend_on_the_seed() {
        let fens = |seed| {
            let settings = Settings { seed, nodes: 50, ..Settings::default() };
            openings(settings)
                .unwrap()
                .take(3)
                .map(|position| position.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(fens(1), fens(1));
        assert!(fens(1).iter().all(|opening| !fens(2).contains(opening)));
    }
}
