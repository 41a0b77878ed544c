//! The load over the time of a run, where it is not always the same: straight lines between points.

use crate::plan::Point;

/// A curve. Its times are nanoseconds since the start of the run, its levels shares of the plan's
/// `users` or rate. Before its first point and after its last the load is held.
#[derive(Clone, Debug)]
pub struct Curve(Vec<Corner>);

/// A point of the curve, and how much load there was before it.
#[derive(Clone, Copy, Debug)]
struct Corner {
    at: f64,
    level: f64,
    /// The curve's integral up to here: nanoseconds at full load.
    full: f64,
}

impl Curve {
    /// The curve through these points, in order of time; `None` of none.
    pub fn new(points: &[Point]) -> Option<Self> {
        let first = points.first()?;
        let mut corners = vec![Corner { at: 0.0, level: first.level, full: 0.0 }];
        for point in points {
            let before = corners[corners.len() - 1];
            let at = point.at_ns as f64;
            let full = before.full + (at - before.at) * (before.level + point.level) / 2.0;
            corners.push(Corner { at, level: point.level, full });
        }
        Some(Self(corners))
    }

    /// The load at a time; where it jumps, that after the jump.
    pub fn level(&self, at_ns: i64) -> f64 {
        let at = at_ns as f64;
        let next = self.0.partition_point(|corner| corner.at <= at);
        match (self.0.get(next.saturating_sub(1)), self.0.get(next)) {
            (Some(from), Some(to)) => {
                from.level + (to.level - from.level) * (at - from.at) / (to.at - from.at)
            }
            (Some(last), None) => last.level,
            (None, _) => 0.0,
        }
    }

    /// When there has been so much load, in nanoseconds at full load: the inverse of the curve's
    /// integral. Infinite where there never is.
    pub fn when(&self, full: f64) -> f64 {
        let next = self.0.partition_point(|corner| corner.full <= full);
        let from = self.0[next.saturating_sub(1)];
        let rest = full - from.full;
        let slope = match self.0.get(next) {
            Some(to) => (to.level - from.level) / (to.at - from.at),
            None if from.level == 0.0 => return f64::INFINITY,
            None => 0.0,
        };
        // The root of level·t + slope·t²/2 = rest, in the form that loses no digits.
        let root = (from.level * from.level + 2.0 * slope * rest).max(0.0).sqrt();
        let below = from.level + root;
        if below > 0.0 { from.at + 2.0 * rest / below } else { from.at }
    }

    /// When the load has been at `least` or above for `time_ns` since `from_ns`; `None` when it
    /// never will have been.
    pub fn after(&self, least: f64, from_ns: i64, time_ns: i64) -> Option<i64> {
        let from = from_ns as f64;
        let mut left = time_ns as f64;
        let first = self.0.partition_point(|corner| corner.at <= from).saturating_sub(1);
        for pair in self.0[first..].windows(2) {
            let Some((start, end)) = above(least, pair[0], pair[1]) else { continue };
            let start = start.max(from);
            if end >= start {
                if left < end - start {
                    return Some((start + left).ceil() as i64);
                }
                left -= end - start;
            }
        }
        let last = self.0.last()?;
        (last.level >= least).then(|| (last.at.max(from) + left).ceil() as i64)
    }
}

/// The part of the line between two points that lies at `least` or above.
fn above(least: f64, from: Corner, to: Corner) -> Option<(f64, f64)> {
    let crossing = || from.at + (to.at - from.at) * (least - from.level) / (to.level - from.level);
    match (from.level >= least, to.level >= least) {
        (true, true) => Some((from.at, to.at)),
        (false, true) => Some((crossing(), to.at)),
        (true, false) => Some((from.at, crossing())),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(i64, f64)]) -> Curve {
        let points: Vec<Point> =
            points.iter().map(|(at_ns, level)| Point { at_ns: *at_ns, level: *level }).collect();
        Curve::new(&points).expect("there are points")
    }

    #[test]
    fn the_level_is_held_outside_and_linear_between() {
        let curve = curve(&[(100, 0.5), (200, 1.0), (200, 0.25), (300, 0.25)]);
        let levels = [0, 100, 150, 199, 200, 250, 900].map(|at| curve.level(at));
        assert_eq!(levels, [0.5, 0.5, 0.75, 0.995, 0.25, 0.25, 0.25]);
    }

    #[test]
    fn when_inverts_the_integral() {
        let curve = curve(&[(100, 0.5), (200, 1.0), (200, 0.0), (300, 0.0), (400, 0.8)]);
        // By hand: 50 up to 100, 75 more up to 200, none up to 300, 0.4 · 100 more up to 400.
        for (full, at) in [(0.0, 0.0), (25.0, 50.0), (50.0, 100.0), (165.0, 400.0), (173.0, 410.0)]
        {
            assert!((curve.when(full) - at).abs() < 1e-9, "{full}: {}", curve.when(full));
        }
        // 50 + 0.5·t + t²/400 at t = 50.
        assert!((curve.when(81.25) - 150.0).abs() < 1e-9);
        // Just after the pause: 0.004·t² = 1e-6.
        assert!((curve.when(125.0 + 1e-6) - (300.0 + (1e-6f64 / 0.004).sqrt())).abs() < 1e-3);
    }

    #[test]
    fn load_that_ends_comes_to_an_end() {
        let curve = curve(&[(0, 1.0), (100, 1.0), (100, 0.0)]);
        assert_eq!(curve.when(99.0), 99.0);
        assert_eq!(curve.when(100.5), f64::INFINITY);
        assert_eq!(curve.after(0.5, 0, 99), Some(99));
        assert_eq!(curve.after(0.5, 0, 101), None);
    }

    #[test]
    fn time_counts_only_while_the_load_is_high_enough() {
        // A triangle: at 0.5 or above from 150 to 250.
        let curve = curve(&[(100, 0.0), (200, 1.0), (300, 0.0), (400, 0.0), (500, 1.0)]);
        assert_eq!(curve.after(0.5, 0, 0), Some(150), "who is away waits");
        assert_eq!(curve.after(0.5, 160, 0), Some(160), "who is there does not");
        assert_eq!(curve.after(0.5, 160, 40), Some(200));
        assert_eq!(curve.after(0.5, 160, 91), Some(451), "the rest of it after the gap");
        assert_eq!(curve.after(0.5, 260, 700), Some(1150), "the last level is held");
    }
}
