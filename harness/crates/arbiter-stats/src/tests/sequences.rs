//! Three tests, with fishtest's state and decision after each report.

use super::super::overshoot::Overshoot;
use super::super::pentanomial::Pentanomial;
use super::super::scale::Model;
use super::super::sprt::{Decision, LlrBounds, Sprt};
use super::agreement::Agreement;

const SEQUENCES: &str = include_str!("sequences.txt");

#[test]
fn overshoot_and_decision_follow_the_reference() {
    let mut followed: Option<(Sprt, Overshoot)> = None;
    let mut agreement = Agreement::within(1e-9, "sprt_sequences: ratio, overshoot, decision");
    for line in SEQUENCES.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| fields[index].parse::<f64>().expect("a number");
        if fields[0] == "test" {
            let model = if fields[4] == "logistic" { Model::Logistic } else { Model::Normalized };
            let test = Sprt::new(number(1), number(2), 0.05, 0.05, model).expect("a sound test");
            followed = Some((test, Overshoot::new(fields[3].parse().expect("a batch"))));
            continue;
        }
        let (test, overshoot) = followed.as_mut().expect("a test comes first");
        let pairs = Pentanomial(std::array::from_fn(|i| fields[i].parse().expect("a count")));
        let llr = test.llr(&pairs);
        overshoot.update(pairs.pairs(), llr);
        agreement.row();
        agreement.figure(line, llr, number(5));
        let excess = overshoot.corrected(LlrBounds { lower: 0.0, upper: 0.0 });
        agreement.figure(line, excess.lower, number(6));
        agreement.figure(line, -excess.upper, number(7));
        let decision = match fields[8] {
            "+" => Decision::AcceptH1,
            "-" => Decision::AcceptH0,
            _ => Decision::Continue,
        };
        assert_eq!(overshoot.decide(test.bounds, llr), decision, "{line}");
    }
    agreement.print();
}
