//! Wishes of a command line that no flag of ours grants yet: the one place to change when it does.

use std::path::PathBuf;

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pending {
    /// `-tb`: folders of Syzygy tables.
    pub(super) tablebases: Option<String>,
    /// `-tbpieces`.
    pub(super) tablebase_pieces: Option<u64>,
    /// `-tbignore50`.
    pub(super) ignores_fifty_moves: bool,
    /// `-tbadjudicate`.
    pub(super) tablebase_verdicts: Option<String>,
    /// `-pgnout notation=`, if not SAN.
    pub(super) notation: Option<String>,
    /// `-pgnout min`.
    pub(super) minimal: bool,
    /// Further fields of `-pgnout`, such as `nodes` and `match_line=…`.
    pub(super) fields: Vec<String>,
    /// `-epdout`.
    pub(super) positions: Option<PathBuf>,
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
        if self.tablebases.is_some()
            || self.tablebase_pieces.is_some()
            || self.ignores_fifty_moves
            || self.tablebase_verdicts.is_some()
        {
            return Some(without("tb", "does not adjudicate by tablebases"));
        }
        if let Some(notation) = &self.notation {
            return Some(without(&format!("pgnout notation={notation}"), "writes SAN only"));
        }
        if self.minimal {
            return Some(without("pgnout min", "writes full PGN only"));
        }
        if let Some(field) = self.fields.first() {
            return Some(without(
                &format!("pgnout {field}"),
                "writes score, depth and time of each move and no more",
            ));
        }
        if self.positions.is_some() {
            return Some(without("epdout", "does not write final positions"));
        }
        if self.event.is_some() {
            return Some(without("event", "names the event itself"));
        }
        self.site.as_ref().map(|_| without("site", "names the site itself"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wish_is_named() {
        let text = |pending: Pending| pending.refusal().unwrap();
        assert_eq!(Pending::default().refusal(), None);
        let tables = Pending { tablebase_pieces: Some(5), ..Pending::default() };
        assert!(text(tables).starts_with("-tb: "));
        let lan = Pending { notation: Some("lan".to_owned()), ..Pending::default() };
        assert!(text(lan).starts_with("-pgnout notation=lan: "));
        let fields = Pending { fields: vec!["pv".to_owned()], ..Pending::default() };
        assert!(text(fields).starts_with("-pgnout pv: "));
        let site = Pending { site: Some("here".to_owned()), ..Pending::default() };
        assert!(text(site).starts_with("-site: "));
    }
}
