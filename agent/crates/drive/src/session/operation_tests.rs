//! Operations of several pages, sessions that log in and out, forms with files: no socket, no clock.

use super::*;
use crate::embedded;
use crate::flight::Resource;
use crate::render;
use crate::rules::Rules;
use crate::workload::Workload;

/// A calendar of events: home -> login or event -> ... with every part that an operation may have.
fn script() -> Script {
    ruled(|_| ())
}

/// The same, with rules changed.
fn ruled(change: impl FnOnce(&mut Rules)) -> Script {
    let mut workload: Workload = serde_json::from_str(
        r#"{
        "name": "calendar", "home": "home",
        "states": [
            {"name": "home", "path": "/home", "resources": ["/a.css", "/b.js"],
             "images": {"contains": "file?"},
             "extract": [{"name": "event", "after": "?event=", "until": "\"", "which": "any"}]},
            {"name": "login", "path": "/login", "method": "POST",
             "parameters": [{"name": "user", "from": {"identity": "name"}}],
             "before": [{"state": "logout", "when": {"logged_in": true}}],
             "after": [{"state": "welcome"}]},
            {"name": "logout", "path": "/logout", "effect": "log_out"},
            {"name": "welcome", "path": "/home", "effect": "log_in",
             "extract": [{"name": "event", "after": "?event=", "until": "\""}]},
            {"name": "event", "path": "/event", "resources": ["/b.js", "/c.png"],
             "parameters": [{"name": "event", "from": {"remembered": "event"}}],
             "after": [{"state": "attend",
                        "when": {"logged_in": true, "says": "Attend", "chance": 0.5}}]},
            {"name": "attend", "path": "/attend",
             "parameters": [{"name": "id", "from": {"remembered": "event"}}]},
            {"name": "add", "path": "/form",
             "after": [{"state": "added"}]},
            {"name": "added", "path": "/add", "method": "POST", "encoding": "multipart",
             "draw": {"from": {"unused": {"above": 100, "every": 10}}},
             "parameters": [{"name": "photo", "from": {"file": "p.jpg"}},
                            {"name": "name", "from": {"drawn": "user{drawn}"}},
                            {"name": "text", "from": {"joined": [{"letters": [3, 3]},
                                                                 {"constant": " & "},
                                                                 {"digits": 4}]}},
                            {"name": "tags", "from": {"several": {"count": [2, 5], "of": 6,
                                                      "mean": 0.1, "within": "tag{n}"}}}]}
        ],
        "sessions": [{"name": "all", "share": 1,
            "identity": {"numbers": [0, 99], "stride": 10, "values": {"name": "u{n}"}},
            "transitions": {
                "home": [["login", 1]], "login": [["event", 1]], "event": [["login", 0.5], ["add", 0.5]],
                "add": [["home", 1]]
            }}],
        "rules": {"browser": true, "redirects": "within", "cache": {"cached": 0.6, "since": "Mon, 09 Mar 2026 00:00:00 GMT"}},
        "files": [{"name": "p.jpg", "path": "p.jpg", "type": "image/jpeg"}]
    }"#,
    )
    .expect("the test's JSON is well formed");
    change(&mut workload.rules);
    assert_eq!(crate::check::workload(&workload), Ok(()));
    workload.files[0].content = b"\xff\xd8 a photo".to_vec();
    Script::new(workload, Vec::new())
}

const HOME: &str = r#"<img src="file?1"> <img src="file?1"/><img src="logo.png"><img src="file?2">
    <a href="/event?event=7">seven</a>"#;

/// What one operation asks for, page by page, each answered by `reply` of its path.
fn play(user: &mut User, script: &Script, reply: impl Fn(&str) -> &'static str) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        let target = String::from_utf8_lossy(user.request().target()).into_owned();
        user.count_sent();
        let page = Page::html(reply(&target).as_bytes());
        asked.push(target);
        user.see(script, page);
        if !user.go_on(script, page) {
            user.decide(script, Outcome::Page(page));
            return asked;
        }
    }
}

fn calendar(target: &str) -> &'static str {
    if target == "/home" { HOME } else { "Attend" }
}

#[test]
fn an_operation_is_all_of_its_pages_and_those_of_the_present_session_only() {
    let script = script();
    let mut user = User::new(&script, 1, 3);
    assert_eq!(play(&mut user, &script, calendar), ["/home"]);
    let mut attended = 0;
    let mut events = 0;
    let mut logged_in = false;
    for _ in 0..400 {
        let operation = script.workload.states[usize::from(user.operation())].name.clone();
        let session = user.session();
        let asked = play(&mut user, &script, calendar);
        match operation.as_str() {
            "login" if logged_in => {
                assert_eq!(asked, ["/logout", "/login", "/home"]);
                assert_eq!(user.session(), session + 1, "another session");
            }
            "login" => assert_eq!(asked, ["/login", "/home"]),
            "event" => {
                assert_eq!(asked[0], "/event?event=7", "the event of the last home page");
                attended += usize::from(asked.get(1).is_some_and(|page| page == "/attend?id=7"));
                events += 1;
            }
            "add" => assert_eq!(asked, ["/form", "/add"]),
            _ => assert_eq!(asked, ["/home"]),
        }
        logged_in |= operation == "login";
    }
    assert!(events > 80, "{events}");
    let share = attended as f64 / events as f64;
    assert!((share - 0.5).abs() < 5.0 * (0.25 / events as f64).sqrt(), "{share} attended");
}

