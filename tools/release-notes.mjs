// `node tools/release-notes.mjs v1.2.3`: prints the section of CHANGELOG.md for a release, without its heading. Fails
// if there is none, or if package.json has another version.
import './node-version.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './checkout/root.mjs';

const [tag = ''] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
// The heading is `## 1.2.3` or `## [1.2.3]`, with or without a date after the version.
const sections = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^## /m);
const section = sections.find((text) => /^\[?([^\]\s]+)/.exec(text)?.[1] === version) ?? '';
const notes = section.split('\n').slice(1).join('\n').trim();

if (tag.replace(/^v/, '') !== version) fail(`The tag is ${tag || 'missing'}, but package.json has ${version}`);
else if (!notes) fail(`CHANGELOG.md has no text under "## ${version}"`);
else console.log(notes);

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}
