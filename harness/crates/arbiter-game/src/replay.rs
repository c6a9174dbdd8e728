//! Replay of a transcript by the referee, to check the recorded result.
//!
//! Protocol sessions and the referee work as in a real game. Lines and times come from the
//! transcript instead of from a process and a clock.

#![expect(clippy::disallowed_methods, reason = "the moment of a replay does not matter")]

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use shakmaty::{ByColor, Color};

use super::engine::EngineSetup;
use super::outcome::{Outcome, color_name};
use super::referee::{Fault, Referee, Reply, Turn};
use super::transcript::{Entry, Mark, Transcript};
use arbiter_protocol::{Game, Session, Step};

/// Result of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayResult {
    /// Outcome of the game; `None` if the transcript ends earlier.
    pub outcome: Option<Outcome>,
    /// Number of judged plies, including book moves.
    pub moves: usize,
    /// Differences between the recorded commands and the commands that this version sends, and the
    /// reason for an early end of the replay.
    pub remarks: Vec<String>,
}

/// Reason why the replay of a side cannot continue.
enum Stop {
    /// An answer is late; the text names the answer.
    Late(String),
    /// The engine failed.
    Fault(Fault),
    /// The transcript is incomplete; the text is the reason.
    Missing(String),
}

impl Stop {
    /// Returns the fault of the engine; fails if the transcript is incomplete.
    fn fault(self) -> Result<Fault, String> {
        match self {
            Stop::Late(what) => Ok(Fault::Silent(what)),
            Stop::Fault(fault) => Ok(fault),
            Stop::Missing(why) => Err(why),
        }
    }
}

/// Replays the game of `transcript`; `referee` judges the moves.
pub fn replay(
    mut referee: Referee,
    games: ByColor<Game<'_>>,
    setups: ByColor<&EngineSetup>,
    transcript: &Transcript,
) -> ReplayResult {
    // An arbitrary moment stands for the beginning of the transcript.
    let zero = Instant::now();
    let side = |color| Side::new(color, setups.get(color), transcript, zero);
    let mut sides = ByColor::new_with(side);
    let mut remarks = Vec::new();
    if let Err(missing) = play(&mut referee, games, &mut sides) {
        remarks.push(missing);
    }
    let differences = sides.into_iter().filter_map(|side| side.difference);
    let remarks = differences.chain(remarks).collect();
    let outcome = referee.outcome().cloned();
    ReplayResult { outcome, moves: referee.into_moves().len(), remarks }
}

/// Replays until the game is over; fails if the transcript is incomplete.
fn play(
    referee: &mut Referee,
    games: ByColor<Game<'_>>,
    sides: &mut ByColor<Side>,
) -> Result<(), String> {
    for color in Color::ALL {
        let side = sides.get_mut(color);
        // If an engine failed to start, the transcript contains only the lines of this engine.
        if side.entries.is_empty() {
            continue;
        }
        if let Err(stop) = side.get_ready(*games.get(color)) {
            referee.forfeit(color, stop.fault()?);
        }
    }
    while referee.outcome().is_none() {
        let turn = referee.turn();
        let side = sides.get_mut(turn.color);
        let reply = match side.think(turn) {
            Ok(reply) => reply,
            Err(stop) => Reply::Fault(stop.fault()?),
        };
        referee.judge(reply);
        if referee.outcome().is_none()
            && let Some(reply) = side.session.expected_reply()
            && let Some(forecast) = referee.forecast(reply)
            && let Some(text) = side.session.ponder(forecast.position, forecast.go)
        {
            // An error is ignored, because the error recurs on the engine's own turn and is judged
            // then.
            let _ = side.sent(&text, true);
        }
    }
    Ok(())
}

/// Side of a replayed game. The transcript replaces the engine.
struct Side {
    color: Color,
    session: Session,
    /// Entries of the transcript, each with the time at which it was recorded.
    entries: VecDeque<(Instant, Entry)>,
    /// Start of the current search. Lines read earlier belong to an earlier search.
    since: Instant,
    last_read: Instant,
    /// Time at which the last command was flushed.
    flushed: Instant,
    /// Recorded answer to the last ping, and the answer that the session expects now. The two
    /// answers differ because pings are numbered from the start of a process.
    pong: Option<(String, String)>,
    /// Description of the first command that this version would send differently.
    difference: Option<String>,
}

