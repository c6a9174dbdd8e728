//! Which runs a worker knows of, and which it plays for next. Pure: it is told the time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::contract::Contract;
use crate::wire::Beacon;

/// How long a run that says nothing is taken to be there.
const ABSENCE: Duration = Duration::from_secs(6);

/// How long a run rests after its engines have broken down, and how long at most if they do so again
/// and again. Such games end sooner than others: without a rest a machine on which nothing works
/// would have taken the pairs of a short run before it can be compared with any other.
const REST: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(4)];

/// Runs that a worker keeps in mind; more is nothing but noise.
const MAX_RUNS: usize = 1_000;

/// What a worker has agreed with a run, or why not. Made by the first slot that needs it.
pub(super) type Agreement = Arc<OnceCell<Result<Arc<Contract>, String>>>;

#[derive(Debug)]
struct Known {
    beacon: Beacon,
    heard: Duration,
    agreement: Agreement,
    refusal: Option<String>,
    rest: Rest,
}

/// A run is left alone for a while.
#[derive(Debug, Default)]
struct Rest {
    until: Duration,
    length: Duration,
}

/// What a slot does next.
#[derive(Debug)]
pub(super) struct Choice {
    /// The run.
    pub(super) token: String,
    /// What was agreed with it.
    pub(super) agreement: Agreement,
    /// Whether another run has work, too, for which one need not wait.
    pub(super) has_rival: bool,
}

/// The runs.
#[derive(Debug, Default)]
pub(super) struct Board {
    runs: BTreeMap<String, Known>,
    now: Duration,
    trouble: Option<String>,
    benches: BTreeMap<String, f64>,
}

impl Board {
    /// A run is there; whether it is news.
    pub(super) fn hear(&mut self, beacon: Beacon) -> bool {
        let heard = self.now;
        if let Some(known) = self.runs.get_mut(&beacon.token) {
            known.beacon = beacon;
            known.heard = heard;
            return false;
        }
        if self.runs.len() < MAX_RUNS {
            let agreement = Agreement::default();
            let token = beacon.token.clone();
            self.runs.insert(token, {
                let (refusal, rest) = (None, Rest::default());
                Known { beacon, heard, agreement, refusal, rest }
            });
        }
        true
    }

    /// Time has passed: runs that say nothing any more are forgotten.
    pub(super) fn look(&mut self, now: Duration) {
        self.now = now;
        self.runs.retain(|_, known| now < known.heard + ABSENCE);
    }

    /// A run is over.
    pub(super) fn forget(&mut self, token: &str) {
        self.runs.remove(token);
    }

    /// The run to play for: of those with the highest priority that have work for somebody the one
    /// for which the fewest play; without any such, the first that may have some soon.
    pub(super) fn choose(&self) -> Option<Choice> {
        let is_willing = |k: &&Known| k.refusal.is_none() && k.rest.until <= self.now;
        let willing = self.runs.values().filter(is_willing);
        let rank = |known: &&Known| {
            let Beacon { priority, queued, playing, .. } = known.beacon;
            (queued == 0, std::cmp::Reverse(priority), playing)
        };
        let busy = willing.clone().filter(|known| known.beacon.queued > 0).count();
        let chosen = willing.min_by_key(rank)?;
        Some(Choice {
            token: chosen.beacon.token.clone(),
            agreement: chosen.agreement.clone(),
            has_rival: busy > 1,
        })
    }

    /// A slot begins to play for a run; until it says how many play, that is one more. How much work
    /// it has is not counted down: it sends more as soon as something ends, and whoever took it to
    /// have none would play for others that are less important.
    pub(super) fn took(&mut self, token: &str) {
        if let Some(known) = self.runs.get_mut(token) {
            known.beacon.playing += 1;
        }
    }

    /// A pair of a run was played; whether engines broke down in all its games.
    pub(super) fn played(&mut self, token: &str, has_broken: bool) {
        let now = self.now;
        let Some(Known { rest, .. }) = self.runs.get_mut(token) else { return };
        if !has_broken {
            *rest = Rest::default();
        } else if rest.until <= now {
            // Of pairs that break at the same time one counts.
            rest.length = (2 * rest.length).clamp(REST[0], REST[1]);
            rest.until = now + rest.length;
        }
    }

    /// A run had no work.
    pub(super) fn is_dry(&mut self, token: &str) {
        if let Some(known) = self.runs.get_mut(token) {
            known.beacon.queued = 0;
        }
    }

    /// Plays no more for a run; its name, if that is news.
    pub(super) fn refuse(&mut self, token: &str, why: &str) -> Option<String> {
        let known = self.runs.get_mut(token)?;
        let is_news = known.refusal.is_none();
        known.refusal.get_or_insert_with(|| why.to_owned());
        is_news.then(|| known.beacon.run.clone())
    }

