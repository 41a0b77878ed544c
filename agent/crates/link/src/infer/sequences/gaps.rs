//! Distributions of gaps between the messages of a request, as kernel densities on a logarithmic axis.
//!
//! The bandwidth follows Silverman's rule ("Density Estimation for Statistics and Data Analysis",
//! 1986, equation 3.31), so that steady gaps stay sharp and few samples stay broad.

/// Cells to a factor of e.
const CELLS_PER_E: f64 = 16.0;
/// Cells on each side of zero.
const SIDE: usize = 256;
/// All cells.
pub const CELLS: usize = 2 * SIDE;
/// The axis is linear below this.
const UNIT_NS: f64 = 10_000.0;
/// The kernel ends after this many bandwidths.
const REACH: f64 = 3.0;
/// Silverman's factor, and what makes an interquartile range a standard deviation.
const SILVERMAN: f64 = 0.9;
const QUARTILES: f64 = 1.34;

/// The cell of a gap, below [`CELLS`].
pub fn cell(gap_ns: i64) -> usize {
    let size = gap_ns.unsigned_abs() as f64 / UNIT_NS;
    let step = ((size.ln_1p() * CELLS_PER_E) as usize).min(SIDE - 1);
    if gap_ns >= 0 { SIDE + step } else { SIDE - 1 - step }
}

/// The width of a cell in seconds.
fn width_s(cell: usize) -> f64 {
    let step = if cell >= SIDE { cell - SIDE } else { SIDE - 1 - cell } as f64;
    let edge = |step: f64| (step / CELLS_PER_E).exp_m1();
    (edge(step + 1.0) - edge(step)) * UNIT_NS * 1e-9
}

/// The share of each cell where nothing is known: a gap of any size up to a minute, seldom negative.
fn unknown(cell: usize) -> f64 {
    const LATE: f64 = 0.98;
    if cell >= SIDE { LATE / SIDE as f64 } else { (1.0 - LATE) / SIDE as f64 }
}

/// Gaps with their weights, by cell.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    cells: Vec<(u16, f32)>,
    weight: f64,
}

impl Gaps {
    /// Counts a gap.
    pub fn count(&mut self, gap_ns: i64, weight: f64) {
        let cell = cell(gap_ns) as u16;
        self.weight += weight;
        match self.cells.binary_search_by_key(&cell, |it| it.0) {
            Ok(at) => self.cells[at].1 += weight as f32,
            Err(at) => self.cells.insert(at, (cell, weight as f32)),
        }
    }

    /// The weight of all gaps.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Multiplies all weights.
    pub fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.cells.iter_mut().for_each(|it| it.1 *= factor as f32);
    }

    /// The share of each cell, smoothed.
    fn smoothed(&self) -> Vec<f64> {
        let bandwidth = self.bandwidth();
        let reach = (REACH * bandwidth).ceil() as i64;
        let kernel: Vec<f64> =
            (-reach..=reach).map(|it| (-0.5 * (it as f64 / bandwidth).powi(2)).exp()).collect();
        let whole: f64 = kernel.iter().sum::<f64>() * self.weight;
        let mut shares = vec![0.0; CELLS];
        for &(cell, weight) in &self.cells {
            for (step, factor) in (-reach..=reach).zip(&kernel) {
                let at = (i64::from(cell) + step).clamp(0, CELLS as i64 - 1) as usize;
                shares[at] += f64::from(weight) * factor / whole;
            }
        }
        shares
    }

    /// In cells, at least one.
    fn bandwidth(&self) -> f64 {
        let moment = |of: fn(f64) -> f64| -> f64 {
            self.cells.iter().map(|it| of(f64::from(it.0)) * f64::from(it.1)).sum::<f64>()
                / self.weight
        };
        let mean = moment(|cell| cell);
        let deviation = (moment(|cell| cell * cell) - mean * mean).max(0.0).sqrt();
        let quartile = |share: f64| {
            let mut left = share * self.weight;
            let cell = self.cells.iter().find(|it| {
                left -= f64::from(it.1);
                left <= 0.0
            });
            cell.map_or(0.0, |it| f64::from(it.0))
        };
        let range = (quartile(0.75) - quartile(0.25)) / QUARTILES;
        let spread = if range > 0.0 { deviation.min(range) } else { deviation };
        (SILVERMAN * spread * self.weight.max(1.0).powf(-0.2)).max(1.0)
    }
}

/// The logarithms of a density, per second, by cell.
pub type Density = Box<[f32]>;

/// The density of gaps, drawn towards each of `towards` in turn by its weight, and a little towards
/// not knowing.
pub fn density(gaps: &Gaps, towards: Option<(&Gaps, f64)>) -> Density {
    /// Weight of what is not known.
    const PRIOR: f64 = 1.0;
    let mut shares: Vec<f64> = (0..CELLS).map(|cell| PRIOR * unknown(cell)).collect();
    let mut whole = PRIOR;
    let mut add = |gaps: &Gaps, weight: f64| {
        if gaps.weight > 0.0 && weight > 0.0 {
            whole += weight;
            gaps.smoothed().iter().zip(&mut shares).for_each(|(it, sum)| *sum += weight * it);
        }
    };
    add(gaps, gaps.weight);
    if let Some((others, weight)) = towards {
        add(others, weight.min(others.weight));
    }
    let log = |(cell, share): (usize, &f64)| (share / whole / width_s(cell)).ln() as f32;
    shares.iter().enumerate().map(log).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_integrates_to_one() {
        let mut gaps = Gaps::default();
        (0..50).for_each(|n| gaps.count(1_000_000 + 10_000 * n, 1.0));
        let found = density(&gaps, None);
        let mass: f64 = (0..CELLS).map(|cell| f64::from(found[cell].exp()) * width_s(cell)).sum();
        assert!((mass - 1.0).abs() < 1e-3, "{mass}");
    }

    #[test]
    fn steady_gaps_stay_sharp() {
        let (mut steady, mut broad) = (Gaps::default(), Gaps::default());
        (0..100).for_each(|n| steady.count(1_000_000 + 1_000 * n, 1.0));
        (0..100).for_each(|n| broad.count(100_000 + 40_000 * n, 1.0));
        let at = |gaps: &Gaps, gap_ns| density(gaps, None)[cell(gap_ns)];
        assert!(at(&steady, 1_050_000) > at(&broad, 1_050_000) + 1.5);
        assert!(at(&steady, 2_000_000) < at(&broad, 2_000_000) - 3.0);
    }
}
