//! A small HTTP server that does what a test tells it to, also what no server should.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// The first byte of the range asked for.
    pub(crate) from: Option<usize>,
    pub(crate) if_range: Option<String>,
    /// How many requests came before.
    pub(crate) number: usize,
}

/// What to answer.
pub(crate) struct Reply {
    pub(crate) status: &'static str,
    pub(crate) headers: Vec<String>,
    pub(crate) body: Vec<u8>,
    /// Content-Length; without it the body ends with the connection.
    pub(crate) length: Option<usize>,
    /// Closes the connection after that many bytes of the body.
    pub(crate) cut: usize,
    pub(crate) delay: Duration,
}

impl Reply {
    /// The whole body, whatever was asked.
    pub(crate) fn whole(body: &[u8]) -> Reply {
        let (headers, delay) = (Vec::new(), Duration::ZERO);
        Reply {
            status: "200 OK",
            headers,
            body: body.to_vec(),
            length: Some(body.len()),
            cut: usize::MAX,
            delay,
        }
    }

    /// What a good server answers: the range, if one was asked for and the version still holds.
    pub(crate) fn ranged(body: &[u8], tag: &str, request: &Request) -> Reply {
        let tag = format!("\"{tag}\"");
        let fresh = request.if_range.as_ref().is_none_or(|version| *version == tag);
        let mut reply = match request.from.filter(|_| fresh) {
            Some(from) if from >= body.len() => {
                let mut reply = Reply::status("416 Range Not Satisfiable");
                reply.headers.push(format!("Content-Range: bytes */{}", body.len()));
                reply
            }
            Some(from) => {
                let mut reply = Reply::whole(&body[from..]);
                reply.status = "206 Partial Content";
                reply.headers.push(format!("Content-Range: bytes {from}-{}/{}", body.len() - 1, body.len()));
                reply
            }
            None => Reply::whole(body),
        };
        reply.headers.push(format!("ETag: {tag}"));
        reply
    }

    pub(crate) fn status(status: &'static str) -> Reply {
        Reply { status, ..Reply::whole(b"") }
    }

    pub(crate) fn redirect(to: &str) -> Reply {
        Reply { status: "302 Found", headers: vec![format!("Location: {to}")], ..Reply::whole(b"") }
    }

    /// Breaks the connection after that many bytes.
    pub(crate) fn cut(self, cut: usize) -> Reply {
        Reply { cut, ..self }
    }

    /// Does not say how long the body is.
    pub(crate) fn unmeasured(self) -> Reply {
        Reply { length: None, ..self }
    }

    pub(crate) fn delay(self, milliseconds: u64) -> Reply {
        Reply { delay: Duration::from_millis(milliseconds), ..self }
    }
}

/// A server on this machine. Its threads end with the process.
pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || {
                    if let Some(mut request) = read(&stream) {
                        {
                            let mut log = log.lock().unwrap();
                            request.number = log.len();
                            log.push(request.clone());
                        }
                        // The client may hang up at any time: that is its right.
                        let _ = write(stream, &answer(&request));
                    }
                });
            }
        });
        Server { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let mut request = Request { path, from: None, if_range: None, number: 0 };
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ")?;
        match name.to_lowercase().as_str() {
            "range" => request.from = value.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok(),
            "if-range" => request.if_range = Some(value.to_owned()),
            _ => {}
        }
    }
    Some(request)
}

fn write(mut stream: TcpStream, reply: &Reply) -> std::io::Result<()> {
    thread::sleep(reply.delay);
    let mut head = format!("HTTP/1.1 {}\r\nConnection: close\r\n", reply.status);
    for header in &reply.headers {
        head = format!("{head}{header}\r\n");
    }
    if let Some(length) = reply.length {
        head = format!("{head}Content-Length: {length}\r\n");
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    stream.write_all(&reply.body[..reply.cut.min(reply.body.len())])?;
    stream.flush()
}
