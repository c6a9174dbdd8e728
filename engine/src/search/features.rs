//! Search features that can be disabled by name.
//!
//! In a normal build, each feature is a constant `true`. In builds with the Cargo feature `tuning`
//! and in unit tests, features can be disabled (UCI option `Without`), so that a match can measure
//! the value of each feature.

/// Declares features, and defines for each feature a function that returns whether the feature is
/// enabled.
macro_rules! features {
    ($($(#[$about:meta])* $name:ident;)*) => {
        $(
            $(#[$about])*
            #[cfg(not(any(test, feature = "tuning")))]
            #[inline(always)]
            pub(super) const fn $name() -> bool {
                true
            }

            $(#[$about])*
            #[cfg(any(test, feature = "tuning"))]
            #[inline]
            pub(super) fn $name() -> bool {
                !$name::OFF.load(std::sync::atomic::Ordering::Relaxed)
            }

            #[cfg(any(test, feature = "tuning"))]
            mod $name {
                use std::sync::atomic::AtomicBool;

                pub(super) static OFF: AtomicBool = AtomicBool::new(false);
            }
        )*

        /// All features of the search.
        #[cfg(any(test, feature = "tuning"))]
        pub static SEARCH_FEATURES: &[SearchFeature] = &[
            $(SearchFeature { name: stringify!($name), off: &$name::OFF },)*
        ];
    };
}

features! {
    /// Aspiration windows.
    aspiration;
    /// Reverse futility pruning (static null move pruning).
    reverse_futility;
    /// Razoring: quiescence search where the static evaluation is far below alpha.
    razoring;
    /// Null move pruning.
    null_move;
    /// Verification search after a null move cutoff at high depth.
    null_verification;
    /// ProbCut.
    probcut;
    /// Internal iterative reduction: one ply less if there is no move from the transposition table.
    internal_reduction;
    /// Late move pruning (move count pruning).
    late_move_pruning;
    /// Futility pruning of quiet moves.
    futility;
    /// Futility pruning of captures.
    capture_futility;
    /// SEE pruning of quiet moves.
    quiet_see_pruning;
    /// SEE pruning of captures.
    capture_see_pruning;
    /// History pruning of quiet moves.
    history_pruning;
    /// Singular extensions, and all features that depend on the singular search.
    singular_extensions;
    /// Double extensions after the singular search.
    double_extensions;
    /// Multi-cut after the singular search.
    multi_cut;
    /// Negative extensions after the singular search.
    negative_extensions;
    /// Late move reductions.
    late_move_reductions;
    /// Adjustment of the re-search depth according to the score of the reduced search.
    second_look;
    /// Killer moves.
    killers;
    /// Butterfly history: quiet moves by origin and destination, and by whether these squares are
    /// attacked.
    butterfly_history;
    /// Continuation history by the moves one and two plies ago.
    continuation_history;
    /// Continuation history by the move four plies ago.
    distant_history;
    /// Pawn history: quiet moves by pawn structure.
    pawn_history;
    /// Capture history.
    capture_history;
    /// History bonus for the change of the static evaluation.
    swing_history;
    /// Correction history.
    correction_history;
    /// Scaling of the static evaluation by the half-move clock.
    clock_scaling;
    /// Delta pruning in the quiescence search.
    delta_pruning;
    /// Time management by best move stability, score drops and node share.
    pace;
}

/// Search feature that can be disabled.
#[cfg(any(test, feature = "tuning"))]
#[derive(Debug)]
pub struct SearchFeature {
    /// Name in the option `Without`.
    pub name: &'static str,
    off: &'static std::sync::atomic::AtomicBool,
}

/// Disables the features in a comma-separated list of names, and enables all other features.
///
/// # Errors
///
/// Returns a message with the first unknown name and all known names; in this case, no feature
/// changes.
#[cfg(any(test, feature = "tuning"))]
pub fn disable_features(names: &str) -> Result<(), String> {
    use std::sync::atomic::Ordering;

    let names = if names.trim() == "<empty>" { "" } else { names };
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
    if let Some(unknown) =
        names.iter().find(|name| SEARCH_FEATURES.iter().all(|feature| feature.name != *name))
    {
        let known: Vec<&str> = SEARCH_FEATURES.iter().map(|feature| feature.name).collect();
        return Err(format!(
            "unknown search feature \"{unknown}\"; the features are {}",
            known.join(", ")
        ));
    }
    for feature in SEARCH_FEATURES {
        feature.off.store(names.iter().any(|name| name == feature.name), Ordering::Relaxed);
    }
    Ok(())
}
