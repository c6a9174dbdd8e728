//! Effects of option changes.

/// Effect of an option change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Change of the search memory.
    pub(super) change: Change,
    /// Notes to print for the user.
    pub(super) notes: Vec<&'static str>,
}

/// A change of the search memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Change {
    /// No change.
    #[default]
    None,
    /// Resize the hash table.
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
        Effect { change, notes: Vec::new() }
    }
}

impl Effect {
    /// Adds a note for the user if `reason` is true.
    pub(super) fn with_note_if(mut self, reason: bool, text: &'static str) -> Effect {
        if reason {
            self.notes.push(text);
        }
        self
    }
}
