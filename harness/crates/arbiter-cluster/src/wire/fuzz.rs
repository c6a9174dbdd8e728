//! Readers of untrusted messages, for the fuzz target and for tests of damaged messages.
//!
//! The bytes that a reader takes stand for the part of a message that the sender can choose freely.
//! A reader must accept or reject any bytes without a panic. A message that was read can be sent
//! again, and an error is one printable line.

use std::fmt::Display;
use std::time::Duration;

use super::samples::*;
use super::*;
use crate::assignment::Assignment;
use crate::join_file::{JoinFile, Role};
use crate::subject::RunId;
use crate::trust::PublicKey;
use crate::verify::Terms;
use arbiter_game::adjudicate::{DrawRule, ResignRule, Rules};
use arbiter_game::text::printable;
use arbiter_protocol::Limits;
use arbiter_run::{Games, PairJob, PlayedPair};
use arbiter_suite::epd::EngineAnswers;
use arbiter_suite::perft::{CountResult, Verdict};

/// Maximum length, in bytes, to which [`repeated`] extends a short message.
const MAX_REPEATED: usize = 2 << 20;

/// Maximum length, in characters, of an error text about a message.
const MAX_REASON: usize = 2_000;

/// Reader and its samples. The reader returns whether the bytes are a message.
type Reader = (fn(&[u8]) -> bool, fn() -> Vec<Vec<u8>>);

const READERS: [Reader; 18] = [
    (pairs, || vec![write(&full()), write(&result(Err("no memory".into())))]),
    (pairs, || vec![write(&result(Ok(played(7))))]),
    (repeated, || vec![[&[0, 0, 0], &write(&full())[..]].concat()]),
    (|text| results::<EngineAnswers>(text, answers), || vec![write(&other_result(answered()))]),
    (
        |text| results::<CountResult>(text, counts),
        || vec![write(&other_result(CountResult(Ok(Verdict::WrongSuite { leaves: 7 }))))],
    ),
    (unpacked, || vec![pack(&write(&full()))]),
    (anything, || vec![proven(&pack(&write(&full()))), sign(&description(), &key())]),
    (jobs, || [job(7).work(), question().work(), count().work()].map(job_text).into()),
    (descriptions, || vec![write(&RunDescription { reference_nps: Some(1e6), ..description() })]),
    (join_answers, || {
        let token = secret().token("w");
        vec![write(&JoinAnswer { nonce: blake3::hash(b"n"), at: 5, token: Ok(token) })]
    }),
    (reads_coordinator_message::<CoordinatorMessage>, || {
        let (worker, why) = ("w".to_owned(), "no".to_owned());
        let notice = Notice::Refused { worker, pair: 2, why };
        vec![write(&CoordinatorMessage { run_id: run_id(), at: 1, notice })]
    }),
    (reads_coordinator_message::<Beacon>, || {
        let run = "run".to_owned();
        vec![write(&Beacon { run_id: run_id(), at: 6, run, priority: 3, queued: 4, playing: 5 })]
    }),
    (reads_worker_message::<WorkerStatus>, || vec![write(&status())]),
    (reads_worker_message::<Heartbeat>, || vec![write(&heartbeat(Some(1)))]),
    (reads_worker_message::<JoinRequest>, || {
        let benches =
            vec![None, Some(Ok(BenchResult { nodes: 7, nps: 1e6 })), Some(Err("".into()))];
        vec![write(&JoinRequest { nonce: blake3::hash(b"n"), benches })]
    }),
    (reads_worker_message::<ProgramRequest>, || {
        vec![write(&ProgramRequest { hash: blake3::hash(b"x") })]
    }),
    (subjects, || {
        let own = [run_id().result_subject(7, "a.b"), run_id().heartbeat_subject("w")];
        let other = [subject::worker_status("w"), "_INBOX.a".into(), key().public().to_string()];
        own.into_iter().chain(other).map(String::into_bytes).collect()
    }),
    (join_files, || {
        let file = JoinFile {
            url: "tls://host:4222".to_owned(),
            worker: Some("worker1".to_owned()),
            inbox: "_INBOX.worker1".to_owned(),
            nkey: NKEY.to_owned(),
            trust: Some(key().public().to_string()),
            signing_key: None,
            ca: Some(AUTHORITY.to_owned()),
        };
        let signing_key = Some(key().digits());
        let other = JoinFile { worker: None, trust: None, signing_key, ca: None, ..file.clone() };
        [file, other].map(|file| toml::to_string_pretty(&file).unwrap_or_default().into()).into()
    }),
];

/// Nkey seed of a user that exists on no server.
const NKEY: &str = "SUAACAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAN7EY";

