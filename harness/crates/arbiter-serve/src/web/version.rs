//! What viewers of one page share: its parts, and since when each of them is as it is. Whoever saw
//! an earlier one is sent what changed since, however much was published in between.

use std::collections::HashMap;

use serde_json::json;

use super::Part;

/// The state of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    version: u64,
    parts: Vec<Part>,
    /// The version in which each part became what it is.
    changed: Vec<u64>,
    /// The version in which parts came, went or moved.
    ordered: u64,
    /// What changed since the version before, which is what most viewers need.
    newest: String,
}

impl Publication {
    /// The first of a page.
    pub fn first(parts: Vec<Part>) -> Publication {
        let changed = vec![1; parts.len()];
        let mut first =
            Publication { version: 1, parts, changed, ordered: 1, newest: String::new() };
        first.newest = first.compose(0);
        first
    }

    /// The one that follows; `None` if nothing changed.
    pub fn next(&self, parts: Vec<Part>) -> Option<Publication> {
        if parts == self.parts {
            return None;
        }
        let version = self.version + 1;
        let old = self.parts.iter().zip(&self.changed);
        let old: HashMap<&str, _> =
            old.map(|(part, since)| (part.id.as_str(), (part, since))).collect();
        let before = |part: &Part| {
            let (was, since) = old.get(part.id.as_str())?;
            (was.html == part.html).then_some(**since)
        };
        let changed = parts.iter().map(|part| before(part).unwrap_or(version)).collect();
        let is_ordered = parts.iter().map(|part| &part.id).eq(self.parts.iter().map(|old| &old.id));
        let ordered = if is_ordered { self.ordered } else { version };
        let mut next = Publication { version, parts, changed, ordered, newest: String::new() };
        next.newest = next.compose(self.version);
        Some(next)
    }

    /// Its number; the first is 1.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// All parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// One line of JSON for who has seen `version`: the parts that changed since, and the order of
    /// all if that did.
    pub fn since(&self, version: u64) -> String {
        if version + 1 == self.version { self.newest.clone() } else { self.compose(version) }
    }

    fn compose(&self, seen: u64) -> String {
        let changed = self.parts.iter().zip(&self.changed).filter(|(_, since)| **since > seen);
        let changed: Vec<_> = changed.map(|(part, _)| json!([part.id, part.html])).collect();
        let order = || self.parts.iter().map(|part| part.id.as_str()).collect::<Vec<_>>();
        let order = (self.ordered > seen).then(order);
        json!({ "parts": changed, "order": order }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn parts(texts: &[(&str, &str)]) -> Vec<Part> {
        texts.iter().map(|(id, html)| Part { id: (*id).into(), html: (*html).into() }).collect()
    }

    fn read(text: &str) -> Value {
        assert!(!text.contains('\n'), "events are lines");
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_viewer_is_sent_what_changed_since_it_looked() {
        let first = Publication::first(parts(&[("a", "1\n"), ("b", "1")]));
        let all = json!({ "parts": [["a", "1\n"], ["b", "1"]], "order": ["a", "b"] });
        assert_eq!(read(&first.since(0)), all);
        assert_eq!(first.next(first.parts().to_vec()), None);
        let second = first.next(parts(&[("a", "1\n"), ("b", "2")])).unwrap();
        assert_eq!(read(&second.since(1)), json!({ "parts": [["b", "2"]], "order": null }));
        let third = second.next(parts(&[("c", "3"), ("a", "1\n"), ("b", "2")])).unwrap();
        let order = json!(["c", "a", "b"]);
        assert_eq!(read(&third.since(2)), json!({ "parts": [["c", "3"]], "order": order }));
        // Who was away for longer misses nothing.
        let both = json!({ "parts": [["c", "3"], ["b", "2"]], "order": order });
        assert_eq!(read(&third.since(1)), both);
        let fourth = third.next(parts(&[("c", "3"), ("b", "2")])).unwrap();
        assert_eq!(read(&fourth.since(3)), json!({ "parts": [], "order": ["c", "b"] }));
        assert_eq!(fourth.version(), 4);
        assert_eq!(read(&fourth.since(4)), json!({ "parts": [], "order": null }));
    }
}
