//! The parts of the search that can do without each other.
//!
//! In the usual build all of them are on, at no cost. With the cargo feature `tuning` the UCI option
//! `Without` switches some off, so that a match can say what each is worth.

/// Declares parts, all of which are on.
macro_rules! parts {
    ($($(#[$about:meta])* $name:ident;)*) => {
        $(
            $(#[$about])*
            #[cfg(not(feature = "tuning"))]
            #[inline(always)]
            pub(super) const fn $name() -> bool {
                true
            }

            $(#[$about])*
            #[cfg(feature = "tuning")]
            #[inline]
            pub(super) fn $name() -> bool {
                !$name::OFF.load(std::sync::atomic::Ordering::Relaxed)
            }

            #[cfg(feature = "tuning")]
            mod $name {
                use std::sync::atomic::AtomicBool;

                pub(super) static OFF: AtomicBool = AtomicBool::new(false);
            }
        )*

        /// All parts.
        #[cfg(feature = "tuning")]
        pub static PARTS: &[Part] = &[$(Part { name: stringify!($name), off: &$name::OFF },)*];
    };
}

parts! {
    /// Windows around the last score instead of open ones.
    aspiration;
    /// The static score alone as reason for a cut-off.
    reverse_futility;
    /// Quiescence instead of a search where the static score is hopeless.
    razoring;
    /// Passing as a test.
    null_move;
    /// A search that tests what passing says.
    null_verification;
    /// Captures against a bar well over beta.
    probcut;
    /// A ply less without a table move.
    internal_reduction;
    /// Few quiet moves at low depth.
    late_move_pruning;
    /// Quiet moves skipped in hopeless positions.
    futility;
    /// Captures skipped in hopeless positions.
    capture_futility;
    /// Quiet moves skipped that lose material.
    quiet_see_pruning;
    /// Captures skipped that lose material.
    capture_see_pruning;
    /// Quiet moves skipped for their record.
    history_pruning;
    /// A ply more for the only good move, and what follows from the same test.
    singular_extensions;
    /// A second ply for a move that is better by far.
    double_extensions;
    /// A cut where several moves are good enough.
    multi_cut;
    /// A ply or two less for a table move that is not the only good one.
    negative_extensions;
    /// A ply more for sound checks.
    check_extensions;
    /// Less depth behind late moves.
    late_move_reductions;
    /// How good a reduced move is says how deep to look again.
    second_look;
    /// Quiet moves that refuted a sibling come early.
    killers;
    /// The record of quiet moves by origin and destination.
    butterfly_history;
    /// The same after the moves one and two plies ago.
    continuation_history;
    /// The same after the move four plies ago.
    distant_history;
    /// The same by structure of pawns.
    pawn_history;
    /// The record of captures.
    capture_history;
    /// Swings of the static score as part of the record.
    swing_history;
    /// The static score less its known errors.
    correction_history;
    /// Less of any advantage near the fifty-move rule.
    clock_scaling;
    /// In quiescence, captures skipped that bring too little.
    delta_pruning;
    /// More or less time for a move, as the best one changes, falls or stands out.
    pace;
}

/// A part that can be switched off.
#[cfg(feature = "tuning")]
#[derive(Debug)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    off: &'static std::sync::atomic::AtomicBool,
}

/// Switches off the parts named in a list separated by commas, and all others on.
///
/// # Errors
///
/// Names the part that there is not; nothing has changed then.
#[cfg(feature = "tuning")]
pub fn do_without(names: &str) -> Result<(), String> {
    use std::sync::atomic::Ordering;

    let names = if names.trim() == "<empty>" { "" } else { names };
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
    if let Some(unknown) = names.iter().find(|name| PARTS.iter().all(|part| part.name != *name)) {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("there is no part \"{unknown}\"; there are {}", known.join(", ")));
    }
    for part in PARTS {
        part.off.store(names.iter().any(|name| name == part.name), Ordering::Relaxed);
    }
    Ok(())
}
