import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Lockfile {
  packages: Record<string, { integrity?: string }>;
}

describe('package-lock.json', () => {
  it('has an integrity for every package, of other platforms too', () => {
    const text = readFileSync(join(__dirname, '..', 'package-lock.json'), 'utf8');
    const { '': _root, ...packages } = (JSON.parse(text) as Lockfile).packages;
    expect(Object.keys(packages).length).toBeGreaterThan(500);
    expect(Object.keys(packages).filter((path) => packages[path]?.integrity === undefined)).toEqual([]);
  });
});
