//! The view of a running match on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report::status::{Progress, status_line, status_lines};
use crate::report::terminal::note;
use crate::run::event::{Observer, ObserverError, RunEvent};
use crate::run::standing::Standing;
use crate::schedule::Schedule;
use crate::stats::sprt::Sprt;

/// Time between two plain lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Watches a run and shows how it stands.
#[derive(Debug)]
pub struct Live {
    bar: Option<ProgressBar>,
    engines: Vec<String>,
    sprt: Option<Sprt>,
    encounters: usize,
    total: u64,
    standing: Standing,
    counted: u64,
    counted_before: u64,
    llr: f64,
    shown: Option<Duration>,
}

impl Live {
    /// A view of a run of a schedule between `engines`; draws a bar if standard error
    /// is a terminal.
    pub fn new(schedule: Schedule, sprt: Option<Sprt>, engines: Vec<String>) -> Live {
        let total = schedule.pairs();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{elapsed}] {bar:50}\n{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Live {
            bar,
            engines,
            sprt,
            encounters: schedule.encounters(),
            total,
            standing: Standing::default(),
            counted: 0,
            counted_before: 0,
            llr: 0.0,
            shown: None,
        }
    }

    fn progress(&self, elapsed: Duration) -> Progress {
        Progress {
            sprt: self.sprt.map(|sprt| (sprt, self.llr)),
            encounters: self.encounters,
            counted: self.counted,
            total: self.total,
            counted_now: self.counted - self.counted_before,
            elapsed,
        }
    }

    fn show(&mut self, elapsed: Duration) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.counted);
                let lines = status_lines(&self.standing, &self.progress(elapsed));
                bar.set_message(lines.join("\n"));
            }
            None => {
                let due = self.shown.is_none_or(|shown| elapsed >= shown + PLAIN_INTERVAL);
                if due && self.counted > self.counted_before {
                    self.shown = Some(elapsed);
                    note(&status_line(&self.standing, &self.progress(elapsed)));
                }
            }
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => note(text),
        }
    }
}

impl Observer for Live {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        match event {
            RunEvent::Started { standing, counted } => {
                self.standing = (*standing).clone();
                self.counted = *counted;
                self.counted_before = *counted;
            }
            RunEvent::Counted { played, tally, llr, elapsed } => {
                self.standing.count(tally);
                self.counted += 1;
                self.llr = llr.unwrap_or(0.0);
                for (half, game) in played.games.iter().enumerate() {
                    if game.outcome.termination.is_fault() {
                        let name = |index: usize| self.engines[index].as_str();
                        self.say(&format!(
                            "fault in game {}.{} ({} v {}): {}",
                            tally.pair + 1,
                            half + 1,
                            name(game.engines.white),
                            name(game.engines.black),
                            game.outcome.detail
                        ));
                    }
                }
                self.show(*elapsed);
            }
            RunEvent::Tick { elapsed } => self.show(*elapsed),
            RunEvent::Draining { in_flight } => self.say(&format!(
                "interrupted: {in_flight} pairs in flight are played to their end; \
                 interrupt again to stop now"
            )),
            RunEvent::Ended { elapsed, .. } => match &self.bar {
                Some(bar) => bar.finish_and_clear(),
                None => note(&status_line(&self.standing, &self.progress(*elapsed))),
            },
        }
        Ok(())
    }
}
