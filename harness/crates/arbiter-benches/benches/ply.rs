//! CPU time of the harness: per ply for reading an engine's output and judging a move, and per pair
//! for computing the log-likelihood ratio. The budget is 30 µs per ply in total.

#![expect(clippy::disallowed_methods, reason = "a benchmark")]

use std::time::{Duration, Instant};

use arbiter_game::adjudicate::Rules;
use arbiter_game::referee::{Referee, Reply};
use arbiter_protocol::{Conditions, Deadlines, Go, Info, Limits, Protocol, Session, Setup, Step};
use arbiter_stats::{Model, Pentanomial, Sprt};
use divan::{Bencher, black_box};
use shakmaty::{ByColor, CastlingMode, Chess, Position};

fn main() {
    divan::main();
}

const INFO: &str = "info depth 14 seldepth 22 multipv 1 score cp 31 nodes 123456 nps 1500000 \
                    hashfull 120 tbhits 0 time 82 pv e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6";

/// Measures reading the output of one search: twenty `info` lines and the move.
#[divan::bench]
fn search_output(bencher: Bencher<'_, '_>) {
    let now = Instant::now();
    let mut session = Session::new(Protocol::Uci, Setup::default(), Deadlines::default());
    session.open(now);
    for line in ["uciok", "readyok"] {
        session.receive(now, line).expect("a handshake without wishes");
    }
    bencher.bench_local(|| {
        session.think(now, "position startpos", &Go::default(), None);
        for _ in 0..20 {
            session.receive(now, black_box(INFO)).expect("information is never an error");
        }
        let step = session.receive(now, "bestmove e2e4").expect("a move was awaited");
        assert!(matches!(step, Step::Move { .. }));
    });
}

/// Measures the referee in a game of 100 plies: for each ply, the referee determines the side to
/// move and judges the move.
#[divan::bench]
fn judge_game(bencher: Bencher<'_, '_>) {
    let moves = game(100);
    let limits = Limits { clock: Some("10+0.1".parse().expect("a control")), ..Limits::default() };
    let side = Conditions { limits, margin: Duration::ZERO, white_pov: false };
    bencher.counter(divan::counter::ItemsCount::new(moves.len())).bench_local(|| {
        let conditions = ByColor { white: side, black: side };
        let standard = CastlingMode::Standard;
        let mut referee =
            Referee::new(Chess::default(), standard, &[], conditions, Rules::default(), None);
        for text in &moves {
            black_box(referee.turn());
            let elapsed = Duration::from_millis(100);
            referee.judge(Reply::Move { text: text.clone(), elapsed, info: Info::default() });
        }
        assert!(referee.outcome().is_none());
    });
}

/// Measures a game with principal variations of 0, 12 and 20 moves. The increase over the time for
/// 0 moves is the cost of the lint. The variations consist of the next moves of the game.
#[divan::bench(args = [0, 12, 20])]
fn lint_game(bencher: Bencher<'_, '_>, pv_length: usize) {
    let moves = game(100);
    let side = Conditions { limits: Limits::default(), margin: Duration::ZERO, white_pov: false };
    let infos: Vec<Info> = (0..moves.len() - 20)
        .map(|ply| {
            let pv = moves[ply..ply + pv_length].join(" ");
            Info::parse(&format!("depth 9 score cp 31 nodes 9000 time 5 pv {pv}"))
        })
        .collect();
    let counter = divan::counter::ItemsCount::new(infos.len());
    bencher.counter(counter).with_inputs(|| infos.clone()).bench_local_values(|infos| {
        let conditions = ByColor { white: side, black: side };
        let standard = CastlingMode::Standard;
        let mut referee =
            Referee::new(Chess::default(), standard, &[], conditions, Rules::default(), None);
        for (text, info) in moves.iter().zip(infos) {
            let elapsed = Duration::from_millis(100);
            referee.judge(Reply::Move { text: text.clone(), elapsed, info });
        }
        assert!(referee.outcome().is_none());
        referee
    });
}

/// Returns the moves of a game of up to `plies` plies, with an arbitrary but fixed move at each
/// ply.
fn game(plies: usize) -> Vec<String> {
    let mut position = Chess::default();
    let mut moves = Vec::new();
    for ply in 0..plies {
        let legal = position.legal_moves();
        let m = legal[(ply * 7 + 3) % legal.len()];
        moves.push(m.to_uci(CastlingMode::Standard).to_string());
        position.play_unchecked(m);
        if position.is_game_over() {
            moves.pop();
            break;
        }
    }
    moves
}

/// Measures the computation of the log-likelihood ratio (LLR) after each pair.
#[divan::bench(args = [Model::Normalized, Model::Logistic])]
fn likelihood_ratio(model: Model) -> f64 {
    let sprt = Sprt::new(0.0, 5.0, 0.05, 0.05, model).expect("usual bounds");
    sprt.llr(black_box(&Pentanomial([12, 180, 402, 196, 22])))
}
