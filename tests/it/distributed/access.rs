//! Tests of access to a server: encrypted, by password, token, nkey and credentials, without
//! disclosing secrets.

use std::path::Path;
use std::process::Command;

use data_encoding::BASE64URL_NOPAD;
use nkeys::{KeyPair, KeyPairType};
use serde_json::{Value, json};

use super::{assert_untouched, distributed_plan};
use crate::resume::wait_for_pairs;
use crate::support::bench::{Bench, Finished};
use crate::support::nats::{Client, Server, Worker, key};
use crate::support::phrases;
use rustix::process::Signal;

fn openssl(bench: &Bench, args: &str) {
    let mut command = Command::new("openssl");
    let made = command.args(args.split(' ')).current_dir(bench.path("")).output();
    let made = made.expect("openssl can be started");
    assert!(made.status.success(), "{args}: {}", String::from_utf8_lossy(&made.stderr));
}

/// Creates a certificate authority, `NAME.pem`.
fn authority(bench: &Bench, name: &str) {
    openssl(
        bench,
        &format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
             -keyout {name}.key -out {name}.pem -subj /CN={name}"
        ),
    );
}

/// Creates a certificate for this machine, `NAME.pem`, signed by an authority.
fn certificate(bench: &Bench, name: &str, authority: &str) {
    bench.write("extensions", "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n");
    openssl(
        bench,
        &format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {name}.key \
             -out {name}.csr -subj /CN={name}"
        ),
    );
    openssl(
        bench,
        &format!(
            "x509 -req -in {name}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial \
             -days 2 -extfile extensions -out {name}.pem"
        ),
    );
}

#[test]
fn an_encrypted_server_is_used_only_with_a_trusted_certificate() {
    let bench = Bench::new();
    authority(&bench, "ours");
    authority(&bench, "theirs");
    for name in ["server", "client"] {
        certificate(&bench, name, "ours");
    }
    certificate(&bench, "stranger", "theirs");
    let path = |name: &str| bench.path(name).display().to_string();
    let (pem, secret, ca) = (path("server.pem"), path("server.key"), path("ours.pem"));
    let tls = format!(
        "tls {{ cert_file: {pem:?}, key_file: {secret:?}, ca_file: {ca:?}, verify_and_map: true }}\n\
         authorization {{ users: [ {{ user: \"CN=client\" }} ] }}"
    );
    let Some(server) = Server::start(&bench, &tls) else { return };
    let url = server.url().replace("nats://", "tls://");
    let trust = key(&bench);
    let flags = |ca: &str, identity: &str| {
        let ca = format!("ca={}", path(ca));
        let identity = [path(&format!("{identity}.pem")), path(&format!("{identity}.key"))];
        let identity = format!("cert={},cert-key={}", identity[0], identity[1]);
        ["--slots", "2", "--trust", &trust, "--nats", &ca, "--nats", &identity].map(str::to_owned)
    };
    let refused = |url: &str, flags: &[String], parts: &[&str]| {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Worker::start_at(&bench, url, "w", &flags).finish().expect_refusal(8, parts);
    };
    refused(&url, &flags("theirs.pem", "client"), &["certificate"]);
    refused(&url, &flags("ours.pem", "stranger"), &[phrases::NO_SERVER]);
    refused(&url, &flags("ours.pem", "client")[..6], &[phrases::NO_SERVER]);
    // A client without encryption settings gets no plain connection either.
    refused(&server.url(), &flags("theirs.pem", "client"), &["certificate"]);
    let mut plain = Client::connect(&server);
    plain.publish("arbiter.hello.x", b"x");
    assert!(plain.is_refused(), "a plain connection is served");

    let good = flags("ours.pem", "client");
    let good: Vec<&str> = good.iter().map(String::as_str).collect();
    let _worker = Worker::start_at(&bench, &url, "a", &good);
    let plan = distributed_plan(&bench, &server).set("on", &url).set("nats ca", path("ours.pem"));
    let plan = plan.set("nats cert", path("client.pem")).set("nats cert-key", path("client.key"));
    assert_untouched(&bench, plan.start());
}

