//! The cost of one evaluation, by variant, on positions that follow one another as in a search.

use divan::Bencher;
use divan::counter::ItemsCount;
use palimpsest::bench::Walk;
use palimpsest::chess::attacks::Level;
use palimpsest::eval::{Evaluator, Task, Variant, nnue};

fn main() {
    divan::main();
}

struct Evaluate<'a, 'b> {
    bencher: Bencher<'a, 'b>,
    walks: &'a [Walk],
}

impl Task for Evaluate<'_, '_> {
    type Output = ();

    fn run<E: Evaluator>(self, mut evaluator: E) {
        let all = ItemsCount::new(self.walks.iter().map(Walk::positions).sum::<usize>());
        self.bencher.counter(all).bench_local(|| {
            self.walks.iter().map(|walk| walk.evaluate(&mut evaluator)).sum::<i64>()
        });
    }
}

#[divan::bench(args = Variant::ALL.map(Variant::name))]
fn evaluate(bencher: Bencher<'_, '_>, name: &str) {
    let variant = Variant::from_name(name).expect("the name of a variant");
    variant.dispatch(Evaluate { bencher, walks: &Walk::all() });
}

/// The network, by the instructions used.
#[divan::bench(args = Level::ALL.into_iter().filter(|&level| nnue::at_level(level).is_some()).map(Level::name))]
fn network(bencher: Bencher<'_, '_>, name: &str) {
    let level =
        Level::ALL.into_iter().find(|level| level.name() == name).expect("the name of a level");
    let evaluator = nnue::at_level(level).expect("a level that this machine has");
    Evaluate { bencher, walks: &Walk::all() }.run(evaluator);
}