    /// Something went wrong.
    pub(super) fn trouble(&mut self, what: String) {
        self.trouble = Some(what);
    }

    /// The benchmark of an engine has shown so many nodes per second.
    pub(super) fn bench(&mut self, engine: &str, nps: f64) {
        if self.benches.len() < MAX_RUNS || self.benches.contains_key(engine) {
            self.benches.insert(engine.to_owned(), nps);
        }
    }

    /// Engines whose benchmark was run, and the nodes per second.
    pub(super) fn benches(&self) -> Vec<(String, f64)> {
        self.benches.iter().map(|(engine, nps)| (engine.clone(), *nps)).collect()
    }

    /// The runs that are not played, and why; and what went wrong last.
    pub(super) fn troubles(&self) -> (Vec<(String, String)>, Option<String>) {
        let refused = self.runs.iter().filter_map(|(token, known)| {
            known.refusal.as_ref().map(|why| (token.clone(), why.clone()))
        });
        (refused.collect(), self.trouble.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beacon(token: &str, priority: u8, queued: u64, playing: u64) -> Beacon {
        Beacon { token: token.into(), run: format!("run {token}"), priority, queued, playing }
    }

    fn chosen(board: &Board) -> Option<String> {
        board.choose().map(|choice| choice.token)
    }

    #[test]
    fn the_most_important_run_with_work_comes_first() {
        let mut board = Board::default();
        assert_eq!(chosen(&board), None);
        assert!(board.hear(beacon("a", 1, 5, 0)));
        assert!(board.hear(beacon("b", 2, 5, 900)));
        assert_eq!(chosen(&board).as_deref(), Some("b"));
        board.is_dry("b");
        assert_eq!(chosen(&board).as_deref(), Some("a"));
        board.is_dry("a");
        assert_eq!(chosen(&board).as_deref(), Some("b"), "it may have some soon");
        assert!(!board.hear(beacon("a", 1, 1, 0)));
        assert_eq!(chosen(&board).as_deref(), Some("a"));
        assert!(!board.choose().unwrap().has_rival);
        board.hear(beacon("b", 2, 1, 0));
        for _ in 0..3 {
            let choice = board.choose().unwrap();
            assert!(choice.token == "b" && choice.has_rival, "it sends more when it is taken");
            board.took("b");
        }
    }

    #[test]
    fn equals_share_fairly() {
        let mut board = Board::default();
        board.hear(beacon("a", 1, 50, 3));
        board.hear(beacon("b", 1, 50, 1));
        let mut taken = Vec::new();
        for _ in 0..6 {
            let token = chosen(&board).unwrap();
            board.took(&token);
            taken.push(token);
        }
        assert_eq!(taken, ["b", "b", "a", "b", "a", "b"]);
    }

    #[test]
    fn a_run_whose_engines_break_down_rests_longer_and_longer() {
        let mut board = Board::default();
        let (mut now, mut rests) = (Duration::ZERO, Vec::new());
        for _ in 0..7 {
            board.hear(beacon("a", 1, 1, 0));
            board.played("a", true);
            board.played("a", true);
            let start = now;
            while chosen(&board).is_none() {
                now += REST[0];
                board.hear(beacon("a", 1, 1, 0));
                board.look(now);
            }
            rests.push((now - start).as_secs_f64());
        }
        assert_eq!(rests, [0.25, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0]);
        board.hear(beacon("b", 0, 1, 0));
        board.played("a", true);
        assert_eq!(chosen(&board).as_deref(), Some("b"), "others are played meanwhile");
        board.played("a", false);
        assert_eq!(chosen(&board).as_deref(), Some("a"));
    }

    #[test]
    fn what_is_refused_or_gone_is_not_chosen() {
        let mut board = Board::default();
        board.hear(beacon("a", 1, 1, 0));
        assert_eq!(board.refuse("a", "no").as_deref(), Some("run a"));
        assert_eq!(board.refuse("a", "still no"), None);
        assert_eq!(board.troubles().0, [("a".to_owned(), "no".to_owned())]);
        assert_eq!(chosen(&board), None);
        board.hear(beacon("b", 1, 1, 0));
        board.look(ABSENCE / 2);
        assert_eq!(chosen(&board).as_deref(), Some("b"));
        board.look(ABSENCE);
        assert_eq!(chosen(&board), None);
        assert!(board.hear(beacon("a", 1, 1, 0)), "asked again, as it may be another by now");
        assert_eq!(chosen(&board).as_deref(), Some("a"));
    }
}
