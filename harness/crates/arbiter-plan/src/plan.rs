//! Plan of a run, with every default explicit. A plan is stored with the run, and a resumed run
//! uses only the stored plan.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, Same};

use crate::{Ablation, Affinity, Engine, base_name};
use arbiter_game::adjudicate::Rules;
use arbiter_game::annotation::{Annotation, Keeping};
use arbiter_openings::{Order, ReadOptions};
use arbiter_protocol::times::{DeadlinesMs, Millis};
use arbiter_protocol::{Deadlines, Limits};
use arbiter_schedule::{Design, Schedule};
use arbiter_spsa::{SpsaState, Tuning};
use arbiter_stats::Sprt;

/// Kind of a run, named after its subcommand in the store and in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// Sequential test (SPRT) of the first engine against the second.
    Sprt,
    /// Match of a fixed number of pairs.
    #[default]
    Match,
    /// Tournament of two or more engines.
    Tournament,
    /// Measurement of the Elo value of each feature of an engine.
    Ablate,
    /// Tuning of an engine's parameters.
    Tune,
}

arbiter_names::named!(RunKind);

/// Resolved settings of a run. Fields that are skipped in serialization are stored separately from
/// the plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Plan {
    /// Kind of the run.
    pub kind: RunKind,
    /// Engines of the run; figures are from the point of view of the first engine.
    #[serde(skip)]
    pub engines: Vec<Engine>,
    /// File of the opening book; `None` for the bundled book or, if `has_no_book` is `true`, for no
    /// book.
    pub book: Option<PathBuf>,
    /// `true` if all games start from the initial position, without a book.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_no_book: bool,
    /// Settings for reading the book.
    #[serde(flatten)]
    pub reading: ReadOptions,
    /// Number of openings in the book; `None` before the book is read, and in runs from stores of
    /// format 13.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book_length: Option<u64>,
    /// Order of the openings.
    pub order: Order,
    /// Seed of all random choices.
    pub seed: u64,
    /// Index of the run's first opening, from 0 in the order of the book.
    pub opening_start: u64,
    /// Design of the tournament.
    #[serde(flatten)]
    pub design: Design,
    /// Pause between consecutive games of a slot.
    #[serde(rename = "wait_ms", with = "Millis")]
    pub wait: Duration,
    /// Number of concurrent games.
    pub concurrency: usize,
    /// Assignment of processors to games.
    #[serde(with = "As::<DisplayFromStr>")]
    pub affinity: Affinity,
    /// Sequential test (SPRT) that ends each encounter; `None` if the run has no test.
    pub sprt: Option<Sprt>,
    /// Results of earlier games that another program played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Prior>,
    /// Features to disable, if the run is an ablation; each engine after the first engine lacks one
    /// of these features.
    pub ablation: Option<Ablation>,
    /// Parameters and gain schedule, if the run is a tuning run; the two engines then differ only
    /// in their names.
    #[serde(with = "As::<Option<Arc<Same>>>")]
    pub tuning: Option<Arc<Tuning>>,
    /// Maximum share of games, 0 to 1, that may end with an engine fault in a valid run.
    pub fault_limit: f64,
    /// Scale factor of the engines' times, if the times differ from the request.
    pub scale: Option<Scale>,
    /// Adjudication rules, which end games early.
    #[serde(flatten)]
    pub rules: Rules,
    /// Folders of the tablebases that the rules need.
    #[serde(skip)]
    pub tables: Vec<PathBuf>,
    /// Maximum difference between the shares of thinking time, 0 to 1, that the two engines of a
    /// pair spend waiting for a processor; `None` if this time is not measured.
    pub noise_limit: Option<f64>,
    /// `true` to count pairs that may have been decided by CPU contention; if `false`, these pairs
    /// are played again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_disturbed: bool,
    /// `true` to omit options that an engine lacks or rejects, to start in a later pass through the
    /// book if the first opening is beyond the end of the book, and to count repeated pairs.
    /// Otherwise, such options and such a first opening are errors, and repeated pairs do not
    /// count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lenient: bool,
    /// Timeouts for replies of engines.
    #[serde(rename = "deadlines_ms", with = "DeadlinesMs")]
    pub deadlines: Deadlines,
    /// PGN file for the games, in addition to the store.
    pub pgn: Option<PathBuf>,
    /// Contents of the PGN besides the moves.
    #[serde(skip)]
    pub annotation: Annotation,
    /// EPD file for final positions.
    #[serde(skip)]
    pub epd: Option<PathBuf>,
    /// Games whose transcripts are kept.
    #[serde(skip)]
    pub transcripts: Keeping,
}

