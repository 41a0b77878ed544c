// The pages: eight of them, which read and write, and one for whoever asks whether it is up.

import { escaped, form, page, price, products } from "./html.js";

const CUSTOMERS = 500;
const BASKET_SECONDS = 1800;
const LONGEST_WORDS = 40;

const id = { type: "integer", minimum: 1, maximum: 2_000_000_000 };
const byId = { type: "object", properties: { id } };
const ofCustomer = { type: "object", properties: { customer: id } };

/** An object with these fields, all of which must be there. */
function all(properties) {
  return { type: "object", properties, required: Object.keys(properties) };
}

/** Adds the pages to a server. */
export function addPages(shop, { database, cache }) {
  shop.addHook("preHandler", async (_request, reply) => {
    reply.type("text/html; charset=utf-8");
  });

  shop.get("/health", async () => "up\n");

  shop.get("/", { schema: { querystring: ofCustomer } }, async ({ asked, query }) => {
    // A customer who is new gets a number, which the links carry on.
    const customer = query.customer ?? 1 + Math.floor(Math.random() * CUSTOMERS);
    const home = await cache.remembered(asked, "home", async () => {
      const [categories, best] = await Promise.all([
        database.rows(asked, "SELECT id, name FROM category ORDER BY id"),
        database.rows(
          asked,
          "SELECT id, name, cents FROM product ORDER BY sold DESC, id LIMIT 10",
        ),
      ]);
      return { categories, best };
    });
    const links = home.categories.map(
      (it) => `<a href="/categories/${it.id}?customer=${customer}">${escaped(it.name)}</a>`,
    );
    return page("Shop", customer, `<p>${links.join(" ")}</p>${products(home.best, customer)}`);
  });

  const ofCategory = { params: byId, querystring: ofCustomer };
  shop.get("/categories/:id", { schema: ofCategory }, async ({ asked, params, query }, reply) => {
    const list = await cache.remembered(asked, `category:${params.id}`, () =>
      database.rows(
        asked,
        `SELECT id, name, cents FROM product WHERE category = $1
         ORDER BY sold DESC, id LIMIT 20`,
        [params.id],
      ),
    );
    if (list.length === 0) {
      return missing(reply, "category");
    }
    return page(`Category ${params.id}`, query.customer ?? 1, products(list, query.customer ?? 1));
  });

  const ofProduct = { params: byId, querystring: ofCustomer };
  shop.get("/products/:id", { schema: ofProduct }, async ({ asked, params, query }, reply) => {
    const customer = query.customer ?? 1;
    const [views, known] = await Promise.all([
      cache.send(asked, "incr", `views:${params.id}`),
      cache.remembered(asked, `product:${params.id}`, async () => {
        const [[product], reviews] = await Promise.all([
          database.rows(
            asked,
            "SELECT id, name, description, cents, stock FROM product WHERE id = $1",
            [params.id],
          ),
          database.rows(
            asked,
            "SELECT stars, words FROM review WHERE product = $1 ORDER BY id DESC LIMIT 5",
            [params.id],
          ),
        ]);
        return { product, reviews };
      }),
    ]);
    if (known.product === undefined) {
      return missing(reply, "product");
    }
    return page(known.product.name, customer, productPage(known, views, customer));
  });

  const search = all({ words: { type: "string", minLength: 1, maxLength: LONGEST_WORDS } });
  search.properties.customer = id;
  shop.get("/search", { schema: { querystring: search } }, async ({ asked, query }) => {
    const found = await database.rows(
      asked,
      "SELECT id, name, cents FROM product WHERE name LIKE '%' || $1 || '%' ORDER BY id LIMIT 20",
      [query.words],
    );
    return page(`Search: ${query.words}`, query.customer ?? 1, products(found, query.customer ?? 1));
  });

  shop.get("/basket", { schema: { querystring: all({ customer: id }) } }, async (request) => {
    const { asked, query } = request;
    const counts = await basket(asked, query.customer);
    const list = await database.rows(
      asked,
      "SELECT id, name, cents FROM product WHERE id = ANY($1) ORDER BY id",
      [[...counts.keys()]],
    );
    const sum = list.reduce((cents, it) => cents + it.cents * counts.get(it.id), 0);
    const order = form("/orders", { customer: query.customer }, "", "Order");
    return page(
      "Basket",
      query.customer,
      `${products(list, query.customer)}<p>Total ${price(sum)}</p>${counts.size > 0 ? order : ""}`,
    );
  });

  const put = all({ customer: id, product: id, count: { type: "integer", minimum: 1, maximum: 9 } });
  shop.post("/basket", { schema: { body: put } }, async ({ asked, body }, reply) => {
    const key = `basket:${body.customer}`;
    await cache.send(asked, "hincrby", key, body.product, body.count);
    await cache.send(asked, "expire", key, BASKET_SECONDS);
    return reply.redirect(`/basket?customer=${body.customer}`, 303);
  });

  shop.post("/orders", { schema: { body: all({ customer: id }) } }, async (request, reply) => {
    const { asked, body } = request;
    const counts = await basket(asked, body.customer);
    if (counts.size === 0) {
      return reply.redirect(`/basket?customer=${body.customer}`, 303);
    }
    const purchase = await database.transaction(asked, (rows) => buy(rows, body.customer, counts));
    await cache.send(asked, "del", `basket:${body.customer}`);
    return reply.redirect(`/orders/${purchase}?customer=${body.customer}`, 303);
  });

  const ofOrder = { params: byId, querystring: ofCustomer };
  shop.get("/orders/:id", { schema: ofOrder }, async ({ asked, params, query }, reply) => {
    const [[purchase], lines] = await Promise.all([
      database.rows(asked, "SELECT customer, placed FROM purchase WHERE id = $1", [params.id]),
      database.rows(
        asked,
        `SELECT product AS id, name, count, line.cents FROM purchase_line line
         JOIN product ON product.id = product WHERE purchase = $1 ORDER BY product`,
        [params.id],
      ),
    ]);
    if (purchase === undefined) {
      return missing(reply, "order");
    }
    return page(`Order ${params.id}`, query.customer ?? 1, products(lines, purchase.customer));
  });

  const review = all({
    customer: id,
    product: id,
    stars: { type: "integer", minimum: 1, maximum: 5 },
    words: { type: "string", maxLength: 2000 },
  });
  shop.post("/reviews", { schema: { body: review } }, async ({ asked, body }, reply) => {
    await database.rows(asked, "INSERT INTO review (product, stars, words) VALUES ($1, $2, $3)", [
      body.product,
      body.stars,
      body.words,
    ]);
    await cache.send(asked, "del", `product:${body.product}`);
    return reply.redirect(`/products/${body.product}?customer=${body.customer}`, 303);
  });

  /** How many of which product are in a customer's basket. */
  async function basket(asked, customer) {
    const kept = await cache.send(asked, "hgetall", `basket:${customer}`);
    return new Map(Object.entries(kept).map(([product, count]) => [Number(product), Number(count)]));
  }
}

