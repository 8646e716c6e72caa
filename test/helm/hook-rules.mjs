import { ofKind } from './workloads.mjs';

const HOOK = 'helm.sh/hook';
const DELETE_POLICY = 'helm.sh/hook-delete-policy';
const WEIGHT = 'helm.sh/hook-weight';

export const HOOK_RULES = [
  {
    title: 'setup runs before each install and upgrade, and needs nothing that is not there yet',
    problems: (manifests) =>
      ofKind(manifests, 'Job').flatMap((job) => [
        ...(hookOf(job) === 'pre-install,pre-upgrade' ? [] : [`its hook is ${hookOf(job)}`]),
        ...policiesOf(manifests, job)
          .filter((policy) => hookOf(policy) !== hookOf(job) || weightOf(policy) >= weightOf(job))
          .map(() => 'its network policy comes later'),
        ...ofKind(manifests, 'ServiceAccount')
          .filter(({ metadata }) => metadata.name === job.spec.template.spec.serviceAccountName)
          .map(() => 'its account comes later'),
      ]),
  },
  {
    title: 'a failed setup stays until the next attempt, and one that has succeeded does not',
    problems: (manifests) =>
      manifests.filter(hookOf).flatMap(({ kind, metadata: { name, annotations } }) => {
        const policy = annotations[DELETE_POLICY];
        return policy === 'before-hook-creation,hook-succeeded' ? [] : [`${kind} ${name}: ${policy}`];
      }),
  },
  {
    title: 'a setup that takes too long ends before its job, which would delete its logs',
    problems: (manifests) =>
      ofKind(manifests, 'Job').flatMap(({ spec: { activeDeadlineSeconds: ofJob, template } }) => {
        const { activeDeadlineSeconds: ofPod } = template.spec;
        return ofPod < ofJob ? [] : [`its pod has ${ofPod} s, and the job ${ofJob} s`];
      }),
  },
];

function policiesOf(manifests, { metadata }) {
  return ofKind(manifests, 'NetworkPolicy').filter((policy) => policy.metadata.name === metadata.name);
}

function hookOf({ metadata }) {
  return metadata.annotations?.[HOOK];
}

function weightOf({ metadata }) {
  return Number(metadata.annotations?.[WEIGHT] ?? 0);
}