impl Side {
    fn new(color: Color, engine: &EngineSetup, transcript: &Transcript, zero: Instant) -> Side {
        let first_ns = transcript.entries.iter().map(|entry| entry.at_ns).min().unwrap_or(0);
        // Times before the start of the game are negative, but an `Instant` before `zero` may be
        // impossible.
        let since_first = |at_ns: i64| at_ns.saturating_sub(first_ns).max(0) as u64;
        let moment = |entry: &Entry| zero + Duration::from_nanos(since_first(entry.at_ns));
        let own = transcript.entries.iter().filter(|entry| entry.color == color);
        Side {
            color,
            session: Session::new(engine.protocol, engine.setup.clone(), engine.deadlines),
            entries: own.map(|entry| (moment(entry), entry.clone())).collect(),
            since: zero,
            last_read: zero,
            flushed: zero,
            pong: None,
            difference: None,
        }
    }

    /// Performs the handshake and the preparation for the game.
    fn get_ready(&mut self, game: Game<'_>) -> Result<(), Stop> {
        let text = self.session.open(self.next_command_time());
        self.sent(text, true)?;
        self.until_ready()?;
        while let Some((_, entry)) = self.entries.front()
            && entry.mark != Mark::NewGame
        {
            match entry.mark {
                // After a gap the settings of the engine are unknown, and after a fault the engine
                // never got ready.
                Mark::Cut | Mark::Event => return Err(self.stop()),
                _ => drop(self.entries.pop_front()),
            }
        }
        if self.entries.pop_front().is_none() {
            return Err(self.stop());
        }
        self.since = self.next_command_time();
        let commands = self.session.new_game(self.since, game);
        let commands = commands.map_err(|error| Stop::Fault(Fault::Silent(error.to_string())))?;
        // The preparation may differ from the recorded preparation, because options that were set
        // for an earlier game of the same process were not sent again. In the replay, this game is
        // the first game of the process.
        self.sent(&commands, false)?;
        self.until_ready()
    }

    fn until_ready(&mut self) -> Result<(), Stop> {
        while !self.session.is_ready() {
            self.step()?;
        }
        Ok(())
    }

