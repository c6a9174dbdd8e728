//! State of an SPRT of 0 against 5 nElo, computed from five pentanomial counts.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use arbiter_stats::{Model, Pentanomial, Sprt, elo, normalized};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counts: Vec<u64> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    let counts =
        <[u64; 5]>::try_from(counts).map_err(|_| "expected the counts LL LD DD+WL WD WW")?;
    let pairs = Pentanomial(counts);
    let test = Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Normalized)?;
    let llr = test.llr(&pairs);
    let bounds = test.bounds;
    println!("LLR {llr:.2} [{:.2}, {:.2}]: {:?}", bounds.lower, bounds.upper, test.decide(llr));
    if let Some(exit) = test.forecast(&pairs) {
        let percent = 100.0 * exit.upper_probability;
        println!("H1 in {percent:.0} %, {:.0} pairs to go", exit.mean_units);
    }
    let moments = pairs.distribution().moments().ok_or("expected at least one pair")?;
    for (scale, estimate) in
        [("Elo", Some(elo::estimate(&moments))), ("nElo", normalized::estimate(&moments))]
    {
        if let Some((value, margin)) =
            estimate.and_then(|e| elo::finite(e.value).zip(e.half_width()))
        {
            println!("{scale} {value:+.1} ± {margin:.1}");
        }
    }
    Ok(())
}
