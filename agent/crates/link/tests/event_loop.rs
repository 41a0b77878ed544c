//! Links of an event loop's calls against the truth of a simulated one: a thread that takes message
//! after message, in the order in which they came, and sends what follows from each.

#![allow(clippy::unwrap_used)]

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tierlab_link::{Linker, Span, Survey, Topology, Visit};

const APP: u16 = 0;
const CACHE: u16 = 1;
const DB: u16 = 2;
const US: i64 = 1_000;

/// By page, its steps: the labels that are asked for at once.
const PAGES: [&[&[u32]]; 4] = [&[&[10]], &[&[11], &[20]], &[&[10, 11], &[20, 21], &[12]], &[]];

fn topology() -> Topology {
    let calls = BTreeMap::from([("app".to_owned(), vec!["cache".to_owned(), "db".to_owned()])]);
    Topology::new(&calls).unwrap().with_event_loops(&["app".to_owned()])
}

/// A request's page, and how far it has come.
struct Request {
    page: usize,
    arrival_ns: i64,
    step: usize,
    unanswered: usize,
}

/// What a simulated loop shows, with the true parents.
struct Capture {
    visits: Vec<Visit>,
    parents: BTreeMap<i64, i64>,
}

/// When a crowd comes.
const CROWD_NS: i64 = 100_000 * US;

/// So many requests, as many of them under way at once as there are users, who never think, and a
/// crowd who come together and ask once.
fn capture(seed: u64, users: usize, requests: usize, crowd: usize) -> Capture {
    let mut random = StdRng::seed_from_u64(seed);
    let mut queue: BinaryHeap<Reverse<(i64, i64)>> = BinaryHeap::new();
    let mut open: BTreeMap<i64, Request> = BTreeMap::new();
    let (mut visits, mut parents) = (Vec::new(), BTreeMap::new());
    let (mut number, mut now_ns) = ((requests + crowd) as i64, 0);
    let mut connections = vec![0_i64; 200 + 2 * crowd];
    let mut begin = |at_ns: i64, open: &mut BTreeMap<i64, Request>, queue: &mut BinaryHeap<_>| {
        let visit = open.last_key_value().map_or(0, |it| it.0 + 1);
        let page = random.random_range(0..PAGES.len());
        open.insert(visit, Request { page, arrival_ns: at_ns, step: 0, unanswered: 0 });
        queue.push(Reverse((at_ns, visit)));
    };
    let mut pauses = StdRng::seed_from_u64(seed + 1);
    (0..users).for_each(|user| begin(user as i64 * 3_000 * US, &mut open, &mut queue));
    (0..crowd).for_each(|one| begin(CROWD_NS + one as i64 * US, &mut open, &mut queue));
    let mut done = 0;
    while let Some(Reverse((at_ns, visit))) = queue.pop() {
        now_ns = at_ns.max(now_ns) + pauses.random_range(30..60) * US;
        let request = open.get_mut(&visit).unwrap();
        request.unanswered = request.unanswered.saturating_sub(1);
        if request.unanswered > 0 {
            continue;
        }
        if let Some(labels) = PAGES[request.page].get(request.step) {
            request.step += 1;
            for &label in *labels {
                request.unanswered += 1;
                now_ns += 20 * US;
                number += 1;
                let server = if label < 20 { CACHE } else { DB };
                let took_us = if label < 20 { 25..60 } else { 150..900 };
                let took_ns = pauses.random_range(took_us) * US;
                let free = connections.iter().position(|&until_ns| until_ns <= now_ns).unwrap();
                let connection = if label < 20 { 1_000 } else { free as i64 };
                if label >= 20 {
                    connections[free] = now_ns + took_ns;
                }
                parents.insert(number, visit);
                visits.push(seen(number, (server, connection), label, (now_ns, now_ns + took_ns)));
                queue.push(Reverse((now_ns + took_ns, visit)));
            }
            continue;
        }
        now_ns += 20 * US;
        let span = (request.arrival_ns, now_ns);
        visits.push(seen(visit, (APP, 2_000 + visit), request.page as u32, span));
        if (users..users + crowd).contains(&(visit as usize)) {
            continue;
        }
        done += 1;
        if done + users <= requests {
            begin(now_ns + 100 * US, &mut open, &mut queue);
        }
        if open.last_key_value().is_some_and(|it| *it.0 != visit) {
            open.remove(&visit);
        }
    }
    visits.sort_by_key(|visit| visit.ended_ns);
    Capture { visits, parents }
}

