import eslint from '@eslint/js';
import jest from 'eslint-plugin-jest';
import tseslint from 'typescript-eslint';

const TESTS = [
  '**/*.spec.ts',
  '**/*.int-spec.ts',
  '**/*.e2e-spec.{ts,mts}',
  '**/*.fault-spec.ts',
  '**/*.abuse-spec.ts',
];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.local/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.mts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      'no-duplicate-imports': 'error',
      // Mongoose's schema definitions are object literals where its types name a class.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // A Nest module is a class with nothing but its decorator, or a factory of its wiring.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
    },
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
