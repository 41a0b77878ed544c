//! Inference against the truth of a simulated system: what it gets right at 200 concurrent
//! requests, what is left where the evidence is taken away, and what its confidence is worth.

mod system;

use std::collections::{BTreeMap, BTreeSet};
use system::{APP, Capture, LB, Setting, WEB, capture, topology};
use tierlab_link::{Link, Linker, Span, Survey, Visit};

const WINDOW_NS: i64 = 60_000_000_000;

/// The links that a linker finds without ids.
fn infer(capture: &Capture) -> BTreeMap<i64, Option<Link>> {
    let hidden = |visit: &Visit| Visit { id: None, ..visit.clone() };
    let survey = Survey {
        beginning: capture.visits.iter().take(30_000).map(hidden).collect(),
        middle: Vec::new(),
    };
    let mut linker = Linker::new(topology(), survey.ways(&topology(), true), WINDOW_NS);
    capture.visits.iter().map(hidden).for_each(|visit| linker.push(visit));
    linker.finish();
    let decided = linker.decided();
    assert_eq!(decided.len(), capture.visits.len(), "every visit comes out once");
    decided.into_iter().map(|(visit, link)| (visit.visit, link)).collect()
}

/// Every link that can be judged: of visits whose parent was captured.
struct Verdicts(Vec<(Option<Link>, bool)>);

impl Verdicts {
    fn of(capture: &Capture, links: &BTreeMap<i64, Option<Link>>, server: u16) -> Self {
        let known: BTreeSet<i64> = capture.visits.iter().map(|visit| visit.visit).collect();
        let judged =
            capture.visits.iter().filter(|visit| visit.server == server).filter_map(|it| {
                let truth = capture.parents[&it.visit];
                let link = links[&it.visit];
                known
                    .contains(&truth)
                    .then(|| (link, link.is_some_and(|link| link.parent == truth)))
            });
        Self(judged.collect())
    }

    fn share(&self, which: impl Fn(&(Option<Link>, bool)) -> bool) -> f64 {
        self.0.iter().filter(|it| which(it)).count() as f64 / self.0.len() as f64
    }

    fn right(&self) -> f64 {
        self.share(|&(_, right)| right)
    }

    fn wrong(&self) -> f64 {
        self.share(|&(link, right)| link.is_some() && !right)
    }
}

/// Simulates, infers and prints; the verdicts on web-app and on app-lb.
fn judge(name: &str, setting: Setting) -> (Verdicts, Verdicts) {
    let capture = capture(setting);
    let links = infer(&capture);
    let both = [APP, LB].map(|server| Verdicts::of(&capture, &links, server));
    let [app, lb] = both;
    println!(
        "{name}: {} visits at {:.0} requests under way; right and false: web-app {:.4} {:.4}, \
         app-lb {:.4} {:.4}",
        capture.visits.len(),
        capture.concurrency,
        app.right(),
        app.wrong(),
        lb.right(),
        lb.wrong()
    );
    (app, lb)
}

#[test]
fn two_hundred_concurrent_requests() {
    let (app, lb) = judge("200 users", Setting::default());
    assert!(app.right() >= 0.95 && lb.right() >= 0.95);
    assert!(app.wrong() <= 0.05 && lb.wrong() <= 0.05);
}

#[test]
fn few_requests_leave_nothing_to_guess() {
    let (app, lb) = judge("5 users", Setting { users: 5, ..Setting::default() });
    assert!(app.right() >= 0.99 && lb.right() >= 0.99);
}

#[test]
fn pools_of_other_sizes_and_orders() {
    let settings = [
        ("pool of 200", Setting { pool: 200, threads: 200, ..Setting::default() }),
        ("25 threads", Setting { threads: 25, pool: 20, ..Setting::default() }),
        ("first in, first out", Setting { lifo: false, ..Setting::default() }),
    ];
    for (name, setting) in settings {
        let (app, lb) = judge(name, setting);
        assert!(app.right() >= 0.94 && lb.right() >= 0.95, "{name}");
    }
}