fn seen(
    visit: i64,
    (server, connection): (u16, i64),
    label: u32,
    (arrival_ns, departure_ns): (i64, i64),
) -> Visit {
    Visit {
        visit,
        server,
        protocol: 0,
        lent: server == DB,
        connection,
        span: Span { arrival_ns, departure_ns },
        ended_ns: departure_ns,
        request_end_ns: arrival_ns,
        reply_start_ns: Some(departure_ns),
        closed_ns: None,
        may_wait_ns: None,
        label,
        status: Some(0),
        bytes_in: 10,
        bytes_out: 100,
        upstream: None,
        id: None,
        literals: Box::default(),
        endpoints: 0,
        work: None,
    }
}

/// Shares of the calls, and of the links with a confidence of 0.9 and more.
struct Judgement {
    right: f64,
    wrong: f64,
    right_of_sure: f64,
}

fn judge(capture: &Capture) -> Judgement {
    let survey = Survey { beginning: capture.visits.clone(), middle: Vec::new() };
    let loops = survey.loops(&topology(), true);
    let ways = survey.ways(&topology(), true);
    let mut linker = Linker::new(topology(), ways, 60_000_000_000).with_loops(loops);
    capture.visits.iter().for_each(|visit| linker.push(visit.clone()));
    linker.finish();
    let decided = linker.decided();
    assert_eq!(decided.len(), capture.visits.len(), "every visit comes out once");
    let (mut right, mut wrong, mut sure, mut right_of_sure) = (0.0, 0.0, 0.0, 0.0);
    for (visit, link) in decided {
        let Some(&parent) = capture.parents.get(&visit.visit) else { continue };
        let Some(link) = link else { continue };
        let is_right = f64::from(u8::from(link.parent == parent));
        right += is_right;
        wrong += 1.0 - is_right;
        if link.confidence >= 0.9 {
            sure += 1.0;
            right_of_sure += is_right;
        }
    }
    let all = capture.parents.len() as f64;
    Judgement { right: right / all, wrong: wrong / all, right_of_sure: right_of_sure / sure }
}

#[test]
fn calls_are_given_to_the_requests_whose_turn_it_was() {
    // Users who never think: of ten, some 3 % are wrong, where real ones had less than 1 %.
    for (users, least, most) in [(1, 0.999, 0.0), (10, 0.9, 0.04), (40, 0.25, 0.02)] {
        for seed in 0..2 {
            let Judgement { right, wrong, right_of_sure } = judge(&capture(seed, users, 1_500, 0));
            println!("{users} users, seed {seed}: {right:.4} {wrong:.4} {right_of_sure:.4}");
            assert!(right >= least, "{users} users, seed {seed}: {right}");
            assert!(wrong <= most, "{users} users, seed {seed}: {wrong}");
            assert!(right_of_sure >= 0.95, "{users} users, seed {seed}: {right_of_sure}");
        }
    }
}

#[test]
fn what_a_crowd_sent_has_no_parent_and_what_is_sent_after_it_has() {
    for seed in 0..2 {
        let Judgement { right, wrong, right_of_sure } = judge(&capture(seed, 5, 1_500, 1_000));
        println!("seed {seed}: {right:.4} {wrong:.4} {right_of_sure:.4}");
        assert!((0.5..0.75).contains(&right), "seed {seed}: {right}");
        assert!(wrong <= 0.02, "seed {seed}: {wrong}");
        assert!(right_of_sure >= 0.95, "seed {seed}: {right_of_sure}");
    }
}
