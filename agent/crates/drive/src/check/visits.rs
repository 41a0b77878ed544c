//! Whether recorded visits make sense.

use crate::plan::LONGEST_TIME_NS;
use crate::workload::Workload;

/// What is wrong with the workload's visits, if anything.
pub fn check(workload: &Workload) -> Result<(), String> {
    for (number, visit) in workload.visits.iter().enumerate() {
        let wrong = |what: String| Err(format!("visit {number}: {what}"));
        if visit.is_empty() {
            return wrong("has no request".into());
        }
        if !visit.is_sorted_by_key(|(at_ns, ..)| *at_ns) {
            return wrong("its requests must be in the order of their times".into());
        }
        for (at_ns, state, target) in visit {
            if !(0..=LONGEST_TIME_NS).contains(at_ns) {
                return wrong(format!("the time {at_ns} must be 0 to ten years"));
            }
            if workload.state(state).is_none() {
                return wrong(format!("{state:?} is not a state"));
            }
            if !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
                return wrong(format!("{target:?} is not the target of a request"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(visits: &str) -> String {
        let text = format!(
            r#"{{"name": "log", "home": "page", "states": [{{"name": "page", "path": "/"}}],
            "sessions": [], "visits": {visits}}}"#
        );
        let workload: Workload = serde_json::from_str(&text).expect("the test's JSON");
        check(&workload).err().unwrap_or_default()
    }

    #[test]
    fn what_is_wrong_with_a_visit_is_said_with_its_number() {
        assert_eq!(told(r#"[[[0, "page", "/a"], [5, "page", "/b?c"]]]"#), "");
        for (visits, expected) in [
            ("[[]]", "visit 0: has no request"),
            (r#"[[[5, "page", "/"], [0, "page", "/"]]]"#, "visit 0: its requests must be in"),
            (r#"[[[-1, "page", "/"]]]"#, "visit 0: the time -1 must be"),
            (r#"[[[0, "page", "/"]], [[0, "none", "/"]]]"#, "visit 1: \"none\" is not a state"),
            (r#"[[[0, "page", "a"]]]"#, "visit 0: \"a\" is not the target"),
            (r#"[[[0, "page", "/a b"]]]"#, "visit 0: \"/a b\" is not the target"),
        ] {
            let said = told(visits);
            assert!(said.starts_with(expected), "{visits}: {said}");
        }
    }
}
