// The server: what is common to all pages.

import fastify from "fastify";

import { addPages } from "./pages.js";
import { traceOf } from "./trace.js";

/** A server of HTTP/1.1 or, with `http2`, of HTTP/2 without TLS by prior knowledge. */
export function server(tiers, { http2 }) {
  const shop = fastify({ http2, maxParamLength: 20 });
  shop.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: 64 << 10 },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body))),
  );
  // Who asks: `calls` is filled by the database and the cache.
  shop.decorateRequest("asked", null);
  shop.addHook("onRequest", async (request) => {
    const [startMs, port] = [Date.now(), request.socket.remotePort];
    request.asked = { startMs, port, trace: traceOf(request.headers), calls: [] };
  });
  shop.addHook("onResponse", async (request, reply) => {
    tiers.log.write(request.asked, request, reply);
  });
  addPages(shop, tiers);
  return shop;
}
