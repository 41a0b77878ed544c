//! HTTP/1.1 requests as bytes.

use crate::cookies::Jar;
use crate::plan::{Plan, Target};
use crate::request::Request;
use std::io::Write;

const ACCEPT: &[u8] = b"Accept: */*\r\n";

/// Writes requests, the fixed part of their heads made once.
pub struct Wire {
    fixed: Vec<u8>,
    origin: Vec<u8>,
    ids: bool,
    traces: bool,
}

impl Wire {
    /// The fixed part for a plan and one of its targets.
    pub fn new(plan: &Plan, target: &Target) -> Self {
        let connection = match plan.connection {
            crate::plan::Connection::PerRequest => "close",
            crate::plan::Connection::KeepAlive => "keep-alive",
        };
        let fixed = format!(
            " HTTP/1.1\r\nHost: {}\r\nUser-Agent: tierlab\r\nConnection: {connection}\r\n",
            target.host()
        );
        let origin = format!("Origin: http://{}\r\n", target.host()).into_bytes();
        Self { fixed: fixed.into_bytes(), origin, ids: plan.request_ids, traces: plan.traces }
    }

    /// The header that says that a request comes from this site.
    pub fn origin(&self) -> &[u8] {
        &self.origin
    }

    /// Writes the request of a page into `text`, which it empties first; `tail` ends its body, and
    /// `origin` is the header that says from which site it comes.
    pub fn page(
        &self,
        request: &Request,
        origin: Option<&[u8]>,
        tail: &[u8],
        cookies: &Jar,
        id: u64,
        text: &mut Vec<u8>,
    ) {
        self.head(request.method.name(), request.target(), id, text);
        if !request.accepts() {
            text.extend_from_slice(ACCEPT);
        }
        cookies.write(request.target(), text);
        text.extend_from_slice(origin.unwrap_or_default());
        text.extend_from_slice(request.headers());
        if request.has_body() {
            let length = request.body().len() + tail.len();
            let _ = write!(text, "Content-Length: {length}\r\n");
        }
        text.extend_from_slice(b"\r\n");
        text.extend_from_slice(request.body());
        text.extend_from_slice(tail);
    }

    /// Writes the request of what belongs to a page; with `since` it is wanted if it has changed.
    pub fn resource(
        &self,
        target: &[u8],
        cookies: &Jar,
        since: Option<&str>,
        id: u64,
        text: &mut Vec<u8>,
    ) {
        self.head("GET", target, id, text);
        text.extend_from_slice(ACCEPT);
        cookies.write(target, text);
        if let Some(since) = since {
            let _ = write!(text, "If-Modified-Since: {since}\r\n");
        }
        text.extend_from_slice(b"\r\n");
    }

    fn head(&self, method: &str, target: &[u8], id: u64, text: &mut Vec<u8>) {
        text.clear();
        text.extend_from_slice(method.as_bytes());
        text.push(b' ');
        text.extend_from_slice(target);
        text.extend_from_slice(&self.fixed);
        if self.ids {
            let _ = write!(text, "X-Request-Id: {id:016x}\r\n");
        }
        if self.traces {
            let _ = write!(text, "traceparent: 00-{id:032x}-{id:016x}-01\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Method;

    #[test]
    fn the_site_of_which_a_request_says_that_it_comes_is_the_one_that_is_asked() {
        for (host, site) in [("null", "10.0.0.1:8080"), (r#""shop.example""#, "shop.example")] {
            let plan = format!(
                r#"{{"targets": [{{"address": "10.0.0.1", "port": 8080, "host": {host}}}],
                "workload": "w", "users": 1, "seed": 1, "phases": [], "request_ids": false,
                "loop": {{"mode": "closed", "think_ns": 0}}}}"#
            );
            let plan: Plan = serde_json::from_str(&plan).expect("the test's JSON is well formed");
            let wire = Wire::new(&plan, &plan.targets[0]);
            let request = Request::new(0, Method::Post, b"/x".to_vec(), 2, 2);
            let mut sent = Vec::new();
            for origin in [false, true] {
                let says = origin.then(|| wire.origin());
                wire.page(&request, says, b"", &Jar::default(), 1, &mut sent);
                let text = String::from_utf8_lossy(&sent).into_owned();
                assert!(text.contains(&format!("\r\nHost: {site}\r\n")), "{text}");
                let said = text.contains(&format!("\r\nOrigin: http://{site}\r\n"));
                assert_eq!(said, origin, "{text}");
                assert_eq!(text.contains("Origin"), origin, "{text}");
            }
        }
    }
}
