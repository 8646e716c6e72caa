import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../tools/checkout/root.mjs';
import { ofKind } from './workloads.mjs';

const METRICS = join(ROOT, 'apps', 'api', 'src', 'metrics');
const AGE = 'item_listing_oldest_waiting_job_age_seconds';

export const SCALING_RULES = [
  {
    title: 'a Deployment has replicas unless it is scaled',
    problems: (manifests) =>
      ofKind(manifests, 'Deployment').flatMap(({ metadata: { name }, spec: { replicas } }) => {
        const isScaled = manifests.some(({ spec }) => spec?.scaleTargetRef?.name === name);
        return isScaled === (replicas === undefined) ? [] : [`${name}: replicas ${replicas}`];
      }),
  },
  {
    title: 'disruption budgets let one pod at a time be evicted, and each that is not ready',
    problems: (manifests) =>
      ofKind(manifests, 'PodDisruptionBudget').flatMap(({ metadata: { name }, spec }) => {
        const { maxUnavailable, unhealthyPodEvictionPolicy: unhealthy } = spec;
        return maxUnavailable === 1 && unhealthy === 'AlwaysAllow' ? [] : [`${name}: ${JSON.stringify(spec)}`];
      }),
  },
  {
    title: 'workers are scaled in proportion to the age of the oldest waiting job, a metric of the API',
    problems: (manifests) =>
      ofKind(manifests, 'ScaledObject').flatMap(({ spec: { triggers } }) => {
        const [{ metricType, metadata }] = triggers;
        const names = metadata.query.match(/item_listing_\w+/g) ?? [];
        const isAge = names.join() === AGE && metricsOfApi().includes(`'${AGE}'`);
        // An average would be divided by the number of workers, and an age is no sum of theirs.
        return isAge && metricType === 'Value' ? [] : [`${metricType} of ${metadata.query}`];
      }),
  },
  {
    title: 'the query for workers has no result, rather than NaN, while Redis does not respond to any API',
    problems: (manifests) =>
      ofKind(manifests, 'ScaledObject').flatMap(({ spec: { triggers } }) => {
        const [{ metadata }] = triggers;
        // A comparison with NaN is false, and leaves the time series out.
        const isFiltered = /^max\(item_listing_\w+ >= 0\)$/.test(metadata.query);
        return isFiltered && metadata.ignoreNullValues === 'false' ? [] : [metadata.query];
      }),
  },
];

/** Returns the source of the metrics. */
function metricsOfApi() {
  return readdirSync(METRICS)
    .map((file) => readFileSync(join(METRICS, file), 'utf8'))
    .join('\n');
}
