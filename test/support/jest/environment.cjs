const { TestEnvironment } = require('jest-environment-node');

/** Gives tests the `require` of Node.js, see load-build.cjs. Their own is that of jest. */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.requireByNode = require;
  }
};
