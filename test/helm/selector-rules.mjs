import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../tools/checkout/root.mjs';
import { ofKind, workloadsOf } from './workloads.mjs';

const ALERTS = readFileSync(join(ROOT, 'deploy', 'prometheus', 'alerts.yml'), 'utf8');
/** The jobs of Prometheus that the alert ProcessDown watches. */
const WATCHED_JOBS = new RegExp(`^(?:${/up\{job=~"([^"]+)"\}/.exec(ALERTS)[1]})$`);

const SELECTS = {
  Deployment: ({ spec }) => spec.selector.matchLabels,
  Service: ({ spec }) => spec.selector,
  PodDisruptionBudget: ({ spec }) => spec.selector.matchLabels,
  NetworkPolicy: ({ spec }) => spec.podSelector.matchLabels,
};

/** Returns the workloads whose pods have all these labels. */
function selected(manifests, labels) {
  return workloadsOf(manifests).filter(({ pod }) =>
    Object.entries(labels).every(([name, value]) => pod.metadata.labels[name] === value),
  );
}

function portsOf({ container }) {
  return (container.ports ?? []).map(({ name }) => name);
}

/** Returns the names of the ports that a manifest refers to. */
function portsIn({ kind, spec }) {
  if (kind === 'Service') return spec.ports.map(({ targetPort }) => targetPort);
  if (kind === 'NetworkPolicy') return spec.ingress.flatMap(({ ports }) => ports.map(({ port }) => port));
  return [];
}

/** Without the hash, the pods of the previous revision would count too, until they are gone. */
function isEvenAndSoft({ maxSkew, whenUnsatisfiable, matchLabelKeys }) {
  return maxSkew === 1 && whenUnsatisfiable === 'ScheduleAnyway' && matchLabelKeys?.join() === 'pod-template-hash';
}

export const SELECTOR_RULES = [
  {
    title: 'each selector selects the pods of one workload, of the same name',
    problems: (manifests) =>
      Object.entries(SELECTS).flatMap(([kind, labels]) =>
        ofKind(manifests, kind).flatMap((manifest) => {
          const names = selected(manifests, labels(manifest)).map(({ name }) => name);
          const { name } = manifest.metadata;
          return names.length === 1 && names[0] === name
            ? []
            : [`${kind} ${name} selects ${names.join(', ') || 'none'}`];
        }),
      ),
  },
  {
    title: 'the pods of each revision are spread evenly over zones and nodes, without blocking any',
    problems: (manifests) =>
      ofKind(manifests, 'Deployment').flatMap(({ metadata, spec }) => {
        const { topologySpreadConstraints: constraints = [] } = spec.template.spec;
        const keys = constraints.map(({ topologyKey }) => topologyKey).join();
        const areOwn = constraints.every(({ labelSelector }) => {
          return (
            selected(manifests, labelSelector.matchLabels)
              .map(({ name }) => name)
              .join() === metadata.name
          );
        });
        const isRight = keys === 'topology.kubernetes.io/zone,kubernetes.io/hostname' && areOwn;
        return isRight && constraints.every(isEvenAndSoft) ? [] : [`${metadata.name}: ${JSON.stringify(constraints)}`];
      }),
  },
  {
    title: 'ports that manifests name exist in the containers they select',
    problems: (manifests) =>
      ['Service', 'NetworkPolicy'].flatMap((kind) =>
        ofKind(manifests, kind).flatMap((manifest) => {
          const [workload] = selected(manifests, SELECTS[kind](manifest));
          const missing = portsIn(manifest).filter((port) => !portsOf(workload).includes(port));
          return missing.map((port) => `${kind} ${manifest.metadata.name}: ${port}`);
        }),
      ),
  },
  {
    title: 'monitors select every Deployment by a port that it has',
    problems: (manifests) =>
      ofKind(manifests, 'PodMonitor').flatMap(({ spec }) => {
        const found = selected(manifests, spec.selector.matchLabels).filter(({ kind }) => kind === 'Deployment');
        const scraped = found.filter((workload) => portsOf(workload).includes(spec.podMetricsEndpoints[0].port));
        return scraped.length === ofKind(manifests, 'Deployment').length ? [] : [`It scrapes ${scraped.length}`];
      }),
  },
  {
    title: 'the alert ProcessDown watches the pods of monitors, whatever the name of the release',
    problems: (manifests) =>
      ofKind(manifests, 'PodMonitor').flatMap(({ metadata, spec }) => {
        const found = selected(manifests, spec.selector.matchLabels).filter(({ kind }) => kind === 'Deployment');
        // By default, the job has the names of the namespace and the monitor.
        const jobs = found.map(({ pod }) => pod.metadata.labels[spec.jobLabel] ?? `shop/${metadata.name}`);
        return jobs.filter((job) => !WATCHED_JOBS.test(job)).map((job) => `It does not watch ${job}`);
      }),
  },
  {
    title: 'the port for operators is not in a Service',
    problems: (manifests) =>
      ofKind(manifests, 'Service')
        .filter((service) => portsIn(service).join() !== 'http')
        .map(({ metadata }) => metadata.name),
  },
];
