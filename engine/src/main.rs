//! The `palimpsest` binary.

fn main() {
    std::process::exit(palimpsest::run(std::env::args().skip(1)));
}
