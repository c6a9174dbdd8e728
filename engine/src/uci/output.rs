//! The stream both threads write to.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// A shared stream of lines. Each line is written and flushed as a whole.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    /// Writes to `stream`.
    pub fn new(stream: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(Box::new(stream))))
    }

    /// Writes one line, or several separated by line feeds.
    ///
    /// A reader that has gone away is not an error: the end of the input will end the session.
    pub fn line(&self, text: &str) {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
        let _gone = stream.write_all(&bytes).and_then(|()| stream.flush());
    }

    /// Tells the user something, in the form the protocol has for it.
    pub fn note(&self, text: &str) {
        self.line(&format!("info string {}", text.replace(['\r', '\n'], " ")));
    }
}
