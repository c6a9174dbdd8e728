//! A NATS server for each test, with workers, and a client that implements the protocol
//! independently of the harness.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use rustix::process::Signal;

use super::bench::{Bench, Finished, Running};
use super::programs::installed;
use super::wait_for;

/// Server with its files in a [`Bench`].
pub struct Server {
    program: PathBuf,
    config: PathBuf,
    /// Network namespace of the server, if it differs from the namespace of the test.
    namespace: Option<String>,
    child: Child,
    host: String,
    port: u16,
}

impl Server {
    /// Starts a server on the loopback device; returns `None` with a notice if the server is not
    /// installed. `more` is further configuration.
    #[track_caller]
    pub fn start(bench: &Bench, more: &str) -> Option<Server> {
        Server::start_at(bench, "127.0.0.1", free_port(), None, more)
    }

    /// Starts a server at an address of a network namespace; see [`start`](Self::start).
    #[track_caller]
    pub fn start_at(
        bench: &Bench,
        host: &str,
        port: u16,
        namespace: Option<String>,
        more: &str,
    ) -> Option<Server> {
        let Some(program) = installed("nats-server") else {
            let notice = "not installed: nats-server; tests/run installs it";
            assert!(std::env::var_os("CI").is_none(), "{notice}");
            eprintln!("skipped: {notice}");
            return None;
        };
        let store = bench.path("nats");
        let config = bench.write(
            "nats.conf",
            format!(
                "listen: {host}:{port}\njetstream {{ store_dir: {:?} }}\n{more}\n",
                store.display().to_string()
            ),
        );
        let child = spawn(&program, &config, namespace.as_deref());
        Some(Server { program, config, namespace, child, host: host.to_owned(), port })
    }

    /// Returns the value of `--on` and `--nats`.
    pub fn url(&self) -> String {
        format!("nats://{}:{}", self.host, self.port)
    }

