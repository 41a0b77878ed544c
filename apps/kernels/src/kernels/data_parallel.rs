//! Data-parallel: options are priced, each for itself, in equal parts by thread. In the role of
//! PARSEC's blackscholes and swaptions.
//!
//! Source: F. Black, M. Scholes, "The pricing of options and corporate liabilities" (1973); the
//! normal distribution by M. Abramowitz, I. Stegun, "Handbook of mathematical functions" (1964),
//! 26.2.17.

use crate::checksum;
use crate::kernel::Kernel;
use crate::random::share;
use crate::team::over_parts;
use std::f64::consts::PI;

/// Spot prices, above and below today's, at which each option is priced.
const SCENARIOS: usize = 10;

/// Prices options.
pub struct DataParallel;

/// A European option.
pub struct Deal {
    spot: f64,
    strike: f64,
    rate: f64,
    volatility: f64,
    years: f64,
    is_call: bool,
}

impl Kernel for DataParallel {
    const NAME: &'static str = "data-parallel";
    const UNIT: &'static str = "options";
    const USUAL_SIZE: usize = 100_000;
    const MOST_SIZE: usize = 50_000_000;
    type Input = Vec<Deal>;

    fn input(size: usize, seed: u64) -> Self::Input {
        let deal = |number: usize| {
            let drawn = |which: u64| share(seed, number as u64 * 6 + which);
            Deal {
                spot: 50.0 + 100.0 * drawn(0),
                strike: 50.0 + 100.0 * drawn(1),
                rate: 0.01 + 0.09 * drawn(2),
                volatility: 0.1 + 0.5 * drawn(3),
                years: 0.1 + 1.9 * drawn(4),
                is_call: drawn(5) < 0.5,
            }
        };
        (0..size).map(deal).collect()
    }

    fn serial(deals: Self::Input) -> u64 {
        checksum::sum(deals.iter().map(|deal| deal.mean_price().to_bits()))
    }

    fn parallel(deals: Self::Input, threads: usize) -> u64 {
        let mut prices = vec![0.0; deals.len()];
        over_parts(&mut prices, threads, |from, own| {
            for (price, deal) in own.iter_mut().zip(&deals[from..]) {
                *price = deal.mean_price();
            }
        });
        checksum::sum(prices.into_iter().map(f64::to_bits))
    }
}

impl Deal {
    /// The mean of its prices over all scenarios.
    fn mean_price(&self) -> f64 {
        let spots = (0..SCENARIOS).map(|step| self.spot * (0.95 + 0.01 * step as f64));
        spots.map(|spot| self.price(spot)).sum::<f64>() / SCENARIOS as f64
    }

    fn price(&self, spot: f64) -> f64 {
        let spread = self.volatility * self.years.sqrt();
        let drift = (self.rate + self.volatility * self.volatility / 2.0) * self.years;
        let first = ((spot / self.strike).ln() + drift) / spread;
        let (above, strike) = (normal(first), self.strike * (-self.rate * self.years).exp());
        let exercised = normal(first - spread);
        if self.is_call {
            spot * above - strike * exercised
        } else {
            strike * (1.0 - exercised) - spot * (1.0 - above)
        }
    }
}

/// The standard normal distribution up to `x`; its error is below 7.5e-8.
fn normal(x: f64) -> f64 {
    const FACTORS: [f64; 5] =
        [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial = FACTORS.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    // Horner's last step has multiplied by `t` already, as the formula does.
    let tail = (-x * x / 2.0).exp() / (2.0 * PI).sqrt() * polynomial;
    if x < 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_s_option_has_its_price() {
        // J. Hull, "Options, futures, and other derivatives": 42, 40, 10 %, 20 %, half a year.
        let deal = |is_call| Deal {
            spot: 42.0,
            strike: 40.0,
            rate: 0.1,
            volatility: 0.2,
            years: 0.5,
            is_call,
        };
        assert!((deal(true).price(42.0) - 4.76).abs() < 0.005);
        assert!((deal(false).price(42.0) - 0.81).abs() < 0.005);
    }

    #[test]
    fn the_distribution_is_as_tabulated() {
        for (x, expected) in [(0.0, 0.5), (1.0, 0.841_344_75), (-1.96, 0.024_997_9)] {
            assert!((normal(x) - expected).abs() < 1e-7, "{x}");
        }
    }
}