#[test]
fn a_step_whose_condition_does_not_hold_is_left_out() {
    let script = script();
    let mut user = User::new(&script, 1, 3);
    play(&mut user, &script, calendar);
    play(&mut user, &script, calendar);
    for _ in 0..50 {
        let event = script.workload.states[usize::from(user.operation())].name == "event";
        // No page offers to attend.
        let asked = play(&mut user, &script, |target| if target == "/home" { HOME } else { "" });
        assert!(!event || asked == ["/event?event=7"]);
    }
}

#[test]
fn nobody_shares_a_login_or_a_new_name() {
    let script = script();
    let number = script.workload.state("added").expect("it is there");
    let mut names = Vec::new();
    for who in 0..10 {
        let mut user = User::new(&script, 1, who);
        for _ in 0..5 {
            let session = user.number;
            assert_eq!(session % 10, (who + 1) % 10, "the logins are those of user {who}");
            let request =
                render::request(&script, &mut user, number, None, b"").expect("it needs no page");
            let body = String::from_utf8_lossy(request.body()).into_owned();
            let name = body.split("name=\"name\"\r\n\r\n").nth(1).expect("a name");
            names.push(name.split("\r\n").next().expect("a line").to_owned());
        }
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 50, "all differ");
    assert!(names.contains(&"user101".into()) && names.contains(&"user150".into()));
}

#[test]
fn a_form_has_its_fields_as_they_are_and_ends_with_its_files() {
    let script = script();
    let number = script.workload.state("added").expect("it is there");
    let mut user = User::new(&script, 1, 0);
    let request = render::request(&script, &mut user, number, None, b"").expect("it needs no page");
    let body = [request.body(), script.tail(&request)].concat();
    let text = String::from_utf8_lossy(&body).into_owned();
    let boundary = format!("--{}", crate::upload::BOUNDARY);
    let parts: Vec<&str> = text.split(&boundary).collect();
    assert_eq!(parts.len(), 6, "{text}");
    assert_eq!((parts[0], parts[5]), ("", "--\r\n"));
    assert!(parts[2].contains(" & "), "nothing is encoded: {}", parts[2]);
    let tags: Vec<&str> = parts[3].trim_end().lines().last().expect("tags").split(' ').collect();
    let mut unique = tags.clone();
    unique.sort_unstable();
    unique.dedup();
    assert!(unique.len() == tags.len() && (2..=5).contains(&tags.len()), "{tags:?}");
    assert!(
        parts[4].contains("name=\"photo\"; filename=\"p.jpg\"\r\nContent-Type: image/jpeg\r\n")
    );
    assert!(body.windows(10).any(|bytes| bytes == b"\xff\xd8 a photo"));
}

#[test]
fn what_is_remembered_goes_with_the_session_unless_the_rules_keep_it() {
    for kept in [false, true] {
        let script = ruled(|rules| rules.keep_remembered = kept);
        let mut user = User::new(&script, 1, 3);
        play(&mut user, &script, calendar);
        user.renew(&script);
        assert_eq!(user.remembered(&script, "event"), kept.then_some(b"7".as_slice()));
    }
}

/// The rules with a cache that has the files of so large a share of the sessions.
fn cached(share: f64) -> impl FnOnce(&mut Rules) {
    move |rules| rules.cache.as_mut().expect("it is there").cached = share
}

#[test]
fn files_from_before_are_asked_for_with_each_page_in_case_they_have_changed() {
    let script = ruled(cached(1.0));
    let mut user = User::new(&script, 1, 0);
    let page = Page::html(HOME.as_bytes());
    assert_eq!(embedded::of_page(&script, &mut user, page).1.len(), 4, "two files, two images");
    let (named, mut again) = embedded::of_page(&script, &mut user, page);
    again.reverse();
    assert_eq!((named, again), (2, vec![Resource::Static(0), Resource::Static(1)]), "no image");
}

#[test]
fn what_the_cache_has_is_not_fetched_again_in_the_session() {
    let script = ruled(cached(0.0));
    let mut user = User::new(&script, 1, 0);
    let page = Page::html(HOME.as_bytes());
    let image = |path: &str| Resource::Image(path.as_bytes().into());
    let (named, mut found) = embedded::of_page(&script, &mut user, page);
    found.reverse();
    let all = [Resource::Static(0), Resource::Static(1), image("/file?1"), image("/file?2")];
    assert_eq!((named, found), (2, all.to_vec()), "files first, each image once");
    assert_eq!(embedded::of_page(&script, &mut user, page), (2, Vec::new()));
    user.renew(&script);
    assert_eq!(embedded::of_page(&script, &mut user, page).1.len(), 4, "another session");
}

