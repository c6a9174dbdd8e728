//! Options become a request for a run.

use super::options::Options;
use arbiter_plan::{Request, RunKind, TournamentRequest};
use arbiter_report::{Dialect, note};
use arbiter_schedule::Format;

/// The request, and what kind of run it is.
pub(crate) fn request(options: Options) -> Result<(RunKind, Request), String> {
    let count = options.request.engines.len();
    if count < 2 {
        return Err(format!("{count} engines are too few; give -engine at least twice"));
    }
    if options.is_sprt && count > 2 {
        return Err(format!("-sprt compares two engines, not {count}"));
    }
    let pgn = options.request.pgn.as_ref();
    if let Some(path) = pgn.filter(|path| options.pgn_is_new && path.exists()) {
        return Err(format!(
            "-pgnout append=false: {} exists, and arbiter overwrites no games; remove it, or give \
             another file",
            path.display()
        ));
    }
    if options.request.rules.tablebase.is_some() && options.request.tables.is_empty() {
        return Err("-tbpieces, -tbignore50 and -tbadjudicate need -tb FOLDERS".to_owned());
    }
    if options.request.openings.is_none() {
        note("no -openings: games start from arbiter's own book");
    }
    let kind = match count {
        _ if options.is_sprt => RunKind::Sprt,
        2 => RunKind::Match,
        _ => RunKind::Tournament,
    };
    let tournament = tournament(&options)?;
    let Request { concurrency, mut deadlines, .. } = options.request;
    deadlines.readyok = options.ready.unwrap_or(deadlines.readyok);
    deadlines = deadlines.with_start_scaled(options.start_scale.unwrap_or(1.0));
    let concurrency = concurrency.or(Some(1));
    Ok((kind, Request { tournament, concurrency, deadlines, ..options.request }))
}

/// Rounds and games of theirs as rounds and pairs of ours.
fn tournament(options: &Options) -> Result<TournamentRequest, String> {
    let is_fastchess = options.dialect == Dialect::Fastchess;
    let usual = if is_fastchess { 2 } else { 1 };
    let (rounds, games) = (options.rounds.unwrap_or(usual), options.games.unwrap_or(usual));
    let total = rounds.saturating_mul(games);
    let is_duel = options.request.engines.len() == 2;
    let mut request = options.request.tournament;
    let is_knockout = request.format == Some(Format::Knockout);
    // In a round robin they make no difference.
    let has_seeds = matches!(request.format, Some(Format::Gauntlet | Format::Knockout));
    request.format = request.format.filter(|_| !is_duel);
    request.seeds = request.seeds.filter(|seeds| *seeds > 0 && !is_duel && has_seeds);
    if request.noswap || (total == 1 && !options.is_sprt) {
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
