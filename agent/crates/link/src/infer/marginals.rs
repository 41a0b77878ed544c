//! Who is whose, jointly: the marginal probabilities of a random matching of leases to parents.
//!
//! A lease has one parent or none, a parent one lease or none; a matching is as likely as the
//! product of its edges' and its unmatched nodes' weights. The marginals come from belief
//! propagation, whose fixed point minimises the Bethe free energy and which converges for
//! matchings (Vontobel, "The Bethe Permanent of a Nonnegative Matrix", IEEE Trans. Inf. Theory,
//! 2013; Huang and Jebara, "Approximating the Permanent with Belief Propagation", 2009).

const ROUNDS: usize = 40;
/// Messages that change by no more than this share have converged.
const CLOSE: f64 = 1e-3;
const LARGEST: f64 = 1e15;

/// A lease's possible parents.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Where each lease's edges begin in `parents`; one more at the end.
    offsets: Vec<usize>,
    parents: Vec<u32>,
    weights: Vec<f64>,
    /// The weight of having no parent, by lease.
    alone: Vec<f64>,
}

impl Edges {
    /// No leases yet.
    pub fn new() -> Self {
        Self { offsets: vec![0], ..Self::default() }
    }

    /// Adds a lease: its possible parents with the logarithms of their weights, and that of having
    /// none.
    pub fn lease(&mut self, candidates: &[(u32, f64)], log_alone: f64) {
        let highest = candidates.iter().map(|&(_, log)| log).fold(log_alone, f64::max);
        for &(parent, log) in candidates {
            self.parents.push(parent);
            self.weights.push((log - highest).exp());
        }
        self.alone.push((log_alone - highest).exp());
        self.offsets.push(self.parents.len());
    }

    /// The edges of a lease, as a range of all edges.
    pub fn of(&self, lease: usize) -> std::ops::Range<usize> {
        self.offsets[lease]..self.offsets[lease + 1]
    }

    fn leases(&self) -> usize {
        self.alone.len()
    }
}

/// The probability of each edge. `childless` is each parent's weight of having no lease, over that
/// of having one; `free` the probability that it is still to have.
pub fn marginals(edges: &Edges, childless: &[f64], free: &[f64]) -> Vec<f64> {
    let count = edges.parents.len();
    let mut up = vec![0.0; count];
    let mut down: Vec<f64> = edges.parents.iter().map(|&p| free[p as usize]).collect();
    let mut sums = vec![0.0; childless.len()];
    for _round in 0..ROUNDS {
        for lease in 0..edges.leases() {
            let range = edges.of(lease);
            let whole: f64 =
                edges.alone[lease] + range.clone().map(|e| edges.weights[e] * down[e]).sum::<f64>();
            for e in range {
                let others = (whole - edges.weights[e] * down[e]).max(1e-300);
                up[e] = (edges.weights[e] / others).min(LARGEST);
            }
        }
        sums.fill(0.0);
        for e in 0..count {
            sums[edges.parents[e] as usize] += up[e];
        }
        let mut change = 0.0_f64;
        for e in 0..count {
            let parent = edges.parents[e] as usize;
            let others = (sums[parent] - up[e]).max(0.0) + childless[parent];
            let next = free[parent] / others.max(1e-300);
            change = change.max((next - down[e]).abs() / down[e]);
            down[e] = next;
        }
        if change < CLOSE {
            break;
        }
    }
    let mut beliefs = vec![0.0; count];
    for lease in 0..edges.leases() {
        let range = edges.of(lease);
        let whole: f64 =
            edges.alone[lease] + range.clone().map(|e| edges.weights[e] * down[e]).sum::<f64>();
        for e in range {
            beliefs[e] = edges.weights[e] * down[e] / whole.max(1e-300);
        }
    }
    beliefs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact marginals, by trying every matching: lease after lease takes a parent or none.
    fn exact(weights: &[Vec<f64>], alone: &[f64], childless: &[f64]) -> Vec<Vec<f64>> {
        let none = childless.len();
        let mut sums = vec![vec![0.0; none]; weights.len()];
        let mut total = 0.0;
        for number in 0..(none + 1).pow(weights.len() as u32) {
            let digit = |lease: usize| number / (none + 1).pow(lease as u32) % (none + 1);
            let choice: Vec<usize> = (0..weights.len()).map(digit).collect();
            let times = |parent: usize| choice.iter().filter(|&&it| it == parent).count();
            if (0..none).any(|parent| times(parent) > 1) {
                continue;
            }
            let leases = choice.iter().enumerate().map(|(lease, &parent)| {
                if parent == none { alone[lease] } else { weights[lease][parent] }
            });
            let parents = (0..none).filter(|&p| times(p) == 0).map(|p| childless[p]);
            let weight: f64 = leases.chain(parents).product();
            total += weight;
            for (lease, &parent) in choice.iter().enumerate().filter(|&(_, &p)| p != none) {
                sums[lease][parent] += weight;
            }
        }
        sums.iter().map(|row| row.iter().map(|sum| sum / total).collect()).collect()
    }

    fn approximate(weights: &[Vec<f64>], alone: &[f64], childless: &[f64]) -> Vec<Vec<f64>> {
        let mut edges = Edges::new();
        for (row, alone) in weights.iter().zip(alone) {
            let row: Vec<_> = row.iter().enumerate().map(|(p, w)| (p as u32, w.ln())).collect();
            edges.lease(&row, alone.ln());
        }
        let beliefs = marginals(&edges, childless, &vec![1.0; childless.len()]);
        beliefs.chunks(childless.len()).map(<[f64]>::to_vec).collect()
    }

    #[test]
    fn a_tree_is_exact() {
        let weights = [vec![3.0, 1e-300], vec![1.0, 2.0]];
        let (alone, childless) = ([0.5, 0.1], [0.2, 0.7]);
        let (truth, found) =
            (exact(&weights, &alone, &childless), approximate(&weights, &alone, &childless));
        for (truth, found) in truth.iter().flatten().zip(found.iter().flatten()) {
            assert!((truth - found).abs() < 1e-3, "{truth} {found}");
        }
    }

    #[test]
    fn a_contested_parent_goes_to_who_needs_it_most() {
        // The first lease would fit both parents; the second only the first parent.
        let weights = [vec![1.0, 0.8], vec![1.0, 1e-9]];
        let found = approximate(&weights, &[1e-6, 1e-6], &[0.01, 0.01]);
        assert!(found[0][1] > 0.99 && found[1][0] > 0.99, "{found:?}");
    }

    #[test]
    fn dense_clusters_come_near_the_truth() {
        use rand::{Rng, SeedableRng};
        let mut random = rand::rngs::StdRng::seed_from_u64(7);
        let mut errors = Vec::new();
        for _ in 0..50 {
            let weights: Vec<Vec<f64>> = (0..5)
                .map(|_| (0..6).map(|_| f64::exp(random.random_range(-4.0..4.0))).collect())
                .collect();
            let (alone, childless) = ([0.05; 5], [0.1; 6]);
            let truth = exact(&weights, &alone, &childless);
            let found = approximate(&weights, &alone, &childless);
            for (truth, found) in truth.iter().flatten().zip(found.iter().flatten()) {
                errors.push((truth - found).abs());
            }
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!(mean < 0.02, "{mean}");
    }
}
