//! Is one program faster than another? A sequential comparison of speeds measured in pairs.
//!
//! In each round both programs do the same work, one right after the other, and the toss of a coin
//! says which goes first. What counts is the logarithm of the ratio of their speeds. Whatever the
//! machine does meanwhile, in bursts, waves or drifts, it does to the first run or to the second,
//! and the coin makes it as likely to help the one program as the other. So the logarithms scatter
//! evenly around the true one, whatever they do besides, and [`super::signed_rank`] asks for no
//! more.
//!
//! The rounds are looked at a few times, ever fewer as they get more, and the chance of a wrong
//! interval is shared between the looks (C. E. Bonferroni), so that stopping at any of them leaves
//! the interval as good as it says.

use super::paired::Speeds;
use super::signed_rank::Symmetric;

/// Rounds before the first look.
const FIRST_LOOK: usize = 8;

/// Fewer rounds have no interval that is 95 % sure.
pub const FEWEST_ROUNDS: usize = 6;

/// Chance that the interval does not hold the true ratio, whenever the comparison stopped.
const MISS: f64 = 0.05;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Rounds at most, [`FEWEST_ROUNDS`] or more.
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
    /// The centre of the rounds.
    pub ratio: f64,
    /// Its 95 % interval, which allows for the looks; `None` after too few rounds.
    pub interval: Option<(f64, f64)>,
}

impl Question {
    /// After how many rounds it is looked whether to stop: a few, then twice as many each time, and
    /// in the end.
    pub fn looks(self) -> Vec<usize> {
        let rounds = self.rounds.max(FEWEST_ROUNDS);
        let mut looks: Vec<usize> = std::iter::successors(Some(FIRST_LOOK), |n| n.checked_mul(2))
            .take_while(|n| *n < rounds)
            .collect();
        looks.push(rounds);
        looks
    }

    /// The ratio after these rounds. `None` without any, and for speeds that are not positive
    /// numbers.
    pub fn ratio(self, rounds: &[Speeds]) -> Option<Ratio> {
        let logs = rounds.iter().map(|speeds| (speeds.first / speeds.second).ln());
        let logs = Symmetric::new(logs.collect())?;
        let tail = MISS / self.looks().len() as f64 / 2.0;
        let interval = logs.interval(tail).map(|(low, high)| (low.exp(), high.exp()));
        Some(Ratio { ratio: logs.centre().exp(), interval })
    }

    /// What the ratio answers.
    pub fn answer(self, ratio: &Ratio) -> Answer {
        match ratio.interval {
            Some((low, _)) if low > self.threshold => Answer::Above,
            Some((_, high)) if high < self.threshold => Answer::Below,
            _ => Answer::Open,
        }
    }
}

#[cfg(test)]
mod tests;
