//! Options for tuners: search parameters, and search features to disable. Normal builds do not have
//! these options.

#[cfg(any(test, feature = "tuning"))]
use super::effect::Change;
use super::effect::Effect;
#[cfg(any(test, feature = "tuning"))]
use super::values::{spin, spin_line};
#[cfg(any(test, feature = "tuning"))]
use crate::search::{PARAMS, disable_features};

/// Returns no lines, because a normal build has no tunable search parameters.
#[cfg(not(any(test, feature = "tuning")))]
pub(super) fn tunable() -> impl Iterator<Item = String> {
    std::iter::empty()
}

/// Returns the lines that declare the option `Without` and the tunable search parameters.
#[cfg(any(test, feature = "tuning"))]
pub(super) fn tunable() -> impl Iterator<Item = String> {
    let without = std::iter::once("option name Without type string default <empty>".to_owned());
    without.chain(
        PARAMS.iter().map(|param| {
            spin_line(param.name, param.value, *param.range.start(), *param.range.end())
        }),
    )
}

/// Returns the error for an unknown option.
#[cfg(not(any(test, feature = "tuning")))]
pub(super) fn tune(name: &str, _: &str) -> Result<Effect, String> {
    Err(format!("unknown option \"{name}\""))
}

/// Sets a tunable parameter or the option `Without`.
#[cfg(any(test, feature = "tuning"))]
pub(super) fn tune(name: &str, value: &str) -> Result<Effect, String> {
    if name.eq_ignore_ascii_case("Without") {
        return disable_features(value).map(|()| Change::Clear.into());
    }
    let found = PARAMS.iter().find(|param| param.name.eq_ignore_ascii_case(name));
    let param = found.ok_or_else(|| format!("unknown option \"{name}\""))?;
    param.set(spin(name, value, *param.range.start(), *param.range.end())?);
    // The memory is cleared, because table entries of searches with other parameters are invalid.
    Ok(Change::Clear.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench;
    use crate::search::{Configuration, SEARCH_FEATURES, Signals};

    /// Features that have no effect at the depth of this test, or without time limits.
    const DEEP: [&str; 2] = ["null_verification", "pace"];

    #[test]
    fn options_of_the_tuning_build_change_the_search() {
        // All searches of a process share the options, so this test needs a separate process.
        let program = std::env::current_exe().expect("a test knows its program");
        let test = "uci::tuning::tests::tuning_in_a_process_of_its_own";
        let mut command = std::process::Command::new(program);
        let done = command.args([test, "--exact", "--ignored"]).output().expect("it starts");
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && text.contains("1 passed"), "{text}");
    }

    #[test]
    #[ignore = "started by options_of_the_tuning_build_change_the_search"]
    fn tuning_in_a_process_of_its_own() {
        let nodes = |depth| {
            let result = bench::run(Some(depth), Configuration::default(), &Signals::default());
            result.expect("there is memory for a table").nodes
        };
        let declared: Vec<String> =
            tunable().filter(|line| line.starts_with("option name reverse_futility_")).collect();
        let prefix = "option name reverse_futility_margin type spin default ";
        let value = declared.iter().find_map(|line| line.strip_prefix(prefix)?.split(' ').next());
        assert_eq!(declared.len(), 2, "{declared:?}");
        let usual = nodes(6);
        for wrong in ["100000", "x"] {
            let reason = tune("reverse_futility_margin", wrong).expect_err(wrong);
            assert!(reason.contains(wrong), "{reason}");
        }
        assert_eq!(nodes(6), usual);
        tune("Reverse_Futility_Margin", "150").expect("a number in the range");
        assert_ne!(nodes(6), usual);
        tune("reverse_futility_margin", value.expect("it has a default")).expect("the default");
        assert_eq!(nodes(6), usual);

        let without = |names: &str| {
            tune("Without", names).expect(names);
            nodes(8)
        };
        let all_features = without("<empty>");
        for feature in SEARCH_FEATURES {
            let differs = without(feature.name) != all_features;
            assert_eq!(differs, !DEEP.contains(&feature.name), "{}", feature.name);
        }
        let reason = tune("Without", "null_move,moon").expect_err("there is no moon");
        assert!(reason.contains("\"moon\"") && reason.contains("razoring"), "{reason}");
        assert_eq!(without("<empty>"), all_features);
    }
}
