//! One request over HTTP: which addresses may be asked, redirects, ranges, and what a failure means for the next try.

use std::io;
use std::time::Duration;

use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

/// Redirects followed for one request.
const MAX_REDIRECTS: usize = 5;

/// Why a request brought nothing, or not all.
#[derive(Debug)]
pub(super) enum Failure {
    /// The same mirror may do better in a moment.
    Again(String),
    /// This mirror will not do.
    NextMirror(String),
}

/// How long to wait for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the next bytes.
    pub stalled: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { connect: Duration::from_secs(15), stalled: Duration::from_secs(30) }
    }
}

/// What a server sends.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    /// The byte that the body starts at, for a partial reply.
    pub(super) from: u64,
    /// The size of the whole file, if the server says it.
    pub(super) total: Option<u64>,
    /// What recognises this version of the file later: a strong ETag, or the time of its last change.
    pub(super) validator: Option<String>,
    pub(super) body: Body,
}

/// Asks servers.
pub(super) struct Client {
    direct: Agent,
    outside: Agent,
}

impl Client {
    pub(super) fn new(timeouts: Timeouts) -> Client {
        let config = || {
            Agent::config_builder()
                .http_status_as_error(false)
                // Redirects are followed here, because each address has to be judged.
                .max_redirects(0)
                .max_redirects_will_error(false)
                .timeout_connect(Some(timeouts.connect))
                .timeout_resolve(Some(timeouts.connect))
                .timeout_per_read(Some(timeouts.stalled))
                .timeout_per_write(Some(timeouts.stalled))
                .user_agent(concat!("edgepace/", env!("CARGO_PKG_VERSION")))
                // Sizes, ranges and checksums are those of the file itself.
                .accept_encoding("identity")
        };
        Client { direct: config().proxy(None).build().into(), outside: config().build().into() }
    }

    /// Asks for a file, from a byte on if `resume` gives one with what recognises the version it belongs to. `plain`
    /// allows addresses without encryption, which a user's own mirror may have.
    pub(super) fn get(
        &self,
        url: &str,
        resume: Option<(u64, Option<&str>)>,
        plain: bool,
    ) -> Result<Reply, Failure> {
        let mut url = url.to_owned();
        let mut seen: Vec<String> = Vec::new();
        loop {
            allowed(&url, plain).map_err(Failure::NextMirror)?;
            let agent = if is_loopback(&url) { &self.direct } else { &self.outside };
            let mut request = agent.get(&url);
            if let Some((from, validator)) = resume {
                request = request.header(header::RANGE, format!("bytes={from}-"));
                if let Some(validator) = validator {
                    request = request.header(header::IF_RANGE, validator);
                }
            }
            let response = request.call().map_err(|error| classify(&error))?;
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
                return reply(response);
            }
            let to = text(&response, header::LOCATION)
                .and_then(|location| resolve(&url, location))
                .ok_or_else(|| Failure::NextMirror(format!("{} without an address", response.status())))?;
            seen.push(url);
            if seen.contains(&to) {
                return Err(Failure::NextMirror(format!("redirects in a circle, back to {to}")));
            }
            if seen.len() > MAX_REDIRECTS {
                return Err(Failure::NextMirror(format!(
                    "more than {MAX_REDIRECTS} redirects, the last to {to}"
                )));
            }
            url = to;
        }
    }
}

fn reply(response: Response<Body>) -> Result<Reply, Failure> {
    let status = response.status();
    let length = text(&response, header::CONTENT_LENGTH).and_then(|length| length.trim().parse::<u64>().ok());
    let range = text(&response, header::CONTENT_RANGE).and_then(content_range);
    let validator = text(&response, header::ETAG)
        .filter(|tag| tag.starts_with('"'))
        .or_else(|| text(&response, header::LAST_MODIFIED))
        .filter(|validator| !validator.contains(['\r', '\n']))
        .map(str::to_owned);
    let (from, total) = match status {
        StatusCode::OK => (0, length),
        StatusCode::PARTIAL_CONTENT => match range {
            Some((Some(from), total)) => (from, total.or(length.and_then(|length| from.checked_add(length)))),
            _ => return Err(Failure::NextMirror("a part of the file without saying which".into())),
        },
        StatusCode::RANGE_NOT_SATISFIABLE => (0, range.and_then(|(_, total)| total)),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
            return Err(Failure::Again(status.to_string()));
        }
        status if status.is_server_error() => return Err(Failure::Again(status.to_string())),
        status => return Err(Failure::NextMirror(status.to_string())),
    };
    Ok(Reply { status, from, total, validator, body: response.into_body() })
}

