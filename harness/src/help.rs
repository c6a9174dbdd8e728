//! Layout of the help: `-h` shows one screen with the most frequently used flags and examples, and
//! `--help` shows everything.

use std::any::TypeId;
use std::error::Error;
use std::ffi::OsString;
use std::net::AddrParseError;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::PathBuf;

use clap::Command;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::{args::not_utf8, engine_names::HELP as ENGINES};
use arbiter_plan::{ENGINE_KEYS, field, unexpanded_home};
use arbiter_settings::{RENAMED, SWITCHES};

/// Commands whose flags do not fit on one screen. Each command has a list of the flags that `-h`
/// shows, most frequently used flag first.
const SHOWN: [(&str, &str); 24] = [
    ("", ""),
    ("sprt", "each elo0 elo1 openings concurrency"),
    ("match", "each pairs openings concurrency pgn"),
    ("tournament", "each rounds pairs openings pgn"),
    ("ablate", "features sprt option pairs each"),
    ("tune", "params spins iterations each confirm"),
    ("tune simulate", "params iterations pairs step-elo runs"),
    ("report", "out format results"),
    ("serve", "listen results token-file on read-only"),
    ("compat", ""),
    ("rate", "anchor average scale verify format"),
    ("stats plan", "elo0 elo1 model elo pilot"),
    ("stats simulate", "elo0 elo1 elo runs overshoot"),
    ("check", "filter list patience junit format"),
    ("perft", "suite depth max-nodes concurrency command"),
    ("epd", "suite movetime nodes concurrency min-solved"),
    ("speed", "rounds max-loss cpu repo format"),
    ("ci", "only config base no-cache junit"),
    ("mine", "pgn out engine depth looks found-at gap decided concurrency"),
    ("samples", "pgn run out every from-ply"),
    ("datagen", "out genfens games openings each"),
    ("worker", "on slots readable sandbox memory"),
    ("doctor", "on format"),
    ("cluster show", "on format"),
];

/// Commands that `-h` hides: rarely needed commands, and commands for other programs.
const RARE: [&str; 5] = ["builds", "completions", "datagen", "engine", "man"];

/// Optional subcommands, flags and values of flags. Each entry also contains the Cargo feature that
/// adds the item, and `true` if this build has the feature.
const OPTIONAL: [(&str, &str, bool); 4] = [
    ("worker", "cluster", cfg!(feature = "cluster")),
    ("cluster", "cluster", cfg!(feature = "cluster")),
    ("--on", "cluster", cfg!(feature = "cluster")),
    ("--format json-schema", "json-schema", cfg!(feature = "json-schema")),
];

/// Heading of the examples in the text below the flags of a command.
const EXAMPLES: &str = "Examples:\n";

/// Returns the command at `path` with its help arranged: for `-h` if `is_short` is `true`,
/// otherwise for `--help`. Arranges only the subcommands whose names `is_used` accepts, because
/// arranging all of them takes longer than many commands run.
pub(crate) fn arrange_help(
    mut command: Command,
    path: &str,
    is_short: bool,
    is_used: &dyn Fn(&str) -> bool,
) -> Command {
    let below: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in below {
        let path = format!("{path} {name}");
        let is_hidden = is_short && RARE.contains(&&*name);
        let is_arranged = is_used(&name);
        command = command.mut_subcommand(name, |own| {
            let own = own.hide(is_hidden);
            if is_arranged { arrange_help(own, path.trim_start(), is_short, is_used) } else { own }
        });
    }
    command = command.mut_args(|arg| {
        // Negative numbers are allowed so that the error for -1 names the expected range.
        // Otherwise, clap would report -1 as an unknown flag.
        let takes_value = !arg.is_positional() && arg.get_action().takes_values();
        let arg = if takes_value { arg.allow_negative_numbers(true) } else { arg };
        let is_path = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        if is_path { arg.value_parser(PathBufValueParser::new().try_map(check_path)) } else { arg }
    });
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = match text.find(EXAMPLES) {
        Some(start) => text.split_at(start),
        None => (&*text, ""),
    };
    let takes_engines = command.get_positionals().any(|arg| arg.get_id() == "engines");
    let engines = if takes_engines { ENGINES } else { "" };
    let notes = reflowed(notes);
    let joined = |parts: &[&str]| {
        let parts = parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n\n")
    };
    let long = joined(&[&notes, engines, examples]);
    let shown = SHOWN.iter().find(|(of, _)| *of == path);
    let Some((_, flags)) = shown else { return command.after_help(long) };
    let mut flags: Vec<&str> = flags.split_whitespace().collect();
    flags.extend(example_flags(examples, path));
    let mut place = flags.len();
    let command = command.mut_args(|arg| {
        place += 1;
        match flags.iter().position(|flag| arg.get_long() == Some(flag)) {
            Some(first) if is_short => arg.display_order(first).help_heading(None::<&str>),
            Some(first) => arg.display_order(first),
            None if arg.is_positional() => arg,
            None => arg.display_order(place).hide_short_help(true),
        }
    });
    command.after_help(joined(&[engines, examples])).after_long_help(long)
}