/// Default maximum difference between the shares of thinking time, 0 to 1, that the two engines of
/// a pair spend waiting for a processor. `docs/guarantees.md` shows the simulated effect on
/// results.
pub const DEFAULT_NOISE_LIMIT: f64 = 0.25;

/// Treatment of CPU contention in games with time limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CpuContention {
    /// Pairs that contention may have decided are void and played again, the second time at the end
    /// of the run with fewer concurrent games.
    #[default]
    Discard,
    /// Pairs that contention may have decided count and are reported.
    Report,
    /// CPU contention is not measured.
    Off,
}

arbiter_names::named!(CpuContention);

/// Scale of the times of a run: a slower machine gives more time, so that engines search as many
/// nodes as on the reference machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scale {
    /// Nodes per second for which the times were chosen; positive.
    pub reference_nps: f64,
    /// Nodes per second measured by the bench on this machine, with as many parallel copies as
    /// concurrent games; positive.
    pub measured_nps: f64,
}

impl Scale {
    /// Returns the factor by which all times are multiplied.
    pub fn factor(self) -> f64 {
        self.reference_nps / self.measured_nps
    }

    /// Returns limits with all times scaled. Time that is counted in nodes is not scaled.
    pub fn applied(self, limits: Limits) -> Limits {
        if limits.nodestime.is_some() { limits } else { limits.scaled(self.factor()) }
    }

    /// Returns the scale factor and both speeds as text for a report.
    pub fn describe(self) -> String {
        format!(
            "times scaled by {:.3}: {:.0} nodes per second measured, reference {:.0}",
            self.factor(),
            self.measured_nps,
            self.reference_nps
        )
    }
}

/// Results of games that another program played with the first two engines. The games count, but
/// are not in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prior {
    /// Numbers of pairs by the results of the first engine (0: lost, 1: drawn, 2: won).
    /// `table[a][b]` is the number of pairs with result `a` in the game in which this engine is
    /// White, and `b` in the other game.
    pub table: [[u64; 3]; 3],
    /// Numbers of lost, drawn and won games that are not part of a pair, from the point of view of
    /// the first engine: games with this engine as White, then as Black.
    pub singles: [[u64; 3]; 2],
}

impl Prior {
    /// Returns the number of games.
    pub fn games(&self) -> u64 {
        2 * self.table.iter().flatten().sum::<u64>() + self.singles.iter().flatten().sum::<u64>()
    }
}

impl Plan {
    /// Returns the schedule before the first result.
    pub fn schedule(&self) -> Schedule {
        let schedule = Schedule::new(self.design, self.engines.len(), self.seed);
        match &self.tuning {
            Some(tuning) => schedule.with_rounds_ahead(tuning.ahead),
            None => schedule,
        }
    }

    /// Returns the tuning state before the first result; `None` unless the run is a tuning run.
    pub fn spsa(&self) -> Option<SpsaState> {
        self.tuning.as_ref().map(|tuning| SpsaState::new(tuning.clone(), self.seed))
    }

    /// Returns the engines that the user named, without the engines derived for an ablation or a
    /// tuning run.
    pub fn own_engines(&self) -> impl Iterator<Item = (&str, &Engine)> {
        let is_one = self.ablation.is_some() || self.tuning.is_some();
        let count = if is_one { 1 } else { self.engines.len() };
        self.engines.iter().take(count).map(|engine| match &self.tuning {
            Some(_) => (base_name(&engine.name), engine),
            None => (engine.name.as_str(), engine),
        })
    }

    /// Returns the treatment of CPU contention.
    pub fn cpu_contention(&self) -> CpuContention {
        match (self.noise_limit, self.counts_disturbed) {
            (None, _) => CpuContention::Off,
            (Some(_), true) => CpuContention::Report,
            (Some(_), false) => CpuContention::Discard,
        }
    }

    /// Returns whether any engine has a time limit that is not counted in nodes; without such a
    /// limit, deterministic engines repeat their games.
    pub fn is_timed(&self) -> bool {
        self.engines.iter().any(|engine| engine.conditions.limits.is_timed())
    }
}