fn text(response: &Response<Body>, name: header::HeaderName) -> Option<&str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

/// First byte and total of `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10`.
fn content_range(value: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (range, total) = value.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
    let from = range.split_once('-').and_then(|(from, _)| from.trim().parse().ok());
    Some((from, total.trim().parse().ok()))
}

fn classify(error: &ureq::Error) -> Failure {
    match error {
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::ConnectionFailed
        | ureq::Error::Protocol(_) => Failure::Again(error.to_string()),
        _ => Failure::NextMirror(error.to_string()),
    }
}

/// What an interrupted body means: the same mirror may go on.
pub(super) fn interrupted(error: &io::Error) -> Failure {
    Failure::Again(format!("the connection broke: {error}"))
}

/// Only encrypted addresses, unless the server is on this machine or the user named it.
fn allowed(url: &str, plain: bool) -> Result<(), String> {
    if has_scheme(url, "https://") || (has_scheme(url, "http://") && (plain || is_loopback(url))) {
        return Ok(());
    }
    Err(format!("{url} is not an https address"))
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// Whether the server is on this machine, by its number: a name could be made to point elsewhere.
fn is_loopback(url: &str) -> bool {
    let Ok(uri) = url.parse::<ureq::http::Uri>() else { return false };
    let host = uri.host().unwrap_or("").trim_matches(['[', ']']);
    host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()) || host == "localhost"
}

/// The address that a redirect from `base` leads to.
fn resolve(base: &str, location: &str) -> Option<String> {
    let location = location.trim().split('#').next()?;
    let (scheme, rest) = base.split_once("://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if location.is_empty() {
        None
    } else if location.contains("://") && !location.starts_with('/') {
        Some(location.to_owned())
    } else if location.starts_with("//") {
        Some(format!("{scheme}:{location}"))
    } else if location.starts_with('/') {
        Some(format!("{scheme}://{host}{location}"))
    } else {
        let path = path.split('?').next()?;
        let folder = path.rfind('/').map_or("", |end| &path[..=end]);
        Some(format!("{scheme}://{host}/{folder}{location}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_machine_or_a_mirror_of_the_users() {
        assert!(allowed("https://example.org/x", false).is_ok());
        assert!(allowed("http://127.0.0.1:80/x", false).is_ok());
        assert!(allowed("http://[::1]:80/x", false).is_ok());
        assert!(allowed("http://example.org/x", true).is_ok());
        for refused in
            ["http://example.org/x", "http://127.0.0.1.example.org/", "file:///etc/passwd", "ftp://a/b"]
        {
            assert!(allowed(refused, false).is_err(), "{refused}");
        }
        assert!(allowed("file:///etc/passwd", true).is_err());
        assert!(allowed("http://localhost@example.org/", false).is_err());
    }

    #[test]
    fn redirects_lead_where_a_browser_would_go() {
        let base = "https://a.org/data/x?y=1";
        assert_eq!(resolve(base, "https://b.org/z#top").unwrap(), "https://b.org/z");
        assert_eq!(resolve(base, "//b.org/z").unwrap(), "https://b.org/z");
        assert_eq!(resolve(base, "/z").unwrap(), "https://a.org/z");
        assert_eq!(resolve(base, "z").unwrap(), "https://a.org/data/z");
        assert_eq!(resolve(base, ""), None);
    }

    #[test]
    fn ranges_are_read() {
        assert_eq!(content_range("bytes 5-9/10"), Some((Some(5), Some(10))));
        assert_eq!(content_range("bytes 5-9/*"), Some((Some(5), None)));
        assert_eq!(content_range("bytes */10"), Some((None, Some(10))));
        assert_eq!(content_range("lines 1-2/3"), None);
    }
}
