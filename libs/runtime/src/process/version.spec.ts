import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from './version.js';

describe('VERSION', () => {
  it('VERSION is the version in package.json', () => {
    const text = readFileSync(join(process.cwd(), 'package.json'), 'utf8');
    expect(VERSION).toBe((JSON.parse(text) as { version: string }).version);
  });

  it('VERSION is the version of the Helm chart, and the tag of its images by default', () => {
    const chart = readFileSync(join(process.cwd(), 'deploy', 'helm', 'item-listing', 'Chart.yaml'), 'utf8');
    expect(chart.split('\n')).toEqual(expect.arrayContaining([`version: ${VERSION}`, `appVersion: ${VERSION}`]));
  });
});