/// Returns the flags in the examples of the command with this path.
fn example_flags<'a>(examples: &'a str, path: &str) -> impl Iterator<Item = &'a str> {
    let command = format!("arbiter {path} ");
    let lines = examples.lines().filter(move |line| line.trim_start().starts_with(&command));
    lines.flat_map(str::split_whitespace).filter_map(|word| word.strip_prefix("--"))
}

/// Accepts a path unless it starts with a `~` that the shell has not expanded.
fn check_path(path: PathBuf) -> Result<PathBuf, String> {
    path.to_str().and_then(unexpanded_home).map_or(Ok(path), Err)
}

/// Returns the expected form of a number if the error comes from Rust's standard library, whose
/// message does not name the form.
fn number_expected(error: &clap::Error, flag: &str) -> Option<String> {
    let value = error.get(ContextKind::InvalidValue)?.to_string();
    let is_number = |text: &str| text.trim_start_matches('-').parse::<u64>().is_ok();
    // A comma as the decimal mark is a common mistake, except in a list of numbers.
    let has_comma = !flag.contains(',')
        && value.split_once(',').is_some_and(|(one, other)| is_number(one) && is_number(other));
    let source = error.source()?;
    if let Some(source) = source.downcast_ref::<ParseIntError>() {
        let is_negative = value.starts_with('-');
        return Some(match source.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                "write a smaller number".into()
            }
            _ => format!("write a whole number{}", if is_negative { ", 0 or more" } else { "" }),
        });
    }
    if source.is::<AddrParseError>() {
        return Some("write an address and a port, as in 127.0.0.1:7878".to_owned());
    }
    let is_float = source.is::<ParseFloatError>();
    (is_float || has_comma).then(|| "write a number with a point, as in 0.5".to_owned())
}