#[test]
fn rejected_certificates_have_a_reason() {
    let bench = Bench::new();
    // These are the first instructions that a search for "openssl self-signed" finds.
    authority(&bench, "simple");
    openssl(
        &bench,
        "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout nameless.key -out nameless.pem \
         -subj /CN=localhost -addext basicConstraints=critical,CA:FALSE",
    );
    for name in ["simple", "nameless"] {
        let path = |end: &str| bench.path(&format!("{name}.{end}")).display().to_string();
        let tls = format!("tls {{ cert_file: {:?}, key_file: {:?} }}", path("pem"), path("key"));
        let Some(server) = Server::start(&bench, &tls) else { return };
        let show =
            ["cluster", "show", "--on", &server.url(), "--nats", &format!("ca={}", path("pem"))];
        bench.arbiter(show).finish().expect_error(8);
    }
}

#[test]
fn an_unencrypted_server_is_rejected_if_tls_is_required() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let url = server.url().replace("nats://", "tls://");
    let trust = key(&bench);
    let worker = Worker::start_at(&bench, &url, "a", &["--slots", "1", "--trust", &trust]);
    worker.finish().expect_refusal(8, &[phrases::NO_SERVER]);
    distributed_plan(&bench, &server)
        .set("on", &url)
        .run()
        .expect_refusal(8, &[phrases::NO_SERVER]);
}

/// Asserts that a secret occurs neither in the output nor in any file of the bench except
/// `holders`.
fn assert_secret(bench: &Bench, secret: &str, holders: &[&str], printed: &[&Finished]) {
    for Finished { stdout, stderr, .. } in printed {
        assert!(!stdout.contains(secret) && !stderr.contains(secret), "{stdout}{stderr}");
    }
    let mut folders = vec![bench.path("")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("a folder of ours").flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if holders.iter().any(|holder| Path::new(holder) == Path::new(&name)) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap_or_default();
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} has a secret", path.display());
        }
    }
}

/// Starts, interrupts and resumes a run with a coordinator and a worker that use these flags.
/// Without the flags, and with `wrong` flags, the server accepts neither process.
fn enter(
    bench: &Bench,
    server: &Server,
    secret: &str,
    good: [&str; 2],
    wrong: [&str; 2],
    holders: &[&str],
) {
    let trust = key(bench);
    let worker = |name: &str, flags: &[&str]| {
        let flags = [&["--slots", "2", "--trust", &trust], flags].concat();
        Worker::start_with(bench, server, name, &flags)
    };
    worker("x", &[]).finish().expect_refusal(8, &["authorization"]);
    worker("y", &wrong).finish().expect_refusal(8, &["authorization"]);
    distributed_plan(bench, server).run().expect_refusal(8, &["authorization"]);
    let accepted = worker("a", &good);
    let running =
        distributed_plan(bench, server).set(good[0].trim_start_matches('-'), good[1]).start();
    wait_for_pairs(bench, 1);
    running.signal(Signal::INT);
    let interrupted = running.finish().expect_code(130);
    let path = |name: &str| bench.path(name).display().to_string();
    let (results, pgn, url) = (path("results"), path("games.pgn"), server.url());
    let args = ["match", "--resume", "run", "--results", &results, "--pgn", &pgn, "--on", &url];
    let resumed = bench.arbiter(args.iter().chain(&good).chain(&["--format", "json"]));
    assert_untouched(bench, resumed);
    let report = ["report", "run", "--format", "md", "--results", &results];
    let shown = bench.arbiter(report).finish().expect_code(0);
    accepted.signal(Signal::INT);
    let played = accepted.finish().expect_code(0);
    assert_secret(bench, secret, holders, &[&interrupted, &shown, &played]);
}

#[test]
fn a_token_opens_the_server_and_is_not_disclosed() {
    let bench = Bench::new();
    let secret = "tokenthatnobodymaysee";
    let auth = format!("authorization {{ token: {secret:?} }}");
    let Some(server) = Server::start(&bench, &auth) else { return };
    let (good, wrong) = (bench.write("token", secret), bench.write("wrong", "another"));
    let (good, wrong) = (good.display().to_string(), wrong.display().to_string());
    let flags = |file| format!("token-file={file}");
    enter(
        &bench,
        &server,
        secret,
        ["--nats", &flags(&good)],
        ["--nats", &flags(&wrong)],
        &["token", "nats.conf"],
    );
    // The environment variable also works.
    let by_variable = format!("ARBITER_NATS_TOKEN={secret}");
    let _worker = Worker::start_as(&bench, &server, "b", &[&by_variable]);
    let plan = distributed_plan(&bench, &server).set("name", "again").unset("pgn");
    let script = "ARBITER_NATS_TOKEN=$(cat token) exec \"$0\" \"$@\"";
    plan.start_by(script).finish().expect_code(0);
}

