import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Lockfile {
  packages: Record<string, { integrity?: string }>;
}

describe('package-lock.json', () => {
  it('package-lock.json has an integrity for every package, of other platforms too', () => {
    const text = readFileSync(join(__dirname, '..', 'package-lock.json'), 'utf8');
    // The empty path is the checkout itself.
    const packages = Object.entries((JSON.parse(text) as Lockfile).packages).filter(([path]) => path !== '');
    expect(packages.length).toBeGreaterThan(500);
    expect(packages.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
  });
});