    /// Kills the server, as a power failure would.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
    }

    /// Inserts copies of the first message before it in the files of a run's streams, so that the
    /// server counts more messages than it finds, as can happen after a kill. Returns the streams
    /// that contained messages, sorted.
    pub fn damage_streams(&self) -> Vec<&'static str> {
        let streams = self.config.with_file_name("nats/jetstream/$G/streams");
        let mut damaged = Vec::new();
        for stream in std::fs::read_dir(streams).expect("the server has streams").flatten() {
            let name = stream.file_name().into_string().expect("names are ASCII");
            let stream_name = ["ARBITER_JOBS", "ARBITER_RESULTS"];
            let Some(stream_name) =
                stream_name.into_iter().find(|stream_name| name.starts_with(stream_name))
            else {
                continue;
            };
            for file in std::fs::read_dir(stream.path().join("msgs")).expect("a folder").flatten() {
                let bytes = std::fs::read(file.path()).expect("a file of the server");
                if file.path().extension().is_some_and(|end| end == "blk") && !bytes.is_empty() {
                    // A block starts with the length of its first message. The highest bit means
                    // that the message has headers.
                    let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
                    let first = &bytes[..(length & !(1 << 31)) as usize];
                    let more = [first.repeat(200), bytes.clone()].concat();
                    std::fs::write(file.path(), more).expect("the file can be written");
                    damaged.push(stream_name);
                }
            }
        }
        damaged.sort_unstable();
        damaged
    }

    /// Restarts the server.
    pub fn restart(&mut self) {
        self.child = spawn(&self.program, &self.config, self.namespace.as_deref());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The log of connections may explain why the test failed.
            let log = std::fs::read_to_string(self.config.with_extension("log"));
            eprintln!("log of the server: {}", log.unwrap_or_default());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a random unused port, outside the range that the system assigns to connections.
pub fn free_port() -> u16 {
    // Linux assigns ports from 32,768 to outgoing connections, and could use such a port before the
    // server does. The choice is random because tests run in parallel.
    let by_chance = || 10_000 + (RandomState::new().hash_one(0) % 22_000) as u16;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(by_chance).find(is_free).expect("ports come without end")
}

/// Starts a server and waits until it is ready.
fn spawn(program: &Path, config: &Path, namespace: Option<&str>) -> Child {
    let log = config.with_extension("log");
    // The log of an earlier start would already report that the server is ready. Before the first
    // start there is no log.
    let _ = std::fs::remove_file(&log);
    let mut command = match namespace {
        None => Command::new(program),
        Some(namespace) => {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", namespace]).arg(program);
            command
        }
    };
    command.arg("-c").arg(config).arg("-l").arg(&log);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("the server can be started");
    wait_for("the server is ready", || {
        let log_text = std::fs::read_to_string(&log).unwrap_or_default();
        log_text.contains("Server is ready").then_some(())
    });
    child
}

/// Returns the key that workers in this bench have to trust.
pub fn key(bench: &Bench) -> String {
    let finished = bench.arbiter(["cluster", "key"]).finish().expect_code(0);
    finished.stdout.trim().to_owned()
}

/// A worker, or another program that runs until it is stopped; dropping it kills the program.
pub struct Worker(Option<Running>);

impl Worker {
    /// Starts a worker with two slots that trusts the key of the bench.
    pub fn start(bench: &Bench, server: &Server, name: &str) -> Worker {
        Worker::start_with(bench, server, name, &["--slots", "2", "--trust", &key(bench)])
    }

    /// Starts a worker with these flags.
    pub fn start_with(bench: &Bench, server: &Server, name: &str, flags: &[&str]) -> Worker {
        Worker::start_at(bench, &server.url(), name, flags)
    }

    /// Starts a worker with these flags that connects to the server at `url`.
    pub fn start_at(bench: &Bench, url: &str, name: &str, flags: &[&str]) -> Worker {
        let programs = bench.path(&format!("programs-{name}")).display().to_string();
        let args = ["worker", "--on", url, "--name", name, "--programs", &programs];
        Worker(Some(bench.arbiter(args.iter().chain(flags))))
    }

    /// Starts a worker with two slots from a join file.
    pub fn join(bench: &Bench, file: &str) -> Worker {
        let programs = format!("programs-{}", file.replace('/', "-"));
        let args = ["worker", "--on", file, "--slots", "2", "--programs", &programs];
        Worker(Some(bench.arbiter(args)))
    }

    /// Starts a worker with one slot and with additional environment variables, each as NAME=VALUE,
    /// which its engines receive too.
    pub fn start_as(bench: &Bench, server: &Server, name: &str, env: &[&str]) -> Worker {
        let programs = bench.path(&format!("programs-{name}")).display().to_string();
        let (url, trust) = (server.url(), key(bench));
        let arbiter = super::programs::arbiter().display().to_string();
        let args = [&arbiter, "worker", "--on", &url, "--slots", "1", "--name", name];
        let more = ["--programs", &programs, "--trust", &trust, "--sandbox", "off"];
        Worker(Some(bench.start(Path::new("env"), env.iter().chain(&args).chain(&more))))
    }

    /// Starts a worker in a network namespace.
    pub fn start_in(bench: &Bench, server: &Server, name: &str, namespace: &str) -> Worker {
        let programs = bench.path(&format!("programs-{name}")).display().to_string();
        let (url, trust) = (server.url(), key(bench));
        let arbiter = super::programs::arbiter().display().to_string();
        let args = ["netns", "exec", namespace, &arbiter, "worker", "--on", &url, "--slots", "2"];
        let more = ["--name", name, "--programs", &programs, "--trust", &trust];
        Worker(Some(bench.start(Path::new("ip"), args.iter().chain(&more))))
    }

    /// Sends a signal to the program, but not to its children.
    pub fn signal(&self, signal: Signal) {
        self.0.as_ref().expect("it has not been waited for").signal(signal);
    }

    /// Returns whether the program has ended.
    pub fn has_ended(&mut self) -> bool {
        self.0.as_mut().expect("it has not been waited for").has_ended()
    }

    /// Waits for the program to end.
    pub fn finish(mut self) -> Finished {
        self.0.take().expect("it has not been waited for").finish()
    }
}

impl From<Running> for Worker {
    fn from(running: Running) -> Worker {
        Worker(Some(running))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut running) = self.0.take()
            && !running.has_ended()
        {
            // SIGKILL also ends a stopped process.
            running.signal(Signal::KILL);
            running.finish();
        }
    }
}

/// A received message.
pub struct Message {
    /// Subject of the message.
    pub subject: String,
    /// Subject for the reply, if the sender waits for one.
    pub reply: Option<String>,
    /// Content without headers.
    pub payload: Vec<u8>,
}

