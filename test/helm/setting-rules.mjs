import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../tools/checkout/root.mjs';
import { ofKind, workloadRule } from './workloads.mjs';

const CONFIG = readFileSync(join(ROOT, 'libs', 'runtime', 'src', 'config', 'settings.ts'), 'utf8');
const SETTINGS = [...CONFIG.matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name]) => name);
const SECRETS = [...CONFIG.matchAll(/^ {2}([A-Z][A-Z_]+): (?:secret\(|SECRET)/gm)].map(([, name]) => name);
/** Secrets that each process cannot start without. */
const REQUIRED = { api: ['MONGODB_URI', 'REDIS_URL'], worker: ['MONGODB_URI', 'REDIS_URL'], setup: ['MONGODB_URI'] };

export const SETTING_RULES = [
  workloadRule('variables are settings that settings.ts knows, each once', ({ container }) => {
    const names = container.env.map(({ name }) => name);
    const repeated = names.filter((name, i) => names.indexOf(name) !== i);
    const unknown = names.filter((name) => !SETTINGS.includes(name) && !SECRETS.includes(name.replace(/_FILE$/, '')));
    return [...unknown.map((name) => `${name} is unknown`), ...repeated.map((name) => `${name} is repeated`)];
  }),
  workloadRule('secret settings are read from files that are mounted', ({ pod, container }) => {
    const { mountPath, readOnly } = container.volumeMounts.find(({ name }) => name === 'secrets');
    const volume = pod.spec.volumes.find(({ name }) => name === 'secrets');
    const files = volume.projected.sources.flatMap(({ secret }) => secret.items.map(({ path }) => path));
    const variables = container.env.filter(({ name }) => name.endsWith('_FILE'));
    const read = variables.map(({ value }) => value);
    return [
      readOnly ? undefined : 'the files can be changed',
      ...variables
        .filter(({ name, value }) => value !== `${mountPath}/${name.replace(/_FILE$/, '')}`)
        .map(({ name, value }) => `${name} is ${value}`),
      ...files.filter((path) => !read.includes(`${mountPath}/${path}`)).map((path) => `${path} is not read`),
      ...read.filter((path) => !files.some((file) => path === `${mountPath}/${file}`)).map((path) => `no ${path}`),
      ...REQUIRED[container.name].filter((name) => !files.includes(name)).map((name) => `${name} is not mounted`),
    ];
  }),
  workloadRule('no secret is in the environment', ({ container }) =>
    container.env
      .filter(({ name, valueFrom }) => SECRETS.includes(name) || valueFrom !== undefined)
      .map(({ name }) => `${name} is`),
  ),
  {
    title: 'the chart creates no Secret and no ConfigMap',
    problems: (manifests) =>
      ['Secret', 'ConfigMap'].flatMap((kind) => ofKind(manifests, kind)).map(({ metadata }) => metadata.name),
  },
];
