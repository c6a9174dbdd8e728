//! The description of a run: all that its jobs have in common, signed by its coordinator.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    VERSION, WireError, checked_token, invalid, is_hash, millis, nanos, printable, read, write,
};
use crate::trust::{Key, PublicKey, TrustError};
use arbiter_game::adjudicate::{DrawRule, ResignRule, Rules};
use arbiter_game::annotation::{Annotation, Field, Keeping, LinePattern};
use arbiter_game::player::Seat;
use arbiter_game::record::Keep;
use arbiter_plan::provenance::Scale;
use arbiter_process::{Bounds, Launch};
use arbiter_protocol::clock::{Conditions, Limits, TimeControl};
use arbiter_protocol::uci::session::{Deadlines, Setup};
use arbiter_protocol::{Protocol, Restart};

/// Longest description, in bytes.
const MAX_DESCRIPTION: usize = 4 << 20;

/// How many times longer a slow worker may wait for an engine than it was told.
const MAX_PATIENCE_FACTOR: f64 = 100.0;

/// A program, by what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its blake3 hash, hexadecimal.
    pub hash: String,
    /// Its length, in bytes.
    pub bytes: u64,
    /// Its file name, for people and for engines that look at it.
    pub name: String,
}

/// An engine of a run.
#[derive(Debug, Clone)]
pub struct Contestant {
    /// How it is started and addressed; where its program is, each machine knows for itself.
    pub seat: Seat,
    /// Its program.
    pub program: Program,
    /// What bounds its thinking.
    pub conditions: Conditions,
    /// Whether workers run its benchmark before they play, and say what it found.
    pub is_benched: bool,
}

/// What a game needs of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// Threads that think at the same time; at least 1.
    pub threads: u32,
    /// Hash tables of both engines, in MiB.
    pub memory_mib: u64,
}

impl Requirements {
    /// How many of a worker's slots a game takes: one for each thread, and as large a part of them
    /// as of the memory. An error says why the machine is too small; 0 MiB is one that is not known.
    pub fn slots(self, slots: usize, memory_mib: u64) -> Result<u32, String> {
        let Requirements { threads, memory_mib: needed } = self;
        let all = u32::try_from(slots).unwrap_or(u32::MAX);
        if threads > all {
            return Err(format!("a game needs {threads} threads, and --slots is {slots}"));
        }
        if memory_mib == 0 {
            return Ok(threads);
        }
        if needed > memory_mib {
            return Err(format!(
                "a game needs {needed} MiB for hash tables, and the machine has {memory_mib} MiB"
            ));
        }
        let part = (u128::from(needed) * u128::from(all)).div_ceil(u128::from(memory_mib));
        Ok(threads.max(u32::try_from(part).unwrap_or(all)))
    }
}

/// What all jobs of a run have in common; a worker reads it once, signed.
#[derive(Debug, Clone)]
pub struct RunDescription {
    /// What stands for the run.
    pub token: String,
    /// Its name.
    pub run: String,
    /// Its engines, by their index.
    pub contestants: Vec<Contestant>,
    /// When games end before the rules of chess say so.
    pub rules: Rules,
    /// What is kept of games.
    pub keep: Arc<Keep>,
    /// What of that is for comments, from which `keep` follows.
    pub annotation: Annotation,
    /// Share of thinking time that the machine may take.
    pub noise_limit: Option<f64>,
    /// Pause between two games at one place.
    pub wait: Duration,
    /// How long a worker may be silent before its pair is given to another.
    pub lease: Duration,
    /// What a game needs of the machine.
    pub needs: Requirements,
    /// How long a game may go without an answer of an engine: the longest thought and all deadlines.
    pub patience: Duration,
    /// If each worker is to scale the times by its own speed: nodes per second, by the benchmark of
    /// the last engine that has one, for which they are meant. Positive.
    pub reference_nps: Option<f64>,
}

impl RunDescription {
    /// Makes the times those of a machine of so many nodes per second; what they are multiplied by.
    pub fn scale_to(&mut self, measured_nps: f64) -> Option<f64> {
        let scale = Scale { reference_nps: self.reference_nps?, measured_nps };
        for contestant in &mut self.contestants {
            contestant.conditions.limits = scale.applied(contestant.conditions.limits);
        }
        self.patience = self.patience.mul_f64(scale.factor().clamp(1.0, MAX_PATIENCE_FACTOR));
        Some(scale.factor())
    }
}

#[derive(Serialize, Deserialize)]
struct Signed {
    v: u32,
    body: String,
    key: String,
    signature: String,
}

