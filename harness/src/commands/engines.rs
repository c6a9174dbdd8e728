//! `arbiter engines`: the registered engines, and a check that the engines reply.

use std::path::PathBuf;

use clap::Subcommand;
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine_names::{register, registered, unregister};
use crate::output::{OutputFormat, Rows, print_result};
use crate::suite_run::{Answer, answer, engine};
use crate::{exit_code::ExitCode, failure::Failure};
use arbiter_names::quantity;
use arbiter_plan::{EngineSpec, engine_text};
use arbiter_report::{Table, note, to_value};

// A doc comment would replace the description of the command.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Engines are stored in arbiter/engines.toml in $XDG_CONFIG_HOME or ~/.config, one table per engine, with
the keys of [[engine]] in arbiter.toml. The engines in cutechess's engines.json, in the current folder or
in ~/.config/cutechess, are also available.

Examples:
  arbiter engines add sf17 ~/chess/stockfish-17,option.Hash=64
  arbiter match sf17 ./mine --each tc=1+0.01
  arbiter engines check")]
pub(crate) enum EnginesCommand {
    /// Start an engine as a test, and register it under a name. A revision is registered as its
    /// current commit; limits are not stored.
    Add {
        /// New name of the engine
        name: String,
        /// Engine, specified like ENGINE in `arbiter match -h`
        #[arg(value_name = "ENGINE")]
        engine: String,
    },
    /// Remove an engine from the registry.
    Remove {
        /// Name of the engine
        name: String,
    },
    /// List registered engines.
    List {
        /// Format of the list
        #[arg(long, value_enum, default_value = "text")]
        format: OutputFormat,
    },
    /// Start engines and show their replies; the exit code is 6 if an engine does not reply.
    Check {
        /// Engines to start [default: all registered]
        #[arg(value_name = "ENGINE")]
        engines: Vec<String>,
        /// Format of the list
        #[arg(long, value_enum, default_value = "text")]
        format: OutputFormat,
    },
}

/// Runs the command.
pub(crate) fn run(command: &EnginesCommand) -> Result<ExitCode, Failure> {
    match command {
        EnginesCommand::Add { name, engine } => add(name, engine)?,
        EnginesCommand::Remove { name } => {
            note(&format!("{name} removed from {}", unregister(name)?.display()));
        }
        EnginesCommand::List { format } => list(*format)?,
        EnginesCommand::Check { engines, format } => return check(engines, *format),
    }
    Ok(ExitCode::Passed)
}

fn add(name: &str, text: &str) -> Result<(), Failure> {
    let mut engine = engine(text)?;
    let Answer { protocol, declared_name, options } = answer(&engine)?;
    engine.launch.protocol = protocol;
    let fields = EngineSpec::fields(&engine_text(&engine, false)).map_err(Failure::invalid)?;
    let fields = fields.into_iter().filter(|(key, _)| key != "name");
    let file = register(name, fields.map(|(key, value)| (key, value.into())).collect())?;
    note(&format!(
        "{name} is '{declared_name}' ({protocol}, {}); stored in {}",
        quantity(options, "option"),
        file.display()
    ));
    Ok(())
}

/// A registered engine: `arbiter engines list`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "arbiter.engines.list")]
pub(crate) struct Registration {
    /// Name of the engine.
    name: String,
    /// Program of the engine, or the revision from which it is built.
    engine: String,
    /// File in which the engine is registered.
    file: PathBuf,
}

/// An engine that was started: `arbiter engines check`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "arbiter.engines.check")]
pub(crate) struct CheckedEngine {
    /// Name of the engine.
    name: String,
    #[serde(flatten)]
    engine: Option<Answer>,
    /// Reason why the engine does not reply; absent if it replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

fn list(format: OutputFormat) -> Result<(), Failure> {
    let mut table = Table::new(["name", "engine", "file"]);
    let mut rows = Vec::new();
    for (name, known) in registered()? {
        let spec = &known.spec;
        let program = match (&spec.rev, &spec.cmd) {
            (Some(rev), _) => format!("revision {rev}"),
            (None, cmd) => cmd.clone().unwrap_or_default(),
        };
        table.push([&name, &program, &known.file.display()]);
        rows.push(Registration { name, engine: program, file: known.file });
    }
    show(format, table, &rows)
}

fn show(format: OutputFormat, table: Table, rows: &[impl Serialize]) -> Result<(), Failure> {
    let columns = Rows { list: None, first: &["name"] };
    print_result(&format.of_table(table, || to_value(rows), columns))
}

fn check(names: &[String], format: OutputFormat) -> Result<ExitCode, Failure> {
    let names = match names {
        [] => registered()?.into_keys().collect(),
        names => names.to_vec(),
    };
    if names.is_empty() {
        let message = "no engine is registered\nhint: register one with `arbiter engines add`";
        return Err(Failure::nothing_to_run(message));
    }
    let mut table = Table::new(["name", "protocol", "own name", "options"]);
    let mut rows = Vec::new();
    let mut code = ExitCode::Passed;
    for name in names {
        match engine(&name).and_then(|engine| answer(&engine)) {
            Ok(answer) => {
                table.push([&name, &answer.protocol, &answer.declared_name, &answer.options]);
                rows.push(CheckedEngine { name, engine: Some(answer), error: None });
            }
            Err(failure) => {
                code = ExitCode::TooManyFaults;
                table.push([&name, &"none", &failure.message, &""]);
                rows.push(CheckedEngine { name, engine: None, error: Some(failure.message) });
            }
        }
    }
    show(format, table, &rows)?;
    Ok(code)
}
