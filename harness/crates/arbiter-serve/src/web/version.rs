//! Version of a page, shared by its viewers: the fragments, and the version in which each fragment
//! last changed. A viewer with an older version gets all changes since that version, even if the
//! viewer skipped versions.

use std::collections::HashMap;

use serde_json::json;

use super::Fragment;

/// Version of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PageVersion {
    /// Number of the version, from 1.
    pub(crate) version: u64,
    /// All fragments of the page, in order.
    pub(crate) fragments: Vec<Fragment>,
    /// Version in which each fragment last changed.
    changed: Vec<u64>,
    /// Version in which fragments were last added, removed or moved.
    ordered: u64,
    /// Changes since the previous version, as JSON; most viewers need only these changes.
    newest: String,
}

impl PageVersion {
    /// Returns the next version; `None` if nothing changed. Version 0 is the state of a page before
    /// version 1.
    pub(crate) fn next(&self, fragments: Vec<Fragment>) -> Option<PageVersion> {
        if fragments == self.fragments && self.version > 0 {
            return None;
        }
        let version = self.version + 1;
        let old = self.fragments.iter().zip(&self.changed);
        let old: HashMap<&str, _> =
            old.map(|(fragment, since)| (fragment.id.as_str(), (fragment, since))).collect();
        let before = |fragment: &Fragment| {
            let (was, since) = old.get(fragment.id.as_str())?;
            (was.html == fragment.html).then_some(**since)
        };
        let changed =
            fragments.iter().map(|fragment| before(fragment).unwrap_or(version)).collect();
        let is_ordered = ids(&fragments) == ids(&self.fragments);
        let ordered = if is_ordered { self.ordered } else { version };
        let mut next = PageVersion { version, fragments, changed, ordered, newest: String::new() };
        next.newest = next.compose(self.version);
        Some(next)
    }

    /// Returns one line of JSON for a viewer that has version `version`: the fragments that have
    /// changed since that version, and the order of all fragments if the order has changed.
    pub(crate) fn since(&self, version: u64) -> String {
        if version + 1 == self.version { self.newest.clone() } else { self.compose(version) }
    }

    fn compose(&self, seen_version: u64) -> String {
        let changed =
            self.fragments.iter().zip(&self.changed).filter(|(_, since)| **since > seen_version);
        let changed: Vec<_> =
            changed.map(|(fragment, _)| json!([fragment.id, fragment.html])).collect();
        let order = (self.ordered > seen_version).then(|| ids(&self.fragments));
        json!({ "parts": changed, "order": order }).to_string()
    }
}

/// Returns the IDs of fragments, in order.
fn ids(fragments: &[Fragment]) -> Vec<&str> {
    fragments.iter().map(|fragment| fragment.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn fragments(texts: &[(&str, &str)]) -> Vec<Fragment> {
        texts.iter().map(|(id, html)| Fragment { id: (*id).into(), html: (*html).into() }).collect()
    }

    fn read(text: &str) -> Value {
        assert!(!text.contains('\n'), "events are lines");
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_viewer_receives_only_changes() {
        let first = PageVersion::default().next(fragments(&[("a", "1\n"), ("b", "1")])).unwrap();
        let all = json!({ "parts": [["a", "1\n"], ["b", "1"]], "order": ["a", "b"] });
        assert_eq!(read(&first.since(0)), all);
        assert_eq!(first.next(first.fragments.clone()), None);
        let second = first.next(fragments(&[("a", "1\n"), ("b", "2")])).unwrap();
        assert_eq!(read(&second.since(1)), json!({ "parts": [["b", "2"]], "order": null }));
        let third = second.next(fragments(&[("c", "3"), ("a", "1\n"), ("b", "2")])).unwrap();
        let order = json!(["c", "a", "b"]);
        assert_eq!(read(&third.since(2)), json!({ "parts": [["c", "3"]], "order": order }));
        // A viewer that skipped a version gets all changes.
        let both = json!({ "parts": [["c", "3"], ["b", "2"]], "order": order });
        assert_eq!(read(&third.since(1)), both);
        let fourth = third.next(fragments(&[("c", "3"), ("b", "2")])).unwrap();
        assert_eq!(read(&fourth.since(3)), json!({ "parts": [], "order": ["c", "b"] }));
        assert_eq!(fourth.version, 4);
        assert_eq!(read(&fourth.since(4)), json!({ "parts": [], "order": null }));
    }
}
