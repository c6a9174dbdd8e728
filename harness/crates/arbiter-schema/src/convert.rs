//! How single values are written: times as whole numbers.

use std::convert::Infallible;
use std::time::Duration;

use serde_with::serde_conv;

use arbiter_protocol::Deadlines;

/// Whole nanoseconds; as many as fit into 64 bits.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whole milliseconds, rounded down; as many as fit into 64 bits.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

serde_conv!(
    /// A time as [`nanos`].
    pub(crate) Nanos,
    Duration,
    |time: &Duration| nanos(*time),
    |time| Ok::<_, Infallible>(Duration::from_nanos(time))
);

serde_conv!(
    /// A time as [`millis`].
    pub Millis,
    Duration,
    |time: &Duration| millis(*time),
    |time| Ok::<_, Infallible>(Duration::from_millis(time))
);

serde_conv!(
    /// Milliseconds to `uciok`, to `readyok`, to `bestmove` and from `stop` to `bestmove`.
    pub DeadlinesMs,
    Deadlines,
    |d: &Deadlines| [d.uciok, d.readyok, d.bestmove, d.stop].map(millis),
    |times: [u64; 4]| {
        let [uciok, readyok, bestmove, stop] = times.map(Duration::from_millis);
        Ok::<_, Infallible>(Deadlines { uciok, readyok, bestmove, stop })
    }
);

/// Makes mirrors usable inside of other types: `As::<Option<TuningDef>>`.
#[macro_export]
macro_rules! mirrors {
    ($($mirror:ident: $type:ty;)*) => { $(
        impl serde_with::SerializeAs<$type> for $mirror {
            fn serialize_as<S: serde::Serializer>(
                value: &$type,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                $mirror::serialize(value, serializer)
            }
        }

        impl<'de> serde_with::DeserializeAs<'de, $type> for $mirror {
            fn deserialize_as<D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                $mirror::deserialize(from)
            }
        }
    )* };
}
