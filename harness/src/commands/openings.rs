//! `arbiter openings generate`: an opening book from random play.
//!
//! Each candidate is the position after some random legal moves. An engine evaluates the
//! candidates, and the balanced candidates form the book. The same seed, settings and engine give
//! the same book.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use shakmaty::EnPassantMode;
use shakmaty::fen::Fen;

use crate::output::{NewFile, in_use};
use crate::{
    engine_builds::setup, failure::Failure, run::engine_files, runtime::runtime, suite_run::engine,
};
use arbiter_names::quantity;
use arbiter_openings::generate::{Candidate, Verdict, candidates};
use arbiter_plan::{BUNDLED, Engine};
use arbiter_report::{note, progress_bar};
use arbiter_runner::AnalysisEngine;

// A doc comment would replace the description of the command.
#[derive(Debug, Subcommand)]
pub(crate) enum OpeningsCommand {
    /// Generate a book from random play, with the openings that an engine evaluates as balanced.
    Generate(GenerateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// File to write, in EPD
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Number of openings
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: usize,
    /// Plies of random play
    #[arg(long, value_name = "N", default_value_t = 8)]
    plies: u32,
    /// Maximum absolute score that counts as balanced, in centipawns
    #[arg(long, value_name = "CP", default_value_t = 50)]
    balance: u32,
    /// Nodes of the first search of a position
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    quick_nodes: u64,
    /// Nodes of the second search, for positions that pass the first search
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    deep_nodes: u64,
    /// Engine that evaluates the positions, specified like ENGINE in `arbiter match -h`
    #[arg(long, value_name = "ENGINE", default_value = BUNDLED)]
    engine: String,
    /// Seed of the random play
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Runs the command.
pub(crate) fn run(command: OpeningsCommand) -> Result<(), Failure> {
    let OpeningsCommand::Generate(args) = &command;
    if args.count == 0 {
        return Err(Failure::nothing_to_run("expected at least 1 opening"));
    }
    // The long search starts only after everything else that can fail. The file appears only when
    // it is complete, because an incomplete book is useless.
    let judge = engine(&args.engine)?;
    let mut file = NewFile::create(&args.output, in_use(engine_files(&judge))?)?;
    let found = runtime()?.block_on(search(args, &judge))?;
    for line in &found {
        file.write(&format!("{line}\n"))?;
    }
    file.finish()?;
    note(&format!("{} in {}", quantity(found.len(), "opening"), args.output.display()));
    Ok(())
}

async fn search(args: &GenerateArgs, judge: &Engine) -> Result<Vec<String>, Failure> {
    let setup = setup(judge)?;
    let mut engine = AnalysisEngine::start(&setup).await.map_err(Failure::invalid)?;
    let bar = progress_bar(args.count as u64);
    let is_balanced = |verdict: &Verdict| verdict.score_cp.unsigned_abs() <= args.balance;
    let mut lines = Vec::new();
    for candidate in candidates(args.seed, args.plies) {
        if lines.len() == args.count {
            break;
        }
        let quick = evaluate(&mut engine, &candidate, args.quick_nodes).await?;
        if !quick.as_ref().is_some_and(is_balanced) {
            continue;
        }
        let deep = evaluate(&mut engine, &candidate, args.deep_nodes).await?;
        if let Some(deep) = deep.filter(is_balanced) {
            lines.push(candidate.to_epd(deep));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    engine.quit().await;
    if lines.len() < args.count {
        return Err(Failure::invalid(format!(
            "random play of {} plies gave only {} balanced openings; request fewer, or more plies",
            args.plies,
            lines.len()
        )));
    }
    Ok(lines)
}

/// Returns the engine's evaluation of a position; `None` if the score is a mate score or missing.
async fn evaluate(
    engine: &mut AnalysisEngine,
    candidate: &Candidate,
    nodes: u64,
) -> Result<Option<Verdict>, Failure> {
    let fen = Fen::from_position(&candidate.position, EnPassantMode::Legal).to_string();
    let opinion = engine.ask(&fen, nodes).await.map_err(Failure::invalid)?;
    Ok(opinion.and_then(|opinion| {
        let score_cp = opinion.score?.centipawns()?;
        Some(Verdict { score_cp, depth: opinion.depth.unwrap_or_default() })
    }))
}