/// Certificate of an authority that has signed no other certificate.
const AUTHORITY: &str = "\
-----BEGIN CERTIFICATE-----
MIIBbzCCARWgAwIBAgIUd3y1WWWAUum9BDC47owYeLrozQAwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYTAgFw0yNjExMjMwODEyMThaGA8yMTI2MTAzMDA4MTIxOFow
DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHBrkG6p16Ct
c5r21kS6vH6hYSgmsPWi31S8xyjdR3YSKQ/h95JawdQaR+y2z1I/J2fHrxyH40La
yrtBGF6xuWijUzBRMB0GA1UdDgQWBBS2ZVLE1RogvTbRMus6ETQ+NVFS4DAfBgNV
HSMEGDAWgBS2ZVLE1RogvTbRMus6ETQ+NVFS4DAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0gAMEUCIQDkHAlLAOYavrmHPqtbhB92u3Y6oKOJsQkNwABRIoxB
LwIgeegHN67XIptlOD0z2lVXO04Tg1lVwHhWbiAw6MGirQo=
-----END CERTIFICATE-----
";

/// Reads bytes with the reader that the first byte selects. Returns whether the bytes are a
/// message.
pub fn read_one(bytes: &[u8]) -> bool {
    let Some((number, text)) = bytes.split_first() else { return false };
    let (read, _) = READERS[usize::from(*number) % READERS.len()];
    read(text)
}

/// Returns messages that [`read_one`] accepts: at least one for each reader.
pub fn samples() -> Vec<Vec<u8>> {
    let of_reader = |(number, (_, samples)): (u8, &Reader)| {
        samples().into_iter().map(move |text| [&[number], &text[..]].concat())
    };
    (0..).zip(&READERS).flat_map(of_reader).collect()
}

/// Reads the same bytes with all readers.
#[cfg(test)]
pub(super) fn read_all(bytes: &[u8]) {
    for (read, _) in READERS {
        read(bytes);
    }
}

/// Checks that the text of an error is short and printable.
fn check_error_text(error: impl Display) {
    let text = error.to_string();
    assert!(!text.contains(char::is_control), "{text:?}");
    assert!(text.chars().count() <= MAX_REASON, "{}", printable(&text, MAX_REASON));
}

/// Checks that a successfully read message can be sent again.
fn settled<T: Message, E: Display>(message: Result<T, E>) -> Option<T> {
    let message = message.map_err(check_error_text).ok()?;
    assert!(read::<T>(&write(&message)).is_ok());
    Some(message)
}

fn other_result<D: Payload>(done: D) -> JobResult<D> {
    let JobResult { run_id, number, attempt, .. } = full();
    JobResult { run_id, number, attempt, report: Ok(done) }
}

fn job_text(work: WorkMessage) -> Vec<u8> {
    let run_id = run_id();
    let nonce = secret().nonce(7, 2);
    let only_for = Some("w".into());
    write(&Job { run_id, number: 7, attempt: 2, nonce, expires: 9, only_for, work })
}

/// Reads a packed result with a valid proof.
fn packed<D: Payload>(packed: &[u8]) -> Option<JobResult<D>> {
    read_message(&message("host-1", proven(packed))).map_err(check_error_text).ok()
}

/// Reads a result, and passes its contents to `judge`.
fn results<D: Payload + PartialEq>(text: &[u8], judge: fn(&D)) -> bool {
    let Some(result) = packed::<D>(&pack(text)) else { return false };
    assert!(packed(&pack(&write(&result))).as_ref() == Some(&result), "it changes on its way");
    if let Ok(done) = &result.report {
        assert!(done.is_same(done));
        let _ = (done.tally(), done.is_broken());
        judge(done);
    }
    true
}

fn pairs(text: &[u8]) -> bool {
    results::<PlayedPair>(text, |played| {
        for job in ways_to_play() {
            for is_scaled in [false, true] {
                let terms = Terms { is_scaled, ..Terms::default() };
                let _ = job.check(played, &terms).map_err(check_error_text);
            }
        }
    })
}

/// Returns variants of one pair with different limits and clocks, each with and without
/// adjudication.
fn ways_to_play() -> Vec<PairJob> {
    let movetime = Some(Duration::from_millis(10));
    let clocks = ["3/0.05+0.01", "0.1"].map(|clock| clock.parse().ok());
    let mut all = vec![Limits { movetime, ..Limits::default() }, Limits::default()];
    all.extend(clocks.map(|clock| Limits { clock, ..Limits::default() }));
    all.push(Limits { nodestime: Some(1), ..all[2] });
    let rules = Rules {
        draw: Some(DrawRule { move_number: 1, move_count: 1, score_cp: 10 }),
        resign: Some(ResignRule { move_count: 2, score_cp: 300, two_sided: true }),
        move_cap: Some(60),
        ..Rules::default()
    };
    let with = |(limits, rules): (Limits, Rules)| {
        let PairJob { pairing, games: Games { mut first, mut second } } = job(7);
        for setup in [&mut first].into_iter().chain(&mut second) {
            setup.rules = rules;
            setup.conditions.iter_mut().for_each(|conditions| conditions.limits = limits);
        }
        PairJob { pairing, games: Games { first, second } }
    };
    let all = all.into_iter().flat_map(|limits| [(limits, Rules::default()), (limits, rules)]);
    all.map(with).collect()
}

