// PostgreSQL through a pool of connections; pg reads PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE.

import pg from "pg";

import { comment } from "./trace.js";

/** The pool. Each statement is noted in its request's `calls`: `db <local port> <number>`. */
export class Database {
  #pool;
  #sent = new WeakMap();

  constructor(connections) {
    this.#pool = new pg.Pool({ max: connections, ssl: false });
    this.#pool.on("error", (error) => console.error(`database: ${error.message}`));
  }

  /** The rows of one statement; `asked` is the request that it is sent for. */
  async rows(asked, text, values = []) {
    return this.#lend((client) => this.#send(client, asked, text, values));
  }

  /** Runs `work` with a function like `rows` whose statements are one transaction. */
  async transaction(asked, work) {
    return this.#lend(async (client) => {
      const rows = (text, values = []) => this.#send(client, asked, text, values);
      await rows("BEGIN");
      try {
        const done = await work(rows);
        await rows("COMMIT");
        return done;
      } catch (error) {
        await rows("ROLLBACK");
        throw error;
      }
    });
  }

  async close() {
    await this.#pool.end();
  }

  async #lend(work) {
    const client = await this.#pool.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  }

  async #send(client, asked, text, values) {
    const number = (this.#sent.get(client) ?? 0) + 1;
    this.#sent.set(client, number);
    asked?.calls.push(`db ${client.connection.stream.localPort} ${number}`);
    const whole = text + comment(asked?.trace ?? null);
    // Without values it would be a simple query: one kind of message is easier to count.
    const done = await client.query({ text: whole, values, queryMode: "extended" });
    return done.rows;
  }
}
