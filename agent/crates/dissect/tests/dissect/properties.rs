//! Random conversations, damaged as networks and captures damage them, against the messages that
//! went in.
//!
//! They are the same in every run, so that a change is judged by what it changed; `make fuzz` is what
//! looks for new ones. To try others here: `PROPTEST_RNG_SEED=7 PROPTEST_CASES=200000 cargo test -p
//! tierlab-dissect --test dissect properties`.

use crate::played::{Fate, Played, plan, play};
use crate::said::mark_of;
use crate::support::{Results, STEP_NS, dissect_as_captured};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::collections::HashMap;
use tierlab_dissect::EventKind;

/// In each of three properties.
const CONVERSATIONS: u32 = 4_000;

/// Where the random numbers begin, unless PROPTEST_RNG_SEED says otherwise.
const SEED: u64 = 10;

fn config() -> Config {
    let rng_seed = RngSeed::Fixed(SEED);
    Config { cases: CONVERSATIONS, rng_seed, failure_persistence: None, ..Config::default() }
}

fn results(played: &Played) -> Results {
    dissect_as_captured(std::slice::from_ref(&played.server), &played.frames)
}

fn asked(results: &Results) -> impl Iterator<Item = &crate::support::Seen> {
    results.visits.iter().filter(|visit| visit.label != "LOGIN")
}

const REPEATED: &[(u32, Fate)] = &[(12, Fate::Captured), (2, Fate::Reordered), (2, Fate::Twice)];
const CUT: &[(u32, Fate)] = &[(1, Fate::Captured), (1, Fate::Cut)];
const LOST: &[(u32, Fate)] =
    &[(24, Fate::Captured), (2, Fate::Reordered), (2, Fate::Twice), (3, Fate::Lost)];

/// The time of a packet, or of one that was captured just behind it.
fn is_about(seen: Option<i64>, truth: i64) -> bool {
    seen.is_some_and(|seen| (truth..=truth + 2 * STEP_NS).contains(&seen))
}

proptest! {
    #![proptest_config(config())]

    /// Every message is found, with its times and sizes, and nothing else is said.
    #[test]
    fn repeated_and_reordered_packets_change_nothing(plan in plan(REPEATED)) {
        let played = play(&plan);
        let results = results(&played);
        prop_assert_eq!(asked(&results).count(), played.truth.len());
        for visit in asked(&results) {
            let truth = played.truth.get(&mark_of(plan.protocol, visit));
            prop_assert!(truth.is_some(), "{} was invented", visit.label);
            let Some(truth) = truth else { continue };
            prop_assert!(is_about(Some(visit.arrival_ns), truth.arrival_ns), "{visit:?} {truth:?}");
            prop_assert!(is_about(Some(visit.request_end_ns), truth.request_end_ns));
            prop_assert!(is_about(visit.reply_start_ns, truth.reply_start_ns));
            prop_assert!(is_about(visit.departure_ns, truth.departure_ns), "{visit:?} {truth:?}");
            prop_assert_eq!(visit.bytes, truth.bytes);
        }
        let gap = |it: &EventKind| matches!(it, EventKind::Gap { .. });
        prop_assert!(!results.happened().iter().any(gap), "{:?}", results.events);
    }

    /// A snap length leaves every message's end where it was, or untold.
    #[test]
    fn what_a_snap_length_leaves_is_true(plan in plan(CUT)) {
        let played = play(&plan);
        let results = results(&played);
        for visit in asked(&results) {
            let Some(truth) = played.truth.get(&mark_of(plan.protocol, visit)) else { continue };
            prop_assert!(is_about(Some(visit.arrival_ns), truth.arrival_ns), "{visit:?} {truth:?}");
            if visit.departure_ns.is_some() {
                prop_assert!(is_about(visit.departure_ns, truth.departure_ns), "{visit:?} {truth:?}");
            }
        }
        prop_assert_eq!(results.happened(), vec![]);
    }

    /// What was lost takes nothing with it that was captured whole, and nothing is invented.
    #[test]
    fn lost_packets_cost_no_message_but_their_own(plan in plan(LOST)) {
        let played = play(&plan);
        let results = results(&played);
        for visit in asked(&results) {
            let Some(truth) = played.truth.get(&mark_of(plan.protocol, visit)) else { continue };
            if visit.departure_ns.is_some() {
                prop_assert!(is_about(visit.departure_ns, truth.departure_ns), "{visit:?} {truth:?}");
            }
        }
        let found: HashMap<String, Option<i64>> = asked(&results)
            .map(|visit| (mark_of(plan.protocol, visit), visit.departure_ns))
            .collect();
        for (mark, truth) in played.truth.iter().filter(|(_, truth)| truth.is_whole) {
            let departure = found.get(mark).copied().flatten();
            prop_assert!(is_about(departure, truth.departure_ns), "{mark}: {found:?} {truth:?}");
        }
    }
}
