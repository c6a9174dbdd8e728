//! Journal of a search. The journal is a file in the folder of the suite, and contains all results
//! of the search so far, so that an interruption loses no results.
//!
//! The first line identifies the search. Each following line contains a position, a tab, and either
//! the reason for the rejection, or the theme, the solution and further operations. If a crash
//! truncated the line of a position, the position is searched again. Games may be added before a
//! search is resumed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Rejection;
use super::epd::MinedPosition;
use arbiter_process::{Links, open_output, read_input};

/// Result for a position: the mined position, or the reason why the position was rejected.
pub type MiningResult = Result<MinedPosition, Rejection>;

/// Reason why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error from the operating system.
        source: io::Error,
    },
    /// The file is from a search with another engine or other settings.
    #[error(
        "{} belongs to a search with another engine or other settings; use the same engine and \
         settings again, or delete the file to start over", .0.display()
    )]
    Other(PathBuf),
}

/// Journal of a search for positions.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    judged: BTreeMap<String, MiningResult>,
}

impl Journal {
    /// Opens the journal at `path`, or creates a new journal. The line `header` identifies the
    /// search. Fails if the file cannot be used, or if the file belongs to another search.
    pub fn open(path: &Path, header: &str) -> Result<Journal, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        let bytes = match read_input(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(io)?,
        };
        let text = String::from_utf8_lossy(&bytes);
        // A crash may truncate a line at any byte. Only a line feed shows that a line is complete.
        let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = complete.lines();
        let is_new = match lines.next() {
            None => true,
            Some(head) if head == header => false,
            // Without this error, a suite would mix the results of different searches.
            Some(_) => return Err(JournalError::Other(path.to_owned())),
        };
        let judged = lines.filter_map(entry).collect();
        // Links are refused, because a link in the folder of the suite could point to a file of
        // another user.
        let opened = open_output(path, File::options().append(true), Links::Refused);
        let mut file = opened.map_err(io)?;
        // A truncated last line is removed, because the next line would be appended to the
        // truncated line, and both lines would be lost.
        file.set_len(complete.len() as u64).map_err(io)?;
        if is_new {
            writeln!(file, "{header}").map_err(io)?;
        }
        Ok(Journal { path: path.to_owned(), file, judged })
    }

    /// Returns the result for the position with this FEN; `None` if the journal contains no result.
    pub fn judged(&self, fen: &str) -> Option<&MiningResult> {
        self.judged.get(fen)
    }

    /// Appends the result for a position.
    pub fn append(&mut self, fen: String, judged: MiningResult) -> Result<(), JournalError> {
        let text = match &judged {
            Ok(MinedPosition { theme, head, tail }) => format!("{fen}\t{theme}\t{head}\t{tail}\n"),
            Err(rejection) => format!("{fen}\t{rejection}\n"),
        };
        // The complete line is written in one call, so that an interruption loses at most this
        // line.
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|source| JournalError::Io { path: self.path.clone(), source })?;
        self.judged.insert(fen, judged);
        Ok(())
    }

    /// Deletes the file. Must be called only after the suite has been written.
    pub fn close(self) -> Result<(), JournalError> {
        let removed = std::fs::remove_file(&self.path);
        removed.map_err(|source| JournalError::Io { path: self.path, source })
    }
}

fn entry(line: &str) -> Option<(String, MiningResult)> {
    let (fen, judged) = line.split_once('\t')?;
    let fields: Vec<&str> = judged.split('\t').collect();
    let judged = match fields[..] {
        [word] => Err(word.parse().ok()?),
        [theme, head, tail] => {
            let [theme, head, tail] = [theme, head, tail].map(str::to_owned);
            Ok(MinedPosition { theme, head, tail })
        }
        _ => return None,
    };
    Some((fen.to_owned(), judged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_can_be_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("suite.journal");
        let found =
            MinedPosition { theme: "mate".into(), head: "8 bm a;".into(), tail: "c0 x;".into() };
        let mut journal = Journal::open(&path, "asked 1").unwrap();
        journal.append("one".to_owned(), Ok(found.clone())).unwrap();
        journal.append("two".to_owned(), Err(Rejection::Unclear)).unwrap();
        drop(journal);
        let cut = std::fs::read_to_string(&path).unwrap() + "three\tuncl";
        std::fs::write(&path, cut).unwrap();
        let mut journal = Journal::open(&path, "asked 1").unwrap();
        assert_eq!(journal.judged("one"), Some(&Ok(found)));
        assert_eq!(journal.judged("two"), Some(&Err(Rejection::Unclear)));
        assert_eq!(journal.judged("three"), None);
        journal.append("three".to_owned(), Err(Rejection::Recapture)).unwrap();
        drop(journal);
        let journal = Journal::open(&path, "asked 1").unwrap();
        assert_eq!(journal.judged("three"), Some(&Err(Rejection::Recapture)));
        let other = Journal::open(&path, "asked 2").unwrap_err();
        assert!(other.to_string().contains("suite.journal"), "{other}");
        journal.close().unwrap();
        assert!(!path.exists());
    }
}
