//! The manual as Markdown pages, one per command. (`clap-markdown` writes a single page, without
//! sections for groups of flags, for examples and for exit codes.)

use clap::{Arg, Command};

/// Returns the names and contents of the files: a page for each command, and a list of all
/// commands.
pub(super) fn pages(mut command: Command) -> Vec<(String, String)> {
    command.build();
    let mut index = "# Commands\n\n| command | |\n| --- | --- |\n".to_owned();
    let mut pages = Vec::new();
    collect(&command, &mut index, &mut pages);
    pages.push(("index.md".to_owned(), index));
    pages
}

/// Returns the visible subcommands, without `help`.
fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
}

/// Adds the pages of all commands below `parent`, and their rows in the list.
fn collect(parent: &Command, index: &mut String, pages: &mut Vec<(String, String)>) {
    for command in subcommands(parent) {
        let name = full_name(command);
        let file = file_name(command);
        let about = prose(&text(command.get_about()));
        *index += &format!("| [`{name}`]({file}) | {} |\n", about.replace('|', "\\|"));
        pages.push((file, page(command)));
        collect(command, index, pages);
    }
}

/// Returns the full name of a command, such as `arbiter results list`.
fn full_name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or(command.get_name())
}

/// Returns the file name of a command's page, such as `results-list.md`.
fn file_name(command: &Command) -> String {
    let name = full_name(command).trim_start_matches("arbiter ").replace(' ', "-");
    format!("{name}.md")
}

fn page(command: &Command) -> String {
    let about = text(command.get_long_about().or(command.get_about()));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let mut page =
        format!("# {}\n\n{}\n\n```text\n{usage}\n```\n", full_name(command), paragraphs(&about));
    let after = text(command.get_after_long_help().or(command.get_after_help()));
    let (last, first): (Vec<_>, Vec<_>) = after
        .split("\n\n")
        .filter(|paragraph| !paragraph.trim().is_empty())
        .partition(|paragraph| section(paragraph).is_some());
    for paragraph in first {
        page += &format!("\n{}\n", paragraphs(paragraph));
    }
    let inner: Vec<&Command> = subcommands(command).collect();
    if !inner.is_empty() {
        page += "\n## Commands\n\n| command | |\n| --- | --- |\n";
        for inner in inner {
            let about = prose(&text(inner.get_about()));
            let file = file_name(inner);
            page += &format!("| [`{}`]({file}) | {about} |\n", inner.get_name());
        }
    }
    page += &flags(command);
    for (heading, rest) in last.into_iter().filter_map(section) {
        page += &format!("\n## {heading}\n\n{}\n", paragraphs(rest));
    }
    page
}

/// Splits a paragraph of examples or exit codes into heading and text; `None` for other paragraphs.
fn section(paragraph: &str) -> Option<(&'static str, &str)> {
    ["Examples", "Exit codes"].into_iter().find_map(|heading| {
        let rest = paragraph.trim_start().strip_prefix(heading)?.strip_prefix(':')?;
        Some((heading, rest.strip_prefix([' ', '\n']).unwrap_or(rest)))
    })
}

/// Returns the sections of all flags, grouped by their headings, in the order of the help.
fn flags(command: &Command) -> String {
    let mut groups: Vec<(&str, String)> = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let heading = arg.get_help_heading().unwrap_or("Options");
        let heading = if arg.is_positional() { "Arguments" } else { heading };
        match groups.iter_mut().find(|(other, _)| *other == heading) {
            Some((_, sections)) => *sections += &flag(arg),
            None => groups.push((heading, format!("\n## {heading}\n{}", flag(arg)))),
        }
    }
    groups.into_iter().map(|(_, sections)| sections).collect()
}

/// Returns a flag as a section, so that other pages can link to it.
fn flag(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let anchor = arg.get_long().unwrap_or(arg.get_id().as_str());
    let help = text(arg.get_long_help().or(arg.get_help()));
    let mut section = format!("\n### `{short}{arg}` {{#{anchor}}}\n\n{}\n", paragraphs(&help));
    if !arg.get_action().takes_values() {
        return section;
    }
    let mut list = String::new();
    for value in arg.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
        let help = value.get_help().map(|help| format!(": {}", prose(&help.to_string())));
        list += &format!("- `{}`{}\n", value.get_name(), help.unwrap_or_default());
    }
    if !list.is_empty() {
        section += &format!("\n{list}");
    }
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults = defaults.collect::<Vec<_>>().join(" ");
    if !defaults.is_empty() && !arg.is_hide_default_value_set() {
        section += &format!("\nDefault: `{defaults}`\n");
    }
    section
}

fn text(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// Converts a help text to Markdown; paragraphs with indented lines become code blocks.
fn paragraphs(text: &str) -> String {
    let each = text.split("\n\n").map(|paragraph| {
        let paragraph = paragraph.trim_matches('\n');
        if paragraph.lines().any(|line| line.starts_with(' ')) {
            format!("```text\n{paragraph}\n```")
        } else {
            prose(paragraph)
        }
    });
    each.collect::<Vec<_>>().join("\n\n").trim().to_owned()
}

/// Escapes Markdown markup, except in code between backticks.
fn prose(text: &str) -> String {
    let mut escaped = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            escaped.push('`');
        }
        for letter in part.chars() {
            if index % 2 == 0 && "\\*_<>[]|#{}".contains(letter) {
                escaped.push('\\');
            }
            escaped.push(letter);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(name: &str) -> String {
        let command = Command::new("arbiter").subcommand(
            Command::new("show")
                .about("Shows <RUN>s")
                .long_about("Shows <RUN>s.\n\nThat `is_it`.")
                .after_help("More:\n  a b\n\nExamples:\n  arbiter show x\n\nExit codes: 0 if so.")
                .arg(Arg::new("run").help("The run"))
                .arg(Arg::new("plies").short('p').long("plies").default_value("8").help("How many"))
                .arg(
                    Arg::new("form")
                        .long("form")
                        .help_heading("Form")
                        .value_parser(["text", "json"])
                        .help("A form, as *.md"),
                ),
        );
        let pages = pages(command);
        pages.into_iter().find(|(file, _)| file == name).expect("it is there").1
    }

    #[test]
    fn manual_pages_contain_the_help() {
        let page = page_of("show.md");
        for part in [
            "# arbiter show\n\nShows \\<RUN\\>s.\n\nThat `is_it`.\n\n```text\narbiter show [OPTIONS]",
            "```\n\n```text\nMore:\n  a b\n```\n",
            "## Arguments\n\n### `[run]` {#run}\n\nThe run\n",
            "## Options\n\n### `-p, --plies <plies>` {#plies}\n\nHow many\n\nDefault: `8`\n",
            "## Form\n\n### `--form <form>` {#form}\n\nA form, as \\*.md\n\n- `text`\n- `json`\n",
            "## Examples\n\n```text\n  arbiter show x\n```\n\n## Exit codes\n\n0 if so.\n",
        ] {
            assert!(page.contains(part), "{part}\nis not in\n{page}");
        }
        assert!(
            page_of("index.md").ends_with("| [`arbiter show`](show.md) | Shows \\<RUN\\>s |\n")
        );
    }
}
