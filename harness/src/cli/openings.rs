//! `arbiter openings generate`: makes an opening book from nothing.
//!
//! Random legal play gives positions; an engine keeps those in which neither side is better. The
//! same seed, settings and engine give the same book.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use shakmaty::fen::Fen;
use shakmaty::{Color, EnPassantMode, Position};

use super::play::{Failure, runtime};
use super::{ExitCode, fail};
use crate::config::plan::{BUNDLED, Kind, Plan, Request};
use crate::config::spec::EngineSpec;
use crate::game::player::Player;
use crate::game::referee::{Fault, Reply};
use crate::openings::generate::{Balance, Candidate, Candidates, Rules, Verdict};
use crate::process::Spawner;
use crate::uci::command::Go;
use crate::uci::score::Score;

/// Flags of `arbiter openings`.
#[derive(Debug, Args)]
pub struct OpeningsArgs {
    #[command(subcommand)]
    command: OpeningsCommand,
}

#[derive(Debug, Subcommand)]
enum OpeningsCommand {
    /// Makes a book of balanced openings by random play and an engine's judgement.
    Generate(GenerateArgs),
}

#[derive(Debug, Args)]
struct GenerateArgs {
    /// File to write, in EPD
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Openings to make
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: usize,
    /// Plies of random play
    #[arg(long, value_name = "N", default_value_t = 8)]
    plies: u32,
    /// Largest score, in centipawns for either side, that counts as balanced
    #[arg(long, value_name = "CP", default_value_t = 50)]
    balance: u32,
    /// Nodes of the first look at a position
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    quick_nodes: u64,
    /// Nodes of the second look, which only positions that pass the first get
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    deep_nodes: u64,
    /// The engine that judges, in the form of `arbiter match --engine` [default: cmd=bundled]
    #[arg(long, value_name = "SPEC")]
    engine: Option<String>,
    /// Seed of the random play
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Carries out the command.
pub fn openings(args: OpeningsArgs) -> ExitCode {
    let OpeningsCommand::Generate(args) = args.command;
    match generate(&args) {
        Ok(()) => ExitCode::Passed,
        Err(Failure(code, message)) => fail(code, message),
    }
}

fn generate(args: &GenerateArgs) -> Result<(), Failure> {
    if args.count == 0 {
        return Err(Failure::new(ExitCode::Nothing, "0 openings are nothing to make"));
    }
    let io = |error| Failure::environment(format!("{}: {error}", args.output.display()));
    let mut output = BufWriter::new(File::create(&args.output).map_err(io)?);
    let found = runtime()?.block_on(search(args))?;
    for line in &found {
        writeln!(output, "{line}").map_err(io)?;
    }
    output.into_inner().map_err(|error| io(error.into_error()))?.sync_all().map_err(io)?;
    eprintln!("{} openings in {}", found.len(), args.output.display());
    Ok(())
}

async fn search(args: &GenerateArgs) -> Result<Vec<String>, Failure> {
    let mut judge = Judge::start(args.engine.as_deref()).await?;
    let bar = ProgressBar::new(args.count as u64);
    let balance = Balance::within(args.balance);
    let rules = Rules { plies: args.plies, ..Rules::default() };
    let mut lines = Vec::with_capacity(args.count);
    for candidate in Candidates::new(args.seed, rules) {
        if lines.len() == args.count {
            break;
        }
        let Some(quick) = judge.ask(&candidate, args.quick_nodes).await? else { continue };
        if !balance.accepts(quick.score_cp, None) {
            continue;
        }
        let Some(deep) = judge.ask(&candidate, args.deep_nodes).await? else { continue };
        if balance.accepts(quick.score_cp, Some(deep.score_cp)) {
            lines.push(candidate.to_epd(Some(deep)));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    judge.player.quit(Duration::from_secs(1)).await;
    if lines.len() < args.count {
        return Err(Failure::invalid(format!(
            "random play of {} plies gave only {} balanced openings; ask for fewer, or more plies",
            args.plies,
            lines.len()
        )));
    }
    Ok(lines)
}

/// The engine that tells how balanced a position is.
struct Judge {
    player: Player,
    /// Keeps the engine alive.
    _spawner: Spawner,
}

impl Judge {
    async fn start(spec: Option<&str>) -> Result<Judge, Failure> {
        let default = format!("cmd={BUNDLED}");
        let spec = EngineSpec::parse(spec.unwrap_or(&default)).map_err(Failure::invalid)?;
        let other = EngineSpec {
            name: Some("-".into()),
            cmd: Some(BUNDLED.into()),
            ..EngineSpec::default()
        };
        let request = Request { engines: vec![spec, other], ..Request::default() };
        let plan = Plan::resolve(Kind::Match, request).map_err(Failure::invalid)?;
        let own_binary = std::env::current_exe().map_err(Failure::environment)?;
        let spawner = Spawner::start().map_err(Failure::environment)?;
        let seat = plan.seat(0, &own_binary);
        let player = Player::start(&spawner, &seat)
            .await
            .map_err(|error| Failure::invalid(format!("engine '{}' {error}", seat.name)))?;
        Ok(Judge { player, _spawner: spawner })
    }

    /// The engine's verdict; `None` if it sees a mate or gives no score.
    async fn ask(&mut self, candidate: &Candidate, nodes: u64) -> Result<Option<Verdict>, Failure> {
        let broken = |why: String| Failure::invalid(format!("the judging engine failed: {why}"));
        self.player.new_game(false).await.map_err(|error| broken(error.to_string()))?;
        let fen = Fen::from_position(&candidate.position, EnPassantMode::Legal);
        let go = Go { nodes: Some(nodes), ..Go::default() };
        let info = match self.player.think(format!("position fen {fen}"), go, None).await {
            Reply::Move { info, .. } => info,
            Reply::Fault(Fault::Silent(why) | Fault::Crashed(why) | Fault::Disconnected(why)) => {
                return Err(broken(why));
            }
        };
        let Some(Score::Centipawns(score)) = info.score else { return Ok(None) };
        let score_cp = match candidate.position.turn() {
            Color::White => score,
            Color::Black => -score,
        };
        Ok(Some(Verdict { score_cp, depth: info.depth.unwrap_or(0) }))
    }
}
