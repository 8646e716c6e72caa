// Imported first by every entry point: an older Node.js would otherwise fail later, with an obscure error.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [major, minor] = manifest.engines.node.match(/\d+/g).map(Number);
const [hasMajor, hasMinor] = process.versions.node.split('.').map(Number);

if (process.platform === 'win32') refuse('On Windows, run this in WSL: its databases are built for Linux and macOS.');
if (hasMajor < major || (hasMajor === major && hasMinor < minor)) {
  refuse(
    `Node.js ${major}.${minor} or newer is needed, but this is ${process.versions.node}: see nodejs.org/en/download.`,
  );
}

function refuse(message) {
  console.error(message);
  process.exit(1);
}
