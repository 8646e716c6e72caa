/** What applies to all operations, in CommonMark. */
export const DESCRIPTION = `
Three operations on items, each a \`POST\` of a JSON object. Unknown keys are ignored, JSON types are never coerced, and lengths
count Unicode code points. What cannot be stored exactly as sent is refused with 400, never changed: lone surrogates, whole numbers
beyond ±(2^53 − 1), and numbers that overflow.

**Errors** have the same body everywhere, for unknown paths and unreadable bodies too. The HTTP status equals \`status\`. An unknown
path is a 404. A method that a path does not support is a 405 with \`Allow\`. A 503 means that nothing was created, and a 504 that the
outcome is unknown.

**Creating safely**: send an \`Idempotency-Key\`, a UUID for each new item, and repeat the request with it until it succeeds.

**Authentication** is off by default. If it is on, \`create\` requires \`Authorization: Bearer TOKEN\`, and the caller becomes the
\`sellerId\` of the item. See *Authorize*.

**Rate limits** are off by default. If one of requests or bytes is set, responses say in \`RateLimit\` what is left. A request beyond
a limit gets a 429 with \`Retry-After\`.

**oRPC clients** work unmodified. A body of the form \`{"json": …, "meta"?: […]}\`, with no other key, gets its response, success or
error, in the form \`{"json": …}\`. This document describes only the plain form.
`.trim();
