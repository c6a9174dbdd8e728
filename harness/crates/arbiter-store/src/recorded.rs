//! Games with all data that is needed for a replay, from the store or from a file.

use serde::{Deserialize, Serialize};

use super::{Result, Store};
use crate::rows::{GameRow, PlanRow};
use arbiter_game::record::GameRecord;
use arbiter_game::transcript::Transcript;
use arbiter_names::{MAX_NAME, is_name};
use arbiter_plan::Plan;

/// Version of the file format.
const VERSION: u32 = 1;

/// A game with its transcript.
#[derive(Debug, Clone)]
pub struct RecordedGame {
    /// Name of the run.
    pub run: String,
    /// Value of the PGN tag `Round`: numbers of the pair and of the game in the pair, from 1.
    pub round: String,
    /// Plan of the run.
    pub plan: Plan,
    /// Record of the game.
    pub record: GameRecord,
    /// Transcript of the game.
    pub transcript: Transcript,
    /// The game in the file format, as text.
    pub text: String,
}

/// First line of the file; the transcript follows.
#[derive(Serialize, Deserialize)]
struct HeaderRow {
    transcript: u32,
    run: String,
    round: String,
    plan: PlanRow,
    game: GameRow,
}

impl Store {
    /// Returns a game of a run; `None` if the game is not on disk or has no transcript. `pair` is
    /// the number of the pair, and `half` is the index of the game in the pair, both from 0.
    pub fn recorded(&self, run: &str, pair: u64, half: usize) -> Result<Option<RecordedGame>> {
        let Some(transcript) = self.transcript(run, (pair, half))? else { return Ok(None) };
        let Some(played) = self.pair(run, pair)? else { return Ok(None) };
        let Some(record) = played.games.iter().nth(half).cloned() else { return Ok(None) };
        let stored = self.run(run)?;
        let header = HeaderRow {
            transcript: VERSION,
            run: run.to_owned(),
            round: format!("{}.{}", pair + 1, half + 1),
            plan: PlanRow::of(&stored.plan, &stored.fingerprints),
            game: GameRow::of(&record),
        };
        let json = serde_json::to_string(&header).expect("rows of numbers and text are JSON");
        Ok(Some(RecordedGame {
            run: header.run,
            round: header.round,
            plan: stored.plan,
            record,
            text: format!("{json}\n{transcript}"),
            transcript,
        }))
    }
}

impl RecordedGame {
    /// Reads a game from the text of a file; the error is the reason why the text is invalid.
    pub fn read(text: String) -> Result<RecordedGame, String> {
        let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let header: HeaderRow = serde_json::from_str(head).map_err(|error| {
            format!("not a transcript: {error}; `arbiter replay RUN GAME --raw` writes such a file")
        })?;
        if header.transcript > VERSION {
            return Err(format!("has version {}; update arbiter", header.transcript));
        }
        let transcript: Transcript = rest.parse()?;
        let (plan, _) = header.plan.into_plan();
        let record = header.game.into_record()?;
        let (run, round) = (header.run, header.round);
        // The file may come from an untrusted source, and later code uses the indices without
        // further checks.
        if record.engines.white.max(record.engines.black) >= plan.engines.len() {
            return Err("names an engine that is not in the plan".to_owned());
        }
        let engines = plan.engines.iter().map(|engine| &engine.name);
        if let Some(name) = engines.chain([&run, &round]).find(|name| !is_name(name)) {
            let name: String = name.chars().take(MAX_NAME).collect();
            return Err(format!("contains the invalid name {name:?}"));
        }
        Ok(RecordedGame { run, round, plan, record, transcript, text })
    }
}