/// Returns a key pair that is always the same.
fn pair(kind: KeyPairType, number: u8) -> KeyPair {
    KeyPair::new_from_raw(kind, [number; 32]).expect("any bytes are a key")
}

fn seed(pair: &KeyPair) -> String {
    pair.seed().expect("it was made with one")
}

#[test]
fn an_nkey_opens_the_server_and_is_not_disclosed() {
    let bench = Bench::new();
    let (user_key, other) = (pair(KeyPairType::User, 7), pair(KeyPairType::User, 8));
    let auth = format!("authorization {{ users: [ {{ nkey: {} }} ] }}", user_key.public_key());
    let Some(server) = Server::start(&bench, &auth) else { return };
    let (good, wrong) = (bench.write("seed", seed(&user_key)), bench.write("wrong", seed(&other)));
    let (good, wrong) = (good.display().to_string(), wrong.display().to_string());
    let flags = |file| format!("nkey={file}");
    enter(
        &bench,
        &server,
        &seed(&user_key),
        ["--nats", &flags(&good)],
        ["--nats", &flags(&wrong)],
        &["seed"],
    );
}

/// Returns a token in the format of `nsc`: signed claims of one key about another.
fn claim(issuer: &KeyPair, subject: &KeyPair, name: &str, claims: Value) -> String {
    let encode = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let head = encode(&json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
    let body = encode(&json!({
        "jti": name, "iat": 1_700_000_000, "iss": issuer.public_key(), "name": name,
        "sub": subject.public_key(), "nats": claims,
    }));
    let signature = issuer.sign(format!("{head}.{body}").as_bytes()).expect("it can sign");
    format!("{head}.{body}.{}", BASE64URL_NOPAD.encode(&signature))
}

fn credentials(account: &KeyPair, user: &KeyPair) -> String {
    let claims = json!({
        "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2,
    });
    let line = |begin: &str, text: &str, end: &str| format!("{begin}\n{text}\n{end}\n\n");
    let dashes = "-----";
    line(
        &format!("{dashes}BEGIN NATS USER JWT{dashes}"),
        &claim(account, user, "user", claims),
        &format!("-{dashes}END NATS USER JWT{dashes}-"),
    ) + &line(
        &format!("{dashes}BEGIN USER NKEY SEED{dashes}"),
        &seed(user),
        &format!("-{dashes}END USER NKEY SEED{dashes}-"),
    )
}

#[test]
fn account_credentials_open_the_server_and_are_not_disclosed() {
    let bench = Bench::new();
    let operator = pair(KeyPairType::Operator, 1);
    let (account, system) = (pair(KeyPairType::Account, 2), pair(KeyPairType::Account, 3));
    let stranger = pair(KeyPairType::Account, 4);
    let limits = |storage: i64| {
        json!({
            "limits": {
                "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
                "wildcards": true, "conn": -1, "leaf": -1, "mem_storage": storage,
                "disk_storage": storage, "streams": storage, "consumer": storage,
            },
            "default_permissions": { "pub": {}, "sub": {} }, "type": "account", "version": 2,
        })
    };
    let of_operator = claim(&operator, &operator, "o", json!({ "type": "operator", "version": 2 }));
    let auth = format!(
        "operator: {of_operator}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n  {}: {}\n  {}: {}\n}}",
        system.public_key(),
        account.public_key(),
        claim(&operator, &account, "a", limits(-1)),
        system.public_key(),
        claim(&operator, &system, "s", limits(0)),
    );
    let Some(server) = Server::start(&bench, &auth) else { return };
    let user = pair(KeyPairType::User, 5);
    let good = bench.write("good.creds", credentials(&account, &user)).display().to_string();
    let wrong = bench.write("wrong.creds", credentials(&stranger, &user)).display().to_string();
    let flags = |file| format!("creds={file}");
    let holders = ["good.creds", "wrong.creds"];
    enter(
        &bench,
        &server,
        &seed(&user),
        ["--nats", &flags(&good)],
        ["--nats", &flags(&wrong)],
        &holders,
    );
}
