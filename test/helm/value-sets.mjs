import { EVERYTHING_ON, REQUIRED } from './expected-specs.mjs';

const ALWAYS = ['Deployment NAME-api', 'Deployment NAME-worker', 'Service NAME-api'];
const BY_DEFAULT = [
  ...ALWAYS,
  'Job NAME-setup',
  'ServiceAccount NAME',
  'PodDisruptionBudget NAME-api',
  'PodDisruptionBudget NAME-worker',
  'NetworkPolicy NAME-api',
  'NetworkPolicy NAME-worker',
  'NetworkPolicy NAME-setup',
];
const AUTOSCALERS = ['HorizontalPodAutoscaler NAME-api', 'ScaledObject NAME-worker'];

const named = (name, manifests) => manifests.map((manifest) => manifest.replace('NAME', name));

/**
 * Sets of values: the files in `values/`, the manifests that they render, fields of their specifications, how long
 * the API sleeps before SIGTERM, and settings of processes.
 */
export const VALUE_SETS = [
  {
    name: 'required values',
    files: ['required'],
    manifests: named('items-item-listing', BY_DEFAULT),
    specs: REQUIRED,
    drainSeconds: 5,
    settings: { api: { ADMIN_HOST: '0.0.0.0' } },
  },
  {
    name: 'everything on',
    files: ['required', 'everything-on'],
    manifests: named('shop-items', [...BY_DEFAULT, ...AUTOSCALERS, 'PodMonitor NAME']),
    specs: EVERYTHING_ON,
    drainSeconds: 20,
    settings: {
      api: { LOG_LEVEL: 'info', LOG_ACCESS: 'on', ADMIN_HOST: '::' },
      worker: { LOG_LEVEL: 'warn', LOG_ACCESS: '' },
    },
  },
  {
    name: 'autoscaling with default numbers of replicas',
    files: ['required', 'autoscaled'],
    manifests: named('items-item-listing', [...BY_DEFAULT, ...AUTOSCALERS]),
    specs: {},
    drainSeconds: 5,
    settings: {},
  },
  {
    name: 'everything off',
    files: ['required', 'everything-off'],
    manifests: named('items-item-listing', ALWAYS),
    specs: {},
    drainSeconds: undefined,
    settings: {},
  },
];
