//! Barriers: a grid is relaxed, red cells and then black ones, and all threads wait for one another
//! after each colour. In the role of SPLASH-2's ocean and PARSEC's streamcluster.
//!
//! Source: red-black Gauss-Seidel with over-relaxation for Laplace's equation; D. Young, "Iterative
//! methods for solving partial difference equations of elliptic type" (1954).

use crate::checksum;
use crate::kernel::Kernel;
use crate::random::share;
use crate::team::{part, together};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SWEEPS: usize = 50;
const OVER_RELAXATION: f64 = 1.5;

/// Relaxes a grid.
pub struct Barriers;

/// A square of cells; those on its border stay as they are.
pub struct Grid {
    side: usize,
    cells: Vec<f64>,
}

impl Kernel for Barriers {
    const NAME: &'static str = "barriers";
    const UNIT: &'static str = "cells a side";
    const USUAL_SIZE: usize = 400;
    const MOST_SIZE: usize = 10_000;
    type Input = Grid;

    fn input(size: usize, seed: u64) -> Self::Input {
        let side = size + 2;
        let cells = (0..side * side).map(|place| share(seed, place as u64)).collect();
        Grid { side, cells }
    }

    fn serial(mut grid: Self::Input) -> u64 {
        let side = grid.side;
        for colour in (0..SWEEPS).flat_map(|_| [0, 1]) {
            for row in 1..side - 1 {
                for place in coloured(row, side, colour) {
                    grid.cells[place] = relaxed(|at| grid.cells[at], place, side);
                }
            }
        }
        checksum::sum(grid.cells.into_iter().map(f64::to_bits))
    }

    /// Cells are atomic for what two threads may read and write in turns; the barrier is what
    /// orders them.
    fn parallel(grid: Self::Input, threads: usize) -> u64 {
        let side = grid.side;
        let cells: Vec<AtomicU64> =
            grid.cells.into_iter().map(|cell| AtomicU64::new(cell.to_bits())).collect();
        let all = Barrier::new(threads);
        together(threads, |number| {
            let value = |at: usize| f64::from_bits(cells[at].load(Relaxed));
            let own = part(number, threads, side - 2);
            for colour in (0..SWEEPS).flat_map(|_| [0, 1]) {
                for row in own.start + 1..own.end + 1 {
                    for place in coloured(row, side, colour) {
                        cells[place].store(relaxed(value, place, side).to_bits(), Relaxed);
                    }
                }
                all.wait();
            }
        });
        checksum::sum(cells.into_iter().map(AtomicU64::into_inner))
    }
}

/// The places of a row's inner cells of one colour.
fn coloured(row: usize, side: usize, colour: usize) -> impl Iterator<Item = usize> {
    let first = 1 + (row + 1 + colour) % 2;
    (first..side - 1).step_by(2).map(move |column| row * side + column)
}

/// The next value of a cell, from its own and its four neighbours'.
fn relaxed(value: impl Fn(usize) -> f64, place: usize, side: usize) -> f64 {
    let around = value(place - side) + value(place + side) + value(place - 1) + value(place + 1);
    let own = value(place);
    own + OVER_RELAXATION * (around / 4.0 - own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_inner_cell_has_one_colour() {
        for side in [3, 4, 7] {
            let mut places: Vec<usize> = (1..side - 1)
                .flat_map(|row| coloured(row, side, 0).chain(coloured(row, side, 1)))
                .collect();
            places.sort_unstable();
            let inner = (1..side - 1).flat_map(|row| (1..side - 1).map(move |c| row * side + c));
            assert_eq!(places, inner.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_plane_is_relaxed_already() {
        let side = 9;
        let plane = |at: usize| (at / side) as f64 * 2.0 + (at % side) as f64;
        assert!((relaxed(plane, 4 * side + 4, side) - plane(4 * side + 4)).abs() < 1e-12);
    }
}
