//! Links of applications drawn at random against the truth, and of faults that were reported.

mod random;

use random::application::{Application, Connections, Duration, Page, Shape, Step, Tier};
use random::judgement::{Judgement, application, captured, judged, nearest_load};

/// So many applications with so many calls each: the test takes some seconds.
const APPLICATIONS: u64 = 40;
const CALLS: usize = 250;

#[test]
fn few_links_are_wrong_and_most_calls_have_one() {
    let mut loads = [Judgement::default(), Judgement::default(), Judgement::default()];
    for seed in 1_000..1_000 + APPLICATIONS {
        let application = application(seed);
        let capture = captured(&application, seed, CALLS);
        loads[nearest_load(&capture)].add(&judged(&application, &capture, false));
    }
    let mut all = Judgement::default();
    for (load, it) in ["1", "10", "100"].iter().zip(&loads) {
        println!("{load} under way: linked {:.3} wrong {:.4}", it.linked_share(), it.wrong_share());
        all.add(it);
    }
    println!("wrong {:.4}, calibration {:.3}", all.wrong_share(), all.calibration_error(100));
    assert!(all.wrong_share() <= 0.01);
    assert!(loads[0].linked_share() >= 0.95);
    assert!(loads[1].linked_share() >= 0.65);
    assert!(all.calibration_error(100) <= 0.05);
}

fn steady(mean_us: f64) -> Duration {
    Duration { mean_us, shape: Shape::Shifted }
}

fn tier(name: &'static str, pages: Vec<Page>) -> Tier {
    let connections = Connections::Fresh;
    Tier { name, servers: 1, pages, connections, room: 2.0, lent: false, spare: 4.0 }
}

/// A threaded server asks one backend twice for a page, one call after the other, on fresh
/// connections. Of 20 users 0.4 have a request under way.
#[test]
fn two_calls_a_page_on_fresh_connections_are_linked() {
    let answer = |label| Page { label, weight: 1.0, steps: Vec::new(), last: steady(400.0) };
    let call = |page| Step {
        work: steady(600.0),
        calls: vec![(1, page)],
        kept: 1.0,
        times: 1,
        again: 0.0,
        retried: 0.0,
    };
    let page = Page { label: 0, weight: 1.0, steps: vec![call(0), call(1)], last: steady(150.0) };
    let application = Application {
        tiers: vec![tier("web", vec![page]), tier("app", vec![answer(100), answer(101)])],
        background: Vec::new(),
        literals: 0,
        under_way: 0.4,
        think: Some(49.0),
    };
    let capture = captured(&application, 1, 2_000);
    let it = judged(&application, &capture, false);
    println!("linked {:.3} wrong {:.4}", it.linked_share(), it.wrong_share());
    assert!(it.linked_share() >= 0.97, "{}", it.linked_share());
    assert!(it.wrong_share() <= 0.01, "{}", it.wrong_share());
}
