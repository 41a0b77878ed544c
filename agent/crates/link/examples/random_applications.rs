//! Links the calls of applications drawn at random and prints how many links are right.
//!
//! `random_applications FIRST COUNT STEP CALLS [--each] [--by-truth]`: the seeds, and the calls of each
//! application. With `--by-truth` inference knows how the applications behave, from the true parents.

#[path = "../tests/random/mod.rs"]
mod random;

use random::judgement::{Judgement, application, captured, judged, nearest_load};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|it| it.parse::<u64>().ok());
    let (Some(first), Some(count), Some(step), Some(calls)) =
        (number(0), number(1), number(2), number(3))
    else {
        eprintln!("give FIRST COUNT STEP CALLS");
        std::process::exit(2);
    };
    let by_truth = words.iter().any(|it| it == "--by-truth");
    let each = words.iter().any(|it| it == "--each");
    let mut loads = [Judgement::default(), Judgement::default(), Judgement::default()];
    for seed in (0..count).map(|at| first + at * step) {
        let it = application(seed);
        let capture = captured(&it, seed, calls as usize);
        let began = std::time::Instant::now();
        let judgement = judged(&it, &capture, by_truth);
        if each {
            println!(
                "seed {seed}: {:.1} under way, {} calls, linked {:.3} wrong {:.4}; {} backends, \
                 literals {}, background {}, {:.1} s",
                capture.under_way,
                judgement.calls,
                judgement.linked_share(),
                judgement.wrong_share(),
                it.tiers.len() - 1,
                it.literals,
                it.background.len(),
                began.elapsed().as_secs_f64(),
            );
        }
        loads[nearest_load(&capture)].add(&judgement);
    }
    let mut all = Judgement::default();
    loads.iter().for_each(|it| all.add(it));
    let shares = |it: &Judgement| {
        serde_json::json!({
            "calls": it.calls, "linked": it.linked_share(), "wrong": it.wrong_share(),
        })
    };
    let tenths: Vec<_> = (all.tenths.iter())
        .map(|&(links, stated, right)| {
            let of = |it: f64| (links > 0).then(|| it / links as f64);
            serde_json::json!({"links": links, "stated": of(stated), "right": of(right as f64)})
        })
        .collect();
    let line = serde_json::json!({
        "applications": count,
        "all": shares(&all),
        "by_load": {
            "1": shares(&loads[0]), "10": shares(&loads[1]), "100": shares(&loads[2]),
        },
        "tenths": tenths,
    });
    println!("{line}");
}
