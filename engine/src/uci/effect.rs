//! Effects of setting an option.

/// Effect of setting an option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Change of the memory.
    pub(super) change: Change,
    /// Notes to the user.
    pub(super) tell: Vec<&'static str>,
}

/// A change of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Change {
    /// No change.
    #[default]
    None,
    /// Resize the table.
    Resize,
    /// Switch to another personality.
    Personality,
    /// Clear the memory.
    Clear,
    /// Change the number of threads.
    SetThreads,
}

impl From<Change> for Effect {
    fn from(change: Change) -> Effect {
        Effect { change, tell: Vec::new() }
    }
}

impl Effect {
    /// Adds a note to the user if `reason` is true.
    pub(super) fn and_tell(mut self, reason: bool, text: &'static str) -> Effect {
        if reason {
            self.tell.push(text);
        }
        self
    }
}