/// What is fetched of an event's page, and how many images it names.
fn of_event(script: &Script, page: &str) -> (i32, Vec<Resource>) {
    let mut user = User::new(script, 1, 0);
    let event = script.workload.state("event").expect("it is there");
    user.ask(event, b"/shop/event?event=7");
    let (named, mut found) = embedded::of_page(script, &mut user, Page::html(page.as_bytes()));
    found.reverse();
    (named, found)
}

#[test]
fn an_image_among_the_files_of_its_page_is_fetched_once() {
    for (cache, browser) in [(true, true), (false, true), (false, false)] {
        let script = ruled(|rules| {
            cached(0.0)(rules);
            rules.cache.take_if(|_| !cache);
            rules.browser = browser;
        });
        let page = "<img src='/c.png'><img src='../c.png#x'><img src='/d.png'>";
        let files = [Resource::Static(1), Resource::Static(2)];
        let image = Resource::Image(b"/d.png".as_slice().into());
        let (named, found) = of_event(&script, page);
        assert_eq!(named, if browser { 2 } else { 3 });
        assert_eq!(found, [&files[..], &[image]].concat());
    }
}

#[test]
fn a_browser_fetches_an_image_once_a_page_and_others_each_time() {
    let page = [&"<img src=/a.png>".repeat(300), "<img src=/b.png>"].concat();
    for (browser, most, last) in [(true, 2, b"/b.png"), (false, 256, b"/a.png")] {
        let script = ruled(|rules| (rules.browser, rules.cache) = (browser, None));
        let (named, found) = of_event(&script, &page);
        assert_eq!((named, found.len()), (most, 2 + most as usize));
        assert_eq!(found.last(), Some(&Resource::Image(last.as_slice().into())));
    }
}

#[test]
fn images_that_are_left_out_are_neither_named_nor_fetched() {
    let mut script = script();
    let event = script.workload.state("event").expect("it is there");
    script.workload.states[usize::from(event)].images.except = vec!["/shop/no.png?x=1&y".into()];
    let page = "<img src='no.png?x=1&amp;y'><img src='no.png'>";
    let (named, found) = of_event(&script, page);
    assert_eq!(
        (named, &found[2..]),
        (1, &[Resource::Image(b"/shop/no.png".as_slice().into())][..])
    );
}

#[test]
fn images_are_where_a_browser_finds_them() {
    let mut script = ruled(|rules| rules.cache = None);
    script.hosts = vec!["here:8080".into()];
    for (src, path) in [
        ("/images/a.gif", Some("/images/a.gif")),
        ("a b.gif", Some("/shop/a%20b.gif")),
        ("../a.gif", Some("/a.gif")),
        ("a.gif?x=1&amp;y=2#top", Some("/shop/a.gif?x=1&y=2")),
        ("a.gif?at=1:2", Some("/shop/a.gif?at=1:2")),
        ("http://here:8080/a.gif", Some("/a.gif")),
        ("//here:8080/a.gif", Some("/a.gif")),
        ("http://elsewhere/a.gif", None),
        ("//elsewhere/a.gif", None),
        ("data:image/gif;base64,AA", None),
        ("", None),
        ("#top", None),
    ] {
        let (named, found) = of_event(&script, &format!("<img src=\"{src}\">"));
        let images = path.map(|path| Resource::Image(path.as_bytes().into()));
        assert_eq!(named, i32::from(path.is_some()), "{src}");
        assert_eq!(found[2..], images.into_iter().collect::<Vec<_>>(), "{src}");
    }
    let (_, found) = of_event(&script, "<base href=/><img src=a.gif>");
    assert_eq!(found[2..], [Resource::Image(b"/a.gif".as_slice().into())]);
}

#[test]
fn what_a_reply_sends_a_user_to_is_of_the_same_state() {
    let script = script();
    let mut user = User::new(&script, 1, 0);
    let state = user.request().state;
    assert!(user.sent_on(&script, 302, b"/elsewhere"));
    assert_eq!((user.request().target(), user.request().state), (b"/elsewhere".as_slice(), state));
    assert!(user.request().is_idempotent() && script.tail(user.request()).is_empty());
}

#[test]
fn users_of_workloads_that_ask_for_nothing_keep_nothing() {
    assert!(size_of::<User>() <= 160, "{} bytes", size_of::<User>());
    let plain = r#"{"name": "plain", "home": "a", "states": [{"name": "a", "path": "/a"}],
        "sessions": [{"name": "all", "share": 1, "identity": {"numbers": [1, 1], "values": {}},
                      "transitions": {"a": [["a", 1]]}}]}"#;
    let script = Script::new(serde_json::from_str(plain).expect("well formed"), Vec::new());
    assert!(User::new(&script, 1, 0).browser().is_none());
}
