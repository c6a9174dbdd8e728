//! Any bytes are a UCI session that ends at the end of the input, without a panic.

#![no_main]

use std::io::sink;

use libfuzzer_sys::{Corpus, fuzz_target};
use palimpsest::uci::{self, Output};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    // These options could exhaust the memory of the machine.
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    if text.contains("hash") || text.contains("threads") {
        return Corpus::Reject;
    }
    assert_eq!(uci::run(bytes, Output::new(sink())), 0);
    Corpus::Keep
});
