/** Which module may import which. Libs are imported only through their index.ts. Apps share code only through libs. */
const lib = (name) => `^libs/${name}/src/`;
const only = (name, allowed) => ({
  name: `${name}-imports`,
  comment: `of our libs, ${name} may import only: ${allowed.join(', ') || 'none'}`,
  severity: 'error',
  from: { path: lib(name) },
  to: { path: '^libs/', pathNot: [name, ...allowed].map(lib) },
});
const packageOnlyIn = (name, paths) => ({
  name: `only-there-${name}`,
  comment: `${name} is wrapped in one place`,
  severity: 'error',
  from: { path: '^(apps|libs)/', pathNot: [...paths, '\\.(int-)?spec\\.ts$'] },
  to: { path: `^node_modules/${name}/` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        // Loaded by jest, or into a process with `node --require`.
        pathNot: ['\\.(int-)?spec\\.ts$', '\\.e2e-spec\\.m?ts$', '\\.cjs$'],
      },
      to: {},
    },
    only('client', []),
    only('contracts', []),
    only('runtime', ['contracts']),
    only('database', ['contracts', 'runtime']),
    only('queue', ['contracts', 'runtime']),
    only('admin', ['queue', 'runtime']),
    only('items', ['contracts', 'database', 'runtime']),
    {
      name: 'contracts-are-pure',
      comment: 'contracts imports only zod, except for the file that exports the contract for oRPC clients',
      severity: 'error',
      from: { path: lib('contracts'), pathNot: '\\.spec\\.ts$' },
      to: { path: '.', pathNot: [lib('contracts'), '^node_modules/(zod|@orpc/contract)/'] },
    },
    packageOnlyIn('@orpc/contract', ['^libs/contracts/src/orpc-contract\\.mts$']),
    {
      name: 'processes-do-without-orpc',
      comment: 'the contract is for clients; its package is a development dependency',
      severity: 'error',
      from: { path: '^(apps|libs)/' },
      to: { path: '^libs/contracts/src/orpc-contract\\.mts$' },
    },
    { name: 'libs-know-no-app', severity: 'error', from: { path: '^libs/' }, to: { path: '^apps/' } },
    {
      name: 'apps-do-not-meet',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'index-is-the-only-door',
      severity: 'error',
      from: { path: '^(apps|libs/([^/]+))/' },
      to: { path: '^libs/([^/]+)/src/.+', pathNot: ['^libs/$2/', '^libs/[^/]+/src/index\\.ts$'] },
    },
    { name: 'no-index-in-apps', severity: 'error', from: {}, to: { path: '^apps/.*/index\\.ts$' } },
    packageOnlyIn('mongoose', [lib('database')]),
    packageOnlyIn('mongodb', [lib('database')]),
    packageOnlyIn('ioredis', [lib('queue')]),
    packageOnlyIn('bullmq', [lib('queue'), '^apps/worker/src/items/create-item\\.processor\\.ts$']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
