//! A browser without a window, driven through its DevTools protocol over two pipes.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// The browser's program: `$EDGEPACE_BROWSER`, or Chromium or Chrome where there is one.
pub(crate) fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("EDGEPACE_BROWSER") {
        return Some(PathBuf::from(named));
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

/// A page in a browser.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    session: Value,
    last: u64,
    /// Errors and warnings of the console, exceptions, refused loads.
    pub(crate) complaints: Vec<String>,
    /// Everything that the page asked for.
    pub(crate) requests: Vec<String>,
    _folder: TempDir,
}

impl Browser {
    /// Starts one; `webgl` with a software renderer, else without WebGL.
    pub(crate) fn start(webgl: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let drawing = if webgl {
            "--use-angle=swiftshader --enable-unsafe-swiftshader"
        } else {
            "--disable-gpu --disable-3d-apis"
        };
        let line = format!(
            "mkfifo in out && exec \"$0\" --headless --no-sandbox {drawing} --disable-quic --no-first-run \
             --disable-background-networking --disable-component-update --disable-sync --disable-extensions \
             --disable-dev-shm-usage --hide-scrollbars --user-data-dir=\"$PWD/profile\" --remote-debugging-pipe about:blank 3<in 4>out"
        );
        let child = Command::new("sh")
            .args(["-c", &line])
            .arg(program().expect("a browser"))
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let begin = Instant::now();
        let [into, out] = ["in", "out"].map(|name| folder.path().join(name));
        while !out.exists() {
            assert!(begin.elapsed() < PATIENCE, "the browser does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        // Each waits for the shell, in the order in which it opens them.
        let to = OpenOptions::new().write(true).open(into).expect("a pipe");
        let reader = BufReader::new(File::open(out).expect("a pipe"));
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for message in reader.split(0).map_while(Result::ok) {
                if let Ok(message) = serde_json::from_slice(&message)
                    && sender.send(message).is_err()
                {
                    return;
                }
            }
        });
        let (complaints, requests) = (Vec::new(), Vec::new());
        let mut own =
            Self { child, to, from, session: Value::Null, last: 0, complaints, requests, _folder: folder };
        let target = own.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = own.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        own.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            own.call(&format!("{domain}.enable"), json!({}));
        }
        own
    }

    /// Calls a method of the protocol and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let message =
                self.from.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.note(&message);
        }
    }

    fn note(&mut self, message: &Value) {
        let told = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(told["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled")
                if ["error", "warning"].contains(&told["type"].as_str().unwrap_or("")) =>
            {
                self.complaints.push(told["args"].to_string());
            }
            Some("Log.entryAdded")
                if ["error", "warning"].contains(&told["entry"]["level"].as_str().unwrap_or("")) =>
            {
                self.complaints.push(told["entry"].to_string());
            }
            Some("Network.requestWillBeSent") => {
                self.requests.push(told["request"]["url"].as_str().unwrap_or("?").to_owned());
            }
            _ => {}
        }
    }

    /// How the window is: width and height, whether it is a phone's, and whether the system is dark.
    pub(crate) fn window(&mut self, (width, height): (u32, u32), phone: bool, dark: bool) {
        let scale = if phone { 2 } else { 1 };
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone });
        self.call("Emulation.setDeviceMetricsOverride", screen);
        let theme = if dark { "dark" } else { "light" };
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] }),
        );
    }

    /// Opens a file and waits until its script is done.
    pub(crate) fn open(&mut self, file: &Path) -> Duration {
        let begin = Instant::now();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        self.wait_for("document.documentElement?.dataset.ready === 'true'");
        begin.elapsed()
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    pub(crate) fn number(&mut self, expression: &str) -> f64 {
        self.value(expression).as_f64().unwrap_or_else(|| panic!("no number: {expression}"))
    }

    pub(crate) fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_else(|| panic!("no text: {expression}")).to_owned()
    }

    pub(crate) fn holds(&mut self, expression: &str) -> bool {
        self.value(expression) == json!(true)
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begin = Instant::now();
        while !self.holds(expression) {
            assert!(begin.elapsed() < PATIENCE, "never true: {expression}; {:?}", self.complaints);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the mouse, presses it or lets it go, at a place of the window.
    pub(crate) fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event);
    }

    pub(crate) fn click(&mut self, place: (f64, f64)) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, place);
        }
    }

    /// Processor seconds of the browser and all that it started, as Linux counts them: what other programs on the machine do
    /// not change.
    pub(crate) fn processor_seconds(&self) -> Option<f64> {
        const TICKS_PER_SECOND: f64 = 100.0;
        let entries = std::fs::read_dir("/proc").ok()?.flatten();
        // Process, its parent, and its ticks in user and system mode.
        let all: Vec<(u32, u32, f64)> = entries
            .filter_map(|entry| {
                let id = entry.file_name().to_str()?.parse().ok()?;
                let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
                let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
                let ticks = |place: usize| fields.get(place)?.parse::<f64>().ok();
                Some((id, fields.get(1)?.parse().ok()?, ticks(11)? + ticks(12)?))
            })
            .collect();
        let mut own = vec![self.child.id()];
        let mut place = 0;
        while let Some(&parent) = own.get(place) {
            own.extend(all.iter().filter(|(_, of, _)| *of == parent).map(|(id, ..)| id));
            place += 1;
        }
        let ticks: f64 = all.iter().filter(|(id, ..)| own.contains(id)).map(|(.., ticks)| ticks).sum();
        Some(ticks / TICKS_PER_SECOND)
    }

    /// Keeps a picture of the window, or of the whole page, if `$EDGEPACE_SCREENSHOTS` names a folder.
    pub(crate) fn picture(&mut self, name: &str, whole: bool) {
        use base64::Engine as _;
        let Some(folder) = std::env::var_os("EDGEPACE_SCREENSHOTS") else { return };
        let asked = json!({ "format": "png", "captureBeyondViewport": whole });
        let answer = self.call("Page.captureScreenshot", asked);
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(answer["data"].as_str().expect("a picture"));
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes.expect("base64"))
            .expect("a file");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
