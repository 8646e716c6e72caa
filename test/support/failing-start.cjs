// Loaded into a process with `node --require`. Its start fails with an error that quotes values, as those of MongoDB do.
const { Counter } = require('prom-client');

class FailingCounter extends Counter {
  constructor() {
    const cause = Object.assign(new Error('this is the cause'), { code: 11000, op: { name: 'nobody may read this' } });
    throw new Error('E11000 duplicate key error dup key: { name: "nobody may read this" }', { cause });
  }
}
require('prom-client').Counter = FailingCounter;