/// A description as it is sent.
pub fn sign(head: &RunDescription, key: &Key) -> Vec<u8> {
    let body = String::from_utf8(write(&RunDescriptionMessage::of(head))).expect("JSON is UTF-8");
    let signature = key.sign(&body);
    write(&Signed { v: VERSION, key: key.public().to_string(), body, signature })
}

/// A description that one of the trusted keys has signed.
pub fn verified(bytes: &[u8], trusted: &[PublicKey]) -> Result<RunDescription, String> {
    let signed: Signed = read(bytes, MAX_DESCRIPTION).map_err(|error| error.to_string())?;
    let key: PublicKey = signed.key.parse().map_err(|error: TrustError| error.to_string())?;
    if !trusted.contains(&key) {
        return Err(TrustError::Stranger(key.to_string()).to_string());
    }
    key.check(&signed.body, &signed.signature).map_err(|error| error.to_string())?;
    let message: RunDescriptionMessage =
        read(signed.body.as_bytes(), MAX_DESCRIPTION).map_err(|error| error.to_string())?;
    message.into_description().map_err(|error| error.to_string())
}

#[derive(Serialize, Deserialize)]
struct RunDescriptionMessage {
    v: u32,
    token: String,
    run: String,
    engines: Vec<EngineMessage>,
    draw: Option<[u32; 3]>,
    resign: Option<(u32, u32, bool)>,
    move_cap: Option<u32>,
    fields: Vec<String>,
    pattern: Option<String>,
    transcripts: String,
    noise_limit: Option<f64>,
    wait_ms: u64,
    lease_ms: u64,
    patience_ms: u64,
    #[serde(default)]
    threads: u32,
    #[serde(default)]
    memory_mib: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference_nps: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct EngineMessage {
    name: String,
    program: ProgramMessage,
    args: Vec<String>,
    memory_bytes: Option<u64>,
    protocol: String,
    options: Vec<(String, String)>,
    init: Vec<String>,
    ponder: bool,
    restart: String,
    deadlines_ms: [u64; 4],
    is_taped: bool,
    tc: Option<String>,
    movetime_ns: Option<u64>,
    nodes: Option<u64>,
    depth: Option<u32>,
    nodestime: Option<u64>,
    margin_ns: u64,
    #[serde(default)]
    bench: bool,
}

#[derive(Serialize, Deserialize)]
struct ProgramMessage {
    hash: String,
    bytes: u64,
    name: String,
}

impl RunDescriptionMessage {
    fn of(head: &RunDescription) -> RunDescriptionMessage {
        let Annotation { fields, pattern, .. } = &head.annotation;
        let draw = |rule: DrawRule| [rule.move_number, rule.move_count, rule.score_cp];
        let resign = |rule: ResignRule| (rule.move_count, rule.score_cp, rule.two_sided);
        RunDescriptionMessage {
            v: VERSION,
            token: head.token.clone(),
            run: head.run.clone(),
            engines: head.contestants.iter().map(EngineMessage::of).collect(),
            draw: head.rules.draw.map(draw),
            resign: head.rules.resign.map(resign),
            move_cap: head.rules.move_cap,
            fields: fields.iter().map(|field| field.as_str().to_owned()).collect(),
            pattern: pattern.as_ref().map(ToString::to_string),
            transcripts: head.keep.transcripts.as_str().to_owned(),
            noise_limit: head.noise_limit,
            wait_ms: millis(head.wait),
            lease_ms: millis(head.lease),
            patience_ms: millis(head.patience),
            threads: head.needs.threads,
            memory_mib: head.needs.memory_mib,
            reference_nps: head.reference_nps,
        }
    }

