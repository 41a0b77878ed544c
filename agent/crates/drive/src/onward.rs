//! Where a reply sends a browser for a file or an image, which it follows as it does for a page.

use crate::links;
use crate::reply::Reply;
use crate::script::Script;
use crate::session::MOST_HOPS;

/// Where a reply sends a browser.
#[derive(Debug, PartialEq, Eq)]
pub enum Onward {
    /// Nowhere.
    Nowhere,
    /// Off the site.
    Away,
    /// To this target.
    To(Box<[u8]>),
}

/// Where a server's reply to a request for what is `at` sends its browser, which was sent on so
/// often before; nowhere any more where that leads round in circles.
pub fn onward(script: &Script, server: u8, reply: &Reply, at: &[u8], hops: u8) -> Onward {
    let location = reply.told().location.as_deref().unwrap_or_default().trim_ascii();
    if !script.workload.rules.browser || !reply.redirects() || location.is_empty() {
        return Onward::Nowhere;
    }
    match links::target(location, at, script.hosts_of(server)) {
        Some(_) if hops >= MOST_HOPS => Onward::Nowhere,
        Some(target) => Onward::To(target),
        None => Onward::Away,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::SITE;

    /// Where a reply with this status and location sends a browser that was sent on so often.
    fn sent(rules: &str, status: u16, location: &str, hops: u8) -> Onward {
        let text = format!(
            r#"{{"name": "a", "home": "a", "states": [{{"name": "a", "path": "/"}}],
            "sessions": [], "rules": {rules}}}"#
        );
        let workload = serde_json::from_str(&text).expect("the test's JSON is well formed");
        let script = Script::new(workload, vec!["here:8080".into()]);
        let mut reply = Reply::counted();
        let head = format!("HTTP/1.1 {status} x\r\n{location}Content-Length: 0\r\n\r\n");
        assert_eq!(reply.feed(head.as_bytes()), Ok(true));
        onward(&script, SITE, &reply, b"/img/a.png", hops)
    }

    #[test]
    fn a_browser_goes_where_it_is_sent_on_its_site() {
        let to = |target: &str| Onward::To(target.as_bytes().into());
        for status in [301, 302, 303, 307, 308] {
            let sent = |location, hops| sent(r#"{"browser": true}"#, status, location, hops);
            assert_eq!(sent("Location: b.png?x=1\r\n", 0), to("/img/b.png?x=1"));
            assert_eq!(sent("Location: http://here:8080/b\r\n", 7), to("/b"));
            assert_eq!(sent("Location: http://here:8080/b\r\n", 8), Onward::Nowhere);
            assert_eq!(sent("Location: https://elsewhere/b\r\n", 8), Onward::Away);
            assert_eq!(sent("Location: \r\n", 0), Onward::Nowhere);
            assert_eq!(sent("", 0), Onward::Nowhere);
        }
        assert_eq!(sent(r#"{"browser": true}"#, 404, "Location: /b\r\n", 0), Onward::Nowhere);
        assert_eq!(sent("{}", 302, "Location: /b\r\n", 0), Onward::Nowhere, "no browser");
    }
}
