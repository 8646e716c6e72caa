import { drainPlot } from './plots.mjs';
import { interleave } from './rounds.mjs';

const BURST = { connections: 1000, rate: 5000, count: 10_000 };
const TITLE = '10,000 creates in 2 s over 1,000 connections';

/**
 * Measures more creates in two seconds than the service can store in that time. Those that are not stored must be
 * refused, and those that wait must not pile up in memory.
 * @param {import('./create-groups.mjs').Bench} bench
 * @returns {Promise<import('./rows.mjs').Row[]>}
 */
export async function largeBurst({ meter, subjects, size, plots }) {
  const { service } = await interleave(['service'], size.largeBursts, (name) =>
    meter.measure(subjects[name], { burst: BURST }),
  );
  plots.burst = drainPlot(TITLE, BURST, service.at(-1).creates.timeline);
  const row = (figure, of, targets) => ({
    figure: `${TITLE}: ${figure}`,
    values: service.map(of),
    worst: true,
    ...targets,
  });
  return [
    row('200 responses', (measured) => share(measured, ['200']), { better: 'more', unit: ' %', digits: 1 }),
    row('200 and 503 responses', (measured) => share(measured, ['200', '503']), {
      better: 'more',
      must: 100,
      aim: 100,
      unit: ' %',
      digits: 2,
    }),
    row('last response', ({ creates }) => creates.lastMs / 1000, { better: 'less', unit: ' s', digits: 1 }),
    ...['API', 'worker'].map((title) =>
      row(`most memory of the ${title}`, ({ peakMegabytes }) => peakMegabytes[title.toLowerCase()], {
        better: 'less',
        must: 300,
        aim: 200,
        unit: ' MB',
      }),
    ),
  ];
}

function share({ creates: { responses } }, statuses) {
  return (statuses.reduce((sum, status) => sum + (responses[status] ?? 0), 0) / BURST.count) * 100;
}
