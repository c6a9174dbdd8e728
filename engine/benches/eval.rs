//! The cost of one evaluation, by variant, on positions that follow one another as in a search:
//! `cargo bench -p palimpsest --bench eval`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use palimpsest::bench::positions;
use palimpsest::chess::Position;
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
        evaluator.reset(&self.positions[0]);
        let count = ItemsCount::new(self.positions.len());
        self.bencher.counter(count).bench_local(|| {
            self.positions
                .iter()
                .map(|position| evaluator.evaluate(black_box(position)))
                .sum::<i32>()
        });
    }
}

#[divan::bench(args = Variant::ALL.map(Variant::name))]
fn evaluate(bencher: Bencher, name: &str) {
    let variant = Variant::from_name(name).expect("one of the names");
    let positions = positions();
    variant.dispatch(Evaluate { bencher, positions: &positions });
}
