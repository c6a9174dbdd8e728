use std::time::Duration;

use expect_test::expect_file;
use proptest::prelude::*;

use super::samples::*;
use super::*;
use crate::assignment::Assignment;
use crate::subject::RunId;
use crate::trust::{Key, RunSecret, SIGNATURE_BYTES, proof};
use arbiter_run::PlayedPair;
use arbiter_suite::perft::{CountResult, Finding, PositionFault, Verdict};

/// Serializes a result in at most `most` bytes.
fn serialized<D: Payload>(result: JobResult<D>, most: usize) -> Vec<u8> {
    write_result(result, &secret().proof("host-1", 7, 2), most)
}

fn job_bytes(number: u64, attempt: u32, work: WorkMessage) -> Vec<u8> {
    let (run_id, nonce) = (run_id(), secret().nonce(number, attempt));
    let only_for = Some("w".into());
    sign(&Job { run_id, number, attempt, nonce, expires: 9, only_for, work }, &key())
}

/// Returns the JSON text of a signed message.
fn text_of(bytes: &[u8]) -> &[u8] {
    &bytes[32 + SIGNATURE_BYTES..]
}

fn read_own_job(bytes: &[u8]) -> Result<Job, WireError> {
    read_job(bytes, &description(), key().public())
}

/// Replaces a part of a job's text, and signs the changed text correctly.
fn resigned(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = std::str::from_utf8(text_of(bytes)).unwrap();
    let changed = text.replace(from, to);
    assert_ne!(changed, text, "{from}");
    signed("job", changed.as_bytes())
}

fn read_packed<D: Payload>(payload: Vec<u8>) -> Result<JobResult<D>, WireError> {
    read_message(&message("host-1", payload))
}

#[test]
fn results_arrive_as_they_were_sent() {
    for sent in [full(), result(Err("no memory".into()))] {
        assert_eq!(read_packed(serialized(sent.clone(), 1 << 20)).unwrap(), sent);
    }
}

#[test]
fn a_result_that_is_too_long_is_shortened_and_then_fails() {
    let mut long = full();
    let Ok(pair) = &mut long.report else { panic!() };
    // The text does not compress well.
    let noise: String = (0..4_000u64)
        .map(|n| format!("{n} W> {}\n", blake3::hash(&n.to_le_bytes()).to_hex()))
        .collect();
    pair.games.first.transcript = Some(noise.parse().unwrap());
    let mut bare = long.clone();
    let Ok(pair) = &mut bare.report else { panic!() };
    pair.drop_transcripts();
    let bare = serialized(bare, usize::MAX);
    assert!(serialized(long.clone(), usize::MAX).len() > 100_000);
    assert_eq!(serialized(long.clone(), 10_000), bare);
    let failed = read_packed::<PlayedPair>(serialized(long, bare.len() - 1)).unwrap();
    assert!(matches!(failed.report, Err(why) if why.contains("the server takes")));
}

#[test]
fn jobs_arrive_as_they_were_sent() {
    let bytes = job_bytes(7, 3, job(7).work());
    let Job { number, attempt, nonce, expires, only_for, work, .. } = read_own_job(&bytes).unwrap();
    assert_eq!((expires, only_for.as_deref()), (9, Some("w")));
    let Work::Pair(read) = work else { panic!("{work:?}") };
    assert_eq!((format!("{read:?}"), number, attempt), (format!("{:?}", job(7)), 7, 3));
    assert_eq!(proof(&secret().token("w"), &nonce), secret().proof("w", 7, 3));
}

#[test]
fn questions_arrive_as_they_were_sent() {
    let (sent, bytes) = (question(), job_bytes(5, 2, question().work()));
    let Job { number, attempt, work, .. } = read_own_job(&bytes).unwrap();
    let Work::Search(read) = work else { panic!("{work:?}") };
    assert_eq!((number, read.hold, read.engines, attempt), (5, Some(3), 2, 2));
    assert_eq!(read.record.goal, sent.record.goal);
    assert_eq!(read.record.start.fen(), sent.record.start.fen());
    for (from, to, part) in [
        ("bm e4", "bm e5", "bm 'e5' is not legal"),
        ("bm e4", "bm nonsense", "is not a move"),
        ("bm e4", "bm \\u001b[2Jnonsense", "is not a move"),
        ("4k3", "8", "king"),
        (",3]", ",-3]", "not a message"),
    ] {
        let error = read_own_job(&resigned(&bytes, from, to)).unwrap_err().to_string();
        assert!(error.contains(part) && !error.contains(char::is_control), "{error:?}");
    }
}

