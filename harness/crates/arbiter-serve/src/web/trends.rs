//! What came of the commits that were tested, in the order in which that was done.

use std::collections::BTreeMap;

use arbiter_report::{
    Block, Chart, Document, Figure, Intervals, Summary, Table, interval, short_commit,
};
use arbiter_stats::elo::{Estimate, finite};

/// Commits that a figure shows at most, the latest.
const MAX_SHOWN: usize = 40;

/// A run of two engines of which the first is a commit.
#[derive(Debug, Clone)]
pub(crate) struct CommitRun {
    /// When it began, in UTC.
    pub(crate) begun: String,
    /// How it stands.
    pub(crate) summary: Summary,
}

impl CommitRun {
    /// A run, if it is one.
    pub(crate) fn of(summary: Summary, begun: String) -> Option<CommitRun> {
        let is_trial = summary.engines.len() == 2 && summary.provenance[0].is_some();
        is_trial.then_some(CommitRun { begun, summary })
    }

    fn engine(&self, index: usize) -> String {
        match &self.summary.provenance[index] {
            Some(from) => short_commit(from),
            None => self.summary.engines[index].clone(),
        }
    }

    /// Elo of the commit, with allowance for the stop if there was one.
    fn elo(&self) -> Option<Estimate> {
        let after_stop = self.summary.after_stop().map(|after| after.elo);
        after_stop.or_else(|| self.summary.strength().elo)
    }

    /// What has to be the same for figures to be of one kind: the opponent and the limits.
    fn against(&self) -> String {
        format!("{}, {}", self.engine(1), self.summary.limits_in_words())
    }
}

/// The trials, the oldest first, and the steps of `arbiter ci` as a table if there were any.
pub(crate) fn trends(trials: &[CommitRun], gates: Option<Table>) -> Document {
    let mut document = Document::new("Trends over commits".to_owned());
    document.paragraph(match trials.len() {
        0 => {
            "No run of two engines tested a commit yet: arbiter sprt --test COMMIT does.".to_owned()
        }
        count => format!(
            "{count} runs tested commits. Elo is of the commit against its opponent; only commits \
             that met the same opponent under the same limits can be told apart by it."
        ),
    });
    let mut groups: BTreeMap<String, Vec<&CommitRun>> = BTreeMap::new();
    for trial in trials {
        groups.entry(trial.against()).or_default().push(trial);
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

fn figure(against: &str, group: &[&CommitRun]) -> Option<Figure> {
    let latest = &group[group.len().saturating_sub(MAX_SHOWN)..];
    let rows: Vec<_> = latest
        .iter()
        .filter_map(|trial| {
            let elo = trial.elo()?;
            let (value, low, high) = (finite(elo.value)?, finite(elo.low)?, finite(elo.high)?);
            let day: String = trial.begun.chars().take("2000-01-01".len()).collect();
            Some((format!("{day} {}", trial.engine(0)), value, low, high))
        })
        .collect();
    (!rows.is_empty()).then(|| Figure {
        caption: format!("Elo of commits against {against} (95 %), the latest last"),
        description: format!("Elo with its interval of {} commits.", rows.len()),
        chart: Chart::Intervals(Intervals { x: "Elo", rows, level: Some(0.0) }),
        table: table(group),
    })
}

fn table(trials: &[&CommitRun]) -> Table {
    let heads = ["begun", "commit", "against", "games", "Elo (95 %)", "verdict", "what", "run"];
    let mut table = Table::new(heads);
    for trial in trials {
        let summary = &trial.summary;
        table.push([
            &trial.begun,
            &trial.engine(0),
            &trial.engine(1),
            &summary.counts.games(),
            &trial.elo().as_ref().map_or("undefined".to_owned(), interval),
            &summary.verdict().as_str(),
            &summary.about.as_deref().unwrap_or_default(),
            &summary.run,
        ]);
    }
    table
}
