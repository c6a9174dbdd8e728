//! The cost of one evaluation, by variant, on positions that follow one another as in a search.

use divan::Bencher;
use divan::counter::ItemsCount;
use palimpsest::bench::positions;
use palimpsest::chess::{Game, Position};
use palimpsest::eval::{Evaluator, Task, Variant};

fn main() {
    divan::main();
}

struct Evaluate<'a, 'b> {
    bencher: Bencher<'a, 'b>,
    positions: &'a [Position],
}

impl Task for Evaluate<'_, '_> {
    type Output = ();

    fn run<E: Evaluator>(self, mut evaluator: E) {
        evaluator.reset(&Game::new(self.positions[0]));
        let all = ItemsCount::new(self.positions.len());
        self.bencher.counter(all).bench_local(|| {
            self.positions.iter().map(|position| evaluator.evaluate(position)).sum::<i32>()
        });
    }
}

#[divan::bench(args = Variant::ALL.map(Variant::name))]
fn evaluate(bencher: Bencher<'_, '_>, name: &str) {
    let variant = Variant::from_name(name).expect("the name of a variant");
    let positions = positions();
    variant.dispatch(Evaluate { bencher, positions: &positions });
}
