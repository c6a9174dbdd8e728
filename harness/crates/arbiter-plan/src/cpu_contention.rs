//! Treatment of CPU contention in games with time limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
