//! Real browser without a window, controlled over its debugging protocol.
//!
//! The protocol uses two pipes, with JSON between zero bytes. It needs neither a port nor a
//! WebSocket, and the few commands in use need no generated bindings.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::programs::installed;
use super::{PATIENCE, wait_for};

/// Flags of the browser: no window, no network connections of its own, and no dialogs.
const FLAGS: [&str; 14] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
];

/// A browser with one page.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: String,
    calls: u64,
    /// Events that were received but not read.
    events: Vec<Value>,
    _profile: TempDir,
}

/// Returns the browser's program, if one is installed.
pub fn program() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(installed)
}

impl Browser {
    /// Starts the program with an empty page.
    pub fn start(program: &Path) -> Browser {
        let profile = TempDir::with_prefix("browser-").expect("a folder can be made");
        // With --remote-debugging-pipe the browser reads from descriptor 3 and writes to descriptor
        // 4, which only a shell can set up without unsafe code.
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("the browser can be started");
        let input = child.stdin.take().expect("its input is piped");
        let output = BufReader::new(child.stdout.take().expect("its output is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in output.split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).expect("the browser sends JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let (session, calls, events) = (String::new(), 0, Vec::new());
        let mut browser =
            Browser { child, input, messages, session, calls, events, _profile: profile };
        let page = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let wanted = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", wanted);
        browser.session = attached["sessionId"].as_str().expect("a session has a name").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens an address and waits until the page has loaded.
    pub fn open(&mut self, url: &str) {
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
        let gone = self.call("Page.navigate", json!({ "url": url }));
        assert_eq!(gone["errorText"], Value::Null, "{url}: {gone}");
        let deadline = Instant::now() + PATIENCE;
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            assert!(Instant::now() < deadline, "{url} is not loaded");
            self.listen(Duration::from_millis(100));
        }
    }

    /// Returns the value of a JavaScript expression on the page; a promise is awaited.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        let wanted =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let found = self.call("Runtime.evaluate", wanted);
        assert_eq!(found["exceptionDetails"], Value::Null, "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Returns whether an expression is true; `false` while another page loads.
    pub fn holds(&mut self, expression: &str) -> bool {
        let wanted = json!({ "expression": expression, "returnByValue": true });
        let found = self.try_call("Runtime.evaluate", wanted);
        found.is_ok_and(|found| found["result"]["value"] == true)
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait_until(&mut self, expression: &str) {
        wait_for(expression, || self.holds(expression).then_some(()));
    }

    /// Clicks on the element that a selector finds.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        self.point(selector, &["mousePressed", "mouseReleased"]);
    }

    /// Clicks on an enabled button until an expression is true. A changing page may move the button
    /// away from the mouse.
    #[track_caller]
    pub fn click_until(&mut self, button: &str, expression: &str) {
        wait_for(expression, || {
            let is_done = self.holds(expression);
            if !is_done && self.holds(&format!("!document.querySelector({button:?}).disabled")) {
                self.click(button);
            }
            is_done.then_some(())
        });
    }

    /// Moves the mouse onto the element that a selector finds.
    #[track_caller]
    pub fn hover(&mut self, selector: &str) {
        self.point(selector, &["mouseMoved"]);
    }

    /// Sends mouse events to the centre of the element that a selector finds.
    #[track_caller]
    fn point(&mut self, selector: &str, kinds: &[&str]) {
        let place = self.value(&format!(
            "(() => {{ const found = document.querySelector({selector:?});
               found.scrollIntoView({{ block: 'center', behavior: 'instant' }});
               const box = found.getBoundingClientRect();
               return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in kinds {
            let event = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key that types no character.
    pub fn press(&mut self, key: &str) {
        for kind in ["rawKeyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": key }));
        }
    }

    /// Types text into the focused element.
    pub fn type_in(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Sets the page width, in CSS pixels, and the colour scheme, `light` or `dark`.
    pub fn look(&mut self, width: u32, scheme: &str) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Writes a picture of the first `height` pixel rows of the page as PNG.
    pub fn picture(&mut self, width: u32, height: u32, path: &Path) {
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let wanted = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let taken = self.call("Page.captureScreenshot", wanted);
        keep(&taken["data"], path);
    }

    /// Writes the printed page as PDF.
    pub fn print(&mut self, path: &Path) {
        let printed = self.call("Page.printToPDF", json!({ "preferCSSPageSize": true }));
        keep(&printed["data"], path);
    }

    /// Returns the faults since the last call: errors on the console, and requests for addresses
    /// that do not start with `home`.
    pub fn faults(&mut self, home: &str) -> Vec<String> {
        self.listen(Duration::from_millis(100));
        let is_fault = |event: &Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            Some("Runtime.consoleAPICalled") => {
                ["error", "warning", "assert"].iter().any(|kind| event["params"]["type"] == *kind)
            }
            Some("Network.requestWillBeSent") => {
                let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
                !url.starts_with(home)
            }
            _ => false,
        };
        let events = std::mem::take(&mut self.events);
        events.iter().filter(|event| is_fault(event)).map(ToString::to_string).collect()
    }

    #[track_caller]
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a command and returns the reply, or the browser's reason for rejecting the command.
    fn try_call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser reads");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(remaining);
            let message = message.unwrap_or_else(|_| panic!("{method} is not answered"));
            if message["id"] == self.calls {
                return match &message["error"] {
                    Value::Null => Ok(message["result"].clone()),
                    error => Err(error.clone()),
                };
            }
            self.events.push(message);
        }
    }

    /// Receives events for `time`.
    fn listen(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while let Some(remaining) = deadline.checked_duration_since(Instant::now()) {
            match self.messages.recv_timeout(remaining) {
                Ok(message) => self.events.push(message),
                Err(_) => return,
            }
        }
    }
}

/// Writes a file from base64 text of the browser.
fn keep(data: &Value, path: &Path) {
    let mut decode = Command::new("base64")
        .arg("-d")
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(path).expect("a file can be made"))
        .spawn()
        .expect("there is base64");
    let text = data.as_str().expect("a file is text");
    let mut input = decode.stdin.take().expect("its input is piped");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    assert!(decode.wait().expect("it ends").success());
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