/// Improves a command-line error. Names the correct flag if the user gave a renamed flag, an engine
/// key or a flag in the style of another program; names the expected form of a number; suggests at
/// most one command; and explains a missing Cargo feature and an argument that is not UTF-8. `root`
/// is the top-level command.
pub(crate) fn with_hint(mut error: clap::Error, args: &[OsString], root: &Command) -> clap::Error {
    if let Some(message) = missing_feature(&error, args, &OPTIONAL) {
        return clap::Error::raw(error.kind(), message);
    }
    if let (ErrorKind::InvalidUtf8, Some(word)) =
        (error.kind(), args.iter().find(|word| word.to_str().is_none()))
    {
        return clap::Error::raw(error.kind(), not_utf8(word) + "\n");
    }
    if let Some(ContextValue::Strings(alike)) = error.get(ContextKind::SuggestedSubcommand) {
        // clap sorts suggestions in ascending order of similarity.
        let nearest = alike.last().cloned().into_iter().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(nearest));
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let name = flag.trim_start_matches('-');
    let is_theirs =
        |word: &&str| word.len() > 2 && !word.starts_with("--") && word.starts_with(flag.as_str());
    let mut words = args.iter().filter_map(|word| word.to_str());
    // The value is part of the flag's argument if it follows an equals sign; otherwise it is the
    // next argument.
    let is_flag = |word: &&str| word.split('=').next() == Some(flag);
    let mut arguments =
        words.clone().skip_while(|word| !is_flag(word)).flat_map(|word| match is_flag(&word) {
            true => word.split_once('=').map(|(_, value)| value),
            false => Some(word),
        });
    let tip = if let Some(tip) = number_expected(&error, flag) {
        // The error is rebuilt without the message of the standard library, which the tip replaces.
        let mut rebuilt = clap::Error::new(error.kind()).with_cmd(root);
        for (kind, value) in error.context() {
            rebuilt.insert(kind, value.clone());
        }
        error = rebuilt;
        tip
    } else if let Some((_, new, key)) = RENAMED.iter().find(|(old, ..)| *old == name)
        && has_flag(root, args, new)
    {
        let is_switch = SWITCHES.contains(key);
        let given = arguments.find(|word| !word.starts_with("--")).filter(|_| !is_switch);
        let value = given.unwrap_or(if is_switch { "true" } else { "VALUE" });
        let text = if key.is_empty() { value.to_owned() } else { field(key, value) };
        let is_plain = !text.contains(|c: char| c.is_whitespace() || "\"'$&;|*?".contains(c));
        format!("write --{new} {}", if is_plain { text.into() } else { shell_words::quote(&text) })
    } else if flag.starts_with("--")
        && ENGINE_KEYS.iter().any(|key| key.name == name)
        && has_flag(root, args, "each")
    {
        format!("for all engines write --each {name}=VALUE, for one ENGINE,{name}=VALUE")
    } else if let Some(word) = words.find(is_theirs).filter(|_| name.len() == 1) {
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            format!("write a negative value after an equals sign: --FLAG={word}")
        } else {
            format!(
                "flags have two dashes, -{word}; `arbiter compat` takes command lines of fastchess \
                 and cutechess-cli"
            )
        }
    } else {
        return error;
    };
    for kind in [ContextKind::SuggestedArg, ContextKind::Usage] {
        error.remove(kind);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// Returns whether the subcommand in a command line has a flag.
fn has_flag(root: &Command, args: &[OsString], flag: &str) -> bool {
    let words = args.iter().skip(1).filter_map(|word| word.to_str());
    let command =
        words.fold(root, |command, word| command.find_subcommand(word).unwrap_or(command));
    command.get_arguments().any(|argument| argument.get_long() == Some(flag))
}

/// Returns the message for a subcommand, flag or value of a Cargo feature that this build lacks,
/// with a command that adds the feature.
fn missing_feature(
    error: &clap::Error,
    args: &[OsString],
    optional: &[(&str, &str, bool)],
) -> Option<String> {
    let is_given = |word: &str| match error.kind() {
        ErrorKind::InvalidSubcommand => {
            error.get(ContextKind::InvalidSubcommand) == Some(&ContextValue::String(word.into()))
        }
        // All arguments are searched, because clap may report another flag of the same feature
        // first.
        ErrorKind::UnknownArgument => args.iter().filter_map(|arg| arg.to_str()).any(|arg| {
            word.starts_with("--") && (arg.split_once('=').map_or(arg, |(flag, _)| flag) == word)
        }),
        ErrorKind::InvalidValue => {
            let value = error.get(ContextKind::InvalidValue).map(ToString::to_string);
            word.rsplit_once(' ').is_some_and(|(_, missing)| value.as_deref() == Some(missing))
        }
        _ => false,
    };
    let (word, feature, _) = optional.iter().find(|(word, _, has)| !has && is_given(word))?;
    Some(format!(
        "'{word}' requires the Cargo feature '{feature}', which this build of arbiter lacks\n\n  \
         To add it, run in a clone of the repository: cargo install --locked --path harness \
         --features {feature}\n  Packages of releases have all features.\n"
    ))
}

/// Joins each group of unindented lines into a single line.
fn reflowed(text: &str) -> String {
    let mut all = String::new();
    let mut is_open = false;
    for line in text.lines() {
        let is_prose = !line.is_empty() && !line.starts_with(' ');
        if !all.is_empty() {
            all.push(if is_open && is_prose { ' ' } else { '\n' });
        }
        all.push_str(line);
        is_open = is_prose;
    }
    all
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Args, CommandFactory};

    use super::*;
    use crate::cli::Cli;
    use arbiter_settings::{Settings, TestSettings};

    fn is_missing(word: &str) -> bool {
        OPTIONAL.iter().any(|(own, _, has)| *own == word && !has)
    }

    /// Collects all commands with their paths.
    fn all(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
        found.push((path.to_owned(), command.clone()));
        for own in command.get_subcommands() {
            all(own, format!("{path} {}", own.get_name()).trim_start(), found);
        }
    }

    fn commands(is_short: bool) -> Vec<(String, Command)> {
        let mut found = Vec::new();
        let mut root = Cli::with_arranged_help(is_short).term_width(100);
        // Adds the global flags to all commands.
        root.build();
        all(&root, "", &mut found);
        found
    }

    #[test]
    fn the_help_of_a_command_fits_on_a_screen() {
        let mut long = Vec::new();
        for (path, mut command) in commands(true) {
            let help = command.render_help().to_string();
            let lines = help.lines().count();
            long.extend((lines > 40).then(|| format!("{path}: {lines}\n{help}")));
        }
        assert!(long.is_empty(), "{}", long.join("\n"));
    }

    #[test]
    fn flags_listed_for_the_short_help_exist() {
        let commands = commands(false);
        for (path, flags) in SHOWN {
            if path.split(' ').next().is_some_and(is_missing) {
                continue;
            }
            let (_, command) = commands.iter().find(|(own, _)| own == path).expect(path);
            let has = |flag: &&str| {
                is_missing(&format!("--{flag}"))
                    || command.get_arguments().any(|arg| arg.get_long() == Some(flag))
            };
            assert!(flags.split_whitespace().all(|flag| has(&flag)), "{path}: {flags}");
        }
    }

    #[test]
    fn missing_features_name_the_command_that_adds_them() {
        for line in [
            "arbiter worker --on worker1.join",
            "arbiter help worker",
            "arbiter cluster show --on a.join",
            "arbiter sprt a b --fleet lease=30 --on a.join",
            "arbiter match a b --on=a.join",
            "arbiter doctor --on a.join",
            "arbiter man --out d --format json-schema",
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let read = Cli::with_arranged_help(false).try_get_matches_from(&args);
            let own = OPTIONAL.iter().find(|(word, ..)| line.contains(word));
            let (_, feature, has) = own.unwrap_or(&OPTIONAL[2]);
            let error =
                read.map_err(|error| with_hint(error, &args, &Cli::command()).to_string()).err();
            let added = format!("cargo install --locked --path harness --features {feature}\n");
            let is_answered = error.as_ref().is_some_and(|error| error.contains(&added));
            assert_eq!(is_answered, !has, "{line}: {error:?}");
        }
    }

    #[test]
    fn a_missing_feature_is_named_for_its_subcommands_and_flags_alone() {
        for (line, word) in [
            ("arbiter spar a b", Some("spar")),
            ("arbiter help spar", Some("spar")),
            ("arbiter match a b --pairs 1 --ring x", Some("--ring")),
            ("arbiter match a b --ring=x", Some("--ring")),
            ("arbiter match a b --other spar", None),
            ("arbiter other", None),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = Cli::command().try_get_matches_from(&args).expect_err(line);
            let answer = |has| {
                missing_feature(&error, &args, &[("spar", "club", has), ("--ring", "club", has)])
            };
            let start = word.map(|word| format!("'{word}' requires the Cargo feature 'club', "));
            let answered = answer(false);
            assert_eq!(answered.is_some(), start.is_some(), "{line}");
            assert!(answered.unwrap_or_default().starts_with(&start.unwrap_or_default()), "{line}");
            assert_eq!(answer(true), None, "{line}");
        }
    }

    /// Flags that are allowed under each heading, apart from settings, which are declared under
    /// their headings.
    const HEADINGS: [(&str, &str); 7] = [
        ("Engines", "engine each dev base sandbox"),
        ("Run", "config name about resume resume-or-start dry-run"),
        ("Output", "format color quiet verbose metrics log-format"),
        ("Builds", "repo cache no-bench pass-env"),
        ("Other machines", "on fleet"),
        ("Access to the NATS server", "nats insecure"),
        ("Confirmation", "confirm elo0 elo1 confirm-pairs"),
    ];

    #[test]
    fn each_flag_has_the_heading_of_its_subject() {
        let settings = TestSettings::augment_args(Settings::augment_args(Command::new("")));
        let place = |arg: &Arg| format!("{:?} {:?}", arg.get_long(), arg.get_help_heading());
        let declared: Vec<String> = settings.get_arguments().map(place).collect();
        for (path, command) in commands(false) {
            let arguments = command.get_arguments().filter(|arg| !declared.contains(&place(arg)));
            for argument in arguments.filter(|argument| !argument.is_hide_set()) {
                let Some(heading) = argument.get_help_heading() else { continue };
                let flag = argument.get_long().unwrap_or("ENGINE");
                let own = HEADINGS.iter().find(|(name, _)| *name == heading);
                let is_own = own.is_some_and(|(_, flags)| flags.split(' ').any(|own| own == flag));
                assert!(is_own, "{path}: --{flag} under {heading}");
            }
        }
    }

    /// Returns the words of the command line in an example, without comments, pipes and
    /// redirections. Returns `None` if the command is not arbiter, contains shell variables, or
    /// requires a feature that this build lacks.
    fn words_of(line: &str) -> Option<Vec<String>> {
        let line = line.trim().trim_start_matches("$ ");
        let line = Some(line).filter(|it| it.starts_with("arbiter ") && !it.contains("${"))?;
        let line = line.split("  ").next().unwrap_or(line).split(" #").next().unwrap_or(line);
        let words = shell_words::split(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let is_of_the_shell = |word: &String| word.starts_with(['|', '>', '<', '&', ';']);
        let words: Vec<String> = words.into_iter().take_while(|w| !is_of_the_shell(w)).collect();
        (!words.iter().any(|word| is_missing(word))).then_some(words)
    }

    fn check_example(cli: &mut Command, place: &str, line: &str) {
        // The tilde is expanded as in a shell.
        let line = &line.replace(" ~/", " /data/");
        let Some(words) = words_of(line) else { return };
        match cli.try_get_matches_from_mut(words) {
            Err(error) if error.use_stderr() => panic!("{place}: {line}: {error}"),
            _ => {}
        }
    }

    #[test]
    fn examples_are_command_lines_of_flags_that_the_short_help_shows() {
        let mut cli = Cli::with_arranged_help(false);
        for (path, command) in commands(true) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let Some((_, examples)) = text.split_once(EXAMPLES) else { continue };
            let examples = examples.replace("\\\n", " ");
            for line in examples.lines() {
                check_example(&mut cli, &path, line);
            }
            for flag in example_flags(&examples, &path) {
                let name = flag.split('=').next().unwrap_or(flag);
                let own = command.get_arguments().find(|arg| arg.get_long() == Some(name));
                let is_hidden = own.is_some_and(|own| own.is_hide_short_help_set());
                assert!(!is_hidden, "{path}: the short help lacks --{name}");
            }
        }
    }

    #[test]
    fn command_lines_in_the_documentation_are_read() {
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut pages = vec![top.join("README.md"), top.join("CONTRIBUTING.md")];
        for folder in ["docs", "docs/howto"] {
            let entries = std::fs::read_dir(top.join(folder)).expect("the folder can be listed");
            pages.extend(entries.map(|entry| entry.expect("an entry can be read").path()));
        }
        let mut cli = Cli::with_arranged_help(false);
        let mut lines = 0;
        for page in pages.iter().filter(|page| page.extension().is_some_and(|end| end == "md")) {
            let text = std::fs::read_to_string(page).expect("a page can be read");
            let mut is_block = false;
            for line in text.replace("\\\n", " ").lines() {
                if line.trim_start().starts_with("```") {
                    is_block = !is_block;
                } else if is_block {
                    check_example(&mut cli, &page.display().to_string(), line);
                    lines += usize::from(words_of(line).is_some());
                }
            }
        }
        assert!(lines > 50, "{lines}");
    }
}
