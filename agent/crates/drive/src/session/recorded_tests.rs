//! Requests as recordings have them: no socket, no clock.

use super::*;
use crate::workload::Workload;

/// A first page, of which something is remembered as `v1`, and what is asked for after it.
fn workload(extract: &str, next: &str) -> Workload {
    let json = format!(
        r#"{{
        "name": "recorded", "home": "first",
        "states": [
            {{"name": "first", "path": "/", "extract": [{{"name": "v1", {extract}}}]}},
            {{"name": "next", "path": "/next", {next}}}
        ],
        "sessions": [{{"name": "all", "share": 1, "identity": {{"numbers": [1, 1], "values": {{}}}},
            "transitions": {{"first": [["next", 1]], "next": [["End", 1]]}}}}],
        "rules": {{"browser": true}}
    }}"#
    );
    serde_json::from_str(&json).expect("the test's JSON is well formed")
}

/// The same, checked and ready to be played.
fn script(extract: &str, next: &str) -> Script {
    let workload = workload(extract, next);
    assert_eq!(crate::check::workload(&workload), Ok(()));
    Script::new(workload, Vec::new())
}

/// A user who has seen this page and is to send the next request.
fn after(script: &Script, page: &str) -> User {
    let mut user = User::new(script, 1, 0);
    user.count_sent();
    user.see(script, Page::html(page.as_bytes()));
    user.decide(script, Outcome::Page(Page::html(page.as_bytes())));
    assert_eq!(user.operation(), 1, "{page}");
    user
}

const BETWEEN: &str = r#""after": "[", "until": "]""#;

#[test]
fn a_body_has_its_values_as_its_kind_writes_them() {
    for (values, body) in [
        ("", r#"<a\"b\\c &=><a\"b\\c &=>"#),
        (r#""values": "json","#, r#"<a\"b\\c &=><a\"b\\c &=>"#),
        (r#""values": "form","#, "<a%22b%5Cc+%26%3D><a%22b%5Cc+%26%3D>"),
        (r#""values": "plain","#, r#"<a"b\c &=><a"b\c &=>"#),
    ] {
        let script = script(
            BETWEEN,
            &format!(
                r#""method": "PUT", "body": {{"content_type": "x", {values} "parts": [
                {{"constant": "<"}}, {{"secret": "a\"b\\c &="}}, {{"constant": "><"}},
                {{"remembered": "v1"}}, {{"constant": ">"}}]}}"#
            ),
        );
        let user = after(&script, r"[a&quot;b\c &=]");
        let sent = String::from_utf8_lossy(user.request().body()).into_owned();
        assert_eq!(sent, body, "{values}");
        assert_eq!(user.request().headers(), b"Content-Type: x\r\n");
    }
}

#[test]
fn what_has_no_body_says_no_type_but_where_it_was_recorded() {
    for (more, headers, body) in [
        ("", "", ""),
        (r#", "body": {"content_type": "text/x", "parts": []}"#, "Content-Type: text/x\r\n", ""),
        (
            r#", "parameters": [{"name": "a", "from": {"constant": "x"}}]"#,
            "Content-Type: application/x-www-form-urlencoded\r\n",
            "a=x",
        ),
    ] {
        let script = script(BETWEEN, &format!(r#""method": "POST"{more}"#));
        let user = after(&script, "");
        let request = user.request();
        assert_eq!((request.headers(), request.body()), (headers.as_bytes(), body.as_bytes()));
        assert!(request.has_body(), "its length is said, also where that is none");
    }
}

#[test]
fn what_a_reply_makes_a_page_of_does_not_say_from_which_site_it_comes() {
    for (status, method, says) in
        [(302, "POST", false), (303, "PUT", false), (307, "POST", true), (302, "GET", true)]
    {
        let script = script(BETWEEN, &format!(r#""method": "{method}", "origin": true"#));
        let mut user = User::new(&script, 1, 0);
        assert!(!script.says_origin(user.request()), "it was not recorded");
        user.decide(&script, Outcome::Page(Page::html(b"")));
        assert!(script.says_origin(user.request()));
        assert!(user.sent_on(&script, status, b"/there"));
        assert_eq!(script.says_origin(user.request()), says, "{status} {method}");
    }
}

const BEARER: &str = r#""headers": [{"name": "Authorization", "from":
    {"joined": [{"constant": "Bearer "}, {"remembered": "v1"}]}}]"#;

#[test]
fn a_header_may_be_joined_of_a_text_and_what_is_remembered() {
    let script = script(BETWEEN, BEARER);
    let user = after(&script, "[abc\r\n1]");
    assert_eq!(user.request().headers(), b"Authorization: Bearer abc1\r\n");
}

#[test]
fn what_is_joined_is_checked_part_by_part() {
    let mut home = workload(BETWEEN, BEARER);
    home.home = "next".into();
    let refused = crate::check::workload(&home).expect_err("home has no page before it");
    assert!(refused.contains("must not need an earlier page"), "{refused}");

    let drawn = workload(BETWEEN, &BEARER.replace(r#"{"remembered": "v1"}"#, r#"{"words": 9}"#));
    let refused = crate::check::workload(&drawn).expect_err("words are a query's");
    assert!(refused.contains("take no such source"), "{refused}");
}

#[test]
fn a_cookie_s_value_goes_in_a_header_as_it_is_or_as_programs_of_a_page_read_it() {
    for (source, value) in [("cookie", "eyJ+a%3D%3d"), ("cookie_decoded", "eyJ+a==")] {
        let header = format!(r#"{{"name": "X-XSRF-TOKEN", "from": {{"{source}": "XSRF-TOKEN"}}}}"#);
        let script = script(BETWEEN, &format!(r#""headers": [{header}]"#));
        let mut user = User::new(&script, 1, 0);
        user.jar.take(b"XSRF-TOKEN=eyJ+a%3D%3d; path=/");
        user.count_sent();
        user.decide(&script, Outcome::Page(Page::html(b"")));
        let sent = String::from_utf8_lossy(user.request().headers()).into_owned();
        assert_eq!(sent, format!("X-XSRF-TOKEN: {value}\r\n"));
    }
}
