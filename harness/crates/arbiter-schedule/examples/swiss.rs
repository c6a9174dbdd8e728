//! Swiss tournament of eight engines, with random results from assumed strengths.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use arbiter_schedule::seed::{below, seed_for};
use arbiter_schedule::{Design, Format, Schedule};

fn main() {
    let design = Design { format: Format::Swiss, rounds: 3, ..Design::round_robin(1) };
    let mut schedule = Schedule::new(design, 8, 2024);
    while let Some(pairing) = schedule.pairing(schedule.next_to_count()) {
        // Engine 0 is the strongest engine. A pair of games is worth four half points.
        let [first, second] = pairing.engines.map(|engine| 8 - engine as u64);
        let mut rng = seed_for(1, "example.result", pairing.pair);
        let won = (0..4).filter(|_| below(&mut rng, first + second) < first).count() as u64;
        schedule.count(pairing.pair, [won, 4 - won], 2);
        let [first, second] = pairing.engines;
        println!("opening {}: {first} - {second}  {}:{}", pairing.opening, won, 4 - won);
    }
    for row in schedule.ranking() {
        let buchholz = row.buchholz.unwrap_or_default();
        println!(
            "{}. engine {}: {} of {}, {buchholz}",
            row.rank, row.engine, row.points, row.games
        );
    }
}
