//! Users on made-up pages: no socket, no clock.

use super::*;
use crate::state::Method;
use crate::workload::Workload;
use std::collections::BTreeMap;

/// home -> list -> item -> item or Back or End, with a search beside.
fn script(item: &str, rules: &str) -> Script {
    let json = format!(
        r#"{{
        "name": "test", "home": "home",
        "states": [
            {{"name": "home", "path": "/home"}},
            {{"name": "list", "path": "/list"}},
            {{"name": "item", "path": "/item", "missing": "back",
              "pick": {{"target": {{"link": "item"}}, "remember": "item"}},
              "parameters": [{{"name": "id", "from": {{"link": "id"}}}}]}},
            {{"name": "search", "path": "/search", "draw": {{"from": {{"numbers": [1, 1000000]}}, "hold": true}},
              "parameters": [{{"name": "for", "from": {{"drawn": "user{{drawn}}"}}}}]}},
            {{"name": "form", "path": "/form", "method": "POST", "missing": "back",
              "parameters": [{{"name": "a b", "from": {{"constant": "x&y"}}}},
                             {{"name": "hidden", "from": {{"field": "hidden"}}}}]}}
        ],
        "sessions": [{{"name": "all", "share": 1,
            "identity": {{"numbers": [1, 9], "values": {{}}}},
            "transitions": {{
                "home": [["list", 1]], "list": [["item", 1]], "item": {item},
                "search": [["search", 1]], "form": [["End", 1]]
            }}}}],
        "rules": {rules}
    }}"#
    );
    let workload: Workload = serde_json::from_str(&json).expect("the test's JSON is well formed");
    assert_eq!(crate::check::workload(&workload), Ok(()));
    Script::new(workload, vec!["here:8080".into()])
}

fn target(user: &User) -> String {
    String::from_utf8_lossy(user.request().target()).into_owned()
}

/// Sends the user's request, and shows it a page.
fn see(user: &mut User, script: &Script, page: &str) -> String {
    user.count_sent();
    assert!(user.decide(script, Outcome::Page(Page::html(page.as_bytes()))));
    target(user)
}

const ITEM: &str = r#"<a href="/a/item?id=7&amp;x=1">seven</a>"#;

