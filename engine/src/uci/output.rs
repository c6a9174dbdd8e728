//! Output stream, shared by the input thread and the worker.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum length of a note, in characters. The longest note of the engine lists all features of an
/// evaluation.
const NOTE_MAX_CHARS: usize = 4_000;

/// Shared stream of lines. A lock makes each write, including the flush, atomic.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    /// Returns an output that writes to `stream`.
    pub fn new(stream: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(Box::new(stream))))
    }

    /// Writes one line, or several lines separated by line feeds.
    ///
    /// Errors are ignored: if the reader closes the output, the session ends at the end of the
    /// input.
    pub fn line(&self, text: &str) {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
        let _gone = stream.write_all(&bytes).and_then(|()| stream.flush());
    }

    /// Writes an `info string`. Control characters are replaced with spaces, and long text is cut
    /// off, because the text may quote input.
    pub fn note(&self, text: &str) {
        let mut text = text.replace(char::is_control, " ");
        if let Some((end, _)) = text.char_indices().nth(NOTE_MAX_CHARS) {
            text.truncate(end);
            text.push('…');
        }
        self.line(&format!("info string {text}"));
    }
}
