//! How single values are written: times as whole numbers, choices by their names.

use std::convert::Infallible;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_with::{DeserializeAs, SerializeAs, serde_conv};

use arbiter_openings::Order;
use arbiter_plan::plan::Kind;
use arbiter_protocol::Deadlines;
use arbiter_schedule::{Format, OpeningPolicy};
use arbiter_stats::{Correction, Model};

/// Whole nanoseconds; as many as fit into 64 bits.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whole milliseconds, rounded down; as many as fit into 64 bits.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

serde_conv!(
    /// A time as [`nanos`].
    pub Nanos,
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

/// One of a few values by its name.
#[derive(Debug)]
pub struct Name;

/// What [`Name`] needs to know of a type.
trait Named: Copy + 'static {
    const VALUES: &'static [Self];

    fn name(self) -> &'static str;
}

macro_rules! named {
    ($($type:ty: $values:expr;)*) => { $(
        impl Named for $type {
            const VALUES: &'static [$type] = &$values;

            fn name(self) -> &'static str {
                self.as_str()
            }
        }
    )* };
}

named! {
    Correction: [Correction::None, Correction::Dynamic];
    Format: Format::ALL;
    Kind: Kind::ALL;
    Model: [Model::Normalized, Model::Logistic, Model::Bayesian];
    OpeningPolicy: OpeningPolicy::ALL;
    Order: [Order::Sequential, Order::Random];
}

impl<T: Named> SerializeAs<T> for Name {
    fn serialize_as<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value.name())
    }
}

impl<'de, T: Named> DeserializeAs<'de, T> for Name {
    fn deserialize_as<D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let name = String::deserialize(from)?;
        let found = T::VALUES.iter().copied().find(|value| value.name() == name);
        found.ok_or_else(|| D::Error::custom(format!("'{name}' is not known")))
    }
}

/// Makes mirrors usable inside of other types: `As::<Option<ScaleDef>>`.
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
