/** Who may import whom. A library's index.ts is its only door; processes meet only through libs. */
const lib = (name) => `^libs/${name}/src/`;
const only = (name, allowed) => ({
  name: `${name}-imports`,
  comment: `${name} may import of our libs only: ${allowed.join(', ') || 'none'}`,
  severity: 'error',
  from: { path: lib(name) },
  to: { path: '^libs/', pathNot: [name, ...allowed].map(lib) },
});
const packageOnlyIn = (name, paths) => ({
  name: `only-there-${name}`,
  comment: `${name} is wrapped once`,
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
      from: { orphan: true, pathNot: ['\\.(int-)?spec\\.ts$', '\\.e2e-spec\\.m?ts$'] },
      to: {},
    },
    only('client', []),
    only('contracts', []),
    only('runtime', ['contracts']),
    only('database', ['contracts', 'runtime']),
    only('queue', ['contracts', 'runtime']),
    only('items', ['contracts', 'database', 'runtime']),
    {
      name: 'contracts-are-pure',
      comment: 'contracts: zod and nothing else, but what exports the contract for oRPC clients',
      severity: 'error',
      from: { path: lib('contracts'), pathNot: '\\.spec\\.ts$' },
      to: { path: '.', pathNot: [lib('contracts'), '^node_modules/(zod|@orpc/contract)/'] },
    },
    packageOnlyIn('@orpc/contract', ['^libs/contracts/src/orpc-contract\\.mts$']),
    {
      name: 'processes-do-without-orpc',
      comment: 'the contract is for clients; its package is there in development only',
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
