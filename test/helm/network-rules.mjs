import { ofKind } from './workloads.mjs';

export const NETWORK_RULES = [
  {
    title: 'only named peers may connect to ports for operators',
    problems: (manifests) =>
      ofKind(manifests, 'NetworkPolicy')
        .filter(({ spec: { policyTypes, ingress } }) => {
          const rules = ingress.filter(({ ports }) => ports?.[0].port !== 'http');
          return !policyTypes.includes('Ingress') || rules.some(({ from = [] }) => from.length === 0);
        })
        .map(({ metadata }) => metadata.name),
  },
];