/// A server that closes kept connections leaves requests without an answer, which are asked again.
#[test]
fn unanswered_requests_are_no_candidates() {
    let mut capture = capture(Setting::default());
    let mut visits = Vec::new();
    for (turn, visit) in capture.visits.drain(..).enumerate() {
        let at_ns = visit.ended_ns;
        let refused = (turn % 3 == 0 && visit.server == WEB).then(|| Visit {
            visit: -visit.visit,
            connection: -visit.connection,
            span: Span { arrival_ns: at_ns, departure_ns: i64::MAX },
            request_end_ns: at_ns,
            reply_start_ns: None,
            ..visit.clone()
        });
        visits.push(visit);
        visits.extend(refused);
    }
    capture.visits = visits;
    let links = infer(&capture);
    let app = Verdicts::of(&capture, &links, APP);
    println!("unanswered requests: web-app {:.4} {:.4}", app.right(), app.wrong());
    assert!(app.right() >= 0.95 && app.wrong() <= 0.05);
}

/// Two connections never rest: no pause parts one lease from the next.
#[test]
fn a_pool_that_never_rests() {
    let (app, lb) = judge("pool of 2", Setting { pool: 2, ..Setting::default() });
    assert!(app.right() >= 0.95 && lb.right() >= 0.9);
}

/// Where identical requests overlap and nothing tells them apart but time, no passive method can
/// be right for sure: it says how unsure it is.
#[test]
fn without_literals_it_says_how_unsure_it_is() {
    let (_, lb) = judge("no literals", Setting { literals: false, ..Setting::default() });
    let stated: f64 = lb.0.iter().map(|(link, _)| link.map_or(0.0, |link| link.confidence)).sum();
    assert!(lb.right() >= 0.8);
    assert!((stated / lb.0.len() as f64 - lb.right()).abs() < 0.1);
}

/// Where requests wait for connections, one is used again just when its holder replies: that tells
/// identical requests apart.
#[test]
fn a_connection_lent_again_tells_whose_it_was() {
    let setting = Setting { literals: false, keeps: true, pool: 30, ..Setting::default() };
    let (_, lb) = judge("lent again", setting);
    assert!(lb.right() >= 0.97 && lb.wrong() <= 0.03);
}

/// Nothing but one page: its statements' order cannot be told from their repetition. It is silent
/// rather than wrong.
#[test]
fn where_every_page_is_the_same_it_is_silent() {
    let setting =
        Setting { only_page: Some(7), literals: false, seconds: 6.0, ..Setting::default() };
    let (_, lb) = judge("one page", setting);
    assert!(lb.wrong() <= 0.1);
}

/// The reliability table: of the links with a confidence about c, about c are right.
#[test]
fn confidence_is_calibrated() {
    let setting = Setting { literals: false, ..Setting::default() };
    let (_, lb) = judge("calibration", setting);
    let mut error = 0.0;
    println!("confidence   links  stated  right");
    for low in [0.0, 0.5, 0.6, 0.7, 0.8, 0.9] {
        let high = if low == 0.0 { 0.5 } else { low + 0.1 };
        let chosen: Vec<(f64, bool)> = (lb.0.iter())
            .filter_map(|&(link, right)| link.map(|link| (link.confidence, right)))
            .filter(|&(stated, _)| stated >= low && (stated < high || low == 0.9))
            .collect();
        let count = chosen.len() as f64;
        let stated = chosen.iter().map(|it| it.0).sum::<f64>() / count.max(1.0);
        let right = chosen.iter().filter(|it| it.1).count() as f64 / count.max(1.0);
        println!("{low:.1} to {high:.1}  {count:6}   {stated:.3}  {right:.3}");
        error += count * (stated - right).abs();
    }
    let error = error / lb.0.len() as f64;
    println!("expected calibration error {error:.3}");
    assert!(error <= 0.1);
}

#[test]
fn the_self_check_measures_what_a_comparison_with_the_truth_measures() {
    let capture = capture(Setting::default());
    let links = infer(&capture);
    let survey = Survey { beginning: capture.visits.clone(), middle: Vec::new() };
    let checks = survey.check(&topology(), WINDOW_NS);
    for (pair, server) in [(0, APP), (1, LB)] {
        let truth = Verdicts::of(&capture, &links, server).right();
        let check = checks[pair].expect("the visits carry ids");
        assert!((check.right - truth).abs() < 0.02, "{check:?} against {truth}");
    }
    assert_eq!(checks[2], None, "databases are linked by their connections");
}
