// Starts the shop: its tables first, then the server; ends by SIGTERM or SIGINT.

import { AccessLog } from "./source/access_log.js";
import { Cache } from "./source/cache.js";
import { Database } from "./source/database.js";
import { prepare } from "./source/schema.js";
import { server } from "./source/server.js";
import { settings } from "./source/settings.js";

const chosen = settings(process.env);
const database = new Database(chosen.pool);
const cache = new Cache(chosen.redis, chosen.lifetime);
const log = new AccessLog(chosen.accessLog);

await prepare(database, chosen.products);
await cache.connect();
const shop = server({ database, cache, log }, chosen);
await shop.listen({ host: chosen.host, port: chosen.port, backlog: chosen.backlog });
console.log(`listening on ${chosen.host}:${chosen.port}`);

async function stop() {
  await shop.close();
  await database.close();
  cache.close();
  await log.close();
}

process.once("SIGTERM", stop);
process.once("SIGINT", stop);
