// `node tools/release-notes.mjs v1.2.3`: prints the section of CHANGELOG.md for a release, without its heading. Fails
// if there is none, or if package.json has another version.
import './node-version.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './checkout/root.mjs';

const [tag = ''] = process.argv.slice(2);
const version = tag.replace(/^v/, '');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const notes = sectionOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
if (version !== manifest.version) fail(`The tag is ${tag || 'missing'}, but package.json has ${manifest.version}`);
else if (!notes) fail(`CHANGELOG.md has no text under "## ${version}"`);
else console.log(notes);

/** Returns the text below `## 1.2.3` or `## [1.2.3]`, with or without a date after the version, or undefined. */
function sectionOf(changelog, wanted) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => /^\[?([^\]\s]+)/.exec(text)?.[1] === wanted);
  return section?.split('\n').slice(1).join('\n').trim();
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}
