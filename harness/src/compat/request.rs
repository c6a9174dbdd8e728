//! Options become a request for a run.

use super::options::Options;
use arbiter_game::adjudicate::Rules;
use arbiter_openings::Order;
use arbiter_plan::plan::Kind;
use arbiter_plan::request::{Request, SprtRequest};
use arbiter_plan::tournament::TournamentRequest;
use arbiter_protocol::uci::session::Deadlines;
use arbiter_report::compat::Dialect;
use arbiter_report::terminal::note;
use arbiter_schedule::Format;
use arbiter_stats::Correction;

/// The request, and what kind of run it is.
pub(crate) fn request(options: Options) -> Result<(Kind, Request), String> {
    let count = options.engines.specs.len();
    if count < 2 {
        return Err(format!("{count} engines are too few; give -engine at least twice"));
    }
    if options.sprt.is_some() && count > 2 {
        return Err(format!("-sprt compares two engines, not {count}"));
    }
    if let Some(path) = options.pgn.as_ref().filter(|path| options.pgn_is_new && path.exists()) {
        return Err(format!(
            "-pgnout append=false: {} exists, and arbiter overwrites no games; remove it, or give \
             another file",
            path.display()
        ));
    }
    if options.openings.file.is_none() {
        note("no -openings: games start from arbiter's own book");
    }
    let kind = match (options.sprt, count) {
        (Some(_), _) => Kind::Sprt,
        (None, 2) => Kind::Match,
        (None, _) => Kind::Tournament,
    };
    let tournament = tournament(&options)?;
    let mut deadlines = Deadlines::default();
    deadlines.uciok = options.deadlines[0].unwrap_or(deadlines.uciok);
    deadlines.readyok = options.deadlines[1].unwrap_or(deadlines.readyok);
    if let Some(scale) = options.engines.start_scale {
        deadlines = deadlines.with_start_scaled(scale);
    }
    let (tablebase, tables) = options.tablebase.resolve()?;
    let request = Request {
        engines: options.engines.specs,
        openings: options.openings.file,
        plies: options.openings.plies,
        order: Some(options.openings.order.unwrap_or(Order::Sequential)),
        seed: options.seed,
        tournament,
        concurrency: Some(options.concurrency.unwrap_or(1)),
        affinity: options.affinity,
        pgn: options.pgn,
        annotation: options.written.annotation()?,
        epd: options.epd,
        tables,
        rules: Rules {
            draw: options.draw,
            resign: options.resign,
            move_cap: options.move_cap,
            tablebase,
        },
        deadlines,
        sprt: options.sprt.map_or_else(SprtRequest::default, |test| SprtRequest {
            elo0: Some(test.elo0),
            elo1: Some(test.elo1),
            alpha: Some(test.alpha),
            beta: Some(test.beta),
            model: Some(test.model),
            // Both stop at Wald's bounds.
            correction: Some(Correction::None),
        }),
        ..Request::default()
    };
    Ok((kind, request))
}

/// Rounds and games of theirs as rounds and pairs of ours.
fn tournament(options: &Options) -> Result<TournamentRequest, String> {
    let is_fastchess = options.dialect == Dialect::Fastchess;
    let usual = if is_fastchess { 2 } else { 1 };
    let (rounds, games) = (options.rounds.unwrap_or(usual), options.games.unwrap_or(usual));
    let total = rounds.saturating_mul(games);
    let is_duel = options.engines.specs.len() == 2;
    let is_knockout = options.format == Some(Format::Knockout);
    // In a round robin they make no difference.
    let has_seeds = matches!(options.format, Some(Format::Gauntlet | Format::Knockout));
    let mut request = TournamentRequest {
        format: options.format.filter(|_| !is_duel),
        seeds: options.seeds.filter(|seeds| *seeds > 0 && !is_duel && has_seeds),
        reverse: options.reverse,
        noswap: options.noswap,
        openings: options.openings.policy,
        opening_start: options.openings.start,
        wait: options.wait,
        ..TournamentRequest::default()
    };
    if options.noswap || (total == 1 && options.sprt.is_none()) {
        request.noswap = true;
        // All games of an encounter of two are alike, in whatever round.
        (request.rounds, request.pairs) =
            if is_duel { (None, Some(total)) } else { (Some(rounds), Some(games)) };
        return Ok(request);
    }
    if is_duel {
        if total % 2 == 1 {
            return Err(format!(
                "-rounds {rounds} -games {games}: {total} games are no whole pairs; make them even, \
                 or give -noswap"
            ));
        }
        request.pairs = Some(total / 2);
    } else if games.is_multiple_of(2) {
        request.rounds = Some(rounds).filter(|_| !is_knockout);
        request.pairs = Some(games / 2);
    } else if games == 1 && rounds.is_multiple_of(2) && !is_knockout {
        request.rounds = Some(rounds / 2);
        request.pairs = Some(1);
    } else {
        return Err(format!(
            "-games {games}: encounters are played in pairs with colours reversed; give an even \
             number, or -noswap"
        ));
    }
    if games == 1 || !(options.repeat || is_fastchess) {
        note("each opening is played twice, with colours reversed");
    }
    Ok(request)
}