/// A connection to a server.
pub struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    /// Connects to a server.
    pub fn connect(server: &Server) -> Client {
        let mut client = Client::begin(server);
        client.send(b"CONNECT {\"verbose\":false,\"headers\":true}\r\n");
        client
    }

    /// Connects to a server with an nkey.
    pub fn connect_with(server: &Server, nkey: &KeyPair) -> Client {
        let mut client = Client::begin(server);
        let info = client.line();
        let info = info.strip_prefix("INFO ").expect("a server says what it is first");
        let info: serde_json::Value = serde_json::from_str(info).expect("what it says is JSON");
        let nonce = info["nonce"].as_str().expect("it says what to sign");
        let signature = nkey.sign(nonce.as_bytes()).expect("it can sign");
        let who = serde_json::json!({
            "verbose": false, "headers": true,
            "nkey": nkey.public_key(), "sig": BASE64URL_NOPAD.encode(&signature),
        });
        client.send(format!("CONNECT {who}\r\n").as_bytes());
        client
    }

    fn begin(server: &Server) -> Client {
        let stream =
            TcpStream::connect((server.host.as_str(), server.port)).expect("the server listens");
        stream.set_read_timeout(Some(super::PATIENCE)).expect("a time can be set");
        let reader = BufReader::new(stream.try_clone().expect("a socket can be shared"));
        Client { stream, reader }
    }

    /// Subscribes to a subject, and waits until the server has processed the subscription.
    pub fn subscribe(&mut self, subject: &str) {
        self.listen(subject);
        // The reply to a ping shows that the server has processed everything before it.
        self.flush();
    }

    /// Requests a subscription to a subject.
    pub fn listen(&mut self, subject: &str) {
        self.send(format!("SUB {subject} 1\r\n").as_bytes());
    }

    /// Returns whether the server closes the connection or requires encryption.
    pub fn is_refused(&mut self) -> bool {
        while let Some(line) = self.try_line() {
            if line == "PONG" {
                return false;
            }
            // A server that accepts the client replies to a ping; otherwise it closes the
            // connection.
            let _ = self.stream.write_all(b"PING\r\n");
        }
        true
    }

    /// Publishes a message.
    pub fn publish(&mut self, subject: &str, payload: &[u8]) {
        self.ask(subject, None, payload);
    }

    /// Publishes a message whose reply goes to `reply`.
    pub fn ask(&mut self, subject: &str, reply: Option<&str>, payload: &[u8]) {
        let reply = reply.map_or_else(String::new, |reply| format!("{reply} "));
        let mut bytes = format!("PUB {subject} {reply}{}\r\n", payload.len()).into_bytes();
        bytes.extend(payload);
        bytes.extend(b"\r\n");
        self.send(&bytes);
    }

    /// Waits until the server has received all messages.
    pub fn flush(&mut self) {
        self.send(b"PING\r\n");
        loop {
            let line = self.line();
            if line == "PONG" {
                return;
            }
            // Messages that arrive before the reply are dropped.
            self.message(&line);
        }
    }

    /// Returns the server's error about the last command.
    pub fn error(&mut self) -> String {
        self.send(b"PING\r\n");
        loop {
            let line = self.line();
            assert_ne!(line, "PONG", "it has nothing against it");
            if line.starts_with("-ERR") {
                while self.line() != "PONG" {}
                return line;
            }
        }
    }

    /// Publishes a message that replaces all earlier messages of the subject.
    pub fn replace(&mut self, subject: &str, payload: &[u8]) {
        let headers = "NATS/1.0\r\nNats-Rollup: sub\r\n\r\n";
        let total = headers.len() + payload.len();
        let head = format!("HPUB {subject} {} {total}\r\n{headers}", headers.len());
        self.send(&[head.as_bytes(), payload, b"\r\n"].concat());
    }

    /// Returns subject and payload of the next message.
    pub fn next(&mut self) -> (String, Vec<u8>) {
        let message = self.next_message().expect("the server goes on");
        (message.subject, message.payload)
    }

    /// Returns the next message; `None` when the server has ended.
    pub fn next_message(&mut self) -> Option<Message> {
        loop {
            let line = self.try_line()?;
            if let Some(message) = self.message(&line) {
                return Some(message);
            }
        }
    }

    /// Returns the message that a line announces, if it announces one.
    fn message(&mut self, line: &str) -> Option<Message> {
        let fields: Vec<&str> = line.split(' ').collect();
        let (headers, total): (usize, &str) = match fields[..] {
            ["MSG", .., total] => (0, total),
            ["HMSG", .., headers, total] => (headers.parse().expect("a length"), total),
            _ => return None,
        };
        let mut payload = vec![0; total.parse::<usize>().expect("a length") + 2];
        self.reader.read_exact(&mut payload).expect("the server goes on");
        payload.truncate(payload.len() - 2);
        // Protocol of NATS: MSG SUBJECT ID [REPLY] LENGTH, and HMSG with the additional length of
        // the headers.
        let has_reply = fields.len() == if fields[0] == "MSG" { 5 } else { 6 };
        let reply = has_reply.then(|| fields[3].to_owned());
        let payload = payload.split_off(headers);
        Some(Message { subject: fields[1].to_owned(), reply, payload })
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server listens");
    }

    fn line(&mut self) -> String {
        self.try_line().expect("the server keeps the connection")
    }

    /// Returns the next line; `None` when the server has closed the connection.
    fn try_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).unwrap_or(0);
        if line == "PING\r\n" {
            self.send(b"PONG\r\n");
        }
        (read > 0).then(|| line.trim_end().to_owned())
    }
}

/// Duration of a lease in tests, which is the shortest that the harness allows.
pub const LEASE: Duration = Duration::from_secs(2);
