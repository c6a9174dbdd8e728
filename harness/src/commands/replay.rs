//! `arbiter replay`: the transcript of a game, and a new judgement of the game by the referee.

use std::path::Path;

use clap::Args;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Chess};

use crate::{
    exit_code::ExitCode, failure::Failure, output::print_result, project::ResultsArg,
    run::open_tables,
};
use arbiter_game::outcome::Outcome;
use arbiter_game::referee::Referee;
use arbiter_game::replay::{ReplayResult, replay};
use arbiter_process::read_text;
use arbiter_protocol::Game;
use arbiter_report::transcript_text;
use arbiter_runner::engine_setups;
use arbiter_store::{RecordedGame, Store, parse_place};

/// Flags of `arbiter replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints every line to and from both engines with its time in milliseconds, and then judges the game
again from these lines alone. The flag --transcripts of the run selects the games with a transcript,
by default those that ended with an engine fault.

Exit codes: 0 if the replayed game ends as recorded; 1 if it ends differently, or if the transcript is
too short to decide; 3 for a game without a transcript and other invalid input.

Examples:
  arbiter replay RUN                   games of the run with transcripts
  arbiter replay RUN 17.2              second game of pair 17, as in the PGN tag Round
  arbiter replay RUN 17.2 --raw >FILE  as a file, to send to an engine's author
  arbiter replay FILE")]
pub(crate) struct ReplayArgs {
    /// Name of a run, latest, or a file with a transcript
    #[arg(value_name = "RUN|FILE")]
    source: String,
    /// Pair and game, as in the PGN tag Round [default: list the games with transcripts]
    #[arg(value_name = "GAME")]
    game: Option<String>,
    #[command(flatten)]
    results: ResultsArg,
    /// Print only the transcript, as a file that can be replayed elsewhere
    #[arg(long)]
    raw: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let path = Path::new(&args.source);
    let recorded = match &args.game {
        None if path.is_file() => {
            let text = read_text(path);
            let read = text.map_err(|error| error.to_string()).and_then(RecordedGame::read);
            read.map_err(|error| Failure::invalid(format!("{}: {error}", path.display())))?
        }
        None => return list(&args.results.store()?, &args.source),
        Some(game) => find(&args.results.store()?, &args.source, game)?,
    };
    if args.raw {
        return print_result(&recorded.text).map(|()| ExitCode::Passed);
    }
    let RecordedGame { run, round, plan, record, transcript, .. } = &recorded;
    let names = record.engines.map(|index| plan.engines[index].name.as_str());
    let ByColor { white, black } = names;
    print_result(&format!("run {run}, game {round}: {white} (White) v {black} (Black)\n\n"))?;
    print_result(&transcript_text(transcript, names))?;
    let replayed = again(&recorded)?;
    let (text, code) = judgement(&record.outcome, &replayed);
    print_result(&text).map(|()| code)
}

fn list(store: &Store, run: &str) -> Result<ExitCode, Failure> {
    let run = &store.named(run)?;
    let stored = store.run(run)?;
    let mut text = String::new();
    for (pair, game_index) in store.transcribed(run)? {
        let Some(played) = store.pair(run, pair)? else { continue };
        let Some(game) = played.games.iter().nth(game_index) else { continue };
        let names = game.engines.map(|index| stored.plan.engines[index].name.as_str());
        let ByColor { white, black } = names;
        let detail = game.outcome.naming(names);
        text.push_str(&format!("{}.{}  {white} v {black}: {detail}\n", pair + 1, game_index + 1));
    }
    if text.is_empty() {
        let kept = stored.plan.transcripts;
        text = format!("run {run} has no transcripts (recorded: {kept})\n");
    }
    print_result(&text).map(|()| ExitCode::Passed)
}

fn find(store: &Store, run: &str, game: &str) -> Result<RecordedGame, Failure> {
    let run = &store.named(run)?;
    let (pair, game_index) = parse_place(game).ok_or_else(|| {
        Failure::invalid(format!("invalid game '{game}'; give pair and game, such as 17.2"))
    })?;
    let kept = store.run(run)?.plan.transcripts;
    store.recorded(run, pair, game_index)?.ok_or_else(|| {
        Failure::invalid(format!(
            "run '{run}' has no transcript of game {game} (recorded: {kept})\nhint: `arbiter \
             replay {run}` lists the transcripts of the run"
        ))
    })
}

/// Lets the referee judge the game again.
fn again(recorded: &RecordedGame) -> Result<ReplayResult, Failure> {
    let RecordedGame { plan, record, transcript, .. } = recorded;
    let mode = CastlingMode::from_chess960(record.chess960);
    let fen: Fen = record.fen.parse().map_err(Failure::invalid)?;
    let start: Chess = fen.into_position(mode).map_err(Failure::invalid)?;
    let book = record.moves.iter().take_while(|played| played.search.is_none());
    let book: Vec<UciMove> = book.map(|played| played.uci).collect();
    let conditions = record.engines.map(|index| plan.engines[index].conditions);
    let tables = open_tables(plan)?;
    let referee = Referee::new(start.clone(), mode, &book, conditions, plan.rules, tables);
    // A replay starts no engine, so it does not need the paths of programs.
    let setups = engine_setups(plan, Path::new(""));
    let setups = record.engines.map(|index| &setups[index]);
    let limits = conditions.map(|conditions| conditions.limits);
    let games = limits.map(|limits| Game { start: &start, mode, limits, settings: &[] });
    Ok(replay(referee, games, setups, transcript))
}

/// Returns a comparison of the recorded and the replayed result, and the exit code.
fn judgement(recorded: &Outcome, replayed: &ReplayResult) -> (String, ExitCode) {
    let sentence = |outcome: &Outcome| {
        let Outcome { result, termination, detail } = outcome;
        format!("{} ({termination}): {detail}", result.as_str())
    };
    let (verdict, code) = match &replayed.outcome {
        Some(outcome) if outcome == recorded => ("matches".to_owned(), ExitCode::Passed),
        Some(outcome) => (format!("DIFFERS: {}", sentence(outcome)), ExitCode::Negative),
        None => (format!("no end after {} plies", replayed.moves), ExitCode::Negative),
    };
    let mut text = format!("\nrecorded: {}\nreplayed: {verdict}\n", sentence(recorded));
    for remark in &replayed.remarks {
        text.push_str(&format!("note: {remark}\n"));
    }
    (text, code)
}
