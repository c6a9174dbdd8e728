//! Page of the results of tested commits, in the order of their tests, or in that of a branch.

use std::collections::BTreeMap;

use maud::html;

use super::{NavPage, fragments, joined, option, page};
use crate::asked::Asked;
use arbiter_names::counted;
use arbiter_report::{
    Block, Chart, Document, Figure, Intervals, LogEntry, Summary, Table, short_commit,
};

/// Most commits in a figure, the latest.
const MAX_SHOWN: usize = 40;

/// Returns the name of an engine by its commit, or else its name.
fn engine(summary: &Summary, index: usize) -> String {
    match &summary.plan.engines[index].provenance {
        Some(from) => short_commit(from),
        None => summary.engines[index].clone(),
    }
}

/// Returns what figures must have in common to be comparable: the opponent and the limits.
fn against(summary: &Summary) -> String {
    format!("{}, {}", engine(summary, 1), summary.limits_in_words())
}

/// Branch whose commits are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Branch {
    /// Name of the branch.
    pub(crate) name: String,
    /// Number of runs of tested commits that are not on the branch.
    pub(crate) elsewhere: usize,
}

/// Returns the document of the runs of two engines whose first is a commit, in order, with the
/// steps of `arbiter ci` as a table if there were any.
pub(crate) fn trends(
    trials: &[LogEntry],
    branch: Option<&Branch>,
    gates: Option<Table>,
) -> Document {
    let mut document = Document::new("Trends over commits".to_owned());
    document.paragraph(match (trials.len(), branch) {
        (0, None) => "No commits tested yet. Test one with arbiter sprt COMMIT BASE.".to_owned(),
        (count, branch) => {
            let tested = match branch {
                None => format!("Commits tested: {count}."),
                Some(Branch { name, elsewhere }) => format!(
                    "{} of commits of {name}, in branch order; {} of other commits.",
                    counted(count, "run"),
                    counted(*elsewhere, "run")
                ),
            };
            format!(
                "{tested} Elo of the commit against its opponent; compare only commits with the \
                 same opponent and limits."
            )
        }
    });
    let mut groups: BTreeMap<String, Vec<&LogEntry>> = BTreeMap::new();
    for trial in trials {
        groups.entry(against(&trial.summary)).or_default().push(trial);
    }
    for (against, group) in groups.iter().filter(|(_, group)| group.len() > 1) {
        document.heading(format!("Against {against}"));
        document.blocks.extend(figure(against, group).map(Block::Figure));
    }
    if !trials.is_empty() {
        document.heading("All commits");
        document.table(table(&trials.iter().collect::<Vec<_>>()));
    }
    if let Some(gates) = gates {
        document.heading("Gates");
        document.table(gates);
    }
    document
}

/// Returns the page, with a form to choose a branch.
pub(crate) fn trends_page(asked: &Asked, branches: &[String], document: &Document) -> String {
    let body = html! {
        @if !branches.is_empty() {
            form class="filter" aria-label="Order" {
                label { "Commits of " select name="branch" {
                    (option(asked, "branch", "", "all, in order of testing"))
                    @for branch in branches { (option(asked, "branch", branch, branch)) }
                } }
                button { "Show" }
            }
        }
        (joined(&fragments(document)))
    };
    page(NavPage::Trends, &document.title, None, &body)
}

fn figure(against: &str, group: &[&LogEntry]) -> Option<Figure> {
    let latest = &group[group.len().saturating_sub(MAX_SHOWN)..];
    let rows: Vec<_> = latest
        .iter()
        .filter_map(|trial| {
            // A bound is drawn as an arrow.
            let elo = trial.summary.strength().elo?;
            // The day without its year leaves room for both on a telephone.
            let day: String =
                trial.started.chars().skip("2000-".len()).take("01-01".len()).collect();
            Some((format!("{} {day}", engine(&trial.summary, 0)), elo.value, elo.low, elo.high))
        })
        .collect();
    rows.first()?;
    let caption = format!("Elo of commits against {against} (95 %), newest last");
    let description = format!("Elo with its interval of {} commits.", rows.len());
    let chart = Intervals { x: "Elo", rows, level: Some(0.0), engines: Vec::new() };
    let chart = Chart::Intervals(chart);
    Some(Figure { caption, description, chart, table: table(group) })
}

fn table(trials: &[&LogEntry]) -> Table {
    let heads =
        ["started (UTC)", "commit", "against", "games", "Elo (95 %)", "verdict", "what", "run"];
    let mut table = Table::new(heads);
    for trial in trials {
        let summary = &trial.summary;
        table.push([
            &trial.started,
            &engine(&trial.summary, 0),
            &engine(&trial.summary, 1),
            &summary.counts.games(),
            &summary.strength().elo_in_words(),
            &summary.verdict(),
            &summary.about.as_deref().unwrap_or_default(),
            &summary.run,
        ]);
        table.link("run", format!("/runs/{}", summary.run));
    }
    table
}
