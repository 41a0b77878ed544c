// The tables, and a stock of products that is the same at each first start.

const TABLES = `
  CREATE TABLE category (id int PRIMARY KEY, name text NOT NULL);
  CREATE TABLE product (
    id int PRIMARY KEY, category int NOT NULL REFERENCES category, name text NOT NULL,
    description text NOT NULL, cents int NOT NULL, stock int NOT NULL, sold int NOT NULL DEFAULT 0);
  CREATE TABLE review (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, product int NOT NULL REFERENCES product,
    stars int NOT NULL, words text NOT NULL, written timestamptz NOT NULL DEFAULT now());
  CREATE TABLE purchase (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer int NOT NULL,
    placed timestamptz NOT NULL DEFAULT now());
  CREATE TABLE purchase_line (
    purchase int NOT NULL REFERENCES purchase, product int NOT NULL REFERENCES product,
    count int NOT NULL, cents int NOT NULL, PRIMARY KEY (purchase, product));
  CREATE INDEX ON product (category, sold DESC);
  CREATE INDEX ON product (sold DESC);
  CREATE INDEX ON review (product, id DESC)`;

const THINGS = "lamp,chair,table,shelf,clock,mirror,basket,kettle,blanket,vase".split(",");
const KINDS = "small,large,red,blue,green,wooden,woven,plain,folding,painted".split(",");
const CATEGORIES = 20;
const REVIEWS = 4;

/** Makes and fills the tables unless they are there; of several at once, one does. */
export async function prepare(database, products) {
  await database.transaction(null, async (rows) => {
    await rows("SELECT pg_advisory_xact_lock(7)");
    const [{ there }] = await rows("SELECT to_regclass('purchase_line') IS NOT NULL AS there");
    if (there) {
      return;
    }
    for (const statement of TABLES.split(";")) {
      await rows(statement);
    }
    const numbers = Array.from({ length: products }, (_, at) => at + 1);
    await rows("INSERT INTO category SELECT n, 'Category ' || n FROM generate_series(1, $1) n", [
      CATEGORIES,
    ]);
    await rows(
      `INSERT INTO product (id, category, name, description, cents, stock)
       SELECT id, 1 + id % $2, name, description, 100 + id * 37 % 9900, 1000000
       FROM unnest($1::int[], $3::text[], $4::text[]) AS made (id, name, description)`,
      [numbers, CATEGORIES, numbers.map(nameOf), numbers.map(descriptionOf)],
    );
    await rows(
      `INSERT INTO review (product, stars, words)
       SELECT id, 1 + (id + n) % 5, 'Review ' || n || ' of ' || name
       FROM product, generate_series(1, $1) n`,
      [REVIEWS],
    );
  });
}

function nameOf(id) {
  return `${KINDS[id % 10]} ${THINGS[Math.floor(id / 10) % 10]} ${id}`;
}

function descriptionOf(id) {
  return `A ${nameOf(id)}, made to last. `.repeat(4).trim();
}
