// A service that speaks HTTP/2 without TLS: every part of the protocol on some path.
//
//   node http2_service.cjs ADDRESS PORT ACCESS_LOG

"use strict";

const { createWriteStream } = require("node:fs");
const http2 = require("node:http2");

const [address, port, path] = process.argv.slice(2);
const log = createWriteStream(path, { flags: "a" });
const padded = { paddingStrategy: http2.constants.PADDING_STRATEGY_MAX };
const server = http2.createServer(padded);

const ROUTES = {
  "/missing": (stream) => answer(stream, 404, "missing"),
  "/failed": (stream) => answer(stream, 500, "failed"),
  "/slow": (stream) => setTimeout(() => answer(stream, 200, "late"), 30),
  "/never": () => {}, // its client gives up, and no reply can come before that is read
  "/reset": (stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
  "/early": (stream) => {
    stream.additionalHeaders({ ":status": 103 });
    answer(stream, 200, "hinted");
  },
  "/pushed": (stream) => {
    stream.pushStream({ ":path": "/style.css" }, (error, pushed) => {
      if (!error) {
        answer(pushed, 200, "style");
      }
      answer(stream, 200, "page");
    });
  },
  "/shop.Orders/Get": (stream) => {
    stream.respond({ ":status": 200, "content-type": "text/plain" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "5" }));
    stream.end("\0\0\0\0\x01a");
  },
};

function answer(stream, status, text) {
  if (stream.destroyed) {
    return; // the client has given it up
  }
  stream.respond({ ":status": status, "content-type": "text/plain" });
  stream.end(text);
}

server.on("stream", (stream, headers) => {
  const target = new URL(headers[":path"], "http://service");
  stream.on("close", () => log.write(`${headers[":method"]} ${target.pathname}\n`));
  stream.on("error", () => {});
  stream.resume();
  stream.on("end", () => {
    const size = Number(target.searchParams.get("size") ?? 10);
    (ROUTES[target.pathname] ?? ((it) => answer(it, 200, "x".repeat(size))))(stream);
  });
});
server.on("session", (session) => session.on("error", () => {}));
server.listen(Number(port), address, () => console.log("listening"));
