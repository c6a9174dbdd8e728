//! Cost of one evaluation, by variant, on successive positions as in a search.

use divan::Bencher;
use divan::counter::ItemsCount;
use palimpsest::bench;
use palimpsest::chess::attacks::Level;
use palimpsest::chess::{Game, Move, Position};
use palimpsest::eval::{Evaluator, Variant, nnue};

fn main() {
    divan::main();
}

/// A position of a walk, with every legal move and the resulting position.
struct Step {
    position: Position,
    moves: Vec<(Move, Position)>,
    /// The move that leads to the next step.
    played: Option<Move>,
}

/// A walk through legal moves from a position of the bench. As in a search, most positions have the
/// same pawns as the previous position.
struct Walk(Vec<Step>);

impl Walk {
    /// Returns a walk from each position of the bench.
    fn all() -> Vec<Walk> {
        bench::positions().map(Walk::new).collect()
    }

    fn new(mut position: Position) -> Walk {
        const PLIES: usize = 32;
        let mut steps = Vec::new();
        for ply in 0..PLIES {
            let moves = position.legal_moves();
            let played = moves.get(ply * 7 % moves.len().max(1)).copied();
            let moves = moves.iter().map(|&mv| (mv, position.play(mv))).collect();
            steps.push(Step { position, moves, played });
            let Some(mv) = played else { break };
            position = position.play(mv);
        }
        Walk(steps)
    }

    /// Returns the number of positions.
    fn positions(&self) -> usize {
        self.0.iter().map(|step| 1 + step.moves.len()).sum()
    }

    /// Returns the sum of the scores of all positions.
    fn evaluate(&self, evaluator: &mut dyn Evaluator) -> i64 {
        evaluator.reset(&Game::new(self.0[0].position));
        let mut sum = 0;
        for Step { position, moves, played } in &self.0 {
            sum += i64::from(evaluator.evaluate(position));
            for (mv, next) in moves {
                evaluator.push(position, *mv);
                sum += i64::from(evaluator.evaluate(next));
                evaluator.pop();
            }
            played.iter().for_each(|mv| evaluator.push(position, *mv));
        }
        sum
    }
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

/// Measures the network with one CPU instruction set.
#[divan::bench(args = Level::ALL.into_iter().filter(|&level| nnue::at_level(level).is_some()).map(Level::name))]
fn network(bencher: Bencher<'_, '_>, name: &str) {
    let level =
        Level::ALL.into_iter().find(|level| level.name() == name).expect("the name of a level");
    let mut evaluator = nnue::at_level(level).expect("a level that this machine has");
    measure(bencher, &mut evaluator);
}
