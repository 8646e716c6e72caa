const project = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch,
  testEnvironment: 'node',
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: {
    '^@app/(.*)$': '<rootDir>/libs/$1/src',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.local/'],
  ...more,
});

export default {
  projects: [
    project('unit', ['<rootDir>/{apps,libs}/**/*.spec.ts']),
    project('integration', ['<rootDir>/{apps,libs}/**/*.int-spec.ts']),
    project('system', ['<rootDir>/test/**/*.e2e-spec.ts']),
    project('faults', ['<rootDir>/test/**/*.fault-spec.ts']),
  ],
};
