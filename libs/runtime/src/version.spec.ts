import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from './version.js';

describe('VERSION', () => {
  it('is the version in package.json', () => {
    const text = readFileSync(join(process.cwd(), 'package.json'), 'utf8');
    expect(VERSION).toBe((JSON.parse(text) as { version: string }).version);
  });
});