/** Buys what is in a basket; the purchase's number. Rows are locked in the order of products. */
async function buy(rows, customer, counts) {
  const [{ id: purchase }] = await rows("INSERT INTO purchase (customer) VALUES ($1) RETURNING id", [
    customer,
  ]);
  for (const [product, count] of [...counts].sort(([a], [b]) => a - b)) {
    const [sold] = await rows(
      `UPDATE product SET stock = stock - $2, sold = sold + $2
       WHERE id = $1 AND stock >= $2 RETURNING cents`,
      [product, count],
    );
    if (sold !== undefined) {
      await rows("INSERT INTO purchase_line VALUES ($1, $2, $3, $4)", [
        purchase,
        product,
        count,
        sold.cents,
      ]);
    }
  }
  return purchase;
}

function productPage({ product, reviews }, views, customer) {
  const lines = reviews.map((it) => `<li>${it.stars}/5 ${escaped(it.words)}</li>`);
  const fields = { customer, product: product.id };
  const count = `<input name="count" value="1">`;
  const opinion = `<input name="stars" value="5"><input name="words">`;
  return `<p>${escaped(product.description)}</p>
<p>${price(product.cents)}, ${product.stock} in stock, seen ${views} times</p>
${form("/basket", fields, count, "Put into the basket")}
<ul>${lines.join("\n")}</ul>
${form("/reviews", fields, opinion, "Review")}`;
}

function missing(reply, what) {
  reply.code(404);
  return page("Not found", 1, `<p>There is no such ${what}.</p>`);
}
