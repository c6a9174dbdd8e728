//! Tunable search parameters.
//!
//! In a normal build, each parameter is a constant. In builds with the Cargo feature `tuning` and
//! in unit tests, each parameter is a variable, which a tuner sets with the UCI option of the same
//! name.

/// Declares parameters, with their default values and tuning ranges.
macro_rules! tunable_params {
    ($($(#[$about:meta])* $name:ident = $value:literal in $least:literal..=$most:literal;)*) => {
        $(
            $(#[$about])*
            #[cfg(not(any(test, feature = "tuning")))]
            #[inline(always)]
            pub(super) const fn $name() -> i32 {
                $value
            }

            $(#[$about])*
            #[cfg(any(test, feature = "tuning"))]
            #[inline]
            pub(super) fn $name() -> i32 {
                // Each parameter is read independently, so relaxed ordering suffices.
                $name::NOW.load(std::sync::atomic::Ordering::Relaxed)
            }

            #[cfg(any(test, feature = "tuning"))]
            mod $name {
                use std::sync::atomic::AtomicI32;

                pub(super) static NOW: AtomicI32 = AtomicI32::new($value);
            }

            const _: () = assert!($least <= $value && $value <= $most);
        )*

        /// All tunable parameters.
        #[cfg(any(test, feature = "tuning"))]
        pub static PARAMS: &[crate::search::tunable::Param] = &[$(
            crate::search::tunable::Param {
                name: stringify!($name),
                value: $value,
                range: $least..=$most,
                now: &$name::NOW,
            },
        )*];
    };
}

pub(super) use tunable_params;

/// A tunable parameter.
#[cfg(any(test, feature = "tuning"))]
#[derive(Debug)]
pub struct Param {
    /// Name of the parameter and of its UCI option.
    pub name: &'static str,
    /// Default value.
    pub value: i32,
    /// Range for tuning.
    pub range: std::ops::RangeInclusive<i32>,
    pub(super) now: &'static std::sync::atomic::AtomicI32,
}

#[cfg(any(test, feature = "tuning"))]
impl Param {
    /// Sets the value. The change also affects a running search.
    pub fn set(&self, value: i32) {
        self.now.store(value, std::sync::atomic::Ordering::Relaxed);
    }
}