#[test]
fn links_lead_on_and_back_leads_to_where_one_was() {
    let script = script(r#"[["Back", 1]]"#, "{}");
    let mut user = User::new(&script, 1, 0);
    assert_eq!(target(&user), "/home");
    assert_eq!(see(&mut user, &script, ""), "/list");
    assert_eq!(see(&mut user, &script, ITEM), "/item?id=7");
    assert_eq!(see(&mut user, &script, ""), "/list", "back");
}

#[test]
fn a_remembered_link_serves_when_the_page_has_none() {
    let script = script(r#"[["item", 1]]"#, "{}");
    let mut user = User::new(&script, 1, 0);
    see(&mut user, &script, "");
    see(&mut user, &script, ITEM);
    assert_eq!(see(&mut user, &script, "no links"), "/item?id=7");
    let mut other = User::new(&script, 1, 1);
    see(&mut other, &script, "");
    assert_eq!(see(&mut other, &script, "no links"), "/home", "nothing to recall or to go back to");
}

#[test]
fn a_page_that_is_sorry_sends_the_user_back() {
    let script = script(r#"[["item", 0.999], ["Back", 0.001]]"#, r#"{"back_if": "Sorry"}"#);
    let mut user = User::new(&script, 1, 0);
    see(&mut user, &script, "");
    assert_eq!(see(&mut user, &script, ITEM), "/item?id=7");
    // The next item was chosen, but the page sends the user back to the one before it.
    assert_eq!(see(&mut user, &script, &format!("Sorry {ITEM}")), "/item?id=7");
    assert_eq!(see(&mut user, &script, "Sorry"), "/item?id=7");
}

#[test]
fn a_session_ends_by_the_table_or_at_its_limit_with_a_new_one() {
    let ends = script(r#"[["End", 1]]"#, "{}");
    let mut user = User::new(&ends, 1, 0);
    see(&mut user, &ends, "");
    see(&mut user, &ends, ITEM);
    assert_eq!((see(&mut user, &ends, ITEM).as_str(), user.session()), ("/home", 2));
    assert_eq!(user.sessions_played(), 1);

    let limited = script(r#"[["item", 1]]"#, r#"{"session_limit": 2}"#);
    let mut user = User::new(&limited, 1, 0);
    see(&mut user, &limited, "");
    assert_eq!((see(&mut user, &limited, ITEM).as_str(), user.session()), ("/home", 2));
}

#[test]
fn a_failure_leads_home_and_the_rules_say_whether_one_thinks() {
    for (rules, thinks) in [("{}", true), (r#"{"think_after_failure": false}"#, false)] {
        let script = script(r#"[["item", 1]]"#, rules);
        let mut user = User::new(&script, 1, 0);
        see(&mut user, &script, "");
        assert_eq!(user.decide(&script, Outcome::Failed), thinks);
        assert_eq!((target(&user).as_str(), user.session()), ("/home", 1));
    }
}

#[test]
fn by_the_rules_a_failure_leaves_the_mix_as_it_is() {
    let script = script(r#"[["search", 1]]"#, r#"{"after_failure": "next"}"#);
    let mut user = User::new(&script, 1, 0);
    assert!(user.decide(&script, Outcome::Failed));
    assert_eq!(target(&user), "/list", "where home leads");
    see(&mut user, &script, ITEM);
    assert!(user.decide(&script, Outcome::Failed));
    assert!(target(&user).starts_with("/search?for=user"), "where the item leads");
    assert_eq!(user.session(), 1);
}

#[test]
fn a_column_below_one_repeats_the_state_beyond_its_sum() {
    let script = script(r#"[["Back", 0.25], ["list", 0.25]]"#, "{}");
    let item = script.workload.state("item").expect("it is there");
    assert_eq!(script.next(0, item, 0.249), BACK);
    assert_eq!(script.next(0, item, 0.25), 1);
    assert_eq!(script.next(0, item, 0.5), item);
}

#[test]
fn a_held_draw_lasts_as_long_as_its_state() {
    let script = script(r#"[["search", 1]]"#, "{}");
    let mut user = User::new(&script, 1, 0);
    see(&mut user, &script, "");
    see(&mut user, &script, ITEM);
    let first = see(&mut user, &script, ITEM);
    assert!(first.starts_with("/search?for=user"), "{first}");
    assert_eq!(see(&mut user, &script, ""), first);
    user.decide(&script, Outcome::Failed);
    for page in ["", ITEM, ITEM] {
        see(&mut user, &script, page);
    }
    assert_ne!(target(&user), first);
}

#[test]
fn forms_are_posted_encoded() {
    let script = script(r#"[["form", 1]]"#, "{}");
    let mut user = User::new(&script, 1, 0);
    see(&mut user, &script, "");
    see(&mut user, &script, ITEM);
    let page = "<input name=hidden value='ü 1'>";
    assert_eq!(see(&mut user, &script, page), "/form");
    let body = String::from_utf8_lossy(user.request().body()).into_owned();
    assert_eq!(body, "a+b=x%26y&hidden=%C3%BC+1");
}

#[test]
fn what_was_posted_is_posted_elsewhere_where_a_reply_says_so() {
    let script = script(r#"[["form", 1]]"#, "{}");
    for (status, kept) in [(301, false), (302, false), (303, false), (307, true), (308, true)] {
        let mut user = User::new(&script, 1, 0);
        see(&mut user, &script, "");
        see(&mut user, &script, ITEM);
        see(&mut user, &script, "<input name=hidden value=1>");
        let (headers, body) = (user.next.headers().to_vec(), user.next.body().to_vec());
        let state = user.next.state;
        assert!(user.sent_on(&script, status, b"http://here:8080/there?x=1"), "{status}");
        let next = user.request();
        assert_eq!((next.target(), next.state), (b"/there?x=1".as_slice(), state));
        if kept {
            assert_eq!(next.method, Method::Post, "{status}");
            assert_eq!((next.headers(), next.body()), (&*headers, &*body));
            assert!(!body.is_empty());
        } else {
            assert_eq!(
                (next.method, next.headers(), next.body()),
                (Method::Get, &b""[..], &b""[..])
            );
        }
    }
}

#[test]
fn a_redirection_makes_a_page_of_a_change_only_where_its_status_says_so() {
    for (method, asked_for) in [
        (Method::Get, [Method::Get; 5]),
        (Method::Put, [Method::Put, Method::Put, Method::Get, Method::Put, Method::Put]),
        (
            Method::Delete,
            [Method::Delete, Method::Delete, Method::Get, Method::Delete, Method::Delete],
        ),
    ] {
        let mut request = Request::to(0, b"/here");
        request.method = method;
        let there =
            [301, 302, 303, 307, 308].map(|status| request.sent_on(status, b"/there").method);
        assert_eq!(there, asked_for, "{}", method.name());
    }
}

#[test]
fn a_reply_that_sends_a_user_to_another_site_is_not_followed() {
    let script = script(r#"[["item", 1]]"#, "{}");
    let mut user = User::new(&script, 1, 0);
    assert!(!user.sent_on(&script, 302, b"http://elsewhere:8080/there"));
    assert_eq!(target(&user), "/home");
}

#[test]
fn a_reply_leads_to_another_server_of_the_system_and_back() {
    let servers = BTreeMap::from([("api".to_owned(), vec!["api:8000".to_owned()])]);
    let script = script(r#"[["item", 1]]"#, "{}");
    let script = script.with_servers(&servers).expect("no state names a server");
    let mut user = User::new(&script, 1, 0);
    for (location, at, server) in [
        ("http://api:8000/there?x=1", "/there?x=1", 1),
        ("on", "/on", 1),
        ("http://here:8080/back", "/back", 0),
    ] {
        assert!(user.sent_on(&script, 302, location.as_bytes()), "{location}");
        assert_eq!(target(&user), at);
        assert_eq!(user.request().server, server, "{location}");
    }
    assert!(!user.sent_on(&script, 302, b"http://elsewhere:8000/there"));
}

/// Sessions begin at one of two pages; from there a link is followed.
fn followers() -> Script {
    let page = r#""path": "/", "follow": {"states": [["/cart", "/cart"]]}"#;
    let json = format!(
        r#"{{
        "name": "test", "home": "start",
        "states": [
            {{"name": "start", "path": "/", "rest": [{{"row": "target"}}],
              "row": {{"columns": ["target"], "rows": [["a?x=1"], ["cart"]], "weights": [1, 1],
                       "states": ["start", "/cart"]}}}},
            {{"name": "/cart", {page}}},
            {{"name": "other", {page}}}
        ],
        "sessions": [{{"name": "all", "share": 1, "identity": {{"numbers": [1, 1], "values": {{}}}},
            "transitions": {{"start": [["other", 1]], "/cart": [["End", 1]], "other": [["End", 1]]}}}}]
    }}"#
    );
    let workload: Workload = serde_json::from_str(&json).expect("the test's JSON is well formed");
    assert_eq!(crate::check::workload(&workload), Ok(()));
    Script::new(workload, vec!["here:80".into()])
}

#[test]
fn what_is_drawn_is_of_the_state_of_its_row() {
    let script = followers();
    let name = |user: &User| script.workload.states[usize::from(user.operation())].name.clone();
    let mut carts = 0;
    for number in 0..400 {
        let mut user = User::new(&script, 1, number);
        let cart = target(&user) == "/cart";
        assert_eq!(name(&user), if cart { "/cart" } else { "start" }, "{}", target(&user));
        assert_eq!(user.request().state, user.operation());
        carts += usize::from(cart);
        let next = see(&mut user, &script, "<a href='/b'>b</a>");
        // The cart's column ends the session.
        assert_eq!((user.session(), next == "/b"), if cart { (2, false) } else { (1, true) });
    }
    // Standard error: sqrt(400) / 2 = 10.
    assert!((150..=250).contains(&carts), "{carts}");
}

#[test]
fn a_link_that_says_the_site_s_own_host_is_followed() {
    let script = followers();
    let mut user = User::new(&script, 1, 0);
    while target(&user) != "/a?x=1" {
        user.decide(&script, Outcome::Failed);
    }
    let page = "<a href='http://elsewhere/b'>no</a><a href='http://here/cart?y=1'>cart</a>";
    assert_eq!(see(&mut user, &script, page), "/cart?y=1");
    assert_eq!(user.operation(), script.workload.state("/cart").expect("it is there"));
}

#[test]
fn what_a_page_smuggles_into_a_link_stays_in_the_request_line() {
    let script = script(r#"[["item", 1]]"#, "{}");
    let mut user = User::new(&script, 1, 0);
    see(&mut user, &script, "");
    let page = "<a href=\"/item?id=1 HTTP/1.1\r\nHost: elsewhere\">x</a>";
    assert_eq!(see(&mut user, &script, page), "/item?id=1%20HTTP/1.1%0D%0AHost:%20elsewhere");
}

#[test]
fn shares_of_session_kinds_hold_in_any_run_of_users() {
    let mut workload = script("[]", "{}").workload;
    workload.sessions[0].share = 0.9;
    let mut few = script("[]", "{}").workload;
    few.sessions[0].share = 0.1;
    workload.sessions.push(few.sessions.remove(0));
    let script = Script::new(workload, Vec::new());
    for first in [0, 1000, 123_456] {
        let second = (first..first + 1000).filter(|user| script.kind_of(*user) == 1).count();
        assert!((98..=102).contains(&second), "{second} of 1000 from {first}");
    }
}
