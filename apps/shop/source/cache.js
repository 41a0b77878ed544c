// Redis on one connection, which all requests share: pages' data for some seconds, baskets, counters.

import Redis from "ioredis";

/** The connection. Each command is noted in its request's `calls`: `cache <local port> <number>`. */
export class Cache {
  #redis;
  #lifetime;
  #sent = 0;

  constructor(url, lifetime) {
    const options = { lazyConnect: true, enableReadyCheck: false, disableClientInfo: true };
    this.#redis = new Redis(url, options);
    this.#redis.on("error", (error) => console.error(`cache: ${error.message}`));
    this.#redis.on("connect", () => (this.#sent = 0));
    this.#lifetime = lifetime;
  }

  async connect() {
    await this.#redis.connect();
  }

  /** What is known under `key`; if nothing is, what `make` returns, kept for some seconds. */
  async remembered(asked, key, make) {
    const known = await this.send(asked, "get", key);
    if (known !== null) {
      return JSON.parse(known);
    }
    const made = await make();
    await this.send(asked, "set", key, JSON.stringify(made), "EX", this.#lifetime);
    return made;
  }

  /** A command's reply. */
  async send(asked, command, ...values) {
    this.#sent += 1;
    asked.calls.push(`cache ${this.#redis.stream?.localPort} ${this.#sent}`);
    return this.#redis.call(command, ...values);
  }

  close() {
    this.#redis.disconnect();
  }
}
