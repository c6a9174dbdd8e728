//! The cost of one evaluation, by variant, on positions that follow one another as in a search.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use palimpsest::bench::positions;
use palimpsest::chess::Position;
use palimpsest::eval::{Evaluator, Task, Variant};

struct Evaluate<'a> {
    criterion: &'a mut Criterion,
    name: &'static str,
    positions: &'a [Position],
}

impl Task for Evaluate<'_> {
    type Output = ();

    fn run<E: Evaluator>(self, mut evaluator: E) {
        evaluator.reset(&self.positions[0]);
        let mut group = self.criterion.benchmark_group("evaluate");
        group.throughput(Throughput::Elements(self.positions.len() as u64));
        group.bench_function(self.name, |bencher| {
            bencher.iter(|| {
                self.positions.iter().map(|position| evaluator.evaluate(position)).sum::<i32>()
            });
        });
        group.finish();
    }
}

fn variants(criterion: &mut Criterion) {
    let positions = positions();
    for variant in Variant::ALL {
        variant.dispatch(Evaluate { criterion, name: variant.name(), positions: &positions });
    }
}

criterion_group!(benches, variants);
criterion_main!(benches);
