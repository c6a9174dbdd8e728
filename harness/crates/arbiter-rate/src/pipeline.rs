//! Parallel scan of a stream, block by block.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::scan::{Block, ScanOptions, scan};
use arbiter_pgn::Blocks;

/// Scans `source` with `threads` threads, and passes the blocks of the source to `take` in order.
/// Each thread holds the text of one block at a time, so the memory for text does not depend on the
/// length of the source. Fails if the source cannot be read; `take` may already have received the
/// blocks before the error.
pub fn scan_all<R: Read + Send>(
    source: R,
    threads: usize,
    options: ScanOptions,
    mut take: impl FnMut(Block),
) -> io::Result<()> {
    let blocks = Mutex::new(Blocks::new(source).enumerate());
    thread::scope(|scope| {
        // The channel has room for one block per thread. If the channel is full, the threads wait
        // for the receiver.
        let (sender, receiver) = sync_channel(threads);
        // Without a thread the channel would close immediately, as for an empty source.
        for _ in 0..threads.max(1) {
            let blocks = &blocks;
            let sender = sender.clone();
            scope.spawn(move || {
                // A poisoned lock is harmless: if a thread panics, the whole scope panics, so no
                // result is used.
                let next = || blocks.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((number, text)) = next() {
                    let scanned = text.map(|text| (number, scan(&text, options)));
                    // The receiver is dropped after an error.
                    if sender.send(scanned).is_err() {
                        return;
                    }
                }
            });
        }
        // The channel closes only when all senders have been dropped.
        drop(sender);
        // Blocks arrive in any order. Sums of floating-point numbers and indices of players depend
        // on the order of the blocks, so without reordering, the results would differ from scan to
        // scan.
        let mut early = BTreeMap::new();
        let mut next = 0;
        for scanned in receiver {
            // An error drops the receiver, which makes the threads stop.
            let (number, block) = scanned?;
            early.insert(number, block);
            while let Some(block) = early.remove(&next) {
                take(block);
                next += 1;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const OPTIONS: ScanOptions =
        ScanOptions { opening_plies: 2, replay: false, evaluations: false };

    fn titles(threads: usize, text: &str) -> Vec<String> {
        let mut titles = Vec::new();
        let take = |block: Block| {
            titles.extend(block.games.into_iter().filter_map(Result::err).map(|bad| bad.title));
        };
        scan_all(text.as_bytes(), threads, OPTIONS, take).unwrap();
        titles
    }

    #[test]
    fn blocks_come_in_the_order_of_the_source() {
        let game = |n: usize| {
            let filler = "x".repeat(997 * n % 6000);
            format!("[White \"{n}\"]\n[Black \"{n}\"]\n\n1. e4 {{{filler}}} 1-0\n\n")
        };
        let text: String = (0..5000).map(game).collect();
        let one = titles(1, &text);
        assert_eq!(one.len(), 5000);
        assert_eq!(one[4321], "4321 - 4321 ");
        for threads in [2, 3, 7] {
            assert_eq!(titles(threads, &text), one);
        }
    }

    /// Reader that returns some bytes, and then only errors.
    struct Broken<'a>(&'a [u8]);

    impl Read for Broken<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() { Err(io::Error::other("broken")) } else { self.0.read(buffer) }
        }
    }

    #[test]
    fn a_read_error_ends_the_scan() {
        let text = "[White \"A\"]\n\n1. e4 1-0\n\n".repeat(300_000);
        let error = scan_all(Broken(text.as_bytes()), 3, OPTIONS, drop).unwrap_err();
        assert_eq!(error.to_string(), "broken");
    }
}
