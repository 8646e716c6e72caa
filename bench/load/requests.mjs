import { createRequire } from 'node:module';

const { names, traits, sentences } = createRequire(import.meta.url)('./texts.json');
const TEXTS = 500;
/** The demo catalogue has more, so every item refers to existing ones. */
const BRANDS = 50;
const CONDITIONS = 5;
/** No brand or condition has this number or a higher one. */
const UNKNOWN = 1_000_000;

/**
 * Returns a function that makes the next request of a stream. Creates have about 900 bytes, and no two have the same name.
 * An item has some 60 search terms, about as many as a generated listing.
 * @param {import('./generate.mjs').Stream} stream
 */
export function requestsOf({ operation, inputs, tokens = [], waitS, isAsync, isUnknown }) {
  const callers = tokens.length === 0 ? [''] : tokens.map((token) => `Authorization: Bearer ${token}\r\n`);
  if (operation !== undefined) {
    const requests = inputs.map((input) => post(operation, JSON.stringify(input), callers[0]));
    return () => requests[Math.floor(Math.random() * requests.length)];
  }
  const bodies = Array.from({ length: TEXTS }, (_, index) => bodyAfterName(index, isUnknown));
  const preference = isAsync ? 'respond-async' : waitS && `wait=${waitS}`;
  const prefer = preference === undefined ? '' : `Prefer: ${preference}\r\n`;
  let count = 0;
  return () => {
    count += 1;
    const name = `${pick(names, count)} ${pick(traits, count * 7)} ${count}`;
    return post('create', `{"name":"${name}",${pick(bodies, count)}`, prefer + pick(callers, count));
  };
}

/** Returns the body of the create that is checked before anything is measured. */
export function exampleBody() {
  return JSON.parse(`{"name":"Road bike, the first one",${bodyAfterName(0)}`);
}

function bodyAfterName(index, isUnknown) {
  const images = [1, 2, 3].map((number) => `https://images.example.com/items/${index}/photo-${number}.jpg`);
  const body = {
    description: [0, 1, 2, 3].map((step) => pick(sentences, index * 5 + step * (1 + (index % 7)))).join(' '),
    price: 5 + ((index * 37) % 900) + 0.5,
    categoryId: String(1 + (index % 20)),
    stock: 1 + (index % 3),
    brandId: isUnknown ? UNKNOWN + index : 1 + (index % BRANDS),
    conditionId: isUnknown ? UNKNOWN + index : 1 + (index % CONDITIONS),
    isFeatured: false,
    images,
    photos: images.map((url, position) => ({ url, position, width: 1600, height: 1200 })),
  };
  return JSON.stringify(body).slice(1);
}

function pick(list, index) {
  return list[index % list.length];
}

function post(operation, body, headers) {
  const head = `POST /api/orpc/items/${operation} HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`${head}${type}${headers}\r\n${body}`);
}
