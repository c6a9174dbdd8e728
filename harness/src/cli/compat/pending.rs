//! Wishes of a command line that no flag of ours grants yet: the one place to change when it does.

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pending {
    /// `-event`.
    pub(super) event: Option<String>,
    /// `-site`.
    pub(super) site: Option<String>,
}

impl Pending {
    /// A sentence on the first wish that cannot be granted.
    pub(super) fn refusal(&self) -> Option<String> {
        let without = |option: &str, what: &str| {
            format!("-{option}: this version of arbiter {what}; leave the option out")
        };
        let event = self.event.as_ref().map(|_| without("event", "names the event itself"));
        event.or(self.site.as_ref().map(|_| without("site", "names the site itself")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wish_is_named() {
        let text = |pending: Pending| pending.refusal().unwrap();
        assert_eq!(Pending::default().refusal(), None);
        let event = Pending { event: Some("Cup".to_owned()), ..Pending::default() };
        assert!(text(event).starts_with("-event: "));
        let site = Pending { site: Some("here".to_owned()), ..Pending::default() };
        assert!(text(site).starts_with("-site: "));
    }
}
