//! Reader of text with the line endings of any operating system.

use std::io::{self, Cursor, ErrorKind, Read};

use memchr::memchr;

/// Reader that removes a byte order mark from a text and converts all line endings to line feeds. A
/// line may end with a carriage return, with or without a line feed. UTF-16 and UTF-32 are not
/// supported: the first read fails.
#[derive(Debug)]
pub struct PlainText<R> {
    source: R,
    /// First bytes of the text, which have been examined but not yet returned.
    head: Option<Cursor<Vec<u8>>>,
    /// `true` if the last byte that was read was a carriage return.
    after_return: bool,
}

impl<R: Read> PlainText<R> {
    /// Creates a reader for the text of `source`.
    pub fn new(source: R) -> PlainText<R> {
        PlainText { source, head: None, after_return: false }
    }

    fn begin(&mut self) -> io::Result<Cursor<Vec<u8>>> {
        let mut head = Vec::new();
        // The first four bytes show whether there is a byte order mark. Without one, most bytes of
        // UTF-16 and UTF-32 are zero at the start of a text in ASCII characters.
        (&mut self.source).take(4).read_to_end(&mut head)?;
        let is_zero: Vec<bool> = head.iter().map(|byte| *byte == 0).collect();
        let encoding = match (head.as_slice(), is_zero.as_slice()) {
            // The byte order mark of UTF-32 starts with that of UTF-16.
            (b"\xff\xfe\0\0" | b"\0\0\xfe\xff", _)
            | (_, [false, true, true, true] | [true, true, true, false]) => Some("UTF-32"),
            ([0xff, 0xfe, ..] | [0xfe, 0xff, ..], _)
            | (_, [false, true, false, true] | [true, false, true, false]) => Some("UTF-16"),
            _ => None,
        };
        if let Some(encoding) = encoding {
            let reason = format!("it is {encoding}; save it as UTF-8");
            return Err(io::Error::new(ErrorKind::InvalidData, reason));
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        Ok(Cursor::new(head))
    }

    fn read_raw(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.head.is_none() {
            self.head = Some(self.begin()?);
        }
        match self.head.as_mut().map_or(Ok(0), |head| head.read(buffer))? {
            0 => self.source.read(buffer),
            read => Ok(read),
        }
    }

    /// Converts the line endings in `text` to line feeds. Returns the new length of the text.
    fn end_lines(&mut self, text: &mut [u8]) -> usize {
        // If a read ends between a carriage return and its line feed, the line feed is at the start
        // of the next read.
        let mut from = usize::from(self.after_return && text.starts_with(b"\n"));
        self.after_return = text.ends_with(b"\r");
        let mut kept = 0;
        while from < text.len() {
            let end = memchr(b'\r', &text[from..]).map_or(text.len(), |length| from + length + 1);
            text.copy_within(from..end, kept);
            kept += end - from;
            from = end;
            if text[kept - 1] == b'\r' {
                text[kept - 1] = b'\n';
                from += usize::from(text[from..].starts_with(b"\n"));
            }
        }
        kept
    }
}

impl<R: Read> Read for PlainText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.read_raw(buffer)?;
            let kept = self.end_lines(&mut buffer[..read]);
            // A return value of 0 signals the end of the text, so 0 is returned only if the source
            // has ended.
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns at most a given number of bytes per read.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    fn read(source: impl Read) -> io::Result<String> {
        let mut read = String::new();
        PlainText::new(source).read_to_string(&mut read).map(|_| read)
    }

    #[test]
    fn line_ends_of_every_system_are_converted() {
        let bytes = b"\xef\xbb\xbfa\r\nb\rc\n\r\n\r\rd\n\ne\r";
        for size in [1, 2, 3, 99] {
            assert_eq!(read(Drops(bytes, size)).unwrap(), "a\nb\nc\n\n\n\nd\n\ne\n", "{size}");
        }
        for short in ["", "a", "\n", "\r\n"] {
            assert_eq!(read(short.as_bytes()).unwrap(), short.replace('\r', ""));
        }
    }

    #[test]
    fn utf_16_and_utf_32_are_rejected() {
        let units: Vec<u16> = "8/8 w".encode_utf16().collect();
        let wide = || units.iter().map(|unit| u32::from(*unit));
        for (encoding, marks, [little, big]) in [
            (
                "UTF-16",
                [&b"\xff\xfe"[..], b"\xfe\xff"],
                [
                    units.iter().copied().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
                    units.iter().copied().flat_map(u16::to_be_bytes).collect(),
                ],
            ),
            (
                "UTF-32",
                [&b"\xff\xfe\0\0"[..], b"\0\0\xfe\xff"],
                [
                    wide().flat_map(u32::to_le_bytes).collect(),
                    wide().flat_map(u32::to_be_bytes).collect(),
                ],
            ),
        ] {
            let marked = [[marks[0], &little].concat(), [marks[1], &big].concat()];
            for bytes in marked.into_iter().chain([little, big]) {
                let error = read(&bytes[..]).unwrap_err();
                assert_eq!(error.to_string(), format!("it is {encoding}; save it as UTF-8"));
            }
        }
    }
}
