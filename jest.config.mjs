const SWC = '@swc/jest';

const project = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch,
  testEnvironment: 'node',
  transform: { '\\.m?ts$': SWC, '/node_modules/jose/.+\\.js$': SWC },
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

/** Packages that tests share with the build. They recognize some values by their classes. */
const SHARED = 'bullmq|ioredis|mongoose';
const BUILD = '<rootDir>/test/support/jest/load-build.cjs';

/** Tests that run the build. Only the tests themselves are compiled for jest. */
const ofBuild = (displayName, testMatch, more = {}) =>
  project(displayName, testMatch, {
    testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
    // The first pattern that matches applies.
    transform: {
      '(/test/.+|spec)\\.m?ts$': SWC,
      '\\.mts$': SWC,
      '\\.ts$': BUILD,
      [`/node_modules/(${SHARED})/`]: BUILD,
    },
    transformIgnorePatterns: [`/node_modules/(?!(${SHARED})/)`],
    ...more,
  });

const OF_OPERATIONS =
  '{create*,get-*,errors*,envelope,orpc-*,prefer,favourites,next-after,search,idempotency,exact-values,http-hygiene}';

export default {
  // Three times the cores of a small machine: tests mostly wait for databases and timers.
  maxWorkers: 6,
  // On a busy machine, tests that start processes take many times as long.
  testTimeout: 120_000,
  projects: [
    project('unit', ['<rootDir>/{apps,libs}/**/*.spec.ts'], {
      // Watch mode would otherwise also crawl and watch node_modules, which delays its first result by seconds.
      roots: ['<rootDir>/apps', '<rootDir>/libs'],
    }),
    project('integration', ['<rootDir>/{apps,libs}/**/*.int-spec.ts']),
    ofBuild('system', ['<rootDir>/test/*.e2e-spec.{ts,mts}', '!**/nest-*']),
    // They change classes of the service, so each file has its own.
    project('nest', ['<rootDir>/test/nest-*.e2e-spec.ts']),
    // The system tests of the three operations again, with Express handling every request.
    ofBuild('express', [`<rootDir>/test/${OF_OPERATIONS}.e2e-spec.{ts,mts}`], {
      setupFiles: ['<rootDir>/test/support/without-fast-lane.cjs'],
    }),
    ofBuild('operations', ['<rootDir>/test/operations/*.e2e-spec.ts']),
    ofBuild('abuse', ['<rootDir>/test/**/*.abuse-spec.ts']),
    ofBuild('faults', ['<rootDir>/test/**/*.fault-spec.ts']),
    ofBuild('certify', ['<rootDir>/test/**/*.certify-spec.ts']),
    ofBuild('upgrade', ['<rootDir>/test/**/*.upgrade-spec.ts']),
    ofBuild('short', ['<rootDir>/test/**/*.short-spec.ts']),
  ],
};
