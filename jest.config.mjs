const project = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch,
  testEnvironment: 'node',
  transform: { '^.+\\.m?ts$': '@swc/jest', '/node_modules/jose/.+\\.js$': '@swc/jest' },
  // jose is ESM-only. As CommonJS, it also runs in a test that starts an API in its own process.
  transformIgnorePatterns: ['/node_modules/(?!jose/)'],
  // A test that uses an ESM-only package is itself an ES module.
  extensionsToTreatAsEsm: ['.mts'],
  moduleFileExtensions: ['js', 'mjs', 'cjs', 'ts', 'mts', 'json', 'node'],
  moduleNameMapper: {
    '^@app/(.*)$': '<rootDir>/libs/$1/src',
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^(\\.{1,2}/.*)\\.mjs$': ['$1.mts', '$1.mjs'],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.local/'],
  ...more,
});

const OF_OPERATIONS =
  '{create*,get-*,errors*,envelope,orpc-*,prefer,favourites,next-after,search,idempotency,exact-values,http-hygiene}';

export default {
  // Three times the cores of a small machine: tests mostly wait for databases and timers.
  maxWorkers: 6,
  // Garbage collection is slow in workers that have run many files.
  workerIdleMemoryLimit: '400MB',
  // On a busy machine, tests that start processes take many times as long.
  testTimeout: 120_000,
  projects: [
    project('unit', ['<rootDir>/{apps,libs}/**/*.spec.ts'], {
      // Watch mode would otherwise also crawl and watch node_modules, which delays its first result by seconds.
      roots: ['<rootDir>/apps', '<rootDir>/libs'],
    }),
    project('integration', ['<rootDir>/{apps,libs}/**/*.int-spec.ts']),
    project('system', ['<rootDir>/test/*.e2e-spec.{ts,mts}']),
    // The system tests of the three operations again, with Express handling every request.
    project('express', [`<rootDir>/test/${OF_OPERATIONS}.e2e-spec.{ts,mts}`], {
      setupFiles: ['<rootDir>/test/support/without-fast-lane.cjs'],
    }),
    project('operations', ['<rootDir>/test/operations/*.e2e-spec.ts']),
    project('abuse', ['<rootDir>/test/**/*.abuse-spec.ts']),
    project('faults', ['<rootDir>/test/**/*.fault-spec.ts']),
    project('certify', ['<rootDir>/test/**/*.certify-spec.ts']),
    project('upgrade', ['<rootDir>/test/**/*.upgrade-spec.ts']),
    project('short', ['<rootDir>/test/**/*.short-spec.ts']),
  ],
};
