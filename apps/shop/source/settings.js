// What the environment says; README.md has the table.

/** The settings, from the variables of an environment. */
export function settings(environment) {
  const number = (name, otherwise) => {
    const text = environment[name] ?? String(otherwise);
    if (!/^\d{1,9}$/.test(text)) {
      throw new Error(`${name}=${text}: say a whole number, such as ${otherwise}.`);
    }
    return Number(text);
  };
  return {
    host: environment.HOST ?? "127.0.0.1",
    port: number("PORT", 3000),
    backlog: number("BACKLOG", 511),
    http2: environment.HTTP2 === "1",
    pool: number("POOL", 10),
    products: number("PRODUCTS", 2000),
    redis: environment.REDIS_URL ?? "redis://127.0.0.1:6379",
    lifetime: number("CACHE_SECONDS", 10),
    accessLog: environment.ACCESS_LOG ?? null,
  };
}
