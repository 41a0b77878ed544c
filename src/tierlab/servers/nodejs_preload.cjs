// Loaded by Node.js before an application: logs when its thread stood still.
//
// A line of the file TIERLAB_STOP_LOG is when it began (ns since the epoch), how long it took (ns), what it was
// ("gc": the collector stopped the thread; "loop": one piece of work held it, other requests waited)
// and more words.

"use strict";

const { openSync, writeSync } = require("node:fs");
const { constants, performance, PerformanceObserver } = require("node:perf_hooks");

const EVERY_MS = 20;
const HELD_MS = 50;
const COLLECTIONS = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: "scavenge",
  [constants.NODE_PERFORMANCE_GC_MAJOR]: "mark-compact",
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: "incremental marking",
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: "weak callbacks",
};

const log = openSync(process.env.TIERLAB_STOP_LOG, "a");

function stopped(startMs, durationMs, kind, words) {
  const start = BigInt(Math.round((performance.timeOrigin + startMs) * 1000)) * 1000n;
  writeSync(log, `${start} ${Math.round(durationMs * 1e6)} ${kind} ${words}\n`);
}

new PerformanceObserver((list) => {
  for (const it of list.getEntries()) {
    stopped(it.startTime, it.duration, "gc", COLLECTIONS[it.detail.kind] ?? "collection");
  }
}).observe({ entryTypes: ["gc"] });

let due = performance.now() + EVERY_MS;
setInterval(() => {
  const now = performance.now();
  if (now - due > HELD_MS) {
    stopped(due, now - due, "loop", "a timer came late");
  }
  due = now + EVERY_MS;
}, EVERY_MS).unref();
