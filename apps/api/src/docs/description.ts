/** What applies to all operations, in CommonMark. */
export const DESCRIPTION = `
Three operations on items, each a \`POST\` of a JSON object. Unknown keys are ignored, JSON types are never coerced, and lengths count
Unicode code points. What could not be stored exactly as sent is refused with 400, never changed: half surrogate pairs, whole-number literals
beyond ±(2^53 − 1), numbers that overflow.

**Errors** have one body everywhere, also for unknown paths and unreadable bodies; the HTTP status is \`status\`. An unknown path is a 404,
another method than the path's a 405 with \`Allow\`. 503 means certainly not created, 504 means unknown.

**Creating safely**: send an \`Idempotency-Key\`, a UUID for each new item, and repeat the request with it until it is answered.

**oRPC clients** work unmodified: a body of the form \`{"json": …, "meta"?: […]}\`, with no other key, is answered, success and error, in the
form \`{"json": …}\`. This document describes the plain form only.
`.trim();
