//! Is one program faster than another? A sequential comparison of speeds measured in pairs.
//!
//! Speeds are compared by the logarithms of their ratios, one for each round in which both programs
//! do the same work. The rounds are looked at a few times, ever fewer as they get more, and the
//! chance of a wrong interval is shared between the looks (C. E. Bonferroni), so that stopping at
//! any of them leaves the interval as good as it says.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::paired::Speeds;

/// Rounds before the first look.
const FIRST_LOOK: usize = 8;

/// Chance that the interval does not hold the true ratio, whenever the comparison stopped.
const MISS: f64 = 0.05;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Rounds at most, 2 or more.
    pub rounds: usize,
    /// The ratio of interest: 1 asks which program is faster; 0.98, whether the first one has lost
    /// more than 2 %.
    pub threshold: f64,
}

/// What can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The ratio is above the threshold.
    Above,
    /// The ratio is below it.
    Below,
    /// It may be either.
    Open,
}

/// The ratio of speeds, first over second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Geometric mean of the rounds.
    pub ratio: f64,
    /// Its 95 % interval, which allows for the looks.
    pub interval: (f64, f64),
}

impl Question {
    /// After how many rounds it is looked whether to stop: a few, then twice as many each time, and
    /// in the end.
    pub fn looks(self) -> Vec<usize> {
        let rounds = self.rounds.max(2);
        let mut looks: Vec<usize> = std::iter::successors(Some(FIRST_LOOK), |n| n.checked_mul(2))
            .take_while(|n| *n < rounds)
            .collect();
        looks.push(rounds);
        looks
    }

    /// The ratio after these rounds, with an interval by Student's t. `None` for fewer than two
    /// rounds, and for speeds that are not positive numbers.
    pub fn ratio(self, rounds: &[Speeds]) -> Option<Ratio> {
        let is_sound = |x: f64| x.is_finite() && x > 0.0;
        if rounds.len() < 2 || !rounds.iter().all(|s| is_sound(s.first) && is_sound(s.second)) {
            return None;
        }
        let n = rounds.len() as f64;
        let logs: Vec<f64> = rounds.iter().map(|s| (s.first / s.second).ln()).collect();
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let tail = MISS / self.looks().len() as f64 / 2.0;
        let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
        let half = student.inverse_cdf(1.0 - tail) * (variance / n).sqrt();
        Some(Ratio { ratio: mean.exp(), interval: ((mean - half).exp(), (mean + half).exp()) })
    }

    /// What the ratio answers.
    pub fn answer(self, ratio: &Ratio) -> Answer {
        match ratio.interval {
            (low, _) if low > self.threshold => Answer::Above,
            (_, high) if high < self.threshold => Answer::Below,
            _ => Answer::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of programs whose true ratio is `ratio`, with noise of `noise` in each speed.
    fn rounds(count: usize, ratio: f64, noise: f64, state: &mut u64) -> Vec<Speeds> {
        let mut uniform = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*state >> 11) as f64 / (1u64 << 53) as f64
        };
        // Twelve uniforms less six are as good as normal.
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let mut speed = |mean: f64| mean * (noise * normal()).exp();
        (0..count).map(|_| Speeds { first: speed(1e6 * ratio), second: speed(1e6) }).collect()
    }

    /// What a comparison ends with.
    fn ended(question: Question, all: &[Speeds]) -> (Answer, Ratio) {
        let looks = question.looks().into_iter().map(|look| {
            let ratio = question.ratio(&all[..look]).expect("enough rounds");
            (question.answer(&ratio), ratio)
        });
        let looks: Vec<_> = looks.collect();
        *looks.iter().find(|(answer, _)| *answer != Answer::Open).or(looks.last()).expect("a look")
    }

    #[test]
    fn looks_get_rarer() {
        let looks = |rounds| Question { rounds, threshold: 1.0 }.looks();
        assert_eq!(looks(64), [8, 16, 32, 64]);
        assert_eq!(looks(20), [8, 16, 20]);
        assert_eq!(looks(0), [2]);
    }

    #[test]
    fn intervals_hold_although_it_is_looked_often() {
        let question = Question { rounds: 64, threshold: 1.0 };
        let (mut state, mut missed, mut decided) = (5, 0, 0);
        for _ in 0..4_000 {
            let (answer, ratio) = ended(question, &rounds(64, 1.0, 0.01, &mut state));
            missed += u32::from(!(ratio.interval.0..=ratio.interval.1).contains(&1.0));
            decided += u32::from(answer != Answer::Open);
        }
        assert_eq!(missed, decided);
        // Of 4000, 200 would be 5 %; Bonferroni's sharing leaves some of it unused.
        assert!((60..=200).contains(&missed), "{missed}");
    }

    #[test]
    fn differences_are_found_soon_and_losses_are_judged() {
        let mut state = 9;
        let slower = rounds(64, 0.97, 0.005, &mut state);
        let which = Question { rounds: 64, threshold: 1.0 };
        assert_eq!(ended(which, &slower).0, Answer::Below);
        let allowed = Question { rounds: 64, threshold: 0.95 };
        assert_eq!(ended(allowed, &slower).0, Answer::Above);
        let ratio = ended(which, &slower).1.ratio;
        assert!((ratio - 0.97).abs() < 0.01, "{ratio}");
    }

    /// Logarithms 0, 0.1 and 0.2: mean 0.1, error 0.1 / √3, and t = 4.3027 for two degrees of
    /// freedom and one look.
    #[test]
    fn the_interval_is_students() {
        let speeds = |log: f64| Speeds { first: log.exp(), second: 1.0 };
        let question = Question { rounds: 3, threshold: 1.0 };
        let found = question.ratio(&[speeds(0.0), speeds(0.1), speeds(0.2)]).unwrap();
        assert!((found.ratio.ln() - 0.1).abs() < 1e-12);
        assert!((found.interval.1.ln() - 0.1 - 4.302_653 * 0.1 / 3f64.sqrt()).abs() < 1e-5);
        assert_eq!(question.ratio(&[speeds(0.0)]), None);
        assert_eq!(question.ratio(&[Speeds { first: 0.0, second: 1.0 }; 3]), None);
    }
}
