// Imported first by what people run: an old Node would otherwise fail later, somewhere else, in words of its own.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [major, minor] = manifest.engines.node.match(/\d+/g).map(Number);
const [hasMajor, hasMinor] = process.versions.node.split('.').map(Number);

if (process.platform === 'win32')
  refuse('On Windows this runs in WSL: the databases it brings along are made for Linux and macOS.');
if (hasMajor < major || (hasMajor === major && hasMinor < minor)) {
  refuse(
    `Node.js ${major}.${minor} or newer is needed, and this is ${process.versions.node}: see nodejs.org/en/download.`,
  );
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}
