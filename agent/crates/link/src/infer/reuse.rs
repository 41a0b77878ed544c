//! When a lease's connection is used again. Where requests wait for connections, one is lent again
//! when its holder is done, and that is when its holder replies: this tells apart holders whose
//! pages are the same.
//!
//! What is usual is learned from links, and decides about links. Where few of them are sure it
//! would be its own teacher, ever surer of whatever it began with. So it is learned from sure links
//! alone, and counts by the share of leases that have one: to that power its density is taken.
//! Without a parent any moment of the next second is as likely, which is a density of 1.

use crate::infer::delay::{BUCKETS, Delay, Delays};

/// How long it usually takes from a parent's reply to the next use of its lease's connection, which
/// is negative where the connection is given back before the reply.
#[derive(Clone, Debug)]
pub struct Reuse {
    /// Of leases whose parent is sure.
    delays: Delays,
    leases: f64,
}

impl Reuse {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self { delays: Delays::new(), leases: 0.0 }
    }

    /// Sees a lease; its delay where its parent is sure and its connection was used again.
    pub fn see(&mut self, sure: Option<Delay>) {
        self.leases += 1.0;
        if let Some(delay) = sure {
            self.delays.see_at(delay.bucket.into(), 1.0);
        }
    }

    /// Forgets: what was seen weighs `factor` as much from now on.
    pub fn fade(&mut self, factor: f64) {
        self.delays.fade(factor);
        self.leases *= factor;
    }

    /// What the next uses say, worked out for every delay.
    pub fn scale(&self) -> ReuseScale {
        let trust = self.delays.weight() / self.leases.max(1.0);
        ReuseScale((0..BUCKETS).map(|at| trust * self.delays.density_at(at).ln()).collect())
    }
}

/// What [`Reuse`] says, ready to be looked up.
pub struct ReuseScale(Vec<f64>);

impl ReuseScale {
    /// The logarithm of the density of a delay, per second, as far as it is to be trusted.
    pub fn log_density(&self, delay: Delay) -> f64 {
        self.0[usize::from(delay.bucket)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much likelier 2 ms are than 50 ms, where this share of 1,000 leases took 2 ms.
    fn told_apart(share: f64) -> f64 {
        let mut it = Reuse::new();
        for n in 0..1_000 {
            it.see((f64::from(n) < share * 1_000.0).then(|| Delay::new(2_000_000)));
        }
        let scale = it.scale();
        scale.log_density(Delay::new(2_000_000)) - scale.log_density(Delay::new(50_000_000))
    }

    #[test]
    fn it_counts_by_the_share_of_sure_links() {
        assert!(told_apart(0.9) > 8.0);
        assert!(told_apart(0.01) < 0.2);
        assert!(told_apart(0.0).abs() < 0.1, "a flat prior");
    }
}
