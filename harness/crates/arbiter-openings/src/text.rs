//! Texts with the line ends of every system.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{self, Cursor, ErrorKind, Read};

/// The text of `source` without a byte order mark, and with line feeds for carriage returns. UTF-16, which
/// nothing here reads, is an error of the first read.
pub(super) fn text<R: Read>(source: R) -> Text<R> {
    Text { head: None, source, after_return: false }
}

/// A source with a line feed for each carriage return, and for each carriage return with a line feed.
pub(super) struct Text<R> {
    /// The rest of the first bytes, once they were looked at.
    head: Option<Cursor<Vec<u8>>>,
    source: R,
    /// True if the last byte was a carriage return.
    after_return: bool,
}

impl<R: Read> Text<R> {
    fn begin(&mut self) -> io::Result<()> {
        let mut head = Vec::new();
        (&mut self.source).take(4).read_to_end(&mut head)?;
        let is_zero: Vec<bool> = head.iter().map(|byte| *byte == 0).collect();
        // Without a mark, every second byte of the first letters is zero.
        let is_utf16 = head.starts_with(b"\xff\xfe")
            || head.starts_with(b"\xfe\xff")
            || matches!(is_zero[..], [false, true, false, true] | [true, false, true, false]);
        if is_utf16 {
            let reason = "it is UTF-16; save it as UTF-8";
            return Err(io::Error::new(ErrorKind::InvalidData, reason));
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        self.head = Some(Cursor::new(head));
        Ok(())
    }

    fn read_raw(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.as_mut().map_or(Ok(0), |head| head.read(buffer))? {
            0 => self.source.read(buffer),
            read => Ok(read),
        }
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.head.is_none() {
            self.begin()?;
        }
        loop {
            let read = self.read_raw(buffer)?;
            let mut kept = 0;
            for at in 0..read {
                let byte = buffer[at];
                let is_second = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if !is_second {
                    buffer[kept] = if self.after_return { b'\n' } else { byte };
                    kept += 1;
                }
            }
            // Nothing is the end only if the source has said so.
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    /// Hands out one byte at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    fn read(source: impl Read) -> io::Result<String> {
        let mut read = String::new();
        text(source).read_to_string(&mut read).map(|_| read)
    }

    #[test]
    fn line_ends_of_every_system() {
        let bytes = b"\xef\xbb\xbfa\r\nb\rc\n\r\n\r\rd\n\ne\r";
        let expected = "a\nb\nc\n\n\n\nd\n\ne\n";
        assert_eq!(read(&bytes[..]).expect("a text"), expected);
        assert_eq!(read(Drops(bytes)).expect("a text"), expected);
        for short in ["", "a", "\n", "\r\n"] {
            assert_eq!(read(short.as_bytes()).expect("a text"), short.replace('\r', ""));
        }
    }

    #[test]
    fn utf_16_is_named() {
        let little: Vec<u8> = "8/8 w".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "8/8 w".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [&b"\xff\xfe"[..], &little].concat();
        for bytes in [marked, [&b"\xfe\xff"[..], &big].concat(), little, big] {
            let error = read(&bytes[..]).expect_err("UTF-16");
            assert_eq!(error.to_string(), "it is UTF-16; save it as UTF-8");
        }
    }
}
