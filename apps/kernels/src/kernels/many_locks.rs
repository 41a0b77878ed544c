//! Many locks: particles press on those near them, in a grid of cells each behind a lock of its own.
//! In the role of PARSEC's fluidanimate and SPLASH-2's radiosity.
//!
//! Source: the method of smoothed particles with cells as in M. Müller, D. Charypar, M. Gross,
//! "Particle-based fluid simulation for interactive applications" (2003), in whole numbers: their
//! sums do not depend on the order in which threads come.

use crate::checksum;
use crate::kernel::Kernel;
use crate::random::below;
use crate::team::{lock, part, together};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};

const FRAMES: usize = 4;
/// Particles a cell at first, on the average.
const CROWD: usize = 8;
/// Side of a cell, which is how far a particle reaches.
const REACH: i64 = 256;
/// Steps to half of a cell's neighbours and to itself; the others' turn comes from the other side.
const NEIGHBOURS: [(i64, i64); 5] = [(0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// Moves particles.
pub struct ManyLocks;

/// Particles in a square of cells.
pub struct Fluid {
    /// Cells a side.
    side: usize,
    places: Vec<Place>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    x: u32,
    y: u32,
}

/// A particle in its cell, for one frame.
#[derive(Clone, Copy)]
struct Pressed {
    particle: usize,
    pressure: u64,
}

type Cell = Vec<Pressed>;

impl Kernel for ManyLocks {
    const NAME: &'static str = "many-locks";
    const UNIT: &'static str = "particles";
    const USUAL_SIZE: usize = 20_000;
    const MOST_SIZE: usize = 5_000_000;
    type Input = Fluid;

    fn input(size: usize, seed: u64) -> Self::Input {
        let side = (size / CROWD).isqrt().max(1);
        let width = side as u64 * REACH as u64;
        let place = |number: u64| Place {
            x: below(seed, 2 * number, width) as u32,
            y: below(seed, 2 * number + 1, width) as u32,
        };
        Fluid { side, places: (0..size as u64).map(place).collect() }
    }

    fn serial(Fluid { side, mut places }: Self::Input) -> u64 {
        for _ in 0..FRAMES {
            let mut cells = vec![Cell::new(); side * side];
            for (particle, place) in places.iter().enumerate() {
                cells[place.cell(side)].push(Pressed { particle, pressure: 0 });
            }
            for here in 0..cells.len() {
                for there in neighbours(here, side) {
                    for one in 0..cells[here].len() {
                        for other in partners(one, here, there, cells[there].len()) {
                            let pair = [cells[here][one], cells[there][other]];
                            let [from, to] = pair.map(|pressed| places[pressed.particle]);
                            if let Some(pressure) = from.pressure(to) {
                                cells[here][one].add(pressure);
                                cells[there][other].add(pressure);
                            }
                        }
                    }
                }
            }
            for pressed in cells.iter().flatten() {
                places[pressed.particle] = places[pressed.particle].moved(pressed.pressure, side);
            }
        }
        checksum::sum(places.into_iter().map(Place::bits))
    }

    fn parallel(Fluid { side, places }: Self::Input, threads: usize) -> u64 {
        let places: Vec<AtomicU64> =
            places.into_iter().map(|place| AtomicU64::new(place.bits())).collect();
        let fluid =
            Shared { side, places, cells: (0..side * side).map(|_| Mutex::default()).collect() };
        let all = Barrier::new(threads);
        together(threads, |number| {
            let cells = || part(number, threads, side * side);
            for _ in 0..FRAMES {
                cells().for_each(|cell| lock(&fluid.cells[cell]).clear());
                all.wait();
                part(number, threads, fluid.places.len()).for_each(|it| fluid.enter(it));
                all.wait();
                cells().for_each(|cell| fluid.press(cell));
                all.wait();
                cells().for_each(|cell| fluid.move_on(cell));
                all.wait();
            }
        });
        checksum::sum(fluid.places.into_iter().map(AtomicU64::into_inner))
    }
}

/// What all threads work on.
struct Shared {
    side: usize,
    /// By particle: each is written by one thread, between barriers.
    places: Vec<AtomicU64>,
    cells: Vec<Mutex<Cell>>,
}

impl Shared {
    fn place(&self, particle: usize) -> Place {
        Place::from_bits(self.places[particle].load(Relaxed))
    }

    fn enter(&self, particle: usize) {
        let cell = &self.cells[self.place(particle).cell(self.side)];
        lock(cell).push(Pressed { particle, pressure: 0 });
    }

    /// Each pair is added under the lock of the one cell and then of the other: nobody holds two.
    fn press(&self, here: usize) {
        let inside = |cell: usize| -> Vec<Place> {
            lock(&self.cells[cell]).iter().map(|it| self.place(it.particle)).collect()
        };
        let own = inside(here);
        for there in neighbours(here, self.side) {
            let others = inside(there);
            for (one, from) in own.iter().enumerate() {
                for other in partners(one, here, there, others.len()) {
                    if let Some(pressure) = from.pressure(others[other]) {
                        lock(&self.cells[here])[one].add(pressure);
                        lock(&self.cells[there])[other].add(pressure);
                    }
                }
            }
        }
    }

    fn move_on(&self, cell: usize) {
        for pressed in lock(&self.cells[cell]).iter() {
            let moved = self.place(pressed.particle).moved(pressed.pressure, self.side);
            self.places[pressed.particle].store(moved.bits(), Relaxed);
        }
    }
}

impl Pressed {
    fn add(&mut self, pressure: u64) {
        self.pressure = self.pressure.wrapping_add(pressure);
    }
}

impl Place {
    fn bits(self) -> u64 {
        u64::from(self.x) << 32 | u64::from(self.y)
    }

    fn from_bits(bits: u64) -> Self {
        Self { x: (bits >> 32) as u32, y: bits as u32 }
    }

    fn cell(self, side: usize) -> usize {
        self.y as usize / REACH as usize * side + self.x as usize / REACH as usize
    }

    /// What two particles press on each other with; nothing out of reach.
    fn pressure(self, other: Self) -> Option<u64> {
        let (x, y) =
            (i64::from(self.x) - i64::from(other.x), i64::from(self.y) - i64::from(other.y));
        let nearness = REACH * REACH - x * x - y * y;
        (nearness > 0).then(|| (nearness as u64).pow(3) >> 16)
    }

    /// Where the particle is in the next frame: pushed within the square, by its pressure's bits.
    fn moved(self, pressure: u64, side: usize) -> Self {
        let most = (side as i64) * REACH - 1;
        let push =
            |at: u32, bits: u64| (i64::from(at) + (bits % 65) as i64 - 32).clamp(0, most) as u32;
        Self { x: push(self.x, pressure >> 8), y: push(self.y, pressure >> 24) }
    }
}

/// A cell itself and those of its neighbours that it has to see to.
fn neighbours(cell: usize, side: usize) -> impl Iterator<Item = usize> {
    let (x, y) = ((cell % side) as i64, (cell / side) as i64);
    let inside = move |at: i64| (0..side as i64).contains(&at);
    let around = NEIGHBOURS.into_iter().map(move |(right, down)| (x + right, y + down));
    around
        .filter(move |(x, y)| inside(*x) && inside(*y))
        .map(move |(x, y)| y as usize * side + x as usize)
}

/// Whom particle `one` of a cell makes a pair with in another one, or in the same.
fn partners(one: usize, here: usize, there: usize, count: usize) -> std::ops::Range<usize> {
    if here == there { one + 1..count } else { 0..count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_neighbours_has_one_turn() {
        let side = 4;
        let mut pairs: Vec<(usize, usize)> = (0..side * side)
            .flat_map(|cell| neighbours(cell, side).map(move |it| (cell.min(it), cell.max(it))))
            .collect();
        pairs.sort_unstable();
        let count = pairs.len();
        pairs.dedup();
        assert_eq!(count, pairs.len());
        // Itself; beside; below; and both diagonals.
        assert_eq!(count, 16 + 12 + 12 + 9 + 9);
    }

    #[test]
    fn particles_press_alike_and_not_from_afar() {
        let [a, b, far] = [(10, 10), (100, 60), (700, 10)].map(|(x, y)| Place { x, y });
        assert_eq!(a.pressure(b), b.pressure(a));
        assert!(a.pressure(b).is_some());
        assert_eq!(a.pressure(far), None);
        assert_eq!(Place::from_bits(b.bits()), b);
    }
}
