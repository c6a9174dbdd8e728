//! `arbiter serve` in a [`Bench`], and a minimal HTTP client.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use super::bench::{Bench, Running};
use super::{PATIENCE, programs, wait_for};

/// Running `arbiter serve`.
pub struct Site {
    running: Running,
    /// Address and port of the server.
    pub address: String,
    /// Token from `serve.token` in the results folder, if the server reports that the file exists.
    pub token: Option<String>,
}

/// Reply of the server.
#[derive(Debug)]
pub struct Reply {
    /// Status code.
    pub code: u16,
    /// Headers, one per line, with lowercase names.
    pub head: String,
    /// Body of the reply.
    pub body: String,
}

impl Site {
    /// Starts a server for the folder `results` on a free port.
    pub fn start(bench: &Bench, args: &[&str]) -> Site {
        Site::start_in(bench, "", args)
    }

    /// Starts a server with these environment variables.
    pub fn start_in(bench: &Bench, variables: &str, args: &[&str]) -> Site {
        // The log of an earlier server contains another address.
        let _ = std::fs::remove_file(bench.path("serve.log"));
        let script = &format!("{variables} exec \"$0\" \"$@\" 2>serve.log");
        let arbiter = programs::arbiter().display().to_string();
        let fixed = ["-c", script, &arbiter, "serve", "--results", "results", "--listen"];
        let all = [&fixed, &["127.0.0.1:0"][..], args].concat();
        let running = bench.start(Path::new("/bin/sh"), all);
        let (log, address) = wait_for("the server listens", || {
            let log = std::fs::read_to_string(bench.path("serve.log")).ok()?;
            assert!(!log.contains("error"), "{log}");
            let address = log.split("http://").skip(1).find_map(|rest| {
                // Lines may be read while they are written. The address of the pages is complete
                // when the following line, about steering, is complete.
                let (address, path) = rest.split_once('/')?;
                let is_whole = path.starts_with(' ') && path.matches('\n').count() > 1;
                is_whole.then(|| address.to_owned())
            })?;
            Some((log, address))
        });
        let is_kept = log.contains("results/serve.token");
        let token = is_kept.then(|| bench.read("results/serve.token").trim().to_owned());
        Site { running, address, token }
    }

    /// Returns the number of established connections to the server.
    pub fn connections(&self) -> usize {
        let table = std::fs::read_to_string("/proc/net/tcp").expect("the system lists them");
        let port = self.address.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
        let local_address = format!("0100007F:{:04X}", port.expect("an address has a port"));
        let is_own = |line: &&str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields[1] == local_address && fields[3] == "01"
        };
        table.lines().filter(is_own).count()
    }

    /// Returns the CPU time of the server so far, in seconds.
    pub fn cpu_seconds(&self) -> f64 {
        self.running.cpu_seconds()
    }

    /// Returns the URL of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Requests a page.
    pub fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[])
    }

    /// Sends a command with the token of the server.
    pub fn command(&self, path: &str) -> Reply {
        let token = self.token.as_deref().expect("the server made a token");
        self.ask("POST", path, &[("Authorization", &format!("Bearer {token}"))])
    }

    /// Sends a request and returns the reply; a `Host` header in `headers` replaces the default
    /// header.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        read(self.request(method, path, headers))
    }

    /// Connects to the events at a path.
    pub fn events(&self, path: &str) -> Events {
        let stream = self.request("GET", path, &[("Accept", "text/event-stream")]);
        Events { stream: BufReader::new(stream), page: BTreeMap::new() }
    }

    /// Sends a request whose reply is not read.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> TcpStream {
        request(&self.address, method, path, headers).expect("the server listens")
    }

    /// Ends the server as a user does.
    pub fn end(self) {
        self.running.signal(Signal::INT);
        self.running.finish().expect_code(0);
    }
}

/// Returns the text of a page, with a line for each element that has text.
pub fn page_text(page: &str) -> String {
    let patterns = ["(?s)<(style|script).*?</(style|script)>", "<[^>]*>", r"\s*\n\s*"];
    patterns.iter().fold(page.to_owned(), |text, pattern| {
        regex_lite::Regex::new(pattern).expect("a pattern").replace_all(&text, "\n").into_owned()
    })
}

/// Returns the headings of a page and the captions of its figures.
pub fn outline(page: &str) -> String {
    let element = regex_lite::Regex::new("<(h1|h2|figcaption)[^>]*>(.*?)</").expect("a pattern");
    element.captures_iter(page).map(|found| format!("{}\n", &found[2])).collect()
}

/// Requests a page from an address; `None` if nothing listens there.
pub fn get(address: &str, path: &str) -> Option<Reply> {
    request(address, "GET", path, &[]).map(read)
}

fn request(address: &str, method: &str, path: &str, headers: &[(&str, &str)]) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket has a timeout");
    // In HTTP/1.0 the reply ends with the connection and has no chunks, so it can be read to its
    // end.
    let mut request = format!("{method} {path} HTTP/1.0\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request.push_str(&format!("Host: {address}\r\n"));
    }
    headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).expect("the server reads");
    Some(stream)
}

fn read(mut stream: TcpStream) -> Reply {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers in UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Reply {
        code: code.expect("an answer has a number"),
        head: head.replace("\r\n", "\n").to_lowercase(),
        body: body.to_owned(),
    }
}

/// Events as they arrive, and the page that results from them. One event may change several parts,
/// so an awaited part may have arrived together with another part.
pub struct Events {
    stream: BufReader<TcpStream>,
    /// Parts by name, as a browser has them after the events so far.
    page: BTreeMap<String, String>,
}

impl Events {
    /// Reads the next event.
    fn read(&mut self) {
        loop {
            let mut line = String::new();
            let length = self.stream.read_line(&mut line).expect("events keep coming");
            assert!(length > 0, "the events have ended");
            let Some(data) = line.strip_prefix("data:") else { continue };
            let event: Value = serde_json::from_str(data.trim()).expect("an event is JSON");
            let text = |value: &Value| value.as_str().expect("parts are text").to_owned();
            let parts = event["parts"].as_array().expect("an event has parts");
            self.page.extend(parts.iter().map(|part| (text(&part[0]), text(&part[1]))));
            if let Some(order) = event["order"].as_array() {
                self.page.retain(|name, _| order.iter().any(|kept| kept == name.as_str()));
            }
            return;
        }
    }

    /// Waits until the part `name` contains all `texts`, and returns the part.
    pub fn wait_for(&mut self, name: &str, texts: &[&str]) -> String {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let part = self.page.get(name);
            if let Some(html) = part.filter(|html| texts.iter().all(|word| html.contains(word))) {
                return html.clone();
            }
            let in_time = std::time::Instant::now() < deadline;
            assert!(in_time, "waited in vain for {texts:?} in {name}: {:#?}", self.page);
            self.read();
        }
    }
}
