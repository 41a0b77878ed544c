// The trace that a request belongs to (W3C Trace Context), handed on to the database in a comment,
// as sqlcommenter does.

import { randomBytes } from "node:crypto";

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;

/** `{ id, flags }` of the header `traceparent`; null without a valid one. */
export function traceOf(headers) {
  const found = TRACEPARENT.exec(headers.traceparent ?? "");
  return found === null ? null : { id: found[1], flags: found[3] };
}

/** The comment for a statement of this trace; empty without one. */
export function comment(trace) {
  if (trace === null) {
    return "";
  }
  const span = randomBytes(8).toString("hex");
  return ` /*traceparent='00-${trace.id}-${span}-${trace.flags}'*/`;
}
