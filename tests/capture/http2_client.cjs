// Asks the service for everything once, several requests at a time on each of some connections.
//
//   node http2_client.cjs ADDRESS PORT ROUNDS [SIZE]
//
// What is long has SIZE bytes; of 30,000, fields and content do not fit into one frame.

"use strict";

const http2 = require("node:http2");

const [address, port, rounds, size = "30000"] = process.argv.slice(2);
const CONNECTIONS = 3;
const LONG = "f".repeat(Number(size));
const FORM = { "content-type": "application/x-www-form-urlencoded" };

function ask(session, headers, content = "") {
  const stream = session.request(headers, { endStream: content === "" });
  stream.on("error", () => {});
  stream.resume();
  if (content !== "") {
    stream.end(content);
  }
  return new Promise((done) => stream.on("close", done));
}

async function speak(session, round) {
  const id = (kind) => `${round.toString(16).padStart(8, "0")}${kind.toString(16).padStart(8, "0")}`;
  const paths = ["/item/17?size=10", `/item/18?size=${size}`, "/missing", "/failed", "/slow"];
  paths.push("/reset", "/early", "/pushed");
  const asked = paths.map((path, at) => ask(session, { ":path": path, "x-request-id": id(at) }));
  const trace = `00-${id(0)}${id(1)}-00f067aa0ba902b7-01`;
  asked.push(ask(session, { ":path": "/item/19", "x-filling": LONG, traceparent: trace }));
  asked.push(ask(session, { ":path": "/form?a=1", ":method": "POST", ...FORM }, "b=two&c=3"));
  const call = { ":path": "/shop.Orders/Get", ":method": "POST" };
  asked.push(ask(session, call, `\0\0\0\0\x01${LONG}`));
  const given_up = session.request({ ":path": "/never" });
  given_up.on("error", () => {});
  given_up.close(http2.constants.NGHTTP2_CANCEL);
  await Promise.all(asked);
}

async function converse() {
  const session = http2.connect(`http://${address}:${port}`, {
    paddingStrategy: http2.constants.PADDING_STRATEGY_MAX,
  });
  session.on("stream", (pushed) => pushed.resume());
  for (let round = 0; round < Number(rounds); round += 1) {
    await speak(session, round);
  }
  await new Promise((done) => session.ping(done));
  session.close();
}

Promise.all(Array.from({ length: CONNECTIONS }, converse));
