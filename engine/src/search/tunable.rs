//! Tunable search parameters.
//!
//! In a normal build every parameter is a constant. With the cargo feature `tuning`, and in unit
//! tests, it is a variable that the UCI option of its name sets, for a tuner.

/// Declares parameters, each with its value and the range in which to tune it.
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
                // Each parameter is read on its own, so its order to other memory does not matter.
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
    /// Its name, also as a UCI option.
    pub name: &'static str,
    /// Its default value.
    pub value: i32,
    /// The range in which to tune it.
    pub range: std::ops::RangeInclusive<i32>,
    pub(super) now: &'static std::sync::atomic::AtomicI32,
}

#[cfg(any(test, feature = "tuning"))]
impl Param {
    /// Sets the value, for a running search too.
    pub fn set(&self, value: i32) {
        self.now.store(value, std::sync::atomic::Ordering::Relaxed);
    }
}
