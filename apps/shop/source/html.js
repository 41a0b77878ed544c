// The pages' frame and their parts.

const SPECIAL = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as it may stand in a page or an attribute. */
export function escaped(text) {
  return String(text).replace(/[&<>"]/g, (sign) => SPECIAL[sign]);
}

/** A page; every one links to the home page, the search and the customer's basket. */
export function page(title, customer, content) {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title></head><body>
<p><a href="/?customer=${customer}">Shop</a> <a href="/basket?customer=${customer}">Basket</a></p>
<form action="/search"><input name="words"><input type="hidden" name="customer" value="${customer}"><button>Search</button></form>
<h1>${escaped(title)}</h1>
${content}
</body></html>
`;
}

/** A list of links to products, each with its price. */
export function products(list, customer) {
  const lines = list.map(
    ({ id, name, cents }) =>
      `<li><a href="/products/${id}?customer=${customer}">${escaped(name)}</a> ${price(cents)}</li>`,
  );
  return `<ul>${lines.join("\n")}</ul>`;
}

/** A form that posts hidden `fields`, and shows the `inputs`. */
export function form(action, fields, inputs, button) {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`,
  );
  return `<form method="post" action="${action}">${hidden.join("")}${inputs}<button>${button}</button></form>`;
}

/** Euros, from cents. */
export function price(cents) {
  return (cents / 100).toFixed(2);
}
