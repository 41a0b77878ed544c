//! Capture from an interface until it is to stop.

use crate::memory;
use crate::outage::{self, Outages};
use crate::plan::LivePlan;
use crate::ring::{HANDED_OVER, Ring};
use crate::summary::Summary;
use crate::tables::Tables;
use crate::{fanout, rings};
use anyhow::Result;
use std::path::Path;
use std::sync::Arc;
use tierlab_dissect::{Dissector, Server, filter};
use tierlab_record::clock::{Moment, monotonic_in, monotonic_ns};
use tierlab_record::{Stop, priority};

pub(crate) const SECOND_NS: i64 = 1_000_000_000;

/// The longest time in which nothing happens: a second has to be noticed.
pub(crate) const WAIT_MS: i32 = 100;

/// Captures, dissects and writes.
pub(crate) fn run(plan: LivePlan, out: &Path) -> Result<()> {
    let servers: Arc<[Server]> = plan.servers.into();
    let tables = Tables::create(out, "capture", &servers, plan.messages)?;
    let stop = Stop::on_signals();
    let mut filter = filter::of(&servers)?;
    let end_ns = plan.duration_ns.map_or(i64::MAX, monotonic_in);
    let over = move || stop.asked() || monotonic_ns() >= end_ns;
    let salt = crate::salt::draw()?;
    let dissector = |count| {
        let memory_bytes = memory::of_each(count);
        Dissector::within(memory_bytes, Arc::clone(&servers), salt).behind_filter()
    };
    let threads = plan.threads.get();
    if threads > 1 {
        let rings = fanout::open(&plan.interface, plan.ring_bytes, &mut filter, threads)?;
        return rings::run(rings, dissector, over, tables);
    }
    let ring = Ring::open(&plan.interface, plan.ring_bytes, &mut filter)?;
    let scheduling = priority::take(priority::Role::Observer);
    let summary = Summary { scheduling, ..Summary::default() };
    let dissector = dissector(1);
    let mut capture = Capture { ring, dissector, tables, summary, outages: Outages::default() };
    Summary::ready();
    let mut tick = Moment::now();
    let captured = capture.until(over, &mut tick);
    // What was captured is written, whatever has failed.
    let written = capture.finish(tick);
    captured.and(written)
}

struct Capture {
    ring: Ring,
    dissector: Dissector,
    tables: Tables,
    summary: Summary,
    outages: Outages,
}

impl Capture {
    /// Captures until it is `over`; `tick` is when what was captured was last handed over.
    fn until(&mut self, over: impl Fn() -> bool, tick: &mut Moment) -> Result<()> {
        while !over() {
            if !self.read_block() {
                outage::wait(&mut self.ring, WAIT_MS, &mut self.summary)?;
            }
            if monotonic_ns() - tick.monotonic_ns >= SECOND_NS {
                *tick = self.second(*tick)?;
                self.tables.say(self.summary.progress());
            }
        }
        Ok(())
    }

    /// Takes the next block. False if none is ready.
    fn read_block(&mut self) -> bool {
        let Self { ring, dissector, tables, summary, .. } = self;
        ring.read_block(|at_ns, frame| {
            summary.packets += 1;
            summary.bytes += frame.bytes.len() as u64;
            dissector.captured(at_ns, frame, tables);
        })
    }

    /// Once a second: what was lost since the last, and the rows to the writer. Returns when it was.
    fn second(&mut self, last: Moment) -> Result<Moment> {
        let now = Moment::now();
        let drops = self.ring.drops()?;
        if drops > 0 {
            self.tables.capture_drop(last.t_ns, now.since(last), drops);
        }
        self.summary.drops += drops;
        self.outages.follow(&self.summary, last, now, &mut self.tables);
        self.summary.visits = self.tables.visit_count();
        self.summary.connections = self.dissector.open_connections() as u64;
        self.summary.crowded_out = self.dissector.crowded_out();
        self.tables.flush()?;
        Ok(now)
    }

    fn finish(mut self, last: Moment) -> Result<()> {
        // What came until now is handed over when its block's time is up.
        std::thread::sleep(HANDED_OVER);
        for _ in 0..self.ring.blocks() {
            if !self.read_block() {
                break;
            }
        }
        let counted = self.second(last);
        self.outages.end(Moment::now(), &mut self.tables);
        self.dissector.finish(&mut self.tables);
        self.summary.visits = self.tables.visit_count();
        let written = self.tables.finish();
        counted?;
        written?;
        self.summary.last();
        Ok(())
    }
}
