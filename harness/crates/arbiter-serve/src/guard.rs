//! Access control: decides which requests may see and control runs.
//!
//! A page of another site (a foreign page) must not be able to use the browser of an authorized
//! user. A foreign page cannot send the token: before a browser sends the header `Authorization`
//! for a foreign page, the browser asks the server for permission (CORS preflight), and the server
//! refuses. A foreign page cannot read responses either, because requests to unknown host names are
//! refused even if the names resolve to this machine. In addition, requests from another origin are
//! refused.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};

/// Header in which browsers state how the origin of a request relates to this server: same origin,
/// same site, another site, or none.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Header in which browsers state the use of the response: a page, a frame, a picture, and so on.
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Minimum length of a token chosen by the user, in bytes. A shorter token could be guessed,
/// because the number of requests is not limited.
pub const MIN_TOKEN: usize = 16;

/// Host names and token against which requests are checked.
#[derive(Debug, Clone)]
pub struct Guard {
    /// Host names of this machine in addition to localhost.
    names: Vec<String>,
    /// Hash of the token; `None` if the server is read-only.
    token: Option<blake3::Hash>,
}

/// Status code and text of the response to a refused request.
pub(crate) type Refusal = (StatusCode, &'static str);

/// Refusal of a request with an unknown host name.
const HOST: Refusal = (
    StatusCode::MISDIRECTED_REQUEST,
    "Unknown host name; add it with arbiter serve --host NAME.\n",
);

/// Refusal of a request that a page of another site sends in the background.
const BACKGROUND: Refusal = (StatusCode::FORBIDDEN, "Other sites can only link to this page.\n");

/// Refusal of a command from a page of another site.
const ORIGIN: Refusal =
    (StatusCode::FORBIDDEN, "Commands are accepted only from the server's own pages.\n");

/// Refusal of a request without the correct token.
const TOKEN: Refusal =
    (StatusCode::UNAUTHORIZED, "This command requires the token that arbiter serve printed.\n");

/// Refusal of a command to a read-only server.
const READ_ONLY: Refusal = (StatusCode::FORBIDDEN, "This server is read-only.\n");

impl Guard {
    /// Creates a guard that accepts requests to these host names, and commands with this token.
    /// Without a token, the server is read-only.
    pub fn new(names: Vec<String>, token: Option<&str>) -> Guard {
        Guard { names, token: token.map(|token| blake3::hash(token.as_bytes())) }
    }

    /// Returns `true` if the server accepts commands.
    pub(crate) fn is_steered(&self) -> bool {
        self.token.is_some()
    }

    /// Checks that a request is addressed to this server, and that the request is not sent in the
    /// background by a page of another site.
    ///
    /// # Errors
    ///
    /// Returns the refusal if the host name is unknown or missing, or the request comes from
    /// another site without opening a page.
    pub(crate) fn may_see(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        // DNS rebinding: a foreign site can make its name resolve to this machine, but cannot
        // change the name in the request.
        let host = single_header(headers, &header::HOST).ok_or(HOST)?;
        // A request in the form for proxies also contains a host in its first line; both hosts must
        // be known.
        let is_other = uri.authority().is_some_and(|named| !self.is_ours(named.as_str()));
        if !self.is_ours(host) || is_other {
            return Err(HOST);
        }
        // Such a page cannot read the response, but could keep the server busy.
        let is_foreign = matches!(single_header(headers, &SITE), Some("cross-site" | "same-site"));
        let is_opened = single_header(headers, &DESTINATION) == Some("document");
        if is_foreign && !is_opened { Err(BACKGROUND) } else { Ok(()) }
    }

    /// Checks that a request addressed to this server may control a run.
    ///
    /// # Errors
    ///
    /// Returns the refusal if the server is read-only, the request comes from another origin, or
    /// the token is wrong.
    pub(crate) fn may_steer(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let expected = self.token.ok_or(READ_ONLY)?;
        // Programs other than browsers usually do not send the header `sec-fetch-site`; for these
        // programs, only the token is checked.
        if headers.contains_key(SITE) && single_header(headers, &SITE) != Some("same-origin") {
            return Err(ORIGIN);
        }
        if headers.contains_key(header::ORIGIN) {
            let origin = single_header(headers, &header::ORIGIN).unwrap_or_default();
            let place = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            let host = single_header(headers, &header::HOST);
            let is_own = place.zip(host).is_some_and(|(own, host)| own.eq_ignore_ascii_case(host));
            if !is_own {
                return Err(ORIGIN);
            }
        }
        let given = single_header(headers, &header::AUTHORIZATION).unwrap_or_default();
        let token = given.strip_prefix("Bearer ").unwrap_or_default();
        // Hashes are compared in constant time, so the response time reveals nothing about the
        // token.
        if blake3::hash(token.as_bytes()) == expected { Ok(()) } else { Err(TOKEN) }
    }

    /// Returns `true` if `host` refers to this server. All IP addresses and ports are accepted,
    /// because DNS rebinding needs a name.
    fn is_ours(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        let name = authority.host();
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
        let is_named = |own: &String| own.eq_ignore_ascii_case(name);
        !host.contains('@')
            && (name.eq_ignore_ascii_case("localhost")
                || bare.parse::<IpAddr>().is_ok()
                || self.names.iter().any(is_named))
    }
}

/// Returns the text of a header that occurs exactly once.
fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    // If a header occurs twice, some programs use the first and others the second value, so a
    // repeated header counts as missing.
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        let mut headers = HeaderMap::new();
        pairs.iter().map(header).for_each(|(name, value)| {
            headers.append(name, value);
        });
        headers
    }

    #[test]
    fn only_known_hosts_are_answered() {
        let guard = Guard::new(vec!["lab.example".to_owned()], None);
        let see = |host: &'static str| guard.may_see(&Uri::default(), &headers(&[("host", host)]));
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:7878",
            "[::1]:9",
            "192.168.0.7",
            "lab.example:1",
        ] {
            assert_eq!(see(host), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "a@localhost",
            "",
            "[::1",
        ] {
            assert_eq!(see(host), Err(HOST), "{host}");
        }
        assert_eq!(guard.may_see(&Uri::default(), &headers(&[])), Err(HOST));
        let two = headers(&[("host", "localhost"), ("host", "evil.example")]);
        assert_eq!(guard.may_see(&Uri::default(), &two), Err(HOST));
        let named = |uri: &'static str| {
            guard.may_see(&Uri::from_static(uri), &headers(&[("host", "localhost")]))
        };
        assert_eq!(named("http://localhost:7878/"), Ok(()));
        assert_eq!(named("http://evil.example/"), Err(HOST));
        for (site, destination, expected) in [
            ("same-origin", "empty", Ok(())),
            ("none", "iframe", Ok(())),
            ("cross-site", "document", Ok(())),
            ("cross-site", "iframe", Err(BACKGROUND)),
            ("same-site", "empty", Err(BACKGROUND)),
        ] {
            let from =
                [("host", "localhost"), ("sec-fetch-site", site), ("sec-fetch-dest", destination)];
            assert_eq!(guard.may_see(&Uri::default(), &headers(&from)), expected, "{from:?}");
        }
    }

    #[test]
    fn control_requires_the_token_and_the_same_origin() {
        let guard = Guard::new(vec![], Some(SECRET));
        let right = ("authorization", "Bearer 0123456789abcdef");
        let host = ("host", "localhost:7878");
        let check = |rest: &[(&'static str, &'static str)], expected| {
            let all = [&[host], rest].concat();
            assert_eq!(guard.may_steer(&headers(&all)), expected, "{rest:?}");
        };
        check(&[right], Ok(()));
        check(&[right, ("origin", "http://localhost:7878")], Ok(()));
        check(
            &[right, ("origin", "http://localhost:7878"), ("sec-fetch-site", "same-origin")],
            Ok(()),
        );
        for origin in ["http://evil.example", "null", "http://localhost:1", "localhost:7878"] {
            check(&[right, ("origin", origin)], Err(ORIGIN));
        }
        for site in ["cross-site", "same-site", "none"] {
            check(&[right, ("sec-fetch-site", site)], Err(ORIGIN));
        }
        for wrong in
            ["Bearer 0123456789abcdeg", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef"]
        {
            check(&[("authorization", wrong)], Err(TOKEN));
        }
        check(&[], Err(TOKEN));
        check(&[right, right], Err(TOKEN));
        let read_only = Guard::new(vec![], None);
        assert_eq!(read_only.may_steer(&headers(&[host, right])), Err(READ_ONLY));
    }
}