    /// Replays a search, with the times of the transcript.
    fn think(&mut self, turn: Turn) -> Result<Reply, Stop> {
        let Turn { color, position, mut go, mut budget } = turn;
        if let Some(claim) = self.session.false_claim() {
            return Ok(Reply::Claim(claim));
        }
        while self.session.is_pondering() && self.is_next(Mark::FromEngine) {
            self.step()?;
        }
        let mut lost = Duration::ZERO;
        if self.session.is_ponder_miss(&position) {
            let began = self.next_command_time();
            let text = self.session.end_pondering(began);
            self.sent(text, true)?;
            self.until_ready()?;
            lost = self.last_read.saturating_duration_since(began);
            go.take_from(color.is_white(), lost);
            budget = budget.map(|budget| budget.saturating_sub(lost));
        }
        let now = self.next_command_time();
        if !self.session.is_pondering() {
            self.since = now;
        }
        let text = self.session.think(now, &position, &go, budget);
        self.sent(&text, true)?;
        let flushed = self.flushed;
        let mut may_halt = budget.is_some();
        loop {
            match self.step() {
                Ok(Step::Move { text, info }) => {
                    let elapsed = self.last_read.saturating_duration_since(flushed) + lost;
                    return Ok(Reply::Move { text, elapsed, info });
                }
                Ok(Step::Claim(claim)) => return Ok(Reply::Claim(claim)),
                Ok(_) => {}
                Err(Stop::Late(_)) if may_halt => {
                    may_halt = false;
                    let stop = self.session.halt(self.next_command_time());
                    self.sent(stop, true)?;
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    fn is_next(&self, mark: Mark) -> bool {
        self.entries.front().is_some_and(|(_, entry)| entry.mark == mark)
    }

    /// Processes the next line of the engine, or a missed deadline.
    fn step(&mut self) -> Result<Step, Stop> {
        if self.is_next(Mark::ToEngine) {
            // The next entry is a command, so the answer to the last command was overdue when the
            // entry was recorded.
            return self.overdue(self.next_command_time());
        }
        let Some((at, entry)) =
            self.entries.pop_front_if(|(_, entry)| entry.mark == Mark::FromEngine)
        else {
            return Err(self.stop());
        };
        if at < self.since {
            return Ok(self.session.receive_early(&entry.text).map_or(Step::Continue, Step::Claim));
        }
        if self.session.deadline().is_some_and(|due| at > due) {
            // A late line may still be the answer to the `stop` that follows.
            self.entries.push_front((at, entry));
            return self.overdue(at);
        }
        self.last_read = at;
        let text = match &self.pong {
            Some((then, now)) if *then == entry.text => now.as_str(),
            _ => entry.text.as_str(),
        };
        let step = self.session.receive(at, text);
        self.obey(step.map_err(|error| Stop::Fault(Fault::Silent(error.to_string())))?)
    }

    fn overdue(&mut self, at: Instant) -> Result<Step, Stop> {
        let step = self.session.overdue(at);
        self.obey(step.map_err(|error| Stop::Late(error.to_string()))?)
    }

    fn obey(&mut self, step: Step) -> Result<Step, Stop> {
        if let Step::Send(text) = &step {
            self.sent(text, true)?;
        }
        Ok(step)
    }

    /// Compares commands of the session with the recorded commands, and stores the first
    /// difference. If `exactly` is `false`, the recorded commands are skipped without a comparison.
    fn sent(&mut self, text: &str, exactly: bool) -> Result<(), Stop> {
        let mut due: VecDeque<&str> = text.lines().collect();
        while exactly && !due.is_empty() || !exactly && self.next_index(Mark::ToEngine).is_some() {
            let Some((at, entry)) = self.take_entry(Mark::ToEngine) else {
                return Err(self.stop());
            };
            self.flushed = at;
            let wanted = due.pop_front();
            if let (Some(then), Some(Some(now))) =
                (entry.text.strip_prefix("ping "), wanted.map(|line| line.strip_prefix("ping ")))
            {
                self.pong = Some((format!("pong {then}"), format!("pong {now}")));
                continue;
            }
            if exactly && wanted != Some(entry.text.as_str()) && self.difference.is_none() {
                let at = entry.at_ns as f64 / 1e6;
                let received = format!("{} received '{}'", color_name(self.color), entry.text);
                let now = wanted.unwrap_or_default();
                self.difference =
                    Some(format!("{at:.3} ms: {received}, and would now receive '{now}'"));
            }
        }
        if let Some((at, _)) = self.take_entry(Mark::Flushed) {
            self.flushed = at;
        }
        Ok(())
    }

    /// Returns the index of the next entry that is not a line from the engine, if the entry has the
    /// kind `mark`. The entry may follow lines from the engine that were not yet processed when the
    /// entry was recorded.
    fn next_index(&self, mark: Mark) -> Option<usize> {
        let place = self.entries.iter().position(|(_, entry)| entry.mark != Mark::FromEngine);
        place.filter(|place| self.entries[*place].1.mark == mark)
    }

    fn take_entry(&mut self, mark: Mark) -> Option<(Instant, Entry)> {
        self.next_index(mark).and_then(|place| self.entries.remove(place))
    }

    /// Returns the time of the next command to the engine. If the next entry is not a command,
    /// returns the time of that entry, or of the last line read if no entry is left.
    fn next_command_time(&self) -> Instant {
        let place = self.next_index(Mark::ToEngine).unwrap_or(0);
        self.entries.get(place).map_or(self.last_read, |(at, _)| *at)
    }

    /// Returns the reason why the next entry, which is not a line from the engine, ends the replay.
    fn stop(&mut self) -> Stop {
        let name = color_name(self.color);
        match self.entries.pop_front().map(|(_, entry)| entry) {
            Some(Entry { mark: Mark::Event, text, .. }) => match text.parse() {
                // A recorded silence counts as a late answer only if the session misses the same
                // answer, because `stop` is sent only after a late answer.
                Ok(Fault::Silent(what)) => match self.session.overdue(self.last_read) {
                    Err(error) if error.to_string() == what => Stop::Late(what),
                    _ => Stop::Fault(Fault::Silent(what)),
                },
                Ok(fault) => Stop::Fault(fault),
                Err(why) => Stop::Missing(why),
            },
            Some(Entry { mark: Mark::Cut, text, .. }) => {
                Stop::Missing(format!("{text} of {name}: the rest cannot be judged"))
            }
            Some(Entry { text, at_ns, .. }) => {
                let at = at_ns as f64 / 1e6;
                Stop::Missing(format!("{at:.3} ms: {name}: unexpected '{text}'"))
            }
            None => Stop::Missing(format!("the transcript of {name} ends here")),
        }
    }
}

#[cfg(test)]
mod tests;
