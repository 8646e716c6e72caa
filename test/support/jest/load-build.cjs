// Transformer of jest: a source file becomes its build in `dist/`, and a package stays as it is. Node.js loads both, and
// keeps what it has loaded. Jest would load all modules again for each test file.
const { join, relative } = require('node:path');

const SOURCE = /\.ts$/;

module.exports = {
  process: (_source, path, { config: { rootDir } }) => {
    const loaded = SOURCE.test(path) ? join(rootDir, 'dist', relative(rootDir, path)).replace(SOURCE, '.js') : path;
    return { code: `module.exports = requireByNode(${JSON.stringify(loaded)});` };
  },
};