    fn into_description(self) -> Result<RunDescription, WireError> {
        if self.engines.is_empty() {
            return Err(invalid("a run without engines"));
        }
        let fields = self.fields.iter().map(|word| word.parse::<Field>().map_err(invalid));
        let pattern =
            self.pattern.map(|text| text.parse::<LinePattern>().map_err(invalid)).transpose()?;
        let annotation = Annotation {
            fields: fields.collect::<Result<_, _>>()?,
            pattern,
            ..Annotation::default()
        };
        let transcripts = self.transcripts.parse::<Keeping>().map_err(invalid)?;
        let engines = self.engines.into_iter().map(|engine| engine.into_contestant(&annotation));
        let draw = |[move_number, move_count, score_cp]: [u32; 3]| DrawRule {
            move_number,
            move_count,
            score_cp,
        };
        let resign =
            |(move_count, score_cp, two_sided)| ResignRule { move_count, score_cp, two_sided };
        if self.reference_nps.is_some_and(|nps| !nps.is_finite() || nps <= 0.0) {
            return Err(invalid("a speed that is none"));
        }
        Ok(RunDescription {
            token: checked_token(self.token)?,
            run: printable(&self.run),
            contestants: engines.collect::<Result<_, _>>()?,
            rules: Rules {
                draw: self.draw.map(draw),
                resign: self.resign.map(resign),
                move_cap: self.move_cap,
                tablebase: None,
            },
            keep: Arc::new(Keep::for_annotation(&annotation, transcripts)),
            annotation,
            noise_limit: self.noise_limit,
            wait: Duration::from_millis(self.wait_ms),
            lease: Duration::from_millis(self.lease_ms.max(1_000)),
            patience: Duration::from_millis(self.patience_ms),
            needs: Requirements { threads: self.threads.max(1), memory_mib: self.memory_mib },
            reference_nps: self.reference_nps,
        })
    }
}

impl EngineMessage {
    fn of(contestant: &Contestant) -> EngineMessage {
        let Contestant { seat, program, conditions, is_benched } = contestant;
        let Conditions { limits, margin } = conditions;
        let Deadlines { uciok, readyok, bestmove, stop } = seat.deadlines;
        EngineMessage {
            name: seat.name.clone(),
            program: ProgramMessage {
                hash: program.hash.clone(),
                bytes: program.bytes,
                name: program.name.clone(),
            },
            args: seat.launch.args.clone(),
            memory_bytes: seat.launch.bounds.memory_bytes,
            protocol: seat.protocol.to_string(),
            options: seat.setup.options.clone(),
            init: seat.setup.init.clone(),
            ponder: seat.setup.ponder,
            restart: seat.restart.to_string(),
            deadlines_ms: [uciok, readyok, bestmove, stop].map(millis),
            is_taped: seat.is_taped,
            tc: limits.clock.map(|clock| clock.to_string()),
            movetime_ns: limits.movetime.map(nanos),
            nodes: limits.nodes,
            depth: limits.depth,
            nodestime: limits.nodestime,
            margin_ns: nanos(*margin),
            bench: *is_benched,
        }
    }

    fn into_contestant(self, annotation: &Annotation) -> Result<Contestant, WireError> {
        let ProgramMessage { hash, bytes, name } = self.program;
        if !is_hash(&hash) {
            return Err(invalid("a program without a hash"));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
        let name: String = name.chars().filter(|c| plain(*c)).take(100).collect();
        let name = name.trim_start_matches('.');
        let name = if name.is_empty() { "engine" } else { name }.to_owned();
        let [uciok, readyok, bestmove, stop] = self.deadlines_ms.map(Duration::from_millis);
        let limits = Limits {
            clock: self.tc.map(|tc| tc.parse::<TimeControl>().map_err(invalid)).transpose()?,
            movetime: self.movetime_ns.map(Duration::from_nanos),
            nodes: self.nodes,
            depth: self.depth,
            nodestime: self.nodestime,
        };
        let seat = Seat {
            name: printable(&self.name),
            launch: Launch {
                program: PathBuf::new(),
                args: self.args,
                dir: None,
                stderr: None,
                // What else a program may take is the worker's to say.
                bounds: Bounds { memory_bytes: self.memory_bytes, ..Bounds::default() },
                cpus: Vec::new(),
            },
            protocol: self.protocol.parse::<Protocol>().map_err(invalid)?,
            setup: Setup {
                options: self.options,
                init: self.init,
                ponder: self.ponder,
                nodestime: self.nodestime,
            },
            restart: self.restart.parse::<Restart>().map_err(invalid)?,
            deadlines: Deadlines { uciok, readyok, bestmove, stop },
            pattern: annotation.pattern.clone(),
            is_taped: self.is_taped,
        };
        let conditions = Conditions { limits, margin: Duration::from_nanos(self.margin_ns) };
        let program = Program { hash, bytes, name };
        Ok(Contestant { seat, program, conditions, is_benched: self.bench })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_takes_as_many_slots_as_it_needs_of_the_machine() {
        let slots = |threads, needed, slots, memory| {
            Requirements { threads, memory_mib: needed }.slots(slots, memory)
        };
        assert_eq!(slots(1, 32, 8, 16_000), Ok(1));
        assert_eq!(slots(4, 32, 8, 16_000), Ok(4));
        assert_eq!(slots(1, 4_001, 8, 16_000), Ok(3), "two such games fit, not three");
        assert_eq!(slots(2, 16_000, 8, 16_000), Ok(8));
        assert_eq!(slots(1, 16_000, 8, 0), Ok(1), "nobody knows");
        assert!(slots(9, 32, 8, 16_000).unwrap_err().contains("9 threads"));
        assert!(slots(1, 16_001, 8, 16_000).unwrap_err().contains("16001 MiB"));
    }
}
