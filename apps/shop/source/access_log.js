// One line of JSON a request, written when its reply has left.

import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

/** The log; without a file nothing is written. */
export class AccessLog {
  #file;

  constructor(path) {
    this.#file = path === null ? null : createWriteStream(path, { flags: "a" });
  }

  /** Notes a request whose reply has left; `asked` is what the server noted when it came. */
  write(asked, request, reply) {
    this.#file?.write(
      `${JSON.stringify({
        start_ms: asked.startMs,
        port: asked.port,
        method: request.method,
        target: request.url,
        trace: asked.trace?.id ?? null,
        status: reply.statusCode,
        us: Math.round(reply.elapsedTime * 1000),
        bytes: Number(reply.getHeader("content-length") ?? 0),
        calls: asked.calls,
      })}\n`,
    );
  }

  async close() {
    this.#file?.end();
    if (this.#file !== null) {
      await finished(this.#file);
    }
  }
}
