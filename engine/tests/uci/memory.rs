//! Tests of very large, very small and impossible hash table sizes.

use std::process::Command;

use crate::engine::Engine;

/// Returns the resident memory of the engine, in MiB; `None` on systems without `/proc`.
fn memory_mib(engine: &Engine) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", engine.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_ascii_whitespace().nth(1));
    let kibibytes: u64 = kibibytes.expect("the status names it").parse().expect("it is a number");
    Some(kibibytes >> 10)
}

#[test]
fn a_huge_table_takes_no_memory_before_it_is_used() {
    let mut engine = Engine::start();
    engine.send_line("setoption name Hash value 3000");
    assert_eq!(engine.sync(), [""; 0]);
    assert!(memory_mib(&engine).is_none_or(|used| used < 300), "{:?}", memory_mib(&engine));
}

#[test]
fn a_new_game_allocates_its_table_before_the_clock_starts() {
    let mut engine = Engine::start();
    engine.send_line("setoption name Hash value 200");
    engine.send_line("ucinewgame");
    assert_eq!(engine.sync(), [""; 0]);
    assert!(memory_mib(&engine).is_none_or(|used| used >= 200), "{:?}", memory_mib(&engine));
}

#[test]
fn a_table_that_is_too_large_is_rejected_and_the_old_one_kept() {
    let mut limited = Command::new("sh");
    let script = "ulimit -v 2000000 && exec \"$0\"";
    limited.args(["-c", script, env!("CARGO_BIN_EXE_palimpsest")]);
    let mut engine = Engine::start_with(&mut limited);
    for personality in ["palimpsest", "rdchess", "micromax"] {
        engine.send_line(&format!("setoption name Personality value {personality}"));
        engine.send_line("setoption name Hash value 20");
        assert_eq!(engine.sync(), [""; 0], "{personality}");
        for megabytes in [3_000, 1 << 20] {
            engine.send_line(&format!("setoption name Hash value {megabytes}"));
            let lines = engine.sync();
            let wanted = format!("cannot allocate {megabytes} MiB");
            assert!(lines.len() == 1 && lines[0].contains(&wanted), "{lines:?}");
            assert!(lines[0].contains("keeps its 20 MiB"), "{lines:?}");
            engine.send_line("go depth 4");
            assert_ne!(engine.best_move(), "bestmove (none)");
        }
    }
}

#[test]
fn the_smallest_table_is_enough() {
    let mut engine = Engine::start();
    engine.send_line("setoption name Hash value 1");
    engine.send_line("go nodes 150000");
    let lines = engine.read_until("bestmove");
    let full = lines.iter().rev().find_map(|line| line.split(" hashfull ").nth(1));
    let full = full.and_then(|rest| rest.split(' ').next()).expect("hashfull is told");
    assert!(full.parse::<u32>().expect("it is a number") > 100, "{lines:?}");
}
