//! `-tb` and its relatives, and what `-pgnout` and `-epdout` want written.

use std::path::PathBuf;

use arbiter_game::adjudicate::{Scope, TablebaseRule};
use arbiter_game::annotation::{Annotation, Field, LinePattern, Notation, parse_fields};

/// Endgame tables and their use.
#[derive(Debug, Default)]
pub(crate) struct Tablebase {
    /// Folders with a `:` or `;` between them.
    pub(super) folders: Option<String>,
    pub(super) pieces: Option<u64>,
    pub(super) ignores_fifty: bool,
    pub(super) scope: Option<Scope>,
}

impl Tablebase {
    /// The rule, if there are tables for it, and their folders.
    pub(super) fn resolve(&self) -> Result<(Option<TablebaseRule>, Vec<PathBuf>), String> {
        let Some(folders) = &self.folders else {
            let is_wanted = self.pieces.is_some() || self.ignores_fifty || self.scope.is_some();
            return match is_wanted {
                true => Err("-tbpieces, -tbignore50 and -tbadjudicate need -tb FOLDERS".to_owned()),
                false => Ok((None, Vec::new())),
            };
        };
        let folders = folders.split([':', ';']).filter(|folder| !folder.is_empty());
        let pieces = match self.pieces {
            None => 0,
            Some(pieces @ 3..=7) => pieces as u32,
            Some(pieces) => return Err(format!("-tbpieces {pieces}: give 3 to 7 pieces")),
        };
        let scope = self.scope.unwrap_or_default();
        let rule = TablebaseRule { pieces, ignores_fifty: self.ignores_fifty, scope };
        Ok((Some(rule), folders.map(PathBuf::from).collect()))
    }
}

/// `-tbadjudicate`.
pub(super) fn scope(word: &str) -> Result<Scope, String> {
    match word {
        "BOTH" => Ok(Scope::Both),
        "WIN_LOSS" => Ok(Scope::Wins),
        "DRAW" => Ok(Scope::Draws),
        _ => Err(format!("-tbadjudicate {word}: expected BOTH, WIN_LOSS or DRAW")),
    }
}

/// What the PGN tells besides moves.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(super) notation: Notation,
    pub(super) fields: Vec<Field>,
    /// Regular expressions for lines.
    pub(super) lines: Vec<String>,
    pub(super) is_minimal: bool,
    /// `-event` and `-site`.
    pub(super) event: Option<String>,
    pub(super) site: Option<String>,
}

impl Written {
    /// Adds a field by its name, which is ours, too.
    pub(super) fn add(&mut self, name: &str) -> Result<(), String> {
        self.fields.extend(parse_fields(name).map_err(|error| error.to_string())?);
        Ok(())
    }

    pub(super) fn annotation(self) -> Result<Annotation, String> {
        let any: Vec<String> = self.lines.iter().map(|line| format!("(?:{line})")).collect();
        let pattern: Option<Result<LinePattern, String>> = (!any.is_empty()).then(|| {
            let parsed: Result<LinePattern, _> = any.join("|").parse();
            parsed.map_err(|error| format!("-pgnout match_line: {error}"))
        });
        Ok(Annotation {
            notation: self.notation,
            fields: self.fields,
            pattern: pattern.transpose()?,
            is_minimal: self.is_minimal,
            has_origin: true,
            event: self.event,
            site: self.site,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_need_folders() {
        let tables = Tablebase { pieces: Some(6), ..Tablebase::default() };
        assert!(tables.resolve().unwrap_err().contains("need -tb"));
        let tables = Tablebase { folders: Some("/a:/b;/c".to_owned()), ..tables };
        let (rule, folders) = tables.resolve().unwrap();
        assert_eq!((rule.unwrap().pieces, folders.len()), (6, 3));
        assert!(Tablebase { pieces: Some(9), ..tables }.resolve().is_err());
        assert_eq!(scope("WIN_LOSS"), Ok(Scope::Wins));
        assert!(scope("wins").is_err());
    }

    #[test]
    fn any_of_several_lines_is_written() {
        let lines = vec!["^info string a".to_owned(), "b$".to_owned()];
        let mut written = Written { lines, ..Written::default() };
        written.add("nodes").unwrap();
        let annotation = written.annotation().unwrap();
        assert_eq!(annotation.fields, [Field::Nodes]);
        assert!(annotation.pattern.is_some());
        let broken = Written { lines: vec!["(".to_owned()], ..Written::default() };
        assert!(broken.annotation().unwrap_err().contains("match_line"));
    }
}
