// Loaded into a process with `node --require`. Its servers fail to start because of a mistake in the program.
require('node:net').Server.prototype.listen = () => {
  throw new TypeError('not a function');
};