#[test]
fn answers_arrive_as_they_were_sent() {
    let report = Ok(answered());
    let JobResult { run_id, number, attempt, .. } = full();
    let sent = JobResult { run_id, number, attempt, report };
    assert_eq!(read_packed(serialized(sent.clone(), 1 << 20)).unwrap(), sent);
}

#[test]
fn counts_arrive_as_they_were_sent() {
    let count = count();
    let bytes = job_bytes(8, 1, count.work());
    let Ok(Job { work: Work::Count(read), number: 8, attempt: 1, .. }) = read_own_job(&bytes)
    else {
        panic!()
    };
    assert_eq!((read.depth, read.expected), (2, 25));
    assert_eq!(read.start.fen(), count.start.fen());
    assert_eq!(format!("{:?}", read.query), format!("{:?}", count.query));
    for (from, to, part) in [
        ("perft {depth}", "x\\nquit", "not one line"),
        ("leaves (", "leaves ((", "pattern"),
        ("\"depth\":2", "\"depth\":0", "depth 0"),
        ("\"depth\":2", "\"depth\":65", "depth 65"),
        ("4k3", "8", "king"),
    ] {
        let error = read_own_job(&resigned(&bytes, from, to)).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn verdicts_arrive_as_they_were_sent() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let finding = |wrong| {
        let (fen, path) = ("4k3/8/8/8/8/8/8/4K3 w - - 0 1".to_owned(), words("e2e4 e7e5"));
        Ok(Verdict::Wrong { got: 3, leaves: 4, finding: Finding { fen, path, wrong } })
    };
    for verdict in [
        Ok(Verdict::Right),
        Ok(Verdict::WrongSuite { leaves: 7 }),
        Err("it crashed".to_owned()),
        finding(PositionFault::Moves { missing: words("a2a3 a2a4"), extra: words("b2b3") }),
        finding(PositionFault::Count { depth: 2, got: 3, expected: 4 }),
        finding(PositionFault::Context { depth: 2, got: 3, expected: 4 }),
        finding(PositionFault::Unrepeatable),
    ] {
        let report = Ok(CountResult(verdict));
        let JobResult { run_id, number, attempt, .. } = full();
        let sent = JobResult { run_id, number, attempt, report };
        assert_eq!(read_packed(serialized(sent.clone(), 1 << 20)).unwrap(), sent);
    }
}

#[test]
fn impossible_jobs_are_rejected() {
    let bytes = job_bytes(7, 0, job(7).work());
    let refuse = |from: &str, to: &str, part: &str| {
        let error = read_own_job(&resigned(&bytes, from, to)).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refuse("\"v\":8", "\"v\":10", "of version 10");
    refuse(RUN_ID, "1123456789abcdef", "another run");
    refuse(RUN_ID, "*", "not an ID");
    refuse("[0,1]", "[0,2]", "not in the run");
    refuse("[0,1]", "[1,1]", "not in the run");
    refuse("f2f3", "f2f5", "illegal move");
    refuse("f2f3", "nonsense", "not a message");
    refuse(" w KQkq", " x KQkq", "FEN");
    refuse("rnbqkbnr", "rnbqqbnr", "FEN");
}

#[test]
fn only_jobs_signed_by_the_coordinator_are_accepted() {
    let bytes = job_bytes(7, 0, job(7).work());
    let refused = |bytes: &[u8], key: Key, part: &str| {
        let error = read_job(bytes, &description(), key.public()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(&bytes, Key::from_secret_bytes([8; 32]), "is not trusted on this machine");
    let mut forged = bytes.clone();
    *forged.last_mut().unwrap() ^= 1;
    refused(&forged, key(), "was not made with key");
    // A description signed with the same key is not a job.
    refused(&sign(&description(), &key()), key(), "was not made with key");
    refused(text_of(&bytes), key(), "is not a public key");
}

#[test]
fn only_the_assigned_worker_can_send_a_result() {
    let bytes = serialized(full(), 1 << 20);
    let read = |message: &async_nats::Message, run_id: &RunId| {
        check_proof(message, &RunSecret::new(&key(), run_id))
            .and_then(|proven| read_result::<PlayedPair>(&proven, run_id))
    };
    assert!(read(&message("host-1", bytes.clone()), &run_id()).is_ok());
    let unproven = |message: async_nats::Message, run_id: &RunId| {
        assert_eq!(read(&message, run_id).map(drop), Err(WireError::Unproven));
    };
    unproven(message("host-2", bytes.clone()), &run_id());
    unproven(message("host-1", bytes.clone()), &RunId::new("other", 1, "k"));
    let other_pair = run_id().result_subject(8, "host-1");
    let other_pair =
        async_nats::Message { subject: other_pair.into(), ..message("", bytes.clone()) };
    unproven(other_pair, &run_id());
    for at in [0, 3, 4, 35] {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        unproven(message("host-1", changed), &run_id());
    }
    unproven(message("host-1", bytes[..35].to_vec()), &run_id());
    // A worker cannot use the proof of its job for another job.
    let claimed = JobResult { number: 8, ..full() };
    let error = read(&message("host-1", serialized(claimed, 1 << 20)), &run_id()).unwrap_err();
    assert!(error.to_string().contains("another job"), "{error}");
}

#[test]
fn join_answers_go_only_to_the_requester() {
    let (nonce, token) = (blake3::hash(b"n"), secret().token("w"));
    let answer = sign(&JoinAnswer { nonce, at: 5, token: Ok(token) }, &key());
    let read = |nonce, key: Key| read_join_answer(&answer, nonce, key.public());
    assert_eq!(read(nonce, key()), Ok((token, 5)));
    assert!(read(blake3::hash(b"m"), key()).unwrap_err().contains("another request"));
    assert!(
        read(nonce, Key::from_secret_bytes([8; 32]))
            .unwrap_err()
            .contains("is not trusted on this machine")
    );
    let refused = sign(&JoinAnswer { nonce, at: 5, token: Err("excluded: \u{7}".into()) }, &key());
    let why = read_join_answer(&refused, nonce, key().public()).unwrap_err();
    assert!(why.starts_with("excluded: ") && !why.contains('\u{7}'), "{why:?}");
}

#[test]
fn impossible_results_of_jobs_are_rejected() {
    let text = String::from_utf8(unpack(&serialized(full(), 1 << 20)[36..]).unwrap()).unwrap();
    let refuse = |from: &str, to: &str, part: &str| {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        let packed = proven(&pack(changed.as_bytes()));
        let error = read_packed::<PlayedPair>(packed).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(!error.contains(char::is_control), "{error:?}");
    };
    refuse("\"v\":8", "\"v\":1", "of version 1");
    refuse(RUN_ID, "../../../x", "not an ID");
    refuse("d8h4", "d8h9\\u0007", "uci");
    refuse("checkmate", "bore\\u0007dom", "expected one of `checkmate`");
    refuse("0-1", "2-0", "outcome");
    refuse("5 W< go", "nonsense", "transcript");
    refuse("\"number\":7", "\"number\":-7", "not a message");
    // These times would overflow columns of the store, and sums.
    refuse("\"duration\":", "\"duration\":99999999999999999999", "not a message");
    refuse("\"elapsed\":", "\"elapsed\":99999999999999999999", "not a message");
    let nobody = message("host 1\u{1b}[2J", serialized(full(), 1 << 20));
    let nobody = read_message::<PlayedPair>(&nobody);
    assert!(nobody.unwrap_err().to_string().contains("an invalid worker name"));
    assert_eq!(
        read_packed::<PlayedPair>(proven(b"garbage"))
            .map(drop)
            .map_err(|e| e.to_string().starts_with("not a")),
        Err(true)
    );
}

#[test]
fn oversized_messages_are_not_read() {
    let bomb = pack(&vec![b' '; MAX_UNPACKED + 1]);
    assert!(bomb.len() < 1 << 20);
    assert_eq!(read_packed::<PlayedPair>(proven(&bomb)), Err(WireError::TooLong(MAX_UNPACKED)));
    assert_eq!(
        read_packed::<PlayedPair>(proven(&vec![0; MAX_PACKED + 1])),
        Err(WireError::TooLong(MAX_PACKED))
    );
    let long = vec![b' '; Beacon::MAX_BYTES + 1];
    assert_eq!(read::<Beacon>(&long), Err(WireError::TooLong(Beacon::MAX_BYTES)));
}

/// Returns whether a message survives writing and reading unchanged.
fn arrives<T: Message + PartialEq>(sent: &T) -> bool {
    read::<T>(&write(sent)).is_ok_and(|read| read == *sent)
}

#[test]
fn short_messages_arrive_as_they_were_sent() {
    let run = "run".to_owned();
    assert!(arrives(&Beacon { run_id: run_id(), at: 6, run, priority: 3, queued: 4, playing: 5 }));
    let status = status();
    assert!(arrives(&status));
    assert_eq!(status.pairs_per_minute(), Some(15.0));
    assert_eq!(WorkerStatus { recent_secs: 0, ..status.clone() }.pairs_per_minute(), None);
    assert!(!arrives(&WorkerStatus { slots: 5_000, ..status.clone() }));
    // The status of a worker that knows very many engines and runs is still readable.
    let benches = vec![("A".repeat(60), 1.5e6); 1_000];
    let refusals = vec![(run_id(), "why".repeat(20)); 1_000];
    let many = WorkerStatus { benches, refusals, ..status.clone() };
    assert!(!arrives(&many) && arrives(&many.bounded()));
    let from = |worker: &str| read_from::<WorkerStatus>(&message(worker, write(&status)));
    assert_eq!(from("w.1"), Ok(("w.1".to_owned(), status.clone())));
    assert!(from("a/b").is_err());
    for half in [None, Some(0), Some(1)] {
        assert!(arrives(&heartbeat(half)));
    }
    assert!(!arrives(&heartbeat(Some(2))));
    let wanted = write(&ProgramRequest { hash: blake3::hash(b"x") });
    assert!(read::<ProgramRequest>(&wanted).is_ok());
    let text = String::from_utf8(wanted).unwrap();
    let wrong = text.replace(blake3::hash(b"x").to_hex().as_str(), "../x");
    assert!(read::<ProgramRequest>(wrong.as_bytes()).is_err());
    let refused = Notice::Refused { worker: "w".into(), pair: 2, why: "no".into() };
    for notice in [refused, Notice::Cancel] {
        assert!(arrives(&CoordinatorMessage { run_id: run_id(), at: 1, notice }));
    }
}

#[test]
fn times_of_a_run_are_bounded() {
    let (lease, stall_timeout, reference_nps) = (Duration::MAX, Duration::MAX, Some(1e9));
    let sent = RunDescription { lease, stall_timeout, reference_nps, ..description() };
    let mut read: RunDescription = read(&write(&sent)).unwrap();
    let factor = read.scale_to(1.0);
    assert!(factor > Some(1.0) && read.stall_timeout > read.lease, "{read:?}");
    assert!(
        read.lease < Duration::from_secs(1 << 40)
            && read.stall_timeout < Duration::from_secs(1 << 40)
    );
}

#[test]
fn fuzzing_starts_from_readable_messages() {
    for sample in fuzz::samples() {
        assert!(fuzz::read_one(&sample), "{:?}", String::from_utf8_lossy(&sample));
    }
}

proptest! {
    // The fuzz target runs many more cases.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes_do_not_panic(bytes: Vec<u8>) {
        fuzz::read_all(&bytes);
    }

    #[test]
    fn damaged_messages_are_an_error_or_a_message(at: usize, byte: u8, cut: usize) {
        let result = unpack(&serialized(full(), 1 << 20)[36..]).unwrap();
        let job = text_of(&job_bytes(7, 0, job(7).work())).to_vec();
        for mut message in [result, job] {
            let length = message.len();
            message[at % length] = byte;
            fuzz::read_all(&message);
            fuzz::read_all(&message[..cut % length]);
        }
    }
}

#[test]
fn versions_that_are_one_apart_read_each_other() {
    let mut sent = Vec::new();
    for sample in fuzz::samples() {
        let (number, text) = (sample[0], String::from_utf8_lossy(&sample[1..]));
        let Some(body) = text.strip_prefix("{\"v\":8,\"body\":{") else { continue };
        let of_version = |v: u32| {
            let later = format!("{{\"v\":{v},\"body\":{{\"later\":[1],{body}");
            fuzz::read_one(&[&[number], later.as_bytes()].concat())
        };
        assert_eq!([7, 8, 9, 10].map(of_version), [false, true, true, false], "{text}");
        sent.push(format!("{text}\n"));
    }
    // There is one file per version. The file of an older version is kept as long as that version
    // is read.
    expect_file!["messages-8.ndjson"].assert_eq(&sent.concat());
}
