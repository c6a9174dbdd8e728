//! Cost of one evaluation, by variant, on successive positions as in a search.

use divan::Bencher;
use divan::counter::ItemsCount;
use palimpsest::bench::Walk;
use palimpsest::chess::attacks::Level;
use palimpsest::eval::{Evaluator, Variant, nnue};

fn main() {
    divan::main();
}

fn measure(bencher: Bencher<'_, '_>, evaluator: &mut dyn Evaluator) {
    let walks = Walk::all();
    let positions = ItemsCount::new(walks.iter().map(Walk::positions).sum::<usize>());
    bencher
        .counter(positions)
        .bench_local(|| walks.iter().map(|walk| walk.evaluate(evaluator)).sum::<i64>());
}

#[divan::bench(args = Variant::ALL.map(Variant::name))]
fn evaluate(bencher: Bencher<'_, '_>, name: &str) {
    let variant = Variant::from_name(name).expect("the name of a variant");
    measure(bencher, &mut *variant.evaluator());
}

/// Measures the network at one level of CPU instructions.
#[divan::bench(args = Level::ALL.into_iter().filter(|&level| nnue::at_level(level).is_some()).map(Level::name))]
fn network(bencher: Bencher<'_, '_>, name: &str) {
    let level =
        Level::ALL.into_iter().find(|level| level.name() == name).expect("the name of a level");
    let mut evaluator = nnue::at_level(level).expect("a level that this machine has");
    measure(bencher, &mut evaluator);
}
