//! The table of figures that can be tuned.
//!
//! In the usual build every figure is a constant. With the cargo feature `tuning` it is a setting,
//! and the UCI option of its name changes it, so that a tuner can look for a better one.

/// Declares figures, each with its value and the range in which to look for a better one.
macro_rules! figures {
    ($($(#[$about:meta])* $name:ident = $value:literal in $least:literal..=$most:literal;)*) => {
        $(
            $(#[$about])*
            #[cfg(not(feature = "tuning"))]
            #[inline(always)]
            pub(super) const fn $name() -> i32 {
                $value
            }

            $(#[$about])*
            #[cfg(feature = "tuning")]
            #[inline]
            pub(super) fn $name() -> i32 {
                $name::NOW.load(std::sync::atomic::Ordering::Relaxed)
            }

            #[cfg(feature = "tuning")]
            mod $name {
                use std::sync::atomic::AtomicI32;

                pub(super) static NOW: AtomicI32 = AtomicI32::new($value);
            }

            const _: () = assert!($least <= $value && $value <= $most);
        )*

        /// All figures.
        #[cfg(feature = "tuning")]
        pub static FIGURES: &[crate::search::tunable::Figure] = &[$(
            crate::search::tunable::Figure {
                name: stringify!($name),
                value: $value,
                range: $least..=$most,
                now: &$name::NOW,
            },
        )*];
    };
}

pub(super) use figures;

/// A figure that can be set.
#[cfg(feature = "tuning")]
#[derive(Debug)]
pub struct Figure {
    /// Its name in the table, and as an option.
    pub name: &'static str,
    /// Its value in the usual build.
    pub value: i32,
    /// The values that make sense.
    pub range: std::ops::RangeInclusive<i32>,
    pub(super) now: &'static std::sync::atomic::AtomicI32,
}

#[cfg(feature = "tuning")]
impl Figure {
    /// Sets it for searches to come, and for the one under way.
    pub fn set(&self, value: i32) {
        self.now.store(value, std::sync::atomic::Ordering::Relaxed);
    }
}
