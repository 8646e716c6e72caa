import { ofKind } from './workloads.mjs';

/** A rule for each NetworkPolicy. `isKept` returns whether a policy keeps it. */
function policyRule(title, isKept) {
  const problems = (manifests) =>
    ofKind(manifests, 'NetworkPolicy')
      .filter(({ spec }) => !isKept(spec))
      .map(({ metadata }) => metadata.name);
  return { title, problems };
}

export const NETWORK_RULES = [
  policyRule('only named peers may connect to ports for operators', ({ policyTypes, ingress }) => {
    const rules = ingress.filter(({ ports }) => ports?.[0].port !== 'http');
    return policyTypes.includes('Ingress') && rules.every(({ from = [] }) => from.length > 0);
  }),
  policyRule(
    'where outgoing connections are restricted, DNS and a store are allowed',
    ({ policyTypes, egress = [] }) => {
      const allowed = egress.flatMap(({ ports }) => ports.map(({ port, protocol = 'TCP' }) => `${protocol} ${port}`));
      const needed = policyTypes.includes('Egress') ? ['UDP 53', 'TCP 53', 'TCP 27017'] : [];
      return needed.every((port) => allowed.includes(port));
    },
  ),
];
