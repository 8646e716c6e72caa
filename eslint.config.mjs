import eslint from '@eslint/js';
import jest from 'eslint-plugin-jest';
import tseslint from 'typescript-eslint';

const TESTS = [
  '**/*.spec.ts',
  '**/*.int-spec.ts',
  '**/*.e2e-spec.{ts,mts}',
  '**/*.fault-spec.ts',
  '**/*.abuse-spec.ts',
  '**/*.short-spec.ts',
];

/** Internals of BullMQ, ioredis and Node.js, which an upgrade may change without notice. */
const PRIVATE = [
  {
    selector: 'ClassDeclaration[superClass.name=/^(Worker|Queue|QueueBase|Job|Redis|Cluster)$/]',
    message: 'Subclasses reach protected members: use the documented interface.',
  },
  {
    selector:
      'MemberExpression[property.name=/^(backend|createJob|extendJobLocks|handleCompleted|handleFailed|lockManager|mainLoopRunning|sendCommand|stream)$/]',
    message: 'Not part of the documented interface of BullMQ or ioredis.',
  },
  { selector: "MethodDefinition[override=true][key.name='push']", message: "Part of Node's stream internals." },
];

export default tseslint.config(
  { ignores: ['**/dist/', 'node_modules/', '.local/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.mts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      'no-duplicate-imports': 'error',
      // Mongoose's schema definitions are object literals, but its types name a class.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // A Nest module is a class with only its decorator, or with a factory for its wiring.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
    },
  },
  {
    files: ['apps/*/src/**/*.ts', 'libs/queue/src/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...PRIVATE] },
  },
  {
    files: TESTS,
    extends: [jest.configs['flat/recommended'], jest.configs['flat/style']],
    rules: {
      'jest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*'] }],
      'jest/valid-title': ['error', { mustNotMatch: { it: '\\bshould\\b' } }],
      // `expect(spy.method)` and awaiting things that need no await are fine in a test.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'fetch',
          'URL',
          'AbortSignal',
          'AbortController',
          'setTimeout',
          'clearTimeout',
          'setInterval',
          'clearInterval',
          'Buffer',
          'performance',
          'module',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
);
