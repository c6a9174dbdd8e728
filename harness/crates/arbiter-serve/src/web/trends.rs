//! What came of the commits that were tested, in the order in which that was done, or in that of a branch.

use std::collections::BTreeMap;

use maud::html;

use super::{NavPage, fragments, joined, option, page};
use crate::asked::Asked;
use arbiter_names::counted;
use arbiter_report::{
    Block, Chart, Document, Figure, Intervals, LogEntry, Summary, Table, short_commit,
};

/// Commits that a figure shows at most, the latest.
const MAX_SHOWN: usize = 40;

/// An engine by its commit, or else by its name.
fn engine(summary: &Summary, index: usize) -> String {
    match &summary.plan.engines[index].provenance {
        Some(from) => short_commit(from),
        None => summary.engines[index].clone(),
    }
}

/// What has to be the same for figures to be of one kind: the opponent and the limits.
fn against(summary: &Summary) -> String {
    format!("{}, {}", engine(summary, 1), summary.limits_in_words())
}

/// The branch whose commits are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Branch {
    /// Its name.
    pub(crate) name: String,
    /// Tested commits that are not on it.
    pub(crate) elsewhere: usize,
}

/// The runs of two engines of which the first is a commit, in order, and the steps of `arbiter ci` as a table
/// if there were any.
pub(crate) fn trends(
    trials: &[LogEntry],
    branch: Option<&Branch>,
    gates: Option<Table>,
) -> Document {
    let mut document = Document::new("Trends over commits".to_owned());
    document.paragraph(match (trials.len(), branch) {
        (0, None) => {
            "No run of two engines tested a commit yet: arbiter sprt COMMIT BASE does.".to_owned()
        }
        (count, branch) => {
            let tested = match branch {
                None => format!("{count} runs tested commits."),
                Some(Branch { name, elsewhere }) => format!(
                    "{} of commits of {name}, in the order of that branch; {} of commits that are not on it.",
                    counted(count, "run"),
                    counted(*elsewhere, "run")
                ),
            };
            format!(
                "{tested} Elo is of the commit against its opponent; only commits that met the same \
                 opponent under the same limits can be told apart by it."
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

/// The page, where a branch can be chosen.
pub(crate) fn trends_page(asked: &Asked, branches: &[String], document: &Document) -> String {
    let body = html! {
        @if !branches.is_empty() {
            form class="filter" aria-label="Order" {
                label { "Commits of " select name="branch" {
                    (option(asked, "branch", "", "all, as they were tested"))
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
            // A bound is an arrow.
            let elo = trial.summary.strength().elo?;
            // Month and day, so that a telephone has room for both.
            let day: String =
                trial.started.chars().skip("2000-".len()).take("01-01".len()).collect();
            Some((format!("{} {day}", engine(&trial.summary, 0)), elo.value, elo.low, elo.high))
        })
        .collect();
    rows.first()?;
    let caption = format!("Elo of commits against {against} (95 %), the latest last");
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
