//! `arbiter completions` and `arbiter man`: shell completions and manuals, generated from the
//! definitions of the flags.

mod markdown;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::output::{print_result, write_atomically, write_error};
use arbiter_process::FilesInUse;

/// Flags of `arbiter completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Flags of `arbiter man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for all pages, one per subcommand [default: print the main page]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Format of the pages
    #[arg(long, value_enum, default_value = "man", requires = "out")]
    format: ManualFormat,
}

/// Format of the pages of the manual.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ManualFormat {
    /// Manual pages for `man`
    Man,
    /// Markdown, with a page that lists the commands, as in the online manual
    Markdown,
    /// JSON Schemas of the json and ndjson output, one file per command
    #[cfg(feature = "json-schema")]
    JsonSchema,
}

/// Prints the completion script for a shell.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "arbiter", &mut script);
    print_result(&String::from_utf8_lossy(&script))
}

/// Prints or writes the pages of the manual.
pub(crate) fn man(args: &ManArgs, command: Command) -> Result<(), Failure> {
    match &args.out {
        Some(folder) => write_pages(folder, args.format, command),
        None => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(command.name("arbiter")).render(&mut page);
            rendered.map_err(Failure::environment)?;
            print_result(&String::from_utf8_lossy(&page))
        }
    }
}

fn write_pages(folder: &Path, format: ManualFormat, command: Command) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| write_error(folder, &error))?;
    let write = |name: String, text: &str| {
        write_atomically(&folder.join(name), text, FilesInUse::default())
    };
    let command = command.name("arbiter");
    match format {
        ManualFormat::Man => {
            clap_mangen::generate_to(command, folder).map_err(|error| write_error(folder, &error))
        }
        ManualFormat::Markdown => {
            markdown::pages(command).into_iter().try_for_each(|(name, text)| write(name, &text))
        }
        #[cfg(feature = "json-schema")]
        ManualFormat::JsonSchema => super::schemas().iter().try_for_each(|schema| {
            let title = schema.get("title").and_then(serde_json::Value::as_str).unwrap_or_default();
            // The file name omits the version of a title such as `arbiter.sprt/1`.
            let name = title.strip_prefix("arbiter.").unwrap_or(title);
            let name = name.split_once('/').map_or(name, |(name, _)| name);
            write(format!("{name}.json"), &format!("{:#}\n", schema.as_value()))
        }),
    }
}
