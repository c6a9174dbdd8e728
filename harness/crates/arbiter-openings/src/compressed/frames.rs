//! Reader of Zstandard files, which may contain several consecutive frames.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::errors::ReadFrameHeaderError::{BadMagicNumber, SkipFrame};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{check_padding, other_data};

/// Maximum number of bytes that are decoded in one step: the maximum size of a Zstandard block (RFC
/// 8878, Block_Maximum_Size).
const CHUNK: usize = 1 << 17;

/// Empty last block, followed by a checksum for frames that have a checksum. The block is needed
/// because the decoder returns all decoded bytes of a truncated frame only after a last block.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Returns whether a file that starts with these bytes is compressed with Zstandard. The second
/// pattern matches skippable frames (RFC 8878, section 3.1.2).
pub(super) fn is_zstd(start: &[u8]) -> bool {
    matches!(start, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Reader of the contents of all frames. Parallel compressors write many frames, separated by
/// skippable frames.
pub(super) struct Frames<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    /// `true` if the decoder is inside a frame.
    is_open: bool,
    /// `true` if the source ended inside a frame.
    is_cut: bool,
}

impl<R: Read> Frames<R> {
    /// Creates a reader for the contents of `source`.
    pub(super) fn new(source: R) -> Frames<R> {
        let source = BufReader::with_capacity(CHUNK, source);
        Frames { source, decoder: FrameDecoder::new(), is_open: false, is_cut: false }
    }

    /// Opens the next frame, or skips a skippable frame.
    fn open(&mut self) -> io::Result<()> {
        match self.decoder.init(&mut self.source) {
            Ok(()) => self.is_open = true,
            Err(FrameDecoderError::ReadFrameHeaderError(SkipFrame { length, .. })) => {
                let length = u64::from(length);
                if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(FrameDecoderError::ReadFrameHeaderError(BadMagicNumber(_))) => {
                return Err(other_data());
            }
            Err(_) if self.is_at_end()? => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => return Err(io::Error::other(error)),
        }
        Ok(())
    }

    fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.source.fill_buf()?.is_empty())
    }

    /// Decodes a further part of the current frame. A truncated frame ends at the truncation.
    fn decode(&mut self, wanted: usize) -> io::Result<()> {
        let strategy = || BlockDecodingStrategy::UptoBytes(wanted);
        let Err(error) = self.decoder.decode_blocks(&mut self.source, strategy()) else {
            return Ok(());
        };
        self.is_cut = self.is_at_end()?;
        if self.is_cut {
            let ended = self.decoder.decode_blocks(&LAST_BLOCK[..], strategy());
            return ended.map(drop).map_err(io::Error::other);
        }
        Err(io::Error::other(error))
    }

    fn close(&mut self) -> io::Result<()> {
        self.is_open = false;
        if self.is_cut {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // A frame may have no checksum.
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "wrong checksum"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Without this check, the loop below would never end for an empty buffer.
        if buffer.is_empty() {
            return Ok(0);
        }
        let wanted = buffer.len().min(CHUNK);
        loop {
            if !self.is_open {
                if self.is_at_end()? {
                    return Ok(0);
                }
                // A frame starts with one of these bytes.
                match self.source.buffer().first() {
                    Some(0x28 | 0x50..=0x5f) => self.open()?,
                    _ => check_padding(&mut self.source)?,
                }
                continue;
            }
            while self.decoder.can_collect() < wanted && !self.decoder.is_finished() {
                self.decode(wanted)?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.close()?;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn frame(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Frames::new(bytes).read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn all_frames_are_read() {
        let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let long: Vec<u8> = (0..400_000u32).map(|n| (n % 251) as u8).collect();
        let file = [skipped.clone(), frame(b"one "), skipped, frame(b""), frame(&long)].concat();
        assert!(is_zstd(&file) && is_zstd(&frame(b"")));
        assert!(read(&file).unwrap() == [&b"one "[..], &long].concat());
        assert_eq!(read(b"").unwrap(), b"");
    }

    #[test]
    fn data_before_a_truncation_is_read() {
        let text: Vec<u8> = (0..400_000u32).map(|n| (n % 251) as u8).collect();
        let file = frame(&text);
        for cut in [file.len() / 2, file.len() - 1] {
            let mut found = Vec::new();
            let mut frames = crate::decompressed(&file[..cut]).unwrap();
            let error = frames.read_to_end(&mut found).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            assert!(found.len() >= text.len() / 4 && text.starts_with(&found), "{}", found.len());
            assert!(frames.read(&mut [0; 9]).is_err());
        }
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let file = frame(&b"some text ".repeat(1000));
        for cut in 1..file.len() {
            assert!(read(&file[..cut]).is_err(), "{cut}");
        }
        assert!(read(&[0x50, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, 1]).is_err());
        assert!(read(&[file.clone(), b"garbage".to_vec()].concat()).is_err());
        let mut wrong = file;
        *wrong.last_mut().unwrap() ^= 1;
        assert!(read(&wrong).is_err());
    }
}