fn answers(answered: &EngineAnswers) {
    let _ = question().check(answered, &Terms::default()).map_err(check_error_text);
}

fn counts(counted: &CountResult) {
    let _ = count().check(counted, &Terms::default()).map_err(check_error_text);
}

/// Reads a result in which a part is repeated: two bytes give the offset of the part, one byte
/// gives the length of the part.
fn repeated(bytes: &[u8]) -> bool {
    let Some(([low, high, length], text)) = bytes.split_first_chunk() else { return false };
    let (before, after) = text.split_at(text.len().min(u16::from_le_bytes([*low, *high]).into()));
    let part = &after[..after.len().min((*length).into())];
    let many = part.repeat(MAX_REPEATED / part.len().max(1));
    packed::<PlayedPair>(&pack(&[before, &many, after].concat())).is_some()
}

/// Reads bytes without packing the bytes first, so that damaged packed data is tested too.
fn unpacked(bytes: &[u8]) -> bool {
    let _ = (packed::<EngineAnswers>(bytes), packed::<CountResult>(bytes));
    packed::<PlayedPair>(bytes).is_some()
}

/// Reads bytes from a sender that has not joined the run and has no key.
fn anything(bytes: &[u8]) -> bool {
    let message = message("host-1", bytes.to_vec());
    let is_job = read_job(bytes, &description(), key().public()).map_err(check_error_text).is_ok();
    let is_run =
        verified::<RunDescription>(bytes, &[key().public()]).map_err(check_error_text).is_ok();
    let _ = unverified::<Beacon>(bytes).map_err(check_error_text);
    let result = read_message::<PlayedPair>(&message);
    result.map_err(check_error_text).is_ok() || is_job || is_run
}

fn jobs(text: &[u8]) -> bool {
    let read = |bytes: &[u8]| read_job(bytes, &description(), key().public());
    let job = read(&signed("job", text)).map_err(check_error_text);
    let again = job.map(|Job { run_id, number, attempt, nonce, expires, only_for, work }| {
        let work = match &work {
            Work::Pair(pair) => pair.work(),
            Work::Search(question) => question.work(),
            Work::Count(count) => count.work(),
        };
        let job = Job { run_id, number, attempt, nonce, expires, only_for, work };
        read(&sign(&job, &key())).is_ok()
    });
    assert_ne!(again, Ok(false), "it cannot be sent again");
    again.is_ok()
}

fn descriptions(text: &[u8]) -> bool {
    let bytes = signed(RunDescription::PURPOSE, text);
    let read = verified(&bytes, &[key().public()]).map(|(description, _)| description);
    let Some(description) = settled::<RunDescription, _>(read) else { return false };
    let _ = description.requirements.slots(8, 16_000).map_err(check_error_text);
    for nps in [1e-3, 1e6, 1e12] {
        description.clone().scale_to(nps);
    }
    true
}

fn join_answers(text: &[u8]) -> bool {
    reads_coordinator_message::<JoinAnswer>(text);
    let bytes = signed(JoinAnswer::PURPOSE, text);
    read_join_answer(&bytes, blake3::hash(b"n"), key().public()).map_err(check_error_text).is_ok()
}

fn reads_coordinator_message<T: Signed>(text: &[u8]) -> bool {
    let bytes = signed(T::PURPOSE, text);
    settled(unverified::<T>(&bytes));
    settled(verified::<T>(&bytes, &[key().public()]).map(|(message, _)| message)).is_some()
}

fn reads_worker_message<T: Message>(text: &[u8]) -> bool {
    let message = message("host-1", text.to_vec());
    settled(read_from::<T>(&message).map(|(_, message)| message)).is_some()
}

/// Reads an untrusted join file.
fn join_files(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    let Ok((file, role)) = JoinFile::parse(text).map_err(check_error_text) else { return false };
    check_error_text(file.url);
    check_error_text(file.inbox);
    if let Role::Worker(name, _) = role {
        check_error_text(name);
    }
    true
}

fn subjects(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let _ = (RunId::from_subject(&text), RunId::pair_of_result(&text));
    subject::is_inbox(&text)
        | is_worker_name(subject::sender(&text))
        | text.parse::<PublicKey>().is_ok()
}
