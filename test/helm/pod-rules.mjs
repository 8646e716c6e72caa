import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ROOT } from '../../tools/checkout/root.mjs';
import { workloadRule } from './workloads.mjs';

const RUN = readFileSync(join(ROOT, 'libs', 'runtime', 'src', 'process', 'run.ts'), 'utf8');
/** Longest time that a process takes to stop. */
const STOPS_WITHIN_S = (milliseconds('EXIT_AFTER_MS') + milliseconds('FLUSH_WITHIN_MS')) / 1000;
const PROBES = ['startupProbe', 'livenessProbe', 'readinessProbe'];
const PATHS = { startupProbe: '/health/live', livenessProbe: '/health/live', readinessProbe: '/health/ready' };

export const POD_RULES = [
  workloadRule('containers are unprivileged and cannot change their files', ({ pod, container }) => {
    const expected = {
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    };
    const actual = { ...pod.spec.securityContext, ...container.securityContext };
    return isDeepStrictEqual(actual, expected) ? undefined : JSON.stringify(actual);
  }),
  workloadRule('pods get neither a token nor the addresses of Services', ({ pod: { spec } }) => [
    spec.automountServiceAccountToken === false ? undefined : 'a token is mounted',
    spec.enableServiceLinks === false ? undefined : 'variables of Services are set',
  ]),
  workloadRule('memory is requested and limited, CPU is requested and not limited', ({ container }) => {
    const { requests = {}, limits = {} } = container.resources;
    const isSet = requests.cpu && requests.memory && limits.memory && limits.cpu === undefined;
    return isSet ? undefined : JSON.stringify(container.resources);
  }),
  workloadRule('Deployments have probes of ports that exist, the setup job has none', ({ kind, container }) =>
    PROBES.map((name) => {
      const probe = container[name];
      if (kind === 'Job') return probe && `it has a ${name}`;
      if (probe?.httpGet?.path !== PATHS[name]) return `${name} does not request ${PATHS[name]}`;
      const exists = container.ports.some((port) => port.name === probe.httpGet.port);
      return exists ? undefined : `${name} requests port ${probe.httpGet.port}`;
    }),
  ),
  workloadRule('the grace period covers the sleep and the shutdown', ({ kind, pod, container }) => {
    if (kind === 'Job') return undefined;
    const needed = (container.lifecycle?.preStop.sleep.seconds ?? 0) + STOPS_WITHIN_S;
    const { terminationGracePeriodSeconds: grace } = pod.spec;
    return grace >= needed ? undefined : `${grace} s, but it needs ${needed} s`;
  }),
  workloadRule('images and ports are those of a target of the Dockerfile', ({ container: { image, ports = [] } }) => {
    const target = /([^/:]+):[^/]+$/.exec(image)?.[1];
    const exposed = exposedPorts()[target];
    if (exposed === undefined) return `${image} is not a target`;
    const actual = ports.map(({ containerPort }) => containerPort);
    return isDeepStrictEqual(actual, exposed) ? undefined : `ports ${actual}, but ${target} has ${exposed}`;
  }),
];

/** Returns a constant of run.ts. */
function milliseconds(name) {
  return Number(new RegExp(`const ${name} = ([\\d_]+);`).exec(RUN)[1].replaceAll('_', ''));
}

/** Returns the ports that each target of the Dockerfile exposes. */
function exposedPorts() {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const stages = dockerfile.split(/^FROM \S+ AS (\S+)$/m).slice(1);
  const targets = {};
  for (let i = 0; i < stages.length; i += 2) {
    targets[stages[i]] = (/^EXPOSE (.+)$/m.exec(stages[i + 1])?.[1].split(' ') ?? []).map(Number);
  }
  return targets;
}
